//! Expressions: literals, names, members, subscripts, casts, `sizeof`, and what else is no operator on numbers
//! (`operators`) and no call (`calls`).

use tree_sitter::Node;

use super::super::constant::{self, Text};
use super::super::hir::*;
use super::declarators::PLAIN;
use super::names::Entity;
use super::source::{field, named};
use super::{Failure, Lowered, Lowering, shape};

/// What an expression denotes before lvalue conversion and decay.
pub(super) enum Operand {
    /// An object.
    Place(Place),
    /// A value.
    Value(Expr),
    /// A function by name.
    Function(VarId),
    /// The function that a pointer points to.
    Designator(Expr),
    /// A string literal.
    Text(Text),
}

impl Lowering<'_> {
    /// The value of an expression.
    pub(super) fn value(&mut self, node: Node) -> Lowered<Expr> {
        let operand = self.operand(node)?;
        let span = self.source.span(node);
        let result = self.decayed(operand, span);
        self.located(result, node)
    }

    /// What an expression denotes.
    pub(super) fn operand(&mut self, node: Node) -> Lowered<Operand> {
        let result = self.nested(|lowering| lowering.operand_inner(node));
        self.located(result, node)
    }

    fn operand_inner(&mut self, node: Node) -> Lowered<Operand> {
        if !shape::well_formed(node) {
            return Err("an expression that could be read in two ways".into());
        }
        let span = self.source.span(node);
        let value = |kind: ExprKind, ty: QualType| Ok(Operand::Value(Expr { kind, ty, span }));
        match node.kind() {
            "identifier" => self.name(node),
            "number_literal" => self.number(node).map(Operand::Value),
            "char_literal" => {
                let spelling = self.source.spelling(node);
                let constant = constant::character(spelling, self.dialect.unsigned_char);
                let (number, kind) = constant.ok_or_else(|| format!("the constant {spelling}"))?;
                let ty = self.int_type(kind);
                value(ExprKind::Int(number), ty)
            }
            "string_literal" | "concatenated_string" => self.text(node).map(Operand::Text),
            "parenthesized_expression" => match named(node).as_slice() {
                [inner] if inner.kind() == "compound_statement" => self.statement_expression(*inner, span),
                [inner] => self.operand(*inner),
                _ => Err("parentheses around nothing".into()),
            },
            "comma_expression" => {
                let left = self.value(field(node, "left")?)?;
                let right = self.value(field(node, "right")?)?;
                let ty = right.ty;
                value(ExprKind::Comma(Box::new(left), Box::new(right)), ty)
            }
            "subscript_expression" => {
                let argument = self.value(field(node, "argument")?)?;
                let index = self.value(field(node, "index")?)?;
                let (pointer, index) =
                    if self.is_pointer(argument.ty) { (argument, index) } else { (index, argument) };
                let sum = self.pointer_sum(pointer, index, false, span)?;
                self.pointed_to(sum, span)
            }
            "field_expression" => self.member_access(node, span),
            "cast_expression" => self.cast_expression(node, span).map(Operand::Value),
            "compound_literal_expression" => {
                let ty = self.type_name(field(node, "type")?)?;
                let (init, ty) = self.initialiser(field(node, "value")?, ty)?;
                let place = self.place(PlaceKind::Opaque("a compound literal"), ty, span);
                if let (Init::Members(list), TypeKind::Record(_)) = (init, self.types().kind(ty.ty)) {
                    self.literals.insert(place.id, list);
                }
                Ok(Operand::Place(place))
            }
            "sizeof_expression" => {
                let ty = self.operand_type(node)?;
                self.size_of(ty, span).map(Operand::Value)
            }
            "generic_expression" => self.generic(node),
            "call_expression" => self.call(node, span),
            "conditional_expression" => self.conditional(node, span),
            "pointer_expression" => self.pointer_operator(node, span),
            "unary_expression" => self.unary(node, span).map(Operand::Value),
            "binary_expression" => self.binary(node, span).map(Operand::Value),
            "update_expression" => self.update(node, span).map(Operand::Value),
            "assignment_expression" => self.assignment(node, span).map(Operand::Value),
            "gnu_asm_expression" => Err("asm in an expression".into()),
            other => Err(format!("the expression {other}").into()),
        }
    }

    // ---- Primary expressions.

    fn name(&mut self, node: Node) -> Lowered<Operand> {
        let name = self.source.spelling(node);
        let span = self.source.span(node);
        match self.lookup(name) {
            Some(Entity::Variable(id)) => {
                let id = *id;
                let ty = self.unit.var(id).ty;
                if matches!(self.types().kind(ty.ty), TypeKind::Function { .. }) {
                    return Ok(Operand::Function(id));
                }
                Ok(Operand::Place(self.place(PlaceKind::Var(id), ty, span)))
            }
            Some(Entity::Constant { value, ty }) => {
                let (value, ty) = (*value, QualType { ty: *ty, quals: PLAIN });
                Ok(Operand::Value(Expr { kind: ExprKind::Int(value), ty, span }))
            }
            Some(Entity::Typedef { .. }) => Err(format!("the type name {name} as a value").into()),
            Some(Entity::Unknown(reason)) => {
                Err(format!("{name} is declared by something not understood: {reason}").into())
            }
            None => match (name, &self.function) {
                ("__func__" | "__FUNCTION__" | "__PRETTY_FUNCTION__", Some(function)) => {
                    let bytes = function.name.clone().into_bytes();
                    let length = bytes.len() as u64 + 1;
                    Ok(Operand::Text(Text { bytes: Some(bytes), element: IntKind::Char, length }))
                }
                _ => Err(format!("{name} isn't declared").into()),
            },
        }
    }

    fn number(&mut self, node: Node) -> Lowered<Expr> {
        let spelling = self.source.spelling(node);
        let span = self.source.span(node);
        let unknown = || Failure::from(format!("the constant {spelling}"));
        if constant::is_floating(spelling) {
            let (body, kind) = constant::floating(spelling).ok_or_else(unknown)?;
            let ty = self.float_type(kind);
            return Ok(Expr { kind: ExprKind::Float(body), ty, span });
        }
        let (value, kind) = constant::integer(spelling).ok_or_else(unknown)?;
        let ty = self.int_type(kind);
        Ok(Expr { kind: ExprKind::Int(value), ty, span })
    }

    /// A string literal or several in a row.
    pub(super) fn text(&self, node: Node) -> Lowered<Text> {
        let literals = match node.kind() {
            "string_literal" => vec![node],
            _ => named(node),
        };
        if literals.iter().any(|part| part.kind() != "string_literal") {
            return Err("a name between string literals".into());
        }
        let spellings: Vec<&str> = literals.iter().map(|part| self.source.spelling(*part)).collect();
        constant::string(spellings.iter().copied()).ok_or_else(|| "a string literal not understood".into())
    }

    /// `({ ... })`: has the type of its last expression, and may do anything.
    fn statement_expression(&mut self, block: Node, span: Span) -> Lowered<Operand> {
        let Some(function) = &self.function else { return Err("statements outside a function".into()) };
        let switches = function.switches.len();
        let loops = self.loops;
        let result = self.in_block(|lowering| lowering.block_items(block));
        if let Some(function) = &mut self.function {
            function.switches.truncate(switches);
        }
        let statements = result?;
        let ty = match last_statement(&statements) {
            Some(Stmt { kind: StmtKind::Expr(expr), .. }) => expr.ty,
            _ => self.void(),
        };
        self.loops = loops;
        self.unit.statement_expressions.insert((span.start, span.end), statements);
        Ok(Operand::Value(Expr { kind: ExprKind::Opaque(STATEMENT_EXPRESSION), ty, span }))
    }

    /// `_Generic`: the expression that belongs to the type.
    fn generic(&mut self, node: Node) -> Lowered<Operand> {
        if self.dialect.unsigned_char {
            return Err("_Generic where char is unsigned".into());
        }
        let parts = named(node);
        let [control, associations @ ..] = parts.as_slice() else { return Err("_Generic on nothing".into()) };
        let allocations = self.unit.allocations.len();
        let control = self.value(*control)?;
        self.forget_allocations(allocations);
        if self.has_unclear_type(&control) {
            return Err("_Generic on a bit-field wider than int".into());
        }
        let wanted = self.unified(control.ty.ty);
        let mut chosen = None;
        let mut default = None;
        for pair in associations.chunks(2) {
            let [ty, expr] = pair else { return Err("_Generic with half an association".into()) };
            let specifier = field(*ty, "type")?;
            if specifier.kind() == "primitive_type" && self.source.base_type(specifier).is_none() {
                default = Some(*expr);
                continue;
            }
            let ty = self.type_name(*ty)?;
            if ty.quals == PLAIN && self.unified(ty.ty) == wanted && chosen.replace(*expr).is_some() {
                return Err("_Generic with two associations of one type".into());
            }
        }
        // Types of functions and arrays may be compatible without being the same.
        if chosen.is_none() && self.names_function_or_array(wanted) {
            return Err("_Generic on a function or an array".into());
        }
        self.operand(chosen.or(default).ok_or("_Generic without a matching type")?)
    }

    /// Whether a type is that of a function or an array, or leads to one through pointers.
    fn names_function_or_array(&self, ty: TypeId) -> bool {
        match self.types().kind(ty) {
            TypeKind::Function { .. } | TypeKind::Array { .. } => true,
            TypeKind::Pointer(to) => self.names_function_or_array(to.ty),
            _ => false,
        }
    }

    /// A type with enumerations replaced by the integer types that they are compatible with.
    fn unified(&mut self, ty: TypeId) -> TypeId {
        match *self.types().kind(ty) {
            TypeKind::Enum(kind) => self.unit.types.intern(TypeKind::Int(kind)),
            TypeKind::Pointer(to) => {
                let inner = self.unified(to.ty);
                self.unit.types.intern(TypeKind::Pointer(QualType { ty: inner, ..to }))
            }
            _ => ty,
        }
    }

    /// Drops allocation calls that aren't evaluated.
    pub(super) fn forget_allocations(&mut self, mark: usize) {
        self.unit.allocations.truncate(mark);
        self.allocation_callees.truncate(mark);
    }

    // ---- Types of operands.

    /// The type that a `sizeof` asks for.
    pub(super) fn operand_type(&mut self, node: Node) -> Lowered<QualType> {
        if let Some(ty) = node.child_by_field_name("type") {
            return self.type_name(ty);
        }
        let allocations = self.unit.allocations.len();
        let operand = self.operand(field(node, "value")?)?;
        self.forget_allocations(allocations);
        self.type_of(&operand)
    }

    /// The type of an operand that isn't converted.
    fn type_of(&mut self, operand: &Operand) -> Lowered<QualType> {
        Ok(match operand {
            Operand::Place(place) => place.ty,
            Operand::Value(expr) if self.has_unclear_type(expr) => {
                return Err("the type of a bit-field wider than int".into());
            }
            Operand::Value(expr) => expr.ty,
            Operand::Function(id) => self.unit.var(*id).ty,
            Operand::Designator(pointer) => {
                self.types().pointee(pointer.ty.ty).ok_or("a function that no pointer points to")?
            }
            Operand::Text(text) => {
                let element = self.int_type(text.element);
                self.intern(TypeKind::Array(element, ArrayLen::Known(text.length)))
            }
        })
    }

    /// The value of `sizeof` on a type.
    pub(super) fn size_of(&mut self, ty: QualType, span: Span) -> Lowered<Expr> {
        let size_type = self.int_type(IntKind::ULong);
        if self.is_variable_length(ty.ty) {
            let kind = ExprKind::Opaque("the size of an array of variable length");
            return Ok(Expr { kind, ty: size_type, span });
        }
        let size = match self.types().kind(ty.ty) {
            TypeKind::Void | TypeKind::Function { .. } => 1,
            _ => self.types().size_of(ty.ty).ok_or_else(|| self.incomplete(ty))?,
        };
        Ok(Expr { kind: ExprKind::Int(i128::from(size)), ty: size_type, span })
    }

    fn cast_expression(&mut self, node: Node, span: Span) -> Lowered<Expr> {
        let ty = self.type_name(field(node, "type")?)?;
        let value = self.value(field(node, "value")?)?;
        if self.is_void(ty) {
            let ty = QualType { quals: PLAIN, ..ty };
            return Ok(Expr { kind: ExprKind::Cast(Box::new(value)), ty, span });
        }
        if let TypeKind::Record(_) = self.types().kind(ty.ty) {
            // A cast to a union, or of a struct to itself.
            let ty = QualType { quals: PLAIN, ..ty };
            return Ok(Expr { kind: ExprKind::Opaque("a cast to a record"), ty, span });
        }
        if !self.is_scalar(ty) || !self.is_scalar(value.ty) {
            return Err("a cast between types that can't be converted".into());
        }
        if self.is_opaque(ty) {
            // Extended types of one size count as one type, but not to C.
            let ty = QualType { quals: PLAIN, ..ty };
            return Ok(Expr { kind: ExprKind::Opaque("a conversion of an extended type"), ty, span });
        }
        // What is cast is no constant of another type any more, even if it has the same one.
        Ok(self.cast(value, ty).spanning(span))
    }

    // ---- Objects.

    /// The object that a pointer points to.
    pub(super) fn pointed_to(&mut self, pointer: Expr, span: Span) -> Lowered<Operand> {
        let Some(to) = self.types().pointee(pointer.ty.ty) else {
            return Err("what no pointer points to".into());
        };
        if matches!(self.types().kind(to.ty), TypeKind::Function { .. }) {
            return Ok(Operand::Designator(pointer));
        }
        // The pointer isn't known, so the object isn't either.
        let kind = match pointer.kind {
            ExprKind::Opaque(what) if what != STATEMENT_EXPRESSION => PlaceKind::Opaque(what),
            _ => PlaceKind::Deref(Box::new(pointer)),
        };
        Ok(Operand::Place(self.place(kind, to, span)))
    }

    fn member_access(&mut self, node: Node, span: Span) -> Lowered<Operand> {
        let argument = field(node, "argument")?;
        let name = self.source.spelling(field(node, "field")?);
        let base = if field(node, "operator")?.kind() == "->" {
            let pointer = self.value(argument)?;
            let span = self.source.span(argument);
            self.pointed_to(pointer, span)?
        } else {
            self.operand(argument)?
        };
        let base = match base {
            Operand::Place(place) => place,
            Operand::Value(value) => {
                let span = value.span;
                self.place(PlaceKind::Opaque("a member of a value"), value.ty, span)
            }
            _ => return Err("a member of a function".into()),
        };
        self.member(base, name, span).map(Operand::Place)
    }

    /// The member `name` of a record.
    pub(super) fn member(&mut self, base: Place, name: &str, span: Span) -> Lowered<Place> {
        let TypeKind::Record(record) = *self.types().kind(base.ty.ty) else {
            return Err(format!("the member {name} of something that is no record").into());
        };
        let path = self.path_to(record, name, 0);
        let Some(path) = path else {
            if self.types().record(record).fields.is_none() {
                return Err(self.incomplete(base.ty));
            }
            return Err(format!("there is no member {name}").into());
        };
        let mut place = base;
        for (record, index) in path {
            let fields = self.types().record(record).fields.as_ref();
            let found =
                fields.and_then(|fields| fields.get(index)).cloned().ok_or("a member that is gone")?;
            let inherited = Quals { is_restrict: false, is_atomic: false, ..place.ty.quals };
            let ty = self.qualify(found.ty, inherited);
            let kind = match (&place.kind, found.bits) {
                // A bit-field of whatever is told by its width how it is promoted.
                (PlaceKind::Opaque(what), None) => PlaceKind::Opaque(what),
                (_, bits) => PlaceKind::Field {
                    base: Box::new(place),
                    record,
                    field: index as u32,
                    offset: found.offset,
                    bits,
                },
            };
            place = self.place(kind, ty, span);
        }
        Ok(place)
    }

    /// The way to a member, through anonymous records.
    pub(super) fn path_to(&self, record: RecordId, name: &str, depth: u32) -> Option<Vec<(RecordId, usize)>> {
        let fields = self.types().record(record).fields.as_ref()?;
        if let Some(index) = fields.iter().position(|field| field.name.as_deref() == Some(name)) {
            return Some(vec![(record, index)]);
        }
        if depth > 50 {
            return None;
        }
        fields.iter().enumerate().find_map(|(index, field)| {
            let TypeKind::Record(inner) = *self.types().kind(field.ty.ty) else { return None };
            if field.name.is_some() {
                return None;
            }
            let mut path = self.path_to(inner, name, depth + 1)?;
            path.insert(0, (record, index));
            Some(path)
        })
    }
}

/// The last statement of a list, behind its labels.
fn last_statement(statements: &[Stmt]) -> Option<&Stmt> {
    let mut last = statements.last()?;
    while let StmtKind::Label { body, .. } | StmtKind::Case { body, .. } = &last.kind {
        last = body;
    }
    Some(last)
}
