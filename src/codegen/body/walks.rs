//! Loads of inner loops that move by strides. Which of them are printed as walks is decided here; how those are run some turns at once is in
//! [`super::inner`].

use super::Printer;
use crate::c::hir::*;
use crate::codegen::group::{self, Moving, Stride};
use crate::loops::plan::*;
use std::collections::BTreeMap;

/// Accesses of an inner loop that move by strides: see `kernel/walks.h`.
pub(super) struct Walks<'a> {
    pub(super) moving: Moving<'a>,
    /// Conditions around the loop; `None` where a turn may end early.
    pub(super) conditions: Option<u32>,
    pub(super) found: Vec<Walk>,
    /// Other loads that every turn makes and a bitmap may note (`kernel/notes.h`): their names, and the bases.
    pub(super) noted: Vec<(String, u32)>,
    /// While an expression is printed twice, of which a turn makes one: the names of its loads.
    pub(super) noted_once: Option<BTreeMap<PlaceId, String>>,
    /// Whether all accesses to memory are loads that walk.
    pub(super) are_all: bool,
}

/// One of them; accesses with the same address share it.
pub(super) struct Walk {
    name: String,
    /// Index of the base.
    base: u32,
    suffix: &'static str,
    /// The field of `struct __pg_view` that it goes through.
    memory: &'static str,
    address: String,
    /// In bytes: per iteration of each dimension, and per turn.
    strides: [Stride; MAX_DIMS],
    turn: Stride,
}

impl Printer<'_> {
    /// The walk of a load in an inner loop, where it moves by strides.
    pub(super) fn walk(
        &mut self,
        place: &Place,
        site: &Site,
        memory: &'static str,
        suffix: &'static str,
        address: &str,
    ) -> Option<String> {
        // Under a condition the first turn's address may be none that the program computes, and wrap around.
        let walks = self.walks.as_mut().filter(|walks| walks.conditions == Some(self.conditions))?;
        let affine = site.affine.as_ref().filter(|affine| affine.whole_steps)?;
        let turn = walks.moving.address(place)?;
        let same = |walk: &&mut Walk| {
            walk.address == address
                && walk.base == site.base.0
                && walk.suffix == suffix
                && walk.memory == memory
        };
        if let Some(walk) = walks.found.iter_mut().find(same) {
            return Some(walk.name.clone());
        }
        if walks.found.len() == group::MOST_WALKS {
            return None;
        }
        let mut strides = [Stride::Known(0); MAX_DIMS];
        for ((stride, bound), dim) in strides.iter_mut().zip(&affine.strides).zip(&self.plan.dims) {
            *stride = match bound {
                Bound::Const(bytes) => bytes.checked_mul(dim.distance).map_or(Stride::Same, Stride::Known),
                _ => Stride::Same,
            };
        }
        self.walk_count += 1;
        let name = format!("__pg_walk_{}", self.walk_count);
        let (base, address) = (site.base.0, address.to_owned());
        walks.found.push(Walk { name: name.clone(), base, suffix, memory, address, strides, turn });
        Some(name)
    }

    /// What stands in front of a loop with such accesses, and how many of them there are per turn.
    pub(super) fn walks_text(walks: &Walks, kind: &str, iv: &str, together: bool) -> (String, String) {
        let (mut text, mut calls, mut types) = (String::new(), String::new(), Vec::new());
        for walk in &walks.found {
            let strides: Vec<String> = walk.strides.iter().map(|stride| stride.text()).collect();
            text.push_str(&format!(
                "__PG_WALK({}, {}, {}, {}, {}, {})\n",
                walk.name,
                walk.suffix,
                walk.base,
                u8::from(together),
                strides.join(", "),
                walk.turn.text(),
            ));
            calls.push_str(&format!("__pg_do({}); ", walk.name));
            types.push(format!("decltype({})", walk.name));
        }
        if !walks.found.is_empty() {
            text.push_str(if together { "__PG_EACH { __PG_MEMBERS\n" } else { "{\n" });
            for Walk { name, base, memory, address, .. } in &walks.found {
                text.push_str(&format!("__PG_SET({name}, {base}, {memory}, {kind}, {iv}, {address})\n"));
            }
            text.push_str("}\n");
        }
        text.push_str(&format!("__PG_WALKING({calls};)\n"));
        (text, types.join(", "))
    }

    /// The name of what notes a load of an inner loop together with those of other turns, where each turn makes it.
    pub(super) fn noted_together(&mut self, place: &Place, site: &Site, from: &str) -> Option<String> {
        let walks = self.walks.as_mut().filter(|walks| walks.conditions == Some(self.conditions))?;
        if !site.logged || from != "LD" {
            return None;
        }
        if let Some(name) = walks.noted_once.as_ref().and_then(|names| names.get(&place.id)) {
            return Some(name.clone());
        }
        self.walk_count += 1;
        let name = format!("__pg_noted_{}", self.walk_count);
        if let Some(names) = &mut walks.noted_once {
            names.insert(place.id, name.clone());
        }
        walks.noted.push((name.clone(), site.base.0));
        Some(name)
    }

    /// Whether what is printed from now on may be printed twice, of which a turn makes one: loads have one note then.
    pub(super) fn note_once(&mut self, once: bool) {
        if let Some(walks) = &mut self.walks {
            walks.noted_once = once.then(BTreeMap::new);
        }
    }

    /// What stands in front of a loop with such loads.
    pub(super) fn notes_text(walks: &Walks, together: bool) -> String {
        let together = u8::from(together);
        let loads: String =
            walks.noted.iter().map(|(_, base)| format!(" + __PG_NOTES_LOADS({base})")).collect();
        let (mut text, mut calls) = (String::new(), String::new());
        for (name, base) in &walks.noted {
            text.push_str(&format!("__PG_NOTED({name}, {base}, {together}, (0{loads}))\n"));
            calls.push_str(&format!("__pg_do({name}); "));
        }
        format!("{text}__PG_NOTING({together}, (0{loads}), {calls};)\n")
    }

    /// Notes that a turn accesses memory in another way than by loads that walk.
    pub(super) fn note_other_access(&mut self) {
        if let Some(walks) = &mut self.walks {
            walks.are_all = false;
        }
    }
}
