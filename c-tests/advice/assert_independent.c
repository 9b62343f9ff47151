/* A called function has a loop of its own, which a guess about the caller's would hide.
 * kind: inner-loops-first
 * advice: assert-independent
 */
static void add_row(double *y, const int *columns, int first, int last) {
  for (int k = first; k < last; k++)
    y[columns[k]] = 1;
}

void all(double *y, const int *start, const int *columns, int n) {
#ifdef ADVISED
#pragma paragon independent
#endif
  for (int i = 0; i < n; i++) /* here */
    add_row(y, columns, start[i], start[i + 1]);
}
