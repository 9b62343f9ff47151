//! The function that finds the first iteration that leaves a loop: what decides that ([`crate::analysis::slice::ways_out`]), iteration by iteration, on
//! the program's own memory, which it doesn't change. The runtime has it look at some iterations at a time, on several threads.

use super::Emitter;
use crate::codegen::body;
use crate::loops::plan::*;
use std::fmt::Write;

impl Emitter<'_> {
    /// The function.
    pub(super) fn search(&self, slice: &body::Body) -> String {
        let mut text = format!(
            "static __attribute__((__unused__)) __pg_i64 __pg_search_{}(const struct __pg_entry *__pg_e, const volatile __pg_i64 *__pg_left, \
             __pg_i64 __pg_begin, __pg_i64 __pg_end)\n{{\n\
             const __pg_u32 __pg_counts = 0;\n__pg_u32 __pg_turns = 0, __pg_polls = 0;\n\
             (void)__pg_counts;\n(void)__pg_turns;\n(void)__pg_polls;\n(void)__pg_left;\n",
            self.n
        );
        text.push_str(&self.prologue("__pg_e->values"));
        for dim in 0..self.plan.dims.len() {
            let (_, end) = Self::span_of(dim);
            let _ = writeln!(text, "const __pg_i64 __pg_n{dim} = {end};\n__pg_i64 __pg_k{dim};");
        }
        text.push_str(&self.locals(slice, &|_, _| None));
        for dim in 0..self.plan.dims.len() {
            let (begin, _) = Self::span_of(dim);
            let _ =
                writeln!(text, "for (__pg_k{dim} = {begin}; __pg_k{dim} < __pg_n{dim}; __pg_k{dim}++) {{");
        }
        for dim in 0..self.plan.dims.len() {
            text.push_str(&self.induction(dim, &format!("__pg_k{dim}")));
        }
        text.push_str(&self.secondary("__pg_k0", |_| true));
        text.push_str(&slice.text);
        text.push_str(&"}\n".repeat(self.plan.dims.len()));
        text.push_str("return __pg_end;\n}\n");
        text
    }

    /// The sites of the loads that it makes.
    pub(super) fn searched(&self, search: &Inspection) -> Vec<u32> {
        let load = |place| self.plan.site_of.get(place).and_then(|sites| sites.0);
        search.feeding.iter().filter_map(load).map(|site| site.0).collect()
    }
}
