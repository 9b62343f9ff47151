//! Where external declarations end in a token stream, before anything is known of what they say: by brackets, and by what may
//! stand in front of a brace.

use super::*;

/// Where the external declaration that starts at `start` ends: behind its `;`, or behind the closing brace of a function
/// body.
pub(super) fn end_of_external(tokens: &Tokens, start: usize) -> usize {
    let mut depth = 0usize;
    let mut body = false;
    let mut old_style = false;
    let mut initialiser = false;
    let mut i = start;
    while i < tokens.len() {
        match tokens.normalised(i) {
            "(" | "[" => depth += 1,
            "{" => {
                if depth == 0 {
                    body = !initialiser && !opens_tag_body(tokens, start, i);
                }
                depth += 1;
            }
            ")" | "]" => depth = depth.saturating_sub(1),
            "}" => {
                depth = depth.saturating_sub(1);
                if depth == 0 && body {
                    return i + 1;
                }
            }
            "=" if depth == 0 => initialiser = true,
            ";" if depth == 0 && !old_style => return i + 1,
            _ => {}
        }
        // A function's parameter list that declarations follow.
        if depth == 0
            && !initialiser
            && tokens.normalised(i) == ")"
            && tokens.tokens.get(i + 1).is_some_and(|t| t.kind == TokenKind::Identifier)
            && !is_attribute(tokens.spelling(i + 1))
            && !is_asm(tokens.spelling(i + 1))
            && tokens.spelling(i + 1) != "__extension__"
            && follows_parameter_list(tokens, start, i)
        {
            old_style = true;
        }
        i += 1;
    }
    tokens.len()
}

/// The index of the `(` that the `)` at `close` belongs to.
pub(super) fn opening(tokens: &Tokens, start: usize, close: usize) -> Option<usize> {
    let mut depth = 0usize;
    for i in (start..=close).rev() {
        match tokens.normalised(i) {
            ")" => depth += 1,
            "(" => {
                depth = depth.saturating_sub(1);
                if depth == 0 {
                    return Some(i);
                }
            }
            _ => {}
        }
    }
    None
}

/// Whether the group that ends at `close` follows a declared name rather than a word such as `__attribute__` or `typeof`.
pub(super) fn follows_parameter_list(tokens: &Tokens, start: usize, close: usize) -> bool {
    let Some(open) = opening(tokens, start, close) else { return false };
    if open == start {
        return false;
    }
    let before = tokens.normalised(open - 1);
    let declarator =
        before == ")" || (tokens.tokens[open - 1].kind == TokenKind::Identifier && !is_keyword(before));
    declarator && (before != ")" || follows_parameter_list_or_group(tokens, start, open - 1))
}

pub(super) fn follows_parameter_list_or_group(tokens: &Tokens, start: usize, close: usize) -> bool {
    let open = opening(tokens, start, close);
    open.is_some_and(|o| {
        o == start || !is_attribute(tokens.spelling(o - 1)) && !is_typeof(tokens.spelling(o - 1))
    })
}

/// Whether the `{` at `brace` opens the body of a struct, union or enum.
pub(super) fn opens_tag_body(tokens: &Tokens, start: usize, brace: usize) -> bool {
    let mut i = brace;
    let mut names = 0;
    while i > start {
        i -= 1;
        let text = tokens.normalised(i);
        match text {
            "struct" | "union" | "enum" => return true,
            ")" => {
                let Some(open) = opening(tokens, start, i) else { return false };
                if open == start || !is_attribute(tokens.spelling(open - 1)) {
                    return false;
                }
                i = open - 1;
            }
            // `enum E : unsigned char {`.
            ":" => names = 0,
            _ if tokens.tokens[i].kind == TokenKind::Identifier && (names == 0 || is_type_word(text)) => {
                names += 1
            }
            _ if tokens.tokens[i].kind == TokenKind::Identifier && i > start => {
                return names < 3 && matches!(tokens.normalised(i - 1), "enum");
            }
            _ => return false,
        }
    }
    false
}
