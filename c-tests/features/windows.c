/* Subscripts that aren't affine but lie between two numbers: clamped ones, tables, masks and remainders. Where the numbers leave
 * the table, or what is loaded may be what is stored, nothing may follow from that.
 *
 * test size: 3001
 * expect clamped: runs on clean
 * expect stated: runs on clean
 * expect skipped: runs on clean
 * expect table: runs on clean
 * expect small: runs on clean
 * expect masked: runs on clean
 * expect remainder: runs on clean
 * expect rows: runs on clean
 * expect placed: runs on clean
 * expect summed: runs on clean
 * expect chained: runs on clean
 * expect counted: runs on clean
 * expect limited: runs on clean
 * expect halves: runs on clean */
#include "../support/inputs.h"

#define MIN(a, b) ((a) < (b) ? (a) : (b))
#define MAX(a, b) ((a) > (b) ? (a) : (b))

static int clamp(int value, int low, int high)
{
  return value < low ? low : value > high ? high : value;
}

static const unsigned char squares[256] = {0, 1, 4, 9, 16, 25, 36, 49, 64, 81, 100, 121, 144, 169, 196, 225};
static int halves[64];

COMPUTE static void clamped(int n, int width, const int *in, int *out)
{
  for (int i = 0; i < n; i++) { /* loop clamped */
    int sum = 0;
    for (int d = -2; d <= 2; d++)
      sum = sum / 3 + in[clamp(i + d * width, 0, n - 1)] / 3 + in[MIN(MAX(i - d, 0), n - 1)] / 3;
    out[i] = sum;
  }
}

COMPUTE static void stated(int n, const int *at, const int *in, int *out)
{
  for (int i = 0; i < n; i++) { /* loop stated */
    int k = at[i] - 7;
    if (k < 0)
      k = 0;
    else if (k >= n)
      k = n - 1;
    out[i] = in[k] ^ i;
  }
}

COMPUTE static void skipped(int n, const int *at, const int *in, int *out)
{
  for (int i = 0; i < n; i++) { /* loop skipped */
    int sum = 0;
    for (int d = -3; d < 3; d++) {
      int k = at[i] + d;
      if (k < 0 || k >= n)
        continue;
      sum += in[k] ^ d;
    }
    out[i] = sum;
  }
}

COMPUTE static void table(size_t n, const unsigned char *bytes, int *out)
{
  for (size_t i = 0; i < n; i++) /* loop table */
    out[i] = squares[bytes[i]] + squares[255 - bytes[i]];
}

/* A table of whose extent nobody has a record. */
COMPUTE static void small(size_t n, const unsigned char *bytes, const int *few, int *out)
{
  for (size_t i = 0; i < n; i++) /* loop small */
    out[i] = (few[bytes[i]] >> 4) * 3 + few[bytes[i] >> 3 & 7];
}

COMPUTE static void masked(int n, int mask, const int *at, const int *few, int *out)
{
  for (int i = 0; i < n; i++) /* loop masked */
    out[i] = (few[at[i] * 77 & mask] & 1023) + i;
}

COMPUTE static void remainder_of(int n, unsigned m, const int *at, const int *few, int *out)
{
  for (int i = 0; i < n; i++) /* loop remainder */
    out[i] = (few[((unsigned)at[i] * 2654435761u) % m] & 1023) - i;
}

/* The windows of rows lie apart, so iterations don't meet. */
COMPUTE static void rows(int n, const int *at, int *out)
{
  for (int i = 0; i < n; i++) /* loop rows */
    out[i * 16 + (at[i] & 15)] ^= i;
}

COMPUTE static void placed(int n, const int *at, const int *in, int *out)
{
  for (int i = 0; i < n; i++) { /* loop placed */
    int k = at[i];
    out[i] = k >= 0 && k < n ? in[k] : -1;
  }
}

COMPUTE static void summed(int n, const unsigned char *bytes, const int *few, int *sum)
{
  for (int i = 0; i < n; i++) /* loop summed */
    *sum ^= few[bytes[i]] * (i & 7);
}

/* The value of an assignment that is made of what it assigns. */
COMPUTE static void chained(int n, const unsigned char *bytes, const int *in, int *out)
{
  for (int i = 0; i < n; i++) { /* loop chained */
    int k = bytes[i] & 7, l;
    l = k = k + 1000;
    out[i] = in[k = 1007 - k] ^ in[l + 7];
  }
}

/* Nothing is known of where the mask leads, but its type tells it from the sum. */
COMPUTE static void counted(int n, int mask, const int *at, const short *from, long *total)
{
  for (int i = 0; i < n; i++) /* loop counted */
    *total += from[at[i] & mask] ^ i;
}

/* Where the window is, the limit is as well: whether it is stored to, the addresses tell. */
COMPUTE static void limited(int mask, const int *at, int *out, const int *limit)
{
  for (int i = 0; i < *limit; i++) /* loop limited */
    out[at[i] & mask] = i ^ mask;
}

/* One half of a table is what others are made of. */
COMPUTE static void half(int n, int *own, const int *at)
{
  for (int i = 0; i < n; i++) /* loop halves */
    own[256 + i] = (own[at[i] & 255] ^ i);
}

/* Windows that are wrong about nothing: where a number is out of the ordinary, accesses are elsewhere. */
COMPUTE static void odd(int n, int low, int high, unsigned m, const int *at, const int *middle, int *out)
{
  for (int i = 0; i < n; i++) { /* loop odd */
    int k = clamp(at[i], low, high);
    out[i] = middle[k] ^ middle[(unsigned)clamp(i, low, high) * m % 1024u] ^ middle[at[i] % 900];
  }
}

/* Behind a loop that was left because something didn't hold, it doesn't hold. */
COMPUTE static void behind(int n, const int *at, const int *few, int *all)
{
  for (int i = 0; i < n; i++) { /* loop behind */
    int k = 2 * at[i], sum = 0;
    for (int j = 0; j < 3; j++) {
      if (k < 0 || k >= n)
        break;
      sum += few[j];
    }
    all[n + i] = sum ^ all[k];
  }
}

/* Nor does it in the step that a turn goes on to which was left. */
COMPUTE static void stepped(int n, const int *at, const int *few, int *all)
{
  for (int i = 0; i < n; i++) { /* loop stepped */
    int k = 2 * at[i], sum = 0;
    for (int j = 0; j < 3; sum ^= all[k] >> j, j++) {
      if (k < 0 || k >= n)
        continue;
      sum += few[j];
    }
    all[n + i] = sum;
  }
}

int main(int argc, char **argv)
{
  static const char *const inputs[] = {"clean", "same", "odd", NULL};
  struct check check = check_open(argc, argv, 1u << 16, inputs);
  int n = (int)check.size, few[256], sum = 0, mask;
  long total = 0;
  size_t elements = 16 * (size_t)n + 4096;
  int *at = check_alloc(&check, (size_t)n, sizeof *at), *in = check_alloc(&check, elements, sizeof *in);
  int *out = check_alloc(&check, elements, sizeof *out);
  unsigned char *bytes = check_alloc(&check, (size_t)n, 1);
  short *narrow = check_alloc(&check, (size_t)n, sizeof *narrow);

  permute(&check, at, (size_t)n);
  for (int i = 0; i < n; i++)
    bytes[i] = (unsigned char)(check_random(&check) >> 56);
  for (size_t i = 0; i < elements; i++)
    in[i] = (int)(check_random(&check) >> 50);
  for (int i = 0; i < 256; i++)
    few[i] = (int)(check_random(&check) >> 50);
  for (int i = 0; i < 64; i++)
    halves[i] = i;
  /* What is loaded is what others store. */
  int *to = check_is(&check, "same") ? in : out;
  check_start(&check);
  clamped(n, 5, in, to);
  check_array(&check, "clamped", to, (size_t)n, sizeof *to);
  stated(n, at, in, to);
  check_array(&check, "stated", to, (size_t)n, sizeof *to);
  skipped(n, at, in, to);
  check_array(&check, "skipped", to, (size_t)n, sizeof *to);
  table((size_t)n, bytes, to);
  check_array(&check, "table", to, (size_t)n, sizeof *to);
  small((size_t)n, bytes, check_is(&check, "same") ? in : few, to);
  check_array(&check, "small", to, (size_t)n, sizeof *to);
  masked(n, 63, at, check_is(&check, "same") ? in + 20 : few, to);
  check_array(&check, "masked", to, (size_t)n, sizeof *to);
  remainder_of(n, 200, at, check_is(&check, "same") ? in + 100 : few, to);
  check_array(&check, "remainder", to, (size_t)n, sizeof *to);
  rows(n, at, to);
  check_array(&check, "rows", to, elements, sizeof *to);
  placed(n, at, in, to);
  check_array(&check, "placed", to, (size_t)n, sizeof *to);
  summed(n, bytes, few, check_is(&check, "same") ? few + 9 : &sum);
  check_array(&check, "sum", &sum, 1, sizeof sum);
  chained(n, bytes, in, to);
  check_array(&check, "chained", to, (size_t)n, sizeof *to);
  for (int i = 0; i < n; i++)
    narrow[i] = (short)(i * 7);
  counted(n, -1, at, narrow, &total);
  check_array(&check, "counted", &total, 1, sizeof total);
  for (mask = 1; mask <= n; mask = 2 * mask + 1)
    ;
  to[mask] = n;
  limited(mask, at, to, to + mask);
  check_array(&check, "limited", to, (size_t)mask + 1, sizeof *to);
  half(n, to, at);
  check_array(&check, "halves", to, (size_t)n, sizeof *to);
  if (check_is(&check, "odd")) {
    int *middle = in + 2048;
    odd(n, 0, -1, 7, at, middle, to);
    check_array(&check, "none", to, (size_t)n, sizeof *to);
    odd(n, -5, 5, 1u << 31, at, middle, to);
    check_array(&check, "negative", to, (size_t)n, sizeof *to);
    odd(n, 900, 3, 4294967295u, at, middle, to);
    check_array(&check, "turned", to, (size_t)n, sizeof *to);
    clamped(1, 2147483647 / 2, in, to);
    check_array(&check, "far", to, 1, sizeof *to);
    masked(n, -1 & 255, at, few, to);
    check_array(&check, "whole", to, (size_t)n, sizeof *to);
    behind(n, at, few, to);
    check_array(&check, "behind", to, 2 * (size_t)n, sizeof *to);
    stepped(n, at, few, to);
    check_array(&check, "stepped", to, 2 * (size_t)n, sizeof *to);
  }
  check_stop(&check);
  free(narrow);
  free(bytes);
  free(out);
  free(in);
  free(at);
  return check_close(&check);
}
