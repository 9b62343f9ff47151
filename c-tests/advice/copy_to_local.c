/* A bound is read from memory that the loop may store to.
 * kind: bounds-may-change
 * advice: copy-to-local
 */
int squares[4096];

void fill(const int *n)
{
#ifdef ADVISED
  int count = *n;
  for (int i = 0; i < count; i++) /* then */
    squares[i] = i * i;
#else
  for (int i = 0; i < *n; i++) /* here */
    squares[i] = i * i;
#endif
}
