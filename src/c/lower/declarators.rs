//! Specifiers and declarators: from `unsigned long *(*f)(int)[3]` to a type and a name.
//!
//! Not here: members of records and enumerators (`records`), and what a declaration does with the name
//! (`declarations`).

use tree_sitter::Node;

use super::super::constant;
use super::super::hir::*;
use super::super::view::{Attribute, BaseType};
use super::names::{Entity, Scope};
use super::source::{field, named, parts};
use super::{Failure, Lowered, Lowering};

/// What stands in front of declarators.
#[derive(Clone, Default)]
pub(super) struct Specifiers<'a> {
    pub is_extern: bool,
    pub is_static: bool,
    pub is_inline: bool,
    pub is_thread_local: bool,
    pub attributes: Vec<&'a Attribute>,
}

/// The type that specifiers name.
#[derive(Clone, Copy)]
pub(super) enum Base {
    Type {
        ty: QualType,
        /// Alignment that a typedef or the specifiers' attributes ask for.
        align: Option<u64>,
    },
    /// The initialiser's type.
    Inferred,
}

/// One parameter.
#[derive(Clone)]
pub(super) struct Parameter {
    pub name: String,
    pub ty: QualType,
    pub span: Span,
}

/// The parameters next to a declared name.
#[derive(Default)]
pub(super) struct Parameters {
    pub list: Vec<Parameter>,
    /// The variables that they were while the list was read.
    pub variables: Vec<VarId>,
    /// The lengths that they have of each other.
    pub lengths: Vec<(LengthId, Expr)>,
    /// An identifier list, whose types are still to come.
    pub identifiers: Vec<String>,
    /// The tags and enumerators declared inside.
    pub scope: Scope,
}

/// What a declarator says.
pub(super) struct Declared<'t> {
    /// The node of the name.
    pub name: Option<Node<'t>>,
    pub ty: QualType,
    pub parameters: Option<Parameters>,
}

pub(super) const PLAIN: Quals =
    Quals { is_const: false, is_volatile: false, is_restrict: false, is_atomic: false };

impl<'a> Lowering<'a> {
    pub(super) fn intern(&mut self, kind: TypeKind) -> QualType {
        QualType { ty: self.unit.types.intern(kind), quals: PLAIN }
    }
    pub(super) fn int_type(&mut self, kind: IntKind) -> QualType {
        let kind = if kind == IntKind::Char { self.char_kind() } else { kind };
        self.intern(TypeKind::Int(kind))
    }
    pub(super) fn float_type(&mut self, kind: FloatKind) -> QualType {
        self.intern(TypeKind::Float(kind))
    }
    pub(super) fn pointer_to(&mut self, to: QualType) -> QualType {
        self.intern(TypeKind::Pointer(to))
    }
    pub(super) fn void(&mut self) -> QualType {
        self.intern(TypeKind::Void)
    }
    /// The kind of plain `char`.
    pub(super) fn char_kind(&self) -> IntKind {
        if self.dialect.unsigned_char { IntKind::UChar } else { IntKind::Char }
    }

    /// Adds qualifiers to a type. A qualified array is an array of qualified elements.
    pub(super) fn qualify(&mut self, ty: QualType, quals: Quals) -> QualType {
        if let TypeKind::Array(element, length) = *self.types().kind(ty.ty)
            && quals != PLAIN
        {
            let element = self.qualify(element, quals);
            return QualType { quals: ty.quals, ..self.intern(TypeKind::Array(element, length)) };
        }
        QualType { ty: ty.ty, quals: merged(ty.quals, quals) }
    }

    /// The specifiers and the base type of a declaration, type name, parameter or member.
    pub(super) fn specifiers(&mut self, node: Node) -> Lowered<(Specifiers<'a>, Base)> {
        let mut result = Specifiers::default();
        let mut quals = PLAIN;
        let mut type_node = None;
        let mut first_token = None;
        for (name, part) in parts(node) {
            if name == Some("declarator") {
                break;
            }
            match part.kind() {
                "storage_class_specifier" => match self.source.text(part) {
                    "extern" => result.is_extern = true,
                    "static" => result.is_static = true,
                    "inline" => result.is_inline = true,
                    "__thread" => result.is_thread_local = true,
                    "auto" | "register" => {}
                    other => return Err(format!("the storage class {other}").into()),
                },
                "type_qualifier" => quals = merged(quals, self.qualifier(part)?),
                "typedef" => {}
                _ if name == Some("type") => type_node = Some(part),
                _ => continue,
            }
            let token = self.source.token(part);
            first_token = match (first_token, token) {
                (Some(a), Some(b)) => Some(std::cmp::min::<usize>(a, b)),
                (a, b) => a.or(b),
            };
        }
        if let Some(first) = first_token {
            result.attributes = self.source.specifier_attributes(first);
        }
        let type_node = type_node.ok_or("a declaration without a type")?;
        let base = match self.type_specifier(type_node)? {
            Base::Inferred => Base::Inferred,
            Base::Type { ty, align } => {
                let ty = self.attributed_type(ty, &result.attributes)?;
                let align = self.alignment(&result.attributes)?.or(align);
                if quals.is_atomic
                    && self.types().as_int(ty.ty).is_none()
                    && self.types().pointee(ty.ty).is_none()
                {
                    return Err("an atomic type that is no integer or pointer".into());
                }
                Base::Type { ty: self.qualify(ty, quals), align }
            }
        };
        Ok((result, base))
    }

    /// A type name, as in a cast.
    pub(super) fn type_name(&mut self, node: Node) -> Lowered<QualType> {
        match self.specifiers(node)?.1 {
            Base::Inferred => Err("an inferred type without an initialiser".into()),
            Base::Type { ty, .. } => match node.child_by_field_name("declarator") {
                Some(declarator) => Ok(self.declarator(declarator, ty)?.ty),
                None => Ok(ty),
            },
        }
    }

    fn qualifier(&self, node: Node) -> Lowered<Quals> {
        let mut quals = PLAIN;
        match self.source.text(node) {
            "const" => quals.is_const = true,
            "volatile" => quals.is_volatile = true,
            "restrict" => quals.is_restrict = true,
            "_Atomic" => quals.is_atomic = true,
            other => return Err(format!("the qualifier {other}").into()),
        }
        Ok(quals)
    }

    fn qualifiers(&self, node: Node) -> Lowered<Quals> {
        let all = named(node).into_iter().filter(|part| part.kind() == "type_qualifier");
        all.map(|part| self.qualifier(part)).try_fold(PLAIN, |quals, part| Ok(merged(quals, part?)))
    }

    fn type_specifier(&mut self, node: Node) -> Lowered<Base> {
        let ty = match node.kind() {
            "primitive_type" => return self.primitive_type(node),
            "struct_specifier" | "union_specifier" => self.record_specifier(node)?,
            "enum_specifier" => self.enum_specifier(node)?,
            other => return Err(format!("the type {other}").into()),
        };
        Ok(Base::Type { ty, align: None })
    }

    fn primitive_type(&mut self, node: Node) -> Lowered<Base> {
        let base = self.source.base_type(node).ok_or("a type without a meaning")?;
        let complex = |size, align, what| TypeKind::Opaque { size: Some(size), align, what };
        let ty = match base {
            BaseType::Void => self.void(),
            BaseType::Int(kind) => self.int_type(*kind),
            BaseType::Float(kind) => self.float_type(*kind),
            BaseType::Complex(FloatKind::Float) => self.intern(complex(8, 4, "a float complex number")),
            BaseType::Complex(FloatKind::Double) => self.intern(complex(16, 8, "a double complex number")),
            BaseType::Complex(_) => self.intern(complex(32, 16, "a long double complex number")),
            BaseType::VaList => self.intern(TypeKind::Opaque { size: Some(24), align: 8, what: "a va_list" }),
            BaseType::Inferred => return Ok(Base::Inferred),
            BaseType::Typedef => {
                let name = self.source.spelling(node);
                return match self.lookup(name) {
                    Some(Entity::Typedef { ty, align }) => Ok(Base::Type { ty: *ty, align: *align }),
                    Some(Entity::Unknown(reason)) => Err(format!("the type {name}: {reason}").into()),
                    _ => Err(format!("{name} isn't known as a type").into()),
                };
            }
            BaseType::Typeof(_) | BaseType::Atomic(_) => self.type_of_operand(node, base)?,
            BaseType::Other(name) => {
                let (size, align) = match name.as_str() {
                    "_Float16" | "__bf16" | "__fp16" => (2, 2),
                    "_Decimal32" => (4, 4),
                    "_Decimal64" => (8, 8),
                    "_Decimal128" => (16, 16),
                    _ => return Err(format!("the type {name}").into()),
                };
                self.intern(TypeKind::Opaque { size: Some(size), align, what: "an extended number" })
            }
        };
        Ok(Base::Type { ty, align: None })
    }

    /// What a declarator makes of the type `base`.
    pub(super) fn declarator<'t>(&mut self, node: Node<'t>, base: QualType) -> Lowered<Declared<'t>> {
        self.nested(|lowering| lowering.declarator_inner(node, base))
    }

    fn declarator_inner<'t>(&mut self, node: Node<'t>, base: QualType) -> Lowered<Declared<'t>> {
        let inner = node.child_by_field_name("declarator");
        let go_on = |lowering: &mut Self, ty: QualType| match inner {
            Some(inner) => lowering.declarator(inner, ty),
            None => Ok(Declared { name: None, ty, parameters: None }),
        };
        match node.kind() {
            "identifier" | "field_identifier" | "type_identifier" | "primitive_type" => {
                Ok(Declared { name: Some(node), ty: base, parameters: None })
            }
            "pointer_declarator" | "abstract_pointer_declarator" => {
                let quals = self.qualifiers(node)?;
                let pointer = self.pointer_to(base);
                go_on(self, QualType { quals, ..pointer })
            }
            "array_declarator" | "abstract_array_declarator" => {
                let quals = self.qualifiers(node)?;
                let length = self.array_length(node)?;
                if matches!(self.types().kind(base.ty), TypeKind::Function { .. } | TypeKind::Void) {
                    return Err("an array of functions or nothing".into());
                }
                let array = self.intern(TypeKind::Array(base, length));
                // Qualifiers in the brackets are those of the pointer that a parameter becomes.
                go_on(self, QualType { quals, ..array })
            }
            "function_declarator" | "abstract_function_declarator" => {
                if matches!(self.types().kind(base.ty), TypeKind::Function { .. } | TypeKind::Array(..)) {
                    return Err("a function that returns a function or array".into());
                }
                let (function, parameters) = self.function_type(node, base)?;
                let mut declared = go_on(self, function)?;
                if inner.is_some_and(|inner| innermost_name(inner).is_some()) {
                    declared.parameters = Some(parameters);
                }
                Ok(declared)
            }
            "parenthesized_declarator" | "abstract_parenthesized_declarator" => {
                match named(node).as_slice() {
                    [inner] => self.declarator(*inner, base),
                    _ => Err("parentheses in a declarator".into()),
                }
            }
            other => Err(format!("the declarator {other}").into()),
        }
    }

    fn array_length(&mut self, node: Node) -> Lowered<ArrayLen> {
        let Some(size) = node.child_by_field_name("size") else { return Ok(ArrayLen::Unknown) };
        let computed_at = self.source.span(size).start;
        if size.kind() == "*" || self.source.text(size) == "*" {
            return Ok(self.length(None, computed_at));
        }
        let expr = self.value(size)?;
        if self.types().as_int(expr.ty.ty).is_none() {
            return Err("an array length that is no integer".into());
        }
        match constant::fold(self.types(), &expr) {
            Some(length) => match u64::try_from(length) {
                Ok(length) => Ok(ArrayLen::Known(length)),
                Err(_) => Err("a negative array length".into()),
            },
            None if self.at_file_scope() => Err("an array length that isn't constant".into()),
            None if !self.is_pure(&expr) => Err("an array length with side effects".into()),
            None => Ok(self.length(Some(expr), computed_at)),
        }
    }

    fn function_type(&mut self, node: Node, ret: QualType) -> Lowered<(QualType, Parameters)> {
        let list = field(node, "parameters")?;
        let (mark, linkage) = (self.unit.variables.len(), self.linkage.len());
        let lengths = self.unit.lengths.len();
        let (result, scope) = self.scoped(Scope::default(), |lowering| lowering.parameter_list(list));
        // The parameters of a prototype were only there for each other.
        if self.linkage.len() == linkage {
            self.unit.variables.truncate(mark);
        }
        let without = self.without_lengths(lengths);
        let (mut parameters, variadic) = result?;
        parameters.lengths = without;
        parameters.scope.tags = scope.tags;
        parameters.scope.entities = scope.entities;
        parameters.scope.entities.retain(|_, entity| !matches!(entity, Entity::Variable(_)));
        let nodes = named(list);
        let prototyped = !nodes.is_empty() && parameters.identifiers.is_empty();
        let params = parameters.list.iter().map(|p| QualType { quals: PLAIN, ..p.ty }).collect();
        let ret = QualType { quals: Quals { is_const: false, ..ret.quals }, ..ret };
        let ty = self.intern(TypeKind::Function { ret, params, variadic, prototyped });
        Ok((ty, parameters))
    }

    fn parameter_list(&mut self, list: Node) -> Lowered<(Parameters, bool)> {
        let mut parameters = Parameters::default();
        let mut variadic = false;
        let nodes = named(list);
        for node in &nodes {
            match node.kind() {
                "variadic_parameter" => variadic = true,
                "identifier" => parameters.identifiers.push(self.source.spelling(*node).to_owned()),
                "parameter_declaration" => {
                    let (_, base) = self.specifiers(*node)?;
                    let Base::Type { ty: base, .. } = base else {
                        return Err("an inferred parameter".into());
                    };
                    let declared = match node.child_by_field_name("declarator") {
                        Some(declarator) => self.declarator(declarator, base)?,
                        None => Declared { name: None, ty: base, parameters: None },
                    };
                    let alone = nodes.len() == 1 && declared.name.is_none();
                    if alone && matches!(self.types().kind(declared.ty.ty), TypeKind::Void) {
                        break;
                    }
                    let token = declared.name.and_then(|name| self.source.token(name));
                    let attributes = self.declarator_attributes(token);
                    let ty = self.attributed_type(declared.ty, &attributes)?;
                    let parameter = Parameter {
                        name: declared.name.map_or("", |name| self.source.spelling(name)).to_owned(),
                        ty: self.adjusted(ty)?,
                        span: self.source.span(declared.name.unwrap_or(*node)),
                    };
                    let id = self.add_variable(&parameter.name, parameter.ty, Storage::Param, parameter.span);
                    if !parameter.name.is_empty() {
                        self.declare(&parameter.name, Entity::Variable(id));
                    }
                    parameters.variables.push(id);
                    parameters.list.push(parameter);
                }
                other => return Err(format!("the parameter {other}").into()),
            }
        }
        Ok((parameters, variadic))
    }

    /// A parameter's type: arrays and functions become pointers.
    pub(super) fn adjusted(&mut self, ty: QualType) -> Lowered<QualType> {
        Ok(match *self.types().kind(ty.ty) {
            TypeKind::Array(element, _) => {
                let pointer = self.pointer_to(element);
                QualType { quals: ty.quals, ..pointer }
            }
            TypeKind::Function { .. } => self.pointer_to(QualType { quals: PLAIN, ..ty }),
            TypeKind::Void => return Err("a parameter of type void".into()),
            _ => ty,
        })
    }

    pub(super) fn add_variable(&mut self, name: &str, ty: QualType, storage: Storage, span: Span) -> VarId {
        let id = VarId(self.unit.variables.len() as u32);
        self.unit.variables.push(Variable {
            name: name.to_owned(),
            ty,
            storage,
            address_taken: false,
            is_extern: false,
            is_internal: false,
            span,
        });
        id
    }

    /// The type of `typeof` or `_Atomic` with parentheses.
    fn type_of_operand(&mut self, node: Node, base: &BaseType) -> Lowered<QualType> {
        let token = self.source.token(node).unwrap_or(0);
        let outer = self.source;
        let operand = super::view::parse_operand(outer.declaration, token);
        let (tree, text, map) = operand.map_err(|problem| Failure::from(problem.reason))?;
        self.source.view = text;
        self.source.map = map;
        let result = self.type_in_sizeof(tree.root_node());
        self.source = outer;
        let ty = result?;
        if matches!(base, BaseType::Atomic(_)) {
            if self.types().as_int(ty.ty).is_none() && self.types().pointee(ty.ty).is_none() {
                return Err("an atomic type that is no integer or pointer".into());
            }
            return Ok(self.qualify(ty, Quals { is_atomic: true, ..PLAIN }));
        }
        Ok(ty)
    }

    /// The type of the operand of the one `sizeof` in a tree.
    fn type_in_sizeof(&mut self, root: Node) -> Lowered<QualType> {
        let mut node = root;
        while node.kind() != "sizeof_expression" {
            node = match named(node).last() {
                Some(last) => *last,
                None => return Err("an operand that isn't understood".into()),
            };
        }
        self.operand_type(node)
    }
}

/// The name inside a declarator that is nothing but parentheses around it.
fn innermost_name(node: Node) -> Option<Node> {
    match node.kind() {
        "identifier" | "field_identifier" | "type_identifier" => Some(node),
        "parenthesized_declarator" => match named(node).as_slice() {
            [inner] => innermost_name(*inner),
            _ => None,
        },
        _ => None,
    }
}

pub(super) fn merged(a: Quals, b: Quals) -> Quals {
    Quals {
        is_const: a.is_const || b.is_const,
        is_volatile: a.is_volatile || b.is_volatile,
        is_restrict: a.is_restrict || b.is_restrict,
        is_atomic: a.is_atomic || b.is_atomic,
    }
}
