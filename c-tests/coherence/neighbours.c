/* Static arrays that share pages with other variables and with each other, with no byte in common: each is changed by another side, in every order. */
#include "coherence.h"

enum { FIRST = 30011, SECOND = 40961, STEPS = 40 };

static struct {
  int before;
  uint32_t first[FIRST];
  char between[3];
  char text[50021];
  double value;
  double now[SECOND], next[SECOND];
  unsigned after;
} all = {.before = 7, .between = "xyz", .value = 0.5};
static int counter = 3;
static uint32_t own[FIRST] = {1, 2, 3};
static _Thread_local int times;
static const char *names[] = {"one", "two", "three"};

int main(void)
{
  begin(SECOND, all.now, 1);
  begin(SECOND, all.next, 2);
  for (long t = 0; t < STEPS; t++) {
    advance(FIRST, all.first, (uint32_t)t);
    all.before += (int)all.first[t];
    letters((long)sizeof all.text, all.text, t);
    all.between[t % 3] = (char)('a' + t % 26);
    smooth(SECOND, t % 2 ? all.now : all.next, t % 2 ? all.next : all.now);
    all.value = all.value * 0.5 + all.now[SECOND - 2];
    advance(FIRST, own, (uint32_t)all.before);
    counter += (int)(own[0] % 5);
    all.after = all.after * 31 + (unsigned)counter;
    times++;
    names[t % 3] = all.text + t; /* a pointer into it */
    if (t % 8 == 0)
      printf("%ld: %d %.3s %.17g %u %d %.4s\n", t, all.before, all.between, all.value, all.after, times, names[0]);
    if (t % 8 == 4) {
      /* Other halves of pages that loops of other arrays have stored to. */
      all.first[FIRST - 1] = 1;
      all.text[0] = 'T';
      all.now[0] = -all.next[SECOND - 1];
    }
  }
  show("all", STEPS, &all, sizeof all);
  show("own", counter, own, sizeof own);
  return 0;
}
