//! Expressions: every conversion that C does silently is written down.

use super::super::constant::{self, Number};
use super::super::types::{self, common_integer, plain, promote};
use super::*;

/// Functions whose calls are recorded, so that extents of arrays are known at run time.
const ALLOCATORS: [&str; 6] = ["malloc", "calloc", "realloc", "free", "aligned_alloc", "posix_memalign"];

impl Lowering<'_> {
    /// The value of an expression: lvalues are loaded, arrays and functions decay.
    pub(super) fn rvalue(&mut self, reader: &Reader, node: Node) -> Lowered<Expr> {
        let span = reader.span(node);
        let new = |kind, ty| Expr { kind, ty, span };
        match node.kind() {
            "parenthesized_expression" => match node.named_child(0) {
                Some(inner) if inner.kind() == "compound_statement" => Err("a statement expression".into()),
                Some(inner) => self.rvalue(reader, inner),
                None => Err("empty parentheses".into()),
            },
            "number_literal" => match constant::number(reader.text(node)?)? {
                Number::Int(value, kind) => Ok(new(ExprKind::Int(value), self.int(kind))),
                Number::Float(text, kind) => Ok(new(ExprKind::Float(text), self.float(kind))),
            },
            "char_literal" => {
                let value = constant::character(reader.text(node)?)?;
                Ok(new(ExprKind::Int(value), self.int(IntKind::Int)))
            }
            "string_literal" | "concatenated_string" => {
                let bytes = self.string_bytes(reader, node)?;
                let char_kind = if self.dialect.unsigned_char { IntKind::UChar } else { IntKind::Char };
                let char_type = self.int(char_kind);
                Ok(new(ExprKind::Str(bytes), self.pointer_to(char_type)))
            }
            "identifier" => {
                let name = reader.text(node)?.to_owned();
                match self.lookup(&name) {
                    Some(Entity::Enumerator(value, ty)) => Ok(new(ExprKind::Int(value), plain(ty))),
                    Some(Entity::Variable(_)) => {
                        let place = self.lvalue(reader, node)?;
                        self.load(place)
                    }
                    Some(Entity::Typedef(_)) => Err(format!("the type {name} where a value was expected")),
                    Some(Entity::Unknown) => Err(format!("{name}, whose declaration was not understood")),
                    None => Err(format!("{name}, which is not declared")),
                }
            }
            "subscript_expression" | "field_expression" => {
                let place = self.lvalue(reader, node)?;
                self.load(place)
            }
            "pointer_expression" if reader.operator(field(node, "operator")?) == "*" => {
                let inner = self.rvalue(reader, field(node, "argument")?)?;
                if let Some(target) = self.unit.types.pointee(inner.ty.ty)
                    && matches!(self.unit.types.kind(target.ty), TypeKind::Function { .. })
                {
                    return Ok(inner);
                }
                let place = self.deref(inner, span)?;
                self.load(place)
            }
            "pointer_expression" => self.address_of(reader, field(node, "argument")?, span),
            "unary_expression" => self.unary(reader, node, span),
            "binary_expression" => self.binary(reader, node, span),
            "assignment_expression" => self.assignment(reader, node, span),
            "update_expression" => {
                let place = self.lvalue(reader, field(node, "argument")?)?;
                let operator_node = field(node, "operator")?;
                let sign = if reader.operator(operator_node) == "++" { 1 } else { -1 };
                let post = operator_node.start_byte() > field(node, "argument")?.start_byte();
                let ty = plain(place.ty.ty);
                let amount = match self.unit.types.pointee(ty.ty) {
                    Some(target) => {
                        let size = self.element_size(target)?;
                        i64::try_from(size).map_err(|_| "an element too large")? * sign
                    }
                    None => sign,
                };
                Ok(new(ExprKind::IncDec { place, amount, post }, ty))
            }
            "cast_expression" => {
                let ty = self.type_name(reader, field(node, "type")?)?;
                let value = self.rvalue(reader, field(node, "value")?)?;
                if matches!(self.unit.types.kind(ty.ty), TypeKind::Record(_) | TypeKind::Array(..)) {
                    return Err("a cast to an aggregate".into());
                }
                if matches!(self.unit.types.kind(ty.ty), TypeKind::Void) {
                    return Ok(new(ExprKind::Cast(Box::new(value)), plain(ty.ty)));
                }
                self.convert_to(value, plain(ty.ty), span)
            }
            "sizeof_expression" => {
                let ty = match node.child_by_field_name("type") {
                    Some(name) => self.type_name(reader, name)?,
                    None => self.type_of(reader, field(node, "value")?)?,
                };
                let size = match self.unit.types.kind(ty.ty) {
                    TypeKind::Void | TypeKind::Function { .. } => 1,
                    _ => self.unit.types.size_of(ty.ty).ok_or("the size of an incomplete type")?,
                };
                Ok(new(ExprKind::Int(i128::from(size)), self.int(IntKind::ULong)))
            }
            "conditional_expression" => self.conditional(reader, node, span),
            "comma_expression" => {
                let left = self.rvalue(reader, field(node, "left")?)?;
                let right = self.rvalue(reader, field(node, "right")?)?;
                let ty = right.ty;
                Ok(new(ExprKind::Comma(Box::new(left), Box::new(right)), ty))
            }
            "call_expression" => self.call(reader, node, span),
            "compound_literal_expression" => {
                let ty = self.type_name(reader, field(node, "type")?)?;
                Ok(new(ExprKind::Opaque("a compound literal"), plain(ty.ty)))
            }
            other => Err(format!("an expression written as {other}")),
        }
    }

    /// The bytes of a string literal, adjacent ones joined.
    pub(super) fn string_bytes(&mut self, reader: &Reader, node: Node) -> Lowered<Vec<u8>> {
        let mut out = Vec::new();
        let parts = if node.kind() == "concatenated_string" { children(node) } else { vec![node] };
        for part in parts {
            let text = reader.text(part)?;
            let body = text.strip_prefix('"').and_then(|t| t.strip_suffix('"')).ok_or("a wide string")?;
            out.extend(constant::unescape(body.as_bytes()).ok_or("an escape in a string")?);
        }
        Ok(out)
    }

    /// The type of an expression that is not evaluated, arrays not decayed.
    fn type_of(&mut self, reader: &Reader, node: Node) -> Lowered<QualType> {
        let (mark, allocations) = (self.next_place, self.unit.allocations.len());
        let ty = match node.kind() {
            "parenthesized_expression" => match node.named_child(0) {
                Some(inner) => self.type_of(reader, inner)?,
                None => return Err("empty parentheses".into()),
            },
            "string_literal" | "concatenated_string" => {
                let length = self.string_bytes(reader, node)?.len() as u64 + 1;
                let element = self.int(IntKind::Char);
                plain(self.unit.types.intern(TypeKind::Array(element, ArrayLen::Known(length))))
            }
            "identifier" | "subscript_expression" | "field_expression" | "pointer_expression" => {
                match self.lvalue(reader, node) {
                    Ok(place) => place.ty,
                    Err(_) => self.rvalue(reader, node)?.ty,
                }
            }
            _ => self.rvalue(reader, node)?.ty,
        };
        self.next_place = mark;
        self.unit.allocations.truncate(allocations);
        Ok(ty)
    }

    /// An object.
    pub(super) fn lvalue(&mut self, reader: &Reader, node: Node) -> Lowered<Place> {
        let span = reader.span(node);
        match node.kind() {
            "parenthesized_expression" => match node.named_child(0) {
                Some(inner) => self.lvalue(reader, inner),
                None => Err("empty parentheses".into()),
            },
            "identifier" => {
                let name = reader.text(node)?.to_owned();
                match self.lookup(&name) {
                    Some(Entity::Variable(id)) => {
                        let ty = self.unit.var(id).ty;
                        Ok(self.place(PlaceKind::Var(id), ty, span))
                    }
                    Some(_) => Err(format!("{name}, which is no object that was understood")),
                    None => Err(format!("{name}, which is not declared")),
                }
            }
            "subscript_expression" => {
                let array = self.rvalue(reader, field(node, "argument")?)?;
                let index = self.rvalue(reader, field(node, "index")?)?;
                let sum = if self.unit.types.pointee(array.ty.ty).is_some() {
                    self.pointer_sum(array, index, false, span)?
                } else {
                    self.pointer_sum(index, array, false, span)?
                };
                self.deref(sum, span)
            }
            "pointer_expression" if reader.operator(field(node, "operator")?) == "*" => {
                let inner = self.rvalue(reader, field(node, "argument")?)?;
                self.deref(inner, span)
            }
            "field_expression" => {
                let name = reader.text(field(node, "field")?)?.to_owned();
                let argument = field(node, "argument")?;
                let through_pointer = {
                    let mut cursor = node.walk();
                    node.children(&mut cursor).any(|c| c.kind() == "->")
                };
                let base = if through_pointer {
                    let pointer = self.rvalue(reader, argument)?;
                    self.deref(pointer, span)?
                } else {
                    self.lvalue(reader, argument)?
                };
                self.member(base, &name, span)
            }
            other => Err(format!("an object written as {other}")),
        }
    }

    fn member(&mut self, base: Place, name: &str, span: Span) -> Lowered<Place> {
        let TypeKind::Record(record) = *self.unit.types.kind(base.ty.ty) else {
            return Err(format!("a member {name} of something else than a record"));
        };
        let path = types::find_member(&self.unit.types, record, name)
            .ok_or_else(|| format!("the member {name} of a record whose layout is not known"))?;
        let mut place = base;
        for (record, number) in path {
            let field = &self.unit.types.record(record).fields.as_ref().ok_or("an incomplete record")?
                [number as usize];
            let (offset, bits, mut ty) = (field.offset, field.bits, field.ty);
            ty.quals.is_const |= place.ty.quals.is_const;
            ty.quals.is_volatile |= place.ty.quals.is_volatile;
            ty.quals.is_atomic |= place.ty.quals.is_atomic;
            let kind = PlaceKind::Field { base: Box::new(place), record, field: number, offset, bits };
            place = self.place(kind, ty, span);
        }
        Ok(place)
    }

    fn deref(&mut self, pointer: Expr, span: Span) -> Lowered<Place> {
        let target =
            self.unit.types.pointee(pointer.ty.ty).ok_or("a dereference of something else than a pointer")?;
        if matches!(self.unit.types.kind(target.ty), TypeKind::Void | TypeKind::Function { .. }) {
            return Err("a dereference of a pointer to no object".into());
        }
        Ok(self.place(PlaceKind::Deref(Box::new(pointer)), target, span))
    }

    /// Lvalue conversion, with decay.
    fn load(&mut self, place: Place) -> Lowered<Expr> {
        let span = place.span;
        match self.unit.types.kind(place.ty.ty).clone() {
            TypeKind::Array(mut element, _) => {
                element.quals.is_const |= place.ty.quals.is_const;
                element.quals.is_volatile |= place.ty.quals.is_volatile;
                let ty = self.pointer_to(element);
                Ok(Expr { kind: ExprKind::AddressOf(place), ty, span })
            }
            TypeKind::Function { .. } => match place.kind {
                PlaceKind::Var(id) => {
                    let ty = self.pointer_to(place.ty);
                    Ok(Expr { kind: ExprKind::Function(id), ty, span })
                }
                _ => Err("a function that is no name".into()),
            },
            TypeKind::Void => Err("a value of type void".into()),
            _ => {
                let ty = plain(place.ty.ty);
                Ok(Expr { kind: ExprKind::Load(place), ty, span })
            }
        }
    }

    fn address_of(&mut self, reader: &Reader, node: Node, span: Span) -> Lowered<Expr> {
        let mut inner = node;
        while inner.kind() == "parenthesized_expression" {
            inner = inner.named_child(0).ok_or("empty parentheses")?;
        }
        // &*p and &a[i] evaluate nothing but the address.
        if inner.kind() == "pointer_expression" && reader.operator(field(inner, "operator")?) == "*" {
            return self.rvalue(reader, field(inner, "argument")?);
        }
        let place = self.lvalue(reader, inner)?;
        if matches!(place.kind, PlaceKind::Field { bits: Some(_), .. }) {
            return Err("the address of a bit-field".into());
        }
        if matches!(self.unit.types.kind(place.ty.ty), TypeKind::Function { .. }) {
            return self.load(place);
        }
        let mut root = &place;
        while let PlaceKind::Field { base, .. } = &root.kind {
            root = base;
        }
        if let PlaceKind::Var(id) = root.kind {
            self.unit.variables[id.0 as usize].address_taken = true;
        }
        let ty = self.pointer_to(place.ty);
        Ok(Expr { kind: ExprKind::AddressOf(place), ty, span })
    }

    /// The size of an element for pointer arithmetic (GNU: 1 for void and functions).
    fn element_size(&self, target: QualType) -> Lowered<u64> {
        match self.unit.types.kind(target.ty) {
            TypeKind::Void | TypeKind::Function { .. } => Ok(1),
            _ => self
                .unit
                .types
                .size_of(target.ty)
                .ok_or_else(|| "arithmetic on pointers to a type of unknown size".into()),
        }
    }

    fn pointer_sum(&mut self, pointer: Expr, index: Expr, subtract: bool, span: Span) -> Lowered<Expr> {
        let target = self.unit.types.pointee(pointer.ty.ty).ok_or("pointer arithmetic without a pointer")?;
        let stride = self.element_size(target)?;
        let index = self.index(index, subtract)?;
        let ty = plain(pointer.ty.ty);
        Ok(Expr {
            kind: ExprKind::PtrAdd { pointer: Box::new(pointer), index: Box::new(index), stride },
            ty,
            span,
        })
    }

    fn index(&mut self, index: Expr, negate: bool) -> Lowered<Expr> {
        let index = self.promoted(index)?;
        let kind = self.unit.types.as_int(index.ty.ty).ok_or("an index that is no integer")?;
        if kind.size() > 8 {
            return Err("an index of 128 bits".into());
        }
        if !negate {
            return Ok(index);
        }
        let span = index.span;
        let long = self.int(IntKind::Long);
        let index = self.convert(index, long)?;
        Ok(Expr { kind: ExprKind::Unary(UnOp::Neg, Box::new(index)), ty: long, span })
    }

    /// Whether the expression is of scalar type.
    pub(super) fn scalar(&self, expr: &Expr) -> Lowered<()> {
        match self.unit.types.kind(expr.ty.ty) {
            TypeKind::Int(_) | TypeKind::Enum(_) | TypeKind::Float(_) | TypeKind::Pointer(_) => Ok(()),
            _ => Err("a value that is no number or pointer".into()),
        }
    }

    /// Integer promotion; other types stay.
    fn promoted(&mut self, expr: Expr) -> Lowered<Expr> {
        let Some(kind) = self.unit.types.as_int(expr.ty.ty) else { return Ok(expr) };
        let bits = match &expr.kind {
            ExprKind::Load(Place { kind: PlaceKind::Field { bits: Some((_, width)), .. }, .. }) => {
                Some(*width)
            }
            _ => None,
        };
        let target = self.int(promote(kind, bits));
        self.convert(expr, target)
    }

    /// Implicit conversion to an unqualified type.
    pub(super) fn convert(&mut self, expr: Expr, ty: QualType) -> Lowered<Expr> {
        let span = expr.span;
        self.convert_to(expr, ty, span)
    }

    fn convert_to(&mut self, expr: Expr, ty: QualType, span: Span) -> Lowered<Expr> {
        if expr.ty.ty == ty.ty {
            return Ok(expr);
        }
        let is_scalar = |kind: &TypeKind| {
            matches!(kind, TypeKind::Int(_) | TypeKind::Enum(_) | TypeKind::Float(_) | TypeKind::Pointer(_))
        };
        if !is_scalar(self.unit.types.kind(expr.ty.ty)) || !is_scalar(self.unit.types.kind(ty.ty)) {
            return Err("a conversion between types that are no numbers or pointers".into());
        }
        // Constants convert at once, so that folding sees them.
        if let (ExprKind::Int(value), Some(kind)) = (&expr.kind, self.unit.types.as_int(ty.ty)) {
            return Ok(Expr { kind: ExprKind::Int(types::wrap(*value, kind)), ty, span });
        }
        Ok(Expr { kind: ExprKind::Cast(Box::new(expr)), ty, span })
    }

    /// The usual arithmetic conversions.
    fn balanced(&mut self, left: Expr, right: Expr) -> Lowered<(Expr, Expr)> {
        let (a, b) = (self.unit.types.as_float(left.ty.ty), self.unit.types.as_float(right.ty.ty));
        let order = |k: FloatKind| match k {
            FloatKind::Float => 0,
            FloatKind::Double => 1,
            FloatKind::LongDouble => 2,
            FloatKind::Float128 => 3,
        };
        let target = match (a, b) {
            (Some(a), Some(b)) => self.float(if order(a) >= order(b) { a } else { b }),
            (Some(k), None) | (None, Some(k)) => self.float(k),
            (None, None) => {
                let (left, right) = (self.promoted(left)?, self.promoted(right)?);
                let kinds = (self.unit.types.as_int(left.ty.ty), self.unit.types.as_int(right.ty.ty));
                let (Some(a), Some(b)) = kinds else {
                    return Err("arithmetic on something else than numbers".into());
                };
                let target = self.int(common_integer(a, b));
                return Ok((self.convert(left, target)?, self.convert(right, target)?));
            }
        };
        Ok((self.convert(left, target)?, self.convert(right, target)?))
    }

    fn unary(&mut self, reader: &Reader, node: Node, span: Span) -> Lowered<Expr> {
        let operator = reader.operator(field(node, "operator")?).to_owned();
        let inner = self.rvalue(reader, field(node, "argument")?)?;
        self.scalar(&inner)?;
        if operator == "!" {
            let int = self.int(IntKind::Int);
            return Ok(Expr { kind: ExprKind::Unary(UnOp::Not, Box::new(inner)), ty: int, span });
        }
        if self.unit.types.pointee(inner.ty.ty).is_some() {
            return Err("arithmetic on a pointer".into());
        }
        let inner = self.promoted(inner)?;
        let ty = plain(inner.ty.ty);
        match operator.as_str() {
            "+" => Ok(inner),
            "-" => Ok(Expr { kind: ExprKind::Unary(UnOp::Neg, Box::new(inner)), ty, span }),
            "~" if self.unit.types.as_int(ty.ty).is_some() => {
                Ok(Expr { kind: ExprKind::Unary(UnOp::BitNot, Box::new(inner)), ty, span })
            }
            other => Err(format!("the operator {other}")),
        }
    }

    fn binary(&mut self, reader: &Reader, node: Node, span: Span) -> Lowered<Expr> {
        let operator = reader.operator(field(node, "operator")?).to_owned();
        let left = self.rvalue(reader, field(node, "left")?)?;
        let right = self.rvalue(reader, field(node, "right")?)?;
        let int = self.int(IntKind::Int);
        if matches!(operator.as_str(), "&&" | "||") {
            self.scalar(&left)?;
            self.scalar(&right)?;
            let (left, right) = (Box::new(left), Box::new(right));
            let kind = if operator == "&&" {
                ExprKind::LogicalAnd(left, right)
            } else {
                ExprKind::LogicalOr(left, right)
            };
            return Ok(Expr { kind, ty: int, span });
        }
        let op = operation(&operator).ok_or_else(|| format!("the operator {operator}"))?;
        self.arithmetic(op, left, right, span)
    }

    fn arithmetic(&mut self, op: BinOp, left: Expr, right: Expr, span: Span) -> Lowered<Expr> {
        let int = self.int(IntKind::Int);
        let pointers =
            (self.unit.types.pointee(left.ty.ty).is_some(), self.unit.types.pointee(right.ty.ty).is_some());
        let comparison = matches!(op, BinOp::Lt | BinOp::Le | BinOp::Gt | BinOp::Ge | BinOp::Eq | BinOp::Ne);
        match (op, pointers) {
            (BinOp::Add, (true, false)) => return self.pointer_sum(left, right, false, span),
            (BinOp::Add, (false, true)) => return self.pointer_sum(right, left, false, span),
            (BinOp::Sub, (true, false)) => return self.pointer_sum(left, right, true, span),
            (BinOp::Sub, (true, true)) => {
                let target = self.unit.types.pointee(left.ty.ty).ok_or("a pointer")?;
                let stride = self.element_size(target)?;
                let long = self.int(IntKind::Long);
                let kind = ExprKind::PtrDiff { left: Box::new(left), right: Box::new(right), stride };
                return Ok(Expr { kind, ty: long, span });
            }
            (_, (true, _) | (_, true)) if comparison => {
                let ty = if pointers.0 { plain(left.ty.ty) } else { plain(right.ty.ty) };
                let (left, right) = (self.convert(left, ty)?, self.convert(right, ty)?);
                return Ok(Expr {
                    kind: ExprKind::Binary(op, Box::new(left), Box::new(right)),
                    ty: int,
                    span,
                });
            }
            (_, (false, false)) => {}
            _ => return Err("arithmetic on pointers".into()),
        }
        if matches!(op, BinOp::Shl | BinOp::Shr) {
            let (left, right) = (self.promoted(left)?, self.promoted(right)?);
            let ty = plain(left.ty.ty);
            if self.unit.types.as_int(ty.ty).is_none() || self.unit.types.as_int(right.ty.ty).is_none() {
                return Err("a shift of something else than integers".into());
            }
            return Ok(Expr { kind: ExprKind::Binary(op, Box::new(left), Box::new(right)), ty, span });
        }
        let (left, right) = self.balanced(left, right)?;
        let bitwise = matches!(op, BinOp::And | BinOp::Or | BinOp::Xor | BinOp::Rem);
        if bitwise && self.unit.types.as_int(left.ty.ty).is_none() {
            return Err("a bit operation on something else than integers".into());
        }
        let ty = if comparison { int } else { plain(left.ty.ty) };
        Ok(Expr { kind: ExprKind::Binary(op, Box::new(left), Box::new(right)), ty, span })
    }

    fn assignment(&mut self, reader: &Reader, node: Node, span: Span) -> Lowered<Expr> {
        let operator = reader.operator(field(node, "operator")?).to_owned();
        let place = self.lvalue(reader, field(node, "left")?)?;
        let value = self.rvalue(reader, field(node, "right")?)?;
        let ty = plain(place.ty.ty);
        if operator == "=" {
            let value = if matches!(self.unit.types.kind(ty.ty), TypeKind::Record(_)) {
                if value.ty.ty != ty.ty {
                    return Err("an assignment between different records".into());
                }
                value
            } else {
                self.convert(value, ty)?
            };
            return Ok(Expr { kind: ExprKind::Assign(place, Box::new(value)), ty, span });
        }
        let op = operator
            .strip_suffix('=')
            .and_then(operation)
            .ok_or_else(|| format!("the operator {operator}"))?;
        if let Some(target) = self.unit.types.pointee(ty.ty) {
            let stride = self.element_size(target)?;
            let index = match op {
                BinOp::Add => self.index(value, false)?,
                BinOp::Sub => self.index(value, true)?,
                _ => return Err("arithmetic on a pointer".into()),
            };
            let kind = ExprKind::PtrAssign { place, index: Box::new(index), stride };
            return Ok(Expr { kind, ty, span });
        }
        // What the operands of the plain operation would be converted to.
        let old = Expr { kind: ExprKind::Load(place.clone()), ty, span: place.span };
        let combined = self.arithmetic(op, old, value, span)?;
        let ExprKind::Binary(op, left, right) = combined.kind else {
            return Err("a compound assignment".into());
        };
        let compute = plain(left.ty.ty);
        Ok(Expr { kind: ExprKind::AssignOp { op, place, value: right, compute }, ty, span })
    }

    fn conditional(&mut self, reader: &Reader, node: Node, span: Span) -> Lowered<Expr> {
        let cond = self.rvalue(reader, field(node, "condition")?)?;
        self.scalar(&cond)?;
        let Some(consequence) = node.child_by_field_name("consequence") else {
            return Err("a conditional without its middle operand".into());
        };
        let a = self.rvalue(reader, consequence)?;
        let b = self.rvalue(reader, field(node, "alternative")?)?;
        let is_pointer = |l: &Self, e: &Expr| l.unit.types.pointee(e.ty.ty).is_some();
        let (a, b) = match (is_pointer(self, &a), is_pointer(self, &b)) {
            (true, true) => {
                let is_void = |l: &Self, e: &Expr| {
                    l.unit
                        .types
                        .pointee(e.ty.ty)
                        .is_some_and(|t| matches!(l.unit.types.kind(t.ty), TypeKind::Void))
                };
                // A pointer to void wins, unless it is a null pointer constant: then either type has the same value.
                let ty =
                    if is_void(self, &a) && !is_void(self, &b) { plain(b.ty.ty) } else { plain(a.ty.ty) };
                (self.convert(a, ty)?, self.convert(b, ty)?)
            }
            (true, false) => {
                let ty = plain(a.ty.ty);
                (a, self.convert(b, ty)?)
            }
            (false, true) => {
                let ty = plain(b.ty.ty);
                (self.convert(a, ty)?, b)
            }
            (false, false) if a.ty.ty == b.ty.ty && self.scalar(&a).is_err() => (a, b),
            (false, false) => self.balanced(a, b)?,
        };
        let ty = plain(a.ty.ty);
        Ok(Expr { kind: ExprKind::Conditional(Box::new(cond), Box::new(a), Box::new(b)), ty, span })
    }

    fn call(&mut self, reader: &Reader, node: Node, span: Span) -> Lowered<Expr> {
        let function = field(node, "function")?;
        let arguments = children(field(node, "arguments")?);
        if function.kind() == "identifier" {
            let name = reader.text(function)?.to_owned();
            let in_view = reader.operator(function).to_owned();
            match in_view.as_str() {
                "pg_alignof" => return self.alignment(reader, &arguments, span),
                "__builtin_offsetof" => return self.offset_of(reader, &arguments, span),
                "__builtin_va_arg" | "__builtin_types_compatible_p" => return Err(in_view),
                _ => {}
            }
            let known = self.lookup(&name);
            if known.is_none() && name.starts_with("__builtin_") {
                return self.builtin(reader, name, &arguments, span);
            }
            let id = match known {
                Some(Entity::Variable(id)) => id,
                None => {
                    // C89: declared by its use, as a function returning int.
                    let ret = self.int(IntKind::Int);
                    let ty =
                        TypeKind::Function { ret, params: Vec::new(), variadic: false, prototyped: false };
                    let ty = plain(self.unit.types.intern(ty));
                    let id = self.variable(&name, ty, Storage::Global, span);
                    self.unit.variables[id.0 as usize].is_extern = true;
                    self.scopes[0].names.insert(name.clone(), Entity::Variable(id));
                    id
                }
                Some(_) => return Err(format!("a call of {name}, which was not understood")),
            };
            if let TypeKind::Function { .. } = self.unit.types.kind(self.unit.var(id).ty.ty) {
                let token = reader.token(function)?;
                let is_global = self.unit.var(id).storage == Storage::Global && self.unit.var(id).is_extern
                    || self.scopes[0].names.contains_key(&name);
                if ALLOCATORS.contains(&name.as_str()) && is_global {
                    let call = AllocationCall {
                        name: name.clone(),
                        span: self.tokens.span(token),
                        ordinal: self.tokens.ordinal(token),
                    };
                    self.unit.allocations.push(call);
                }
                let ty = self.unit.var(id).ty;
                return self.finish_call(reader, Callee::Named(id), ty, &arguments, span);
            }
        }
        let callee = self.rvalue(reader, function)?;
        let target =
            self.unit.types.pointee(callee.ty.ty).ok_or("a call of something else than a function")?;
        let callee = match callee.kind {
            ExprKind::Function(id) => Callee::Named(id),
            _ => Callee::Pointer(Box::new(callee)),
        };
        self.finish_call(reader, callee, target, &arguments, span)
    }

    fn finish_call(
        &mut self,
        reader: &Reader,
        callee: Callee,
        ty: QualType,
        arguments: &[Node],
        span: Span,
    ) -> Lowered<Expr> {
        let TypeKind::Function { ret, params, .. } = self.unit.types.kind(ty.ty).clone() else {
            return Err("a call of something else than a function".into());
        };
        let mut args = Vec::new();
        for (number, argument) in arguments.iter().enumerate() {
            let value = self.rvalue(reader, *argument)?;
            let value = match params.get(number) {
                Some(param) if self.is_aggregate(*param) => value,
                Some(param) if matches!(self.unit.types.kind(param.ty), TypeKind::Opaque { .. }) => value,
                Some(param) => self.convert(value, plain(param.ty))?,
                None => self.default_promoted(value)?,
            };
            args.push(value);
        }
        Ok(Expr { kind: ExprKind::Call { callee, args }, ty: plain(ret.ty), span })
    }

    fn default_promoted(&mut self, value: Expr) -> Lowered<Expr> {
        if self.unit.types.as_float(value.ty.ty) == Some(FloatKind::Float) {
            let double = self.float(FloatKind::Double);
            return self.convert(value, double);
        }
        self.promoted(value)
    }

    /// A gcc builtin that is known here: its type, its arguments converted.
    fn builtin(&mut self, reader: &Reader, name: String, arguments: &[Node], span: Span) -> Lowered<Expr> {
        let short = &name["__builtin_".len()..];
        if short == "expect" {
            let first = arguments.first().ok_or("__builtin_expect without arguments")?;
            let value = self.rvalue(reader, *first)?;
            let long = self.int(IntKind::Long);
            return self.convert(value, long);
        }
        if short == "constant_p" {
            return Ok(Expr {
                kind: ExprKind::Opaque("__builtin_constant_p"),
                ty: self.int(IntKind::Int),
                span,
            });
        }
        const DOUBLE: [&str; 12] = [
            "sqrt", "fabs", "floor", "ceil", "trunc", "copysign", "fmin", "fmax", "sin", "cos", "exp", "log",
        ];
        let (kind, known) = match short.strip_suffix('f') {
            Some(stem) if DOUBLE.contains(&stem) => (FloatKind::Float, true),
            _ => (FloatKind::Double, DOUBLE.contains(&short)),
        };
        if known {
            let ty = self.float(kind);
            let mut args = Vec::new();
            for argument in arguments {
                let value = self.rvalue(reader, *argument)?;
                args.push(self.convert(value, ty)?);
            }
            return Ok(Expr { kind: ExprKind::Call { callee: Callee::Builtin(name), args }, ty, span });
        }
        let constant = match short {
            "huge_val" | "inf" => Some(FloatKind::Double),
            "huge_valf" | "inff" => Some(FloatKind::Float),
            "nan" => Some(FloatKind::Double),
            "nanf" => Some(FloatKind::Float),
            _ => None,
        };
        if let Some(kind) = constant {
            let ty = self.float(kind);
            return Ok(Expr { kind: ExprKind::Opaque("an infinity or NaN constant"), ty, span });
        }
        const VOID: [&str; 4] = ["unreachable", "trap", "va_start", "va_end"];
        if VOID.contains(&short) {
            let void = self.void();
            return Ok(Expr { kind: ExprKind::Opaque("a call of a builtin"), ty: void, span });
        }
        Err(format!("a call of {name}"))
    }

    fn alignment(&mut self, reader: &Reader, arguments: &[Node], span: Span) -> Lowered<Expr> {
        let size = arguments.first().filter(|a| a.kind() == "sizeof_expression").ok_or("alignof")?;
        let ty = match size.child_by_field_name("type") {
            Some(name) => self.type_name(reader, name)?,
            None => self.type_of(reader, field(*size, "value")?)?,
        };
        let align = self.unit.types.align_of(ty.ty).ok_or("the alignment of an incomplete type")?;
        Ok(Expr { kind: ExprKind::Int(i128::from(align)), ty: self.int(IntKind::ULong), span })
    }

    /// `__builtin_offsetof(sizeof(T), pg_root.m.n[3])`.
    fn offset_of(&mut self, reader: &Reader, arguments: &[Node], span: Span) -> Lowered<Expr> {
        let [size, path] = arguments else { return Err("offsetof".into()) };
        let ty = self.type_name(reader, field(*size, "type")?)?;
        let (offset, _) = self.offset(reader, *path, ty)?;
        Ok(Expr { kind: ExprKind::Int(i128::from(offset)), ty: self.int(IntKind::ULong), span })
    }

    fn offset(&mut self, reader: &Reader, node: Node, root: QualType) -> Lowered<(u64, QualType)> {
        match node.kind() {
            "identifier" => Ok((0, root)),
            "field_expression" => {
                let (base, ty) = self.offset(reader, field(node, "argument")?, root)?;
                let TypeKind::Record(record) = *self.unit.types.kind(ty.ty) else {
                    return Err("offsetof".into());
                };
                let name = reader.text(field(node, "field")?)?;
                let path =
                    types::find_member(&self.unit.types, record, name).ok_or("offsetof an unknown member")?;
                let (mut offset, mut ty) = (base, ty);
                for (record, number) in path {
                    let fields =
                        self.unit.types.record(record).fields.as_ref().ok_or("an incomplete record")?;
                    let member = &fields[number as usize];
                    offset += member.offset;
                    ty = member.ty;
                }
                Ok((offset, ty))
            }
            "subscript_expression" => {
                let (base, ty) = self.offset(reader, field(node, "argument")?, root)?;
                let TypeKind::Array(element, _) = *self.unit.types.kind(ty.ty) else {
                    return Err("offsetof".into());
                };
                let index = self.constant(reader, field(node, "index")?)?;
                let index = u64::try_from(index).map_err(|_| "offsetof a negative index")?;
                let size = self.element_size(element)?;
                Ok((base + index * size, element))
            }
            other => Err(format!("offsetof {other}")),
        }
    }
}

fn operation(text: &str) -> Option<BinOp> {
    use BinOp::*;
    Some(match text {
        "+" => Add,
        "-" => Sub,
        "*" => Mul,
        "/" => Div,
        "%" => Rem,
        "&" => And,
        "|" => Or,
        "^" => Xor,
        "<<" => Shl,
        ">>" => Shr,
        "<" => Lt,
        "<=" => Le,
        ">" => Gt,
        ">=" => Ge,
        "==" => Eq,
        "!=" => Ne,
        _ => return None,
    })
}
