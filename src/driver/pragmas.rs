//! Our pragmas in text for the real compiler, which doesn't know them and warns of what it doesn't know.
//!
//! Not here: what they say (`c::pragma`) and whether they can apply (`verdict`).

use crate::c::lexer::{TokenKind, Tokens, lex_directives_only};
use crate::c::pragma::own_words;
use std::ops::Range;

/// The text with unexpanded macros, with blanks in place of our pragmas; `None` if it has none. `_Pragma` counts where its string
/// stands behind it, in macros' definitions too. What a macro makes a pragma of out of its arguments is left.
pub fn without_own(text: &str) -> Option<String> {
    let tokens = lex_directives_only(text);
    let mut own = operators(&tokens, 0);
    for directive in &tokens.directives {
        let whole = tokens.directive_text(directive);
        if own_words(whole).is_some() {
            own.push(directive.start as usize..directive.end as usize);
        } else if whole.contains("_Pragma") {
            // Without its `#` a definition is a line of tokens like any other.
            own.extend(operators(&lex_directives_only(&whole[1..]), directive.start as usize + 1));
        }
    }
    // Bytes that are no ASCII, and what stands for those that are no text, have to stay where they are.
    own.retain(|range| text[range.clone()].bytes().all(|byte| byte.is_ascii() && byte != 0x7f));
    if own.is_empty() {
        return None;
    }
    let mut bytes = text.as_bytes().to_vec();
    for byte in own.into_iter().flatten() {
        let continues = bytes[byte] == b'\\' && matches!(bytes.get(byte + 1), Some(b'\n' | b'\r'));
        if !continues && !matches!(bytes[byte], b'\n' | b'\r') {
            bytes[byte] = b' ';
        }
    }
    String::from_utf8(bytes).ok()
}

/// Where `_Pragma("paragon ...")` stands among some tokens.
fn operators(tokens: &Tokens, offset: usize) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    for first in 0..tokens.len().saturating_sub(3) {
        let is_operator = tokens.spelling(first) == "_Pragma"
            && tokens.spelling(first + 1) == "("
            && tokens.tokens[first + 2].kind == TokenKind::String
            && tokens.spelling(first + 3) == ")";
        let content = tokens.spelling(first + 2).trim_start_matches(['L', 'u', 'U', '8']).trim_matches('"');
        if is_operator && own_words(&format!("#pragma {content}")).is_some() {
            let (start, end) = (tokens.tokens[first].start, tokens.tokens[first + 3].end);
            found.push(offset + start as usize..offset + end as usize);
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_ours_are_blanked() {
        let text = "#pragma omp x\n#pragma paragon forbid\n#pragma paragon \u{e9}\n#define A _Pragma(\"paragon independent\") \\\n for\n\
             f(\"_Pragma(\\\"paragon\\\")\") _Pragma (\"omp y\") _Pragma (L\"paragon forbid\") z\n#pragma paragonx\n";
        let blanked = without_own(text).unwrap();
        assert_eq!(blanked.len(), text.len());
        assert_eq!(blanked.lines().count(), text.lines().count());
        let words: Vec<&str> = blanked.split_whitespace().collect();
        assert_eq!(
            words.join(" "),
            "#pragma omp x #pragma paragon \u{e9} #define A \\ for f(\"_Pragma(\\\"paragon\\\")\") _Pragma (\"omp y\") z #pragma paragonx"
        );
        assert_eq!(without_own("#pragma omp x\nint a;"), None);
    }
}
