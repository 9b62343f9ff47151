/* The step of longer.c, whose elements have as many turns as it is told. */
void step(double *restrict to, const double *restrict from, long count, long turns)
{
  for (long i = 0; i < count; i++) {
    double sum = from[i];
    for (long j = 0; j < turns; j++)
      sum = sum * 0.5 + 0.25;
    to[i] = sum;
  }
}
