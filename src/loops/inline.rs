//! Calls in loops of functions whose bodies are visible, replaced by those bodies in the typed tree: what comes after sees
//! loads, stores and arithmetic, and no calls.
//!
//! Only what gives the bits of `cc` whatever order it chooses: a call whose function stores to memory is replaced where it is
//! all that its statement does; one that only computes, wherever it stands, in conditional operands under their condition. What stands
//! in a loop's head stays a call, and so does everything about which there is a doubt. Nothing is decided here
//! about dependences. The user's text is not touched: generated code is made of the tree.
//!
//! A body that stands in another function must not name anything there by accident: the guard at the loop is compiled in the
//! caller's scopes. So a function that uses file-scope objects is only taken where their names mean the same. That they are no
//! macros there is seen when the text is spliced (`driver::splice`).

use super::addresses;
use super::hoist::{self, Hoist, has_effects, is_stable};
use super::leaving;
use super::libm;
use super::nest;
use super::options::AnalysisOptions;
use super::reason::Advice;
use super::scalars::is_scalar;
use crate::c::hir::*;
use std::borrow::Cow;
use std::collections::HashMap;

/// Calls within calls that are followed.
const DEPTH: usize = 4;
/// Expressions of the largest function that is taken.
pub const LARGEST: usize = 300;
/// Expressions that one function of the user's may grow by.
const GROWTH: usize = 2000;

/// Replaces calls in the loops of every function.
pub fn inline_calls(unit: &mut TranslationUnit, options: &AnalysisOptions) {
    let originals = called_in_loops(unit, options);
    if originals.is_empty() {
        return;
    }
    let definitions: Vec<Span> = unit.functions.iter().map(|f| f.span).collect();
    for caller in 0..unit.functions.len() {
        let empty = Stmt { kind: StmtKind::Empty, span: Span::default() };
        let body = std::mem::replace(&mut unit.functions[caller].body, empty);
        let (var, span) = (unit.functions[caller].var, unit.functions[caller].span);
        let mut inliner = Inliner {
            unit,
            originals: &originals,
            definitions: &definitions,
            caller: span,
            active: vec![var],
            growth: GROWTH,
            options,
            several_errors: false,
        };
        let body = inliner.outside(body);
        unit.functions[caller].body = body;
    }
}

/// Copies of the functions that are called in loops, and in those functions, and may be taken.
fn called_in_loops(unit: &TranslationUnit, options: &AnalysisOptions) -> HashMap<VarId, Function> {
    let mut wanted = Vec::new();
    let note = |body: &Stmt, wanted: &mut Vec<VarId>| {
        nest::all_expressions(body, &mut |e| {
            if let ExprKind::Call { callee: Callee::Named(v), .. } = &e.kind {
                wanted.push(*v);
            }
        });
    };
    for function in &unit.functions {
        nest::statements(&function.body, &mut |s| {
            if let StmtKind::Loop(l) = &s.kind
                && let Some(body) = body_of_interest(unit, l, &|_| true)
            {
                note(&body, &mut wanted);
            }
        });
    }
    let mut found = HashMap::new();
    while let Some(v) = wanted.pop() {
        if !found.contains_key(&v)
            && let Some(function) = unit.functions.iter().find(|f| f.var == v)
            && may_stand_in(unit, function, options)
        {
            let function = Function { body: copied_body(unit, function).clone(), ..function.clone() };
            note(&function.body, &mut wanted);
            found.insert(v, function);
        }
    }
    found
}

/// The body of a loop that would be a candidate but for its calls, without what it does where it is left.
fn body_of_interest<'l>(
    unit: &TranslationUnit,
    l: &'l LoopStmt,
    is_known: leaving::Known,
) -> Option<Cow<'l, Stmt>> {
    let body = match leaving::marked(unit, l, is_known) {
        Some(marked) => Cow::Owned(*marked.body),
        None if super::counted::counted(unit, l).is_ok() => Cow::Borrowed(&*l.body),
        None => return None,
    };
    nest::unsupported_control(&body).is_none().then_some(body)
}

/// Whether a function's body may stand for its calls as far as the function alone says.
fn may_stand_in(unit: &TranslationUnit, function: &Function, options: &AnalysisOptions) -> bool {
    refusal(unit, function, options).is_none()
}

/// Why a function's body can't stand for its calls whatever these are, if so, and what would change that.
pub fn refusal(
    unit: &TranslationUnit,
    function: &Function,
    options: &AnalysisOptions,
) -> Option<(&'static str, Option<Advice>)> {
    let variable = unit.var(function.var);
    if function.extern_inline || function.fixed.is_some() || variable.is_extern {
        return Some(("its body is not the one that is called, or is compiled under rules of its own", None));
    }
    if options.interposable && !function.is_static {
        let advice = Advice::MakeStatic(variable.name.clone());
        return Some(("it may be replaced when the program is linked", Some(advice)));
    }
    let is_plain = |ty: QualType| {
        !ty.quals.is_volatile
            && !ty.quals.is_atomic
            && matches!(
                unit.types.kind(ty.ty),
                TypeKind::Int(_) | TypeKind::Enum(_) | TypeKind::Float(_) | TypeKind::Pointer(_)
            )
    };
    // Structs are copied by their members afterwards (`loops::whole`).
    let is_struct = |ty: QualType| matches!(unit.types.kind(ty.ty), TypeKind::Record(_));
    let is_plain_variable = |v: VarId| {
        let ty = unit.var(v).ty;
        (is_plain(ty) || is_struct(ty)) && !unit.var(v).address_taken
    };
    // Whether they can be private to an iteration, `loops::private` sees where they are used.
    let is_object = |v: VarId| unit.types.size_of(unit.var(v).ty.ty).is_some();
    let no_plain = "a variable of it is no simple number or pointer, or its address is taken";
    let mut found = (!function.params.iter().all(|v| is_plain_variable(*v))).then_some((no_plain, None));
    let body = copied_body(unit, function);
    nest::statements(body, &mut |s| {
        let why = match &s.kind {
            StmtKind::Declare { var, .. } if !is_object(*var) => (no_plain, None),
            StmtKind::Switch { .. } | StmtKind::Case { .. } => ("it has a switch", Some(Advice::IfForSwitch)),
            StmtKind::Label { .. } | StmtKind::Goto(_) => ("it jumps", None),
            StmtKind::Opaque(what) => (*what, None),
            _ => return,
        };
        found.get_or_insert(why);
    });
    if found.is_none() && !returns_at_ends(std::slice::from_ref(body), false) {
        return Some(("it returns before its end", None));
    }
    found
}

/// Whether a function only computes with its parameters and what they point to, so that its body can stand anywhere.
pub fn is_self_contained(unit: &TranslationUnit, function: &Function) -> bool {
    let (mut fine, mut size) = (true, 0);
    nest::all_expressions(&function.body, &mut |e| {
        size += 1;
        let place = match &e.kind {
            ExprKind::AddressOf(place) => Some(place),
            ExprKind::Call { .. } | ExprKind::Opaque(_) => {
                fine = false;
                None
            }
            _ => nest::accessed_place(e).map(|(place, ..)| place),
        };
        if let Some(v) = place.and_then(nest::root_variable) {
            fine &= matches!(unit.var(v).storage, Storage::Local | Storage::Param);
        }
    });
    fine && size <= LARGEST
}

/// The body that is copied to where a function is called.
fn copied_body<'a>(unit: &'a TranslationUnit, function: &'a Function) -> &'a Stmt {
    unit.structured.get(&function.var).unwrap_or(&function.body)
}

fn has_return(s: &Stmt) -> bool {
    let mut found = false;
    nest::statements(s, &mut |s| found |= matches!(s.kind, StmtKind::Return(_)));
    found
}

fn always_returns(s: &Stmt) -> bool {
    match &s.kind {
        StmtKind::Return(_) => true,
        StmtKind::Block(list) => list.iter().any(always_returns),
        StmtKind::If { then, otherwise: Some(otherwise), .. } => {
            always_returns(then) && always_returns(otherwise)
        }
        _ => false,
    }
}

/// Whether each return is the end of what its branch does: then the structure of conditions replaces it. `followed`: whether something comes behind the list.
fn returns_at_ends(list: &[Stmt], followed: bool) -> bool {
    list.iter().enumerate().all(|(n, s)| {
        let followed = followed || n + 1 != list.len();
        let inside = |s: &Stmt| returns_at_ends(std::slice::from_ref(s), followed);
        match &s.kind {
            _ if !has_return(s) => true,
            StmtKind::Return(_) => true,
            StmtKind::Block(inner) => returns_at_ends(inner, followed),
            StmtKind::If { then, otherwise, .. } => {
                let one = always_returns(then) || otherwise.as_deref().is_some_and(always_returns);
                (one || !followed) && inside(then) && otherwise.as_deref().is_none_or(inside)
            }
            _ => false,
        }
    })
}

/// The function that an expression calls by its name.
fn named_callee(e: &Expr) -> Option<VarId> {
    match &e.kind {
        ExprKind::Call { callee: Callee::Named(v), .. } => Some(*v),
        _ => None,
    }
}

/// What a function's variables are where it is copied to.
enum Meaning {
    /// Another variable.
    Variable(VarId),
    /// A parameter that is never assigned: what it was given.
    Value(Expr),
}

type Meanings = HashMap<VarId, Meaning>;

/// Calls that may set errno: in one way only, or in several.
#[derive(Default)]
struct Errors {
    roots: usize,
    libm: usize,
}

struct Inliner<'a> {
    unit: &'a mut TranslationUnit,
    /// The functions that may be copied.
    originals: &'a HashMap<VarId, Function>,
    /// Where functions are defined.
    definitions: &'a [Span],
    /// Where the function is defined that is being changed.
    caller: Span,
    /// The functions that are being copied, the caller first.
    active: Vec<VarId>,
    growth: usize,
    options: &'a AnalysisOptions,
    /// Whether several calls of a full expression may set errno: then the last one has to stay the last.
    several_errors: bool,
}

impl Inliner<'_> {
    /// A statement outside of loops: only the loops in it are of interest.
    fn outside(&mut self, mut s: Stmt) -> Stmt {
        s.kind = match s.kind {
            StmtKind::Block(list) => StmtKind::Block(list.into_iter().map(|s| self.outside(s)).collect()),
            StmtKind::If { cond, then, otherwise } => StmtKind::If {
                cond,
                then: Box::new(self.outside(*then)),
                otherwise: otherwise.map(|s| Box::new(self.outside(*s))),
            },
            StmtKind::Switch { cond, body } => StmtKind::Switch { cond, body: Box::new(self.outside(*body)) },
            StmtKind::Case { value, body } => StmtKind::Case { value, body: Box::new(self.outside(*body)) },
            StmtKind::Label { name, body } => StmtKind::Label { name, body: Box::new(self.outside(*body)) },
            StmtKind::Loop(mut l) => {
                let wanted = self.is_wanted(&l);
                let body = std::mem::replace(&mut *l.body, Stmt { kind: StmtKind::Empty, span: s.span });
                *l.body = if wanted { self.one(body) } else { self.outside(body) };
                StmtKind::Loop(l)
            }
            other => other,
        };
        s
    }

    /// Whether a loop would be a candidate but for its calls, and all of these are of functions that can be taken or that only compute, but for those where it is left.
    fn is_wanted(&mut self, l: &LoopStmt) -> bool {
        let is_known = |callee: &Callee| {
            let is_taken = matches!(callee, Callee::Named(v) if self.originals.contains_key(v));
            is_taken || libm::computes(self.unit, self.options, callee)
        };
        let Some(body) = body_of_interest(self.unit, l, &is_known) else { return false };
        let (mut taken, mut calls, mut unknown) = (Vec::new(), 0, None);
        nest::all_expressions(&body, &mut |e| {
            let Some(v) = named_callee(e) else { return };
            calls += 1;
            if self.originals.contains_key(&v) {
                taken.push(e.span.start);
            } else if !is_known(&Callee::Named(v)) {
                unknown.get_or_insert_with(|| self.unit.var(v).name.clone());
            }
        });
        if let Some(name) = &unknown {
            let why = format!("the loop calls {name}, too, whose effects or exact result are not known");
            self.unit.left_calls.extend(taken.into_iter().map(|call| (call, why.clone())));
        }
        calls > 0 && unknown.is_none()
    }

    /// A statement inside a loop, as one statement.
    fn one(&mut self, s: Stmt) -> Stmt {
        let span = s.span;
        let mut list = self.list(vec![s]);
        match list.len() {
            1 => list.remove(0),
            _ => Stmt { kind: StmtKind::Block(list), span },
        }
    }

    /// Statements inside a loop; what calls do comes in front of the statements that they stand in.
    fn list(&mut self, list: Vec<Stmt>) -> Vec<Stmt> {
        let mut out = Vec::with_capacity(list.len());
        for mut s in list {
            match &mut s.kind {
                StmtKind::Block(inner) => *inner = self.list(std::mem::take(inner)),
                StmtKind::Loop(l) => {
                    let empty = Stmt { kind: StmtKind::Empty, span: s.span };
                    let body = std::mem::replace(&mut *l.body, empty);
                    *l.body = self.one(body);
                }
                StmtKind::If { cond, then, otherwise } => {
                    self.calls_in(cond, false, &mut out);
                    for branch in std::iter::once(then).chain(otherwise) {
                        let empty = Stmt { kind: StmtKind::Empty, span: s.span };
                        let inner = std::mem::replace(&mut **branch, empty);
                        **branch = self.one(inner);
                    }
                }
                StmtKind::Declare { init: Some(Init::Scalar(e)), .. } => {
                    let alone = is_call(e);
                    self.calls_in(e, alone, &mut out);
                }
                StmtKind::Declare { init: Some(Init::Members(list)), .. } => {
                    list.iter_mut().for_each(|(_, e)| self.calls_in(e, false, &mut out));
                }
                StmtKind::Expr(e) => {
                    let alone = match &e.kind {
                        ExprKind::Assign(place, value) => {
                            is_scalar(self.unit, place).is_some() && is_call(value)
                        }
                        _ => is_call(e),
                    };
                    self.calls_in(e, alone, &mut out);
                    if is_replaced(e) {
                        continue;
                    }
                }
                _ => {}
            }
            out.push(s);
        }
        out
    }

    /// Takes the calls out of an expression. `alone`: it is a call, perhaps converted or assigned to a scalar variable, so
    /// that nothing else happens before or after what the function does.
    fn calls_in(&mut self, e: &mut Expr, alone: bool, before: &mut Vec<Stmt>) {
        let mut changes = 0;
        let in_memory = |place: &Place| is_scalar(self.unit, place).is_none();
        let top = nest::accessed_place(e).is_some_and(|(place, _, writes)| writes && in_memory(place));
        nest::expressions(e, &mut |e| {
            changes += usize::from(
                nest::accessed_place(e).is_some_and(|(place, _, writes)| writes && in_memory(place)),
            );
        });
        // Stores other than the outermost one would have an order of their own.
        if changes > usize::from(top) {
            let left_calls = &mut self.unit.left_calls;
            nest::expressions(e, &mut |e| {
                if named_callee(e).is_some() {
                    left_calls.insert(e.span.start, "its statement stores elsewhere, too".to_owned());
                }
            });
            return;
        }
        let mut errors = Errors::default();
        nest::expressions(e, &mut |e| {
            if let ExprKind::Call { callee, .. } = &e.kind {
                self.count_errors(callee, 0, &mut errors);
            }
        });
        self.several_errors = errors.libm != 0 && errors.libm + errors.roots > 1;
        hoist::take(self, e, alone, before);
    }

    /// Counts the calls that may set errno in a call, what a called function does included.
    fn count_errors(&self, callee: &Callee, depth: usize, errors: &mut Errors) {
        let name = match callee {
            Callee::Named(v) => match self.originals.get(v) {
                Some(_) if errors.libm > 1 || depth > DEPTH => {
                    errors.libm = 2;
                    return;
                }
                Some(function) => {
                    return nest::all_expressions(&function.body, &mut |e| {
                        if let ExprKind::Call { callee, .. } = &e.kind {
                            self.count_errors(callee, depth + 1, errors);
                        }
                    });
                }
                None => &self.unit.var(*v).name,
            },
            Callee::Builtin(name) => name,
            Callee::Pointer(_) => return,
        };
        match super::access::exact_function(name) {
            Some(sets_errno) => errors.roots += usize::from(sets_errno),
            None => errors.libm += usize::from(libm::called(self.unit, self.options, callee).is_some()),
        }
    }

    /// Whether calling a function may do more than compute a value of what it is given and what it reads.
    fn may_store(&self, function: &Function, depth: usize) -> bool {
        let mut stores = depth > DEPTH;
        let in_memory = |place: &Place| match nest::root_variable(place).map(|v| self.unit.var(v)) {
            Some(own) => !matches!(own.storage, Storage::Local | Storage::Param) || own.address_taken,
            None => true,
        };
        // Where the program ends nothing that was computed beside it is of use.
        let is_more = |callee: &Callee| {
            !leaving::ends_program(self.unit, callee) && !libm::computes(self.unit, self.options, callee)
        };
        nest::all_expressions(&function.body, &mut |e| {
            stores |= nest::accessed_place(e).is_some_and(|(place, _, writes)| writes && in_memory(place));
            if let (ExprKind::Call { callee, .. }, false) = (&e.kind, stores) {
                stores = match callee {
                    Callee::Named(v) => match self.originals.get(v) {
                        Some(function) => self.may_store(function, depth + 1),
                        None => is_more(callee),
                    },
                    _ => is_more(callee),
                };
            }
        });
        stores
    }

    /// Whether nothing is changed by evaluating it but `errno`.
    fn only_computes(&self, e: &Expr) -> bool {
        let mut computes = true;
        nest::expressions(e, &mut |e| {
            computes &= match &e.kind {
                ExprKind::Opaque(_) => false,
                ExprKind::Call { callee, .. } => libm::computes(self.unit, self.options, callee),
                _ => !nest::accessed_place(e).is_some_and(|(.., writes)| writes),
            };
        });
        computes
    }

    /// Copies a function's body to `before`; the value of the call, or why the body can't stand for it.
    fn call(
        &mut self,
        function: &Function,
        args: &[Expr],
        ty: QualType,
        span: Span,
        alone: bool,
        before: &mut Vec<Stmt>,
    ) -> Result<Expr, &'static str> {
        if args.len() != function.params.len() {
            return Err("it is given more or fewer values than it has parameters");
        }
        if args.iter().any(|e| has_effects(e) && (self.several_errors || !self.only_computes(e))) {
            return Err("what it is given changes something, too");
        }
        let calls_itself = |s: &Stmt| {
            let mut found = false;
            nest::all_expressions(s, &mut |e| found |= named_callee(e) == Some(function.var));
            found
        };
        if self.active.contains(&function.var) || calls_itself(&function.body) {
            return Err("it calls itself");
        }
        if self.active.len() > DEPTH {
            return Err("it is called by functions that are called by others, too deep to follow");
        }
        self.means_the_same(function)?;
        let mut size = 0;
        nest::all_expressions(&function.body, &mut |_| size += 1);
        if !alone && self.may_store(function, 0) {
            return Err("it stores to memory, and more than the call stands in its statement");
        }
        if !alone && self.several_errors {
            return Err("several calls in its statement may set errno");
        }
        if size > LARGEST {
            return Err("it is too large");
        }
        if size > self.growth {
            return Err("the function around the loop has grown enough by others");
        }
        self.growth -= size;
        let mut meanings = Meanings::new();
        let mut assigned = Vec::new();
        nest::all_expressions(&function.body, &mut |e| {
            if let Some((Place { kind: PlaceKind::Var(v), .. }, _, true)) = nest::accessed_place(e) {
                assigned.push(*v);
            }
        });
        let mut made = Vec::new();
        for (param, argument) in function.params.iter().zip(args) {
            let wanted = self.unit.var(*param).ty;
            let mut value = argument.clone();
            if self.unit.types.kind(value.ty.ty) != self.unit.types.kind(wanted.ty) {
                value = Expr { span: value.span, ty: wanted, kind: ExprKind::Cast(Box::new(value)) };
            }
            if !assigned.contains(param) && is_stable(self.unit, &value) {
                meanings.insert(*param, Meaning::Value(value));
            } else {
                let var = self.fresh(*param);
                meanings.insert(*param, Meaning::Variable(var));
                made.push(Stmt { kind: StmtKind::Declare { var, init: Some(Init::Scalar(value)) }, span });
            }
        }
        let result = match self.unit.types.kind(ty.ty) {
            TypeKind::Void => None,
            _ => {
                let name = format!("{}(...)", self.unit.var(function.var).name);
                let var = self.unit.new_variable(&name, ty, span);
                made.push(Stmt { kind: StmtKind::Declare { var, init: None }, span });
                Some(var)
            }
        };
        let body = self.tail(std::slice::from_ref(&function.body), result, &mut meanings);
        let body = body.ok_or("it returns before its end")?;
        self.active.push(function.var);
        made.extend(self.list(body));
        self.active.pop();
        before.append(&mut made);
        Ok(match result {
            Some(var) => {
                let place = self.unit.new_place(PlaceKind::Var(var), ty, span);
                Expr { kind: ExprKind::Load(place), ty, span }
            }
            None => Expr { kind: ExprKind::Opaque(REPLACED), ty, span },
        })
    }

    /// Whether the file-scope names of a function mean the same in the caller, where generated text has to name them.
    fn means_the_same(&self, function: &Function) -> Result<(), &'static str> {
        let unit = &*self.unit;
        let inside = |outer: Span, inner: Span| outer.start <= inner.start && inner.end <= outer.end;
        let mut found = Ok(());
        nest::all_expressions(&function.body, &mut |e| {
            let place = match &e.kind {
                ExprKind::AddressOf(place) => Some(place),
                _ => nest::accessed_place(e).map(|(place, ..)| place),
            };
            let Some(v) = place.and_then(nest::root_variable) else { return };
            let variable = unit.var(v);
            let why = match variable.storage {
                Storage::Local | Storage::Param => return,
                Storage::StaticLocal => "it has a static variable of its own, which nothing else can name",
                Storage::ThreadLocal => "it uses a thread-local variable",
                Storage::Global => {
                    let is_the_same = variable.span.end <= self.caller.start
                        && !self.definitions.iter().any(|f| inside(*f, variable.span))
                        && !unit
                            .variables
                            .iter()
                            .any(|other| other.name == variable.name && inside(self.caller, other.span));
                    if is_the_same {
                        return;
                    }
                    "a name in it may mean something else here"
                }
            };
            found = found.and(Err(why));
        });
        found
    }

    /// A variable of a copied function.
    fn fresh(&mut self, original: VarId) -> VarId {
        let id = VarId(self.unit.variables.len() as u32);
        let copy = Variable { storage: Storage::Local, ..self.unit.var(original).clone() };
        self.unit.variables.push(copy);
        id
    }

    /// Copies statements whose returns are at ends: what follows a branch that returns goes into the other one.
    fn tail(&mut self, list: &[Stmt], result: Option<VarId>, meanings: &mut Meanings) -> Option<Vec<Stmt>> {
        let mut out = Vec::new();
        for (n, s) in list.iter().enumerate() {
            if !has_return(s) {
                out.push(self.copy(s, meanings));
                continue;
            }
            let rest = &list[n + 1..];
            let joined = |s: &Stmt, rest: &[Stmt]| -> Vec<Stmt> {
                std::iter::once(s.clone()).chain(rest.iter().cloned()).collect()
            };
            match &s.kind {
                StmtKind::Return(value) => {
                    if let Some(value) = value {
                        let value = self.copy_expr(value, meanings);
                        let (ty, span) = (value.ty, s.span);
                        let kind = match result {
                            Some(var) => {
                                let ty = self.unit.var(var).ty;
                                ExprKind::Assign(
                                    self.unit.new_place(PlaceKind::Var(var), ty, span),
                                    Box::new(value),
                                )
                            }
                            None => value.kind,
                        };
                        out.push(Stmt { kind: StmtKind::Expr(Expr { kind, ty, span }), span });
                    }
                }
                StmtKind::Block(inner) => {
                    let all: Vec<Stmt> = inner.iter().chain(rest).cloned().collect();
                    out.extend(self.tail(&all, result, meanings)?);
                }
                StmtKind::If { cond, then, otherwise } => {
                    let nothing = Stmt { kind: StmtKind::Empty, span: s.span };
                    let otherwise = otherwise.as_deref().unwrap_or(&nothing);
                    let (then, otherwise) = match (always_returns(then), always_returns(otherwise)) {
                        (true, true) => (vec![(**then).clone()], vec![otherwise.clone()]),
                        (true, false) => (vec![(**then).clone()], joined(otherwise, rest)),
                        (false, true) => (joined(then, rest), vec![otherwise.clone()]),
                        (false, false) if rest.is_empty() => {
                            (vec![(**then).clone()], vec![otherwise.clone()])
                        }
                        (false, false) => return None,
                    };
                    let cond = truth(self.copy_expr(cond, meanings));
                    if let ExprKind::Int(known) = cond.kind {
                        let branch = if known != 0 { then } else { otherwise };
                        out.extend(self.tail(&branch, result, meanings)?);
                        break;
                    }
                    let mut block = |list: &[Stmt]| {
                        let list = self.tail(list, result, meanings)?;
                        Some(Box::new(Stmt { kind: StmtKind::Block(list), span: s.span }))
                    };
                    let (then, otherwise) = (block(&then)?, block(&otherwise)?);
                    let kind = StmtKind::If { cond, then, otherwise: Some(otherwise) };
                    out.push(Stmt { kind, span: s.span });
                }
                _ => return None,
            }
            break;
        }
        Some(out)
    }

    fn copy(&mut self, s: &Stmt, meanings: &mut Meanings) -> Stmt {
        let kind = match &s.kind {
            StmtKind::Expr(e) => StmtKind::Expr(self.copy_expr(e, meanings)),
            StmtKind::Declare { var, init } => {
                let init = init.as_ref().map(|init| match init {
                    Init::Scalar(e) => Init::Scalar(self.copy_expr(e, meanings)),
                    Init::Members(list) => {
                        let copies = list.iter().map(|(at, e)| (*at, self.copy_expr(e, meanings)));
                        Init::Members(copies.collect())
                    }
                    Init::Aggregate => Init::Aggregate,
                });
                StmtKind::Declare { var: self.meaning(*var, meanings), init }
            }
            StmtKind::Block(list) => StmtKind::Block(list.iter().map(|s| self.copy(s, meanings)).collect()),
            StmtKind::If { cond, then, otherwise } => {
                let cond = truth(self.copy_expr(cond, meanings));
                match (&cond.kind, otherwise) {
                    (ExprKind::Int(0), None) => StmtKind::Empty,
                    (ExprKind::Int(0), Some(otherwise)) => return self.copy(otherwise, meanings),
                    (ExprKind::Int(_), _) => return self.copy(then, meanings),
                    _ => StmtKind::If {
                        cond,
                        then: Box::new(self.copy(then, meanings)),
                        otherwise: otherwise.as_ref().map(|s| Box::new(self.copy(s, meanings))),
                    },
                }
            }
            StmtKind::Loop(l) => {
                self.unit.n_loops += 1;
                StmtKind::Loop(LoopStmt {
                    id: LoopId(self.unit.n_loops - 1),
                    is_copy: true,
                    init: l.init.iter().map(|s| self.copy(s, meanings)).collect(),
                    cond: l.cond.as_ref().map(|e| self.copy_expr(e, meanings)),
                    step: l.step.as_ref().map(|e| self.copy_expr(e, meanings)),
                    body: Box::new(self.copy(&l.body, meanings)),
                    ..l.clone()
                })
            }
            other => other.clone(),
        };
        Stmt { kind, span: s.span }
    }

    /// The variable that a function's own variable is in this copy.
    fn meaning(&mut self, v: VarId, meanings: &mut Meanings) -> VarId {
        match meanings.get(&v) {
            Some(Meaning::Variable(other)) => *other,
            Some(Meaning::Value(_)) => v,
            None if matches!(self.unit.var(v).storage, Storage::Local | Storage::Param) => {
                let other = self.fresh(v);
                meanings.insert(v, Meaning::Variable(other));
                other
            }
            None => v,
        }
    }

    fn copy_place(&mut self, place: &Place, meanings: &mut Meanings) -> Place {
        let kind = match &place.kind {
            PlaceKind::Var(v) => PlaceKind::Var(self.meaning(*v, meanings)),
            PlaceKind::Deref(e) => {
                let pointer = self.copy_expr(e, meanings);
                match addresses::pointed(&pointer, place.ty) {
                    Some(place) => place.kind,
                    None => PlaceKind::Deref(Box::new(pointer)),
                }
            }
            PlaceKind::Field { base, record, field, offset, bits } => PlaceKind::Field {
                base: Box::new(self.copy_place(base, meanings)),
                record: *record,
                field: *field,
                offset: *offset,
                bits: *bits,
            },
            PlaceKind::Opaque(what) => PlaceKind::Opaque(what),
        };
        self.unit.new_place(kind, place.ty, place.span)
    }

    fn copy_expr(&mut self, e: &Expr, meanings: &mut Meanings) -> Expr {
        if let ExprKind::Load(Place { kind: PlaceKind::Var(v), .. }) = &e.kind
            && let Some(Meaning::Value(value)) = meanings.get(v)
        {
            // It stands in the caller, whose variables mean themselves; only its places are new ones.
            let value = value.clone();
            return self.copy_expr(&value, &mut Meanings::from_iter(own_variables(&value)));
        }
        let mut boxed = |e: &Expr| Box::new(self.copy_expr(e, meanings));
        let kind = match &e.kind {
            ExprKind::Load(place) => ExprKind::Load(self.copy_place(place, meanings)),
            ExprKind::AddressOf(place) => ExprKind::AddressOf(self.copy_place(place, meanings)),
            ExprKind::Unary(op, a) => ExprKind::Unary(*op, boxed(a)),
            ExprKind::Binary(op, a, b) => ExprKind::Binary(*op, boxed(a), boxed(b)),
            ExprKind::PtrAdd { pointer, index, stride } => {
                ExprKind::PtrAdd { pointer: boxed(pointer), index: boxed(index), stride: *stride }
            }
            ExprKind::PtrDiff { left, right, stride } => {
                ExprKind::PtrDiff { left: boxed(left), right: boxed(right), stride: *stride }
            }
            ExprKind::Cast(a) => ExprKind::Cast(boxed(a)),
            ExprKind::Conditional(a, b, c) => ExprKind::Conditional(boxed(a), boxed(b), boxed(c)),
            ExprKind::LogicalAnd(a, b) => ExprKind::LogicalAnd(boxed(a), boxed(b)),
            ExprKind::LogicalOr(a, b) => ExprKind::LogicalOr(boxed(a), boxed(b)),
            ExprKind::Comma(a, b) => ExprKind::Comma(boxed(a), boxed(b)),
            ExprKind::Assign(place, value) => {
                let value = boxed(value);
                ExprKind::Assign(self.copy_place(place, meanings), value)
            }
            ExprKind::AssignOp { op, place, value, compute } => {
                let value = boxed(value);
                ExprKind::AssignOp {
                    op: *op,
                    place: self.copy_place(place, meanings),
                    value,
                    compute: *compute,
                }
            }
            ExprKind::PtrAssign { place, index, stride } => {
                let index = boxed(index);
                ExprKind::PtrAssign { place: self.copy_place(place, meanings), index, stride: *stride }
            }
            ExprKind::IncDec { place, amount, post } => {
                ExprKind::IncDec { place: self.copy_place(place, meanings), amount: *amount, post: *post }
            }
            ExprKind::Call { callee, args } => ExprKind::Call {
                callee: match callee {
                    Callee::Pointer(f) => Callee::Pointer(boxed(f)),
                    other => other.clone(),
                },
                args: args.iter().map(|a| self.copy_expr(a, meanings)).collect(),
            },
            other => other.clone(),
        };
        Expr { kind, ty: e.ty, span: e.span }
    }
}

impl Hoist for Inliner<'_> {
    fn unit(&mut self) -> &mut TranslationUnit {
        self.unit
    }

    fn replace(&mut self, e: &mut Expr, alone: bool, before: &mut Vec<Stmt>) {
        if let ExprKind::Call { callee: Callee::Named(callee), args } = &e.kind
            && let Some(function) = self.originals.get(callee)
        {
            match self.call(function, args, e.ty, e.span, alone, before) {
                Ok(value) => *e = value,
                Err(why) => drop(self.unit.left_calls.insert(e.span.start, why.to_owned())),
            }
        }
    }
}

/// A condition, known if it asks whether the address of a variable, or nothing, is null.
fn truth(e: Expr) -> Expr {
    let is_null = |e: &Expr| {
        let mut e = e;
        while let ExprKind::Cast(inner) = &e.kind {
            e = inner;
        }
        matches!(e.kind, ExprKind::Int(0))
    };
    let asks = |a: &Expr, b: &Expr| addresses::is_address(a) && is_null(b);
    let known = match &e.kind {
        ExprKind::Unary(UnOp::Not, a) if addresses::is_address(a) => Some(0),
        ExprKind::Unary(UnOp::Not, a) if is_null(a) => Some(1),
        ExprKind::Binary(BinOp::Eq, a, b) if asks(a, b) || asks(b, a) => Some(0),
        ExprKind::Binary(BinOp::Ne, a, b) if asks(a, b) || asks(b, a) => Some(1),
        ExprKind::Binary(BinOp::Eq, a, b) if is_null(a) && is_null(b) => Some(1),
        ExprKind::Binary(BinOp::Ne, a, b) if is_null(a) && is_null(b) => Some(0),
        _ if is_null(&e) => Some(0),
        _ => addresses::is_address(&e).then_some(1),
    };
    match known {
        Some(value) => Expr { kind: ExprKind::Int(value), ..e },
        None => e,
    }
}

/// Each variable of an expression as itself.
fn own_variables(e: &Expr) -> Vec<(VarId, Meaning)> {
    let mut found = Vec::new();
    nest::expressions(e, &mut |e| {
        let place = match &e.kind {
            ExprKind::AddressOf(place) => Some(place),
            _ => nest::accessed_place(e).map(|(place, ..)| place),
        };
        if let Some(v) = place.and_then(nest::root_variable) {
            found.push((v, Meaning::Variable(v)));
        }
    });
    found
}

/// What is left of a call without a value whose body stands in front of it.
const REPLACED: &str = "a call that was replaced";

fn is_replaced(e: &Expr) -> bool {
    match &e.kind {
        ExprKind::Cast(inner) => is_replaced(inner),
        ExprKind::Opaque(REPLACED) => true,
        _ => false,
    }
}

/// Whether an expression is a call, perhaps converted.
fn is_call(e: &Expr) -> bool {
    match &e.kind {
        ExprKind::Cast(inner) => is_call(inner),
        ExprKind::Call { .. } => true,
        _ => false,
    }
}
