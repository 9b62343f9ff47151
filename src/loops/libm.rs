//! Functions of libm that only the host's own library answers with the program's bits: sines, exponentials, powers. They
//! compute a value and may set `errno` and floating-point flags, so iterations that call them may run on threads of the same
//! process, where the runtime sees to `errno` (`runtime/src/errno.rs`), but not on a GPU.
//!
//! Who computes must not show in a bit, also where the C compiler computes. It answers calls itself where it knows their
//! arguments, rounds correctly then, which the library doesn't always do, and has other ways to compute a square than `pow`.
//! In the user's loop it may know more than in ours: what variables hold before it, and which turn of a short loop it is. So
//! an argument has to depend on memory that the iterations walk over, and the exponent of `pow` also if it isn't written as a
//! constant ([`Walk::varies`]). And where a sine and a cosine may be those of one value, it may ask the library for both at
//! once, in one of the two places (glibc 2.36 gave the same bits then for 20 million numbers of each type, but doesn't promise
//! it; `pow(x, 2)` and `x * x` differed for one in 1,200).
//!
//! Where the user allows approximations, the compiler has more such choices. A part of `-ffast-math` gives it some of them, and
//! nothing is called elsewhere then. All of `-ffast-math` gives the bits of such calls free, so that they need not be those of the
//! user's loop. They still don't depend on how many threads there are, as far as that is up to us: where the C library's header
//! declares vector forms (libmvec; some units in the last place apart from the function itself) the compiler uses them in our
//! functions as in the user's loop, in whole vectors from the first iteration on, so all portions of iterations are made of whole
//! vectors (`PG_LOOP_FREE_CALLS`). Such loops run in place or not at all: on copies every access is checked, which no compiler
//! makes vectors of. Sums of such calls stay as they are, because what sums in parts are compiled for is one result everywhere.
//!
//! Functions that are exact on every device are not here (`access::exact_function`).

use super::access::{EXACT_FUNCTIONS, exact_function, is_integer_function};
use super::nest;
use super::options::AnalysisOptions;
use super::private;
use super::scalars::is_scalar;
use crate::c::constant;
use crate::c::hir::*;
use std::collections::{BTreeMap, BTreeSet};

/// Names in `double`, how many arguments they take, and whether they are the compiler's in strict C90, too. Results go nowhere
/// but into the value: not here are `lgamma`, which sets a global variable, and what stores through a pointer.
const FUNCTIONS: &[(&str, usize, bool)] = &[
    ("acos", 1, true),
    ("acosh", 1, false),
    ("asin", 1, true),
    ("asinh", 1, false),
    ("atan", 1, true),
    ("atan2", 2, true),
    ("atanh", 1, false),
    ("cbrt", 1, false),
    ("cos", 1, true),
    ("cosh", 1, true),
    ("erf", 1, false),
    ("erfc", 1, false),
    ("exp", 1, true),
    ("exp2", 1, false),
    ("expm1", 1, false),
    ("fdim", 2, false),
    ("fma", 3, false),
    ("fmax", 2, false),
    ("fmin", 2, false),
    ("fmod", 2, true),
    ("hypot", 2, false),
    ("log", 1, true),
    ("log10", 1, true),
    ("log1p", 1, false),
    ("log2", 1, false),
    ("nearbyint", 1, false),
    ("pow", 2, true),
    ("remainder", 2, false),
    ("rint", 1, false),
    ("round", 1, false),
    ("sin", 1, true),
    ("sinh", 1, true),
    ("tan", 1, true),
    ("tanh", 1, true),
    ("tgamma", 1, false),
];

/// A function of the table in one of its types.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Function {
    /// Its name in `double`.
    pub stem: &'static str,
    /// The type of its arguments and its value.
    pub kind: FloatKind,
    arguments: usize,
    in_c90: bool,
}

/// The function of this name.
fn named(name: &str) -> Option<Function> {
    let name = name.strip_prefix("__builtin_").unwrap_or(name);
    let find = |stem: &str| FUNCTIONS.iter().find(|(known, ..)| *known == stem);
    let (found, kind) = match find(name) {
        Some(found) => (found, FloatKind::Double),
        None => (find(name.strip_suffix('f')?)?, FloatKind::Float),
    };
    Some(Function { stem: found.0, kind, arguments: found.1, in_c90: found.2 })
}

/// The function of libm that is called, if it is one for certain.
pub fn called(unit: &TranslationUnit, options: &AnalysisOptions, callee: &Callee) -> Option<Function> {
    theirs(unit, options, callee, &named)
}

/// Whether a function is called that computes the same bits everywhere, for certain; and whether it may set `errno`.
pub fn exact(unit: &TranslationUnit, options: &AnalysisOptions, callee: &Callee) -> Option<bool> {
    if is_of_integers(unit, options, callee) {
        return Some(false);
    }
    let find = |name: &str| {
        exact_function(name)?;
        let name = name.strip_prefix("__builtin_").unwrap_or(name);
        let of = |name: &str| EXACT_FUNCTIONS.into_iter().find(|stem| *stem == name);
        let (stem, kind) = match of(name) {
            Some(stem) => (stem, FloatKind::Double),
            None => (of(name.strip_suffix('f')?)?, FloatKind::Float),
        };
        let arguments = if stem == "copysign" { 2 } else { 1 };
        Some(Function { stem, kind, arguments, in_c90: !["trunc", "copysign"].contains(&stem) })
    };
    Some(theirs(unit, options, callee, &find)?.stem == "sqrt")
}

/// Whether a function is called, for certain, that only computes a number of numbers: exactly, or as libm does.
pub fn computes(unit: &TranslationUnit, options: &AnalysisOptions, callee: &Callee) -> bool {
    exact(unit, options, callee).is_some() || called(unit, options, callee).is_some()
}

/// Whether a function of this name is defined here, or under a name of the program's: also what the builtin calls.
fn is_own(unit: &TranslationUnit, options: &AnalysisOptions, name: &str) -> bool {
    unit.functions.iter().any(|f| unit.var(f.var).name == name)
        || unit.refused.iter().any(|f| f.name == name)
        || unit.replaceable.iter().any(|v| {
            let is_allowed =
                options.device_math && options.approximates && unit.with_vector_forms.contains(v);
            unit.var(*v).name == name && !is_allowed
        })
}

/// Whether a function of the C library is called, for certain, whose type is not looked at.
pub fn is_library(unit: &TranslationUnit, options: &AnalysisOptions, callee: &Callee, name: &str) -> bool {
    let called = match callee {
        Callee::Builtin(called) => called.strip_prefix("__builtin_").unwrap_or(called),
        Callee::Named(v) => {
            let variable = unit.var(*v);
            let disowned = options.not_builtin.iter().any(|name| name.is_empty() || *name == variable.name);
            if disowned || variable.storage != Storage::Global {
                return false;
            }
            &variable.name
        }
        Callee::Pointer(_) => return false,
    };
    called == name && !is_own(unit, options, name)
}

/// Whether a function is called, for certain, that computes an integer in one way only.
fn is_of_integers(unit: &TranslationUnit, options: &AnalysisOptions, callee: &Callee) -> bool {
    match callee {
        Callee::Builtin(name) => {
            let stem = name.strip_prefix("__builtin_").unwrap_or(name);
            // Where all numbers are finite the compiler knows what the answer is.
            is_integer_function(name)
                && !is_own(unit, options, stem)
                && !(options.approximates && stem.starts_with("is"))
        }
        Callee::Pointer(_) => false,
        Callee::Named(v) => {
            let variable = unit.var(*v);
            let kind = match variable.name.as_str() {
                "abs" => IntKind::Int,
                "labs" => IntKind::Long,
                _ => IntKind::LongLong,
            };
            let disowned = options.not_builtin.iter().any(|name| name.is_empty() || *name == variable.name);
            let TypeKind::Function { ret, params, variadic: false, prototyped: true } =
                unit.types.kind(variable.ty.ty)
            else {
                return false;
            };
            let is_kind = |ty: &QualType| unit.types.as_int(ty.ty) == Some(kind);
            is_integer_function(&variable.name)
                && variable.storage == Storage::Global
                && !disowned
                && !is_own(unit, options, &variable.name)
                && matches!(params.as_slice(), [only] if is_kind(only))
                && is_kind(ret)
        }
    }
}

/// A function that is called under a name that `known` knows, if it is the library's for certain.
fn theirs(
    unit: &TranslationUnit,
    options: &AnalysisOptions,
    callee: &Callee,
    known: &dyn Fn(&str) -> Option<Function>,
) -> Option<Function> {
    let is_own = |name: &str| is_own(unit, options, name);
    match callee {
        Callee::Builtin(name) => {
            known(name).filter(|_| !is_own(name.strip_prefix("__builtin_").unwrap_or(name)))
        }
        Callee::Pointer(_) => None,
        Callee::Named(v) => {
            let variable = unit.var(*v);
            let found = known(&variable.name)?;
            let disowned = options.not_builtin.iter().any(|name| name.is_empty() || *name == variable.name)
                || options.strict_c90 && !found.in_c90 && found.kind == FloatKind::Double;
            let TypeKind::Function { ret, params, variadic: false, prototyped: true } =
                unit.types.kind(variable.ty.ty)
            else {
                return None;
            };
            let is_kind = |ty: &QualType| unit.types.as_float(ty.ty) == Some(found.kind);
            let as_known = params.len() == found.arguments && params.iter().all(is_kind) && is_kind(ret);
            let is_theirs = variable.storage == Storage::Global && !is_own(&variable.name);
            (is_theirs && !disowned && as_known).then_some(found)
        }
    }
}

/// Whether an expression is a call of something that isn't computed in the same way everywhere.
pub fn is_call(unit: &TranslationUnit, e: &Expr) -> bool {
    match &e.kind {
        ExprKind::Call { callee: Callee::Named(v), .. } => {
            super::access::exact_function(&unit.var(*v).name).is_none()
        }
        ExprKind::Call { callee: Callee::Builtin(name), .. } => super::access::exact_function(name).is_none(),
        ExprKind::Call { .. } => true,
        _ => false,
    }
}

/// The variables of a body, scalars and objects of an iteration's own, that are only given values of which nothing is known.
pub fn varying(unit: &TranslationUnit, body: &Stmt, walking: &BTreeSet<PlaceId>) -> BTreeSet<VarId> {
    let mut given: BTreeMap<VarId, Vec<&Expr>> = BTreeMap::new();
    let mut known: BTreeSet<VarId> = BTreeSet::new();
    nest::statements(body, &mut |s| match &s.kind {
        StmtKind::Declare { var, init: Some(Init::Scalar(e)) } => given.entry(*var).or_default().push(e),
        // What isn't named is zero.
        StmtKind::Declare { var, init: Some(_) } => {
            known.insert(*var);
        }
        _ => {}
    });
    nest::all_expressions(body, &mut |e| {
        let (place, value) = match &e.kind {
            // An operation on an unknown value gives another one.
            ExprKind::Assign(place, value) => (place, &**value),
            // Unless that depends on the other operand.
            ExprKind::AssignOp { op, place, value, compute }
                if may_hide(unit, *op, *compute) && !is_fixed(unit, value) =>
            {
                (place, &**value)
            }
            _ => return,
        };
        let own = private::part(&unit.types, place).map(|part| part.var);
        if let Some(v) = is_scalar(unit, place).or(own) {
            given.entry(v).or_default().push(value);
        }
    });
    let mut varying = BTreeSet::new();
    loop {
        let walk = Walk { unit, walking, varying: &varying };
        let more: Vec<VarId> = given
            .iter()
            .filter(|(v, _)| !varying.contains(*v) && !known.contains(*v))
            .filter(|(_, values)| values.iter().all(|e| walk.varies(e)))
            .map(|(v, _)| *v)
            .collect();
        if more.is_empty() {
            return varying;
        }
        varying.extend(more);
    }
}

/// What a comparison may say the value of.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum Told {
    Float,
    Integer,
}

/// Whether an operation of integers may have a known value where one operand isn't known, as `x * 0` and `x % 1` have.
fn may_hide(unit: &TranslationUnit, op: BinOp, ty: QualType) -> bool {
    unit.types.as_int(ty.ty).is_some()
        && matches!(
            op,
            BinOp::Mul | BinOp::Div | BinOp::Rem | BinOp::And | BinOp::Or | BinOp::Shl | BinOp::Shr
        )
}

/// Whether an expression is a constant to everybody.
fn is_fixed(unit: &TranslationUnit, e: &Expr) -> bool {
    constant::evaluate(&unit.types, e).is_some()
}

/// Whether a compiler may know what an object holds: one that is constant, and one of this file that nothing in it changes.
pub fn is_table(unit: &TranslationUnit, v: VarId) -> bool {
    let variable = unit.var(v);
    let mut ty = variable.ty;
    let mut is_const = ty.quals.is_const;
    while let TypeKind::Array(element, _) = unit.types.kind(ty.ty) {
        ty = *element;
        is_const |= ty.quals.is_const;
    }
    if is_const {
        return true;
    }
    if variable.is_extern || !matches!(variable.storage, Storage::StaticLocal | Storage::Global) {
        return false;
    }
    let is_part = |place: &Place| private::part(&unit.types, place).is_some_and(|part| part.var == v);
    let addresses = |found: &mut usize, e: &Expr| {
        *found += usize::from(matches!(&e.kind, ExprKind::AddressOf(p) if nest::root_variable(p) == Some(v)));
    };
    let (mut all, mut loading, mut is_stored) = (0, 0, false);
    for function in &unit.functions {
        nest::all_expressions(&function.body, &mut |e| {
            addresses(&mut all, e);
            match nest::accessed_place(e) {
                Some((place, _, true)) => is_stored |= is_part(place),
                Some((place, ..)) if is_part(place) => {
                    nest::place_expressions(place, &mut |e| addresses(&mut loading, e));
                }
                _ => {}
            }
        });
    }
    !is_stored && all <= loading && unit.refused.is_empty()
}

/// Which values a compiler can't know that knows all of what comes before a loop, and the turns of loops in it.
pub struct Walk<'a> {
    /// The unit.
    pub unit: &'a TranslationUnit,
    /// The loads of memory whose address is another one in each iteration.
    pub walking: &'a BTreeSet<PlaceId>,
    /// The scalars that are only assigned such values.
    pub varying: &'a BTreeSet<VarId>,
}

impl Walk<'_> {
    /// Whether a value is such that nothing is known of it.
    pub fn varies(&self, e: &Expr) -> bool {
        match &e.kind {
            ExprKind::Load(place) => {
                let own = private::part(&self.unit.types, place).map(|part| part.var);
                let v = is_scalar(self.unit, place).or(own);
                v.is_some_and(|v| self.varying.contains(&v))
                    || self.walking.contains(&place.id)
                    || self.address_varies(place)
            }
            ExprKind::Cast(a) => {
                !matches!(self.unit.types.as_int(e.ty.ty), Some(IntKind::Bool)) && self.varies(a)
            }
            ExprKind::Unary(op, a) => *op != UnOp::Not && self.varies(a),
            ExprKind::Binary(op, a, b) => {
                let compares =
                    matches!(op, BinOp::Lt | BinOp::Le | BinOp::Gt | BinOp::Ge | BinOp::Eq | BinOp::Ne);
                let (x, y) = (self.varies(a), self.varies(b));
                let hides = may_hide(self.unit, *op, e.ty)
                    && !(x || is_fixed(self.unit, a)) | !(y || is_fixed(self.unit, b));
                !compares && !hides && (x || y)
            }
            ExprKind::Conditional(_, a, b) => self.varies(a) && self.varies(b),
            ExprKind::Comma(_, b) => self.varies(b),
            ExprKind::Assign(_, value) => self.varies(value),
            ExprKind::Call { args, .. } => args.iter().any(|a| self.varies(a)),
            _ => false,
        }
    }

    /// Whether a comparison may tell a compiler that knows all of what comes before the loop which value it is that varies:
    /// behind `x == c` it computes with `c`. What is compared with constants, is so for everybody. Of floating-point numbers
    /// only equality says that; of integers any relation may, where it leaves one value.
    fn tells(&self, e: &Expr) -> Option<Told> {
        let ExprKind::Binary(op, a, b) = &e.kind else { return None };
        let relates = matches!(op, BinOp::Lt | BinOp::Le | BinOp::Gt | BinOp::Ge);
        let equals = matches!(op, BinOp::Eq | BinOp::Ne);
        let told = match self.unit.types.as_float(a.ty.ty) {
            Some(_) if equals => Told::Float,
            None if equals || relates => Told::Integer,
            _ => return None,
        };
        let varies = self.varies(a) || self.varies(b);
        (varies && (self.has_known(a) || self.has_known(b))).then_some(told)
    }

    /// Whether something in a value may be known that isn't a constant.
    fn has_known(&self, e: &Expr) -> bool {
        match &e.kind {
            ExprKind::Int(_) | ExprKind::Float(_) => false,
            ExprKind::Cast(a) | ExprKind::Unary(_, a) => self.has_known(a),
            ExprKind::Binary(_, a, b) => self.has_known(a) || self.has_known(b),
            ExprKind::Conditional(c, a, b) => [c, a, b].into_iter().any(|e| self.has_known(e)),
            _ => !self.varies(e),
        }
    }

    /// The line of a comparison in a body behind which an argument of a call in it may be known.
    pub fn told(&self, body: &Stmt) -> Option<u32> {
        let mut found: Option<(Told, u32)> = None;
        let mut converts = false;
        let mut look = |e: &Expr| {
            if let Some(told) = self.tells(e)
                && found.is_none_or(|(before, _)| told < before)
            {
                found = Some((told, e.span.line));
            }
            let ExprKind::Cast(inner) = &e.kind else { return };
            let (to, from) = (self.unit.types.as_float(e.ty.ty), self.unit.types.as_int(inner.ty.ty));
            converts |= to.is_some() && from.is_some() && self.varies(inner);
        };
        nest::statements(body, &mut |s| match &s.kind {
            // How often a loop runs says nothing about what it computes with.
            StmtKind::Loop(l) => l.step.iter().for_each(|e| nest::expressions(e, &mut look)),
            _ => nest::direct_expressions(s).into_iter().for_each(|e| nest::expressions(e, &mut look)),
        });
        found.filter(|(told, _)| converts || *told == Told::Float).map(|(_, line)| line)
    }

    /// Whether memory is found by what isn't known.
    fn address_varies(&self, place: &Place) -> bool {
        match &place.kind {
            PlaceKind::Deref(pointer) => self.pointer_varies(pointer),
            PlaceKind::Field { base, .. } => self.address_varies(base),
            _ => false,
        }
    }

    fn pointer_varies(&self, pointer: &Expr) -> bool {
        match &pointer.kind {
            ExprKind::PtrAdd { pointer, index, .. } => self.varies(index) || self.pointer_varies(pointer),
            ExprKind::AddressOf(place) => self.address_varies(place),
            ExprKind::Cast(inner) => self.pointer_varies(inner),
            _ => self.varies(pointer),
        }
    }

    /// Whether the compiler can do nothing else with a call than to ask the library.
    pub fn is_asked(&self, function: Function, args: &[Expr]) -> bool {
        let fixed = |e: &Expr| is_fixed(self.unit, e);
        let exponent = args.get(1).filter(|_| function.stem == "pow");
        args.iter().any(|a| self.varies(a)) && exponent.is_none_or(|e| fixed(e) || self.varies(e))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compile::judged;
    use crate::loops::plan::Verdict;

    const HEAD: &str =
        "double sin(double), cos(double), pow(double, double), log2(double); float sinf(float);\n";

    /// Whether the loop with this body may run elsewhere, and if so, on CUDA, too.
    fn runs(head: &str, body: &str, options: &AnalysisOptions) -> Option<bool> {
        let text = format!(
            "{head}\nstatic double root(double x) {{ return sin(x) * 0.5; }}\n\
             static const double table[9] = {{1, 2}};\nstatic double zeros[1000];\n\
             void f(int n, double p, double *restrict out, const double *restrict a, const double *restrict b, const float *g, const int *restrict k)\n{{\n\
             for (int i = 0; i < n; i++) {{ {body} }}\n}}\n"
        );
        let (_, reports) = judged(&text, options);
        let report = reports.iter().find(|r| r.function == "f").unwrap();
        (report.verdict != Verdict::Sequential)
            .then(|| report.plan.as_ref().is_some_and(|plan| plan.cuda_exact))
    }

    #[test]
    fn libm_is_asked_where_nobody_else_can_answer() {
        let options = AnalysisOptions::default();
        for body in [
            "out[i] = sin(a[i]);",
            "double x = a[i] * 2; if (b[i] > 0) x = b[i]; out[i] = sin(x + 1);",
            "out[i] = pow(a[i], 2) + pow(p, a[i]) + __builtin_exp(b[i]);",
            "out[i] = root(a[i]);",
            "out[i] = sin(a[i]) + cos(b[i]);",
            "double x = a[i]; out[i] = sin(x) * cos(x);",
            "double t[2]; t[0] = a[i]; t[1] = b[i]; out[i] = sin(t[1]);",
            "out[i] = sin(k[i] * 2 + k[i] % 3);",
            "int x = k[i]; x *= 3; x += n; out[i] = sin(x);",
            "if (a[i] == 0.5 || b[i] > p) out[i] = sin(a[i]);",
            "if (k[i] < n) out[i] = sin(a[i]);",
            "if (k[i] < 3) out[i] = sin(k[i]);",
        ] {
            assert_eq!(runs(HEAD, body, &options), Some(false), "{body}");
        }
        for body in [
            // The compiler may know.
            "out[i] = sin(p);",
            "out[i] = sin(i * 0.5);",
            "out[i] = sin(a[0]);",
            "double x = 0.5; if (b[i] > 0) x = b[i]; out[i] = sin(x);",
            "out[i] = sin(b[i] > 0 ? b[i] : 0.5);",
            "out[i] = sin(b[i] > 0.5);",
            "out[i] = pow(a[i], p);",
            "double t[2] = {a[i]}; out[i] = sin(t[1]);",
            "double x = p; x *= 2; out[i] = sin(x);",
            // It may be the same for all numbers.
            "out[i] = sin(k[i] * n + 0.5);",
            "out[i] = sin((k[i] & n) + 0.5);",
            "out[i] = sin((k[i] % n) + 0.5);",
            "int x = k[i]; x >>= n; out[i] = sin(x + 0.5);",
            // Or be the one that it is compared with.
            "if (a[i] == p) out[i] = sin(a[i]);",
            "out[i] = a[i] != p ? 0 : sin(a[i]);",
            "if (k[i] < n) out[i] = sin(k[i] + 0.5);",
            // Or stand in the file.
            "out[i] = sin(table[i]);",
            "out[i] = sin(zeros[i] + 0.5);",
            // Or ask for both at once.
            "out[i] = sin(a[i]); if (b[i] > 0) out[i] = cos(a[i]);",
            "double x = a[i]; out[i] = sin(x) + cos(x * 1);",
            "out[i] = a[i]; out[i] = sin(out[i]) + cos(b[i]);",
            // Not in the table.
            "out[i] = __builtin_lgamma(a[i]);",
        ] {
            assert_eq!(runs(HEAD, body, &options), None, "{body}");
        }
        assert_eq!(runs(HEAD, "out[i] = __builtin_sqrt(a[i]);", &options), Some(true));
    }

    #[test]
    fn whose_functions_they_are() {
        let options = AnalysisOptions::default();
        let body = "out[i] = sin(a[i]);";
        for head in [
            "double sin(); ",
            "double sin(float);",
            "float sin(double);",
            "double sin(double) __asm__(\"other\");",
            "double sin(double) __attribute__((weak));",
            "double sin(double) __attribute__((simd));",
            "double sin(double); extern int count; double sin(double x) { count++; return x; }",
            "double (*sin)(double);",
        ] {
            assert_eq!(runs(head, body, &options), None, "{head}");
        }
        // A body that computes something else, on CUDA, too.
        assert_eq!(runs("static double sin(double x) { return x * 3; }", body, &options), Some(true));
        let with = |change: &dyn Fn(&mut AnalysisOptions), body: &str| {
            let mut options = AnalysisOptions::default();
            change(&mut options);
            runs(HEAD, body, &options)
        };
        assert_eq!(with(&|o| o.approximates = true, body), None);
        assert_eq!(with(&|o| o.device_math = true, "out[i] = sin(p);"), None);
        assert_eq!(with(&|o| o.not_builtin.push(String::new()), body), None);
        assert_eq!(with(&|o| o.not_builtin.push("sin".into()), body), None);
        assert_eq!(with(&|o| o.not_builtin.push("cos".into()), body), Some(false));
        assert_eq!(with(&|o| o.strict_c90 = true, body), Some(false));
        assert_eq!(with(&|o| o.strict_c90 = true, "out[i] = log2(a[i]);"), None);
        assert_eq!(with(&|o| o.strict_c90 = true, "out[i] = sinf(g[i]);"), Some(false));
        assert_eq!(with(&|o| o.contraction = true, "out[i] = pow(a[i], 2) + 1;"), None);
    }

    #[test]
    fn all_of_fast_math_gives_the_bits_of_calls_free() {
        let fast = AnalysisOptions {
            approximates: true,
            device_math: true,
            reassociate: true,
            ..AnalysisOptions::default()
        };
        let vectors = "__attribute__((__simd__(\"notinbranch\"))) extern double sin(double) __attribute__((__nothrow__));\n\
                       double cos(double), pow(double, double);";
        for body in [
            "out[i] = sin(a[i]);",
            "out[i] = sin(p) + sin(i * 0.5);",
            "out[i] = pow(a[i], p);",
            "if (a[i] == p) out[i] = sin(a[i]);",
            "out[i] = sin(a[i]); if (b[i] > 0) out[i] = cos(a[i]);",
        ] {
            assert_eq!(runs(HEAD, body, &fast), Some(false), "{body}");
            assert_eq!(runs(vectors, body, &fast), Some(false), "{body}");
        }
        for body in [
            // A sum has the same bits everywhere.
            "p += sin(a[i]);",
            "out[i] = __builtin_lgamma(a[i]);",
        ] {
            assert_eq!(runs(HEAD, body, &fast), None, "{body}");
        }
        for head in [
            "double sin(double) __attribute__((weak));",
            "double sin(double) __attribute__((simd, weak));",
            "double sin(double) __asm__(\"other\");",
        ] {
            assert_eq!(runs(head, "out[i] = sin(a[i]);", &fast), None, "{head}");
        }
        let part = AnalysisOptions { device_math: false, ..fast };
        assert_eq!(runs(HEAD, "out[i] = sin(a[i]);", &part), None);
        let exact = AnalysisOptions::default();
        assert_eq!(runs(vectors, "out[i] = sin(a[i]);", &exact), None);
    }

    #[test]
    fn names_are_sorted_and_have_float_forms() {
        assert!(FUNCTIONS.windows(2).all(|pair| pair[0].0 < pair[1].0));
        let found = |name| named(name).map(|f| (f.stem, f.kind));
        assert_eq!(found("erf"), Some(("erf", FloatKind::Double)));
        assert_eq!(found("erff"), Some(("erf", FloatKind::Float)));
        assert_eq!(found("__builtin_sinf"), Some(("sin", FloatKind::Float)));
        for name in ["sinl", "sincos", "lgamma", "sqrt", "f", "sinff"] {
            assert_eq!(found(name), None, "{name}");
        }
        assert!(FUNCTIONS.iter().all(|(name, ..)| super::super::access::exact_function(name).is_none()));
    }
}
