//! Statements in the view, and assembly.

use super::*;

impl<'a> Scanner<'a> {
    pub(super) fn block(&mut self) -> Scan<()> {
        self.scoped(Scope::new(), Self::block_without_scope)
    }

    pub(super) fn block_without_scope(&mut self) -> Scan<()> {
        self.expect("{")?;
        while self.peek() != "}" {
            if self.peek().is_empty() {
                return Err(self.unexpected("}"));
            }
            self.statement()?;
        }
        self.pass();
        Ok(())
    }

    /// Whether a block item at the cursor is a declaration.
    pub(super) fn at_declaration(&self) -> bool {
        self.starts_declaration() && !(self.is_name(self.cursor) && self.text(self.cursor + 1) == ":")
    }

    pub(super) fn statement(&mut self) -> Scan<()> {
        self.nested(Self::statement_inner)
    }

    pub(super) fn statement_inner(&mut self) -> Scan<()> {
        // `else if` and labels go round this loop.
        loop {
            if self.at_declaration() {
                self.declaration(false)?;
                return Ok(());
            }
            self.skip_attributes(AttributeTarget::Statement(self.cursor))?;
            let at = self.cursor;
            if self.at_static_assert() {
                return self.skip_static_assert();
            }
            if self.is_name(at) && self.text(at + 1) == ":" {
                self.pass_name()?;
                self.pass();
                self.skip_attributes(AttributeTarget::Statement(self.cursor))?;
                if self.peek() == "}" {
                    self.emit(at, ";");
                    return Ok(());
                }
                continue;
            }
            match self.peek() {
                "{" => return self.block(),
                ";" | "break" | "continue" => {
                    self.pass();
                    return if self.text(at) == ";" { Ok(()) } else { self.expect(";") };
                }
                "__label__" => {
                    while !matches!(self.peek(), ";" | "") {
                        self.cursor += 1;
                    }
                    self.cursor += 1;
                    return Ok(());
                }
                "if" => {
                    self.pass();
                    self.header()?;
                    self.statement()?;
                    if self.peek() != "else" {
                        return Ok(());
                    }
                    self.pass();
                }
                "while" => {
                    self.pass();
                    self.header()?;
                }
                "switch" => {
                    self.pass();
                    self.header()?;
                    if self.peek() == "{" {
                        return self.block();
                    }
                    return Err("a switch without braces".to_owned());
                }
                "do" => {
                    self.pass();
                    self.statement()?;
                    if self.peek() != "while" {
                        return Err(self.unexpected("while"));
                    }
                    self.pass();
                    self.header()?;
                    return self.expect(";");
                }
                "for" => {
                    self.pass();
                    return self.scoped(Scope::new(), Self::for_statement);
                }
                "case" => {
                    self.pass();
                    self.case_value(at)?;
                    if matches!(self.peek(), "}") {
                        return Ok(());
                    }
                }
                "default" => {
                    self.pass();
                    self.expect(":")?;
                    if matches!(self.peek(), "}") {
                        return Ok(());
                    }
                }
                "return" => {
                    self.pass();
                    self.expression(&[";"])?;
                    return self.expect(";");
                }
                "goto" => {
                    if self.text(at + 1) == "*" {
                        // `goto *e;` reads as a call of something that has no name.
                        self.emit(at, "pg_goto (");
                        self.cursor += 2;
                        self.expression(&[";"])?;
                        self.emit(self.cursor, ")");
                        return self.expect(";");
                    }
                    self.pass();
                    self.pass_name()?;
                    return self.expect(";");
                }
                word if is_asm(word) && !self.is_name(at) => {
                    self.assembly()?;
                    return self.expect(";");
                }
                _ => {
                    self.wrapped(&[";"])?;
                    return self.expect(";");
                }
            }
        }
    }

    /// An expression in a place where the grammar would also accept a declaration: in parentheses, unless its second
    /// token rules a declaration out.
    pub(super) fn wrapped(&mut self, stop: &[&str]) -> Scan<()> {
        let at = self.cursor;
        let plain = matches!(
            self.text(at + 1),
            "=" | "+="
                | "-="
                | "*="
                | "/="
                | "%="
                | "&="
                | "|="
                | "^="
                | "<<="
                | ">>="
                | "++"
                | "--"
                | "."
                | "->"
        );
        if stop.contains(&self.peek()) {
            return Ok(());
        }
        if !self.is_name(at) || plain {
            return self.expression(stop);
        }
        self.emit(at, "(");
        self.expression(stop)?;
        self.emit(self.cursor.saturating_sub(1), ")");
        Ok(())
    }

    /// The condition in parentheses of `if`, `while` and `switch`.
    pub(super) fn header(&mut self) -> Scan<()> {
        self.expect("(")?;
        self.nested(|s| s.expression(&[")"]))?;
        self.expect(")")
    }

    pub(super) fn for_statement(&mut self) -> Scan<()> {
        self.expect("(")?;
        if self.at_declaration() {
            self.declaration(false)?;
        } else {
            self.wrapped(&[";"])?;
            self.expect(";")?;
        }
        self.expression(&[";"])?;
        self.expect(";")?;
        self.expression(&[")"])?;
        self.expect(")")?;
        self.statement()
    }

    pub(super) fn case_value(&mut self, case: usize) -> Scan<()> {
        let mut depth = 0usize;
        let mut range = false;
        for i in self.cursor..self.end {
            match self.text(i) {
                "(" | "[" | "{" => depth += 1,
                ")" | "]" | "}" => depth = depth.saturating_sub(1),
                ":" | ";" if depth == 0 => break,
                "..." if depth == 0 => range = true,
                _ => {}
            }
        }
        if range {
            self.emit(case, "pg_range (");
            self.expression(&["..."])?;
            self.emit(self.cursor, ",");
            self.cursor += 1;
            self.expression(&[":"])?;
            self.emit(self.cursor, ")");
        } else {
            self.expression(&[":"])?;
        }
        self.expect(":")
    }

    /// An asm statement or expression without its `;`. Neighbouring strings become one.
    pub(super) fn assembly(&mut self) -> Scan<()> {
        self.emit(self.cursor, "asm");
        self.cursor += 1;
        while self.peek() != "(" {
            match self.peek() {
                "volatile" | "__volatile__" | "__volatile" => self.emit(self.cursor, "volatile"),
                "inline" | "__inline" | "__inline__" => self.emit(self.cursor, "inline"),
                "goto" => self.emit(self.cursor, "goto"),
                _ => return Err(self.unexpected("(")),
            }
            self.cursor += 1;
        }
        self.pass();
        while self.peek() != ")" {
            match self.peek() {
                "" => return Err(self.unexpected(")")),
                "(" => {
                    self.pass();
                    self.nested(|s| s.expression(&[")"]))?;
                    self.expect(")")?;
                }
                "::" => return Err(self.unexpected(":")),
                _ => {
                    self.pass();
                    if self.kind(self.cursor - 1) == Some(TokenKind::String) {
                        while self.kind(self.cursor) == Some(TokenKind::String) {
                            self.cursor += 1;
                        }
                    }
                }
            }
        }
        self.expect(")")
    }
}
