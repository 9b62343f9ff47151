//! Scopes: what a name or tag means where it stands.

use std::collections::HashMap;

use super::super::hir::{QualType, RecordId, TypeId, VarId};
use super::Lowering;

/// What an ordinary identifier names.
#[derive(Clone, Debug)]
pub(super) enum Entity {
    /// An object or function.
    Variable(VarId),
    /// A typedef name, with the alignment that its declaration asks for.
    Typedef { ty: QualType, align: Option<u64> },
    /// An enumerator.
    Constant { value: i128, ty: TypeId },
    /// Declared by something that wasn't understood.
    Unknown(String),
}

/// What a tag names.
#[derive(Clone, Copy, Debug)]
pub(super) enum Tag {
    /// A struct or union.
    Record(RecordId),
    /// An enumeration; without a type while incomplete.
    Enum(Option<TypeId>),
    /// Declared by something that wasn't understood.
    Unknown,
}

/// One block, prototype or file.
#[derive(Default, Debug)]
pub(super) struct Scope {
    pub entities: HashMap<String, Entity>,
    pub tags: HashMap<String, Tag>,
}

impl Lowering<'_> {
    /// What `name` means here.
    pub(super) fn lookup(&self, name: &str) -> Option<&Entity> {
        self.scopes.iter().rev().find_map(|scope| scope.entities.get(name))
    }
    /// What the tag `name` means here.
    pub(super) fn lookup_tag(&self, name: &str) -> Option<Tag> {
        self.scopes.iter().rev().find_map(|scope| scope.tags.get(name).copied())
    }
    /// The tag `name` of the innermost scope.
    pub(super) fn own_tag(&self, name: &str) -> Option<Tag> {
        self.scopes.last()?.tags.get(name).copied()
    }
    /// Gives `name` a meaning in the innermost scope.
    pub(super) fn declare(&mut self, name: &str, entity: Entity) {
        if let Some(scope) = self.scopes.last_mut() {
            scope.entities.insert(name.to_owned(), entity);
        }
    }
    /// Gives the tag `name` a meaning in the innermost scope.
    pub(super) fn declare_tag(&mut self, name: &str, tag: Tag) {
        if let Some(scope) = self.scopes.last_mut() {
            scope.tags.insert(name.to_owned(), tag);
        }
    }
    /// Whether declarations here have file scope.
    pub(super) fn at_file_scope(&self) -> bool {
        self.scopes.len() == 1
    }
    /// Runs `body` in a scope of its own and gives the scope too.
    pub(super) fn scoped<T>(&mut self, scope: Scope, body: impl FnOnce(&mut Self) -> T) -> (T, Scope) {
        self.scopes.push(scope);
        let result = body(self);
        let scope = self.scopes.pop().unwrap_or_default();
        (result, scope)
    }
}
