/* What is around the iterations of any loop's device text: the tables of a kernel and how it begins, and the loop over iterations for texts that
 * are written by hand (paragon_loop.h). Generated texts have loops of their own, because theirs go by groups, tiles and parts, too. */

#ifdef __CUDACC_RTC__
/* What `struct __pg_tables` begins with, as far as the kernel is given it (launch.h). C++ has no arrays without elements: both numbers are 1 at least. */
#define __PG_MEMBERS_OF_TABLES(n_bases, n_values)                                                                      \
  __pg_u64 moved[n_bases];                                                                                             \
  __pg_value values[n_values];                                                                                         \
  __PG_LOCATIONS_OF_TABLES(n_bases) __PG_DIVISORS_OF_TABLES __PG_SIZES_OF_TABLES(n_bases) __PG_LOGS_OF_TABLES(n_bases)
#if __PG_GIVEN > PG_GIVEN_MOVES
#define __PG_LOCATIONS_OF_TABLES(n_bases) struct __pg_location locations[n_bases];
#else
#define __PG_LOCATIONS_OF_TABLES(n_bases)
#endif
#if __PG_GIVEN > PG_GIVEN_LOCATIONS
#define __PG_DIVISORS_OF_TABLES __pg_u32 multiplier[PG_MAX_DIMS], shift[PG_MAX_DIMS];
#else
#define __PG_DIVISORS_OF_TABLES
#endif
#if __PG_GIVEN > PG_GIVEN_DIVISORS
#define __PG_SIZES_OF_TABLES(n_bases) __pg_u64 sizes[n_bases];
#else
#define __PG_SIZES_OF_TABLES(n_bases)
#endif
#if __PG_GIVEN > PG_GIVEN_SIZES
#define __PG_LOGS_OF_TABLES(n_bases)                                                                                   \
  __pg_u64 logs[n_bases];                                                                                              \
  struct __pg_copies copies[n_bases];
#define __PG_LAUNCH_GIVEN const __grid_constant__ struct __pg_launch __pg_l
#define __PG_TAKE_LAUNCH
#else
#define __PG_LOGS_OF_TABLES(n_bases)
/* What a kernel isn't given of a launch's space. There is no such instruction, so that a kernel which asks for one of these numbers is none; of others the compiler
 * leaves it out. */
#ifndef __PG_NOT_GIVEN
#define __PG_NOT_GIVEN(number) asm("not_given %0;" : "=l"(number));
#endif
__device__ __forceinline__ __pg_u64 __pg_not_given()
{
  __pg_u64 number;
  __PG_NOT_GIVEN(number)
  return number;
}
/* Of a launch, what such kernels are given. The rest is zeros: no arrays, no logs, no results. */
struct __pg_launch_given {
  __PG_HEAD_OF_LAUNCH
#if __PG_GIVEN > PG_GIVEN_MOVES
  __PG_SPACE_OF_LAUNCH
#define __PG_TAKE_OF_SPACE __PG_TAKE
#else
#define __PG_TAKE_OF_SPACE(member) __pg_l.member = __pg_not_given();
#endif
};
#define __PG_LAUNCH_GIVEN const __grid_constant__ struct __pg_launch_given __pg_given
#define __PG_TAKE(member) __pg_l.member = __pg_given.member;
#define __PG_TAKE_LAUNCH                                                                                               \
  struct __pg_launch __pg_l = {};                                                                                      \
  __PG_TAKE(first)                                                                                                     \
  __PG_TAKE(end)                                                                                                       \
  __PG_TAKE(flags)                                                                                                     \
  __PG_TAKE(stop)                                                                                                      \
  __PG_TAKE(begun)                                                                                                     \
  __PG_TAKE(order)                                                                                                     \
  __PG_TAKE(sign_bit)                                                                                                  \
  __PG_TAKE(log_shift)                                                                                                 \
  __PG_TAKE_OF_SPACE(n)                                                                                                \
  __PG_TAKE_OF_SPACE(trip[0])                                                                                          \
  __PG_TAKE_OF_SPACE(trip[1])                                                                                          \
  __PG_TAKE_OF_SPACE(trip[2])                                                                                          \
  __PG_TAKE_OF_SPACE(trip[3])                                                                                          \
  __PG_TAKE_OF_SPACE(block)                                                                                            \
  __PG_TAKE_OF_SPACE(first_row)                                                                                        \
  __PG_TAKE_OF_SPACE(first_layer)
static_assert(PG_MAX_DIMS == 4 && sizeof(struct __pg_launch_given) == (__PG_GIVEN > PG_GIVEN_MOVES ? 14 : 7) * sizeof(__pg_u64),
              "all of it is taken");
#endif
/* A loop's kernel: `run` does the iterations of a thread. */
#ifdef __PG_FAR_TABLES
#define __PG_KERNEL(run)                                                                                               \
  extern "C" __global__ void __PG_BOUNDS __pg_kernel(__PG_LAUNCH_GIVEN, const struct __pg_tables *__pg_t)             \
  {                                                                                                                    \
    __PG_TAKE_LAUNCH                                                                                                   \
    __PG_SAY_BEGUN                                                                                                     \
    run(&__pg_l, __pg_t, __PG_FIRST, __PG_END, __PG_STEP);                                                             \
  }
#else
#define __PG_KERNEL(run)                                                                                               \
  extern "C" __global__ void __PG_BOUNDS __pg_kernel(__PG_LAUNCH_GIVEN,                                                \
                                                     const __grid_constant__ struct __pg_tables __pg_near)             \
  {                                                                                                                    \
    const struct __pg_tables *const __pg_t = &__pg_near;                                                               \
    __PG_TAKE_LAUNCH                                                                                                   \
    __PG_SAY_BEGUN                                                                                                     \
    run(&__pg_l, __pg_t, __PG_FIRST, __PG_END, __PG_STEP);                                                             \
  }
#endif
#define __PG_ONE_BY_ONE __PG_ALONE
#else
#define __PG_ONE_BY_ONE
#endif

/* An array of the loop, by the number of its base; then what it is accessed through. A value, by its number. */
#define __PG_ARRAY(base) const struct __pg_view __pg_b##base = __PG_VIEW(base);
#define __PG_NUMBER(number) __PG_VALUES[number]
/* Loads and stores of type i8, u8, ... u64, f32, f64, at an address of the program's. `logged`: as in accesses.h. */
#define __PG_READ(type, base, logged, address)                                                                         \
  __pg_ld_##type(&__pg_c, &__pg_b##base, logged, __PG_HOW(base), address)
#define __PG_WRITE(type, base, address, value) __pg_st_##type(&__pg_c, &__pg_b##base, __PG_HOW(base), address, value)

#define __PG_WITHOUT_PARENTHESES(...) __VA_ARGS__
/* The body of a function that does iterations __pg_begin, __pg_begin + __pg_step, ... before __pg_end of a launch: `in_front` stands in front of them,
 * `each` is what number __pg_k does. Both are in parentheses. */
#define __PG_ITERATIONS(in_front, each)                                                                                 \
  struct __pg_ctx __pg_c;                                                                                              \
  __pg_count __pg_j;                                                                                                   \
  __PG_WITHOUT_PARENTHESES in_front                                                                                    \
  __pg_c.launch = __pg_l;                                                                                              \
  __pg_c.iteration = __pg_c.left = __pg_c.fail = __pg_c.ticks = 0;                                                     \
  __pg_c.writes = __pg_c.marked = 0;                                                                                   \
  __PG_NOTE_NOTHING(__pg_c)                                                                                            \
  __PG_ONE_BY_ONE                                                                                                      \
  for (__pg_j = __pg_begin; __pg_j < __pg_end; __pg_j += __pg_step) {                                                  \
    const __pg_count __pg_k = __PG_ITERATION(__pg_j);                                                                  \
    if (__pg_begin_iteration(&__pg_c, __pg_k))                                                                         \
      break;                                                                                                           \
    __PG_WITHOUT_PARENTHESES each                                                                                      \
  }                                                                                                                    \
  __pg_end_thread(&__pg_c);
