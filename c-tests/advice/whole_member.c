/* kind: unsupported-type
 * advice: whole-member
 *
 * No number of the machine's has just these three bytes: who stores four may store to what another thread has in the last one.
 */
struct cell {
#ifdef ADVISED
  unsigned kind;
#else
  unsigned kind : 24;
#endif
  unsigned char level;
};

void mark(struct cell *a, int n) {
  for (int i = 0; i < n; i++) /* here */
    a[i].kind = 3;
}
