//! Tokens of C text that a preprocessor has written.
//!
//! [`lex`] reads the macro-expanded text of `cc -E`, [`lex_directives_only`] the text of `-fdirectives-only`, in which
//! macros stand unexpanded and comments and `#define` lines remain. Both follow line markers, so that each token knows
//! the user's file and line beside its bytes in the text. Directives and comments are no tokens; directives are kept in
//! a list of their own, because some of them (`#pragma pack`) change what follows.
//!
//! What this is not: it gives no meaning to a token beyond its kind, converts no literal, and reports no error. Bytes
//! that start no token of C become [`TokenKind::Unknown`], and it is the reader's business to refuse them.

use super::hir::Span;

/// What kind of token it is. Keywords are identifiers here.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[allow(missing_docs)]
pub enum TokenKind {
    Identifier,
    /// A preprocessing number: integer and floating constants with any suffix.
    Number,
    /// A character constant with its prefix.
    Character,
    /// A string literal with its prefix.
    String,
    Punctuator,
    /// Bytes that start no token of C, or a literal that doesn't end on its line.
    Unknown,
}

/// One token.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Token {
    /// What it is.
    pub kind: TokenKind,
    /// First byte in the text.
    pub start: u32,
    /// One past the last byte.
    pub end: u32,
    /// Index into [`Tokens::files`].
    pub file: u32,
    /// Line in that file, from 1.
    pub line: u32,
}

/// A directive line other than a line marker.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Directive {
    /// First byte, the `#`.
    pub start: u32,
    /// One past its last byte, without the newline.
    pub end: u32,
    /// Index into [`Tokens::files`].
    pub file: u32,
    /// Line of its `#`.
    pub line: u32,
    /// Index of the first token after it.
    pub before: usize,
}

/// A text and its tokens.
#[derive(Clone, Debug, Default)]
pub struct Tokens {
    /// The text.
    pub text: String,
    /// All tokens in order.
    pub tokens: Vec<Token>,
    /// Directives in order, line markers excepted.
    pub directives: Vec<Directive>,
    /// File names that line markers gave, as they were spelled, escapes included.
    pub files: Vec<String>,
    /// Index of the main file in `files`: the one that the first line marker names.
    pub main_file: u32,
}

/// Tokens of macro-expanded text.
pub fn lex(text: &str) -> Tokens {
    Lexer::new(text).run()
}

/// Tokens of text with unexpanded macros: the same rules, which skip comments and all directive lines with their
/// continuations.
pub fn lex_directives_only(text: &str) -> Tokens {
    Lexer::new(text).run()
}

impl Tokens {
    /// The number of tokens.
    pub fn len(&self) -> usize {
        self.tokens.len()
    }
    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.tokens.is_empty()
    }
    /// The spelling of token `index`; empty past the end.
    pub fn spelling(&self, index: usize) -> &str {
        self.tokens.get(index).and_then(|t| self.text.get(t.start as usize..t.end as usize)).unwrap_or("")
    }
    /// The spelling with digraphs replaced by what they stand for.
    pub fn normalised(&self, index: usize) -> &str {
        match self.spelling(index) {
            "<:" => "[",
            ":>" => "]",
            "<%" => "{",
            "%>" => "}",
            "%:" => "#",
            "%:%:" => "##",
            other => other,
        }
    }
    /// The spelling of a directive.
    pub fn directive_text(&self, directive: &Directive) -> &str {
        self.text.get(directive.start as usize..directive.end as usize).unwrap_or("")
    }
    /// Where token `index` stands; the empty span past the end.
    pub fn span(&self, index: usize) -> Span {
        self.tokens.get(index).map_or_else(Span::default, |t| Span {
            start: t.start,
            end: t.end,
            file: t.file,
            line: t.line,
        })
    }
    /// From token `first` to token `last`, both included.
    pub fn span_of(&self, first: usize, last: usize) -> Span {
        let start = self.span(first);
        Span { end: self.span(last).end.max(start.end), ..start }
    }
    /// Which of the loop keywords (`for`, `while`, `do` counted together) on its line token `index` is, from 0, and
    /// how many there are.
    pub fn loop_keyword_ordinal(&self, index: usize) -> (u32, u32) {
        self.ordinal_where(index, |spelling| matches!(spelling, "for" | "while" | "do"))
    }
    /// Which of the tokens of its spelling on its line token `index` is, from 0, and how many there are.
    pub fn ordinal(&self, index: usize) -> (u32, u32) {
        let own = self.spelling(index);
        self.ordinal_where(index, |spelling| spelling == own)
    }
    fn ordinal_where(&self, index: usize, alike: impl Fn(&str) -> bool) -> (u32, u32) {
        let Some(own) = self.tokens.get(index) else { return (0, 0) };
        let here = |i: usize| self.tokens[i].file == own.file && self.tokens[i].line == own.line;
        let before = (0..index).rev().take_while(|&i| here(i)).filter(|&i| alike(self.spelling(i))).count();
        let after = (index..self.len()).take_while(|&i| here(i)).filter(|&i| alike(self.spelling(i))).count();
        (before as u32, (before + after) as u32)
    }
}

/// Punctuators, longest first where one starts another.
const PUNCTUATORS: [&str; 54] = [
    "%:%:", "...", "<<=", ">>=", "->", "++", "--", "<<", ">>", "<=", ">=", "==", "!=", "&&", "||", "*=",
    "/=", "%=", "+=", "-=", "&=", "^=", "|=", "##", "<:", ":>", "<%", "%>", "%:", "[", "]", "(", ")", "{",
    "}", ".", "&", "*", "+", "-", "~", "!", "/", "%", "<", ">", "^", "|", "?", ":", ";", "=", ",", "#",
];

struct Lexer<'a> {
    text: &'a str,
    bytes: &'a [u8],
    at: usize,
    line: u32,
    file: u32,
    line_start: bool,
    seen_marker: bool,
    out: Tokens,
}

impl<'a> Lexer<'a> {
    fn new(text: &'a str) -> Self {
        // Offsets are 32 bits wide; a longer text has no tokens, so nothing in it is touched.
        let usable = if text.len() < u32::MAX as usize { text } else { "" };
        let out = Tokens { text: usable.to_owned(), files: vec![String::new()], ..Tokens::default() };
        Lexer {
            text: usable,
            bytes: usable.as_bytes(),
            at: 0,
            line: 1,
            file: 0,
            line_start: true,
            seen_marker: false,
            out,
        }
    }

    fn byte(&self, offset: usize) -> u8 {
        self.bytes.get(self.at + offset).copied().unwrap_or(0)
    }

    fn run(mut self) -> Tokens {
        while self.at < self.bytes.len() {
            match self.byte(0) {
                b'\n' => {
                    self.at += 1;
                    self.line = self.line.saturating_add(1);
                    self.line_start = true;
                }
                b' ' | b'\t' | b'\r' | 0x0b | 0x0c => self.at += 1,
                b'\\' if self.continuation(self.at) > 0 => {
                    self.at += self.continuation(self.at);
                    self.line = self.line.saturating_add(1);
                }
                b'/' if self.byte(1) == b'*' => self.block_comment(),
                b'/' if self.byte(1) == b'/' => {
                    self.at = self.end_of_logical_line(self.at, false);
                }
                b'#' if self.line_start => self.directive(),
                _ => {
                    self.line_start = false;
                    self.token();
                }
            }
        }
        self.out
    }

    /// Length of a backslash-newline at `at`, 0 if there is none.
    fn continuation(&self, at: usize) -> usize {
        match (self.bytes.get(at), self.bytes.get(at + 1), self.bytes.get(at + 2)) {
            (Some(b'\\'), Some(b'\n'), _) => 2,
            (Some(b'\\'), Some(b'\r'), Some(b'\n')) => 3,
            _ => 0,
        }
    }

    fn block_comment(&mut self) {
        let end = self.text[self.at + 2..].find("*/").map_or(self.bytes.len(), |n| self.at + 2 + n + 2);
        self.line = self.line.saturating_add(self.newlines(self.at, end));
        self.at = end;
    }

    fn newlines(&self, from: usize, to: usize) -> u32 {
        self.bytes[from..to].iter().filter(|&&b| b == b'\n').count() as u32
    }

    /// The end of the line that `at` is on, continuations (and, in directives, comments) taken into account; counts
    /// the lines passed.
    fn end_of_logical_line(&mut self, mut at: usize, comments: bool) -> usize {
        while at < self.bytes.len() && self.bytes[at] != b'\n' {
            let continuation = self.continuation(at);
            if continuation > 0 {
                self.line = self.line.saturating_add(1);
                at += continuation;
            } else if comments && matches!(self.bytes[at], b'"' | b'\'') {
                let quote = self.bytes[at];
                at += 1;
                while at < self.bytes.len() && !matches!(self.bytes[at], b'\n') && self.bytes[at] != quote {
                    if self.continuation(at) > 0 {
                        break;
                    }
                    at += if self.bytes[at] == b'\\' && at + 1 < self.bytes.len() { 2 } else { 1 };
                }
                at += usize::from(self.bytes.get(at) == Some(&quote));
            } else if comments && self.bytes[at..].starts_with(b"/*") {
                let end = self
                    .text
                    .get(at + 2..)
                    .and_then(|t| t.find("*/"))
                    .map_or(self.bytes.len(), |n| at + n + 4);
                self.line = self.line.saturating_add(self.newlines(at, end));
                at = end;
            } else {
                at += 1;
            }
        }
        at.min(self.bytes.len())
    }

    fn directive(&mut self) {
        let (start, line) = (self.at, self.line);
        let end = self.end_of_logical_line(start, true);
        self.at = end;
        if let Some((number, file)) = line_marker(&self.text[start..end]) {
            if let Some(file) = file {
                self.file = self.file_index(file);
            }
            // The newline that ends the marker adds one.
            self.line = number.saturating_sub(1);
            return;
        }
        let before = self.out.tokens.len();
        self.out.directives.push(Directive {
            start: start as u32,
            end: end as u32,
            file: self.file,
            line,
            before,
        });
    }

    fn file_index(&mut self, name: &str) -> u32 {
        if !self.seen_marker {
            self.seen_marker = true;
            if self.out.tokens.is_empty() {
                self.out.files[0] = name.to_owned();
                return 0;
            }
        }
        if self.out.files.get(self.file as usize).is_some_and(|f| f == name) {
            return self.file;
        }
        if let Some(index) = self.out.files.iter().position(|f| f == name) {
            return index as u32;
        }
        self.out.files.push(name.to_owned());
        self.out.files.len() as u32 - 1
    }

    fn push(&mut self, kind: TokenKind, end: usize) {
        let (start, end) = (self.at as u32, end as u32);
        self.out.tokens.push(Token { kind, start, end, file: self.file, line: self.line });
        self.line = self.line.saturating_add(self.newlines(start as usize, end as usize));
        self.at = end as usize;
    }

    fn token(&mut self) {
        let first = self.byte(0);
        if let Some(quote) = self.literal_prefix() {
            return self.literal(quote);
        }
        if is_identifier_start(first) || (first == b'\\' && matches!(self.byte(1), b'u' | b'U')) {
            let mut end = self.at + 1;
            while end < self.bytes.len() {
                let universal =
                    self.bytes[end] == b'\\' && matches!(self.bytes.get(end + 1), Some(b'u' | b'U'));
                if !(is_identifier_start(self.bytes[end]) || self.bytes[end].is_ascii_digit() || universal) {
                    break;
                }
                end += 1;
            }
            return self.push(TokenKind::Identifier, end);
        }
        if first.is_ascii_digit() || (first == b'.' && self.byte(1).is_ascii_digit()) {
            let mut end = self.at + 1;
            while let Some(&b) = self.bytes.get(end) {
                let exponent =
                    matches!(self.bytes[end - 1], b'e' | b'E' | b'p' | b'P') && matches!(b, b'+' | b'-');
                let separator = b == b'\'' && self.bytes.get(end + 1).is_some_and(u8::is_ascii_alphanumeric);
                if !(b.is_ascii_alphanumeric() || matches!(b, b'.' | b'_') || exponent || separator) {
                    break;
                }
                end += 1;
            }
            return self.push(TokenKind::Number, end);
        }
        // Half of all tokens are these, and begin no longer one.
        if matches!(first, b'(' | b')' | b'[' | b']' | b'{' | b'}' | b',' | b';' | b'~' | b'?') {
            return self.push(TokenKind::Punctuator, self.at + 1);
        }
        let rest = &self.bytes[self.at..];
        let mut alike = PUNCTUATORS.iter().filter(|p| p.as_bytes()[0] == first);
        if let Some(p) = alike.find(|p| rest.starts_with(p.as_bytes())) {
            return self.push(TokenKind::Punctuator, self.at + p.len());
        }
        let length = self.text[self.at..].chars().next().map_or(1, char::len_utf8);
        self.push(TokenKind::Unknown, self.at + length);
    }

    /// Offset of the opening quote, if a character constant or string literal starts here.
    fn literal_prefix(&self) -> Option<usize> {
        if !matches!(self.byte(0), b'"' | b'\'' | b'L' | b'u' | b'U') {
            return None;
        }
        (["", "L", "u", "U", "u8"].iter())
            .find(|p| {
                self.bytes[self.at..].starts_with(p.as_bytes()) && matches!(self.byte(p.len()), b'"' | b'\'')
            })
            .map(|p| p.len())
    }

    fn literal(&mut self, quote_offset: usize) {
        let quote = self.byte(quote_offset);
        let mut end = self.at + quote_offset + 1;
        loop {
            match self.bytes.get(end) {
                Some(&b) if b == quote => {
                    let kind = if quote == b'"' { TokenKind::String } else { TokenKind::Character };
                    return self.push(kind, end + 1);
                }
                None | Some(b'\n') => return self.push(TokenKind::Unknown, end.min(self.bytes.len())),
                Some(b'\\') => end += self.continuation(end).max(2),
                Some(_) => end += 1,
            }
        }
    }
}

/// Letters, underscore, dollar, and all bytes beyond ASCII, so that identifiers may hold any UTF-8.
fn is_identifier_start(b: u8) -> bool {
    b.is_ascii_alphabetic() || matches!(b, b'_' | b'$') || b >= 0x80
}

/// `# 12 "f.c" 1 3` or `#line 12 "f.c"`: the line and, where given, the file name between its quotes.
fn line_marker(text: &str) -> Option<(u32, Option<&str>)> {
    let rest = text.strip_prefix('#')?.trim_start();
    let rest = rest.strip_prefix("line").map_or(rest, str::trim_start);
    let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
    let number = rest[..digits].parse().ok()?;
    let name = rest[digits..].trim_start().strip_prefix('"').and_then(|r| {
        let mut escaped = false;
        let end = r.bytes().position(|b| {
            let ends = b == b'"' && !escaped;
            escaped = b == b'\\' && !escaped;
            ends
        })?;
        Some(&r[..end])
    });
    Some((number, name))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn spellings(text: &str) -> Vec<String> {
        let tokens = lex(text);
        (0..tokens.len()).map(|i| tokens.spelling(i).to_owned()).collect()
    }

    #[test]
    fn kinds_and_spellings() {
        assert_eq!(
            spellings("L\"a\\\"b\" u8'x' 0x1p-3f .5e+2 a<<=b->c...%:%: <::> 1'000 \u{e9}t\u{e9}"),
            [
                "L\"a\\\"b\"",
                "u8'x'",
                "0x1p-3f",
                ".5e+2",
                "a",
                "<<=",
                "b",
                "->",
                "c",
                "...",
                "%:%:",
                "<:",
                ":>",
                "1'000",
                "\u{e9}t\u{e9}"
            ]
        );
        for punctuator in PUNCTUATORS {
            let text = format!("a {punctuator} a{punctuator}a");
            assert_eq!(spellings(&text), ["a", punctuator, "a", punctuator, "a"]);
        }
        assert_eq!(lex("`").tokens[0].kind, TokenKind::Unknown);
        assert_eq!(lex("\"open\nx").tokens[0].kind, TokenKind::Unknown);
        assert_eq!(lex("\"\\").tokens.len(), 1);
    }

    #[test]
    fn markers_give_file_and_line() {
        let tokens = lex("# 0 \"a.c\"\n# 1 \"b.h\" 1 3\nint\n\nx;\n# 7 \"a.c\" 2\n#pragma pack(1)\ny");
        assert_eq!(tokens.files, ["a.c", "b.h"]);
        let places: Vec<_> = tokens.tokens.iter().map(|t| (t.file, t.line)).collect();
        assert_eq!(places, [(1, 1), (1, 3), (1, 3), (0, 8)]);
        assert_eq!(tokens.directives.len(), 1);
        assert_eq!((tokens.directives[0].line, tokens.directives[0].before), (7, 3));
    }

    #[test]
    fn directives_only_text() {
        let text = "# 1 \"a.c\"\n#define F(x) \\\n  for (x;;) /* two\n lines */ 'q'\n/* for */ for // while\n  (;;) F(for);\n";
        let tokens = lex_directives_only(text);
        assert_eq!(tokens.spelling(0), "for");
        assert_eq!(tokens.tokens[0].line, 4);
        assert_eq!(tokens.tokens[1].line, 5);
        assert_eq!(tokens.loop_keyword_ordinal(0), (0, 1));
    }

    #[test]
    fn ordinals() {
        let tokens = lex("for (;;) while (x) do free(free(a)); while (0);\nfor");
        let all: Vec<_> = (0..tokens.len()).filter(|&i| tokens.spelling(i) == "while").collect();
        assert_eq!(tokens.loop_keyword_ordinal(all[0]), (1, 4));
        assert_eq!(tokens.loop_keyword_ordinal(all[1]), (3, 4));
        let frees: Vec<_> = (0..tokens.len()).filter(|&i| tokens.spelling(i) == "free").collect();
        assert_eq!(tokens.ordinal(frees[1]), (1, 2));
    }
}
