//! Random loop heads: every way to count, with variables and limits of all integer types and pointers, conversions around what is
//! compared, all relations, steps in the test, the step or the body, and values near the ends of the types. Many of them
//! wrap around or never end: a twin of each loop, which gives up after some hundred iterations, says which calls are left out.

use super::Random;
use std::fmt::Write;

const LOOPS: usize = 20;
const CALLS: u64 = 40;
const TYPES: [&str; 10] = [
    "signed char",
    "unsigned char",
    "char",
    "short",
    "unsigned short",
    "int",
    "unsigned",
    "long",
    "unsigned long",
    "long long",
];
const RELATIONS: [&str; 6] = ["<", "<=", ">", ">=", "!=", "!="];
/// Values that fit everywhere, and some that need wrap-around to be defined (`-fwrapv`) where they are moved.
const SMALL: [&str; 18] = [
    "0", "1", "2", "3", "7", "60", "100", "126", "127", "128", "129", "200", "254", "255", "256", "-1", "-2",
    "-129",
];
const LARGE: [&str; 14] = [
    "32766",
    "32767",
    "32769",
    "65534",
    "65535",
    "-32768",
    "2147483646",
    "2147483647",
    "-2147483647",
    "4294967295",
    "9223372036854775806",
    "-9223372036854775807",
    "2147483650",
    "-3",
];

/// A loop over `v` with `BODY` in it, which has no `continue`.
fn head(random: &mut Random, ty: &str, is_pointer: bool) -> String {
    let other = *random.pick(&TYPES);
    let step = *random.pick(&[1, 1, 1, -1, -1, -1, 2, 3, -2, -7]);
    let value = |random: &mut Random, v: &str| match random.below(6) {
        0 if !is_pointer => format!("({other}){v}"),
        1 if !is_pointer => format!("{v} + 0"),
        _ => v.to_string(),
    };
    let relation = *random.pick(&RELATIONS);
    let limit = if is_pointer { "base + limit" } else { "limit" };
    let compare = |random: &mut Random, v: String| match random.below(4) {
        0 => format!("{limit} {relation} {v}"),
        _ => format!("{v} {relation} {limit}"),
    };
    let update = match (step, random.below(4)) {
        (1, 0) => "v++".to_string(),
        (1, 1) => "++v".to_string(),
        (-1, 0) => "v--".to_string(),
        (-1, 1) => "--v".to_string(),
        (_, 2) => format!("v = v + {step}"),
        (_, 3) => format!("v -= {}", -step),
        _ => format!("v += {step}"),
    };
    let first = if is_pointer { "base + first" } else { "first" };
    let plain = value(random, "v");
    let test = compare(random, plain);
    let counted = value(random, &format!("({update})"));
    let counting = match random.below(3) {
        0 if !is_pointer => counted,
        _ => compare(random, counted),
    };
    let set = format!("v = {first};");
    match random.below(10) {
        0 => format!("for (v = {first}; {test}; {update}) {{ BODY }}"),
        1 => format!("{set} for (; {test}; {update}) {{ BODY }}"),
        2 => format!("{set} while ({test}) {{ BODY {update}; }}"),
        3 => format!("{set} while ({test}) {{ {update}; BODY }}"),
        4 => format!("{set} while ({counting}) {{ BODY }}"),
        5 => format!("{set} do {{ BODY }} while ({counting});"),
        6 => format!("{set} do {{ BODY {update}; }} while ({test});"),
        7 => format!("for (v = {first}, w = 5; {counting}; w += 3) {{ BODY }}"),
        8 => format!("for (w = -7, v = {first}; {test}; {update}, w--) {{ BODY }}"),
        _ if is_pointer => {
            format!("{set} for ({ty}u = v; u {relation} {limit}; u += {step}) {{ v = u; BODY }}")
        }
        _ => format!(
            "{set} for ({ty} u = v, x = u; u {relation} {limit}; u += {step}) {{ v = u; BODY v = x; }}"
        ),
    }
}

/// The program of a seed; `wraps`: signed arithmetic may overflow.
pub fn program(random: &mut Random, wraps: bool) -> String {
    let mut text = String::from(
        "/* Made by tests/random/heads.rs. */\n#include <stdio.h>\nstatic long long out[1000], *o;\n\
         static int area[200000], *const middle = area + 100000;\nstatic unsigned char marks[256];\n",
    );
    let mut calls = String::new();
    for number in 0..LOOPS {
        let is_pointer = random.below(4) == 0;
        let ty =
            if is_pointer { *random.pick(&["int *", "short *", "char *"]) } else { *random.pick(&TYPES) };
        let parameter = *random.pick(&TYPES);
        let head = head(random, ty, is_pointer);
        let value = if is_pointer { "(v - base)" } else { "v" };
        let narrow = ["char", "short"].iter().any(|name| ty.ends_with(name));
        let body = match random.below(4) {
            0 if narrow => "middle[v] = (int)v * 3 + w;".to_string(),
            1 if is_pointer => "*v = (char)w;".to_string(),
            2 => format!("if ({value} % 2 == 0) *q = {value} + w; q++;"),
            _ => format!("*q++ = (long long){value} * 3 + w;"),
        };
        // A way out of the loop, in front of what it does or behind it.
        let out = *random.pick(&["break;", "{ w += 100; break; }", "return -5;", "{ w -= 40; goto out; }"]);
        let way = format!("if (marks[(unsigned char){value}] == {}) {out}", random.below(300));
        let body = match random.below(6) {
            0 | 1 => format!("{way} {body}"),
            2 => format!("{body} {way}"),
            _ => body,
        };
        let base = if is_pointer { format!("{ty} const base = ({ty})middle;") } else { String::new() };
        for (name, body) in [("twin", "if (++turns > 300) return -1;"), ("loop", &body)] {
            let _ = writeln!(
                text,
                "__attribute__((noinline)) static long {name}_{number}(long first, long last)\n{{\n  \
                 const {parameter} limit = ({parameter})last;\n  {ty} v; int w = 1, turns = 0;\n  long long *q = o; {base}\n  \
                 {}\n  out:\n  o = q;\n  return (long){value} + 17 * w + turns * 0;\n}}",
                head.replace("BODY", body)
            );
        }
        for _ in 0..CALLS {
            let one = |random: &mut Random| match random.below(3) {
                0 if wraps && !is_pointer => *random.pick(&LARGE),
                _ => *random.pick(&SMALL),
            };
            let (first, limit) = (one(random), one(random));
            let _ = writeln!(calls, "  run(twin_{number}, loop_{number}, {first}, {limit});");
        }
    }
    let _ = write!(
        text,
        "static unsigned long hash = 1;\n\
         static void run(long (*twin)(long, long), long (*loop)(long, long), long first, long limit)\n{{\n  o = out;\n  \
         if (twin(first, limit) == -1)\n    return;\n  hash = hash * 31 + (unsigned long)loop(first, limit);\n  \
         hash = hash * 31 + (unsigned long)(o - out);\n  \
         for (int i = 0; i < 310; i++)\n    hash = hash * 31 + (unsigned long)out[i];\n}}\n\
         int main(void)\n{{\n  for (int i = 0; i < 256; i++)\n    marks[i] = (unsigned char)(i * 37 + 11);\n{calls}  for (int i = 0; i < 200000; i++)\n    hash = hash * 31 + (unsigned)area[i];\n  \
         printf(\"%lx\\n\", hash);\n  return 0;\n}}\n"
    );
    text
}
