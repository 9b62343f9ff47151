//! The device's text of one loop: how a thread finds its iterations, one by one, in groups, in tiles, or in parts, and the CUDA kernel
//! around it. What an iteration does is in [`body`](crate::codegen::body); what a launch is, in `device` of the runtime.

use super::{Emitter, Gives};
use crate::codegen::body::macros::{MACROS_CUDA, MACROS_DEVICE};
use crate::codegen::body::{self, variable};
use crate::codegen::group::Group;
use crate::codegen::types::{self, Scalar};
use crate::loops::plan::*;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

/// Which device a text is for.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Flavour {
    Threads,
    Cuda,
}

impl Emitter<'_> {
    /// The device's loop over merged iterations: `step` apart, so that the GPU strides by its grid. Where results are computed
    /// in parts, it is a loop over these.
    pub(super) fn device(&self, body: &body::Body, flavour: Flavour) -> String {
        let mut text = format!(
            "__PG_FN {}void __pg_run_{}(const struct __pg_launch *__pg_l __PG_TABLES, __pg_count __pg_begin, \
             __pg_count __pg_end, __pg_count __pg_step)\n{{\nstruct __pg_ctx __pg_c;\n",
            self.exact(),
            self.n
        );
        for (number, base) in self.plan.bases.iter().enumerate() {
            if !matches!(base, Base::Dynamic) {
                let _ = writeln!(text, "const struct __pg_view __pg_b{number} = __PG_VIEW({number});");
            }
        }
        text.push_str(&self.prologue("__PG_VALUES"));
        for dim in 0..self.plan.dims.len() {
            let _ = writeln!(text, "__pg_count __pg_k{dim} = 0;");
        }
        text.push_str(&self.locals(body, &|r, _| match (r.gives, r.kind) {
            (Gives::Reduction(op), Scalar::Int(kind)) => Some(types::identity(op, kind)),
            _ => None,
        }));
        text.push_str(
            "__pg_count __pg_j, __pg_k;\n__pg_c.launch = __pg_l;\n__pg_c.iteration = 0;\n__pg_c.left = 0;\n__pg_c.marked = 0;\n__pg_c.fail = 0;\n\
             __pg_c.writes = 0;\n__pg_c.ticks = 0;\n__PG_NOTE_NOTHING(__pg_c)\n",
        );
        if flavour == Flavour::Cuda && body.has_turns {
            // Shared memory of no bytes is none that a kernel may declare.
            let _ = writeln!(text, "constexpr int __pg_room_of_turn = {};", body.room.max(1));
        }
        let collects = flavour == Flavour::Cuda && !self.plan.updates.is_empty();
        if collects {
            text.push_str(&self.of_updated_bases("__pg_begin_collecting", "__pg_t"));
            text.push_str("__PG_ALL_HAVE_BEGUN\n");
        }
        match (&body.group, flavour) {
            (Some(group), Flavour::Cuda) => self.over_groups(body, group, &mut text),
            (_, Flavour::Cuda) => {
                text.push_str("__PG_ALONE\n");
                self.over(body, &mut text);
            }
            (_, Flavour::Threads) => self.over(body, &mut text),
        }
        for (slot, r) in self.results.iter().enumerate() {
            if let (Gives::Reduction(op), Scalar::Int(kind)) = (r.gives, r.kind) {
                let bits = if kind.signed() { "(__pg_u64)(__pg_i64)" } else { "(__pg_u64)" };
                let _ = writeln!(
                    text,
                    "__pg_combine(&__pg_l->results[{slot}], {}, {}, {bits}{});",
                    types::operation(op),
                    r.kind.abi_type(),
                    r.name
                );
            }
        }
        if collects {
            text.push_str("__PG_ALL_HAVE_COLLECTED\n");
            text.push_str(&self.of_updated_bases("__pg_hand_over", "__pg_t, __pg_c"));
        }
        text.push_str("__pg_end_thread(&__pg_c);\n}\n");
        text
    }

    /// A call for each base that updates go through: blocks may collect them (`kernel/collected.h`).
    fn of_updated_bases(&self, function: &str, arguments: &str) -> String {
        let mut calls: BTreeMap<BaseId, String> = BTreeMap::new();
        for (place, update) in &self.plan.updates {
            let Some(id) = self.plan.site_of.get(place).and_then(|sites| sites.1) else { continue };
            let site = &self.plan.sites[id.0 as usize];
            if !matches!(self.plan.bases[site.base.0 as usize], Base::Dynamic) {
                let (base, bits, op) = (site.base.0, site.width * 8, types::operation(update.op));
                calls
                    .entry(site.base)
                    .or_insert_with(|| format!("{function}<{op}, __pg_u{bits}, {base}>({arguments});\n"));
            }
        }
        calls.into_values().collect()
    }

    fn over(&self, body: &body::Body, text: &mut String) {
        match self.plan.has_parts() {
            true => self.over_parts(body, text),
            false => self.over_iterations(body, text),
        }
    }

    /// A kernel may have the iterations of two dimensions in threads of their own, whichever they are: whether its text knows how.
    fn is_tiled(&self) -> bool {
        self.plan.dims.len() >= 2 && self.results.is_empty()
    }

    /// Where a thread of a tile begins.
    fn tile_begin(&self, text: &mut String) {
        let dims = self.plan.dims.len();
        text.push_str("__pg_count __pg_q = blockIdx.z + __pg_l->first_layer;\n");
        for dim in (0..dims).rev() {
            let _ = writeln!(text, "__PG_TILE({dim}, __pg_k{dim}, {})", dims - 2);
        }
    }

    /// The same, and the number of that iteration; ends in the middle of an `if`.
    fn tile_head(&self, text: &mut String) {
        let dims = self.plan.dims.len();
        text.push_str("#ifdef __PG_TILE_X\n");
        self.tile_begin(text);
        let inside: Vec<String> = (0..dims).map(|dim| format!("__pg_k{dim} < __pg_l->trip[{dim}]")).collect();
        let merged = (1..dims).fold("__pg_k0".to_string(), |outer, dim| {
            format!("({outer} * (__pg_count)__pg_l->trip[{dim}] + __pg_k{dim})")
        });
        let _ = writeln!(text, "if ({}) do {{\n__pg_k = {merged};", inside.join(" && "));
    }

    /// Iteration `__pg_k` in its dimensions.
    fn taken_apart(&self, text: &mut String) {
        text.push_str("__pg_count __pg_q = __pg_k;\n");
        for dim in (1..self.plan.dims.len()).rev() {
            let _ = writeln!(
                text,
                "__pg_k{dim} = __pg_q;\n__pg_q = __PG_QUOTIENT({dim}, __pg_q);\n\
                 __pg_k{dim} -= __pg_q * (__pg_count)__pg_l->trip[{dim}];"
            );
        }
        text.push_str("__pg_k0 = __pg_q;\n");
    }

    fn over_iterations(&self, body: &body::Body, text: &mut String) {
        let is_tiled = self.is_tiled();
        if is_tiled {
            self.tile_head(text);
            text.push_str("#else\n");
        }
        text.push_str(
            "for (__pg_j = __pg_begin; __pg_j < __pg_end; __pg_j += __pg_step) {\n__pg_k = __PG_ITERATION(__pg_j);\n",
        );
        self.taken_apart(text);
        text.push_str(if is_tiled { "#endif\n" } else { "" });
        text.push_str("if (__pg_begin_iteration(&__pg_c, __pg_k)) break;\n");
        for dim in 0..self.plan.dims.len() {
            text.push_str(&self.induction(dim, &format!("__pg_k{dim}")));
        }
        self.iteration(body, text);
        text.push_str(if is_tiled { "}\n#ifdef __PG_TILE_X\nwhile (0);\n#endif\n" } else { "}\n" });
    }

    /// The same for a kernel whose threads may run several iterations together: the text stands in a function of the size of the
    /// group, because where the iterations end there is not always a whole one.
    fn over_groups(&self, body: &body::Body, group: &Group, text: &mut String) {
        let dims = self.plan.dims.len();
        let mut own: Vec<(String, String)> =
            body.locals.iter().map(|(ty, name)| (ty.to_string(), name.clone())).collect();
        own.extend(self.scalars_of_iterations());
        let common: BTreeSet<String> = group.variables.iter().map(|v| variable(*v)).collect();
        own.retain(|(_, name)| !common.contains(name));
        let list = |macro_name: &str| -> String {
            own.iter().map(|(ty, name)| format!("{macro_name}({ty}, {name})\n")).collect()
        };
        let _ = writeln!(text, "#define __PG_MEMBERS __PG_GUARD {}", list("__PG_MEMBER").replace('\n', " "));
        text.push_str("__pg_corner __pg_part = {0, 0};\nauto __pg_together = [&](auto __pg_size) __attribute__((always_inline)) {\n");
        text.push_str("__PG_IN_GROUP\n");
        text.push_str(&list("__PG_DECLARE_MEMBERS"));
        for dim in 0..dims {
            let _ = writeln!(text, "const __pg_count __pg_first_k{dim} = __pg_k{dim};");
        }
        text.push_str("__PG_EACH { __PG_MEMBERS\n");
        for dim in 0..dims {
            let _ = writeln!(
                text,
                "const __pg_count __pg_k{dim} = __PG_OF_WHOLE_GROUP({dim}, __pg_first_k{dim});"
            );
        }
        for dim in 0..dims {
            text.push_str(&self.induction(dim, &format!("__pg_k{dim}")));
        }
        text.push_str(&self.secondary("__pg_k0", |_| true));
        text.push_str("}\n");
        text.push_str(&body.text);
        text.push_str("};\n");
        let stages = self.is_tiled() && !group.loops.is_empty();
        if stages {
            // Logs that would ask for the iteration's number know no groups.
            text.push_str("#if defined(__PG_TILE_X) && __PG_ROWS * __PG_COLUMNS > 1\n");
            self.tile_begin(text);
            text.push_str("if (!__pg_begin_iteration(&__pg_c, 0)) {\n__PG_GROUPS_OF_BLOCK\n}\n#else\n");
        }
        if self.is_tiled() {
            self.tile_head(text);
            let begins = |dim: usize| format!("const __pg_count __pg_begin_k{dim} = __pg_k{dim};\n");
            let left: String = (0..dims)
                .map(|dim| format!(" && __PG_HAS_ALL({dim}, __pg_l->trip[{dim}] - __pg_k{dim})"))
                .collect();
            let _ = writeln!(
                text,
                "if (__pg_begin_iteration(&__pg_c, __pg_k)) break;\n\
                 if (1{left}) {{\n__pg_together(__pg_shape<__PG_ROWS, __PG_COLUMNS>());\nbreak;\n}}\n{}\
                 __PG_NOT_UNROLLED for (int __pg_y = 0; __pg_y < __PG_ROWS; __pg_y++)\n\
                 __PG_NOT_UNROLLED for (int __pg_x = 0; __pg_x < __PG_COLUMNS; __pg_x++) {{",
                (0..dims).map(begins).collect::<String>()
            );
            let mut inside = String::new();
            for dim in 0..dims {
                let _ = writeln!(text, "__pg_k{dim} = __PG_OF_GROUP({dim}, __pg_begin_k{dim});");
                let _ = write!(inside, " && __pg_k{dim} < __pg_l->trip[{dim}]");
            }
            let _ = writeln!(
                text,
                "if (1{inside})\n__pg_together(__pg_shape<1, 1>());\n}}\n}} while (0);\n#else"
            );
        }
        text.push_str("__pg_j = __pg_begin;\n");
        if dims > 1 && group.is_for_pairs {
            text.push_str(
                "__PG_PAIRS(__pg_j, __pg_end, __pg_step) {\nif (__pg_begin_iteration(&__pg_c, __pg_j)) goto __pg_over;\n\
                 __PG_EACH_OF_PAIR {\n__pg_k = __PG_OF_PAIR(__pg_j, __pg_step);\n",
            );
            self.taken_apart(text);
            text.push_str("__pg_together(__pg_shape<1, 1>());\n}\n}\n");
        }
        text.push_str("for (; __pg_j < __pg_end; __pg_j += __pg_step) {\n");
        if dims == 1 {
            text.push_str(
                "if (__PG_COLUMNS > 1 && __PG_HAS_ALL(0, __pg_end - __pg_j)) {\n__pg_k = __pg_k0 = __pg_j;\n\
                 if (__pg_begin_iteration(&__pg_c, __pg_k)) break;\n\
                 __pg_together(__pg_shape<1, __PG_COLUMNS>());\ncontinue;\n}\n",
            );
        }
        text.push_str(
            "__PG_NOT_UNROLLED for (int __pg_x = 0; __pg_x < __PG_COLUMNS; __pg_x++) {\nif (__pg_x != 0 && __pg_end - __pg_j <= __pg_x * __PG_WIDTH) break;\n\
             __pg_k = __PG_ITERATION(__pg_j + __pg_x * __PG_WIDTH);\n",
        );
        self.taken_apart(text);
        text.push_str(
            "if (__pg_begin_iteration(&__pg_c, __pg_k)) goto __pg_over;\n__pg_together(__pg_shape<1, 1>());\n}\n}\n\
             __pg_over:\n;\n",
        );
        text.push_str(if self.is_tiled() { "#endif\n" } else { "" });
        text.push_str(if stages { "#endif\n" } else { "" });
    }

    /// Each part is one lane of one block: see `speculation::parts` of the runtime.
    fn over_parts(&self, body: &body::Body, text: &mut String) {
        let in_parts = || self.results.iter().enumerate().filter(|(_, r)| r.gives.is_in_parts());
        let n = self.results.len();
        let innermost = self.plan.dims.len() - 1;
        text.push_str(
            "for (__pg_j = __pg_begin; __pg_j < __pg_end; __pg_j += __pg_step) {\n\
             const __pg_u64 __pg_lane = __pg_j % PG_LANES, __pg_block = __pg_j / PG_LANES * __pg_l->block;\n\
             const __pg_u64 __pg_left = __pg_block < __pg_l->trip[0] ? __pg_l->trip[0] - __pg_block : 0;\n\
             const __pg_u64 __pg_stop = __pg_block + (__pg_left < __pg_l->block ? __pg_left : __pg_l->block);\n",
        );
        let _ = writeln!(text, "__pg_value *const __pg_part = __pg_l->results + {n} * (1 + __pg_j);");
        for (slot, r) in in_parts() {
            let _ = writeln!(text, "{} = {};", r.name, Self::unpack(r.kind, &format!("__pg_part[{slot}]")));
        }
        let mut merged = "__pg_k0".to_string();
        for dim in 0..=innermost {
            let (lane, step) = if dim == innermost { ("__pg_lane", "PG_LANES") } else { ("0", "1") };
            let (first, end) = match dim {
                0 => (format!("__pg_block + {lane}"), "__pg_stop".to_string()),
                _ => (lane.to_string(), format!("__pg_l->trip[{dim}]")),
            };
            let _ =
                writeln!(text, "for (__pg_k{dim} = {first}; __pg_k{dim} < {end}; __pg_k{dim} += {step}) {{");
            text.push_str(&self.induction(dim, &format!("__pg_k{dim}")));
            if dim > 0 {
                merged = format!("({merged} * __pg_l->trip[{dim}] + __pg_k{dim})");
            }
        }
        let _ =
            writeln!(text, "__pg_k = {merged};\nif (__pg_begin_iteration(&__pg_c, __pg_k)) goto __pg_over;");
        if self.results.iter().any(|r| r.gives == Gives::Setter) {
            text.push_str("__pg_now = __pg_k + 1;\n");
        }
        self.iteration(body, text);
        text.push_str(&"}\n".repeat(innermost + 1));
        for (slot, r) in in_parts() {
            if matches!(r.kind, Scalar::F32 | Scalar::F64) && !matches!(r.gives, Gives::Extreme(..)) {
                let _ = writeln!(text, "if (__PG_IS_FOREIGN_NAN({})) __pg_c.fail |= PG_FAIL_NAN;", r.name);
            }
            // Lanes don't know what came before a NaN in others.
            if r.gives == Gives::Setter {
                let _ = writeln!(text, "if ({} & PG_TOOK_NAN) __pg_c.fail |= PG_FAIL_NAN;", r.name);
            }
            let _ = writeln!(text, "{}", Self::pack(r.kind, &format!("__pg_part[{slot}]"), &r.name));
        }
        text.push_str("}\n__pg_over:\n;\n");
    }

    /// One iteration on a device, after its induction variables.
    fn iteration(&self, body: &body::Body, text: &mut String) {
        text.push_str(&self.secondary("__pg_k0", |_| true));
        text.push_str(&body.prelude);
        text.push_str(&body.text);
        if self.results.iter().any(|r| r.gives == Gives::Last) {
            text.push_str("if (__pg_k == __pg_l->n - 1) {\n");
            for (slot, r) in self.results.iter().enumerate().filter(|(_, r)| r.gives == Gives::Last) {
                if matches!(r.kind, Scalar::F32 | Scalar::F64) {
                    let _ =
                        writeln!(text, "if (__PG_IS_FOREIGN_NAN({})) __pg_c.fail |= PG_FAIL_NAN;", r.name);
                }
                let _ =
                    writeln!(text, "{}", Self::pack(r.kind, &format!("__pg_l->results[{slot}]"), &r.name));
            }
            text.push_str("}\n");
        }
    }

    /// The whole text that is compiled for a GPU, around what [`Self::device`] makes.
    pub(super) fn cuda(&self, device: &str) -> String {
        let (values, bases) = (self.n_values().max(1), self.plan.bases.len().max(1));
        let n = &self.n;
        let slots = match self.plan.updates.is_empty() {
            true => String::new(),
            false => format!("struct __pg_collection slots[{bases}];\n"),
        };
        format!(
            "{MACROS_DEVICE}{MACROS_CUDA}struct __pg_tables {{\n__PG_MEMBERS_OF_TABLES({bases}, {values})\n{slots}}};\n\
             {device}__PG_KERNEL(__pg_run_{n})\n"
        )
    }
}
