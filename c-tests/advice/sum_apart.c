/* kind: floating-point-order
 * advice: sum-apart
 */
double sum(const double *a, double *part, int n) {
  double s = 0;
#ifdef ADVISED
  for (int i = 0; i < n; i++) /* then */
    part[i] = a[i] * a[i];
  for (int i = 0; i < n; i++)
    s += part[i];
#else
  for (int i = 0; i < n; i++) /* here */
    s += a[i] * a[i];
#endif
  return s;
}
