/* Small blocks that come and go, beside an array that is large enough to be kept in mind. */
#include <stdio.h>
#include <stdlib.h>

struct node {
  struct node *next;
  long key;
};

__attribute__((noinline)) static struct node *push(struct node *list, long key)
{
  struct node *n = malloc(sizeof *n);
  n->next = list;
  n->key = key;
  return n;
}

int main(void)
{
  enum { N = 1 << 20 };
  float *a = malloc(N * sizeof *a);
  for (int i = 0; i < N; i++)
    a[i] = (float)i * 0.5f;
  long sum = 0;
  for (int turn = 0; turn < 1000000; turn++) {
    struct node *list = NULL;
    for (int i = 0; i < 20; i++)
      list = push(list, turn + i);
    while (list) {
      struct node *next = list->next;
      sum += list->key;
      free(list);
      list = next;
    }
  }
  printf("%ld %g\n", sum, (double)a[N - 1]);
  free(a);
  return 0;
}
