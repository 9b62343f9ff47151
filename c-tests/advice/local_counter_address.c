/* kind: not-counted
 * advice: local-counter
 */
void use(int *);

void fill(int *a, int n) {
  int i = 0;
  use(&i);
#ifdef ADVISED
  int k = i;
  while (k < n) /* then */
    a[k++] = 1;
  i = k;
#else
  while (i < n) /* here */
    a[i++] = 1;
#endif
  use(&i);
}
