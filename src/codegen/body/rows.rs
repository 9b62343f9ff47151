//! Inner loops of inspections, some thousand turns at a time: what moves by a stride from turn to turn lies in its window of memory that needs not be shown where its first and its last address
//! do, so that no turn looks at it. Where one of them doesn't, each turn does. The window is the runtime's answer to an access that was shown (`struct __pg_inspector`), and a range of addresses;
//! this says nothing about what is done with accesses that are outside.

use super::inner::{SHORT, Turns};
use super::{Printed, Printer, Purpose, variable};
use crate::c::hir::*;
use crate::codegen::group::{Moving, Stride};
use crate::loops::nest;
use crate::loops::scalars::is_scalar;
use std::fmt::Write;

/// Turns that are looked at together.
const TOGETHER: u32 = 4096;
/// Bytes that an address may move by in a turn: so few that it comes by no end of a number twice within as many turns.
const LONGEST_STRIDE: i64 = 1 << 16;

/// A load that moves by a stride.
struct Row {
    place: Place,
    site: u32,
    stride: i64,
}

impl Printer<'_> {
    /// Prints an innermost loop with such loads, whose head is given. False: it has none, or is too long to be printed twice.
    pub(super) fn inspected_by_rows(
        &mut self,
        l: &LoopStmt,
        turns: &Turns,
        out: &mut String,
    ) -> Printed<bool> {
        let Turns { iv, cond, kind, unsigned, limit, .. } = turns;
        let mut count = 0;
        nest::all_expressions(&l.body, &mut |_| count += 1);
        let mut jumps = false;
        // Labels can't be printed twice.
        nest::statements(&l.body, &mut |s| {
            jumps |= matches!(s.kind, StmtKind::Continue | StmtKind::Label { .. });
        });
        let rows = self.rows(l, *iv);
        if jumps || count > SHORT || rows.is_empty() || !self.inside.is_empty() {
            return Ok(false);
        }
        let iv = variable(*iv);
        let mut looked_at = String::new();
        for Row { place, site, stride } in &rows {
            let mut effects = String::new();
            let address = self.address(place, &mut effects)?;
            if !effects.is_empty() {
                return Ok(false);
            }
            let _ = write!(
                looked_at,
                "{{ const __pg_u64 __pg_a = {address};\n{iv} = ({kind})(__pg_stop - 1);\n\
                 {{ const __pg_u64 __pg_z = {address};\n\
                 __pg_inside = __pg_inside && __PG_ROW({site}, {stride}LL, __pg_many - 1, __pg_a, __pg_z);\n}}\n\
                 {iv} = __pg_from;\n}}\n"
            );
        }
        let (mut shown, mut unshown) = (String::new(), String::new());
        self.turn(l, None, &mut shown)?;
        self.inside = rows.iter().map(|row| row.place.id).collect();
        let printed = self.turn(l, None, &mut unshown);
        self.inside.clear();
        printed?;
        let _ = write!(
            out,
            "while ({cond}) {{\nconst {kind} __pg_from = {iv};\n\
             const {kind} __pg_stop = ({unsigned})({limit}) - ({unsigned})({iv}) > {TOGETHER}u ? ({kind})({iv} + {TOGETHER}) : ({kind})({limit});\n\
             const __pg_u64 __pg_many = ({unsigned})__pg_stop - ({unsigned})__pg_from;\n\
             int __pg_inside = 1;\n{looked_at}\
             if (__pg_inside) while ({iv} < __pg_stop) {{\n{unshown}}}\n\
             else while ({iv} < __pg_stop) {{\n{shown}}}\n\
             __pg_turns += (__pg_u32)__pg_many;\n\
             if ((__pg_polls += (__pg_u32)__pg_many) > 0xffff) {{\n__pg_polls = 0;\nif (__pg_s->poll(__pg_s)) return;\n}}\n}}\n"
        );
        Ok(true)
    }

    /// The loads of a loop's body that are shown and move by strides.
    fn rows(&self, l: &LoopStmt, iv: VarId) -> Vec<Row> {
        let Purpose::Inspection(slice) = self.purpose else { return Vec::new() };
        if slice.ways_out {
            return Vec::new();
        }
        let moving = Moving::new(self.unit, self.plan, l, iv);
        let mut rows = Vec::new();
        nest::all_expressions(&l.body, &mut |e| {
            let ExprKind::Load(place) = &e.kind else { return };
            if self.plan.invariant_places.contains_key(&place.id) || is_scalar(self.unit, place).is_some() {
                return;
            }
            let Some(site) = self.plan.site_of.get(&place.id).and_then(|sites| sites.0) else { return };
            let is_shown = slice.feeding.contains(&place.id)
                || slice.meeting.contains(&site)
                || slice.only_seen.contains(&place.id);
            // Two that wrap around at different times might come to where they would have been without.
            let Some(Stride::Known(stride)) = moving.address(place).filter(|_| is_shown) else { return };
            if stride != 0 && stride.abs() <= LONGEST_STRIDE && self.mentions(place, iv) == 1 {
                rows.push(Row { place: place.clone(), site: site.0, stride });
            }
        });
        rows
    }

    /// How often a place's address has a variable in it.
    fn mentions(&self, place: &Place, v: VarId) -> usize {
        let mut count = 0;
        let mut note = |e: &Expr| {
            count += usize::from(matches!(&e.kind, ExprKind::Load(p) if is_scalar(self.unit, p) == Some(v)));
        };
        nest::place_expressions(place, &mut note);
        count
    }
}
