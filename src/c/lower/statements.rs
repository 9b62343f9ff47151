//! Statements.

use super::*;

impl Lowering<'_> {
    /// A statement; scopes are those of C.
    pub(super) fn statement(&mut self, reader: &Reader, node: Node) -> Lowered<Stmt> {
        let span = reader.span(node);
        let kind = match node.kind() {
            "compound_statement" => {
                self.scopes.push(Scope::default());
                let block = self.sequence(reader, &children(node));
                self.scopes.pop();
                StmtKind::Block(block?)
            }
            "expression_statement" => match node.named_child(0) {
                Some(expression) => StmtKind::Expr(self.rvalue(reader, expression)?),
                None => StmtKind::Empty,
            },
            "if_statement" => {
                let cond = self.condition(reader, field(node, "condition")?)?;
                let then = Box::new(self.unbraced(reader, field(node, "consequence")?)?);
                let otherwise = match node.child_by_field_name("alternative") {
                    None => None,
                    Some(clause) => {
                        let inner = match clause.kind() {
                            "else_clause" => clause.named_child(0).ok_or("an else without statement")?,
                            _ => clause,
                        };
                        Some(Box::new(self.unbraced(reader, inner)?))
                    }
                };
                StmtKind::If { cond, then, otherwise }
            }
            "for_statement" => {
                self.scopes.push(Scope::default());
                let result = self.for_statement(reader, node);
                self.scopes.pop();
                StmtKind::Loop(result?)
            }
            "while_statement" => {
                let (id, keyword_span, ordinal) = self.loop_head(reader, node)?;
                let cond = Some(self.condition(reader, field(node, "condition")?)?);
                let body = Box::new(self.unbraced(reader, field(node, "body")?)?);
                StmtKind::Loop(LoopStmt {
                    id,
                    keyword: LoopKeyword::While,
                    init: Vec::new(),
                    cond,
                    step: None,
                    body,
                    keyword_span,
                    keyword_ordinal: ordinal,
                    unbraced_body: false,
                })
            }
            "do_statement" => {
                let (id, keyword_span, ordinal) = self.loop_head(reader, node)?;
                let body = Box::new(self.unbraced(reader, field(node, "body")?)?);
                let cond = Some(self.condition(reader, field(node, "condition")?)?);
                StmtKind::Loop(LoopStmt {
                    id,
                    keyword: LoopKeyword::Do,
                    init: Vec::new(),
                    cond,
                    step: None,
                    body,
                    keyword_span,
                    keyword_ordinal: ordinal,
                    unbraced_body: false,
                })
            }
            "switch_statement" => {
                let cond = self.condition(reader, field(node, "condition")?)?;
                let body = Box::new(self.statement(reader, field(node, "body")?)?);
                StmtKind::Switch { cond, body }
            }
            "labeled_statement" => {
                let name = reader.text(field(node, "label")?)?.to_owned();
                let parts: Vec<Node> = children(node).into_iter().skip(1).collect();
                let body = match self.sequence(reader, &parts)? {
                    mut one if one.len() == 1 => one.remove(0),
                    many => Stmt { kind: StmtKind::Block(many), span },
                };
                StmtKind::Label { name, body: Box::new(body) }
            }
            "return_statement" => match node.named_child(0) {
                None => StmtKind::Return(None),
                Some(value) => {
                    let value = self.rvalue(reader, value)?;
                    let ty = self.return_type.ok_or("a return outside of a function")?;
                    let is_void = matches!(self.unit.types.kind(ty.ty), TypeKind::Void);
                    StmtKind::Return(Some(if is_void { value } else { self.convert(value, plain(ty.ty))? }))
                }
            },
            "break_statement" => StmtKind::Break,
            "continue_statement" => StmtKind::Continue,
            "goto_statement" => {
                let label = node.child_by_field_name("label");
                StmtKind::Goto(label.map(|l| reader.text(l).map(str::to_owned)).transpose()?)
            }
            "asm_statement" | "gnu_asm_expression" => StmtKind::Opaque("assembler"),
            other => return Err(format!("a statement written as {other}")),
        };
        Ok(Stmt { kind, span })
    }

    /// A statement that is the body of another; tells a loop in it that it stands without braces.
    fn unbraced(&mut self, reader: &Reader, node: Node) -> Lowered<Stmt> {
        let mut statement = self.statement(reader, node)?;
        mark_unbraced(&mut statement);
        Ok(statement)
    }

    /// Statements of a block. A `case` holds the statements behind it: they are its siblings here.
    fn sequence(&mut self, reader: &Reader, nodes: &[Node]) -> Lowered<Vec<Stmt>> {
        let mut out = Vec::new();
        for &node in nodes {
            match node.kind() {
                "declaration" | "type_definition" => out.extend(self.declaration(reader, node, false)?),
                "struct_specifier" | "union_specifier" | "enum_specifier" => {
                    self.file_scope(reader, node)?;
                }
                "case_statement" => self.case(reader, node, &mut out)?,
                "else_clause" => return Err("an else without if".into()),
                _ => out.push(self.statement(reader, node)?),
            }
        }
        Ok(out)
    }

    fn case(&mut self, reader: &Reader, node: Node, out: &mut Vec<Stmt>) -> Lowered<()> {
        let value_node = node.child_by_field_name("value");
        let value = match value_node {
            None => None,
            Some(value)
                if value.kind() == "call_expression" && reader.operator(value).starts_with("pg_range") =>
            {
                let bounds = children(field(value, "arguments")?);
                let [low, high] = bounds[..] else { return Err("a case range".into()) };
                Some((self.constant(reader, low)?, self.constant(reader, high)?))
            }
            Some(value) => {
                let value = self.constant(reader, value)?;
                Some((value, value))
            }
        };
        let span = reader.span(node);
        let body = Box::new(Stmt { kind: StmtKind::Empty, span });
        out.push(Stmt { kind: StmtKind::Case { value, body }, span });
        let rest: Vec<Node> = children(node).into_iter().filter(|c| Some(*c) != value_node).collect();
        out.extend(self.sequence(reader, &rest)?);
        Ok(())
    }

    fn condition(&mut self, reader: &Reader, node: Node) -> Lowered<Expr> {
        let cond = self.rvalue(reader, node)?;
        self.scalar(&cond)?;
        Ok(cond)
    }

    fn loop_head(&mut self, reader: &Reader, node: Node) -> Lowered<(LoopId, Span, (u32, u32))> {
        let token = reader.token(node)?;
        let id = LoopId(self.next_loop);
        self.next_loop += 1;
        Ok((id, reader.tokens.span(token), reader.tokens.loop_keyword_ordinal(token)))
    }

    fn for_statement(&mut self, reader: &Reader, node: Node) -> Lowered<LoopStmt> {
        let (id, keyword_span, keyword_ordinal) = self.loop_head(reader, node)?;
        let init = match node.child_by_field_name("initializer") {
            None => Vec::new(),
            Some(init) if init.kind() == "declaration" => self.declaration(reader, init, false)?,
            Some(init) => {
                let span = reader.span(init);
                vec![Stmt { kind: StmtKind::Expr(self.rvalue(reader, init)?), span }]
            }
        };
        let cond = node.child_by_field_name("condition").map(|c| self.condition(reader, c)).transpose()?;
        let step = node.child_by_field_name("update").map(|u| self.rvalue(reader, u)).transpose()?;
        let body = Box::new(self.unbraced(reader, field(node, "body")?)?);
        Ok(LoopStmt {
            id,
            keyword: LoopKeyword::For,
            init,
            cond,
            step,
            body,
            keyword_span,
            keyword_ordinal,
            unbraced_body: false,
        })
    }
}

fn mark_unbraced(statement: &mut Stmt) {
    match &mut statement.kind {
        StmtKind::Loop(inner) => inner.unbraced_body = true,
        StmtKind::Label { body, .. } => mark_unbraced(body),
        _ => {}
    }
}
