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
//! - an unnamed bit-field is named [`UNNAMED`], which maps to the colon;
//! - a long list of constants at file scope is a pair of braces, and what its items are is in [`Special::tables`].
//!
//! A reader takes a node, asks [`ViewMap::source_token`] for the token at the node's first byte, and reads the original
//! spelling there.
//!
//! What this is not: it checks no constraint of C and computes no type. Where the scan doesn't understand a declaration,
//! that declaration is [`DeclKind::Refused`], alone; and [`parse_checked`] refuses a tree in which tree-sitter took an
//! ordinary identifier for a type after all, so a misreading can't pass silently.

mod bounds;
mod declarations;
mod expressions;
mod statements;
mod tables;
#[cfg(test)]
mod tests;
mod words;

use std::collections::{HashMap, HashSet};
use std::ops::Range;

use super::hir::{FloatKind, IntKind, Span};
use super::lexer::{TokenKind, Tokens};
use bounds::end_of_external;
use words::*;

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
    /// Long lists of constants at file scope, which the view shows as empty braces, keyed by the token of the opening one.
    pub tables: HashMap<usize, Table>,
}

/// One item of a list of constants, as far as it says how many elements it is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum TableItem {
    /// A list in braces.
    Braced,
    /// A string literal.
    Text,
    /// A scalar.
    Scalar,
}

/// A list of constants that names nothing: what of it can matter to anybody else.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Table {
    /// Its items; none if one has a designator.
    pub items: Option<Vec<TableItem>>,
    /// How many tokens it is.
    pub length: usize,
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
}
