//! Windows against what an interpreter of the typed tree comes to. It executes a loop as a device may that speculates: integers wrap
//! around, and what is loaded is anything that the type of the load holds.

use super::*;
use crate::compile::judged;
use std::collections::HashMap;

const TEXT: &str = "static int clamp(int value, int low, int high) { return value < low ? low : value > high ? high : value; }\n\
    static int inside(int value, int low, int high) { if (value < low) return low; if (value > high) return high; return value; }\n";

/// A loop over `i`, of `n` iterations, with parameters of all kinds; `a` is where windows are looked for.
fn program(body: &str) -> String {
    TEXT.to_owned()
        + "enum { PARTS = 7 };\nvoid f(int n, int m, int s, unsigned u, unsigned long z, const int *t, const unsigned char *b, \
            const short *h, const _Bool *o, const double *a, double *restrict out)\n{\nfor (int i = 0; i < n; i++) { "
        + body
        + " }\n}\n"
}

/// The next of numbers that follow from each other.
fn next(state: &mut u64) -> u64 {
    *state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
    *state
}

struct Machine<'a> {
    unit: &'a TranslationUnit,
    plan: &'a LoopPlan,
    vars: HashMap<VarId, i128>,
    /// Places that are read once, in front of the loop.
    fixed: HashMap<PlaceId, i128>,
    state: u64,
    /// Places of memory that were accessed, and by the dimensions' variables where.
    found: Vec<(PlaceId, Vec<i128>, i128)>,
    turns: usize,
}

/// A window with an entry's numbers: strides, its ends, and what all iterations stay in.
type Numbers = (Vec<i64>, i64, i64, Option<(i64, i64)>);

enum End {
    Normal,
    Break,
    Continue,
}

fn wrapped(value: i128, kind: IntKind) -> i128 {
    let bits = 8 * kind.size() as u32;
    let low = value & ((1 << bits) - 1);
    if kind.signed() && low >> (bits - 1) != 0 { low - (1 << bits) } else { low }
}

impl Machine<'_> {
    fn random(&mut self) -> u64 {
        let number = next(&mut self.state);
        number >> 11 ^ number << 23
    }
    /// Anything, small numbers and ends of types more often.
    fn any(&mut self, kind: IntKind) -> i128 {
        let kind = if kind == IntKind::Bool { IntKind::UChar } else { kind };
        let value = self.random();
        let small = i128::from(value >> 8 & 15) - 4;
        let (least, most) = ranges::limits(kind);
        match value & 7 {
            0..=2 => wrapped(small, kind),
            3 => most - small.clamp(0, 3),
            4 => least + small.clamp(0, 3),
            5 => wrapped(i128::from(value >> 20 & 1023), kind),
            _ => wrapped(i128::from(value), kind),
        }
    }
    fn kind(&self, e: &Expr) -> Option<IntKind> {
        let types = &self.unit.types;
        types.as_int(e.ty.ty).or_else(|| types.pointee(e.ty.ty).map(|_| IntKind::ULong))
    }
    fn counters(&self) -> Vec<i128> {
        self.plan.dims.iter().map(|dim| self.vars.get(&dim.iv).copied().unwrap_or_default()).collect()
    }
    fn address(&mut self, place: &Place) -> i128 {
        match &place.kind {
            PlaceKind::Deref(e) => self.value(e),
            PlaceKind::Field { base, offset, .. } => self.address(base) + i128::from(*offset),
            PlaceKind::Var(v) => i128::from(v.0) << 40,
            PlaceKind::Opaque(what) => panic!("{what}"),
        }
    }
    fn access(&mut self, place: &Place) {
        let address = self.address(place);
        let counters = self.counters();
        self.found.push((place.id, counters, address));
    }
    fn load(&mut self, place: &Place, e: &Expr) -> i128 {
        let kind = self.kind(e);
        if let Some(v) = is_scalar(self.unit, place) {
            if !self.vars.contains_key(&v) {
                let value = kind.map_or(0, |kind| self.any(kind));
                self.vars.insert(v, value);
            }
            return self.vars[&v];
        }
        self.access(place);
        match self.fixed.get(&place.id) {
            Some(value) => *value,
            None => kind.map_or(0, |kind| self.any(kind)),
        }
    }
    fn store(&mut self, place: &Place, value: i128) {
        match is_scalar(self.unit, place) {
            Some(v) => drop(self.vars.insert(v, value)),
            None => self.access(place),
        }
    }
    fn value(&mut self, e: &Expr) -> i128 {
        use BinOp::*;
        let kind = self.kind(e);
        let fit = |value: i128| kind.map_or(0, |kind| wrapped(value, kind));
        match &e.kind {
            ExprKind::Int(value) => *value,
            ExprKind::Float(_) => 0,
            ExprKind::Load(place) => self.load(place, e),
            ExprKind::AddressOf(place) => self.address(place),
            ExprKind::Cast(inner) => {
                let value = self.value(inner);
                match (kind, self.kind(inner)) {
                    (Some(kind), None) => self.any(kind),
                    (Some(IntKind::Bool), _) => i128::from(value != 0),
                    _ => fit(value),
                }
            }
            ExprKind::Unary(op, a) => {
                let a = self.value(a);
                match op {
                    UnOp::Neg => fit(-a),
                    UnOp::BitNot => fit(!a),
                    UnOp::Not => i128::from(a == 0),
                }
            }
            ExprKind::Binary(op, a, b) => {
                let bits = 8 * kind.map_or(8, IntKind::size) as u32;
                let (a, b) = (self.value(a), self.value(b));
                match op {
                    Add => fit(a + b),
                    Sub => fit(a - b),
                    Mul => fit(a.wrapping_mul(b)),
                    // A device that gives up goes on with any number, but the same one wherever it computes the same.
                    Div | Rem if b == 0 => fit(a.wrapping_mul(1_000_003) ^ 0x5555_5555),
                    Div => fit(a / b),
                    Rem => fit(a % b),
                    And => a & b,
                    Or => a | b,
                    Xor => a ^ b,
                    Shl => fit(a << (b & i128::from(bits - 1))),
                    Shr => a >> (b & i128::from(bits - 1)),
                    Lt => (a < b).into(),
                    Le => (a <= b).into(),
                    Gt => (a > b).into(),
                    Ge => (a >= b).into(),
                    Eq => (a == b).into(),
                    Ne => (a != b).into(),
                }
            }
            ExprKind::PtrAdd { pointer, index, stride } => {
                let (pointer, index) = (self.value(pointer), self.value(index));
                wrapped(pointer + index * i128::from(*stride), IntKind::Long)
            }
            ExprKind::Conditional(c, a, b) => {
                if self.value(c) != 0 {
                    self.value(a)
                } else {
                    self.value(b)
                }
            }
            ExprKind::LogicalAnd(a, b) => i128::from(self.value(a) != 0 && self.value(b) != 0),
            ExprKind::LogicalOr(a, b) => i128::from(self.value(a) != 0 || self.value(b) != 0),
            ExprKind::Comma(a, b) => {
                self.value(a);
                self.value(b)
            }
            ExprKind::Assign(place, value) => {
                let value = self.value(value);
                self.store(place, value);
                value
            }
            ExprKind::AssignOp { op, place, value, compute } => {
                let new = updated_value(place, *op, value, *compute);
                let new = self.value(&new);
                self.store(place, new);
                new
            }
            ExprKind::PtrAssign { place, index, stride } => {
                let (old, index) = (self.load(place, e), self.value(index));
                let new = old + index * i128::from(*stride);
                self.store(place, new);
                new
            }
            ExprKind::IncDec { place, amount, post } => {
                let old = self.load(place, e);
                let new = fit(old + i128::from(*amount));
                self.store(place, new);
                if *post { old } else { new }
            }
            other => panic!("{other:?}"),
        }
    }
    fn statement(&mut self, s: &Stmt) -> End {
        match &s.kind {
            StmtKind::Expr(e) => drop(self.value(e)),
            StmtKind::Declare { var, init: Some(Init::Scalar(e)) } => {
                let value = self.value(e);
                self.vars.insert(*var, value);
            }
            StmtKind::Declare { var, .. } => drop(self.vars.remove(var)),
            StmtKind::Block(list) => {
                for s in list {
                    match self.statement(s) {
                        End::Normal => {}
                        end => return end,
                    }
                }
            }
            StmtKind::If { cond, then, otherwise } => {
                let holds = self.value(cond) != 0;
                match (holds, otherwise) {
                    (true, _) => return self.statement(then),
                    (false, Some(otherwise)) => return self.statement(otherwise),
                    _ => {}
                }
            }
            StmtKind::Loop(l) => self.repeat(l),
            StmtKind::Break => return End::Break,
            StmtKind::Continue => return End::Continue,
            StmtKind::Empty | StmtKind::Declaration => {}
            other => panic!("{other:?}"),
        }
        End::Normal
    }
    fn repeat(&mut self, l: &LoopStmt) {
        for s in &l.init {
            self.statement(s);
        }
        while l.cond.as_ref().is_none_or(|cond| self.value(cond) != 0) {
            self.turns += 1;
            if matches!(self.statement(&l.body), End::Break) || self.turns > 4000 {
                break;
            }
            if let Some(step) = &l.step {
                self.value(step);
            }
        }
    }
    fn bound(&self, bound: &Bound, entry: &[i128]) -> Option<i64> {
        let both = |a: &Bound, b: &Bound| Some((self.bound(a, entry)?, self.bound(b, entry)?));
        Some(match bound {
            Bound::Const(value) => *value,
            Bound::Value(index) => i64::try_from(entry[*index]).ok()?,
            Bound::Add(a, b) => both(a, b).and_then(|(a, b)| a.checked_add(b))?,
            Bound::Mul(a, b) => both(a, b).and_then(|(a, b)| a.checked_mul(b))?,
            Bound::Min(a, b) => both(a, b).map(|(a, b)| a.min(b))?,
            Bound::Max(a, b) => both(a, b).map(|(a, b)| a.max(b))?,
        })
    }
    fn holds(&self, assumption: &Assumption, entry: &[i128]) -> bool {
        let (least, most) = crate::codegen::types::limits(assumption.kind);
        let ends = self.bound(&assumption.lo, entry).zip(self.bound(&assumption.hi, entry));
        ends.is_some_and(|(lo, hi)| lo >= least && hi <= most)
    }
}

/// Where the windows of accesses to `a` are, in elements, and how often accesses were compared with them.
struct Seen {
    windows: Vec<Option<(i64, i64)>>,
    compared: usize,
}

/// Executes the loop once, from these numbers.
fn run(body: &str, numbers: &[(&str, i128)], seed: u64) -> Option<Seen> {
    let text = program(body);
    let options = AnalysisOptions { strict_aliasing: true, ..AnalysisOptions::default() };
    let (unit, reports) = judged(&text, &options);
    let report = reports.iter().find(|report| report.function == "f")?;
    let plan = report.plan.as_deref()?;
    let function = &unit.functions[plan.function];
    let the_loop = nest::loops(function).into_iter().find(|l| l.the_loop.id == plan.loop_id)?.the_loop;
    let named = |name: &str| {
        let is_it = |v: &&VarId| unit.var(**v).name == name;
        *function.params.iter().find(is_it).unwrap_or_else(|| panic!("{name}"))
    };
    let mut vars: HashMap<VarId, i128> = HashMap::new();
    for (place, name) in ["t", "b", "h", "o", "a", "out"].iter().enumerate() {
        vars.insert(named(name), (place as i128 + 1) << 44);
    }
    vars.extend(numbers.iter().map(|(name, value)| (named(name), *value)));
    let mut machine = Machine {
        unit: &unit,
        plan,
        vars: vars.clone(),
        fixed: HashMap::new(),
        state: seed,
        found: Vec::new(),
        turns: 0,
    };
    for s in &the_loop.init {
        machine.statement(s);
    }
    let entry: Vec<i128> = plan.invariants.iter().map(|e| machine.value(e)).collect();
    let firsts: Vec<i128> = plan.dims.iter().map(|dim| machine.value(&dim.first)).collect();
    machine.vars = vars;
    machine.fixed = plan.invariant_places.iter().map(|(place, index)| (*place, entry[*index])).collect();
    machine.found.clear();
    if !plan.assumptions.iter().all(|assumption| machine.holds(assumption, &entry)) {
        return Some(Seen { windows: Vec::new(), compared: 0 });
    }
    machine.repeat(the_loop);
    let found = std::mem::take(&mut machine.found);
    let mut compared = 0;
    let mut windows = Vec::new();
    let known: Vec<Option<Numbers>> = plan
        .sites
        .iter()
        .map(|site| {
            let window = site.window.as_ref()?;
            assert!(site.affine.is_none() && !window.affine.exact);
            let of = |bound: &Bound| machine.bound(bound, &entry);
            let is_known = window.assumptions.iter().all(|need| machine.holds(need, &entry));
            let strides: Option<Vec<i64>> = window.affine.strides.iter().map(of).collect();
            let hull = match &window.affine.hull {
                Some((first, end)) => Some((of(first)?, of(end)?)),
                None => None,
            };
            let (strides, lo, hi) = (strides?, of(&window.affine.lo)?, of(&window.affine.hi)?);
            (is_known && lo < hi).then_some((strides, lo, hi, hull))
        })
        .collect();
    for (site, known) in plan.sites.iter().zip(&known) {
        if let Base::Pointer { var } = &plan.bases[site.base.0 as usize]
            && *var == named("a")
        {
            windows.push(
                known
                    .as_ref()
                    .map(|(_, lo, hi, hull)| hull.unwrap_or((*lo, *hi)))
                    .map(|(lo, hi)| (lo.div_euclid(8), hi.div_euclid(8) - 1)),
            );
        }
        let Some((strides, lo, hi, hull)) = known else { continue };
        let pointer = match &plan.bases[site.base.0 as usize] {
            Base::Pointer { var } => machine.vars[var],
            Base::Object { var, .. } => i128::from(var.0) << 40,
            _ => continue,
        };
        for (_, counters, address) in found.iter().filter(|(place, ..)| *place == site.place) {
            compared += 1;
            let moved: i128 = strides
                .iter()
                .zip(counters.iter().zip(&firsts))
                .map(|(stride, (now, first))| i128::from(*stride) * (now - first))
                .sum();
            let away = address - pointer;
            let width = i128::from(site.width);
            assert!(
                away - moved >= i128::from(*lo) && away - moved + width <= i128::from(*hi),
                "{body}\n{numbers:?}: {counters:?} goes to {away}, beyond {lo}..{hi} + {moved}"
            );
            if let Some((first, end)) = hull {
                assert!(
                    away >= i128::from(*first) && away + width <= i128::from(*end),
                    "{body}\n{numbers:?}: {counters:?} goes to {away}, beyond all of {first}..{end}"
                );
            }
        }
    }
    Some(Seen { windows, compared })
}

const SOME: [(&str, i128); 5] = [("n", 40), ("m", 13), ("s", 3), ("u", 100), ("z", 9)];

/// The window of the only access to `a`.
fn window(body: &str, numbers: &[(&str, i128)]) -> Option<(i64, i64)> {
    let seen = run(body, numbers, 7).unwrap_or_else(|| panic!("no code for {body}"));
    match seen.windows[..] {
        [] => None,
        [first, ..] => first,
    }
}

fn of(subscript: &str) -> Option<(i64, i64)> {
    window(&format!("out[i] = a[{subscript}];"), &SOME)
}

#[test]
fn conditional_expressions() {
    for subscript in [
        "t[i] < 0 ? 0 : 12",
        "clamp(i - 2, 0, m - 1)",
        "clamp(i + 5, 0, m - 1)",
        "inside(i - 2, 0, m - 1)",
        "inside(t[i], 0, m - 1)",
        "clamp(t[i], 0, m - 1)",
        "i - 2 < 0 ? 0 : i - 2 >= m ? m - 1 : i - 2",
        "i - 2 > m - 1 ? m - 1 : 0 > i - 2 ? 0 : i - 2",
        "!(i - 2 >= 0) ? 0 : i - 2 <= m - 1 ? i - 2 : m - 1",
        "i - 2 >= 0 && i - 2 < m ? i - 2 : 0",
        "i - 2 < 0 || m <= i - 2 ? m - 1 : i - 2",
        "(unsigned)(i - 2) < (unsigned)m ? i - 2 : 0",
        "(unsigned)(i - 2) < 13u ? i - 2 : 0",
        "(size_t)(long)(i - 2) < (size_t)m ? i - 2 : 0",
        "i % 13",
    ]
    .map(|subscript| subscript.replace("size_t", "unsigned long"))
    {
        assert_eq!(of(&subscript), Some((0, 12)), "{subscript}");
    }
    assert_eq!(of("clamp(i, 3, 6)"), Some((3, 6)));
    assert_eq!(of("clamp(i, s, m)"), Some((3, 13)));
    assert_eq!(of("i == 5 ? i : 7"), Some((5, 7)));
    assert_eq!(of("i != 5 ? 7 : i"), Some((5, 7)));
    // Which of two numbers is larger isn't known, or nothing is known at all.
    assert_eq!(window("out[i] = a[clamp(i, 0, m - 1)];", &[("n", 9), ("m", 0)]), Some((-1, 0)));
    assert_eq!(window("out[i] = a[clamp(i, 0, m - 1)];", &[("n", 9), ("m", -7)]), Some((-8, 0)));
    assert_eq!(window("out[i] = a[clamp(i, 0, m - 1)];", &[("n", 9), ("m", -(1 << 31))]), None);
    assert_eq!(of("t[i] < 0 ? 0 : t[i]"), None);
    assert_eq!(of("t[i] > 0 ? t[i] : 0"), None);
    // Memory may hold something else the next time.
    assert_eq!(of("t[i] < 0 ? 0 : t[i] > 12 ? 12 : t[i]"), None);
}

#[test]
fn statements() {
    for body in [
        "int k = t[i]; if (k < 0) k = 0; if (k > 12) k = 12; out[i] = a[k];",
        "int k = t[i]; if (k > 12) k = 12; if (k < 0) k = 0; out[i] = a[k];",
        "int k = t[i]; if (k > m - 1) k = m - 1; if (k < 0) k = 0; out[i] = a[k];",
        "int k = t[i]; k = k < 0 ? 0 : k; k = k > m - 1 ? m - 1 : k; out[i] = a[k];",
        "int k = t[i]; if (k < 0) k = 0; else if (k >= m) k = m - 1; out[i] = a[k];",
        "int k = t[i]; if (k >= 0 && k < m) out[i] = a[k];",
        "int k = t[i]; if (k < 0 || k >= m) continue; out[i] = a[k];",
        "int k = t[i]; if (k >= 0 && k <= 12) out[i] = a[k];",
        "int k = t[i]; if (!(0 > k || k > m - 1)) out[i] = a[k];",
        "int k = t[i]; out[i] = k > -1 && 13 > k ? a[k] : 1;",
        "int k = t[i]; if (k < 0) continue; if (k >= m) continue; out[i] = a[k];",
        "int k = t[i]; out[i] = k >= 0 && k < m ? a[k] : 1;",
        "int k = t[i]; out[i] = k >= 0 && k < m && a[k] > 0;",
        "int k = t[i]; out[i] = k < 0 || k >= m || a[k] > 0;",
        "unsigned k = t[i]; k &= 15; k -= k > 12 ? 4 : 0; k %= 13; out[i] = a[k];",
        "int k; if (t[i] > 3) k = 0; else k = 12; out[i] = a[k];",
        "int k, l; k = l = b[i] % 13; out[i] = a[k] + a[l];",
        "int k = t[i] & 3; out[i] = a[k = k * 4];",
        "int k = t[i] & 3, l; l = k = k * 4; out[i] = a[l];",
        "int k = t[i] & 3; const double *p = a + (k = k * 4); out[i] = *p;",
        "double sum = 0; for (int j = -1; j <= 1; j++) { int k = i + j; if (k < 0) k = 0; if (k >= m) k = m - 1; sum += a[k]; } out[i] = sum;",
        "double sum = 0; for (int j = -1; j <= 1; j++) { if (i + j < 0 || i + j >= m) continue; sum += a[i + j]; } out[i] = sum;",
        "double sum = 0; for (int j = 0; j < s; j++) { const double *p = a + clamp(i, 0, 8); sum += p[j * 2 & 4]; } out[i] = sum;",
    ] {
        // Some are affine besides.
        let seen = window(body, &SOME);
        assert!(seen == Some((0, 12)) || body.contains("i + j < 0"), "{body}: {seen:?}");
    }
    for body in [
        "int k = t[i]; if (k < 0) k = 0; if (k > 12) k = 12; k = t[i]; out[i] = a[k];",
        "int k = t[i] & 7; for (int j = 0; j < s; j++) k += t[j]; out[i] = a[k];",
        "int k = t[i] & 7; for (int j = 0; j < s; j++) { out[i] = a[k]; k += t[j]; }",
        "int k = 5; if (t[i]) k = t[i + 1]; out[i] = a[k];",
        "int k = t[i], c = 0; for (int j = 0; j < s; j++) { if (k < 0 || k > 12) break; c += j; } out[i] = a[k] + c;",
        "int k = t[i], c = 0; for (int j = 0; j < s; j++) { if (k < 0 || k > 12) continue; c += j; } out[i] = a[k] + c;",
        "int k = t[i], c = 0; for (int j = 0; j < s; j++) { if (k < 0) k = 0; if (k > 12) k = 12; c += j; } out[i] = a[k] + c;",
        "int k = t[i], c = 0; for (int j = 0; j < s; j++) c += k >= 0 && k <= 12; out[i] = a[k] + c;",
        "int k = t[i], c = 0; if (t[i + 1]) { if (k < 0 || k > 12) continue; c = 1; } out[i] = a[k] + c;",
        "int k = t[i]; if (k < 0) { } if (k > 12) k = 12; out[i] = a[k];",
        "int k = t[i], l = t[i + 1]; if (k >= 0 && k < m) { k = l; out[i] = a[k]; }",
        "int k = t[i]; if (k < 0 || k >= m) out[i + 1] = 3; out[i] = a[k];",
        "int k = t[i]; (void)((k >= 0 && k < m) || (k = t[i + 1])); out[i] = a[k];",
        // A loop is left, or a turn, because it doesn't hold.
        "int k = t[i]; double sum = 0; for (int j = 0; j < s; j++) { if (k < 0 || k >= m) break; sum += t[j]; } out[i] = sum + a[k];",
        "int k = t[i]; double sum = 0; for (int j = 0; j < s; sum += a[k], j++) { if (k < 0 || k >= m) continue; sum += t[j]; } out[i] = sum;",
        "int k = t[i]; double sum = 0; for (int j = 0; j < s; j++) { if (k < 0 || k >= m) { sum = 1; break; } sum += t[j]; } out[i] = sum + a[k];",
    ] {
        assert_eq!(window(body, &SOME), None, "{body}");
    }
}

#[test]
fn operations() {
    for (subscript, lo, hi) in [
        ("t[i] & 15", 0, 15),
        ("15 & t[i]", 0, 15),
        ("t[i] & s", 0, 3),
        ("t[i] & (m - 1)", 0, 12),
        ("(unsigned)t[i] & u", 0, 100),
        ("(unsigned)t[i] % u", 0, 99),
        ("(unsigned)t[i] % 7", 0, 6),
        ("(unsigned)t[i] % (unsigned)m", 0, 12),
        ("(unsigned long)t[i] % z", 0, 8),
        ("t[i] % 7", -6, 6),
        ("t[i] % m", -12, 12),
        ("i % m", 0, 12),
        ("(unsigned)t[i] >> 28", 0, 15),
        ("t[i] >> 28", -8, 7),
        ("b[i]", 0, 255),
        ("b[i] >> 4", 0, 15),
        ("b[i] / 10", 0, 25),
        ("b[i] * 2 + 1", 1, 511),
        ("b[i] - 3", -3, 252),
        ("3 - b[i]", -252, 3),
        ("-b[i]", -255, 0),
        ("~b[i]", -256, -1),
        ("(b[i] & 7) * (b[i] & 3)", 0, 21),
        ("(b[i] - 3) * (b[i] - 250)", -63000, 1260),
        ("(b[i] & 12) | (b[i] & 3)", 0, 15),
        ("b[i] ^ 1", 0, 255),
        ("(b[i] & 7) << 2", 0, 28),
        ("b[i] << 1 | 1", 0, 511),
        ("h[i]", -32768, 32767),
        ("(unsigned short)h[i]", 0, 65535),
        ("(unsigned char)t[i]", 0, 255),
        ("(signed char)t[i]", -128, 127),
        ("t[i] > 3", 0, 1),
        ("!t[i]", 0, 1),
        ("t[i] && h[i]", 0, 1),
        ("(_Bool)t[i]", 0, 1),
        ("(t[i] & 3) * m + (h[i] & 7)", 0, 46),
        ("(b[i] & 7) * z", 0, 63),
        ("PARTS - 1 - (t[i] & 3)", 3, 6),
        // Of memory, a device may load other truth values than the program.
        ("o[i]", 0, 255),
    ] {
        assert_eq!(of(subscript), Some((lo, hi)), "{subscript}");
    }
    for subscript in [
        "t[i]",
        "t[i] & -2",
        "t[i] & ~u",
        "t[i] % (s - 3)",
        "(unsigned)t[i] % (u - 100)",
        "t[i] + (b[i] & 3)",
        "(unsigned)(b[i] & 7) - 7u",
        "(unsigned)(b[i] & 7) - 7u + 7u",
        "(unsigned)t[i] / u",
        "t[i] * 2",
        "(unsigned)t[i] * 2654435761u",
        "(b[i] + 2147483647) & -1",
        "b[i] * 16843009",
    ] {
        assert_eq!(of(subscript), None, "{subscript}");
    }
}

#[test]
fn strides_stay() {
    let body = "out[i] = a[i * 16 + (t[i] & 15)];";
    assert_eq!(window(body, &[("n", 10)]), Some((0, 15)));
    run(body, &[("n", 10)], 1).unwrap();
    // More rows than there are columns, and rows that shrink.
    for body in [
        "for (int j = 0; j < m; j++) out[i * m + j] = a[i * 16 + (t[j] & 15)];",
        "double sum = 0; for (int j = i; j < n; j++) sum += a[j * m + (t[j] & 3)]; out[i] = sum;",
        "double sum = 0; for (int j = 0; j < m; j++, sum += a[j + (t[i] & 3)]); out[i] = sum;",
        "double sum = 0; for (int j = 0; j < m; sum += a[j + (t[i] & 3)], j++); out[i] = sum;",
        "double sum = 0; int j; for (j = 0; j < m; j++) sum += a[j + (t[i] & 3)]; out[i] = sum + a[j + (t[i] & 3)];",
        "double sum = 0; int j = 0; while (j < m) { sum += a[j + (t[i] & 3)]; j++; sum += a[j * 2 + (t[i] & 3)]; } out[i] = sum;",
        "double sum = 0; int j = m; do { sum += a[j + (t[i] & 3)]; } while (--j > 0); out[i] = sum;",
        "double sum = 0; int j = m; while (j-- > 0) sum += a[j + (t[i] & 3)]; out[i] = sum;",
        "double sum = 0; int j = 0; while (j < m && a[j + (t[i] & 3)] > 0) j++; out[i] = j;",
        "double sum = 0; for (int j = 0; j < i; j++) sum += a[clamp(j - 1, 0, i)]; out[i] = sum;",
        "double sum = 0; for (int j = 0; j < m; j++) sum += a[clamp(j * s - i, 0, n - 1) * s + clamp(j, s, m)]; out[i] = sum;",
    ] {
        for n in [0, 1, 2, 30] {
            for m in [0, 1, 7] {
                run(body, &[("n", n), ("m", m), ("s", 3)], 3).unwrap();
            }
        }
    }
}

/// Where numbers are so large that something would wrap around, there is no window, or it is still right.
#[test]
fn numbers_at_the_ends_of_their_types() {
    let ends = [
        i32::MIN.into(),
        i128::from(i32::MIN) + 1,
        -1,
        0,
        1,
        2,
        1 << 16,
        i128::from(i32::MAX) - 1,
        i32::MAX.into(),
    ];
    let wide = [0, 1, 5, 1 << 31, 1 << 32, (1 << 63) - 1, 1 << 63, u64::MAX.into()];
    let mut compared = 0;
    for body in [
        "out[i] = a[clamp(i + s, 0, m - 1)];",
        "out[i] = a[clamp(t[i], s, m + 1)];",
        "out[i] = a[inside(t[i], s - 1, m) * s];",
        "out[i] = a[(long)clamp(t[i], 0, m - 1) * s + clamp(h[i], s, m)];",
        "out[i] = a[t[i] & (m - 1)];",
        "out[i] = a[(unsigned)t[i] % (u - 1)];",
        "out[i] = a[t[i] % m];",
        "out[i] = a[s > 3 ? (unsigned)t[i] % u : 9u];",
        "out[i] = a[s > 3 ? t[i] % m : 9];",
        "out[i] = a[(i + s) % m];",
        "out[i] = a[(unsigned)clamp(t[i], s, m) * u];",
        "out[i] = a[clamp(t[i], 0, m - 1) * z];",
        "out[i] = a[(b[i] & 7) * z + z];",
        "out[i] = a[(unsigned)t[i] < u ? t[i] : 0];",
        "out[i] = a[(unsigned long)(long)t[i] < z ? t[i] : 0];",
        "int k = t[i]; if (k > m) k = m; if (k < s) k = s; out[i] = a[k - 1];",
        "unsigned k = t[i]; if (k < u) out[i] = a[k];",
        "unsigned k = t[i]; if (k >= u - 1u) continue; out[i] = a[k + 1];",
        "unsigned long k = t[i]; if (k < z - 1) out[i] = a[(int)k];",
        "long k = t[i]; if (k > m - 1) k = m - 1; if (k <= s) k = s + 1; out[i] = a[k * s];",
    ] {
        for (number, m) in ends.into_iter().enumerate() {
            for (other, s) in ends.into_iter().enumerate() {
                let (u, z) = (m.rem_euclid(1 << 32), wide[(number + other) % wide.len()]);
                let numbers = [("n", 12), ("m", m), ("s", s), ("u", u), ("z", z)];
                compared += run(body, &numbers, (number * 31 + other) as u64).map_or(0, |seen| seen.compared);
            }
        }
    }
    assert!(compared > 3000, "{compared}");
}

/// Programs that somebody makes up.
struct Maker {
    state: u64,
    variables: usize,
    pointers: usize,
    in_turns: bool,
}

impl Maker {
    fn below(&mut self, bound: u64) -> u64 {
        (next(&mut self.state) >> 33) % bound
    }
    fn one<'a>(&mut self, list: &[&'a str]) -> &'a str {
        list[self.below(list.len() as u64) as usize]
    }
    fn atom(&mut self) -> String {
        match self.below(14) {
            0 | 1 => "i".into(),
            2 if self.in_turns => "j".into(),
            3 => self.one(&["n", "m", "s"]).into(),
            4 => self.one(&["u", "z"]).into(),
            5 => format!("b[{}]", self.one(&["i", "3"])),
            6 => format!("h[{}]", self.one(&["i", "i + 1"])),
            7 => "t[i]".into(),
            8 => self.one(&["0", "1", "-1", "2147483647", "7u", "255", "1l"]).into(),
            9..=11 if self.variables > 0 => format!("k{}", self.below(self.variables as u64)),
            _ => format!("{}", self.below(20)),
        }
    }
    fn number(&mut self, deep: u64) -> String {
        if deep == 0 {
            return self.atom();
        }
        let (x, y) = (self.number(deep - 1), self.number(deep - 1));
        match self.below(26) {
            0 | 1 => format!("({x} + {y})"),
            2 => format!("({x} - {y})"),
            3 => format!("({x} * {y})"),
            4 | 5 => format!("({x} & {y})"),
            6 => format!("({x} & {})", self.one(&["7", "15", "255", "m", "~3", "u"])),
            7 => format!("({x} {} {y})", self.one(&["|", "^"])),
            8 => format!("({x} % {})", self.one(&["7", "m", "u", "8u", "z", "-5"])),
            9 => format!("({x} / {})", self.one(&["3", "2u", "-2"])),
            10 => format!("({x} >> {})", self.one(&["1", "4", "28", "s"])),
            11 => format!("({x} << {})", self.one(&["1", "3"])),
            12 => format!("({}{x})", self.one(&["-", "~", "!"])),
            13 => format!("({x} < {y} ? {x} : {y})"),
            14 => format!("({x} > {y} ? {x} : {y})"),
            15 => format!("({} ? {x} : {y})", self.condition()),
            16 => {
                let (low, high) = (self.atom(), self.atom());
                format!("({x} < {low} ? {low} : {x} > {high} ? {high} : {x})")
            }
            17 => {
                let (low, high) = (self.atom(), self.atom());
                format!("{}({x}, {low}, {high})", self.one(&["clamp", "inside"]))
            }
            18 => format!("clamp({x}, 0, {} - 1)", self.one(&["n", "m", "s"])),
            19..=22 => format!(
                "({}){x}",
                self.one(&[
                    "unsigned char",
                    "signed char",
                    "short",
                    "unsigned short",
                    "int",
                    "unsigned",
                    "long",
                    "unsigned long",
                    "_Bool"
                ])
            ),
            23 => format!("({x} {} {y})", self.one(&["<", "==", "&&", ">="])),
            _ => x,
        }
    }
    fn condition(&mut self) -> String {
        let (x, y) = (self.number(1), self.atom());
        let one = format!("{x} {} {y}", self.one(&["<", "<=", ">", ">=", "==", "!="]));
        match self.below(6) {
            0 => format!("!({one})"),
            1 => {
                let (z, w) = (self.atom(), self.atom());
                format!("({one}) {} ({z} {} {w})", self.one(&["&&", "||"]), self.one(&["<", ">=", ">"]))
            }
            2 => format!("(unsigned){x} < (unsigned){y}"),
            _ => one,
        }
    }
    fn access(&mut self) -> String {
        let deep = 1 + self.below(2);
        let subscript = self.number(deep);
        let a = match self.pointers as u64 {
            0 => "a".into(),
            pointers => match self.below(pointers + 1) {
                0 => "a".into(),
                other => format!("p{}", other - 1),
            },
        };
        let m = if self.below(2) == 0 {
            format!("{a}[{subscript}]")
        } else {
            format!("{a}[({subscript}) & 1023]")
        };
        match self.below(3) {
            0 => format!("out[i] = {m};"),
            1 => format!("out[i] = {} ? {m} : 1;", self.condition()),
            _ => format!("if ({}) out[i] = {m};", self.condition()),
        }
    }
    /// Statements whose variables nobody knows behind them.
    fn block(&mut self) -> String {
        let known = (self.variables, self.pointers);
        let text = self.statements(0);
        (self.variables, self.pointers) = known;
        text
    }
    fn statements(&mut self, deep: u64) -> String {
        let mut text = String::new();
        for _ in 0..2 + self.below(3) {
            let (value, v) = (self.number(2), self.variables.max(1) as u64);
            let v = self.below(v);
            let p = self.below(self.pointers.max(1) as u64);
            let statement = match self.below(15) {
                0..=2 => {
                    let ty = self.one(&[
                        "int",
                        "unsigned",
                        "unsigned char",
                        "short",
                        "long",
                        "unsigned long",
                        "_Bool",
                    ]);
                    self.variables += 1;
                    format!("{ty} k{} = {value};", self.variables - 1)
                }
                3 if self.variables > 0 => match self.below(4) {
                    0 => {
                        self.variables += 1;
                        let ty = self.one(&["int", "unsigned char", "long"]);
                        format!("{ty} k{} = (k{v} = {value});", self.variables - 1)
                    }
                    _ => format!("k{v} = {value};"),
                },
                4 if self.variables > 0 => format!("if ({}) k{v} = {value};", self.condition()),
                5 if self.variables > 0 => {
                    format!("k{v} {} {value};", self.one(&["+=", "&=", "-=", ">>=", "^=", "*="]))
                }
                6 if deep > 0 => {
                    let outer = std::mem::replace(&mut self.in_turns, true);
                    let head = self.one(&[
                        "j = 0; j < m; j++",
                        "j = -2; j <= 2; j++",
                        "j = 0; j < i; j++",
                        "j = 5; j > 0; j--",
                    ]);
                    let text = format!("for (int {head}) {{ {} }}", self.block());
                    self.in_turns = outer;
                    text
                }
                7 if self.variables > 0 => {
                    format!("if ({}) {{ {} }}", self.condition(), self.block())
                }
                9 => {
                    self.pointers += 1;
                    format!("const double *p{} = a + ({value});", self.pointers - 1)
                }
                10 if self.pointers > 0 => match self.below(5) {
                    0 => format!("p{p}++;"),
                    1 => format!("p{p} += {value};"),
                    2 => format!("if ({}) p{p} = a + ({value});", self.condition()),
                    3 => format!("p{p} = p{} + (({value}) & 15);", self.below(self.pointers as u64)),
                    _ => format!("p{p} = {} ? a : a + 9;", self.condition()),
                },
                11 if self.variables > 0 => format!("k{v}{};", self.one(&["++", "--"])),
                12 if self.variables > 0 => {
                    let (then, otherwise) = (self.block(), self.block());
                    format!("if ({}) {{ {then} }} else {{ {otherwise} }}", self.condition())
                }
                13 if deep > 0 && self.variables > 0 => {
                    let outer = std::mem::replace(&mut self.in_turns, false);
                    let body = self.block();
                    let by = self.one(&["++", "--", " += 3", " >>= 1"]);
                    self.in_turns = outer;
                    let condition = self.condition();
                    match self.below(2) {
                        0 => format!("while ({condition}) {{ {body} k{v}{by}; }}"),
                        _ => format!("do {{ {body} k{v}{by}; }} while ({condition});"),
                    }
                }
                _ if self.variables > 0 && self.in_turns => {
                    format!("if ({}) {};", self.condition(), self.one(&["continue", "break"]))
                }
                _ => self.access(),
            };
            text.push_str(&statement);
            text.push(' ');
        }
        text + &self.access()
    }
}

#[test]
fn random_subscripts_stay_in_their_windows() {
    let number = |name, otherwise| std::env::var(name).ok().and_then(|n| n.parse().ok()).unwrap_or(otherwise);
    let (count, first): (u64, u64) = (number("PARAGON_RANDOM", 300), number("PARAGON_SEED", 1));
    let (mut compared, mut with_windows) = (0, 0);
    for seed in first..first + count {
        let mut maker = Maker {
            state: seed.wrapping_mul(0x9e37_79b9_7f4a_7c15),
            variables: 0,
            pointers: 0,
            in_turns: false,
        };
        let body = maker.statements(1);
        // What each iteration moves.
        let body = match maker.below(6) {
            0 => format!("{body} {};", maker.one(&["s += 3", "s--", "u++", "z += 2"])),
            1 => format!("s += 2; {body}"),
            _ => body,
        };
        for turn in 0..3 {
            let pick = |maker: &mut Maker, list: &[i128]| list[maker.below(list.len() as u64) as usize];
            let numbers = [
                ("n", pick(&mut maker, &[1, 9, 30])),
                ("m", pick(&mut maker, &[0, 1, 6, 13, -1, 1000, i32::MIN.into(), i32::MAX.into()])),
                ("s", pick(&mut maker, &[0, 1, 3, -4, 70, i32::MIN.into(), i32::MAX.into()])),
                ("u", pick(&mut maker, &[0, 1, 8, 100, u32::MAX.into(), 1 << 31])),
                ("z", pick(&mut maker, &[0, 1, 5, 4096, u64::MAX.into(), 1 << 63])),
            ];
            let Some(seen) = run(&body, &numbers, seed * 7 + turn) else { continue };
            compared += seen.compared;
            with_windows += usize::from(seen.windows.iter().any(Option::is_some));
        }
    }
    eprintln!("{compared} accesses in their windows, in {with_windows} of {} entries", 3 * count);
    assert!(with_windows as u64 >= count / 2, "hardly a window: {with_windows}");
}
