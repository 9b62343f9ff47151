/* kind: unknown-call
 * advice: make-static
 * flags: -fPIC
 */
#ifdef ADVISED
static
#endif
int twice(int x) {
  return 2 * x;
}

void fill(int *a, int n) {
  for (int i = 0; i < n; i++) /* here */
    a[i] = twice(i);
}
