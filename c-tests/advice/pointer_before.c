/* kind: thread-local
 * advice: pointer-before
 */
_Thread_local int scratch[1000];

void fill(int n) {
#ifdef ADVISED
  int *own = scratch;
  for (int i = 0; i < n; i++) /* then */
    own[i] = i;
#else
  for (int i = 0; i < n; i++) /* here */
    scratch[i] = i;
#endif
}
