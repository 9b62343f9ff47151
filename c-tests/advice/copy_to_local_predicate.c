/* The same where addresses can be compared at entry: then nothing has to be.
 * kind: bounds-may-change
 * advice: copy-to-local
 */
int limit;

void fill(int *a) {
#ifdef ADVISED
  int n = limit;
  for (int i = 0; i < n; i++) /* then */
    a[i] = i;
#else
  for (int i = 0; i < limit; i++) /* here */
    a[i] = i;
#endif
}
