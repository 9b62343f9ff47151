/* kind: unresolved-pair
 * advice: assert-unchecked
 */
void scatter(double *y, const double *x, const int *index, int n) {
#ifdef ADVISED
#pragma paragon independent unchecked
#endif
  for (int i = 0; i < n; i++) /* here */
    y[index[i]] = x[i];
}
