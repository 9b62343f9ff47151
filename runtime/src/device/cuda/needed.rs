//! What a kernel needs of the texts that all kernels stand on (`texts.rs`): a few hundred of their five thousand lines. To read the others takes a compiler
//! half of its time.
//!
//! The texts are taken apart into pieces: a function, a structure, a macro, a line that defines functions for a type, a line of the preprocessor. A piece is
//! needed if its name stands in a loop's text, or in a piece that is needed; what has no name of its own always is. Nothing is known of what a kernel is
//! compiled for: what stands in a text on any condition counts. So whatever a kernel mentions in one of its variants it has in all, and pieces that are left
//! out are those that no compiler would have come to.
//!
//! The texts are written so that this is easy to see: a piece is some lines, and no condition begins in one and ends in another. Names that the
//! preprocessor puts together have a part in front of `##`, which ends with `_` and stands for all of them, and a type's name behind it, which stands by itself in the
//! text that asks for it.

use std::collections::{HashMap, HashSet};
use std::sync::LazyLock;

use crate::texts::{ABI, BODY, KERNEL};

/// When a piece is needed.
enum Need<'a> {
    Always,
    Name(&'a str),
    /// A macro that defines functions, for a type: where the type is mentioned and one of the parts that the functions' names begin with.
    Type {
        of: &'a str,
        by: &'a str,
    },
}

struct Piece<'a> {
    text: &'a str,
    need: Need<'a>,
}

/// A text in pieces.
struct Texts<'a> {
    pieces: Vec<Piece<'a>>,
    /// Those with a name, by it; there may be several, on conditions that exclude each other.
    named: HashMap<&'a str, Vec<usize>>,
    of_types: Vec<usize>,
    /// What names of functions begin with that macros define, by the macro.
    begin: HashMap<&'a str, Vec<&'a str>>,
}

/// Without comments, each of which is as a space.
fn without_comments(text: &str) -> String {
    let mut parts = text.split("/*");
    let mut rest = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        rest.push(' ');
        rest += part.split_once("*/").map_or("", |(_, behind)| behind);
    }
    rest
}

fn words(text: &str) -> impl Iterator<Item = &str> {
    let is_word = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'_';
    let mut at = 0;
    let all = std::iter::from_fn(move || {
        let bytes = text.as_bytes();
        let begin = at + bytes[at..].iter().position(is_word)?;
        let length = bytes[begin..].iter().position(|byte| !is_word(byte));
        at = length.map_or(bytes.len(), |length| begin + length);
        Some(&text[begin..at])
    });
    all.filter(|word| !word.starts_with(|c: char| c.is_ascii_digit()))
}

/// The lines of a text, each with those that it goes on in.
fn lines(text: &str) -> impl Iterator<Item = &str> {
    let mut rest = text;
    std::iter::from_fn(move || {
        let mut end = 0;
        loop {
            let line = rest[end..].split_inclusive('\n').next()?;
            end += line.len();
            if !line.trim_end().ends_with('\\') || end == rest.len() {
                break;
            }
        }
        let (line, behind) = rest.split_at(end);
        rest = behind;
        Some(line)
    })
}

/// What the preprocessor is told: its word, and what comes behind it.
fn directive(line: &str) -> Option<(&str, &str)> {
    let told = line.trim_start().strip_prefix('#')?.trim_start();
    Some(told.split_at(told.find(|c: char| !c.is_ascii_alphabetic()).unwrap_or(told.len())))
}

/// The name of the macro that a line defines, and what comes behind it.
fn macro_of(line: &str) -> Option<(&str, &str)> {
    let (_, rest) = directive(line).filter(|(word, _)| *word == "define")?;
    let name = words(rest).next()?;
    Some((name, rest.split_once(name)?.1))
}

/// What stands for a name where the preprocessor puts a type's behind it: the name of `__pg_sqrt_f64` as `__pg_sqrt_##t`. What begins all names stands
/// for types, which are always there.
fn stem(name: &str) -> Option<&str> {
    let stem = &name[..=name.rfind('_')?];
    (!["__pg_", "__PG_"].contains(&stem)).then_some(stem)
}

/// The name of a function or a structure, by how its text begins.
fn name(text: &str) -> Option<&str> {
    let mut head = text.trim_start();
    // A template's parameters.
    while let Some(parameters) = head.strip_prefix("template") {
        let mut depth = 0;
        let end = parameters.find(|c| {
            depth += match c {
                '<' => 1,
                '>' => -1,
                _ => 0,
            };
            c == '>' && depth == 0
        })?;
        head = parameters[end + 1..].trim_start();
    }
    let is_own = |word: &&str| word.starts_with("__pg_") || word.starts_with("__PG_");
    if let Some(behind) = head.strip_prefix("struct ") {
        return words(behind).find(is_own);
    }
    // Others are called what stands in front of their parameters.
    let end = head.find(['(', '{', ';', '='])?;
    (head[end..].starts_with('(')).then(|| words(&head[..end]).last()).flatten().filter(is_own)
}

impl<'a> Texts<'a> {
    fn new(text: &'a str) -> Texts<'a> {
        let mut texts =
            Texts { pieces: Vec::new(), named: HashMap::new(), of_types: Vec::new(), begin: HashMap::new() };
        let mut at = 0;
        while at < text.len() {
            let end = at + piece(&text[at..]);
            texts.add(&text[at..end]);
            at = end;
        }
        texts
    }

    fn add(&mut self, text: &'a str) {
        if text.trim().is_empty() {
            return;
        }
        let need = match (macro_of(text), directive(text)) {
            (Some((name, _)), _) => Need::Name(name),
            (None, Some(_)) => Need::Always,
            (None, None) if text.starts_with("__PG_DEFINE_") => {
                let mut words = words(text);
                match (words.next(), words.next()) {
                    (Some(by), Some(of)) => Need::Type { of, by },
                    _ => Need::Always,
                }
            }
            (None, None) => name(text).map_or(Need::Always, Need::Name),
        };
        match need {
            Need::Name(name) => {
                for name in [Some(name), stem(name)].into_iter().flatten() {
                    self.named.entry(name).or_default().push(self.pieces.len());
                }
            }
            Need::Type { .. } => self.of_types.push(self.pieces.len()),
            Need::Always => {}
        }
        if let (Need::Name(name), true) = (&need, text.contains("##")) {
            let heads =
                text.lines().filter(|line| line.contains("_FN ")).filter_map(|line| line.split_once("##"));
            let parts = heads.filter_map(|(head, _)| words(head).last());
            self.begin.entry(name).or_default().extend(parts);
        }
        self.pieces.push(Piece { text, need });
    }

    /// Whether one of the functions that a macro defines is mentioned: by the part of its name that stands in front of a type's, or by all of it.
    fn is_mentioned(&self, by: &str, of: &str, mentioned: &HashSet<&str>) -> bool {
        self.begin
            .get(by)
            .into_iter()
            .flatten()
            .any(|part| mentioned.contains(part) || mentioned.contains(format!("{part}{of}").as_str()))
    }

    /// Those pieces that loops' texts need, in their order.
    fn needed<'b>(&'b self, bodies: &[&'b str]) -> String {
        // Macros of the loops' own count where they are mentioned.
        let mut of_bodies: HashMap<&str, Vec<&'b str>> = HashMap::new();
        let mut due: Vec<&'b str> = ALWAYS.to_vec();
        for line in bodies.iter().flat_map(|body| lines(body)) {
            match macro_of(line) {
                Some((name, text)) => of_bodies.entry(name).or_default().push(text),
                None => due.extend(words(line)),
            }
        }
        let mut is_needed: Vec<bool> =
            self.pieces.iter().map(|piece| matches!(piece.need, Need::Always)).collect();
        let always = self.pieces.iter().filter(|piece| matches!(piece.need, Need::Always));
        due.extend(always.flat_map(|piece| words(piece.text)));
        let mut mentioned: HashSet<&str> = HashSet::new();
        let mut of_types: Vec<usize> = self.of_types.clone();
        loop {
            while let Some(word) = due.pop() {
                if !mentioned.insert(word) {
                    continue;
                }
                due.extend(of_bodies.get(word).into_iter().flatten().flat_map(|text| words(text)));
                for number in self.named.get(word).into_iter().flatten() {
                    is_needed[*number] = true;
                    due.extend(words(self.pieces[*number].text));
                }
            }
            of_types.retain(|number| {
                let Need::Type { of, by } = self.pieces[*number].need else { return false };
                let is_due = mentioned.contains(of) && self.is_mentioned(by, of, &mentioned);
                if is_due {
                    is_needed[*number] = true;
                    due.extend(words(self.pieces[*number].text));
                }
                !is_due
            });
            if due.is_empty() {
                break;
            }
        }
        let needed = self.pieces.iter().zip(&is_needed).filter(|(_, is_needed)| **is_needed);
        needed.map(|(piece, _)| piece.text).collect()
    }
}

/// How long the piece is that a text begins with: a line of the preprocessor, or all lines up to the one with which it is complete, conditions in it, too.
fn piece(text: &str) -> usize {
    let (mut end, mut brackets, mut conditions) = (0, 0i32, 0i32);
    let mut last = ' ';
    for line in lines(text) {
        end += line.len();
        match directive(line) {
            Some(_) if last == ' ' => return end,
            Some((word, _)) if word.starts_with("if") => conditions += 1,
            Some(("endif", _)) => conditions -= 1,
            Some(_) => {}
            None => {
                for c in line.chars().filter(|c| !c.is_whitespace()) {
                    brackets += match c {
                        '(' | '{' | '[' => 1,
                        ')' | '}' | ']' => -1,
                        _ => 0,
                    };
                    last = c;
                }
            }
        }
        let is_line = text.starts_with("__PG_DEFINE_") && last == ')';
        if brackets == 0 && conditions == 0 && (matches!(last, ' ' | ';' | '}') || is_line) {
            return end;
        }
    }
    end
}

/// What benches/without.cpp puts into kernels' texts mentions it.
const ALWAYS: [&str; 1] = ["__pg_base_view"];

/// What stands in front of a kernel, or of several in one program.
pub fn headers(bodies: &[&str]) -> String {
    static WHOLE: LazyLock<String> = LazyLock::new(|| without_comments(&format!("{ABI}{BODY}{KERNEL}")));
    static TEXTS: LazyLock<Texts<'static>> = LazyLock::new(|| Texts::new(&WHOLE));
    TEXTS.needed(bodies)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn needed(text: &str, bodies: &[&str]) -> Vec<String> {
        Texts::new(&without_comments(text)).needed(bodies).lines().map(str::to_owned).collect()
    }

    #[test]
    fn what_is_mentioned_is_there_and_what_that_mentions() {
        let text = "/* b */ typedef int t;\n#define A(x) \\\n  b(x, c)\n__PG_FN int __pg_b(int x)\n{\n  return /* __pg_d() */ __PG_E;\n}\n\
                    template <class T, int N = 1> struct __pg_c {\n  int b;\n};\n__PG_FN int __pg_d() { return 0; }\n\
                    #if F\n#define __PG_E 1\n#else\n#define __PG_E __pg_c<int>()\n#endif\n";
        let always = ["  typedef int t;", "#if F", "#else", "#endif"].map(str::to_owned);
        assert_eq!(needed(text, &["int a = my__pg_b + __pg_b1;"]), always);
        let of_b = needed(text, &["int a = __pg_b(1);"]);
        assert!(
            of_b.iter().any(|line| line == "#define __PG_E 1")
                && of_b.iter().any(|line| line.contains("struct __pg_c"))
        );
        assert!(!of_b.iter().any(|line| line.contains("__pg_d") || line.contains("A(x)")), "{of_b:?}");
        assert_eq!(needed(text, &["A"])[1..3], ["#define A(x) \\", "  b(x, c)"]);
    }

    #[test]
    fn a_loops_own_macros_count_where_they_are_mentioned() {
        let text = "__PG_FN int __pg_b(int x) { return x; }\n__PG_FN int __pg_sqrt_f64(int x) { return x; }\n#define __PG_E __PG_OWN\n";
        assert!(
            needed(text, &["#define __PG_OWN __pg_b(1)\n", "#define OTHER(t) __pg_sqrt_##t\n"]).is_empty()
        );
        assert_eq!(needed(text, &["#define __PG_OWN __pg_b(1)\n", "int a = __PG_E;"]).len(), 2);
        assert_eq!(needed(text, &["#define OTHER(t) \\\n  __pg_sqrt_##t\n", "OTHER(f64)"]).len(), 1);
    }

    #[test]
    fn functions_that_macros_define_are_there_for_the_types_of_a_text() {
        let text = "#define __PG_DEFINE_F(name, type) \\\n  __PG_FN type __pg_f_##name(type x) { return __pg_g(x); }\n__PG_DEFINE_F(i8, char)\n__PG_DEFINE_F(u8, char)\n\
                    __PG_FN int __pg_g(int x) { return x; }\n";
        for (body, lines) in [
            ("i8 u8", 0),
            ("__pg_f_i8(1)", 0),
            ("__pg_f_", 0),
            ("__pg_f_i8(1) + i8", 4),
            ("__pg_f_ u8", 4),
            ("__pg_f_ u8 i8", 5),
        ] {
            assert_eq!(needed(text, &[body]).len(), lines, "{body}");
        }
    }

    /// Nothing is lost where all is mentioned, and a piece has all of its conditions.
    #[test]
    fn the_texts_are_made_of_whole_pieces() {
        let whole = without_comments(&format!("{ABI}{BODY}{KERNEL}"));
        let texts = Texts::new(&whole);
        let lines = |text: &str| {
            text.lines().filter(|line| !line.trim().is_empty()).map(str::to_owned).collect::<Vec<_>>()
        };
        assert_eq!(lines(&texts.needed(&[&whole.replace('#', " ")])), lines(&whole));
        let mut conditions = 0;
        for Piece { text, .. } in &texts.pieces {
            let told: Vec<&str> = text.lines().filter_map(directive).map(|(word, _)| word).collect();
            let begin = told.iter().filter(|word| word.starts_with("if")).count();
            let end = told.iter().filter(|word| **word == "endif").count();
            assert!(
                told.len() == 1 && lines(text).len() == 1 || begin == end || macro_of(text).is_some(),
                "{text}"
            );
            conditions += begin;
            assert!(text.len() < 12_000, "{text}");
        }
        assert!(conditions > 50);
        // Most is left out of a text that asks for little.
        let little =
            texts.needed(&["#define __PG_LD(t, b, a) __pg_ld_##t(b, a)\n", "i = __PG_LD(i32, 0, a);"]);
        assert!(
            little.contains("__pg_may_access(") && little.len() < whole.len() / 2,
            "{} of {}",
            little.len(),
            whole.len()
        );
        // Nor is much without a name.
        let always: usize = texts
            .pieces
            .iter()
            .filter(|piece| matches!(piece.need, Need::Always))
            .map(|piece| piece.text.len())
            .sum();
        assert!(always < whole.len() / 8, "{always} of {}", whole.len());
        for name in [
            "__pg_walk",
            "__pg_raise_both",
            "__pg_sqrt_f64",
            "__PG_ONCE_64",
            "__pg_pack",
            "__pg_last",
            "__pg_collect",
            "__pg_turns_of_a_warp",
        ] {
            assert!(texts.named.contains_key(name), "{name}");
        }
    }

    /// What is put together out of a part and a type's name is found by its first part: no name has more behind it.
    #[test]
    fn names_that_are_put_together_are_found_by_their_first_part() {
        let whole = without_comments(&format!("{ABI}{BODY}{KERNEL}"));
        let texts = Texts::new(&whole);
        let macros = concat!(env!("CARGO_MANIFEST_DIR"), "/../src/codegen/body/macros.rs");
        let macros = std::fs::read_to_string(macros).unwrap();
        // Other names are a loop's own, but for types, which are always there.
        let own = ["__pg_", "__pg_first_of_", "__pg_near_of_"];
        let parts = whole.split("##").chain(macros.split("##"));
        let parts = parts.filter_map(|part| words(part).last().filter(|word| part.ends_with(word)));
        let parts: HashSet<&str> = parts
            .filter(|part| part.starts_with("__pg_") && part.ends_with('_') && !own.contains(part))
            .collect();
        assert!(parts.contains("__pg_sqrt_") && parts.contains("__pg_ld_"), "{parts:?}");
        for part in parts {
            let mut names = texts.named.keys().filter(|name| name.starts_with(part) && !name.ends_with('_'));
            assert!(names.all(|name| stem(name) == Some(part)), "{part}");
        }
    }
}
