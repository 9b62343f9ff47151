//! Calls in a loop's body: which ones compute the same bits elsewhere, and what the C compiler may know of their arguments.

use super::*;

impl Accesses<'_> {
    /// Sees to it that all calls of libm are answered by the library, here and in the user's loop.
    pub(super) fn check_libm(&self, body: &Stmt, prelude: &Prelude, unrolled: bool) -> Result<(), Refused> {
        if self.libm.is_empty() || self.free_calls {
            return Ok(());
        }
        let is_zero = |bound: &Bound| linear::as_constant(bound) == Some(0);
        let moves = |site: &&Site| {
            let stride = site.affine.as_ref().and_then(|affine| affine.strides.first());
            let is_table =
                |base: &Base| matches!(base, Base::Object { var, .. } if libm::is_table(self.unit, *var));
            !unrolled
                && !site.is_store
                && stride.is_some_and(|stride| !is_zero(stride))
                && !is_table(&self.bases[site.base.0 as usize])
        };
        let walking: BTreeSet<PlaceId> = self.sites.iter().filter(moves).map(|site| site.place).collect();
        let mut varying = libm::varying(self.unit, body, &walking);
        // The first iteration has them from before the loop.
        varying.retain(|v| !prelude.variables.contains(v));
        let walk = libm::Walk { unit: self.unit, walking: &walking, varying: &varying };
        let refused = |text: String| Err(Reason::new(Kind::UnknownCall, text));
        for LibmCall { function, args, line, .. } in &self.libm {
            if !walk.is_asked(*function, args) {
                let name = function.stem;
                return refused(format!(
                    "it calls {name} in line {line} with what the compiler may know: it doesn't always round as the library does"
                ));
            }
        }
        if let Some(line) = walk.told(body) {
            return refused(format!(
                "it calls functions of libm with what the compiler may know behind the comparison in line {line}"
            ));
        }
        let of = |stem: &'static str| self.libm.iter().filter(move |call| call.function.stem == stem);
        for (sine, cosine) in of("sin").flat_map(|sine| of("cos").map(move |cosine| (sine, cosine))) {
            let (a, b) = (&sine.args[0], &cosine.args[0]);
            // It does so here and there, where they stand side by side with one value.
            let as_one = same(a, b) && sine.path == cosine.path;
            if sine.function.kind == cosine.function.kind && !as_one && !self.are_apart(a, b) {
                let (line, other) = (sine.line, cosine.line);
                return refused(format!(
                    "it calls sin in line {line} and cos in line {other}, perhaps with one value: the compiler may ask \
                     for both at once"
                ));
            }
        }
        Ok(())
    }

    /// Whether two values are what different arrays hold that the loop doesn't store to, so that no compiler knows them for one.
    pub(super) fn are_apart(&self, a: &Expr, b: &Expr) -> bool {
        let base = |mut e: &Expr| {
            while let ExprKind::Cast(inner) = &e.kind {
                e = inner;
            }
            let ExprKind::Load(place) = &e.kind else { return None };
            Some(self.sites[self.site_of.get(&place.id)?.0?.0 as usize].base)
        };
        let is_stored = |base: BaseId| self.sites.iter().any(|site| site.is_store && site.base == base);
        base(a).zip(base(b)).is_some_and(|(a, b)| a != b && !is_stored(a) && !is_stored(b))
    }

    /// Walks what a place is assigned.
    pub(super) fn in_value_of(
        &mut self,
        place: &Place,
        work: impl FnOnce(&mut Self) -> Result<(), Refused>,
    ) -> Result<(), Refused> {
        let outer = std::mem::replace(&mut self.assigned, is_scalar(self.unit, place));
        let result = work(self);
        self.assigned = outer;
        result
    }

    /// Why a call of a function with a visible body is left, if it is one: `loops::inline` would have replaced it.
    pub(super) fn own_function(&self, callee: VarId, args: &[Expr], span: Span) -> Option<Refused> {
        let variable = self.unit.var(callee);
        let function =
            self.unit.functions.iter().find(|f| f.var == callee).filter(|_| !variable.is_extern)?;
        let name = &variable.name;
        let (why, advice) = match inline::refusal(self.unit, function, self.options) {
            Some((why, advice)) => (why, advice),
            None => {
                let apart = self.in_operand
                    && !args.iter().any(crate::loops::hoist::has_effects)
                    && inline::is_self_contained(self.unit, function);
                let advice = apart.then(|| Advice::CallApart(name.clone()));
                let why = self.unit.left_calls.get(&span.start).map(String::as_str);
                (why.unwrap_or("where or how it is called, its body can't stand for it"), advice)
            }
        };
        let text = format!("it calls the program's own {name} in line {}: {why}", span.line);
        Some(Reason::new(Kind::UnknownCall, text).settled_by(advice))
    }

    /// Whether a function that has no body here is the program's own, as far as its declaration tells.
    pub(super) fn is_of_program(&self, callee: VarId) -> bool {
        let file = self.unit.files.get(self.unit.var(callee).span.file as usize);
        file.is_some_and(|file| !file.starts_with("/usr/") && !file.starts_with('<'))
    }
}

/// Functions of libm whose results IEEE 754 or their definition fixes.
pub const EXACT_FUNCTIONS: [&str; 6] = ["sqrt", "fabs", "floor", "ceil", "trunc", "copysign"];

/// Functions of the C library that compute an integer of an integer.
pub const INTEGER_FUNCTIONS: [&str; 3] = ["abs", "labs", "llabs"];

/// Builtins of gcc's that do, or that say what kind of number a floating-point one is. What `clz` and `ctz` give for 0 is nobody's business.
pub const INTEGER_BUILTINS: [&str; 24] = [
    "abs",
    "labs",
    "llabs",
    "bswap16",
    "bswap32",
    "bswap64",
    "popcount",
    "popcountl",
    "popcountll",
    "clz",
    "clzl",
    "clzll",
    "ctz",
    "ctzl",
    "ctzll",
    "ffs",
    "ffsl",
    "ffsll",
    "parity",
    "parityl",
    "parityll",
    "isnan",
    "isfinite",
    "isinf_sign",
];

/// Whether `name` is one of these.
pub fn is_integer_function(name: &str) -> bool {
    match name.strip_prefix("__builtin_") {
        Some(name) => INTEGER_BUILTINS.contains(&name),
        None => INTEGER_FUNCTIONS.contains(&name),
    }
}

/// Operations that a call of another function of libm is taken for.
pub(super) const LIBM_WORK: u64 = 40;

/// Whether `name` computes the same bits everywhere, and whether it may set errno.
pub fn exact_function(name: &str) -> Option<bool> {
    if is_integer_function(name) {
        return Some(false);
    }
    let name = name.strip_prefix("__builtin_").unwrap_or(name);
    let stem = name.strip_suffix('f').filter(|s| EXACT_FUNCTIONS.contains(s)).unwrap_or(name);
    EXACT_FUNCTIONS.contains(&stem).then_some(stem == "sqrt")
}

/// Whether a compiler may make straight code of a loop, and then know each element that was stored before it. gcc does so up to
/// 16 iterations.
pub(super) fn may_be_unrolled(unit: &TranslationUnit, head: &Counted) -> bool {
    const SHORT: i128 = 32;
    let number = |e: &Expr| crate::c::constant::fold(&unit.types, e);
    let span = number(&head.first).zip(number(&head.limit)).map(|(first, limit)| (limit - first).abs());
    span.is_some_and(|span| span <= SHORT * i128::from(head.step).abs())
}

#[cfg(test)]
mod tests {
    use crate::compile::judged;
    use crate::loops::options::AnalysisOptions;

    #[test]
    fn calls_that_are_left_say_what_is_in_the_way() {
        let why = |body: &str| {
            let text = format!(
                "int printf(const char *, ...); double sqrt(double);\n\
                 static int table(int x) {{ static const int of[4] = {{1, 2, 3, 4}}; return of[x & 3]; }}\n\
                 static int triple(int x) {{ return x * 3; }}\n\
                 static int deep(int x) {{ return x < 2 ? 1 : deep(x - 1) + 1; }}\n\
                 static int store(int *p) {{ *p = 3; return *p; }}\n\
                 static int other; static int others(void) {{ return other; }}\n\
                 void f(int n, int *x, int *y) {{ int other = 0; y[0] += other;\nfor (int i = 0; i < n; i++) {{ {body} }} }}\n"
            );
            let (_, reports) = judged(&text, &AnalysisOptions::default());
            reports.iter().find(|report| report.line == 8).expect(body).reason.text.clone()
        };
        for (body, reason) in [
            (
                "x[i] = table(x[i]);",
                "own table in line 8: it has a static variable of its own, which nothing else can name",
            ),
            (
                "x[i] = triple(x[i]); printf(\"%d\", x[i]);",
                "own triple in line 8: the loop calls printf, too, whose effects or exact result are not known",
            ),
            ("x[i] = deep(x[i]);", "own deep in line 8: it calls itself"),
            (
                "x[i] = 1 + store(y + i);",
                "own store in line 8: it stores to memory, and more than the call stands in its statement",
            ),
            ("x[i] = triple(y[i]++);", "own triple in line 8: its statement stores elsewhere, too"),
            ("x[i] = others();", "own others in line 8: a name in it may mean something else here"),
        ] {
            assert_eq!(why(body), format!("it calls the program's {reason}"), "{body}");
        }
        assert!(!why("x[i] = triple(x[i]) + triple(y[i]);").contains("calls"));
    }
}
