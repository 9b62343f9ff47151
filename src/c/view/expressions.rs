//! Expressions and initialisers in the view: casts told from calls, operators on types as calls, literals as placeholders.

use super::*;

impl<'a> Scanner<'a> {
    pub(super) fn initialiser(&mut self) -> Scan<()> {
        if self.peek() == "{" { self.braces() } else { self.expression(&[",", ";"]) }
    }

    pub(super) fn braces(&mut self) -> Scan<()> {
        self.nested(|s| {
            s.pass();
            while s.peek() != "}" {
                match s.peek() {
                    "" => return Err(s.unexpected("}")),
                    "{" => s.braces()?,
                    "," => s.pass(),
                    "." => {
                        while s.peek() == "." || s.peek() == "[" {
                            s.designator()?;
                        }
                    }
                    "[" => s.designator()?,
                    "=" => s.pass(),
                    _ if s.kind(s.cursor) == Some(TokenKind::Identifier) && s.text(s.cursor + 1) == ":" => {
                        s.pass_name()?;
                        s.pass();
                    }
                    _ => s.expression(&[",", "}"])?,
                }
            }
            s.pass();
            Ok(())
        })
    }

    pub(super) fn designator(&mut self) -> Scan<()> {
        self.pass();
        if self.text(self.cursor - 1) == "." {
            return self.pass_name().map(|_| ());
        }
        self.expression(&["]", "..."])?;
        if self.peek() == "..." {
            self.pass();
            self.expression(&["]"])?;
        }
        self.expect("]")
    }

    /// An expression up to one of `stop` outside all brackets, which is not passed.
    pub(super) fn expression(&mut self, stop: &[&str]) -> Scan<()> {
        // Colons of `?:` that are still to come.
        let mut colons = 0usize;
        // Whether an operand has just ended, so that `(` means a call.
        let mut operand = false;
        loop {
            let (at, word) = (self.cursor, self.peek());
            if stop.contains(&word) && !(word == ":" && colons > 0) {
                return Ok(());
            }
            match word {
                "" | ")" | "]" | "}" | ";" | "{" => return Err(self.unexpected("the rest of an expression")),
                ":" => {
                    colons =
                        colons.checked_sub(1).ok_or_else(|| self.unexpected("the rest of an expression"))?;
                    self.pass();
                    operand = false;
                }
                "?" => {
                    colons += 1;
                    self.pass();
                    operand = false;
                }
                "(" => {
                    if operand {
                        self.pass();
                        if self.peek() != ")" {
                            self.nested(|s| s.expression(&[")"]))?;
                        }
                        self.expect(")")?;
                    } else {
                        operand = self.nested(Self::parenthesised)?;
                    }
                }
                "[" => {
                    self.pass();
                    self.nested(|s| s.expression(&["]"]))?;
                    self.expect("]")?;
                    operand = true;
                }
                "." | "->" => {
                    self.pass();
                    self.pass_name()?;
                    operand = true;
                }
                "&&" if !operand => {
                    self.emit(at, "pg_label (0)");
                    self.cursor += 1;
                    if self.kind(self.cursor) != Some(TokenKind::Identifier) {
                        return Err(self.unexpected("a label"));
                    }
                    self.cursor += 1;
                    operand = true;
                }
                "++" | "--" => self.pass(),
                "sizeof" => {
                    self.pass();
                    operand = false;
                    if self.peek() == "(" && self.starts_type(self.cursor + 1) {
                        operand = true;
                        self.pass();
                        self.nested(Self::type_name)?;
                        self.expect(")")?;
                        if self.peek() == "{" {
                            self.braces()?;
                        }
                    }
                }
                "__extension__" => self.cursor += 1,
                "_Generic" => {
                    self.nested(Self::generic)?;
                    operand = true;
                }
                _ if is_alignof(word) && !self.is_name(at) => {
                    self.alignof()?;
                    operand = true;
                }
                _ if is_asm(word) && !self.is_name(at) => return Err("asm inside an expression".to_owned()),
                "__real__" | "__imag__" | "__real" | "__imag" => return Err("complex arithmetic".to_owned()),
                "__builtin_va_arg"
                | "__builtin_offsetof"
                | "__builtin_types_compatible_p"
                | "__builtin_convertvector"
                    if self.text(at + 1) == "(" =>
                {
                    self.nested(Self::builtin_on_types)?;
                    operand = true;
                }
                _ if self.is_typedef_name(at) => {
                    return Err(format!("the type name `{word}` in an expression"));
                }
                _ if self.is_name(at) => {
                    self.pass();
                    operand = true;
                }
                _ => match self.kind(at) {
                    Some(TokenKind::Identifier) => return Err(format!("`{word}` in an expression")),
                    Some(TokenKind::Unknown) | None => return Err("bytes that are no token of C".to_owned()),
                    Some(TokenKind::Punctuator) => {
                        self.pass();
                        operand = false;
                    }
                    Some(_) => {
                        self.pass();
                        operand = true;
                    }
                },
            }
        }
    }

    /// What starts with `(` where an operand is due: a cast (then the answer is false, since the operand is still to
    /// come), a compound literal, a statement expression, or an expression in parentheses.
    pub(super) fn parenthesised(&mut self) -> Scan<bool> {
        let open = self.cursor;
        if self.starts_type(open + 1) {
            self.pass();
            self.type_name()?;
            self.expect(")")?;
            if self.peek() != "{" {
                return Ok(false);
            }
            self.braces()?;
            return Ok(true);
        }
        if self.text(open + 1) == "{"
            || (self.text(open + 1) == "__extension__" && self.text(open + 2) == "{")
        {
            self.pass();
            if self.peek() == "__extension__" {
                self.cursor += 1;
            }
            self.block()?;
            self.expect(")")?;
            return Ok(true);
        }
        // `(a[i])` and `(f(x))` could be types to the grammar; a postfix expression needs no parentheses.
        let bare = self.postfix_only(open + 1);
        if bare {
            self.cursor += 1
        } else {
            self.pass()
        }
        self.expression(&[")"])?;
        if bare {
            self.cursor += 1
        } else {
            self.expect(")")?
        }
        Ok(true)
    }

    /// Whether a name, which may stand in parentheses itself, with nothing but calls and subscripts behind it stands from `at` to a `)`.
    pub(super) fn postfix_only(&self, at: usize) -> bool {
        let mut i = match self.text(at) {
            // `((M)) && ((y)) > 1` would be a cast if the inner ones alone weren't there.
            "(" if !self.starts_type(at + 1) && self.postfix_only(at + 1) => match self.past_group(at) {
                Ok(next) => next,
                Err(_) => return false,
            },
            name if self.is_name(at) && !name.starts_with("__builtin_") => at + 1,
            _ => return false,
        };
        while matches!(self.text(i), "(" | "[") {
            match self.past_group(i) {
                Ok(next) => i = next,
                Err(_) => return false,
            }
        }
        self.text(i) == ")"
    }

    pub(super) fn alignof(&mut self) -> Scan<()> {
        let at = self.cursor;
        self.cursor += 1;
        self.emit(at, "pg_alignof");
        self.emit(at, "(");
        if self.peek() != "(" {
            return Err("the alignment of an expression without parentheses".to_owned());
        }
        self.emit(at, "sizeof");
        if self.starts_type(self.cursor + 1) {
            self.pass();
            self.nested(Self::type_name)?;
            self.expect(")")?;
        } else {
            self.nested(Self::parenthesised)?;
        }
        self.emit(at, ")");
        Ok(())
    }

    pub(super) fn builtin_on_types(&mut self) -> Scan<()> {
        let builtin = self.peek();
        self.pass();
        self.pass();
        let type_argument = |s: &mut Self| -> Scan<()> {
            let at = s.cursor;
            s.emit(at, "sizeof (");
            s.type_name()?;
            s.emit(at, ")");
            Ok(())
        };
        match builtin {
            "__builtin_va_arg" | "__builtin_convertvector" => {
                self.expression(&[","])?;
                self.pass();
                type_argument(self)?;
            }
            "__builtin_offsetof" => {
                type_argument(self)?;
                self.expect(",")?;
                let at = self.cursor;
                self.emit(at, "pg_root .");
                self.pass_name()?;
                self.expression(&[")"])?;
            }
            _ => {
                type_argument(self)?;
                self.expect(",")?;
                type_argument(self)?;
            }
        }
        self.expect(")")
    }

    pub(super) fn generic(&mut self) -> Scan<()> {
        self.emit(self.cursor, "_Generic");
        self.cursor += 1;
        self.expect("(")?;
        if self.starts_type(self.cursor) {
            return Err("_Generic on a type".to_owned());
        }
        self.expression(&[","])?;
        while self.peek() == "," {
            self.pass();
            if self.peek() == "default" {
                self.emit(self.cursor, "size_t");
                self.cursor += 1;
            } else {
                self.type_name()?;
            }
            self.expect(":")?;
            self.expression(&[",", ")"])?;
        }
        self.expect(")")
    }
}
