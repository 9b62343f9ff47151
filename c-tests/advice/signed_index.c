/* kind: wrap-around
 * advice: signed-index
 */
#ifdef ADVISED
typedef int index;
#else
typedef unsigned index;
#endif

static double a[1000], b[1000];

void shift(index n, index k) {
  for (index i = 0; i < n; i++) /* here */
    a[i + k] = b[i];
}
