/* The library of libraries.c. */
static double own[60000];

double visit(long t, long n, double *to, double *from);
double *lend(long n);

double visit(long t, long n, double *to, double *from)
{
  to[t * 50] = from[t * 70] + 1;
  for (long i = 0; i < n; i++)
    to[i] = to[i] + from[i] * 0.125;
  return to[t * 60] - own[t];
}

double *lend(long n)
{
  for (long i = 0; i < n; i++)
    own[i] = own[i] * 0.5 + (double)i;
  own[n / 2] = 1;
  return own;
}
