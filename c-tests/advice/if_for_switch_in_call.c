/* kind: unknown-call
 * advice: if-for-switch
 *
 * A case inside a branch of another one's.
 */
static int weight(int x, int y) {
#ifdef ADVISED
  if (x == 1 && y < 0 || x == 2)
    return 7;
  return 9;
#else
  switch (x) {
  case 1:
    if (y < 0) {
  case 2:
      return 7;
    }
  default:
    return 9;
  }
#endif
}

void fill(int *a, const int *b, int n) {
  for (int i = 0; i < n; i++) /* here */
    a[i] = weight(b[i], i);
}
