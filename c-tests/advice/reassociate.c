/* kind: floating-point-order
 * advice: reassociate
 * apply: -fparagon-reassoc
 */
double product(const double *a, int n) {
  double p = 1;
  for (int i = 0; i < n; i++) /* here */
    p *= a[i];
  return p;
}
