//! Rows of variable length (`double a[n][m]` as a parameter, `double (*a)[m]`): how far apart they are is computed where their type is written, and the
//! typed tree has no value for that. So the length's expression is read once more where a row is found: `a[i]` is `PtrAdd(a, i * m)` in elements of
//! what rows consist of.
//!
//! That the variables of a length still have the values of then is not seen here, because what comes behind has not been read yet: [`TranslationUnit::lengths_read`] has
//! the loads in question, and `loops::rows` looks at them.

use super::super::hir::*;
use super::declarators::Parameters;
use super::names::Entity;
use super::{Lowered, Lowering};

/// How far apart the elements are that a pointer points to.
pub(super) enum Row {
    /// Bytes.
    Known(u64),
    /// So many pieces of so many bytes.
    Variable { count: Expr, stride: u64 },
    /// What only the text says.
    Unseen,
}

impl Row {
    /// The bytes, if they are known here.
    pub(super) fn stride(&self) -> Option<u64> {
        match self {
            Row::Known(stride) => Some(*stride),
            Row::Variable { .. } | Row::Unseen => None,
        }
    }
}

impl Lowering<'_> {
    /// The distance of neighbouring elements that a pointer points to.
    pub(super) fn row(&mut self, pointer: QualType) -> Lowered<Row> {
        let to = self.types().pointee(pointer.ty).ok_or("no pointer")?;
        match self.types().kind(to.ty) {
            TypeKind::Void | TypeKind::Function { .. } => Ok(Row::Known(1)),
            TypeKind::Array(..) if self.is_variable_length(to.ty) => Ok(self.variable_row(to)),
            _ => self.types().size_of(to.ty).map(Row::Known).ok_or_else(|| self.incomplete(to)),
        }
    }

    /// The size of an array whose length, or whose rows' length, isn't constant.
    fn variable_row(&mut self, array: QualType) -> Row {
        let mut count: Option<Expr> = None;
        let mut element = array;
        while let TypeKind::Array(inner, length) = *self.types().kind(element.ty) {
            if !self.is_variable_length(element.ty) {
                break;
            }
            let own = match length {
                ArrayLen::Known(length) => i64::try_from(length).ok().map(|length| {
                    let ty = self.int_type(IntKind::Long);
                    Expr { kind: ExprKind::Int(length.into()), ty, span: Span::default() }
                }),
                ArrayLen::Variable(id) => self.length_again(id),
                ArrayLen::Unknown => None,
            };
            let Some(own) = own else { return Row::Unseen };
            count = Some(match count {
                None => own,
                Some(others) => self.times(others, own),
            });
            element = inner;
        }
        match (count, self.types().size_of(element.ty)) {
            (Some(count), Some(stride)) => Row::Variable { count, stride },
            _ => Row::Unseen,
        }
    }

    /// An index of rows as one of what they consist of.
    pub(super) fn in_elements(&mut self, index: Expr, count: Expr) -> Expr {
        let long = self.int_type(IntKind::Long);
        let index = self.cast(index, long);
        match index.kind {
            ExprKind::Int(0) => index,
            _ => self.times(index, count),
        }
    }

    fn times(&mut self, left: Expr, right: Expr) -> Expr {
        let (ty, span) = (left.ty, left.span);
        Expr { kind: ExprKind::Binary(BinOp::Mul, Box::new(left), Box::new(right)), ty, span }
    }

    /// Keeps the length that a declarator's expression comes to.
    pub(super) fn length(&mut self, expr: Option<Expr>, computed_at: u32) -> ArrayLen {
        let long = self.int_type(IntKind::Long);
        let count = expr.filter(|expr| self.is_simple(expr)).map(|expr| self.cast(expr, long));
        self.unit.lengths.push(Length { count, computed_at });
        ArrayLen::Variable(LengthId(self.unit.lengths.len() as u32 - 1))
    }

    /// Whether a length consists of constants and variables of the function's own.
    fn is_simple(&self, expr: &Expr) -> bool {
        let is_narrow = self.types().as_int(expr.ty.ty).is_some_and(|kind| kind.size() <= 8);
        is_narrow
            && match &expr.kind {
                ExprKind::Int(_) => true,
                ExprKind::Load(Place { kind: PlaceKind::Var(v), ty, .. }) => {
                    let is_own = matches!(self.unit.var(*v).storage, Storage::Local | Storage::Param);
                    is_own && !ty.quals.is_volatile && !ty.quals.is_atomic
                }
                ExprKind::Unary(UnOp::Neg, a) | ExprKind::Cast(a) => self.is_simple(a),
                ExprKind::Binary(BinOp::Add | BinOp::Sub | BinOp::Mul, a, b) => {
                    self.is_simple(a) && self.is_simple(b)
                }
                _ => false,
            }
    }

    /// A length's expression once more; `None` where it isn't known, or where its names mean something else here.
    fn length_again(&mut self, id: LengthId) -> Option<Expr> {
        let count = self.unit.lengths.get(id.0 as usize)?.count.clone()?;
        self.again(&count, id)
    }

    fn again(&mut self, expr: &Expr, id: LengthId) -> Option<Expr> {
        let kind = match &expr.kind {
            ExprKind::Load(Place { kind: PlaceKind::Var(v), ty, span, .. }) => {
                let means = self.lookup(&self.unit.var(*v).name);
                if !matches!(means, Some(Entity::Variable(meant)) if meant == v) {
                    return None;
                }
                let place = self.place(PlaceKind::Var(*v), *ty, *span);
                self.unit.lengths_read.insert(place.id, id);
                ExprKind::Load(place)
            }
            ExprKind::Unary(op, a) => ExprKind::Unary(*op, Box::new(self.again(a, id)?)),
            ExprKind::Cast(a) => ExprKind::Cast(Box::new(self.again(a, id)?)),
            ExprKind::Binary(op, a, b) => {
                ExprKind::Binary(*op, Box::new(self.again(a, id)?), Box::new(self.again(b, id)?))
            }
            other => other.clone(),
        };
        Some(Expr { kind, ty: expr.ty, span: expr.span })
    }

    /// Takes away the lengths from number `first` on: the parameters that they consist of were only there for each other.
    pub(super) fn without_lengths(&mut self, first: usize) -> Vec<(LengthId, Expr)> {
        let lengths = self.unit.lengths.iter_mut().enumerate().skip(first);
        lengths.filter_map(|(n, length)| Some((LengthId(n as u32), length.count.take()?))).collect()
    }

    /// Gives a definition's parameters the lengths of its head, where they are `meant` instead of the head's.
    pub(super) fn with_lengths(&mut self, parameters: &Parameters, meant: &[VarId]) {
        for (id, count) in &parameters.lengths {
            let mut count = count.clone();
            if renamed(&mut count, &parameters.variables, meant) {
                self.unit.lengths[id.0 as usize].count = Some(count);
            }
        }
    }
}

/// Puts variables in the place of others. Whether each was one of them.
fn renamed(expr: &mut Expr, from: &[VarId], to: &[VarId]) -> bool {
    match &mut expr.kind {
        ExprKind::Load(Place { kind: PlaceKind::Var(v), .. }) => {
            let number = from.iter().position(|other| other == v);
            match number.and_then(|number| to.get(number)) {
                Some(other) => *v = *other,
                None => return false,
            }
            true
        }
        ExprKind::Unary(_, a) | ExprKind::Cast(a) => renamed(a, from, to),
        ExprKind::Binary(_, a, b) => renamed(a, from, to) && renamed(b, from, to),
        _ => true,
    }
}
