//! Operators: arithmetic, comparisons, logic, pointers, assignments, conditionals.

use tree_sitter::Node;

use super::super::constant;
use super::super::hir::*;
use super::declarators::PLAIN;
use super::expressions::Operand;
use super::rows::Row;
use super::source::field;
use super::{Lowered, Lowering, shape};

/// The operator of a token, with `=` stripped from compound assignments.
fn operator(token: &str) -> Option<BinOp> {
    Some(match token {
        "+" => BinOp::Add,
        "-" => BinOp::Sub,
        "*" => BinOp::Mul,
        "/" => BinOp::Div,
        "%" => BinOp::Rem,
        "&" => BinOp::And,
        "|" => BinOp::Or,
        "^" => BinOp::Xor,
        "<<" => BinOp::Shl,
        ">>" => BinOp::Shr,
        "<" => BinOp::Lt,
        "<=" => BinOp::Le,
        ">" => BinOp::Gt,
        ">=" => BinOp::Ge,
        "==" => BinOp::Eq,
        "!=" => BinOp::Ne,
        _ => return None,
    })
}

pub(super) fn is_comparison(op: BinOp) -> bool {
    matches!(op, BinOp::Lt | BinOp::Le | BinOp::Gt | BinOp::Ge | BinOp::Eq | BinOp::Ne)
}

fn is_shift(op: BinOp) -> bool {
    matches!(op, BinOp::Shl | BinOp::Shr)
}

/// Whether the operator takes integers only.
fn wants_integers(op: BinOp) -> bool {
    is_shift(op) || matches!(op, BinOp::Rem | BinOp::And | BinOp::Or | BinOp::Xor)
}

impl Lowering<'_> {
    // ---- Binary operators.

    pub(super) fn binary(&mut self, node: Node, span: Span) -> Lowered<Expr> {
        let left = self.value(field(node, "left")?)?;
        let right = self.value(field(node, "right")?)?;
        let token = field(node, "operator")?.kind();
        if let "&&" | "||" = token {
            let ty = self.int_type(IntKind::Int);
            let (left, right) = (Box::new(self.condition(left)?), Box::new(self.condition(right)?));
            let kind = if token == "&&" {
                ExprKind::LogicalAnd(left, right)
            } else {
                ExprKind::LogicalOr(left, right)
            };
            return Ok(Expr { kind, ty, span });
        }
        let op = operator(token).ok_or_else(|| format!("the operator {token}"))?;
        self.combined(op, left, right, span)
    }

    fn combined(&mut self, op: BinOp, left: Expr, right: Expr, span: Span) -> Lowered<Expr> {
        if self.is_opaque(left.ty) || self.is_opaque(right.ty) {
            return self.combined_opaque(op, left, right, span);
        }
        match (self.is_pointer(left.ty), self.is_pointer(right.ty)) {
            (true, _) | (_, true) if is_comparison(op) => {
                return self.compared_pointers(op, left, right, span);
            }
            (true, false) if op == BinOp::Add => return self.pointer_sum(left, right, false, span),
            (true, false) if op == BinOp::Sub => return self.pointer_sum(left, right, true, span),
            (false, true) if op == BinOp::Add => return self.pointer_sum(right, left, false, span),
            (true, true) if op == BinOp::Sub => {
                let ty = self.int_type(IntKind::Long);
                let kind = match self.row(left.ty)?.stride() {
                    Some(0) => return Err("a difference in elements without a size".into()),
                    Some(stride) => {
                        ExprKind::PtrDiff { left: Box::new(left), right: Box::new(right), stride }
                    }
                    None => ExprKind::Opaque("a difference in arrays of variable length"),
                };
                return Ok(Expr { kind, ty, span });
            }
            (true, _) | (_, true) => return Err("arithmetic on pointers".into()),
            _ => {}
        }
        if !self.is_arithmetic(left.ty) || !self.is_arithmetic(right.ty) {
            return Err("operands that are no numbers".into());
        }
        if is_comparison(op)
            && let Some((left, right)) = self.side_by_wide_field(&left, &right)
        {
            let ty = self.int_type(IntKind::Int);
            return Ok(self.folded(op, left, right, ty, span));
        }
        if is_shift(op) {
            let is_field = op == BinOp::Shr && self.wide_field(&left).is_some();
            let (left, right) = (if is_field { left } else { self.promoted(left)? }, self.promoted(right)?);
            if self.types().as_int(left.ty.ty).is_none() || self.types().as_int(right.ty.ty).is_none() {
                return Err("a shift of or by something that is no integer".into());
            }
            let ty = left.ty;
            return Ok(self.folded(op, left, right, ty, span));
        }
        let (left, right, common) = self.balanced(left, right)?;
        if wants_integers(op) && self.types().as_int(common.ty).is_none() {
            return Err("an integer operator on floating numbers".into());
        }
        let ty = if is_comparison(op) { self.int_type(IntKind::Int) } else { common };
        Ok(self.folded(op, left, right, ty, span))
    }

    /// `left op right`, as a constant if both are integer constants and the result is defined.
    fn folded(&mut self, op: BinOp, left: Expr, right: Expr, ty: QualType, span: Span) -> Expr {
        if let (ExprKind::Int(a), ExprKind::Int(b)) = (&left.kind, &right.kind)
            && let Some(kind) = self.types().as_int(left.ty.ty)
            && let Some(value) = constant::integers(op, *a, *b, kind)
        {
            return Expr { kind: ExprKind::Int(value), ty, span };
        }
        Expr { kind: ExprKind::Binary(op, Box::new(left), Box::new(right)), ty, span }
    }

    fn combined_opaque(&mut self, op: BinOp, left: Expr, right: Expr, span: Span) -> Lowered<Expr> {
        let common = self.opaque_type(left.ty, right.ty)?;
        let vector = matches!(self.types().kind(common.ty), TypeKind::Opaque { what: "a vector", .. });
        let ty = if is_comparison(op) && !vector { self.int_type(IntKind::Int) } else { common };
        Ok(Expr { kind: ExprKind::Opaque("arithmetic on extended types"), ty, span })
    }

    fn compared_pointers(&mut self, op: BinOp, left: Expr, right: Expr, span: Span) -> Lowered<Expr> {
        if self.types().as_float(left.ty.ty).is_some() || self.types().as_float(right.ty.ty).is_some() {
            return Err("a comparison of pointers with numbers".into());
        }
        let common = if self.is_pointer(left.ty) { left.ty } else { right.ty };
        let (left, right) = (self.cast(left, common), self.cast(right, common));
        let ty = self.int_type(IntKind::Int);
        Ok(Expr { kind: ExprKind::Binary(op, Box::new(left), Box::new(right)), ty, span })
    }

    /// An index as pointer arithmetic wants it.
    fn index(&mut self, index: Expr, negated: bool) -> Lowered<Expr> {
        if self.types().as_int(index.ty.ty).is_none() {
            return Err("an index that is no integer".into());
        }
        // Of a wide bit-field the number counts, as long as any number.
        let index = match self.wide_field(&index) {
            Some(_) => self.cast(index.clone(), index.ty),
            None => self.promoted(index)?,
        };
        let wide = self.types().as_int(index.ty.ty).is_some_and(|kind| kind.size() > 8);
        let long = self.int_type(IntKind::Long);
        let index = if negated || wide { self.cast(index, long) } else { index };
        Ok(if negated { self.negated(index) } else { index })
    }

    fn negated(&mut self, expr: Expr) -> Expr {
        let (ty, span) = (expr.ty, expr.span);
        if let (ExprKind::Int(value), Some(kind)) = (&expr.kind, self.types().as_int(ty.ty))
            && let Some(value) = constant::integers(BinOp::Sub, 0, *value, kind)
        {
            return Expr { kind: ExprKind::Int(value), ty, span };
        }
        Expr { kind: ExprKind::Unary(UnOp::Neg, Box::new(expr)), ty, span }
    }

    /// `pointer + index` or `pointer - index`.
    pub(super) fn pointer_sum(
        &mut self,
        pointer: Expr,
        index: Expr,
        negated: bool,
        span: Span,
    ) -> Lowered<Expr> {
        if !self.is_pointer(pointer.ty) {
            return Err("an index into something that is no pointer".into());
        }
        let index = self.index(index, negated)?;
        let ty = pointer.ty;
        let kind = match self.row(ty)? {
            Row::Known(stride) => {
                ExprKind::PtrAdd { pointer: Box::new(pointer), index: Box::new(index), stride }
            }
            Row::Variable { count, stride } if self.is_pure(&pointer) => {
                let index = self.in_elements(index, count);
                ExprKind::PtrAdd { pointer: Box::new(pointer), index: Box::new(index), stride }
            }
            // What the operands do otherwise is lost, so it may be anything.
            Row::Variable { .. } | Row::Unseen => ExprKind::Opaque("a row of variable length"),
        };
        Ok(Expr { kind, ty, span })
    }

    // ---- Unary operators.

    pub(super) fn unary(&mut self, node: Node, span: Span) -> Lowered<Expr> {
        let operand = self.value(field(node, "argument")?)?;
        self.signed(field(node, "operator")?.kind(), operand, span)
    }

    /// `!`, `~`, `-` or `+` on a value.
    fn signed(&mut self, token: &str, operand: Expr, span: Span) -> Lowered<Expr> {
        let int = self.int_type(IntKind::Int);
        if token == "!" {
            let operand = Box::new(self.condition(operand)?);
            return Ok(Expr { kind: ExprKind::Unary(UnOp::Not, operand), ty: int, span });
        }
        if self.is_opaque(operand.ty) {
            let kind = ExprKind::Opaque("arithmetic on extended types");
            return Ok(Expr { kind, ty: operand.ty, span });
        }
        if !self.is_arithmetic(operand.ty) || (token == "~" && self.types().as_int(operand.ty.ty).is_none()) {
            return Err(format!("{token} on something that is no number").into());
        }
        let operand = self.promoted(operand)?;
        let ty = operand.ty;
        Ok(match token {
            "+" => operand,
            "-" => Expr { span, ..self.negated(operand) },
            "~" => match (&operand.kind, self.types().as_int(ty.ty)) {
                (ExprKind::Int(value), Some(kind)) if constant::wrap(!value, kind).is_some() => {
                    let value = constant::wrap(!value, kind).unwrap_or(0);
                    Expr { kind: ExprKind::Int(value), ty, span }
                }
                _ => Expr { kind: ExprKind::Unary(UnOp::BitNot, Box::new(operand)), ty, span },
            },
            other => return Err(format!("the operator {other}").into()),
        })
    }

    /// `*p` and `&x`.
    pub(super) fn pointer_operator(&mut self, node: Node, span: Span) -> Lowered<Operand> {
        let argument = field(node, "argument")?;
        if field(node, "operator")?.kind() == "*" {
            let pointer = self.value(argument)?;
            return self.pointed_to(pointer, span);
        }
        match self.operand(argument)? {
            Operand::Place(place) => {
                if matches!(place.kind, PlaceKind::Field { bits: Some(_), .. }) {
                    return Err("the address of a bit-field".into());
                }
                self.mark_address_taken(&place, span);
                let ty = self.pointer_to(place.ty);
                // `&*p` and `&a[i]` are the address computation alone.
                let kind = match place.kind {
                    PlaceKind::Deref(pointer) => {
                        return Ok(Operand::Value(Expr { ty, ..*pointer }.spanning(span)));
                    }
                    // What is evaluated to find it, nobody knows.
                    PlaceKind::Opaque(what) => ExprKind::Opaque(what),
                    _ => ExprKind::AddressOf(place),
                };
                Ok(Operand::Value(Expr { kind, ty, span }))
            }
            Operand::Function(id) => self.decayed(Operand::Function(id), span).map(Operand::Value),
            Operand::Designator(pointer) => Ok(Operand::Value(pointer)),
            Operand::Text(text) => {
                let element = self.int_type(text.element);
                let array = self.intern(TypeKind::Array(element, ArrayLen::Known(text.length)));
                let ty = self.pointer_to(array);
                let kind = text.bytes.map_or(ExprKind::Opaque("a wide string"), ExprKind::Str);
                Ok(Operand::Value(Expr { kind, ty, span }))
            }
            Operand::Value(_) => Err("the address of a value".into()),
        }
    }

    fn mark_address_taken(&mut self, place: &Place, span: Span) {
        match &place.kind {
            PlaceKind::Var(id) => {
                if let Some(variable) = self.unit.variables.get_mut(id.0 as usize) {
                    variable.address_taken = true;
                    self.unit.addresses.entry(*id).or_default().insert(span.start);
                }
            }
            PlaceKind::Field { base, .. } => self.mark_address_taken(base, span),
            PlaceKind::Deref(_) | PlaceKind::Opaque(_) => {}
        }
    }

    /// Notes where a variable is assigned, whatever becomes of the expression.
    fn note_assigned(&mut self, place: &Place, span: Span) {
        if let PlaceKind::Var(id) = place.kind {
            let last = self.unit.last_assigned.entry(id).or_default();
            *last = span.start.max(*last);
        }
    }

    /// The object that an assignment changes.
    fn target(&mut self, node: Node) -> Lowered<Place> {
        match self.operand(node)? {
            Operand::Place(place) => Ok(place),
            _ => Err("an assignment to a value".into()),
        }
    }

    /// `++` and `--`, with the signs that the grammar takes for part of the operand of a postfix one.
    pub(super) fn update(&mut self, node: Node, span: Span) -> Lowered<Expr> {
        let argument = field(node, "argument")?;
        if shape::is_prefix(node) {
            return self.step(node, argument, span);
        }
        let mut expr = self.step(node, shape::behind_signs(argument), span)?;
        let mut signs = Vec::new();
        let mut sign = argument;
        while sign.kind() == "unary_expression" {
            signs.push(field(sign, "operator")?.kind());
            sign = field(sign, "argument")?;
        }
        for token in signs.into_iter().rev() {
            expr = self.signed(token, expr, span)?;
        }
        Ok(expr)
    }

    /// One `++` or `--` of the object that `argument` denotes.
    fn step(&mut self, node: Node, argument: Node, span: Span) -> Lowered<Expr> {
        let place = self.target(argument)?;
        self.note_assigned(&place, span);
        let sign = if field(node, "operator")?.kind() == "++" { 1 } else { -1 };
        let post = !shape::is_prefix(node);
        let ty = QualType { quals: PLAIN, ..place.ty };
        if matches!(place.kind, PlaceKind::Opaque(_)) || self.is_opaque(ty) {
            return Ok(Expr { kind: ExprKind::Opaque("an update of something not understood"), ty, span });
        }
        let amount = if self.is_pointer(ty) {
            match self.row(ty)?.stride() {
                Some(stride) => sign * i64::try_from(stride).map_err(|_| "elements too large")?,
                None => {
                    let kind = ExprKind::Opaque("a step over an array of variable length");
                    return Ok(Expr { kind, ty, span });
                }
            }
        } else if self.is_arithmetic(ty) {
            sign
        } else {
            return Err("a step of something that is no number".into());
        };
        Ok(Expr { kind: ExprKind::IncDec { place, amount, post }, ty, span })
    }

    pub(super) fn assignment(&mut self, node: Node, span: Span) -> Lowered<Expr> {
        let place = self.target(field(node, "left")?)?;
        self.note_assigned(&place, span);
        let value = self.value(field(node, "right")?)?;
        let token = field(node, "operator")?.kind();
        let ty = QualType { quals: PLAIN, ..place.ty };
        if matches!(self.types().kind(ty.ty), TypeKind::Array(..) | TypeKind::Void) {
            return Err("an assignment to an array or nothing".into());
        }
        if token == "=" {
            let value = self.assigned(value, place.ty)?;
            if matches!(place.kind, PlaceKind::Opaque(_)) || self.is_opaque(ty) {
                let kind = ExprKind::Opaque("an assignment to something not understood");
                return Ok(Expr { kind, ty, span });
            }
            if let PlaceKind::Field { bits: Some((_, width)), .. } = place.kind
                && self.strays_from_field(&value, width)
            {
                let kind = ExprKind::Opaque("a floating constant that its bit-field has no room for");
                return Ok(Expr { kind, ty, span });
            }
            return Ok(Expr { kind: ExprKind::Assign(place, Box::new(value)), ty, span });
        }
        let op = operator(token.trim_end_matches('=')).ok_or_else(|| format!("the operator {token}"))?;
        if matches!(place.kind, PlaceKind::Opaque(_)) || self.is_opaque(ty) || self.is_opaque(value.ty) {
            if !self.is_scalar(ty) || !self.is_scalar(value.ty) {
                return Err("operands that are no numbers".into());
            }
            let kind = ExprKind::Opaque("an assignment to something not understood");
            return Ok(Expr { kind, ty, span });
        }
        if self.is_pointer(ty) {
            if !matches!(op, BinOp::Add | BinOp::Sub) {
                return Err("arithmetic on pointers".into());
            }
            let index = Box::new(self.index(value, op == BinOp::Sub)?);
            let kind = match self.row(ty)?.stride() {
                Some(stride) => ExprKind::PtrAssign { place, index, stride },
                None => ExprKind::Opaque("a step over arrays of variable length"),
            };
            return Ok(Expr { kind, ty, span });
        }
        if !self.is_arithmetic(ty) || !self.is_arithmetic(value.ty) {
            return Err("operands that are no numbers".into());
        }
        // The type in which the old value is combined, found as for the operator itself.
        let old = Expr { kind: ExprKind::Load(place), ty, span };
        let is_wide = self.wide_field(&old).is_some();
        let is_number = self.types().as_int(value.ty.ty).is_some() && self.wide_field(&value).is_none();
        if is_wide && (matches!(op, BinOp::Div | BinOp::Rem) || !is_number) {
            let kind = ExprKind::Opaque("an assignment to a bit-field wider than int");
            return Ok(Expr { kind, ty, span });
        }
        let (compute, value) = if is_wide && !is_shift(op) {
            // As many bits as the field keeps are the same in any type.
            (ty, self.cast(value, ty))
        } else if is_wide {
            (ty, self.promoted(value)?)
        } else if is_shift(op) {
            (self.promoted_type(&old)?, self.promoted(value)?)
        } else {
            self.balanced_with(&old, value)?
        };
        if wants_integers(op)
            && (self.types().as_int(compute.ty).is_none() || self.types().as_int(value.ty.ty).is_none())
        {
            return Err("an integer operator on floating numbers".into());
        }
        let ExprKind::Load(place) = old.kind else { return Err("an assignment to a value".into()) };
        Ok(Expr { kind: ExprKind::AssignOp { op, place, value: Box::new(value), compute }, ty, span })
    }

    /// The type that `expr` has after promotion.
    fn promoted_type(&mut self, expr: &Expr) -> Lowered<QualType> {
        self.promoted(expr.clone()).map(|expr| expr.ty)
    }

    /// The type in which `old` and `value` are combined, and `value` in it.
    fn balanced_with(&mut self, old: &Expr, value: Expr) -> Lowered<(QualType, Expr)> {
        let (_, value, ty) = self.balanced(old.clone(), value)?;
        Ok((ty, value))
    }

    // ---- Conditionals.

    pub(super) fn conditional(&mut self, node: Node, span: Span) -> Lowered<Operand> {
        let condition_node = field(node, "condition")?;
        let condition = self.value(condition_node)?;
        let condition = self.condition(condition)?;
        let alternative = field(node, "alternative")?;
        let Some(consequence) = node.child_by_field_name("consequence") else {
            return self.conditional_with_omission(condition, condition_node, alternative, span);
        };
        let (then, otherwise) = (self.value(consequence)?, self.value(alternative)?);
        let (then, otherwise, ty) = self.arms(then, otherwise)?;
        let kind = ExprKind::Conditional(Box::new(condition), Box::new(then), Box::new(otherwise));
        Ok(Operand::Value(Expr { kind, ty, span }))
    }

    /// `a ?: b`: `a` is computed once.
    fn conditional_with_omission(
        &mut self,
        condition: Expr,
        condition_node: Node,
        alternative: Node,
        span: Span,
    ) -> Lowered<Operand> {
        let pure = self.is_pure(&condition);
        let again = if pure { self.value(condition_node)? } else { condition.clone() };
        let otherwise = self.value(alternative)?;
        let (then, otherwise, ty) = self.arms(again, otherwise)?;
        let kind = if pure {
            ExprKind::Conditional(Box::new(condition), Box::new(then), Box::new(otherwise))
        } else {
            ExprKind::Opaque("a conditional with an omitted operand that has side effects")
        };
        Ok(Operand::Value(Expr { kind, ty, span }))
    }
}
