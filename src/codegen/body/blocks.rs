//! Loops that stand for calls of `memcpy` and `memset` ([`crate::loops::blocks`]): in place they are such calls again.

use super::{Printed, Printer, Purpose};
use crate::c::hir::*;
use crate::loops::blocks::{self, Block};
use crate::loops::plan::*;

/// The call that a dimension stands for, if it is the innermost of several ones; its induction variable has its first value then, and `count` is how many iterations it has.
pub fn dimension(
    unit: &TranslationUnit,
    plan: &LoopPlan,
    l: &LoopStmt,
    count: &str,
) -> Printed<Option<String>> {
    match blocks::block(l).filter(|_| plan.dims.len() > 1 && plan.interchange.is_none()) {
        Some(block) => Printer::new(unit, plan, Purpose::Iterations).call(&block, Some(count)),
        None => Ok(None),
    }
}

impl Printer<'_> {
    /// In front of a loop in the body, whose first clause is done: the call in its place, where the program's own memory is accessed.
    pub(super) fn block_call(&mut self, l: &LoopStmt, out: &mut String) -> Printed<()> {
        if matches!(self.purpose, Purpose::Iterations)
            && let Some(block) = blocks::block(l)
            && let Some(call) = self.call(&block, None)?
        {
            out.push_str(&format!("__PG_AS_ONE({call})\n"));
        }
        Ok(())
    }

    fn call(&mut self, block: &Block, count: Option<&str>) -> Printed<Option<String>> {
        let Some(width) = self.unit.types.size_of(block.to.ty.ty) else { return Ok(None) };
        let mut effects = String::new();
        let Some(to) = self.whole(block.to, true, &mut effects)? else { return Ok(None) };
        let count = match count {
            Some(count) => count.to_owned(),
            None => self.value(block.count, &mut effects)?,
        };
        let bytes = format!("(__pg_u64)({count}) * {width}u");
        let call = match block.from {
            Some(from) => {
                let Some(from) = self.whole(from, false, &mut effects)? else { return Ok(None) };
                format!(
                    "__builtin_memcpy((void *)(__pg_address)({to}), (const void *)(__pg_address)({from}), {bytes})"
                )
            }
            None => {
                let byte = match &block.value.kind {
                    _ if width == 1 => self.value(block.value, &mut effects)?,
                    // All bytes are alike; what isn't an integer is zero.
                    ExprKind::Int(value) => (value & 0xff).to_string(),
                    _ => "0".into(),
                };
                format!("__builtin_memset((void *)(__pg_address)({to}), {byte}, {bytes})")
            }
        };
        Ok(effects.is_empty().then_some(call))
    }

    /// Where the first element lies in the program's memory, or in what stands for it; `None`: in no memory of the program's.
    fn whole(&mut self, place: &Place, is_store: bool, effects: &mut String) -> Printed<Option<String>> {
        let sites = self.plan.site_of.get(&place.id);
        let id = sites.and_then(|(load, store)| if is_store { *store } else { *load });
        let Some(id) = id.filter(|_| self.own(place).is_none()) else { return Ok(None) };
        let site = &self.plan.sites[id.0 as usize];
        let address = self.address(place, effects)?;
        let is_moved =
            self.plan.privatization.bases.contains(&site.base) || (!is_store && site.may_use_snapshot);
        Ok(Some(match is_moved {
            true => format!("({address}) + __pg_s{}", site.base.0),
            false => address,
        }))
    }
}
