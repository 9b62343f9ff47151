/* kind: uninitialised-scalar
 * advice: initialise
 */
void fill(int *a, const int *b, int n) {
  for (int i = 0; i < n; i++) { /* here */
#ifdef ADVISED
    int x = 0;
#else
    int x;
#endif
    if (b[i])
      x = b[i];
    a[i] = b[i] ? x : 0;
  }
}
