//! `#pragma paragon`: what a programmer says of the loop that follows, as it stands in preprocessed text. There `_Pragma` and
//! pragmas that macros make are directives, too.
//!
//! Not here: whether a pragma can apply (`verdict`), and keeping the real compiler from warning of it (`driver::pragmas`).

use super::hir::Span;
use super::lexer::{Directive, Tokens};

/// What is wished for a loop.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Wish {
    /// Its iterations are independent; that is checked where it isn't proven.
    Independent,
    /// Its iterations are independent; what isn't decided by proof is believed.
    Unchecked,
    /// It stays as it stands.
    Forbid,
}

impl std::fmt::Display for Wish {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Wish::Independent => "independent",
            Wish::Unchecked => "independent unchecked",
            Wish::Forbid => "forbid",
        })
    }
}

/// One pragma.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Pragma {
    /// What it wishes; if it can't be read, why.
    pub wish: Result<Wish, String>,
    /// The directive.
    pub span: Span,
    /// First byte of the token behind it and of any pragmas that follow it: of the keyword of the loop that is meant.
    pub before: u32,
    /// Whether that token is a loop's keyword.
    pub is_at_loop: bool,
}

/// What follows `#pragma paragon` in a directive, if it is one.
pub fn own_words(directive: &str) -> Option<&str> {
    let rest = directive.strip_prefix('#').or_else(|| directive.strip_prefix("%:"))?;
    let rest = rest.trim_start().strip_prefix("pragma")?;
    let words = rest.trim_start();
    let after = words.strip_prefix("paragon").filter(|_| words.len() < rest.len())?;
    after.is_empty().then_some(after).or_else(|| after.starts_with([' ', '\t', '/', '\r']).then_some(after))
}

/// First bytes of the loop keywords that nothing may be put in front of: gcc wants the loop right behind its own pragmas.
pub fn bound_keywords(tokens: &Tokens) -> Vec<u32> {
    let binds = |directive: &&Directive| {
        let mut words =
            tokens.directive_text(directive).trim_start_matches(['#', ' ', '\t']).split_whitespace();
        words.next() == Some("pragma")
            && words.next() == Some("GCC")
            && matches!(words.next(), Some("ivdep" | "novector" | "unroll"))
    };
    let bound = tokens.directives.iter().filter(binds);
    bound.filter_map(|directive| tokens.tokens.get(directive.before)).map(|token| token.start).collect()
}

/// All pragmas of ours in a text.
pub fn find(tokens: &Tokens) -> Vec<Pragma> {
    let own = |directive: &Directive| {
        let words = own_words(tokens.directive_text(directive))?;
        let comment = ["/*", "//"].iter().filter_map(|start| words.find(start)).min();
        let words: Vec<&str> = words[..comment.unwrap_or(words.len())].split_whitespace().collect();
        let wish = match words[..] {
            ["independent"] => Ok(Wish::Independent),
            ["independent", "unchecked"] => Ok(Wish::Unchecked),
            ["forbid"] => Ok(Wish::Forbid),
            [] => Err("it says nothing: `independent`, `independent unchecked` or `forbid`".to_owned()),
            _ => Err(format!(
                "it is none of `independent`, `independent unchecked` and `forbid`: `{}`",
                words.join(" ")
            )),
        };
        let Directive { start, end, file, line, before } = *directive;
        Some(Pragma {
            wish,
            span: Span { start, end, file, line },
            before: tokens.tokens.get(before).map_or(u32::MAX, |token| token.start),
            is_at_loop: matches!(tokens.spelling(before), "for" | "while" | "do"),
        })
    };
    tokens.directives.iter().filter_map(own).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::c::lexer::lex;

    #[test]
    fn keywords_of_gcc_pragmas() {
        let text = "#pragma GCC ivdep\nfor (;;);\n# pragma GCC unroll 4\n#pragma omp x\nwhile (1);\n#pragma GCC poison y\ndo";
        let bound = bound_keywords(&lex(text));
        assert_eq!(bound, ["for", "while"].map(|word| text.find(word).unwrap() as u32));
    }

    #[test]
    fn words() {
        let text = "#pragma paragon independent\nfor\n# pragma\tparagon  forbid // why\n#pragma omp parallel\nwhile\n\
             #pragma paragon independent unchecked /* it is */\nx\n#pragma paragon independant\n#pragma paragonx\n\
             #pragmaparagon forbid\n#pragma paragon\n";
        let tokens = lex(text);
        let all: Vec<_> = find(&tokens)
            .into_iter()
            .map(|p| (p.wish.ok(), p.span.line, text.get(p.before as usize..).map(|t| &t[..1]), p.is_at_loop))
            .collect();
        assert_eq!(
            all,
            [
                (Some(Wish::Independent), 1, Some("f"), true),
                (Some(Wish::Forbid), 3, Some("w"), true),
                (Some(Wish::Unchecked), 6, Some("x"), false),
                (None, 8, None, false),
                (None, 11, None, false),
            ]
        );
    }
}
