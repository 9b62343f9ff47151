//! Attributes: the ones that change a type or a layout are read here, and the ones that forbid touching a function are
//! known here. All others change nothing that the typed tree says.

use std::ops::Range;

use super::super::constant;
use super::super::hir::*;
use super::super::view::{Attribute, AttributeTarget};
use super::names::{Entity, Tag};
use super::{Lowered, Lowering};

/// Alignment that `aligned` without a number asks for.
const LARGEST_ALIGNMENT: u64 = 16;

impl<'a> Lowering<'a> {
    /// The attributes of a declarator whose name is `token`.
    pub(super) fn declarator_attributes(&self, token: Option<usize>) -> Vec<&'a Attribute> {
        match token {
            Some(token) if !self.source.declaration.attributes.is_empty() => {
                self.source.attributes(AttributeTarget::Declarator(token))
            }
            _ => Vec::new(),
        }
    }

    /// The alignment that some attributes ask for.
    pub(super) fn alignment(&mut self, attributes: &[&Attribute]) -> Lowered<Option<u64>> {
        let mut result: Option<u64> = None;
        for attribute in attributes.iter().filter(|a| a.name == "aligned") {
            let value = if attribute.arguments.is_empty() {
                Some(LARGEST_ALIGNMENT)
            } else {
                self.alignment_argument(attribute.arguments.clone())
            };
            match value {
                // `_Alignas(0)` asks for nothing.
                Some(0) => {}
                Some(value) if value.is_power_of_two() => result = Some(result.unwrap_or(0).max(value)),
                _ => return Err(format!("the alignment `{}`", attribute.text).into()),
            }
        }
        Ok(result)
    }

    /// A number, or the alignment of a type.
    fn alignment_argument(&mut self, range: Range<usize>) -> Option<u64> {
        if let Some(ty) = self.type_of_tokens(range.clone()) {
            return self.types().align_of(ty.ty);
        }
        let mut range = range;
        while range.len() >= 2
            && self.tokens.normalised(range.start) == "("
            && self.tokens.normalised(range.end - 1) == ")"
        {
            range = range.start + 1..range.end - 1;
        }
        let first = self.tokens.spelling(range.start);
        let operand = range.start + 2..range.end.saturating_sub(1);
        match first {
            "sizeof" if !operand.is_empty() => {
                let ty = self.type_of_tokens(operand)?;
                self.types().size_of(ty.ty)
            }
            "_Alignof" | "alignof" | "__alignof__" | "__alignof" if !operand.is_empty() => {
                let ty = self.type_of_tokens(operand)?;
                self.types().align_of(ty.ty)
            }
            _ if range.len() != 1 => {
                // `a op b` of plain numbers.
                let [left, op, right] = range.clone().collect::<Vec<_>>()[..] else { return None };
                let (left, right) =
                    (self.alignment_argument(left..left + 1)?, self.alignment_argument(right..right + 1)?);
                match self.tokens.spelling(op) {
                    "*" => left.checked_mul(right),
                    "/" => left.checked_div(right),
                    "<<" => left.checked_shl(u32::try_from(right).ok()?),
                    _ => None,
                }
            }
            name => match self.lookup(name) {
                Some(Entity::Constant { value, .. }) => u64::try_from(*value).ok(),
                Some(_) => None,
                None => u64::try_from(constant::integer(name)?.0).ok(),
            },
        }
    }

    /// The type that a few tokens spell, if they spell one: type words, a typedef name or a tag, then stars.
    fn type_of_tokens(&mut self, range: Range<usize>) -> Option<QualType> {
        let mut words: Vec<&str> = range.clone().map(|token| self.tokens.spelling(token)).collect();
        words.retain(|word| !matches!(*word, "const" | "volatile"));
        let pointer = words.last() == Some(&"*");
        words.retain(|word| *word != "*");
        let kind = match words.as_slice() {
            ["struct" | "union", tag] => match self.lookup_tag(tag)? {
                Tag::Record(id) => TypeKind::Record(id),
                _ => return None,
            },
            [name] if matches!(self.lookup(name), Some(Entity::Typedef { .. })) => match self.lookup(name) {
                Some(Entity::Typedef { ty, align: None }) if !pointer => return Some(*ty),
                Some(_) if pointer => TypeKind::Void,
                _ => return None,
            },
            [name] if self.lookup(name).is_some() => return None,
            ["void"] if pointer => TypeKind::Void,
            words => basic_type(words)?,
        };
        let mut ty = self.unit.types.intern(kind);
        if pointer {
            // Every pointer is laid out alike.
            ty = self.unit.types.intern(TypeKind::Pointer(QualType { ty, quals: Quals::default() }));
        }
        Some(QualType { ty, quals: Quals::default() })
    }

    /// Applies the attributes that change a type: `mode` and `vector_size`.
    pub(super) fn attributed_type(&mut self, ty: QualType, attributes: &[&Attribute]) -> Lowered<QualType> {
        let mut ty = ty;
        for attribute in attributes {
            let changed = match attribute.name.as_str() {
                "mode" => self.with_mode(ty.ty, attribute.text.trim_matches('_')),
                "vector_size" => self.vector(ty.ty, attribute),
                _ => continue,
            };
            match changed {
                Some(changed) => ty.ty = changed,
                None => return Err(format!("the attribute {}({})", attribute.name, attribute.text).into()),
            }
        }
        Ok(ty)
    }

    fn with_mode(&mut self, ty: TypeId, mode: &str) -> Option<TypeId> {
        use IntKind::*;
        if self.types().as_float(ty).is_some() {
            let kind = match mode {
                "SF" => FloatKind::Float,
                "DF" => FloatKind::Double,
                "XF" => FloatKind::LongDouble,
                "TF" => FloatKind::Float128,
                _ => return None,
            };
            return Some(self.unit.types.intern(TypeKind::Float(kind)));
        }
        let (signed, unsigned) = match mode {
            "QI" | "byte" => (SChar, UChar),
            "HI" => (Short, UShort),
            "SI" => (Int, UInt),
            "DI" | "word" | "pointer" => (Long, ULong),
            "TI" => (Int128, UInt128),
            _ => return None,
        };
        let TypeKind::Int(kind) = *self.types().kind(ty) else { return None };
        let kind = if kind.signed() { signed } else { unsigned };
        Some(self.unit.types.intern(TypeKind::Int(kind)))
    }

    fn vector(&mut self, ty: TypeId, attribute: &Attribute) -> Option<TypeId> {
        if self.types().as_int(ty).is_none() && self.types().as_float(ty).is_none() {
            return None;
        }
        let size = self.alignment_argument(attribute.arguments.clone())?;
        size.is_power_of_two().then(|| {
            self.unit.types.intern(TypeKind::Opaque { size: Some(size), align: size, what: "a vector" })
        })
    }
}

/// The type that type words name together.
fn basic_type(words: &[&str]) -> Option<TypeKind> {
    use IntKind::*;
    let mut sorted = words.to_vec();
    sorted.sort_unstable();
    let kind = match sorted.as_slice() {
        ["char"] => Char,
        ["char", "signed"] => SChar,
        ["char", "unsigned"] => UChar,
        ["short"] | ["int", "short"] => Short,
        ["short", "unsigned"] | ["int", "short", "unsigned"] => UShort,
        ["int"] | ["signed"] => Int,
        ["unsigned"] | ["int", "unsigned"] => UInt,
        ["long"] | ["int", "long"] => Long,
        ["long", "unsigned"] | ["int", "long", "unsigned"] => ULong,
        ["long", "long"] | ["int", "long", "long"] => LongLong,
        ["long", "long", "unsigned"] | ["int", "long", "long", "unsigned"] => ULongLong,
        ["__int128"] => Int128,
        ["float"] => return Some(TypeKind::Float(FloatKind::Float)),
        ["double"] => return Some(TypeKind::Float(FloatKind::Double)),
        ["double", "long"] => return Some(TypeKind::Float(FloatKind::LongDouble)),
        ["__float128"] | ["_Float128"] => return Some(TypeKind::Float(FloatKind::Float128)),
        _ => return None,
    };
    Some(TypeKind::Int(kind))
}

/// Why a function with such an attribute can't be touched.
pub(super) fn forbidding(attributes: &[&Attribute]) -> Option<String> {
    let names = ["optimize", "target", "target_clones", "naked", "interrupt", "ifunc", "no_split_stack"];
    let found = attributes.iter().find(|a| names.contains(&a.name.as_str()))?;
    Some(format!("the attribute {}", found.name))
}

/// Whether another object or function may stand in for what has such an attribute.
pub(super) fn replaceable(attributes: &[&Attribute]) -> bool {
    let names = ["weak", "alias", "weakref", "ifunc", "asm_label", "selectany", "copy"];
    attributes.iter().any(|a| names.contains(&a.name.as_str()))
}

/// Whether a function with such an attribute is there, or called, though nobody names it.
pub(super) fn kept(attributes: &[&Attribute]) -> bool {
    let names =
        ["used", "retain", "constructor", "destructor", "externally_visible", "no_reorder", "section"];
    attributes.iter().any(|a| names.contains(&a.name.as_str()))
}

/// Whether a function with such an attribute also exists in a form that computes vectors of results, under another name.
pub(super) fn has_vector_form(attributes: &[&Attribute]) -> bool {
    attributes.iter().any(|a| a.name == "simd")
}
