//! Initialisers: what a scalar starts with, what the expressions in braces refer to, and how long an array is whose
//! length only its initialiser says.

use tree_sitter::Node;

use super::super::constant;
use super::super::hir::*;
use super::expressions::Operand;
use super::source::{field, named, parts};
use super::{Lowered, Lowering};

/// One item of a braced list, read.
struct Item {
    /// The first array designator's last index, if the item starts with one.
    index: Option<u64>,
    /// Whether it starts with a designator of any kind.
    designated: bool,
    /// Whether it is a braced list or string of its own, which initialises one subobject whatever that holds.
    whole: bool,
    /// Whether it is a narrow or wide string literal.
    text: bool,
    /// Its type, if it is an expression.
    ty: Option<TypeId>,
}

impl Lowering<'_> {
    /// Reads the initialiser of an object of type `ty`; gives the type with the length that it may add.
    pub(super) fn initialiser(&mut self, node: Node, ty: QualType) -> Lowered<(Init, QualType)> {
        if self.is_variable_length(ty.ty) {
            return Err("an initialiser of an array of variable length".into());
        }
        let array = match *self.types().kind(ty.ty) {
            TypeKind::Array(element, length) => Some((element, length)),
            _ => None,
        };
        if node.kind() == "initializer_list" {
            return match array {
                Some((element, ArrayLen::Unknown)) => {
                    let length = self.length_of_list(node, element)?;
                    let completed = self.intern(TypeKind::Array(element, ArrayLen::Known(length)));
                    Ok((Init::Aggregate, QualType { quals: ty.quals, ..completed }))
                }
                Some(_) => self.items(node).map(|_| (Init::Aggregate, ty)),
                None if self.is_scalar(ty) => match named(node).as_slice() {
                    [only] if only.kind() != "initializer_pair" => self.initialiser(*only, ty),
                    _ => Err("braces around a scalar".into()),
                },
                None => self.items(node).map(|_| (Init::Aggregate, ty)),
            };
        }
        if let Some((element, length)) = array {
            // A string, or a compound literal as gcc allows.
            let operand = self.operand(node)?;
            let own = match &operand {
                Operand::Text(text) => Some(text.length),
                Operand::Place(place) => match self.types().kind(place.ty.ty) {
                    TypeKind::Array(_, ArrayLen::Known(length)) => Some(*length),
                    _ => None,
                },
                _ => None,
            };
            let own = own.ok_or("an array initialised by a value")?;
            let length = if let ArrayLen::Known(known) = length { known } else { own };
            let completed = self.intern(TypeKind::Array(element, ArrayLen::Known(length)));
            return Ok((Init::Aggregate, QualType { quals: ty.quals, ..completed }));
        }
        let value = self.value(node)?;
        let mut value = self.assigned(value, ty)?;
        // With its parentheses.
        value.span = self.source.span(node);
        if self.is_scalar(ty) { Ok((Init::Scalar(value), ty)) } else { Ok((Init::Aggregate, ty)) }
    }

    /// Reads the items of a braced list.
    fn items(&mut self, node: Node) -> Lowered<Vec<Item>> {
        self.nested(|lowering| named(node).into_iter().map(|item| lowering.item(item)).collect())
    }

    fn item(&mut self, node: Node) -> Lowered<Item> {
        let mut item = Item { index: None, designated: false, whole: false, text: false, ty: None };
        let mut value = node;
        if node.kind() == "initializer_pair" {
            item.designated = true;
            let mut first = true;
            for (name, part) in parts(node) {
                if name != Some("designator") {
                    continue;
                }
                let index = match part.kind() {
                    "subscript_designator" => named(part).first().copied(),
                    "subscript_range_designator" => part.child_by_field_name("end"),
                    _ => None,
                };
                if let Some(index) = index {
                    let index = self.value(index)?;
                    let index = constant::fold(self.types(), &index);
                    let index = index.and_then(|i| u64::try_from(i).ok());
                    let index = index.ok_or("a designator that isn't constant")?;
                    if first {
                        item.index = Some(index);
                    }
                }
                first = false;
            }
            value = field(node, "value")?;
        }
        match value.kind() {
            "initializer_list" => {
                self.items(value)?;
                item.whole = true;
            }
            "string_literal" | "concatenated_string" => {
                self.text(value)?;
                item.text = true;
            }
            _ => item.ty = Some(self.value(value)?.ty.ty),
        }
        Ok(item)
    }

    /// The number of elements that a braced list gives an array.
    fn length_of_list(&mut self, node: Node, element: QualType) -> Lowered<u64> {
        // `char a[] = {"abc"}`.
        if let [only] = named(node).as_slice()
            && matches!(only.kind(), "string_literal" | "concatenated_string")
            && self.types().as_int(element.ty).is_some()
        {
            return Ok(self.text(*only)?.length);
        }
        let items = self.items(node)?;
        let (mut at, mut longest, mut next) = (0u64, 0u64, 0usize);
        while let Some(item) = items.get(next) {
            if let Some(index) = item.index {
                at = index;
            } else if item.designated {
                return Err("an array initialised by member".into());
            }
            let before = next;
            let deeper = item.designated && !self.fills(element.ty, item);
            if deeper {
                // `[2].x = 1, 3` goes on inside the element: count only what is clear.
                next += 1;
                if items.get(next).is_some_and(|following| !following.designated) {
                    return Err("an array initialised from within an element".into());
                }
            } else {
                self.consume(element.ty, &items, &mut next, true);
            }
            if next == before {
                return Err("an initialiser that fills nothing".into());
            }
            at = at.checked_add(1).ok_or("an array too long")?;
            longest = longest.max(at);
        }
        Ok(longest)
    }

    /// Whether one item is the whole of an object of type `ty`.
    fn fills(&self, ty: TypeId, item: &Item) -> bool {
        match self.types().kind(ty) {
            TypeKind::Array(element, _) => {
                item.whole
                    || (item.text && self.types().as_int(element.ty).is_some_and(|kind| kind.size() <= 4))
            }
            TypeKind::Record(_) => item.whole || item.ty == Some(ty),
            _ => true,
        }
    }

    /// Passes the items that an object of type `ty` takes from a list without braces of its own.
    fn consume(&self, ty: TypeId, items: &[Item], next: &mut usize, first: bool) {
        let Some(item) = items.get(*next) else { return };
        if item.designated && !first {
            return;
        }
        if self.fills(ty, item) {
            *next += 1;
            return;
        }
        let mut first = first;
        match self.types().kind(ty) {
            TypeKind::Array(element, ArrayLen::Known(length)) => {
                for _ in 0..*length {
                    let before = *next;
                    self.consume(element.ty, items, next, first);
                    first = false;
                    if *next == before {
                        return;
                    }
                }
            }
            TypeKind::Record(id) => {
                let record = self.types().record(*id);
                let fields = record.fields.as_deref().unwrap_or_default();
                let taken = if record.is_union { 1 } else { fields.len() };
                // Bit-fields without a name aren't initialised.
                let initialised = fields.iter().filter(|f| f.name.is_some() || f.bits.is_none());
                for field in initialised.take(taken) {
                    let before = *next;
                    self.consume(field.ty.ty, items, next, first);
                    first = false;
                    if *next == before {
                        return;
                    }
                }
            }
            _ => *next += 1,
        }
    }
}
