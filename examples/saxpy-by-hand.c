/* Uses Paragon's runtime without its compiler: two loops, described by hand, that the runtime may run on all cores or on a GPU.
 *
 *   cc -O2 -ffp-contract=off saxpy-by-hand.c $(pkg-config --cflags --libs paragon) -o saxpy-by-hand
 *   PARAGON_TRACE=trace.json ./saxpy-by-hand [elements]
 *
 * It prints for each entry who has run the loop, and whether the results are those of the plain one. Where there is no runtime, or where that doesn't want
 * the loop, the plain one has run: a program never depends on it. docs/runtime.md goes through this file line by line. */

#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "paragon_loop.h"

/* ---- finding the runtime ---- */

/* Null: there is none that knows this header. */
static const struct __pg_api *find_runtime(void)
{
  const char *path = secure_getenv("PARAGON_RT");
  /* It is never unloaded: its threads may be at work. */
  void *library = dlopen(path && *path ? path : "libparagon_rt.so", RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
  __pg_attach_fn attach = library ? (__pg_attach_fn)dlsym(library, PG_ATTACH_SYMBOL) : 0;
  const struct __pg_api *api = attach ? attach(PG_ABI_VERSION, 0) : 0;
  return api && api->abi == PG_ABI_VERSION ? api : 0;
}

/* ---- y[i] += f * x[i]: an entry's addresses decide whether iterations are independent ---- */

static void plain_saxpy(float *y, const float *x, float f, long n)
{
  for (long i = 0; i < n; i++)
    y[i] += f * x[i];
}

/* What the loop needs to know, in the order of the values: the text for devices has nothing else. */
enum { SAXPY_Y, SAXPY_X, SAXPY_F, SAXPY_VALUES };

/* Some iterations on the program's own memory: for the calling thread, and for threads where nothing need be checked. */
static void saxpy_direct(const struct __pg_entry *entry, __pg_value *results, __pg_i64 begin, __pg_i64 end)
{
  float *y = (float *)(__pg_address)entry->values[SAXPY_Y].__pg_u;
  const float *x = (const float *)(__pg_address)entry->values[SAXPY_X].__pg_u;
  (void)results;
  plain_saxpy(y + begin, x + begin, entry->values[SAXPY_F].__pg_f, end - begin);
}

/* The same for devices, which have copies. Base 0 is y, base 1 is x. */
PARAGON_BODY(saxpy, 2, 3,
  (__PG_ARRAY(0) __PG_ARRAY(1)
   const __pg_u64 y = __PG_NUMBER(0).__pg_u;
   const __pg_u64 x = __PG_NUMBER(1).__pg_u;
   const float f = __PG_NUMBER(2).__pg_f;),
  (const float old = __PG_READ(f32, 0, 0, y + 4 * __pg_k);
   __PG_WRITE(f32, 0, y + 4 * __pg_k, old + f * __PG_READ(f32, 1, 1, x + 4 * __pg_k));))

/* What it accesses: each iteration, four bytes, at an address that is affine. */
#define AFFINE (PG_SITE_UNCONDITIONAL | PG_SITE_EXACT | PG_SITE_HAS_AFFINE)
/* None follows a pointer that another one loads. */
static const struct __pg_site saxpy_sites[] = {
  { 0, 4, PG_SITE_STORE | PG_SITE_LOGGED | AFFINE, __LINE__, 0 }, /* y[i] = */
  { 0, 4, AFFINE, __LINE__, 0 },                                  /* y[i]: its own iteration's, so it meets no other's store */
  { 1, 4, PG_SITE_LOGGED | AFFINE, __LINE__, 0 },                 /* x[i] */
};
/* Whether a store to y[i] can be what another iteration loads as x[j] is known when the loop is entered. */
static const struct __pg_pair saxpy_pairs[] = { { 0, 2, PG_CHECK_PREDICATE } };

static const struct __pg_info saxpy_info = {
  .abi = PG_ABI_VERSION,
  .verdict = PG_POSSIBLY_PARALLEL,
  .check = PG_CHECK_PREDICATE,
  .flags = PG_LOOP_CUDA_EXACT | PG_LOOP_STORES_ONCE | PG_LOOP_DIRECT,
  .file = __FILE__,
  .function = "saxpy",
  .line = __LINE__,
  .n_dims = 1,
  .n_values = SAXPY_VALUES,
  .n_bases = 2,
  .n_sites = 3,
  .n_pairs = 1,
  .work = 5, /* two loads, a store, a product and a sum */
  .sites = saxpy_sites,
  .pairs = saxpy_pairs,
  .cuda_body = saxpy_cuda,
  .direct = saxpy_direct,
  .device = saxpy_device,
};
/* Fewer than 10,000 iterations are over before the runtime has thought about them. */
static struct __pg_loop saxpy_loop = { .__pg_threshold = 10000, .info = &saxpy_info };

/* Not 0: the runtime has run it. */
static int saxpy(const struct __pg_api *api, float *y, const float *x, float f, long n)
{
  __pg_value values[SAXPY_VALUES];
  struct __pg_base bases[2] = { { .pointer = (__pg_address)y }, { .pointer = (__pg_address)x } };
  /* Iteration k touches [address + 4k, address + 4k + 4), through each site. */
  struct __pg_access accesses[3] = { { { 4 }, 0, 4, 0, 0 }, { { 4 }, 0, 4, 0, 0 }, { { 4 }, 0, 4, 0, 0 } };
  struct __pg_entry entry = { .info = &saxpy_info, .trip = { n, 1, 1, 1 }, .values = values, .bases = bases, .accesses = accesses };
  values[SAXPY_Y].__pg_u = (__pg_address)y;
  values[SAXPY_X].__pg_u = (__pg_address)x;
  values[SAXPY_F].__pg_f = f;
  if (api && n >= __atomic_load_n(&saxpy_loop.__pg_threshold, __ATOMIC_RELAXED) && api->enter(&saxpy_loop, &entry))
    return 1;
  plain_saxpy(y, x, f, n);
  return 0;
}

/* ---- y[index[i]] += f * x[i]: nobody knows before it runs, so it is speculated ---- */

static void plain_scatter(float *y, const int *index, const float *x, float f, long n)
{
  for (long i = 0; i < n; i++)
    y[index[i]] += f * x[i];
}

enum { SCATTER_Y, SCATTER_INDEX, SCATTER_X, SCATTER_F, SCATTER_VALUES };

static void scatter_direct(const struct __pg_entry *entry, __pg_value *results, __pg_i64 begin, __pg_i64 end)
{
  const __pg_value *values = entry->values;
  (void)results;
  plain_scatter((float *)(__pg_address)values[SCATTER_Y].__pg_u, (const int *)(__pg_address)values[SCATTER_INDEX].__pg_u + begin,
                (const float *)(__pg_address)values[SCATTER_X].__pg_u + begin, values[SCATTER_F].__pg_f, end - begin);
}

/* y is base 0, index base 1, x base 2. What an index leads to is checked where it is accessed: it can't fault, whatever the index is. */
PARAGON_BODY(scatter, 3, 4,
  (__PG_ARRAY(0) __PG_ARRAY(1) __PG_ARRAY(2)
   const __pg_u64 y = __PG_NUMBER(0).__pg_u;
   const __pg_u64 index = __PG_NUMBER(1).__pg_u;
   const __pg_u64 x = __PG_NUMBER(2).__pg_u;
   const float f = __PG_NUMBER(3).__pg_f;),
  (const __pg_u64 at = y + 4 * (__pg_u64)(__pg_i64)__PG_READ(i32, 1, 1, index + 4 * __pg_k);
   const float old = __PG_READ(f32, 0, 2, at);
   __PG_WRITE(f32, 0, at, old + f * __PG_READ(f32, 2, 1, x + 4 * __pg_k));))

static const struct __pg_site scatter_sites[] = {
  { 0, 4, PG_SITE_STORE | PG_SITE_LOGGED | PG_SITE_UNCONDITIONAL, __LINE__, 0 }, /* y[index[i]] =: anywhere in y */
  { 0, 4, PG_SITE_UNCONDITIONAL | PG_SITE_COVERED, __LINE__, 0 },                /* y[index[i]]: its iteration stores there, too */
  { 1, 4, PG_SITE_LOGGED | AFFINE, __LINE__, 0 },
  { 2, 4, PG_SITE_LOGGED | AFFINE, __LINE__, 0 },
};
/* The store may meet itself in another iteration, and each load. */
static const struct __pg_pair scatter_pairs[] = {
  { 0, 0, PG_CHECK_LOGS }, { 0, 1, PG_CHECK_LOGS }, { 0, 2, PG_CHECK_LOGS }, { 0, 3, PG_CHECK_LOGS },
};
static const struct __pg_info scatter_info = {
  .abi = PG_ABI_VERSION,
  .verdict = PG_POSSIBLY_PARALLEL,
  .check = PG_CHECK_LOGS,
  .flags = PG_LOOP_CUDA_EXACT | PG_LOOP_STORES_ONCE,
  .file = __FILE__,
  .function = "scatter",
  .line = __LINE__,
  .n_dims = 1,
  .n_values = SCATTER_VALUES,
  .n_bases = 3,
  .n_sites = 4,
  .n_pairs = 4,
  .work = 6,
  .sites = scatter_sites,
  .pairs = scatter_pairs,
  .cuda_body = scatter_cuda,
  .direct = scatter_direct,
  .device = scatter_device,
};
static struct __pg_loop scatter_loop = { .__pg_threshold = 10000, .info = &scatter_info };

static int scatter(const struct __pg_api *api, float *y, const int *index, const float *x, float f, long n)
{
  __pg_value values[SCATTER_VALUES];
  struct __pg_base bases[3] = { { .pointer = (__pg_address)y }, { .pointer = (__pg_address)index }, { .pointer = (__pg_address)x } };
  /* Nothing is known of the first two sites: the runtime takes the array that y points into. */
  struct __pg_access accesses[4] = { { { 0 }, 0, 0, 0, 0 }, { { 0 }, 0, 0, 0, 0 }, { { 4 }, 0, 4, 0, 0 }, { { 4 }, 0, 4, 0, 0 } };
  struct __pg_entry entry = { .info = &scatter_info, .trip = { n, 1, 1, 1 }, .values = values, .bases = bases, .accesses = accesses };
  values[SCATTER_Y].__pg_u = (__pg_address)y;
  values[SCATTER_INDEX].__pg_u = (__pg_address)index;
  values[SCATTER_X].__pg_u = (__pg_address)x;
  values[SCATTER_F].__pg_f = f;
  if (api && n >= __atomic_load_n(&scatter_loop.__pg_threshold, __ATOMIC_RELAXED) && api->enter(&scatter_loop, &entry))
    return 1;
  plain_scatter(y, index, x, f, n);
  return 0;
}

/* ---- what uses them ---- */

/* Arrays that the runtime is told of: what a pointer that it knows nothing else about may lead to. */
static void *array(const struct __pg_api *api, size_t bytes)
{
  void *start = malloc(bytes);
  if (!start) {
    fputs("no memory\n", stderr);
    exit(2);
  }
  if (api)
    api->allocated(start, bytes);
  return start;
}

static void give_back(const struct __pg_api *api, void *start)
{
  if (api)
    api->freed(start);
  free(start);
}

static int report(const char *what, int ran, const float *got, const float *expected, long n)
{
  int differs = memcmp(got, expected, n * sizeof *got) != 0;
  printf("%s: %s, %s\n", what, ran ? "the runtime" : "as it stood", differs ? "WRONG" : "right");
  return differs;
}

int main(int argc, char **argv)
{
  const struct __pg_api *api = find_runtime();
  long n = argc > 1 ? atol(argv[1]) : 1 << 20;
  float *y, *x, *expected;
  int *index, wrong = 0, i;
  if (n < 1 || n > 1 << 28) {
    fputs("usage: saxpy-by-hand [elements, 1 to 268435456]\n", stderr);
    return 2;
  }
  y = array(api, n * sizeof *y);
  x = array(api, n * sizeof *x);
  index = array(api, n * sizeof *index);
  expected = array(api, n * sizeof *expected);
  for (long k = 0; k < n; k++) {
    y[k] = expected[k] = 0.5f * k;
    x[k] = 1.0f / (k + 1);
    index[k] = (int)(n - 1 - k);
  }
  puts(api ? "the runtime is here" : "no runtime");
  for (i = 0; i < 3; i++) {
    int ran = saxpy(api, y, x, 3, n);
    plain_saxpy(expected, x, 3, n);
    wrong += report("saxpy", ran, y, expected, n);
    ran = scatter(api, y, index, x, 2, n);
    plain_scatter(expected, index, x, 2, n);
    wrong += report("scatter", ran, y, expected, n);
  }
  /* Two iterations that meet: found, and what was computed is thrown away. */
  index[n / 2] = index[0];
  i = scatter(api, y, index, x, 2, n);
  plain_scatter(expected, index, x, 2, n);
  wrong += report("scatter with a conflict", i, y, expected, n);
  give_back(api, y), give_back(api, x), give_back(api, index), give_back(api, expected);
  return wrong != 0;
}
