//! Initialisers: what a scalar starts with, what the expressions in braces refer to, and how long an array is whose
//! length only its initialiser says.

use tree_sitter::Node;

use super::super::constant;
use super::super::containers::{Container, located};
use super::super::hir::*;
use super::super::view::{Table, TableItem};
use super::expressions::Operand;
use super::source::{field, named, parts};
use super::{Lowered, Lowering};

/// One item of a braced list, read.
#[derive(Default)]
struct Item {
    /// The first array designator's last index, if the item starts with one.
    index: Option<u64>,
    /// Whether it starts with a designator of any kind.
    designated: bool,
    /// Whether that leads to one element or member, in one step.
    is_simple: bool,
    /// The member that the first designator names.
    member: Option<String>,
    /// Whether it is a braced list or string of its own, which initialises one subobject whatever that holds.
    whole: bool,
    /// Whether it is a narrow or wide string literal.
    text: bool,
    /// Its type, if it is an expression.
    ty: Option<TypeId>,
    /// The expression.
    value: Option<Expr>,
    /// What stands in its braces.
    inner: Vec<Item>,
}

impl Item {
    /// The item as one that stands where its designator leads, if that is simple.
    fn undesignated(&mut self) -> Option<&Item> {
        self.designated = false;
        self.is_simple.then_some(&*self)
    }
}

/// Items of a list whose values are kept: tables of constants are much longer, and nobody asks for theirs.
const KEPT: usize = 256;

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
        if let Some(table) = self.source.table(node) {
            return self.table(table, ty);
        }
        if node.kind() == "initializer_list" {
            return match array {
                Some((element, ArrayLen::Unknown)) => {
                    let (length, items) = self.length_of_list(node, element)?;
                    let completed = self.intern(TypeKind::Array(element, ArrayLen::Known(length)));
                    let init = self.members(completed.ty, items);
                    Ok((init, QualType { quals: ty.quals, ..completed }))
                }
                Some(_) => self.items(node).map(|items| (self.members(ty.ty, items), ty)),
                None if self.is_scalar(ty) => match named(node).as_slice() {
                    [only] if only.kind() != "initializer_pair" => self.initialiser(*only, ty),
                    _ => Err("braces around a scalar".into()),
                },
                None => self.items(node).map(|items| (self.members(ty.ty, items), ty)),
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
        let value = self.assigned(value, ty)?;
        // With its parentheses.
        Ok((Init::Scalar(value.spanning(self.source.span(node))), ty))
    }

    /// Reads the items of a braced list.
    fn items(&mut self, node: Node) -> Lowered<Vec<Item>> {
        self.nested(|lowering| named(node).into_iter().map(|item| lowering.item(item)).collect())
    }

    fn item(&mut self, node: Node) -> Lowered<Item> {
        let mut item = Item::default();
        let mut value = node;
        if node.kind() == "initializer_pair" {
            item.designated = true;
            let mut first = true;
            for (name, part) in parts(node) {
                if name != Some("designator") {
                    continue;
                }
                item.is_simple = first && matches!(part.kind(), "subscript_designator" | "field_designator");
                if first && part.kind() == "field_designator" {
                    item.member = named(part).first().map(|name| self.source.spelling(*name).to_owned());
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
                item.inner = self.items(value)?;
                item.whole = true;
            }
            "string_literal" | "concatenated_string" => {
                self.text(value)?;
                item.text = true;
            }
            _ => {
                let value = self.value(value)?;
                item.ty = Some(value.ty.ty);
                item.value = Some(value);
            }
        }
        Ok(item)
    }

    /// The number of elements that a braced list gives an array, and the list.
    fn length_of_list(&mut self, node: Node, element: QualType) -> Lowered<(u64, Vec<Item>)> {
        // `char a[] = {"abc"}`.
        if let [only] = named(node).as_slice()
            && matches!(only.kind(), "string_literal" | "concatenated_string")
            && self.types().as_int(element.ty).is_some()
        {
            let length = self.text(*only)?.length;
            return Ok((length, vec![self.item(*only)?]));
        }
        let items = self.items(node)?;
        Ok((self.elements(element, &items)?, items))
    }

    /// A list of constants that isn't in the tree.
    fn table(&mut self, table: &Table, ty: QualType) -> Lowered<(Init, QualType)> {
        if self.is_scalar(ty) {
            return Err("braces around a scalar".into());
        }
        let TypeKind::Array(element, ArrayLen::Unknown) = *self.types().kind(ty.ty) else {
            return Ok((Init::Aggregate, ty));
        };
        let kinds = table.items.as_ref().ok_or("designators in a list of constants")?;
        let length = if self.is_scalar(element) || kinds.iter().all(|kind| *kind == TableItem::Braced) {
            kinds.len() as u64
        } else {
            let item = |kind: &TableItem| Item {
                whole: *kind == TableItem::Braced,
                text: *kind == TableItem::Text,
                ..Item::default()
            };
            self.elements(element, &kinds.iter().map(item).collect::<Vec<Item>>())?
        };
        let completed = self.intern(TypeKind::Array(element, ArrayLen::Known(length)));
        Ok((Init::Aggregate, QualType { quals: ty.quals, ..completed }))
    }

    /// How many elements some items are.
    fn elements(&self, element: QualType, items: &[Item]) -> Lowered<u64> {
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
                self.consume(element.ty, items, &mut next, true);
            }
            if next == before {
                return Err("an initialiser that fills nothing".into());
            }
            at = at.checked_add(1).ok_or("an array too long")?;
            longest = longest.max(at);
        }
        Ok(longest)
    }

    /// What a braced list gives an object of type `ty`, scalar by scalar, and bit-fields by their containers, where that is simple: without designators of
    /// several steps, strings and unions.
    fn members(&mut self, ty: TypeId, items: Vec<Item>) -> Init {
        fn count(items: &[Item]) -> usize {
            items.iter().map(|item| 1 + count(&item.inner)).sum()
        }
        if count(&items) > KEPT {
            return Init::Aggregate;
        }
        let mut list = Vec::new();
        let found = self.members_of(ty, items, 0, &mut list);
        // Of two values for one scalar the first need not be evaluated.
        let mut ends: Vec<(u64, u64)> =
            list.iter().map(|(at, e)| (*at, at + self.types().size_of(e.ty.ty).unwrap_or(0))).collect();
        ends.sort_unstable();
        match found {
            Some(()) if ends.is_sorted_by(|a, b| a.1 <= b.0) => Init::Members(list),
            _ => Init::Aggregate,
        }
    }

    fn members_of(
        &mut self,
        ty: TypeId,
        items: Vec<Item>,
        at: u64,
        list: &mut Vec<(u64, Expr)>,
    ) -> Option<()> {
        let mut rest = items.into_iter().peekable();
        self.parts_of(ty, true, &mut rest, at, list)?;
        rest.next().is_none().then_some(())
    }

    /// Takes the items of the parts of an aggregate, to which designators lead if the items are `its_own`.
    fn parts_of(
        &mut self,
        ty: TypeId,
        its_own: bool,
        rest: &mut std::iter::Peekable<std::vec::IntoIter<Item>>,
        at: u64,
        list: &mut Vec<(u64, Expr)>,
    ) -> Option<()> {
        match self.types().kind(ty).clone() {
            TypeKind::Array(element, ArrayLen::Known(length)) => {
                let size = self.types().size_of(element.ty)?;
                let mut k = 0;
                while let Some(item) = rest.peek_mut() {
                    match item.designated {
                        true if its_own => k = item.undesignated()?.index?,
                        true => break,
                        false if k < length => {}
                        false => break,
                    }
                    self.one_part(element, rest, at.checked_add(k.checked_mul(size)?)?, list)?;
                    k += 1;
                }
            }
            TypeKind::Record(id) => {
                let record = self.types().record(id).clone();
                let fields = record.fields.as_ref().filter(|_| !record.is_union)?;
                // What isn't reached is zero, in whichever way it is laid out.
                let (mut k, mut in_bits, begin) = (0, Vec::new(), list.len());
                while let Some(item) = rest.peek_mut() {
                    // Bit-fields without a name aren't initialised.
                    let is_nameless = |field: &Field| field.bits.is_some() && field.name.is_none();
                    k += fields.iter().skip(k).take_while(|field| is_nameless(field)).count();
                    match item.designated {
                        true if its_own => {
                            let name = item.undesignated()?.member.clone()?;
                            k = fields.iter().position(|field| field.name.as_ref() == Some(&name))?;
                        }
                        true => break,
                        false if k < fields.len() => {}
                        false => break,
                    }
                    let field = &fields[k];
                    match field.bits {
                        Some(_) => in_bits.push((field, self.one_scalar(field.ty, rest)?)),
                        None => self.one_part(field.ty, rest, at.checked_add(field.offset)?, list)?,
                    }
                    k += 1;
                }
                // Their values come behind all others, wherever they stand.
                if !in_bits.is_empty() && !list[begin..].iter().all(|(_, value)| self.is_pure(value)) {
                    return None;
                }
                list.extend(self.in_containers(&record, at, in_bits)?);
            }
            _ => return None,
        }
        Some(())
    }

    fn one_part(
        &mut self,
        ty: QualType,
        rest: &mut std::iter::Peekable<std::vec::IntoIter<Item>>,
        at: u64,
        list: &mut Vec<(u64, Expr)>,
    ) -> Option<()> {
        let item = rest.peek()?;
        if item.designated || item.text || self.is_empty(ty.ty) {
            return None;
        }
        if self.is_scalar(ty) {
            list.push((at, self.one_scalar(ty, rest)?));
            return Some(());
        }
        if item.whole {
            let item = rest.next()?;
            return self.members_of(ty.ty, item.inner, at, list);
        }
        // A structure's value as a whole, or braces that are left out.
        if item.ty == Some(ty.ty) {
            list.push((at, rest.next()?.value?));
            return Some(());
        }
        self.parts_of(ty.ty, false, rest, at, list)
    }

    fn one_scalar(
        &mut self,
        ty: QualType,
        rest: &mut std::iter::Peekable<std::vec::IntoIter<Item>>,
    ) -> Option<Expr> {
        let item = rest.next_if(|item| !item.designated && !item.text)?;
        let value = match item.whole {
            true => {
                let [only] = <[Item; 1]>::try_from(item.inner).ok()?;
                (!only.designated).then_some(only.value?)?
            }
            false => item.value?,
        };
        self.assigned(value, ty).ok()
    }

    /// What bit-fields of a record at byte `at` are given, by their containers, whose other bits are zero. `None` if one has no container or two values, or one that does
    /// something when it is computed.
    fn in_containers(
        &mut self,
        record: &Record,
        at: u64,
        given: Vec<(&Field, Expr)>,
    ) -> Option<Vec<(u64, Expr)>> {
        let mut all: Vec<(Container, i128, Expr)> = Vec::new();
        for (field, value) in given {
            let (container, first, width) = located(record, field.offset, field.bits?)?;
            if !self.is_pure(&value) || self.strays_from_field(&value, width) {
                return None;
            }
            let (mask, span) = ((1i128 << width) - 1, value.span);
            let (wide, int) = (self.int_type(container.wide()), self.int_type(IntKind::Int));
            let number = |value: i128, ty: QualType| Expr { kind: ExprKind::Int(value), ty, span };
            let both = |op: BinOp, a: Expr, b: Expr| {
                let kind = ExprKind::Binary(op, Box::new(a), Box::new(b));
                Expr { kind, ty: wide, span }
            };
            let value = self.cast(value, wide);
            let value = both(BinOp::And, value, number(mask, wide));
            let value = both(BinOp::Shl, value, number(first.into(), int));
            match all.iter_mut().find(|(other, ..)| *other == container) {
                Some((_, bits, _)) if *bits & mask << first != 0 => return None,
                Some((_, bits, sum)) => {
                    *bits |= mask << first;
                    *sum = both(BinOp::Or, sum.clone(), value);
                }
                None => all.push((container, mask << first, value)),
            }
        }
        let one = |(container, _, sum): (Container, i128, Expr)| {
            let ty = self.int_type(container.kind());
            Some((at.checked_add(container.offset)?, self.cast(sum, ty)))
        };
        all.into_iter().map(one).collect()
    }

    /// Whether an object of type `ty` has no part that could be given a value. It takes an item of a list all the same.
    fn is_empty(&self, ty: TypeId) -> bool {
        match self.types().kind(ty) {
            TypeKind::Array(element, ArrayLen::Known(length)) => *length == 0 || self.is_empty(element.ty),
            TypeKind::Record(id) => {
                let fields = self.types().record(*id).fields.as_deref().unwrap_or_default();
                fields.iter().all(|field| self.is_empty(field.ty.ty))
            }
            _ => false,
        }
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
        if self.fills(ty, item) || self.is_empty(ty) {
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
