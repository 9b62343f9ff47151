//! Lowering: from parse views to the typed tree.
//!
//! Each external declaration is lowered on its own. What is not understood completely is an error: a function with an error
//! in it is listed as refused, a file-scope declaration with an error makes the names that it might declare unknown. Nothing
//! is guessed, because a loop that is run elsewhere on a misunderstanding would be a wrong result.
//!
//! Not here: layout and conversions of types (`c::types`), constants (`c::constant`), what tree-sitter is shown (`c::view`).

mod declarations;
mod expressions;
mod statements;

use super::dialect::Dialect;
use super::hir::*;
use super::lexer::{self, TokenKind, Tokens};
use super::types::plain;
use super::view::{self, AttributeTarget, DeclKind, ExternalDeclaration};
use std::collections::HashMap;
use tree_sitter::Node;

/// A result whose error is the reason why something was not lowered.
type Lowered<T> = Result<T, String>;

/// What an ordinary identifier means.
#[derive(Clone, Copy, Debug)]
enum Entity {
    Variable(VarId),
    Typedef(QualType),
    Enumerator(i128, TypeId),
    /// Declared by something that was not understood.
    Unknown,
}

/// What a tag means.
#[derive(Clone, Copy, Debug)]
enum Tag {
    Record(RecordId),
    Enum(TypeId),
}

#[derive(Default)]
struct Scope {
    names: HashMap<String, Entity>,
    tags: HashMap<String, Tag>,
}

/// The state of lowering one translation unit.
struct Lowering<'a> {
    unit: TranslationUnit,
    tokens: &'a Tokens,
    dialect: &'a Dialect,
    scopes: Vec<Scope>,
    next_place: u32,
    next_loop: u32,
    /// Of the function being lowered.
    return_type: Option<QualType>,
}

/// Lowers a preprocessed translation unit.
pub fn lower_unit(expanded: &str, dialect: &Dialect) -> TranslationUnit {
    let tokens = lexer::lex(expanded);
    let declarations = view::view(&tokens);
    let mut unit =
        TranslationUnit { files: tokens.files.clone(), main_file: tokens.main_file, ..Default::default() };
    let void = unit.types.intern(TypeKind::Void);
    debug_assert_eq!(void, TypeId(0));
    let mut lowering = Lowering {
        unit,
        tokens: &tokens,
        dialect,
        scopes: vec![Scope::default()],
        next_place: 0,
        next_loop: 0,
        return_type: None,
    };
    for declaration in &declarations {
        lowering.external(declaration);
    }
    lowering.unit
}

impl<'a> Lowering<'a> {
    fn external(&mut self, declaration: &ExternalDeclaration) {
        let result = match &declaration.kind {
            DeclKind::Empty => return,
            DeclKind::Refused(reason) => Err(reason.clone()),
            kind => match view::parse_checked(declaration) {
                Err(problem) => Err(problem.reason),
                Ok(tree) => {
                    let reader = Reader { declaration, tokens: self.tokens };
                    let before = (self.next_loop, self.unit.allocations.len());
                    let result = match tree.root_node().named_child(0) {
                        Some(node) if *kind == DeclKind::Function => self.function(&reader, node),
                        Some(node) => self.file_scope(&reader, node),
                        None => Ok(()),
                    };
                    self.scopes.truncate(1);
                    if result.is_err() {
                        self.next_loop = before.0;
                        self.unit.allocations.truncate(before.1);
                    }
                    result
                }
            },
        };
        if let Err(reason) = result {
            self.refuse(declaration, reason);
        }
    }

    /// Notes that a declaration was not understood.
    fn refuse(&mut self, declaration: &ExternalDeclaration, reason: String) {
        let range = declaration.tokens.clone();
        let name = declaration.name.map(|t| self.tokens.spelling(t).to_owned()).unwrap_or_default();
        let has_body = range.clone().any(|t| self.tokens.spelling(t) == "{");
        let loops: Vec<(u32, u32)> = self.loop_keywords(range.clone());
        let is_function = declaration.kind == DeclKind::Function || (has_body && !loops.is_empty());
        // Whatever it declares is unknown from now on, unless it was known before and is a function.
        if !is_function || !self.scopes[0].names.contains_key(&name) {
            if !is_function {
                // Any identifier of the declaration may be what it declares.
                for token in range.clone() {
                    if self.tokens.tokens[token].kind == TokenKind::Identifier {
                        let name = self.tokens.spelling(token).to_owned();
                        self.scopes[0].names.entry(name).or_insert(Entity::Unknown);
                    }
                }
            } else if !name.is_empty() {
                self.scopes[0].names.insert(name.clone(), Entity::Unknown);
            }
        }
        if is_function {
            let span = self.tokens.span_of(range.start, range.end.saturating_sub(1));
            self.unit.refused.push(Refused { name, reason, span, loops });
        }
    }

    /// File and line of each loop keyword; the `while` of a `do` is none.
    fn loop_keywords(&self, range: std::ops::Range<usize>) -> Vec<(u32, u32)> {
        let mut loops = Vec::new();
        let mut open_do = 0usize;
        for token in range {
            match self.tokens.spelling(token) {
                "do" => {
                    open_do += 1;
                    loops.push((self.tokens.tokens[token].file, self.tokens.tokens[token].line));
                }
                "while"
                    if open_do > 0 && token > 0 && matches!(self.tokens.spelling(token - 1), "}" | ";") =>
                {
                    // Either the end of a `do` or a loop after a statement; the end has a semicolon behind its condition.
                    open_do -= 1;
                }
                "for" | "while" => {
                    loops.push((self.tokens.tokens[token].file, self.tokens.tokens[token].line))
                }
                _ => {}
            }
        }
        loops
    }

    fn variable(&mut self, name: &str, ty: QualType, storage: Storage, span: Span) -> VarId {
        let id = VarId(self.unit.variables.len() as u32);
        self.unit.variables.push(Variable {
            name: name.to_owned(),
            ty,
            storage,
            address_taken: false,
            is_extern: false,
            span,
        });
        id
    }

    fn lookup(&self, name: &str) -> Option<Entity> {
        self.scopes.iter().rev().find_map(|s| s.names.get(name).copied())
    }

    fn lookup_tag(&self, name: &str) -> Option<Tag> {
        self.scopes.iter().rev().find_map(|s| s.tags.get(name).copied())
    }

    fn bind(&mut self, name: &str, entity: Entity) {
        if let Some(scope) = self.scopes.last_mut() {
            scope.names.insert(name.to_owned(), entity);
        }
    }

    fn int(&mut self, kind: IntKind) -> QualType {
        plain(self.unit.types.intern(TypeKind::Int(kind)))
    }

    fn float(&mut self, kind: FloatKind) -> QualType {
        plain(self.unit.types.intern(TypeKind::Float(kind)))
    }

    fn void(&mut self) -> QualType {
        plain(self.unit.types.intern(TypeKind::Void))
    }

    fn pointer_to(&mut self, target: QualType) -> QualType {
        plain(self.unit.types.intern(TypeKind::Pointer(target)))
    }

    fn place(&mut self, kind: PlaceKind, ty: QualType, span: Span) -> Place {
        self.next_place += 1;
        Place { id: PlaceId(self.next_place - 1), kind, ty, span }
    }
}

/// Reads nodes of one declaration's view in terms of the source.
struct Reader<'a> {
    declaration: &'a ExternalDeclaration,
    tokens: &'a Tokens,
}

impl Reader<'_> {
    fn token(&self, node: Node) -> Lowered<usize> {
        self.declaration.map.source_token(node.start_byte()).ok_or_else(|| "a node without source".to_owned())
    }
    /// The first source token's spelling.
    fn text(&self, node: Node) -> Lowered<&str> {
        Ok(self.tokens.normalised(self.token(node)?))
    }
    /// The view's own text: for operators and keywords, which the view never changes.
    fn operator(&self, node: Node) -> &str {
        self.declaration.view.get(node.byte_range()).unwrap_or_default()
    }
    fn span(&self, node: Node) -> Span {
        self.declaration.map.source_span(self.tokens, node.byte_range())
    }
    fn has_attribute(&self, target: AttributeTarget, names: &[&str]) -> bool {
        self.declaration.attributes_of(target).any(|a| names.contains(&a.name.as_str()))
    }
}

/// A named field of a node, or the reason to refuse.
fn field<'t>(node: Node<'t>, name: &str) -> Lowered<Node<'t>> {
    node.child_by_field_name(name).ok_or_else(|| format!("{} without {name}", node.kind()))
}

/// Named children that are no comments.
fn children(node: Node<'_>) -> Vec<Node<'_>> {
    let mut cursor = node.walk();
    node.named_children(&mut cursor).filter(|n| n.kind() != "comment").collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lower(text: &str) -> TranslationUnit {
        lower_unit(text, &Dialect::default())
    }

    #[test]
    fn ordinary_c_is_lowered() {
        let unit = lower(
            "typedef struct site { short x, y; int index; double *row; } site;\n\
             enum direction { UP, DOWN = 5 };\n\
             static site lattice[100]; extern int n; unsigned char bytes[] = \"abc\";\n\
             void *malloc(unsigned long); double sqrt(double);\n\
             static double f(double **a, const float *restrict b, unsigned m, site *s) {\n\
               double sum = 0; int i, *q = (int *)b;\n\
               for (i = 0; i < n; i++) { if (a[i][m] > (float)i) continue; sum += sqrt(a[i][1]) * b[i + DOWN]; }\n\
               for (unsigned k = m; k-- > 0;) *q++ = s->index, lattice[k].x = (short)k;\n\
               do { n -= 2; } while (n > 0);\n\
               switch (n) { case 1: sum++; break; default: sum--; }\n\
               s->row = malloc(n * sizeof *s->row);\n\
               return sum ? sum : -1;\n\
             }\n",
        );
        assert!(unit.refused.is_empty(), "{:?}", unit.refused);
        assert_eq!(unit.functions.len(), 1);
        assert_eq!(unit.allocations.len(), 1);
        let bytes = unit.variables.iter().find(|v| v.name == "bytes").unwrap();
        assert_eq!(unit.types.size_of(bytes.ty.ty), Some(4));
        let lattice = unit.variables.iter().find(|v| v.name == "lattice").unwrap();
        assert_eq!(unit.types.size_of(lattice.ty.ty), Some(1600));
    }

    #[test]
    fn what_is_not_understood_is_refused_alone() {
        let unit = lower(
            "int g(int x) { return ({ x; }); }\n\
             int h(int *p) { for (int i = 0; i < 3; i++) p[i] = __builtin_strange(i); return 0; }\n\
             int f(int x) { return x + 1; }\n\
             struct odd { char c; int i; } __attribute__((packed)); int k(struct odd *o) { return o->i; }",
        );
        assert_eq!(unit.functions.len(), 1);
        assert_eq!(unit.refused.len(), 3);
        assert_eq!(unit.refused[1].loops, vec![(0, 2)]);
    }

    #[test]
    fn layout_is_that_of_cc() {
        let records = [
            "{ char c; int i; short s; }",
            "{ int a : 3; int b : 30; char c; }",
            "{ unsigned long a : 40; unsigned b : 10; char c : 2; }",
            "{ char c; int : 0; char d; }",
            "{ char c; union { double d; float f[3]; }; short s[]; }",
            "{ struct { char c[3]; } a[2]; long l; _Bool b; }",
            "{ short s : 9; char c : 7; char d : 7; long double x; }",
        ];
        let mut program = String::from("#include <stdio.h>\n#include <stddef.h>\n");
        let mut ours = Vec::new();
        for (number, body) in records.iter().enumerate() {
            program.push_str(&format!("struct s{number} {body};\n"));
            let unit = lower(&format!(
                "struct s{number} {body}; unsigned long f(void) {{ return sizeof(struct s{number}) * 1000 + _Alignof(struct s{number}); }}"
            ));
            assert!(unit.refused.is_empty(), "{:?}", unit.refused);
            let StmtKind::Block(body) = &unit.functions[0].body.kind else { panic!() };
            let StmtKind::Return(Some(value)) = &body[0].kind else { panic!() };
            ours.push(super::super::constant::fold(&unit.types, value).unwrap());
        }
        program.push_str("int main(void) {\n");
        for number in 0..records.len() {
            program.push_str(&format!(
                "printf(\"%zu\\n\", sizeof(struct s{number}) * 1000 + _Alignof(struct s{number}));\n"
            ));
        }
        program.push_str("return 0; }\n");
        let folder = tempfile::tempdir().unwrap();
        let (source, binary) = (folder.path().join("l.c"), folder.path().join("l"));
        std::fs::write(&source, program).unwrap();
        assert!(
            std::process::Command::new("cc").arg(&source).arg("-o").arg(&binary).status().unwrap().success()
        );
        let output = std::process::Command::new(&binary).output().unwrap().stdout;
        let theirs: Vec<i128> =
            String::from_utf8(output).unwrap().lines().map(|l| l.parse().unwrap()).collect();
        assert_eq!(ours, theirs);
    }
}
