//! What the turns of an inner loop need and could be made before them: limits that memory holds, and loads that lanes make for each
//! other. Whether memory stays as it is while the loop runs is asked here, of the text, and in kernels of what the launch stores to
//! (`__PG_IS_KEPT`). What kernels do with it is in `paragon_kernel.h`.

use super::{Printed, Printer, Scalar, variable};
use crate::c::hir::*;
use crate::codegen::group::Stride;
use crate::loops::nest;
use crate::loops::plan::*;
use crate::loops::scalars::is_scalar;
use std::collections::BTreeSet;

/// Values that an inner loop's turns need and that follow from nothing which turns before have made: the lanes of a warp make them
/// for each other, neighbours those of neighbouring turns, so that they load side by side. Only for loops that store nothing: what
/// such a loop stores is as far apart as before, and its turns wait for each other.
pub(super) struct Lending {
    /// What turns change.
    pub(super) assigned: BTreeSet<VarId>,
    /// Conditions around the loop: what a turn may not need is not made before it.
    pub(super) conditions: u32,
    pub(super) iv: VarId,
    pub(super) found: Vec<Lent>,
}

/// One of them.
pub(super) struct Lent {
    name: String,
    kind: Scalar,
    text: String,
    /// Variables that differ from iteration to iteration, besides the inner loop's own.
    variables: BTreeSet<VarId>,
}

/// Most values that a turn takes from others, for which there is room; what there are more of, each thread makes itself.
const MOST_LENT: usize = 2;
/// What moves further from turn to turn, in bytes, doesn't lie side by side.
const SIDE_BY_SIDE: i64 = 16;

impl Printer<'_> {
    /// An expression as one that other threads may evaluate, if it is.
    pub(super) fn lend(&mut self, e: &Expr) -> Printed<Option<String>> {
        let may = |lending: &&Lending| {
            lending.conditions == self.conditions
                && lending.found.len() < MOST_LENT
                && self.unit.types.pointee(e.ty.ty).is_none()
                && self.is_lendable(lending, e, true)
                && self.lies_side_by_side(e)
        };
        if self.lending.as_ref().filter(may).is_none() {
            return Ok(None);
        }
        let Ok(kind) = self.scalar(e.ty) else { return Ok(None) };
        let lending = self.lending.take();
        let walks = self.walks.take();
        let mut effects = String::new();
        let alone = self.value(e, &mut effects);
        self.walks = walks;
        let text = self.value(e, &mut effects);
        self.lending = lending;
        let (alone, text) = (alone?, text?);
        let Some(lending) = self.lending.as_mut().filter(|_| effects.is_empty()) else {
            return Err("a value with effects".into());
        };
        self.walk_count += 1;
        let name = format!("__pg_lent_{}", self.walk_count);
        let lent = format!("__PG_LENT({name}, {text})");
        let mut variables = BTreeSet::new();
        nest::expressions(e, &mut |e| {
            if let ExprKind::Load(place) = &e.kind
                && !self.plan.invariant_places.contains_key(&place.id)
                && let Some(v) = is_scalar(self.unit, place)
                && !self.plan.live_ins.contains(&v)
                && v != lending.iv
            {
                variables.insert(v);
            }
        });
        lending.found.push(Lent { name, kind, text: alone, variables });
        Ok(Some(lent))
    }

    /// Whether what an expression loads lies side by side from turn to turn, as far as that is known: something does, and nothing else
    /// moves in another way.
    fn lies_side_by_side(&self, e: &Expr) -> bool {
        let Some(walks) = &self.walks else { return false };
        let (mut some, mut all) = (false, true);
        nest::expressions(e, &mut |e| {
            if let ExprKind::Load(place) = &e.kind
                && is_scalar(self.unit, place).is_none()
                && !self.plan.invariant_places.contains_key(&place.id)
            {
                match walks.moving.address(place) {
                    Some(Stride::Known(0)) | None => {}
                    Some(Stride::Known(bytes)) if bytes.abs() <= SIDE_BY_SIDE => some = true,
                    Some(_) => all = false,
                }
            }
        });
        some && all
    }

    /// Whether an expression has the same value before the turns; one that others may evaluate loads something, too.
    fn is_lendable(&self, lending: &Lending, e: &Expr, loads: bool) -> bool {
        let all_lendable = |place: &Place| {
            let mut all = true;
            nest::place_expressions(place, &mut |e| all &= self.is_lendable(lending, e, false));
            all
        };
        let is_lendable = match &e.kind {
            ExprKind::Int(_) | ExprKind::Float(_) => true,
            ExprKind::Load(place) if self.plan.invariant_places.contains_key(&place.id) => true,
            ExprKind::Load(place) => match is_scalar(self.unit, place) {
                Some(v) => !lending.assigned.contains(&v),
                None => self.own(place).is_none() && all_lendable(place),
            },
            ExprKind::AddressOf(place) => all_lendable(place),
            ExprKind::Unary(_, a) | ExprKind::Cast(a) => self.is_lendable(lending, a, false),
            ExprKind::Binary(_, a, b) => {
                self.is_lendable(lending, a, false) && self.is_lendable(lending, b, false)
            }
            ExprKind::PtrAdd { pointer, index, .. } => {
                self.is_lendable(lending, pointer, false) && self.is_lendable(lending, index, false)
            }
            _ => false,
        };
        let mut has_load = !loads;
        nest::expressions(e, &mut |e| {
            has_load |= matches!(&e.kind, ExprKind::Load(place) if is_scalar(self.unit, place).is_none()
                && !self.plan.invariant_places.contains_key(&place.id));
        });
        is_lendable && has_load
    }

    /// What stands in front of a loop whose turns take values from others.
    pub(super) fn lending_text(&self, lending: Option<&Lending>, kind: &str, iv: &str) -> Printed<String> {
        let found = lending.map_or(&[][..], |lending| &lending.found);
        let (mut text, mut calls) = (String::new(), String::new());
        for (number, lent) in found.iter().enumerate() {
            let mut parameters = format!("const {kind} {iv}");
            let mut arguments = format!("__pg_of({iv}) + __pg_q");
            for v in &lent.variables {
                let name = variable(*v);
                parameters.push_str(&format!(", const {} {name}", self.scalar(self.unit.var(*v).ty)?.name()));
                arguments.push_str(&format!(", __pg_of({name})"));
            }
            text.push_str(&format!(
                "__PG_LEND({}, {number}, {}, ({parameters}), ({arguments}), {})\n",
                lent.name,
                lent.kind.name(),
                lent.text
            ));
            calls.push_str(&format!("__pg_do({}); ", lent.name));
        }
        text.push_str(&format!("__PG_LENDING({}, {calls};)\n", found.len()));
        Ok(text)
    }

    /// The base of what is loaded from a place, or stored there; `None`: none that is known at entry.
    fn base(&self, place: &Place, stores: bool) -> Option<u32> {
        let (load, store) = *self.plan.site_of.get(&place.id)?;
        let id = if stores { store? } else { load? };
        let base = self.plan.sites[id.0 as usize].base;
        (!matches!(self.plan.bases[base.0 as usize], Base::Dynamic)).then_some(base.0)
    }

    /// Text for whether all memory that an expression loads stays as it is, whoever stores; `None`: nobody knows.
    fn kept(&mut self, e: &Expr) -> Option<String> {
        let mut all = Some(BTreeSet::new());
        nest::expressions(e, &mut |e| {
            if let ExprKind::Load(place) = &e.kind
                && is_scalar(self.unit, place).is_none()
                && !self.plan.invariant_places.contains_key(&place.id)
            {
                let base = self.base(place, false);
                all = std::mem::take(&mut all).zip(base).map(|(mut all, base)| {
                    all.insert(base);
                    all
                });
            }
        });
        let all: Vec<String> = all?.iter().map(|base| format!("__PG_IS_KEPT({base})")).collect();
        self.asks_kept |= !all.is_empty();
        Some(if all.is_empty() { "1".into() } else { format!("({})", all.join(" && ")) })
    }

    /// Text for whether an expression keeps its value while a loop runs: the loop stores nothing, or not there, and sets none of its
    /// variables.
    pub(super) fn is_kept(&mut self, e: &Expr, l: &LoopStmt) -> Option<String> {
        let mut set = BTreeSet::new();
        nest::statements(&l.body, &mut |s| {
            if let StmtKind::Declare { var, .. } = &s.kind {
                set.insert(*var);
            }
        });
        let mut note = |e: &Expr| {
            if let Some((place, _, true)) = nest::accessed_place(e) {
                set.extend(nest::root_variable(place));
            }
        };
        nest::all_expressions(&l.body, &mut note);
        l.cond.iter().chain(&l.step).for_each(|e| nest::expressions(e, &mut note));
        let mut keeps = true;
        nest::expressions(e, &mut |e| {
            if let Some((place, _, writes)) = nest::accessed_place(e) {
                keeps &= !writes && nest::root_variable(place).is_none_or(|v| !set.contains(&v));
            }
        });
        match self.stores(l)? {
            _ if !keeps => None,
            stored if stored.is_empty() => Some("1".into()),
            _ => self.kept(e),
        }
    }

    /// The bases of what a loop stores; `None`: it may store elsewhere.
    pub(super) fn stores(&self, l: &LoopStmt) -> Option<BTreeSet<u32>> {
        let mut stored = Some(BTreeSet::new());
        let mut look = |e: &Expr| {
            let (stores, base) = match &e.kind {
                ExprKind::Call { args, .. } => {
                    (args.iter().any(|arg| self.unit.types.pointee(arg.ty.ty).is_some()), None)
                }
                ExprKind::Opaque(_) => (true, None),
                _ => match nest::accessed_place(e) {
                    Some((place, _, true)) if is_scalar(self.unit, place).is_none() => {
                        (true, self.base(place, true))
                    }
                    _ => (false, None),
                },
            };
            if stores {
                stored = std::mem::take(&mut stored).zip(base).map(|(mut stored, base)| {
                    stored.insert(base);
                    stored
                });
            }
        };
        nest::all_expressions(&l.body, &mut look);
        l.cond.iter().chain(&l.step).for_each(|e| nest::expressions(e, &mut look));
        stored
    }
}
