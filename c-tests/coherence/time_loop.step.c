/* Each value from itself and its four neighbours; the boundary stays. */
void step(long n, float *to, const float *from)
{
  for (long i = 1; i < n - 1; i++)
    for (long j = 1; j < n - 1; j++)
      to[i * n + j] = 0.5f * from[i * n + j] + 0.125f * (from[(i - 1) * n + j] + from[(i + 1) * n + j] + from[i * n + j - 1] + from[i * n + j + 1]);
}
