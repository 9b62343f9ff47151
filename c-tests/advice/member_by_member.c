/* kind: unsupported-type
 * advice: member-by-member
 */
struct point {
  double x, y;
};

void copy(struct point *a, const struct point *b, int n) {
  for (int i = 0; i < n; i++) { /* here */
#ifdef ADVISED
    a[i].x = b[i].x;
    a[i].y = b[i].y;
#else
    a[i] = b[i];
#endif
  }
}
