//! The parse view: for each external declaration a text that tree-sitter-c can read in one way only.
//!
//! The grammar of tree-sitter-c knows no typedef names, so `(T)(x)` is a call to it and `a * b;` a declaration; and it
//! knows few of gcc's extensions. [`view`] therefore never shows it the user's text. It follows the scopes of the tokens
//! (what is a typedef name where) and writes a text of the same structure in which
//!
//! - every type specifier that is no `struct`, `union` or `enum` is exactly one `primitive_type` node, whose meaning
//!   [`Special::types`] has, keyed by the token that the node maps to;
//! - an identifier is never a type: names that the grammar takes for keywords or types are renamed, and an expression
//!   statement that could be read as a declaration stands in parentheses;
//! - literals are placeholders of their kind (`""`, `'c'`, and `0` for every number that is no plain integer);
//! - attributes, asm labels, `_Alignas`, `_Noreturn`, `_Static_assert`, `__extension__` and local labels are blanked; those
//!   that carry a meaning are in [`ExternalDeclaration::attributes`];
//! - storage classes and qualifiers have one spelling each and stand in front of the type: `extern`, `static`, `auto`,
//!   `register`, `inline`, `__thread`, `const`, `volatile`, `restrict`, `_Atomic`;
//! - operators on types become calls: `__builtin_va_arg(ap, sizeof(T))`, `__builtin_offsetof(sizeof(T), pg_root.m.n[3])`,
//!   `__builtin_types_compatible_p(sizeof(A), sizeof(B))`, `pg_alignof(sizeof(T))` or `pg_alignof(sizeof e)`, and
//!   `case pg_range(low, high):`, `pg_label(0)` for `&&label`, `pg_goto(e);` for `goto *e;`; `default` in `_Generic` is a primitive type without an entry in [`Special::types`];
//! - an unnamed bit-field is named [`UNNAMED`], which maps to the colon.
//!
//! A reader takes a node, asks [`ViewMap::source_token`] for the token at the node's first byte, and reads the original
//! spelling there.
//!
//! What this is not: it checks no constraint of C and computes no type. Where the scan doesn't understand a declaration,
//! that declaration is [`DeclKind::Refused`], alone; and [`parse_checked`] refuses a tree in which tree-sitter took an
//! ordinary identifier for a type after all, so a misreading can't pass silently.

use std::collections::{HashMap, HashSet};
use std::ops::Range;

use super::hir::{FloatKind, IntKind, Span};
use super::lexer::{TokenKind, Tokens};

/// The view's name of a bit-field without a name.
pub const UNNAMED: &str = "pg_unnamed";

/// What an external declaration is.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum DeclKind {
    /// A function definition.
    Function,
    /// Any other declaration.
    Declaration,
    /// Nothing that lowering needs (a lone semicolon, a static assertion); the view is empty.
    Empty,
    /// Not understood, with the reason; the view is empty.
    Refused(String),
}

/// What an attribute stands at; the number is a token index.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum AttributeTarget {
    /// The struct or union whose keyword this token is.
    Record(usize),
    /// The enumeration whose keyword this token is.
    Enum(usize),
    /// All declarators of the declaration that starts with this token.
    Specifiers(usize),
    /// The declarator whose name this token is (its first token where it has no name).
    Declarator(usize),
    /// A statement or label; the token is the attribute itself.
    Statement(usize),
}

/// An attribute that the view leaves out.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Attribute {
    /// Its name without surrounding underscores: `packed`, `aligned` (also for `_Alignas`), `weak`, `noreturn`, `asm_label`,
    /// `pragma_pack` (arguments: the number) ...
    pub name: String,
    /// The tokens between its parentheses; empty without.
    pub arguments: Range<usize>,
    /// The text of the arguments, tokens separated by one space.
    pub text: String,
    /// The token of its name.
    pub token: usize,
    /// What it applies to.
    pub target: AttributeTarget,
}

/// What a `primitive_type` node of the view stands for.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum BaseType {
    /// `void`.
    Void,
    /// An integer type; plain `char` is [`IntKind::Char`] whatever its sign.
    Int(IntKind),
    /// A real floating type.
    Float(FloatKind),
    /// A complex type over a floating type.
    Complex(FloatKind),
    /// A typedef name; the token holds its spelling.
    Typedef,
    /// `typeof` of a type or expression, whose tokens these are.
    Typeof(Range<usize>),
    /// `_Atomic(T)`, with the tokens of `T`.
    Atomic(Range<usize>),
    /// `__builtin_va_list`.
    VaList,
    /// `__auto_type`, or `auto` without a type.
    Inferred,
    /// A type that loops never handle, by its name (`_Float16`, `_Decimal64`, `_BitInt`, complex integers).
    Other(String),
}

/// What the view can't say.
#[derive(Clone, Default, Debug)]
pub struct Special {
    /// The meaning of `primitive_type` nodes, keyed by the token that the node maps to.
    pub types: HashMap<usize, BaseType>,
    /// Tokens that declare a typedef name or name a tag: the only ones that may be `type_identifier` nodes.
    pub type_names: HashSet<usize>,
    /// Whether a function is defined with an identifier list and parameter declarations.
    pub old_style: bool,
    /// What stands in the parentheses of `typeof` and `_Atomic`, keyed as in `types`: a view of its own, in which it is
    /// the operand of the only `sizeof` that isn't nested, at the end.
    pub operands: HashMap<usize, (String, ViewMap)>,
}

/// One piece of a view and the token that it was made from.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Segment {
    start: u32,
    end: u32,
    token: usize,
}

/// From bytes of a view to source tokens.
#[derive(Clone, Default, Debug)]
pub struct ViewMap {
    segments: Vec<Segment>,
}

impl ViewMap {
    /// The token that the view's text at `view_byte` was made from; between tokens, the one before. Inserted text maps to
    /// the token that it was inserted for.
    pub fn source_token(&self, view_byte: usize) -> Option<usize> {
        let after = self.segments.partition_point(|s| s.start as usize <= view_byte);
        self.segments.get(after.checked_sub(1)?).map(|s| s.token)
    }
    /// All tokens that something in the view was made from, in the view's order.
    pub fn tokens(&self) -> impl Iterator<Item = usize> {
        self.segments.iter().map(|s| s.token)
    }
    /// The source range of a node's bytes in the view: from the earliest to the latest of its tokens.
    pub fn source_span(&self, tokens: &Tokens, bytes: Range<usize>) -> Span {
        let first = self.segments.partition_point(|s| (s.end as usize) <= bytes.start);
        let inside = self.segments[first..].iter().take_while(|s| (s.start as usize) < bytes.end);
        let (low, high) = inside.fold((usize::MAX, 0), |(l, h), s| (l.min(s.token), h.max(s.token)));
        if low == usize::MAX { Span::default() } else { tokens.span_of(low, high) }
    }
}

/// One external declaration.
#[derive(Clone, Debug)]
pub struct ExternalDeclaration {
    /// What it is.
    pub kind: DeclKind,
    /// Its tokens.
    pub tokens: Range<usize>,
    /// The first name that it declares, also of refused ones where the scan came so far.
    pub name: Option<usize>,
    /// Text for tree-sitter.
    pub view: String,
    /// From `view` to tokens.
    pub map: ViewMap,
    /// What was blanked.
    pub attributes: Vec<Attribute>,
    /// What the view can't say.
    pub special: Special,
}

impl ExternalDeclaration {
    /// The attributes of `target`.
    pub fn attributes_of(&self, target: AttributeTarget) -> impl Iterator<Item = &Attribute> {
        self.attributes.iter().filter(move |a| a.target == target)
    }
}

/// Why a view can't be used.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Problem {
    /// Byte in the view.
    pub view_byte: usize,
    /// What is wrong.
    pub reason: String,
}

/// Parses a view. `None` only if tree-sitter itself fails (a library of another version).
pub fn parse(view: &str) -> Option<tree_sitter::Tree> {
    let mut parser = tree_sitter::Parser::new();
    parser.set_language(&tree_sitter_c::LANGUAGE.into()).ok()?;
    parser.parse(view, None)
}

/// The first error or missing node of a tree.
pub fn syntax_problem(tree: &tree_sitter::Tree) -> Option<Problem> {
    if !tree.root_node().has_error() {
        return None;
    }
    let found = first_node(tree, |node| node.is_error() || node.is_missing());
    let view_byte = found.map_or(0, |n| n.start_byte());
    Some(Problem { view_byte, reason: "syntax not understood".to_owned() })
}

/// Parses the view of a declaration and checks that the tree means what the scan found: no errors, and no identifier
/// read as a type.
pub fn parse_checked(declaration: &ExternalDeclaration) -> Result<tree_sitter::Tree, Problem> {
    parse_text(&declaration.view, &declaration.map, &declaration.special)
}

/// Parses and checks the view of the operand of the `typeof` or `_Atomic` at `token`.
pub fn parse_operand(
    declaration: &ExternalDeclaration,
    token: usize,
) -> Result<(tree_sitter::Tree, &str, &ViewMap), Problem> {
    let Some((text, map)) = declaration.special.operands.get(&token) else {
        return Err(Problem { view_byte: 0, reason: "a type without an operand".to_owned() });
    };
    parse_text(text, map, &declaration.special).map(|tree| (tree, text.as_str(), map))
}

fn parse_text(view: &str, map: &ViewMap, special: &Special) -> Result<tree_sitter::Tree, Problem> {
    let Some(tree) = parse(view) else {
        return Err(Problem { view_byte: 0, reason: "the parser is not usable".to_owned() });
    };
    if let Some(problem) = syntax_problem(&tree) {
        return Err(problem);
    }
    let misread = first_node(&tree, |node| match node.kind() {
        "macro_type_specifier" => true,
        "type_identifier" => {
            let token = map.source_token(node.start_byte());
            !token.is_some_and(|t| special.type_names.contains(&t))
        }
        _ => false,
    });
    match misread.map(|n| n.start_byte()) {
        Some(view_byte) => Err(Problem { view_byte, reason: "a name was read as a type".to_owned() }),
        None => Ok(tree),
    }
}

fn first_node(
    tree: &tree_sitter::Tree,
    wanted: impl Fn(tree_sitter::Node) -> bool,
) -> Option<tree_sitter::Node<'_>> {
    let mut cursor = tree.walk();
    loop {
        if wanted(cursor.node()) {
            return Some(cursor.node());
        }
        if cursor.goto_first_child() {
            continue;
        }
        while !cursor.goto_next_sibling() {
            if !cursor.goto_parent() {
                return None;
            }
        }
    }
}

/// The external declarations of a token stream, each with its view.
pub fn view(tokens: &Tokens) -> Vec<ExternalDeclaration> {
    let mut scanner = Scanner::new(tokens);
    let mut start = 0;
    let mut declarations = Vec::new();
    while start < tokens.len() {
        let end = end_of_external(tokens, start);
        declarations.push(scanner.external(start..end));
        start = end;
    }
    declarations
}

/// Where the external declaration that starts at `start` ends: behind its `;`, or behind the closing brace of a function
/// body.
fn end_of_external(tokens: &Tokens, start: usize) -> usize {
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
fn opening(tokens: &Tokens, start: usize, close: usize) -> Option<usize> {
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
fn follows_parameter_list(tokens: &Tokens, start: usize, close: usize) -> bool {
    let Some(open) = opening(tokens, start, close) else { return false };
    if open == start {
        return false;
    }
    let before = tokens.normalised(open - 1);
    let declarator =
        before == ")" || (tokens.tokens[open - 1].kind == TokenKind::Identifier && !is_keyword(before));
    declarator && (before != ")" || follows_parameter_list_or_group(tokens, start, open - 1))
}

fn follows_parameter_list_or_group(tokens: &Tokens, start: usize, close: usize) -> bool {
    let open = opening(tokens, start, close);
    open.is_some_and(|o| {
        o == start || !is_attribute(tokens.spelling(o - 1)) && !is_typeof(tokens.spelling(o - 1))
    })
}

/// Whether the `{` at `brace` opens the body of a struct, union or enum.
fn opens_tag_body(tokens: &Tokens, start: usize, brace: usize) -> bool {
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

fn is_attribute(word: &str) -> bool {
    matches!(word, "__attribute__" | "__attribute" | "__declspec")
}

fn is_asm(word: &str) -> bool {
    matches!(word, "asm" | "__asm__" | "__asm")
}

fn is_typeof(word: &str) -> bool {
    matches!(
        word,
        "typeof" | "__typeof__" | "__typeof" | "typeof_unqual" | "__typeof_unqual__" | "__typeof_unqual"
    )
}

fn is_alignof(word: &str) -> bool {
    matches!(word, "_Alignof" | "alignof" | "__alignof__" | "__alignof")
}

fn is_alignas(word: &str) -> bool {
    matches!(word, "_Alignas" | "alignas")
}

fn is_static_assert(word: &str) -> bool {
    matches!(word, "_Static_assert" | "static_assert")
}

/// The one spelling of a qualifier in the view.
fn qualifier(word: &str) -> Option<&'static str> {
    Some(match word {
        "const" | "__const" | "__const__" => "const",
        "volatile" | "__volatile" | "__volatile__" => "volatile",
        "restrict" | "__restrict" | "__restrict__" => "restrict",
        "_Atomic" => "_Atomic",
        _ => return None,
    })
}

/// The one spelling of a storage class or function specifier in the view.
fn storage_class(word: &str) -> Option<&'static str> {
    Some(match word {
        "typedef" => "typedef",
        "extern" => "extern",
        "static" => "static",
        "auto" => "auto",
        "register" => "register",
        "inline" | "__inline" | "__inline__" => "inline",
        "__thread" | "_Thread_local" | "thread_local" => "__thread",
        _ => return None,
    })
}

/// Words that, several together, name a type without a tag or typedef.
fn is_type_word(word: &str) -> bool {
    matches!(
        word,
        "void"
            | "char"
            | "short"
            | "int"
            | "long"
            | "float"
            | "double"
            | "signed"
            | "__signed"
            | "__signed__"
            | "unsigned"
            | "_Bool"
            | "bool"
            | "_Complex"
            | "__complex__"
            | "__complex"
            | "__int128"
            | "__int128_t"
            | "__uint128_t"
            | "__builtin_va_list"
            | "__auto_type"
            | "_Float16"
            | "_Float32"
            | "_Float64"
            | "_Float128"
            | "_Float32x"
            | "_Float64x"
            | "__float128"
            | "__float80"
            | "__bf16"
            | "_Decimal32"
            | "_Decimal64"
            | "_Decimal128"
            | "_BitInt"
            | "_Imaginary"
            | "__ibm128"
            | "__fp16"
    )
}

/// Words of C23 that were ordinary identifiers before: keywords here unless declared.
fn is_soft_keyword(word: &str) -> bool {
    matches!(
        word,
        "bool"
            | "alignas"
            | "alignof"
            | "static_assert"
            | "thread_local"
            | "typeof"
            | "typeof_unqual"
            | "asm"
            | "inline"
    )
}

fn is_keyword(word: &str) -> bool {
    is_type_word(word)
        || qualifier(word).is_some()
        || storage_class(word).is_some()
        || is_attribute(word)
        || is_asm(word)
        || is_typeof(word)
        || is_alignof(word)
        || is_alignas(word)
        || is_static_assert(word)
        || matches!(
            word,
            "struct"
                | "union"
                | "enum"
                | "if"
                | "else"
                | "for"
                | "while"
                | "do"
                | "switch"
                | "case"
                | "default"
                | "break"
                | "continue"
                | "return"
                | "goto"
                | "sizeof"
                | "_Generic"
                | "_Noreturn"
                | "__extension__"
                | "__label__"
        )
}

/// Identifiers that the grammar reads as something else.
fn is_special_to_grammar(word: &str) -> bool {
    let sized = ["int", "uint", "char"].iter().find_map(|p| word.strip_prefix(p));
    matches!(sized, Some("8_t" | "16_t" | "32_t" | "64_t"))
        || matches!(
            word,
            "bool"
                | "size_t"
                | "ssize_t"
                | "ptrdiff_t"
                | "intptr_t"
                | "uintptr_t"
                | "charptr_t"
                | "nullptr_t"
                | "max_align_t"
                | "TRUE"
                | "FALSE"
                | "true"
                | "false"
                | "NULL"
                | "nullptr"
                | "offsetof"
                | "noreturn"
                | "alignas"
                | "alignof"
                | "_alignof"
                | "constexpr"
                | "thread_local"
                | "_Nonnull"
                | "__based"
                | "__cdecl"
                | "__clrcall"
                | "__stdcall"
                | "__fastcall"
                | "__thiscall"
                | "__vectorcall"
                | "__uptr"
                | "__sptr"
                | "_unaligned"
                | "__unaligned"
                | "__forceinline"
                | "__try"
                | "__except"
                | "__finally"
                | "__leave"
                | "defined"
                | "asm"
                | "inline"
                | "typeof"
        )
}

/// What stands in the way of a view, as a sentence fragment.
type Scan<T> = Result<T, String>;
/// Names of one scope: whether each is a typedef name.
type Scope<'a> = HashMap<&'a str, bool>;

/// What a declarator declares.
#[derive(Default)]
struct Declarator<'a> {
    name: Option<usize>,
    /// The names of the parameter list next to the name, if it has one.
    parameters: Option<Scope<'a>>,
    /// Whether that is a list of identifiers.
    identifier_list: bool,
}

/// The specifiers of a declaration.
struct Specifiers {
    first: usize,
    is_typedef: bool,
    /// Whether a struct, union or enum is among them.
    has_tag: bool,
    /// Where in the view they start.
    view_start: usize,
    /// View bytes of the storage classes and qualifiers.
    modifiers: Vec<Range<usize>>,
}

/// Nesting beyond which a declaration is refused rather than the stack used up.
const DEPTH_LIMIT: usize = 150;

struct Scanner<'a> {
    tokens: &'a Tokens,
    cursor: usize,
    end: usize,
    depth: usize,
    scopes: Vec<Scope<'a>>,
    out: String,
    segments: Vec<Segment>,
    attributes: Vec<Attribute>,
    special: Special,
    name: Option<usize>,
    next_directive: usize,
    pack: Vec<Option<usize>>,
    pack_now: Option<usize>,
}

impl<'a> Scanner<'a> {
    fn new(tokens: &'a Tokens) -> Self {
        Scanner {
            tokens,
            cursor: 0,
            end: 0,
            depth: 0,
            scopes: vec![Scope::new()],
            out: String::new(),
            segments: Vec::new(),
            attributes: Vec::new(),
            special: Special::default(),
            name: None,
            next_directive: 0,
            pack: Vec::new(),
            pack_now: None,
        }
    }

    // ---- Tokens, scopes, output.

    fn text(&self, index: usize) -> &'a str {
        if index < self.end { self.tokens.normalised(index) } else { "" }
    }
    fn peek(&self) -> &'a str {
        self.text(self.cursor)
    }
    fn kind(&self, index: usize) -> Option<TokenKind> {
        if index < self.end { self.tokens.tokens.get(index).map(|t| t.kind) } else { None }
    }
    /// Whether token `index` is an identifier and no keyword here.
    fn is_name(&self, index: usize) -> bool {
        let text = self.text(index);
        self.kind(index) == Some(TokenKind::Identifier)
            && (!is_keyword(text) || (is_soft_keyword(text) && self.lookup(text).is_some()))
    }
    fn lookup(&self, name: &str) -> Option<bool> {
        self.scopes.iter().rev().find_map(|s| s.get(name).copied())
    }
    fn is_typedef_name(&self, index: usize) -> bool {
        self.is_name(index) && self.lookup(self.text(index)) == Some(true)
    }
    fn declare(&mut self, index: usize, is_typedef: bool) {
        let text = self.text(index);
        if let Some(scope) = self.scopes.last_mut() {
            scope.insert(text, is_typedef);
        }
        if is_typedef {
            self.special.type_names.insert(index);
        }
    }
    fn emit(&mut self, token: usize, text: &str) {
        let start = self.out.len() as u32;
        self.out.push_str(text);
        self.segments.push(Segment { start, end: self.out.len() as u32, token });
        self.out.push(' ');
    }
    /// Writes the current token as it is and goes on.
    fn pass(&mut self) {
        let token = self.cursor;
        let text = self.text(token);
        match self.kind(token) {
            Some(TokenKind::Identifier) => self.emit_name(token),
            Some(TokenKind::String) => self.emit(token, "\"\""),
            Some(TokenKind::Character) => self.emit(token, "'c'"),
            Some(TokenKind::Number) => self.emit(token, if is_plain_number(text) { text } else { "0" }),
            _ => self.emit(token, text),
        }
        self.cursor += 1;
    }
    fn emit_name(&mut self, token: usize) {
        let text = self.text(token);
        let keyword_now = matches!(text, "true" | "false" | "nullptr") && self.lookup(text).is_none();
        if !keyword_now && is_special_to_grammar(text) {
            self.emit(token, &format!("pg_{text}"));
        } else {
            self.emit(token, text);
        }
    }
    /// Writes an identifier in a place where keywords have no meaning.
    fn pass_name(&mut self) -> Scan<usize> {
        let token = self.cursor;
        if self.kind(token) != Some(TokenKind::Identifier) {
            return Err(self.unexpected("a name"));
        }
        let text = self.text(token);
        if is_special_to_grammar(text) {
            self.emit(token, &format!("pg_{text}"));
        } else {
            self.emit(token, text);
        }
        self.cursor += 1;
        Ok(token)
    }
    fn expect(&mut self, text: &str) -> Scan<()> {
        if self.peek() != text {
            return Err(self.unexpected(text));
        }
        self.pass();
        Ok(())
    }
    fn unexpected(&self, wanted: &str) -> String {
        match self.peek() {
            "" => format!("the declaration ends where {wanted} should stand"),
            found => format!("`{found}` where {wanted} should stand"),
        }
    }
    fn nested<T>(&mut self, scan: impl FnOnce(&mut Self) -> Scan<T>) -> Scan<T> {
        if self.depth >= DEPTH_LIMIT {
            return Err("nested too deeply".to_owned());
        }
        self.depth += 1;
        let result = scan(self);
        self.depth -= 1;
        result
    }
    fn scoped<T>(&mut self, scope: Scope<'a>, scan: impl FnOnce(&mut Self) -> Scan<T>) -> Scan<T> {
        self.scopes.push(scope);
        let result = self.nested(scan);
        self.scopes.pop();
        result
    }
    /// One past the bracket that closes the one at `open`.
    fn past_group(&self, open: usize) -> Scan<usize> {
        let mut depth = 0usize;
        for i in open..self.end {
            match self.text(i) {
                "(" | "[" | "{" => depth += 1,
                ")" | "]" | "}" => {
                    depth = depth.saturating_sub(1);
                    if depth == 0 {
                        return Ok(i + 1);
                    }
                }
                _ => {}
            }
        }
        Err("a bracket is not closed".to_owned())
    }

    // ---- External declarations.

    fn external(&mut self, range: Range<usize>) -> ExternalDeclaration {
        self.cursor = range.start;
        self.end = range.end;
        self.depth = 0;
        let scanned = self.external_inner();
        self.scopes.truncate(1);
        let mut kind = scanned.and_then(|kind| {
            if self.cursor == range.end {
                Ok(kind)
            } else {
                Err(self.unexpected("the end of the declaration"))
            }
        });
        if kind == Ok(DeclKind::Declaration) && self.out.is_empty() {
            kind = Ok(DeclKind::Empty);
        }
        let (mut view, mut segments) = (std::mem::take(&mut self.out), std::mem::take(&mut self.segments));
        if !matches!(kind, Ok(DeclKind::Function | DeclKind::Declaration)) {
            view.clear();
            segments.clear();
        }
        ExternalDeclaration {
            kind: kind.unwrap_or_else(DeclKind::Refused),
            tokens: range,
            name: self.name.take(),
            view,
            map: ViewMap { segments },
            attributes: std::mem::take(&mut self.attributes),
            special: std::mem::take(&mut self.special),
        }
    }

    fn external_inner(&mut self) -> Scan<DeclKind> {
        while self.peek() == "__extension__" {
            self.cursor += 1;
        }
        if self.peek() == ";" {
            self.cursor += 1;
            return Ok(DeclKind::Empty);
        }
        if is_asm(self.peek()) {
            return Err("assembly at file scope".to_owned());
        }
        if self.at_static_assert() {
            self.skip_static_assert()?;
            return Ok(DeclKind::Empty);
        }
        Ok(if self.declaration(true)? { DeclKind::Function } else { DeclKind::Declaration })
    }

    fn at_static_assert(&self) -> bool {
        is_static_assert(self.peek()) && self.text(self.cursor + 1) == "("
    }
    fn skip_static_assert(&mut self) -> Scan<()> {
        self.cursor = self.past_group(self.cursor + 1)?;
        if self.peek() == ";" {
            self.cursor += 1;
        }
        Ok(())
    }

    /// A declaration through its `;`, or a function definition through its body: then the answer is true.
    fn declaration(&mut self, top: bool) -> Scan<bool> {
        let specifiers = self.specifiers(true)?;
        if self.peek() == ";" {
            self.finish_without_declarators(&specifiers);
            return Ok(false);
        }
        let mut first = true;
        loop {
            let mark = self.attributes.len();
            self.skip_attributes(AttributeTarget::Declarator(self.cursor))?;
            let start = self.cursor;
            let declarator = self.declarator(specifiers.is_typedef)?;
            let Some(name) = declarator.name else { return Err(self.unexpected("a declared name")) };
            for attribute in &mut self.attributes[mark..] {
                if let AttributeTarget::Declarator(at) = attribute.target
                    && (at <= start || at == name)
                {
                    attribute.target = AttributeTarget::Declarator(name);
                }
            }
            if top && self.name.is_none() {
                self.name = Some(name);
            }
            self.declare(name, specifiers.is_typedef);
            let has_body = first
                && declarator.parameters.is_some()
                && (self.peek() == "{" || (declarator.identifier_list && self.starts_declaration()));
            if has_body {
                if !top {
                    return Err("a nested function".to_owned());
                }
                let scope = declarator.parameters.unwrap_or_default();
                self.special.old_style = declarator.identifier_list;
                self.scoped(scope, |s| {
                    while s.peek() != "{" {
                        if s.declaration(false)? {
                            return Err("a function body among parameter declarations".to_owned());
                        }
                    }
                    s.block_without_scope()
                })?;
                return Ok(true);
            }
            first = false;
            if self.peek() == "=" {
                self.pass();
                self.initialiser()?;
            }
            if self.peek() == "," {
                self.pass();
                continue;
            }
            self.expect(";")?;
            return Ok(false);
        }
    }

    /// `struct S {...};` and the like: the grammar wants the type alone there.
    fn finish_without_declarators(&mut self, specifiers: &Specifiers) {
        if specifiers.has_tag {
            for range in &specifiers.modifiers {
                let blank = " ".repeat(range.len());
                self.out.replace_range(range.clone(), &blank);
                self.segments.retain(|s| !(range.start as u32..range.end as u32).contains(&s.start));
            }
            self.pass();
        } else {
            self.out.truncate(specifiers.view_start);
            self.segments.retain(|s| (s.start as usize) < specifiers.view_start);
            self.cursor += 1;
        }
    }

    fn starts_declaration(&self) -> bool {
        let mut at = self.cursor;
        loop {
            match self.text(at) {
                "__extension__" => at += 1,
                "[" if self.text(at + 1) == "[" => match self.past_group(at) {
                    Ok(next) => at = next,
                    Err(_) => return false,
                },
                word if is_attribute(word) && self.text(at + 1) == "(" => match self.past_group(at + 1) {
                    Ok(next) => at = next,
                    Err(_) => return false,
                },
                _ => break,
            }
        }
        self.starts_type(at)
            || (storage_class(self.text(at)).is_some() && !self.is_name(at))
            || self.text(at) == "_Noreturn"
            || (is_alignas(self.text(at)) && !self.is_name(at))
    }

    /// Whether a type name (or a declaration without a storage class) starts at `at`.
    fn starts_type(&self, at: usize) -> bool {
        let word = self.text(at);
        if self.kind(at) != Some(TokenKind::Identifier) {
            return false;
        }
        if self.is_name(at) {
            return self.lookup(word) == Some(true);
        }
        if word == "__extension__" || is_attribute(word) {
            let next = if word == "__extension__" { Ok(at + 1) } else { self.past_group(at + 1) };
            return next.is_ok_and(|n| n > at && self.starts_type(n));
        }
        is_type_word(word)
            || qualifier(word).is_some()
            || is_typeof(word)
            || matches!(word, "struct" | "union" | "enum")
    }

    // ---- Attributes.

    /// Skips attributes, asm labels and `__extension__`, and keeps what they say.
    fn skip_attributes(&mut self, target: AttributeTarget) -> Scan<()> {
        loop {
            let word = self.peek();
            if word == "__extension__"
                || matches!(word, "_Nonnull" | "_Nullable" | "_Null_unspecified")
                    && !self.is_name(self.cursor)
            {
                self.cursor += 1;
            } else if is_attribute(word) {
                let open = self.cursor + 1;
                let past = if self.text(open) == "(" {
                    self.past_group(open)?
                } else {
                    return Err(self.unexpected("("));
                };
                let double = word != "__declspec";
                self.attribute_list(if double { open + 2..past - 2 } else { open + 1..past - 1 }, target);
                self.cursor = past;
            } else if word == "[" && self.text(self.cursor + 1) == "[" {
                let past = self.past_group(self.cursor)?;
                self.attribute_list(self.cursor + 2..past.saturating_sub(2), target);
                self.cursor = past;
            } else if is_asm(word)
                && !self.is_name(self.cursor)
                && matches!(target, AttributeTarget::Declarator(_))
            {
                let open = self.cursor + 1;
                let past = self.past_group(open)?;
                self.attribute("asm_label", self.cursor, open + 1..past - 1, target);
                self.cursor = past;
            } else {
                return Ok(());
            }
        }
    }

    fn attribute_list(&mut self, range: Range<usize>, target: AttributeTarget) {
        let mut i = range.start;
        while i < range.end {
            if self.kind(i) != Some(TokenKind::Identifier) {
                i += 1;
                continue;
            }
            let token = i;
            let name = self.text(i).trim_matches('_').to_owned();
            i += 1;
            let mut arguments = i..i;
            if self.text(i) == "("
                && let Ok(past) = self.past_group(i)
            {
                arguments = i + 1..past.saturating_sub(1).max(i + 1);
                i = past;
            }
            self.attribute(&name, token, arguments, target);
        }
    }

    fn attribute(&mut self, name: &str, token: usize, arguments: Range<usize>, target: AttributeTarget) {
        let text = arguments.clone().map(|i| self.text(i)).collect::<Vec<_>>().join(" ");
        self.attributes.push(Attribute { name: name.to_owned(), arguments, text, token, target });
    }

    /// Follows `#pragma pack` up to token `at`.
    fn follow_pack(&mut self, at: usize) {
        while let Some(directive) = self.tokens.directives.get(self.next_directive).filter(|d| d.before <= at)
        {
            self.next_directive += 1;
            let text = self.tokens.directive_text(directive);
            let words = text.trim_start_matches('#').trim_start();
            let Some(rest) = words.strip_prefix("pragma").and_then(|w| w.trim_start().strip_prefix("pack"))
            else {
                continue;
            };
            let inner = rest.trim().trim_start_matches('(').trim_end_matches(')');
            let parts: Vec<&str> = inner.split(',').map(str::trim).filter(|p| !p.is_empty()).collect();
            let number = parts.iter().find_map(|p| p.parse::<usize>().ok());
            match parts.first() {
                Some(&"push") => {
                    self.pack.push(self.pack_now);
                    self.pack_now = number.or(self.pack_now);
                }
                Some(&"pop") => self.pack_now = self.pack.pop().flatten(),
                _ => self.pack_now = number.filter(|&n| n > 0),
            }
        }
    }

    // ---- Specifiers.

    /// Declaration specifiers, or the specifiers and qualifiers of a type name, written with one base type.
    fn specifiers(&mut self, storage_allowed: bool) -> Scan<Specifiers> {
        let first = self.cursor;
        let view_start = self.out.len();
        let mut waiting: Vec<(usize, &'static str)> = Vec::new();
        let mut words: Vec<usize> = Vec::new();
        let mut base: Option<(usize, BaseType)> = None;
        let mut result =
            Specifiers { first, is_typedef: false, has_tag: false, view_start, modifiers: Vec::new() };
        loop {
            self.skip_attributes(AttributeTarget::Specifiers(first))?;
            let (at, word) = (self.cursor, self.peek());
            let seen_type = base.is_some() || result.has_tag || !words.is_empty();
            // `typedef unsigned char bool;` declares what C23 has as a keyword.
            let name = self.is_name(at) || (word == "bool" && seen_type);
            if name && (seen_type || self.lookup(word) != Some(true)) {
                break;
            }
            if name {
                base = Some((at, BaseType::Typedef));
                self.cursor += 1;
            } else if word == "_Atomic" && self.text(at + 1) == "(" {
                let past = self.past_group(at + 1)?;
                base = Some((at, BaseType::Atomic(at + 2..past - 1)));
                self.type_operand(at)?;
                self.cursor = past;
            } else if let Some(text) =
                qualifier(word).or_else(|| storage_class(word).filter(|_| storage_allowed))
            {
                result.is_typedef |= text == "typedef";
                if result.has_tag {
                    if text == "typedef" {
                        return Err("`typedef` behind the type".to_owned());
                    }
                    let start = self.out.len();
                    self.emit(at, text);
                    result.modifiers.push(start..self.out.len());
                } else {
                    waiting.push((at, text));
                }
                self.cursor += 1;
            } else if word == "_Noreturn" {
                self.attribute("noreturn", at, at..at, AttributeTarget::Specifiers(first));
                self.cursor += 1;
            } else if is_alignas(word) {
                let past = self.past_group(at + 1)?;
                self.attribute("aligned", at, at + 2..past - 1, AttributeTarget::Specifiers(first));
                self.cursor = past;
            } else if is_typeof(word) && self.text(at + 1) == "(" {
                let past = self.past_group(at + 1)?;
                base = Some((at, BaseType::Typeof(at + 2..past - 1)));
                self.type_operand(at)?;
                self.cursor = past;
            } else if matches!(word, "struct" | "union" | "enum") && !seen_type {
                self.modifiers(&mut waiting, &mut result);
                result.has_tag = true;
                if word == "enum" { self.enumeration()? } else { self.record()? }
            } else if is_type_word(word) {
                words.push(at);
                self.cursor += 1;
                if word == "_BitInt" && self.peek() == "(" {
                    self.cursor = self.past_group(self.cursor)?;
                }
            } else {
                break;
            }
        }
        if result.has_tag {
            return if base.is_some() || !words.is_empty() {
                Err("two types in one declaration".to_owned())
            } else {
                Ok(result)
            };
        }
        let inferred = waiting.iter().any(|w| w.1 == "auto");
        let (at, kind) = match (base, words.first()) {
            (Some(_), Some(_)) => return Err("two types in one declaration".to_owned()),
            (Some(base), None) => base,
            (None, Some(&at)) => (at, self.arithmetic(&words)?),
            (None, None) if inferred => {
                waiting.retain(|w| w.1 != "auto");
                (first, BaseType::Inferred)
            }
            (None, None) => (first, BaseType::Int(IntKind::Int)),
        };
        self.modifiers(&mut waiting, &mut result);
        self.emit(at, "size_t");
        self.special.types.insert(at, kind);
        Ok(result)
    }

    /// Writes the parentheses behind the `typeof` or `_Atomic` at `at` to a view of their own.
    fn type_operand(&mut self, at: usize) -> Scan<()> {
        let outer = (std::mem::take(&mut self.out), std::mem::take(&mut self.segments));
        self.emit(at, "int pg_operand = sizeof");
        self.cursor = at + 1;
        let scanned = self.nested(Self::parenthesised);
        self.emit(at, ";");
        let text = std::mem::replace(&mut self.out, outer.0);
        let segments = std::mem::replace(&mut self.segments, outer.1);
        self.special.operands.insert(at, (text, ViewMap { segments }));
        scanned.map(|_| ())
    }

    /// Writes the storage classes and qualifiers seen so far, `typedef` first as the grammar wants it.
    fn modifiers(&mut self, waiting: &mut Vec<(usize, &'static str)>, result: &mut Specifiers) {
        waiting.sort_by_key(|w| w.1 != "typedef");
        for (at, text) in waiting.drain(..) {
            let start = self.out.len();
            self.emit(at, text);
            result.modifiers.push(start..self.out.len());
        }
    }

    /// The type that several type words name together.
    fn arithmetic(&self, words: &[usize]) -> Scan<BaseType> {
        let count = |wanted: &[&str]| words.iter().filter(|&&w| wanted.contains(&self.text(w))).count();
        let unsigned = count(&["unsigned"]) > 0;
        let signed = count(&["signed", "__signed", "__signed__"]) > 0;
        let complex = count(&["_Complex", "__complex__", "__complex"]) > 0;
        let longs = count(&["long"]);
        let pick = |s: IntKind, u: IntKind| BaseType::Int(if unsigned { u } else { s });
        let float = |f: FloatKind| if complex { BaseType::Complex(f) } else { BaseType::Float(f) };
        if unsigned && signed {
            return Err("both signed and unsigned".to_owned());
        }
        let main: Vec<&str> = words
            .iter()
            .map(|&w| self.text(w))
            .filter(|w| {
                !matches!(
                    *w,
                    "unsigned"
                        | "signed"
                        | "__signed"
                        | "__signed__"
                        | "_Complex"
                        | "__complex__"
                        | "__complex"
                        | "long"
                        | "short"
                )
            })
            .collect();
        if main.len() > 1 {
            return Err("two types in one declaration".to_owned());
        }
        let integer_complex = || BaseType::Other("complex integer".to_owned());
        Ok(match main.first().copied() {
            Some("double") if longs > 0 => float(FloatKind::LongDouble),
            Some("double" | "_Float64" | "_Float32x") => float(FloatKind::Double),
            Some("float" | "_Float32") => float(FloatKind::Float),
            Some("_Float64x" | "__float80") => float(FloatKind::LongDouble),
            Some("_Float128" | "__float128") => float(FloatKind::Float128),
            Some("void") => BaseType::Void,
            Some("_Bool" | "bool") => BaseType::Int(IntKind::Bool),
            Some("__builtin_va_list") => BaseType::VaList,
            Some("__auto_type") => BaseType::Inferred,
            None if complex && longs == 0 && !unsigned && !signed && count(&["short"]) == 0 => {
                float(FloatKind::Double)
            }
            _ if complex => integer_complex(),
            Some("__int128" | "__int128_t") => pick(IntKind::Int128, IntKind::UInt128),
            Some("__uint128_t") => BaseType::Int(IntKind::UInt128),
            Some("char") if !signed => pick(IntKind::Char, IntKind::UChar),
            Some("char") => BaseType::Int(IntKind::SChar),
            Some("int") | None if count(&["short"]) > 0 => pick(IntKind::Short, IntKind::UShort),
            Some("int") | None => match longs {
                0 => pick(IntKind::Int, IntKind::UInt),
                1 => pick(IntKind::Long, IntKind::ULong),
                _ => pick(IntKind::LongLong, IntKind::ULongLong),
            },
            Some(other) => BaseType::Other(other.to_owned()),
        })
    }

    fn tag(&mut self) -> Scan<()> {
        if self.kind(self.cursor) == Some(TokenKind::Identifier) {
            let token = self.pass_name()?;
            self.special.type_names.insert(token);
        }
        Ok(())
    }

    fn record(&mut self) -> Scan<()> {
        let keyword = self.cursor;
        let target = AttributeTarget::Record(keyword);
        self.pass();
        self.skip_attributes(target)?;
        self.tag()?;
        self.skip_attributes(target)?;
        if self.peek() != "{" {
            return Ok(());
        }
        self.follow_pack(keyword);
        if let Some(limit) = self.pack_now {
            let (arguments, name) = (keyword..keyword, "pragma_pack".to_owned());
            self.attributes.push(Attribute {
                name,
                arguments,
                text: limit.to_string(),
                token: keyword,
                target,
            });
        }
        self.pass();
        self.nested(|s| {
            while s.peek() != "}" {
                match s.peek() {
                    ";" => s.cursor += 1,
                    "" => return Err(s.unexpected("}")),
                    _ if s.at_static_assert() => s.skip_static_assert()?,
                    _ => s.field()?,
                }
            }
            s.pass();
            Ok(())
        })?;
        self.skip_attributes(target)
    }

    fn field(&mut self) -> Scan<()> {
        let specifiers = self.specifiers(false)?;
        if self.cursor == specifiers.first {
            return Err(self.unexpected("a member"));
        }
        if self.peek() == ";" {
            self.pass();
            return Ok(());
        }
        loop {
            let mark = self.attributes.len();
            let start = self.cursor;
            self.skip_attributes(AttributeTarget::Declarator(start))?;
            let mut name = None;
            if self.peek() != ":" {
                name = self.declarator(false)?.name;
                if name.is_none() {
                    return Err(self.unexpected("a member's name"));
                }
            }
            if self.peek() == ":" {
                if name.is_none() {
                    name = Some(self.cursor);
                    self.emit(self.cursor, UNNAMED);
                }
                self.pass();
                self.expression(&[",", ";"])?;
            }
            self.skip_attributes(AttributeTarget::Declarator(start))?;
            for attribute in &mut self.attributes[mark..] {
                if let (AttributeTarget::Declarator(at), Some(name)) = (attribute.target, name)
                    && at == start
                {
                    attribute.target = AttributeTarget::Declarator(name);
                }
            }
            if self.peek() == "," {
                self.pass();
                continue;
            }
            return self.expect(";");
        }
    }

    fn enumeration(&mut self) -> Scan<()> {
        let target = AttributeTarget::Enum(self.cursor);
        self.pass();
        self.skip_attributes(target)?;
        self.tag()?;
        if self.peek() == ":" && self.starts_type(self.cursor + 1) {
            self.pass();
            self.specifiers(false)?;
        }
        if self.peek() == "{" {
            self.pass();
            while self.peek() != "}" {
                let name = self.pass_name()?;
                self.declare(name, false);
                self.skip_attributes(AttributeTarget::Declarator(name))?;
                if self.peek() == "=" {
                    self.pass();
                    self.expression(&[",", "}"])?;
                }
                if self.peek() != "}" {
                    self.expect(",")?;
                }
            }
            self.pass();
        }
        self.skip_attributes(target)
    }

    // ---- Declarators.

    /// A declarator, abstract where no name stands.
    fn declarator(&mut self, is_typedef: bool) -> Scan<Declarator<'a>> {
        self.nested(|s| s.declarator_inner(is_typedef))
    }

    fn declarator_inner(&mut self, is_typedef: bool) -> Scan<Declarator<'a>> {
        let start = self.cursor;
        let target = AttributeTarget::Declarator(start);
        let mark = self.attributes.len();
        let mut result = Declarator::default();
        loop {
            self.skip_attributes(target)?;
            if self.peek() == "*" {
                self.pass();
            } else if let Some(text) = qualifier(self.peek()) {
                self.emit(self.cursor, text);
                self.cursor += 1;
            } else {
                break;
            }
        }
        if self.peek() == "(" && self.nested_declarator() {
            self.pass();
            result = self.declarator(is_typedef)?;
            self.expect(")")?;
        } else if self.is_name(self.cursor)
            || (self.kind(self.cursor) == Some(TokenKind::Identifier) && is_soft_keyword(self.peek()))
        {
            result.name = Some(self.pass_name()?);
        }
        loop {
            self.skip_attributes(target)?;
            match self.peek() {
                "[" => self.array_suffix()?,
                "(" => {
                    let (scope, identifier_list) = self.parameters()?;
                    if result.parameters.is_none() {
                        result.parameters = Some(scope);
                        result.identifier_list = identifier_list;
                    }
                }
                _ => break,
            }
        }
        if let Some(name) = result.name {
            for attribute in &mut self.attributes[mark..] {
                if attribute.target == target {
                    attribute.target = AttributeTarget::Declarator(name);
                }
            }
        }
        Ok(result)
    }

    /// Whether the `(` here encloses a declarator rather than parameters.
    fn nested_declarator(&self) -> bool {
        let mut at = self.cursor + 1;
        while is_attribute(self.text(at)) {
            match self.past_group(at + 1) {
                Ok(next) => at = next,
                Err(_) => return false,
            }
        }
        !matches!(self.text(at), ")" | "..." | "")
            && !self.starts_type(at)
            && storage_class(self.text(at)).is_none()
    }

    fn array_suffix(&mut self) -> Scan<()> {
        self.pass();
        loop {
            if self.peek() == "static" {
                self.pass();
            } else if let Some(text) = qualifier(self.peek()) {
                self.emit(self.cursor, text);
                self.cursor += 1;
            } else {
                break;
            }
        }
        if self.peek() == "*" && self.text(self.cursor + 1) == "]" {
            self.pass();
        } else if self.peek() != "]" {
            self.expression(&["]"])?;
        }
        self.expect("]")
    }

    /// A parameter list; the names that it declares, and whether it is an identifier list.
    fn parameters(&mut self) -> Scan<(Scope<'a>, bool)> {
        self.pass();
        if self.peek() == ")" {
            self.pass();
            return Ok((Scope::new(), false));
        }
        let identifiers = self.is_name(self.cursor) && !self.is_typedef_name(self.cursor);
        self.scopes.push(Scope::new());
        let result = self.nested(|s| {
            loop {
                if s.peek() == "..." {
                    s.pass();
                } else if identifiers {
                    let name = s.pass_name()?;
                    s.declare(name, false);
                } else {
                    let first = s.cursor;
                    s.specifiers(true)?;
                    if s.cursor == first {
                        return Err(s.unexpected("a parameter"));
                    }
                    let declarator = s.declarator(false)?;
                    if let Some(name) = declarator.name {
                        s.declare(name, false);
                    }
                }
                if s.peek() == "," {
                    s.pass();
                    continue;
                }
                return s.expect(")");
            }
        });
        let scope = self.scopes.pop().unwrap_or_default();
        result.map(|()| (scope, identifiers))
    }

    /// `T *[3]`: specifiers and an abstract declarator.
    fn type_name(&mut self) -> Scan<()> {
        self.specifiers(false)?;
        match self.declarator(false)?.name {
            None => Ok(()),
            Some(_) => Err("a name in a type name".to_owned()),
        }
    }

    // ---- Statements.

    fn block(&mut self) -> Scan<()> {
        self.scoped(Scope::new(), Self::block_without_scope)
    }

    fn block_without_scope(&mut self) -> Scan<()> {
        self.expect("{")?;
        while self.peek() != "}" {
            if self.peek().is_empty() {
                return Err(self.unexpected("}"));
            }
            self.statement()?;
        }
        self.pass();
        Ok(())
    }

    /// Whether a block item at the cursor is a declaration.
    fn at_declaration(&self) -> bool {
        self.starts_declaration() && !(self.is_name(self.cursor) && self.text(self.cursor + 1) == ":")
    }

    fn statement(&mut self) -> Scan<()> {
        self.nested(Self::statement_inner)
    }

    fn statement_inner(&mut self) -> Scan<()> {
        // `else if` and labels go round this loop.
        loop {
            if self.at_declaration() {
                self.declaration(false)?;
                return Ok(());
            }
            self.skip_attributes(AttributeTarget::Statement(self.cursor))?;
            let at = self.cursor;
            if self.at_static_assert() {
                return self.skip_static_assert();
            }
            if self.is_name(at) && self.text(at + 1) == ":" {
                self.pass_name()?;
                self.pass();
                self.skip_attributes(AttributeTarget::Statement(self.cursor))?;
                if self.peek() == "}" {
                    self.emit(at, ";");
                    return Ok(());
                }
                continue;
            }
            match self.peek() {
                "{" => return self.block(),
                ";" | "break" | "continue" => {
                    self.pass();
                    return if self.text(at) == ";" { Ok(()) } else { self.expect(";") };
                }
                "__label__" => {
                    while !matches!(self.peek(), ";" | "") {
                        self.cursor += 1;
                    }
                    self.cursor += 1;
                    return Ok(());
                }
                "if" => {
                    self.pass();
                    self.header()?;
                    self.statement()?;
                    if self.peek() != "else" {
                        return Ok(());
                    }
                    self.pass();
                }
                "while" => {
                    self.pass();
                    self.header()?;
                }
                "switch" => {
                    self.pass();
                    self.header()?;
                    if self.peek() == "{" {
                        return self.block();
                    }
                    return Err("a switch without braces".to_owned());
                }
                "do" => {
                    self.pass();
                    self.statement()?;
                    if self.peek() != "while" {
                        return Err(self.unexpected("while"));
                    }
                    self.pass();
                    self.header()?;
                    return self.expect(";");
                }
                "for" => {
                    self.pass();
                    return self.scoped(Scope::new(), Self::for_statement);
                }
                "case" => {
                    self.pass();
                    self.case_value(at)?;
                    if matches!(self.peek(), "}") {
                        return Ok(());
                    }
                }
                "default" => {
                    self.pass();
                    self.expect(":")?;
                    if matches!(self.peek(), "}") {
                        return Ok(());
                    }
                }
                "return" => {
                    self.pass();
                    self.expression(&[";"])?;
                    return self.expect(";");
                }
                "goto" => {
                    if self.text(at + 1) == "*" {
                        // `goto *e;` reads as a call of something that has no name.
                        self.emit(at, "pg_goto (");
                        self.cursor += 2;
                        self.expression(&[";"])?;
                        self.emit(self.cursor, ")");
                        return self.expect(";");
                    }
                    self.pass();
                    self.pass_name()?;
                    return self.expect(";");
                }
                word if is_asm(word) && !self.is_name(at) => {
                    self.assembly()?;
                    return self.expect(";");
                }
                _ => {
                    self.wrapped(&[";"])?;
                    return self.expect(";");
                }
            }
        }
    }

    /// An expression in a place where the grammar would also accept a declaration: in parentheses, unless its second
    /// token rules a declaration out.
    fn wrapped(&mut self, stop: &[&str]) -> Scan<()> {
        let at = self.cursor;
        let plain = matches!(
            self.text(at + 1),
            "=" | "+="
                | "-="
                | "*="
                | "/="
                | "%="
                | "&="
                | "|="
                | "^="
                | "<<="
                | ">>="
                | "++"
                | "--"
                | "."
                | "->"
        );
        if stop.contains(&self.peek()) {
            return Ok(());
        }
        if !self.is_name(at) || plain {
            return self.expression(stop);
        }
        self.emit(at, "(");
        self.expression(stop)?;
        self.emit(self.cursor.saturating_sub(1), ")");
        Ok(())
    }

    /// The condition in parentheses of `if`, `while` and `switch`.
    fn header(&mut self) -> Scan<()> {
        self.expect("(")?;
        self.nested(|s| s.expression(&[")"]))?;
        self.expect(")")
    }

    fn for_statement(&mut self) -> Scan<()> {
        self.expect("(")?;
        if self.at_declaration() {
            self.declaration(false)?;
        } else {
            self.wrapped(&[";"])?;
            self.expect(";")?;
        }
        self.expression(&[";"])?;
        self.expect(";")?;
        self.expression(&[")"])?;
        self.expect(")")?;
        self.statement()
    }

    fn case_value(&mut self, case: usize) -> Scan<()> {
        let mut depth = 0usize;
        let mut range = false;
        for i in self.cursor..self.end {
            match self.text(i) {
                "(" | "[" | "{" => depth += 1,
                ")" | "]" | "}" => depth = depth.saturating_sub(1),
                ":" | ";" if depth == 0 => break,
                "..." if depth == 0 => range = true,
                _ => {}
            }
        }
        if range {
            self.emit(case, "pg_range (");
            self.expression(&["..."])?;
            self.emit(self.cursor, ",");
            self.cursor += 1;
            self.expression(&[":"])?;
            self.emit(self.cursor, ")");
        } else {
            self.expression(&[":"])?;
        }
        self.expect(":")
    }

    /// An asm statement or expression without its `;`. Neighbouring strings become one.
    fn assembly(&mut self) -> Scan<()> {
        self.emit(self.cursor, "asm");
        self.cursor += 1;
        while self.peek() != "(" {
            match self.peek() {
                "volatile" | "__volatile__" | "__volatile" => self.emit(self.cursor, "volatile"),
                "inline" | "__inline" | "__inline__" => self.emit(self.cursor, "inline"),
                "goto" => self.emit(self.cursor, "goto"),
                _ => return Err(self.unexpected("(")),
            }
            self.cursor += 1;
        }
        self.pass();
        while self.peek() != ")" {
            match self.peek() {
                "" => return Err(self.unexpected(")")),
                "(" => {
                    self.pass();
                    self.nested(|s| s.expression(&[")"]))?;
                    self.expect(")")?;
                }
                "::" => return Err(self.unexpected(":")),
                _ => {
                    self.pass();
                    if self.kind(self.cursor - 1) == Some(TokenKind::String) {
                        while self.kind(self.cursor) == Some(TokenKind::String) {
                            self.cursor += 1;
                        }
                    }
                }
            }
        }
        self.expect(")")
    }

    // ---- Expressions.

    fn initialiser(&mut self) -> Scan<()> {
        if self.peek() == "{" { self.braces() } else { self.expression(&[",", ";"]) }
    }

    fn braces(&mut self) -> Scan<()> {
        self.nested(|s| {
            s.pass();
            while s.peek() != "}" {
                match s.peek() {
                    "" => return Err(s.unexpected("}")),
                    "{" => s.braces()?,
                    "," => s.pass(),
                    "." => {
                        while s.peek() == "." || s.peek() == "[" {
                            s.designator()?;
                        }
                    }
                    "[" => s.designator()?,
                    "=" => s.pass(),
                    _ if s.kind(s.cursor) == Some(TokenKind::Identifier) && s.text(s.cursor + 1) == ":" => {
                        s.pass_name()?;
                        s.pass();
                    }
                    _ => s.expression(&[",", "}"])?,
                }
            }
            s.pass();
            Ok(())
        })
    }

    fn designator(&mut self) -> Scan<()> {
        self.pass();
        if self.text(self.cursor - 1) == "." {
            return self.pass_name().map(|_| ());
        }
        self.expression(&["]", "..."])?;
        if self.peek() == "..." {
            self.pass();
            self.expression(&["]"])?;
        }
        self.expect("]")
    }

    /// An expression up to one of `stop` outside all brackets, which is not passed.
    fn expression(&mut self, stop: &[&str]) -> Scan<()> {
        // Colons of `?:` that are still to come.
        let mut colons = 0usize;
        // Whether an operand has just ended, so that `(` means a call.
        let mut operand = false;
        loop {
            let (at, word) = (self.cursor, self.peek());
            if stop.contains(&word) && !(word == ":" && colons > 0) {
                return Ok(());
            }
            match word {
                "" | ")" | "]" | "}" | ";" | "{" => return Err(self.unexpected("the rest of an expression")),
                ":" => {
                    colons =
                        colons.checked_sub(1).ok_or_else(|| self.unexpected("the rest of an expression"))?;
                    self.pass();
                    operand = false;
                }
                "?" => {
                    colons += 1;
                    self.pass();
                    operand = false;
                }
                "(" => {
                    if operand {
                        self.pass();
                        if self.peek() != ")" {
                            self.nested(|s| s.expression(&[")"]))?;
                        }
                        self.expect(")")?;
                    } else {
                        operand = self.nested(Self::parenthesised)?;
                    }
                }
                "[" => {
                    self.pass();
                    self.nested(|s| s.expression(&["]"]))?;
                    self.expect("]")?;
                    operand = true;
                }
                "." | "->" => {
                    self.pass();
                    self.pass_name()?;
                    operand = true;
                }
                "&&" if !operand => {
                    self.emit(at, "pg_label (0)");
                    self.cursor += 1;
                    if self.kind(self.cursor) != Some(TokenKind::Identifier) {
                        return Err(self.unexpected("a label"));
                    }
                    self.cursor += 1;
                    operand = true;
                }
                "++" | "--" => self.pass(),
                "sizeof" => {
                    self.pass();
                    operand = false;
                    if self.peek() == "(" && self.starts_type(self.cursor + 1) {
                        operand = true;
                        self.pass();
                        self.nested(Self::type_name)?;
                        self.expect(")")?;
                        if self.peek() == "{" {
                            self.braces()?;
                        }
                    }
                }
                "__extension__" => self.cursor += 1,
                "_Generic" => {
                    self.nested(Self::generic)?;
                    operand = true;
                }
                _ if is_alignof(word) && !self.is_name(at) => {
                    self.alignof()?;
                    operand = true;
                }
                _ if is_asm(word) && !self.is_name(at) => return Err("asm inside an expression".to_owned()),
                "__real__" | "__imag__" | "__real" | "__imag" => return Err("complex arithmetic".to_owned()),
                "__builtin_va_arg"
                | "__builtin_offsetof"
                | "__builtin_types_compatible_p"
                | "__builtin_convertvector"
                    if self.text(at + 1) == "(" =>
                {
                    self.nested(Self::builtin_on_types)?;
                    operand = true;
                }
                _ if self.is_typedef_name(at) => {
                    return Err(format!("the type name `{word}` in an expression"));
                }
                _ if self.is_name(at) => {
                    self.pass();
                    operand = true;
                }
                _ => match self.kind(at) {
                    Some(TokenKind::Identifier) => return Err(format!("`{word}` in an expression")),
                    Some(TokenKind::Unknown) | None => return Err("bytes that are no token of C".to_owned()),
                    Some(TokenKind::Punctuator) => {
                        self.pass();
                        operand = false;
                    }
                    Some(_) => {
                        self.pass();
                        operand = true;
                    }
                },
            }
        }
    }

    /// What starts with `(` where an operand is due: a cast (then the answer is false, since the operand is still to
    /// come), a compound literal, a statement expression, or an expression in parentheses.
    fn parenthesised(&mut self) -> Scan<bool> {
        let open = self.cursor;
        if self.starts_type(open + 1) {
            self.pass();
            self.type_name()?;
            self.expect(")")?;
            if self.peek() != "{" {
                return Ok(false);
            }
            self.braces()?;
            return Ok(true);
        }
        if self.text(open + 1) == "{"
            || (self.text(open + 1) == "__extension__" && self.text(open + 2) == "{")
        {
            self.pass();
            if self.peek() == "__extension__" {
                self.cursor += 1;
            }
            self.block()?;
            self.expect(")")?;
            return Ok(true);
        }
        // `(a[i])` and `(f(x))` could be types to the grammar; a postfix expression needs no parentheses.
        let bare = self.postfix_only(open + 1);
        if bare {
            self.cursor += 1
        } else {
            self.pass()
        }
        self.expression(&[")"])?;
        if bare {
            self.cursor += 1
        } else {
            self.expect(")")?
        }
        Ok(true)
    }

    /// Whether a name with nothing but calls and subscripts behind it stands from `at` to a `)`.
    fn postfix_only(&self, at: usize) -> bool {
        if !self.is_name(at) || self.text(at).starts_with("__builtin_") {
            return false;
        }
        let mut i = at + 1;
        while matches!(self.text(i), "(" | "[") {
            match self.past_group(i) {
                Ok(next) => i = next,
                Err(_) => return false,
            }
        }
        self.text(i) == ")"
    }

    fn alignof(&mut self) -> Scan<()> {
        let at = self.cursor;
        self.cursor += 1;
        self.emit(at, "pg_alignof");
        self.emit(at, "(");
        if self.peek() != "(" {
            return Err("the alignment of an expression without parentheses".to_owned());
        }
        self.emit(at, "sizeof");
        if self.starts_type(self.cursor + 1) {
            self.pass();
            self.nested(Self::type_name)?;
            self.expect(")")?;
        } else {
            self.nested(Self::parenthesised)?;
        }
        self.emit(at, ")");
        Ok(())
    }

    fn builtin_on_types(&mut self) -> Scan<()> {
        let builtin = self.peek();
        self.pass();
        self.pass();
        let type_argument = |s: &mut Self| -> Scan<()> {
            let at = s.cursor;
            s.emit(at, "sizeof (");
            s.type_name()?;
            s.emit(at, ")");
            Ok(())
        };
        match builtin {
            "__builtin_va_arg" | "__builtin_convertvector" => {
                self.expression(&[","])?;
                self.pass();
                type_argument(self)?;
            }
            "__builtin_offsetof" => {
                type_argument(self)?;
                self.expect(",")?;
                let at = self.cursor;
                self.emit(at, "pg_root .");
                self.pass_name()?;
                self.expression(&[")"])?;
            }
            _ => {
                type_argument(self)?;
                self.expect(",")?;
                type_argument(self)?;
            }
        }
        self.expect(")")
    }

    fn generic(&mut self) -> Scan<()> {
        self.emit(self.cursor, "_Generic");
        self.cursor += 1;
        self.expect("(")?;
        if self.starts_type(self.cursor) {
            return Err("_Generic on a type".to_owned());
        }
        self.expression(&[","])?;
        while self.peek() == "," {
            self.pass();
            if self.peek() == "default" {
                self.emit(self.cursor, "size_t");
                self.cursor += 1;
            } else {
                self.type_name()?;
            }
            self.expect(":")?;
            self.expression(&[",", ")"])?;
        }
        self.expect(")")
    }
}

/// Whether the grammar reads this number in one piece: digits, and suffixes of C11.
fn is_plain_number(text: &str) -> bool {
    let body = text.trim_end_matches(['u', 'U', 'l', 'L']);
    let hexadecimal = body.strip_prefix("0x").or_else(|| body.strip_prefix("0X"));
    match hexadecimal {
        Some(digits) => !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_hexdigit()),
        None => !body.is_empty() && body.bytes().all(|b| b.is_ascii_digit()),
    }
}

#[cfg(test)]
mod tests {
    use super::super::lexer::lex;
    use super::*;

    fn accepted(text: &str) -> Vec<ExternalDeclaration> {
        let tokens = lex(text);
        let all = view(&tokens);
        for declaration in &all {
            if let DeclKind::Refused(reason) = &declaration.kind {
                panic!("{reason} in {text}");
            }
            if let Err(problem) = parse_checked(declaration) {
                let at = declaration.map.source_token(problem.view_byte).unwrap_or(0);
                panic!("{} at `{}` in {text}\n{}", problem.reason, tokens.spelling(at), declaration.view);
            }
        }
        all
    }

    fn shape(text: &str) -> String {
        let all = accepted(text);
        parse(&all.last().unwrap().view).unwrap().root_node().to_sexp()
    }

    #[test]
    fn typedef_names_decide() {
        assert!(shape("typedef int T; int f(int x) { return (T)(x); }").contains("cast_expression"));
        assert!(shape("typedef int T; int f(int x) { return (T)-x; }").contains("cast_expression"));
        assert!(shape("int T; int f(int x) { return (T)-x; }").contains("binary_expression"));
        assert!(shape("int T(int); int f(int x) { return (T)(x); }").contains("call_expression"));
        assert!(shape("typedef int T; void f(void) { T (x); x = 1; }").contains("parenthesized_declarator"));
        assert!(shape("typedef int T; int f(int T) { return T * T; }").contains("binary_expression"));
        assert!(shape("typedef int T; void f(int x) { T * y; }").contains("pointer_declarator"));
        assert!(shape("int T, y; void f(int x) { T * y; }").contains("binary_expression"));
        assert!(
            shape("typedef int T; void f(void) { { int T = 2; T * T; } T * x; }")
                .contains("pointer_declarator")
        );
        assert!(shape("typedef int T; int f(int x) { for (int T = 0; T < x; T++) x += (T) * x; return sizeof(T) * 2; }")
            .contains("right: (number_literal)"));
        assert!(
            shape("int f(int *a, int i, int b) { return (a[i]) * b + (i * (b)) - b; }")
                .contains("binary_expression")
        );
    }

    #[test]
    fn snippets() {
        for text in [
            "typedef struct S S; struct S { S *S; int T; }; int f(S *p) { return p->T + p->S->T; }",
            "typedef int T; struct U { T T; unsigned : 3; T : 4; int a : 2, : 1, b; }; unsigned f(void) { unsigned T; T = 3; return T; }",
            "typedef int (*F)(int, char *); F table[3]; F g(F), *h; int (*(*k)(int a))(F);",
            "typedef unsigned char bool; bool size_t; int f(void) { return size_t + 1; }",
            "typedef enum { false, true } bool; bool f(void) { return true; }",
            "int f(a, b) int a; char *b; { return a + *b; }",
            "static __inline__ __attribute__((always_inline)) int f(int x) { return x; }",
            "extern int g(int) __asm__(\"h\") __attribute__((nothrow, pure)); int x __attribute__((aligned(16))) = 3, y;",
            "struct __attribute__((packed)) P { char a; int b; } __attribute__((aligned(4))) p;",
            "typedef int T; int f(__builtin_va_list ap) { return *__builtin_va_arg(ap, T *) + __builtin_va_arg(ap, int); }",
            "struct S { int a[4]; }; unsigned long f(void) { return __builtin_offsetof(struct S, a[2]); }",
            "double _Complex c; _Complex float d; __int128 big; unsigned __int128 ubig; _Float128 q; long double l; int long unsigned m;",
            "_Atomic(int) a; _Atomic int b; _Alignas(16) char c[3]; _Alignas(double) char d; _Thread_local int t; static __thread int u;",
            "_Static_assert(1, \"x\"); struct S { int a; _Static_assert(1, \"y\"); int b; }; void f(void) { _Static_assert(1, \"z\"); }",
            "int f(int x) { switch (x) { case 1 ... 3: return 1; case 4: { int y; } default: ; } return _Generic(x, int: 1, char *: 2, default: 3); }",
            "int f(int x) { return ({ int y = x; y * y; }) + (x ?: 2) + __extension__ 3 + __alignof__(x) + _Alignof(int); }",
            "int f(void *p) { void *q = p ? p : &&x; static void *t[] = { &&x, &&y + 0 }; goto *q; x: goto *(t[1]); y: return 1; }",
            "void f(int *p) { __asm__ __volatile__(\"a\" \"b\" : \"=r\"(*p), [q] \"+m\"(p[1]) : : \"memory\", \"cc\"); l: __attribute__((unused)); __label__ z; }",
            "__typeof__(1 + 2) x; __auto_type y = 3; int f(void) { typeof(x) z = 2; return z; }",
            "int a[] = { [0] = 1, [2 ... 4] = 5 }; struct S { int x, y; } s = { .x = 1, y: 2 }, t = (struct S){ 1, 2 };",
            "typedef int T; int f(void) { T: return 1; } int g(const T, register T, T (*)(T), T[static 3]);",
            "void f(int n, int a[n][n], int b[const *]) { a[n][1] = 2; f(n, a, 0); if (n) ; else if (n > 1) n--; else { } }",
            "struct S; union U; enum E { A = 1, B, }; static struct V { int x; } ; enum E e; extern struct S *sp; const struct W { int q; };",
            "char *f(void) { const char *s = \"a\" \"b\" L\"c\"; return (char *)s + sizeof \"x\" + 'x' + 1.5e3f + 0x1p3 + 10ull + sizeof(char){0}; }",
            "void *p; int f(void) { return !*(int *)p && ((int (*)(void))p)() + (*(int (*)[3])p)[1] && ~-+1 - -1; }",
            "typedef int T; void f(void) { int i = sizeof(T), T = 3; T++; enum { q = sizeof(int) }; typedef char T2; T2 c = (T2)i; (void)c; }",
            "void f(int i) { do i--; while (i); for (;;) { if (i) break; else continue; } for (i; i; i) ; for (f(i), i = 0; ; ) goto e; e: ; }",
            "int main() { return 0; } main2() { return 1; } static x; [[nodiscard]] int g(void);",
            "[[gnu::noinline]] static int f(int a) { [[maybe_unused]] int b = a; switch (b) { case 1: a++; [[fallthrough]]; case 2: break; } return b; }",
            "void (*signal(int sig, void (*handler)(int)))(int); int printf(const char *restrict, ...); ;",
            "# 1 \"a.c\"\nint f(\n# 3 \"a.c\"\nint x)\n#pragma GCC ivdep\n{ return x\n# 9 \"b.c\"\n; }",
        ] {
            accepted(text);
        }
    }

    #[test]
    fn refused_alone() {
        for (text, reason) in [
            ("int a; int f(void) { int g(void) { return 1; } return g(); } int b;", "nested function"),
            ("int a; int f(void) { return 1 ` 2; } int b;", "no token"),
        ] {
            let all = view(&lex(text));
            assert_eq!(all.len(), 3, "{text}");
            assert!(matches!(&all[1].kind, DeclKind::Refused(r) if r.contains(reason)), "{:?}", all[1].kind);
            assert_eq!(all[2].kind, DeclKind::Declaration);
        }
        for text in [
            "{",
            "}",
            "(",
            "int f(",
            "typedef",
            "struct {",
            "int x = ",
            "a b c",
            "__attribute__",
            "_Alignas",
            "[[",
            ")",
            "case",
        ] {
            view(&lex(text));
        }
        view(&lex(&"(".repeat(50_000)));
        view(&lex(&format!("int x = {}1{};", "(".repeat(5000), ")".repeat(5000))));
    }

    #[test]
    fn attributes_are_kept() {
        let text = "#pragma pack(push, 2)\nstruct __attribute__((packed)) S { int a; int b __attribute__((aligned(8))); };\n#pragma pack(pop)\n\
                    struct T { int x; }; int v __attribute__((weak)), w; typedef float V __attribute__((vector_size(16)));";
        let all = accepted(text);
        let names = |d: &ExternalDeclaration| {
            d.attributes.iter().map(|a| (a.name.clone(), a.text.clone())).collect::<Vec<_>>()
        };
        let pair = |a: &str, b: &str| (a.to_owned(), b.to_owned());
        assert_eq!(names(&all[0]), [pair("packed", ""), pair("pragma_pack", "2"), pair("aligned", "8")]);
        assert!(names(&all[1]).is_empty());
        let tokens = lex(text);
        let v = (0..tokens.len()).find(|&i| tokens.spelling(i) == "v").unwrap();
        assert_eq!(all[2].attributes_of(AttributeTarget::Declarator(v)).count(), 1);
        assert_eq!(names(&all[3]), [pair("vector_size", "16")]);
    }

    #[test]
    fn map_leads_back() {
        let text = "typedef int T; T f(T x) { return (T)x; }";
        let tokens = lex(text);
        let all = accepted(text);
        let d = &all[1];
        let tree = parse(&d.view).unwrap();
        let body = tree.root_node().child(0).unwrap().child_by_field_name("body").unwrap();
        let span = d.map.source_span(&tokens, body.byte_range());
        assert_eq!(&text[span.start as usize..span.end as usize], "{ return (T)x; }");
        let base = tree.root_node().child(0).unwrap().child_by_field_name("type").unwrap();
        let token = d.map.source_token(base.start_byte()).unwrap();
        assert_eq!((tokens.spelling(token), &d.special.types[&token]), ("T", &BaseType::Typedef));
    }

    #[test]
    fn system_headers() {
        let headers = ["stdio.h", "stdlib.h", "string.h", "math.h", "stdint.h", "complex.h", "pthread.h"];
        let source: String = headers.iter().map(|h| format!("#include <{h}>\n")).collect();
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("headers.c");
        std::fs::write(&path, source).unwrap();
        let Ok(output) = std::process::Command::new("cc").args(["-E", "-O2"]).arg(&path).output() else {
            return;
        };
        let text = String::from_utf8_lossy(&output.stdout);
        let all = accepted(&text);
        assert!(all.len() > 500, "{}", all.len());
    }
}
