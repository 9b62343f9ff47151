//! The static tables of a loop: what the runtime is told of it, once and for all. How an entry is made of the program's numbers is in
//! [`crate::codegen::recipe`].

use super::Emitter;
use crate::c::hir::PlaceId;
use crate::codegen::group::Group;
use crate::codegen::once;
use crate::codegen::stub::escape;
use crate::codegen::types::{self, literal};
use crate::loops::plan::*;
use std::collections::BTreeMap;
use std::fmt::Write;

/// What a loop has been generated, besides the worker.
#[derive(Clone, Copy)]
pub(super) struct Functions<'a> {
    pub(super) device: &'a str,
    /// What iterations have in common where a thread of the GPU runs several together.
    pub(super) group: Option<&'a Group>,
    /// Whether some inner loop is run some turns at once.
    pub(super) has_turns: bool,
    /// Whether the text asks which arrays nothing stores to.
    pub(super) asks_kept: bool,
    /// Whether several lanes may run an iteration together, of which one stores.
    pub(super) may_spread: bool,
    /// Whether they take turns of some inner loop side by side.
    pub(super) shares: bool,
    /// Whether an iteration stores to a location once at most, as far as the text tells.
    pub(super) stores: once::Stores,
    /// Whether it stores to several members of an element.
    pub(super) stores_members: bool,
    /// Whether there is a function for the threads device.
    pub(super) checked: bool,
    pub(super) inspection: Option<&'a Inspection>,
    /// What decides all addresses that aren't affine.
    pub(super) deciding: Option<&'a Inspection>,
}

impl Emitter<'_> {
    /// Static tables, the CUDA text, the loop's writable word. Of a loop that is distributed nothing runs but its parts.
    pub(super) fn facts(
        &self,
        report: &LoopReport,
        functions: Option<Functions>,
        threshold: i64,
        out: &mut String,
    ) -> String {
        let (n, plan) = (&self.n, self.plan);
        let mut on_threads = "0".to_string();
        if functions.is_some_and(|own| own.checked) {
            let exact = self.exact();
            on_threads = format!("__pg_device_{n}");
            let _ = writeln!(
                out,
                "static __attribute__((__unused__)) {exact}void __pg_device_{n}(const struct __pg_launch *__pg_l, __pg_u64 __pg_begin, \
             __pg_u64 __pg_end)\n{{\n  __pg_run_{n}(__pg_l, __pg_begin, __pg_end, 1);\n}}"
            );
        }
        let on_gpu = functions.filter(|own| !own.device.is_empty());
        let cuda = on_gpu.map(|own| self.cuda(own.device)).unwrap_or_default();
        let _ = writeln!(out, "static const char *const __pg_cuda_{n}[] = {{");
        let mut piece = String::new();
        for line in cuda.lines() {
            piece.push_str(line);
            piece.push('\n');
            if piece.len() > 1500 {
                let _ = writeln!(out, "\"{}\",", escape(&piece));
                piece.clear();
            }
        }
        let _ = writeln!(out, "\"{}\", 0}};", escape(&piece));
        let mut sites = String::new();
        let (inspection, deciding) = functions.map_or((None, None), |own| (own.inspection, own.deciding));
        let updates: BTreeMap<SiteId, &Update> = (plan.updates.iter())
            .flat_map(|(place, update)| {
                let site_of = |place: &PlaceId| plan.site_of.get(place).copied().unwrap_or_default();
                [site_of(&update.load).0, site_of(place).1]
                    .into_iter()
                    .flatten()
                    .map(move |site| (site, update))
            })
            .collect();
        let followed = inspection.or(deciding);
        for (number, site) in plan.sites.iter().enumerate() {
            let id = SiteId(number as u32);
            let mut flags = vec!["0"];
            let mut add = |on: bool, flag: &'static str| {
                if on {
                    flags.push(flag);
                }
            };
            add(site.is_store, "PG_SITE_STORE");
            add(site.logged, "PG_SITE_LOGGED");
            add(site.covered && !site.logged, "PG_SITE_COVERED");
            add(site.unconditional, "PG_SITE_UNCONDITIONAL");
            add(site.affine.as_ref().is_some_and(|a| a.exact), "PG_SITE_EXACT");
            add(site.loads_pointer, "PG_SITE_LOADS_POINTER");
            add(site.affine.is_some(), "PG_SITE_HAS_AFFINE");
            let window = site.window.as_ref().filter(|_| site.affine.is_none()).map(|window| &window.affine);
            add(window.is_some(), "PG_SITE_HAS_WINDOW");
            add(site.affine.as_ref().or(window).is_some_and(|a| a.whole_steps), "PG_SITE_WHOLE_STEPS");
            add(site.whole_elements, "PG_SITE_WHOLE_ELEMENTS");
            add(site.may_change_pin, "PG_SITE_MAY_CHANGE_PIN");
            add(site.may_touch_kept, "PG_SITE_MAY_TOUCH_KEPT");
            add(site.may_use_snapshot, "PG_SITE_SNAPSHOT");
            add(plan.privatization.bases.contains(&site.base), "PG_SITE_PRIVATE");
            let is_shown = |slice: &Inspection| slice.meeting.contains(&id) || slice.changing.contains(&id);
            add(inspection.is_some_and(is_shown), "PG_SITE_INSPECTED");
            let feeds = |slice: &Inspection| !site.is_store && slice.feeding.contains(&site.place);
            add(followed.is_some_and(feeds), "PG_SITE_FEEDS");
            let is_seen = |slice: &Inspection| slice.only_seen.contains(&site.place);
            add(inspection.is_some_and(is_seen), "PG_SITE_ONLY_SEEN");
            let update = updates.get(&id);
            add(update.is_some(), "PG_SITE_UPDATE");
            let update = update.map_or(String::new(), |Update { op, step, .. }| {
                format!(" | {} << PG_OPERATION_OF_SITE | {step} << PG_STEP_OF_SITE", types::operation(*op))
            });
            let slot = site.row.as_ref().map_or(0, |row| row.slot.0 + 1);
            let _ = write!(
                sites,
                "{{{}, {}, {}{update}, {}, {slot}}}, ",
                site.base.0,
                site.width,
                flags.join(" | "),
                site.span.line
            );
        }
        if !plan.sites.is_empty() {
            let _ = writeln!(out, "static const struct __pg_site __pg_sites_{n}[] = {{{sites}}};");
        }
        let separate = &plan.privatization.separate;
        let n_pairs = plan.pairs.len() + separate.len();
        if n_pairs != 0 {
            let mut pairs: String = plan
                .pairs
                .iter()
                .map(|p| {
                    let check = if p.check == Check::Logs { "PG_CHECK_LOGS" } else { "PG_CHECK_PREDICATE" };
                    let anti = if p.is_anti { " | PG_PAIR_ANTI" } else { "" };
                    let apart = if p.is_apart { " | PG_PAIR_APART" } else { "" };
                    format!("{{{}, {}, {check}{anti}{apart}}}, ", p.a.0, p.b.0)
                })
                .collect();
            for (a, b) in separate {
                let _ = write!(pairs, "{{{}, {}, PG_CHECK_PREDICATE | PG_PAIR_APART}}, ", a.0, b.0);
            }
            let _ = writeln!(out, "static const struct __pg_pair __pg_pairs_{n}[] = {{{pairs}}};");
        }
        if !self.results.is_empty() {
            let results: String = self
                .results
                .iter()
                .map(|r| {
                    let [op, how, with] = r.gives.facts();
                    format!("{{{op}, {}, {how}, {with}}}, ", r.kind.abi_type())
                })
                .collect();
            let _ = writeln!(out, "static const struct __pg_result __pg_results_{n}[] = {{{results}}};");
        }
        let table =
            |empty: bool, name: &str| if empty { "0".to_string() } else { format!("__pg_{name}_{n}") };
        let (verdict, check) = match (report.verdict, report.check) {
            (Verdict::Parallel, _) => ("PG_PARALLEL", "PG_CHECK_NONE"),
            (_, Check::Inspector) => ("PG_POSSIBLY_PARALLEL", "PG_CHECK_INSPECTOR"),
            (_, Check::Logs) => ("PG_POSSIBLY_PARALLEL", "PG_CHECK_LOGS"),
            _ => ("PG_POSSIBLY_PARALLEL", "PG_CHECK_PREDICATE"),
        };
        let inspect = if inspection.is_some() { format!("__pg_inspect_{n}") } else { "0".to_string() };
        let keys = match followed {
            Some(followed) => format!("__pg_keys_{n}, {}", self.keys(followed).len()),
            None => "0, 0".to_string(),
        };
        let mut flags = vec!["0"];
        if !plan.updates.is_empty() {
            flags.push("PG_LOOP_UPDATES");
        }
        if plan.may_abort {
            flags.push("PG_LOOP_MAY_ABORT");
        }
        if plan.may_trap {
            flags.push("PG_LOOP_MAY_TRAP");
        }
        if !plan.privatization.bases.is_empty() {
            flags.push("PG_LOOP_PRIVATIZED");
        } else if plan.cuda_exact {
            flags.push("PG_LOOP_CUDA_EXACT");
        }
        if plan.free_calls {
            flags.push("PG_LOOP_FREE_CALLS");
        }
        if plan.bases.iter().any(|b| matches!(b, Base::Dynamic)) {
            flags.push("PG_LOOP_DYNAMIC");
        }
        if plan.interchange.is_some() {
            flags.push("PG_LOOP_REORDERED");
        }
        if self.is_part {
            flags.push("PG_LOOP_PART");
        }
        if functions.is_some_and(|own| own.has_turns) {
            flags.push("PG_LOOP_TURNS");
        }
        if functions.is_some_and(|own| own.asks_kept) {
            flags.push("PG_LOOP_KEPT");
        }
        if functions.is_some_and(|own| own.may_spread) {
            flags.push("PG_LOOP_SPREADS");
        }
        if functions.is_some_and(|own| own.may_spread && own.shares) {
            flags.push("PG_LOOP_SIDE_BY_SIDE");
        }
        if deciding.is_some() {
            flags.push("PG_LOOP_SLICE_DECIDES");
            // A pointer of the loop's own may lead to any array.
            let has_bases = !plan.bases.iter().any(|b| matches!(b, Base::Dynamic));
            if inspection.is_some_and(|slice| slice.shows_all && has_bases) {
                flags.push("PG_LOOP_SHOWS_ALL");
            }
        }
        if functions.is_some_and(|own| own.stores != once::Stores::Often) {
            flags.push("PG_LOOP_STORES_ONCE");
        }
        if functions.is_some_and(|own| own.stores_members) {
            flags.push("PG_LOOP_MEMBERS");
        }
        if functions.is_some_and(|own| own.stores == once::Stores::Repeated) {
            flags.push("PG_LOOP_REPEATS");
        }
        if let Some(group) = functions.and_then(|own| own.group) {
            flags.push("PG_LOOP_GROUPS");
            if !group.loops.is_empty() {
                flags.push("PG_LOOP_COMMON_LOOPS");
            }
            if group.is_small {
                flags.push("PG_LOOP_SMALL");
            }
            if group.is_long {
                flags.push("PG_LOOP_LONG");
            }
            if group.is_direct {
                flags.push("PG_LOOP_DIRECT");
            }
        }
        if plan.has_long_loops {
            flags.push("PG_LOOP_LONG_LOOPS");
        }
        if plan.search.is_some() && !plan.keeps_something() {
            flags.push("PG_LOOP_ONLY_SEARCHED");
        }
        let (search, searched) = match &plan.search {
            Some(search) => {
                let sites = self.searched(search).len();
                (format!("__pg_search_{n}"), format!("{}, {sites}", table(sites == 0, "searched")))
            }
            None => ("0".to_string(), "0, 0".to_string()),
        };
        if self.doubt {
            flags.push("PG_LOOP_DOUBTED");
        }
        let _ = writeln!(
            out,
            "static const struct __pg_info __pg_info_{n} = {{PG_ABI_VERSION, {verdict}, {check}, {}, \"{}\", \"{}\", {}, {}, {}, \
             {}, {}, {}, {}, {}, {}u, {}, {}, {}, __pg_cuda_{n}, __pg_direct_{n}, {on_threads}, &__pg_recipe_{n}, {inspect}, {keys}, \
             {search}, {searched}}};",
            flags.join(" | "),
            escape(&report.file),
            escape(&report.function),
            report.line,
            plan.dims.len(),
            self.n_values(),
            self.results.len(),
            plan.bases.len(),
            plan.sites.len(),
            n_pairs,
            plan.pinned.len(),
            plan.work,
            table(plan.sites.is_empty(), "sites"),
            table(n_pairs == 0, "pairs"),
            table(self.results.is_empty(), "results"),
        );
        let _ = writeln!(
            out,
            "static struct __pg_loop __pg_loop_{n} = {{{}, &__pg_info_{n}, 0, 0}};",
            literal(threshold)
        );
        cuda
    }
}
