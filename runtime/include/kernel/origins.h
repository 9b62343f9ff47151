/* Affine accesses that are found from an origin, instead of by subscripts. In inner loops, whose turns move them, they are walks (walks.h). */

/* Affine accesses that are found from an origin: a pointer to the place of one of them in the group's first iteration. It stands for
 * accesses whose addresses are what their strides say, as walks do; `rest`: how far from it. Not where iterations share operands of inner loops,
 * whose kernels have no registers left. */
#ifdef __PG_RESIDENT
#define __PG_HAS_ORIGIN(base) 0
#else
#define __PG_HAS_ORIGIN(base) ((__PG_HOW(base) & __PG_IS_BOUNDED) != 0)
#endif
#define __PG_ORIGIN(name, base, memory, first) const char *const name = __pg_b##base.memory + ((first) - __pg_b##base.lo);
#define __PG_LDO(how, t, base, logged, name, rest, address)                                                            \
  (__PG_IS_OWN_TURN && __PG_HAS_ORIGIN(base) && (__PG_METHOD < PG_LOG_ATOMIC || (__PG_HOW(base) & __PG_IS_CONSTANT))   \
     ? (__pg_##t)__PG_LOAD(__pg_##t, (name) + (rest), __PG_HOW(base))                                                  \
     : how(t, base, logged, address))
#define __PG_STO(t, base, name, rest, address, value)                                                                  \
  {                                                                                                                    \
    if (__PG_IS_OWN_TURN && __PG_HAS_ORIGIN(base) &&                                                                   \
        (__PG_METHOD == PG_LOG_NONE || (__PG_HOW(base) & __PG_IS_FILLED))) {                                           \
      __PG_LEAD __pg_set_##t##_at(&__pg_c, const_cast<char *>((name) + (rest)), value);                                \
    } else {                                                                                                           \
      __PG_ST(t, base, address, value);                                                                                \
    }                                                                                                                  \
  }
/* A store that a bitmap notes ahead of what computes the value: who is noted doesn't matter there, only how often, and nobody waits for the
 * bits then. */
#define __PG_IS_NOTED_AHEAD(base) (__PG_HAS_ORIGIN(base) && __PG_METHOD == PG_LOG_BITMAP)
#define __PG_NOTE(t, base, name, rest)                                                                                 \
  if (__PG_IS_NOTED_AHEAD(base)) {                                                                                     \
    __PG_LEAD __pg_log_write(&__pg_c, &__pg_b##base, __PG_HOW(base),                                                   \
                             __pg_b##base.lo + (__pg_u64)((name) + (rest) - __pg_b##base.dev), sizeof(__pg_##t));      \
  }
#define __PG_STN(t, base, name, rest, address, value)                                                                  \
  {                                                                                                                    \
    if (__PG_IS_NOTED_AHEAD(base)) {                                                                                   \
      __PG_LEAD __pg_set_##t##_at(&__pg_c, const_cast<char *>((name) + (rest)), value);                                \
    } else {                                                                                                           \
      __PG_STO(t, base, name, rest, address, value);                                                                   \
    }                                                                                                                  \
  }
