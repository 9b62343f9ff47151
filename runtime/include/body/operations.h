/* What C and CUDA each call their own: kinds of functions, operations in one piece, and how a scalar of each type is accessed by its
 * address. Whether an address may be accessed isn't asked here (range.h). On the program's own memory bodies need no more than this.
 * Memory orders are written as numbers (0 relaxed, 2 acquire, 3 release): where preprocessed text is compiled, gcc's predefined
 * macros are not there. */

#ifdef __CUDACC_RTC__
#define __PG_FN static __device__ __forceinline__
#define __PG_SHARED_FN __PG_FN
#define __PG_ALIAS
#define __PG_EXACT
#define __pg_cas(p, old, new) atomicCAS((__pg_u32 *)(p), (old), (new))
#define __pg_fetch_or(p, v) atomicOr((__pg_u32 *)(p), (v))
#define __pg_fetch_add64(p, v) atomicAdd((__pg_u64 *)(p), (__pg_u64)(v))
#define __pg_raise(p, v) (void)atomicMax((__pg_u32 *)(p), (v))
/* The same for two numbers side by side: in one operation where nothing stands there yet, as in most cells. */
static __device__ __forceinline__ void __pg_raise_both(__pg_u32 *p, __pg_u32 a, __pg_u32 b)
{
  const __pg_u64 old = atomicCAS((__pg_u64 *)p, (__pg_u64)0, (__pg_u64)b << 32 | a);
  if (old == 0)
    return;
  if ((__pg_u32)old < a)
    (void)atomicMax(p, a);
  if ((__pg_u32)(old >> 32) < b)
    (void)atomicMax(p + 1, b);
}
#define __pg_peek(p) (*(volatile __pg_u32 *)(p))
#define __pg_poke(p, v) (*(volatile __pg_u32 *)(p) = (v))
/* Two side by side: the second one above the first one. */
#define __pg_peek_both(p) (*(volatile __pg_u64 *)(p))
/* Nobody waits for it. */
#define __pg_put(p, v) (*(p) = (v))
#else
#define __PG_FN static __inline__ __attribute__((__always_inline__, __unused__))
/* What every access does is compiled once: a unit with many loops would take the compiler many times longer. */
#define __PG_SHARED_FN static __attribute__((__noinline__, __unused__))
#define __PG_ALIAS __attribute__((__may_alias__))
/* Floating-point operations of such functions are those that stand there, in their order, as they are on every device, and
 * of all numbers: infinities, NaNs and zeros of either sign. */
#define __PG_EXACT                                                                                                     \
  __attribute__((__optimize__("no-fast-math", "no-unsafe-math-optimizations", "no-associative-math",                   \
                              "no-reciprocal-math", "no-finite-math-only", "signed-zeros", "fp-contract=off")))
__PG_FN __pg_u32 __pg_cas(__pg_u32 *p, __pg_u32 old, __pg_u32 new_value)
{
  __atomic_compare_exchange_n(p, &old, new_value, 0, 0, 0);
  return old;
}
#define __pg_fetch_or(p, v) __atomic_fetch_or((p), (v), 0)
#define __pg_fetch_add64(p, v) __atomic_fetch_add((p), (__pg_u64)(v), 0)
__PG_FN void __pg_raise(__pg_u32 *p, __pg_u32 v)
{
  __pg_u32 old = __atomic_load_n(p, 0);
  while (old < v && !__atomic_compare_exchange_n(p, &old, v, 0, 0, 0))
    ;
}
__PG_FN void __pg_raise_both(__pg_u32 *p, __pg_u32 a, __pg_u32 b)
{
  __pg_raise(p, a);
  __pg_raise(p + 1, b);
}
#define __pg_peek(p) __atomic_load_n((p), 0)
#define __pg_poke(p, v) __atomic_store_n((p), (v), 0)
#define __pg_peek_both(p) ((__pg_u64)__pg_peek((p) + 1) << 32 | __pg_peek(p))
#define __pg_put(p, v) __pg_poke(p, v)
#endif

#ifndef __CUDACC_RTC__
/* Where the program keeps scalars unaligned, it says so in types that are not known here; a C compiler that takes them for aligned may
 * count on it. */
#undef __PG_ALIAS
#define __PG_ALIAS __attribute__((__may_alias__, __aligned__(1)))
#endif
typedef signed char __PG_ALIAS __pg_i8;
typedef unsigned char __PG_ALIAS __pg_u8;
typedef signed short __PG_ALIAS __pg_i16;
typedef unsigned short __PG_ALIAS __pg_u16;
typedef signed int __PG_ALIAS __pg_i32;
typedef unsigned int __PG_ALIAS __pg_w32;   /* __pg_u32 as memory is accessed */
__extension__ typedef signed long long __PG_ALIAS __pg_m64;
__extension__ typedef unsigned long long __PG_ALIAS __pg_w64;
typedef float __PG_ALIAS __pg_f32;
typedef double __PG_ALIAS __pg_f64;

/* A scalar in memory, by its address. Macros, because compilers take their time over functions that they then inline. */
#define __pg_get_i8(a) (*(const __pg_i8 *)(a))
#define __pg_set_i8(a, v) (*(__pg_i8 *)(a) = (v))
#define __pg_get_u8(a) (*(const __pg_u8 *)(a))
#define __pg_set_u8(a, v) (*(__pg_u8 *)(a) = (v))
#define __pg_get_i16(a) (*(const __pg_i16 *)(a))
#define __pg_set_i16(a, v) (*(__pg_i16 *)(a) = (v))
#define __pg_get_u16(a) (*(const __pg_u16 *)(a))
#define __pg_set_u16(a, v) (*(__pg_u16 *)(a) = (v))
#define __pg_get_i32(a) (*(const __pg_i32 *)(a))
#define __pg_set_i32(a, v) (*(__pg_i32 *)(a) = (v))
#define __pg_get_u32(a) (*(const __pg_w32 *)(a))
#define __pg_set_u32(a, v) (*(__pg_w32 *)(a) = (v))
#define __pg_get_i64(a) (*(const __pg_m64 *)(a))
#define __pg_set_i64(a, v) (*(__pg_m64 *)(a) = (v))
#define __pg_get_u64(a) (*(const __pg_w64 *)(a))
#define __pg_set_u64(a, v) (*(__pg_w64 *)(a) = (v))
#define __pg_get_f32(a) (*(const __pg_f32 *)(a))
#define __pg_set_f32(a, v) (*(__pg_f32 *)(a) = (v))
#define __pg_get_f64(a) (*(const __pg_f64 *)(a))
#define __pg_set_f64(a, v) (*(__pg_f64 *)(a) = (v))

#ifndef __CUDACC_RTC__
/* The same for a C compiler that may tell by the types of pointers, and of what is stored, that these stores change none of the pointers that are loaded. All
 * other loads may find what any of the stores has left. What is as wide as a pointer is one. */
typedef void *__attribute__((__aligned__(1))) __pg_typed_pointer;
typedef signed short __attribute__((__aligned__(1))) __pg_typed_i16;
typedef signed int __attribute__((__aligned__(1))) __pg_typed_i32;
__extension__ typedef signed long long __attribute__((__aligned__(1))) __pg_typed_i64;
typedef float __attribute__((__aligned__(1))) __pg_typed_f32;
typedef double __attribute__((__aligned__(1))) __pg_typed_f64;
#define __pg_typed_get_i8 __pg_get_i8
#define __pg_typed_set_i8 __pg_set_i8
#define __pg_typed_get_u8 __pg_get_u8
#define __pg_typed_set_u8 __pg_set_u8
#define __pg_typed_get_i16 __pg_get_i16
#define __pg_typed_set_i16(a, v) (*(__pg_typed_i16 *)(a) = (v))
#define __pg_typed_get_u16 __pg_get_u16
#define __pg_typed_set_u16(a, v) (*(__pg_typed_i16 *)(a) = (signed short)(v))
#define __pg_typed_get_i32 __pg_get_i32
#define __pg_typed_set_i32(a, v) (*(__pg_typed_i32 *)(a) = (v))
#define __pg_typed_get_u32 __pg_get_u32
#define __pg_typed_set_u32(a, v) (*(__pg_typed_i32 *)(a) = (signed int)(v))
#define __pg_typed_get_i64 __pg_get_i64
#define __pg_typed_set_i64(a, v) (*(__pg_typed_i64 *)(a) = (v))
#define __pg_typed_get_u64(a) ((__pg_u64)*(const __pg_typed_pointer *)(a))
#define __pg_typed_set_u64(a, v) (*(__pg_typed_i64 *)(a) = (__pg_i64)(v))
#define __pg_typed_get_f32 __pg_get_f32
#define __pg_typed_set_f32(a, v) (*(__pg_typed_f32 *)(a) = (v))
#define __pg_typed_get_f64 __pg_get_f64
#define __pg_typed_set_f64(a, v) (*(__pg_typed_f64 *)(a) = (v))
#endif

/* Operations of updates, on unsigned numbers. */
#define __PG_ADD(x, y) ((x) + (y))
#define __PG_MUL(x, y) ((x) * (y))
#define __PG_AND(x, y) ((x) & (y))
#define __PG_OR(x, y) ((x) | (y))
#define __PG_XOR(x, y) ((x) ^ (y))
