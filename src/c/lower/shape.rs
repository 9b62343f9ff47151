//! Does the tree of an expression obey C's grammar? Precedence in tree-sitter's grammar is not quite C's, so before a
//! node is read its operands are checked: each must be of a kind that C allows there without parentheses. A tree that
//! fails is refused, never reinterpreted.

use tree_sitter::Node;

use super::source::parts;

/// How tightly an expression binds, as the productions of C's grammar are nested; higher is tighter.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum Level {
    Comma,
    Assignment,
    Conditional,
    Binary(u8),
    Cast,
    Unary,
    Postfix,
}

fn binary_level(operator: &str) -> Option<u8> {
    Some(match operator {
        "||" => 0,
        "&&" => 1,
        "|" => 2,
        "^" => 3,
        "&" => 4,
        "==" | "!=" => 5,
        "<" | ">" | "<=" | ">=" => 6,
        "<<" | ">>" => 7,
        "+" | "-" => 8,
        "*" | "/" | "%" => 9,
        _ => return None,
    })
}

fn level(node: Node) -> Option<Level> {
    Some(match node.kind() {
        "comma_expression" => Level::Comma,
        "assignment_expression" => Level::Assignment,
        "conditional_expression" => Level::Conditional,
        "binary_expression" => Level::Binary(binary_level(node.child_by_field_name("operator")?.kind())?),
        "cast_expression" => Level::Cast,
        "unary_expression" | "pointer_expression" | "sizeof_expression" => Level::Unary,
        "update_expression" if is_prefix(node) => Level::Unary,
        "update_expression" | "call_expression" | "subscript_expression" | "field_expression" => {
            Level::Postfix
        }
        "compound_literal_expression" | "identifier" | "number_literal" | "char_literal" => Level::Postfix,
        "string_literal" | "concatenated_string" | "parenthesized_expression" => Level::Postfix,
        "generic_expression" | "true" | "false" | "null" | "gnu_asm_expression" => Level::Postfix,
        _ => return None,
    })
}

/// Whether `++` or `--` stands in front.
pub(super) fn is_prefix(node: Node) -> bool {
    node.child(0).is_some_and(|first| !first.is_named())
}

/// What a postfix `++` belongs to: the grammar reads `-x++` as `(-x)++`, which C has no place for.
pub(super) fn behind_signs(argument: Node) -> Node {
    let mut inner = argument;
    while inner.kind() == "unary_expression"
        && let Some(next) = inner.child_by_field_name("argument")
    {
        inner = next;
    }
    inner
}

/// Whether the direct operands of `node` may stand where they stand.
pub(super) fn well_formed(node: Node) -> bool {
    let Some(own) = level(node) else { return false };
    parts(node).into_iter().all(|(name, part)| {
        let least = match (node.kind(), name) {
            ("comma_expression", Some("left")) => Level::Assignment,
            ("comma_expression", Some("right")) => Level::Comma,
            ("assignment_expression", Some("left")) => Level::Unary,
            ("assignment_expression", Some("right")) => Level::Assignment,
            ("conditional_expression", Some("condition")) => Level::Binary(0),
            ("conditional_expression", Some("consequence")) => Level::Comma,
            ("conditional_expression", Some("alternative")) => Level::Conditional,
            ("binary_expression", Some("left")) => own,
            ("binary_expression", Some("right")) => match own {
                Level::Binary(9) => Level::Cast,
                Level::Binary(n) => Level::Binary(n + 1),
                _ => return false,
            },
            ("cast_expression", Some("value")) => Level::Cast,
            ("unary_expression" | "pointer_expression", Some("argument")) => Level::Cast,
            ("sizeof_expression", Some("value")) => Level::Unary,
            ("update_expression", Some("argument")) if is_prefix(node) => Level::Unary,
            ("update_expression", Some("argument")) => {
                return level(behind_signs(part)) == Some(Level::Postfix);
            }
            ("field_expression", Some("argument")) => Level::Postfix,
            ("call_expression", Some("function")) => Level::Postfix,
            ("subscript_expression", Some("argument")) => Level::Postfix,
            ("subscript_expression", Some("index")) => Level::Comma,
            _ => return true,
        };
        level(part).is_some_and(|found| found >= least)
    })
}
