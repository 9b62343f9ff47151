//! Pragmas in text for the real compiler: ours, which it doesn't know and would warn of, and others' that its preprocessor leaves out of text whose macros aren't expanded.
//!
//! Not here: what they say (`c::pragma`) and whether they can apply (`verdict`).

use crate::c::lexer::{TokenKind, Tokens, lex_directives_only};
use crate::c::pragma::own_words;
use std::collections::{HashMap, HashSet};
use std::ops::Range;

/// Pragmas that gcc carries out, or takes for its own, where it doesn't expand macros, and leaves out of that text (those of OpenMP and OpenACC only with their options).
const LEFT_OUT: [&str; 4] = ["acc", "message", "omp", "redefine_extname"];

/// The first word of a pragma that stands in the expanded text, and is missing where macros aren't expanded, as far as that can be told: what a macro's `_Pragma` says isn't there either. So
/// [`LEFT_OUT`] have to be there as often; of others all would be missing, in a text without such macros. `None`: none is.
pub fn missing<'a>(expanded: &'a str, unexpanded: &str) -> Option<&'a str> {
    fn counts<'t>(directives: impl Iterator<Item = &'t str>) -> HashMap<&'t str, usize> {
        let mut counts = HashMap::new();
        let after_sign = directives.filter_map(|directive| directive.trim_start().strip_prefix('#'));
        let pragmas = after_sign.filter_map(|directive| directive.trim_start().strip_prefix("pragma"));
        // The word may stand in the next line.
        for word in pragmas.filter_map(|pragma| pragma.split_whitespace().find(|word| *word != "\\")) {
            *counts.entry(word).or_default() += 1;
        }
        counts
    }
    let wanted = counts(expanded.lines());
    if wanted.is_empty() {
        return None;
    }
    // Comments are still there, and may have pragmas in them.
    let tokens = lex_directives_only(unexpanded);
    let there = counts(tokens.directives.iter().map(|directive| tokens.directive_text(directive)));
    let has_operators = unexpanded.contains("_Pragma");
    let is_missing = |(word, count): &(&str, usize)| match there.get(word) {
        there if LEFT_OUT.contains(word) => there.is_none_or(|there| there < count),
        there => there.is_none() && !has_operators,
    };
    wanted.into_iter().filter(is_missing).map(|(word, _)| word).min()
}

/// The text with unexpanded macros, with blanks in place of our pragmas; `None` if it has none. They may stand in `_Pragma`, in
/// the definitions of macros, too; and in macros that are nothing but a `_Pragma` of what they are given, and never anything
/// else. What stands in parentheses may be made a string of, and stays: the compiler will warn of it if it is a pragma.
pub fn without_own(text: &str) -> Option<String> {
    let tokens = lex_directives_only(text);
    // Without its `#` a definition is a line of tokens like any other.
    let definitions: Vec<(usize, Tokens)> = tokens
        .directives
        .iter()
        .filter(|directive| tokens.directive_text(directive)[1..].trim_start().starts_with("define"))
        .map(|directive| {
            let definition = lex_directives_only(&tokens.directive_text(directive)[1..]);
            (directive.start as usize + 1, definition)
        })
        .collect();
    let mut makers: HashSet<&str> = definitions.iter().filter_map(|(_, tokens)| maker(tokens)).collect();
    let undefined: HashSet<&str> = tokens
        .directives
        .iter()
        .filter_map(|directive| tokens.directive_text(directive)[1..].trim_start().strip_prefix("undef"))
        .map(str::trim)
        .collect();
    makers.retain(|name| {
        let times = definitions.iter().filter(|(_, tokens)| tokens.spelling(1) == *name).count();
        times == 1 && !undefined.contains(name)
    });
    let none = HashSet::new();
    let own_directives =
        tokens.directives.iter().filter(|directive| own_words(tokens.directive_text(directive)).is_some());
    let mut own: Vec<Range<usize>> = own_directives.map(|d| d.start as usize..d.end as usize).collect();
    own.extend(operators(&tokens, &makers, 0));
    for (start, definition) in &definitions {
        // As a parameter's name the word is whatever the macro is given.
        let has_parameters =
            definition.spelling(2) == "(" && definition.tokens[1].end == definition.tokens[2].start;
        let mut parameters = (3..definition.len()).take_while(|index| definition.spelling(*index) != ")");
        let is_parameter = has_parameters && parameters.any(|index| definition.spelling(index) == "paragon");
        own.extend(operators(definition, if is_parameter { &none } else { &makers }, *start));
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

/// The name of a macro that is defined as nothing but `_Pragma(...)` with its one parameter in it.
fn maker(definition: &Tokens) -> Option<&str> {
    let spelling = |index| definition.spelling(index);
    let (name, last) = (spelling(1), definition.len().checked_sub(1)?);
    let is_function = spelling(2) == "(" && definition.tokens[1].end == definition.tokens[2].start;
    let is_pragma = spelling(4) == ")" && spelling(5) == "_Pragma" && spelling(6) == "(";
    let closes = (6..=last).scan(0, |depth, index| {
        *depth += i32::from(spelling(index) == "(") - i32::from(spelling(index) == ")");
        Some((index, *depth))
    });
    let end = closes.into_iter().find(|(_, depth)| *depth == 0).map(|(index, _)| index);
    let parameter = spelling(3);
    let uses = (7..last).filter(|index| spelling(*index) == parameter).count();
    (is_function && is_pragma && end == Some(last) && uses == 1).then_some(name)
}

/// Where `_Pragma("paragon ...")` stands among some tokens, or a macro of `makers` that is given such words.
fn operators(tokens: &Tokens, makers: &HashSet<&str>, offset: usize) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    let mut depth = 0;
    for first in 0..tokens.len().saturating_sub(3) {
        depth += i32::from(tokens.spelling(first) == "(") - i32::from(tokens.spelling(first) == ")");
        if depth != 0 {
            continue;
        }
        if tokens.spelling(first + 1) != "(" {
            continue;
        }
        let content = tokens.spelling(first + 2);
        let last = if tokens.spelling(first) == "_Pragma" {
            let is_string = tokens.tokens[first + 2].kind == TokenKind::String;
            let words = content.trim_start_matches(['L', 'u', 'U', '8']).trim_matches('"');
            let is_own = own_words(&format!("#pragma {words}")).is_some();
            (is_string && is_own).then_some(first + 3)
        } else if makers.contains(tokens.spelling(first)) && content == "paragon" {
            let is_word = |index: &usize| tokens.tokens[*index].kind == TokenKind::Identifier;
            (first + 3..tokens.len()).find(|index| !is_word(index))
        } else {
            None
        };
        if let Some(last) = last.filter(|last| tokens.spelling(*last) == ")") {
            let (start, end) = (tokens.tokens[first].start, tokens.tokens[last].end);
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

    #[test]
    fn pragmas_that_are_left_out() {
        let expanded = "#pragma GCC ivdep\n# pragma omp simd\nint a;\n  #pragma omp for\n#pragma pack(1)\n#pragma paragon forbid\n";
        assert_eq!(missing(expanded, expanded), None);
        let rest = "#pragma GCC ivdep\n#pragma paragon x\n#pragma pack(1)\n";
        assert_eq!(missing(expanded, &format!("#pragma omp simd\n{rest}")), Some("omp"));
        assert_eq!(missing(expanded, &format!("#pragma omp simd\n#pragma omp for\n{rest}")), None);
        assert_eq!(missing(expanded, &format!("_Pragma(\"omp simd\")\n{rest}")), Some("omp"));
        assert_eq!(
            missing(expanded, &format!("/*\n#pragma omp simd\n#pragma omp for\n*/\n{rest}")),
            Some("omp")
        );
        assert_eq!(missing(expanded, &format!("#pragma \\\n omp simd\n#pragma omp \\\nfor\n{rest}")), None);
        let others = "#pragma other x\n#pragma other y\n";
        assert_eq!(missing(others, ""), Some("other"));
        assert_eq!(missing(others, "#pragma other x\n"), None);
        assert_eq!(missing(others, "#define P(x) _Pragma(#x)\nP(other x) P(other y)\n"), None);
        assert_eq!(missing("int pragma;\n", ""), None);
    }

    #[test]
    fn macros_that_make_pragmas_of_words() {
        let text = "#define S(x) #x\n#define P(x) _Pragma(#x)\n#define Q( x ) _Pragma (S(x))\n#define R(x) _Pragma(#x) x\n\
             #define A P(paragon independent) P(omp x)\nP(paragon forbid) Q(paragon independent unchecked) R(paragon y)\n\
             P(omp paragon) x(paragon forbid) P(paragon\n";
        let blanked = without_own(text).unwrap();
        let tail = blanked.lines().skip(4).flat_map(str::split_whitespace).collect::<Vec<_>>().join(" ");
        assert_eq!(tail, "#define A P(omp x) R(paragon y) P(omp paragon) x(paragon forbid) P(paragon");
        // What is in parentheses may become a string, and a name may stand for something else elsewhere.
        let kept = "#define P(x) _Pragma(#x)\n#define S(x) #x\nS(P(paragon forbid)) S(_Pragma(\"paragon forbid\"))\n";
        assert_eq!(without_own(kept), None);
        assert_eq!(without_own("#define P(x) _Pragma(#x)\nP(paragon forbid)\n#undef P\n"), None);
        assert_eq!(without_own("#define P(x) _Pragma(#x)\n#define F(paragon) P(paragon)\nF(omp x)\n"), None);
        assert_eq!(blanked.lines().take(4).collect::<Vec<_>>(), text.lines().take(4).collect::<Vec<_>>());
    }
}
