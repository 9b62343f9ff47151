//! The worker: a loop's iterations on the program's own memory, in the order of the source, some of them at a time. Threads run proven loops by
//! it too. Nothing is checked or logged in it.

use super::Emitter;
use super::results::{GOES_ON, Gives, ResultSlot};
use crate::codegen::body::{self, variable};
use crate::codegen::types::{Scalar, literal};
use crate::loops::plan::*;
use std::collections::BTreeSet;
use std::fmt::Write;

impl Emitter<'_> {
    /// The loop that is outermost in an interchanged nest, over the iterations that are asked for.
    pub(super) fn strip_head(&self) -> String {
        let (first, next) = (self.induction(0, "__pg_begin"), self.next_induction(0));
        format!("{first}for (__pg_k0 = __pg_begin; __pg_k0 < __pg_end; __pg_k0++{next}) {{\n")
    }

    /// The worker of an interchanged nest. It keeps the order of the source within the iterations that are asked for: rows of
    /// arrays are as near as they are there.
    pub(super) fn direct_in_strips(&self, strip: &body::Body) -> String {
        let mut text = self.direct_head();
        text.push_str(&self.prologue("__pg_e->values"));
        text.push_str("__pg_i64 __pg_k0 = 0;\n");
        text.push_str(&self.locals(strip, &|r, slot| Some(Self::unpack(r.kind, &format!("__pg_r[{slot}]")))));
        text.push_str("(void)__pg_r;\n");
        text.push_str(&strip.text);
        for (slot, r) in self.results.iter().enumerate() {
            let _ = writeln!(text, "{}", Self::pack(r.kind, &format!("__pg_r[{slot}]"), &r.name));
        }
        text.push_str("}\n");
        text
    }

    pub(super) fn direct_head(&self) -> String {
        format!(
            "static __attribute__((__unused__)) {}void __pg_direct_{}(const struct __pg_entry *__pg_e, __pg_value *__pg_r, \
             __pg_i64 __pg_begin, __pg_i64 __pg_end)\n{{\n",
            self.exact(),
            self.n
        )
    }

    /// The worker: source order on host memory.
    /// `block`: the call that the innermost dimension is.
    pub(super) fn direct(&self, body: &body::Body, block: Option<&str>) -> String {
        let mut text = self.direct_head();
        text.push_str(&self.prologue("__pg_e->values"));
        // Where a snapshot or a thread's own copy lies, as seen from the array; at the array itself where iterations run in source
        // order.
        let from_snapshot: BTreeSet<BaseId> =
            self.plan.sites.iter().filter(|site| site.may_use_snapshot).map(|site| site.base).collect();
        for base in from_snapshot.union(&self.plan.privatization.bases) {
            let _ = writeln!(text, "const __pg_u64 __pg_s{0} = __pg_e->bases[{0}].snapshot;", base.0);
        }
        let innermost = self.plan.dims.len() - 1;
        for dim in 0..=innermost {
            let _ = writeln!(text, "__pg_i64 __pg_k{dim} = 0;");
            if dim > 0 {
                let _ = writeln!(text, "const __pg_i64 __pg_n{dim} = __pg_e->trip[{dim}];");
            }
        }
        text.push_str(&self.locals(body, &|r, slot| Some(Self::unpack(r.kind, &format!("__pg_r[{slot}]")))));
        text.push_str(&self.lanes_in());
        text.push_str("(void)__pg_r;\n");
        // The body moves them on, iteration by iteration, or what stands for the head does. Then the compiler sees what it
        // would have seen in the loop, and has no more to do than there.
        text.push_str(&self.secondary("__pg_begin", |_| true));
        // From there on each iteration leaves to the next what it needs. Only a loop that is proven begins in the middle: where
        // it isn't, memory may have changed since the iteration before, and that has left the value.
        if !body.prelude.is_empty() {
            let first = self.induction(0, "__pg_begin");
            let begins = format!("if (!{GOES_ON} && __pg_begin < __pg_end)");
            let _ = writeln!(text, "{begins} {{\n{first}{}}}", body.prelude);
        }
        for dim in 0..=innermost {
            let (first, end) = match dim {
                0 => ("__pg_begin".to_string(), "__pg_end".to_string()),
                _ => ("0".to_string(), format!("__pg_n{dim}")),
            };
            let k = format!("__pg_k{dim}");
            text.push_str(&self.induction(dim, &first));
            if let Some(call) = block.filter(|_| dim == innermost) {
                let _ = writeln!(text, "if (__pg_n{dim} > 0) {{\n{call};");
                continue;
            }
            let next = format!("{k}++{}", self.next_induction(dim));
            if dim == innermost && self.accumulated().next().is_some() {
                // By the lanes of each group of iterations: the compiler can compute several at once.
                let _ = writeln!(
                    text,
                    "for ({k} = {first}; {k} < {end};) {{\n\
                     __pg_i64 __pg_lane = {k} % PG_LANES, __pg_stop = {k} - __pg_lane + PG_LANES;\n\
                     if (__pg_stop > {end}) __pg_stop = {end};\n\
                     for (; {k} < __pg_stop; {next}, __pg_lane++) {{"
                );
                for r in self.accumulated() {
                    let _ = writeln!(text, "{} = {}_in[__pg_lane];", r.name, r.name);
                }
            } else {
                let _ = writeln!(text, "for ({k} = {first}; {k} < {end}; {next}) {{");
            }
        }
        if self.results.iter().any(|r| r.gives == Gives::Setter) {
            text.push_str("__pg_now = (__pg_u64)__pg_k0 + 1;\n");
        }
        if block.is_none() {
            text.push_str(&body.text);
        }
        if self.accumulated().next().is_some() {
            for r in self.accumulated() {
                let _ = writeln!(text, "{}_in[__pg_lane] = {};", r.name, r.name);
            }
            if innermost > 0 {
                text.push_str("}\n");
            }
        }
        text.push_str(&"}\n".repeat(innermost));
        for (number, (v, step)) in self.secondary.iter().enumerate() {
            if self.moved_by_head.contains(v) {
                let step = match step {
                    Bound::Const(step) => literal(*step),
                    _ => format!("__pg_step{number}"),
                };
                let (name, kind) = (variable(*v), self.kind_of(*v).name());
                let _ = writeln!(text, "{name} = ({kind})((__pg_u64){name} + (__pg_u64){step});");
            }
        }
        if innermost == 0 && self.accumulated().next().is_some() {
            text.push_str("}\n");
        }
        text.push_str("}\n");
        for (slot, r) in self.results.iter().enumerate() {
            if !matches!(r.gives, Gives::Accumulation(_)) {
                let _ = writeln!(text, "{}", Self::pack(r.kind, &format!("__pg_r[{slot}]"), &r.name));
            }
        }
        text.push_str(&self.lanes_out());
        text.push_str("}\n");
        text
    }

    /// A variable of the function's own for each lane: the compiler knows that no address of the program's leads there.
    fn lanes_in(&self) -> String {
        let mut text = String::new();
        for r in self.accumulated() {
            let _ = writeln!(text, "{} {}_in[PG_LANES];", r.kind.name(), r.name);
        }
        self.for_lanes(&mut text, &|r, slot| {
            format!("{}_in[__pg_lane] = {};", r.name, Self::unpack(r.kind, slot))
        });
        text
    }

    fn lanes_out(&self) -> String {
        let mut text = String::new();
        self.for_lanes(&mut text, &|r, slot| match r.kind {
            // As one store: of two, compilers don't make vectors.
            Scalar::F32 => format!(
                "__pg_u32 __pg_bits;\n__builtin_memcpy(&__pg_bits, &{}_in[__pg_lane], 4);\n{slot}.__pg_u = __pg_bits;",
                r.name
            ),
            kind => Self::pack(kind, slot, &format!("{}_in[__pg_lane]", r.name)),
        });
        text
    }

    fn for_lanes(&self, text: &mut String, each: &dyn Fn(&ResultSlot, &str) -> String) {
        if self.accumulated().next().is_none() {
            return;
        }
        text.push_str("{\n__pg_i64 __pg_lane;\nfor (__pg_lane = 0; __pg_lane < PG_LANES; __pg_lane++) {\n");
        for (number, r) in self.accumulated().enumerate() {
            let slot = format!("__pg_r[{} + {number} * PG_LANES + __pg_lane]", self.results.len());
            let _ = writeln!(text, "{{\n{}\n}}", each(r, &slot));
        }
        text.push_str("}\n}\n");
    }
}
