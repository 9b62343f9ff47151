//! Random loops whose difficulty lies in their scalars: counters and pointers that are defined, moved, changed and used again
//! within an iteration, narrowed on the way to a subscript, assigned under conditions, walked by inner loops, shared by several
//! loops of a function and used after them.
//!
//! Each loop gives every scalar a role. A *private* one is defined at the top of the body, then moved and changed at will; a
//! *stepping* one only has constants added; a *constant* one is only read; of a *wild* one nothing is known. Most loops are
//! *calm*: private scalars stay near `16 * i`, and only they say where is stored, so that iterations keep apart and the loop
//! can run in parallel, unless noise is mixed in.
//!
//! Why subscripts stay inside: all scalars and the distances of pointers from `a` are at most what is assigned absolutely (some
//! thousands) plus all that is ever added, and that is counted while the program is written (`growth`). Arithmetic on data is
//! done in unsigned types. A variable that an expression changes occurs nowhere else in it (`banned`).

use super::Random;
use super::prelude::PRELUDE;
use std::fmt::Write;

const TYPES: [&str; 8] =
    ["int", "unsigned", "short", "unsigned char", "long", "float", "double", "signed char"];
const KERNELS: usize = 8;
/// Most that a kernel's scalars may grow by.
const GROWTH: usize = 9000;
const COUNTERS: [&str; 4] = ["k", "l", "m", "counter"];
const POINTERS: [&str; 3] = ["p", "q", "r"];
const NARROW: [&str; 6] = ["sc", "uc", "sh", "flag", "bits.five", "shade"];

const START: &str = r#"/* Made by tests/random/scalars.rs. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ELEMENTS = 40000, MIDDLE = 20000, BOXES = 1536 };
enum shade { DARK, DIM, LIGHT = 9 };
struct box {
  int value;
  union {
    unsigned word;
    unsigned char bytes[4];
    short halves[2];
  } u;
  struct {
    short parts[4];
    unsigned mark : 3;
    signed int tiny : 5;
  } in;
};
struct bits {
  signed int five : 5;
  unsigned seven : 7;
};
static struct box *boxes;
static int *indices, counter, limit = 90;
"#;

const HELPERS: &str = r#"static inline int bump(int *at, int by)
{
  int old = *at;
  *at += by;
  return old;
}
static inline int least(int one, int other)
{
  if (one < other)
    return one;
  return other;
}
static inline unsigned low_bits(unsigned of, int count)
{
  unsigned result = 0;
  for (int j = 0; j < count; j++)
    result |= of & 1u << j;
  return result;
}
"#;

#[derive(Clone, Copy, PartialEq)]
enum Role {
    Private,
    Stepping,
    Constant,
    Wild,
}

/// What most loops with it stay sequential for: a loop has at most one of them.
#[derive(Clone, Copy, PartialEq)]
enum Odd {
    Nothing,
    BitFields,
    Calls,
    StatementExpressions,
    Jumps,
    Counters,
    Steps,
}

struct Kernel<'a> {
    random: &'a mut Random,
    ty: &'static str,
    lines: String,
    depth: usize,
    /// By how much scalars may have grown altogether.
    growth: usize,
    /// How often a statement is carried out at most in an iteration; 2 where `break` would leave a switch.
    inner: usize,
    /// The loop's variable as an `int`, and inner ones.
    variables: Vec<&'static str>,
    calm: bool,
    roles: Vec<(&'static str, Role)>,
    /// What this expression must not mention, and what this statement must not change.
    banned: Vec<&'static str>,
    /// Those that this loop doesn't have yet.
    reductions: Vec<&'static str>,
    labels: usize,
    /// Whether `continue` ends an iteration here as it should.
    continues: bool,
    /// The label after the loop, where a `goto` may lead there.
    breaks: Option<usize>,
    odd: Odd,
}

impl Kernel<'_> {
    fn below(&mut self, bound: usize) -> usize {
        self.random.below(bound)
    }
    fn chance(&mut self, of: usize) -> bool {
        self.random.below(of) == 0
    }
    fn line(&mut self, text: &str) {
        let _ = writeln!(self.lines, "{:1$}{text}", "", 2 * self.depth);
    }
    fn floating(&self) -> bool {
        matches!(self.ty, "float" | "double")
    }
    fn role(&self, name: &str) -> Role {
        self.roles.iter().find(|(n, _)| *n == name).map_or(Role::Constant, |(_, role)| *role)
    }

    /// One of the names that isn't banned and has a role that suits.
    fn one(&mut self, names: &[&'static str], suits: impl Fn(Role) -> bool) -> Option<&'static str> {
        let left: Vec<_> = names
            .iter()
            .copied()
            .filter(|name| *name != "bits.five" || self.odd == Odd::BitFields)
            .filter(|name| *name != "counter" || self.odd == Odd::Counters)
            .filter(|name| !self.banned.contains(name) && suits(self.role(name)))
            .collect();
        (!left.is_empty()).then(|| left[self.random.below(left.len())])
    }

    fn variable(&mut self) -> &'static str {
        self.variables[self.random.below(self.variables.len())]
    }

    /// Any counter's value, as a signed integer.
    fn counter(&mut self) -> String {
        match self.one(&COUNTERS, |_| true) {
            Some("m") => "(int)m".into(),
            Some(name) if !self.chance(3) => name.into(),
            _ => self.variable().into(),
        }
    }

    fn narrow(&mut self) -> String {
        match self.one(&NARROW, |_| true) {
            Some("sh") => "(sh & 511)".into(),
            Some("shade") => "(int)shade".into(),
            Some(name) => name.into(),
            None => "3".into(),
        }
    }

    /// A subscript for `b` and `c`: small, but anything else.
    fn subscript(&mut self) -> String {
        let (k, v, c) = (self.counter(), self.variable(), self.below(6));
        match self.below(18) {
            0..=2 => format!("{k} + {c}"),
            3 | 4 => v.into(),
            5 => format!("{} + {v}", self.narrow()),
            6 => format!("(unsigned char)({k} * 3 + {c})"),
            7 => format!("(signed char)({k} * 2 + {c}) + 130"),
            8 => format!("(_Bool)({k} & 4) + {v}"),
            9 => format!("x[({k} + {c}) & 1023]"),
            10 => format!("({k} & 63) + {v}"),
            11 => format!("({k} > {v} ? {k} : {v} + {c})"),
            12 if self.odd == Odd::Calls => format!("least({k}, {v} * 2)"),
            13 => format!("((short)({k} * 2 + {c}) & 1023)"),
            14 => format!("{v} * 2 - {k}"),
            15 => match self.one(&POINTERS, |_| true) {
                Some(p) => format!("(int)({p} - a)"),
                None => v.into(),
            },
            16 => format!("(int)(enum shade)({k} & 3) + {v}"),
            _ if self.odd == Odd::StatementExpressions => format!("({{ int t = {k}; t += {c}; t; }})"),
            _ => format!("{k} + {v} + {c}"),
        }
    }

    /// A subscript of `a` that this iteration may store to.
    fn place(&mut self) -> String {
        if !self.calm || self.chance(25) {
            return self.subscript();
        }
        let c = self.below(4);
        match self.one(&["k", "l", "m"], |role| role == Role::Private) {
            Some("m") => format!("(int)m + {c}"),
            Some(k) if self.chance(5) => {
                let narrow = self.one(&["flag"], |_| true).unwrap_or("1");
                format!("{k} + {narrow}")
            }
            Some(k) if self.chance(8) => format!("(short){k} + {c}"),
            Some(k) => format!("{k} + {c}"),
            None => format!("{} * 16 + {c}", self.variables[0]),
        }
    }

    /// Something to store to.
    fn element(&mut self) -> String {
        if self.chance(2) {
            let role = if self.calm { Role::Private } else { Role::Wild };
            if let Some(p) = self.one(&POINTERS, |of| of == role) {
                let c = self.below(4);
                if self.chance(4) && self.grow(1) {
                    self.banned.push(p);
                    return format!("*{p}++");
                }
                return match self.below(3) {
                    0 => format!("*{p}"),
                    1 => format!("{p}[{c}]"),
                    _ => format!("*({p} + {c})"),
                };
            }
        }
        if self.chance(5)
            && let Some(k) = self.one(&["k", "l"], |role| role == Role::Private)
            && self.grow(1)
        {
            self.banned.push(k);
            return match self.below(3) {
                0 => format!("a[{k}++]"),
                1 => format!("a[++{k}]"),
                _ => format!("a[{k} += 1]"),
            };
        }
        let place = self.place();
        match self.below(9) {
            0 => format!("a[({place})]"),
            1 => format!("(&a[1])[{place}]"),
            _ => format!("a[{place}]"),
        }
    }

    /// Whether a private scalar may still grow by so much each time its statement is reached; counts it if so.
    fn grow(&mut self, by: usize) -> bool {
        self.growth += by * self.inner;
        if self.growth > GROWTH {
            self.growth -= by * self.inner;
            return false;
        }
        true
    }

    /// A box's integer, of this iteration where the loop is calm.
    fn field(&mut self) -> String {
        let v = self.variables[0];
        let (k, narrow) = (self.counter(), self.narrow());
        let at = if self.calm && !self.chance(20) { v.to_string() } else { format!("{k} & 255") };
        match self.below(if self.odd == Odd::BitFields { 7 } else { 5 }) {
            0 => format!("o[{at}].value"),
            1 => format!("o[{at}].u.bytes[{narrow} & 3]"),
            2 => format!("o[{at}].u.halves[{k} & 1]"),
            3 => format!("(o + ({at}))->in.parts[{k} & 3]"),
            4 => format!("o[{at}].u.word"),
            5 => format!("o[{at}].in.mark"),
            _ => format!("o[{at}].in.tiny"),
        }
    }

    fn load(&mut self) -> String {
        match self.below(10) {
            0..=2 => format!("b[{}]", self.subscript()),
            3 | 4 => format!("c[{}]", self.subscript()),
            5 | 6 => format!("a[{}]", self.place()),
            7 => {
                let role = if self.calm { Role::Private } else { Role::Constant };
                match self.one(&POINTERS, |of| of == role) {
                    Some(p) => format!("{p}[{}]", self.below(3)),
                    None => format!("b[{}]", self.subscript()),
                }
            }
            _ => {
                let k = self.counter();
                let load = format!("b[{}]", self.subscript());
                format!("({k} > {} ? {load} : 3)", self.below(200))
            }
        }
    }

    fn unsigned(&mut self, deep: usize) -> String {
        if deep == 0 {
            return match self.below(8) {
                0 => self.counter(),
                1 => self.narrow(),
                2 => self.field(),
                3 => format!("x[({}) & 1023]", self.subscript()),
                4 if self.odd == Odd::Calls => {
                    format!("low_bits({}, {} & 7)", self.counter(), self.counter())
                }
                5 => format!("(uc ? {} : {})", self.counter(), self.narrow()),
                _ if self.floating() => format!("({} > 9)", self.load()),
                _ => self.load(),
            };
        }
        let (x, y) = (self.unsigned(deep - 1), self.unsigned(deep - 1));
        match self.below(9) {
            0 | 1 => format!("((unsigned)({x}) + {y})"),
            2 => format!("((unsigned)({x}) * 7u ^ {y})"),
            3 => format!("((unsigned)({x}) - {y})"),
            4 => format!("({} ? {x} : {y})", self.condition()),
            5 => format!("((unsigned)({x}) >> 3)"),
            6 => format!("(unsigned)((signed char)({x}) + (_Bool)({y}))"),
            7 => format!("((void)({y}), {x})"),
            _ => format!("({x} && {y})"),
        }
    }

    fn value(&mut self) -> String {
        if self.floating() {
            let (x, y) = (self.load(), self.load());
            return match self.below(5) {
                0 => format!("{x} + {}", self.counter()),
                1 => format!("{x} * 0.5f + {y}"),
                2 => format!("({x} < {y} ? {x} : {y} - 1)"),
                3 => self.counter(),
                _ => format!("{x} - (int)({} & 255)", self.unsigned(0)),
            };
        }
        let deep = self.below(3);
        let value = self.unsigned(deep);
        format!("({})({value})", self.ty)
    }

    fn condition(&mut self) -> String {
        let (k, v, c) = (self.counter(), self.variable(), self.below(100));
        match self.below(12) {
            0 => format!("{k} & {}", 1 << self.below(5)),
            1 => format!("{v} % 3 == {}", self.below(3)),
            2 => format!("{k} > {c}"),
            3 => format!("{} > {}", self.load(), self.below(60)),
            4 => format!("x[{v} & 1023] < {}", self.below(300)),
            5 => self.narrow(),
            6 => format!("(signed char)({k} + {c}) < 0"),
            7 => format!("!({k} & {v})"),
            8 => format!("{v} > {c} && {} > 5", self.load()),
            9 => format!("{k} < {c} || {}", self.narrow()),
            10 => match self.one(&POINTERS, |_| true) {
                Some(p) => format!("{p} > a + {c}"),
                None => format!("{v} < {c}"),
            },
            _ => format!("(unsigned)({k} - {c}) < 40u"),
        }
    }

    /// What a private counter may be at the top of an iteration.
    fn base(&mut self) -> String {
        let (v, c) = (self.variables[0], self.below(5));
        match self.below(if self.calm { 6 } else { 10 }) {
            0..=2 => format!("{v} * 16 + {c}"),
            3 => format!("(int)((unsigned){v} << 4) + {c}"),
            4 => format!("8 * {v} + {c} + {v} * 8"),
            5 => format!("({v} + 1) * 16 - {c}"),
            6 => format!("{v} + {c}"),
            7 => format!("x[{v} & 1023]"),
            8 => format!("(unsigned char)({v} * 5)"),
            _ => format!("n - {v}"),
        }
    }

    /// Moves or changes a counter.
    fn move_counter(&mut self) {
        let noise = self.chance(25);
        let Some(k) = self.one(&COUNTERS, |role| role != Role::Constant) else { return };
        let c = 1 + self.below(3);
        match self.role(k) {
            Role::Stepping => {
                if self.inner == 1 && self.growth + 220 * c < GROWTH {
                    self.growth += 220 * c;
                    match self.below(4) {
                        0 => self.line(&format!("{k}++;")),
                        1 => self.line(&format!("{k} = {k} + {c};")),
                        2 => self.line(&format!("{k} -= {c};")),
                        _ => self.line(&format!("{k} += {c};")),
                    }
                }
            }
            Role::Private => {
                let others = ["k", "l", "m"];
                self.banned.push(k);
                let other = self.one(&others, |role| role == Role::Private);
                let (base, condition, subscript) = (self.base(), self.condition(), self.subscript());
                let other = match other {
                    Some("m") => "(int)m".to_string(),
                    Some(other) => other.to_string(),
                    None => base.clone(),
                };
                let text = match self.below(16) {
                    0 | 1 => format!("{k} = {other};"),
                    2 => format!("{k} = {base};"),
                    3 if noise => format!("{k} = ({subscript}) & 2047;"),
                    4 if self.grow(c) => format!("{k} = {other} + {c};"),
                    5 => format!("if ({condition}) {k} = {other};"),
                    6 => format!("{k} = {condition} ? {other} : {base};"),
                    7 if self.grow(c) => format!("{k} += {condition} ? {c} : 1;"),
                    8 if self.odd == Odd::Calls && self.grow(c) && k != "m" && k != "counter" => {
                        match self.one(&["l", "k"], |role| role == Role::Private) {
                            Some(l) => format!("{l} = bump(&{k}, {c});"),
                            None => format!("bump(&{k}, {c});"),
                        }
                    }
                    9 if self.grow(1) => match self.one(&["l", "k"], |role| role == Role::Private) {
                        Some(l) => format!("{l} = {k}++;"),
                        None => format!("++{k};"),
                    },
                    10 => match self.one(&POINTERS, |role| role == Role::Private) {
                        Some(p) => format!("{k} = (int)({p} - a);"),
                        None => format!("{k} = {other};"),
                    },
                    11 if self.grow(1) => format!("if ({condition}) {k}++;"),
                    12 if self.grow(1) => format!("({condition}) && {k}++;"),
                    13 if self.grow(c) => format!("{k} -= {c};"),
                    14 => match self.one(&["k", "l"], |role| role == Role::Private) {
                        Some(l) => format!("{{ int t = {l}; {l} = {k}; {k} = t; }}"),
                        None => format!("{k} = {other};"),
                    },
                    _ if self.grow(c) => format!("{k} += {c};"),
                    _ => format!("{k} = {base};"),
                };
                self.line(&text);
            }
            _ => {
                self.banned.push(k);
                let (subscript, condition) = (self.subscript(), self.condition());
                match self.below(3) {
                    0 => self.line(&format!("{k} = ({subscript}) & 255;")),
                    1 => self.line(&format!("if ({condition}) {k} = ({subscript}) & 1023;")),
                    _ => self.line(&format!("{k} = ({k} + {c}) & 255;")),
                }
            }
        }
    }

    fn move_narrow(&mut self) {
        let Some(name) = self.one(&NARROW, |role| role != Role::Constant) else { return };
        let (k, c) = (self.counter(), self.below(300));
        let condition = self.condition();
        let text = match self.below(8) {
            0 | 1 => format!("{name} = {k} + {c};"),
            2 => format!("{name} = {k} * 3 & 7;"),
            3 => format!("{name} = {condition};"),
            4 if name != "flag" && name != "shade" => format!("{name} += {k};"),
            5 => format!("if ({condition}) {name} = {k};"),
            6 => format!("{name} = x[({k}) & 1023] & 3;"),
            _ => format!("{name} = ({k} & 15) - 2;"),
        };
        self.line(&text);
    }

    fn move_pointer(&mut self) {
        let Some(p) = self.one(&POINTERS, |role| role != Role::Constant) else { return };
        let c = 1 + self.below(3);
        match self.role(p) {
            Role::Stepping => {
                if self.inner == 1 && self.growth + 220 * c < GROWTH {
                    self.growth += 220 * c;
                    let text = if self.chance(2) { format!("{p}++;") } else { format!("{p} += {c};") };
                    self.line(&text);
                }
            }
            Role::Private => {
                self.banned.push(p);
                let (place, condition) = (self.place(), self.condition());
                let other = self.one(&POINTERS, |role| role == Role::Private);
                let text = match (self.below(10), other) {
                    (0, Some(q)) => format!("{p} = {q};"),
                    (1, Some(q)) if self.grow(c) => format!("{p} = {q} + {c};"),
                    (2, Some(q)) => format!("if ({condition}) {p} = {q};"),
                    (3, Some(q)) => format!("{p} = {condition} ? {q} : a + ({place});"),
                    (4, Some(q)) => format!("{{ {} *t = {p}; {p} = {q}; {q} = t; }}", self.ty),
                    (5, Some(q)) if self.grow(1) => format!("{q} = {p}++;"),
                    (6, _) => format!("if ({condition}) {p} = &a[{place}];"),
                    (7, _) => format!("{p} = &a[{place}];"),
                    (8, _) if self.grow(c) => format!("{p} += {c};"),
                    _ => format!("{p} = a + ({place});"),
                };
                self.line(&text);
            }
            _ => {
                self.banned.push(p);
                let (subscript, condition) = (self.subscript(), self.condition());
                let q = self.one(&POINTERS, |_| true).unwrap_or("b");
                match self.below(4) {
                    0 => self.line(&format!("{p} = a + (({subscript}) & 1023);")),
                    1 => self.line(&format!("if ({condition}) {p} = {q};")),
                    2 if self.role(q) == Role::Wild => {
                        self.line(&format!("{{ {} *t = {p}; {p} = {q}; {q} = t; }}", self.ty));
                    }
                    _ => self.line(&format!("{p} = {q};")),
                }
            }
        }
    }

    fn store(&mut self) {
        if self.chance(6) {
            let field = self.field();
            let value = self.unsigned(1);
            return self.line(&format!("{field} = {value};"));
        }
        let element = self.element();
        let value = self.value();
        match self.below(8) {
            0 if !self.floating() => {
                let op = *self.random.pick(&["^", "|", "&"]);
                self.line(&format!("{element} {op}= {value};"));
            }
            1 if !self.floating() => {
                // A compound assignment whose value is used.
                if let Some(name) = self.one(&["sc", "uc"], |role| role != Role::Constant) {
                    self.line(&format!("{name} = {element} ^= {value};"));
                } else {
                    self.line(&format!("{element} = {value};"));
                }
            }
            2 => {
                let condition = self.condition();
                self.line(&format!("if ({condition}) {element} = {value};"));
            }
            _ => self.line(&format!("{element} = {value};")),
        }
    }

    fn reduction(&mut self) {
        let Some(at) = (!self.reductions.is_empty()).then(|| self.random.below(self.reductions.len())) else {
            return;
        };
        let name = self.reductions.remove(at);
        let (value, condition, k, load) = (self.unsigned(1), self.condition(), self.counter(), self.load());
        let text = match name {
            "total" => match self.below(3) {
                0 => format!("total += {value};"),
                1 => format!("if ({condition}) total += {value};"),
                _ => format!("total -= ({condition}) ? {value} : 1u;"),
            },
            "bitwise" => {
                format!(
                    "{}bitwise ^= {value};",
                    if self.chance(2) { format!("if ({condition}) ") } else { String::new() }
                )
            }
            "most" => match self.below(4) {
                0 => format!("if ({load} > most) most = {load};"),
                1 => format!("if ({k} < 150 && {load} > most) most = {load};"),
                2 => format!("most = {load} > most ? {load} : most;"),
                _ => format!("if ({condition}) {{ {} t = {load}; if (most < t) most = t; }}", self.ty),
            },
            "where" => {
                let v = self.variable();
                match self.below(3) {
                    0 => format!("if ({condition}) where = {v};"),
                    1 => format!("if ({load} < least_value) least_value = {load}, where = {v};"),
                    _ => format!("if ({condition}) {{ where = {k}; last = {value}; }}"),
                }
            }
            _ => format!(
                "{}last = {value};",
                if self.chance(2) { format!("if ({condition}) ") } else { String::new() }
            ),
        };
        self.line(&text);
    }

    fn statement(&mut self, deep: usize) {
        let bans = self.banned.len();
        match self.below(if deep == 0 { 14 } else { 22 }) {
            0..=3 => self.store(),
            4..=6 => self.move_counter(),
            7..=9 => self.move_pointer(),
            10 => self.move_narrow(),
            11 => self.reduction(),
            12 if self.continues && self.chance(2) => {
                let condition = self.condition();
                self.line(&format!("if ({condition}) continue;"));
            }
            12 if self.odd == Odd::Jumps && self.chance(2) => {
                let v = self.variables[0];
                let c = 60 + self.below(200);
                let (breaks, jumps) = (self.breaks, self.chance(2));
                match breaks {
                    Some(label) if jumps => self.line(&format!("if ({v} > {c}) goto done_{label};")),
                    _ if self.inner == 1 => self.line(&format!("if ({v} == {c}) break;")),
                    _ => self.line("if (n > 1000) return;"),
                }
            }
            12 | 13 => self.store(),
            14..=16 => {
                let condition = self.condition();
                self.line(&format!("if ({condition}) {{"));
                self.block(deep - 1, 3);
                if self.chance(2) {
                    self.line("} else {");
                    self.block(deep - 1, 3);
                }
                self.line("}");
            }
            17 => {
                let k = self.counter();
                self.line(&format!("switch ({k} & 3) {{"));
                let (continues, breaks, inner) = (self.continues, self.breaks, self.inner);
                self.breaks = None;
                for case in ["case 0:", "case 1: case 3:", "default:"] {
                    self.line(case);
                    // `break` would mean the switch.
                    self.inner = inner.max(2);
                    self.block(deep - 1, 2);
                    self.inner = inner;
                    if !self.chance(3) || case == "default:" {
                        self.line("break;");
                    }
                }
                (self.continues, self.breaks) = (continues, breaks);
                self.line("}");
            }
            _ if self.inner == 1 => self.inner_loop(deep),
            _ => self.store(),
        }
        self.banned.truncate(bans);
    }

    fn block(&mut self, deep: usize, most: usize) {
        self.depth += 1;
        for _ in 0..1 + self.below(most) {
            self.statement(deep);
        }
        self.depth -= 1;
    }

    fn inner_loop(&mut self, deep: usize) {
        let (k, v, c) = (self.counter(), self.variable(), 2 + self.below(5));
        let outer = if self.chance(2) { "" } else { "int " };
        let narrow = self.narrow();
        let (continues, breaks) = (self.continues, self.breaks);
        let (head, foot, may_continue) = match self.below(9) {
            0 => (format!("for ({outer}j = 0; j < ({k} & 7); j++) {{"), "}", true),
            1 => (format!("for ({outer}j = {narrow} & 3; j < {c}; j++) {{"), "}", true),
            2 => (format!("j = {c}; while (j--) {{"), "}", true),
            3 => ("j = 0; do {".to_string(), "} while (++j < 4);", true),
            4 => (format!("for (j = {v} & 7; j != 8; ++j) {{"), "}", true),
            5 => (format!("for ({outer}j = {c}; j > ({k} & 3); j--) {{"), "}", true),
            6 => (format!("for (j = 0; j < {c} && {} > 3; j++) {{", self.load()), "}", true),
            7 => ("for (signed char j = 2; j >= 0; j--) {".to_string(), "}", true),
            _ => (format!("for ({outer}j = 0; j < (flag ? {c} : 3); j++) {{"), "}", true),
        };
        self.line(&head);
        self.variables.push("j");
        (self.inner, self.continues, self.breaks) = (8, may_continue, None);
        let flag = self.banned.len();
        self.block(deep - 1, 4);
        self.banned.truncate(flag);
        (self.inner, self.continues, self.breaks) = (1, continues, breaks);
        self.variables.pop();
        self.line(foot);
    }

    /// One loop, with `i` as its counter in one of many forms.
    fn outer_loop(&mut self) {
        self.calm = !self.chance(4);
        let calm = self.calm;
        self.odd = *self.random.pick(&[
            Odd::Nothing,
            Odd::Nothing,
            Odd::Nothing,
            Odd::Nothing,
            Odd::Nothing,
            Odd::Nothing,
            Odd::BitFields,
            Odd::Calls,
            Odd::StatementExpressions,
            Odd::Jumps,
            Odd::Counters,
            Odd::Steps,
        ]);
        let mut roles = Vec::new();
        for name in COUNTERS.iter().chain(&POINTERS).chain(&NARROW).copied() {
            let role = match self.below(if calm { 10 } else { 12 }) {
                0 if self.odd == Odd::Steps && name != "counter" && !NARROW.contains(&name) => Role::Stepping,
                1 | 2 => Role::Constant,
                11 => Role::Wild,
                _ if name == "counter" && !self.chance(6) => Role::Constant,
                _ => Role::Private,
            };
            roles.push((name, role));
        }
        self.roles = roles;
        self.reductions = vec!["total", "bitwise", "most", "where", "last"];
        self.inner = 1;
        let step = 1 + self.below(3);
        let fresh = if self.chance(2) { "int " } else { "" };
        let (head, foot, continues) = match self.below(24) {
            0..=3 | 20..=23 => (format!("for ({fresh}i = 0; i < n; i++) {{"), "}", true),
            4 => (format!("for ({fresh}i = n; i-- > 0;) {{"), "}", true),
            5 => (format!("for ({fresh}i = n - 1; i >= 0; i -= {step}) {{"), "}", true),
            6 => (format!("for ({fresh}i = 0; i != n; ++i) {{"), "}", true),
            7 => ("for (unsigned char i = 0; i < (unsigned char)n; i++) {".into(), "}", true),
            8 => ("for (signed char i = -60; i < 100; i++) {".into(), "}", true),
            9 => (format!("for ({fresh}i = 0; i < n; i += s) {{"), "}", true),
            10 => (format!("for ({fresh}i = 2; i <= limit; i++) {{"), "}", true),
            11 => ("i = 0; while (i < n) {".into(), "  i++;\n  }", false),
            12 => ("i = n; do {".into(), "} while (--i > 0);", true),
            13 => ("for (unsigned u = -5; u != (unsigned)n; u++) {\n    int i = (int)u;".into(), "}", true),
            14 => ("for (long i = 0; i < n; i++) {".into(), "}", true),
            15 => ("for (short i = n; i; i--) {".into(), "}", true),
            16 => ("w = a; for (i = 0; w < a + n; w++, i++) {".into(), "}", true),
            17 => ("i = n; while (i) { i--;".into(), "}", true),
            18 if self.odd == Odd::Jumps => ("for (i = 0; ; i++) { if (i >= n) break;".into(), "}", true),
            18 => ("i = n - 1; while (i >= 0) { int t = i--; int i = t;".into(), "}", true),
            _ => ("for (unsigned short i = 0; i < o[300].in.parts[1]; i++) {".into(), "}", true),
        };
        self.variables = vec!["i"];
        self.labels += 1;
        self.breaks = Some(self.labels);
        self.continues = continues;
        self.line(&head);
        self.depth += 1;
        let roles = self.roles.clone();
        for (name, role) in roles {
            let absent = name == "bits.five" && self.odd != Odd::BitFields
                || name == "counter" && self.odd != Odd::Counters;
            if role != Role::Private || absent || self.chance(60) {
                continue;
            }
            let bans = self.banned.len();
            self.banned.push(name);
            if COUNTERS.contains(&name) {
                let base = self.base();
                self.line(&format!("{name} = {base};"));
            } else if POINTERS.contains(&name) {
                let place = self.place();
                self.line(&format!("{name} = a + ({place});"));
            } else {
                let k = self.counter();
                self.line(&format!("{name} = {k} + {};", 40 * step));
            }
            self.banned.truncate(bans);
        }
        self.depth -= 1;
        self.block(2, 7);
        self.depth += 1;
        self.store();
        self.banned.clear();
        self.depth -= 1;
        self.line(foot);
        let label = self.labels;
        self.line(&format!("done_{label}:;"));
    }

    fn function(mut self, number: usize) -> String {
        for _ in 0..1 + self.below(2) {
            self.outer_loop();
        }
        let mut uses = String::new();
        let mut names: Vec<&str> =
            vec!["k", "l", "m", "total", "bitwise", "where", "last", "(p - a)", "(q - a)", "(r - a)"];
        names.extend(["sc", "uc", "sh", "flag", "bits.five", "shade", "i", "j", "counter", "(w - a)"]);
        let all = self.chance(6);
        for name in names {
            if all || self.chance(8) {
                let _ = writeln!(uses, "  mix((unsigned long long){name});");
            }
        }
        let local = *self.random.pick(&["", "", "", "", "", "static "]);
        let (t, body) = (self.ty, &self.lines);
        format!(
            "__attribute__((noinline)) static void kernel_{number}(int n, int s, {t} *a, {t} *b, const {t} *c, const int *x, struct box *o)\n{{\n  \
             int k = 1, l = s, i = -3, j = 2, where = -1;\n  {local}unsigned m; m = 2;\n  unsigned total = 1, bitwise = 2;\n  unsigned long last = 3;\n  \
             {t} *p = a + 5, *q = b, *r = a, *w = a, most = 0, least_value = 100;\n  signed char sc = -4;\n  unsigned char uc = 1;\n  short sh = 9;\n  _Bool flag = 1;\n  \
             struct bits bits = {{3, 4}};\n  enum shade shade = DIM;\n{body}{uses}  mix_float(most);\n  mix_float(least_value);\n  (void)x;\n}}\n",
        )
    }
}

/// The program of a seed.
pub fn program(random: &mut Random) -> String {
    let mut text = [START, PRELUDE, HELPERS].concat();
    let mut calls = String::new();
    let mut used: Vec<&'static str> = Vec::new();
    let mut functions = String::new();
    for number in 0..KERNELS {
        let ty = *random.pick(&TYPES);
        if !used.contains(&ty) {
            used.push(ty);
        }
        let kernel = Kernel {
            random,
            ty,
            lines: String::new(),
            depth: 1,
            growth: 0,
            inner: 1,
            variables: Vec::new(),
            calm: true,
            roles: Vec::new(),
            banned: Vec::new(),
            reductions: Vec::new(),
            labels: 0,
            continues: false,
            breaks: None,
            odd: Odd::Nothing,
        };
        functions.push_str(&kernel.function(number));
        let array = ty.replace(' ', "_");
        for _ in 0..3 {
            let n = *random.pick(&[0, 1, 20, 33, 64, 100, 200, 200]);
            // Apart, the same, one element apart, overlapping.
            let b = match random.below(6) {
                0..=2 => 4500,
                3 => 0,
                4 => 1,
                _ => random.below(600),
            };
            let _ = writeln!(
                calls,
                "  limit = {n}; o[300].in.parts[1] = {n};\n  kernel_{number}({n}, {}, of_{array} + MIDDLE - 1000, of_{array} + MIDDLE - 1000 + {b}, \
                 of_{array} + MIDDLE + {}, indices + {}, o);",
                1 + random.below(3),
                random.below(6000),
                1024 * random.below(4)
            );
        }
        let _ = writeln!(calls, "  memory();");
    }
    let (mut values, mut fills, mut heaps) = (String::new(), String::new(), String::new());
    for ty in used {
        let array = ty.replace(' ', "_");
        let _ = writeln!(text, "static {ty} *of_{array};");
        let _ = writeln!(heaps, "  of_{array} = malloc(ELEMENTS * sizeof *of_{array});");
        if ty == "float" || ty == "double" {
            let _ = writeln!(values, "    mix_float(of_{array}[k]);");
            let _ = writeln!(fills, "    of_{array}[k] = ({ty})((int)(next() % 4000) - 2000) / 16;");
        } else {
            let _ = writeln!(values, "    mix((unsigned long long)of_{array}[k]);");
            let _ = writeln!(fills, "    of_{array}[k] = ({ty})(next() % 500);");
        }
    }
    let _ = write!(
        text,
        "{functions}static void memory(void)\n{{\n  for (int k = 0; k < ELEMENTS; k++) {{\n{values}  }}\n  for (int k = 0; k < BOXES; k++) {{\n    \
         mix((unsigned)boxes[k].value);\n    mix(boxes[k].u.word);\n    mix(boxes[k].in.mark);\n    mix((unsigned)boxes[k].in.tiny);\n    \
         for (int j = 0; j < 4; j++)\n      mix((unsigned)boxes[k].in.parts[j]);\n  }}\n  printf(\"%llx\\n\", hash);\n}}\n\
         int main(void)\n{{\n  boxes = calloc(BOXES, sizeof *boxes);\n  \
         indices = malloc(4096 * sizeof *indices);\n{heaps}  struct box *o = boxes + 512;\n  for (int k = 0; k < ELEMENTS; k++) {{\n{fills}  }}\n  \
         for (int k = 0; k < 4096; k++) {{\n    int part = k / 1024, at = k % 1024;\n    \
         indices[k] = part == 0 ? at : part == 1 ? at * 517 % 1024 : part == 2 ? (int)(next() % 1024) : 1023 - at;\n  }}\n{calls}  return 0;\n}}\n"
    );
    text
}
