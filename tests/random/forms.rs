//! Random C programs over every form of loop that analysis and code generation tell apart: heads of all integer types,
//! directions and comparisons, bounds in memory, subscripts that wrap around on purpose, walked pointers and counters, structs
//! with arrays in them, pointers to pointers, bytes of wider elements, reductions in all spellings, values that are only used
//! after the loop (also where only an initialiser uses them), inner loops of all kinds, NaN and infinity.
//!
//! A program is defined whatever its data: subscripts stay small or are cut down, signed arithmetic is done on values that
//! can't overflow or in unsigned types, conversions from floating types are guarded. Only which NaN comes out of two is open,
//! so hashes don't tell NaNs apart, and no integer ever sees one's bits.

mod expressions;
mod statements;

use super::Random;
use super::prelude::PRELUDE;
use std::fmt::Write;

#[derive(Clone, Copy, PartialEq)]
struct Type {
    name: &'static str,
    array: &'static str,
    floating: bool,
}

const fn integer(name: &'static str, array: &'static str) -> Type {
    Type { name, array, floating: false }
}

const TYPES: [Type; 11] = [
    integer("int", "ints"),
    integer("unsigned", "unsigneds"),
    integer("short", "shorts"),
    integer("unsigned short", "halves"),
    integer("signed char", "chars"),
    integer("char", "letters"),
    integer("unsigned char", "bytes"),
    integer("long", "longs"),
    integer("unsigned long long", "wides"),
    Type { name: "float", array: "floats", floating: true },
    Type { name: "double", array: "doubles", floating: true },
];

/// What every program starts with. `x` of kernels points into `indices`, in stretches of 2048: in order, scattered without
/// repetition, with some, all the same, backwards, and in order but for one.
const START: &str = r#"/* Made by tests/random/forms.rs. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ELEMENTS = 32768, CELLS = 1024, ROWS = 64 };
struct cell {
  signed char tag;
  short parts[3];
  _Bool odd : 1;
  unsigned shade : 6;
  int level : 9;
  int value;
  double weights[2];
  struct {
    long total;
    float share;
  } inner;
  unsigned char last;
  unsigned char first : 3, second : 5;
};
struct owner {
  int count;
  int *data;
  struct cell *cells;
  unsigned *table[4];
};
static struct cell turned(struct cell c, int by)
{
  if (by & 1)
    return (struct cell){.value = by, .last = c.last, .inner = {c.inner.total, 2}};
  c.parts[by >> 1 & 1] ^= (short)by;
  c.weights[1] = c.weights[0];
  return c;
}
static long weighed(struct cell c, int part) { return c.parts[part] * 3l + c.value; }
static int indices[6 * 2048 + 512];
static struct cell cells[CELLS];
static int *rows[ROWS];
static int bound = 100, counter;
static struct owner owner;
struct given {
  const int *indices;
  double scale;
  struct {
    short stride;
    long long width;
  } steps;
};
struct kept {
  unsigned count, carried, mark;
  unsigned char narrow;
  struct {
    int last, sometimes, down;
  } values;
  double last_float;
};
"#;

/// Names, and the members that some kernels have instead.
type Members = [(&'static str, &'static str)];
/// What a kernel is given.
const GIVEN: &Members =
    &[("x", "by.indices"), ("scale", "by.scale"), ("s", "by.steps.stride"), ("m", "by.steps.width")];
/// What it changes.
const KEPT: &Members = &[
    ("count", "kept.count"),
    ("carried", "kept.carried"),
    ("mark", "kept.mark"),
    ("narrow", "kept.narrow"),
    ("last", "kept.values.last"),
    ("sometimes", "kept.values.sometimes"),
    ("down", "kept.values.down"),
    ("last_float", "kept.last_float"),
];

/// Puts members in the place of names.
fn by_members(text: &str, members: &Members) -> String {
    let mut out = String::new();
    for piece in text.split_inclusive(|c: char| !c.is_ascii_alphanumeric() && c != '_') {
        let end = piece.trim_end_matches(|c: char| !c.is_ascii_alphanumeric() && c != '_').len();
        let (word, rest) = piece.split_at(end);
        let is_member = out.ends_with("->") || out.ends_with('.');
        let member = members.iter().find(|(name, _)| *name == word && !is_member);
        out.push_str(member.map_or(word, |(_, member)| member));
        out.push_str(rest);
    }
    out
}

/// Functions with one or two loop nests, of each program.
const KERNELS: usize = 8;

/// One kernel while it is written.
struct Kernel<'a> {
    random: &'a mut Random,
    /// Of `a` and `b`, and of `c`.
    own: Type,
    other: Type,
    lines: String,
    depth: usize,
    /// Induction variables in scope; each is between 0 and some hundreds.
    variables: Vec<&'static str>,
    /// Private variables that have a value here.
    known: Vec<String>,
    fresh: usize,
    /// Declarations of reduction variables, with their names; of floating ones apart.
    declarations: Vec<(String, String)>,
    /// See `declarations`.
    reals: Vec<(String, String)>,
    /// Statements whose scalars were used up: each reduction and counter occurs once per loop.
    spent: Vec<usize>,
    /// Calm loops store to places of their own in each iteration, and read from elsewhere: whether they conflict is up to the
    /// pointers and indices of a call. This is the subscript of the place.
    calm: Option<String>,
    /// Where the ways out of the loop lead, if there are any but `break`.
    way_out: Option<String>,
}

impl Kernel<'_> {
    fn below(&mut self, bound: usize) -> usize {
        self.random.below(bound)
    }
    fn chance(&mut self, of: usize) -> bool {
        self.random.below(of) == 0
    }
    fn pick(&mut self, list: &[&'static str]) -> &'static str {
        let pick: &&'static str = self.random.pick(list);
        pick
    }
    fn line(&mut self, text: &str) {
        let _ = writeln!(self.lines, "{:1$}{text}", "", 2 * self.depth);
    }
    fn variable(&mut self) -> &'static str {
        let variables = self.variables.clone();
        self.pick(&variables)
    }

    /// A loop over `i`, and whether `i` is declared outside of it.
    fn outer_loop(&mut self) {
        self.spent.clear();
        self.variables = vec!["i"];
        self.known.clear();
        let low = self.below(4);
        self.calm = match self.below(10) {
            0..=2 => None,
            3..=5 => Some("i".into()),
            6 => Some(format!("{} * i + {low}", 2 + low)),
            7 => Some(format!("{} - i", 2000 + low)),
            8 => Some("x[i]".into()),
            _ => Some("(size_t)i * (size_t)s".into()),
        };
        let also = self.pick(&["", "", "", ", mark++", ", down -= 2"]);
        if !also.is_empty() {
            self.spent.push(20);
        }
        let head = match self.below(22) {
            0..=3 => format!("for (int i = {low}; i < n; i++{also})"),
            4 => format!("for (int i = 0; i <= n; i += {}{also})", 1 + low),
            5 => format!("for (int i = n - 1; i >= {low}; i--{also})"),
            6 => format!("for (int i = n; i > {low}; i -= 2{also})"),
            7 => format!("for (unsigned i = {low}; (int)i < n; i++{also})"),
            8 => format!("for (unsigned i = 0; i < plenty; i += {}{also})", 1 + low),
            9 => "for (unsigned i = plenty; i > 0; i--)".into(),
            10 => format!("for (size_t i = {low}; i < plenty; i++{also})"),
            11 => format!("for (long i = {low}; n > i; i += 3{also})"),
            12 => format!("for (int i = 0; i != (int)plenty; i++{also})"),
            13 => format!("for (short i = {low}; i < n; i++{also})"),
            14 => "for (unsigned char i = 0; i < (plenty < 200 ? plenty : 200); i++)".into(),
            15 => format!("for (later = {low}; later < n; later++{also})").replace("later", "i"),
            16 => format!("for (i = n - 1; i >= 0; --i{also})"),
            17 => format!("for (int i = 0; i < bound; i++{also})"),
            18 => format!("for (int i = {low}; i < o->count; i++{also})"),
            19 => format!("for (int i = s; i < n - m; i = i + 1{also})"),
            20 => "for (signed char i = 100; i >= 0; i -= 3)".into(),
            _ => format!("for (int i = 0; i < (n > 60 ? 60 : n); i++{also})"),
        };
        let head = match self.chance(10) {
            // A second condition beside the one that counts.
            true => {
                let way = self.way();
                let parts: Vec<&str> = head.splitn(3, ';').collect();
                format!("{};{} && !({way});{}", parts[0], parts[1], parts[2])
            }
            false => head,
        };
        self.line(&format!("{head} {{"));
        self.depth += 1;
        if self.chance(5) {
            // A nest that may be merged.
            let columns = self.pick(&["16", "m", "40"]);
            self.line(&format!("for (int j = 0; j < {columns}; j++) {{"));
            self.depth += 1;
            self.variables.push("j");
            for _ in 0..1 + self.below(2) {
                self.statement();
            }
            self.depth -= 1;
            self.line("}");
        } else {
            for _ in 0..1 + self.below(if self.calm.is_some() { 3 } else { 4 }) {
                self.statement();
            }
        }
        self.depth -= 1;
        self.line("}");
        if let Some(label) = self.way_out.take() {
            self.line(&format!("{label}: ;"));
        }
    }

    /// The whole function.
    fn function(mut self, number: usize) -> String {
        let loops = 1 + self.below(2);
        for _ in 0..loops {
            self.outer_loop();
        }
        let mut declarations = String::new();
        let mut values = vec![
            "(unsigned long long)last",
            "(unsigned long long)sometimes",
            "count",
            "narrow",
            "carried",
            "mark",
        ]
        .into_iter()
        .map(String::from)
        .collect::<Vec<_>>();
        values.extend(["(unsigned long long)down", "(unsigned long long)i"].map(String::from));
        values.push("(unsigned long long)(walk - b)".into());
        values.push("(unsigned long long)(reader - c)".into());
        for (declaration, name) in &self.declarations {
            let _ = writeln!(declarations, "  {declaration}");
            values.push(format!("(unsigned long long){name}"));
        }
        for (declaration, _) in &self.reals {
            let _ = writeln!(declarations, "  {declaration}");
        }
        let reals: String = self.reals.iter().map(|(_, name)| format!("  mix_float({name});\n")).collect();
        // Used by statements, or only where the typed tree has no expressions.
        let uses = match self.random.below(3) {
            0 => format!(
                "  unsigned long long left[] = {{{}}};\n  for (size_t k = 0; k < sizeof left / sizeof *left; k++)\n    mix(left[k]);\n",
                values.join(", ")
            ),
            1 => format!(
                "  __extension__({{ {} }});\n",
                values.iter().map(|v| format!("mix({v});")).collect::<String>()
            ),
            _ => values.iter().map(|v| format!("  mix({v});\n")).collect(),
        };
        let scratch = self.pick(&[
            "",
            "  mix(scratch[3]);\n",
            "  for (int k = 0; k < 4; k++)\n    mix(scratch[k]);\n",
            "  (void)(scratch[0] = scratch[3]);\n",
        ]);
        let mut body = format!(
            "{}{uses}{scratch}  for (int k = 0; k < 64; k++)\n    mix((unsigned)local[k]);\n  mix_float(last_float);\n",
            self.lines
        );
        for (in_turn, members, declaration) in [
            (1, GIVEN, "  struct given by = {x, 0.75, {(short)s, m}};\n"),
            (2, KEPT, "  struct kept kept = {5, 1, 9, 17, {-1, -2, 5000}, 0};\n"),
        ] {
            if number & in_turn != 0 {
                body = by_members(&body, members);
                declarations.push_str(declaration);
            }
        }
        format!(
            "__attribute__((noinline)) static void kernel_{number}(int n, int m, int s, {t} *a, {t} *b, const {u} *c, const int *x, struct owner *o)\n{{\n\
             {declarations}  unsigned plenty = n > 0 ? (unsigned)n : 0u, count = 5, carried = 1, mark = 9;\n  unsigned char narrow = 17;\n  \
             int last = -1, sometimes = -2, down = 5000, i = -3, local[64] = {{1, 2, 3}};\n  unsigned scratch[4] = {{4, 3, 2, 1}};\n  double scale = 0.75, last_float = 0;\n  \
             {t} *walk = b + 8;\n  const {u} *reader = c + 400;\n  struct cell *cell_walk = cells + 520, *cell_reader = cells + 40;\n{body}{reals}  (void)cell_walk;\n  (void)cell_reader;\n  (void)m;\n  (void)s;\n  (void)x;\n  (void)o;\n  (void)a;\n  (void)scale;\n}}\n",
            t = self.own.name,
            u = self.other.name
        )
    }
}

/// The program of a seed.
pub fn program(random: &mut Random) -> String {
    let mut text = String::from(START) + PRELUDE;
    text.push_str("static int bounded(int value, int low, int high)\n{\n  return value < low ? low : value > high ? high : value;\n}\n");
    text.push_str(
        "#define SMALLER(a, b) __extension__({ __typeof__(a) a_ = (a); __typeof__(b) b_ = (b); a_ < b_ ? a_ : b_; })\n\
         #define DOUBLED(a) __extension__({ __typeof__(((void)0, (a))) a_ = (a); a_ += a_; a_; })\n\
         #define EXCHANGE(a, b) __extension__({ __typeof__(a) a_ = (a); (a) = (b); (b) = a_; })\n\
         static void noted(unsigned value)\n{\n  mix(value);\n}\nstatic void (*note)(unsigned) = noted;\n",
    );
    text.push_str("#define TO_INT(x) ((x) > -30000 && (x) < 30000 ? (int)(x) : 7)\n");
    let mut values = String::new();
    for ty in TYPES {
        let _ = writeln!(text, "static {} {}[ELEMENTS];", ty.name, ty.array);
        let kind = if ty.floating { "mix_float" } else { "mix" };
        let _ = writeln!(
            values,
            "    {kind}(({}){}[k]);",
            if ty.floating { "double" } else { "unsigned long long" },
            ty.array
        );
    }
    let mut calls = String::new();
    for number in 0..KERNELS {
        let (own, other) = (*random.pick(&TYPES), *random.pick(&TYPES));
        let kernel = Kernel {
            random,
            own,
            other,
            lines: String::new(),
            depth: 1,
            variables: Vec::new(),
            known: Vec::new(),
            fresh: 0,
            declarations: Vec::new(),
            reals: Vec::new(),
            spent: Vec::new(),
            calm: None,
            way_out: None,
        };
        text.push_str(&kernel.function(number));
        for _ in 0..5 {
            let n = *random.pick(&[0, 1, 2, 7, 33, 60, 64, 100, 257, 300, -3]);
            let a = random.below(3000);
            // Apart, the same, one element apart on either side, overlapping.
            let b = match random.below(7) {
                0..=2 => a + 14000,
                3 => a,
                4 => a + 1,
                5 => a.max(1) - 1,
                _ => a + 1 + random.below(300),
            };
            let heap = if random.below(3) == 0 { "heap_" } else { "" };
            let _ = writeln!(
                calls,
                "  kernel_{number}({n}, {}, {}, {heap}{t} + {a}, {heap}{t} + {b}, {u} + {}, indices + {}, &owner);",
                2 + random.below(9),
                1 + random.below(4),
                random.below(2000),
                2048 * random.below(6),
                t = own.array,
                u = other.array
            );
            if random.below(4) == 0 {
                let _ =
                    writeln!(calls, "  bound = {}; owner.count = {};", random.below(120), random.below(200));
            }
        }
        calls.push_str("  memory();\n");
    }
    // Where the heap's elements are hashed, too.
    let _ = writeln!(
        text,
        "static void memory(void)\n{{\n  for (int k = 0; k < ELEMENTS; k++) {{\n{values}  }}\n  for (int k = 0; k < CELLS; k++) {{\n    struct cell *c = \
         &cells[k];\n    mix((unsigned long long)c->tag + 3ull * c->last);\n    mix((unsigned long long)c->parts[0] ^ (unsigned long long)c->parts[1] * 5 ^ \
         (unsigned long long)c->parts[2] * 7);\n    mix((unsigned long long)c->value);\n    mix((unsigned long long)(c->odd + c->shade * 2 + c->level * 128) ^ (unsigned long long)(c->first * 32 + c->second) << 40);\n    mix((unsigned long long)c->inner.total);\n    \
         mix_float(c->weights[0]);\n    mix_float(c->weights[1]);\n    mix_float(c->inner.share);\n  }}\n  mix((unsigned)counter);\n  \
         printf(\"%llx\\n\", hash);\n}}\n"
    );
    let (mut heaps, mut fills, mut copies) = (String::new(), String::new(), String::new());
    for ty in TYPES {
        let (name, array) = (ty.name, ty.array);
        let _ = writeln!(heaps, "  {name} *heap_{array} = malloc(sizeof {array});");
        let _ = match ty.floating {
            true => writeln!(
                fills,
                "    {array}[k] = next() % 50 == 0 ? ({name})(k % 3 == 0 ? NAN : k % 3 == 1 ? INFINITY : -0.0) : ({name})((int)(next() % 4000) - 2000) / 16;"
            ),
            false => writeln!(fills, "    {array}[k] = ({name})next();"),
        };
        let kind = if ty.floating { "mix_float((double)" } else { "mix((unsigned long long)" };
        let _ = writeln!(fills, "    heap_{array}[k] = {array}[k];");
        let _ = writeln!(copies, "    {kind}heap_{array}[k]);");
    }
    let frees: String = TYPES.iter().map(|ty| format!("  free(heap_{});\n", ty.array)).collect();
    let _ = writeln!(
        text,
        "int main(void)\n{{\n{heaps}  for (int k = 0; k < ELEMENTS; k++) {{\n{fills}  }}\n  for (int k = 0; k < 6 * 2048 + 512; k++) {{\n    int part = k / \
         2048, at = k % 2048;\n    indices[k] = part == 0 ? at : part == 1 ? at * 1031 % 2048 : part == 2 ? (int)(next() % 2048) : part == 3 ? 7 : part == 4 ? \
         2047 - at : at == 150 ? 12 : at;\n  }}\n  for (int k = 0; k < ROWS; k++)\n    rows[k] = ints + 20000 + (k % 9 == 8 ? k - 1 : k) * 64;\n  owner.count = 90;\n  \
         owner.data = heap_ints;\n  owner.cells = cells + 16;\n  for (int k = 0; k < 4; k++)\n    owner.table[k] = unsigneds + 25000 + 900 * k;\n  for (int k = 0; k < \
         CELLS; k++)\n    cells[k].weights[1] = k, cells[k].value = k;\n{calls}  for (int k = 0; k < ELEMENTS; k++) {{\n{copies}  }}\n  printf(\"%llx\\n\", \
         hash);\n{frees}  return 0;\n}}"
    );
    text
}
