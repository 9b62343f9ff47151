/* kind: unsupported-construct
 * advice: if-for-switch
 */
void fill(int *a, const int *b, int n) {
  for (int i = 0; i < n; i++) { /* here */
#ifdef ADVISED
    if (b[i] == 1)
      a[i] = 7;
    else if (b[i] == 2)
      a[i] = 8;
    else
      a[i] = 9;
#else
    switch (b[i]) {
    case 1: a[i] = 7; break;
    case 2: a[i] = 8; break;
    default: a[i] = 9;
    }
#endif
  }
}
