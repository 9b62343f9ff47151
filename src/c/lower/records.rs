//! Structs, unions and enumerations: their members, layout, and enumerators.

use tree_sitter::Node;

use super::super::constant;
use super::super::hir::*;
use super::super::types::{self, Member, RecordShape};
use super::super::view::{AttributeTarget, UNNAMED};
use super::declarators::{Base, PLAIN};
use super::names::{Entity, Tag};
use super::source::{field, named, parts};
use super::{Failure, Lowered, Lowering};

/// One member as declared.
struct Declaration {
    name: Option<String>,
    ty: QualType,
    member: Member,
}

impl Lowering<'_> {
    /// A struct or union specifier in a declaration that declares something else.
    pub(super) fn record_specifier(&mut self, node: Node) -> Lowered<QualType> {
        let id = self.record(node, false)?;
        Ok(self.intern(TypeKind::Record(id)))
    }

    /// `struct S;` or `struct S {...};`.
    pub(super) fn record_alone(&mut self, node: Node) -> Lowered<()> {
        self.record(node, true).map(|_| ())
    }

    fn record(&mut self, node: Node, alone: bool) -> Lowered<RecordId> {
        let is_union = node.kind() == "union_specifier";
        let tag = node.child_by_field_name("name").map(|name| self.source.spelling(name));
        let body = node.child_by_field_name("body");
        let known = match tag {
            Some(tag) if body.is_some() || alone => self.own_tag(tag),
            Some(tag) => self.lookup_tag(tag),
            None => None,
        };
        let id = match known {
            Some(Tag::Record(id)) => id,
            Some(Tag::Unknown) if body.is_none() => {
                return Err(format!("{} isn't understood", tag.unwrap_or("a record")).into());
            }
            Some(Tag::Enum(_)) => return Err("a tag of two kinds".into()),
            Some(Tag::Unknown) | None => {
                let full = tag.map(|tag| format!("{} {tag}", if is_union { "union" } else { "struct" }));
                let id = self.unit.types.add_record(Record {
                    alias: None,
                    tag: full,
                    is_union,
                    fields: None,
                    size: 0,
                    align: 1,
                });
                if let Some(tag) = tag {
                    self.declare_tag(tag, Tag::Record(id));
                }
                id
            }
        };
        if self.types().record(id).is_union != is_union {
            return Err("a tag of two kinds".into());
        }
        if let Some(body) = body {
            if self.types().record(id).fields.is_some() {
                return Err("a record defined twice".into());
            }
            let keyword = self.source.token(node).unwrap_or(usize::MAX);
            // A record that can't be laid out stays incomplete: only who looks into it is refused.
            match self.record_body(body, is_union, keyword, id) {
                Ok((fields, size, align)) => {
                    let record = self.unit.types.record_mut(id);
                    record.fields = Some(fields);
                    record.size = size;
                    record.align = align;
                }
                Err(failure) => {
                    self.without_layout.insert(id, failure.reason);
                }
            }
        }
        Ok(id)
    }

    fn record_body(
        &mut self,
        body: Node,
        is_union: bool,
        keyword: usize,
        id: RecordId,
    ) -> Lowered<(Vec<Field>, u64, u64)> {
        let mut declarations = Vec::new();
        let mut first_failure: Option<Failure> = None;
        for node in named(body) {
            let result = match node.kind() {
                "field_declaration" => self.field_declaration(node, &mut declarations),
                other => Err(format!("{other} among members").into()),
            };
            if let Err(failure) = result {
                first_failure.get_or_insert(failure);
            }
        }
        if let Some(failure) = first_failure {
            return Err(failure);
        }
        let attributes = self.source.attributes(AttributeTarget::Record(keyword));
        let has = |name: &str| attributes.iter().any(|a| a.name == name);
        if let Some(odd) = ["scalar_storage_order", "ms_struct"].into_iter().find(|name| has(name)) {
            return Err(format!("the attribute {odd}").into());
        }
        if has("transparent_union") {
            self.transparent.insert(id);
        }
        let pack =
            attributes.iter().rev().find(|a| a.name == "pragma_pack").and_then(|a| a.text.parse().ok());
        if pack.is_some_and(|limit| limit > 16) {
            return Err("`#pragma pack` that is not understood".into());
        }
        let shape =
            RecordShape { is_union, packed: has("packed"), pack, aligned: self.alignment(&attributes)? };
        let members: Vec<Member> = declarations.iter().map(|d| d.member).collect();
        let layout = types::lay_out(&members, shape)?;
        let fields = declarations.into_iter().zip(layout.members).map(|(declared, location)| Field {
            name: declared.name,
            ty: declared.ty,
            offset: location.offset,
            bits: location.bits,
        });
        Ok((fields.collect(), layout.size, layout.align))
    }

    fn field_declaration(&mut self, node: Node, members: &mut Vec<Declaration>) -> Lowered<()> {
        let (specifiers, base) = self.specifiers(node)?;
        let Base::Type { ty: base, align } = base else { return Err("a member of inferred type".into()) };
        let mut any = false;
        for (name, part) in parts(node) {
            if name == Some("declarator") {
                any = true;
                let declared = self.declarator(part, base)?;
                let name_node = declared.name.ok_or("a member without a name")?;
                let attributes = self.declarator_attributes(self.source.token(name_node));
                let ty = self.attributed_type(declared.ty, &attributes)?;
                let name = (self.source.text(name_node) != UNNAMED)
                    .then(|| self.source.spelling(name_node).to_owned());
                let asked = if self.same_object(ty, base) { align } else { None };
                let own = self.alignment(&attributes)?;
                // What stands in the specifiers as an attribute is the member's; what a typedef says, the type's.
                let from_specifiers = self.alignment(&specifiers.attributes)?;
                let packed = attributes.iter().chain(&specifiers.attributes).any(|a| a.name == "packed");
                let mut member =
                    self.member_shape(ty, if from_specifiers.is_some() { None } else { asked })?;
                member.aligned = own.max(from_specifiers);
                member.packed = packed;
                members.push(Declaration { name, ty, member });
            } else if part.kind() == "bitfield_clause" {
                let last = members.last_mut().ok_or("a width without a member")?;
                let named_member = last.name.is_some();
                let ty = last.ty;
                let width = named(part).first().copied().ok_or("a bit-field without a width")?;
                let width = self.value(width)?;
                let width = constant::fold(self.types(), &width).ok_or("a width that isn't constant")?;
                let kind = self.types().as_int(ty.ty).ok_or("a bit-field that is no integer")?;
                let most = if kind == IntKind::Bool { 1 } else { i128::from(kind.size() * 8) };
                if !(0..=most).contains(&width) {
                    return Err("a bit-field wider than its type".into());
                }
                if let Some(last) = members.last_mut() {
                    last.member.bits = Some((width as u64, named_member));
                }
                // What `containers` has in the place of bit-fields.
                for kind in [IntKind::UChar, IntKind::UShort, IntKind::UInt, IntKind::ULong] {
                    self.int_type(kind);
                }
            }
        }
        if any {
            return Ok(());
        }
        // Without a declarator: an anonymous record, or nothing.
        if let TypeKind::Record(id) = *self.types().kind(base.ty)
            && self.types().record(id).tag.is_none()
        {
            let mut member = self.member_shape(base, align)?;
            member.packed = specifiers.attributes.iter().any(|a| a.name == "packed");
            members.push(Declaration { name: None, ty: base, member });
        }
        Ok(())
    }

    fn member_shape(&self, ty: QualType, align: Option<u64>) -> Lowered<Member> {
        let flexible = match self.types().kind(ty.ty) {
            TypeKind::Array(_, ArrayLen::Unknown) => true,
            TypeKind::Array(_, ArrayLen::Variable(_)) => return Err("an array of variable length".into()),
            _ => false,
        };
        let size = if flexible { Some(0) } else { self.types().size_of(ty.ty) };
        let (Some(size), Some(natural)) = (size, self.types().align_of(ty.ty)) else {
            return Err(self.incomplete(ty));
        };
        Ok(Member { size, align: align.unwrap_or(natural), aligned: None, packed: false, bits: None })
    }

    // ---- Enumerations.

    /// An enumeration specifier; declares its enumerators.
    pub(super) fn enum_specifier(&mut self, node: Node) -> Lowered<QualType> {
        let tag = node.child_by_field_name("name").map(|name| self.source.spelling(name));
        let Some(body) = node.child_by_field_name("body") else {
            let tag = tag.ok_or("an enumeration without a tag")?;
            return match self.lookup_tag(tag) {
                Some(Tag::Enum(Some(ty))) => Ok(QualType { ty, quals: PLAIN }),
                Some(Tag::Unknown) => Err(format!("enum {tag} isn't understood").into()),
                Some(Tag::Record(_)) => Err("a tag of two kinds".into()),
                Some(Tag::Enum(None)) | None => {
                    // gcc allows it; what it is turns out later.
                    self.declare_tag(tag, Tag::Enum(None));
                    Ok(self.intern(TypeKind::Opaque {
                        size: None,
                        align: 4,
                        what: "an incomplete enumeration",
                    }))
                }
            };
        };
        if node.child_by_field_name("underlying_type").is_some() {
            return Err("an enumeration with a fixed type".into());
        }
        let int = self.int_type(IntKind::Int);
        let mut next = 0i128;
        let mut next_type = int.ty;
        let mut declared: Vec<(String, i128)> = Vec::new();
        for enumerator in named(body) {
            if enumerator.kind() != "enumerator" {
                return Err(format!("{} among enumerators", enumerator.kind()).into());
            }
            let name = self.source.spelling(field(enumerator, "name")?).to_owned();
            if let Some(value) = enumerator.child_by_field_name("value") {
                let value = self.value(value)?;
                next = constant::fold(self.types(), &value)
                    .ok_or_else(|| format!("the value of {name} isn't constant"))?;
                next_type = value.ty.ty;
            }
            let fits = constant::wrap(next, IntKind::Int) == Some(next);
            let ty = if fits { int.ty } else { next_type };
            self.declare(&name, Entity::Constant { value: next, ty });
            declared.push((name, next));
            next += 1;
            // Past the range of int gcc goes on in a wider type.
            if constant::wrap(next, IntKind::Int) != Some(next) {
                let kind = self.types().as_int(next_type).unwrap_or(IntKind::Int);
                if constant::wrap(next, kind) != Some(next) {
                    next_type = self.int_type(IntKind::Long).ty;
                }
            }
        }
        let low = declared.iter().map(|(_, value)| *value).min().unwrap_or(0);
        let high = declared.iter().map(|(_, value)| *value).max().unwrap_or(0);
        let keyword = self.source.token(node).unwrap_or(usize::MAX);
        let attributes = self.source.attributes(AttributeTarget::Enum(keyword));
        if attributes.iter().any(|a| a.name == "mode" || a.name == "aligned") {
            return Err("an enumeration with a chosen size".into());
        }
        let short = self.dialect.short_enums || attributes.iter().any(|a| a.name == "packed");
        let kind = types::enumeration(low, high, short).ok_or("an enumeration too large for any type")?;
        let ty = self.intern(TypeKind::Enum(kind));
        for (name, value) in declared {
            if constant::wrap(value, IntKind::Int) != Some(value) {
                self.declare(&name, Entity::Constant { value, ty: ty.ty });
            }
        }
        if let Some(tag) = tag {
            self.declare_tag(tag, Tag::Enum(Some(ty.ty)));
        }
        Ok(ty)
    }
}
