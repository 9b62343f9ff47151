/* kind: unsupported-type
 * advice: member-by-member
 *
 * Larger than what is copied by its members without being told to.
 */
struct record {
  double place[2], history[40];
};

void copy(struct record *a, const struct record *b, int n) {
  for (int i = 0; i < n; i++) { /* here */
#ifdef ADVISED
    a[i].place[0] = b[i].place[0];
    a[i].place[1] = b[i].place[1];
    for (int k = 0; k < 40; k++)
      a[i].history[k] = b[i].history[k];
#else
    a[i] = b[i];
#endif
  }
}
