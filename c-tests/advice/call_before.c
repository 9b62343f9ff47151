/* kind: not-counted
 * advice: call-before
 */
unsigned long length_of(const int *);

void fill(const int *a, int *b) {
#ifdef ADVISED
  unsigned long n = length_of(a);
  for (unsigned long i = 0; i < n; i++) /* then */
    b[i] = 1;
#else
  for (unsigned long i = 0; i < length_of(a); i++) /* here */
    b[i] = 1;
#endif
}
