//! Bit-fields (`p->kind == 3`, `pixel[i].green = g`) as what the machine has in their place: numbers of one to eight bytes, their containers ([`crate::c::containers`]), of which they are some bits. What comes
//! after knows ordinary places, shifts and masks only.
//!
//! Fields without a container (24 bits in front of a `char`, packed ones across a word's end) stay as they are, and with them the loop; so do assignments whose value
//! is used by anything but assignments, and variables that lie outside of the loop: these are the calling thread's own, and mostly registers. Of those that the loop only reads [`super::members`] makes variables.

use super::hoist::has_effects;
use super::nest;
use super::whole::{is_pure, loads_memory};
use crate::c::containers::{Container, bits_of, containers, located, overlap};
use crate::c::hir::*;
use std::collections::BTreeSet;

/// Puts containers in the place of bit-fields, in all loops.
pub fn spell_out(unit: &mut TranslationUnit) {
    let has_some = unit
        .types
        .record_ids()
        .any(|id| unit.types.record(id).fields.iter().flatten().any(|field| field.bits.is_some()));
    if !has_some {
        return;
    }
    for number in 0..unit.functions.len() {
        let empty = Stmt { kind: StmtKind::Empty, span: Span::default() };
        let mut body = std::mem::replace(&mut unit.functions[number].body, empty);
        Rewriter { unit, own: BTreeSet::new() }.statement(&mut body, false);
        unit.functions[number].body = body;
    }
}

struct Rewriter<'a> {
    unit: &'a mut TranslationUnit,
    /// The variables that loops around declare: each iteration has its own.
    own: BTreeSet<VarId>,
}

/// A bit-field within its container.
struct Bits {
    /// The place of the container.
    place: Place,
    container: Container,
    /// The first of its bits, and how many it has.
    first: u32,
    width: u32,
}

impl Bits {
    fn mask(&self) -> i128 {
        (1i128 << self.width) - 1
    }

    /// Whether the field is all of its container.
    fn is_whole(&self) -> bool {
        u64::from(self.width) == self.container.size * 8
    }
}

impl Rewriter<'_> {
    /// Changes what a statement does; outside of loops nothing.
    fn statement(&mut self, s: &mut Stmt, in_loop: bool) {
        match &mut s.kind {
            StmtKind::Block(list) => {
                if in_loop {
                    self.begin(list);
                }
                list.iter_mut().for_each(|s| self.statement(s, in_loop));
            }
            StmtKind::If { cond, then, otherwise } => {
                self.value(cond, in_loop);
                self.statement(then, in_loop);
                otherwise.iter_mut().for_each(|s| self.statement(s, in_loop));
            }
            StmtKind::Switch { cond, body } => {
                self.value(cond, in_loop);
                self.statement(body, in_loop);
            }
            StmtKind::Case { body, .. } | StmtKind::Label { body, .. } => self.statement(body, in_loop),
            StmtKind::Loop(l) => {
                let mut declared = BTreeSet::new();
                nest::statements(&l.body, &mut |s| {
                    if let StmtKind::Declare { var, .. } = &s.kind {
                        declared.insert(*var);
                    }
                });
                let outer = self.own.clone();
                self.own.append(&mut declared);
                l.init.iter_mut().for_each(|s| self.statement(s, true));
                l.cond.iter_mut().for_each(|e| self.value(e, true));
                l.step.iter_mut().for_each(|e| self.effect(e));
                self.statement(&mut l.body, true);
                self.own = outer;
            }
            StmtKind::Expr(e) if in_loop => self.effect(e),
            StmtKind::Declare { init: Some(Init::Scalar(e)), .. } => self.value(e, in_loop),
            StmtKind::Declare { init: Some(Init::Members(list)), .. } => {
                list.iter_mut().for_each(|(_, e)| self.value(e, in_loop));
            }
            StmtKind::Return(Some(e)) => self.value(e, in_loop),
            _ => {}
        }
    }

    /// Gives containers of variables that a block declares a value, where all fields in them are assigned before anything else is done with the variable: what is stored to a field first keeps the
    /// bits beside it.
    fn begin(&mut self, list: &mut Vec<Stmt>) {
        let mut at = 0;
        while at < list.len() {
            let StmtKind::Declare { var, init: None } = list[at].kind else {
                at += 1;
                continue;
            };
            // What is declared together stays together.
            let span = list[at].span;
            let is_with_it = |s: &&Stmt| matches!(s.kind, StmtKind::Declare { .. }) && s.span == span;
            let behind = at + list[at..].iter().take_while(is_with_it).count();
            let begun = self.begun(var, list[at + 1..].iter(), span);
            list.splice(behind..behind, begun);
            at += 1;
        }
    }

    /// The same of one variable; `behind`: what comes behind its declaration.
    fn begun<'s>(&mut self, var: VarId, behind: impl Iterator<Item = &'s Stmt>, span: Span) -> Vec<Stmt> {
        let ty = self.unit.var(var).ty;
        let TypeKind::Record(id) = *self.unit.types.kind(ty.ty) else { return Vec::new() };
        let record = self.unit.types.record(id);
        let fields = record.fields.as_deref().unwrap_or_default();
        if record.is_union || fields.iter().all(|field| field.bits.is_none()) {
            return Vec::new();
        }
        let Some(mut all) = containers(record) else { return Vec::new() };
        let own = |place: &Place| match &place.kind {
            PlaceKind::Field { base, field, bits: Some(_), .. } => {
                matches!(base.kind, PlaceKind::Var(v) if v == var).then_some(*field)
            }
            _ => None,
        };
        let mut assigned = BTreeSet::new();
        for s in behind {
            let (to, mut is_fine) = match &s.kind {
                StmtKind::Expr(Expr { kind: ExprKind::Assign(to, _), .. }) => (own(to), true),
                _ => (None, true),
            };
            // Who jumps may pass by what is assigned.
            nest::statements(s, &mut |s| {
                let jumps =
                    matches!(s.kind, StmtKind::Label { .. } | StmtKind::Case { .. } | StmtKind::Goto(_));
                is_fine &= !jumps;
            });
            let mut writes = 0;
            nest::all_expressions(s, &mut |e| {
                let place = match &e.kind {
                    ExprKind::AddressOf(place) => Some((place, true)),
                    _ => nest::accessed_place(e).map(|(place, _, is_set)| (place, is_set)),
                };
                let Some((place, is_set)) =
                    place.filter(|(place, _)| nest::root_variable(place) == Some(var))
                else {
                    return;
                };
                writes += usize::from(is_set);
                is_fine &= is_set || own(place).is_some_and(|field| assigned.contains(&field));
            });
            if !is_fine || writes != usize::from(to.is_some()) {
                break;
            }
            assigned.extend(to);
        }
        all.retain(|container| {
            let bits = container.offset * 8..(container.offset + container.size) * 8;
            let is_set = |(field, number): (&Field, u32)| {
                let is_here = field.name.is_some() && bits_of(field).is_some_and(|own| overlap(&own, &bits));
                !is_here || assigned.contains(&number)
            };
            fields.iter().zip(0..).all(is_set)
        });
        let mut begun = Vec::new();
        for container in all {
            let whole = Box::new(self.unit.new_place(PlaceKind::Var(var), ty, span));
            let kind = PlaceKind::Field {
                base: whole,
                record: id,
                field: NO_FIELD,
                offset: container.offset,
                bits: None,
            };
            let ty = self.int(container.kind());
            let value = Box::new(self.number(0, container.kind(), span));
            let kind = ExprKind::Assign(self.unit.new_place(kind, ty, span), value);
            begun.push(Stmt { kind: StmtKind::Expr(Expr { kind, ty, span }), span });
        }
        begun
    }

    /// Changes an expression whose value is used.
    fn value(&mut self, e: &mut Expr, in_loop: bool) {
        if in_loop {
            nest::change_expression(e, self);
        }
    }

    /// Changes an expression whose value nobody wants.
    fn effect(&mut self, e: &mut Expr) {
        match &mut e.kind {
            ExprKind::Comma(a, b) => {
                self.effect(a);
                self.effect(b);
                return;
            }
            ExprKind::Cast(a) if matches!(self.unit.types.kind(e.ty.ty), TypeKind::Void) => {
                self.effect(a);
                return;
            }
            _ => {}
        }
        if let ExprKind::Assign(_, value) = &e.kind
            && has_effects(value)
        {
            // `p->a = p->b = 0`: one behind the other.
            let mut list = Vec::new();
            if self.one_by_one(e, &mut list).is_some() && list.iter().any(assigns_bits) {
                list.iter_mut().for_each(|e| self.effect(e));
                let comma = |a: Expr, b: Expr| {
                    let (ty, span) = (b.ty, b.span);
                    Expr { kind: ExprKind::Comma(Box::new(a), Box::new(b)), ty, span }
                };
                if let Some(all) = list.into_iter().reduce(comma) {
                    *e = all;
                }
                return;
            }
        }
        if let Some(stored) = self.stored(e) {
            *e = stored;
        }
        self.value(e, true);
    }

    /// The value of an expression, with the assignments that it consists of in front of that, innermost first. `None`: it does something else.
    fn one_by_one(&mut self, e: &Expr, list: &mut Vec<Expr>) -> Option<Expr> {
        match &e.kind {
            ExprKind::Cast(value) => {
                let value = self.one_by_one(value, list)?;
                Some(Expr { kind: ExprKind::Cast(Box::new(value)), ..*e })
            }
            ExprKind::Assign(place, value) if is_pure(place) => {
                let value = self.one_by_one(value, list)?;
                // What was stored may be what the value is made of. A variable says what it keeps.
                let reads = loads_memory(self.unit, &value) || matches!(place.kind, PlaceKind::Var(_));
                let mut kept = value.clone();
                list.push(Expr { kind: ExprKind::Assign(place.clone(), Box::new(value)), ..*e });
                if reads {
                    let ty = plain(place.ty);
                    return Some(Expr { kind: ExprKind::Load(self.again(place)), ty, span: e.span });
                }
                nest::change_expression(&mut kept, &mut nest::Numbered(&mut self.unit.n_places));
                Some(self.kept(place, kept))
            }
            _ => (!has_effects(e)).then(|| e.clone()),
        }
    }

    /// What a place keeps of a value of its type.
    fn kept(&mut self, place: &Place, value: Expr) -> Expr {
        let PlaceKind::Field { bits: Some((_, width)), .. } = place.kind else { return value };
        let Some(kind) = self.unit.types.as_int(place.ty.ty).filter(|kind| *kind != IntKind::Bool) else {
            return value;
        };
        let wide = if kind.size() == 8 { IntKind::ULong } else { IntKind::UInt };
        let ty = value.ty;
        let value = self.cast(value, wide);
        let value = self.of_bits(value, wide, (0, width), kind.signed());
        Expr { kind: ExprKind::Cast(Box::new(value)), ty, span: place.span }
    }

    /// What stores to a bit-field as what stores to its container.
    fn stored(&mut self, e: &Expr) -> Option<Expr> {
        let (place, value) = match &e.kind {
            ExprKind::Assign(place, value) => (place, Some(value)),
            ExprKind::AssignOp { place, value, .. } => (place, Some(value)),
            ExprKind::IncDec { place, .. } => (place, None),
            _ => return None,
        };
        if value.is_some_and(|value| assigns(value)) || !is_pure(place) {
            return None;
        }
        let bits = self.bits(place)?;
        let (span, wide) = (e.span, bits.container.wide());
        let new = match &e.kind {
            ExprKind::Assign(_, value) => self.cast((**value).clone(), wide),
            ExprKind::AssignOp { op, value, compute, .. } => {
                let old = Expr { kind: ExprKind::Load(place.clone()), ty: plain(place.ty), span };
                let old = Expr { kind: ExprKind::Cast(Box::new(self.loaded(&old)?)), ty: *compute, span };
                let new =
                    Expr { kind: ExprKind::Binary(*op, Box::new(old), value.clone()), ty: *compute, span };
                let new = Expr { kind: ExprKind::Cast(Box::new(new)), ty: plain(place.ty), span };
                self.cast(new, wide)
            }
            // Not of a truth value, which counts otherwise.
            ExprKind::IncDec { amount, .. } if self.unit.types.as_int(place.ty.ty)? != IntKind::Bool => {
                let old = self.raw(&bits);
                let amount = self.number(i128::from(*amount) & bits.mask(), wide, span);
                self.binary(BinOp::Add, old, amount)
            }
            _ => return None,
        };
        let new = if bits.is_whole() {
            new
        } else {
            let new = self.masked(new, bits.mask());
            let new = self.shifted(BinOp::Shl, new, bits.first);
            let all = (1i128 << (wide.size() * 8)) - 1;
            let old = self.container(&bits, span);
            let old = self.masked(old, all & !(bits.mask() << bits.first));
            self.binary(BinOp::Or, old, new)
        };
        let ty = plain(bits.place.ty);
        let new = self.cast(new, bits.container.kind());
        let to = self.again(&bits.place);
        Some(Expr { kind: ExprKind::Assign(to, Box::new(new)), ty, span })
    }

    /// The value of a bit-field by that of its container.
    fn loaded(&mut self, e: &Expr) -> Option<Expr> {
        let ExprKind::Load(place) = &e.kind else { return None };
        let bits = self.bits(place)?;
        let is_signed = self.unit.types.as_int(place.ty.ty)?.signed();
        let span = e.span;
        let value = if is_signed {
            let value = self.container(&bits, span);
            self.of_bits(value, bits.container.wide(), (bits.first, bits.width), true)
        } else {
            self.raw(&bits)
        };
        let ty = plain(place.ty);
        if value.ty.ty == ty.ty {
            return Some(value);
        }
        Some(Expr { kind: ExprKind::Cast(Box::new(value)), ty, span })
    }

    /// Where a place is, if it is a bit-field that is looked at here.
    fn bits(&mut self, place: &Place) -> Option<Bits> {
        let PlaceKind::Field { base, record, offset, bits: Some(bits), .. } = &place.kind else {
            return None;
        };
        if place.ty.quals.is_volatile || place.ty.quals.is_atomic || !self.is_in_memory(base) {
            return None;
        }
        let (container, first, width) = located(self.unit.types.record(*record), *offset, *bits)?;
        let kind = container.kind();
        let ty = QualType { ty: self.unit.types.intern(TypeKind::Int(kind)), quals: place.ty.quals };
        let (base, record) = (base.clone(), *record);
        let kind_of_place =
            PlaceKind::Field { base, record, field: NO_FIELD, offset: container.offset, bits: None };
        let place = self.unit.new_place(kind_of_place, ty, place.span);
        Some(Bits { place, container, first, width })
    }

    /// Whether a struct lies in memory that the loop comes to by a pointer or by the name of something that lasts, or is the iteration's own.
    fn is_in_memory(&self, place: &Place) -> bool {
        match &place.kind {
            PlaceKind::Deref(_) => true,
            PlaceKind::Field { base, .. } => self.is_in_memory(base),
            PlaceKind::Var(v) => {
                let storage = self.unit.var(*v).storage;
                !matches!(storage, Storage::Local | Storage::Param) || self.own.contains(v)
            }
            PlaceKind::Opaque(_) => false,
        }
    }

    // ---- Small things.

    /// The container's value.
    fn container(&mut self, bits: &Bits, span: Span) -> Expr {
        let ty = plain(bits.place.ty);
        let value = Expr { kind: ExprKind::Load(self.again(&bits.place)), ty, span };
        self.cast(value, bits.container.wide())
    }

    /// Some bits of a number as a number: the first of them, and how many.
    fn of_bits(&mut self, value: Expr, wide: IntKind, (first, width): (u32, u32), is_signed: bool) -> Expr {
        if !is_signed {
            let value = self.shifted(BinOp::Shr, value, first);
            return self.masked(value, (1i128 << width) - 1);
        }
        let all = wide.size() as u32 * 8;
        let value = self.shifted(BinOp::Shl, value, all - first - width);
        let signed = if wide == IntKind::ULong { IntKind::Long } else { IntKind::Int };
        let value = self.cast(value, signed);
        self.shifted(BinOp::Shr, value, all - width)
    }

    /// The field's bits as a number without a sign.
    fn raw(&mut self, bits: &Bits) -> Expr {
        let value = self.container(bits, bits.place.span);
        let value = self.shifted(BinOp::Shr, value, bits.first);
        if u64::from(bits.first + bits.width) == bits.container.size * 8 {
            return value;
        }
        self.masked(value, bits.mask())
    }

    fn masked(&mut self, e: Expr, mask: i128) -> Expr {
        let kind = self.unit.types.as_int(e.ty.ty).unwrap_or(IntKind::ULong);
        let mask = self.number(mask, kind, e.span);
        self.binary(BinOp::And, e, mask)
    }

    fn shifted(&mut self, op: BinOp, e: Expr, by: u32) -> Expr {
        if by == 0 {
            return e;
        }
        let by = self.number(by.into(), IntKind::Int, e.span);
        self.binary(op, e, by)
    }

    fn binary(&mut self, op: BinOp, a: Expr, b: Expr) -> Expr {
        let (ty, span) = (a.ty, a.span);
        Expr { kind: ExprKind::Binary(op, Box::new(a), Box::new(b)), ty, span }
    }

    fn number(&mut self, value: i128, kind: IntKind, span: Span) -> Expr {
        Expr { kind: ExprKind::Int(value), ty: self.int(kind), span }
    }

    fn cast(&mut self, e: Expr, kind: IntKind) -> Expr {
        let (ty, span) = (self.int(kind), e.span);
        if e.ty.ty == ty.ty {
            return e;
        }
        Expr { kind: ExprKind::Cast(Box::new(e)), ty, span }
    }

    fn int(&mut self, kind: IntKind) -> QualType {
        QualType { ty: self.unit.types.intern(TypeKind::Int(kind)), quals: Quals::default() }
    }

    /// A place once more.
    fn again(&mut self, place: &Place) -> Place {
        let mut place = place.clone();
        nest::change_place(&mut place, true, &mut nest::Numbered(&mut self.unit.n_places));
        place
    }
}

impl nest::Change for Rewriter<'_> {
    fn expression(&mut self, e: &mut Expr) -> bool {
        if let Some(value) = self.loaded(e) {
            *e = value;
        }
        true
    }
}

/// Whether something is assigned where an expression is evaluated. Calls that are left assign nothing, or keep the loop as it stands.
fn assigns(e: &Expr) -> bool {
    let mut found = false;
    nest::expressions(e, &mut |e| found |= nest::accessed_place(e).is_some_and(|(.., writes)| writes));
    found
}

fn assigns_bits(e: &Expr) -> bool {
    matches!(&e.kind, ExprKind::Assign(Place { kind: PlaceKind::Field { bits: Some(_), .. }, .. }, _))
}

fn plain(ty: QualType) -> QualType {
    QualType { ty: ty.ty, quals: Quals::default() }
}

#[cfg(test)]
mod tests {
    use crate::compile::judged;
    use crate::loops::options::AnalysisOptions;

    const TYPES: &str = "struct flags { unsigned kind : 3, live : 1, count : 12, id : 16; float weight; };\n\
        struct odd { unsigned low : 24; char c; }; struct pixel { unsigned short r : 5, g : 6, b : 5; };\n\
        struct spare { unsigned a : 7; int b; }; struct page { unsigned long frame : 40, more : 24; }; struct span { long from : 48, more : 16; }; struct still { volatile unsigned now : 3; };\n";

    /// Whether the last loop of a body has a plan.
    fn has_plan(body: &str) -> bool {
        let head = "void f(int n, struct flags *a, const struct flags *b, const int *k, int *x, struct odd *o, struct pixel *p, struct spare *s, const struct spare *t, struct still *v, struct page *g, struct span *y, struct flags c)";
        let text = format!("{TYPES}{head}\n{{ {body} }}\n");
        let (_, reports) = judged(&text, &AnalysisOptions::default());
        reports.last().unwrap_or_else(|| panic!("{body}")).plan.is_some()
    }

    #[test]
    fn loops_come_to_containers() {
        for (body, wanted) in [
            ("for (int i = 0; i < n; i++) x[i] = a[i].kind + a[i].count;", true),
            (
                "for (int i = 0; i < n; i++) { a[i].kind = i; a[i].count += x[i]; ++a[i].id; a[i].live ^= 1; }",
                true,
            ),
            ("for (int i = 0; i < n; i++) a[i] = b[k[i]];", true),
            ("for (int i = 0; i < n; i++) { struct pixel q = p[i]; q.g ^= q.r; p[i] = q; }", true),
            ("for (int i = 0; i < n; i++) s[i] = t[i];", true),
            ("for (int i = 0; i < n; i++) { struct flags *e = a + i; e->live = e->kind > 2; }", true),
            ("for (int i = 0; i < n; i++) a[i].kind = __builtin_sqrt(x[i]);", true),
            // A variable outside of the loop.
            ("c.id = 3; for (int i = 0; i < n; i++) x[i] = c.live ? c.id : c.count;", true),
            ("for (int i = 0; i < n; i++) { x[i] = c.id; c.count = x[i]; }", false),
            ("for (int i = 0; i < n; i++) a[i].kind = a[i].count = x[i] = k[i];", true),
            // No container, or the value of what is stored.
            ("for (int i = 0; i < n; i++) x[i] = o[i].low;", false),
            ("for (int i = 0; i < n; i++) x[i] = (a[i].kind = i) + 1;", false),
            ("for (int i = 0; i < n; i++) x[i] = v[i].now;", false),
            // All of its own, in the order in which they are needed; or not.
            (
                "for (int i = 0; i < n; i++) { struct pixel q; q.r = k[i]; q.b = q.r + 1; q.g = 3; x[i] = q.r * q.g + q.b; }",
                true,
            ),
            (
                "for (int i = 0; i < n; i++) { struct pixel q; q.r = k[i]; q.b = q.r + 1; x[i] = q.r + q.b; }",
                false,
            ),
            (
                "for (int i = 0; i < n; i++) { struct pixel q; q.r = k[i]; q.b = q.r + q.g; q.g = 3; x[i] = q.r + q.b; }",
                false,
            ),
            // Wider than int: what is the same number whatever it is computed in.
            ("for (int i = 0; i < n; i++) x[i] = g[i].frame >> 12;", true),
            ("for (int i = 0; i < n; i++) g[i].frame = (unsigned long)g[i].frame << 3;", true),
            ("for (int i = 0; i < n; i++) { g[i].frame += x[i] * 5; g[i].frame <<= 2; g[i].frame++; }", true),
            (
                "for (int i = 0; i < n; i++) x[i] = (g[i].frame > 5) + (y[i].from <= x[i]) + !g[i].frame;",
                true,
            ),
            ("for (int i = 0; i < n; i++) x[i] = g[i].frame & 0xfful;", true),
            ("for (int i = 0; i < n; i++) x[i] = (int)(y[i].from * 1l + y[i].from * 0.5);", true),
            ("for (int i = 0; i < n; i++) x[i] = k[y[i].from];", true),
            // And what isn't.
            ("for (int i = 0; i < n; i++) x[i] = g[i].frame + 1;", false),
            ("for (int i = 0; i < n; i++) x[i] = (g[i].frame >> 3) * 5 > 0;", false),
            ("for (int i = 0; i < n; i++) x[i] = ~g[i].frame != 0;", false),
            ("for (int i = 0; i < n; i++) x[i] = g[i].frame << 30 > 0;", false),
            ("for (int i = 0; i < n; i++) x[i] = g[i].frame < x[i];", false),
            ("for (int i = 0; i < n; i++) x[i] = g[i].frame < y[i].from;", false),
            ("for (int i = 0; i < n; i++) x[i] = g[i].frame - 5l < 0;", false),
            ("for (int i = 0; i < n; i++) g[i].frame /= x[i];", false),
            ("for (int i = 0; i < n; i++) g[i].frame += g[i].frame;", false),
            ("for (int i = 0; i < n; i++) { __auto_type q = g[i].frame >> 1; x[i] = q << 30 > 0; }", false),
            ("for (int i = 0; i < n; i++) { __typeof__(g[i].frame + 0) q = -1; x[i] = q << 30 > 0; }", false),
            (
                "for (int i = 0; i < n; i++) x[i] = _Generic(g[i].frame >> 0, unsigned long: 1, default: 2);",
                false,
            ),
            // C doesn't say what becomes of a constant that there is no room for.
            ("for (int i = 0; i < n; i++) a[i].kind = 6.5;", true),
            ("for (int i = 0; i < n; i++) a[i].kind = 8.5f;", false),
            ("for (int i = 0; i < n; i++) y[i].more = -32768.5;", true),
            ("for (int i = 0; i < n; i++) y[i].more = -32767.5 - 2;", false),
            ("for (int i = 0; i < n; i++) { struct pixel q = {k[i], -1.5, 3}; p[i] = q; }", false),
            // In braces.
            ("for (int i = 0; i < n; i++) { struct pixel q = {k[i], x[i], 3}; p[i] = q; }", true),
            ("for (int i = 0; i < n; i++) p[i] = (struct pixel){.g = x[i], .r = p[i].b};", true),
            (
                "for (int i = 0; i < n; i++) { struct flags e = {.live = x[i], {k[i]}, 5}; x[i] = e.id + e.live; a[i] = e; }",
                true,
            ),
            (
                "for (int i = 0; i < n; i++) { struct { struct pixel of[2]; } q = {k[i], 1, 2, {3, .b = x[i]}}; p[i] = q.of[1]; x[i] = q.of[0].r; }",
                true,
            ),
            ("for (int i = 0; i < n; i++) { struct pixel q = {x[i]++, 1, 2}; p[i] = q; }", false),
            ("for (int i = 0; i < n; i++) { struct pixel q = {1, .r = x[i], 2}; p[i] = q; }", false),
            ("for (int i = 0; i < n; i++) { struct odd q = {k[i], 1}; x[i] = q.c; }", false),
            (
                "for (int i = 0; i < n; i++) { struct flags e = {.weight = x[i]++, .kind = x[i]}; a[i] = e; }",
                false,
            ),
            // Bits that are nobody's, of a variable that isn't anywhere.
            ("for (int i = 0; i < n; i++) { struct spare q = t[i]; q.a++; s[i] = q; }", false),
        ] {
            assert_eq!(has_plan(body), wanted, "{body}");
        }
    }
}
