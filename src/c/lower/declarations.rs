//! Declarations: specifiers and declarators to types, records and enumerations, file scope, functions.

use super::super::constant::fold;
use super::super::types::{self, Member, plain};
use super::super::view::{AttributeTarget, BaseType, UNNAMED};
use super::*;

/// What the specifiers of a declaration say besides the type.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Specifiers {
    pub is_extern: bool,
    pub is_static: bool,
    pub is_inline: bool,
    pub is_thread: bool,
    pub is_typedef: bool,
}

/// Attributes that change what a record looks like in memory.
const LAYOUT_ATTRIBUTES: [&str; 6] =
    ["packed", "aligned", "pragma_pack", "ms_struct", "scalar_storage_order", "designated_init_layout"];
/// Attributes that change the type of what a declarator declares.
const TYPE_ATTRIBUTES: [&str; 3] = ["mode", "vector_size", "ext_vector_type"];

impl Lowering<'_> {
    /// The type that a declaration's specifiers name.
    pub(super) fn specifiers(&mut self, reader: &Reader, node: Node) -> Lowered<(QualType, Specifiers)> {
        let mut specifiers = Specifiers::default();
        let mut quals = Quals::default();
        let type_node = field(node, "type")?;
        let mut cursor = node.walk();
        for child in node.children(&mut cursor) {
            match child.kind() {
                "storage_class_specifier" => match reader.operator(child) {
                    "extern" => specifiers.is_extern = true,
                    "static" => specifiers.is_static = true,
                    "inline" => specifiers.is_inline = true,
                    "__thread" | "_Thread_local" => specifiers.is_thread = true,
                    _ => {}
                },
                "type_qualifier" => self.qualifier(reader, child, &mut quals),
                "typedef" => specifiers.is_typedef = true,
                _ => {}
            }
        }
        let start = AttributeTarget::Specifiers(reader.token(node)?);
        if reader.has_attribute(start, &TYPE_ATTRIBUTES) {
            return Err("an attribute that changes the type".into());
        }
        let mut ty = self.type_specifier(reader, type_node)?;
        merge(&mut ty.quals, quals);
        Ok((ty, specifiers))
    }

    fn qualifier(&self, reader: &Reader, node: Node, quals: &mut Quals) {
        match reader.operator(node) {
            "const" => quals.is_const = true,
            "volatile" => quals.is_volatile = true,
            "restrict" | "__restrict__" => quals.is_restrict = true,
            "_Atomic" => quals.is_atomic = true,
            _ => {}
        }
    }

    fn type_specifier(&mut self, reader: &Reader, node: Node) -> Lowered<QualType> {
        match node.kind() {
            "primitive_type" => {
                let token = reader.token(node)?;
                let base =
                    reader.declaration.special.types.get(&token).ok_or("a type without meaning")?.clone();
                match base {
                    BaseType::Void => Ok(self.void()),
                    BaseType::Int(IntKind::Char) if self.dialect.unsigned_char => {
                        Ok(self.int(IntKind::UChar))
                    }
                    BaseType::Int(kind) => Ok(self.int(kind)),
                    BaseType::Float(kind) => Ok(self.float(kind)),
                    BaseType::Typedef => match self.lookup(reader.tokens.spelling(token)) {
                        Some(Entity::Typedef(ty)) => Ok(ty),
                        _ => Err(format!("the type {} was not understood", reader.tokens.spelling(token))),
                    },
                    BaseType::Complex(kind) => {
                        let part = match kind {
                            FloatKind::Float => 4,
                            FloatKind::Double => 8,
                            _ => 16,
                        };
                        Ok(self.opaque(Some(2 * part), part, "a complex number"))
                    }
                    BaseType::VaList => Ok(self.opaque(Some(24), 8, "va_list")),
                    BaseType::Typeof(_) => Err("typeof".into()),
                    BaseType::Atomic(_) => Err("_Atomic(type)".into()),
                    BaseType::Inferred => Err("an inferred type".into()),
                    BaseType::Other(name) => Err(format!("the type {name}")),
                }
            }
            "struct_specifier" | "union_specifier" => self.record(reader, node),
            "enum_specifier" => self.enumeration(reader, node),
            other => Err(format!("a type written as {other}")),
        }
    }

    fn opaque(&mut self, size: Option<u64>, align: u64, what: &'static str) -> QualType {
        plain(self.unit.types.intern(TypeKind::Opaque { size, align, what }))
    }

    fn record(&mut self, reader: &Reader, node: Node) -> Lowered<QualType> {
        let is_union = node.kind() == "union_specifier";
        let tag = match node.child_by_field_name("name") {
            Some(name) => Some(reader.text(name)?.to_owned()),
            None => None,
        };
        let body = node.child_by_field_name("body");
        let known = tag.as_ref().and_then(|t| match body {
            // A definition is one of this scope.
            Some(_) => self.scopes.last().and_then(|s| s.tags.get(t).copied()),
            None => self.lookup_tag(t),
        });
        let id = match known {
            Some(Tag::Record(id)) => id,
            Some(Tag::Enum(_)) => return Err("a tag of another kind".into()),
            None => {
                let fresh = Record { tag: tag.clone(), is_union, fields: None, size: 0, align: 1 };
                let id = self.unit.types.add_record(fresh);
                if let (Some(tag), Some(scope)) = (&tag, self.scopes.last_mut()) {
                    scope.tags.insert(tag.clone(), Tag::Record(id));
                }
                id
            }
        };
        let ty = plain(self.unit.types.intern(TypeKind::Record(id)));
        let Some(body) = body else { return Ok(ty) };
        let keyword = AttributeTarget::Record(reader.token(node)?);
        let mut known_layout = !reader.has_attribute(keyword, &LAYOUT_ATTRIBUTES);
        let mut members = Vec::new();
        for member in children(body) {
            match member.kind() {
                "field_declaration" => known_layout &= self.members(reader, member, &mut members)?,
                other => return Err(format!("{other} in a record")),
            }
        }
        if known_layout
            && let Some((fields, size, align)) = types::layout(&self.unit.types, is_union, members)
        {
            let record = self.unit.types.record_mut(id);
            (record.fields, record.size, record.align) = (Some(fields), size, align);
        }
        Ok(ty)
    }

    /// Adds the members of one declaration; false if their layout is not known.
    fn members(&mut self, reader: &Reader, node: Node, members: &mut Vec<Member>) -> Lowered<bool> {
        let (base, _) = self.specifiers(reader, node)?;
        let start = AttributeTarget::Specifiers(reader.token(node)?);
        let mut known = !reader.has_attribute(start, &LAYOUT_ATTRIBUTES);
        let mut cursor = node.walk();
        let mut any = false;
        let mut at_declarator = false;
        for child in node.children(&mut cursor) {
            let is_declarator = child.is_named() && {
                // Everything after the type that is a declarator.
                matches!(
                    child.kind(),
                    "field_identifier"
                        | "pointer_declarator"
                        | "array_declarator"
                        | "function_declarator"
                        | "parenthesized_declarator"
                ) && Some(child) != node.child_by_field_name("type")
            };
            if is_declarator {
                at_declarator = true;
                any = true;
                let (name, ty, token) = self.declarator(reader, child, base)?;
                let target = AttributeTarget::Declarator(token.unwrap_or(usize::MAX));
                known &= !reader.has_attribute(target, &LAYOUT_ATTRIBUTES);
                if reader.has_attribute(target, &TYPE_ATTRIBUTES) {
                    return Err("an attribute that changes the type".into());
                }
                let is_unnamed = reader.operator(child) == UNNAMED;
                members.push(Member { name: name.filter(|_| !is_unnamed), ty, bits: None });
            } else if child.kind() == "bitfield_clause" && at_declarator {
                let width = child.named_child(0).ok_or("a bit-field without width")?;
                let width = self.constant(reader, width)?;
                let last = members.last_mut().ok_or("a bit-field without member")?;
                last.bits = Some(u64::try_from(width).map_err(|_| "a bit-field of negative width")?);
            }
        }
        if !any {
            // An anonymous struct or union.
            members.push(Member { name: None, ty: base, bits: None });
        }
        Ok(known)
    }

    fn enumeration(&mut self, reader: &Reader, node: Node) -> Lowered<QualType> {
        let tag = match node.child_by_field_name("name") {
            Some(name) => Some(reader.text(name)?.to_owned()),
            None => None,
        };
        let Some(body) = node.child_by_field_name("body") else {
            return match tag.as_ref().and_then(|t| self.lookup_tag(t)) {
                Some(Tag::Enum(ty)) => Ok(plain(ty)),
                _ => Err("an incomplete enumeration".into()),
            };
        };
        if reader.has_attribute(AttributeTarget::Enum(reader.token(node)?), &["packed", "mode", "aligned"])
            || self.dialect.short_enums
        {
            return Err("an enumeration of special size".into());
        }
        let int = self.int(IntKind::Int);
        let mut next = 0i128;
        let mut named = Vec::new();
        for enumerator in children(body) {
            if enumerator.kind() != "enumerator" {
                return Err("an enumerator list".into());
            }
            if let Some(value) = enumerator.child_by_field_name("value") {
                next = self.constant(reader, value)?;
            }
            let name = reader.text(field(enumerator, "name")?)?.to_owned();
            let fits = types::wrap(next, IntKind::Int) == next;
            let ty = if fits { int.ty } else { self.int(IntKind::Long).ty };
            self.bind(&name, Entity::Enumerator(next, ty));
            named.push(next);
            next += 1;
        }
        let (low, high) =
            (named.iter().min().copied().unwrap_or(0), named.iter().max().copied().unwrap_or(0));
        // gcc: unsigned int unless an enumerator is negative; long where int does not suffice.
        let kind = if low >= 0 && high <= i128::from(u32::MAX) {
            IntKind::UInt
        } else if low >= i128::from(i32::MIN) && high <= i128::from(i32::MAX) {
            IntKind::Int
        } else if low >= 0 {
            IntKind::ULong
        } else {
            IntKind::Long
        };
        let ty = self.unit.types.intern(TypeKind::Enum(kind));
        if let (Some(tag), Some(scope)) = (tag, self.scopes.last_mut()) {
            scope.tags.insert(tag, Tag::Enum(ty));
        }
        Ok(plain(ty))
    }

    /// An integer constant expression.
    pub(super) fn constant(&mut self, reader: &Reader, node: Node) -> Lowered<i128> {
        let expr = self.rvalue(reader, node)?;
        fold(&self.unit.types, &expr).ok_or_else(|| "an expression that should be constant".into())
    }

    /// Name, type and name token of a declarator over a base type.
    pub(super) fn declarator(
        &mut self,
        reader: &Reader,
        node: Node,
        base: QualType,
    ) -> Lowered<(Option<String>, QualType, Option<usize>)> {
        match node.kind() {
            "identifier" | "field_identifier" | "type_identifier" | "primitive_type" => {
                let token = reader.token(node)?;
                Ok((Some(reader.tokens.spelling(token).to_owned()), base, Some(token)))
            }
            "pointer_declarator" | "abstract_pointer_declarator" | "pointer_type_declarator" => {
                let mut quals = Quals::default();
                let mut cursor = node.walk();
                for child in node.children(&mut cursor).filter(|c| c.kind() == "type_qualifier") {
                    self.qualifier(reader, child, &mut quals);
                }
                let mut pointer = self.pointer_to(base);
                pointer.quals = quals;
                self.inner(reader, node, pointer)
            }
            "array_declarator" | "abstract_array_declarator" | "array_type_declarator" => {
                let length = match node.child_by_field_name("size") {
                    None => ArrayLen::Unknown,
                    Some(size) if reader.operator(size) == "*" => ArrayLen::Variable,
                    Some(size) => {
                        let value = self.rvalue(reader, size)?;
                        match fold(&self.unit.types, &value) {
                            Some(n) => {
                                ArrayLen::Known(u64::try_from(n).map_err(|_| "an array of negative length")?)
                            }
                            None => ArrayLen::Variable,
                        }
                    }
                };
                let array = plain(self.unit.types.intern(TypeKind::Array(base, length)));
                self.inner(reader, node, array)
            }
            "function_declarator" | "abstract_function_declarator" | "function_type_declarator" => {
                let (params, variadic, prototyped) =
                    self.parameter_types(reader, field(node, "parameters")?)?;
                let params = params.into_iter().map(|(_, ty, _)| ty).collect();
                let function = TypeKind::Function { ret: base, params, variadic, prototyped };
                let function = plain(self.unit.types.intern(function));
                self.inner(reader, node, function)
            }
            "parenthesized_declarator"
            | "abstract_parenthesized_declarator"
            | "parenthesized_type_declarator" => {
                let inner = children(node).into_iter().find(|c| !c.kind().ends_with("modifier"));
                self.declarator(reader, inner.ok_or("an empty declarator")?, base)
            }
            other => Err(format!("a declarator written as {other}")),
        }
    }

    fn inner(
        &mut self,
        reader: &Reader,
        node: Node,
        ty: QualType,
    ) -> Lowered<(Option<String>, QualType, Option<usize>)> {
        match node.child_by_field_name("declarator") {
            Some(inner) => self.declarator(reader, inner, ty),
            None => Ok((None, ty, None)),
        }
    }

    /// Parameters with their adjusted types; whether variadic; whether it is a prototype.
    #[allow(clippy::type_complexity)]
    pub(super) fn parameter_types(
        &mut self,
        reader: &Reader,
        list: Node,
    ) -> Lowered<(Vec<(Option<String>, QualType, Span)>, bool, bool)> {
        let nodes = children(list);
        if nodes.is_empty() {
            return Ok((Vec::new(), false, false));
        }
        self.scopes.push(Scope::default());
        let result = self.parameter_types_scoped(reader, &nodes);
        self.scopes.pop();
        result
    }

    #[allow(clippy::type_complexity)]
    fn parameter_types_scoped(
        &mut self,
        reader: &Reader,
        nodes: &[Node],
    ) -> Lowered<(Vec<(Option<String>, QualType, Span)>, bool, bool)> {
        let mut params = Vec::new();
        let mut variadic = false;
        for node in nodes {
            match node.kind() {
                "variadic_parameter" => variadic = true,
                "parameter_declaration" => {
                    let (base, _) = self.specifiers(reader, *node)?;
                    let (name, ty, _) = match node.child_by_field_name("declarator") {
                        Some(declarator) => self.declarator(reader, declarator, base)?,
                        None => (None, base, None),
                    };
                    if nodes.len() == 1
                        && name.is_none()
                        && matches!(self.unit.types.kind(ty.ty), TypeKind::Void)
                    {
                        return Ok((Vec::new(), false, true));
                    }
                    let ty = self.adjust(ty);
                    if let Some(name) = &name {
                        // Later parameters may mention it in array lengths.
                        let id = self.variable(name, ty, Storage::Param, reader.span(*node));
                        self.bind(name, Entity::Variable(id));
                    }
                    params.push((name, ty, reader.span(*node)));
                }
                other => return Err(format!("a parameter written as {other}")),
            }
        }
        Ok((params, variadic, true))
    }

    /// A parameter's type: arrays and functions become pointers.
    fn adjust(&mut self, ty: QualType) -> QualType {
        match self.unit.types.kind(ty.ty).clone() {
            TypeKind::Array(element, _) => self.pointer_to(element),
            TypeKind::Function { .. } => self.pointer_to(ty),
            _ => ty,
        }
    }

    /// A type name, as in casts and `sizeof`.
    pub(super) fn type_name(&mut self, reader: &Reader, node: Node) -> Lowered<QualType> {
        let (base, _) = self.specifiers(reader, node)?;
        match node.child_by_field_name("declarator") {
            Some(declarator) => Ok(self.declarator(reader, declarator, base)?.1),
            None => Ok(base),
        }
    }

    /// A declaration at file scope.
    pub(super) fn file_scope(&mut self, reader: &Reader, node: Node) -> Lowered<()> {
        match node.kind() {
            "declaration" | "type_definition" => {
                self.declaration(reader, node, true)?;
                Ok(())
            }
            "struct_specifier" | "union_specifier" | "enum_specifier" => {
                self.type_specifier(reader, node)?;
                Ok(())
            }
            "expression_statement" | "attributed_statement" if node.named_child_count() == 0 => Ok(()),
            other => Err(format!("{other} at file scope")),
        }
    }

    /// A declaration; for block scope the statements that it amounts to.
    pub(super) fn declaration(
        &mut self,
        reader: &Reader,
        node: Node,
        file_scope: bool,
    ) -> Lowered<Vec<Stmt>> {
        let (base, specifiers) = self.specifiers(reader, node)?;
        let is_typedef = specifiers.is_typedef || node.kind() == "type_definition";
        let start = AttributeTarget::Specifiers(reader.token(node)?);
        let mut statements = Vec::new();
        let mut cursor = node.walk();
        let declarators: Vec<Node> = node.children_by_field_name("declarator", &mut cursor).collect();
        for declarator in declarators {
            let (target, value) = match declarator.kind() {
                "init_declarator" => {
                    (field(declarator, "declarator")?, declarator.child_by_field_name("value"))
                }
                _ => (declarator, None),
            };
            let (name, mut ty, token) = self.declarator(reader, target, base)?;
            let (Some(name), Some(token)) = (name, token) else {
                return Err("a declaration without a name".into());
            };
            let attributes = AttributeTarget::Declarator(token);
            if reader.has_attribute(attributes, &TYPE_ATTRIBUTES) {
                return Err("an attribute that changes the type".into());
            }
            let marked = |names: &[&str]| {
                reader.has_attribute(attributes, names) || reader.has_attribute(start, names)
            };
            if is_typedef {
                if marked(&["aligned", "packed", "may_alias"]) {
                    return Err("a typedef with an attribute that changes the type".into());
                }
                self.bind(&name, Entity::Typedef(ty));
                continue;
            }
            let span = reader.span(target);
            let is_function = matches!(self.unit.types.kind(ty.ty), TypeKind::Function { .. });
            let storage = if specifiers.is_thread {
                Storage::ThreadLocal
            } else if file_scope || is_function || specifiers.is_extern {
                Storage::Global
            } else if specifiers.is_static {
                Storage::StaticLocal
            } else {
                Storage::Local
            };
            if !file_scope && marked(&["cleanup"]) {
                return Err("a variable with a cleanup function".into());
            }
            if let (Some(value), TypeKind::Array(element, ArrayLen::Unknown)) =
                (value, self.unit.types.kind(ty.ty).clone())
            {
                let length = self.initialised_length(reader, value, element)?;
                ty.ty = self.unit.types.intern(TypeKind::Array(element, ArrayLen::Known(length)));
            }
            let id = if storage == Storage::Global || (file_scope && storage == Storage::ThreadLocal) {
                self.global(&name, ty, storage, span)
            } else {
                self.variable(&name, ty, storage, span)
            };
            if marked(&["weak", "alias", "ifunc", "weakref", "asm_label", "section"])
                || (specifiers.is_extern && value.is_none())
            {
                self.unit.variables[id.0 as usize].is_extern = true;
            }
            self.bind(&name, Entity::Variable(id));
            if file_scope || storage == Storage::Global {
                continue;
            }
            let init = match value {
                None => None,
                Some(value) if value.kind() == "initializer_list" || self.is_aggregate(ty) => {
                    match (value.kind(), self.is_aggregate(ty)) {
                        // A struct may be initialised by a value of its type.
                        ("initializer_list", _) | ("string_literal" | "concatenated_string", _) => {
                            Some(Init::Aggregate)
                        }
                        _ => Some(Init::Scalar(self.rvalue(reader, value)?)),
                    }
                }
                Some(value) => {
                    let value = self.rvalue(reader, value)?;
                    Some(Init::Scalar(self.convert(value, plain(ty.ty))?))
                }
            };
            // A static object's initialiser is evaluated at compile time.
            let init = if storage == Storage::Local { init } else { None };
            let kind = StmtKind::Declare { var: id, init };
            statements.push(Stmt { kind, span: reader.span(node) });
        }
        Ok(statements)
    }

    pub(super) fn is_aggregate(&self, ty: QualType) -> bool {
        matches!(self.unit.types.kind(ty.ty), TypeKind::Array(..) | TypeKind::Record(_))
    }

    /// The number of elements that an initialiser gives an array; refused where designators leave it open.
    fn initialised_length(&mut self, reader: &Reader, value: Node, element: QualType) -> Lowered<u64> {
        match value.kind() {
            "string_literal" | "concatenated_string" => {
                let bytes = self.string_bytes(reader, value)?;
                Ok(bytes.len() as u64 + 1)
            }
            "initializer_list" => {
                let items = children(value);
                if items.len() == 1 && matches!(items[0].kind(), "string_literal" | "concatenated_string") {
                    let is_char = self.unit.types.size_of(element.ty) == Some(1);
                    if is_char {
                        return self.initialised_length(reader, items[0], element);
                    }
                }
                let designated = items.iter().any(|i| i.kind() == "initializer_pair");
                let flat = self.is_aggregate(element) && items.iter().any(|i| i.kind() != "initializer_list");
                if designated || flat {
                    return Err("an array whose length its initialiser leaves open".into());
                }
                Ok(items.len() as u64)
            }
            _ => Err("an array initialised by an expression".into()),
        }
    }

    /// A variable or function at file scope; declarations of one name are one variable.
    fn global(&mut self, name: &str, ty: QualType, storage: Storage, span: Span) -> VarId {
        if let Some(Entity::Variable(id)) = self.scopes[0].names.get(name).copied() {
            let known = &self.unit.variables[id.0 as usize];
            let complete = self.unit.types.size_of(known.ty.ty).is_some();
            let is_prototype =
                matches!(self.unit.types.kind(ty.ty), TypeKind::Function { prototyped: true, .. });
            if !complete && (self.unit.types.size_of(ty.ty).is_some() || is_prototype) {
                self.unit.variables[id.0 as usize].ty = ty;
            }
            return id;
        }
        let id = self.variable(name, ty, storage, span);
        self.scopes[0].names.insert(name.to_owned(), Entity::Variable(id));
        id
    }

    /// A function definition.
    pub(super) fn function(&mut self, reader: &Reader, node: Node) -> Lowered<()> {
        if node.kind() != "function_definition" {
            return Err(format!("{} where a function was expected", node.kind()));
        }
        if reader.declaration.special.old_style {
            return Err("an old-style definition".into());
        }
        let (base, specifiers) = self.specifiers(reader, node)?;
        let mut declarator = field(node, "declarator")?;
        let (name, ty, token) = self.declarator(reader, declarator, base)?;
        let (Some(name), Some(token)) = (name, token) else { return Err("a function without a name".into()) };
        let TypeKind::Function { ret, .. } = self.unit.types.kind(ty.ty).clone() else {
            return Err("a definition that is no function".into());
        };
        let var = self.global(&name, ty, Storage::Global, reader.span(declarator));
        if reader
            .has_attribute(AttributeTarget::Declarator(token), &["weak", "alias", "ifunc", "naked", "target"])
        {
            self.unit.variables[var.0 as usize].is_extern = true;
        }
        // The parameter list belongs to the innermost function declarator.
        let list = loop {
            let next = declarator
                .child_by_field_name("declarator")
                .or_else(|| children(declarator).into_iter().find(|c| c.kind().ends_with("declarator")));
            let parameters = declarator.child_by_field_name("parameters");
            match (next, parameters) {
                (Some(next), Some(list)) if next.kind() == "identifier" => break list,
                (Some(next), _) if next.kind() != "identifier" => declarator = next,
                (None, Some(list)) => break list,
                _ => return Err("a function declarator".into()),
            }
        };
        self.scopes.push(Scope::default());
        let mut params = Vec::new();
        for parameter in children(list) {
            if parameter.kind() != "parameter_declaration" {
                continue;
            }
            let (base, _) = self.specifiers(reader, parameter)?;
            let Some(inner) = parameter.child_by_field_name("declarator") else {
                if matches!(self.unit.types.kind(base.ty), TypeKind::Void) {
                    continue;
                }
                return Err("a parameter without a name".into());
            };
            let (name, ty, _) = self.declarator(reader, inner, base)?;
            let name = name.ok_or("a parameter without a name")?;
            let ty = self.adjust(ty);
            let id = self.variable(&name, ty, Storage::Param, reader.span(inner));
            self.bind(&name, Entity::Variable(id));
            params.push(id);
        }
        self.return_type = Some(ret);
        let body = self.statement(reader, field(node, "body")?)?;
        let is_extern_inline = specifiers.is_inline && !specifiers.is_static;
        self.unit.functions.push(Function {
            var,
            params,
            body,
            extern_inline: is_extern_inline,
            span: reader.span(node),
        });
        Ok(())
    }
}

fn merge(into: &mut Quals, other: Quals) {
    into.is_const |= other.is_const;
    into.is_volatile |= other.is_volatile;
    into.is_restrict |= other.is_restrict;
    into.is_atomic |= other.is_atomic;
}
