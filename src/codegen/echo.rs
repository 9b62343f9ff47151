//! Echo: every lowered function printed back as C from the typed tree alone, so that it can be compiled instead of the user's
//! text. A program that still passes its tests then is the proof that the front end understands what it reads.
//!
//! Statements and expressions are printed from the tree with every conversion written out. Two things keep the user's text:
//! declarations, but for the initial values of scalars (their text says what no tree of ours does: attributes, storage,
//! lengths of arrays), and what lowering itself calls opaque. Not here: anything that is used when programs are compiled
//! for speed.

use crate::c::hir::*;
use std::collections::BTreeMap;
use std::fmt::Write;

/// The macro-expanded text with the body of each lowered function replaced, and how many were.
pub struct Echo {
    /// C text, macros expanded.
    pub text: String,
    /// Functions printed from the tree.
    pub printed: usize,
}

/// Prints all of a unit's functions. Those with directives inside (pragmas mean something to the compiler, and are in no
/// tree) keep their text.
pub fn echo(expanded: &str, unit: &TranslationUnit) -> Echo {
    let mut printer = Printer { unit, source: expanded, names: record_names(unit), text: String::new() };
    let mut text = String::with_capacity(expanded.len() * 2);
    let (mut done, mut printed) = (0usize, 0usize);
    for function in &unit.functions {
        let (start, end) = (function.body.span.start as usize, function.body.span.end as usize);
        let Some(own) = expanded.get(start..end).filter(|_| start >= done) else { continue };
        if own.contains("#pragma") {
            continue;
        }
        printer.text.clear();
        printer.statement(&function.body);
        text.push_str(&expanded[done..start]);
        text.push_str(&printer.text);
        // What follows stands where it stood.
        let _ = write!(text, "\n# {} \"{}\"\n", line_of(unit, expanded, function), file_of(unit, function));
        done = end;
        printed += 1;
    }
    text.push_str(&expanded[done..]);
    Echo { text, printed }
}

/// The line of a function's closing brace, by its first line and the line breaks of its text; it is only used for
/// messages.
fn line_of(_: &TranslationUnit, expanded: &str, function: &Function) -> usize {
    let text = expanded.get(function.span.start as usize..function.body.span.end as usize).unwrap_or("");
    function.span.line as usize + text.matches('\n').count()
}

fn file_of(unit: &TranslationUnit, function: &Function) -> String {
    unit.files.get(function.span.file as usize).cloned().unwrap_or_default()
}

/// How each record can be named at any place: by its tag or typedef name, if no other record has the same one.
fn record_names(unit: &TranslationUnit) -> BTreeMap<RecordId, String> {
    let mut owners: BTreeMap<String, Vec<RecordId>> = BTreeMap::new();
    for id in unit.types.record_ids() {
        let record = unit.types.record(id);
        if let Some(name) = record.tag.as_ref().or(record.alias.as_ref()) {
            owners.entry(name.clone()).or_default().push(id);
        }
    }
    owners.into_iter().filter(|(_, ids)| ids.len() == 1).map(|(name, ids)| (ids[0], name)).collect()
}

struct Printer<'a> {
    unit: &'a TranslationUnit,
    source: &'a str,
    names: BTreeMap<RecordId, String>,
    text: String,
}

impl Printer<'_> {
    // ---- Types.

    /// The name of a type as a cast has it; `None` if it can't be named.
    fn type_name(&self, ty: QualType) -> Option<String> {
        self.declared(ty, String::new())
    }

    /// `ty` with `inner` in the declarator's place.
    fn declared(&self, ty: QualType, inner: String) -> Option<String> {
        let mut quals = String::new();
        for (set, word) in [
            (ty.quals.is_const, "const "),
            (ty.quals.is_volatile, "volatile "),
            (ty.quals.is_atomic, "_Atomic "),
            (ty.quals.is_restrict, "__restrict "),
        ] {
            if set {
                quals.push_str(word);
            }
        }
        let base = match self.unit.types.kind(ty.ty) {
            TypeKind::Void => "void",
            TypeKind::Int(kind) | TypeKind::Enum(kind) => kind.c_name(),
            TypeKind::Float(FloatKind::Float) => "float",
            TypeKind::Float(FloatKind::Double) => "double",
            TypeKind::Float(FloatKind::LongDouble) => "long double",
            TypeKind::Float(FloatKind::Float128) => "_Float128",
            TypeKind::Pointer(to) => {
                let behind =
                    matches!(self.unit.types.kind(to.ty), TypeKind::Array(..) | TypeKind::Function { .. });
                let pointer = format!("*{quals}{inner}");
                return self.declared(*to, if behind { format!("({pointer})") } else { pointer });
            }
            TypeKind::Array(element, ArrayLen::Known(length)) => {
                return self.declared(*element, format!("{inner}[{length}]"));
            }
            TypeKind::Array(element, ArrayLen::Unknown) => {
                return self.declared(*element, format!("{inner}[]"));
            }
            TypeKind::Array(_, ArrayLen::Variable(_)) | TypeKind::Opaque { .. } => return None,
            TypeKind::Record(id) => self.names.get(id)?,
            TypeKind::Function { ret, params, variadic, prototyped } => {
                let mut list = Vec::new();
                for parameter in params {
                    list.push(self.type_name(*parameter)?);
                }
                if *variadic {
                    list.push("...".to_owned());
                }
                if list.is_empty() && *prototyped {
                    list.push("void".to_owned());
                }
                return self.declared(*ret, format!("{inner}({})", list.join(", ")));
            }
        };
        Some(format!("{quals}{base} {inner}"))
    }

    // ---- Statements.

    fn verbatim(&self, span: Span) -> &str {
        let (start, end) = self.balanced(span);
        self.source.get(start..end).unwrap_or("")
    }

    /// A span with the parentheses at its ends that belong to those inside. Where a parse view has left out parentheses,
    /// spans do too.
    fn balanced(&self, span: Span) -> (usize, usize) {
        let (mut start, mut end) = (span.start as usize, span.end as usize);
        let (mut open, mut unopened) = (0usize, 0usize);
        let mut quote = None;
        let mut bytes = self.source.as_bytes().get(start..end).unwrap_or(&[]).iter();
        while let Some(byte) = bytes.next() {
            match (byte, quote) {
                (b'\\', Some(_)) => {
                    bytes.next();
                }
                (byte, Some(q)) if *byte == q => quote = None,
                (_, Some(_)) => {}
                (b'"' | b'\'', None) => quote = Some(*byte),
                (b'(', None) => open += 1,
                (b')', None) if open == 0 => unopened += 1,
                (b')', None) => open -= 1,
                _ => {}
            }
        }
        for _ in 0..unopened {
            let before = self.source[..start].trim_end();
            match before.strip_suffix('(') {
                Some(rest) => start = rest.len(),
                None => break,
            }
        }
        for _ in 0..open {
            let after = self.source[end..].trim_start();
            match after.strip_prefix(')') {
                Some(rest) => end = self.source.len() - rest.len(),
                None => break,
            }
        }
        (start, end)
    }

    fn line(&mut self, text: &str) {
        self.text.push_str(text);
        self.text.push('\n');
    }

    fn statement(&mut self, statement: &Stmt) {
        match &statement.kind {
            StmtKind::Empty => self.line(";"),
            StmtKind::Expr(expr) => {
                let text = self.expr(expr);
                self.line(&format!("{text};"));
            }
            StmtKind::Declare { .. } | StmtKind::Declaration => {
                self.declarations(std::slice::from_ref(statement))
            }
            StmtKind::Block(list) => {
                self.line("{");
                self.statements(list);
                self.line("}");
            }
            StmtKind::If { cond, then, otherwise } => {
                let cond = self.expr(cond);
                self.line(&format!("if ({cond}) {{"));
                self.statement(then);
                if let Some(otherwise) = otherwise {
                    self.line("} else {");
                    self.statement(otherwise);
                }
                self.line("}");
            }
            StmtKind::Loop(found) => self.loop_statement(found),
            StmtKind::Switch { cond, body } => {
                let cond = self.expr(cond);
                self.line(&format!("switch ({cond})"));
                self.statement(body);
            }
            StmtKind::Case { value, body } => {
                match value {
                    None => self.line("default:"),
                    Some((low, high)) if low == high => self.line(&format!("case {}:", integer(*low))),
                    Some((low, high)) => {
                        self.line(&format!("case {} ... {}:", integer(*low), integer(*high)))
                    }
                }
                self.labelled(body);
            }
            StmtKind::Label { name, body } => {
                self.line(&format!("{name}:"));
                self.labelled(body);
            }
            StmtKind::Break => self.line("break;"),
            StmtKind::Continue => self.line("continue;"),
            StmtKind::Return(None) => self.line("return;"),
            StmtKind::Return(Some(expr)) => {
                let text = self.expr(expr);
                self.line(&format!("return {text};"));
            }
            StmtKind::Goto(Some(name)) => self.line(&format!("goto {name};")),
            StmtKind::Leave(what) => self.statement(what),
            StmtKind::Goto(None) | StmtKind::Opaque(_) => {
                let text = format!("{};", self.verbatim(statement.span));
                self.line(&text);
            }
        }
    }

    /// What a label stands in front of: C wants a statement there.
    fn labelled(&mut self, body: &Stmt) {
        if matches!(body.kind, StmtKind::Declare { .. } | StmtKind::Declaration) {
            self.line(";");
        }
        self.statement(body);
    }

    /// The statements of a block; the variables of one declaration are printed together.
    fn statements(&mut self, list: &[Stmt]) {
        let mut rest = list;
        while let [first, ..] = rest {
            let is_declare = |s: &Stmt| matches!(s.kind, StmtKind::Declare { .. });
            let together = match is_declare(first) {
                true => rest.iter().take_while(|s| is_declare(s) && s.span == first.span).count(),
                false => 1,
            };
            let (now, later) = rest.split_at(together);
            if is_declare(first) {
                self.declarations(now)
            } else {
                self.statement(first)
            }
            rest = later;
        }
        // A label at the end of what the tree has as its body would stand in front of nothing.
        if let Some(Stmt { kind: StmtKind::Label { .. } | StmtKind::Case { .. }, .. }) = list.last() {
            self.line(";");
        }
    }

    /// One declaration: the user's text with the values of scalars printed from the tree.
    fn declarations(&mut self, declares: &[Stmt]) {
        let Some(first) = declares.first() else { return };
        let (start, end) = (first.span.start as usize, first.span.end as usize);
        let mut text = String::new();
        let mut done = start;
        for statement in declares {
            let StmtKind::Declare { init: Some(Init::Scalar(value)), .. } = &statement.kind else { continue };
            let (from, to) = self.balanced(value.span);
            if from < done || to > end || to <= from {
                continue;
            }
            text.push_str(self.source.get(done..from).unwrap_or(""));
            text.push_str(&self.expr(value));
            done = to;
        }
        text.push_str(self.source.get(done..end).unwrap_or(""));
        if !text.trim_end().ends_with(';') {
            text.push(';');
        }
        self.line(&text);
    }

    fn loop_statement(&mut self, found: &LoopStmt) {
        self.line("{");
        self.statements(&found.init);
        let cond = found.cond.as_ref().map(|cond| self.expr(cond)).unwrap_or_default();
        let step = found.step.as_ref().map(|step| self.expr(step)).unwrap_or_default();
        match found.keyword {
            LoopKeyword::For => self.line(&format!("for (; {cond}; {step}) {{")),
            LoopKeyword::While => self.line(&format!("while ({cond}) {{")),
            LoopKeyword::Do => self.line("do {"),
        }
        self.statement(&found.body);
        if found.keyword == LoopKeyword::Do {
            self.line(&format!("}} while ({cond});"));
        } else {
            self.line("}");
        }
        self.line("}");
    }

    // ---- Expressions.

    fn expr(&self, expr: &Expr) -> String {
        let two = |op: &str, a: &Expr, b: &Expr| format!("({} {op} {})", self.expr(a), self.expr(b));
        match &expr.kind {
            ExprKind::Int(value) => self.integer_constant(*value, expr.ty),
            ExprKind::Float(spelling) => {
                let whole = !spelling.contains(['.', 'e', 'E', 'p', 'P', 'n', 'i']);
                let suffix = match self.unit.types.as_float(expr.ty.ty) {
                    Some(FloatKind::Float) => "f",
                    Some(FloatKind::LongDouble) => "L",
                    Some(FloatKind::Float128) => "f128",
                    _ => "",
                };
                format!("{spelling}{}{suffix}", if whole { ".0" } else { "" })
            }
            ExprKind::Str(bytes) => string(bytes),
            ExprKind::Load(place) => self.place(place),
            ExprKind::AddressOf(place) => {
                let whole = self.unit.types.pointee(expr.ty.ty).is_some_and(|to| to.ty == place.ty.ty);
                let decays = matches!(self.unit.types.kind(place.ty.ty), TypeKind::Array(..)) && !whole;
                if decays { self.place(place) } else { format!("(&{})", self.place(place)) }
            }
            ExprKind::Function(id) => self.unit.var(*id).name.clone(),
            ExprKind::Unary(op, inner) => {
                let op = match op {
                    UnOp::Neg => "-",
                    UnOp::BitNot => "~",
                    UnOp::Not => "!",
                };
                format!("({op} {})", self.expr(inner))
            }
            ExprKind::Binary(op, a, b) => two(op.c_name(), a, b),
            ExprKind::PtrAdd { pointer, index, stride } => self.pointer_sum(expr, pointer, index, *stride),
            ExprKind::PtrDiff { left, right, .. } => two("-", left, right),
            ExprKind::Cast(inner) => match self.type_name(expr.ty) {
                Some(name) => format!("(({name}){})", self.expr(inner)),
                // Written out by the user, or one that C makes by itself.
                None => format!("({})", self.verbatim(expr.span)),
            },
            ExprKind::Conditional(c, a, b) => {
                format!("({} ? {} : {})", self.expr(c), self.expr(a), self.expr(b))
            }
            ExprKind::LogicalAnd(a, b) => two("&&", a, b),
            ExprKind::LogicalOr(a, b) => two("||", a, b),
            ExprKind::Comma(a, b) => two(",", a, b),
            ExprKind::Assign(place, value) => format!("({} = {})", self.place(place), self.expr(value)),
            ExprKind::AssignOp { op, place, value, .. } => {
                format!("({} {}= {})", self.place(place), op.c_name(), self.expr(value))
            }
            ExprKind::PtrAssign { place, index, .. } => {
                format!("({} += {})", self.place(place), self.expr(index))
            }
            ExprKind::IncDec { place, amount, post } => {
                let (op, place) = (if *amount > 0 { "++" } else { "--" }, self.place(place));
                if *post { format!("({place}{op})") } else { format!("({op}{place})") }
            }
            ExprKind::Call { callee, args } => {
                let args: Vec<String> = args.iter().map(|arg| self.expr(arg)).collect();
                let callee = match callee {
                    Callee::Named(id) => self.unit.var(*id).name.clone(),
                    Callee::Builtin(name) => name.clone(),
                    Callee::Pointer(pointer) => format!("({})", self.expr(pointer)),
                };
                format!("{callee}({})", args.join(", "))
            }
            ExprKind::Opaque(_) => format!("({})", self.verbatim(expr.span)),
        }
    }

    /// A pointer moved by an index: as C has it where the pointer's type has the stride, in bytes otherwise.
    fn pointer_sum(&self, whole: &Expr, pointer: &Expr, index: &Expr, stride: u64) -> String {
        let (p, i) = (self.expr(pointer), self.expr(index));
        let types = &self.unit.types;
        let target = types.pointee(pointer.ty.ty);
        // Such a type has no name here.
        if target.is_some_and(|to| types.is_of_variable_length(to.ty)) {
            return format!("((__typeof__({p}))((char *){p} + (long){i} * {stride}))");
        }
        let natural = target.and_then(|to| types.size_of(to.ty)).is_none_or(|size| size == stride);
        match self.type_name(whole.ty).filter(|_| !natural) {
            Some(name) => format!("(({name})((char *){p} + (long){i} * {stride}))"),
            None => format!("({p} + {i})"),
        }
    }

    fn integer_constant(&self, value: i128, ty: QualType) -> String {
        let kind = match self.unit.types.kind(ty.ty) {
            TypeKind::Int(kind) => Some(*kind),
            _ => None,
        };
        let low = |suffix: &str, minimum: i128| match value {
            v if v == minimum => format!("(-{}{suffix} - 1)", -(v + 1)),
            v if v < 0 => format!("(-{}{suffix})", -v),
            v => format!("{v}{suffix}"),
        };
        match kind {
            Some(IntKind::Int) => low("", i128::from(i32::MIN)),
            Some(IntKind::Long) => low("l", i128::from(i64::MIN)),
            Some(IntKind::LongLong) => low("ll", i128::from(i64::MIN)),
            Some(IntKind::UInt) => format!("{value}u"),
            Some(IntKind::ULong) => format!("{value}ul"),
            Some(IntKind::ULongLong) => format!("{value}ull"),
            _ => match self.type_name(ty) {
                Some(name) => format!("(({name}){})", integer(value)),
                None => integer(value),
            },
        }
    }

    fn place(&self, place: &Place) -> String {
        match &place.kind {
            PlaceKind::Var(id) => self.unit.var(*id).name.clone(),
            PlaceKind::Deref(pointer) => format!("(*{})", self.expr(pointer)),
            PlaceKind::Field { base, record, field, .. } => {
                let fields = self.unit.types.record(*record).fields.as_ref();
                let name = fields.and_then(|f| f.get(*field as usize)).and_then(|f| f.name.as_deref());
                match name {
                    Some(name) => format!("{}.{name}", self.place(base)),
                    // The members of an unnamed member are those of what it stands in.
                    None => self.place(base),
                }
            }
            PlaceKind::Opaque(_) => format!("({})", self.verbatim(place.span)),
        }
    }
}

/// An integer of any size, with a type that holds it.
fn integer(value: i128) -> String {
    if value < i128::from(i64::MIN) || value > i128::from(u64::MAX) {
        let (high, low) = ((value >> 64) as i64, value as u64);
        let high = integer(i128::from(high));
        return format!("((__int128)(((unsigned __int128)({high}) << 64) | {low}ull))");
    }
    match value {
        v if v == i128::from(i64::MIN) => format!("(-{}ll - 1)", i64::MAX),
        v if v > i128::from(i64::MAX) => format!("{v}ull"),
        v if i32::try_from(v).is_ok() && v != i128::from(i32::MIN) => format!("({v})"),
        v => format!("({v}ll)"),
    }
}

/// A string literal with these bytes.
fn string(bytes: &[u8]) -> String {
    let mut text = String::from("\"");
    for byte in bytes {
        match byte {
            b' ' | b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' => text.push(*byte as char),
            // Three octal digits end by themselves.
            _ => {
                let _ = write!(text, "\\{byte:03o}");
            }
        }
    }
    text.push('"');
    text
}
