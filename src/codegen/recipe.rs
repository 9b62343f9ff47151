//! How an entry of a loop is made: the tables of `struct __pg_recipe` that the runtime computes it by, and the function that
//! hands over the numbers which only the program knows.
//!
//! All that can be a table is one, because each line of code in this function is compiled anew for each loop of each file.

use super::body::{Printer, Purpose, invariant, variable};
use super::host::{Emitter, Gives};
use super::types::{Scalar, identity, integer, limits, literal};
use crate::c::hir::*;
use crate::loops::nest;
use crate::loops::plan::*;
use crate::loops::scalars::{is_scalar, same, same_place};
use std::fmt::Write;

type Printed<T> = Result<T, String>;

/// A table's name in an initialiser, or a null pointer where it is empty.
fn name_or_null(name: &str, n: &str, rows: &str) -> String {
    if rows.is_empty() { "0".into() } else { format!("__pg_{name}_{n}") }
}

/// Whether evaluating an expression reads a place in memory.
fn reads(unit: &TranslationUnit, e: &Expr, place: &Place) -> bool {
    let mut found = false;
    nest::expressions(e, &mut |e| {
        found |= matches!(&e.kind, ExprKind::Load(p) if is_scalar(unit, p).is_none() && same_place(p, place));
    });
    found
}

impl Emitter<'_> {
    /// The tables.
    pub fn recipe(&self) -> Printed<String> {
        let (n, plan) = (&self.n[..], self.plan);
        let mut terms = Vec::new();
        let accesses = self.accesses(&mut terms);
        for assumption in &plan.assumptions {
            self.within(assumption, &mut terms);
        }
        let mut moved = String::new();
        for (number, (_, step)) in self.secondary.iter().enumerate() {
            let slot = self.secondary_slot(number);
            self.bound(step, &mut terms);
            terms.push(("NUMBER", slot as i64 + 1));
            let _ = write!(moved, "{slot}, ");
        }
        let dims = self.dims()?;
        let origins = plan.bases.iter().map(|base| self.origin(base)).collect::<Printed<String>>()?;
        let pins: String = plan
            .pinned
            .iter()
            .map(|pin| format!("{}{}, ", pin.width, if pin.is_kept { " | PG_PIN_KEPT" } else { "" }))
            .collect();
        let n_terms = terms.len();
        let terms: String =
            terms.iter().map(|(op, operand)| format!("{{PG_TERM_{op}, {}}}, ", literal(*operand))).collect();
        let mut text = String::new();
        let mut addresses = String::new();
        for (name, ty, rows) in [
            ("dims", "struct __pg_dim", &dims),
            ("origins", "struct __pg_origin", &origins),
            ("known", "struct __pg_access", &accesses),
            ("pins", "__pg_u32", &pins),
            ("terms", "struct __pg_term", &terms),
            ("moved", "__pg_u32", &moved),
        ] {
            let _ = write!(addresses, "{}, ", name_or_null(name, n, rows));
            if !rows.is_empty() {
                let _ = writeln!(text, "static const {ty} __pg_{name}_{n}[] = {{{rows}}};");
            }
        }
        let _ = writeln!(
            text,
            "static const struct __pg_recipe __pg_recipe_{n} = {{{addresses}{n_terms}, {}}};",
            self.secondary.len()
        );
        Ok(text)
    }

    fn dims(&self) -> Printed<String> {
        let mut rows = String::new();
        for (number, dim) in self.plan.dims.iter().enumerate() {
            let (kind, compare) = self.head_kinds(dim)?;
            let (mut low, high) = limits(kind);
            if !compare.signed() {
                // Compared as unsigned: the variable may never be negative.
                low = low.max(0);
            }
            let is_unsigned = !compare.signed() || kind.size() == 8 && !kind.signed();
            let relation = match dim.relation {
                Relation::Lt => "PG_LT",
                Relation::Le => "PG_LE",
                Relation::Gt => "PG_GT",
                Relation::Ge => "PG_GE",
                Relation::Ne => "PG_NE",
            };
            let _ = write!(
                rows,
                "{{{}, {relation}, {}, {}, {}, {}}}, ",
                self.first_slot(number),
                u32::from(is_unsigned),
                literal(dim.step),
                literal(low),
                literal(high)
            );
        }
        Ok(rows)
    }

    /// Types of a dimension's variable and of its comparison.
    fn head_kinds(&self, dim: &Dim) -> Printed<(IntKind, IntKind)> {
        let kind = dim.iv_kind.ok_or("a pointer induction variable")?;
        let compare = self.unit.types.as_int(dim.limit.ty.ty).ok_or("a limit that is no integer")?;
        Ok((kind, compare))
    }

    fn origin(&self, base: &Base) -> Printed<String> {
        let position = |list: &[VarId], v: &VarId| list.iter().position(|other| other == v);
        Ok(match base {
            Base::Object { var, size } => {
                let number = position(&self.objects, var).ok_or("an object without an address")?;
                format!("{{PG_FROM_OBJECT, {}, {size}u}}, ", self.object_slot(number))
            }
            Base::Pointer { var } => {
                let moved = self.secondary.iter().position(|(v, _)| v == var);
                let number = moved.map(|number| self.secondary_slot(number));
                let number =
                    number.or_else(|| position(&self.plan.live_ins, var)).ok_or("a base without a value")?;
                format!("{{PG_FROM_POINTER, {number}, 0}}, ")
            }
            Base::Invariant { value } => {
                format!("{{PG_FROM_POINTER, {}, 0}}, ", self.plan.live_ins.len() + value)
            }
            Base::Dynamic => "{PG_FROM_NOWHERE, 0, 0}, ".into(),
        })
    }

    fn object_slot(&self, number: usize) -> usize {
        self.plan.live_ins.len() + self.invariant_kinds.len() + number
    }

    /// Terms that push a bound.
    fn bound(&self, bound: &Bound, terms: &mut Vec<(&'static str, i64)>) {
        let mut both = |a: &Bound, b: &Bound, op| {
            self.bound(a, terms);
            self.bound(b, terms);
            terms.push((op, 0));
        };
        match bound {
            Bound::Const(value) => terms.push(("CONSTANT", *value)),
            Bound::Value(index) => {
                let wide = matches!(self.invariant_kinds.get(*index),
                    Some(super::types::Scalar::Int(kind)) if kind.size() == 8 && !kind.signed());
                let slot = (self.plan.live_ins.len() + index) as i64;
                terms.push((if wide { "UNSIGNED" } else { "SIGNED" }, slot));
            }
            Bound::Add(a, b) => both(a, b, "ADD"),
            Bound::Mul(a, b) => both(a, b, "MUL"),
            Bound::Min(a, b) => both(a, b, "MIN"),
            Bound::Max(a, b) => both(a, b, "MAX"),
        }
    }

    /// Where the sites' accesses go: rows of what is known, and terms of the rest.
    fn accesses(&self, terms: &mut Vec<(&'static str, i64)>) -> String {
        let mut rows = String::new();
        for (number, site) in self.plan.sites.iter().enumerate() {
            if let (None, Some(window)) = (&site.affine, &site.window) {
                rows.push_str(&self.window(number, window, terms));
                continue;
            }
            let mut field = |field: usize, value: &Bound| match value {
                Bound::Const(known) => literal(*known),
                other => {
                    self.bound(other, terms);
                    terms.push(("ACCESS", (8 * number + field) as i64));
                    "0".to_string()
                }
            };
            let Some(affine) = site.affine.as_ref().or(site.row.as_ref().map(|row| &row.offset)) else {
                rows.push_str("{{0}, 0, 0, 0, 0}, ");
                continue;
            };
            let mut strides = vec!["0".to_string(); MAX_DIMS];
            for (dim, stride) in affine.strides.iter().enumerate() {
                let stride = self.moved_by(stride, dim);
                strides[dim] = field(dim, &stride);
            }
            let (lo, hi) = (field(4, &affine.lo), field(5, &affine.hi));
            let (first, end) = match &affine.hull {
                Some((first, end)) => (field(6, first), field(7, end)),
                None => ("0".into(), "0".into()),
            };
            let _ = write!(rows, "{{{{{}}}, {lo}, {hi}, {first}, {end}}}, ", strides.join(", "));
        }
        rows
    }

    /// How far an iteration of a dimension moves what moves by `stride` for each unit of its distance.
    fn moved_by(&self, stride: &Bound, dim: usize) -> Bound {
        let step = Bound::Const(self.plan.dims[dim].distance);
        match (stride, &step) {
            (Bound::Const(a), Bound::Const(b)) => a.checked_mul(*b).map(Bound::Const),
            _ => None,
        }
        .unwrap_or_else(|| Bound::Mul(Box::new(stride.clone()), Box::new(step)))
    }

    /// The row of an access that has a window. What it is computed by, and what must hold for it, may fail without the entry: all of that
    /// comes before anything is stored.
    fn window(&self, number: usize, window: &Window, terms: &mut Vec<(&'static str, i64)>) -> String {
        let Affine { strides, lo, hi, hull, .. } = &window.affine;
        let mut fields: Vec<(usize, Bound)> =
            strides.iter().enumerate().map(|(dim, stride)| (dim, self.moved_by(stride, dim))).collect();
        fields.extend([(4, lo.clone()), (5, hi.clone())]);
        if let Some((first, end)) = hull {
            fields.extend([(6, first.clone()), (7, end.clone())]);
        }
        fields.retain(|(_, value)| *value != Bound::Const(0));
        let constants: Option<Vec<(usize, i64)>> = fields
            .iter()
            .map(|(field, value)| match value {
                Bound::Const(value) => Some((*field, *value)),
                _ => None,
            })
            .collect();
        let mut row = [0; 8];
        match constants.filter(|_| window.assumptions.is_empty()) {
            Some(constants) => constants.into_iter().for_each(|(field, value)| row[field] = value),
            None => {
                let mut own = Vec::new();
                for assumption in &window.assumptions {
                    self.within(assumption, &mut own);
                }
                fields.iter().for_each(|(_, value)| self.bound(value, &mut own));
                let stores = fields.iter().rev().map(|(field, _)| ("ACCESS", (8 * number + field) as i64));
                own.extend(stores);
                terms.push(("MAY_FAIL", own.len() as i64));
                terms.append(&mut own);
            }
        }
        let [a, b, c, d, lo, hi, first, end] = row.map(literal);
        format!("{{{{{a}, {b}, {c}, {d}}}, {lo}, {hi}, {first}, {end}}}, ")
    }

    /// Terms that refuse what an assumption excludes.
    fn within(&self, assumption: &Assumption, terms: &mut Vec<(&'static str, i64)>) {
        let (low, high) = limits(assumption.kind);
        self.bound(&assumption.lo, terms);
        terms.push(("AT_LEAST", low));
        self.bound(&assumption.hi, terms);
        terms.push(("AT_MOST", high));
    }

    /// The function that the guard calls.
    pub fn try_function(&self, out: &mut String) -> Printed<()> {
        let n = &self.n;
        let (kept, back) = (self.put_back(), self.give_back());
        let start = match kept.is_empty() && back.is_empty() {
            true => format!("return __pg_start(&__pg_loop_{n}, __pg_x);\n"),
            false => format!("if (!__pg_start(&__pg_loop_{n}, __pg_x)) return 0;\n{kept}{back}return 1;\n"),
        };
        self.trying(&start, out)
    }

    /// What the guard sets, which has room for nothing else: all other numbers lie in a frame that is there for as long as the runtime is asked. Programs that call
    /// themselves have the guard's frames as often as they do.
    fn give_back(&self) -> String {
        let slots = self.given_back().into_iter().enumerate();
        slots.map(|(number, (.., slot))| format!("__pg_r[{number}] = __pg_x[{slot}];\n")).collect()
    }

    fn trying(&self, then: &str, out: &mut String) -> Printed<()> {
        let n = &self.n;
        // The first number is the function's own: see `super::behind`.
        let room = (!self.given_back().is_empty()).then(|| ("__pg_value *".into(), "__pg_r".into()));
        let given = self.parameters().into_iter().map(|(ty, name, _)| (ty, name));
        let given: Vec<(String, String)> = room.into_iter().chain(given).collect();
        let mut numbers = String::new();
        let (mut parameters, mut handed_over) = (Vec::new(), String::new());
        for (number, (ty, name)) in given.iter().enumerate() {
            let slot = format!("&__pg_given[{}]", number + 1);
            let _ = writeln!(numbers, "{ty} {name}; __builtin_memcpy(&{name}, {slot}, sizeof {name});");
            let _ = writeln!(handed_over, "__builtin_memcpy({slot}, &{name}, sizeof {name});");
            parameters.push(format!("{ty} {name}"));
        }
        let _ = writeln!(numbers, "__pg_value __pg_x[{}];", self.n_numbers().max(1));
        let head = format!(
            "static __attribute__((__noinline__, __noclone__, __noipa__)) int __pg_behind_{n}(const __pg_value *__pg_given)"
        );
        self.gathering(&head, &numbers, then, out)?;
        if parameters.is_empty() {
            parameters.push("void".into());
        }
        let _ = writeln!(
            out,
            "__PG_TRY_FN int __pg_try_{n}({parameters})\n{{\n__pg_value __pg_given[{}];\n\
             {handed_over}return __pg_go(__pg_behind_{n}, __pg_given);\n}}",
            given.len() + 1,
            parameters = parameters.join(", "),
        );
        Ok(())
    }

    /// The same for a loop that is distributed: it hands over the numbers of all parts before anything runs.
    pub fn try_parts(&self, parts: &[Emitter], out: &mut String) -> Printed<()> {
        let own: Vec<String> = self.parameters().into_iter().map(|(_, name, _)| name).collect();
        let (mut start, mut numbers, mut loops) = (String::new(), String::new(), String::new());
        for part in parts {
            let n = &part.n;
            let given = part.parameters().into_iter().map(|(ty, name, _)| format!(", {ty} {name}"));
            let given: String = given.collect();
            let head = format!(
                "static __attribute__((__noinline__)) int __pg_numbers_{n}(__pg_value *__pg_x{given})"
            );
            part.gathering(&head, "", "return 1;\n", out)?;
            let mut arguments = String::new();
            for (_, name, _) in part.parameters() {
                if !own.contains(&name) {
                    return Err("a part that depends on more than the whole".into());
                }
                let _ = write!(arguments, ", {name}");
            }
            let _ = writeln!(start, "__pg_value __pg_x_{n}[{}];", part.n_numbers().max(1));
            let _ = writeln!(numbers, "if (!__pg_numbers_{n}(__pg_x_{n}{arguments})) return 0;");
            let _ = write!(loops, ", {{&__pg_loop_{n}, __pg_x_{n}}}");
        }
        let n = &self.n;
        let start = format!(
            "{start}{numbers}{{ const struct __pg_part __pg_all[] = {{{{&__pg_loop_{n}, __pg_x}}{loops}}};\n\
             if (!__pg_start_parts(__pg_all, {})) return 0; }}\n{}return 1;\n",
            parts.len() + 1,
            self.give_back()
        );
        self.trying(&start, out)
    }

    /// A function that gathers the numbers that only the program knows, and then does what is said. It is rarely entered, but not
    /// marked cold: where a trip count is constant the compiler would take the whole caller for cold, and optimise it for size.
    fn gathering(&self, head: &str, numbers: &str, then: &str, out: &mut String) -> Printed<()> {
        let (plan, unit) = (self.plan, self.unit);
        let _ = writeln!(out, "{head}\n{{\n{numbers}");
        let mut printer = Printer::new(unit, plan, Purpose::Entry);
        let mut effects = String::new();
        let after_results = self.n_values() + self.results.len();
        // Where one of them has no iteration, the program doesn't come to the loop that is outermost here.
        for over in plan.interchange.iter().flat_map(|interchange| &interchange.over) {
            let test = printer.value(&over.test, &mut effects)?;
            let _ = writeln!(out, "if (!({test})) return 0;");
        }
        for (number, dim) in plan.dims.iter().enumerate() {
            let (kind, compare) = self.head_kinds(dim)?;
            let first = printer.value(&dim.first, &mut effects)?;
            let limit = printer.value(&dim.limit, &mut effects)?;
            let relation = dim.relation.c_name();
            // The first test, before anything is read that the loop reads only after it.
            let _ = writeln!(
                out,
                "{{\nconst {kind} __pg_f = {first};\nconst {compare} __pg_m = {limit};\n\
                 if (!(({compare})__pg_f {relation} __pg_m)) return 0;\n{}\n{}\n}}",
                Self::pack_integer(kind, &format!("__pg_x[{}]", self.first_slot(number)), "__pg_f"),
                Self::pack_integer(compare, &format!("__pg_x[{}]", after_results + number), "__pg_m"),
                kind = integer(kind),
                compare = integer(compare),
            );
        }
        out.push_str("{\n");
        // What the first clause and the first test do, for all that is evaluated from here on.
        for start in self.needed_starts() {
            let value = printer.value(&start.value, &mut effects)?;
            let _ = writeln!(
                out,
                "{kind} {name} = ({kind})({value});",
                kind = self.kind_of(start.var).name(),
                name = variable(start.var)
            );
        }
        if let Some((v, by)) = plan.moved_by_test {
            let (kind, name) = (self.kind_of(v).name(), variable(v));
            let _ = writeln!(out, "{name} = ({kind})((__pg_u64){name} + (__pg_u64){});", literal(by));
        }
        self.where_it_is_there(&mut printer, &mut effects, out)?;
        for (number, (e, kind)) in plan.invariants.iter().zip(&self.invariant_kinds).enumerate() {
            let value = printer.value(e, &mut effects)?;
            let (ty, name) = (kind.name(), invariant(number));
            // Whoever follows it all the same gets the fault that reading it would have given.
            let _ = match plan.early.contains(&number) && *kind == Scalar::Address {
                true => writeln!(out, "const {ty} {name} = __pg_there{number} ? {value} : PG_NOWHERE;"),
                false => writeln!(out, "const {ty} {name} = {value};"),
            };
        }
        let live_ins = plan.live_ins.iter().map(|v| (self.kind_of(*v), variable(*v)));
        let invariants = self.invariant_kinds.iter().enumerate().map(|(n, kind)| (*kind, invariant(n)));
        for (slot, (kind, value)) in live_ins.chain(invariants).enumerate() {
            let _ = writeln!(out, "{}", Self::pack(kind, &format!("__pg_x[{slot}]"), &value));
        }
        for (number, v) in self.objects.iter().enumerate() {
            let _ = writeln!(out, "__pg_x[{}].__pg_u = __pg_o{};", self.object_slot(number), v.0);
        }
        for (number, (v, _)) in self.secondary.iter().enumerate() {
            let slot = format!("__pg_x[{}]", self.secondary_slot(number));
            let _ = writeln!(out, "{}", Self::pack(self.kind_of(*v), &slot, &variable(*v)));
        }
        for (number, r) in self.results.iter().enumerate() {
            let carried = &plan.prelude.variables;
            let goes_on = r.var.filter(|v| r.gives != Gives::Last || carried.contains(v));
            let value = match (r.kept, r.gives, r.kind) {
                // What the place holds matters after the loop only.
                (Some(_), Gives::Reduction(op), Scalar::Int(kind)) => identity(op, kind),
                (Some(_), Gives::Accumulation(ReductionOp::Mul), _) => "1.0".into(),
                (Some(_), Gives::Accumulation(_), _) => "-0.0".into(),
                (Some(number), Gives::Extreme(..), _) => {
                    let place = &plan.kept[number].place;
                    let ty = QualType { ty: place.ty.ty, quals: Quals::default() };
                    let kind = ExprKind::Load(place.clone());
                    printer.value(&Expr { kind, ty, span: place.span }, &mut effects)?
                }
                (_, Gives::GoesOn, _) => "1".into(),
                _ => goes_on.map_or_else(|| "0".into(), variable),
            };
            let slot = format!("__pg_x[{}]", self.n_values() + number);
            let _ = writeln!(out, "{}", Self::pack(r.kind, &slot, &value));
        }
        for (number, pin) in plan.pinned.iter().enumerate() {
            let address = printer.value(&pin.address, &mut effects)?;
            let slot = after_results + plan.dims.len() + number;
            let _ = match self.led_to_by(&pin.address) {
                Some(number) => {
                    writeln!(out, "__pg_x[{slot}].__pg_u = __pg_there{number} ? {address} : PG_NOWHERE;")
                }
                None => writeln!(out, "__pg_x[{slot}].__pg_u = {address};"),
            };
        }
        if !effects.is_empty() {
            return Err("a side effect in a bound".into());
        }
        let _ = writeln!(out, "{then}}}\n}}");
        Ok(())
    }

    /// Asks for the memory of what is read early ([`LoopPlan::early`]): the loop may never read it, and then nothing may be there. Numbers that can't be read leave the
    /// loop as it stands. Of an address that can't be read it isn't known whether anybody wants it (`if (p) a[i] += p->x[i]`).
    fn where_it_is_there(
        &self,
        printer: &mut Printer,
        effects: &mut String,
        out: &mut String,
    ) -> Printed<()> {
        let (plan, unit) = (self.plan, self.unit);
        if plan.early.is_empty() {
            return Ok(());
        }
        out.push_str("__pg_u64 __pg_known_page = ~(__pg_u64)0;\n");
        for number in &plan.early {
            let e = &plan.invariants[*number];
            let mut reads = Vec::new();
            nest::expressions(e, &mut |e| {
                if let ExprKind::Load(place) = &e.kind
                    && is_scalar(unit, place).is_none()
                {
                    reads.push(place);
                }
            });
            // What leads to a place comes first.
            reads.reverse();
            let mut asked = Vec::new();
            for place in reads {
                let address = Expr { kind: ExprKind::AddressOf(place.clone()), ty: e.ty, span: place.span };
                let width = unit.types.size_of(place.ty.ty).ok_or("a place without a size")?;
                let at = printer.value(&address, effects)?;
                let is_there = format!("__pg_is_there(&__pg_known_page, {at}, {width})");
                asked.push(match self.read_in_any_case(place) {
                    Some(near) => {
                        let near = printer.value(near, effects)?;
                        format!("(__pg_known_page = {near} >> 12, {is_there})")
                    }
                    None => is_there,
                });
            }
            let asked = asked.join(" && ");
            let _ = match self.invariant_kinds[*number] {
                Scalar::Address => writeln!(out, "const int __pg_there{number} = {asked};"),
                _ => writeln!(out, "if (!({asked})) return 0;"),
            };
        }
        Ok(())
    }

    /// The address of what the loop reads in any case behind the pointer that leads to a place: mostly another member of the same struct, in the same page.
    fn read_in_any_case(&self, place: &Place) -> Option<&Expr> {
        fn pointer(mut place: &Place) -> Option<&Expr> {
            loop {
                match &place.kind {
                    PlaceKind::Field { base, .. } => place = base,
                    PlaceKind::Deref(pointer) => return Some(pointer),
                    _ => return None,
                }
            }
        }
        let (plan, unit) = (self.plan, self.unit);
        let wanted = pointer(place)?;
        let is_early =
            |place: &Place| plan.early.iter().any(|number| reads(unit, &plan.invariants[*number], place));
        let is_near = |pin: &&Pinned| match &pin.address.kind {
            ExprKind::AddressOf(read) if !pin.is_kept => {
                pointer(read).is_some_and(|pointer| same(pointer, wanted)) && !is_early(read)
            }
            _ => false,
        };
        plan.pinned.iter().find(is_near).map(|pin| &pin.address)
    }

    /// Where the address of something pinned is itself read behind a pointer that may lead nowhere: the address among what is read early whose memory is only there if that
    /// can be read.
    fn led_to_by(&self, address: &Expr) -> Option<usize> {
        let (plan, unit) = (self.plan, self.unit);
        let ExprKind::AddressOf(place) = &address.kind else { return None };
        let mut is_read = false;
        nest::place_expressions(place, &mut |e| {
            is_read |= matches!(&e.kind, ExprKind::Load(p) if is_scalar(unit, p).is_none());
        });
        let is_itself = |number: &usize| matches!(&plan.invariants[*number].kind, ExprKind::Load(whole) if same_place(whole, place));
        let leads_there = |number: &usize| {
            is_read
                && self.invariant_kinds[*number] == Scalar::Address
                && reads(unit, &plan.invariants[*number], place)
        };
        let found: Vec<usize> = plan.early.iter().copied().filter(leads_there).collect();
        found.iter().copied().find(is_itself).or_else(|| found.first().copied())
    }

    /// After the loop: what it kept in variables goes back to memory, where it has changed anything. The loop would not have
    /// touched the place otherwise.
    fn put_back(&self) -> String {
        let mut text = String::new();
        let pins = self.n_values() + self.results.len() + self.plan.dims.len();
        let slot = |number: usize| format!("__pg_x[{}]", self.n_values() + number);
        let mut setter = String::new();
        for (number, r) in self.results.iter().enumerate() {
            if let Gives::Extreme(..) = r.gives {
                setter = format!("{}.__pg_u != 0", slot(number + 1));
            }
            let Some(kept) = r.kept else { continue };
            let (name, suffix) = (r.kind.name(), r.kind.suffix());
            let address = format!("__pg_x[{}].__pg_u", pins + self.plan.kept[kept].pin);
            let new = Self::unpack(r.kind, &slot(number));
            let (condition, value) = match (r.gives, r.kind) {
                (Gives::Reduction(op), Scalar::Int(kind)) => {
                    let changed = format!("__pg_p != {}", identity(op, kind));
                    let sign = match op {
                        ReductionOp::Add => "+",
                        ReductionOp::Mul => "*",
                        ReductionOp::And => "&",
                        ReductionOp::Or => "|",
                        ReductionOp::Xor => "^",
                        ReductionOp::Min | ReductionOp::Max => {
                            let sign = if op == ReductionOp::Min { "<" } else { ">" };
                            let better = format!("{changed} && __pg_p {sign} __pg_get_{suffix}({address})");
                            let _ = writeln!(
                                text,
                                "{{ const {name} __pg_p = {new}; if ({better}) __pg_set_{suffix}({address}, __pg_p); }}"
                            );
                            continue;
                        }
                    };
                    (
                        changed,
                        format!("({name})((__pg_u64)__pg_get_{suffix}({address}) {sign} (__pg_u64)__pg_p)"),
                    )
                }
                // Adding the identity changes nothing, and comparing would take zeros of either sign for it.
                (Gives::Accumulation(op), _) => {
                    let (sign, bits) = if op == ReductionOp::Mul { ("*", "1.0") } else { ("+", "-0.0") };
                    let own = "sizeof __pg_p";
                    let changed = format!(
                        "__extension__ ({{ const {name} __pg_z = {bits}; __builtin_memcmp(&__pg_p, &__pg_z, {own}); }})"
                    );
                    (changed, format!("__pg_get_{suffix}({address}) {sign} __pg_p"))
                }
                _ => (setter.clone(), "__pg_p".to_string()),
            };
            let _ = writeln!(
                text,
                "{{ const {name} __pg_p = {new}; if ({condition}) __pg_set_{suffix}({address}, {value}); }}"
            );
        }
        text
    }
}
