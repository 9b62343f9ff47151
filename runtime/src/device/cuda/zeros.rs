//! What NVIDIA's assembler does to zeros with a sign, and which kernels are not run for it. How negations are kept from it is in
//! `body/arithmetic.h`; other wrong code that a compiler may make isn't looked for here.
//!
//! It takes a 32-bit float that is either -1 or -0 for an integer, -1 or 0, that becomes a float: then zero has lost its sign. What it looks for is a choice
//! between these two constants (`selp.f32 %f, -1.0, -0.0`, or moves under a condition), whoever has made it: also itself, of the negation of a
//! choice between 1 and 0, if that is an integer that becomes a float (`selp.u32`, `cvt.rn.f32.u32`, `neg.f32`, in a loop, whose bits are wanted). The text
//! that it gets is right. All versions that were tried do so, from optimisation level 1 on (13.0.88, 13.5.37; sm_90). Of doubles none does.
//!
//! Kernels negate by a bit that only the launch knows, so what is looked for here comes of constants that the compiler has computed, as of
//! `(c ? 2.0f : 0.0f) * -0.5f`: seldom. More is refused than is wrong.

use std::collections::HashMap;

/// To be raised with every change of what is refused: machine code that was kept before is made again.
pub(super) const RULES: u32 = 1;

/// -1 and -0 as the text has 32-bit floats.
const MINUS_ONE: &str = "0fBF800000";
const MINUS_ZERO: &str = "0f80000000";
/// Operations whose result is one of their operands, and those whose result is that with another sign.
const CHOICES: [&str; 5] = ["mov", "selp", "slct", "min", "max"];
const SIGNS: [&str; 2] = ["neg", "abs"];
/// Operations that change a sign, and nothing else, where a factor is -1. A sum behind a product is an operation whatever the factor is.
const PRODUCTS: [&str; 2] = ["mul", "div"];

/// What a register may hold, a bit for each: -1; -0; any constant, or what was an integer, maybe with another sign.
const HAS_ONE: u8 = 1;
const HAS_ZERO: u8 = 2;
const IS_CHOSEN: u8 = 4;

/// The first line of PTX of whose zeros the assembler may lose the sign, if there is one.
pub(super) fn loses_sign(ptx: &str) -> Option<&str> {
    // Each function has registers of its own.
    let is_head = |line: &str| line.contains(".entry ") || line.contains(".func ");
    let lines: Vec<&str> = ptx.lines().collect();
    lines.chunk_by(|_, next| !is_head(next)).find_map(loses_sign_in)
}

fn loses_sign_in<'a>(function: &[&'a str]) -> Option<&'a str> {
    let instructions: Vec<Instruction<'a>> =
        function.iter().filter_map(|line| Instruction::read(line)).filter(|i| i.is_float).collect();
    let mut held: HashMap<&str, u8> = HashMap::new();
    let of = |held: &HashMap<&str, u8>, operand: &str| match operand {
        _ if operand.eq_ignore_ascii_case(MINUS_ONE) => HAS_ONE | IS_CHOSEN,
        _ if operand.eq_ignore_ascii_case(MINUS_ZERO) => HAS_ZERO | IS_CHOSEN,
        _ if operand.starts_with("0f") || operand.starts_with("0F") => IS_CHOSEN,
        _ => held.get(operand).copied().unwrap_or(0),
    };
    // A register may be set in several places, and by what is set further below: until nothing is new.
    loop {
        let mut is_new = false;
        for instruction in &instructions {
            let found = instruction.sources.iter().fold(0, |all, source| all | of(&held, source));
            let result = match instruction.name {
                "cvt" if instruction.is_from_integer => IS_CHOSEN,
                name if CHOICES.contains(&name) => found,
                name if SIGNS.contains(&name) => found & IS_CHOSEN,
                _ => 0,
            };
            let before = held.entry(instruction.target).or_default();
            is_new |= result & !*before != 0;
            *before |= result;
        }
        if !is_new {
            break;
        }
    }
    let has = |source: &&&str, bit: u8| of(&held, source) & bit != 0;
    // A register: what is a constant by itself has been computed.
    let is_chosen = |source: &&&str| !source.starts_with("0f") && has(source, IS_CHOSEN);
    let is_wrong = |i: &&Instruction<'_>| match i.name {
        "neg" => i.sources.iter().any(|source| is_chosen(&source)),
        "sub" => {
            i.sources.first().is_some_and(|s| has(&s, HAS_ZERO))
                && i.sources.last().is_some_and(|s| is_chosen(&s))
        }
        name if PRODUCTS.contains(&name) => i.sources.iter().enumerate().any(|(factor, source)| {
            has(&source, HAS_ONE)
                && i.sources.iter().enumerate().any(|(other, s)| other != factor && is_chosen(&s))
        }),
        name if CHOICES.contains(&name) => held[i.target] & (HAS_ONE | HAS_ZERO) == HAS_ONE | HAS_ZERO,
        _ => false,
    };
    instructions.iter().find(is_wrong).map(|i| i.line)
}

/// A line that computes.
struct Instruction<'a> {
    line: &'a str,
    /// Up to the first point: `cvt` of `cvt.rn.f32.u32`.
    name: &'a str,
    /// Whether what it computes are 32-bit floats, or may be, because it only hands them on.
    is_float: bool,
    /// Whether that was an integer.
    is_from_integer: bool,
    target: &'a str,
    sources: Vec<&'a str>,
}

impl<'a> Instruction<'a> {
    fn read(line: &'a str) -> Option<Instruction<'a>> {
        let text = line.trim();
        // Under a condition or not.
        let text = if text.starts_with('@') { text.split_once(char::is_whitespace)?.1.trim() } else { text };
        let (operation, operands) = text.split_once(char::is_whitespace)?;
        let (name, kinds) = operation.split_once('.')?;
        let kinds: Vec<&str> = kinds.split('.').collect();
        let is_integer = |kind: &&str| kind.starts_with(['u', 's']) && kind[1..].parse::<u8>().is_ok();
        let mut operands = operands.trim_end_matches([';', ' ']).split(',').map(str::trim);
        Some(Instruction {
            line: line.trim(),
            name,
            is_float: kinds.contains(&"f32") || kinds.contains(&"b32") && CHOICES.contains(&name),
            is_from_integer: kinds.last().is_some_and(is_integer),
            target: operands.next()?,
            sources: operands.collect(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::super::nvrtc;
    use super::*;
    use crate::device::{LogMethod, Specialisation};

    #[test]
    fn what_the_assembler_gets_wrong_is_found() {
        let choice = "\tselp.f32 \t%f1, 0fBF800000, 0f80000000, %p1;\n";
        assert_eq!(loses_sign(choice), Some(choice.trim()));
        let moves = "mov.f32 %f3, 0f80000000;\n@%p1 mov.f32 %f3, 0fBF800000;\n";
        assert_eq!(loses_sign(moves), moves.lines().next());
        // By way of other registers.
        let ways = "mov.f32 %f1, 0f80000000;\nmov.f32 %f2, 0fBF800000;\nselp.f32 %f3, %f1, %f2, %p1;\n";
        assert_eq!(loses_sign(ways), ways.lines().nth(2));
        // As bits.
        let bits = "mov.b32 %r1, 0fBF800000;\nmov.b32 %r2, 0f80000000;\nselp.b32 %r3, %r1, %r2, %p1;\n";
        assert_eq!(loses_sign(bits), bits.lines().nth(2));
        let from_zero = "cvt.rn.f32.u32 %f1, %r1;\nsub.rn.f32 %f2, 0f80000000, %f1;\n";
        assert_eq!(loses_sign(from_zero), from_zero.lines().nth(1));
        let functions = "mov.f32 %f1, 0f80000000;\n.visible .entry two(\nmov.f32 %f1, 0fBF800000;\n";
        assert_eq!(loses_sign(functions), None);
        let apart = "add.rn.f32 %f1, %f2, 0fBF800000;\nmov.f32 %f3, 0f80000000;\nadd.rn.f32 %f3, %f3, %f1;\n";
        assert_eq!(loses_sign(apart), None);
        let negated = |before: &str| format!("{before}\nneg.f32 \t%f5, %f4;\nst.global.f32 [%rd1], %f5;\n");
        for before in [
            "selp.u32 %r1, 1, 0, %p4;\ncvt.rn.f32.u32 \t%f4, %r1;",
            "selp.f32 %f4, 0f3F800000, 0f00000000, %p1;",
            "mov.f32 %f4, 0f00000000;",
            "cvt.rn.f32.s64 %f1, %rd1;\nmov.f32 %f2, %f1;\nabs.f32 %f4, %f2;",
            // In a loop what comes below may be first.
            "max.f32 %f4, %f4, %f2;\n@%p2 bra $L;\nmov.f32 %f2, 0f3F800000;",
        ] {
            assert_eq!(loses_sign(&negated(before)), Some("neg.f32 \t%f5, %f4;"), "{before}");
        }
        for before in
            ["ld.global.f32 %f4, [%rd2];", "add.rn.f32 %f4, %f1, 0f3F800000;", "cvt.rn.f32.f64 %f4, %fd1;"]
        {
            assert_eq!(loses_sign(&negated(before)), None, "{before}");
        }
        let times = "cvt.rn.f32.u32 %f1, %r1;\nmul.rn.f32 %f2, %f1, 0fBF800000;\n";
        assert_eq!(loses_sign(times), times.lines().nth(1));
        assert_eq!(loses_sign("mov.f32 %f1, 0f3F800000;\nfma.rn.f32 %f2, %f1, 0fBF800000, %f3;\n"), None);
        // A number that is kept between -1 and 1.
        let kept = "min.f32 %f2, %f1, 0f3F800000;\nselp.f32 %f3, 0fBF800000, %f2, %p1;\n";
        assert_eq!(loses_sign(kept), None);
        assert_eq!(loses_sign("selp.f64 %fd1, 0dBFF0000000000000, 0d8000000000000000, %p1;\n"), None);
        assert_eq!(loses_sign("selp.f32 %f1, 0fBF800000, 0f00000000, %p1;\n"), None);
    }

    /// Needs the run-time compiler, as `make test` has it.
    #[test]
    fn negations_are_kept_from_the_assembler() {
        let Ok(compiler) = nvrtc::get() else { return };
        // As the compiler writes it: a type stands by itself.
        let body = |value: &str| {
            format!(
                "#define NEG(t, x) __pg_neg_##t(c, x)\n\
                 extern \"C\" __global__ void __pg_kernel(const __grid_constant__ struct __pg_launch l, const int *a, float *o)\n{{\n\
                 struct __pg_ctx context = {{}};\nstruct __pg_ctx *const c = &context;\nc->launch = &l;\n\
                 for (int i = 0; i < a[0]; i++) {{ const int one = a[i] > 9 && i != a[1]; o[i] = {value}; }}\n}}\n"
            )
        };
        let options =
            nvrtc::options("sm_90", Specialisation::none(LogMethod::None), crate::device::cuda::Given::All);
        let made = |value: &str| {
            let source = nvrtc::kernel_source(&body(value));
            let ptx = compiler.ptx(&source, &options).unwrap();
            (loses_sign(&ptx).is_some(), compiler.compile(&source, &options).is_err())
        };
        for value in ["(float)one", "NEG(f32, (float)one)", "NEG(f32, one ? 1.0f : 0.0f)"] {
            assert_eq!(made(value), (false, false), "{value}");
        }
        for value in [
            "-(float)one",
            "one ? -1.0f : -0.0f",
            "(one ? 2.0f : 0.0f) * -0.5f",
            "(float)one * (2.0f - 3.0f)",
        ] {
            assert_eq!(made(value), (true, true), "{value}");
        }
    }
}
