/* Jumps in bodies: `switch` in all its forms, `goto` to labels further down, both at once, and those that stay as they are.
 *
 * test size: 3000
 * expect cases: runs on clean
 * expect through_cases: runs on clean
 * expect typed: runs on clean
 * expect nested: runs on clean
 * expect forward: runs on clean
 * expect out_of_switch: runs on clean
 * expect declared: runs on clean
 * expect with_loop: runs on clean
 * expect temporaries: runs on clean
 * expect counted: runs on clean */
#include "../support/inputs.h"

enum kind { NONE, ADD, SUB, TIMES, LAST };

COMPUTE static void cases(int n, const int *kind, const int *in, int *out)
{
  for (int i = 0; i < n; i++) { /* loop cases */
    switch (kind[i]) {
    case ADD:
      out[i] = in[i] + 3;
      break;
    case SUB: {
      int by = in[i] / 2;
      out[i] = in[i] - by;
      break;
    }
    default:
      if (in[i] > 500)
        break;
      out[i] = -1;
      break;
    case TIMES:
      out[i] = in[i] * 3;
    }
    out[i] ^= 1;
  }
}

COMPUTE static void through_cases(int n, const int *kind, const int *in, int *out)
{
  for (int i = 0; i < n; i++) { /* loop through_cases */
    int level = 0;
    switch (kind[i] + 10) {
    case 14:
      level += in[i];
      /* fall through */
    case 13:
    case 12:
      level *= 3;
      if (in[i] % 7 == 0)
        continue;
      /* fall through */
    default:
      level++;
      /* fall through */
    case 5 ... 10:
      level += 10;
    }
    out[i] = level;
  }
}

COMPUTE static void typed(int n, const unsigned char *bytes, const long *longs, int *out)
{
  for (int i = 0; i < n; i++) { /* loop typed */
    switch (bytes[i]) {
    case 255:
      out[i] = 1;
      break;
    case 'a' ... 'z':
      out[i] = 2;
      break;
    }
    switch (longs[i]) {
    case -1:
      out[i] += 4;
      break;
    case 0x100000000:
      out[i] += 8;
      break;
    case 0:
      out[i] += 16;
    }
    switch ((unsigned)longs[i]) {
    case 0xffffffffu:
      out[i] += 32;
      break;
    case 0:
      out[i] += 64;
    }
  }
}

COMPUTE static void nested(int n, const int *kind, const int *in, int *out)
{
  for (int i = 0; i < n; i++) { /* loop nested */
    switch (kind[i]) {
    case NONE:
      switch (in[i] % 4) {
      case 0:
        out[i] = 1;
        break;
      case 1:
        if (in[i] > 100) {
          out[i] = 2;
          break;
        }
        out[i] = 3;
        /* fall through */
      default:
        out[i] += 4;
      }
      out[i] *= 5;
      break;
    case ADD:
      out[i] = 6;
      /* fall through */
    case SUB:
      out[i] -= 7;
    }
  }
}

COMPUTE static void forward(int n, const int *in, int *out)
{
  for (int i = 0; i < n; i++) { /* loop forward */
    if (in[i] < 300)
      goto small;
    if (in[i] > 900) {
      out[i] = 9;
      goto done;
    } else if (in[i] > 800)
      goto middle;
    out[i] = 1;
    goto next;
  small:
    out[i] = 2;
    if (in[i] == 7)
      goto done;
  middle:
    out[i] += 3;
  next:
    out[i] *= 2;
  done:;
  }
}

COMPUTE static void out_of_switch(int n, const int *kind, const int *in, int *out)
{
  for (int i = 0; i < n; i++) { /* loop out_of_switch */
    switch (kind[i]) {
    case ADD:
      goto add;
    case SUB:
      goto sub;
    case TIMES:
      if (in[i] & 1)
        goto done;
      break;
    }
    out[i] = in[i];
    goto done;
  add:
    out[i] = in[i] + 1;
    goto done;
  sub:
    out[i] = in[i] - 1;
  done:
    out[i] += 100;
  }
}

COMPUTE static int declared(int n, const int *in, int *out)
{
  int last = 0;
  for (int i = 0; i < n; i++) { /* loop declared */
    goto first;
    {
      int never = in[i];
      out[i] = never;
    }
  first:
    switch (in[i] % 3) {
      int shared;
    case 0:
      shared = in[i];
      out[i] = shared + 1;
      break;
    case 1:
      shared = 2 * in[i];
      out[i] = shared - 1;
      break;
    default:
      out[i] = 4;
    }
    last = out[i];
  }
  return last;
}

/* The inner loop stands behind all cases, so that it needn't be copied; the one in a case does stand once. */
COMPUTE static void with_loop(int n, const int *kind, const int *in, int *out)
{
  for (int i = 0; i < n; i++) { /* loop with_loop */
    int sum = 0;
    switch (kind[i]) {
    case NONE:
      for (int j = 0; j < 5; j++) {
        if (in[i] % (j + 2) == 1)
          break;
        sum += j;
      }
      break;
    case ADD:
      sum = in[i];
    }
    for (int j = 0; j < 3; j++)
      switch (j) {
      case 1:
        sum ^= 5;
        break;
      default:
        sum++;
      }
    out[i] = sum;
  }
}

COMPUTE static long temporaries(int n, const int *kind, const int *in, int *out)
{
  long total = 0;
  int value;
  for (int i = 0; i < n; i++) { /* loop temporaries */
    switch (kind[i]) {
    case ADD:
      value = in[i] + 1;
      break;
    case SUB:
      value = in[i] - 1;
      break;
    default:
      value = 0;
    }
    out[i] = value;
    total += value;
  }
  return total;
}

/* A variable that every way moves. */
COMPUTE static void counted(int n, const int *kind, const int *in, int *out)
{
  int count = 0;
  while (count < n) { /* loop counted */
    switch (kind[count]) {
    case ADD:
      out[count] = in[count] + 5;
      break;
    default:
      out[count] = in[count] - 5;
    }
    count++;
  }
}

/* What stays as it is: back, out of an inner loop, from outside, into a block, a case in a loop. */
COMPUTE static int untouched(int n, const int *in, int *out)
{
  int i = 0, found = -1;
  for (i = 0; i < n; i++) {
    int times = 0;
  again:
    out[i] += times;
    if (++times < in[i] % 4)
      goto again;
  }
  for (i = 0; i < n; i++) {
    for (int j = 0; j < 4; j++)
      if (in[i] % (j + 3) == 2)
        goto next;
    out[i]++;
  next:;
  }
  i = 3;
  if (n > 10)
    goto inside;
  for (; i < n; i++) {
    out[i] += 2;
  inside:
    out[i] += 3;
  }
  for (i = 0; i < n; i++) {
    if (in[i] > 500)
      goto block;
    if (in[i] & 1) {
      out[i] -= 4;
    block:
      out[i] -= 5;
    }
  }
  for (i = 0; i < n; i++) {
    int turns = in[i] % 3;
    switch (turns) {
      do {
      case 2:
        out[i] += 11;
        /* fall through */
      case 1:
        out[i] += 13;
      } while (--turns > 0);
    }
  }
  for (i = 0; i < n; i++)
    if (in[i] == 999) {
      found = i;
      goto out;
    }
out:
  return found;
}

int main(int argc, char **argv)
{
  static const char *const inputs[] = {"clean", NULL};
  struct check check = check_open(argc, argv, 1u << 20, inputs);
  int n = (int)check.size;
  size_t size = (size_t)n;
  enum { FUNCTIONS = 11 };
  int *kind = check_alloc(&check, size, sizeof *kind), *in = check_alloc(&check, size, sizeof *in);
  int *out = check_alloc(&check, FUNCTIONS * size, sizeof *out);
  unsigned char *bytes = check_alloc(&check, size, sizeof *bytes);
  long *longs = check_alloc(&check, size, sizeof *longs);
  static const long values[] = {-1, 0, 1, 0x100000000, 0xffffffff, 0x1ffffffff};

  for (int r = 0; r < check.repeat; r++) {
    check_begin(&check);
    for (size_t i = 0; i < size; i++) {
      kind[i] = (int)check_below(&check, LAST + 1);
      in[i] = (int)check_below(&check, 1000);
      bytes[i] = (unsigned char)check_below(&check, 256);
      longs[i] = values[check_below(&check, sizeof values / sizeof *values)];
    }
    for (size_t i = 0; i < FUNCTIONS * size; i++)
      out[i] = (int)(i % 11);
    check_start(&check);
    cases(n, kind, in, out);
    through_cases(n, kind, in, out + size);
    typed(n, bytes, longs, out + 2 * size);
    nested(n, kind, in, out + 3 * size);
    forward(n, in, out + 4 * size);
    out_of_switch(n, kind, in, out + 5 * size);
    long after = declared(n, in, out + 6 * size);
    with_loop(n, kind, in, out + 7 * size);
    after += temporaries(n, kind, in, out + 8 * size);
    counted(n, kind, in, out + 9 * size);
    after += untouched(n, in, out + 10 * size);
    check_stop(&check);
    printf("after: %ld\n", after);
    check_array(&check, "out", out, FUNCTIONS * size, sizeof *out);
  }
  free(kind);
  free(in);
  free(out);
  free(bytes);
  free(longs);
  return check_close(&check);
}
