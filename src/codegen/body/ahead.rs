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
    loads: Vec<(String, String)>,
    text: String,
}

/// Loads of such a value, as they are printed.
#[derive(Default)]
pub(super) struct FirstLoads {
    /// Types and texts of those that come first.
    loads: Vec<(String, String)>,
    /// Whether one has no base that is known at entry.
    is_refused: bool,
}

/// What stands in the rest of a value for what has been loaded first.
const FIRST: &str = "__pg_first.v";

impl FirstLoads {
    /// The text of a load.
    pub(super) fn load(
        &mut self,
        from: &str,
        suffix: &str,
        base: Option<u32>,
        logged: i32,
        address: &str,
    ) -> String {
        let Some(base) = base else {
            self.is_refused = true;
            return format!("__PG_LDX({suffix}, {logged}, {address})");
        };
        let text = format!("__PG_{from}({suffix}, {base}, {logged}, {address})");
        if address.contains(FIRST) {
            return text;
        }
        let load = (format!("__pg_{suffix}"), text);
        let number = self.loads.iter().position(|other| *other == load).unwrap_or_else(|| {
            self.loads.push(load);
            self.loads.len() - 1
        });
        format!("{FIRST}{number}")
    }
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
        self.first_loads = Some(FirstLoads::default());
        let made = self.value(e, &mut effects);
        let FirstLoads { loads, is_refused } = self.first_loads.take().unwrap_or_default();
        let text = self.value(e, &mut effects);
        self.ahead = ahead;
        let (made, text) = (made?, text?);
        if is_refused || !effects.is_empty() {
            return Ok(None);
        }
        self.walk_count += 1;
        let name = format!("__pg_gathered_{}", self.walk_count);
        let gathered = format!("__PG_GATHERED({name}, {text})");
        self.ahead.iter_mut().for_each(|ahead| {
            ahead.found.push(Gathered { name: name.clone(), kind, loads: loads.clone(), text: made.clone() });
        });
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
        let mut text = format!("__PG_GATHERING({})\n", found.len());
        let mut calls = String::new();
        for Gathered { name, kind: of, loads, text: rest } in found {
            let members: String =
                loads.iter().enumerate().map(|(number, (kind, _))| format!("{kind} v{number}; ")).collect();
            let loads: Vec<&str> = loads.iter().map(|(_, load)| load.as_str()).collect();
            text.push_str(&format!(
                "__PG_GATHER({name}, {}, {kind}, {iv}, ({members}), ({}), {rest})\n",
                of.name(),
                loads.join(", ")
            ));
            calls.push_str(&format!("__pg_do({name}); "));
        }
        text.push_str(&format!("__PG_ALL_GATHERED({calls};)\n"));
        text
    }
}
