/* kind: not-counted
 * advice: local-counter
 */
int position;

void fill(int *a, int n) {
#ifdef ADVISED
  int i;
  for (i = 0; i < n; i++) /* then */
    a[i] = 1;
  position = i;
#else
  for (position = 0; position < n; position++) /* here */
    a[position] = 1;
#endif
}
