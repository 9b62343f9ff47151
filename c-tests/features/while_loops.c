/* Loops that are not counted for statements: while, do/while, for with missing parts.
 *
 * test size: 2003
 * expect newton: runs on clean
 * expect bounded: runs on clean */
#include "../support/inputs.h"

COMPUTE static size_t copy_until(const char *in, char *out, char end)
{
  size_t i = 0;
  while ((out[i] = in[i]) != end)
    i++;
  return i;
}

COMPUTE static int collatz(const int *start, int *steps, int n)
{
  int i = 0, most = 0;
  do {
    long v = start[i];
    int count = 0;
    while (v != 1) {
      v = v % 2 != 0 ? 3 * v + 1 : v / 2;
      count++;
    }
    steps[i] = count;
    if (count > most)
      most = count;
  } while (++i < n);
  return most;
}

COMPUTE static void missing_parts(int n, int *a)
{
  int i = 0;
  for (;;) {
    if (i >= n)
      break;
    a[i] = i;
    i++;
  }
  for (i = 0; i < n;)
    a[i++] *= 2;
  for (; --i >= 0;)
    a[i] -= 1;
}

/* The inner loops have trip counts that depend on the data. */
COMPUTE static void roots(int n, const double *in, double *out)
{
  for (int i = 0; i < n; i++) { /* loop newton */
    double x = in[i] > 1.0 ? in[i] : 1.0;
    int turns = 0;
    while (x * x - in[i] > 1e-9 && turns < 60) {
      x = 0.5 * (x + in[i] / x);
      turns++;
    }
    out[i] = x + turns;
  }
}

/* Loops with a condition that counts, by several ways of counting; some of them end by it, after few turns and after many. */
COMPUTE static void bounded(int n, int most, long many, const double *in, double *out, int *turns)
{
  for (int i = 0; i < n; i++) { /* loop bounded */
    double x = in[i] * 1e-3;
    int up = 0, down = most + i % 3;
    long far = 7;
    unsigned steps = 5;
    while (up < most && x < 1.5) {
      x += 0.25 * x * x + 1e-3;
      up++;
    }
    while (x > 0.125 && down > 3) {
      x *= 0.75;
      --down;
    }
    for (; many + 7 > far && x < 2.0; far += 1)
      x += 1e-4;
    while ((unsigned)most > steps && x > 0.0) {
      if (x > 1.75)
        break;
      x += 0.5;
      steps = steps + 1;
      steps++;
    }
    out[i] = x;
    turns[i] = up + 3 * down + 5 * (int)far + 7 * (int)steps;
  }
}

int main(int argc, char **argv)
{
  static const char *const inputs[] = {"clean", "raw", NULL};
  struct check check = check_open(argc, argv, 1u << 18, inputs);
  size_t n = check.size;
  char *text = check_alloc(&check, 2 * n + 2, 1);
  int *start = check_alloc(&check, n, sizeof *start), *steps = check_alloc(&check, n, sizeof *steps);
  double *values = check_alloc(&check, 2 * n, sizeof *values);

  for (int r = 0; r < check.repeat; r++) {
    check_begin(&check);
    memset(text, 0, 2 * n + 2);
    for (size_t i = 0; i < n; i++) {
      text[i] = (char)('a' + check_below(&check, 26));
      start[i] = 1 + (int)check_below(&check, 9999);
      values[i] = check_real(&check) * 100.0;
    }
    text[n / 2] = '.';
    check_start(&check);
    size_t length = copy_until(text, text + n, '.');
    int most = collatz(start, steps, (int)n);
    missing_parts((int)n, start);
    roots((int)n, values, check_is(&check, "raw") ? values + 1 : values + n);
    bounded((int)n, 20, 5000, values, values + n, steps);
    check_stop(&check);
    printf("length %zu, most %d\n", length, most);
    check_array(&check, "text", text, 2 * n + 2, 1);
    check_array(&check, "start", start, n, sizeof *start);
    check_array(&check, "steps", steps, n, sizeof *steps);
    check_array(&check, "values", values, 2 * n, sizeof *values);
  }
  free(text);
  free(start);
  free(steps);
  free(values);
  return check_close(&check);
}
