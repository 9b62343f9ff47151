/* kind: floating-point-contraction
 * advice: no-contraction
 * flags: -mfma
 * apply: -ffp-contract=off
 */
void axpy(double *y, const double *x, double a, int n) {
  for (int i = 0; i < n; i++) /* here */
    y[i] += a * x[i];
}
