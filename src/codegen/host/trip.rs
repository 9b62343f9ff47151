//! How many iterations a loop has, in front of it, and what it asks before the first one: an estimate by which its guard passes over short loops, in the user's own words, so that the compiler
//! sees that the loop itself computes the same. What is true of the loop is asked behind that, by the function for entries.

use crate::c::hir::*;
use crate::codegen::types::literal;
use crate::loops::nest;
use crate::loops::plan::{Base, Dim, LoopPlan};

/// The count from which a loop's guard asks. Volatile: the function moves it, though the compiler is told that it changes nothing. Because nothing is
/// known of it, either, whatever is loaded in front of the guard for what stands behind the loop is needed where nobody asks, too, and so isn't loaded
/// between the function and what says that memory has changed.
fn asks_from(n: &str) -> String {
    format!("*(volatile __pg_i64 *)&__pg_loop_{n}.__pg_threshold")
}

/// How many iterations a loop has, or more, as that can be written in front of it.
pub(super) struct Trip {
    /// How far it goes, if it moves by something that is no constant; else how many iterations it has.
    span: String,
    /// What it moves by, where that is no constant.
    step: Option<String>,
}

impl Trip {
    /// `None` where that can't be written.
    pub fn new(site: &Site, first: &Expr, limit: &Expr, step: i64) -> Option<Trip> {
        if let Some((distance, size)) = steps_of(limit)
            && let Some((span, step)) =
                site.without_memory().text(distance).zip(site.without_memory().text(size))
        {
            return Some(Trip { span, step: Some(format!("(__pg_i64)({step})")) });
        }
        let span = site.span(first, limit, step)?;
        let span = match step.unsigned_abs() {
            1 => span,
            step => format!("({span} / {step})"),
        };
        Some(Trip { span, step: None })
    }

    /// Of a loop that is always asked.
    pub fn unknown() -> Trip {
        Trip { span: literal(i64::MAX - 1), step: None }
    }

    /// Whether it has so many iterations, which are at least one. Without a division: most loops whose step varies are entered over and over,
    /// and nearly always short.
    pub fn is_at_least(&self, least: i64) -> String {
        let span = &self.span;
        match &self.step {
            None => format!("{span} >= {}", literal(least)),
            // Without a sign: a step may be so large that this wraps.
            Some(step) => {
                let least = literal(least - 1);
                format!("({step} > 0 && {span} >= (__pg_i64)((__pg_u64){least} * (__pg_u64){step}))")
            }
        }
    }

    /// Whether it has as many as the runtime asks for; behind [`Trip::is_at_least`].
    pub fn is_asked(&self, loop_number: &str) -> String {
        let (span, asks_from) = (&self.span, asks_from(loop_number));
        match &self.step {
            None => format!("{span} >= {asks_from}"),
            Some(step) => format!("{span} / {step} >= {asks_from} - 1"),
        }
    }

    /// Whether it certainly has fewer than that.
    pub fn is_short(&self, loop_number: &str) -> String {
        let (span, asks_from) = (&self.span, asks_from(loop_number));
        match &self.step {
            None => format!("{span} < {asks_from}"),
            Some(_) => format!("{span} < {asks_from} - 1"),
        }
    }
}

/// How far a loop goes and by what it moves, where its turns are counted by a division (`loops::counted`).
fn steps_of(turns: &Expr) -> Option<(&Expr, &Expr)> {
    let ExprKind::Conditional(_, turns, otherwise) = &turns.kind else { return None };
    let ExprKind::Binary(BinOp::Add, whole, one) = &turns.kind else { return None };
    let ExprKind::Binary(BinOp::Div, distance, size) = &whole.kind else { return None };
    let is = |e: &Expr, value| matches!(e.kind, ExprKind::Int(v) if v == value);
    (is(otherwise, 0) && is(one, 1)).then_some((distance, size))
}

/// A number of 64 bits. Whatever the program's values are, this has a result: a compiler may conclude anything from a signed number that doesn't fit, so those that may not (`bits`
/// of the result) are computed without a sign. All others with one, as is written here: the compiler then warns of a variable without a value as it would without a guard.
fn computed(a: &str, operator: &str, b: &str, bits: u32) -> String {
    match bits {
        ..64 => format!("((__pg_i64)({a}) {operator} (__pg_i64)({b}))"),
        _ => format!("((__pg_i64)((__pg_u64)(__pg_i64)({a}) {operator} (__pg_u64)(__pg_i64)({b})))"),
    }
}

/// Writes what the loop itself evaluates first thing, where it stands.
#[derive(Clone, Copy)]
pub(super) struct Site<'a> {
    pub unit: &'a TranslationUnit,
    /// Whether what pointers point to may be looked at: only where the program certainly does that next.
    pub reads_memory: bool,
    /// A variable that the loop's first clause sets, and to what.
    pub set_first: Option<(VarId, &'a Expr)>,
}

impl<'a> Site<'a> {
    /// With the values that variables have in front of the loop.
    pub fn new(unit: &'a TranslationUnit, reads_memory: bool) -> Self {
        Site { unit, reads_memory, set_first: None }
    }

    fn without_memory(self) -> Self {
        Site { reads_memory: false, ..self }
    }

    /// How far a loop's variable goes.
    pub fn span(&self, first: &Expr, limit: &Expr, step: i64) -> Option<String> {
        let (a, b) = if step > 0 { (limit, first) } else { (first, limit) };
        let bits = self.bits(a).max(self.bits(b)) + 1;
        Some(computed(&self.text(a)?, "-", &self.text(b)?, bits))
    }

    /// The loop's own first test, in the user's words: where it says no, as for loops over what is left it mostly does, the compiler sees that nothing else need be asked. It is no more
    /// than a hint; the loop tests for itself.
    pub fn is_entered(&self, dim: &Dim) -> Option<String> {
        // What is computed here may not fit, where the program computes without a sign.
        fn is_plain(e: &Expr) -> bool {
            match &e.kind {
                ExprKind::Int(_) | ExprKind::Load(_) => true,
                ExprKind::Cast(inner) => is_plain(inner),
                _ => false,
            }
        }
        if !is_plain(&dim.first) || !is_plain(&dim.limit) {
            return None;
        }
        let (first, limit) = self.pointers(dim).unwrap_or((&dim.first, &dim.limit));
        Some(format!("{} {} {}", self.exactly(first)?, dim.relation.c_name(), self.exactly(limit)?))
    }

    /// What a loop whose variable is a pointer compares, which are addresses as numbers in its plan.
    fn pointers<'e>(&self, dim: &'e Dim) -> Option<(&'e Expr, &'e Expr)> {
        let (ExprKind::Cast(first), ExprKind::Cast(limit)) = (&dim.first.kind, &dim.limit.kind) else {
            return None;
        };
        let (a, b) = (self.unit.types.pointee(first.ty.ty)?, self.unit.types.pointee(limit.ty.ty)?);
        (a.ty == b.ty).then_some((&**first, &**limit))
    }

    /// What the loop asks next, where that is whether to leave it: true if the first iteration goes on. Most loops over blanks, digits or the rest of a character are left there,
    /// with a count as long as the text is. Only behind [`Site::is_entered`], and no more than a hint either.
    pub fn goes_on(&self, plan: &'a LoopPlan, the_loop: &LoopStmt) -> Option<String> {
        let (dim, held) = (&plan.dims[0], plan.held.as_ref()?);
        if plan.search.is_none() || plan.moved_by_test.is_some() {
            return None;
        }
        let first = match &held.body.kind {
            StmtKind::Block(list) => list.first()?,
            _ => &*held.body,
        };
        let StmtKind::If { cond, then, otherwise } = &first.kind else { return None };
        let is_out = |s: &Stmt| matches!(s.kind, StmtKind::Leave(_));
        let not = match (is_out(then), otherwise.as_deref().is_some_and(is_out)) {
            (true, false) => "!",
            (false, true) => "",
            _ => return None,
        };
        if !self.has_names_for(cond, plan, the_loop) {
            return None;
        }
        let is_set = !the_loop.init.is_empty() && !dim.is_counter;
        let set_first = is_set.then_some((dim.iv, &dim.first));
        Some(format!("{not}({})", Site { set_first, ..*self }.exactly(cond)?))
    }

    /// Whether all variables of a loop's first question are the program's own, have their value already, and are named there as they are in front of the loop.
    fn has_names_for(&self, cond: &Expr, plan: &LoopPlan, the_loop: &LoopStmt) -> bool {
        let text = the_loop.keyword_span.start..the_loop.body.span.end;
        let mut has_names = true;
        nest::expressions(cond, &mut |e| {
            let (ExprKind::Load(place) | ExprKind::AddressOf(place)) = &e.kind else { return };
            let Some(v) = nest::root_variable(place) else { return };
            let is_given = match self.unit.var(v).storage {
                Storage::Local | Storage::Param => {
                    plan.live_ins.contains(&v)
                        || plan.scalars.contains_key(&v)
                        || plan.bases.iter().any(|base| matches!(base, Base::Object { var, .. } if *var == v))
                }
                _ => true,
            };
            has_names &= v == plan.dims[0].iv
                || is_given
                    && text.contains(&place.span.start)
                    && self.unit.var(v).span.end <= text.start
                    && !plan.starts.iter().any(|start| start.var == v)
                    && !plan.kept.iter().any(|kept| kept.var == v);
        });
        has_names
    }

    /// How many bits a number that [`Site::text`] writes may have, without its sign.
    fn bits(&self, e: &Expr) -> u32 {
        match &e.kind {
            ExprKind::Int(_) => 31,
            ExprKind::Load(_) if self.unit.types.as_int(e.ty.ty).is_some_and(|kind| kind.size() <= 4) => 32,
            ExprKind::Cast(inner) | ExprKind::Binary(BinOp::Div, inner, _) => self.bits(inner),
            ExprKind::Conditional(_, turns, _) => self.bits(turns),
            ExprKind::Binary(BinOp::Add | BinOp::Sub, a, b) => self.bits(a).max(self.bits(b)) + 1,
            ExprKind::Binary(BinOp::Mul, a, b) => self.bits(a) + self.bits(b),
            _ => 64,
        }
    }

    /// A number, or more: in 64 bits, so that hardly anything wraps that would not wrap in the loop.
    fn text(&self, e: &Expr) -> Option<String> {
        let types = &self.unit.types;
        Some(match &e.kind {
            ExprKind::Int(v) => format!("{}", i64::try_from(*v).ok().filter(|v| v.abs() < 1 << 31)?),
            ExprKind::Load(_) | ExprKind::AddressOf(_) if types.pointee(e.ty.ty).is_some() => {
                format!("(__pg_i64)(__pg_address)({})", self.exactly(e)?)
            }
            ExprKind::Load(_) => self.exactly(e)?,
            ExprKind::Cast(inner) => {
                let is_number = |ty| types.as_int(ty).is_some() || types.pointee(ty).is_some();
                if !is_number(e.ty.ty) || !is_number(inner.ty.ty) {
                    return None;
                }
                self.text(inner)?
            }
            ExprKind::PtrAdd { pointer, index, stride } => {
                let index = computed(&self.text(index)?, "*", &stride.to_string(), 64);
                computed(&self.text(pointer)?, "+", &index, 64)
            }
            ExprKind::Binary(op @ (BinOp::Add | BinOp::Sub | BinOp::Mul), a, b) => {
                computed(&self.text(a)?, op.c_name(), &self.text(b)?, self.bits(e))
            }
            // Too many iterations, rather than a division at each entry, or a condition.
            ExprKind::Binary(BinOp::Div, a, _) => self.text(a)?,
            ExprKind::Conditional(_, turns, otherwise) if matches!(otherwise.kind, ExprKind::Int(0)) => {
                self.without_memory().text(turns)?
            }
            _ => return None,
        })
    }

    /// A value of the same type. Only that finds the place in memory that the program looks at.
    fn exactly(&self, e: &Expr) -> Option<String> {
        let types = &self.unit.types;
        Some(match &e.kind {
            ExprKind::Int(v) => {
                let value = i64::try_from(*v).ok().filter(|v| v.abs() < 1 << 31)?;
                format!("(({})({value}))", types.as_int(e.ty.ty)?.c_name())
            }
            ExprKind::Load(place) => match (&place.kind, self.set_first) {
                (PlaceKind::Var(v), Some((set, value))) if *v == set => {
                    let value = Site { set_first: None, ..*self }.exactly(value)?;
                    match types.as_int(place.ty.ty) {
                        Some(kind) => format!("(({})({value}))", kind.c_name()),
                        None => value,
                    }
                }
                _ => self.place(place)?,
            },
            ExprKind::AddressOf(place) => match types.kind(place.ty.ty) {
                TypeKind::Array(..) => self.place(place)?,
                _ => format!("(&{})", self.place(place)?),
            },
            ExprKind::Cast(inner) => {
                types.as_int(inner.ty.ty)?;
                format!("(({})({}))", types.as_int(e.ty.ty)?.c_name(), self.exactly(inner)?)
            }
            ExprKind::PtrAdd { pointer, index, stride } => {
                let element = types.pointee(pointer.ty.ty)?;
                if types.size_of(element.ty) != Some(*stride) {
                    return None;
                }
                format!("({} + {})", self.exactly(pointer)?, self.exactly(index)?)
            }
            ExprKind::Unary(UnOp::Neg, a) => format!("(-{})", self.exactly(a)?),
            ExprKind::Unary(UnOp::BitNot, a) => format!("(~{})", self.exactly(a)?),
            ExprKind::Unary(UnOp::Not, a) => format!("(!{})", self.exactly(a)?),
            // What may have no value, like a division, the program doesn't need to hear of twice.
            ExprKind::Binary(op, a, b)
                if !matches!(op, BinOp::Div | BinOp::Rem | BinOp::Shl | BinOp::Shr) =>
            {
                format!("({} {} {})", self.exactly(a)?, op.c_name(), self.exactly(b)?)
            }
            ExprKind::LogicalAnd(a, b) => format!("({} && {})", self.exactly(a)?, self.exactly(b)?),
            ExprKind::LogicalOr(a, b) => format!("({} || {})", self.exactly(a)?, self.exactly(b)?),
            _ => return None,
        })
    }

    fn place(&self, place: &Place) -> Option<String> {
        if place.ty.quals.is_volatile {
            return None;
        }
        Some(match &place.kind {
            PlaceKind::Var(v) => self.unit.var(*v).name.clone(),
            PlaceKind::Deref(pointer) if self.reads_memory => format!("(*{})", self.exactly(pointer)?),
            PlaceKind::Field { base, record, field, .. } => {
                let fields = self.unit.types.record(*record).fields.as_ref()?;
                let base = self.place(base)?;
                match &fields.get(*field as usize)?.name {
                    Some(name) => format!("{base}.{name}"),
                    // Members of a member without a name are the record's own.
                    None => base,
                }
            }
            PlaceKind::Deref(_) | PlaceKind::Opaque(_) => return None,
        })
    }
}
