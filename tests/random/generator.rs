//! Random C programs whose loops are candidates: counted, with stores that may or may not meet. Every subscript stays in
//! bounds and all arithmetic is defined, whatever the data; so a program has one result, and `cc` knows it.
//!
//! A program has some kernels, each a function with one loop nest over pointers into shared arrays, and calls them with trip
//! counts and pointers that make them independent or not: apart, equal, one element apart, half overlapping; subscripts
//! through an array that the loop itself may store to.

use super::Random;
use std::fmt::Write;

/// Elements of each shared array.
const ELEMENTS: usize = 16384;
/// Largest trip count.
const MOST: i32 = 300;
/// What indirect subscripts are cut down to.
const MASK: u32 = 2047;

#[derive(Clone, Copy, PartialEq)]
struct Type {
    name: &'static str,
    array: &'static str,
    floating: bool,
}

const TYPES: [Type; 8] = [
    Type { name: "int", array: "ints", floating: false },
    Type { name: "unsigned", array: "unsigneds", floating: false },
    Type { name: "short", array: "shorts", floating: false },
    Type { name: "unsigned char", array: "bytes", floating: false },
    Type { name: "long", array: "longs", floating: false },
    Type { name: "unsigned long long", array: "wides", floating: false },
    Type { name: "float", array: "floats", floating: true },
    Type { name: "double", array: "doubles", floating: true },
];

/// A kernel being written.
struct Kernel<'a> {
    random: &'a mut Random,
    /// The type of `a` and `b`, and of `c`.
    own: Type,
    other: Type,
    /// Induction variables in scope.
    variables: Vec<&'static str>,
    /// Whether the kernel has a walked pointer and a counter.
    walks: bool,
    counts: bool,
    lines: String,
    depth: usize,
}

impl Kernel<'_> {
    fn line(&mut self, text: &str) {
        let _ = writeln!(self.lines, "{:1$}{text}", "", 2 * self.depth);
    }

    /// A subscript between 0 and some thousands.
    fn subscript(&mut self) -> String {
        let v = *self.random.pick(&self.variables);
        let c = self.random.below(5);
        match self.random.below(14) {
            0..=3 => v.to_string(),
            4 => format!("{v} + {c}"),
            5 => format!("2 * {v} + {c}"),
            6 => format!("{} - {v}", 2000 + c),
            7 => format!("x[{v}] & {MASK}"),
            8 => format!("(x[{v}] + {c}) & {MASK}"),
            9 => format!("{v} % {}", 3 + c),
            10 => format!("({v} * 7919u) & {MASK}"),
            11 if self.variables.len() > 1 => "i * 16 + j".to_string(),
            11 => format!("{v} / 2"),
            12 if self.counts => "count & 4095".to_string(),
            _ => format!("{v} * s + {c}"),
        }
    }

    fn element(&mut self) -> String {
        let array = *self.random.pick(&["a", "a", "b"]);
        let subscript = self.subscript();
        format!("{array}[{subscript}]")
    }

    /// An integer expression of type `unsigned`.
    fn integer(&mut self, deep: usize) -> String {
        if deep == 0 || self.random.below(4) == 0 {
            return match self.random.below(6) {
                0 => format!("{}u", self.random.below(1000)),
                1 => format!("(unsigned){}", self.random.pick(&self.variables)),
                2 => "(unsigned)s".into(),
                3 if !self.other.floating => format!("(unsigned)c[{}]", self.subscript()),
                _ if !self.own.floating => format!("(unsigned){}", self.element()),
                _ => format!("(unsigned)x[{}]", self.random.pick(&self.variables)),
            };
        }
        let (x, y) = (self.integer(deep - 1), self.integer(deep - 1));
        match self.random.below(11) {
            0..=2 => format!("({x} + {y})"),
            3 => format!("({x} - {y})"),
            4 => format!("{x} * {y}"),
            5 => format!("({x} ^ {y})"),
            6 => format!("({x} & {y})"),
            7 => format!("({x} >> {})", 1 + self.random.below(20)),
            8 => format!("({x} / ({y} | 1u))"),
            9 => format!("({x} % ({y} | 3u))"),
            _ => format!("({x} < {y} ? {x} : {y})"),
        }
    }

    /// An expression of a floating type, or one that converts to it.
    fn floating(&mut self, deep: usize) -> String {
        if deep == 0 || self.random.below(4) == 0 {
            return match self.random.below(4) {
                0 => format!("{}.{}f", self.random.below(9), self.random.below(100)),
                1 if self.other.floating => format!("c[{}]", self.subscript()),
                2 => {
                    let integer = self.integer(0);
                    format!("({})(int){integer}", self.own.name)
                }
                _ => self.element(),
            };
        }
        let (x, y) = (self.floating(deep - 1), self.floating(deep - 1));
        match self.random.below(7) {
            0..=1 => format!("({x} + {y})"),
            2 => format!("({x} - {y})"),
            3 => format!("{x} * {y}"),
            4 => format!("({x} / {y})"),
            5 => format!("(-{x})"),
            _ => format!("({x} < {y} ? {x} : {y})"),
        }
    }

    fn value(&mut self) -> String {
        let deep = 1 + self.random.below(3);
        if self.own.floating {
            self.floating(deep)
        } else {
            let integer = self.integer(deep);
            format!("({})({integer})", self.own.name)
        }
    }

    fn condition(&mut self) -> String {
        match self.random.below(3) {
            0 => format!("{} % {} == 1", self.random.pick(&self.variables), 2 + self.random.below(5)),
            1 => format!("x[{}] & {}", self.random.pick(&self.variables), 1 << self.random.below(6)),
            _ => format!("{} > {}", self.element(), self.random.below(50)),
        }
    }

    fn statement(&mut self) {
        let value = self.value();
        match self.random.below(14) {
            0..=4 => {
                let element = self.element();
                self.line(&format!("{element} = {value};"));
            }
            5 | 6 => {
                let element = self.element();
                let op =
                    *self.random.pick(if self.own.floating { &["+", "-", "*"] } else { &["^", "|", "&"] });
                self.line(&format!("{element} {op}= {value};"));
            }
            7 => {
                let (condition, element) = (self.condition(), self.element());
                self.line(&format!("if ({condition})"));
                self.line(&format!("  {element} = {value};"));
                if self.random.below(2) == 0 {
                    let (element, value) = (self.element(), self.value());
                    self.line("else");
                    self.line(&format!("  {element} = {value};"));
                }
            }
            8 => {
                let integer = self.integer(2);
                let op = *self.random.pick(&["+", "^", "|", "&"]);
                self.line(&format!(
                    "sum_{} {op}= {integer};",
                    ["plus", "xor", "or", "and"]
                        [["+", "^", "|", "&"].iter().position(|o| *o == op).unwrap_or(0)]
                ));
            }
            9 => {
                let integer = self.integer(1);
                self.line(&format!("{{ unsigned t = {integer}; if (t > most) most = t; }}"));
            }
            10 => {
                let (element, variable) = (self.element(), *self.random.pick(&self.variables));
                let name = self.own.name;
                self.line(&format!("{{ {name} t = {value}; {element} = t; last = (long)(int){variable}; }}"));
            }
            11 if self.walks => self.line(&format!("*walk++ = {value};")),
            12 if self.counts => self.line(&format!("a[count & 4095] = {value};")),
            _ => {
                let subscript = self.subscript();
                let rounds = 2 + self.random.below(4);
                match self.random.below(3) {
                    0 => self.line(&format!("for (int k = 0; k < {rounds}; k++) a[({subscript}) + k] = {value};")),
                    1 => self.line(&format!(
                        "{{ int k = 0; while (k < {rounds}) {{ if (x[k] == 77) break; b[({subscript}) + k++] = {value}; }} }}"
                    )),
                    _ => self.line(&format!(
                        "{{ {} t = 0; for (int k = 0; k < {rounds}; k++) t += c[({subscript}) + k]; b[{subscript}] = t; }}",
                        if self.own.floating { self.own.name } else { "unsigned long long" }
                    )),
                }
            }
        }
    }

    /// The loop nest.
    fn nest(&mut self) {
        let merged = self.random.below(4) == 0;
        let low = self.random.below(3);
        let (step, kind) = (1 + self.random.below(3), self.random.below(8));
        let steps = match (self.counts, self.random.below(2)) {
            (true, 0) => format!(", count += {}", 1 + self.random.below(3)),
            _ => String::new(),
        };
        let counts_in_body = self.counts && steps.is_empty();
        let head = match kind {
            0..=3 => format!("for (int i = {low}; i < n; i++{steps})"),
            4 => format!("for (int i = {low}; i <= n - 1; i += {step}{steps})"),
            5 => format!("for (int i = n - 1; i >= {low}; i--{steps})"),
            6 => format!("for (unsigned i = {low}; (int)i < n; i++{steps})"),
            _ => format!("for (long i = {low}; i < n; i += {step}{steps})"),
        };
        self.variables = vec!["i"];
        self.line(&format!("{head} {{"));
        self.depth += 1;
        if merged {
            self.line("for (int j = 0; j < 16; j++) {");
            self.variables.push("j");
            self.depth += 1;
        }
        for _ in 0..1 + self.random.below(3) {
            self.statement();
        }
        if counts_in_body && !merged {
            self.line("count += 3;");
        }
        if merged {
            self.depth -= 1;
            self.line("}");
        }
        self.depth -= 1;
        self.line("}");
    }
}

/// The program of a seed.
pub fn program(random: &mut Random) -> String {
    let mut text = String::from(
        "/* Made by tests/random/generator.rs. */\n#include <stdio.h>\n#include <string.h>\n\nenum { ELEMENTS = ",
    );
    let _ = writeln!(text, "{ELEMENTS} }};");
    for ty in TYPES {
        let _ = writeln!(text, "static {} {}[ELEMENTS];", ty.name, ty.array);
    }
    text.push_str("static int indices[ELEMENTS];\n\n");
    let kernels = 6 + random.below(5);
    let mut calls = String::new();
    for number in 0..kernels {
        let (own, other) = (*random.pick(&TYPES), *random.pick(&TYPES));
        let (walks, counts) = (random.below(3) == 0, random.below(3) == 0);
        let qualifier = if random.below(5) == 0 { "" } else { "const " };
        let mut kernel = Kernel {
            random,
            own,
            other,
            variables: Vec::new(),
            walks,
            counts,
            lines: String::new(),
            depth: 1,
        };
        kernel.nest();
        let body = kernel.lines;
        let _ = writeln!(
            text,
            "__attribute__((noinline)) static void kernel_{number}(int n, int s, {t} *a, {t} *b, const {u} *c, {qualifier}int *x)\n{{\n  \
             unsigned sum_plus = 1, sum_xor = 2, sum_or = 0, sum_and = ~0u, most = 0, count = 5;\n  long last = -1;\n  {t} *walk = b + 8;\n\
             {body}  printf(\"{number}: %u %u %u %u %u %u %ld %ld\\n\", sum_plus, sum_xor, sum_or, sum_and, most, count, last, (long)(walk - b));\n  \
             (void)s;\n  (void)a;\n  (void)c;\n  (void)x;\n}}\n",
            t = own.name,
            u = other.name
        );
        for _ in 0..5 {
            let n = *random.pick(&[0, 1, 2, 7, 33, 64, 100, 257, MOST, -3]);
            let a = random.below(3000);
            // Apart, the same, one element apart, overlapping.
            let b = match random.below(6) {
                0..=2 => a + 6000,
                3 => a,
                4 => a + 1,
                _ => a + 1 + random.below(300),
            };
            let x = match own.name {
                // Subscripts that the loop may change.
                "int" if random.below(4) == 0 => format!("ints + {}", a + random.below(40)),
                _ => format!("indices + {}", 2048 * random.below(5)),
            };
            let _ = writeln!(
                calls,
                "  kernel_{number}({n}, {}, {t} + {a}, {t} + {b}, {u} + {}, {x});",
                1 + random.below(4),
                random.below(2000),
                t = own.array,
                u = other.array
            );
        }
        calls.push_str("  hash();\n");
    }
    text.push_str(
        "static unsigned long long state = 88172645463325252ull;\nstatic unsigned next(void)\n{\n  state ^= state << 13;\n  state ^= state >> 7;\n  \
         state ^= state << 17;\n  return (unsigned)(state >> 24);\n}\n\nstatic void add(unsigned long long *h, const void *memory, size_t bytes)\n{\n  \
         const unsigned char *byte = memory;\n  for (size_t k = 0; k < bytes; k++)\n    *h = (*h ^ byte[k]) * 1099511628211ull;\n}\n\n\
         static void hash(void)\n{\n  unsigned long long h = 14695981039346656037ull;\n",
    );
    for ty in TYPES {
        let _ = writeln!(text, "  add(&h, {0}, sizeof {0});", ty.array);
    }
    text.push_str("  add(&h, indices, sizeof indices);\n  printf(\"%llx\\n\", h);\n}\n\nint main(void)\n{\n  for (int k = 0; k < ELEMENTS; k++) {\n");
    for ty in TYPES {
        let _ = match ty.floating {
            true => writeln!(text, "    {}[k] = ({})(next() % 2000) / 16;", ty.array, ty.name),
            false => writeln!(text, "    {}[k] = ({})next();", ty.array, ty.name),
        };
    }
    // In stretches of 2048: in order, scattered without and with repetition, all the same, backwards.
    text.push_str(
        "    indices[k] = k / 2048 == 0 ? k : k / 2048 == 1 ? k * 1031 % 2048 : k / 2048 == 2 ? (int)(next() % 2048) : k / 2048 == 3 ? 7 : 2047 - \
         k % 2048;\n  }\n",
    );
    text.push_str(&calls);
    text.push_str("  return 0;\n}\n");
    text
}
