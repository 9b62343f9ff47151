/* Operations that devices answer differently: either the host's answer, or a run that counts for nothing. No memory is accessed here. */

/* Division and remainder that the hardware answers differently: x86 traps on zero and on MIN / -1. Then the result doesn't matter any more. On
 * a GPU that takes no branch, and what is divided by depends on the divisor alone: so divisions by the same number have in common what
 * follows from it. Signed ones are made of unsigned ones, because what C++ doesn't define a compiler takes for impossible. */
#ifdef __CUDACC_RTC__
#define __PG_DEFINE_DIVISION(name, type, unsigned_type, is_signed, is_bad)                                             \
  __PG_FN void __pg_divide_##name(struct __pg_ctx *c, type a, type b, unsigned_type *quotient, unsigned_type *rest)     \
  {                                                                                                                    \
    const unsigned_type x = (is_signed) && a < 0 ? 0u - (unsigned_type)a : (unsigned_type)a;                           \
    const unsigned_type y = b == 0 ? 1u : (is_signed) && b < 0 ? 0u - (unsigned_type)b : (unsigned_type)b;             \
    c->fail |= (is_bad) ? (__pg_u32)PG_FAIL_ARITHMETIC : 0u;                                                           \
    *quotient = x / y;                                                                                                 \
    *rest = x - *quotient * y;                                                                                         \
  }                                                                                                                    \
  __PG_FN type __pg_div_##name(struct __pg_ctx *c, type a, type b)                                                     \
  {                                                                                                                    \
    unsigned_type quotient, rest;                                                                                      \
    __pg_divide_##name(c, a, b, &quotient, &rest);                                                                     \
    return (type)((is_signed) && (a < 0) != (b < 0) ? 0u - quotient : quotient);                                       \
  }                                                                                                                    \
  __PG_FN type __pg_rem_##name(struct __pg_ctx *c, type a, type b)                                                     \
  {                                                                                                                    \
    unsigned_type quotient, rest;                                                                                      \
    __pg_divide_##name(c, a, b, &quotient, &rest);                                                                     \
    return (type)((is_signed) && a < 0 ? 0u - rest : rest);                                                            \
  }
#else
#define __PG_DEFINE_DIVISION(name, type, unsigned_type, is_signed, is_bad)                                             \
  __PG_FN type __pg_div_##name(struct __pg_ctx *c, type a, type b)                                                     \
  {                                                                                                                    \
    if (is_bad) {                                                                                                      \
      c->fail |= PG_FAIL_ARITHMETIC;                                                                                   \
      return 0;                                                                                                        \
    }                                                                                                                  \
    return a / b;                                                                                                      \
  }                                                                                                                    \
  __PG_FN type __pg_rem_##name(struct __pg_ctx *c, type a, type b)                                                     \
  {                                                                                                                    \
    if (is_bad) {                                                                                                      \
      c->fail |= PG_FAIL_ARITHMETIC;                                                                                   \
      return 0;                                                                                                        \
    }                                                                                                                  \
    return a % b;                                                                                                      \
  }
#endif
__PG_DEFINE_DIVISION(i32, int, __pg_u32, 1, b == 0 || (b == -1 && a == -2147483647 - 1))
__PG_DEFINE_DIVISION(u32, unsigned int, __pg_u32, 0, b == 0)
__PG_DEFINE_DIVISION(i64, __pg_i64, __pg_u64, 1, b == 0 || (b == -1 && (__pg_u64)a == (__pg_u64)1 << 63))
__PG_DEFINE_DIVISION(u64, __pg_u64, __pg_u64, 0, b == 0)

/* Conversions from floating to integer types whose result is out of range (or of a NaN) differ between devices. The
 * limits are exact in double; a float is converted to double first, which loses nothing. */
#define __PG_DEFINE_CONVERSION(name, type, low, high)                                                                  \
  __PG_FN type __pg_f2##name(struct __pg_ctx *c, double x)                                                             \
  {                                                                                                                    \
    if (!(x > (low) && x < (high))) {                                                                                  \
      c->fail |= PG_FAIL_ARITHMETIC;                                                                                   \
      return 0;                                                                                                        \
    }                                                                                                                  \
    return (type)x;                                                                                                    \
  }
__PG_DEFINE_CONVERSION(i32, int, -2147483649.0, 2147483648.0)
__PG_DEFINE_CONVERSION(u32, unsigned int, -1.0, 4294967296.0)
__PG_DEFINE_CONVERSION(i64, __pg_i64, -9223372036854777856.0, 9223372036854775808.0)
__PG_DEFINE_CONVERSION(u64, __pg_u64, -1.0, 18446744073709551616.0)

/* Numbers with the other sign, of zeros and NaNs, too, as the host makes them. NVIDIA's assembler takes what is either -1 or -0 for an integer that becomes a float, whose zero has
 * no sign: `selp.f32 -1.0, -0.0`, and `neg.f32` of what a comparison has as a float. So a kernel's compiler may know neither that a sign changes nor to what: which
 * bit that is comes with the launch. (What constants come to all the same, device/cuda/zeros.rs finds.) */
#ifdef __CUDACC_RTC__
#define __PG_DEFINE_NEGATION(name, type, bits_type, shift)                                                             \
  __PG_FN type __pg_neg_##name(const struct __pg_ctx *c, type x)                                                       \
  {                                                                                                                    \
    union {                                                                                                            \
      type value;                                                                                                      \
      bits_type bits;                                                                                                  \
    } both;                                                                                                            \
    both.value = x;                                                                                                    \
    both.bits ^= (bits_type)c->launch->sign_bit << (shift);                                                            \
    return both.value;                                                                                                 \
  }
#else
#define __PG_DEFINE_NEGATION(name, type, bits_type, shift)                                                             \
  __PG_FN type __pg_neg_##name(const struct __pg_ctx *c, type x)                                                       \
  {                                                                                                                    \
    (void)c;                                                                                                           \
    return -x;                                                                                                         \
  }
#endif
__PG_DEFINE_NEGATION(f32, float, __pg_u32, 0)
__PG_DEFINE_NEGATION(f64, double, __pg_u64, 32)

/* sqrt of a negative number sets errno on the host. */
__PG_FN double __pg_sqrt_f64(struct __pg_ctx *c, double x)
{
  if (x < 0)
    c->fail |= PG_FAIL_ARITHMETIC;
#ifdef __CUDACC_RTC__
  return sqrt(x);
#else
  return __builtin_sqrt(x);
#endif
}
__PG_FN float __pg_sqrt_f32(struct __pg_ctx *c, float x)
{
  if (x < 0)
    c->fail |= PG_FAIL_ARITHMETIC;
#ifdef __CUDACC_RTC__
  return sqrtf(x);
#else
  return __builtin_sqrtf(x);
#endif
}

/* Builtins of gcc's that compute integers, for a GPU's compiler, which doesn't know them. */
#ifdef __CUDACC_RTC__
__PG_FN int __pg_integer_abs(int x) { return x < 0 ? (int)(0u - (unsigned)x) : x; }
__PG_FN long __pg_integer_labs(long x) { return x < 0 ? (long)(0ul - (unsigned long)x) : x; }
__PG_FN long long __pg_integer_llabs(long long x) { return x < 0 ? (long long)(0ull - (unsigned long long)x) : x; }
__PG_FN unsigned short __pg_integer_bswap16(unsigned short x) { return (unsigned short)(x << 8 | x >> 8); }
__PG_FN unsigned __pg_integer_bswap32(unsigned x)
{
  return x << 24 | (x << 8 & 0xff0000u) | (x >> 8 & 0xff00u) | x >> 24;
}
__PG_FN unsigned long __pg_integer_bswap64(unsigned long x)
{
  return (unsigned long)__pg_integer_bswap32((unsigned)x) << 32 | __pg_integer_bswap32((unsigned)(x >> 32));
}
__PG_FN int __pg_integer_popcount(unsigned x) { return __popc(x); }
__PG_FN int __pg_integer_popcountl(unsigned long x) { return __popc((unsigned)x) + __popc((unsigned)(x >> 32)); }
__PG_FN int __pg_integer_popcountll(unsigned long long x) { return __pg_integer_popcountl(x); }
__PG_FN int __pg_integer_clz(unsigned x) { return __clz(x); }
__PG_FN int __pg_integer_clzl(unsigned long x)
{
  return x >> 32 != 0 ? __clz((unsigned)(x >> 32)) : 32 + __clz((unsigned)x);
}
__PG_FN int __pg_integer_clzll(unsigned long long x) { return __pg_integer_clzl(x); }
__PG_FN int __pg_integer_ffs(int x) { return __ffs((unsigned)x); }
__PG_FN int __pg_integer_ffsl(long x)
{
  const unsigned low = (unsigned)x, high = (unsigned)((unsigned long)x >> 32);
  return low != 0 ? __ffs(low) : high != 0 ? 32 + __ffs(high) : 0;
}
__PG_FN int __pg_integer_ffsll(long long x) { return __pg_integer_ffsl(x); }
__PG_FN int __pg_integer_ctz(unsigned x) { return __ffs(x) - 1; }
__PG_FN int __pg_integer_ctzl(unsigned long x) { return __pg_integer_ffsl((long)x) - 1; }
__PG_FN int __pg_integer_ctzll(unsigned long long x) { return __pg_integer_ffsl((long)x) - 1; }
__PG_FN int __pg_integer_parity(unsigned x) { return __popc(x) & 1; }
__PG_FN int __pg_integer_parityl(unsigned long x) { return __pg_integer_popcountl(x) & 1; }
__PG_FN int __pg_integer_parityll(unsigned long long x) { return __pg_integer_popcountl(x) & 1; }
__PG_FN int __pg_integer_isnan(float x) { return x != x; }
__PG_FN int __pg_integer_isnan(double x) { return x != x; }
__PG_FN int __pg_integer_isfinite(float x) { return x - x == 0; }
__PG_FN int __pg_integer_isfinite(double x) { return x - x == 0; }
__PG_FN int __pg_integer_isinf_sign(float x) { return x != 0 && x + x == x ? x > 0 ? 1 : -1 : 0; }
__PG_FN int __pg_integer_isinf_sign(double x) { return x != 0 && x + x == x ? x > 0 ? 1 : -1 : 0; }
#endif
