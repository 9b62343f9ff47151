/* A bound is read from memory that the loop stores to through an unknown address.
 * kind: bounds-may-change
 * advice: copy-to-local
 */
struct table {
  int n;
  int **row;
};

void fill(struct table *t) {
#ifdef ADVISED
  int n = t->n;
  for (int i = 0; i < n; i++) /* then */
    *t->row[i] = i;
#else
  for (int i = 0; i < t->n; i++) /* here */
    *t->row[i] = i;
#endif
}
