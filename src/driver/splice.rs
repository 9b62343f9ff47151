//! Generated text's way into the user's: edits refer to tokens of the expanded text; the same token is found in the
//! unexpanded (`-fdirectives-only`) text by its presumed file and line and its place among equal tokens on that line.
//!
//! Where that is not certain (the loop comes out of a macro, the header is included twice, the token is a macro's
//! argument) the edit is declined, never guessed. Not here: what is inserted (`codegen`).

use crate::codegen::GoesOn;
use std::collections::{HashMap, HashSet};
use std::ops::Range;

/// A change at a token of the expanded text.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum TokenEdit {
    /// Text in front of the token that starts at `at`, in which no word may be a macro; with `wrap_until`, in a pair of braces that closes behind the
    /// token that ends there.
    Before {
        /// First byte of the token.
        at: usize,
        /// The text.
        text: String,
        /// End of the last token inside the braces.
        wrap_until: Option<usize>,
        /// A second copy of what follows, between the text, which ends with `else`, and what follows; none where it can't be copied.
        untouched: Option<Untouched>,
        /// The text ends where the statement stands once more, without edits, and goes on behind iterations that are done; then an `else` follows. With the end of the
        /// statement's last token. Where it can't be copied, the edit is declined.
        goes_on: Option<(GoesOn, usize)>,
    },
    /// Another spelling of a token.
    Replace {
        /// The token.
        token: Range<usize>,
        /// The new spelling.
        text: String,
    },
}

/// A copy of a statement of the user's, without any edits.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Untouched {
    /// When it runs instead of the one with edits.
    pub condition: String,
    /// End of the statement's last token.
    pub end: usize,
}

/// Words that may not stand twice, or not where warnings are silent: a second object or label. Other labels are looked for apart ([`has_label`]).
const ONCE: [&str; 7] = ["static", "extern", "asm", "__asm", "__asm__", "__label__", "__thread"];

/// What is another number each time that it stands somewhere. It may come out of any macro that is called in a loop, and a copy would take numbers from
/// whatever follows it in the file.
const COUNTER: &str = "__COUNTER__";

/// The outcome.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Spliced {
    /// What the compiler gets.
    pub text: String,
    /// How many edits were made.
    pub applied: usize,
    /// The others: index and reason.
    pub declined: Vec<(usize, &'static str)>,
}

#[derive(Clone, Debug)]
struct Token {
    range: Range<usize>,
    file: usize,
    line: u32,
    /// First byte of the physical line.
    line_start: usize,
    /// Whether it may be the argument of a macro, or is no plain token of the file for another reason.
    in_macro_call: bool,
    /// Flags that a marker must repeat (`3`, `4`).
    system: &'static str,
}

/// What a macro takes where it stands; where a name has several definitions, the least.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum Takes {
    Nothing,
    Arguments,
}

struct Scan<'a> {
    text: &'a str,
    tokens: Vec<Token>,
    files: Vec<String>,
    /// Files that were entered more than once.
    repeated: HashSet<usize>,
    macros: HashMap<&'a str, Takes>,
    /// The tokens' numbers by file and line, and among those of one line in the order of the text.
    by_line: Vec<usize>,
}

impl<'a> Scan<'a> {
    fn new(text: &'a str) -> Scan<'a> {
        let definitions = text
            .lines()
            .filter_map(|line| line.trim_start().strip_prefix('#')?.trim_start().strip_prefix("define"))
            .map(|rest| {
                let rest = rest.trim_start();
                rest.split_at(rest.find(|c: char| !is_word(c as u32)).unwrap_or(rest.len()))
            });
        let mut macros = HashMap::new();
        for (name, rest) in definitions {
            let takes = if rest.starts_with('(') { Takes::Arguments } else { Takes::Nothing };
            macros.entry(name).and_modify(|old| *old = takes.min(*old)).or_insert(takes);
        }
        let mut scan = Scan {
            text,
            tokens: Vec::new(),
            files: Vec::new(),
            repeated: HashSet::new(),
            macros,
            by_line: Vec::new(),
        };
        scan.run();
        scan.by_line = (0..scan.tokens.len()).collect();
        // Stable, and fast because most of it is in order.
        scan.by_line.sort_by_key(|number| (scan.tokens[*number].file, scan.tokens[*number].line));
        scan
    }

    /// The tokens on a line of a file that are spelled so, in the order of the text.
    fn alike(&self, file: usize, line: u32, spelling: &str) -> Vec<usize> {
        let place = |number: &usize| (self.tokens[*number].file, self.tokens[*number].line);
        let first = self.by_line.partition_point(|number| place(number) < (file, line));
        let on_line = self.by_line[first..].iter().take_while(|number| place(number) == (file, line));
        on_line.copied().filter(|number| &self.text[self.tokens[*number].range.clone()] == spelling).collect()
    }

    /// Whether a macro would change `text` somewhere. Wherever it is defined: conditions and #undef are not followed.
    fn would_change(&self, text: &str) -> bool {
        let bytes = text.as_bytes();
        let mut at = 0;
        while at < bytes.len() {
            let end = token_end(bytes, at);
            // The C library defines that where the language has none, as something that asserts as well.
            let takes = self.macros.get(&text[at..end]).filter(|_| text[at..end] != *"_Static_assert");
            if takes
                .is_some_and(|takes| *takes == Takes::Nothing || text[end..].trim_start().starts_with('('))
            {
                return true;
            }
            at = end;
        }
        false
    }

    fn run(&mut self) {
        let bytes = self.text.as_bytes();
        let mut names: HashMap<String, usize> = HashMap::new();
        let mut entered: HashMap<usize, u32> = HashMap::new();
        let (mut file, mut line, mut system) = (usize::MAX, 0u32, "");
        let (mut at, mut line_start, mut fresh) = (0, 0, true);
        // One entry per open bracket: whether it belongs to a macro's call.
        let mut brackets: Vec<bool> = Vec::new();
        let mut calls = 0;
        while at < bytes.len() {
            let byte = bytes[at];
            if byte == b'\n' {
                at += 1;
                line = line.wrapping_add(1);
                (line_start, fresh) = (at, true);
            } else if byte.is_ascii_whitespace() || byte == b'\\' {
                at += 1;
            } else if bytes[at..].starts_with(b"//") {
                while at < bytes.len() && bytes[at] != b'\n' {
                    // A continued line comment goes on.
                    if bytes[at] == b'\\' && bytes.get(at + 1) == Some(&b'\n') {
                        (at, line) = (at + 1, line + 1);
                        line_start = at + 1;
                    }
                    at += 1;
                }
            } else if bytes[at..].starts_with(b"/*") {
                let end = self.text[at + 2..].find("*/").map_or(bytes.len(), |found| at + found + 4);
                for (offset, _) in self.text[at..end].match_indices('\n') {
                    line += 1;
                    line_start = at + offset + 1;
                }
                at = end;
            } else if byte == b'#' && fresh {
                let mut end = at;
                while end < bytes.len() && bytes[end] != b'\n' {
                    if bytes[end] == b'\\' && bytes[end + 1..].starts_with(b"\n") {
                        (end, line) = (end + 1, line + 1);
                    } else if bytes[end] == b'\\' && bytes[end + 1..].starts_with(b"\r\n") {
                        (end, line) = (end + 2, line + 1);
                    } else if bytes[end..].starts_with(b"/*") {
                        // A comment in a directive may go over lines.
                        let stop =
                            self.text[end + 2..].find("*/").map_or(bytes.len() - 1, |found| end + found + 3);
                        line += self.text[end..stop].matches('\n').count() as u32;
                        end = stop;
                    }
                    end += 1;
                }
                if let Some((number, name, flags)) = line_marker(&self.text[at..end.min(bytes.len())]) {
                    // The end of the marker's own line leads to the line that it names.
                    line = number.wrapping_sub(1);
                    let count = names.len();
                    file = *names.entry(name.clone()).or_insert(count);
                    if self.files.len() <= file {
                        self.files.push(name);
                    }
                    if flags.contains(&1) || entered.is_empty() {
                        let times = entered.entry(file).or_default();
                        *times += 1;
                        if *times > 1 {
                            self.repeated.insert(file);
                        }
                    }
                    system = match (flags.contains(&3), flags.contains(&4)) {
                        (true, true) => " 3 4",
                        (true, false) => " 3",
                        _ => "",
                    };
                }
                at = end.min(bytes.len());
            } else {
                fresh = false;
                let end = token_end(bytes, at);
                let range = at..end;
                match byte {
                    b'(' | b'[' | b'{' => {
                        let call = byte == b'('
                            && self.tokens.last().is_some_and(|token| {
                                self.macros.contains_key(&self.text[token.range.clone()])
                            });
                        brackets.push(call);
                        calls += usize::from(call);
                    }
                    b')' | b']' | b'}' => calls -= usize::from(brackets.pop() == Some(true)),
                    _ => {}
                }
                let in_macro_call = calls > 0 || self.macros.contains_key(&self.text[range.clone()]);
                self.tokens.push(Token { range, file, line, line_start, in_macro_call, system });
                let newlines = bytes[at..end].iter().filter(|b| **b == b'\n').count() as u32;
                if newlines > 0 {
                    line += newlines;
                    line_start = at + self.text[at..end].rfind('\n').unwrap_or(0) + 1;
                }
                at = end;
            }
        }
    }
}

fn is_word(byte: u32) -> bool {
    byte >= 0x80
        || byte == u32::from(b'_')
        || byte == u32::from(b'$')
        || u8::try_from(byte).unwrap_or(0).is_ascii_alphanumeric()
}

/// One past the token at `at`: a word or number, a literal, or one character. Longer operators don't matter here.
fn token_end(bytes: &[u8], at: usize) -> usize {
    let word_end = |from: usize| {
        bytes[from..].iter().position(|b| !is_word(u32::from(*b))).map_or(bytes.len(), |n| from + n)
    };
    match bytes[at] {
        quote @ (b'"' | b'\'') => {
            let mut end = at + 1;
            while end < bytes.len() && bytes[end] != quote && bytes[end] != b'\n' {
                end += if bytes[end] == b'\\' { 2 } else { 1 };
            }
            if bytes.get(end) == Some(&b'\n') { end } else { (end + 1).min(bytes.len()) }
        }
        byte if is_word(u32::from(byte)) => word_end(at),
        _ => at + 1,
    }
}

/// Line, file name (as spelled) and flags of `# 12 "a.c" 1 3` and `#line 12 "a.c"`.
fn line_marker(directive: &str) -> Option<(u32, String, Vec<u8>)> {
    let rest = directive.strip_prefix('#')?.trim_start();
    let rest = rest.strip_prefix("line").unwrap_or(rest).trim_start();
    let digits = rest.find(|c: char| !c.is_ascii_digit())?;
    let number = rest[..digits].parse().ok()?;
    let rest = rest[digits..].trim_start().strip_prefix('"')?;
    let mut end = 0;
    let bytes = rest.as_bytes();
    while end < bytes.len() && bytes[end] != b'"' {
        end += if bytes[end] == b'\\' { 2 } else { 1 };
    }
    let flags = rest.get(end + 1..)?.split_whitespace().filter_map(|flag| flag.parse().ok()).collect();
    Some((number, rest.get(..end)?.to_string(), flags))
}

/// Applies `edits` (positions in `expanded`) to `directives` and puts `prelude` in front.
pub fn splice(expanded: &str, directives: &str, prelude: &str, edits: &[TokenEdit]) -> Spliced {
    if edits.is_empty() {
        return Spliced { text: directives.to_string(), applied: 0, declined: Vec::new() };
    }
    let source = Scan::new(expanded);
    let other = (expanded != directives).then(|| Scan::new(directives));
    let target = other.as_ref().unwrap_or(&source);
    let mut changes: Vec<(Range<usize>, String)> = Vec::new();
    let mut declined = Vec::new();
    let mut applied = 0;
    // Where anything is changed: a copy of what has no edits in it would be the same once more.
    let made = edits.iter().filter_map(|edit| changes_of(edit, &source, target, &[]).ok()).flatten();
    let changed: Vec<usize> = made.map(|(range, _)| range.start).collect();
    for (index, edit) in edits.iter().enumerate() {
        match changes_of(edit, &source, target, &changed) {
            Ok(new) => {
                applied += 1;
                changes.extend(new);
            }
            Err(reason) => declined.push((index, reason)),
        }
    }
    changes.sort_by_key(|(range, _)| (range.start, range.end));
    let mut text = String::with_capacity(directives.len() + prelude.len() + 256);
    if applied > 0 {
        text.push_str(&opening(directives, prelude));
    }
    let mut from = 0;
    for (range, new) in changes {
        text.push_str(&directives[from..range.start]);
        text.push_str(&new);
        from = range.end;
    }
    text.push_str(&directives[from..]);
    Spliced { text, applied, declined }
}

/// The prelude between copies of the first markers: gcc reads the source's name and the working directory from the
/// first two lines of a preprocessed text.
fn opening(directives: &str, prelude: &str) -> String {
    let mut lines = directives.split_inclusive('\n');
    let mut text = String::new();
    if let Some(first) = lines.next()
        && line_marker(first.trim_end()).is_some()
    {
        text.push_str(first);
        if let Some(second) = lines.next()
            && line_marker(second.trim_end()).is_some_and(|(_, name, _)| name.ends_with("//"))
        {
            text.push_str(second);
        }
    }
    text.push_str(&format!("# 1 \"<paragon>\" 3\n{prelude}\n"));
    text
}

fn changes_of(
    edit: &TokenEdit,
    source: &Scan,
    target: &Scan,
    changed: &[usize],
) -> Result<Vec<(Range<usize>, String)>, &'static str> {
    match edit {
        TokenEdit::Replace { token, text } => {
            let found = &target.tokens
                [find(source, target, source.tokens.binary_search_by_key(&token.start, |t| t.range.start))?];
            Ok(vec![(found.range.clone(), text.clone())])
        }
        TokenEdit::Before { at, text, wrap_until, untouched, goes_on } => {
            if target.would_change(text) {
                return Err("a name that is needed in front of it is a macro");
            }
            let first = find(source, target, source.tokens.binary_search_by_key(at, |t| t.range.start))?;
            let token = &target.tokens[first];
            let name = &target.files[token.file];
            let padding: String = target.text[token.line_start..token.range.start]
                .bytes()
                .map(|byte| if byte == b'\t' { '\t' } else { ' ' })
                .collect();
            let brace = if wrap_until.is_some() { "{ " } else { "" };
            let (line, system) = (token.line, token.system);
            let untouched = untouched.as_ref().filter(|untouched| !target.would_change(&untouched.condition));
            let copy = untouched.and_then(|untouched| {
                let copy = copied(source, target, Some(changed), *at..untouched.end, first, None)?;
                let condition = &untouched.condition;
                // Whoever reads what the compiler says has the other copy's warnings.
                Some(format!(" if ({condition}) {{\n# {line} \"{name}\" 3\n{padding}{copy}\n# {line} \"{name}\" 3\n}} else"))
            });
            let copy = copy.unwrap_or_default();
            let mut rest = String::new();
            if let Some((how, end)) = goes_on {
                if target.would_change(&how.begin) {
                    return Err("a name that is needed in it is a macro");
                }
                let again = copied(source, target, None, *at..*end, first, Some(how));
                let again = again.ok_or("it can be left early, and can't stand there twice")?;
                rest =
                    format!(" {{\n# {line} \"{name}\" 3\n{padding}{again}\n# {line} \"{name}\" 3\n}} else");
            }
            let new = format!(
                "\n# {line} \"{name}\" 3\n{brace}{text}{rest}{copy}\n# {line} \"{name}\"{system}\n{padding}"
            );
            let mut changes = vec![(token.range.start..token.range.start, new)];
            if let Some(until) = wrap_until {
                let last = find(source, target, source.tokens.binary_search_by_key(until, |t| t.range.end))?;
                if last < first {
                    return Err("its end stands before it");
                }
                let end = target.tokens[last].range.end;
                changes.push((end..end, "}".into()));
            }
            Ok(changes)
        }
    }
}

/// What stands in `target` from its token `first` on, as `range` of `source`, as text of a system header; none if it can't stand there twice, or if nothing
/// in it is `changed`, if that is asked for. With `goes_on` it is a loop that begins with what it is given.
fn copied(
    source: &Scan,
    target: &Scan,
    changed: Option<&[usize]>,
    range: Range<usize>,
    first: usize,
    goes_on: Option<&GoesOn>,
) -> Option<String> {
    let last = source.tokens.binary_search_by_key(&range.end, |t| t.range.end);
    let last = find(source, target, last).ok()?;
    let inside = source.tokens.iter().filter(|token| range.contains(&token.range.start));
    let once = inside.map(|token| &source.text[token.range.clone()]).any(|word| ONCE.contains(&word));
    // Pragmas also come out of macros.
    let is_directive =
        |line: &str| line.trim_start().starts_with('#') && line_marker(line.trim_start()).is_none();
    let has_directives = source.text.get(range.clone())?.lines().any(is_directive);
    if last < first || once || has_directives || target.text.contains(COUNTER) || has_label(source, &range) {
        return None;
    }
    let range = target.tokens[first].range.start..target.tokens[last].range.end;
    if changed.is_some_and(|changed| !changed.iter().any(|at| *at != range.start && range.contains(at))) {
        return None;
    }
    let text = match goes_on {
        None => target.text.get(range)?.to_owned(),
        Some(how) => going_on(target, first..last + 1, how)?,
    };
    let mut lines = Vec::new();
    for line in text.split('\n') {
        lines.push(match line_marker(line) {
            Some((number, name, _)) => format!("# {number} \"{name}\" 3"),
            None if line.trim_start().starts_with('#') => return None,
            None => line.to_owned(),
        });
    }
    Some(lines.join("\n"))
}

/// Whether a name that a colon follows begins a statement: a label, or something that looks like one.
fn has_label(source: &Scan, range: &Range<usize>) -> bool {
    let spelling = |token: &Token| &source.text[token.range.clone()];
    let first = source.tokens.partition_point(|token| token.range.start < range.start);
    let inside = &source.tokens[first..];
    let inside = &inside[..inside.partition_point(|token| token.range.start < range.end)];
    inside.windows(3).any(|three| {
        let [before, name, colon] = [0, 1, 2].map(|number| spelling(&three[number]));
        matches!(before, ";" | "{" | "}" | ")" | "else" | "do")
            && colon == ":"
            && name != "default"
            && name.chars().next().is_some_and(|first| is_word(u32::from(first)) && !first.is_ascii_digit())
    })
}

/// The text of a loop, tokens of `target`, that begins with what it is given. None: its head isn't all there, because it comes out of macros.
fn going_on(target: &Scan, tokens: Range<usize>, how: &GoesOn) -> Option<String> {
    let spelling = |number: usize| &target.text[target.tokens[number].range.clone()];
    let (start, end) = (target.tokens[tokens.start].range.start, target.tokens[tokens.end - 1].range.end);
    match spelling(tokens.start) {
        "while" => return Some(target.text[start..end].to_owned()),
        "for" if spelling(tokens.start + 1) == "(" => {}
        _ => return None,
    }
    let (mut depth, mut parts, mut close) = (0, Vec::new(), None);
    for number in tokens.start + 1..tokens.end {
        match spelling(number) {
            "(" | "[" | "{" => depth += 1,
            ")" | "]" | "}" => depth -= 1,
            ";" if depth == 1 => parts.push(target.tokens[number].range.start),
            _ => {}
        }
        if depth == 0 {
            close = Some(number);
            break;
        }
    }
    let ([one, two], Some(_)) = (&parts[..], close) else { return None };
    let open = target.tokens[tokens.start + 1].range.end;
    let text = |range: Range<usize>| &target.text[range];
    Some(match how.declares {
        false => format!("{} {}", text(start..open), text(*one..end)),
        true => format!(
            "{}; __extension__ ({{ if (__pg_goes_on) {{ __pg_goes_on = 0;{} }} 1; }}) && ({}){}",
            text(start..*one),
            how.begin,
            text(one + 1..*two),
            text(*two..end)
        ),
    })
}

/// The token of `target` that is the token `number` of `source`.
fn find(source: &Scan, target: &Scan, number: Result<usize, usize>) -> Result<usize, &'static str> {
    let number = number.map_err(|_| "no token stands there")?;
    let token = &source.tokens[number];
    if token.file == usize::MAX {
        return Err("no line marker says where it stands");
    }
    let spelling = &source.text[token.range.clone()];
    let alike = source.alike(token.file, token.line, spelling);
    let name = &source.files[token.file];
    let file =
        target.files.iter().position(|file| file == name).ok_or("its file is not in the unexpanded text")?;
    if target.repeated.contains(&file) {
        return Err("its file is included more than once");
    }
    let candidates = target.alike(file, token.line, spelling);
    if candidates.is_empty() {
        return Err("it comes out of a macro");
    }
    if candidates.len() != alike.len() {
        return Err("a macro on its line hides which token it is");
    }
    let ordinal = alike.iter().position(|other| *other == number).ok_or("no token stands there")?;
    let found = candidates[ordinal];
    if target.tokens[found].in_macro_call {
        return Err("it is the argument of a macro");
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What becomes of the only loop of a text, by its keyword, that goes on behind some iterations.
    fn going_on(
        expanded: &str,
        directives: &str,
        keyword: &str,
        declares: bool,
    ) -> Result<String, &'static str> {
        let begin = if declares { " i = 7;" } else { "" };
        let edit = TokenEdit::Before {
            at: at(expanded, keyword, 0),
            text: "{ if (guard)".into(),
            wrap_until: None,
            untouched: None,
            goes_on: Some((GoesOn { declares, begin: begin.into() }, expanded.rfind('}').unwrap())),
        };
        let spliced = splice(expanded, directives, "", &[edit]);
        match spliced.declined.first() {
            Some((_, why)) => Err(why),
            None => {
                Ok(spliced.text.lines().filter(|line| !line.starts_with('#')).collect::<Vec<_>>().join(" "))
            }
        }
    }

    #[test]
    fn loops_go_on_without_their_first_clauses() {
        let text = |body: &str| format!("# 1 \"a.c\"\nvoid f(void) {{ {body}}}\n");
        let plain =
            |body: &str, keyword: &str, declares| going_on(&text(body), &text(body), keyword, declares);
        let found = plain("for (i = 0, j = g(1, 2); i < n; i++) h(i);", "for", false).unwrap();
        assert!(found.contains("{ if (guard) {") && found.contains("for ( ; i < n; i++) h(i);"), "{found}");
        assert!(found.contains("} else"), "{found}");
        let found = plain("for (int i = 0; i < n && (a[i] || b); i++) h(i);", "for", true).unwrap();
        let test = "for (int i = 0; __extension__ ({ if (__pg_goes_on) { __pg_goes_on = 0; i = 7; } 1; }) && ( i < n && (a[i] || b)); i++) h(i);";
        assert!(found.contains(test), "{found}");
        assert!(
            plain("while (n--) h(n);", "while", false).unwrap().matches("while (n--) h(n);").count() == 2
        );
        // A head that comes out of a macro isn't there.
        let hidden =
            "# 1 \"a.c\"\n#define UP(i, n) i = 0; i < n; i++\nvoid f(void) { for (UP(i, n)) h(i);}\n";
        let expanded = "# 1 \"a.c\"\n\nvoid f(void) { for (i = 0; i < n; i++) h(i);}\n";
        assert!(going_on(expanded, hidden, "for", false).is_err());
        // Nor may labels stand twice.
        assert!(plain("for (; i < n; i++) { if (a[i]) goto next; h(i); next:; }", "for", false).is_err());
        assert!(plain("for (; i < n; i++) h(a[i] ? i : n);", "for", false).is_ok());
    }

    fn at(text: &str, token: &str, occurrence: usize) -> usize {
        text.match_indices(token).nth(occurrence).unwrap().0
    }

    fn before(expanded: &str, directives: &str, token: &str, occurrence: usize) -> Spliced {
        let edit = TokenEdit::Before {
            at: at(expanded, token, occurrence),
            text: "PG".into(),
            wrap_until: None,
            untouched: None,
            goes_on: None,
        };
        splice(expanded, directives, "P", &[edit])
    }

    #[test]
    fn plain_loop_keeps_its_column() {
        let text = "# 1 \"a.c\"\nvoid f(void) {\n  \tfor (;;) ;\n}";
        let spliced = before(text, text, "for", 0);
        assert_eq!(
            spliced.text,
            "# 1 \"a.c\"\n# 1 \"<paragon>\" 3\nP\n# 1 \"a.c\"\nvoid f(void) {\n  \t\n# 2 \"a.c\" 3\nPG\n# 2 \"a.c\"\n  \tfor (;;) ;\n}"
        );
    }

    #[test]
    fn second_on_a_line() {
        let text = "# 1 \"a.c\"\nfor(;;); /* for */ for(;;);";
        let spliced = before(text, text, "for", 2);
        assert!(spliced.text.contains("/* for */ \n# 1 \"a.c\" 3\nPG\n"), "{}", spliced.text);
    }

    #[test]
    fn macros_decline() {
        let loop_macro = "# 1 \"a.c\"\n#define L for(;;)\nL;";
        assert_eq!(before("# 1 \"a.c\"\n\nfor(;;);", loop_macro, "for", 0).applied, 0);
        let argument = "# 1 \"a.c\"\n#define M(x) x\nM(for(;;););";
        assert_eq!(before("# 1 \"a.c\"\n\nfor(;;);;", argument, "for", 0).applied, 0);
        let mixed = "# 1 \"a.c\"\n#define L for(;;)\nL; for(;;);";
        assert_eq!(before("# 1 \"a.c\"\n\nfor(;;); for(;;);", mixed, "for", 1).applied, 0);
    }

    #[test]
    fn captured_names_decline() {
        let decline = |directives: &str| {
            let text = "# 1 \"a.c\"\n\n\n\nfor(;;);";
            let edit = TokenEdit::Before {
                at: at(text, "for", 0),
                text: "if (table[2])".into(),
                wrap_until: None,
                untouched: None,
                goes_on: None,
            };
            splice(text, directives, "", &[edit]).applied == 0
        };
        assert!(!decline("# 1 \"a.c\"\n\n\n\nfor(;;);"));
        assert!(!decline("# 1 \"a.c\"\n#define tables own\n\n\nfor(;;);"));
        assert!(decline("# 1 \"a.c\"\n\n#define table own\n\nfor(;;);"));
        assert!(decline("# 1 \"a.c\"\n#define table own\n#undef table\n\nfor(;;);"));
        assert!(!decline("# 1 \"a.c\"\n#define table(x) own\n\n\nfor(;;);"));
        assert!(decline("# 1 \"a.c\"\n#define if(x) if (x)\n\n\nfor(;;);"));
    }

    #[test]
    fn a_loop_stands_twice_where_it_may() {
        let spliced = |body: &str, expanded: &str| {
            let target = format!("# 1 \"a.c\"\nfor(;;) {body}\nelse_other();");
            let text = format!("# 1 \"a.c\"\nfor(;;) {expanded}\nelse_other();");
            let end = at(&text, "\nelse_other", 0);
            let copy = Untouched { condition: "stays".into(), end };
            let name = at(&text, "p", 0);
            let edits = [
                TokenEdit::Before {
                    at: at(&text, "for", 0),
                    text: "PG else".into(),
                    wrap_until: None,
                    untouched: Some(copy),
                    goes_on: None,
                },
                TokenEdit::Replace { token: name..name + 1, text: "q".into() },
            ];
            splice(&text, &target, "", &edits).text
        };
        let same = |body: &str| spliced(body, body);
        // The braces keep the `else` from an `if` of the user's.
        let text = same("if (p) x();");
        let copy = "PG else if (stays) {\n# 1 \"a.c\" 3\nfor(;;) if (p) x();\n# 1 \"a.c\" 3\n} else\n# 1 \"a.c\"\nfor(;;) if (q) x();";
        assert!(text.contains(copy), "{text}");
        assert!(same("{ p;\n# 8 \"b.h\" 1\n x; }").contains("{ p;\n# 8 \"b.h\" 3\n x; }"));
        let once = [
            same("{ p; static int s; }"),
            same("{ p; __asm__(\"l: nop\"); }"),
            same("{ p;\n#pragma GCC unroll 2\n x; }"),
            spliced("{ p; M }", "{ p; static int s; }"),
            spliced("{ p; M }", "{ p;\n# 2 \"a.c\"\n#pragma GCC unroll 2\n# 2 \"a.c\"\n }"),
            spliced("{ p; x = __COUNTER__; }", "{ p; x = 0; }"),
            spliced("{ p; M }\n#define M __COUNTER__\n", "{ p; 0; }"),
        ];
        for text in once {
            assert!(!text.contains("stays") && text.contains("PG else\n# 1 \"a.c\"\nfor"), "{text}");
        }
        // Nothing inside is changed: the copy would be the same once more.
        let text = "# 1 \"a.c\"\nfor(;;) { x; }\np;";
        let end = at(text, "\np", 0);
        let copy = Untouched { condition: "stays".into(), end };
        let outer = TokenEdit::Before {
            at: at(text, "for", 0),
            text: "PG else".into(),
            wrap_until: Some(end),
            untouched: Some(copy),
            goes_on: None,
        };
        let name = at(text, "p", 0);
        let outside = TokenEdit::Replace { token: name..name + 1, text: "q".into() };
        assert!(!splice(text, text, "", &[outer, outside]).text.contains("stays"));
    }

    #[test]
    fn twice_included_header_declines() {
        let text = "# 1 \"a.c\"\n# 1 \"h.h\" 1\nfor(;;);\n# 2 \"a.c\" 2\n# 1 \"h.h\" 1\nfor(;;);\n# 3 \"a.c\" 2\nfor(;;);";
        assert_eq!(before(text, text, "for", 0).applied, 0);
        assert_eq!(before(text, text, "for", 2).applied, 1);
    }

    #[test]
    fn line_directive_and_system_header() {
        let text = "# 1 \"a.c\"\n# 40 \"b.h\" 1 3 4\nfor(;;);\n# 2 \"a.c\" 2\n";
        assert!(before(text, text, "for", 0).text.contains("# 40 \"b.h\" 3\nPG\n# 40 \"b.h\" 3 4\nfor"));
    }

    #[test]
    fn crlf_and_continuations() {
        let text = "# 1 \"a.c\"\r\n#define X \\\r\n 1\r\nfor(;;);\r\n";
        assert!(before("# 1 \"a.c\"\n\n\nfor(;;);", text, "for", 0).text.contains("# 3 \"a.c\" 3\nPG"));
    }

    #[test]
    fn braces_and_replacement() {
        let text = "# 1 \"a.c\"\nif (x) for(;;) { a(); }\np = malloc(1);";
        let end = at(text, "}", 0) + 1;
        let name = at(text, "malloc", 0);
        let edits = [
            TokenEdit::Before {
                at: at(text, "for", 0),
                text: "PG".into(),
                wrap_until: Some(end),
                untouched: None,
                goes_on: None,
            },
            TokenEdit::Replace { token: name..name + 6, text: "__pg_malloc".into() },
        ];
        let spliced = splice(text, text, "", &edits);
        assert_eq!(spliced.applied, 2);
        assert!(spliced.text.contains("\n{ PG\n") && spliced.text.contains("a(); }}\np = __pg_malloc(1);"));
    }
}
