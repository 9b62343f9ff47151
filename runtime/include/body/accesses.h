/* Loads and stores of each type, as bodies make them: checked, logged and made as range.h and logs.h say. Updates in one piece are in
 * updates.h. Kernels have definitions of those types only that their text uses: device/cuda/nvrtc.rs looks at the lines that begin with a
 * definition's name. */

#ifdef __CUDACC_RTC__
/* x86 makes NaNs with another sign and payload: such a result is the host's to compute. */
#define __PG_IS_FOREIGN_NAN(x) ((x) != (x))
#else
#define __PG_IS_FOREIGN_NAN(x) 0
#endif

/* A value as its bits. */
#define __PG_AS_BITS(type)                                                                                             \
  union {                                                                                                              \
    __pg_u64 bits;                                                                                                     \
    type value;                                                                                                        \
  }

/* Typed accesses. `logged`: 1 where the load takes part in an unresolved pair, 2 where its iteration also stores to its address, so that
 * only stamps need to know it. Stores are logged always: the commit
 * needs them, and the counts of the reduction method are only right if every mark in wr was counted. */
#define __PG_DEFINE_ACCESS(name, type, nan)                                                                            \
  __PG_SHARED_FN type __pg_ld_stamped_##name(struct __pg_ctx *c, const struct __pg_view *v, __pg_u64 address)          \
  {                                                                                                                    \
    const char *own = (const char *)__PG_TRANSLATED(v, address);                                                       \
    const char *before = (const char *)__PG_AT(v->before, address - v->lo);                                            \
    if (__PG_GUESS(c->launch) != PG_GUESS_NONE && __PG_IS_ONE_CELL(c->launch, (__pg_u32)sizeof(type)))                \
      return *(const type *)(__pg_finds_own(c, v, address) ? own : before);                                            \
    if (!c->launch->settles)                                                                                           \
      __pg_log_read(c, v, address, (__pg_u32)sizeof(type));                                                            \
    if (__PG_IS_ONE_CELL(c->launch, (__pg_u32)sizeof(type)))                                                           \
      return *(const type *)(__PG_IS_LAST_WRITER(c, v, address) ? own : before);                                       \
    else {                                                                                                             \
      type value = *(const type *)before;                                                                              \
      __pg_copy_own(c, v, address, (__pg_u32)sizeof(type), own, (char *)&value);                                       \
      return value;                                                                                                    \
    }                                                                                                                  \
  }                                                                                                                    \
  __PG_SHARED_FN void __pg_settle_##name(struct __pg_ctx *c, const struct __pg_view *v, __pg_u64 address, type value)   \
  {                                                                                                                    \
    char *place = (char *)__PG_TRANSLATED(v, address);                                                                 \
    if (!__PG_IS_ONE_CELL(c->launch, (__pg_u32)sizeof(type)))                                                          \
      __pg_copy_own(c, v, address, (__pg_u32)sizeof(type), (const char *)&value, place);                               \
    else if (__PG_IS_LAST_WRITER(c, v, address))                                                                       \
      *(type *)place = value;                                                                                          \
  }                                                                                                                    \
  __PG_SHARED_FN type __pg_ld_##name(struct __pg_ctx *c, const struct __pg_view *v, int logged, int how, __pg_u64 address) \
  {                                                                                                                    \
    __PG_LOAD_BUFFERED(type, c, v, logged, how, address)                                                               \
    if (!__PG_IS_NOTED(c, v, logged, how)) {                                                                           \
      __PG_LOAD_UNLOGGED(type, c, v, v->dev, how, address)                                                             \
    }                                                                                                                  \
    __PG_LOAD_NOTED(type, c, v, how, address)                                                                          \
    if (!__pg_may_access(c, v, how, address, (__pg_u32)sizeof(type)))                                                  \
      return (type)0;                                                                                                  \
    if (__PG_IS_NOTED(c, v, logged, how)) {                                                                            \
      if (__PG_LOG_METHOD(c->launch) != PG_LOG_STAMP)                                                                   \
        __pg_log_read(c, v, address, (__pg_u32)sizeof(type));                                                          \
      else if (v->before != v->dev)                                                                                    \
        return __pg_ld_stamped_##name(c, v, address);                                                                  \
    }                                                                                                                  \
    return __PG_LOAD(type, __PG_TRANSLATED_FOR(v, how, address), how);                                                 \
  }                                                                                                                    \
  /* What was there before the loop, where the launch has a snapshot of it; then nobody can change it. */              \
  __PG_SHARED_FN type __pg_lds_##name(struct __pg_ctx *c, const struct __pg_view *v, int logged, int how, __pg_u64 address) \
  {                                                                                                                    \
    if (__PG_LOG_METHOD(c->launch) < PG_LOG_ATOMIC) {                                                                   \
      __PG_LOAD_UNLOGGED(type, c, v, v->snapshot, how, address)                                                        \
    }                                                                                                                  \
    /* Nor where nothing stores there: then a snapshot, if there is one, is the same. */                               \
    if ((how) & (__PG_IS_CONSTANT | __PG_HAS_NO_STORES))                                                               \
      return __pg_ld_##name(c, v, logged, how, address);                                                               \
    if (!__pg_may_access(c, v, how, address, (__pg_u32)sizeof(type)))                                                  \
      return (type)0;                                                                                                  \
    if (__PG_LOG_METHOD(c->launch) >= PG_LOG_ATOMIC && v->snapshot == v->dev)                                           \
      return __pg_ld_##name(c, v, logged, how, address);                                                               \
    return __PG_LOAD(type, __PG_AT(v->snapshot, address - v->lo), how);                                                \
  }                                                                                                                    \
  /* Where nothing is noted and nothing need be checked. */                                                             \
  __PG_SHARED_FN void __pg_set_##name##_at(struct __pg_ctx *c, char *place, type value)                                 \
  {                                                                                                                    \
    if (nan)                                                                                                           \
      c->fail |= PG_FAIL_NAN;                                                                                          \
    *(type *)place = value;                                                                                            \
  }                                                                                                                    \
  __PG_SHARED_FN void __pg_st_##name(struct __pg_ctx *c, const struct __pg_view *v, int how, __pg_u64 address, type value) \
  {                                                                                                                    \
    __PG_CHECK_STORE(c, v, how, address, (__pg_u32)sizeof(type))                                                       \
    if (!__pg_may_access(c, v, how, address, (__pg_u32)sizeof(type)))                                                  \
      return;                                                                                                          \
    /* Then nothing of the run is kept; to store it all the same takes no branch. */                                   \
    if (nan)                                                                                                           \
      c->fail |= PG_FAIL_NAN;                                                                                          \
    __PG_LEAVE_STORE(type, c, v, address, value)                                                                       \
    __PG_STORE_BUFFERED(type, c, v, address, value)                                                                    \
    if (__PG_LOG_METHOD(c->launch) == PG_LOG_STAMP && c->launch->settles) {                                             \
      __pg_settle_##name(c, v, address, value);                                                                        \
      return;                                                                                                          \
    }                                                                                                                  \
    if (__PG_LOG_METHOD(c->launch) >= PG_LOG_ATOMIC)                                                                   \
      __pg_log_write(c, v, how, address, (__pg_u32)sizeof(type));                                                      \
    else if (__PG_LOG_METHOD(c->launch) != PG_LOG_NONE)                                                                \
      __pg_mark_write(c, v, how, address, (__pg_u32)sizeof(type));                                                     \
    *(type *)__PG_TRANSLATED_FOR(v, how, address) = value;                                                             \
  }

__PG_DEFINE_ACCESS(i8, __pg_i8, 0)
__PG_DEFINE_ACCESS(u8, __pg_u8, 0)
__PG_DEFINE_ACCESS(i16, __pg_i16, 0)
__PG_DEFINE_ACCESS(u16, __pg_u16, 0)
__PG_DEFINE_ACCESS(i32, __pg_i32, 0)
__PG_DEFINE_ACCESS(u32, __pg_w32, 0)
__PG_DEFINE_ACCESS(i64, __pg_m64, 0)
__PG_DEFINE_ACCESS(u64, __pg_w64, 0)
__PG_DEFINE_ACCESS(f32, __pg_f32, __PG_IS_FOREIGN_NAN(value))
__PG_DEFINE_ACCESS(f64, __pg_f64, __PG_IS_FOREIGN_NAN(value))

/* The same for accesses without a loop-invariant base: each finds its array by itself. */
#define __PG_DEFINE_DYNAMIC_ACCESS(name, type)                                                                         \
  __PG_SHARED_FN type __pg_ldx_##name(struct __pg_ctx *c, int logged, __pg_u64 address)                                \
  {                                                                                                                    \
    struct __pg_view v;                                                                                                \
    __pg_find_array(c->launch, address, &v);                                                                           \
    return __pg_ld_##name(c, &v, logged, __PG_IS_DYNAMIC, address);                                                    \
  }                                                                                                                    \
  __PG_SHARED_FN void __pg_stx_##name(struct __pg_ctx *c, __pg_u64 address, type value)                                \
  {                                                                                                                    \
    struct __pg_view v;                                                                                                \
    __pg_find_array(c->launch, address, &v);                                                                           \
    __pg_st_##name(c, &v, __PG_IS_DYNAMIC, address, value);                                                            \
  }
__PG_DEFINE_DYNAMIC_ACCESS(i8, __pg_i8)
__PG_DEFINE_DYNAMIC_ACCESS(u8, __pg_u8)
__PG_DEFINE_DYNAMIC_ACCESS(i16, __pg_i16)
__PG_DEFINE_DYNAMIC_ACCESS(u16, __pg_u16)
__PG_DEFINE_DYNAMIC_ACCESS(i32, __pg_i32)
__PG_DEFINE_DYNAMIC_ACCESS(u32, __pg_w32)
__PG_DEFINE_DYNAMIC_ACCESS(i64, __pg_m64)
__PG_DEFINE_DYNAMIC_ACCESS(u64, __pg_w64)
__PG_DEFINE_DYNAMIC_ACCESS(f32, __pg_f32)
__PG_DEFINE_DYNAMIC_ACCESS(f64, __pg_f64)

/* Memory that an iteration has for itself, as an offset into it: what speculation has made up must not lead beyond it. */
#define __PG_DEFINE_OWN_ACCESS(name, type, nan)                                                                        \
  __PG_FN type __pg_own_ld_##name(struct __pg_ctx *c, const __pg_u64 *array, __pg_u64 size, __pg_u64 at)               \
  {                                                                                                                    \
    if (at > size - sizeof(type)) {                                                                                    \
      c->fail |= PG_FAIL_RANGE;                                                                                        \
      return (type)0;                                                                                                  \
    }                                                                                                                  \
    return *(const type *)((const char *)array + at);                                                                  \
  }                                                                                                                    \
  __PG_FN void __pg_own_st_##name(struct __pg_ctx *c, __pg_u64 *array, __pg_u64 size, __pg_u64 at, type value)         \
  {                                                                                                                    \
    if (at > size - sizeof(type))                                                                                      \
      c->fail |= PG_FAIL_RANGE;                                                                                        \
    else {                                                                                                             \
      /* Another member of a union may read its bits. */                                                               \
      if (nan)                                                                                                         \
        c->fail |= PG_FAIL_NAN;                                                                                        \
      *(type *)((char *)array + at) = value;                                                                           \
    }                                                                                                                  \
  }
__PG_DEFINE_OWN_ACCESS(i8, __pg_i8, 0)
__PG_DEFINE_OWN_ACCESS(u8, __pg_u8, 0)
__PG_DEFINE_OWN_ACCESS(i16, __pg_i16, 0)
__PG_DEFINE_OWN_ACCESS(u16, __pg_u16, 0)
__PG_DEFINE_OWN_ACCESS(i32, __pg_i32, 0)
__PG_DEFINE_OWN_ACCESS(u32, __pg_w32, 0)
__PG_DEFINE_OWN_ACCESS(i64, __pg_m64, 0)
__PG_DEFINE_OWN_ACCESS(u64, __pg_w64, 0)
__PG_DEFINE_OWN_ACCESS(f32, __pg_f32, __PG_IS_FOREIGN_NAN(value))
__PG_DEFINE_OWN_ACCESS(f64, __pg_f64, __PG_IS_FOREIGN_NAN(value))
