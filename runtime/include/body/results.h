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
__PG_SHARED_FN void __pg_combine(__pg_value *slot, int op, int type, __pg_u64 part)
{
  __pg_u64 old = *(volatile __pg_u64 *)&slot->__pg_u, seen;
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
#ifdef __CUDACC_RTC__
    seen = atomicCAS(&slot->__pg_u, old, value);
    if (seen == old)
      return;
    old = seen;
#else
    seen = old;
    if (__atomic_compare_exchange_n(&slot->__pg_u, &seen, value, 0, 0, 0))
      return;
    old = seen;
#endif
  }
}
