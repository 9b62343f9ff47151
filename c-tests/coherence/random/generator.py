#!/usr/bin/env python3
"""Random C programs that look at their memory in every way between loops that a device can carry out.

usage: generator.py SEED FOLDER

Writes FOLDER/main.c and FOLDER/kernels.c, which make one program: `cc -std=gnu11 -O2 main.c kernels.c -pthread -lm`. It takes a number, by which it makes
other random choices, so that one build (and the kernels that a device's compiler makes of it, slowly) is good for many runs.

A program has four to seven arrays of 90 KiB to 600 KiB: of malloc, of calloc, aligned, mapped, static, on the stack, several in one piece of memory, mapped from a file, shared;
of whole numbers, of floating-point numbers, of structures with holes. A time loop hands them, whole or in part, to kernels (loops that are parallel as they stand, and some that
aren't), and does things to the same memory in between (the functions in DEEDS): single elements, the C library's functions for memory and text, files, pipes, sockets, freeing,
moving and mapping, children, threads (one after the other and at once), signals, jumps, recursion. What each slot of the time loop does, and where, is drawn once (`steady`) or each time. All is printed as sums in which
each byte counts.

- The same seed and number give the same output everywhere: no addresses, no times, no errors' texts are printed, and of Python only random() is used.
- Whole numbers wrap around (they are unsigned where they are computed); floating-point numbers come of few operations in the order of the source (compile without contraction);
  none is made of raw bytes, and none is ever infinite or not a number.
- Exit status 99: something about the machine (no memory, no files).
"""
import os
import random
import sys

INTEGERS = ["uint8_t", "int16_t", "uint32_t", "int32_t", "int64_t"]
FLOATS = ["float", "double"]
STRUCTS = {
    # Name: its members; some leave holes.
    "struct pair": [("uint32_t", "a"), ("int32_t", "b")],
    "struct holes": [("double", "x"), ("uint8_t", "flag"), ("float", "y")],
    "struct cell": [("int16_t", "a"), ("int64_t", "b"), ("uint8_t", "c[3]")],
}
SIZE = {"uint8_t": 1, "int16_t": 2, "uint32_t": 4, "int32_t": 4, "int64_t": 8, "float": 4, "double": 8,
        "struct pair": 8, "struct holes": 16, "struct cell": 24}


class Dice:
    """All that is random."""

    def __init__(self, seed):
        self.source = random.Random(seed)

    def below(self, n):
        return int(self.source.random() * n)

    def between(self, lo, hi):
        return lo + self.below(hi - lo + 1)

    def of(self, things):
        return things[self.below(len(things))]

    def once_in(self, n):
        return self.below(n) == 0


def is_float(t):
    return t in FLOATS


def is_struct(t):
    return t.startswith("struct")


def mixed(t, terms, dice):
    """An expression of type t of some operands, that stays small if it is one of floating point."""
    if is_float(t):
        part = "0.25" if len(terms) > 2 else "0.5"
        suffix = "f" if t == "float" else ""
        whole = " + ".join(f"({t}){term} * {part}{suffix}" for term in terms)
        return f"{whole} + {dice.between(1, 9)}{'.0f' if suffix else '.0'}"
    wide = "uint64_t" if t == "int64_t" else "uint32_t"
    whole = " + ".join(f"({wide}){term} * {dice.between(1, 9)}u" for term in terms)
    return f"({t})({whole} + {dice.between(1, 99)}u)"


class Kernel:
    """A function of kernels.c: its name, its parameters' types, whether it may get the same array twice, and its text."""

    def __init__(self, name, types, text, result=None):
        self.name, self.types, self.text, self.result = name, types, text, result

    def head(self):
        """Its prototype."""
        return next(line for line in self.text.splitlines() if f" {self.name}(long n" in line)


def value_of(t, at, dice):
    """A number that lies in an element, as an operand."""
    if not is_struct(t):
        return at
    kind, member = dice.of(STRUCTS[t])
    return f"{at}.{member.replace('3', str(dice.below(3)))}"


# Forms of kernels of which nothing, or only a part, can be left on a device.
LEAVE_LITTLE = [12, 18, 20, 21, 28]


def kernel(number, dice, leaves_all):
    """One kernel, which uses no more than `long n` elements of each parameter. `leaves_all`: nothing speaks against leaving its results on a device."""
    name = f"k{number}"
    numbers = INTEGERS + FLOATS
    t = dice.of(numbers)
    u = dice.of([s for s in numbers if is_float(t) or not is_float(s)])
    restrict = dice.of(["", "", "restrict "])
    head = lambda types: f"void {name}(long n, " + ", ".join(
        f"{ty} *{restrict}{v}" for ty, v in zip(types, "xyzw")) + ", long t)"
    form = dice.below(31)
    while leaves_all and form in LEAVE_LITTLE + [30]:
        form = dice.below(30)
    c = dice.between(1, 9)
    if form == 0:
        body = f"for (long i = 0; i < n; i++)\n    x[i] = {mixed(t, ['y[i]', 'x[i]'], dice)};"
        types = [t, u]
    elif form == 1:
        body = f"for (long i = 1; i < n - 1; i++)\n    x[i] = {mixed(t, ['y[i - 1]', 'y[i]', 'y[i + 1]'], dice)};"
        types = [t, u]
    elif form == 2:
        body = f"for (long i = 0; i < n; i++)\n    x[i] = {mixed(t, ['x[i]', '(i % 97)'], dice)};"
        types = [t]
    elif form == 3:
        s = dice.of([2, 3, 5])
        body = f"for (long i = 0; i < n / {s}; i++)\n    x[i * {s} + {dice.below(s)}] = {mixed(t, ['(i % 61 + t)'], dice)};"
        types = [t]
    elif form == 4:
        s = dice.of([2, 3, 5])
        body = f"for (long i = 0; i < n / {s}; i++)\n    x[i] = {mixed(t, [f'y[i * {s} + {dice.below(s)}]'], dice)};"
        types = [t, u]
    elif form == 5:
        body = f"for (long i = 0; i < n; i++)\n    x[n - 1 - i] = {mixed(t, ['y[i]'], dice)};"
        types = [t, u]
    elif form == 6:
        w = dice.of([512, 1000, 1290])
        body = (f"for (long i = 1; i < n / {w} - 1; i++)\n    for (long j = 1; j < {w} - 1; j++)\n      x[i * {w} + j] = "
                + mixed(t, [f"y[(i - 1) * {w} + j]", f"y[(i + 1) * {w} + j]", f"y[i * {w} + j - 1]"], dice) + ";")
        types = [t, u]
    elif form == 7:
        body = f"for (long i = 0; i < n; i++)\n    x[i] = {mixed(t, ['(i % 31 + t)'], dice)};"
        types = [t]
    elif form == 8:
        # Both halves of one array.
        body = f"for (long i = 0; i < n / 2; i++)\n    x[i] = {mixed(t, ['x[i + n / 2]', 'x[i]'], dice)};"
        types = [t]
    elif form in (9, 10):
        s = dice.of(sorted(STRUCTS))
        member = dice.of(STRUCTS[s])
        other = value_of(s, "x[i]", dice)
        mt, mn = member[0], member[1].replace("3", str(dice.below(3)))
        operand = other if is_float(mt) or not any(is_float(k) and other.endswith("." + m) for k, m in STRUCTS[s]) else f"x[i].{mn}"
        source = value_of(u, "y[i]", dice)
        terms = [operand] + ([source] if is_float(mt) or not is_float(u) else [])
        body = f"for (long i = 0; i < n; i++)\n    x[i].{mn} = {mixed(mt, terms, dice)};"
        types = [s, u]
    elif form == 11:
        # All members of structures, or one structure for another.
        s = dice.of(sorted(STRUCTS))
        if dice.once_in(2):
            body = "for (long i = 0; i < n; i++)\n    x[i] = y[n - 1 - i];"
            types = [s, s]
        else:
            sets = " ".join(f"x[i].{m.replace('3', '1')} = ({k})(i % {dice.between(20, 90)} + t);" for k, m in STRUCTS[s])
            body = "for (long i = 0; i < n; i++) {\n    " + sets + "\n  }"
            types = [s]
    elif form == 12:
        v = dice.of(INTEGERS)
        body = f"for (long i = 0; i < n; i++)\n    if ((y[i] ^ i) & {dice.of([1, 3, 4])})\n      x[i] = {mixed(t, ['x[i]', '(i % 13)'], dice)};"
        types = [t, v]
    elif form == 13:
        r = dice.of(["uint64_t"]) 
        v = dice.of(INTEGERS)
        text = (f"uint64_t {name}(long n, const {v} *x, long t)\n{{\n  uint64_t sum = (uint64_t)t;\n  for (long i = 0; i < n; i++)\n"
                f"    sum += (uint64_t)x[i] * (uint64_t)(i + {c});\n  return sum;\n}}\n")
        return Kernel(name, [v], text, result=r)
    elif form == 14:
        w = dice.of([500, 640, 961])
        body = (f"long r = n / {w};\n  for (long i = 0; i < r; i++)\n    for (long j = 0; j < {w}; j++)\n      x[j * r + i] = "
                + mixed(t, [f"y[i * {w} + j]"], dice) + ";")
        types = [t, u]
    elif form == 15:
        body = "for (long i = 0; i < n; i++)\n    x[i] = y[i];"
        types = [t, t]
    elif form == 16:
        body = (f"for (long i = 0; i < n; i++) {{\n    x[i] = {mixed(t, ['z[i]', 'y[i]'], dice)};\n"
                f"    y[i] = {mixed(u, ['y[i]', '(i % 7)'], dice)};\n  }}")
        types = [t, u, u]
    elif form == 17:
        # Several loops, as a time step has them.
        body = (f"for (long i = 1; i < n - 1; i++)\n    x[i] = {mixed(t, ['y[i - 1]', 'y[i + 1]'], dice)};\n"
                f"  for (long i = 1; i < n - 1; i++)\n    y[i] = {mixed(t, ['x[i - 1]', 'x[i]'], dice)};\n"
                f"  for (long i = 0; i < n; i++)\n    x[i] = {mixed(t, ['y[n - 1 - i]', 'x[i]'], dice)};")
        types = [t, t]
    elif form == 18:
        v = dice.of(INTEGERS)
        text = (f"uint64_t {name}(long n, const {v} *x, long t)\n{{\n  for (long i = 0; i < n; i++)\n"
                f"    if ((x[i] & 1023) == ((t * 37 + {c}) & 127))\n      return (uint64_t)i;\n  return (uint64_t)n;\n}}\n")
        return Kernel(name, [v], text, result="uint64_t")
    elif form == 19:
        # A variable of this file that only this kernel has.
        text = (f"static {t} own{number}[{90000 // SIZE[t]}];\nvoid {name}(long n, {t} *x, long t)\n{{\n  long m = n < {90000 // SIZE[t]} ? n : {90000 // SIZE[t]};\n"
                f"  for (long i = 0; i < m; i++)\n    own{number}[i] = {mixed(t, [f'own{number}[i]', 'x[i]'], dice)};\n"
                f"  own{number}[t * 97 % m] = ({t})t;\n"
                f"  for (long i = 0; i < m; i++)\n    x[i] = {mixed(t, [f'own{number}[m - 1 - i]', 'x[i]'], dice)};\n}}\n")
        return Kernel(name, [t], text)
    elif form == 20:
        # An array of the function's own, and recursion.
        text = (f"void {name}(long n, {t} *x, long t)\n{{\n  {t} own[24000];\n  long m = n < 24000 ? n : 24000;\n"
                f"  for (long i = 0; i < m; i++)\n    own[i] = {mixed(t, ['x[i]', '(i % 5)'], dice)};\n"
                f"  if (t % 4 > 0)\n    {name}(n, x, t % 4 - 1);\n"
                f"  own[t % m] = ({t})(t + 1);\n"
                f"  for (long i = 0; i < m; i++)\n    x[i] = {mixed(t, ['own[i]', 'x[m - 1 - i]'][:1], dice)};\n}}\n")
        return Kernel(name, [t], text)
    elif form == 22:
        w = dice.of([128, 150])
        body = (f"long r = n / {w} < 40 ? n / {w} : 40;\n  for (long i = 0; i < r; i++)\n    for (long j = {dice.of(['0', 'i', 'i + 1'])}; j < {dice.of([str(w), f'{w} - t % 5'])}; j++)\n      x[i * {w} + j] = "
                + mixed(t, [f"y[j * {w} + i < n ? j * {w} + i : 0]" if dice.once_in(2) else f"y[i * {w} + j]"], dice) + ";")
        types = [t, u]
    elif form == 23:
        w, h = dice.of([(120, 7), (128, 8), (333, 4)])
        body = (f"for (long i = 1; i < n / {w * h} - 1; i++)\n    for (long j = 1; j < {h} - 1; j++)\n      for (long k = {dice.below(3)}; k < {w} - 1; k++)\n        x[(i * {h} + j) * {w} + k] = "
                + mixed(t, [f"y[((i - 1) * {h} + j) * {w} + k]", f"y[(i * {h} + j + 1) * {w} + k]", f"y[(i * {h} + j) * {w} + k + 1]"], dice) + ";")
        types = [t, u]
    elif form == 24:
        # A division, which the compiler must take for one that may trap.
        v = dice.of(INTEGERS)
        w = dice.of(INTEGERS)
        body = f"for (long i = 0; i < n; i++)\n    x[i] = ({v})((uint32_t)x[i] * 3u + (uint32_t)(i + t) / (uint32_t)({dice.of(['y[i] | 1', '(uint32_t)y[i] % 50 + 1'])}));"
        types = [v, w]
    elif form == 25:
        # Two places of each iteration, all and not all of the array.
        s = dice.of([2, 3])
        body = (f"for (long i = 0; i < n / {s}; i++) {{\n    x[{s} * i] = {mixed(t, ['y[i]'], dice)};\n    x[{s} * i + 1] = {mixed(t, [f'y[n - 1 - i]'], dice)};\n  }}")
        types = [t, u]
    elif form == 26:
        # From behind, in steps.
        s = dice.of([1, 2, 4])
        body = f"for (long i = n - 1; i >= {dice.below(50)}; i -= {s})\n    x[i] = {mixed(t, ['y[i]', '(i % 23)'], dice)};"
        types = [t, u]
    elif form == 27:
        # Some turns of an inner loop, or none.
        body = (f"for (long i = 0; i < n / 800; i++)\n    for (long j = 0; j < t % 9 * 100; j++)\n      x[i * 800 + j{'' if dice.once_in(2) else ' % 800'}] = {mixed(t, ['y[i]', '(j + t)'], dice)};").replace("t % 9 * 100", "(t % 8 + t / 8 % 2) * 100")
        types = [t, u]
    elif form == 28:
        # An array of rows; rows are swapped.
        w = dice.of([256, 500])
        body = (f"{t} *row[40];\n  long m = n / {w} < 40 ? n / {w} : 40;\n  for (long i = 0; i < m; i++)\n    row[i] = x + (i + t) % m * {w};\n"
                f"  for (long i = 0; i < m; i++)\n    for (long j = 0; j < {w}; j++)\n      row[i][j] = {mixed(t, ['row[i][j]', '(j % 17)'], dice)};")
        types = [t]
    elif form == 29:
        # What is stored is known to be all, or some, only when it is entered.
        body = (f"long s = t % 3 + 1;\n  for (long i = 0; i < n / s; i++)\n    x[i * s] = {mixed(t, ['y[i]'], dice)};")
        types = [t, u]
    else:
        # What is stored to depends on what is in memory: nothing of it stays.
        body = f"for (long i = 0; i < n; i++)\n    x[y[i] % (uint32_t)n] = ({t})(i % 50);" if dice.once_in(2) else (
            f"for (long i = 0; i < n; i++)\n    x[i] = {mixed(t, ['z[y[i] % (uint32_t)n]'], dice)};")
        types = [t, "uint32_t"] + ([u] if "z[" in body else [])
    return Kernel(name, types, f"{head(types)}\n{{\n  (void)t;\n  {body}\n}}\n")


COMMON = """#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <malloc.h>
#include <poll.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/prctl.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>
"""


def declarations():
    return "".join(
        f"{name} {{ " + " ".join(f"{t} {m};" for t, m in members) + " };\n" for name, members in sorted(STRUCTS.items()))


# Behind COMMON, the structures and COUNT, the number of arrays.
PRELUDE = r"""
enum kind { HEAP, FIXED, MAPPED, SHARED };
struct array { void *p; long n, size; enum kind kind; };
static struct array A[COUNT];
static FILE *scratch;
static int pipes[2];
static jmp_buf back;
static volatile sig_atomic_t got;
static char piece[3][700000] __attribute__((aligned(64)));
static char fixed[COUNT][700000] __attribute__((aligned(64)));
static __thread char of_thread[2][700000] __attribute__((aligned(16)));
static char room[160000];
static uint64_t state;

/* A number below another one. */
static long below(long n)
{
  state ^= state << 13;
  state ^= state >> 7;
  state ^= state << 17;
  return (long)((state * 2685821657736338717u >> 20) % (uint64_t)n);
}

static long between(long lo, long hi)
{
  return lo + below(hi - lo + 1);
}

static long one_of(int count, const long *numbers)
{
  return numbers[below(count)];
}
#define ONE_OF(...) one_of((int)(sizeof(long[]){__VA_ARGS__} / sizeof(long)), (long[]){__VA_ARGS__})

static void check(int holds, const char *what)
{
  if (!holds) {
    fprintf(stderr, "%s failed\n", what);
    exit(99);
  }
}

/* A chain: it stays where it is. */
static uint64_t hash(const void *memory, size_t bytes)
{
  const unsigned char *at = memory;
  uint64_t h = 14695981039346656037u;
  for (size_t i = 0; i < bytes; i++)
    h = (h ^ at[i]) * 1099511628211u;
  return h;
}

static void show(const char *what, long t, const void *memory, size_t bytes)
{
  printf("%s %ld: %016llx\n", what, t, (unsigned long long)hash(memory, bytes));
}

static long least(long a, long b)
{
  return a < b ? a : b;
}

static size_t bytes_of(int a)
{
  return (size_t)(A[a].n * A[a].size);
}

static char *bytes_at(int a, long at)
{
  return (char *)A[a].p + at;
}

/* An array; its type takes any bytes. Or -1. */
static int plain(void)
{
  int found[COUNT], count = 0;
  for (int a = 0; a < COUNT; a++)
    if (IS_PLAIN[a])
      found[count++] = a;
  return count == 0 ? -1 : found[below(count)];
}

/* Another array of the same type. Or -1. */
static int alike(int a)
{
  int found[COUNT], count = 0;
  for (int b = 0; b < COUNT; b++)
    if (b != a && TYPES[b] == TYPES[a])
      found[count++] = b;
  return count == 0 ? -1 : found[below(count)];
}

static int of_kind(enum kind kind)
{
  int found[COUNT], count = 0;
  for (int a = 0; a < COUNT; a++)
    if (A[a].kind == kind)
      found[count++] = a;
  return count == 0 ? -1 : found[below(count)];
}
"""

# One function for each thing that is done between loops, of an array `a` and the time.
DEEDS = r"""
static void read_one(int a, long t)
{
  printf("element %ld: %.9g\n", t, get(a, below(A[a].n)));
}

static void write_one(int a, long t)
{
  put(a, below(A[a].n), t % 50);
}

static void write_some(int a, long t)
{
  long step = ONE_OF(1, 33, 1021), begin = below(A[a].n);
  for (long k = below(40); k >= 0; k--)
    put(a, (begin + k * step) % A[a].n, (k + t) % 50);
}

static void read_some(int a, long t)
{
  long step = ONE_OF(1, 33, 1021), begin = below(A[a].n);
  double sum = 0;
  for (long k = below(40); k >= 0; k--)
    sum = sum * 0.5 + get(a, (begin + k * step) % A[a].n);
  printf("elements %ld: %.9g\n", t, sum);
}

/* An array's own ends. */
static void ends(int a, long t)
{
  put(a, 0, t % 9);
  put(a, A[a].n - 1, t % 7);
  printf("ends %ld: %.9g %.9g\n", t, get(a, 1), get(a, A[a].n - 2));
}

static void show_part(int a, long t)
{
  long length = ONE_OF(1, 8, 100, 4096, 5000, 20000, 60000);
  show("part", t, bytes_at(a, below((long)bytes_of(a) - length)), (size_t)length);
}

static void show_all(int a, long t)
{
  show("all", t, A[a].p, bytes_of(a));
}

static void set_part(int a, long t)
{
  long n = below(A[a].n / 2), begin = below(A[a].n - n);
  memset(bytes_at(a, begin * A[a].size), 0, (size_t)(n * A[a].size));
  (void)t;
}

static void set_all(int a, long t)
{
  memset(A[a].p, 0, bytes_of(a));
  (void)t;
}

static void move(int a, long t)
{
  long from = below(1000), to = below(1000);
  memmove(bytes_at(a, to * A[a].size), bytes_at(a, from * A[a].size), (size_t)((A[a].n - 1000) * A[a].size));
  (void)t;
}

static int compare(const void *a, const void *b)
{
  return memcmp(a, b, 1);
}

static int compare_and_leave(const void *a, const void *b)
{
  static int count;
  if (++count % 100 == 0)
    longjmp(back, 1);
  return memcmp(a, b, 1);
}

static void sort(int a, long t)
{
  if ((a = plain()) < 0)
    return;
  long n = between(2, 3000);
  unsigned char *at = (unsigned char *)bytes_at(a, below((long)bytes_of(a) - n));
  qsort(at, (size_t)n, 1, compare);
  show("sorted", t, at, (size_t)n);
}

/* The C library's sort, left in its midst; it may have a copy of all. */
static void sort_and_leave(int a, long t)
{
  if ((a = plain()) < 0)
    return;
  unsigned char copy[1000];
  memcpy(copy, A[a].p, 1000);
  if (setjmp(back) == 0)
    qsort(A[a].p, 1000, 1, compare_and_leave);
  memcpy(A[a].p, copy, 1000);
  (void)t;
}

static void copy_all(int a, long t)
{
  int b = alike(a);
  if (b >= 0)
    memcpy(A[b].p, A[a].p, (size_t)least((long)bytes_of(a), (long)bytes_of(b)));
  (void)t;
}

static void copy_part(int a, long t)
{
  int b = alike(a);
  if (b < 0)
    return;
  long n = below(least(A[a].n, A[b].n) / 2), from = below(A[a].n - n), to = below(A[b].n - n);
  memcpy(bytes_at(b, to * A[b].size), bytes_at(a, from * A[a].size), (size_t)(n * A[a].size));
  (void)t;
}

/* Copied by an instruction, not by the C library. */
static void copy_in_place(int a, long t)
{
  long n = below(A[a].n / 2);
  char *from = bytes_at(a, 0), *to = bytes_at(a, (A[a].n - n) * A[a].size);
  memmove(to, from, (size_t)(n * A[a].size));
#ifdef __x86_64__
  long bytes = n * A[a].size;
  from = bytes_at(a, 0), to = bytes_at(a, (A[a].n - n) * A[a].size);
  __asm__ volatile("rep movsb" : "+S"(from), "+D"(to), "+c"(bytes) : : "memory");
#endif
  (void)t;
}

static void swap(int a, long t)
{
  int b = alike(a);
  if (b < 0)
    return;
  struct array other = A[a];
  A[a] = A[b];
  A[b] = other;
  (void)t;
}

static void compare_two(int a, long t)
{
  int b = alike(a);
  if (b >= 0)
    printf("same %ld: %d\n", t, memcmp(A[a].p, A[b].p, (size_t)least((long)bytes_of(a), (long)bytes_of(b))) == 0);
}

static void through_pipe(int a, long t)
{
  long n = between(1, 60000);
  check(write(pipes[1], bytes_at(a, below((long)bytes_of(a) - n)), (size_t)n) == n, "write");
  check(read(pipes[0], room, (size_t)n) == n, "read");
  show("pipe", t, room, (size_t)n);
}

/* From one array into another. */
static void pipe_between(int a, long t)
{
  int b = alike(a);
  if (b < 0)
    return;
  long n = between(1, 60000 / A[a].size), from = below(A[a].n - n), to = below(A[b].n - n);
  size_t bytes = (size_t)(n * A[a].size);
  check(write(pipes[1], bytes_at(a, from * A[a].size), bytes) == (ssize_t)bytes, "write");
  check(read(pipes[0], bytes_at(b, to * A[b].size), bytes) == (ssize_t)bytes, "read");
  (void)t;
}

static void vectors(int a, long t)
{
  size_t n = (size_t)between(1, 30000);
  int b = (int)below(COUNT);
  struct iovec from[2] = {{bytes_at(a, below(5000)), n}, {bytes_at(b, below(5000)), n}}, to[2] = {{room, n}, {room + n, n}};
  check(writev(pipes[1], from, 2) == (ssize_t)(2 * n), "writev");
  check(readv(pipes[0], to, 2) == (ssize_t)(2 * n), "readv");
  show("vectors", t, room, 2 * n);
}

static void message(int a, long t)
{
  int ends[2];
  size_t n = (size_t)between(1, 20000);
  check(socketpair(AF_UNIX, SOCK_STREAM, 0, ends) == 0, "socketpair");
  struct iovec part = {bytes_at(a, below(40000)), n};
  struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1};
  check(sendmsg(ends[0], &message, 0) == (ssize_t)n, "sendmsg");
  check(recv(ends[1], room, n, MSG_WAITALL) == (ssize_t)n, "recv");
  close(ends[0]);
  close(ends[1]);
  show("message", t, room, n);
}

static void through_file(int a, long t)
{
  size_t n = (size_t)between(1, A[a].n), size = (size_t)A[a].size;
  int file = fileno(scratch);
  rewind(scratch);
  if (below(2))
    check(fwrite(A[a].p, size, n, scratch) == n && fflush(scratch) == 0, "fwrite");
  else
    check(pwrite(file, A[a].p, size * n, 0) == (ssize_t)(size * n), "pwrite");
  put(a, (long)n - 1, t % 5);
  void *seen;
  switch (below(4)) {
  case 0:
    rewind(scratch);
    check(fread(A[a].p, size, n, scratch) == n, "fread");
    break;
  case 1:
    check(pread(file, A[a].p, size * (n / 2), 0) == (ssize_t)(size * (n / 2)), "pread");
    break;
  case 2:
    seen = mmap(NULL, size * n, PROT_READ, MAP_SHARED, file, 0);
    check(seen != MAP_FAILED, "mmap");
    show("file", t, seen, size * n);
    munmap(seen, size * n);
    break;
  default:
    lseek(file, 0, SEEK_SET);
    check(read(file, A[a].p, size * n) == (ssize_t)(size * n), "read");
  }
}

static void to_stream(int a, long t)
{
  char *text;
  size_t length;
  FILE *stream = open_memstream(&text, &length);
  check(stream != NULL, "open_memstream");
  check(fwrite(A[a].p, 1, bytes_of(a), stream) == bytes_of(a), "fwrite");
  fclose(stream);
  show("stream", t, text, length);
  free(text);
}

static void from_command(int a, long t)
{
  if ((a = plain()) < 0)
    return;
  fflush(stdout);
  FILE *stream = popen("echo what is said; echo and more", "r");
  check(stream != NULL, "popen");
  printf("command %ld: %d", t, (int)fread(bytes_at(a, below(50000)), 1, 100, stream));
  printf(" %d\n", pclose(stream));
}

static void child(int a, long t)
{
  fflush(stdout);
  pid_t child = fork();
  if (child == 0) {
    show("child", t, A[a].p, bytes_of(a));
    if (A[a].kind != SHARED)
      write_some(a, t);
    show("child", t, A[a].p, bytes_of(a));
    fflush(stdout);
    _exit(7);
  }
  int status;
  check(waitpid(child, &status, 0) == child, "waitpid");
  printf("child %ld: %d\n", t, WEXITSTATUS(status));
}

static void *in_thread(void *which)
{
  int a = *(int *)which;
  uint64_t *sum = malloc(sizeof *sum);
  *sum = hash(A[a].p, bytes_of(a));
  if (A[a].kind != SHARED)
    put(a, 77, 3);
  return sum;
}

static void thread(int a, long t)
{
  pthread_t thread;
  void *sum;
  check(pthread_create(&thread, NULL, in_thread, &a) == 0, "pthread_create");
  pthread_join(thread, &sum);
  printf("thread %ld: %llx\n", t, *(unsigned long long *)sum);
  free(sum);
}

/* Goes some frames down and comes back frame by frame or at once. */
static uint64_t descend(int depth, int a, int leaves)
{
  char frame[3000];
  memset(frame, depth, sizeof frame);
  if (depth == 0) {
    if (leaves)
      longjmp(back, 1);
    return hash(A[a].p, 5000);
  }
  uint64_t sum = descend(depth - 1, a, leaves);
  return sum * 31 + hash(frame, 10);
}

static void down(int a, long t)
{
  printf("down %ld: %llx\n", t, (unsigned long long)descend((int)between(1, 60), a, 0));
}

static void jump(int a, long t)
{
  int depth = (int)between(1, 40);
  if (setjmp(back) == 0)
    descend(depth, a, 1);
  (void)t;
}

static int signalled;

static void on_signal(int signal)
{
  (void)signal;
  put(signalled, 100, got % 30);
  got += 1 + (get(signalled, 3000) > 4);
}

static void signal_once(int a, long t)
{
  signalled = a;
  signal(SIGUSR1, on_signal);
  raise(SIGUSR1);
  signal(SIGUSR1, SIG_DFL);
  printf("signal %ld: %d\n", t, (int)got);
}

static void mask(int a, long t)
{
  if ((a = plain()) < 0)
    return;
  sigset_t *set = (sigset_t *)((char *)A[a].p + 8192), before;
  sigemptyset(set);
  sigaddset(set, SIGUSR2);
  check(sigprocmask(SIG_BLOCK, set, &before) == 0, "sigprocmask");
  check(sigprocmask(SIG_UNBLOCK, set, NULL) == 0, "sigprocmask");
  (void)t;
}

static void atomic(int a, long t)
{
  if ((a = plain()) >= 0)
    printf("atomic %ld: %u\n", t, __atomic_fetch_add((uint32_t *)A[a].p + below(15000), 3, __ATOMIC_SEQ_CST));
}

static void text(int a, long t)
{
  if ((a = plain()) < 0)
    return;
  char *at = bytes_at(a, ONE_OF(0, 4090, 8190, 20001));
  snprintf(at, 60, "time %ld of many, %ld", t, below(1000));
  printf("%s\n", at);
  *bytes_at(a, between(50000, 60000)) = 0;
  printf("length %ld: %zu %d\n", t, strlen(bytes_at(a, below(20000))), memchr(A[a].p, 'o', 50000) != NULL);
}

/* What the system tells, into the array, and away with it. */
static void told(int a, long t)
{
  if ((a = plain()) < 0)
    return;
  long begin = below(40000) & ~15, length = 4096;
  char *at = bytes_at(a, begin);
  struct timespec *time = (struct timespec *)at;
  int done = 0;
  switch (below(9)) {
  case 0: done = getcwd(at, (size_t)length) != NULL; break;
  case 1: done = clock_gettime(CLOCK_MONOTONIC, time) == 0; break;
  case 2: done = uname((struct utsname *)at) == 0; break;
  case 3: done = fstat(pipes[0], (struct stat *)at) == 0; break;
  case 4: strcpy(at, "/"); done = access(at, R_OK) == 0; break;
  case 5: done = readlink("/proc/self/exe", at, (size_t)length) > 0; break;
  case 6: done = prctl(PR_GET_NAME, at) == 0; break;
  case 7: *(struct pollfd *)at = (struct pollfd){pipes[1], POLLOUT, 0}; done = poll((struct pollfd *)at, 1, 0) == 1; break;
  default: *time = (struct timespec){0, 1000}; done = nanosleep(time, time) == 0; break;
  }
  printf("told %ld: %d\n", t, done);
  memset(at, (int)t, (size_t)length);
}

static void across_pages(int a, long t)
{
  uint64_t word;
  memcpy(&word, bytes_at(a, 4096 * between(1, 15) - below(8) - (A[a].kind == HEAP ? 16 : 0)), sizeof word);
  printf("word %ld: %llx\n", t, (unsigned long long)word);
}

static void grow(int a, long t)
{
  if ((a = of_kind(HEAP)) < 0 || bytes_of(a) > 500000)
    return;
  long n = A[a].n, more = n + ONE_OF(1, 100, 5000);
  A[a].p = realloc(A[a].p, (size_t)(more * A[a].size));
  check(A[a].p != NULL, "realloc");
  begin(a, n, more - n, t);
  A[a].n = more;
}

static void shrink(int a, long t)
{
  if ((a = of_kind(HEAP)) < 0 || bytes_of(a) < 90000)
    return;
  A[a].n = A[a].n * between(70, 99) / 100;
  A[a].p = realloc(A[a].p, bytes_of(a));
  check(A[a].p != NULL, "realloc");
  (void)t;
}

static void renew(int a, long t)
{
  if ((a = of_kind(HEAP)) < 0)
    return;
  free(A[a].p);
  long use = below(3);
  char *other[20];
  if (use == 2) {
    for (int k = 0; k < 20; k++)
      other[k] = memset(malloc(7000), k, 7000);
    for (int k = 0; k < 20; k++)
      show("other", t, other[k], 7000);
  }
  A[a].p = use == 1 ? calloc(1, bytes_of(a)) : malloc(bytes_of(a));
  check(A[a].p != NULL, "malloc");
  if (use != 1)
    begin(a, 0, A[a].n, t);
  if (use == 2)
    for (int k = 0; k < 20; k++)
      free(other[k]);
}

/* Two at once: each may get what the other one has had. */
static void renew_two(int a, long t)
{
  int b;
  if ((a = of_kind(HEAP)) < 0 || (b = of_kind(HEAP)) == a)
    return;
  free(A[a].p);
  free(A[b].p);
  if (below(3) == 0)
    malloc_trim(0);
  A[b].p = malloc(bytes_of(b));
  A[a].p = calloc(1, bytes_of(a));
  check(A[a].p != NULL && A[b].p != NULL, "malloc");
  begin(b, 0, A[b].n, t);
}

static void unmap(int a, long t)
{
  if ((a = of_kind(MAPPED)) < 0)
    return;
  munmap(A[a].p, bytes_of(a));
  A[a].p = mmap(NULL, bytes_of(a), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  check(A[a].p != MAP_FAILED, "mmap");
  (void)t;
}

/* In whole elements of all sizes: pages, and three of them. */
static void map_over(int a, long t)
{
  if ((a = of_kind(MAPPED)) < 0 || below(3))
    return;
  void *at = bytes_at(a, 12288 * below(4));
  check(mmap(at, 12288, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) == at, "mmap");
  /* Where it had moved it is several mappings now, which mremap takes or doesn't. */
  A[a].kind = FIXED;
  (void)t;
}

static void give_back(int a, long t)
{
  if ((a = of_kind(MAPPED)) < 0)
    return;
  check(madvise(bytes_at(a, 12288 * below(4)), (size_t)(12288 * between(1, 2)), MADV_DONTNEED) == 0, "madvise");
  (void)t;
}

static void remap(int a, long t)
{
  if ((a = of_kind(MAPPED)) < 0)
    return;
  size_t more = bytes_of(a) + (size_t)(bytes_of(a) < 500000 ? 12288 * below(3) : 0);
  A[a].p = mremap(A[a].p, bytes_of(a), more, MREMAP_MAYMOVE);
  check(A[a].p != MAP_FAILED, "mremap");
  (void)t;
}

static void protect(int a, long t)
{
  if ((a = of_kind(MAPPED)) < 0)
    return;
  size_t bytes = below(2) ? bytes_of(a) : 12288;
  check(mprotect(A[a].p, bytes, PROT_READ) == 0, "mprotect");
  show("protected", t, A[a].p, 12288);
  check(mprotect(A[a].p, bytes, PROT_READ | PROT_WRITE) == 0, "mprotect");
}

/* Kernels where one doesn't expect them. */
static void do_one(int deed, int a, long t);

static int calls_left;

static int compare_by_kernel(const void *a, const void *b)
{
  if (calls_left > 0 && calls_left-- % 8 == 0)
    do_one((int)below(KERNELS), 0, calls_left);
  return memcmp(a, b, 1);
}

static void kernel_in_sort(int a, long t)
{
  unsigned char own[200];
  if ((a = plain()) < 0)
    return;
  memcpy(own, A[a].p, sizeof own);
  calls_left = 17;
  qsort(own, sizeof own, 1, compare_by_kernel);
  show("sorted", t, own, sizeof own);
}

static void on_kernel(int signal)
{
  (void)signal;
  do_one((int)below(KERNELS), 0, 3);
}

static void kernel_in_handler(int a, long t)
{
  signal(SIGUSR1, on_kernel);
  do_one((int)below(KERNELS), 0, t);
  raise(SIGUSR1);
  signal(SIGUSR1, SIG_DFL);
  write_one(a, t);
}

static void *thread_of_kernel(void *t)
{
  do_one((int)below(KERNELS), 0, *(long *)t);
  return NULL;
}

static void kernel_in_thread(int a, long t)
{
  pthread_t thread;
  check(pthread_create(&thread, NULL, thread_of_kernel, &t) == 0, "pthread_create");
  pthread_join(thread, NULL);
  read_one(a, t);
}

static void kernel_in_child(int a, long t)
{
  fflush(stdout);
  for (int b = 0; b < COUNT; b++)
    if (A[b].kind == SHARED)
      return;
  pid_t child = fork();
  if (child == 0) {
    for (int k = 0; k < 3; k++)
      do_one((int)below(KERNELS), 0, t + k);
    show("child", t, A[a].p, bytes_of(a));
    fflush(stdout);
    _exit(0);
  }
  int status;
  check(waitpid(child, &status, 0) == child, "waitpid");
  printf("child %ld: %d\n", t, status);
}

/* Twice with something in between, as a time loop of its own, on a stack that a call made. */
static void kernels_deep(int a, long t)
{
  volatile char frame[50000];
  frame[t % 50000] = 1;
  int one = (int)below(KERNELS), other = (int)below(KERNELS), deed = KERNELS + (int)below(OFTEN);
  uint64_t before = state;
  for (int k = 0; k < 3; k++) {
    state = before;
    do_one(one, a, t + k);
    do_one(other, a, t + k);
    if (k == 1 && deed != KERNELS_DEEP && deed != KERNELS_DEEP + 1)
      do_one(deed, a, t);
  }
}

/* Something done by another thread, for which this one waits. */
struct errand { int a; long t; };

static void *on_errand(void *argument)
{
  struct errand *errand = argument;
  do_one(KERNELS + (int)below(OFTEN), errand->a, errand->t);
  return NULL;
}

static void errand(int a, long t)
{
  struct errand errand = {a, t};
  pthread_t thread;
  check(pthread_create(&thread, NULL, on_errand, &errand) == 0, "pthread_create");
  pthread_join(thread, NULL);
}

/* Threads that load and store at once, each some elements, which share pages; and hand parts of the array to the system. */
struct share { int a, first, step, pipe[2]; long n; uint64_t sum; char copy[4000]; };

static void *at_share(void *argument)
{
  struct share *share = argument;
  for (long i = share->first; i < share->n; i += share->step) {
    share->sum = share->sum * 31 + (uint64_t)(int64_t)get(share->a, i);
    if (i % 5 == 0)
      put(share->a, i, i % 50 + share->first);
  }
  return NULL;
}

/* The same, of what nobody stores to. */
static void *at_part(void *argument)
{
  struct share *share = argument;
  const char *from = bytes_at(share->a, share->first * 4000);
  check(write(share->pipe[1], from, 4000) == 4000 && read(share->pipe[0], share->copy, 4000) == 4000, "a pipe");
  share->sum = hash(share->copy, 4000);
  return NULL;
}

static void threads_at_once(int a, long t)
{
  static struct share shares[3];
  pthread_t threads[3];
  int count = (int)between(2, 3), is_stored = (int)below(2) && A[a].kind != SHARED;
  long n = least(A[a].n, between(5000, 60000));
  for (int k = 0; k < count; k++) {
    shares[k] = (struct share){.a = a, .first = k + (int)(is_stored ? 0 : below(15)), .step = count * (is_stored ? 1 : 17), .n = n};
    check(pipe(shares[k].pipe) == 0, "a pipe");
    check(pthread_create(&threads[k], NULL, is_stored ? at_share : at_part, &shares[k]) == 0, "pthread_create");
  }
  for (int k = 0; k < count; k++) {
    pthread_join(threads[k], NULL);
    close(shares[k].pipe[0]);
    close(shares[k].pipe[1]);
    printf("share %d %ld: %llx\n", k, t, (unsigned long long)shares[k].sum);
  }
}

/* One that waits, in a call or on its feet, while this one does other things. */
static volatile int has_begun, is_over;

static void *in_waiting(void *argument)
{
  struct share *share = argument;
  char byte;
  share->sum = (uint64_t)(int64_t)get(share->a, 100);
  has_begun = 1;
  if (share->first)
    while (!is_over)
      ;
  check(read(share->pipe[0], &byte, 1) == 1, "a pipe");
  if (A[share->a].kind != SHARED)
    put(share->a, 200, byte);
  return NULL;
}

static void company(int a, long t)
{
  static struct share share;
  pthread_t thread;
  share = (struct share){.a = a, .first = (int)below(2)};
  has_begun = is_over = 0;
  check(pipe(share.pipe) == 0 && pthread_create(&thread, NULL, in_waiting, &share) == 0, "pthread_create");
  while (!has_begun)
    ;
  for (int k = 0; k < 3; k++)
    do_one(KERNELS + (int)below(PLAIN), a, t + k);
  if (below(3) == 0)
    do_one((int)below(KERNELS), a, t);
  is_over = 1;
  check(write(share.pipe[1], "x", 1) == 1, "a pipe");
  pthread_join(thread, NULL);
  close(share.pipe[0]);
  close(share.pipe[1]);
  printf("company %ld: %llx\n", t, (unsigned long long)share.sum);
}

static void small_pieces(int a, long t)
{
  void *all[30];
  for (int k = 0; k < 30; k++) {
    size_t bytes = (size_t)ONE_OF(24, 1000, 5000, 40000, 140000);
    all[k] = memset(malloc(bytes), k + a, bytes);
  }
  show("pieces", t, all[below(30)], 24);
  for (int k = 0; k < 30; k++)
    free(all[k]);
}
"""

# Some of these come less often: they bring everything home.
OFTEN = ["read_one", "write_one", "write_some", "read_some", "ends", "show_part", "set_part", "set_all", "move", "sort", "copy_all", "copy_part", "copy_in_place", "swap",
         "compare_two", "through_pipe", "pipe_between", "vectors", "through_file", "to_stream", "down", "jump", "mask", "atomic", "text", "told", "across_pages", "grow", "shrink", "renew",
         "renew_two", "unmap", "map_over", "give_back", "remap", "small_pieces", "sort_and_leave", "kernel_in_sort", "kernels_deep", "kernels_deep",
         "errand", "errand", "threads_at_once", "threads_at_once", "threads_at_once", "company", "company"]
# Of those, so many change no array's place, which a thread that waits would come back to.
PLAIN = OFTEN.index("grow")
SELDOM = ["show_all", "message", "from_command", "child", "thread", "signal_once", "protect", "kernel_in_handler", "kernel_in_thread", "kernel_in_child"]

MAIN = r"""
static void *of_file(size_t bytes)
{
  FILE *file = tmpfile();
  check(file != NULL && ftruncate(fileno(file), (off_t)bytes) == 0, "a file");
  return mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE, fileno(file), 0);
}

static void at_exit(void)
{
  do_one((int)below(KERNELS), 0, 1);
  for (int a = 0; a < COUNT; a++)
    show("at exit", a, A[a].p, bytes_of(a));
}

struct slot { int deed, often, when; uint64_t seed; int is_steady; };

static void act(const struct slot *slot, long t)
{
  if (t % slot->often != slot->when)
    return;
  state = slot->seed + (slot->is_steady ? 0 : (uint64_t)t * 0x9e3779b97f4a7c15u);
  state |= 1;
  for (int k = 0; k < 5; k++)
    below(2);
  do_one(slot->deed, (int)below(COUNT), t);
}

int main(int argc, char **argv)
{
  uint64_t number = argc > 1 ? strtoull(argv[1], NULL, 10) : 1;
  state = (number + 1) * 0x9e3779b97f4a7c15u | 1;
  for (int k = 0; k < 20; k++)
    below(2);
  setvbuf(stdout, NULL, _IOFBF, 4096);
  scratch = tmpfile();
  check(scratch != NULL && pipe(pipes) == 0, "files");
  int in_pieces = below(3) == 0, on_stack = below(4) == 0;
  char own[300000] __attribute__((aligned(16)));
  for (int a = 0; a < COUNT; a++) {
    long size = SIZES[a], n = between(90000, ONE_OF(150000, 300000, 300000, 600000)) / size;
    enum kind kind = HEAP;
    void *p = NULL;
    size_t bytes = (size_t)(n * size);
    if (in_pieces && a < 3) {
      p = piece[a] + ONE_OF(0, 8, 64, 4096, 24), kind = FIXED;
    } else if (on_stack && a == 3) {
      n = least(n, 300000 / size);
      p = own, kind = FIXED;
    } else switch (below(12)) {
    case 10: p = a < 2 ? of_thread[a] : fixed[a], kind = FIXED; break;
    case 0: case 1: case 2: p = malloc(bytes); break;
    case 3: p = calloc((size_t)n, (size_t)size); break;
    case 4: p = aligned_alloc(4096, (bytes + 4095) & ~4095ul), kind = FIXED; break;
    case 5: case 6: case 7: p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0), kind = MAPPED; break;
    case 8: p = below(3) ? malloc(bytes + 8) : of_file(bytes), kind = FIXED; break;
    case 9: p = below(3) ? (char *)malloc(bytes + 8) + 8 : mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0), kind = SHARED; break;
    default: p = fixed[a], kind = FIXED;
    }
    check(p != NULL && p != MAP_FAILED, "memory");
    A[a] = (struct array){p, n, size, kind};
    begin(a, 0, n, a);
  }
  struct slot slots[24];
  int count = (int)between(6, 24), steps = (int)between(6, 16), kernels = (int)between(40, 90), is_quiet = (int)below(3);
  for (int k = 0; k < count; k++) {
    struct slot *slot = &slots[k];
    slot->often = (int)ONE_OF(1, 1, 1, 2, 3, 5);
    slot->when = (int)below(slot->often);
    slot->is_steady = below(3) > 0;
    slot->seed = state;
    slot->deed = (int)(below(100) < kernels ? below(KERNELS) : KERNELS + below(DEEDS));
    while (is_quiet && slot->deed >= KERNELS + OFTEN)
      slot->deed = KERNELS + (int)below(OFTEN);
  }
  /* What is on the stack is gone by then. */
  if (!on_stack && below(3) == 0)
    atexit(at_exit);
  for (volatile long time = 0; time < steps; time++)
    for (volatile int k = 0; k < count; k++)
      act(&slots[k], time);
  for (int a = 0; a < COUNT; a++)
    show("array", a, A[a].p, bytes_of(a));
  fflush(stdout);
  switch (below(6)) {
  case 0: exit(3);
  case 1: _exit(5);
  case 2: check(write(1, "end\n", 4) == 4, "write"); return 0;
  case 3: if (hash(A[0].p, bytes_of(0)) % 4 == 1) abort(); return 0;
  default: return 0;
  }
}
"""


class Program:
    def __init__(self, seed):
        dice = Dice(f"program {seed}")
        leaves_all = not dice.once_in(3)
        self.kernels = [kernel(n, dice, leaves_all) for n in range(10)]
        # Types that the first kernels need, the first of them twice or three times, until there are enough arrays.
        self.types = [self.kernels[0].types[0]] * dice.between(2, 3)
        count = dice.between(4, 7)
        for t in (t for k in self.kernels for t in k.types):
            if len(self.types) < count and self.types.count(t) < 3:
                self.types.append(t)
        self.kernels = [k for k in self.kernels if all(t in self.types for t in k.types)]

    def texts(self):
        """Of main.c and kernels.c."""
        names = sorted(set(self.types))
        tables = (f"enum {{ COUNT = {len(self.types)}, KERNELS = {len(self.kernels)}, OFTEN = {len(OFTEN)}, PLAIN = {PLAIN}, DEEDS = {len(OFTEN) + len(SELDOM)}, "
                  + f"KERNELS_DEEP = {len(self.kernels) + OFTEN.index('kernels_deep')} }};\n"
                  + f"static const int IS_PLAIN[COUNT] = {{{', '.join(str(int(not has_floats(t))) for t in self.types)}}};\n"
                  + f"static const int TYPES[COUNT] = {{{', '.join(str(names.index(t)) for t in self.types)}}};\n"
                  + f"static const long SIZES[COUNT] = {{{', '.join(str(SIZE[t]) for t in self.types)}}};\n")
        prototypes = "".join("extern " + k.head() + ";\n" for k in self.kernels)
        calls = "".join(self.call(k) for k in self.kernels)
        deeds = [f"call_{k.name}" for k in self.kernels] + OFTEN + SELDOM
        table = "".join(f"  case {number}: {deed}(a, t); break;\n" for number, deed in enumerate(deeds))
        do_one = f"\nstatic void do_one(int deed, int a, long t)\n{{\n  switch (deed) {{\n{table}  }}\n}}\n"
        main = COMMON + declarations() + tables + PRELUDE + prototypes + self.elements() + DEEDS + calls + do_one + MAIN
        return main, COMMON + declarations() + "".join("\n" + k.text for k in self.kernels)

    def elements(self):
        """Functions that load and store one element, or set many."""
        gets, puts, begins = "", "", ""
        for a, t in enumerate(self.types):
            members = [m.replace("3", "1") for _, m in STRUCTS[t]] if is_struct(t) else [""]
            at = lambda m, i: f"(({t} *)A[{a}].p)[{i}]" + ("." + m if m else "")
            whole = " + ".join(f"(double){at(m, 'i')}" for m in members)
            gets += f"  case {a}: return {whole};\n"
            puts += f"  case {a}: {at(members[-1], 'i')} = ({'double' if is_float(t) else 'int'})v; break;\n"
            sets = " ".join(f"{at(m, 'i')} = (uint8_t)((i * 3 + v) % 89);" for m in members)
            begins += f"  case {a}: for (long i = from; i < from + n; i++) {{ {sets} }} break;\n"
        return (f"\nstatic double get(int a, long i)\n{{\n  switch (a) {{\n{gets}  }}\n  return 0;\n}}\n"
                f"\nstatic void put(int a, long i, long v)\n{{\n  switch (a) {{\n{puts}  }}\n}}\n"
                f"\nstatic void begin(int a, long from, long n, long v)\n{{\n  memset(bytes_at(a, from * A[a].size), 0, (size_t)(n * A[a].size));\n"
                f"  switch (a) {{\n{begins}  }}\n}}\n")

    def call(self, k):
        """A function that hands arrays to a kernel."""
        lists = [[a for a, other in enumerate(self.types) if other == t] for t in k.types]
        count = len(k.types)
        picks = ", ".join(f"(int)ONE_OF({', '.join(map(str, one))})" for one in lists)
        pointers = ", ".join(f"({t} *)A[p[{i}]].p + off[{i}]" for i, t in enumerate(k.types))
        call = f"{k.name}(n, {pointers}, t)"
        if k.result:
            call = f'printf("{k.name} %ld: %llu\\n", t, (unsigned long long){call})'
        may_meet = "below(6) == 0" if "restrict" not in k.text else "0"
        return f"""
static void call_{k.name}(int a, long t)
{{
  int p[{count}], is_same, tries = 0, may_meet = {may_meet};
  long off[{count}] = {{0}}, n = 1 << 30, part = below(7);
  do {{
    int chosen[{count}] = {{{picks}}};
    is_same = 0;
    for (int i = 0; i < {count}; i++) {{
      p[i] = chosen[i];
      for (int j = 0; j < i; j++)
        is_same |= p[i] == p[j];
    }}
  }} while (is_same && !may_meet && ++tries < 8);
  if (is_same && !may_meet)
    return;
  for (int i = 0; i < {count}; i++)
    n = least(n, A[p[i]].n);
  if (part == 1 || part == 2) {{
    /* Parts behind each one's first elements; or anywhere. */
    long most = part == 1 ? ONE_OF(1, 17, 600, 2000) : n / 3;
    n -= most;
    for (int i = 0; i < {count}; i++)
      off[i] = below(most + 1);
  }} else if (part == 3) {{
    n /= 2;
    for (int i = 0; i < {count}; i++)
      off[i] = is_same ? i % 2 * n : below(2) * n;
  }} else if (part == 4) {{
    n -= n * (t % 4) / 5 + below(30);
  }}
  for (long times = below(4) ? 1 : between(2, 5); times > 0; times--)
    {call};
  (void)a;
}}
"""


def has_floats(t):
    return is_float(t) or is_struct(t) and any(is_float(k) for k, _ in STRUCTS[t])


def main():
    seed, folder = int(sys.argv[1]), sys.argv[2]
    os.makedirs(folder, exist_ok=True)
    for name, content in zip(("main.c", "kernels.c"), Program(seed).texts()):
        with open(os.path.join(folder, name), "w") as file:
            file.write(content)


if __name__ == "__main__":
    main()
