/* The loops: what generated code would have of each, and what it is tried on. In which situations they are entered is in loops.c. */

/* ---- c[i] = a[i] + b[i] through pointers: predicates decide ---- */

static void add_direct(const struct __pg_entry *e, __pg_value *results, __pg_i64 begin, __pg_i64 end)
{
  __pg_u64 c = e->values[0].__pg_u, a = e->values[1].__pg_u, b = e->values[2].__pg_u;
  __pg_i64 i;
  (void)results;
  for (i = begin; i < end; i++) {
    __pg_set_f32(c + 4 * i, __pg_get_f32(a + 4 * i) + __pg_get_f32(b + 4 * i));
  }
}

static void add_device(const struct __pg_launch *l, __pg_u64 begin, __pg_u64 end)
{
  struct __pg_ctx ctx = { l, 0, 0, 0, 0 };
  struct __pg_view c = __pg_base_view(l, 0), a = __pg_base_view(l, 1), b = __pg_base_view(l, 2);
  __pg_u64 i;
  for (i = begin; i < end && !__pg_begin_iteration(&ctx, i); i++)
    __pg_st_f32(&ctx, &c, 0, l->bases[0] + 4 * i,
                __pg_ld_f32(&ctx, &a, 1, 0, l->bases[1] + 4 * i) + __pg_ld_f32(&ctx, &b, 1, 0, l->bases[2] + 4 * i));
  __pg_end_thread(&ctx);
}

static const struct __pg_site add_sites[] = {
  { 0, 4, PG_SITE_STORE | PG_SITE_LOGGED | PG_SITE_UNCONDITIONAL | PG_SITE_EXACT | PG_SITE_HAS_AFFINE, ADD },
  { 1, 4, PG_SITE_LOGGED | PG_SITE_UNCONDITIONAL | PG_SITE_EXACT | PG_SITE_HAS_AFFINE, ADD },
  { 2, 4, PG_SITE_LOGGED | PG_SITE_UNCONDITIONAL | PG_SITE_EXACT | PG_SITE_HAS_AFFINE, ADD },
};
static const struct __pg_pair add_pairs[] = { { 0, 1, PG_CHECK_PREDICATE }, { 0, 2, PG_CHECK_PREDICATE } };
INFO(add, ADD, PG_CHECK_PREDICATE, PG_LOOP_CUDA_EXACT, 1, 3, 0, 0, 3, add_sites, 2, add_pairs, 0);

static void run_add(float *c, float *a, float *b, __pg_i64 n)
{
  __pg_value values[3];
  struct __pg_base bases[3] = { { ADDRESS(c), 0, 0, 0 }, { ADDRESS(a), 0, 0, 0 }, { ADDRESS(b), 0, 0, 0 } };
  struct __pg_access accesses[3] = { { { 4 }, 0, 4 }, { { 4 }, 0, 4 }, { { 4 }, 0, 4 } };
  struct __pg_entry entry = { &add_info, { n, 1, 1, 1 }, values, 0, bases, accesses, 0 };
  values[0].__pg_u = ADDRESS(c), values[1].__pg_u = ADDRESS(a), values[2].__pg_u = ADDRESS(b);
  if (!enter(&add_loop, &entry))
    for (__pg_i64 i = 0; i < n; i++)
      c[i] = a[i] + b[i];
}

/* `shift` != 0: c overlaps a so that iterations meet. */
static void add(__pg_i64 n, __pg_i64 shift)
{
  float *a = array((n + 2000) * 4), *b = array(n * 4), *c = shift ? a + shift : array(n * 4), *a2, *c2;
  for (__pg_i64 i = 0; i < n + 2000; i++)
    a[i] = i * 0.25f;
  for (__pg_i64 i = 0; i < n; i++)
    b[i] = i * 0.5f;
  if (!shift)
    memset(c, 1, n * 4);
  a2 = copy_of(a, (n + 2000) * 4);
  c2 = shift ? a2 + shift : copy_of(c, n * 4);
  run_add(c, a, b, n);
  for (__pg_i64 i = 0; i < n; i++)
    c2[i] = a2[i] + b[i];
  if (memcmp(a, a2, (n + 2000) * 4) || memcmp(c, c2, n * 4))
    fail("add");
  if (!shift)
    give_back(c), free(c2);
  give_back(a), give_back(b), free(a2);
}

/* ---- y[idx[i]] += f * x[i]: logs; the store stands for the load ---- */

static void saxpy_direct(const struct __pg_entry *e, __pg_value *results, __pg_i64 begin, __pg_i64 end)
{
  __pg_u64 y = e->bases[0].pointer, index = e->bases[1].pointer, x = e->bases[2].pointer;
  float f = e->values[0].__pg_f;
  __pg_i64 i;
  (void)results;
  for (i = begin; i < end; i++) {
    __pg_u64 at;
    at = y + 4 * (__pg_i64)__pg_get_i32(index + 4 * i);
    __pg_set_f32(at, __pg_get_f32(at) + f * __pg_get_f32(x + 4 * i));
  }
}

static void saxpy_device(const struct __pg_launch *l, __pg_u64 begin, __pg_u64 end)
{
  struct __pg_ctx ctx = { l, 0, 0, 0, 0 };
  struct __pg_view y = __pg_base_view(l, 0), index = __pg_base_view(l, 1), x = __pg_base_view(l, 2);
  float f = l->values[0].__pg_f;
  __pg_u64 i;
  for (i = begin; i < end && !__pg_begin_iteration(&ctx, i); i++) {
    __pg_u64 at = l->bases[0] + 4 * (__pg_i64)__pg_ld_i32(&ctx, &index, 1, 0, l->bases[1] + 4 * i);
    __pg_st_f32(&ctx, &y, 0, at, __pg_ld_f32(&ctx, &y, 2, 0, at) + f * __pg_ld_f32(&ctx, &x, 1, 0, l->bases[2] + 4 * i));
  }
  __pg_end_thread(&ctx);
}

static const struct __pg_site saxpy_sites[] = {
  { 0, 4, PG_SITE_STORE | PG_SITE_LOGGED | PG_SITE_UNCONDITIONAL, SAXPY },
  { 0, 4, PG_SITE_UNCONDITIONAL | PG_SITE_COVERED, SAXPY },
  { 1, 4, PG_SITE_LOGGED | PG_SITE_UNCONDITIONAL | PG_SITE_EXACT | PG_SITE_HAS_AFFINE, SAXPY },
  { 2, 4, PG_SITE_LOGGED | PG_SITE_UNCONDITIONAL | PG_SITE_EXACT | PG_SITE_HAS_AFFINE, SAXPY },
};
static const struct __pg_pair saxpy_pairs[] = {
  { 0, 0, PG_CHECK_LOGS }, { 0, 1, PG_CHECK_LOGS }, { 0, 2, PG_CHECK_LOGS }, { 0, 3, PG_CHECK_LOGS },
};
INFO(saxpy, SAXPY, PG_CHECK_LOGS, PG_LOOP_CUDA_EXACT, 1, 1, 0, 0, 3, saxpy_sites, COUNT(saxpy_pairs), saxpy_pairs, 0);

/* `same`: two iterations share an element. `reach`: bytes of y that the runtime is told of. */
static void saxpy(__pg_i64 n, int same, size_t reach)
{
  float *y = malloc(n * 4), *x = array(n * 4), *y2;
  int *index = array(n * 4);
  __pg_value value;
  struct __pg_base bases[3] = { { ADDRESS(y), 0, 0, 0 }, { ADDRESS(index), 0, 0, 0 }, { ADDRESS(x), 0, 0, 0 } };
  struct __pg_access accesses[4] = { { { 0 }, 0, 0 }, { { 0 }, 0, 0 }, { { 4 }, 0, 4 }, { { 4 }, 0, 4 } };
  struct __pg_entry entry = { &saxpy_info, { n, 1, 1, 1 }, &value, 0, bases, accesses, 0 };
  api->allocated(y, reach ? reach : (size_t)n * 4);
  for (__pg_i64 i = 0; i < n; i++)
    y[i] = i, x[i] = i * 0.125f, index[i] = i;
  for (__pg_i64 i = n - 1; i > 0; i--) {
    __pg_i64 j = random_number() % (i + 1);
    int t = index[i];
    index[i] = index[j], index[j] = t;
  }
  if (same)
    index[n / 3] = index[n - 1];
  y2 = copy_of(y, n * 4);
  value.__pg_u = 0;
  value.__pg_f = 1.5f;
  if (!enter(&saxpy_loop, &entry))
    for (__pg_i64 i = 0; i < n; i++)
      y[index[i]] += 1.5f * x[i];
  for (__pg_i64 i = 0; i < n; i++)
    y2[index[i]] += 1.5f * x[i];
  if (memcmp(y, y2, n * 4))
    fail("saxpy");
  give_back(y), give_back(x), give_back(index), free(y2);
}

/* ---- y[w[i]] = y[r[i]] * 3 + i, elements of 16 bits: readers are logged ---- */

static void mix_direct(const struct __pg_entry *e, __pg_value *results, __pg_i64 begin, __pg_i64 end)
{
  __pg_u64 y = e->bases[0].pointer, w = e->bases[1].pointer, r = e->bases[2].pointer;
  __pg_i64 i;
  (void)results;
  for (i = begin; i < end; i++) {
    __pg_set_u16(y + 2 * (__pg_i64)__pg_get_i32(w + 4 * i),
                 (unsigned short)(__pg_get_u16(y + 2 * (__pg_i64)__pg_get_i32(r + 4 * i)) * 3u + i));
  }
}

static void mix_device(const struct __pg_launch *l, __pg_u64 begin, __pg_u64 end)
{
  struct __pg_ctx ctx = { l, 0, 0, 0, 0 };
  struct __pg_view y = __pg_base_view(l, 0), w = __pg_base_view(l, 1), r = __pg_base_view(l, 2);
  __pg_u64 i;
  for (i = begin; i < end && !__pg_begin_iteration(&ctx, i); i++) {
    __pg_u64 to = l->bases[0] + 2 * (__pg_i64)__pg_ld_i32(&ctx, &w, 1, 0, l->bases[1] + 4 * i);
    __pg_u64 from = l->bases[0] + 2 * (__pg_i64)__pg_ld_i32(&ctx, &r, 1, 0, l->bases[2] + 4 * i);
    __pg_st_u16(&ctx, &y, 0, to, (unsigned short)(__pg_ld_u16(&ctx, &y, 1, 0, from) * 3u + i));
  }
  __pg_end_thread(&ctx);
}

static const struct __pg_site mix_sites[] = {
  { 0, 2, PG_SITE_STORE | PG_SITE_LOGGED | PG_SITE_UNCONDITIONAL, MIX },
  { 0, 2, PG_SITE_LOGGED | PG_SITE_UNCONDITIONAL, MIX },
  { 1, 4, PG_SITE_LOGGED | PG_SITE_UNCONDITIONAL | PG_SITE_EXACT | PG_SITE_HAS_AFFINE, MIX },
  { 2, 4, PG_SITE_LOGGED | PG_SITE_UNCONDITIONAL | PG_SITE_EXACT | PG_SITE_HAS_AFFINE, MIX },
};
static const struct __pg_pair mix_pairs[] = { { 0, 0, PG_CHECK_LOGS }, { 0, 1, PG_CHECK_LOGS }, { 0, 2, PG_CHECK_LOGS },
                                              { 0, 3, PG_CHECK_LOGS } };
INFO(mix, MIX, PG_CHECK_LOGS, PG_LOOP_CUDA_EXACT, 1, 0, 0, 0, 3, mix_sites, COUNT(mix_pairs), mix_pairs, 0);
static const struct __pg_info planted_info = { PG_ABI_VERSION, PG_POSSIBLY_PARALLEL, PG_CHECK_LOGS, PG_LOOP_CUDA_EXACT,
  "loops.c", "planted", PLANTED, 1, 0, 0, 3, COUNT(mix_sites), COUNT(mix_pairs), 0, 400, mix_sites, mix_pairs, 0, 0,
  mix_direct, mix_device, 0 };
static struct __pg_loop planted_loop = { 1, &planted_info, 0 };

/* Stores go to the upper half of y, reads to the lower half, all to different elements; a conflict makes one iteration
 * store where another stores (even seeds) or reads (odd seeds), at a random distance. */
static void mix(__pg_i64 n, int planted)
{
  unsigned short *y = array(n * 4), *y2;
  int *w = array(n * 4), *r = array(n * 4);
  struct __pg_base bases[3] = { { ADDRESS(y), 0, 0, 0 }, { ADDRESS(w), 0, 0, 0 }, { ADDRESS(r), 0, 0, 0 } };
  struct __pg_access accesses[4] = { { { 0 }, 0, 0 }, { { 0 }, 0, 0 }, { { 4 }, 0, 4 }, { { 4 }, 0, 4 } };
  struct __pg_entry entry = { planted ? &planted_info : &mix_info, { n, 1, 1, 1 }, 0, 0, bases, accesses, 0 };
  for (__pg_i64 i = 0; i < n; i++)
    w[i] = n + i, r[i] = random_number() % n, y[i] = random_number(), y[n + i] = random_number();
  for (__pg_i64 i = n - 1; i > 0; i--) {
    __pg_i64 j = random_number() % (i + 1);
    int t = w[i];
    w[i] = w[j], w[j] = t;
  }
  if (planted) {
    static const __pg_i64 distances[] = { 1, 31, 32, 33, 1000 };
    __pg_u64 choice = random_number();
    __pg_i64 i = random_number() % n, j, distance = distances[choice / 4 % 5];
    if (choice & 2 || distance >= n)
      distance = 1 + random_number() % (n - 1);
    j = (i + distance) % n;
    if (choice & 1)
      w[i] = w[j];
    else
      r[i] = w[j];
  }
  y2 = copy_of(y, n * 4);
  if (!enter(planted ? &planted_loop : &mix_loop, &entry))
    for (__pg_i64 i = 0; i < n; i++)
      y[w[i]] = (unsigned short)(y[r[i]] * 3u + i);
  for (__pg_i64 i = 0; i < n; i++)
    y2[w[i]] = (unsigned short)(y2[r[i]] * 3u + i);
  if (memcmp(y, y2, n * 4))
    fail(planted ? "planted" : "mix");
  give_back(y), give_back(w), give_back(r), free(y2);
}

/* ---- sum += a[i]; most = max(most, a[i]); last = a[i] ^ i ---- */

static void sums_direct(const struct __pg_entry *e, __pg_value *results, __pg_i64 begin, __pg_i64 end)
{
  __pg_u64 a = e->bases[0].pointer;
  __pg_u32 sum = results[0].__pg_u;
  int most = results[1].__pg_i;
  __pg_i64 i;
  __pg_i64 last = results[2].__pg_i;
  for (i = begin; i < end; i++) {
    int v = __pg_get_i32(a + 4 * i);
    sum += v;
    most = v > most ? v : most;
    last = (__pg_i64)v ^ i;
  }
  results[0].__pg_u = sum;
  results[1].__pg_i = most;
  results[2].__pg_i = last;
}

static void sums_device(const struct __pg_launch *l, __pg_u64 begin, __pg_u64 end)
{
  struct __pg_ctx ctx = { l, 0, 0, 0, 0 };
  struct __pg_view a = __pg_base_view(l, 0);
  __pg_u32 sum = 0;
  int most = -2147483647 - 1;
  __pg_u64 i;
  for (i = begin; i < end && !__pg_begin_iteration(&ctx, i); i++) {
    int v = __pg_ld_i32(&ctx, &a, 0, 0, l->bases[0] + 4 * i);
    sum += v;
    most = v > most ? v : most;
    if (i == l->n - 1)
      l->results[2].__pg_i = (__pg_i64)v ^ (__pg_i64)i;
  }
  __atomic_fetch_add(&l->results[0].__pg_u, (__pg_u64)sum, __ATOMIC_RELAXED);
  for (__pg_i64 seen = __atomic_load_n(&l->results[1].__pg_i, __ATOMIC_RELAXED);
       most > (int)seen && !__atomic_compare_exchange_n(&l->results[1].__pg_i, &seen, (__pg_i64)most, 0, __ATOMIC_RELAXED,
                                                         __ATOMIC_RELAXED);)
    ;
  __pg_end_thread(&ctx);
}

static const struct __pg_site sums_sites[] = { { 0, 4, PG_SITE_UNCONDITIONAL | PG_SITE_EXACT | PG_SITE_HAS_AFFINE, SUMS } };
static const struct __pg_result sums_results[] = { { PG_ADD, PG_U32, 0, 0 }, { PG_MAX, PG_I32, 0, 0 }, { PG_LAST, PG_I64, 0, 0 } };
INFO(sums, SUMS, PG_CHECK_NONE, PG_LOOP_CUDA_EXACT, 1, 0, 3, sums_results, 1, sums_sites, 0, 0, 0);

static void sums(__pg_i64 n)
{
  int *a = malloc(n * 4), most = -5;
  __pg_u32 sum = 1000;
  __pg_i64 last = 0;
  __pg_value results[3];
  struct __pg_base base = { ADDRESS(a), 0, 0, 0 };
  struct __pg_access access = { { 4 }, 0, 4 };
  struct __pg_entry entry = { &sums_info, { n, 1, 1, 1 }, 0, results, &base, &access, 0 };
  for (__pg_i64 i = 0; i < n; i++)
    a[i] = random_number();
  results[0].__pg_u = sum, results[1].__pg_i = most, results[2].__pg_i = last;
  for (__pg_i64 i = 0; i < n; i++) {
    sum += a[i];
    most = a[i] > most ? a[i] : most;
    last = (__pg_i64)a[i] ^ i;
  }
  if (enter(&sums_loop, &entry)
      && ((__pg_u32)results[0].__pg_u != sum || (int)results[1].__pg_i != most || results[2].__pg_i != last))
    fail("sums");
  free(a);
}

/* ---- b[i][j] = a[i][j-1] + a[i][j+1] in the inner columns of a matrix: proven, not dense ---- */

static void stencil_direct(const struct __pg_entry *e, __pg_value *results, __pg_i64 begin, __pg_i64 end)
{
  __pg_u64 b = e->bases[0].pointer, a = e->bases[1].pointer;
  __pg_i64 i, j, m = e->values[0].__pg_i;
  (void)results;
  for (i = begin; i < end; i++) {
    for (j = 0; j < e->trip[1]; j++)
      __pg_set_f64(b + 8 * (i * m + j + 1), __pg_get_f64(a + 8 * (i * m + j)) + __pg_get_f64(a + 8 * (i * m + j + 2)));
  }
}

static void stencil_device(const struct __pg_launch *l, __pg_u64 begin, __pg_u64 end)
{
  struct __pg_ctx ctx = { l, 0, 0, 0, 0 };
  struct __pg_view b = __pg_base_view(l, 0), a = __pg_base_view(l, 1);
  __pg_u64 k, m = l->values[0].__pg_u;
  for (k = begin; k < end && !__pg_begin_iteration(&ctx, k); k++) {
    __pg_u64 at = 8 * (k / l->trip[1] * m + k % l->trip[1]);
    __pg_st_f64(&ctx, &b, 0, l->bases[0] + at + 8,
                __pg_ld_f64(&ctx, &a, 1, 0, l->bases[1] + at) + __pg_ld_f64(&ctx, &a, 1, 0, l->bases[1] + at + 16));
  }
  __pg_end_thread(&ctx);
}

static const struct __pg_site stencil_sites[] = {
  { 0, 8, PG_SITE_STORE | PG_SITE_LOGGED | PG_SITE_UNCONDITIONAL | PG_SITE_EXACT | PG_SITE_HAS_AFFINE, STENCIL },
  { 1, 8, PG_SITE_LOGGED | PG_SITE_UNCONDITIONAL | PG_SITE_EXACT | PG_SITE_HAS_AFFINE, STENCIL },
  { 1, 8, PG_SITE_LOGGED | PG_SITE_UNCONDITIONAL | PG_SITE_EXACT | PG_SITE_HAS_AFFINE, STENCIL },
};
static const struct __pg_pair stencil_pairs[] = { { 0, 0, PG_CHECK_PREDICATE }, { 0, 1, PG_CHECK_PREDICATE },
                                                  { 0, 2, PG_CHECK_PREDICATE } };
INFO(stencil, STENCIL, PG_CHECK_PREDICATE, PG_LOOP_CUDA_EXACT, 2, 1, 0, 0, 2, stencil_sites, 3, stencil_pairs, 0);

static void stencil(__pg_i64 rows, __pg_i64 m)
{
  size_t bytes = rows * m * 8;
  double *a = malloc(bytes), *b = malloc(bytes), *b2;
  __pg_value value;
  struct __pg_base bases[2] = { { ADDRESS(b), 0, 0, 0 }, { ADDRESS(a), 0, 0, 0 } };
  struct __pg_access accesses[3] = { { { m * 8, 8 }, 8, 16 }, { { m * 8, 8 }, 0, 8 }, { { m * 8, 8 }, 16, 24 } };
  struct __pg_entry entry = { &stencil_info, { rows, m - 2, 1, 1 }, &value, 0, bases, accesses, 0 };
  for (__pg_i64 i = 0; i < rows * m; i++)
    a[i] = i * 0.1, b[i] = -i;
  b2 = copy_of(b, bytes);
  value.__pg_i = m;
  if (!enter(&stencil_loop, &entry))
    for (__pg_i64 i = 0; i < rows; i++)
      for (__pg_i64 j = 1; j < m - 1; j++)
        b[i * m + j] = a[i * m + j - 1] + a[i * m + j + 1];
  for (__pg_i64 i = 0; i < rows; i++)
    for (__pg_i64 j = 1; j < m - 1; j++)
      b2[i * m + j] = a[i * m + j - 1] + a[i * m + j + 1];
  if (memcmp(b, b2, bytes))
    fail("stencil");
  free(a), free(b), free(b2);
}

/* ---- if (a[i] > 0) b[i] = a[i]: only some elements are stored ---- */

static void some_direct(const struct __pg_entry *e, __pg_value *results, __pg_i64 begin, __pg_i64 end)
{
  __pg_i64 i;
  (void)results;
  for (i = begin; i < end; i++) {
    int v = __pg_get_i8(e->bases[1].pointer + i);
    if (v > 0)
      __pg_set_i8(e->bases[0].pointer + i, v);
  }
}

static void some_device(const struct __pg_launch *l, __pg_u64 begin, __pg_u64 end)
{
  struct __pg_ctx ctx = { l, 0, 0, 0, 0 };
  struct __pg_view b = __pg_base_view(l, 0), a = __pg_base_view(l, 1);
  __pg_u64 i;
  for (i = begin; i < end && !__pg_begin_iteration(&ctx, i); i++) {
    int v = __pg_ld_i8(&ctx, &a, 1, 0, l->bases[1] + i);
    if (v > 0)
      __pg_st_i8(&ctx, &b, 0, l->bases[0] + i, v);
  }
  __pg_end_thread(&ctx);
}

static const struct __pg_site some_sites[] = {
  { 0, 1, PG_SITE_STORE | PG_SITE_LOGGED | PG_SITE_EXACT | PG_SITE_HAS_AFFINE, SOME },
  { 1, 1, PG_SITE_LOGGED | PG_SITE_UNCONDITIONAL | PG_SITE_EXACT | PG_SITE_HAS_AFFINE, SOME },
};
static const struct __pg_pair some_pairs[] = { { 0, 1, PG_CHECK_PREDICATE } };
INFO(some, SOME, PG_CHECK_PREDICATE, PG_LOOP_CUDA_EXACT, 1, 0, 0, 0, 2, some_sites, 1, some_pairs, 0);

static void some(__pg_i64 n)
{
  signed char *a = malloc(n), *b = malloc(n), *b2;
  struct __pg_base bases[2] = { { ADDRESS(b), 0, 0, 0 }, { ADDRESS(a), 0, 0, 0 } };
  struct __pg_access accesses[2] = { { { 1 }, 0, 1 }, { { 1 }, 0, 1 } };
  struct __pg_entry entry = { &some_info, { n, 1, 1, 1 }, 0, 0, bases, accesses, 0 };
  for (__pg_i64 i = 0; i < n; i++)
    a[i] = random_number(), b[i] = random_number();
  b2 = copy_of(b, n);
  if (!enter(&some_loop, &entry))
    for (__pg_i64 i = 0; i < n; i++)
      if (a[i] > 0)
        b[i] = a[i];
  for (__pg_i64 i = 0; i < n; i++)
    if (a[i] > 0)
      b2[i] = a[i];
  if (memcmp(b, b2, n))
    fail("some");
  free(a), free(b), free(b2);
}

/* ---- rows[i][j] += i + j: each access finds its array ---- */

static void rows_direct(const struct __pg_entry *e, __pg_value *results, __pg_i64 begin, __pg_i64 end)
{
  __pg_i64 i, j, m = e->values[0].__pg_i;
  (void)results;
  for (i = begin; i < end; i++) {
    __pg_u64 row = __pg_get_u64(e->bases[0].pointer + 8 * i);
    for (j = 0; j < m; j++)
      __pg_set_i64(row + 8 * j, __pg_get_i64(row + 8 * j) + i + j);
  }
}

static void rows_device(const struct __pg_launch *l, __pg_u64 begin, __pg_u64 end)
{
  struct __pg_ctx ctx = { l, 0, 0, 0, 0 };
  struct __pg_view table = __pg_base_view(l, 0);
  __pg_u64 i, j;
  for (i = begin; i < end && !__pg_begin_iteration(&ctx, i); i++) {
    __pg_u64 row = __pg_ld_u64(&ctx, &table, 1, 0, l->bases[0] + 8 * i);
    struct __pg_view v;
    __pg_find_array(l, row, &v);
    for (j = 0; j < l->values[0].__pg_u && !__pg_poll(&ctx); j++)
      __pg_st_i64(&ctx, &v, 0, row + 8 * j, __pg_ld_i64(&ctx, &v, 2, 0, row + 8 * j) + (__pg_i64)(i + j));
  }
  __pg_end_thread(&ctx);
}

static const struct __pg_site rows_sites[] = {
  { 0, 8, PG_SITE_LOGGED | PG_SITE_UNCONDITIONAL | PG_SITE_EXACT | PG_SITE_HAS_AFFINE | PG_SITE_LOADS_POINTER, ROWS },
  { 1, 8, PG_SITE_STORE | PG_SITE_LOGGED, ROWS },
  { 1, 8, PG_SITE_COVERED, ROWS },
};
static const struct __pg_pair rows_pairs[] = { { 1, 1, PG_CHECK_LOGS }, { 0, 1, PG_CHECK_LOGS }, { 1, 2, PG_CHECK_LOGS } };
INFO(rows, ROWS, PG_CHECK_LOGS, PG_LOOP_CUDA_EXACT | PG_LOOP_DYNAMIC, 1, 1, 0, 0, 2, rows_sites, COUNT(rows_pairs),
     rows_pairs, 0);

/* `same`: two rows are one. `unknown`: one row was allocated where nobody saw it. */
static void rows(__pg_i64 n, __pg_i64 m, int same, int unknown)
{
  long long **table = array(n * sizeof *table), **table2 = malloc(n * sizeof *table2);
  __pg_value value;
  struct __pg_base bases[2] = { { ADDRESS(table), 0, 0, 0 }, { 0, 0, 0, 1 } };
  struct __pg_access accesses[3] = { { { 8 }, 0, 8 }, { { 0 }, 0, 0 }, { { 0 }, 0, 0 } };
  struct __pg_entry entry = { &rows_info, { n, 1, 1, 1 }, &value, 0, bases, accesses, 0 };
  value.__pg_i = m;
  for (__pg_i64 i = 0; i < n; i++) {
    table[i] = unknown && i == n / 2 ? malloc(m * 8) : array(m * 8);
    for (__pg_i64 j = 0; j < m; j++)
      table[i][j] = i * j;
    table2[i] = copy_of(table[i], m * 8);
  }
  if (same)
    table[n - 1] = table[1], table2[n - 1] = table2[1];
  if (!enter(&rows_loop, &entry))
    for (__pg_i64 i = 0; i < n; i++)
      for (__pg_i64 j = 0; j < m; j++)
        table[i][j] += i + j;
  for (__pg_i64 i = 0; i < n; i++)
    for (__pg_i64 j = 0; j < m; j++)
      table2[i][j] += i + j;
  for (__pg_i64 i = 0; i < n; i++)
    if (memcmp(table[i], table2[i], m * 8))
      fail("rows");
}

/* ---- for (i = 0; i < *n; i++) p[index[i]] = i, where a store may hit *n ---- */

static void bound_direct(const struct __pg_entry *e, __pg_value *results, __pg_i64 begin, __pg_i64 end)
{
  __pg_i64 i;
  (void)results;
  for (i = begin; i < end; i++)
    __pg_set_i32(e->bases[0].pointer + 4 * (__pg_i64)__pg_get_i32(e->bases[1].pointer + 4 * i), (int)i);
}

static void bound_device(const struct __pg_launch *l, __pg_u64 begin, __pg_u64 end)
{
  struct __pg_ctx ctx = { l, 0, 0, 0, 0 };
  struct __pg_view p = __pg_base_view(l, 0), index = __pg_base_view(l, 1);
  __pg_u64 i;
  for (i = begin; i < end && !__pg_begin_iteration(&ctx, i); i++)
    __pg_st_i32(&ctx, &p, 0, l->bases[0] + 4 * (__pg_i64)__pg_ld_i32(&ctx, &index, 1, 0, l->bases[1] + 4 * i), (int)i);
  __pg_end_thread(&ctx);
}

static const struct __pg_site bound_sites[] = {
  { 0, 4, PG_SITE_STORE | PG_SITE_LOGGED | PG_SITE_UNCONDITIONAL, BOUND },
  { 1, 4, PG_SITE_LOGGED | PG_SITE_UNCONDITIONAL | PG_SITE_EXACT | PG_SITE_HAS_AFFINE, BOUND },
};
static const struct __pg_pair bound_pairs[] = { { 0, 0, PG_CHECK_LOGS }, { 0, 1, PG_CHECK_LOGS } };
INFO(bound, BOUND, PG_CHECK_LOGS, PG_LOOP_CUDA_EXACT, 1, 0, 0, 0, 2, bound_sites, 2, bound_pairs, 1);

/* The bound is p[2n]. `hit`: iteration n/2 stores there. Only the device may run this loop: the check must fail, and that
 * is all that is looked at, because the worker's loop (which evaluates its bound once) is not the program's. */
static void bound(__pg_i64 n, int hit)
{
  int *p = array((2 * n + 1) * 4), *index = array(n * 4), *p2;
  struct __pg_base bases[2] = { { ADDRESS(p), 0, 0, 0 }, { ADDRESS(index), 0, 0, 0 } };
  struct __pg_access accesses[2] = { { { 0 }, 0, 0 }, { { 4 }, 0, 4 } };
  struct __pg_pin pin = { ADDRESS(p + 2 * n), 4, 0 };
  struct __pg_entry entry = { &bound_info, { n, 1, 1, 1 }, 0, 0, bases, accesses, &pin };
  memset(p, 0, (2 * n + 1) * 4);
  p[2 * n] = n;
  for (__pg_i64 i = 0; i < n; i++)
    index[i] = 2 * i;
  if (hit)
    index[n / 2] = 2 * n;
  p2 = copy_of(p, (2 * n + 1) * 4);
  if (!enter(&bound_loop, &entry))
    for (__pg_i64 i = 0; i < n; i++)
      p[index[i]] = i;
  for (__pg_i64 i = 0; i < n; i++)
    p2[index[i]] = i;
  if (memcmp(p, p2, (2 * n + 1) * 4))
    fail("bound");
  give_back(p), give_back(index), free(p2);
}

/* ---- if (b[i] != 0 || i != bad) c[i] = a[i] / b[i]: an iteration may give up ---- */

static void divide_direct(const struct __pg_entry *e, __pg_value *results, __pg_i64 begin, __pg_i64 end)
{
  __pg_i64 i;
  (void)results;
  for (i = begin; i < end; i++) {
    int b = __pg_get_i32(e->bases[2].pointer + 4 * i);
    __pg_set_i32(e->bases[0].pointer + 4 * i, b == 0 ? -1 : __pg_get_i32(e->bases[1].pointer + 4 * i) / b);
  }
}

static void divide_device(const struct __pg_launch *l, __pg_u64 begin, __pg_u64 end)
{
  struct __pg_ctx ctx = { l, 0, 0, 0, 0 };
  struct __pg_view c = __pg_base_view(l, 0), a = __pg_base_view(l, 1), b = __pg_base_view(l, 2);
  __pg_u64 i;
  for (i = begin; i < end && !__pg_begin_iteration(&ctx, i); i++)
    __pg_st_i32(&ctx, &c, 0, l->bases[0] + 4 * i,
                __pg_div_i32(&ctx, __pg_ld_i32(&ctx, &a, 1, 0, l->bases[1] + 4 * i),
                             __pg_ld_i32(&ctx, &b, 1, 0, l->bases[2] + 4 * i)));
  __pg_end_thread(&ctx);
}

INFO(divide, DIVIDE, PG_CHECK_PREDICATE, PG_LOOP_CUDA_EXACT | PG_LOOP_MAY_ABORT | PG_LOOP_MAY_TRAP, 1, 0, 0, 0, 3, add_sites, 2, add_pairs, 0);

/* The device's body gives up where the worker's stores -1. */
static void divide(__pg_i64 n, int zero)
{
  int *a = malloc(n * 4), *b = malloc(n * 4), *c = malloc(n * 4);
  struct __pg_base bases[3] = { { ADDRESS(c), 0, 0, 0 }, { ADDRESS(a), 0, 0, 0 }, { ADDRESS(b), 0, 0, 0 } };
  struct __pg_access accesses[3] = { { { 4 }, 0, 4 }, { { 4 }, 0, 4 }, { { 4 }, 0, 4 } };
  struct __pg_entry entry = { &divide_info, { n, 1, 1, 1 }, 0, 0, bases, accesses, 0 };
  for (__pg_i64 i = 0; i < n; i++)
    a[i] = random_number(), b[i] = 1 + random_number() % 1000, c[i] = 5;
  if (zero)
    b[n * 2 / 3] = 0;
  if (!enter(&divide_loop, &entry))
    divide_direct(&entry, 0, 0, n);
  for (__pg_i64 i = 0; i < n; i++)
    if (c[i] != (b[i] == 0 ? -1 : a[i] / b[i]))
      fail("divide");
  free(a), free(b), free(c);
}

/* ---- two arrays that touch each other, both stored: p[i] = i; q[i] = -i ---- */

static void two_direct(const struct __pg_entry *e, __pg_value *results, __pg_i64 begin, __pg_i64 end)
{
  __pg_i64 i;
  (void)results;
  for (i = begin; i < end; i++) {
    __pg_set_i32(e->bases[0].pointer + 4 * i, (int)i);
    __pg_set_i32(e->bases[1].pointer + 4 * i, (int)-i);
  }
}

static void two_device(const struct __pg_launch *l, __pg_u64 begin, __pg_u64 end)
{
  struct __pg_ctx ctx = { l, 0, 0, 0, 0 };
  struct __pg_view p = __pg_base_view(l, 0), q = __pg_base_view(l, 1);
  __pg_u64 i;
  for (i = begin; i < end && !__pg_begin_iteration(&ctx, i); i++) {
    __pg_st_i32(&ctx, &p, 0, l->bases[0] + 4 * i, (int)i);
    __pg_st_i32(&ctx, &q, 0, l->bases[1] + 4 * i, (int)-i);
  }
  __pg_end_thread(&ctx);
}

static const struct __pg_site two_sites[] = {
  { 0, 4, PG_SITE_STORE | PG_SITE_LOGGED | PG_SITE_UNCONDITIONAL | PG_SITE_EXACT | PG_SITE_HAS_AFFINE, TWO },
  { 1, 4, PG_SITE_STORE | PG_SITE_LOGGED | PG_SITE_UNCONDITIONAL | PG_SITE_EXACT | PG_SITE_HAS_AFFINE, TWO },
};
static const struct __pg_pair two_pairs[] = { { 0, 1, PG_CHECK_PREDICATE } };
INFO(two, TWO, PG_CHECK_PREDICATE, PG_LOOP_CUDA_EXACT, 1, 0, 0, 0, 2, two_sites, 1, two_pairs, 0);

static void two(__pg_i64 n)
{
  int *p = malloc(2 * n * 4), *q = p + n;
  struct __pg_base bases[2] = { { ADDRESS(p), 0, 0, 0 }, { ADDRESS(q), 0, 0, 0 } };
  struct __pg_access accesses[2] = { { { 4 }, 0, 4 }, { { 4 }, 0, 4 } };
  struct __pg_entry entry = { &two_info, { n, 1, 1, 1 }, 0, 0, bases, accesses, 0 };
  memset(p, 9, 2 * n * 4);
  if (!enter(&two_loop, &entry))
    two_direct(&entry, 0, 0, n);
  for (__pg_i64 i = 0; i < n; i++)
    if (p[i] != i || q[i] != -i)
      fail("two");
  free(p);
}

/* ---- a[i] *= 2, slowly: a copy taken too late would double twice ---- */

static void twice_direct(const struct __pg_entry *e, __pg_value *results, __pg_i64 begin, __pg_i64 end)
{
  __pg_i64 i;
  (void)results;
  for (i = begin; i < end; i++)
    __pg_set_i32(e->bases[0].pointer + 4 * i, __pg_get_i32(e->bases[0].pointer + 4 * i) * 2);
}

static void twice_device(const struct __pg_launch *l, __pg_u64 begin, __pg_u64 end)
{
  struct __pg_ctx ctx = { l, 0, 0, 0, 0 };
  struct __pg_view a = __pg_base_view(l, 0);
  __pg_u64 i;
  for (i = begin; i < end && !__pg_begin_iteration(&ctx, i); i++)
    __pg_st_i32(&ctx, &a, 0, l->bases[0] + 4 * i, __pg_ld_i32(&ctx, &a, 1, 0, l->bases[0] + 4 * i) * 2);
  __pg_end_thread(&ctx);
}

static const struct __pg_site twice_sites[] = {
  { 0, 4, PG_SITE_STORE | PG_SITE_UNCONDITIONAL | PG_SITE_EXACT | PG_SITE_HAS_AFFINE, TWICE },
  { 0, 4, PG_SITE_UNCONDITIONAL | PG_SITE_EXACT | PG_SITE_HAS_AFFINE, TWICE },
};
INFO(twice, TWICE, PG_CHECK_NONE, PG_LOOP_CUDA_EXACT, 1, 0, 0, 0, 1, twice_sites, 0, 0, 0);

static void twice(__pg_i64 n)
{
  int *a = malloc(n * 4);
  struct __pg_base base = { ADDRESS(a), 0, 0, 0 };
  struct __pg_access accesses[2] = { { { 4 }, 0, 4 }, { { 4 }, 0, 4 } };
  struct __pg_entry entry = { &twice_info, { n, 1, 1, 1 }, 0, 0, &base, accesses, 0 };
  for (__pg_i64 i = 0; i < n; i++)
    a[i] = i;
  if (!enter(&twice_loop, &entry))
    twice_direct(&entry, 0, 0, n);
  for (__pg_i64 i = 0; i < n; i++)
    if (a[i] != 2 * i)
      fail("twice");
  free(a);
}

/* The same from the end to the start (what is copied last is stored first), with a worker that is held up, and estimated
 * as expensive, so that the device overtakes it in a fair race. */
static void slow_direct(const struct __pg_entry *e, __pg_value *results, __pg_i64 begin, __pg_i64 end)
{
  __pg_i64 i;
  (void)results;
  for (i = begin; i < end; i++) {
    __pg_u64 at = e->bases[0].pointer - 4 * i;
    __pg_set_i32(at, __pg_get_i32(at) * 2);
    if (i % 4096 == 4095)
      usleep(300);
  }
}

static void slow_device(const struct __pg_launch *l, __pg_u64 begin, __pg_u64 end)
{
  struct __pg_ctx ctx = { l, 0, 0, 0, 0 };
  struct __pg_view a = __pg_base_view(l, 0);
  __pg_u64 i;
  for (i = begin; i < end && !__pg_begin_iteration(&ctx, i); i++)
    __pg_st_i32(&ctx, &a, 0, l->bases[0] - 4 * i, __pg_ld_i32(&ctx, &a, 1, 0, l->bases[0] - 4 * i) * 2);
  __pg_end_thread(&ctx);
}

static void slow(__pg_i64 n)
{
  static const struct __pg_info info = { PG_ABI_VERSION, PG_POSSIBLY_PARALLEL, PG_CHECK_NONE, PG_LOOP_MAY_ABORT | PG_LOOP_MAY_TRAP, "loops.c",
    "slow", SLOW, 1, 0, 0, 1, COUNT(twice_sites), 0, 0, 500, twice_sites, 0, 0, 0, slow_direct, slow_device, 0 };
  static struct __pg_loop loops[64];
  static int next;
  struct __pg_loop *loop = &loops[next++ % 64];
  int *a = malloc(n * 4);
  struct __pg_base base = { ADDRESS(a + n - 1), 0, 0, 0 };
  struct __pg_access accesses[2] = { { { -4 }, 0, 4 }, { { -4 }, 0, 4 } };
  struct __pg_entry entry = { &info, { n, 1, 1, 1 }, 0, 0, &base, accesses, 0 };
  loop->__pg_threshold = 1;
  loop->info = &info;
  for (__pg_i64 i = 0; i < n; i++)
    a[i] = i;
  if (!enter(loop, &entry))
    slow_direct(&entry, 0, 0, n);
  for (__pg_i64 i = 0; i < n; i++)
    if (a[i] != 2 * i)
      fail("slow");
  free(a);
}

/* ---- c[i] = x[index[i]]: settled by where the arrays lie, no log ---- */

static void gather_direct(const struct __pg_entry *e, __pg_value *results, __pg_i64 begin, __pg_i64 end)
{
  __pg_i64 i;
  (void)results;
  for (i = begin; i < end; i++)
    __pg_set_i32(e->bases[0].pointer + 4 * i,
                 __pg_get_i32(e->bases[1].pointer + 4 * (__pg_i64)__pg_get_i32(e->bases[2].pointer + 4 * i)));
}

static void gather_device(const struct __pg_launch *l, __pg_u64 begin, __pg_u64 end)
{
  struct __pg_ctx ctx = { l, 0, 0, 0, 0 };
  struct __pg_view c = __pg_base_view(l, 0), x = __pg_base_view(l, 1), index = __pg_base_view(l, 2);
  __pg_u64 i;
  for (i = begin; i < end && !__pg_begin_iteration(&ctx, i); i++)
    __pg_st_i32(&ctx, &c, 0, l->bases[0] + 4 * i,
                __pg_ld_i32(&ctx, &x, 1, 0, l->bases[1] + 4 * (__pg_i64)__pg_ld_i32(&ctx, &index, 1, 0, l->bases[2] + 4 * i)));
  __pg_end_thread(&ctx);
}

static const struct __pg_site gather_sites[] = {
  { 0, 4, PG_SITE_STORE | PG_SITE_LOGGED | PG_SITE_UNCONDITIONAL | PG_SITE_EXACT | PG_SITE_HAS_AFFINE, GATHER },
  { 1, 4, PG_SITE_LOGGED | PG_SITE_UNCONDITIONAL, GATHER },
  { 2, 4, PG_SITE_LOGGED | PG_SITE_UNCONDITIONAL | PG_SITE_EXACT | PG_SITE_HAS_AFFINE, GATHER },
};
static const struct __pg_pair gather_pairs[] = { { 0, 1, PG_CHECK_LOGS }, { 0, 2, PG_CHECK_PREDICATE } };
INFO(gather, GATHER, PG_CHECK_LOGS, PG_LOOP_CUDA_EXACT, 1, 0, 0, 0, 3, gather_sites, 2, gather_pairs, 0);

/* `inside`: c is a part of x, and iterations meet. */
static void gather(__pg_i64 n, int inside)
{
  int *x = array(2 * n * 4), *index = array(n * 4), *c = inside ? x + n : array(n * 4), *c2 = malloc(n * 4), *x2;
  struct __pg_base bases[3] = { { ADDRESS(c), 0, 0, 0 }, { ADDRESS(x), 0, 0, 0 }, { ADDRESS(index), 0, 0, 0 } };
  struct __pg_access accesses[3] = { { { 4 }, 0, 4 }, { { 0 }, 0, 0 }, { { 4 }, 0, 4 } };
  struct __pg_entry entry = { &gather_info, { n, 1, 1, 1 }, 0, 0, bases, accesses, 0 };
  for (__pg_i64 i = 0; i < n; i++)
    x[i] = random_number(), x[n + i] = random_number(), index[i] = random_number() % (2 * n);
  x2 = copy_of(x, 2 * n * 4);
  if (!enter(&gather_loop, &entry))
    gather_direct(&entry, 0, 0, n);
  for (__pg_i64 i = 0; i < n; i++) {
    c2[i] = x2[index[i]];
    if (inside)
      x2[n + i] = c2[i];
  }
  if (memcmp(c, c2, n * 4) || memcmp(x, x2, 2 * n * 4))
    fail("gather");
  give_back(x), give_back(index), free(c2), free(x2);
  if (!inside)
    give_back(c);
}
