//! Lowering: from syntax trees to the typed tree of one translation unit.
//!
//! [`lower_unit`] is the front end's one entry point. It never fails: a function that can't be understood completely is
//! listed in [`TranslationUnit::refused`] with the reason, and a file-scope declaration that can't be read makes the
//! names that it declares unknown, so that functions which use them are refused too. Nothing is guessed.
//!
//! One module for each kind of thing in C: `declarators` and `records` (types), `declarations`, `initialisers`,
//! `statements`, `expressions` with `operators`, `conversions`, `calls` and `builtins`. `names` has the scopes, `source`
//! leads from tree nodes to tokens, and `shape` checks that an expression's tree obeys C's grammar. Not here: anything
//! that an optimiser or analysis would want to know beyond what C itself says.

mod attributes;
mod builtins;
mod calls;
mod conversions;
mod declarations;
mod declarators;
mod expressions;
mod initialisers;
mod names;
mod operators;
mod records;
mod rows;
mod shape;
mod source;
mod statements;
#[cfg(test)]
mod tests;
#[cfg(test)]
mod verify;

use std::collections::{HashMap, HashSet};
use std::ops::Range;

use tree_sitter::Node;

use self::names::{Entity, Scope, Tag};
use self::source::{Source, named};
use super::dialect::Dialect;
use super::hir::*;
use super::lexer::{TokenKind, Tokens};
use super::view::{DeclKind, ExternalDeclaration};
use super::{lexer, pragma, view};

/// Why something isn't understood.
#[derive(Clone, Debug)]
pub(super) struct Failure {
    reason: String,
    /// The line it stands on, where known.
    line: Option<u32>,
}

impl From<&str> for Failure {
    fn from(reason: &str) -> Self {
        Failure { reason: reason.to_owned(), line: None }
    }
}

impl From<String> for Failure {
    fn from(reason: String) -> Self {
        Failure { reason, line: None }
    }
}

impl std::fmt::Display for Failure {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.line {
            Some(line) => write!(f, "{} (line {line})", self.reason),
            None => f.write_str(&self.reason),
        }
    }
}

/// A result of lowering one thing.
type Lowered<T> = Result<T, Failure>;

/// Nesting beyond which a function is refused: everybody after us walks the tree recursively.
const DEPTH_LIMIT: u32 = 400;
/// Stack for walking that deep in any build.
const STACK: usize = 256 << 20;

/// What the function that is being read has to say to its statements.
struct FunctionContext {
    name: String,
    result: QualType,
    /// The type of the controlling expression of each switch around the statement.
    switches: Vec<IntKind>,
    /// The labels that were read.
    labels: HashSet<String>,
}

/// What is known of a name with linkage beyond its variable.
#[derive(Clone, Copy, Default)]
struct Linked {
    defined: bool,
    /// Weak, an alias, or under another name for the assembler.
    replaceable: bool,
    /// Also there as a function that computes vectors of results.
    has_vector_form: bool,
    /// Some declaration of it has an attribute that changes how its code is generated.
    fixed: bool,
    /// Not visible outside.
    internal: bool,
    /// Kept, or called, although nobody names it.
    kept: bool,
    /// Known only because it was called.
    implicit: bool,
}

struct Lowering<'a> {
    tokens: &'a Tokens,
    dialect: &'a Dialect,
    source: Source<'a>,
    unit: TranslationUnit,
    scopes: Vec<Scope>,
    /// Names with linkage, whatever scope they are declared in.
    linkage: HashMap<String, VarId>,
    linked: HashMap<VarId, Linked>,
    /// Records without a layout, and why.
    without_layout: HashMap<RecordId, String>,
    /// Records with the attribute `transparent_union`.
    transparent: HashSet<RecordId>,
    /// For each allocation call the variable that was called.
    allocation_callees: Vec<VarId>,
    /// What the braces of compound literals give, while these are objects.
    literals: HashMap<PlaceId, Vec<(u64, Expr)>>,
    function: Option<FunctionContext>,
    places: u32,
    loops: u32,
    depth: u32,
}

/// The typed tree of a macro-expanded text.
pub fn lower_unit(expanded: &str, dialect: &Dialect) -> TranslationUnit {
    let whole = || {
        let tokens = lexer::lex(expanded);
        let declarations = view::view(&tokens);
        lower(&tokens, &declarations, dialect)
    };
    std::thread::scope(|scope| {
        let deep = std::thread::Builder::new().stack_size(STACK).spawn_scoped(scope, whole);
        match deep.map(|thread| thread.join()) {
            Ok(Ok(unit)) => unit,
            Ok(Err(panic)) => std::panic::resume_unwind(panic),
            // No thread to be had: then nothing is touched.
            Err(_) => TranslationUnit::default(),
        }
    })
}

fn lower(tokens: &Tokens, declarations: &[ExternalDeclaration], dialect: &Dialect) -> TranslationUnit {
    let Some(first) = declarations.first() else {
        return TranslationUnit {
            files: tokens.files.clone(),
            main_file: tokens.main_file,
            pragmas: pragma::find(tokens),
            bound_keywords: pragma::bound_keywords(tokens),
            ..TranslationUnit::default()
        };
    };
    let mut lowering = Lowering {
        tokens,
        dialect,
        source: Source::new(tokens, first),
        unit: TranslationUnit {
            files: tokens.files.clone(),
            main_file: tokens.main_file,
            pragmas: pragma::find(tokens),
            bound_keywords: pragma::bound_keywords(tokens),
            ..TranslationUnit::default()
        },
        scopes: vec![Scope::default()],
        linkage: HashMap::new(),
        linked: HashMap::new(),
        without_layout: HashMap::new(),
        transparent: HashSet::new(),
        allocation_callees: Vec::new(),
        literals: HashMap::new(),
        function: None,
        places: 0,
        loops: 0,
        depth: 0,
    };
    let mut pragmas = Pragmas { tokens, next: 0, stack: Vec::new(), now: None, is_other_endian: false };
    let mentions = mentions(tokens);
    for declaration in declarations {
        lowering.source = Source::new(tokens, declaration);
        lowering.depth = 0;
        lowering.unit.in_tables +=
            declaration.special.tables.values().map(|table| table.length).sum::<usize>();
        lowering.unit.has_may_alias |= declaration.attributes.iter().any(|a| a.name == "may_alias");
        let forbidding = pragmas.upto(declaration.tokens.end);
        if !lowering.is_idle(declaration, &mentions) {
            lowering.external(declaration, forbidding);
        }
    }
    lowering.finish(&mentions)
}

/// Pragmas that change what the arithmetic of the functions behind them means.
struct Pragmas<'a> {
    tokens: &'a Tokens,
    next: usize,
    stack: Vec<Option<&'static str>>,
    now: Option<&'static str>,
    is_other_endian: bool,
}

impl Pragmas<'_> {
    /// Why a function that ends before token `end` can't be touched, if so.
    fn upto(&mut self, end: usize) -> Option<&'static str> {
        // What stands directly behind a function has been seen with it, and holds for the next one from its first token on.
        let mut inside = self.now;
        while let Some(directive) = self.tokens.directives.get(self.next).filter(|d| d.before <= end) {
            self.next += 1;
            let text = self.tokens.directive_text(directive);
            let mut words = text.trim_start_matches('#').split(|c: char| !(c.is_alphanumeric() || c == '_'));
            let mut word = || words.by_ref().find(|word| !word.is_empty()).unwrap_or("");
            if word() != "pragma" {
                continue;
            }
            match (word(), word(), word()) {
                ("GCC", "push_options", _) => self.stack.push(self.now),
                ("GCC", "pop_options", _) => self.now = self.stack.pop().flatten(),
                ("GCC", "reset_options", _) => self.now = None,
                ("GCC", "optimize" | "target", _) => self.now = Some("`#pragma GCC optimize` or `target`"),
                ("STDC", "FENV_ACCESS", "ON") => self.now = Some("`#pragma STDC FENV_ACCESS`"),
                ("STDC", "FLOAT_CONST_DECIMAL64", "ON") => {
                    self.now = Some("`#pragma STDC FLOAT_CONST_DECIMAL64`");
                }
                // What was declared under it keeps its order.
                ("scalar_storage_order", _, _) => self.is_other_endian = true,
                ("STDC", "FENV_ROUND", _) => self.now = Some("`#pragma STDC FENV_ROUND`"),
                _ => {}
            }
            inside = inside.or(self.now);
        }
        let order = self.is_other_endian.then_some("`#pragma scalar_storage_order`");
        self.now.or(inside).or(order)
    }
}

impl<'a> Lowering<'a> {
    fn types(&self) -> &Types {
        &self.unit.types
    }

    /// One external declaration.
    fn external(&mut self, declaration: &'a ExternalDeclaration, forbidding: Option<&str>) {
        match &declaration.kind {
            DeclKind::Empty => {}
            DeclKind::Refused(reason) => self.refuse(declaration, reason.clone()),
            DeclKind::Declaration => {
                if let Err(failure) = self.external_declaration(declaration) {
                    self.refuse(declaration, failure.reason);
                }
            }
            DeclKind::Function => {
                let allocations = self.unit.allocations.len();
                let loops = self.loops;
                let result = self.external_function(declaration, forbidding);
                self.scopes.truncate(1);
                self.function = None;
                if let Err(failure) = result {
                    self.unit.allocations.truncate(allocations);
                    self.allocation_callees.truncate(allocations);
                    self.loops = loops;
                    self.refuse(declaration, failure.to_string());
                }
            }
        }
    }

    /// Whether a header's declaration only says something of one name that nobody mentions again, as most do.
    fn is_idle(&self, declaration: &ExternalDeclaration, mentions: &HashMap<&str, u32>) -> bool {
        let Some(name) = declaration.name else { return false };
        if declaration.kind != DeclKind::Declaration
            || self.tokens.span(name).file == self.tokens.main_file
            || mentions.get(self.tokens.spelling(name)) != Some(&1)
            || !declaration.special.operands.is_empty()
            || declaration.attributes.iter().any(|a| !IDLE_ATTRIBUTES.contains(&a.name.as_str()))
        {
            return false;
        }
        let mut depth = 0;
        declaration.tokens.clone().all(|token| match self.tokens.normalised(token) {
            "(" | "[" => {
                depth += 1;
                true
            }
            ")" | "]" => {
                depth -= 1;
                true
            }
            "," => depth > 0,
            // A tag that isn't known yet would be declared here.
            "struct" | "union" | "enum" => self.lookup_tag(self.tokens.spelling(token + 1)).is_some(),
            "{" | "=" => false,
            _ => true,
        })
    }

    fn external_declaration(&mut self, declaration: &'a ExternalDeclaration) -> Lowered<()> {
        let tree = view::parse_checked(declaration).map_err(|problem| problem.reason)?;
        for node in named(tree.root_node()) {
            self.declaration(node)?;
        }
        Ok(())
    }

    fn external_function(
        &mut self,
        declaration: &'a ExternalDeclaration,
        forbidding: Option<&str>,
    ) -> Lowered<()> {
        match view::parse_checked(declaration) {
            Ok(tree) => {
                let nodes = named(tree.root_node());
                let [node] = nodes.as_slice() else { return Err("not one function".into()) };
                if node.kind() != "function_definition" {
                    return Err(format!("a function read as {}", node.kind()).into());
                }
                self.function_definition(*node, forbidding)
            }
            Err(problem) => {
                // What it is called with can often be told all the same.
                if let Some(tree) = view::parse(&declaration.view)
                    && let Some(node) = tree.root_node().child(0)
                    && node.kind() == "function_definition"
                {
                    // The reason is the problem above either way.
                    let _ = self.function_name(node);
                    self.scopes.truncate(1);
                }
                let line = declaration.map.source_token(problem.view_byte).map(|t| self.tokens.span(t).line);
                Err(Failure { reason: problem.reason, line })
            }
        }
    }

    /// Remembers what can be said of a declaration that wasn't understood.
    fn refuse(&mut self, declaration: &ExternalDeclaration, reason: String) {
        let is_function = matches!(declaration.kind, DeclKind::Function)
            || self.tokens.normalised(declaration.tokens.end.saturating_sub(1)) == "}";
        self.mark_used(declaration.tokens.clone());
        let mut declaring = declaration.tokens.clone();
        if is_function {
            // What stands in the body is declared nowhere else.
            let opens = |t: &usize| self.tokens.normalised(*t) == "{" && self.tokens.normalised(t - 1) == ")";
            declaring.end = declaring.clone().skip(1).find(opens).unwrap_or(declaring.end);
        }
        self.forget(declaring, &reason);
        let span = match declaration.tokens.clone() {
            range if range.is_empty() => Span::default(),
            range => self.tokens.span_of(range.start, range.end - 1),
        };
        if !is_function {
            return;
        }
        let name = declaration.name.map_or("", |token| self.tokens.spelling(token)).to_owned();
        // It is defined here all the same.
        if let Some(id) = self.linkage.get(&name).copied() {
            self.linked.entry(id).or_default().defined = true;
        }
        let loops = loop_keywords(self.tokens, declaration.tokens.clone());
        self.unit.refused.push(Refused { name, reason, span, loops });
    }

    /// Makes the new names among some tokens unknown.
    fn forget(&mut self, range: Range<usize>, reason: &str) {
        for token in range {
            let name = self.tokens.spelling(token);
            if self.tokens.tokens.get(token).is_none_or(|t| t.kind != TokenKind::Identifier) {
                continue;
            }
            let before = if token == 0 { "" } else { self.tokens.spelling(token - 1) };
            if matches!(before, "struct" | "union" | "enum") {
                let complete = match self.lookup_tag(name) {
                    Some(Tag::Record(id)) => self.types().record(id).fields.is_some(),
                    Some(Tag::Enum(ty)) => ty.is_some(),
                    Some(Tag::Unknown) | None => false,
                };
                if !complete {
                    self.declare_tag(name, Tag::Unknown);
                }
            } else if self.lookup(name).is_none() {
                self.declare(name, Entity::Unknown(reason.to_owned()));
            }
        }
    }

    /// Text that isn't lowered may take the address of every variable that it names.
    fn mark_used(&mut self, range: Range<usize>) {
        for token in range {
            if let Some(Entity::Variable(id)) = self.lookup(self.tokens.spelling(token)) {
                let id = *id;
                if let Some(variable) = self.unit.variables.get_mut(id.0 as usize) {
                    variable.address_taken = true;
                    self.unit.unseen.insert(id);
                }
            }
        }
    }

    /// The unit, once everything has been read.
    fn finish(mut self, mentions: &HashMap<&str, u32>) -> TranslationUnit {
        let renamed = renamed_by_pragmas(self.tokens);
        let written = words_of_strings(self.tokens);
        for (id, linked) in &mut self.linked {
            if let Some(variable) = self.unit.variables.get_mut(id.0 as usize) {
                linked.replaceable |= renamed.contains(&variable.name);
                if linked.has_vector_form {
                    if !linked.replaceable && !linked.defined {
                        self.unit.with_vector_forms.insert(*id);
                    }
                    // What a caller gets is not what the function of this name would give.
                    linked.replaceable = true;
                }
                variable.is_extern = linked.replaceable || !linked.defined;
                variable.is_internal =
                    linked.internal && !variable.is_extern && variable.storage == Storage::Global;
                if !variable.is_internal {
                    self.unit.initial.remove(id);
                } else if let Some(often) = mentions.get(variable.name.as_str())
                    // As an alias, or in an `asm`.
                    && !written.contains(variable.name.as_str())
                {
                    self.unit.mentions.insert(*id, *often);
                }
            }
            if linked.replaceable {
                self.unit.replaceable.insert(*id);
            }
        }
        for function in &mut self.unit.functions {
            let linked = self.linked.get(&function.var).copied().unwrap_or_default();
            function.is_static = linked.internal;
            let name = self.unit.variables[function.var.0 as usize].name.as_str();
            function.is_unused = linked.internal
                && !linked.kept
                && mentions.get(name) == Some(&1)
                && !renamed.contains(name)
                && !written.contains(name);
            if linked.fixed && function.fixed.is_none() {
                function.fixed = Some("an attribute for code generation on another declaration".to_owned());
            }
        }
        (self.unit.n_places, self.unit.n_loops) = (self.places, self.loops);
        // Calls of an allocation function count if it is the C library's.
        let genuine = |id: &VarId| {
            let linked = self.linked.get(id).copied().unwrap_or_default();
            !linked.defined && !linked.replaceable && !linked.internal && !linked.implicit
        };
        let mut callees = self.allocation_callees.iter();
        self.unit.allocations.retain(|_| callees.next().is_some_and(&genuine));
        self.unit
    }

    // ---- Small things that everybody needs.

    fn place(&mut self, kind: PlaceKind, ty: QualType, span: Span) -> Place {
        self.places += 1;
        Place { id: PlaceId(self.places - 1), kind, ty, span }
    }

    /// Runs `body` one level deeper.
    fn nested<T>(&mut self, body: impl FnOnce(&mut Self) -> Lowered<T>) -> Lowered<T> {
        if self.depth >= DEPTH_LIMIT {
            return Err("nested too deeply".into());
        }
        self.depth += 1;
        let result = body(self);
        self.depth -= 1;
        result
    }

    /// The tokens of a node, first to last.
    fn token_range(&self, node: Node) -> Range<usize> {
        let span = self.source.span(node);
        let tokens = &self.tokens.tokens;
        let first = tokens.partition_point(|t| t.start < span.start);
        first..tokens.partition_point(|t| t.start < span.end)
    }

    /// Adds the line of `node` to a failure that has none.
    fn located<T>(&self, result: Lowered<T>, node: Node) -> Lowered<T> {
        result.map_err(|failure| match failure.line {
            Some(_) => failure,
            None => Failure { line: self.source.token(node).map(|t| self.tokens.span(t).line), ..failure },
        })
    }
}

/// Attributes that say something of the declared function's calls, or nothing that lowering asks for.
const IDLE_ATTRIBUTES: [&str; 21] = [
    "access",
    "alloc_align",
    "alloc_size",
    "cold",
    "const",
    "dealloc",
    "deprecated",
    "format",
    "format_arg",
    "leaf",
    "malloc",
    "nonnull",
    "noreturn",
    "nothrow",
    "pure",
    "returns_nonnull",
    "returns_twice",
    "sentinel",
    "unused",
    "visibility",
    "warn_unused_result",
];

/// Names for which pragmas say that another object or function may stand in.
fn renamed_by_pragmas(tokens: &Tokens) -> HashSet<String> {
    let mut names = HashSet::new();
    for directive in &tokens.directives {
        let text = tokens.directive_text(directive);
        let mut words = text
            .trim_start_matches('#')
            .split(|c: char| !(c.is_alphanumeric() || c == '_' || c == '$'))
            .filter(|word| !word.is_empty());
        if words.next() != Some("pragma") {
            continue;
        }
        match words.next() {
            Some("weak" | "redefine_extname") => names.extend(words.map(str::to_owned)),
            // Vectors of results come from elsewhere, as with the attribute `simd`.
            Some("omp") if words.next() == Some("declare") && words.next() == Some("simd") => {
                let rest = directive.before..tokens.tokens.len();
                let declared = rest.take_while(|at| !matches!(tokens.spelling(*at), ";" | "{"));
                names.extend(declared.map(|at| tokens.spelling(at).to_owned()));
            }
            _ => {}
        }
    }
    names
}

/// Words inside string literals: assembly and attributes call functions by them.
fn words_of_strings(tokens: &Tokens) -> HashSet<&str> {
    let strings = tokens.tokens.iter().enumerate().filter(|(_, token)| token.kind == TokenKind::String);
    strings
        .flat_map(|(index, _)| {
            tokens.spelling(index).split(|c: char| !(c.is_alphanumeric() || c == '_' || c == '$'))
        })
        .collect()
}

/// How often each identifier occurs.
fn mentions(tokens: &Tokens) -> HashMap<&str, u32> {
    let mut mentions = HashMap::with_capacity(tokens.tokens.len() / 4);
    for (index, token) in tokens.tokens.iter().enumerate() {
        if token.kind == TokenKind::Identifier {
            *mentions.entry(tokens.spelling(index)).or_default() += 1;
        }
    }
    mentions
}

/// Each loop keyword among some tokens; the `while` of a `do` is none.
fn loop_keywords(tokens: &Tokens, range: Range<usize>) -> Vec<Span> {
    let mut found = Vec::new();
    let mut open = Vec::new();
    let mut depth = 0u32;
    for token in range.clone() {
        let before = if token > range.start { tokens.normalised(token - 1) } else { "" };
        match tokens.normalised(token) {
            "{" => depth += 1,
            "}" => depth = depth.saturating_sub(1),
            "while" if matches!(before, "}" | ";") && open.last() == Some(&depth) => {
                open.pop();
            }
            word @ ("for" | "while" | "do") if !matches!(before, "." | "->") => {
                if word == "do" {
                    open.push(depth);
                }
                found.push(tokens.span(token));
            }
            _ => {}
        }
    }
    found
}
