//! Statements: blocks, loops, branches, labels, jumps.

use tree_sitter::Node;

use super::super::constant;
use super::super::hir::*;
use super::source::{field, named, parts};
use super::{Lowered, Lowering};

impl Lowering<'_> {
    /// The statements of a block whose scope is already open.
    pub(super) fn block_items(&mut self, block: Node) -> Lowered<Vec<Stmt>> {
        let mut statements = Vec::new();
        for node in named(block) {
            self.item_of_block(node, &mut statements)?;
        }
        Ok(statements)
    }

    /// One declaration or statement of a block.
    fn item_of_block(&mut self, node: Node, statements: &mut Vec<Stmt>) -> Lowered<()> {
        let result = self.nested(|lowering| match node.kind() {
            "declaration" | "type_definition" | "struct_specifier" | "union_specifier" | "enum_specifier" => {
                statements.extend(lowering.declaration_in_block(node)?);
                Ok(())
            }
            "function_definition" => Err("a nested function".into()),
            _ => lowering.statement(node, false, statements),
        });
        self.located(result, node)
    }

    /// A statement that is part of another one. The grammar counts all that follows a `case` to it, C only one
    /// statement: the others stand behind the whole, where `behind` has them.
    fn substatement(&mut self, node: Node, unbraced: bool, behind: &mut Vec<Stmt>) -> Lowered<Box<Stmt>> {
        let span = self.source.span(node);
        let mut statements = Vec::new();
        let result = self.nested(|lowering| lowering.statement(node, unbraced, &mut statements));
        self.located(result, node)?;
        if statements.is_empty() {
            return Ok(Box::new(Stmt { kind: StmtKind::Empty, span }));
        }
        behind.extend(statements.drain(1..));
        let first = statements.pop();
        first.map(Box::new).ok_or_else(|| "a statement without a body".into())
    }

    /// A statement. Labels in front of several statements make several of it.
    fn statement(&mut self, node: Node, unbraced: bool, statements: &mut Vec<Stmt>) -> Lowered<()> {
        let mut span = self.source.span(node);
        let mut behind = Vec::new();
        let kind = match node.kind() {
            "compound_statement" => StmtKind::Block(self.in_block(|lowering| lowering.block_items(node))?),
            "expression_statement" => match named(node).as_slice() {
                [] => StmtKind::Empty,
                [expr] if is_assembly(*expr) => {
                    self.mark_used(self.token_range(*expr));
                    StmtKind::Opaque("asm")
                }
                [expr] if expr.kind() == "call_expression" && self.source.spelling(*expr) == "goto" => {
                    // Where it leads is nothing that a loop of ours may depend on.
                    self.value(field(*expr, "arguments").and_then(|a| only(&named(a)))?)?;
                    StmtKind::Goto(None)
                }
                [expr] => StmtKind::Expr(self.value(*expr)?),
                _ => return Err("a statement of several expressions".into()),
            },
            "if_statement" => {
                let cond = self.controlling(node)?;
                let then = self.substatement(field(node, "consequence")?, true, &mut behind)?;
                if !behind.is_empty() && node.child_by_field_name("alternative").is_some() {
                    return Err("a case label without a block in front of an else".into());
                }
                let otherwise = match node.child_by_field_name("alternative") {
                    None => None,
                    Some(clause) => match named(clause).as_slice() {
                        [inner] => Some(self.substatement(*inner, true, &mut behind)?),
                        _ => return Err("an else without a statement".into()),
                    },
                };
                StmtKind::If { cond, then, otherwise }
            }
            "switch_statement" => {
                let cond = self.controlling(node)?;
                let cond = self.promoted(cond)?;
                let kind =
                    self.types().as_int(cond.ty.ty).ok_or("a switch on something that is no integer")?;
                self.switches()?.push(kind);
                let body = self.substatement(field(node, "body")?, true, &mut behind)?;
                self.switches()?.pop();
                StmtKind::Switch { cond, body }
            }
            "case_statement" => return self.case(node, unbraced, statements),
            "labeled_statement" => return self.labelled(node, unbraced, statements),
            "for_statement" => self.in_block(|lowering| lowering.for_statement(node, unbraced))?,
            "while_statement" => {
                let mut found = self.loop_statement(node, LoopKeyword::While, unbraced)?;
                found.cond = Some(self.controlling(node)?);
                found.body = self.substatement(field(node, "body")?, true, &mut behind)?;
                StmtKind::Loop(found)
            }
            "do_statement" => {
                let mut found = self.loop_statement(node, LoopKeyword::Do, unbraced)?;
                found.body = self.substatement(field(node, "body")?, true, &mut behind)?;
                found.cond = Some(self.controlling(node)?);
                StmtKind::Loop(found)
            }
            "return_statement" => StmtKind::Return(self.return_value(node)?),
            "break_statement" => StmtKind::Break,
            "continue_statement" => StmtKind::Continue,
            "goto_statement" => StmtKind::Goto(Some(self.source.spelling(field(node, "label")?).to_owned())),
            other => return Err(format!("the statement {other}").into()),
        };
        if !behind.is_empty() {
            span.end = match &kind {
                StmtKind::If { otherwise: Some(last), .. } | StmtKind::If { then: last, .. } => last.span.end,
                StmtKind::Loop(found) => found.body.span.end,
                _ => span.end,
            };
        }
        statements.push(Stmt { kind, span });
        statements.append(&mut behind);
        Ok(())
    }

    /// A declaration with all of its tokens, also the attributes in front that the tree doesn't have.
    fn declaration_in_block(&mut self, node: Node) -> Lowered<Vec<Stmt>> {
        let mut statements = self.declaration(node)?;
        let mut tokens = self.token_range(node);
        let before = self.source.map.tokens().filter(|other| *other < tokens.start).max();
        tokens.start = before.map_or(tokens.start, |before| before + 1);
        let span = self.tokens.span_of(tokens.start, tokens.end.saturating_sub(1));
        for statement in &mut statements {
            statement.span = span;
        }
        if statements.is_empty() {
            statements.push(Stmt { kind: StmtKind::Declaration, span });
        }
        Ok(statements)
    }

    fn switches(&mut self) -> Lowered<&mut Vec<IntKind>> {
        match &mut self.function {
            Some(function) => Ok(&mut function.switches),
            None => Err("a statement outside a function".into()),
        }
    }

    /// The condition in parentheses.
    fn controlling(&mut self, node: Node) -> Lowered<Expr> {
        let value = self.value(field(node, "condition")?)?;
        self.condition(value)
    }

    fn return_value(&mut self, node: Node) -> Lowered<Option<Expr>> {
        let Some(function) = &self.function else { return Err("a return outside a function".into()) };
        let result = function.result;
        match named(node).as_slice() {
            [] => Ok(None),
            [expr] => {
                let value = self.value(*expr)?;
                if self.is_void(result) {
                    let void = self.void();
                    return Ok(Some(self.cast(value, void)));
                }
                self.assigned(value, result).map(Some)
            }
            _ => Err("a return of several values".into()),
        }
    }

    // ---- Labels.

    fn labelled(&mut self, node: Node, unbraced: bool, statements: &mut Vec<Stmt>) -> Lowered<()> {
        let span = self.source.span(node);
        let name = self.source.spelling(field(node, "label")?).to_owned();
        // Which of two a jump leads to, their scopes say (`__label__`), which the tree doesn't have.
        if self.function.as_mut().is_some_and(|function| !function.labels.insert(name.clone())) {
            return Err(format!("two labels {name}").into());
        }
        let first = statements.len();
        let inner = named(node).into_iter().nth(1).ok_or("a label without a statement")?;
        if inner.kind() == "declaration" {
            let declared = self.declaration_in_block(inner)?;
            statements.extend(declared);
        } else {
            self.nested(|lowering| lowering.statement(inner, unbraced, statements))?;
        }
        put_label(statements, first, span, |body| StmtKind::Label { name, body });
        Ok(())
    }

    fn case(&mut self, node: Node, unbraced: bool, statements: &mut Vec<Stmt>) -> Lowered<()> {
        let span = self.source.span(node);
        let kind = *self.switches()?.last().ok_or("a case outside a switch")?;
        let value_node = node.child_by_field_name("value");
        let value = match value_node {
            Some(value) => Some(self.case_values(value, kind)?),
            None => None,
        };
        let first = statements.len();
        for part in named(node) {
            if Some(part) == value_node {
                continue;
            }
            match part.kind() {
                "declaration" | "type_definition" => statements.extend(self.declaration_in_block(part)?),
                _ => self.nested(|lowering| lowering.statement(part, unbraced, statements))?,
            }
        }
        put_label(statements, first, span, |body| StmtKind::Case { value, body });
        Ok(())
    }

    /// Lowest and highest value of a `case`; the view writes a range as `pg_range(low, high)`.
    fn case_values(&mut self, node: Node, kind: IntKind) -> Lowered<(i128, i128)> {
        let range = node.kind() == "call_expression" && self.source.spelling(node) == "case";
        if range {
            let [low, high] = named(field(node, "arguments")?)[..] else { return Err("a case range".into()) };
            return Ok((self.case_value(low, kind)?, self.case_value(high, kind)?));
        }
        let value = self.case_value(node, kind)?;
        Ok((value, value))
    }

    fn case_value(&mut self, node: Node, kind: IntKind) -> Lowered<i128> {
        let value = self.value(node)?;
        let value = constant::fold(self.types(), &value).ok_or("a case that isn't constant")?;
        constant::wrap(value, kind).ok_or_else(|| "a case out of range".into())
    }

    // ---- Loops.

    /// A loop with its keyword, still without what belongs to it.
    fn loop_statement(&mut self, node: Node, keyword: LoopKeyword, unbraced_body: bool) -> Lowered<LoopStmt> {
        let token = self.source.token(node).ok_or("a loop without a keyword")?;
        if self.tokens.spelling(token) != keyword.to_string() {
            return Err("a loop without its keyword".into());
        }
        self.loops += 1;
        Ok(LoopStmt {
            id: LoopId(self.loops - 1),
            keyword,
            init: Vec::new(),
            cond: None,
            step: None,
            body: Box::new(Stmt { kind: StmtKind::Empty, span: self.source.span(node) }),
            keyword_span: self.tokens.span(token),
            keyword_ordinal: self.tokens.loop_keyword_ordinal(token),
            unbraced_body,
            is_copy: false,
            is_block: false,
            counter: None,
        })
    }

    fn for_statement(&mut self, node: Node, unbraced: bool) -> Lowered<StmtKind> {
        let mut found = self.loop_statement(node, LoopKeyword::For, unbraced)?;
        let expression = |lowering: &mut Self, name: &str| match node.child_by_field_name(name) {
            Some(part) => lowering.value(part).map(Some),
            None => Ok(None),
        };
        match node.child_by_field_name("initializer") {
            None => {}
            Some(init) if init.kind() == "declaration" => found.init = self.declaration_in_block(init)?,
            Some(init) => {
                let expr = self.value(init)?;
                found.init = vec![Stmt { span: expr.span, kind: StmtKind::Expr(expr) }];
            }
        }
        if let Some(cond) = expression(self, "condition")? {
            found.cond = Some(self.condition(cond)?);
        }
        found.step = expression(self, "update")?;
        let mut behind = Vec::new();
        found.body = self.substatement(field(node, "body")?, true, &mut behind)?;
        if !behind.is_empty() {
            // What follows would have been read in the loop's scope.
            return Err("a case label without a block in a for statement".into());
        }
        Ok(StmtKind::Loop(found))
    }
}

fn only<'t>(nodes: &[Node<'t>]) -> Lowered<Node<'t>> {
    match nodes {
        [only] => Ok(*only),
        _ => Err("a jump to several places".into()),
    }
}

/// Puts a label in front of the statement at `first`.
fn put_label(
    statements: &mut Vec<Stmt>,
    first: usize,
    span: Span,
    label: impl FnOnce(Box<Stmt>) -> StmtKind,
) {
    let body = if first < statements.len() {
        std::mem::replace(&mut statements[first], Stmt { kind: StmtKind::Empty, span })
    } else {
        statements.push(Stmt { kind: StmtKind::Empty, span });
        Stmt { kind: StmtKind::Empty, span }
    };
    let span = Span { end: body.span.end.max(span.start), ..span };
    statements[first] = Stmt { kind: label(Box::new(body)), span };
}

/// Whether an expression is an asm, in parentheses or not.
fn is_assembly(node: Node) -> bool {
    match node.kind() {
        "gnu_asm_expression" => true,
        "parenthesized_expression" => parts(node).into_iter().any(|(_, part)| is_assembly(part)),
        _ => false,
    }
}
