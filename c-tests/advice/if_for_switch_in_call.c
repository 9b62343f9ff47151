/* kind: unknown-call
 * advice: if-for-switch
 */
static int weight(int x) {
#ifdef ADVISED
  if (x == 1)
    return 7;
  return 9;
#else
  switch (x) {
  case 1: return 7;
  default: return 9;
  }
#endif
}

void fill(int *a, const int *b, int n) {
  for (int i = 0; i < n; i++) /* here */
    a[i] = weight(b[i]);
}
