//! A syntax tree together with the tokens that it was made from: what lowering asks of a node that the tree alone
//! doesn't know.
//!
//! Trees are trees of parse views, so a node's own text is not the user's. Its spelling, place and meaning come from the
//! token that it maps to.

use tree_sitter::Node;

use super::super::hir::Span;
use super::super::lexer::Tokens;
use super::super::view::{Attribute, AttributeTarget, BaseType, ExternalDeclaration, Table, ViewMap};

/// What belongs to the tree that is being read.
#[derive(Clone, Copy)]
pub(super) struct Source<'a> {
    pub tokens: &'a Tokens,
    pub declaration: &'a ExternalDeclaration,
    /// The text of the tree: the declaration's view, or of one of its operands of `typeof`.
    pub view: &'a str,
    pub map: &'a ViewMap,
}

impl<'a> Source<'a> {
    /// The whole declaration.
    pub fn new(tokens: &'a Tokens, declaration: &'a ExternalDeclaration) -> Self {
        Source { tokens, declaration, view: &declaration.view, map: &declaration.map }
    }
    /// The token that a node starts with.
    pub fn token(&self, node: Node) -> Option<usize> {
        self.map.source_token(node.start_byte())
    }
    /// The user's spelling of the token that a node starts with.
    pub fn spelling(&self, node: Node) -> &'a str {
        self.token(node).map_or("", |token| self.tokens.spelling(token))
    }
    /// The node's text in the view.
    pub fn text(&self, node: Node) -> &'a str {
        self.view.get(node.byte_range()).unwrap_or("")
    }
    /// Where the user wrote it.
    pub fn span(&self, node: Node) -> Span {
        self.map.source_span(self.tokens, node.byte_range())
    }
    /// What a `primitive_type` node stands for.
    pub fn base_type(&self, node: Node) -> Option<&'a BaseType> {
        self.declaration.special.types.get(&self.token(node)?)
    }
    /// The list of constants that a node's braces stand for.
    pub fn table(&self, node: Node) -> Option<&'a Table> {
        self.declaration.special.tables.get(&self.token(node)?)
    }
    /// The attributes at a target.
    pub fn attributes(&self, target: AttributeTarget) -> Vec<&'a Attribute> {
        self.declaration.attributes_of(target).collect()
    }
    /// The attributes of the specifiers whose first token in the view is `token`. They may stand in front of it.
    pub fn specifier_attributes(&self, token: usize) -> Vec<&'a Attribute> {
        if self.declaration.attributes.is_empty() {
            return Vec::new();
        }
        let before = self.map.tokens().filter(|other| *other < token).max();
        let belongs = |first: usize| first <= token && before.is_none_or(|before| first > before);
        let all = self.declaration.attributes.iter();
        all.filter(|a| matches!(a.target, AttributeTarget::Specifiers(first) if belongs(first))).collect()
    }
}

/// The children of a node with their fields, without comments.
pub(super) fn parts<'t>(node: Node<'t>) -> Vec<(Option<&'t str>, Node<'t>)> {
    let mut cursor = node.walk();
    let mut found = Vec::with_capacity(node.child_count() as usize);
    if cursor.goto_first_child() {
        loop {
            if cursor.node().kind() != "comment" {
                found.push((cursor.field_name(), cursor.node()));
            }
            if !cursor.goto_next_sibling() {
                break;
            }
        }
    }
    found
}

/// The named children of a node, without comments.
pub(super) fn named(node: Node<'_>) -> Vec<Node<'_>> {
    parts(node).into_iter().map(|(_, child)| child).filter(Node::is_named).collect()
}

/// The child in a field.
pub(super) fn field<'t>(node: Node<'t>, name: &str) -> Result<Node<'t>, super::Failure> {
    node.child_by_field_name(name)
        .ok_or_else(|| super::Failure::from(format!("a {} without its {name}", node.kind())))
}
