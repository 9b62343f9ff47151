/* The step of two_files.c. */
void step(long rows, long columns, double *to, const double *from);

void step(long rows, long columns, double *to, const double *from)
{
  for (long i = 1; i < rows - 1; i++)
    for (long j = 1; j < columns - 1; j++)
      to[i * columns + j] = (from[(i - 1) * columns + j] + from[(i + 1) * columns + j] + from[i * columns + j - 1] +
                             from[i * columns + j + 1]) *
                            0.25;
}
