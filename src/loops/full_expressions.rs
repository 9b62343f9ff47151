//! Full expressions that do what statements do, as these statements: GNU C's statement expressions (`({ int k = a[i]; k < 0 ? 0 : k; })`), in which macros like `MIN`, `assert` and
//! `swap` are written, commas, and conditions whose value nobody wants (`a[i] < 0 ? (void) 0 : abort()`). What comes after needs no rule for them.
//!
//! A statement expression that only computes becomes an expression where that is as short, and in the heads of loops, in front of which nothing can stand. Otherwise what it
//! does comes in front of the statement that it is in. What it changes besides variables of its own, and ways out of it, must then be all that the statement does,
//! so that no order is chosen where C leaves it open. Whatever there is a doubt about stays opaque, and with it the loop.
//!
//! The user's text is not touched: generated code is made of the tree.

use super::hoist::{self, Hoist, has_effects};
use super::libm;
use super::nest;
use super::options::AnalysisOptions;
use super::scalars::is_scalar;
use super::whole::{inside, loads_memory};
use crate::c::constant;
use crate::c::hir::*;
use std::collections::{BTreeMap, BTreeSet};

/// Expressions that one may consist of which takes the place of a statement expression.
const LARGEST: usize = 100;
/// Expressions of what may be computed again each time that its value is needed.
const SHORT: usize = 3;

/// Makes statements and plain expressions of what full expressions do.
pub fn unfold(unit: &mut TranslationUnit, options: &AnalysisOptions) {
    let lists = std::mem::take(&mut unit.statement_expressions);
    let mut unfolder = Unfolder { unit, options, lists };
    for number in 0..unfolder.unit.functions.len() {
        let empty = Stmt { kind: StmtKind::Empty, span: Span::default() };
        let body = std::mem::replace(&mut unfolder.unit.functions[number].body, empty);
        unfolder.unit.functions[number].body = unfolder.boxed(body);
    }
}

/// Drops expressions that compute values nobody wants, and addresses of variables with them: macros compare these to have the types compared.
pub fn drop_idle(unit: &mut TranslationUnit) {
    fn drop(mut s: Stmt) -> Stmt {
        s.kind = match s.kind {
            StmtKind::Expr(e) if is_idle(&e) => StmtKind::Empty,
            kind => inside(kind, &mut drop),
        };
        s
    }
    for function in &mut unit.functions {
        let empty = Stmt { kind: StmtKind::Empty, span: Span::default() };
        function.body = drop(std::mem::replace(&mut function.body, empty));
    }
}

/// Whether an expression reads nothing and does nothing.
fn is_idle(e: &Expr) -> bool {
    let mut idle = true;
    nest::expressions(e, &mut |e| idle &= !matches!(e.kind, ExprKind::Load(_)));
    idle && !has_effects(e)
}

struct Unfolder<'a> {
    unit: &'a mut TranslationUnit,
    options: &'a AnalysisOptions,
    /// What stands in statement expressions that nobody has put anywhere yet.
    lists: BTreeMap<(u32, u32), Vec<Stmt>>,
}

impl Unfolder<'_> {
    /// A statement, as one statement.
    fn boxed(&mut self, s: Stmt) -> Stmt {
        let span = s.span;
        let mut list = Vec::new();
        self.one(s, &mut list);
        match list.len() {
            1 => list.remove(0),
            _ => Stmt { kind: StmtKind::Block(list), span },
        }
    }

    fn list(&mut self, list: Vec<Stmt>) -> Vec<Stmt> {
        let mut out = Vec::with_capacity(list.len());
        list.into_iter().for_each(|s| self.one(s, &mut out));
        out
    }

    fn one(&mut self, mut s: Stmt, out: &mut Vec<Stmt>) {
        s.kind = match s.kind {
            StmtKind::Expr(e) => return self.statement(e, s.span, out),
            StmtKind::Block(list) => StmtKind::Block(self.list(list)),
            StmtKind::Declare { var, init: Some(Init::Scalar(mut e)) } => {
                let alone = is_opaque(&e);
                self.full(&mut e, alone, out);
                StmtKind::Declare { var, init: Some(Init::Scalar(e)) }
            }
            StmtKind::Declare { var, init: Some(Init::Members(mut list)) } => {
                // They have no order, as what stands in one expression.
                if list.iter().map(|(_, e)| self.calls_in(e)).sum::<usize>() <= 1 {
                    list.iter_mut().for_each(|(_, e)| self.full(e, false, out));
                }
                StmtKind::Declare { var, init: Some(Init::Members(list)) }
            }
            StmtKind::Return(Some(mut e)) => {
                let alone = is_opaque(&e);
                self.full(&mut e, alone, out);
                StmtKind::Return(Some(e))
            }
            StmtKind::If { mut cond, then, otherwise } => {
                let alone = is_opaque(&cond);
                self.full(&mut cond, alone, out);
                inside(StmtKind::If { cond, then, otherwise }, &mut |s| self.boxed(s))
            }
            StmtKind::Switch { mut cond, body } => {
                let alone = is_opaque(&cond);
                self.full(&mut cond, alone, out);
                StmtKind::Switch { cond, body: Box::new(self.boxed(*body)) }
            }
            // Nothing can stand in front of what its head does in each turn, and of what the guard needs to know before the first one.
            StmtKind::Loop(mut l) => {
                l.init
                    .iter_mut()
                    .for_each(|s| nest::change_statement(s, &mut Computed { unfolder: self, again: true }));
                l.cond
                    .iter_mut()
                    .chain(&mut l.step)
                    .for_each(|e| nest::change_expression(e, &mut Computed { unfolder: self, again: true }));
                *l.body = self.boxed(*l.body);
                let never = |cond: &Expr| constant::fold(&self.unit.types, cond) == Some(0);
                // What macros are wrapped in: no loop.
                match l.keyword == LoopKeyword::Do
                    && l.cond.as_ref().is_some_and(never)
                    && !leaves(&l.body, false)
                {
                    true => StmtKind::Block(vec![*l.body]),
                    false => StmtKind::Loop(l),
                }
            }
            kind => inside(kind, &mut |s| self.boxed(s)),
        };
        out.push(s);
    }

    /// An expression that is a statement.
    fn statement(&mut self, e: Expr, span: Span, out: &mut Vec<Stmt>) {
        let ty = e.ty;
        let is_void = matches!(self.unit.types.kind(ty.ty), TypeKind::Void);
        let mut branch = |e: Expr| {
            let mut list = Vec::new();
            self.statement(e, span, &mut list);
            Box::new(Stmt { kind: StmtKind::Block(list), span })
        };
        let kind = match e.kind {
            ExprKind::Cast(inner) if is_void => return self.statement(*inner, span, out),
            ExprKind::Comma(first, second) => {
                self.statement(*first, span, out);
                return self.statement(*second, span, out);
            }
            ExprKind::Conditional(mut cond, a, b) if has_effects(&a) || has_effects(&b) => {
                let (then, otherwise) = (branch(*a), Some(branch(*b)));
                self.full(&mut cond, false, out);
                StmtKind::If { cond: *cond, then, otherwise }
            }
            ExprKind::LogicalAnd(mut cond, b) if has_effects(&b) => {
                let then = branch(*b);
                self.full(&mut cond, false, out);
                StmtKind::If { cond: *cond, then, otherwise: None }
            }
            ExprKind::LogicalOr(mut cond, b) if has_effects(&b) => {
                let (then, otherwise) = (Box::new(Stmt { kind: StmtKind::Empty, span }), Some(branch(*b)));
                self.full(&mut cond, false, out);
                StmtKind::If { cond: *cond, then, otherwise }
            }
            kind => {
                let mut e = Expr { kind, ..e };
                let alone = match &e.kind {
                    ExprKind::Assign(place, value) => is_opaque(value) && self.is_steady(place),
                    ExprKind::AssignOp { place, value, .. } => {
                        is_opaque(value)
                            && is_scalar(self.unit, place).is_some_and(|v| !self.mentions(value, v))
                    }
                    _ => is_opaque(&e),
                };
                self.full(&mut e, alone, out);
                match e.kind {
                    ExprKind::Opaque(NOTHING) => return,
                    _ => StmtKind::Expr(e),
                }
            }
        };
        out.push(Stmt { kind, span });
    }

    /// Whether where a place is doesn't depend on memory.
    fn is_steady(&self, place: &Place) -> bool {
        let mut steady = true;
        nest::place_expressions(place, &mut |e| {
            steady &= match &e.kind {
                ExprKind::Load(p) => is_scalar(self.unit, p).is_some(),
                _ => !has_effects(e),
            };
        });
        steady
    }

    /// Whether something of a variable stands in an expression, or in the statement expressions in it.
    fn mentions(&self, e: &Expr, wanted: VarId) -> bool {
        let mut found = false;
        nest::expressions(e, &mut |e| found |= self.names(e, wanted));
        found
    }

    fn names(&self, e: &Expr, wanted: VarId) -> bool {
        let is_wanted = |place: &Place| nest::root_variable(place) == Some(wanted);
        match &e.kind {
            ExprKind::Opaque(_) => {
                let mut found = false;
                let list = self.lists.get(&(e.span.start, e.span.end));
                list.into_iter().flatten().for_each(|s| {
                    nest::all_expressions(s, &mut |e| found |= self.names(e, wanted));
                });
                found || list.is_none()
            }
            ExprKind::AddressOf(place) => is_wanted(place),
            _ => nest::accessed_place(e).is_some_and(|(place, ..)| is_wanted(place)),
        }
    }

    /// Unfolds what stands in a full expression, or in all of one that is executed next. `alone`: that is all of it.
    fn full(&mut self, e: &mut Expr, alone: bool, before: &mut Vec<Stmt>) {
        let (mut changes, mut any) = (0, false);
        let in_memory = |place: &Place| is_scalar(self.unit, place).is_none();
        let top = nest::accessed_place(e).is_some_and(|(place, _, writes)| writes && in_memory(place));
        nest::expressions(e, &mut |e| {
            changes += usize::from(
                nest::accessed_place(e).is_some_and(|(place, _, writes)| writes && in_memory(place)),
            );
            any |= self.unfoldable(e).is_some();
        });
        // Stores other than the outermost one would have an order of their own, and so would several calls.
        if !any || !alone && (changes > usize::from(top) || self.calls_in(e) > 1) {
            return;
        }
        nest::change_expression(e, &mut Computed { unfolder: self, again: false });
        hoist::take(self, e, alone, before);
    }

    /// What a statement expression consists of, if that can stand elsewhere.
    fn unfoldable(&self, e: &Expr) -> Option<&Vec<Stmt>> {
        let ExprKind::Opaque(STATEMENT_EXPRESSION) = e.kind else { return None };
        let list = self.lists.get(&(e.span.start, e.span.end))?;
        let mut fits = true;
        list.iter().for_each(|s| {
            nest::statements(s, &mut |s| {
                fits &= match &s.kind {
                    StmtKind::Loop(_)
                    | StmtKind::Switch { .. }
                    | StmtKind::Case { .. }
                    | StmtKind::Label { .. }
                    | StmtKind::Goto(None)
                    // Of types and static objects that nothing outside can name.
                    | StmtKind::Declaration
                    | StmtKind::Opaque(_) => false,
                    StmtKind::Declare { var, init } => {
                        let size = self.unit.types.size_of(self.unit.var(*var).ty.ty);
                        size.is_some() && !matches!(init, Some(Init::Aggregate))
                    }
                    _ => true,
                };
            });
        });
        fits.then_some(list)
    }

    /// How many calls stand in an expression; a statement expression with calls is one.
    fn calls_in(&self, e: &Expr) -> usize {
        let mut calls = 0;
        nest::expressions(e, &mut |e| {
            let inside = self.unfoldable(e).into_iter().flatten().any(|s| self.calls_something(s));
            calls += usize::from(matches!(e.kind, ExprKind::Call { .. }) || inside);
        });
        calls
    }

    /// Whether something may be called in a statement.
    fn calls_something(&self, s: &Stmt) -> bool {
        let mut found = false;
        nest::all_expressions(s, &mut |e| {
            found |= match &e.kind {
                ExprKind::Call { .. } => true,
                ExprKind::Opaque(_) => {
                    let list = self.lists.get(&(e.span.start, e.span.end));
                    list.is_none_or(|list| list.iter().any(|s| self.calls_something(s)))
                }
                _ => false,
            };
        });
        found
    }

    /// Whether statements only compute, with variables of their own.
    fn only_computes(&self, list: &[Stmt]) -> bool {
        let own = declared(list);
        let mut computes = true;
        for s in list {
            nest::statements(s, &mut |s| {
                computes &= !matches!(
                    s.kind,
                    StmtKind::Return(_) | StmtKind::Break | StmtKind::Continue | StmtKind::Goto(_)
                );
            });
            nest::all_expressions(s, &mut |e| {
                computes &= match &e.kind {
                    ExprKind::Opaque(_) => false,
                    ExprKind::Call { callee, .. } => libm::computes(self.unit, self.options, callee),
                    _ => nest::accessed_place(e).is_none_or(|(place, _, writes)| {
                        !writes || nest::root_variable(place).is_some_and(|v| own.contains(&v))
                    }),
                };
            });
        }
        computes
    }

    /// The value of a statement expression that only computes, as a plain expression, and declarations in front of that, of what would have to be computed
    /// several times without. `again`: that may be.
    fn computed(&mut self, list: &[Stmt], again: bool) -> Option<(Vec<Stmt>, Expr)> {
        let (last, rest) = list.split_last()?;
        let StmtKind::Expr(value) = &last.kind else { return None };
        let mut uses: BTreeMap<VarId, usize> = BTreeMap::new();
        for s in list {
            nest::all_expressions(s, &mut |e| {
                if let ExprKind::Load(Place { kind: PlaceKind::Var(v), .. }) = &e.kind {
                    *uses.entry(*v).or_default() += 1;
                }
            });
        }
        let (mut values, mut declared) = (BTreeMap::new(), Vec::new());
        for s in rest {
            match &s.kind {
                StmtKind::Empty => {}
                StmtKind::Expr(e) if is_idle(e) => {}
                StmtKind::Declare { var, init: Some(Init::Scalar(e)) } => {
                    let quals = self.unit.var(*var).ty.quals;
                    if quals.is_volatile || quals.is_atomic {
                        return None;
                    }
                    let e = self.with_values(e, &values, again)?;
                    let is_short = size(&e) <= SHORT && !loads_memory(self.unit, &e);
                    if again || is_short || uses.get(var) == Some(&1) {
                        values.insert(*var, e);
                    } else {
                        let kind = StmtKind::Declare { var: *var, init: Some(Init::Scalar(e)) };
                        declared.push(Stmt { kind, span: s.span });
                    }
                }
                _ => return None,
            }
        }
        Some((declared, self.with_values(value, &values, again)?))
    }

    /// An expression with these values in the place of variables, if it only computes then and isn't too large.
    fn with_values(&mut self, e: &Expr, values: &BTreeMap<VarId, Expr>, again: bool) -> Option<Expr> {
        let mut e = e.clone();
        nest::change_expression(&mut e, &mut Computed { unfolder: self, again });
        let mut substituted = Substituted { values, unit: self.unit, fits: true };
        nest::change_expression(&mut e, &mut substituted);
        (substituted.fits && !has_effects(&e) && size(&e) <= LARGEST).then_some(e)
    }
}

impl Hoist for Unfolder<'_> {
    fn unit(&mut self) -> &mut TranslationUnit {
        self.unit
    }

    fn replace(&mut self, e: &mut Expr, alone: bool, before: &mut Vec<Stmt>) {
        if self.unfoldable(e).is_none() {
            return;
        }
        // Each list is put into one place only: its variables are declared there.
        let Some(list) = self.lists.remove(&(e.span.start, e.span.end)) else { return };
        let mut list = self.list(list);
        if !alone && !self.only_computes(&list) {
            return;
        }
        if let Some((mut declared, value)) = self.computed(&list, false) {
            before.append(&mut declared);
            *e = Expr { span: e.span, ..value };
            return;
        }
        let is_void = matches!(self.unit.types.kind(e.ty.ty), TypeKind::Void);
        let value = match list.pop() {
            Some(Stmt { kind: StmtKind::Expr(value), .. }) if !is_void => value,
            last => {
                list.extend(last);
                Expr { kind: ExprKind::Opaque(NOTHING), ty: e.ty, span: e.span }
            }
        };
        before.append(&mut list);
        *e = Expr { span: e.span, ..value };
    }
}

/// What is left of a statement expression without a value.
const NOTHING: &str = "a statement expression that was unfolded";

/// Makes plain expressions of statement expressions.
struct Computed<'a, 'b> {
    unfolder: &'a mut Unfolder<'b>,
    /// Whether what these compute may be computed several times.
    again: bool,
}

impl nest::Change for Computed<'_, '_> {
    fn expression(&mut self, e: &mut Expr) -> bool {
        if let Some(list) = self.unfolder.unfoldable(e)
            && let list = list.clone()
            && let Some((declared, value)) = self.unfolder.computed(&list, self.again)
            && declared.is_empty()
        {
            *e = Expr { span: e.span, ..value };
        }
        true
    }
}

/// Puts values in the place of variables. All places get identities of their own.
struct Substituted<'a> {
    values: &'a BTreeMap<VarId, Expr>,
    unit: &'a mut TranslationUnit,
    /// Whether nothing else is left of these variables.
    fits: bool,
}

impl nest::Change for Substituted<'_> {
    fn expression(&mut self, e: &mut Expr) -> bool {
        if let ExprKind::Load(Place { kind: PlaceKind::Var(v), .. }) = &e.kind
            && let Some(value) = self.values.get(v)
        {
            e.kind = value.kind.clone();
            // What is in there has been substituted already.
            nest::change_expression(e, &mut nest::Numbered(&mut self.unit.n_places));
            return false;
        }
        true
    }

    fn place(&mut self, place: &mut Place, _: bool) -> bool {
        self.fits &= !matches!(place.kind, PlaceKind::Var(v) if self.values.contains_key(&v));
        nest::Change::place(&mut nest::Numbered(&mut self.unit.n_places), place, false)
    }
}

/// Whether a loop's body may leave a turn of it by `break` or `continue`, also in what isn't understood. `breaks_inside`: a `break` leaves something in the loop only.
fn leaves(body: &Stmt, breaks_inside: bool) -> bool {
    let mut hides = false;
    nest::all_expressions(body, &mut |e| hides |= matches!(e.kind, ExprKind::Opaque(_)));
    hides || jumps(body, breaks_inside)
}

fn jumps(body: &Stmt, breaks_inside: bool) -> bool {
    match &body.kind {
        StmtKind::Break => !breaks_inside,
        StmtKind::Continue => true,
        StmtKind::Block(list) => list.iter().any(|s| jumps(s, breaks_inside)),
        StmtKind::If { then, otherwise, .. } => {
            jumps(then, breaks_inside) || otherwise.as_ref().is_some_and(|s| jumps(s, breaks_inside))
        }
        StmtKind::Switch { body, .. } => jumps(body, true),
        StmtKind::Case { body, .. } | StmtKind::Label { body, .. } => jumps(body, breaks_inside),
        StmtKind::Opaque(_) | StmtKind::Declare { init: Some(Init::Aggregate), .. } => true,
        _ => false,
    }
}

fn is_opaque(e: &Expr) -> bool {
    match &e.kind {
        ExprKind::Cast(inner) => is_opaque(inner),
        ExprKind::Opaque(_) => true,
        _ => false,
    }
}

fn size(e: &Expr) -> usize {
    let mut size = 0;
    nest::expressions(e, &mut |_| size += 1);
    size
}

/// The variables that statements declare.
fn declared(list: &[Stmt]) -> BTreeSet<VarId> {
    let mut own = BTreeSet::new();
    for s in list {
        nest::statements(s, &mut |s| {
            if let StmtKind::Declare { var, .. } = &s.kind {
                own.insert(*var);
            }
        });
    }
    own
}
#[cfg(test)]
mod tests {
    use super::*;
    use crate::c::dialect::Dialect;
    use crate::compile::judged;

    const MACROS: &str = "double sqrt(double); int some(int); void __assert_fail(const char *, const char *, unsigned, const char *);\n\
        extern int shared;\n";

    /// A function with this body, as lines.
    fn unfolded(body: &str) -> String {
        let mut unit = crate::c::lower_unit(&function(body), &Dialect::default());
        unfold(&mut unit, &AnalysisOptions::default());
        drop_idle(&mut unit);
        crate::c::dump::statement(&unit, &unit.functions[0].body)
    }

    /// `MIN(a, b)` and the like are written as gcc is given them.
    fn function(body: &str) -> String {
        let of = |text: &str, name: &str, relation: &str| {
            let mut text = text.to_owned();
            while let Some(at) = text.rfind(&format!("{name}(")) {
                let (mut depth, mut comma, mut end) = (0, 0, 0);
                for (n, c) in text[at..].char_indices() {
                    match c {
                        '(' => depth += 1,
                        ')' if depth == 1 => {
                            end = at + n;
                            break;
                        }
                        ')' => depth -= 1,
                        ',' if depth == 1 => comma = at + n,
                        _ => {}
                    }
                }
                let (a, b) = (&text[at + name.len() + 1..comma], &text[comma + 1..end]);
                let value = format!(
                    "({{ __typeof__({a}) _a = ({a}); __typeof__({b}) _b = ({b}); (void)(&_a == &_b); _a {relation} _b ? _a : _b; }})"
                );
                text = format!("{}{value}{}", &text[..at], &text[end + 1..]);
            }
            text
        };
        let body = of(&of(body, "MIN", "<"), "MAX", ">");
        format!(
            "{MACROS}int f(int n, int x, int *a, const int *b, double *c, const double *d) {{ int i, j; {body} return 0; }}\n"
        )
    }

    #[test]
    fn what_only_computes_becomes_an_expression_or_stands_in_front() {
        for (body, expected) in [
            ("x = MIN(n, 3);", "x = ((n < 3) ? n : 3)"),
            ("x = n + MIN(x, n);", "x = (n + ((x < n) ? x : n))"),
            ("a[x] = MAX(b[x], 0);", "let _a: int = *(b +4* x)\n*(a +4* x) = ((_a > 0) ? _a : 0)"),
            (
                "a[x] = MIN(MAX(b[x], 0), n);",
                "let _a: int = *(b +4* x)\nlet _a: int = ((_a > 0) ? _a : 0)\n*(a +4* x) = ((_a < n) ? _a : n)",
            ),
            ("return MIN(n, x);", "return ((n < x) ? n : x)"),
            ("if (MIN(n, x) > 3) x = 1;", "if (((n < x) ? n : x) > 3)"),
            // Nothing can stand in front of what is evaluated in each turn.
            (
                "for (i = MAX(n, 0); i < MIN(b[0], n); i++) a[i] = 1;",
                "while (i < ((*(b +4* 0) < n) ? *(b +4* 0) : n))",
            ),
            // Under a condition it stays there.
            ("x = n && MIN(b[n], 3);", "if n\n"),
            ("x = ({ int k = n; k++; k * k; });", "let k: int = n\nk post+= 1\nx = (k * k)"),
            (
                "({ int t = a[x]; a[x] = a[n]; a[n] = t; });",
                "let t: int = *(a +4* x)\n*(a +4* x) = *(a +4* n)\n*(a +4* n) = t",
            ),
            ("c[n] = MIN(sqrt(d[n]), 1.0);", "let _a: double = sqrt(*(d +8* n))"),
            ("x = MAX(x, b[n]);", "let _b: int = *(b +4* n)\nx = ((x > _b) ? x : _b)"),
            ("x = ({ if (n < 0) return 1; n; });", "if (n < 0)\n  return 1\nx = n"),
            ("x += ({ int k = *b++; k; });", "let k: int = *b post+= 4"),
            // Conditions and commas that are statements.
            ("n ? (void)(x = 1) : (void)some(n);", "if n\n  x = 1\nelse\n  some(n)"),
            ("n > 3 && (x = 2);", "if (n > 3)\n  x = 2"),
            ("n > 3 || (x = 2);", "if (n > 3)\n  ;\nelse\n  x = 2"),
            ("x = 1, some(x);", "x = 1\nsome(x)"),
            (
                "((void) sizeof ((n > 0) ? 1 : 0), __extension__ ({ if (n > 0) ; else __assert_fail(\"n > 0\", \"f.c\", 1, \"f\"); }));",
                "if (n > 0)\n  ;\nelse\n  __assert_fail(",
            ),
            ("do { x = 1; n = x; } while (0);", "x = 1\n    n = x"),
        ] {
            let text = unfolded(body).replace("\n  ", "\n").replace("\n;", "").replace("const ", "");
            assert!(text.contains(expected), "{body}:\n{text}");
            assert!(!text.contains("statement expression"), "{body}:\n{text}");
        }
    }

    #[test]
    fn what_has_an_order_of_its_own_stays() {
        for body in [
            // Whether the store comes before the load, C leaves open.
            "x = a[n] + ({ a[x] = 1; 2; });",
            "a[n] = a[x]++ + MIN(b[n], b[x]);",
            "a[a[0]] = ({ a[0] = 1; 2; });",
            "x += ({ x = 3; 1; });",
            "x = MIN(some(1), 2) + some(2);",
            "x = shared + MIN(some(1), 2);",
            "c[n] = MIN(sqrt(d[n]), 1.0) + sqrt(d[x]);",
            "c[n] = MIN(sqrt(d[n]), 1.0) + MAX(sqrt(d[x]), 2.0);",
            "x = n + ({ if (n < 0) return 1; n; });",
            // Jumps and loops in there, and what nothing outside can name.
            "x = ({ for (i = 0; i < n; i++) ; i; });",
            "x = ({ static int k; k++; });",
            "x = ({ again: if (n-- > 3) goto again; n; });",
            "x = ({ asm(\"\"); n; });",
            "for (i = 0; i < ({ int k = n--; k; }); i++) a[i] = 1;",
            "x = (n = 3, MIN(b[n], 2));",
            // What is evaluated to find an object that isn't understood.
            "for (i = 0; i < ({ int *z = &*(b++ ?: a); n; }); i++) a[i] = 1;",
        ] {
            let text = unfolded(body);
            assert!(text.contains("statement expression"), "{body}:\n{text}");
        }
        assert!(unfolded("x = ({ int *z = &(int){n++}; n; });").contains("a compound literal"));
        // A turn that is left, and a loop that isn't one.
        assert!(unfolded("do { if (n) break; x = 1; } while (0);").contains("do"));
        assert!(unfolded("do { if (n) continue; x = 1; } while (0);").contains("do"));
        assert!(unfolded("do { ({ if (n) continue; 1; }); x = 1; } while (0);").contains("do"));
        assert!(unfolded("do { x = ({ for (;;) break; if (n) continue; 1; }); } while (0);").contains("do"));
        assert!(unfolded("do { x = 1; } while (n--);").contains("do"));
    }

    #[test]
    fn loops_with_such_macros_are_judged() {
        for body in [
            "for (i = 0; i < n; i++) a[i] = MIN(MAX(b[i], 0), 255);",
            "for (i = MAX(x, 0); i < MIN(n, 1000); i++) a[i] = b[i];",
            "for (i = 0; i < n; i++) { __extension__ ({ if (b[i] > 0) ; else __assert_fail(\"\", \"\", 1, \"\"); }); c[i] = sqrt(d[i]); }",
            "for (i = 0; i < n; i++) { if (b[i] < 0) some(i); a[i] = b[i]; }",
            "for (i = 0; i < n; i++) do { if (d[i] > 0) c[i] = d[i]; } while (0);",
        ] {
            let options = AnalysisOptions { strict_aliasing: true, ..AnalysisOptions::default() };
            let (_, reports) = judged(&function(body), &options);
            assert_eq!(reports.len(), 1, "{body}");
            assert!(reports[0].plan.is_some(), "{body}: {}", reports[0].reason);
        }
    }
}
