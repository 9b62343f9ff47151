/* Loops that are written by hand: the text of an iteration stands in a program once, and becomes the function for the threads device and the text for
 * the GPU of a `struct __pg_info`. docs/runtime.md explains it by an example, examples/saxpy-by-hand.c. C99 and later, with GNU extensions.
 *
 *   PARAGON_BODY(name, number of bases, number of values,
 *     (what stands in front of the iterations),
 *     (what iteration __pg_k of the merged space does))
 *
 * defines
 *
 *   name_device   for the member `device`
 *   name_cuda     for the member `cuda_body`
 *
 * Both numbers are those of the info, in digits, because they become part of a text; 1 where there is none. In front of the iterations stands
 * __PG_ARRAY(b) for each base b that is used, and variables, from values: __PG_NUMBER(n) is a __pg_value. An iteration accesses memory by nothing but
 *
 *   __PG_READ(type, b, logged, address)      type: i8, u8, i16, u16, i32, u32, i64, u64, f32 or f64
 *   __PG_WRITE(type, b, address, value)
 *
 * with addresses as the program has them; that they lie elsewhere on a device, in an array that they mustn't leave, and that they are logged, is seen to
 * there. `logged` is 1 for a site with PG_SITE_LOGGED, 2 for one with PG_SITE_COVERED, else 0. What is computed from what was loaded may be nonsense, since
 * this is speculation: nothing else may follow from it than values and addresses. An iteration that has a loop asks at each turn, and leaves it at once
 * where the answer isn't 0:
 *
 *   if (__pg_poll(&__pg_c)) break;
 *
 * Whatever else stands there has to mean the same in C and in CUDA C++, bit for bit, and it is in neither a comment nor a preprocessor's line. Sums of signed
 * numbers that may overflow are written as unsigned ones, divisions and conversions from floating point as __pg_div_i32(&__pg_c, a, b) and their kin
 * in paragon_body.h say. Of floating-point numbers the compilers mustn't fuse products with sums: compile with -ffp-contract=off where the target
 * could; the runtime tells its GPU compiler the same. */
#ifndef PARAGON_LOOP_H
#define PARAGON_LOOP_H

#include "paragon_rt.h"
#include "paragon_body.h"

#define PARAGON_BODY(name, n_bases, n_values, before, iteration)                                                       \
  static void name##_device(const struct __pg_launch *__pg_l, __pg_u64 __pg_begin, __pg_u64 __pg_end)                  \
  {                                                                                                                    \
    const __pg_u64 __pg_step = 1;                                                                                      \
    __PG_ITERATIONS(before, iteration)                                                                                 \
  }                                                                                                                    \
  static const char *const name##_cuda[] = {                                                                           \
    "struct __pg_tables { __PG_MEMBERS_OF_TABLES(" #n_bases ", " #n_values ") };\n"                                    \
    "__PG_FN void __pg_run(const struct __pg_launch *__pg_l __PG_TABLES, __pg_count __pg_begin, __pg_count __pg_end, " \
    "__pg_count __pg_step)\n{\n__PG_ITERATIONS(" #before ", " #iteration ")\n}\n__PG_KERNEL(__pg_run)\n",              \
    0                                                                                                                  \
  };

#endif
