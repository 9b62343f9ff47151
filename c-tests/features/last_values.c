/* Scalars that are used after the loop: the induction variable, the last value of temporaries, values that only some
 * iterations assign, several induction variables.
 *
 * test size: 3001
 * expect temporaries: runs on clean
 * expect reused_first: runs on clean
 * expect reused_second: runs on clean
 * expect turns: runs on clean */
#include "../support/inputs.h"

struct leftovers {
  int i, j, k, last;
  double t, u, conditional;
  unsigned char c;
};

COMPUTE static void induction(int n, int *a, struct leftovers *l)
{
  int i, j = 3, k = n;
  for (i = 0; i < n; i += 2) { /* loop induction */
    a[i] = j;
    j += 5;
    k--;
  }
  l->i = i;
  l->j = j;
  l->k = k;
}

COMPUTE static void temporaries(int n, const double *in, double *out, struct leftovers *l)
{
  double t = -1.0, u = -2.0;
  for (int i = 0; i < n; i++) { /* loop temporaries */
    t = in[i] * 2.0;
    u = t + 1.0;
    out[i] = t * u;
  }
  l->t = t;
  l->u = u;
}

COMPUTE static void sometimes(int n, const double *in, double *out, struct leftovers *l)
{
  double kept = 42.0;
  int last = -1;
  for (int i = 0; i < n; i++) { /* loop sometimes */
    if (in[i] > 0.9) {
      kept = in[i];
      last = i;
    }
    out[i] = -in[i];
  }
  l->conditional = kept;
  l->last = last;
}

/* The scalar carries a value from one iteration to the next. */
COMPUTE static void carried(int n, const double *in, double *out, struct leftovers *l)
{
  double previous = 0.0;
  unsigned char c = 250;
  for (int i = 0; i < n; i++) { /* loop carried */
    out[i] = in[i] - previous;
    previous = in[i];
    c++;
  }
  l->t += previous;
  l->c = c;
}

/* One temporary for two loops: what the first leaves in it is never read. */
COMPUTE static void reused(int n, const double *in, double *out)
{
  double t;
  for (int i = 0; i < n; i++) /* loop reused_first */
    if (in[i] > 0.0) {
      t = in[i] * 3.0;
      out[i] = t;
    }
  for (int i = 0; i < n; i++) { /* loop reused_second */
    t = out[i] + 1.0;
    if (t > 1.5)
      out[i] = t;
  }
}

/* What the inner loop leaves is read in the next turn of the outer one, by another loop, and after both. */
COMPUTE static void kept_for_later(int n, const double *in, double *out, struct leftovers *l)
{
  double t = 0.25, u = 0.5;
  for (int turn = 0; turn < 3; turn++) {
    out[turn] += t;
    for (int i = 0; i < n; i++)
      if (in[i] > 0.5) {
        t = in[i];
        out[i] = t;
      }
    if (turn == 1)
      continue;
    for (int i = 0; i < n; i++)
      if (in[i] < -0.5) {
        u = in[i];
        out[i] = u;
      }
  }
  l->u += u;
}

/* Assigned anew in each turn before it is read. */
COMPUTE static double turns(int n, const double *in, double *out)
{
  double t, sum = 0.0;
  int turn = 0;
  do {
    t = (double)turn;
    sum += t;
    for (int i = 0; i < n; i++) { /* loop turns */
      if (in[i] > 0.3) {
        t = in[i] - 1.0;
        out[i] = t;
      }
    }
  } while (++turn < 3);
  return sum;
}

int main(int argc, char **argv)
{
  static const char *const inputs[] = {"clean", "raw", NULL};
  struct check check = check_open(argc, argv, 1u << 20, inputs);
  size_t n = check.size;
  int *a = check_alloc(&check, n, sizeof *a);
  double *block = check_alloc(&check, 4 * n, sizeof *block);

  for (int r = 0; r < check.repeat; r++) {
    struct leftovers l;
    memset(&l, 0, sizeof l);
    check_begin(&check);
    fill_double(&check, block, 4 * n);
    double *in = block, *out = check_is(&check, "raw") ? in + 1 : in + n;
    check_start(&check);
    induction((int)n, a, &l);
    temporaries((int)n, in, out, &l);
    sometimes((int)n, in, out + n, &l);
    carried((int)n, in, out + 2 * n, &l);
    temporaries(0, in, out, &l);
    reused((int)n, in, out);
    kept_for_later((int)n, in, out + n, &l);
    l.conditional += turns((int)n, in, out + 2 * n);
    check_stop(&check);
    check_array(&check, "leftovers", &l, 1, sizeof l);
    check_array(&check, "a", a, n, sizeof *a);
    check_array(&check, "block", block, 4 * n, sizeof *block);
  }
  free(a);
  free(block);
  return check_close(&check);
}
