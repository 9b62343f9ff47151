//! What every typed tree must obey, whatever C it came from: checked by the tests on all that they lower.

use std::collections::HashSet;

use crate::c::constant;
use crate::c::hir::*;

/// The first violation in a unit, if any.
pub(super) fn violation(unit: &TranslationUnit) -> Option<String> {
    let mut verifier = Verifier { unit, places: HashSet::new(), loops: Vec::new(), found: None };
    for function in &unit.functions {
        verifier.statement(&function.body);
        if let Some(found) = verifier.found {
            return Some(format!("{}: {found}", unit.var(function.var).name));
        }
    }
    let are_sorted = verifier.loops.is_sorted();
    unit.statement_expressions.values().flatten().for_each(|statement| verifier.statement(statement));
    if let Some(found) = verifier.found {
        return Some(format!("in a statement expression: {found}"));
    }
    (!are_sorted).then(|| "loops out of order".to_owned())
}

struct Verifier<'a> {
    unit: &'a TranslationUnit,
    places: HashSet<PlaceId>,
    loops: Vec<u32>,
    found: Option<String>,
}

impl Verifier<'_> {
    fn check(&mut self, holds: bool, span: Span, what: &str) {
        if !holds && self.found.is_none() {
            self.found = Some(format!("{what} (line {})", span.line));
        }
    }

    fn statement(&mut self, statement: &Stmt) {
        self.check(
            statement.span.start <= statement.span.end,
            statement.span,
            "a span that ends before it starts",
        );
        match &statement.kind {
            StmtKind::Expr(expr) => self.expr(expr),
            StmtKind::Return(value) => value.iter().for_each(|value| self.expr(value)),
            StmtKind::Declare { var, init } => {
                let variable = self.unit.var(*var);
                self.check(variable.storage == Storage::Local, statement.span, "a declaration of no local");
                if let Some(Init::Scalar(value)) = init {
                    self.check(
                        value.ty.ty == variable.ty.ty,
                        statement.span,
                        "an initial value of another type",
                    );
                    self.expr(value);
                }
                if let Some(Init::Members(list)) = init {
                    let size = self.unit.types.size_of(variable.ty.ty).unwrap_or(0);
                    for (at, value) in list {
                        let end = self.unit.types.size_of(value.ty.ty).map(|own| at + own);
                        let inside = end.is_some_and(|end| end <= size);
                        self.check(inside, statement.span, "an initial value beyond the object");
                        self.expr(value);
                    }
                }
            }
            StmtKind::Block(list) => list.iter().for_each(|inner| self.statement(inner)),
            StmtKind::If { cond, then, otherwise } => {
                self.scalar(cond);
                self.statement(then);
                otherwise.iter().for_each(|inner| self.statement(inner));
            }
            StmtKind::Loop(found) => {
                self.loops.push(found.id.0);
                let (ordinal, count) = found.keyword_ordinal;
                self.check(ordinal < count, statement.span, "an ordinal beyond the count");
                let inside = found.keyword_span.start == statement.span.start;
                self.check(inside, statement.span, "a loop that doesn't start with its keyword");
                found.init.iter().for_each(|inner| self.statement(inner));
                found.cond.iter().for_each(|cond| self.scalar(cond));
                found.step.iter().for_each(|step| self.expr(step));
                self.statement(&found.body);
            }
            StmtKind::Switch { cond, body } => {
                let integer = self.unit.types.as_int(cond.ty.ty).is_some();
                self.check(integer, statement.span, "a switch on no integer");
                self.expr(cond);
                self.statement(body);
            }
            StmtKind::Case { body, .. } | StmtKind::Label { body, .. } => self.statement(body),
            StmtKind::Empty
            | StmtKind::Declaration
            | StmtKind::Break
            | StmtKind::Continue
            | StmtKind::Goto(_)
            | StmtKind::Leave(_)
            | StmtKind::Opaque(_) => {}
        }
    }

    fn is_scalar(&self, ty: QualType) -> bool {
        let kind = self.unit.types.kind(ty.ty);
        matches!(
            kind,
            TypeKind::Int(_)
                | TypeKind::Enum(_)
                | TypeKind::Float(_)
                | TypeKind::Pointer(_)
                | TypeKind::Opaque { .. }
        )
    }

    fn scalar(&mut self, expr: &Expr) {
        self.check(self.is_scalar(expr.ty), expr.span, "a condition that is no scalar");
        self.expr(expr);
    }

    fn same(&mut self, a: QualType, b: QualType, span: Span, what: &str) {
        self.check(a.ty == b.ty, span, what);
    }

    fn expr(&mut self, expr: &Expr) {
        let types = &self.unit.types;
        let span = expr.span;
        let integer = |ty: QualType| types.as_int(ty.ty);
        let arithmetic = |ty: QualType| types.as_int(ty.ty).is_some() || types.as_float(ty.ty).is_some();
        let pointer = |ty: QualType| types.pointee(ty.ty).is_some();
        let is_int = |ty: QualType| types.kind(ty.ty) == &TypeKind::Int(IntKind::Int);
        let decayed = !matches!(types.kind(expr.ty.ty), TypeKind::Array(..) | TypeKind::Function { .. });
        self.check(decayed, span, "a value of array or function type");
        self.check(expr.ty.quals == Quals::default(), span, "a qualified value");
        match &expr.kind {
            ExprKind::Int(value) => {
                let fits = integer(expr.ty).is_some_and(|kind| constant::wrap(*value, kind) == Some(*value));
                self.check(fits, span, "an integer that its type doesn't hold");
            }
            ExprKind::Float(_) => {
                self.check(types.as_float(expr.ty.ty).is_some(), span, "a float of no float type")
            }
            ExprKind::Str(_) | ExprKind::Function(_) => {
                self.check(pointer(expr.ty), span, "an address of no pointer type")
            }
            ExprKind::Load(place) => {
                self.same(expr.ty, place.ty, span, "a load of another type");
                self.place(place);
            }
            ExprKind::AddressOf(place) => {
                let to = types.pointee(expr.ty.ty).map(|to| to.ty);
                let element = match types.kind(place.ty.ty) {
                    TypeKind::Array(element, _) => Some(element.ty),
                    _ => None,
                };
                self.check(
                    to == Some(place.ty.ty) || to.is_some() && to == element,
                    span,
                    "an address of another type",
                );
                self.place(place);
            }
            ExprKind::Unary(UnOp::Not, a) => {
                self.check(is_int(expr.ty), span, "! of another type than int");
                self.scalar(a);
            }
            ExprKind::Unary(_, a) => {
                self.same(expr.ty, a.ty, span, "a sign that changes the type");
                self.check(arithmetic(a.ty), span, "a sign on no number");
                self.check(
                    integer(a.ty).is_none_or(|kind| kind.size() >= 4),
                    span,
                    "a sign on a small integer",
                );
                self.expr(a);
            }
            ExprKind::Binary(op, a, b) => {
                match op {
                    BinOp::Shl | BinOp::Shr => {
                        self.same(expr.ty, a.ty, span, "a shift of another type");
                        let both = integer(a.ty).is_some() && integer(b.ty).is_some();
                        self.check(both, span, "a shift of no integers");
                    }
                    BinOp::Lt | BinOp::Le | BinOp::Gt | BinOp::Ge | BinOp::Eq | BinOp::Ne => {
                        self.check(is_int(expr.ty), span, "a comparison of another type than int");
                        self.same(a.ty, b.ty, span, "a comparison of two types");
                    }
                    _ => {
                        self.same(a.ty, b.ty, span, "an operation on two types");
                        self.same(expr.ty, a.ty, span, "an operation of another type");
                        self.check(arithmetic(a.ty), span, "an operation on no numbers");
                    }
                }
                let small = integer(a.ty).is_some_and(|kind| kind.size() < 4);
                self.check(!small, span, "an operation on small integers");
                self.expr(a);
                self.expr(b);
            }
            ExprKind::PtrAdd { pointer: p, index, .. } => {
                self.same(expr.ty, p.ty, span, "a sum of another type than the pointer");
                self.check(pointer(p.ty), span, "a sum with no pointer");
                let index_fits = integer(index.ty).is_some_and(|kind| kind.size() <= 8);
                self.check(index_fits, span, "an index that is no integer");
                self.expr(p);
                self.expr(index);
            }
            ExprKind::PtrDiff { left, right, stride } => {
                self.check(
                    *stride > 0 && pointer(left.ty) && pointer(right.ty),
                    span,
                    "a difference of no pointers",
                );
                self.expr(left);
                self.expr(right);
            }
            ExprKind::Cast(a) => self.expr(a),
            ExprKind::Conditional(c, a, b) => {
                self.scalar(c);
                self.same(expr.ty, a.ty, span, "an arm of another type");
                self.same(expr.ty, b.ty, span, "an arm of another type");
                self.expr(a);
                self.expr(b);
            }
            ExprKind::LogicalAnd(a, b) | ExprKind::LogicalOr(a, b) => {
                self.check(is_int(expr.ty), span, "logic of another type than int");
                self.scalar(a);
                self.scalar(b);
            }
            ExprKind::Comma(a, b) => {
                self.same(expr.ty, b.ty, span, "a comma of another type");
                self.expr(a);
                self.expr(b);
            }
            ExprKind::Assign(place, value) => {
                self.same(place.ty, value.ty, span, "an assignment of another type");
                self.same(place.ty, expr.ty, span, "an assignment of another type");
                self.place(place);
                self.expr(value);
            }
            ExprKind::AssignOp { op, place, value, compute } => {
                let shift = matches!(op, BinOp::Shl | BinOp::Shr);
                self.check(shift || value.ty.ty == compute.ty, span, "an operand of another type");
                let small = integer(*compute).is_some_and(|kind| kind.size() < 4);
                self.check(arithmetic(*compute) && !small, span, "an operation on no numbers");
                self.place(place);
                self.expr(value);
            }
            ExprKind::PtrAssign { place, index, .. } => {
                self.check(pointer(place.ty) && integer(index.ty).is_some(), span, "a step of no pointer");
                self.place(place);
                self.expr(index);
            }
            ExprKind::IncDec { place, .. } => {
                self.check(arithmetic(place.ty) || pointer(place.ty), span, "a step of no number");
                self.place(place);
            }
            ExprKind::Call { callee, args } => {
                let function = match callee {
                    Callee::Named(id) => Some(self.unit.var(*id).ty.ty),
                    Callee::Pointer(p) => {
                        self.expr(p);
                        types.pointee(p.ty.ty).map(|to| to.ty)
                    }
                    Callee::Builtin(_) => None,
                };
                if let Some(TypeKind::Function { params, prototyped: true, .. }) =
                    function.map(|f| types.kind(f))
                {
                    for (param, arg) in params.iter().zip(args) {
                        self.same(*param, arg.ty, arg.span, "an argument of another type");
                    }
                }
                args.iter().for_each(|arg| self.expr(arg));
            }
            ExprKind::Opaque(_) => {}
        }
    }

    fn place(&mut self, place: &Place) {
        let new = self.places.insert(place.id);
        self.check(new, place.span, "a place twice");
        match &place.kind {
            PlaceKind::Deref(pointer) => {
                let to = self.unit.types.pointee(pointer.ty.ty);
                self.check(
                    to.is_some_and(|to| to.ty == place.ty.ty),
                    place.span,
                    "an object of another type",
                );
                self.expr(pointer);
            }
            PlaceKind::Field { base, record, field, offset, .. } => {
                let known = self.unit.types.record(*record).fields.as_ref();
                let known = known.and_then(|fields| fields.get(*field as usize));
                self.check(
                    known.is_some_and(|field| field.offset == *offset),
                    place.span,
                    "a member at another place",
                );
                let right = self.unit.types.kind(base.ty.ty) == &TypeKind::Record(*record);
                self.check(right, place.span, "a member of another record");
                self.place(base);
            }
            PlaceKind::Var(id) => {
                let known = (id.0 as usize) < self.unit.variables.len();
                self.check(known, place.span, "a variable that isn't there");
            }
            PlaceKind::Opaque(_) => {}
        }
    }
}
