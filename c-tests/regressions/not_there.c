/* What only some iterations read may lie where no memory is: behind the end of a page, behind no pointer at all, or across two pages of which the second one is missing.
 * Nobody may look there who isn't told to by the program, and who is has its fault. */
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

enum { COUNT = 4000, PAGE = 4096, FURTHER = 8 };

struct table {
  int kind;
  int scale;
  const double *values;
};

struct __attribute__((packed)) header {
  char mark;
  const double *values;
};

struct chain {
  const struct table *table;
};

static double to[COUNT], from[COUNT], values[COUNT + FURTHER];

__attribute__((noinline)) static void plain(int n, double *restrict a, const double *restrict b, const struct table *t)
{
  for (int i = 0; i < n; i++) { /* entered */
    a[i] = b[i] * 2;
    if (b[i] > 1000)
      a[i] += t->values[i];
  }
}

/* A number that can't be read keeps the loop where it is. */
__attribute__((noinline)) static void scaled(int n, double *restrict a, const double *restrict b, const struct table *t)
{
  for (int i = 0; i < n; i++) { /* entered */
    a[i] = b[i] + 1;
    if (b[i] > 1000)
      a[i * 1L] += b[i / 2 * t->scale];
  }
}

__attribute__((noinline)) static void packed(int n, double *restrict a, const double *restrict b, const struct header *h)
{
  for (int i = 0; i < n; i++) { /* entered */
    a[i] = b[i] - 1;
    if (b[i] > 1000)
      a[i] += h->values[i];
  }
}

__attribute__((noinline)) static void chained(int n, int m, double *restrict a, const double *restrict b, const struct chain *c)
{
  for (int i = 0; i < n; i++) { /* entered */
    double sum = b[i];
    for (int k = 0; k < m; k++)
      sum = sum * 0.5 + c->table->values[i * c->table->scale + k];
    a[i] = sum;
  }
}

__attribute__((noinline)) static void linked(int n, double *restrict a, const double *restrict b, const struct chain *c)
{
  for (int i = 0; i < n; i++) { /* entered */
    a[i] = b[i] + 4;
    if (b[i] > 1000)
      a[i] += c->table->values[i];
  }
}

/* Another row than the loop's own. */
__attribute__((noinline)) static void planes(int n, int k, double *restrict a, const double *restrict b, double *const *p)
{
  for (int i = 0; i < n; i++) { /* entered */
    a[i] = b[i] + 3;
    if (b[i] > 1000)
      a[i] += p[k + 1][i] - p[2 * k - 1][i];
  }
}

static void print(const char *name)
{
  unsigned long long hash = 0, bits;
  for (int i = 0; i < COUNT; i++) {
    memcpy(&bits, &to[i], sizeof bits);
    hash = hash * 31 + bits;
  }
  printf("%s %llu\n", name, hash);
  fflush(stdout);
}

static void all(const char *name, const struct table *t, const struct header *h, const struct chain *c, int m, double *const *p)
{
  printf("%s\n", name);
  plain(COUNT, to, from, t);
  print(" plain");
  scaled(COUNT, to, from, t);
  print(" scaled");
  packed(COUNT, to, from, h);
  print(" packed");
  chained(COUNT - 8, m, to, from, c);
  print(" chained");
  linked(COUNT, to, from, c);
  print(" linked");
  planes(COUNT, 1, to, from, p);
  print(" planes");
}

/* The signal that ends a process which does so. */
#define ended(name, call)                                                                                                                                      \
  do {                                                                                                                                                         \
    int status;                                                                                                                                                \
    pid_t child = fork();                                                                                                                                      \
    if (child == 0) {                                                                                                                                          \
      call;                                                                                                                                                    \
      _exit(7);                                                                                                                                                \
    }                                                                                                                                                          \
    waitpid(child, &status, 0);                                                                                                                                \
    printf("%s: %s\n", name, WIFSIGNALED(status) && WTERMSIG(status) == SIGSEGV ? "fault" : "none");                                                           \
    fflush(stdout);                                                                                                                                            \
  } while (0)

int main(void)
{
  char *pages = mmap(NULL, 3 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (pages == MAP_FAILED || mprotect(pages + PAGE, PAGE, PROT_NONE) != 0)
    return 2;
  for (int i = 0; i < COUNT; i++) {
    from[i] = i % 1000;
    values[i] = i / 3.0;
  }
  struct table t = {1, 1, values};
  struct header h = {'h', values};
  struct chain c = {&t}, none = {NULL};
  double *rows[] = {NULL, values, values + FURTHER}, *none_of_them[3] = {NULL};
  all("there", &t, &h, &c, 6, rows);
  all("no pointer", NULL, NULL, NULL, 0, NULL);
  all("no pointer behind it", NULL, NULL, &none, 0, none_of_them);
  /* Its first members are the last ones of a page. */
  struct table *cut = (struct table *)(pages + PAGE - 8);
  struct header *across = (struct header *)(pages + PAGE - 4);
  struct chain *last = (struct chain *)(pages + PAGE - 16);
  cut->kind = cut->scale = 1;
  across->mark = 'a';
  last->table = cut;
  all("cut", cut, across, last, 0, (double **)(pages + PAGE - 16));
  for (int i = 3000; i < COUNT; i += 100)
    from[i] = 2000;
  all("used", &t, &h, &c, 6, rows);
  ended("plain", plain(COUNT, to, from, cut));
  ended("plain, no pointer", plain(COUNT, to, from, NULL));
  ended("scaled", scaled(COUNT, to, from, (struct table *)(pages + PAGE)));
  ended("packed", packed(COUNT, to, from, across));
  ended("chained", chained(COUNT - 8, 6, to, from, last));
  ended("linked", linked(COUNT, to, from, last));
  ended("linked, no pointer behind it", linked(COUNT, to, from, &none));
  ended("linked, no pointer", linked(COUNT, to, from, NULL));
  ended("planes", planes(COUNT, 1, to, from, (double **)(pages + PAGE - 16)));
  ended("planes, no pointer", planes(COUNT, 1, to, from, none_of_them));
  ended("chained, no pointer", chained(COUNT - 8, 6, to, from, &none));
  return 0;
}
