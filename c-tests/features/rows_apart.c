/* Rows that were allocated one by one, and among them a small array that the loop changes: where many small arrays are copied to a device
 * together, what lies between two of them must stay what it is.
 *
 * test size: 64
 * expect rows: runs on clean */
#include "../support/inputs.h"

COMPUTE static void digest(int n, int m, long **row, unsigned char *digests)
{
  for (int i = 0; i < n; i++) { /* loop rows */
    long sum = 0;
    const long *here = row[i];
    for (int k = 0; k < m; k++)
      sum += (here[k] * here[k]) ^ (sum >> 3);
    digests[i] = (unsigned char)(digests[i] + sum);
  }
}

int main(int argc, char **argv)
{
  static const char *const inputs[] = {"clean", NULL};
  struct check check = check_open(argc, argv, 4096, inputs);
  size_t n = check.size;
  /* So many bytes that on the device the next array but one begins less than 256 bytes behind a row. */
  enum { LONGEST = 513 };
  long **row = check_alloc(&check, n, sizeof *row);
  unsigned char *digests = NULL;
  for (size_t i = 0; i < n; i++) {
    row[i] = check_alloc(&check, LONGEST, sizeof **row);
    if (i == n / 2)
      digests = check_alloc(&check, n, 1);
  }

  for (int r = 0; r < check.repeat; r++) {
    check_begin(&check);
    for (size_t i = 0; i < n; i++)
      for (int k = 0; k < LONGEST; k++)
        row[i][k] = (long)(check_random(&check) >> 40);
    for (size_t i = 0; i < n; i++)
      digests[i] = (unsigned char)check_random(&check);
    check_start(&check);
    for (int m = LONGEST - 24; m <= LONGEST; m += 3)
      digest((int)n, m, row, digests);
    check_stop(&check);
    check_array(&check, "digests", digests, n, 1);
  }
  for (size_t i = 0; i < n; i++)
    free(row[i]);
  free(digests);
  free(row);
  return check_close(&check);
}
