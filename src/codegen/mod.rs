//! From plans to text: what stands in front of each loop, and the helpers at the start of the unit.
//!
//! Whether iterations are independent is not decided here, only from how many on a loop may be entered. A plan that can't be
//! printed, or whose loop is never that long, is left out, and the loop stays as it stood. `docs/design.md` shows the form of
//! the result.

pub mod behind;
pub mod body;
pub mod echo;
pub mod edits;
pub mod group;
pub mod host;
pub mod once;
pub mod recipe;
pub mod stub;
#[path = "../../runtime/include/texts.rs"]
pub mod texts;
pub mod types;
pub mod worth;

pub use edits::{Edit, Generated, GoesOn};

use crate::c::hir::*;
use crate::loops::nest;
use crate::loops::options::CodegenOptions;
use crate::loops::plan::LoopReport;
use std::borrow::Cow;
use std::collections::BTreeMap;
use texts::{ABI, BODY};

/// Text for all loops that have plans.
pub fn generate(unit: &TranslationUnit, reports: &[LoopReport], options: &CodegenOptions) -> Generated {
    let mut generated = Generated::default();
    let Some(runtime) = &options.runtime else { return generated };
    let mut loops = String::new();
    let crowded_out = worth::crowded_out(unit, reports, options);
    let untouched = worth::untouched(unit, reports, options);
    let mut stays = BTreeMap::new();
    let (mut checked, mut keeps_order, mut has_parts, mut reads_early) = (false, false, false, false);
    for report in reports {
        let Some(plan) = &report.plan else { continue };
        if let Some(reason) = crowded_out.get(&plan.loop_id) {
            generated.left_out.push((plan.loop_id, reason.to_string()));
            continue;
        }
        if unit.bound_keywords.contains(&report.span.start) {
            let reason = "`#pragma GCC` in front of it has to be followed by the loop";
            generated.left_out.push((plan.loop_id, reason.to_string()));
            continue;
        }
        let mut plan = Cow::Borrowed(plan);
        if options.doubt {
            let plan = plan.to_mut();
            let parts = plan.parts.iter_mut().flat_map(|part| &mut part.plan.sites);
            plan.sites.iter_mut().chain(parts).for_each(|site| site.logged = true);
        }
        let function = &unit.functions[plan.function];
        if function.is_unused {
            // The compiler leaves it out, and a file without other loops for us compiles as it is.
            generated.left_out.push((plan.loop_id, "nothing in this file calls its function".to_owned()));
            continue;
        }
        let found = nest::loops(function).into_iter().find(|f| f.the_loop.id == plan.loop_id);
        let Some(found) = found else { continue };
        match host::loop_code(unit, report, &plan, found.the_loop, options) {
            Ok(code) => {
                loops.push_str(&code.helpers);
                checked |= code.checked;
                keeps_order |= plan.is_ordered();
                has_parts |= !plan.parts.is_empty();
                reads_early |=
                    !plan.early.is_empty() || plan.parts.iter().any(|part| !part.plan.early.is_empty());
                generated.kernels.extend(code.kernels.into_iter().map(|kernel| (report.line, kernel)));
                generated.edits.push(Edit::BeforeLoop {
                    loop_id: plan.loop_id,
                    text: code.guard.text,
                    wrap_braces: found.the_loop.unbraced_body || code.guard.goes_on.is_some(),
                    untouched_if: None,
                    goes_on: code.guard.goes_on,
                });
                stays.insert(plan.loop_id, code.guard.stays);
            }
            Err(reason) => generated.left_out.push((plan.loop_id, reason)),
        }
    }
    if generated.edits.is_empty() {
        return generated;
    }
    let plan_of =
        |id: LoopId| reports.iter().filter_map(|r| r.plan.as_deref()).find(|plan| plan.loop_id == id);
    for edit in &mut generated.edits {
        let Edit::BeforeLoop { loop_id, untouched_if, .. } = edit else { continue };
        let (Some(copy), Some(outer)) = (untouched.get(loop_id), plan_of(*loop_id)) else { continue };
        let guarded: Vec<_> = copy.inner.iter().filter(|id| stays.contains_key(id)).collect();
        // Without a guard inside there is nothing that the compiler can't see past.
        if !guarded.is_empty() {
            let inner = guarded.into_iter().filter_map(|id| plan_of(*id));
            *untouched_if = Some(host::stays_untouched(unit, outer, &stays[loop_id], copy.said, inner));
        }
    }
    let mut allocators: Vec<&str> = Vec::new();
    for call in &unit.allocations {
        if !allocators.contains(&call.name.as_str()) {
            allocators.push(&call.name);
        }
        generated
            .edits
            .push(Edit::ReplaceIdentifier { span: call.span, text: format!("__pg_{}", call.name) });
    }
    let needs = stub::Needs {
        runtime: &runtime.to_string_lossy(),
        records_all: options.threshold.is_some(),
        allocators: &allocators,
        keeps_order,
        has_parts,
        reads_early,
    };
    generated.prelude = format!(
        "{}{ABI}{BODY}{}{}{loops}",
        if checked { "" } else { "#define __PG_DIRECT_ONLY\n" },
        stub::stub(needs),
        behind::behind(options.describes_frames)
    );
    generated
}
