//! Random C programs over every form of loop that analysis and code generation tell apart: heads of all integer types,
//! directions and comparisons, bounds in memory, subscripts that wrap around on purpose, walked pointers and counters, structs
//! with arrays in them, pointers to pointers, bytes of wider elements, reductions in all spellings, values that are only used
//! after the loop (also where only an initialiser uses them), inner loops of all kinds, NaN and infinity.
//!
//! A program is defined whatever its data: subscripts stay small or are cut down, signed arithmetic is done on values that
//! can't overflow or in unsigned types, conversions from floating types are guarded. Only which NaN comes out of two is open,
//! so hashes don't tell NaNs apart, and no integer ever sees one's bits.

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

    /// A subscript from 0 to 13000.
    fn subscript(&mut self) -> String {
        let v = self.variable();
        let (c, k) = (self.below(6), 2 + self.below(3));
        match self.below(33) {
            28 => format!("({v} < {c} ? {c} : {v} > {0} ? {0} : {v})", 60 * k),
            29 => format!("(x[{v}] < {0} ? x[{v}] : {0})", 50 * k + c),
            30 => format!("bounded(x[{v}] - {c}, 0, s)"),
            31 => format!("bounded(7 * {v} - 30, m, {})", 400 * k),
            32 => format!("bounded((int){v} - {c}, 0, 30) * {k} + (unsigned char)x[{v}]"),
            0..=4 => v.into(),
            5 | 6 => format!("{v} + {c}"),
            7 | 8 => format!("{k} * {v} + {c}"),
            9 => format!("{} - {v}", 2000 + c),
            10 => format!("x[{v}]"),
            11 => format!("x[{v}] + {c}"),
            12 => format!("x[x[{v}] & 2047]"),
            13 => format!("{v} % {}", 2 + 9 * c),
            14 => format!("{v} / {k}"),
            15 => format!("({v} - {c}{}) & 4095", if c % 2 == 0 { "u" } else { "" }),
            16 => format!("(unsigned char)({v} * {k} + {c})"),
            17 => format!("(unsigned short)({v} + {}u) & 2047", 65530 + c),
            18 => format!("({v} * 7919u >> {c}) & 2047"),
            19 => format!("{v} * s + {c}"),
            20 => format!("(size_t){v} * (size_t)m"),
            21 => format!("{v} + s * m"),
            22 => format!("({v} ^ {c}) + m"),
            23 => format!("64 + (int){v} - s"),
            24 if self.variables.len() > 1 => format!("i * 40 + {v}"),
            25 if self.variables.len() > 1 => format!("{v} * 40 + i % 40"),
            26 => format!("{v} << 1 | {}", c & 1),
            _ => format!("{v} + {}", 300 * c),
        }
    }

    /// An element of the kernel's own type.
    fn element(&mut self) -> String {
        let subscript = self.subscript();
        if self.calm.is_some() {
            return if self.chance(5) { self.target() } else { format!("b[{subscript}]") };
        }
        match self.below(12) {
            0..=5 => format!("a[{subscript}]"),
            6..=9 => format!("b[{subscript}]"),
            10 => format!("*(a + ({subscript}))"),
            _ => format!("({subscript})[b]"),
        }
    }

    /// An element that is stored to.
    fn target(&mut self) -> String {
        match (&self.calm, &self.variables[..]) {
            (Some(place), ["i"]) => format!("a[{place}]"),
            (Some(_), [.., inner]) => format!("a[40 * i + {inner}]"),
            _ => self.element(),
        }
    }

    /// An integer of some other type in memory, as something that can be stored to.
    fn integer_place(&mut self) -> String {
        let (v, subscript) = (self.variable(), self.subscript());
        match self.below(15) {
            0 => format!("cells[({subscript}) & 511].value"),
            1 => format!("cells[({subscript}) & 511].parts[{v} % 3]"),
            2 => format!("o->cells[{v}].parts[{}]", self.below(3)),
            3 => format!("o->cells[({subscript}) & 511].inner.total"),
            4 => format!("o->data[{subscript}]"),
            5 => format!("rows[{v} & 63][({subscript}) & 63]"),
            6 => format!("o->table[{v} & 3][{v}]"),
            7 => format!("cells[{v}].tag"),
            8 => format!("local[{v} & 63]"),
            9 => "counter".into(),
            10 => format!("cells[({subscript}) & 511].shade"),
            11 => format!("o->cells[{v}].level"),
            12 => format!("cells[{v}].{}", self.pick(&["first", "second"])),
            13 => format!("cells[({subscript}) & 511].odd"),
            _ if self.own.floating => format!("(&cells[{v}])->last"),
            // The bytes of wider elements.
            _ => format!("((unsigned char *)a)[{subscript}]"),
        }
    }

    fn floating_place(&mut self) -> String {
        let (v, subscript) = (self.variable(), self.subscript());
        match self.below(3) {
            0 => format!("cells[({subscript}) & 511].weights[{v} & 1]"),
            1 => format!("cells[{v}].inner.share"),
            _ => format!("o->cells[{v} + {}].weights[1]", self.below(3)),
        }
    }

    /// An integer of any type.
    fn integer_atom(&mut self) -> String {
        match self.below(12) {
            0 => format!("{}", self.below(1000)),
            1 => format!("-{}", 1 + self.below(60)),
            2 => self.variable().into(),
            3 => self.pick(&["s", "m", "n", "bound"]).into(),
            4 if !self.other.floating => format!("c[{}]", self.subscript()),
            5 | 6 => self.integer_place(),
            7 => format!("x[{}]", self.variable()),
            8 if !self.known.is_empty() => {
                let number = self.below(self.known.len());
                self.known[number].clone()
            }
            9 => format!("TO_INT({})", self.floating(0)),
            10 => format!("0x{:x}ull", self.below(1 << 30) * 77_777),
            _ if !self.own.floating => self.element(),
            _ => self.variable().into(),
        }
    }

    /// An integer expression: unsigned arithmetic, or signed arithmetic on values too small to overflow.
    fn integer(&mut self, deep: usize) -> String {
        let x = if deep == 0 { self.integer_atom() } else { self.integer(deep - 1) };
        if deep == 0 {
            return format!(
                "{}({x})",
                self.pick(&["(unsigned)", "(unsigned long long)", "(unsigned)(short)"])
            );
        }
        let y = self.integer(deep - 1);
        match self.below(20) {
            0..=2 => format!("({x} + {y})"),
            3 => format!("({x} - {y})"),
            4 => format!("({x} * {y})"),
            5 => format!("({x} {} {y})", self.pick(&["&", "|", "^"])),
            6 => format!("({x} >> ({y} & {}))", self.pick(&["31", "7"])),
            7 => format!("({x} << {})", self.below(20)),
            8 => format!("({x} {} ({y} | 1u))", self.pick(&["/", "%"])),
            9 => format!("(unsigned)((int)(signed char){x} * (signed char){y} - (short){x})"),
            10 => format!("(unsigned)((int){x} {} {})", self.pick(&["/", "%"]), self.pick(&["7", "-3", "1"])),
            11 => {
                // Signed division whose divisor may be anything but 0 and -1.
                format!(
                    "(unsigned)((short){x} / ((signed char){y} / 2 * 2 + 1 == -1 ? 3 : (signed char){y} / 2 * 2 + 1))"
                )
            }
            12 => {
                format!(
                    "(unsigned)((short){x} {} {})",
                    self.pick(&[">>", "<", ">=", "=="]),
                    self.pick(&["2", "5"])
                )
            }
            13 => format!("({} ? {x} : {y})", self.condition()),
            14 => format!("(~{x} + !{y})"),
            15 => {
                format!("(unsigned)({} {} {})", self.condition(), self.pick(&["&&", "||"]), self.condition())
            }
            16 => format!("(unsigned long long)(long)(int)(-{x})"),
            17 => format!("SMALLER({x}, {y})"),
            18 => format!("DOUBLED({x})"),
            _ => format!("({x} < {y} ? {x} : {y})"),
        }
    }

    /// A floating expression.
    fn floating(&mut self, deep: usize) -> String {
        if deep == 0 {
            return match self.below(7) {
                0 => format!("{}.{}f", self.below(9), self.below(100)),
                1 => format!("{}e-{}", 1 + self.below(99), self.below(9)),
                2 if self.other.floating => format!("c[{}]", self.subscript()),
                3 => self.floating_place(),
                4 => format!("({})(short)({})", self.pick(&["float", "double"]), self.variable()),
                5 => "scale".into(),
                _ if self.own.floating => self.element(),
                _ => "scale".into(),
            };
        }
        let (x, y) = (self.floating(deep - 1), self.floating(deep - 1));
        match self.below(15) {
            0..=2 => format!("({x} + {y})"),
            3 => format!("({x} - {y})"),
            4 | 5 => format!("({x} * {y})"),
            6 => format!("({x} / {y})"),
            7 => format!("-({x})"),
            8 => format!("({x} {} {y} ? {x} : {y})", self.pick(&["<", ">=", "==", "!="])),
            9 => format!("{}({x})", self.pick(&["sqrt", "fabs", "floor", "sqrtf", "fabsf", "ceil"])),
            10 => format!("(double)({})", self.integer(1)),
            11 => format!("(float)(long)({})", self.integer(1)),
            12 => format!("SMALLER({x}, {y})"),
            13 => format!("DOUBLED({x})"),
            _ => format!("({x} + (float){y})"),
        }
    }

    fn value(&mut self) -> String {
        let deep = 1 + self.below(2);
        if self.own.floating {
            self.floating(deep.min(2))
        } else {
            let integer = self.integer(deep);
            format!("({})({integer})", self.own.name)
        }
    }

    fn condition(&mut self) -> String {
        let v = self.variable();
        match self.below(6) {
            0 => format!("{v} % {} == {}", 2 + self.below(5), self.below(2)),
            1 => format!("(x[{v}] & {})", 1 << self.below(6)),
            2 => format!("{} > {}", self.floating(0), self.below(20)),
            3 => format!("!({})", self.integer_atom()),
            4 => format!("{v} != s"),
            _ => format!("({}) > 9", self.integer_atom()),
        }
    }

    /// Something that is filled or copied as a whole.
    fn block(&mut self) -> String {
        let (to, from) = (self.target(), self.element());
        let byte = if self.own.floating { "0" } else { self.pick(&["0", "255", "7"]) };
        let few = 1 + self.below(9);
        match self.below(if self.calm.is_some() { 9 } else { 2 }) {
            0 => format!("memcpy(&{to}, &{from}, sizeof {to});"),
            1 => format!("memset(&{to}, {byte}, sizeof {to});"),
            2 => "memcpy(&cells[i], &cells[512 + (x[i] & 255)], sizeof *cells);".into(),
            3 => format!("memset(cells + i, {}, sizeof *cells);", self.pick(&["0", "7"])),
            4 => format!("memset(cells[i].parts, {}, sizeof cells[i].parts);", self.pick(&["0", "255", "7"])),
            5 => "memcpy(cells[i].weights, cells[512 + (i & 255)].weights, sizeof cells[i].weights);".into(),
            6 => format!("memset(rows[i & 63], {}, {few} * sizeof **rows);", self.pick(&["0", "255", "7"])),
            7 => format!("memset(rows[i & 63], (int)(x[i] & 127), {few} * sizeof **rows);"),
            _ => "memcpy(rows[i & 63], rows[(i + 1) & 63], (unsigned long)(i & 7) * sizeof **rows);".into(),
        }
    }

    fn update(&mut self) -> String {
        if self.chance(9) {
            return self.block();
        }
        let (element, value) = (self.target(), self.value());
        if self.calm.is_some() && self.chance(4) {
            let (integer, floating, part) = (self.integer(2), self.floating(1), self.below(3));
            return match self.below(12) {
                6 => "cells[i] = cells[512 + (x[i] & 255)];".into(),
                7 => format!("cells[i] = turned(cells[512 + ((i * 7) & 511)], (int)({integer}));"),
                8 => format!(
                    "cells[i] = (struct cell){{.tag = 3, .parts = {{[1] = (short)({integer}), {part}}}, .weights = {{{floating}, cells[i].weights[0]}}}};"
                ),
                9 => format!("cells[i].level {}= (int)({integer});", self.pick(&["", "+", "^"])),
                10 => format!("o->cells[i].shade {};", self.pick(&["++", "--", "<<= 1", "|= 5"])),
                11 => format!(
                    "{{ struct cell cell; cell.odd = ({integer}) > 0; cell.level = cells[i].level; cell.shade = cell.level + cell.odd; cells[i].first = cell.shade; cells[i].second ^= cell.level; }}"
                ),
                0 => format!("cells[i].value = (int)({integer});"),
                1 => format!("cells[i].parts[{part}] ^= (short)({integer});"),
                2 => format!("o->cells[i].inner.total += (long)(short)({integer});"),
                3 => format!("cells[i].weights[{}] = {floating};", part & 1),
                4 => format!("cells[x[i] & 511].last |= (unsigned char)({integer});"),
                _ => format!("rows[i & 63][{part}] = (int)({integer});"),
            };
        }
        let operators: &[&str] = if self.own.floating { &["+", "-", "*", "/"] } else { &["^", "|", "&"] };
        match self.below(10) {
            0..=3 => format!("{element} = {value};"),
            4 => format!("EXCHANGE({element}, {});", self.target()),
            5 | 6 => format!("{element} {}= {value};", self.pick(operators)),
            7 => format!("{} = (int)({});", self.integer_place(), self.integer(2)),
            _ => format!("{} = {};", self.floating_place(), self.floating(1)),
        }
    }

    /// Whether a statement with scalars of its own may be written here: only once per loop, and not in loops inside.
    fn spend(&mut self, number: usize) -> bool {
        let free = self.variables == ["i"] && !self.spent.contains(&number);
        if free {
            self.spent.push(number);
        }
        free
    }

    fn statement(&mut self) {
        let number = self.below(38);
        match number {
            0..=8 => {
                let update = self.update();
                self.line(&update);
            }
            9 | 10 => {
                let (condition, update) = (self.condition(), self.update());
                self.line(&format!("if ({condition}) {{"));
                self.line(&format!("  {update}"));
                if self.chance(2) {
                    let update = self.update();
                    self.line("} else {");
                    self.line(&format!("  {update}"));
                }
                self.line("}");
            }
            11..=14 => self.reduction(),
            15 => {
                self.fresh += 1;
                let name = format!("t{}", self.fresh);
                let integer = self.integer(2);
                let ty = self.pick(&["int", "unsigned", "long", "unsigned char", "short"]);
                self.line(&format!("{ty} {name} = ({ty})({integer});"));
                self.known.push(name);
            }
            16 if self.spend(16) => {
                let (integer, floating) = (self.integer(1), self.floating(1));
                self.line(&format!("last = (int){integer};"));
                self.line(&format!("last_float = {floating};"));
                self.known.push("last".into());
            }
            17 if self.calm.is_none() && self.spend(17) => {
                let (condition, integer) = (self.condition(), self.integer(1));
                self.line(&format!("if ({condition}) sometimes = (int){integer};"));
            }
            18 if self.spend(18) => {
                let value = self.value();
                let step = self.pick(&[
                    "*walk++ = V;",
                    "*++walk = V;",
                    "*walk = V; walk += 2;",
                    "walk += 3; walk[-1] = V;",
                    "*walk = V; walk += s;",
                    "if (x[i] & 1) *walk++ = V;",
                ]);
                self.line(&step.replace('V', &value));
            }
            19 if self.spend(19) => {
                let element = self.target();
                let own = self.own.name;
                let step =
                    self.pick(&["E = (T)*reader++;", "E = (T)*--reader;", "E = (T)reader[1]; reader += 2;"]);
                // Floating values are not converted to integers just so.
                if self.own.floating || !self.other.floating {
                    self.line(&step.replace('E', &element).replace('T', own));
                }
            }
            20 | 21 if self.spend(20) => {
                let value = self.value();
                let step = self.pick(&[
                    "a[count] = V; count += 2;",
                    "count++; a[count & 4095] = V;",
                    "a[count++] = V;",
                    "a[4000 - ++count] = V;",
                    "b[narrow++] = V;",
                    "narrow -= 3; b[narrow] = V;",
                    "down -= s; a[down & 8191] = V;",
                    "if (s < 3) count++; a[count] = V;",
                    "b[mark] = V; mark = mark + 5;",
                ]);
                self.line(&step.replace('V', &value));
            }
            22 if self.calm.is_none() && self.spend(22) => {
                let integer = self.integer(1);
                self.line(&format!("carried = carried * 3u + (unsigned)({integer});"));
            }
            23 if self.spend(23) => {
                let condition = self.condition();
                self.line(&format!("if ({condition}) continue;"));
            }
            24 if self.calm.is_none() => {
                let (v, value) = (self.variable(), self.integer(1));
                self.line(&format!(
                    "{{ int *row = rows[{v} & 63]; row[{v} & 31] ^= (int){value}; row[3] |= 1; }}"
                ));
            }
            25 if self.calm.is_none() => {
                let (v, value) = (self.variable(), self.integer(1));
                self.line(&format!("{{ struct cell *cell = &o->cells[{v}]; cell->value = (int){value}; cell->last++; cell->parts[1] ^= 3; }}"));
            }
            26 | 27 => self.inner_loop(),
            28 if self.calm.is_none() => {
                let (v, to, from) = (self.variable(), self.subscript(), self.subscript());
                let condition = self.condition();
                self.line(&format!("{{ struct cell cell = cells[({from}) & 511];"));
                self.line(&format!("  cells[({to}) & 511] = {condition} ? o->cells[{v}] : cells[{v} & 63];"));
                self.line(&format!("  if ({condition}) cells[{v} & 255] = cell; }}"));
            }
            29 if self.calm.is_none() => {
                let (v, from, by) = (self.variable(), self.subscript(), self.integer(1));
                let part = self.below(3);
                self.line(&format!(
                    "{{ const struct cell cell = turned(turned(cells[({from}) & 511], (int){by}), {part}), other = cell;"
                ));
                self.line(&format!("  cells[{v} & 511].value ^= (int)weighed(other, {part});"));
                self.line(&format!("  cells[({from}) & 511] = cell; }}"));
            }
            30 if self.spend(30) => self.line("*cell_walk++ = *cell_reader++;"),
            33 if self.spend(33) => {
                let (way, integer) = (self.way(), self.integer(1));
                let out =
                    self.pick(&["break;", "{ mark += 7; break; }", "{ last = (int)V; sometimes++; break; }"]);
                self.line(&format!("if ({way}) {}", out.replace('V', &format!("({integer})"))));
            }
            34 if self.calm.is_some() || self.chance(3) => {
                if self.way_out.is_none() {
                    self.fresh += 1;
                    self.way_out = Some(format!("out{}", self.fresh));
                }
                let (way, label) = (self.way(), self.way_out.clone().unwrap_or_default());
                let does = self.pick(&["", "carried ^= count; ", "printf(\"%u\\n\", count); "]);
                self.line(&format!("if ({way}) {{ {does}goto {label}; }}"));
            }
            36 => {
                let (element, integer, other) = (self.target(), self.integer(1), self.integer(1));
                let condition = match self.below(4) {
                    0 => format!("if ({}) ", self.condition()),
                    _ => String::new(),
                };
                let (at, ty) = (self.below(3), self.own.name);
                self.line(&format!("scratch[{at}] = (unsigned)({integer});"));
                self.line(&format!("{condition}scratch[3] = scratch[{at}] ^ (unsigned)({other});"));
                self.line(&format!("{element} = ({ty})(short)(scratch[{at}] - scratch[3]);"));
            }
            35 if self.chance(3) => {
                let (way, integer) = (self.way(), self.integer(1));
                let given = self.pick(&["count", "V"]).replace('V', &format!("(unsigned)({integer})"));
                self.line(&format!("if ({way}) note({given});"));
            }
            _ => {
                let update = self.update();
                self.line(&update);
            }
        }
    }

    /// When a loop is left: not so often that nothing is left of it.
    fn way(&mut self) -> String {
        let range = if self.chance(3) { 2048 } else { 300 };
        let at = self.below(range);
        match self.below(6) {
            0 | 1 => format!("x[i] == {at}"),
            2 => format!("x[i] > {}", 100 + at),
            3 => format!("(int)i == {at}"),
            4 => format!("c[i] == c[{at}] && x[i] > {at}"),
            _ => {
                let condition = self.condition();
                format!("x[i] % 61 == {} && {condition}", at % 61)
            }
        }
    }

    fn reduction(&mut self) {
        if !self.spend(100) && !self.spend(101) {
            return;
        }
        match self.below(5) {
            0 => return self.extreme(),
            1 => return self.in_memory(),
            _ => {}
        }
        let number = self.spent.len();
        let integer = self.integer(1 + number % 2);
        let kind = self.below(14);
        let ty = ["unsigned", "int", "long", "unsigned long long", "unsigned char", "short"][kind % 6];
        self.fresh += 1;
        let name = format!("r{}", self.fresh);
        let start = self.below(100);
        // Not among the known ones: a loop that reads it is no reduction.
        self.declarations.push((format!("{ty} {name} = {start};"), name.clone()));
        let signed = matches!(ty, "int" | "long");
        let wide = if ty == "long" { "unsigned long" } else { "unsigned" };
        let text = match self.below(12) {
            0..=2 if signed => format!("{name} = ({ty})(({wide}){name} + ({wide})({integer}));"),
            0 => format!("{name} += {integer};"),
            1 => format!("{name} -= {integer};"),
            2 => format!("{name} = ({ty})({name} + (unsigned char)({integer}));"),
            3 if signed => format!("{name} = (unsigned char)(({wide}){name} + ({wide})({integer}));"),
            3 => format!("{name} *= ({ty})({integer}) | 1;"),
            4 => format!("{name} &= ({ty})({integer}) | 3;"),
            5 => format!("{name} |= {integer};"),
            6 => format!("{name} ^= {integer};"),
            7 => format!("if (({ty})({integer}) > {name}) {name} = ({ty})({integer});"),
            8 => format!("{{ {ty} t = ({ty})({integer}); {name} = t < {name} ? t : {name}; }}"),
            9 => format!("{{ {ty} t = ({ty})({integer}); if ({name} <= t) {{ {name} = t; }} }}"),
            10 if ty != "short" => {
                let condition = self.condition();
                format!("if ({condition}) {name}++;")
            }
            _ => format!("{name} = ({ty})({integer}) ^ {name};"),
        };
        self.line(&text);
    }

    /// A minimum or maximum, with what is noted beside it; among these, some that only look like one.
    fn extreme(&mut self) {
        self.fresh += 1;
        let (name, at) = (format!("r{}", self.fresh), format!("p{}", self.fresh));
        let floating = self.chance(2);
        let ty = match floating {
            true => self.pick(&["double", "float"]),
            false => self.pick(&["int", "unsigned", "short", "long", "unsigned char"]),
        };
        let mut value = || {
            let value = if floating { self.floating(1) } else { self.integer(1) };
            format!("({ty})({value})")
        };
        let (t, u) = (value(), value());
        let start = if floating && self.chance(6) { "NAN".to_string() } else { self.below(90).to_string() };
        let declared = (format!("{ty} {name} = {start};"), name.clone());
        if floating {
            self.reals.push(declared)
        } else {
            self.declarations.push(declared)
        }
        self.declarations.push((format!("int {at} = -4;"), at.clone()));
        let (relation, condition) = (self.pick(&["<", "<=", ">", ">="]), self.condition());
        let text = self.pick(&[
            "if (t REL R) { R = t; P = (int)i; }",
            "if (R REL t) { P = (int)i * 3; R = t; }",
            "if (R REL t) R = t, P = x[i];",
            "R = t REL R ? t : R;",
            "R = R REL t ? R : t;",
            "if (!(R REL t)) R = t;",
            "if (!(t REL R)) { R = t; P = (int)i; }",
            "if ((CONDITION) && t REL R) { R = t; P = (int)i; }",
            "if (t REL R) { R = t; P = 1; } if (u REL R) { R = u; P = (int)i; }",
            "if (t REL R) { P = (int)i + (R > u); R = t; }",
            "if (t REL R) { R = t; P = (int)i; } else { P++; }",
            "if (t REL R) R = u;",
        ]);
        let text = text.replace("CONDITION", &condition).replace("REL", relation).replace('R', &name);
        self.line(&format!("{{ {ty} t = {t}, u = {u}; (void)u; {} }}", text.replace('P', &at)));
    }

    /// A reduction in memory, at an address that the loop may know not to change; what else it does may be there, too.
    fn in_memory(&mut self) {
        let integer = self.integer(1);
        let place = self.pick(&[
            "counter",
            "counter",
            "local[5]",
            "local[m]",
            "o->cells[3].value",
            "cells[19].inner.total",
            "o->cells[s].last",
            "cells[m].parts[1]",
            "indices[12300]",
            "*rows[3]",
            "a[9000 + m]",
            "b[s]",
        ]);
        if (place.starts_with('a') || place.starts_with('b')) && self.own.floating {
            let relation = self.pick(&["<", ">"]);
            self.line(&format!("if (c[i & 255] {relation} {place}) {place} = c[i & 255];"));
            return;
        }
        let condition = self.condition();
        let text = self.pick(&[
            "P ^= V;",
            "P |= V;",
            "P = (__typeof__(P))((unsigned long)P + (unsigned long)(V));",
            "if (CONDITION) P ^= V;",
            "if (x[i] > P) P = x[i];",
            "P = P < x[i] ? P : x[i];",
            "if (x[i] >= P) { P = x[i]; local[7] = (int)i; }",
            "P &= V;",
        ]);
        let text = text.replace("CONDITION", &condition).replace('V', &format!("({integer})"));
        self.line(&text.replace('P', place));
    }

    fn inner_loop(&mut self) {
        if self.depth > 3 {
            return;
        }
        let v = self.variable();
        let rounds = 2 + self.below(5);
        let name = ["j", "k", "l"][self.depth - 2];
        let (head, tail, step) = match self.below(12) {
            0..=2 => (format!("for (int {name} = 0; {name} < {rounds}; {name}++) {{"), "}", ""),
            3 => (format!("for (int {name} = 0; {name} < m - 1; {name}++) {{"), "}", ""),
            4 => (format!("for (int {name} = (int){v} % 5; {name} < {rounds}; {name} += 2) {{"), "}", ""),
            5 => (format!("for (int {name} = {rounds}; {name} > 0; {name}--) {{"), "}", ""),
            6 => (format!("for (unsigned char {name} = 250; {name} != {rounds}; {name}++) {{"), "}", ""),
            7 => (format!("for (unsigned {name} = 0; {name} <= (unsigned)({v} & 7); {name}++) {{"), "}", ""),
            8 => (
                format!("for (unsigned short {name} = 1; {name} != {}; {name} += 2) {{", 1 + 2 * rounds),
                "}",
                "",
            ),
            9 => (
                format!("{{ int {name} = 0; while ({name} < {rounds} && x[{v} + {name}] != 77) {{"),
                "} }",
                "S++;",
            ),
            10 => (format!("{{ int {name} = 0; do {{"), "} while (S < m); }", "S += 2;"),
            _ => (format!("{{ int {name} = 0; for (;;) {{"), "} }", "if (++S > 3) break;"),
        };
        self.line(&head);
        self.depth += 1;
        self.variables.push(name);
        let known = self.known.len();
        if step.is_empty() && self.chance(4) {
            let word = self.pick(&["break", "continue"]);
            let condition = self.condition();
            self.line(&format!("if ({condition}) {word};"));
        }
        for _ in 0..1 + self.below(2) {
            self.statement();
        }
        if !step.is_empty() {
            self.line(&step.replace('S', name));
        }
        self.known.truncate(known);
        self.variables.pop();
        self.depth -= 1;
        self.line(&tail.replace('S', name));
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
