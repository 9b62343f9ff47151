/* kind: unsupported-type
 * advice: whole-member
 */
struct cell {
#ifdef ADVISED
  unsigned kind;
#else
  unsigned kind : 4;
#endif
  int value;
};

void mark(struct cell *a, int n) {
  for (int i = 0; i < n; i++) /* here */
    a[i].kind = 3;
}
