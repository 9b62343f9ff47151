//! Values of an inner loop's turns that are gathered: what they load lies where something else says that turns load, too
//! (`a[k * n + i] * x[column[k * n + i]]`). Where the turns store nothing, and nothing that they make decides about such a value, kernels make it
//! before the turns: of some turns at once, all that comes first before all that follows from it, and that of the next turns while these are under way.
//! By itself their compiler would have some turns wait for others. What kernels do with it is in `paragon_kernel.h`.

use super::{Printed, Printer, Scalar};
use crate::c::hir::*;
use crate::codegen::group::Moving;
use crate::loops::nest;
use crate::loops::scalars::is_scalar;
use std::collections::BTreeSet;

/// What is made before the turns of a loop.
pub(super) struct Ahead {
    /// What turns change.
    assigned: BTreeSet<VarId>,
    /// Conditions around the loop: what a turn may not need is not made before it.
    conditions: u32,
    found: Vec<Gathered>,
}

/// One of such values.
struct Gathered {
    name: String,
    kind: Scalar,
    loads: FirstLoads,
    text: String,
}

/// A load that is made before the turns.
struct FirstLoad {
    kind: String,
    /// What tells it from others.
    text: String,
    /// How it is made.
    made: String,
}

/// Loads of such a value, as they are printed.
#[derive(Default)]
pub(super) struct FirstLoads {
    /// Those that come first.
    first: Vec<FirstLoad>,
    /// Those whose addresses follow from these.
    then: Vec<FirstLoad>,
    /// Bases of the first.
    bases: BTreeSet<u32>,
    /// Whether a load has no base that is known at entry.
    is_refused: bool,
}

/// What stands in the rest of a value for what has been loaded first, and for what follows from it.
const FIRST: &str = "__pg_first.v";
const THEN: &str = "__pg_then.v";

impl FirstLoads {
    /// The text of a load with a base, which is entered, unless its address needs what follows already: that is loaded in the turn itself.
    /// `noted`: the load as what notes it together with other turns' has it. What comes first isn't noted where anything is gathered.
    pub(super) fn load(
        &mut self,
        suffix: &str,
        base: u32,
        address: &str,
        text: String,
        noted: String,
    ) -> String {
        let (loads, name, made) = match (address.contains(FIRST), address.contains(THEN)) {
            (_, true) => return noted,
            (true, false) => (&mut self.then, THEN, noted),
            (false, false) => {
                self.bases.insert(base);
                (&mut self.first, FIRST, text.clone())
            }
        };
        let number = loads.iter().position(|load| load.text == text).unwrap_or_else(|| {
            loads.push(FirstLoad { kind: format!("__pg_{suffix}"), text, made });
            loads.len() - 1
        });
        format!("{name}{number}")
    }

    /// Notes a load without a base.
    pub(super) fn refuse(&mut self) {
        self.is_refused = true;
    }
}

/// Members of a structure for such loads, and what they begin with.
fn members(loads: &[FirstLoad]) -> String {
    let members: String =
        loads.iter().enumerate().map(|(number, load)| format!("{} v{number}; ", load.kind)).collect();
    let texts: Vec<&str> = loads.iter().map(|load| load.made.as_str()).collect();
    format!("({members}), ({})", texts.join(", "))
}

impl Printer<'_> {
    /// What may be made before a loop's turns.
    pub(super) fn ahead(&self, l: &LoopStmt, moving: &Moving) -> Option<Ahead> {
        let (assigned, conditions) = (moving.assigned.clone(), self.conditions);
        self.stores(l)?.is_empty().then_some(Ahead { assigned, conditions, found: Vec::new() })
    }

    /// An expression of a turn as one that is made before it, if it is.
    pub(super) fn look_ahead(&mut self, e: &Expr) -> Printed<Option<String>> {
        let may = |ahead: &&Ahead| {
            ahead.conditions == self.conditions
                && self.unit.types.pointee(e.ty.ty).is_none()
                && self.is_made_before(&ahead.assigned, e, true)
                && self.is_gathered(e)
        };
        if self.ahead.as_ref().filter(may).is_none() {
            return Ok(None);
        }
        let Ok(kind) = self.scalar(e.ty) else { return Ok(None) };
        let ahead = self.ahead.take();
        let mut effects = String::new();
        self.note_once(true);
        self.first_loads = Some(FirstLoads::default());
        let made = self.value(e, &mut effects);
        let loads = self.first_loads.take().unwrap_or_default();
        let text = self.value(e, &mut effects);
        self.note_once(false);
        self.ahead = ahead;
        let (made, text) = (made?, text?);
        if loads.is_refused || !effects.is_empty() {
            return Ok(None);
        }
        // Loads of what nothing stores to their compiler doesn't put off, checked or not.
        self.asks_kept = true;
        self.walk_count += 1;
        let name = format!("__pg_gathered_{}", self.walk_count);
        let gathered = format!("__PG_GATHERED({name}, {text})");
        if let Some(ahead) = &mut self.ahead {
            ahead.found.push(Gathered { name, kind, loads, text: made });
        }
        Ok(Some(gathered))
    }

    /// Whether an expression loads something whose address follows from what it loads as well.
    fn is_gathered(&self, e: &Expr) -> bool {
        let loads = |e: &Expr| match &e.kind {
            ExprKind::Load(place) => {
                is_scalar(self.unit, place).is_none() && !self.plan.invariant_places.contains_key(&place.id)
            }
            _ => false,
        };
        let mut found = false;
        nest::expressions(e, &mut |outer| {
            if let ExprKind::Load(place) = &outer.kind
                && loads(outer)
            {
                nest::place_expressions(place, &mut |e| nest::expressions(e, &mut |e| found |= loads(e)));
            }
        });
        found
    }

    /// What stands in front of a loop for it.
    pub(super) fn ahead_text(ahead: Option<&Ahead>, kind: &str, iv: &str) -> String {
        let found = ahead.map_or(&[][..], |ahead| &ahead.found);
        let bases: BTreeSet<u32> =
            found.iter().flat_map(|gathered| gathered.loads.bases.iter().copied()).collect();
        let notes: String = bases.iter().map(|base| format!(" + __PG_NOTES_LOADS({base})")).collect();
        let mut text = format!("__PG_GATHERING({}, (0{notes}))\n", found.len());
        let mut calls = String::new();
        for Gathered { name, kind: of, loads, text: rest } in found {
            let (of, first, then) = (of.name(), members(&loads.first), members(&loads.then));
            text.push_str(&format!("__PG_GATHER({name}, {of}, {kind}, {iv}, {first}, {then}, {rest})\n"));
            calls.push_str(&format!("__pg_do({name}); "));
        }
        text.push_str(&format!("__PG_ALL_GATHERED({calls};)\n"));
        text
    }
}
