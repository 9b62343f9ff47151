//! The macros that stand for what devices answer differently, for each of the texts that a body is compiled in: their meaning is in
//! `paragon_body.h` and `paragon_kernel.h`, here is what they are for a place.

/// What [`MACROS_DIRECT`] leaves open: accesses to the program's memory of which the C compiler knows nothing but their widths.
pub const ACCESSES_DIRECT: &str = "\
#define __PG_LD(t, b, l, a) __pg_get_##t(a)
#define __PG_ST(t, b, a, v) __pg_set_##t(a, v)
#define __PG_LDX(t, l, a) __pg_get_##t(a)
#define __PG_STX(t, a, v) __pg_set_##t(a, v)
";

/// The same for loops whose stores leave the pointers alone that they load, as their types tell ([`LoopPlan::keeps_pointers`](crate::loops::plan::LoopPlan)).
pub const ACCESSES_TYPED: &str = "\
#define __PG_LD(t, b, l, a) __pg_typed_get_##t(a)
#define __PG_ST(t, b, a, v) __pg_typed_set_##t(a, v)
#define __PG_LDX(t, l, a) __pg_typed_get_##t(a)
#define __PG_STX(t, a, v) __pg_typed_set_##t(a, v)
";

/// Macros for the program's own memory.
pub const MACROS_DIRECT: &str = "\
#define __PG_LDS(t, b, l, a) __pg_get_##t((a) + __pg_s##b)
#define __PG_LDP(t, b, l, a) __pg_get_##t((a) + __pg_s##b)
#define __PG_STP(t, b, a, v) __pg_set_##t((a) + __pg_s##b, v)
#define __PG_UP(t, b, op, a, v) __pg_set_##t(a, __PG_##op(__pg_get_##t(a), v))
#define __PG_UPX(t, op, a, v) __pg_set_##t(a, __PG_##op(__pg_get_##t(a), v))
#define __PG_OWN_LD(t, array, size, at) __pg_get_##t((const char *)(array) + (at))
#define __PG_OWN_ST(t, array, size, at, v) __pg_set_##t((char *)(array) + (at), v)
#define __PG_DIV(t, a, b) ((a) / (b))
#define __PG_REM(t, a, b) ((a) % (b))
#define __PG_TO(t, type, x) ((type)(x))
#define __PG_SQRT(t, f, x) __builtin_##f(x)
#define __PG_NEG(t, x) (-(x))
#define __PG_CALL(f) __builtin_##f
#define __PG_INTEGER(f, kernel) __builtin_##f
#define __PG_INDEX int
#define __PG_AS_ONE(call) if (1) { call; } else
#define __PG_POLL_AROUND() 0
#define __PG_UNCOUNTED(how) for (;;)
#define __PG_UNCOUNTED_END
#define __PG_ARE_FEW(turns) 0
#define __PG_TURNS(kept, cond, type, unsigned_type, value, limit) while (cond)
#define __PG_TURNS_END(kept, cond, type, unsigned_type, value, limit, logs, stages, ...)
";

/// For C, which runs iterations one by one and makes the address of each access: what `paragon_kernel.h` has for kernels.
pub const MACROS_ONE_BY_ONE: &str = "\
#define __PG_FEW(notes)
#define __PG_NOT_UNROLLED
#define __PG_UNROLLED
#define __PG_EACH
#define __PG_MEMBERS
#define __PG_WALK(name, t, b, together, s0, s1, s2, s3, turn)
#define __PG_SET(name, b, from, type, variable, a)
#define __PG_WALKING(calls)
#define __PG_LDW(how, t, b, l, name, a) how(t, b, l, a)
#define __PG_NOTED(name, b, together, loads)
#define __PG_NOTING(together, loads, calls)
#define __PG_LDN(how, t, b, l, name, a) how(t, b, l, a)
#define __PG_SHARING(may, holds, kept)
#define __PG_SHARE(name, type, variable)
#define __PG_ALL_SHARED(calls)
#define __PG_ORIGIN(name, b, memory, first)
#define __PG_LDO(how, t, b, l, name, rest, a) how(t, b, l, a)
#define __PG_STO(t, b, name, rest, a, v) __PG_ST(t, b, a, v)
#define __PG_NOTE(t, b, name, rest)
#define __PG_STN __PG_STO
#define __PG_LENDING(count, kept)
#define __PG_HOLDING_NOTHING(type)
#define __PG_HOLDING(type, variable, t, base, logged, stride, is_loaded, meets, address)
#define __PG_HELD(text) (text)
#define __PG_HOLD(value, store) store
#define __PG_PLACE_POINTER(base, pointer)
#define __PG_LEND(name, before, type, parameters, arguments, members, ahead, text)
#define __PG_ALL_LENT(calls)
#define __PG_LENT(name, text) (text)
#define __PG_GATHERING(count, notes)
#define __PG_GATHER(name, type, kind, variable, members, loads, then_members, then_loads, text)
#define __PG_ALL_GATHERED(calls)
#define __PG_GATHERED(name, text) (text)
#define __PG_IS_KEPT(base) 0
";

/// Macros for a device's memory.
pub const MACROS_DEVICE: &str = "\
#define __PG_LD(t, b, l, a) __pg_ld_##t(&__pg_c, &__pg_b##b, l, __PG_HOW_NOW(b), a)
#define __PG_LDS(t, b, l, a) __pg_lds_##t(&__pg_c, &__pg_b##b, l, __PG_HOW(b), a)
#define __PG_ST(t, b, a, v) __PG_LEAD __pg_st_##t(&__pg_c, &__pg_b##b, __PG_HOW(b), a, v)
#define __PG_LDP __PG_LD
#define __PG_STP __PG_ST
#define __PG_LDX(t, l, a) __pg_ldx_##t(&__pg_c, l, a)
#define __PG_STX(t, a, v) __PG_LEAD __pg_stx_##t(&__pg_c, a, v)
#define __PG_UPX(t, op, a, v) __PG_LEAD __pg_update_anywhere(&__pg_c, a, sizeof(__pg_##t), PG_##op, v)
#define __PG_OWN_LD(t, array, size, at) __pg_own_ld_##t(&__pg_c, array, size, at)
#define __PG_OWN_ST(t, array, size, at, v) __pg_own_st_##t(&__pg_c, array, size, at, v)
#define __PG_DIV(t, a, b) __pg_div_##t(&__pg_c, a, b)
#define __PG_REM(t, a, b) __pg_rem_##t(&__pg_c, a, b)
#define __PG_TO(t, type, x) ((type)__pg_f2##t(&__pg_c, x))
#define __PG_SQRT(t, f, x) __pg_sqrt_##t(&__pg_c, x)
#define __PG_NEG(t, x) __pg_neg_##t(&__pg_c, x)
#define __PG_INDEX unsigned int
#define __PG_AS_ONE(call)
#define __PG_POLL_AROUND() __pg_poll_around(&__pg_c)
";

/// What [`MACROS_DEVICE`] leaves open, for CUDA; the rest is in `paragon_kernel.h`.
pub const MACROS_CUDA: &str = "\
#define __PG_UP(t, b, op, a, v) __PG_LEAD __pg_collect<PG_##op, __pg_##t, b>(__pg_c, __pg_b##b, __pg_t, a, v)
#define __PG_CALL(f) f
#define __PG_INTEGER(f, kernel) kernel
";

/// The same for the threads device.
pub const MACROS_THREADS: &str = "\
#define __PG_UP(t, b, op, a, v) __pg_update(&__pg_c, &__pg_b##b, __PG_HOW(b), a, sizeof(__pg_##t), PG_##op, v)
#define __PG_CALL(f) __builtin_##f
#define __PG_INTEGER(f, kernel) __builtin_##f
#define __PG_LEAD
#define __PG_UNCOUNTED(how) for (;;) { if (__pg_poll(&__pg_c)) break;
#define __PG_UNCOUNTED_END }
#define __PG_ARE_FEW(turns) 0
#define __PG_TURNS(kept, cond, type, unsigned_type, value, limit) while (cond) { \\
const type __pg_turns = !(kept) ? (type)((value) + 1) : \\
(unsigned_type)(limit) - (unsigned_type)(value) > 4096u ? (type)((value) + 4096) : (type)(limit); \\
for (; (type)(value) < __pg_turns; )
#define __PG_TURNS_END(kept, cond, type, unsigned_type, value, limit, logs, stages, ...) \\
if ((kept) ? (cond) && __pg_poll_now(&__pg_c) : __pg_poll(&__pg_c)) break; }
";

/// Macros for inspections. A load that has no part in the slice is 0, so a divisor may be; what the program itself would trap
/// on, it does when it comes there. Whoever has been told to stop is told so again at the next poll, in the loop around the one that it has left: else a
/// loop that never ends would go on around it.
pub const MACROS_INSPECT: &str = "\
#define __PG_SHOWN(s) ((s) > 63 || !(__pg_known >> ((s) & 63) & 1))
#define __PG_WINDOW(s) __pg_w[(s) > 63 ? 0 : (s)]
#define __PG_TOUCH(s, how, a) if (__PG_SHOWN(s)) { const __pg_u64 __pg_at = (a); if (__pg_at - __PG_WINDOW(s).first >= __PG_WINDOW(s).length || (s) > 63) { \
if (__pg_s->touch(__pg_s, s, __pg_at, how)) return; \
if ((s) <= 63) { __PG_WINDOW(s).first = __pg_s->first; __PG_WINDOW(s).length = __pg_s->length; } } }
#define __PG_LOOK(t, s, how, a) __extension__ ({ const __pg_u64 __pg_a = (a); __PG_TOUCH(s, how, __pg_a) __pg_get_##t(__pg_a); })
#define __PG_PASS(t, s, how, a) __extension__ ({ __PG_TOUCH(s, how, a) (t)0; })
#define __PG_IS_INSIDE(s, a) ((a) - __PG_WINDOW(s).first < __PG_WINDOW(s).length)
#define __PG_ROW(s, stride, turns, a, z) (!__PG_SHOWN(s) || (s) <= 63 && __PG_IS_INSIDE(s, a) && __PG_IS_INSIDE(s, z) && (z) - (a) == (turns) * (__pg_u64)(stride))
#define __PG_BY_MINUS_1(x, y) ((__typeof__(x))-1 < 1 && (y) == (__typeof__(x))-1)
#define __PG_DIV(t, a, b) __extension__ ({ __typeof__(a) __pg_x = (a), __pg_y = (b); \\
__pg_y == 0 ? 0 : __PG_BY_MINUS_1(__pg_x, __pg_y) ? (__typeof__(a))(0u - (__pg_u64)__pg_x) : __pg_x / __pg_y; })
#define __PG_REM(t, a, b) __extension__ ({ __typeof__(a) __pg_x = (a), __pg_y = (b); \\
__pg_y == 0 || __PG_BY_MINUS_1(__pg_x, __pg_y) ? 0 : __pg_x % __pg_y; })
#define __PG_TO(t, type, x) ((type)(x))
#define __PG_SQRT(t, f, x) __builtin_##f(x)
#define __PG_NEG(t, x) (-(x))
#define __PG_CALL(f) __builtin_##f
#define __PG_INTEGER(f, kernel) __builtin_##f
#define __PG_POLL_AROUND() (__pg_turns++, !(++__pg_polls & 0xffff) && __pg_s->poll(__pg_s) && (__pg_turns--, __pg_polls--, 1))
";

/// What a search does where the program would trap: that is the program's own iteration.
pub const TRAPS_END_SEARCH: &str = "#define __PG_TRAPS return __pg_k0;\n";

/// The same where nothing that decides may trap. What has no part in that is computed from numbers that nobody has loaded, so it says nothing.
pub const TRAPS_SAY_NOTHING: &str = "#define __PG_TRAPS ;\n";

/// What is otherwise in [`MACROS_INSPECT`] for the search for the iteration that leaves a loop: nothing is shown. Behind that iteration memory may hold anything, so what the program
/// would trap on it is left to, and a loop that never ends ends when somebody has found an iteration further ahead.
pub const MACROS_SEARCH: &str = "\
#define __PG_LOOK(t, s, how, a) __pg_get_##t(a)
#define __PG_PASS(t, s, how, a) ((void)(a), (t)0)
#define __PG_TOUCH(s, how, a)
#define __PG_BY_MINUS_1(x, y) ((__typeof__(x))-1 < 1 && (y) == (__typeof__(x))-1)
#define __PG_MINUS(x) ((__typeof__(x))(0u - (__pg_u64)(x)))
#define __PG_MAY_TRAP(x, y) ((y) == 0 || (__PG_BY_MINUS_1(x, y) && (x) != 0 && __PG_MINUS(x) == (x)))
#define __PG_DIV(t, a, b) __extension__ ({ __typeof__(a) __pg_x = (a), __pg_y = (b); if (__PG_MAY_TRAP(__pg_x, __pg_y)) __PG_TRAPS \\
__pg_y == 0 ? 0 : __PG_BY_MINUS_1(__pg_x, __pg_y) ? __PG_MINUS(__pg_x) : __pg_x / __pg_y; })
#define __PG_REM(t, a, b) __extension__ ({ __typeof__(a) __pg_x = (a), __pg_y = (b); if (__PG_MAY_TRAP(__pg_x, __pg_y)) __PG_TRAPS \\
__pg_y == 0 || __PG_BY_MINUS_1(__pg_x, __pg_y) ? 0 : __pg_x % __pg_y; })
#define __PG_TO(t, type, x) ((type)(x))
#define __PG_SQRT(t, f, x) __builtin_##f(x)
#define __PG_NEG(t, x) (-(x))
#define __PG_CALL(f) __builtin_##f
#define __PG_INTEGER(f, kernel) __builtin_##f
#define __PG_POLL_AROUND() __extension__ ({ if (!(++__pg_polls & 0xffff) && *__pg_left <= __pg_begin) return __pg_end; 0; })
";

/// Takes them back.
pub const MACROS_SEARCH_END: &str = "\
#undef __PG_LOOK
#undef __PG_PASS
#undef __PG_TOUCH
#undef __PG_BY_MINUS_1
#undef __PG_MINUS
#undef __PG_MAY_TRAP
#undef __PG_TRAPS
#undef __PG_DIV
#undef __PG_REM
#undef __PG_TO
#undef __PG_SQRT
#undef __PG_NEG
#undef __PG_CALL
#undef __PG_INTEGER
#undef __PG_POLL_AROUND
";

/// Takes the macros of inspections back.
pub const MACROS_INSPECT_END: &str = "\
#undef __PG_SHOWN
#undef __PG_WINDOW
#undef __PG_TOUCH
#undef __PG_LOOK
#undef __PG_PASS
#undef __PG_IS_INSIDE
#undef __PG_ROW
#undef __PG_BY_MINUS_1
#undef __PG_DIV
#undef __PG_REM
#undef __PG_TO
#undef __PG_SQRT
#undef __PG_NEG
#undef __PG_CALL
#undef __PG_POLL_AROUND
";

/// Takes the macros back.
pub const MACROS_END: &str = "\
#undef __PG_LD
#undef __PG_LDS
#undef __PG_ST
#undef __PG_LDP
#undef __PG_STP
#undef __PG_UP
#undef __PG_LDX
#undef __PG_STX
#undef __PG_UPX
#undef __PG_OWN_LD
#undef __PG_OWN_ST
#undef __PG_DIV
#undef __PG_REM
#undef __PG_TO
#undef __PG_SQRT
#undef __PG_NEG
#undef __PG_CALL
#undef __PG_INDEX
#undef __PG_AS_ONE
#undef __PG_POLL_AROUND
#undef __PG_LEAD
#undef __PG_FEW
#undef __PG_UNCOUNTED
#undef __PG_UNCOUNTED_END
#undef __PG_ARE_FEW
#undef __PG_NOT_UNROLLED
#undef __PG_UNROLLED
#undef __PG_TURNS
#undef __PG_TURNS_END
#undef __PG_EACH
#undef __PG_MEMBERS
#undef __PG_WALK
#undef __PG_SET
#undef __PG_WALKING
#undef __PG_LDW
#undef __PG_NOTED
#undef __PG_NOTING
#undef __PG_LDN
#undef __PG_SHARING
#undef __PG_SHARE
#undef __PG_ALL_SHARED
#undef __PG_ORIGIN
#undef __PG_LDO
#undef __PG_STO
#undef __PG_NOTE
#undef __PG_STN
#undef __PG_LENDING
#undef __PG_HOLDING_NOTHING
#undef __PG_HOLDING
#undef __PG_HELD
#undef __PG_HOLD
#undef __PG_LEND
#undef __PG_PLACE_POINTER
#undef __PG_ALL_LENT
#undef __PG_LENT
#undef __PG_GATHERING
#undef __PG_GATHER
#undef __PG_ALL_GATHERED
#undef __PG_GATHERED
#undef __PG_IS_KEPT
";
