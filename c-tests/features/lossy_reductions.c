/* What looks like a reduction, but loses bits in each iteration by a conversion; and conversions that lose nothing.
 *
 * test size: 3001
 * expect kept: runs on clean */
#include "../support/inputs.h"

struct sums {
  unsigned checksum;
  unsigned long low;
  int rounded, any;
  long least, kept;
  unsigned char small;
};

COMPUTE static void checksum(int n, const int *in, struct sums *s)
{
  unsigned sum = 0;
  for (int i = 0; i < n; i++) /* loop checksum */
    sum = (unsigned char)(sum + (unsigned)in[i]);
  s->checksum = sum;
}

COMPUTE static void low(int n, const int *in, struct sums *s)
{
  unsigned long sum = 1ul << 40;
  for (int i = 0; i < n; i++) /* loop low */
    sum = (unsigned)sum + (unsigned)in[i];
  s->low = sum;
}

COMPUTE static void rounded(int n, const int *in, struct sums *s)
{
  int sum = 1 << 24;
  for (int i = 0; i < n; i++) /* loop rounded */
    sum = (int)(float)(sum + in[i]);
  s->rounded = sum;
}

COMPUTE static void any(int n, const int *in, struct sums *s)
{
  int sum = 0;
  for (int i = 0; i < n; i++) /* loop any */
    sum = (_Bool)(sum + in[i]);
  s->any = sum;
}

COMPUTE static void least(int n, const int *in, struct sums *s)
{
  long m = (1l << 40) + 77;
  for (int i = 0; i < n; i++) { /* loop least */
    long x = in[i] + (1l << 41);
    m = x < m ? x : (int)m;
  }
  s->least = m;
}

/* Wider on the way, and narrow at the end: the lowest bits come out alike in any order. */
COMPUTE static void kept(int n, const int *in, struct sums *s)
{
  unsigned char small = 3;
  long sum = 5;
  for (int i = 0; i < n; i++) { /* loop kept */
    small = (unsigned char)((long)small + in[i]);
    sum = (long)((unsigned long)sum + (unsigned long)in[i]);
  }
  s->small = small;
  s->kept = sum;
}

int main(int argc, char **argv)
{
  static const char *const inputs[] = {"clean", NULL};
  struct check check = check_open(argc, argv, 1u << 20, inputs);
  int n = (int)check.size;
  int *in = check_alloc(&check, (size_t)n, sizeof *in);

  for (int r = 0; r < check.repeat; r++) {
    struct sums sums;
    memset(&sums, 0, sizeof sums);
    check_begin(&check);
    for (int i = 0; i < n; i++)
      in[i] = i % 1009 * 31 + 3;
    check_start(&check);
    checksum(n, in, &sums);
    low(n, in, &sums);
    rounded(n, in, &sums);
    any(n, in, &sums);
    least(n, in, &sums);
    kept(n, in, &sums);
    check_stop(&check);
    check_array(&check, "sums", &sums, 1, sizeof sums);
  }
  free(in);
  return check_close(&check);
}
