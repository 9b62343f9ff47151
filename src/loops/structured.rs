//! Jumps in loop bodies as conditions: `switch` statements, and `goto` to labels further down in the same body, become `if`
//! statements in the typed tree. What comes after needs no rule for them. So do returns, in a second body of each small function, which `loops::inline` copies to
//! where it is called.
//!
//! What follows a conditional jump is copied into the branches up to the first place that all of them reach. So every path
//! through the new body does what it did in the old one, in the same order, and no condition is evaluated twice. Loops aren't
//! copied (each stands in the text once), and a body that would grow too much stays as it is, as do bodies with jumps that go
//! back, that leave an inner loop, or that come from outside. A jump out of the loop itself stays one. The user's text is not touched: generated code is made of the tree.
//!
//! Nothing here is about `break` and `continue` of the loop itself; a `continue` stays one.

use super::inline;
use super::nest;
use crate::c::hir::*;
use std::collections::{BTreeMap, BTreeSet};

/// Expressions that a body may have afterwards, besides four times those that it had.
const GROWTH: usize = 400;
/// Most conditions that may stand inside each other in a body that is rewritten: whoever walks the tree uses its stack.
const DEEPEST: usize = 60;

/// Replaces the jumps in the loops of every function.
pub fn structure_jumps(unit: &mut TranslationUnit) {
    for number in 0..unit.functions.len() {
        let jumps = Jumps::of(&unit.functions[number].body);
        if !jumps.any {
            continue;
        }
        let span = unit.functions[number].body.span;
        let body = std::mem::replace(&mut unit.functions[number].body, Stmt { kind: StmtKind::Empty, span });
        let mut rewriter = Rewriter { unit, jumps: &jumps, depth: 0 };
        let body = rewriter.loops_in(body);
        unit.functions[number].body = body;
    }
}

/// Makes the bodies of functions that jump, or that return before their ends, such that nothing follows a return
/// ([`TranslationUnit::structured`]), for those who copy them to where they are called.
pub fn structure_functions(unit: &mut TranslationUnit) {
    for number in 0..unit.functions.len() {
        let body = &unit.functions[number].body;
        let (mut returns, mut size) = (0, 0);
        nest::statements(body, &mut |s| returns += usize::from(matches!(s.kind, StmtKind::Return(_))));
        nest::all_expressions(body, &mut |_| size += 1);
        if returns < 2 && !has_jump(body, false) || size > inline::LARGEST {
            continue;
        }
        let jumps = Jumps::of(body);
        let (var, body, variables) = (unit.functions[number].var, body.clone(), unit.variables.len());
        match (Rewriter { unit, jumps: &jumps, depth: 0 }).rewritten(&body, true) {
            Some(body) => {
                unit.structured.insert(var, body);
            }
            None => unit.variables.truncate(variables),
        }
    }
}

/// Whether a statement, or one in it, leaves the function.
fn has_return(s: &Stmt) -> bool {
    let mut found = false;
    nest::statements(s, &mut |s| found |= matches!(s.kind, StmtKind::Return(_)));
    found
}

/// What a function's jumps are.
struct Jumps {
    /// Whether there is any in a loop.
    any: bool,
    /// How many lead to each label.
    to: BTreeMap<String, usize>,
    /// Whether some may lead anywhere.
    unknown: bool,
}

impl Jumps {
    fn of(body: &Stmt) -> Jumps {
        let mut jumps = Jumps { any: false, to: BTreeMap::new(), unknown: false };
        nest::statements(body, &mut |s| match &s.kind {
            StmtKind::Goto(Some(label)) => *jumps.to.entry(label.clone()).or_default() += 1,
            StmtKind::Goto(None) | StmtKind::Opaque(_) => jumps.unknown = true,
            StmtKind::Loop(l) => {
                nest::statements(&l.body, &mut |inner| jumps.any |= is_jump(inner));
            }
            _ => {}
        });
        nest::all_expressions(body, &mut |e| jumps.unknown |= matches!(e.kind, ExprKind::Opaque(_)));
        jumps
    }
}

fn is_jump(s: &Stmt) -> bool {
    matches!(
        s.kind,
        StmtKind::Switch { .. } | StmtKind::Case { .. } | StmtKind::Label { .. } | StmtKind::Goto(_)
    )
}

/// Whether a statement, or one in it, is a jump or a place that one leads to. `breaks`: a `break` is a jump, too (that of a
/// `switch`).
fn has_jump(s: &Stmt, breaks: bool) -> bool {
    match &s.kind {
        StmtKind::Break => breaks,
        StmtKind::Block(list) => list.iter().any(|s| has_jump(s, breaks)),
        StmtKind::If { then, otherwise, .. } => {
            has_jump(then, breaks) || otherwise.as_ref().is_some_and(|s| has_jump(s, breaks))
        }
        StmtKind::Loop(l) => l.init.iter().any(|s| has_jump(s, false)) || has_jump(&l.body, false),
        _ => is_jump(s),
    }
}

/// A place that a jump leads to.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
enum Target {
    Label(String),
    /// Behind a `switch`; they are numbered from 1. 0: behind all, where the body is a function's.
    End(usize),
}

/// One step of a body.
#[derive(Clone)]
enum Step {
    /// A statement without jumps.
    Plain(Stmt),
    Place(Target),
    Jump(Target),
    /// A condition whose branches have jumps.
    Branch {
        cond: Expr,
        then: Vec<Step>,
        otherwise: Vec<Step>,
        span: Span,
    },
    /// A `switch`; its [`Target::End`] follows it.
    Choice {
        cond: Expr,
        body: Vec<Step>,
        span: Span,
    },
    /// A `case`, or `default`.
    Case(Option<(i128, i128)>),
}

/// What a `switch` does for some values: ranges, ends included.
struct CaseBranch {
    values: Vec<(i128, i128)>,
    list: Vec<Stmt>,
}

struct Rewriter<'a> {
    unit: &'a mut TranslationUnit,
    jumps: &'a Jumps,
    /// Conditions around what is being rewritten.
    depth: usize,
}

impl Rewriter<'_> {
    /// A statement with the bodies of all loops in it rewritten where that is possible, innermost first.
    fn loops_in(&mut self, mut s: Stmt) -> Stmt {
        s.kind = match s.kind {
            StmtKind::Block(list) => StmtKind::Block(list.into_iter().map(|s| self.loops_in(s)).collect()),
            StmtKind::If { cond, then, otherwise } => StmtKind::If {
                cond,
                then: Box::new(self.loops_in(*then)),
                otherwise: otherwise.map(|s| Box::new(self.loops_in(*s))),
            },
            StmtKind::Switch { cond, body } => {
                StmtKind::Switch { cond, body: Box::new(self.loops_in(*body)) }
            }
            StmtKind::Case { value, body } => StmtKind::Case { value, body: Box::new(self.loops_in(*body)) },
            StmtKind::Label { name, body } => StmtKind::Label { name, body: Box::new(self.loops_in(*body)) },
            StmtKind::Loop(mut l) => {
                let empty = Stmt { kind: StmtKind::Empty, span: s.span };
                let body = self.loops_in(std::mem::replace(&mut *l.body, empty));
                let variables = self.unit.variables.len();
                *l.body = match self.rewritten(&body, false) {
                    Some(new) => new,
                    None => {
                        self.unit.variables.truncate(variables);
                        body
                    }
                };
                StmtKind::Loop(l)
            }
            other => other,
        };
        s
    }

    /// A loop's body without jumps, or a function's, whose returns are jumps, too: then nothing follows them.
    fn rewritten(&mut self, body: &Stmt, is_function: bool) -> Option<Stmt> {
        if !has_jump(body, false) && !is_function || self.comes_from_outside(body) {
            return None;
        }
        let mut labels = BTreeSet::new();
        nest::statements(body, &mut |s| {
            if let StmtKind::Label { name, .. } = &s.kind {
                labels.insert(name.clone());
            }
        });
        let mut steps = Reading { returns: is_function, ends: 0, labels }.steps(body, None)?;
        steps.push(Step::Place(Target::End(0)));
        let mut size = 0;
        nest::all_expressions(body, &mut |_| size += 1);
        let mut room = 4 * size + GROWTH;
        let list = self.run(&steps.iter().collect::<Vec<_>>(), &mut room)?;
        let mut new = Stmt { kind: StmtKind::Block(list), span: body.span };
        // A variable stays one of the body where all ways lead around its declaration.
        let lost: Vec<VarId> = declared(body).difference(&declared(&new)).copied().collect();
        if let StmtKind::Block(list) = &mut new.kind {
            let declare = |var| Stmt { kind: StmtKind::Declare { var, init: None }, span: body.span };
            list.splice(0..0, lost.into_iter().map(declare));
        }
        let mut seen = BTreeSet::new();
        let mut once = true;
        nest::statements(&new, &mut |s| {
            if let StmtKind::Loop(l) = &s.kind {
                once &= seen.insert(l.id);
            }
        });
        if !once {
            return None;
        }
        nest::change_statement(&mut new, &mut nest::Numbered(&mut self.unit.n_places));
        Some(new)
    }

    /// Whether a label in a body may be jumped to from elsewhere.
    fn comes_from_outside(&self, body: &Stmt) -> bool {
        let mut inside: BTreeMap<&str, usize> = BTreeMap::new();
        let mut labels = Vec::new();
        nest::statements(body, &mut |s| match &s.kind {
            StmtKind::Goto(Some(label)) => *inside.entry(label).or_default() += 1,
            StmtKind::Label { name, .. } => labels.push(name),
            _ => {}
        });
        let all = |label: &String| self.jumps.to.get(label).copied().unwrap_or(0);
        !labels.is_empty() && self.jumps.unknown
            || labels.iter().any(|label| inside.get(label.as_str()).copied().unwrap_or(0) != all(label))
    }

    /// Statements that do what the steps do, `deeper` conditions further in.
    fn run_inside(&mut self, steps: &[&Step], deeper: usize, room: &mut usize) -> Option<Vec<Stmt>> {
        self.depth += deeper;
        let list = if self.depth > DEEPEST { None } else { self.run(steps, room) };
        self.depth -= deeper;
        list
    }

    /// Statements that do what the steps do.
    fn run(&mut self, steps: &[&Step], room: &mut usize) -> Option<Vec<Stmt>> {
        let mut out = Vec::new();
        let mut at = 0;
        while let Some(step) = steps.get(at) {
            at += 1;
            match step {
                Step::Place(_) | Step::Case(_) => {}
                Step::Plain(s) => {
                    let mut size = 1;
                    nest::all_expressions(s, &mut |_| size += 1);
                    *room = room.checked_sub(size)?;
                    out.push(s.clone());
                    if matches!(
                        s.kind,
                        StmtKind::Continue | StmtKind::Break | StmtKind::Return(_) | StmtKind::Goto(_)
                    ) {
                        break;
                    }
                }
                Step::Jump(target) => at += position(&steps[at..], target)?,
                Step::Branch { cond, then, otherwise, span } => {
                    let join = self.join(steps, at - 1)?;
                    let mut branch = |steps_inside: &[Step]| {
                        let list = self.run_inside(&joined(steps_inside, &steps[at..join]), 1, room)?;
                        Some(Box::new(Stmt { kind: StmtKind::Block(list), span: *span }))
                    };
                    let (then, otherwise) = (branch(then)?, branch(otherwise)?);
                    let otherwise = match &otherwise.kind {
                        StmtKind::Block(list) if list.is_empty() => None,
                        _ => Some(otherwise),
                    };
                    let kind = StmtKind::If { cond: cond.clone(), then, otherwise };
                    out.push(Stmt { kind, span: *span });
                    at = join;
                }
                Step::Choice { cond, body, span } => {
                    let join = self.join(steps, at - 1)?;
                    self.choice(cond, body, &steps[at..join], *span, room, &mut out)?;
                    at = join;
                }
            }
        }
        Some(out)
    }

    /// The first place behind the step at `from` that everything that it does leads to, at the latest the end.
    fn join(&self, steps: &[&Step], from: usize) -> Option<usize> {
        let mut join = from + 1;
        let mut next = from;
        while next < join {
            for target in targets(std::slice::from_ref(steps[next])) {
                // What leads into its own branches is found when they are run.
                if let Some(ahead) = position(&steps[next + 1..], &target) {
                    join = join.max(next + 1 + ahead + 1);
                }
            }
            next += 1;
        }
        Some(join)
    }

    /// A `switch`, and the steps from there to where all of its cases meet.
    fn choice(
        &mut self,
        cond: &Expr,
        body: &[Step],
        rest: &[&Step],
        span: Span,
        room: &mut usize,
        out: &mut Vec<Stmt>,
    ) -> Option<()> {
        let var = self.unit.new_variable("the value of a switch", cond.ty, span);
        let first = body.iter().position(|step| matches!(step, Step::Case(_))).unwrap_or(body.len());
        // What stands in front of the cases is never executed.
        let declare = StmtKind::Declare { var, init: Some(Init::Scalar(cond.clone())) };
        out.push(Stmt { kind: declare, span });
        let mut otherwise: Option<Vec<Stmt>> = None;
        let mut branches: Vec<CaseBranch> = Vec::new();
        let mut at = first;
        while at < body.len() {
            if !matches!(body[at], Step::Case(_)) {
                at += 1;
                continue;
            }
            let mut values = Vec::new();
            let mut is_default = false;
            while let Some(Step::Case(value)) = body.get(at) {
                match value {
                    Some(value) => values.push(*value),
                    None => is_default = true,
                }
                at += 1;
            }
            let list = self.run_inside(&joined(&body[at..], rest), branches.len() + 1, room)?;
            match is_default {
                true => otherwise = Some(list),
                false => branches.push(CaseBranch { values, list }),
            }
        }
        let mut otherwise = match otherwise {
            Some(otherwise) => otherwise,
            None => self.run_inside(rest, branches.len(), room)?,
        };
        for CaseBranch { values, list } in branches.into_iter().rev() {
            let cond = self.one_of(var, &values, span)?;
            let block = |list| Box::new(Stmt { kind: StmtKind::Block(list), span });
            let kind = StmtKind::If { cond, then: block(list), otherwise: Some(block(otherwise)) };
            otherwise = vec![Stmt { kind, span }];
        }
        out.extend(otherwise);
        Some(())
    }

    /// Whether a variable has one of some values.
    fn one_of(&mut self, var: VarId, values: &[(i128, i128)], span: Span) -> Option<Expr> {
        let ty = self.unit.var(var).ty;
        let int =
            QualType { ty: self.unit.types.intern(TypeKind::Int(IntKind::Int)), quals: Quals::default() };
        let compare = |op, value: i128| {
            let place = Place { id: PlaceId(0), kind: PlaceKind::Var(var), ty, span };
            let load = Box::new(Expr { kind: ExprKind::Load(place), ty, span });
            let value = Box::new(Expr { kind: ExprKind::Int(value), ty, span });
            Expr { kind: ExprKind::Binary(op, load, value), ty: int, span }
        };
        let both = |kind: fn(Box<Expr>, Box<Expr>) -> ExprKind, a, b| Expr {
            kind: kind(Box::new(a), Box::new(b)),
            ty: int,
            span,
        };
        values
            .iter()
            .map(|(low, high)| match low == high {
                true => compare(BinOp::Eq, *low),
                false => both(ExprKind::LogicalAnd, compare(BinOp::Ge, *low), compare(BinOp::Le, *high)),
            })
            .reduce(|a, b| both(ExprKind::LogicalOr, a, b))
    }
}

fn declared(s: &Stmt) -> BTreeSet<VarId> {
    let mut found = BTreeSet::new();
    nest::statements(s, &mut |s| {
        if let StmtKind::Declare { var, .. } = &s.kind {
            found.insert(*var);
        }
    });
    found
}

/// Where a target stands among steps.
fn position(steps: &[&Step], target: &Target) -> Option<usize> {
    steps.iter().position(|step| matches!(step, Step::Place(place) if place == target))
}

fn joined<'a>(steps: &'a [Step], rest: &[&'a Step]) -> Vec<&'a Step> {
    steps.iter().chain(rest.iter().copied()).collect()
}

/// The places that steps jump to.
fn targets(steps: &[Step]) -> Vec<Target> {
    let mut found = Vec::new();
    for step in steps {
        match step {
            Step::Jump(target) => found.push(target.clone()),
            Step::Branch { then, otherwise, .. } => {
                found.extend(targets(then));
                found.extend(targets(otherwise));
            }
            Step::Choice { body, .. } => found.extend(targets(body)),
            Step::Plain(_) | Step::Place(_) | Step::Case(_) => {}
        }
    }
    found
}

/// Reads a body as steps.
struct Reading {
    /// Whether returns are jumps.
    returns: bool,
    /// The switches so far.
    ends: usize,
    /// Labels in the body.
    labels: BTreeSet<String>,
}

impl Reading {
    /// A statement as steps; `end`: where a `break` of the `switch` around it leads. `None` if a jump has no place among them.
    fn steps(&mut self, s: &Stmt, end: Option<usize>) -> Option<Vec<Step>> {
        let stays = !has_jump(s, end.is_some()) && (!self.returns || !has_return(s));
        if stays {
            return Some(vec![Step::Plain(s.clone())]);
        }
        Some(match &s.kind {
            StmtKind::Block(list) => {
                let mut all = Vec::new();
                for s in list {
                    all.extend(self.steps(s, end)?);
                }
                all
            }
            StmtKind::If { cond, then, otherwise } => {
                let then = self.steps(then, end)?;
                let otherwise = match otherwise {
                    Some(otherwise) => self.steps(otherwise, end)?,
                    None => Vec::new(),
                };
                // Nothing jumps into a branch.
                if then
                    .iter()
                    .chain(&otherwise)
                    .any(|step| matches!(step, Step::Place(Target::Label(_)) | Step::Case(_)))
                {
                    return None;
                }
                vec![Step::Branch { cond: cond.clone(), then, otherwise, span: s.span }]
            }
            StmtKind::Switch { cond, body } => {
                self.ends += 1;
                let own = self.ends;
                let body = self.steps(body, Some(own))?;
                // Cases are found in the list itself only, and so are labels that others jump to.
                if body.iter().any(|step| matches!(step, Step::Place(Target::Label(_)))) {
                    return None;
                }
                vec![Step::Choice { cond: cond.clone(), body, span: s.span }, Step::Place(Target::End(own))]
            }
            StmtKind::Case { value, body } => {
                // Of a `switch` in this body, not of one around the loop.
                end?;
                let mut all = vec![Step::Case(*value)];
                all.extend(self.steps(body, end)?);
                all
            }
            StmtKind::Label { name, body } => {
                let mut all = vec![Step::Place(Target::Label(name.clone()))];
                all.extend(self.steps(body, end)?);
                all
            }
            StmtKind::Goto(Some(label)) if self.labels.contains(label) => {
                vec![Step::Jump(Target::Label(label.clone()))]
            }
            // It leaves the loop whose body this is, and stays what it is (`loops::leaving`).
            StmtKind::Goto(Some(_)) if !self.returns => {
                vec![Step::Plain(s.clone()), Step::Jump(Target::End(0))]
            }
            StmtKind::Break => vec![Step::Jump(Target::End(end?))],
            StmtKind::Return(_) => vec![Step::Plain(s.clone()), Step::Jump(Target::End(0))],
            // Jumps that leave a loop, or that lead anywhere.
            _ => return None,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::c::dialect::Dialect;

    /// Whether jumps are left in the only function of a text.
    fn has_jumps(text: &str) -> bool {
        let mut unit = crate::c::lower_unit(text, &Dialect::default());
        structure_jumps(&mut unit);
        let mut found = false;
        nest::statements(&unit.functions[0].body, &mut |s| found |= is_jump(s));
        found
    }

    #[test]
    fn many_cases_stay_a_switch() {
        let text = |cases: usize| {
            let cases: String = (0..cases).map(|k| format!("case {k}: a[i] = {k}; break;\n")).collect();
            format!("void f(int n, int *a) {{ for (int i = 0; i < n; i++) switch (a[i]) {{ {cases} }} }}")
        };
        assert!(!has_jumps(&text(40)));
        assert!(has_jumps(&text(3000)));
    }

    #[test]
    fn many_conditional_jumps_stay() {
        let text = |jumps: usize| {
            let jumps: String = (0..jumps).map(|k| format!("if (a[i] == {k}) goto end;\n")).collect();
            format!("void f(int n, int *a) {{ for (int i = 0; i < n; i++) {{ {jumps} a[i] = 1; end:; }} }}")
        };
        assert!(!has_jumps(&text(40)));
        assert!(has_jumps(&text(3000)));
    }
}
