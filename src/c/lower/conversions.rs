//! Conversions: every one that C makes implicitly becomes explicit here. Lvalues become values, arrays and functions
//! pointers, small integers ints, operands of one operator one type, and values what they are assigned to.

use super::super::constant::{self, Value};
use super::super::hir::*;
use super::super::types;
use super::declarators::{PLAIN, merged};
use super::expressions::Operand;
use super::operators::is_comparison;
use super::{Lowered, Lowering};

impl Lowering<'_> {
    /// The value of an operand: lvalue conversion, or decay of arrays and functions.
    pub(super) fn decayed(&mut self, operand: Operand, span: Span) -> Lowered<Expr> {
        match operand {
            Operand::Value(expr) | Operand::Designator(expr) => Ok(expr),
            Operand::Function(var) => {
                let ty = self.pointer_to(self.unit.var(var).ty);
                Ok(Expr { kind: ExprKind::Function(var), ty, span })
            }
            Operand::Text(text) => {
                let element = self.int_type(text.element);
                let ty = self.pointer_to(element);
                let kind = match text.bytes {
                    Some(bytes) => ExprKind::Str(bytes),
                    None => ExprKind::Opaque("a wide string"),
                };
                Ok(Expr { kind, ty, span })
            }
            Operand::Place(place) => {
                if let TypeKind::Array(element, _) = *self.types().kind(place.ty.ty) {
                    let ty = self.pointer_to(element);
                    let kind = match place.kind {
                        PlaceKind::Opaque(what) => ExprKind::Opaque(what),
                        _ => ExprKind::AddressOf(place),
                    };
                    return Ok(Expr { kind, ty, span });
                }
                let ty = QualType { ty: place.ty.ty, quals: PLAIN };
                let kind = match place.kind {
                    PlaceKind::Opaque(what) => {
                        if let Some(list) = self.literals.remove(&place.id) {
                            self.unit.literals.insert((span.start, span.end), list);
                        }
                        ExprKind::Opaque(what)
                    }
                    _ if self.types().size_of(ty.ty).is_none() => {
                        ExprKind::Opaque("an object of unknown size")
                    }
                    _ => ExprKind::Load(place),
                };
                Ok(Expr { kind, ty, span })
            }
        }
    }

    /// A conversion of `expr` to `ty`, folded where it is one of integer constants.
    pub(super) fn cast(&mut self, expr: Expr, ty: QualType) -> Expr {
        let ty = QualType { quals: PLAIN, ..ty };
        // What was a bit-field isn't any more: it would be promoted by its width.
        if expr.ty == ty && bit_field(&expr).is_none() {
            return expr;
        }
        let span = expr.span;
        if let (ExprKind::Int(value), Some(kind)) = (&expr.kind, self.types().as_int(ty.ty))
            && let Some(value) = constant::wrap(*value, kind)
        {
            return Expr { kind: ExprKind::Int(value), ty, span };
        }
        if let Some(kind) = self.types().as_int(ty.ty)
            && self.has_no_room(&expr, kind, kind.size() * 8)
        {
            let kind = ExprKind::Opaque("a floating constant that its type has no room for");
            return Expr { kind, ty, span };
        }
        if self.is_opaque(ty) || self.is_opaque(expr.ty) {
            let kind = if matches!(self.types().kind(ty.ty), TypeKind::Void) {
                ExprKind::Cast(Box::new(expr))
            } else {
                ExprKind::Opaque("a conversion of an extended type")
            };
            return Expr { kind, ty, span };
        }
        Expr { kind: ExprKind::Cast(Box::new(expr)), ty, span }
    }

    pub(super) fn is_opaque(&self, ty: QualType) -> bool {
        matches!(self.types().kind(ty.ty), TypeKind::Opaque { .. })
    }
    pub(super) fn is_arithmetic(&self, ty: QualType) -> bool {
        self.types().as_int(ty.ty).is_some() || self.types().as_float(ty.ty).is_some()
    }
    pub(super) fn is_pointer(&self, ty: QualType) -> bool {
        self.types().pointee(ty.ty).is_some()
    }
    pub(super) fn is_scalar(&self, ty: QualType) -> bool {
        self.is_arithmetic(ty) || self.is_pointer(ty) || self.is_opaque(ty)
    }
    pub(super) fn is_void(&self, ty: QualType) -> bool {
        matches!(self.types().kind(ty.ty), TypeKind::Void)
    }

    /// A value that a condition can test.
    pub(super) fn condition(&self, expr: Expr) -> Lowered<Expr> {
        if self.is_scalar(expr.ty) { Ok(expr) } else { Err("a condition that is no scalar".into()) }
    }

    /// The value after integer promotion.
    pub(super) fn promoted(&mut self, expr: Expr) -> Lowered<Expr> {
        let Some(kind) = self.types().as_int(expr.ty.ty) else { return Ok(expr) };
        if self.wide_field(&expr).is_some() {
            return Ok(Expr { kind: ExprKind::Opaque(WIDE_FIELD), ..expr });
        }
        let mut to = types::promoted(kind);
        match bit_field(&expr) {
            Some((width, is_load)) if width < 32 || (width == 32 && kind.signed()) => {
                if !is_load && !kind.signed() && to != IntKind::Int {
                    return Err("the value of an assignment to a bit-field".into());
                }
                to = IntKind::Int;
            }
            Some((32, _)) => to = IntKind::UInt,
            _ => {}
        }
        let ty = self.int_type(to);
        Ok(self.cast(expr, ty))
    }

    /// Whether the value is one of a bit-field wider than int and narrower than the type that it is declared with, and then whether it has a sign. GCC computes with as
    /// many bits as the field has, clang with the declared type: what is understood is what comes to the same.
    pub(super) fn wide_field(&self, expr: &Expr) -> Option<bool> {
        let (width, _) = bit_field(expr)?;
        let kind = self.types().as_int(expr.ty.ty)?;
        (width > 32 && u64::from(width) < kind.size() * 8).then_some(kind.signed())
    }

    /// Whether `value` is a floating constant converted to the type of a bit-field of this width that has no room for it.
    pub(super) fn strays_from_field(&self, value: &Expr, width: u32) -> bool {
        let (ExprKind::Cast(constant), Some(kind)) = (&value.kind, self.types().as_int(value.ty.ty)) else {
            return false;
        };
        self.has_no_room(constant, kind, width.into())
    }

    /// Whether `constant` is a floating constant that integers of so many bits have no room for. C doesn't say what becomes of it: GCC takes the nearest one that there is, but of what isn't
    /// constant whatever the machine makes of it.
    fn has_no_room(&self, constant: &Expr, kind: IntKind, bits: u64) -> bool {
        if self.types().as_float(constant.ty.ty).is_none() || kind == IntKind::Bool {
            return false;
        }
        let Some(Value::Float(number)) = constant::evaluate(self.types(), constant) else { return false };
        let end = ((bits - u64::from(kind.signed())) as f64).exp2();
        let first = if kind.signed() { -end } else { 0.0 };
        !(first..end).contains(&number.trunc())
    }

    /// Whether nobody can say of which type such a value is.
    pub(super) fn has_unclear_type(&self, expr: &Expr) -> bool {
        match &expr.kind {
            ExprKind::Opaque(what) => *what == WIDE_FIELD,
            ExprKind::Binary(op, ..) if is_comparison(*op) => false,
            ExprKind::Binary(BinOp::Shl | BinOp::Shr, value, _) | ExprKind::Comma(_, value) => {
                self.has_unclear_type(value)
            }
            ExprKind::Binary(_, a, b) | ExprKind::Conditional(_, a, b) => {
                self.has_unclear_type(a) || self.has_unclear_type(b)
            }
            ExprKind::Unary(UnOp::Not, _) => false,
            ExprKind::Unary(_, value) => self.has_unclear_type(value),
            _ => self.wide_field(expr).is_some(),
        }
    }

    /// Both values in the type that the wide bit-fields among them are declared with, if they are the same numbers there as in any type in which an operator might combine them.
    pub(super) fn side_by_wide_field(&mut self, left: &Expr, right: &Expr) -> Option<(Expr, Expr)> {
        let (field, other) = match (self.wide_field(left), self.wide_field(right)) {
            (Some(_), _) => (left, right),
            (None, Some(_)) => (right, left),
            (None, None) => return None,
        };
        let (is_signed, kind) = (self.wide_field(field)?, self.types().as_int(other.ty.ty)?);
        let is_same = match (self.wide_field(other), &other.kind) {
            (Some(sign), _) => sign == is_signed,
            (None, ExprKind::Int(value)) if (0..=i128::from(i32::MAX)).contains(value) => true,
            (None, _) => kind.size() < 8 && (is_signed || !kind.signed()),
        };
        // A bit-field that isn't wide has the same sign as int has, whatever it is declared with.
        let is_int = bit_field(other).is_none() || self.wide_field(other).is_some();
        if !is_same || !is_int {
            return None;
        }
        let ty = field.ty;
        Some((self.cast(left.clone(), ty), self.cast(right.clone(), ty)))
    }

    /// Both values in the type in which an operator combines them.
    pub(super) fn balanced(&mut self, left: Expr, right: Expr) -> Lowered<(Expr, Expr, QualType)> {
        let ty = match (self.types().as_float(left.ty.ty), self.types().as_float(right.ty.ty)) {
            (Some(a), Some(b)) => self.float_type(types::common_float(a, b)),
            (Some(a), None) => self.float_type(a),
            (None, Some(b)) => self.float_type(b),
            (None, None) => {
                let (left, right) = self.wide_fields_beside_long(left, right);
                let (left, right) = (self.promoted(left)?, self.promoted(right)?);
                let kinds = (self.types().as_int(left.ty.ty), self.types().as_int(right.ty.ty));
                let (Some(a), Some(b)) = kinds else { return Err("operands that are no numbers".into()) };
                let ty = self.int_type(types::common_integer(a, b));
                return Ok((self.cast(left, ty), self.cast(right, ty), ty));
            }
        };
        if !self.is_arithmetic(left.ty) || !self.is_arithmetic(right.ty) {
            return Err("operands that are no numbers".into());
        }
        Ok((self.cast(left, ty), self.cast(right, ty), ty))
    }

    /// Wide bit-fields as numbers of the type that they are declared with, where the other number is as wide as that and has a sign only if they do: this is the type, then.
    fn wide_fields_beside_long(&mut self, left: Expr, right: Expr) -> (Expr, Expr) {
        let beside = |lowering: &Self, field: &Expr, other: &Expr| {
            let is_signed = lowering.wide_field(field)?;
            let kind = lowering.types().as_int(other.ty.ty)?;
            let is_narrow = bit_field(other).is_some_and(|(width, _)| u64::from(width) < kind.size() * 8);
            (kind.size() == 8 && (is_signed || !kind.signed()) && !is_narrow).then_some(field.ty)
        };
        let (first, second) = (beside(self, &left, &right), beside(self, &right, &left));
        let left = first.map_or(left.clone(), |ty| self.cast(left, ty));
        let right = second.map_or(right.clone(), |ty| self.cast(right, ty));
        (left, right)
    }

    /// The type of an operation on an extended type.
    pub(super) fn opaque_type(&mut self, left: QualType, right: QualType) -> Lowered<QualType> {
        let opaque = |lowering: &Self, ty: QualType| match *lowering.types().kind(ty.ty) {
            TypeKind::Opaque { size, what, .. } => Some((size, what)),
            _ => None,
        };
        let plain = |ty: QualType| QualType { quals: PLAIN, ..ty };
        match (opaque(self, left), opaque(self, right)) {
            (Some(_), _) if left.ty == right.ty => Ok(plain(left)),
            (Some((_, "a vector")), None) => Ok(plain(left)),
            (None, Some((_, "a vector"))) => Ok(plain(right)),
            (a, b) => {
                // Complex numbers: the wider real type wins.
                let width = |lowering: &Self, ty: QualType, found: Option<(Option<u64>, &str)>| match found {
                    Some((Some(size), what)) if what.ends_with("complex number") => Some(size),
                    Some(_) => None,
                    None => match lowering.types().as_float(ty.ty) {
                        Some(FloatKind::Float) => Some(8),
                        Some(FloatKind::Double) => Some(16),
                        Some(_) => Some(32),
                        None => lowering.types().as_int(ty.ty).map(|_| 0),
                    },
                };
                let widest = width(self, left, a).zip(width(self, right, b)).map(|(a, b)| a.max(b));
                let (align, what) = match widest {
                    Some(8) => (4, "a float complex number"),
                    Some(16) => (8, "a double complex number"),
                    Some(32) => (16, "a long double complex number"),
                    _ => return Err("arithmetic on extended types".into()),
                };
                Ok(self.intern(TypeKind::Opaque { size: widest, align, what }))
            }
        }
    }

    /// `expr` as it is stored to an object of type `to`, passed as such a parameter, or returned.
    pub(super) fn assigned(&mut self, expr: Expr, to: QualType) -> Lowered<Expr> {
        let to = QualType { quals: PLAIN, ..to };
        if expr.ty.ty == to.ty {
            return Ok(Expr { ty: to, ..expr });
        }
        let fits = match self.types().kind(to.ty) {
            TypeKind::Void => return Err("a value of no type".into()),
            TypeKind::Record(id) if self.transparent.contains(id) => {
                return Ok(Expr { kind: ExprKind::Opaque("a transparent union"), ty: to, span: expr.span });
            }
            TypeKind::Record(_) | TypeKind::Array(..) | TypeKind::Function { .. } => false,
            _ => self.is_scalar(expr.ty),
        };
        let float_and_pointer = (self.types().as_float(expr.ty.ty).is_some() && self.is_pointer(to))
            || (self.is_pointer(expr.ty) && self.types().as_float(to.ty).is_some());
        if !fits || float_and_pointer {
            return Err("a value of another type than is wanted".into());
        }
        Ok(self.cast(expr, to))
    }

    /// An argument where no parameter type is known.
    pub(super) fn default_promoted(&mut self, expr: Expr) -> Lowered<Expr> {
        if self.types().as_float(expr.ty.ty) == Some(FloatKind::Float) {
            let ty = self.float_type(FloatKind::Double);
            return Ok(self.cast(expr, ty));
        }
        if self.is_void(expr.ty) {
            return Err("an argument without a value".into());
        }
        self.promoted(expr)
    }

    /// Whether `expr` is a null pointer constant.
    pub(super) fn is_null(&self, expr: &Expr) -> bool {
        let zero = |expr: &Expr| constant::evaluate(self.types(), expr) == Some(Value::Int(0));
        if self.types().as_int(expr.ty.ty).is_some() {
            return zero(expr);
        }
        match (self.types().pointee(expr.ty.ty), &expr.kind) {
            (Some(to), ExprKind::Cast(inner)) if to.quals == PLAIN && self.is_void(to) => {
                self.types().as_int(inner.ty.ty).is_some() && zero(inner)
            }
            _ => false,
        }
    }

    /// Both arms of a conditional in the type of the whole.
    pub(super) fn arms(&mut self, then: Expr, otherwise: Expr) -> Lowered<(Expr, Expr, QualType)> {
        if self.is_opaque(then.ty) || self.is_opaque(otherwise.ty) {
            let ty = self.opaque_type(then.ty, otherwise.ty)?;
            return Ok((self.cast(then, ty), self.cast(otherwise, ty), ty));
        }
        if self.is_arithmetic(then.ty) && self.is_arithmetic(otherwise.ty) {
            return self.balanced(then, otherwise);
        }
        if self.is_void(then.ty) || self.is_void(otherwise.ty) {
            let ty = self.void();
            return Ok((self.cast(then, ty), self.cast(otherwise, ty), ty));
        }
        if then.ty.ty == otherwise.ty.ty {
            let ty = then.ty;
            return Ok((then, otherwise, ty));
        }
        let ty = match (self.types().pointee(then.ty.ty), self.types().pointee(otherwise.ty.ty)) {
            (Some(_), _) if self.is_null(&otherwise) => then.ty,
            (_, Some(_)) if self.is_null(&then) => otherwise.ty,
            (Some(a), Some(b)) => {
                let quals = merged(a.quals, b.quals);
                let to = match (self.is_variable_length(a.ty), self.is_variable_length(b.ty)) {
                    _ if a.ty == b.ty => a,
                    // Two arrays of variable length, or one of a known one: C wants them to be as long as each other.
                    (_, true) => a,
                    (true, _) => b,
                    _ => self.void(),
                };
                self.pointer_to(QualType { quals, ..to })
            }
            (Some(_), None) if self.types().as_int(otherwise.ty.ty).is_some() => then.ty,
            (None, Some(_)) if self.types().as_int(then.ty.ty).is_some() => otherwise.ty,
            _ => return Err("arms of different types".into()),
        };
        Ok((self.cast(then, ty), self.cast(otherwise, ty), ty))
    }

    /// Whether computing `expr` changes nothing and may be done twice.
    pub(super) fn is_pure(&self, expr: &Expr) -> bool {
        let place = |place: &Place| self.is_pure_place(place);
        match &expr.kind {
            ExprKind::Int(_) | ExprKind::Float(_) | ExprKind::Str(_) | ExprKind::Function(_) => true,
            ExprKind::Load(p) => place(p) && !p.ty.quals.is_volatile && !p.ty.quals.is_atomic,
            ExprKind::AddressOf(p) => place(p),
            ExprKind::Unary(_, a) | ExprKind::Cast(a) => self.is_pure(a),
            ExprKind::Binary(_, a, b)
            | ExprKind::LogicalAnd(a, b)
            | ExprKind::LogicalOr(a, b)
            | ExprKind::Comma(a, b)
            | ExprKind::PtrAdd { pointer: a, index: b, .. }
            | ExprKind::PtrDiff { left: a, right: b, .. } => self.is_pure(a) && self.is_pure(b),
            ExprKind::Conditional(a, b, c) => self.is_pure(a) && self.is_pure(b) && self.is_pure(c),
            _ => false,
        }
    }

    fn is_pure_place(&self, place: &Place) -> bool {
        match &place.kind {
            PlaceKind::Var(_) => true,
            PlaceKind::Deref(pointer) => self.is_pure(pointer),
            PlaceKind::Field { base, .. } => self.is_pure_place(base),
            PlaceKind::Opaque(_) => false,
        }
    }

    /// Whether a type is an array whose size isn't constant.
    pub(super) fn is_variable_length(&self, ty: TypeId) -> bool {
        self.types().is_of_variable_length(ty)
    }
}

/// What stands where a wide bit-field is computed with.
const WIDE_FIELD: &str = "arithmetic on a bit-field wider than int";

/// The width of the bit-field whose value `expr` is, and whether it is simply read.
fn bit_field(expr: &Expr) -> Option<(u32, bool)> {
    let (place, is_load) = match &expr.kind {
        ExprKind::Load(place) => (place, true),
        ExprKind::Assign(place, _)
        | ExprKind::AssignOp { place, .. }
        | ExprKind::PtrAssign { place, .. }
        | ExprKind::IncDec { place, .. } => (place, false),
        ExprKind::Comma(_, right) => return bit_field(right).map(|(width, _)| (width, false)),
        // What a wide one is shifted right to, which no promotion stands in front of, is of its type.
        ExprKind::Binary(BinOp::Shr, left, _) => return bit_field(left),
        _ => return None,
    };
    match place.kind {
        PlaceKind::Field { bits: Some((_, width)), .. } => Some((width, is_load)),
        _ => None,
    }
}
