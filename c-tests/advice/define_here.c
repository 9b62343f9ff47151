/* kind: unknown-call
 * advice: define-here
 */
#ifdef ADVISED
int twice(int x) {
  return 2 * x;
}
#else
int twice(int x);
#endif

void fill(int *a, int n) {
  for (int i = 0; i < n; i++) /* here */
    a[i] = twice(i);
}
