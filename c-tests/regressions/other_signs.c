/* Inner loops that count down and compare their variable as a number without a sign: below zero it is above every limit, so they go on
 * until something leaves them. */
#include <stdio.h>
#include <stdlib.h>

enum { ROWS = 60000, WIDTH = 8 };

/* Into the row before. */
__attribute__((noinline)) static void goes_on(int *p)
{
  for (int i = 1; i <= ROWS; i++)
    for (int k = 2; k >= 0u; k--) {
      p[i * WIDTH + k] = p[i * WIDTH + k] % 1000 * 3 + i;
      if (k == -7)
        break;
    }
}
/* The same with a limit that is a variable. */
__attribute__((noinline)) static void goes_further(int *p, unsigned lowest)
{
  for (int i = 1; i <= ROWS; i++)
    for (int k = 2; k > lowest; k--) {
      p[i * WIDTH + k] = p[i * WIDTH + k] % 1000 * 5 + i;
      if (k == -6)
        break;
    }
}
/* Begins below zero. */
__attribute__((noinline)) static void begins_below(int *p, int first)
{
  for (int i = 1; i <= ROWS; i++)
    for (int k = first; k >= 3u; k -= 2) {
      p[i * WIDTH + k] = p[i * WIDTH + k] % 1000 * 7 + i;
      if (k < -6)
        break;
    }
}
/* Begins below zero and counts up: no turn at all. What the inner loop moves stays where it is. */
__attribute__((noinline)) static void moves_nothing(int *p, int first, unsigned n)
{
  int at = 0;
  for (int i = 0; i < ROWS; i++) {
    for (int k = first; k < n; k++)
      at++;
    p[at + i] = p[at + i] % 1000 * 3 + i;
  }
}
/* Those that are right. */
__attribute__((noinline)) static void counts_up(int *p, unsigned n)
{
  for (int i = 1; i <= ROWS; i++) /* entered */
    for (int k = 0; k < n; k++)
      p[i * WIDTH + k] = p[i * WIDTH + k] % 1000 * 3 + i;
}

/* The loop itself: its step is a variable, and below zero it goes on, until it wraps around. */
__attribute__((noinline)) static int goes_around(int *p, unsigned lowest, short by)
{
  int turns = 0;
  for (short i = 10; i > lowest; i -= by)
    p[turns++] = i;
  return turns;
}

int main(void)
{
  int *p = calloc((ROWS + 2) * WIDTH, sizeof *p);
  for (int round = 0; round < 5; round++) {
    unsigned hash = 0;
    switch (round) {
    case 0: goes_on(p); break;
    case 1: goes_further(p, 0); break;
    case 2: begins_below(p, -1); break;
    case 3: moves_nothing(p, -1, 3); break;
    default: counts_up(p, WIDTH);
    }
    for (int i = 0; i < (ROWS + 2) * WIDTH; i++)
      hash = hash * 31 + (unsigned)p[i];
    printf("%u\n", hash);
  }
  printf("%d\n", goes_around(p, 1, 6));
  return 0;
}
