/* What a thread's iterations come to besides memory: its part of a reduction, which goes into the launch's result. Here are operations that
 * are the same in any order; those that aren't nobody combines. */

/* Combines a thread's part of a reduction into the launch's result. Values are sign- or zero-extended to 64 bits by
 * their type, so that one comparison serves all of one signedness. */
__PG_FN __pg_u64 __pg_extend(__pg_u64 bits, int type)
{
  switch (type) {
  case PG_I8: return (__pg_u64)(__pg_i64)(signed char)bits;
  case PG_U8: return (unsigned char)bits;
  case PG_I16: return (__pg_u64)(__pg_i64)(short)bits;
  case PG_U16: return (unsigned short)bits;
  case PG_I32: return (__pg_u64)(__pg_i64)(int)bits;
  case PG_U32: return (unsigned int)bits;
  default: return bits;
  }
}
#ifdef __CUDACC_RTC__
/* All threads have one place, and come to it together where each has few iterations. To compare and swap there would take each of them another try
 * for each that was faster, and a try waits for all others' (200,000 threads kept a GPU busy for longer than 20 seconds): so these are
 * operations whose answer nobody waits for. Of a sum, what is above a narrow number is whatever it is: the host takes the number (commit::combine). */
__PG_SHARED_FN void __pg_combine(__pg_value *slot, int op, int type, __pg_u64 part)
{
  __pg_u64 *const place = &slot->__pg_u;
  const int is_signed = type == PG_I8 || type == PG_I16 || type == PG_I32 || type == PG_I64;
  switch (op) {
  case PG_ADD: (void)atomicAdd(place, part); break;
  case PG_AND: (void)atomicAnd(place, part); break;
  case PG_OR: (void)atomicOr(place, part); break;
  case PG_XOR: (void)atomicXor(place, part); break;
  case PG_MIN: is_signed ? (void)atomicMin((long long *)place, (long long)part) : (void)atomicMin(place, part); break;
  case PG_MAX: is_signed ? (void)atomicMax((long long *)place, (long long)part) : (void)atomicMax(place, part); break;
  case PG_MUL: {
    __pg_u64 old = *(volatile __pg_u64 *)place, seen;
    /* There is no such operation; but lanes can multiply first. */
    if (__activemask() == ~0u) {
      const int lane = threadIdx.x & 31;
      for (int distance = 16; distance != 0; distance /= 2) {
        const __pg_u32 low = __shfl_sync(~0u, (__pg_u32)part, lane ^ distance);
        part *= (__pg_u64)__shfl_sync(~0u, (__pg_u32)(part >> 32), lane ^ distance) << 32 | low;
      }
      if (lane != 0)
        break;
    }
    while ((seen = atomicCAS(place, old, old * part)) != old)
      old = seen;
  }
  }
}
#else
__PG_SHARED_FN void __pg_combine(__pg_value *slot, int op, int type, __pg_u64 part)
{
  __pg_u64 old = __atomic_load_n(&slot->__pg_u, 0), seen;
  int is_signed = type == PG_I8 || type == PG_I16 || type == PG_I32 || type == PG_I64;
  for (;;) {
    __pg_u64 value = old;
    int less = is_signed ? (__pg_i64)part < (__pg_i64)old : part < old;
    switch (op) {
    case PG_ADD: value = old + part; break;
    case PG_MUL: value = old * part; break;
    case PG_AND: value = old & part; break;
    case PG_OR: value = old | part; break;
    case PG_XOR: value = old ^ part; break;
    case PG_MIN: value = less ? part : old; break;
    case PG_MAX: value = less ? old : part; break;
    }
    value = __pg_extend(value, type);
    seen = old;
    if (__atomic_compare_exchange_n(&slot->__pg_u, &seen, value, 0, 0, 0))
      return;
    old = seen;
  }
}
#endif
