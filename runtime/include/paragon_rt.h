/* The C ABI between the runtime library and whoever has loops to run: the one place where it is written down.
 *
 * It is installed for programs, libraries and other compilers that describe loops themselves (docs/runtime.md says how, and has an example),
 * embedded in the compiler (which puts it in front of the code that it generates), included by the runtime's tests,
 * and mirrored by runtime/src/abi.rs, whose tests compare every size, offset and constant with this file's.
 *
 * Everything is plain data of fixed width. Addresses travel as 64-bit numbers. The runtime never calls back into an
 * object except through the two function pointers of a loop. All of it is C89 plus GNU's __extension__. */
#ifndef PARAGON_RT_H
#define PARAGON_RT_H

#ifdef __CUDACC_RTC__
#define __extension__
#endif

#define PG_ABI_VERSION 27u
#define PG_MAX_DIMS 4
/* Allocations that are smaller than so many bytes are not told (`allocated`), unless every loop is to leave its thread: programs make many. */
#define PG_RECORD_MINIMUM 65536u

__extension__ typedef signed long long __pg_i64;
__extension__ typedef unsigned long long __pg_u64;
typedef unsigned int __pg_u32;
/* As wide as a pointer. */
typedef unsigned long __pg_address;

/* The chapter's classes; sequential loops never reach the runtime. */
enum { PG_PARALLEL = 1, PG_POSSIBLY_PARALLEL = 2 };
/* How a possibly-parallel loop is checked: 0 nothing, 1 predicates, 2 inspector, 3 logs. */
enum { PG_CHECK_NONE = 0, PG_CHECK_PREDICATE = 1, PG_CHECK_INSPECTOR = 2, PG_CHECK_LOGS = 3 };

/* Flags of a loop. */
enum {
  PG_LOOP_MAY_ABORT = 1,   /* an iteration may give up on a device */
  PG_LOOP_MAY_TRAP = 16777216, /* it may trap, or answer otherwise where several are run at once: never run in place */
  PG_LOOP_CUDA_EXACT = 2,  /* CUDA computes the same bits */
  PG_LOOP_DYNAMIC = 4,     /* some access has no loop-invariant base: tracked allocations must be placed */
  PG_LOOP_REORDERED = 32,  /* not in the order of the program's loop: only where iterations are proven independent before they run */
  PG_LOOP_PART = 64,       /* one of the loops that a loop is distributed into */
  PG_LOOP_FREE_CALLS = 256, /* calls give other bits in vectors than alone: only in place, and in portions of whole vectors */
  PG_LOOP_UPDATES = 16,    /* iterations meet in updates that commute, which are in one piece on devices only: never run in place */
  PG_LOOP_PRIVATIZED = 128, /* iterations are independent once threads have copies of some arrays: run in place or not at all */
  PG_LOOP_GROUPS = 512,    /* a thread of the GPU may run several iterations together */
  PG_LOOP_COMMON_LOOPS = 1024, /* they have inner loops in common */
  PG_LOOP_SMALL = 4096,    /* the body is so short that it may be repeated many times */
  PG_LOOP_LONG = 65536,    /* it is so long that it may be repeated a few times only */
  PG_LOOP_DIRECT = 131072, /* no address follows from what an iteration has loaded */
  PG_LOOP_MEMBERS = 2097152, /* an iteration stores to several members of one element */
  PG_LOOP_TURNS = 2048,    /* some inner loop is run some turns at once */
  PG_LOOP_STORES_ONCE = 8192, /* an iteration doesn't store to a location twice, as far as the text tells */
  PG_LOOP_REPEATS = 524288, /* but that inner loops store to one again and again */
  PG_LOOP_KEPT = 16384,    /* kernels that know which arrays nothing stores to are faster */
  PG_LOOP_SLICE_DECIDES = 262144, /* what the values `keys` and sites with PG_SITE_FEEDS give decides all addresses that aren't affine */
  PG_LOOP_SHOWS_ALL = 4194304, /* inspections can show all addresses that aren't affine, as devices compute them */
  PG_LOOP_ONLY_SEARCHED = 33554432, /* nothing is left of its iterations but how many there are until it is left */
  PG_LOOP_LONG_LOOPS = 8388608, /* an iteration has inner loops that may have more turns than `work` guesses */
  PG_LOOP_SPREADS = 32768, /* several lanes of the GPU may run an iteration together, of which one stores */
  PG_LOOP_SIDE_BY_SIDE = 1048576, /* and they take turns of some inner loop side by side, whole ones */
  PG_LOOP_DOUBTED = 8      /* log everything, whatever is proven: a conflict then refutes the proof */
};
/* Flags of a site. */
enum {
  PG_SITE_STORE = 1,
  PG_SITE_LOGGED = 2,
  PG_SITE_UNCONDITIONAL = 4,
  PG_SITE_EXACT = 8,          /* each iteration touches every byte of its window */
  PG_SITE_LOADS_POINTER = 16,
  PG_SITE_HAS_AFFINE = 32,    /* struct __pg_access of the entry is meaningful */
  PG_SITE_MAY_CHANGE_PIN = 64, /* for all that the compiler knows; without affine addresses only an inspection can tell */
  PG_SITE_MAY_TOUCH_KEPT = 128, /* the same for pins that are kept */
  PG_SITE_SNAPSHOT = 256,     /* a load that can be made from a snapshot: every store that might hit what it loads, not after its
                                 iteration, is in a pair with it */
  PG_SITE_HAS_WINDOW = 16384, /* it isn't affine, but struct __pg_access says where it stays, unless that is empty: then nobody knows */
  PG_SITE_WHOLE_STEPS = 1024, /* whatever moves its affine address moves it by multiples of the width */
  PG_SITE_INSPECTED = 2048,   /* inspections are shown what is accessed through it */
  PG_SITE_FEEDS = 4096,       /* what is loaded through it decides what an inspection is shown; without one, addresses that aren't affine */
  PG_SITE_WHOLE_ELEMENTS = 65536, /* whatever moves its address from its base moves it by multiples of the width */
  PG_SITE_ONLY_SEEN = 131072, /* inspections are shown where it lies, for nothing else */
  PG_SITE_COVERED = 8192,     /* a load that takes part in unresolved pairs, but whose iteration stores to the same address: logged by
                                 those only to which two writers are no conflict */
  PG_SITE_UPDATE = 32768,     /* the load or the store of an update that may meet others: of the operation PG_ADD ... << PG_OPERATION_OF_SITE */
  PG_OPERATION_OF_SITE = 18,     /* six bits */
  PG_STEP_OF_SITE = 24,          /* an iteration adds so much at most once, 1 to 127 << this; 0: nobody knows */
  PG_SITE_PRIVATE = 512       /* made to the thread's own copy, which every iteration stores to before it loads from it; all sites
                                 of its base are */
};
/* Added to a pin's width: the loop keeps the place in a variable while it runs, so nothing else may touch it at all. */
#define PG_PIN_KEPT 0x80000000u
/* Operations of results (0: last value). */
enum {
  PG_LAST = 0, PG_ADD = 1, PG_MUL = 2, PG_AND = 3, PG_OR = 4, PG_XOR = 5, PG_MIN = 6, PG_MAX = 7,
  PG_EXTREME = 8,  /* takes a new value where that compares with it as PG_TAKE_* says; what follows it goes with it */
  PG_FOLLOWS = 9   /* goes with an extreme: first the iteration (+ 1) that set it, 0: none; then other scalars set there */
};
/* When an extreme takes a new value: new REL old. */
enum { PG_TAKE_LESS = 0, PG_TAKE_LESS_OR_EQUAL = 1, PG_TAKE_GREATER = 2, PG_TAKE_GREATER_OR_EQUAL = 3 };
#define PG_TAKE_UNORDERED 4u  /* added: and where one of them is a NaN */
/* Set in the number of the iteration that set an extreme once a NaN was taken: what came before is forgotten then. */
#define PG_TOOK_NAN ((__pg_u64)1 << 63)
/* Floating-point sums and products, and extremes, are computed in parts whose number depends on nothing but the trip counts:
 * blocks of dimension 0, each of so many lanes of the innermost dimension (its iterations modulo PG_LANES). */
#define PG_LANES 256
/* Types of results. */
enum { PG_I8 = 0, PG_U8, PG_I16, PG_U16, PG_I32, PG_U32, PG_I64, PG_U64, PG_F32, PG_F64 };

/* Members that stand at the user's loops have reserved names: his macros are alive there. */

/* Any scalar, in eight bytes; narrower values lie in the low bytes. */
__extension__ typedef union __pg_value {
  __pg_i64 __pg_i;
  __pg_u64 __pg_u;
  double __pg_d;
  float __pg_f;
} __pg_value;

/* Static facts of one access. */
struct __pg_site {
  __pg_u32 base;   /* index into the entry's bases */
  __pg_u32 width;  /* bytes: 1, 2, 4, 8 */
  __pg_u32 flags;  /* PG_SITE_* */
  __pg_u32 line;   /* in the user's file */
  __pg_u32 slot;   /* of an access without a base: the site, counted from 1, that loads the pointer which it follows, where struct __pg_access
                      has its offsets from what that leads to; 0: nothing is known of it */
};

/* An unresolved pair of sites. */
struct __pg_pair {
  __pg_u32 a, b;
  __pg_u32 check;  /* PG_CHECK_PREDICATE or PG_CHECK_LOGS, and PG_PAIR_... */
};
/* Added: a stores and b loads, and where they meet, b does so in an earlier iteration. */
#define PG_PAIR_ANTI 0x100u
/* Added: they may touch nothing in common in any iterations, the same one included. */
#define PG_PAIR_APART 0x200u

/* A scalar that the loop gives back. */
struct __pg_result {
  __pg_u32 op;     /* PG_LAST ... */
  __pg_u32 type;   /* PG_I8 ... */
  __pg_u32 how;    /* PG_EXTREME: PG_TAKE_* */
  __pg_u32 with;   /* PG_EXTREME: how many results follow it */
};

/* Entry-time facts of one base. */
struct __pg_base {
  __pg_u64 pointer;    /* its address; 0 for dynamic */
  __pg_u64 object_lo;  /* extent of the named object; both 0 where not known */
  __pg_u64 object_hi;
  __pg_u64 dynamic;    /* 1: each access finds its array */
  __pg_u64 snapshot;   /* how far behind its address PG_SITE_SNAPSHOT finds what was there before the loop, or PG_SITE_PRIVATE the
                          thread's own copy; 0: in place */
};

/* Entry-time addresses of one site: pointer + sum(stride[d]*k[d]) + [lo, hi). Where the ends of the window go other ways than
 * its strides (a triangle), all iterations together stay in pointer + [first, end), which is less; otherwise both are 0. */
struct __pg_access {
  __pg_i64 stride[PG_MAX_DIMS];
  __pg_i64 lo, hi;
  __pg_i64 first, end;
};

/* Memory that must not change while the loop runs: nobody would notice. */
struct __pg_pin {
  __pg_u64 address;
  __pg_u32 width;
  __pg_u32 kept;  /* not 0: PG_PIN_KEPT */
};

/* How an entry is made of the numbers that a loop hands over (`start` below). The numbers, in this order: n_values
 * values; of each result its value at entry; of each dimension the limit; of each pin its address. Integers are extended
 * to 64 bits by their type. */

/* What an induction variable is compared by. */
enum { PG_LT = 0, PG_LE = 1, PG_GT = 2, PG_GE = 3, PG_NE = 4 };
/* One dimension: first, first + step, ... while REL limit. */
struct __pg_dim {
  __pg_u32 first;       /* number of its first value; where its value after the loop goes */
  __pg_u32 relation;    /* PG_LT ... */
  __pg_u32 is_unsigned; /* not 0: compared as unsigned, so numbers of 2^63 and more are refused */
  __pg_i64 step;
  __pg_i64 low, high;   /* the variable must stay in there, its value after the loop included: it never wraps */
};
/* Where a base comes from. */
enum { PG_FROM_POINTER = 0, PG_FROM_OBJECT = 1, PG_FROM_NOWHERE = 2 };
struct __pg_origin {
  __pg_u32 kind;        /* PG_FROM_... */
  __pg_u32 number;      /* the number that is its address */
  __pg_u64 size;        /* of the object */
};
/* A step of a computation on a stack. Arithmetic that overflows refuses the entry. */
enum {
  PG_TERM_CONSTANT = 0, /* push the operand */
  PG_TERM_SIGNED = 1,   /* push the number of that index */
  PG_TERM_UNSIGNED = 2, /* the same; 2^63 and more are refused */
  PG_TERM_ADD = 3,
  PG_TERM_MUL = 4,
  PG_TERM_MIN = 5,
  PG_TERM_MAX = 6,
  PG_TERM_ACCESS = 7,   /* pop into field operand % 8 (strides, lo, hi, first, end) of access operand / 8 */
  PG_TERM_NUMBER = 8,   /* pop into the number of that index */
  PG_TERM_AT_LEAST = 9, /* pop; less than the operand is refused */
  PG_TERM_AT_MOST = 10, /* pop; more than the operand is refused */
  PG_TERM_MAY_FAIL = 11 /* of as many terms behind it as the operand says: where one is refused, the others are left out, and nothing else is */
};
struct __pg_term {
  __pg_u32 op;
  __pg_i64 operand;
};
struct __pg_recipe {
  const struct __pg_dim *dims;         /* n_dims */
  const struct __pg_origin *origins;   /* n_bases */
  const struct __pg_access *accesses;  /* n_sites: what is known before; terms fill in the rest */
  const __pg_u32 *pins;                /* n_pins: their widths, PG_PIN_KEPT */
  const struct __pg_term *terms;
  const __pg_u32 *moved;               /* numbers that move on with dimension 0: by the number behind it, each time */
  __pg_u32 n_terms, n_moved;
};

struct __pg_info;

/* One entry of a loop. */
struct __pg_entry {
  const struct __pg_info *info;
  __pg_i64 trip[PG_MAX_DIMS];         /* of each merged dimension, 1 beyond n_dims; all positive */
  __pg_value *values;                 /* n_values: live-ins and invariants, in the body's order */
  __pg_value *results;                /* n_results: in: values at entry; out: values after the loop */
  struct __pg_base *bases;            /* n_bases */
  struct __pg_access *accesses;       /* n_sites */
  struct __pg_pin *pins;              /* n_pins */
};

/* An array on the device. Host range [lo, lo+size) lies at dev. */
struct __pg_region {
  __pg_u64 lo, size;
  __pg_u64 dev;
  __pg_u64 log;        /* first log cell, (__pg_u64)-1 if the region has none */
  __pg_u64 snapshot;   /* what was there before the loop, on the device; dev where nobody asks */
  __pg_u64 before;     /* the same for loads that are logged by stamps; dev where nothing is stored */
};

/* Log methods. */
enum {
  PG_LOG_NONE = 0,       /* translation and range checks only */
  PG_LOG_MARK = 1,       /* write marks, so that exactly what was written is committed */
  PG_LOG_ATOMIC = 2,     /* the chapter's atomic method */
  PG_LOG_REDUCTION = 3,  /* the chapter's reduction method */
  PG_LOG_BITMAP = 4,     /* a bit for each cell: where an iteration doesn't meet itself */
  PG_LOG_STAMP = 5       /* first and last writer and last reader: only values that an earlier iteration has stored are conflicts */
};

/* Why a launch gave up or failed its check; bits of flags[0]. */
enum {
  PG_FAIL_WAW = 1,        /* two iterations wrote one element */
  PG_FAIL_RAW = 2,        /* one iteration wrote what another read */
  PG_FAIL_RANGE = 4,      /* an address outside of the array that its pointer belongs to */
  PG_FAIL_NO_ARRAY = 8,   /* an address in no array */
  PG_FAIL_MISALIGNED = 16,
  PG_FAIL_ARITHMETIC = 32,/* division by zero, conversion out of range, domain error */
  PG_FAIL_NAN = 64,       /* a NaN was about to be stored on a device whose NaNs differ */
  PG_FAIL_STOPPED = 128,  /* told to stop */
  PG_FAIL_TIME = 256      /* stopped because it took too long: speculation may have made a loop endless */
};

/* What every kernel asks for, or may, comes first, side by side: a GPU waits for each 64 bytes of parameters that it reads, one after the other, and takes
 * longer to begin the more there are. Its launch does the places from `first` on, before `end`.
 *
 * flags       [0]: PG_FAIL_*; [1]: a conflicting iteration, for the trace
 * stop        not 0: give up. In the device's own memory, because all threads look at it
 * begun       not null: a GPU's launch says there that it has begun; in the host's memory
 * order       Places that a launch does are iterations, or, where order is not null, entries of that list of them, or parts: lanes of blocks, in the order of
 *             the blocks
 * sign_bit    1 << 31, which a GPU's compiler may not know: see __pg_neg_f32
 * log_shift   log2 of the bytes that one log cell covers */
#define __PG_HEAD_OF_LAUNCH                                                                                            \
  __pg_u64 first, end;                                                                                                 \
  __pg_u32 *flags;                                                                                                     \
  volatile __pg_u32 *stop;                                                                                             \
  volatile __pg_u32 *begun;                                                                                            \
  const __pg_u32 *order;                                                                                               \
  __pg_u32 sign_bit;                                                                                                   \
  __pg_u32 log_shift;
/* Behind that what says how iterations lie, which those that are taken one by one along one dimension don't ask for.
 *
 * n           iterations of the merged space
 * block       iterations of dimension 0 in each block of parts; 0: no result is computed in parts
 * first_row, first_layer   Where iterations go in tiles, a GPU's launch does those of the blocks from this row and layer (y and z of the grid) on */
#define __PG_SPACE_OF_LAUNCH                                                                                           \
  __pg_u64 n;                                                                                                          \
  __pg_u64 trip[PG_MAX_DIMS];                                                                                          \
  __pg_u64 block;                                                                                                      \
  __pg_u32 first_row, first_layer;

/* What a kernel is given. Every pointer in it is the device's own. */
struct __pg_launch {
  __PG_HEAD_OF_LAUNCH
  __PG_SPACE_OF_LAUNCH
  const struct __pg_region *regions;  /* sorted by lo, disjoint */
  const __pg_u64 *anchors;     /* n_bases: an address in the array that the base's accesses belong to, 0: dynamic */
  const __pg_u64 *bases;       /* n_bases: the pointers themselves */
  const __pg_value *values;
  __pg_value *results;         /* n_results, which start at the identity, then as many for each part */
  __pg_u32 n_regions;
  __pg_u32 n_bases;
  __pg_u32 log_method;         /* PG_LOG_* */
  __pg_u32 settles;            /* not 0: stamps are complete, and only what the last writer of a cell stores is stored */
  __pg_u32 stamp_words;        /* words of a cell's stamps: PG_STAMP_WORDS, or PG_STAMP_WORDS_READ or, in a guess, PG_GUESS_WORDS_READ
                                  where loads are noted */
  __pg_u32 guess;              /* PG_GUESS_* */
  __pg_u32 store_bits;         /* of stamps that hold values back: how many bits of each number the stores of an iteration */
  __pg_u64 apart[4];           /* nothing: what kernels have at hand begins with 64 bytes by that (on compute capability 9.0) */
  /* They come last, beside what kernels have at hand, for the same reason. Logs, with a word or, where they are bitmaps (PG_LOG_MARK, PG_LOG_BITMAP), a bit for each cell. */
  __pg_u32 *wr;                /* write log: iteration + 1 of a writer, 0: none. Of stamps `stamp_words` for each cell, readers too */
  __pg_u32 *rd;                /* read log: iteration + 1 of the one reader, PG_MANY: several, 0: none. Stamps have none */
  __pg_u64 *total;             /* writes, counted by the reduction method, bitmaps and most stamps; a GPU's in PG_TOTALS places */
};
#define PG_MANY 0xffffffffu
/* The stamps of a cell: the number of the last writer; and where loads are noted, side by side with it because they are asked for together,
 * the complement of the number of the first writer, and the number of the last reader. Numbers are iterations + 1, 0: none. */
#define PG_STAMP_LAST 0
#define PG_STAMP_FIRST 1
#define PG_STAMP_READER 2
#define PG_STAMP_WORDS 1
#define PG_STAMP_WORDS_READ 4
/* Whether a launch guesses that each cell has one writer; then there is no first one, and the reader stands in its place. Stores are counted:
 * those that don't find their own number there already, or all of them, without looking. */
enum { PG_GUESS_NONE = 0, PG_GUESS_LOOKING = 1, PG_GUESS_COUNTING = 2, PG_GUESS_RANGE = 3 };
#define PG_GUESS_READER 1
#define PG_GUESS_WORDS_READ 2
/* Places that a GPU's threads add their counts to, because one would hold them up, and how far apart they lie, in words. Where a bitmap guesses that nothing is
 * stored in a range, each has another word behind the count: the complement of the first cell that is loaded and, above it, the number behind the last one. */
#define PG_TOTALS 256
#define PG_TOTALS_APART 4
/* What stands in wr where updates of one kind were made, by any number of iterations: they commute. `width` in bytes. */
#define PG_UPDATED(op, width) (PG_MANY - 1u - PG_UPDATE_KIND(op, width))
#define PG_UPDATE_KIND(op, width) ((op) * 4u + ((width) == 1 ? 0u : (width) == 2 ? 1u : (width) == 4 ? 2u : 3u))

/* An inspection: the loop's address slice runs for some iterations in source order, stores nothing, and shows the runtime what
 * they would touch. Not 0: leave at once. Several threads may do so for different iterations, each with an inspector of its own:
 * then what a thread loads need not be what the loop would load, and inner loops, which might not end, ask by and by. */
enum {
  PG_TOUCH_STORE = 1,  /* it would be stored to */
  PG_TOUCH_FEEDS = 2,  /* the value there decides further addresses: it is loaded after this call */
  PG_TOUCH_MEETS = 4,  /* it takes part in an unresolved pair */
  PG_TOUCH_UPDATE = 8, /* it would be updated; updates of one kind commute */
  PG_TOUCH_SEEN = 16,  /* nobody asks whom it meets */
  PG_TOUCH_WIDTH = 8,  /* shift: the bytes lie above the flags */
  PG_TOUCH_KIND = 16   /* shift: and above them the kind of an update */
};
struct __pg_inspector {
  int (*touch)(struct __pg_inspector *, __pg_u32 site, __pg_u64 address, __pg_u32 how);
  int (*next)(struct __pg_inspector *);  /* in front of each iteration of the merged space */
  int (*poll)(struct __pg_inspector *);  /* once in many turns of inner loops */
  __pg_u64 known; /* bit s: the runtime knows what site s touches, so nobody shows it; of sites with PG_SITE_HAS_AFFINE, or that nobody asks for, with PG_SITE_ONLY_SEEN */
  /* Set by touch: of the same site nothing that begins at first, or up to length - 1 bytes behind, need be shown, in this iteration;
   * nor in later ones, where bit s of lasting says so. Of sites from 64 on everything is shown. */
  __pg_u64 first, length, lasting;
  /* Turns of inner loops, as far as the slice has them, since it was called: wherever `next` is, and where it returns behind its last iteration. */
  __pg_u32 turns;
  /* Set before it is called: nothing but turns is asked for. Innermost loops whose number of turns their heads tell are counted, not run. */
  __pg_u32 counts;
};

/* Static facts of one loop. */
struct __pg_info {
  __pg_u32 abi;                /* PG_ABI_VERSION; with another one the loop is never run */
  __pg_u32 verdict;            /* PG_PARALLEL or PG_POSSIBLY_PARALLEL */
  __pg_u32 check;              /* PG_CHECK_*: the most expensive one that any pair needs */
  __pg_u32 flags;              /* PG_LOOP_* */
  const char *file, *function; /* for traces, and for what later runs know of the loop; may be null */
  __pg_u32 line;
  __pg_u32 n_dims;             /* 1 to PG_MAX_DIMS: loops of a nest, the outermost one first, that are one merged space: number (k0 * trip[1] + k1) * trip[2] + ... */
  __pg_u32 n_values, n_results, n_bases, n_sites, n_pairs, n_pins; /* elements of the tables with these names; of none, a table may be null */
  __pg_u64 work;               /* estimated operations per iteration of the merged space, where an inner loop has 32 turns unless its text says that it has fewer */
  const struct __pg_site *sites;
  const struct __pg_pair *pairs;
  const struct __pg_result *results;
  const char *const *cuda_body; /* pieces of the device text, ended by a null pointer; paragon_body.h goes in front */
  /* Iterations [begin, end) of dimension 0, all of the other dimensions, in source order, on host memory. Reductions
   * continue from results and last values are stored there. Behind the results there are PG_LANES values for each
   * floating-point sum and product, in their order, which those continue from. */
  void (*direct)(const struct __pg_entry *, __pg_value *results, __pg_i64 begin, __pg_i64 end);
  /* Iterations (or parts, where the launch has them) [begin, end) of the merged space on translated memory, with logs. Null where checked threads can't pay:
   * then only a GPU can speculate. */
  void (*device)(const struct __pg_launch *, __pg_u64 begin, __pg_u64 end);
  const struct __pg_recipe *recipe;
  /* Null where there is none. What it touches depends on the trip counts, on the values with these indices, and on the
   * memory that feeds it. */
  void (*inspect)(const struct __pg_entry *, struct __pg_inspector *, __pg_i64 begin, __pg_i64 end); /* of dimension 0 */
  const __pg_u32 *keys;
  __pg_u32 n_keys;
  /* Null but for a loop that may be left before its trip count is up. The first iteration from `begin` on, before `end`, that leaves it, otherwise `end`; of dimension 0.
   * It may give an earlier one, too: the program's own text goes on with that. It loads what these sites do, nothing else, and stores nothing. In *left somebody else says
   * which iteration leaves the loop as far as is known; one that comes behind that need not be looked at. All else is about the iterations that come before it. */
  __pg_i64 (*search)(const struct __pg_entry *, const volatile __pg_i64 *left, __pg_i64 begin, __pg_i64 end);
  const __pg_u32 *searched;
  __pg_u32 n_searched;
};

/* One per loop, writable. */
struct __pg_loop {
  __pg_i64 __pg_threshold;     /* iterations of dimension 0 from which entering is worth it; moved by the runtime */
  const struct __pg_info *info;
  void *state;                 /* the runtime's, who knows the loop by it; null at first, also where the object is loaded once more */
  __pg_u32 __pg_stays;         /* not 0: the last entry stayed because nothing was expected to be faster; 1: although it was proven, or because it is over soon */
};

/* One of the loops that a loop is distributed into, with the numbers that it hands over. In front of them all stands the loop
 * itself: its pairs are those of accesses in different ones, and its function is never called. */
struct __pg_part {
  struct __pg_loop *the_loop;
  __pg_value *numbers;
};

/* What __pg_rt_attach returns. Any thread may call any function at any time, signal handlers included, where loops are refused. Functions never unwind
 * and preserve errno; `start` and `enter` leave the errno that the loop itself would have left. There is no other error than a refusal: 0, and nothing
 * has happened. An info whose numbers lead out of its tables, or are none of those above, is refused like one of another version. */
struct __pg_api {
  __pg_u32 abi;
  /* 1: the loop is complete, or, where it may be left early, so are the iterations in front of the one that leaves it or of one before that, and the program's own text goes on with that one. The
   * numbers of its results, of its induction variables and of what moved with them are their values then. 0: nothing happened, run it as it stood. Its first test must have been true. */
  int (*start)(struct __pg_loop *, __pg_value *numbers);
  /* The same for an entry that is complete, and that lives while this is called; only the results come back, and in trip[0] how many iterations were done. */
  int (*enter)(struct __pg_loop *, struct __pg_entry *);
  /* `start` for a loop that is distributed: 1: all parts are complete, and the numbers of the loop itself are as there. */
  int (*start_parts)(const struct __pg_part *, __pg_u32 n);
  /* Memory [start, start + bytes) is one array from now on: where an access has no affine address, a pointer into it stays in it. What begins
   * there already is replaced. To be called before others can have the pointer; what isn't told costs speed, never results. */
  void (*allocated)(void *start, __pg_u64 bytes);
  /* What was told of it no longer holds. To be called before the memory is given back. */
  void (*freed)(void *start);
  /* A named object at file scope or static. */
  void (*object)(void *start, __pg_u64 bytes);
};

/* The library's only exported function. Null if it can't serve this ABI or is switched off (PARAGON_DEVICE=off). The same table for all who ask; it is
 * never taken back, so the library must not be unloaded. */
#define PG_ATTACH_SYMBOL "__pg_rt_attach"
/* `blocked`: the signals that the calling thread blocks but for this call, a bit for each. */
typedef const struct __pg_api *(*__pg_attach_fn)(__pg_u32 abi, __pg_u64 blocked);
/* Added to the version by objects with floating-point sums and products in parts: they are served even if nothing may run
 * elsewhere, because the order of their iterations must be the same then. */
#define PG_ATTACH_IN_ORDER 0x80000000u

/* The runtime works on its caller's stack, which may be a small one that the program has made itself (makecontext, sigaltstack). Opening it, and giving it a loop, takes less than so many
 * bytes; where a thread's own stack hasn't as many left, or it isn't the thread's own, loops run as they stand. */
#define PG_STACK_ROOM 0x10000u
/* The process's first stack may grow so far as its limit says, but the system keeps no more than so many bytes below it free from anything else; without a limit so many. */
#define PG_STACK_LIMITED 0x8000000u
#define PG_STACK_UNLIMITED 0x1000000000u

#endif
