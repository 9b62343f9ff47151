/* kind: unknown-call
 * advice: call-apart
 *
 * Under a condition, and behind a comma.
 */
static int twice(int x) {
  return 2 * x;
}

void fill(int *a, int n) {
#ifdef ADVISED
  for (int i = 0; i < n; i++) { /* then */
    int x = twice(i);
    a[i] = i > 3 ? x : 0;
  }
#else
  for (int i = 0; i < n; i++) /* here */
    a[i] = i > 3 ? (a[i], twice(i)) : 0;
#endif
}
