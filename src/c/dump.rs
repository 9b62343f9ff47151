//! The typed tree as text, for people: one line for each statement, expressions in one unambiguous notation.
//!
//! Loads are not marked; everything else that C leaves implicit is written out: `(double)i` is a conversion, `p +8* i`
//! a pointer plus an index in elements of 8 bytes, `&x` an address or a decayed array, `5ul` a constant with its type.
//! Nobody parses it.

use std::fmt::Write;

use super::hir::*;

/// The unit's functions and refusals.
pub fn dump(unit: &TranslationUnit) -> String {
    let mut printer = Printer { unit, text: String::new() };
    for function in &unit.functions {
        printer.function(function);
    }
    for refused in &unit.refused {
        // Writing to a string can't fail, here and below.
        let _ = writeln!(printer.text, "refused {}: {}", refused.name, refused.reason);
    }
    printer.text
}

/// A statement of the unit's.
pub fn statement(unit: &TranslationUnit, statement: &Stmt) -> String {
    let mut printer = Printer { unit, text: String::new() };
    printer.statement(statement, 0);
    printer.text
}

/// A type in C-like words, read from left to right: `*const int`, `[3] double`.
pub fn type_text(types: &Types, ty: QualType) -> String {
    let mut quals = String::new();
    for (set, word) in [
        (ty.quals.is_const, "const "),
        (ty.quals.is_volatile, "volatile "),
        (ty.quals.is_restrict, "restrict "),
        (ty.quals.is_atomic, "_Atomic "),
    ] {
        if set {
            quals.push_str(word);
        }
    }
    let name = match types.kind(ty.ty) {
        TypeKind::Void => "void".to_owned(),
        TypeKind::Int(kind) => kind.c_name().to_owned(),
        TypeKind::Enum(kind) => format!("enum:{}", kind.c_name()),
        TypeKind::Float(FloatKind::Float) => "float".to_owned(),
        TypeKind::Float(FloatKind::Double) => "double".to_owned(),
        TypeKind::Float(FloatKind::LongDouble) => "long double".to_owned(),
        TypeKind::Float(FloatKind::Float128) => "_Float128".to_owned(),
        TypeKind::Pointer(to) => return format!("{quals}*{}", type_text(types, *to)),
        TypeKind::Array(element, length) => {
            let length = match length {
                ArrayLen::Known(length) => length.to_string(),
                ArrayLen::Unknown => String::new(),
                ArrayLen::Variable(_) => "?".to_owned(),
            };
            format!("[{length}]{}", type_text(types, *element))
        }
        TypeKind::Record(id) => types.record(*id).tag.clone().unwrap_or_else(|| format!("record#{}", id.0)),
        TypeKind::Function { ret, params, variadic, prototyped } => {
            let mut list: Vec<String> = params.iter().map(|p| type_text(types, *p)).collect();
            if *variadic {
                list.push("...".to_owned());
            }
            if !prototyped {
                list.push("?".to_owned());
            }
            format!("fn({}) {}", list.join(", "), type_text(types, *ret))
        }
        TypeKind::Opaque { what, .. } => format!("<{what}>"),
    };
    quals + &name
}

struct Printer<'a> {
    unit: &'a TranslationUnit,
    text: String,
}

impl Printer<'_> {
    fn ty(&self, ty: QualType) -> String {
        type_text(&self.unit.types, ty)
    }
    fn name(&self, id: VarId) -> &str {
        self.unit.variables.get(id.0 as usize).map_or("?", |variable| &variable.name)
    }
    fn declared(&self, id: VarId) -> String {
        self.unit
            .variables
            .get(id.0 as usize)
            .map_or_else(|| "?".to_owned(), |variable| format!("{}: {}", variable.name, self.ty(variable.ty)))
    }

    fn line(&mut self, depth: usize, text: &str) {
        let _ = writeln!(self.text, "{:1$}{text}", "", depth * 2);
    }

    fn function(&mut self, function: &Function) {
        let params: Vec<String> = function.params.iter().map(|id| self.declared(*id)).collect();
        let result = match self.unit.types.kind(self.unit.var(function.var).ty.ty) {
            TypeKind::Function { ret, .. } => self.ty(*ret),
            _ => "?".to_owned(),
        };
        self.line(0, &format!("fn {}({}) {result}", self.name(function.var), params.join(", ")));
        self.statement(&function.body, 0);
    }

    /// A statement; blocks indent what they hold.
    fn statement(&mut self, statement: &Stmt, depth: usize) {
        match &statement.kind {
            StmtKind::Empty => self.line(depth, ";"),
            StmtKind::Declaration => {}
            StmtKind::Expr(expr) => self.line(depth, &self.expr(expr)),
            StmtKind::Declare { var, init } => {
                let init = match init {
                    None => String::new(),
                    Some(Init::Scalar(expr)) => format!(" = {}", self.expr(expr)),
                    Some(Init::Members(_) | Init::Aggregate) => " = {...}".to_owned(),
                };
                self.line(depth, &format!("let {}{init}", self.declared(*var)));
            }
            StmtKind::Block(list) => list.iter().for_each(|inner| self.statement(inner, depth + 1)),
            StmtKind::If { cond, then, otherwise } => {
                self.line(depth, &format!("if {}", self.expr(cond)));
                self.indented(then, depth);
                if let Some(otherwise) = otherwise {
                    self.line(depth, "else");
                    self.indented(otherwise, depth);
                }
            }
            StmtKind::Loop(found) => self.loop_statement(found, depth),
            StmtKind::Switch { cond, body } => {
                self.line(depth, &format!("switch {}", self.expr(cond)));
                self.indented(body, depth);
            }
            StmtKind::Case { value, body } => {
                let label = match value {
                    None => "default:".to_owned(),
                    Some((low, high)) if low == high => format!("case {low}:"),
                    Some((low, high)) => format!("case {low}..{high}:"),
                };
                self.line(depth, &label);
                self.indented(body, depth);
            }
            StmtKind::Label { name, body } => {
                self.line(depth, &format!("{name}:"));
                self.indented(body, depth);
            }
            StmtKind::Break => self.line(depth, "break"),
            StmtKind::Continue => self.line(depth, "continue"),
            StmtKind::Return(None) => self.line(depth, "return"),
            StmtKind::Return(Some(expr)) => self.line(depth, &format!("return {}", self.expr(expr))),
            StmtKind::Goto(Some(name)) => self.line(depth, &format!("goto {name}")),
            StmtKind::Goto(None) => self.line(depth, "goto *"),
            StmtKind::Leave(what) => {
                self.line(depth, "leave");
                self.indented(what, depth);
            }
            StmtKind::Opaque(what) => self.line(depth, &format!("<{what}>")),
        }
    }

    fn indented(&mut self, statement: &Stmt, depth: usize) {
        let deeper = if matches!(statement.kind, StmtKind::Block(_)) { depth } else { depth + 1 };
        self.statement(statement, deeper);
    }

    fn loop_statement(&mut self, found: &LoopStmt, depth: usize) {
        let mut head = format!("{}#{}", found.keyword, found.id.0);
        if found.keyword_ordinal != (0, 1) {
            let _ = write!(head, " ({} of {})", found.keyword_ordinal.0, found.keyword_ordinal.1);
        }
        if found.unbraced_body {
            head.push_str(" unbraced");
        }
        if let Some(cond) = &found.cond {
            let _ = write!(head, " while {}", self.expr(cond));
        }
        if let Some(step) = &found.step {
            let _ = write!(head, " step {}", self.expr(step));
        }
        for first in &found.init {
            self.statement(first, depth);
        }
        self.line(depth, &head);
        self.indented(&found.body, depth);
    }

    fn expr(&self, expr: &Expr) -> String {
        let two = |op: &str, a: &Expr, b: &Expr| format!("({} {op} {})", self.expr(a), self.expr(b));
        match &expr.kind {
            ExprKind::Int(value) => {
                let suffix = match self.unit.types.kind(expr.ty.ty) {
                    TypeKind::Int(IntKind::Int) => String::new(),
                    TypeKind::Int(IntKind::UInt) => "u".to_owned(),
                    TypeKind::Int(IntKind::Long) => "l".to_owned(),
                    TypeKind::Int(IntKind::ULong) => "ul".to_owned(),
                    _ => format!(":{}", self.ty(expr.ty)),
                };
                format!("{value}{suffix}")
            }
            ExprKind::Float(spelling) => match self.unit.types.as_float(expr.ty.ty) {
                Some(FloatKind::Double) => spelling.clone(),
                Some(FloatKind::Float) => format!("{spelling}f"),
                _ => format!("{spelling}:{}", self.ty(expr.ty)),
            },
            ExprKind::Str(bytes) => format!("{:?}", String::from_utf8_lossy(bytes)),
            ExprKind::Load(place) => self.place(place),
            ExprKind::AddressOf(place) => format!("&{}", self.place(place)),
            ExprKind::Function(id) => format!("&{}", self.name(*id)),
            ExprKind::Unary(op, inner) => {
                let op = match op {
                    UnOp::Neg => "-",
                    UnOp::BitNot => "~",
                    UnOp::Not => "!",
                };
                format!("{op}{}", self.expr(inner))
            }
            ExprKind::Binary(op, a, b) => two(op.c_name(), a, b),
            ExprKind::PtrAdd { pointer, index, stride } => two(&format!("+{stride}*"), pointer, index),
            ExprKind::PtrDiff { left, right, stride } => two(&format!("-/{stride}"), left, right),
            ExprKind::Cast(inner) => format!("({}){}", self.ty(expr.ty), self.expr(inner)),
            ExprKind::Conditional(a, b, c) => {
                format!("({} ? {} : {})", self.expr(a), self.expr(b), self.expr(c))
            }
            ExprKind::LogicalAnd(a, b) => two("&&", a, b),
            ExprKind::LogicalOr(a, b) => two("||", a, b),
            ExprKind::Comma(a, b) => two(",", a, b),
            ExprKind::Assign(place, value) => format!("{} = {}", self.place(place), self.expr(value)),
            ExprKind::AssignOp { op, place, value, compute } => {
                let (place, value) = (self.place(place), self.expr(value));
                format!("{place} {}= {value} in {}", op.c_name(), self.ty(*compute))
            }
            ExprKind::PtrAssign { place, index, stride } => {
                format!("{} +{stride}*= {}", self.place(place), self.expr(index))
            }
            ExprKind::IncDec { place, amount, post } => {
                let order = if *post { "post" } else { "pre" };
                format!("{} {order}+= {amount}", self.place(place))
            }
            ExprKind::Call { callee, args } => {
                let args: Vec<String> = args.iter().map(|arg| self.expr(arg)).collect();
                let callee = match callee {
                    Callee::Named(id) => self.name(*id).to_owned(),
                    Callee::Builtin(name) => name.clone(),
                    Callee::Pointer(pointer) => format!("(*{})", self.expr(pointer)),
                };
                format!("{callee}({})", args.join(", "))
            }
            ExprKind::Opaque(what) => format!("<{what}: {}>", self.ty(expr.ty)),
        }
    }

    fn place(&self, place: &Place) -> String {
        let own = place.ty.quals.is_volatile && !matches!(place.kind, PlaceKind::Field { .. });
        let volatile = if own { "volatile " } else { "" };
        let text = match &place.kind {
            PlaceKind::Var(id) => self.name(*id).to_owned(),
            PlaceKind::Deref(pointer) => format!("*{}", self.expr(pointer)),
            PlaceKind::Field { base, record, field, offset, bits } => {
                let fields = self.unit.types.record(*record).fields.as_ref();
                let name = fields.and_then(|f| f.get(*field as usize)).and_then(|f| f.name.as_deref());
                let bits = bits.map_or(String::new(), |(start, width)| format!(":{start}+{width}"));
                format!("{}.{}@{offset}{bits}", self.place(base), name.unwrap_or(""))
            }
            PlaceKind::Opaque(what) => format!("<{what}>"),
        };
        format!("{volatile}{text}")
    }
}
