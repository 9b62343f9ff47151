//! Random loops for the oracle: affine, modulo, wrapping and indirect subscripts, subscripts that the loop itself stores, walked
//! pointers, bounds and bases in memory, conditions, reductions, extremes, histograms, private arrays, bytes of elements, calls (of
//! libm, too) and nests, over arrays that lie apart, overlap at every distance, or are the same.
//!
//! Each is one text for both compilations (`c-tests/oracle/shadow.h`). Whether it carries a dependence is not known here.

mod forms;
mod statements;

use super::numbers::Random;
use std::fmt::Write;

/// Distances, in elements, at which dependences are planted: around the width of a warp, and far.
const DISTANCES: [usize; 7] = [0, 1, 2, 31, 32, 33, 1000];

/// One loop of a program.
pub struct Loop {
    /// Lines in `loops.h` of its loop, and of the one inside.
    pub line: u64,
    /// See `line`.
    pub inner_line: Option<u64>,
    /// Whether the loop is nothing but the one inside.
    pub is_perfect: bool,
    /// What it is made of, for reports.
    pub form: &'static str,
    /// Whether a scalar carries a value from one iteration to the next in a way that data decides on. What the shadow sees
    /// is memory only.
    pub carries: bool,
}

/// A program: `loops.h`, and the main program around it.
pub struct Program {
    pub loops_h: String,
    pub main_c: String,
    pub loops: Vec<Loop>,
}

struct Array {
    name: &'static str,
    ty: &'static str,
    arena: usize,
    offset: usize,
}

struct Generator<'a> {
    random: &'a mut Random,
    /// Types that alias only where C lets them.
    strict: bool,
    arrays: Vec<Array>,
    nested: bool,
    indirect: bool,
    /// Labels used so far.
    labels: usize,
    /// See [`Loop::carries`].
    carries: bool,
}

/// Types of elements: all unsigned, so that no arithmetic overflows.
const TYPES: [(&str, usize); 4] =
    [("unsigned char", 1), ("unsigned short", 2), ("unsigned", 4), ("unsigned long", 8)];

impl Generator<'_> {
    fn chance(&mut self, one_in: usize) -> bool {
        self.random.below(one_in) == 0
    }

    /// Lays the arrays out. `ix` and `bound` hold ints.
    fn place_arrays(&mut self) {
        let shared = *self.random.pick(&TYPES);
        let apart = self.random.below(3) == 0;
        for (number, name) in ["a", "b", "c", "ix", "bound"].into_iter().enumerate() {
            let int = number >= 3;
            let (ty, width) = if int {
                ("int", 4)
            } else if self.strict || self.chance(2) {
                if self.chance(6) { TYPES[0] } else { shared }
            } else {
                *self.random.pick(&TYPES)
            };
            let (mut arena, mut offset) = (number % 3, 4096 * (1 + number / 3) + 64 * self.random.below(8));
            if number >= 3 {
                // Index arrays and bounds lie behind what is stored, unless they are planted below.
                offset = 56 * 1024 + (number - 3) * 6 * 1024;
            }
            let may_alias = !self.strict || !int;
            if number > 0 && !apart && may_alias && self.random.below(if name == "ix" { 6 } else { 2 }) == 0 {
                let other = &self.arrays[self.random.below(number.min(3))];
                let alike = !self.strict || other.ty == ty || other.ty == TYPES[0].0 || ty == TYPES[0].0;
                if alike {
                    let (other_arena, other_offset) = (other.arena, other.offset);
                    let distance = width * self.random.pick(&DISTANCES);
                    arena = other_arena;
                    offset = match self.chance(2) && other_offset > distance {
                        true => other_offset - distance,
                        false => other_offset + distance,
                    };
                    offset -= offset % width;
                }
            }
            self.arrays.push(Array { name, ty, arena, offset });
        }
    }

    /// Lays the arrays out so that they have nothing in common, but for two that overlap where their types may.
    fn move_apart(&mut self, overlapping: Option<(&str, &str)>) {
        for (number, array) in self.arrays.iter_mut().take(3).enumerate() {
            (array.arena, array.offset) = (number, 4096);
        }
        let Some((x, y)) = overlapping else { return };
        let [x, y] = [x, y].map(|name| self.arrays.iter().position(|a| a.name == name).expect("an array"));
        let (of_x, of_y) = (self.arrays[x].ty, self.arrays[y].ty);
        if !self.strict || of_x == of_y || [of_x, of_y].contains(&TYPES[0].0) {
            let distance = 8 * *self.random.pick(&[0, 0, 1, 5, 32]);
            (self.arrays[y].arena, self.arrays[y].offset) = (self.arrays[x].arena, 4096 + distance);
        }
    }

    fn array(&mut self) -> &'static str {
        ["a", "b", "c"][self.random.below(3)]
    }
}

/// The program of a seed with `count` loops. `strict`: it obeys the rules for types that alias.
pub fn program(random: &mut Random, count: usize, strict: bool) -> Program {
    let mut loops_h = String::from(
        "/* Made by tests/oracle/loops.rs. */\nstatic int bounded(int value, int low, int high)\n{\n  return value < low ? low : value > high ? high : value;\n}\n\
         static unsigned twisted(unsigned x)\n{\n  x ^= x >> 3;\n  return x * 2654435761u;\n}\n\
         static unsigned waved(unsigned x)\n{\n  return (unsigned)(sin((double)x) * 30.0 + 31.0);\n}\n\
         static unsigned chosen(unsigned x, unsigned y)\n{\n  unsigned least = x;\n  if (y < least)\n    least = y;\n  if (least > 9) {\n    \
         if (x == y)\n      return 1;\n    return least & 31;\n  }\n  return twisted(x);\n}\n",
    );
    for (number, (ty, _)) in TYPES.iter().enumerate() {
        let _ = writeln!(
            loops_h,
            "static unsigned got_{number}(const {ty} *from, long at)\n{{\n  return (unsigned)R(from[at]);\n}}\n\
             static void put_{number}({ty} *to, long at, unsigned value)\n{{\n  W(to[at]) = (value >> 1) & 63;\n  if (value & 4)\n    W(to[at]) = 7;\n}}\n\
             static unsigned total_{number}(const {ty} *from, int count)\n{{\n  unsigned sum = 0;\n  for (int k = 0; k < count; k++)\n    sum += (unsigned)R(from[k]);\n  return sum;\n}}"
        );
    }
    let mut main_c = String::from(
        "#include <math.h>\n#include <stdio.h>\n#include <stdlib.h>\n#include <string.h>\n#include \"shadow.h\"\n\
         extern int table[];\nextern unsigned counts[];\nstatic unsigned state;\n\
         static unsigned random_number(void)\n{\n  state ^= state << 13, state ^= state >> 17, state ^= state << 5;\n  return state;\n}\n\
         static void fill(void)\n{\n  state = 12345;\n  for (int w = 0; w < ARENAS; w++)\n    for (int t = 0; t < ARENA_BYTES; t++)\n      arena[w][t] = random_number() & 63;\n}\n\
         #define NAME(k) shadow_##k\n#include \"loops.h\"\n",
    );
    let mut calls = String::new();
    let mut loops = Vec::new();
    for number in 0..count {
        let trips = *random.pick(&[-3, 0, 1, 2, 7, 33, 40, 40, 64, 100, 100, 1100]);
        let nested = random.below(4) == 0;
        let indirect = random.below(3) == 0;
        let mut generator =
            Generator { random, strict, arrays: Vec::new(), nested, indirect, labels: 0, carries: false };
        generator.place_arrays();
        let trips = if nested { trips.min(40) } else { trips };
        let (head, body, form) = if nested { generator.nest() } else { generator.plain(trips) };
        let contents = generator.contents(trips);
        let carries = generator.carries;
        let inner_trips = *generator.random.pick(&[0, 1, 5, 32, 40]);
        let i = *generator.random.pick(&["int", "int", "int", "long", "unsigned"]);
        // Downward loops and comparisons with n - 1 need a sign.
        let i = if head.contains("n - 1") || head.contains("i > 0") || trips < 0 { "int" } else { i };
        let parameters: String = generator.arrays.iter().map(|a| format!("{} *{}, ", a.ty, a.name)).collect();
        let arguments: String = generator
            .arrays
            .iter()
            .map(|a| format!("({} *)(arena[{}] + {}), ", a.ty, a.arena, a.offset))
            .collect();
        let _ = writeln!(
            loops_h,
            "__attribute__((noinline)) unsigned NAME({number})({parameters}int n, int m)\n{{"
        );
        let _ = writeln!(
            loops_h,
            "  {i} i;\n  int j, count = 3;\n  unsigned sum = 0, most = 0, greatest = 0, where = 0, t, last = 7, older = 9;"
        );
        let line = |text: &str| 1 + text.lines().count() as u64;
        let (declarations, keyword) = head.rsplit_once('\n').unwrap_or(("", head.as_str()));
        let _ = writeln!(loops_h, "  (void)j, (void)t, (void)m, (void)count, (void)last, (void)older;");
        if !declarations.is_empty() {
            let _ = writeln!(loops_h, "  {declarations}");
        }
        let first = line(&loops_h);
        let _ = writeln!(
            loops_h,
            "  {} {{\n    OUTER {body}\n  }}\n  return sum + most + greatest + 5u * where + (unsigned)count + 3u * last + older;\n}}",
            keyword.trim()
        );
        let inner_line = nested.then(|| {
            let at = loops_h.rfind("    for (j = ").expect("the inner loop was just written");
            line(&loops_h[..at])
        });
        let is_perfect = nested && body.starts_with("BEGIN_INNER") && body.ends_with("END_INNER");
        loops.push(Loop { line: first, inner_line, is_perfect, form, carries });
        let _ = writeln!(main_c, "unsigned plain_{number}({parameters}int n, int m);");
        let _ = writeln!(
            calls,
            "  {contents}\n  nested = {};\n  begin();\n  wanted = shadow_{number}({arguments}{trips}, {inner_trips});\n  \
             keep();\n  {contents}\n  found = plain_{number}({arguments}{trips}, {inner_trips});\n  report({number});",
            u32::from(nested)
        );
    }
    let _ = writeln!(
        main_c,
        "static unsigned char kept[ARENAS][ARENA_BYTES];\nstatic unsigned wanted, found;\n\
         static void begin(void)\n{{\n  for (int level = 0; level < LEVELS; level++)\n    shadow_forget(level);\n  inner_entries = inner_clean = inner_no_flow = inner_not_carried = inner_not_stale = 0, inner_iterations = 0;\n}}\n\
         static void keep(void)\n{{\n  for (int w = 0; w < ARENAS; w++)\n    memcpy(kept[w], arena[w], ARENA_BYTES);\n}}\n\
         static void report(int number)\n{{\n  int same = wanted == found;\n  for (int w = 0; w < ARENAS; w++)\n    same &= !memcmp(kept[w], arena[w], ARENA_BYTES);\n  \
         printf(\"%d %d %d %d %d %d %u %u %lu %lu %d %d %u %d %lu %d %d %lu\\n\", number, shadow[LEVEL_OUTER].conflict, shadow[LEVEL_MERGED].conflict, shadow[LEVEL_OUTER].conflict || shadow[LEVEL_OUTER].meet, shadow[LEVEL_OUTER].flow, shadow[LEVEL_MERGED].flow, shadow[LEVEL_OUTER].iteration, shadow[LEVEL_MERGED].iteration, inner_clean, inner_no_flow, same, shadow[LEVEL_SWAPPED].conflict || shadow[LEVEL_SWAPPED].meet, inner_iterations, shadow[LEVEL_OUTER].carried, inner_not_carried, shadow[LEVEL_OUTER].stale, shadow[LEVEL_MERGED].stale, inner_not_stale);\n}}\n\
         void make_arenas(void);\nint main(void)\n{{\n  make_arenas();\n{calls}  return 0;\n}}"
    );
    Program { loops_h, main_c, loops }
}
