//! Random loops that compile time and entry predicates can judge: one or two loops over named arrays, with affine subscripts
//! of all strides, offsets and directions, of elements of different widths. About half of them carry a dependence. What is
//! proven of the others is doubted: they are run with everything logged.

use super::Random;
use std::fmt::Write;

const LOOPS: usize = 24;
const WIDTHS: [(&str, &str); 4] = [
    ("unsigned char", "bytes"),
    ("unsigned short", "halves"),
    ("unsigned", "words"),
    ("unsigned long long", "longs"),
];

/// A place that one iteration touches. `j` only where there is an inner loop.
fn place(random: &mut Random, array: &str, nested: bool, first: i64) -> String {
    let stride = *random.pick(&[first, first, first, -first, 1, 0, 2 * first]);
    let mut subscript = format!("8000 + {stride} * i + {}", random.below(5) as i64 - 2);
    if nested {
        let inner = *random.pick(&["j", "j", "2 * j", "16 * j", "40 * j", "-j", "m * j", "0"]);
        subscript = format!("{subscript} + {inner}");
    }
    match random.below(12) {
        0 => format!("((unsigned char *)words)[{subscript}]"),
        1 => format!("{array}[{subscript} + k]"),
        2 => format!("p[{subscript} - 3900]"),
        // A row may end in the middle of what the inner loop goes over.
        3 | 4 => {
            let row = *random.pick(&["i", "i", "i", "2 * i", "100 - i", "7"]);
            let column = match nested {
                true => *random.pick(&["j", "j", "m - 1 - j", "j / 2", "i % m", "2 * j"]),
                false => *random.pick(&["0", "1", "m - 1", "i % m"]),
            };
            format!("*(grid[{row} + {}] + ({column}))", random.below(3))
        }
        _ => format!("{array}[{subscript}]"),
    }
}

/// A way out of a loop: by what it only loads, by what it may store to, or by its variable.
fn way_out(random: &mut Random, array: &str, nested: bool, first: i64) -> String {
    let (one, of) = (random.below(100), *random.pick(&[40, 100, 256]));
    let condition = match random.below(5) {
        0 | 1 => format!("{} % {of} == {}", place(random, "marks", nested, first), one % of),
        2 => format!("{} % {of} == {}", place(random, array, nested, first), one % of),
        3 if nested => format!("j == {} && marks[i + 500] % 3 == 0", random.below(8)),
        3 => "marks[i * 5 + 9] == marks[500 - i]".into(),
        _ => format!("i == {one}"),
    };
    let out = if nested { "return -i * 100 - j;" } else { "return -i;" };
    let out = *random.pick(&[
        out,
        "goto out;",
        "break;",
        "{ sum = i + 7; goto out; }",
        "{ words[3] += 5; return 9; }",
    ]);
    format!("if ({condition}) {out}")
}

/// The program of a seed.
pub fn program(random: &mut Random) -> String {
    let mut text = String::from("/* Made by tests/random/affine.rs. */\n#include <stdio.h>\n");
    for (ty, array) in WIDTHS {
        let _ = writeln!(text, "static {ty} {array}[32768];");
    }
    text.push_str("static unsigned char marks[32768];\n");
    let mut calls = String::new();
    for number in 0..LOOPS {
        let nested = random.below(3) == 0;
        let (_, array) = *random.pick(&WIDTHS);
        let first = *random.pick(&[1, 1, 2, 3, 4, 16, 40]);
        let _ = writeln!(
            text,
            "__attribute__((noinline)) static int loop_{number}(int n, int m, int k, unsigned *p, unsigned grid[][m])\n{{\n  int sum = 0;"
        );
        let head = match random.below(6) {
            0..=2 => "for (int i = 0; i < n; i++)",
            3 => "for (int i = n - 1; i >= 0; i--)",
            4 => "for (int i = 1; i <= n; i += 3)",
            _ => "for (int i = 0; i != n; ++i)",
        };
        let _ = writeln!(text, "  {head} {{");
        if nested {
            let bound = *random.pick(&["m", "8", "16", "40", "i % 9"]);
            let _ = writeln!(text, "    for (int j = 0; j < {bound}; j++) {{");
        }
        let ways_out = random.below(3) == 0;
        for _ in 0..1 + random.below(2) {
            if ways_out && random.below(2) == 0 {
                let way = way_out(random, array, nested, first);
                let _ = writeln!(text, "      {way}");
            }
            let store = place(random, array, nested, first);
            let (_, other) = *random.pick(&WIDTHS);
            let from = if random.below(3) == 0 { other } else { array };
            let load = place(random, from, nested, first);
            let condition = if random.below(6) == 0 { format!("if ({load} & 1) ") } else { String::new() };
            let _ = match random.below(4) {
                0 => writeln!(text, "      {condition}{store} = (unsigned)i * 3u;"),
                1 => writeln!(text, "      {condition}{store} ^= {load} + 1u;"),
                _ => writeln!(text, "      {condition}{store} = {load} + (unsigned)i;"),
            };
        }
        if ways_out && random.below(2) == 0 {
            let way = way_out(random, array, nested, first);
            let _ = writeln!(text, "      {way}");
        }
        let end = if nested { "    }\n" } else { "" };
        let _ = writeln!(text, "{end}  }}\nout:\n  return sum;\n}}");
        for _ in 0..3 {
            let (n, m) = (*random.pick(&[0, 1, 2, 3, 33, 64, 100]), *random.pick(&[1, 3, 8, 16, 40]));
            let k = *random.pick(&[0, 1, -1, 5, 40, 1000]);
            let offset = *random.pick(&[0, 1, 2000, 3899, 3900, 3901]);
            let _ = writeln!(
                calls,
                "  hash = hash * 31 + loop_{number}({n}, {m}, {k}, words + {offset}, (void *)(words + 100 + {offset}));"
            );
        }
    }
    text.push_str("int main(void)\n{\n  unsigned long long hash = 7;\n  for (int i = 0; i < 32768; i++) {\n");
    for (number, (ty, array)) in WIDTHS.iter().enumerate() {
        let _ = writeln!(text, "    {array}[i] = ({ty})(i * {}u);", 2654435761u64 + 2 * number as u64);
    }
    text.push_str("    marks[i] = (unsigned char)(i * 2654435769u >> 13);\n");
    let _ = writeln!(text, "  }}\n{calls}  for (int i = 0; i < 32768; i++) {{");
    for (_, array) in WIDTHS {
        let _ = writeln!(text, "    hash = (hash ^ {array}[i]) * 1099511628211u;");
    }
    text.push_str("  }\n  printf(\"%llx\\n\", hash);\n  return 0;\n}\n");
    text
}
