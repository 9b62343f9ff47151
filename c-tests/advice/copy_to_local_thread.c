/* A bound that each thread has of its own.
 * kind: thread-local
 * advice: copy-to-local
 */
__thread int limit;

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
