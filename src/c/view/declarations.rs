//! Declarations in the view: specifiers, records and enumerations, declarators, parameters, attributes.

use super::*;

impl<'a> Scanner<'a> {
    pub(super) fn external(&mut self, range: Range<usize>) -> ExternalDeclaration {
        self.cursor = range.start;
        self.end = range.end;
        self.depth = 0;
        let scanned = self.external_inner();
        self.scopes.truncate(1);
        let mut kind = scanned.and_then(|kind| {
            if self.cursor == range.end {
                Ok(kind)
            } else {
                Err(self.unexpected("the end of the declaration"))
            }
        });
        if kind == Ok(DeclKind::Declaration) && self.out.is_empty() {
            kind = Ok(DeclKind::Empty);
        }
        let (mut view, mut segments) = (std::mem::take(&mut self.out), std::mem::take(&mut self.segments));
        if !matches!(kind, Ok(DeclKind::Function | DeclKind::Declaration)) {
            view.clear();
            segments.clear();
        }
        ExternalDeclaration {
            kind: kind.unwrap_or_else(DeclKind::Refused),
            tokens: range,
            name: self.name.take(),
            view,
            map: ViewMap { segments },
            attributes: std::mem::take(&mut self.attributes),
            special: std::mem::take(&mut self.special),
        }
    }

    pub(super) fn external_inner(&mut self) -> Scan<DeclKind> {
        while self.peek() == "__extension__" {
            self.cursor += 1;
        }
        if self.peek() == ";" {
            self.cursor += 1;
            return Ok(DeclKind::Empty);
        }
        if is_asm(self.peek()) {
            return Err("assembly at file scope".to_owned());
        }
        if self.at_static_assert() {
            self.skip_static_assert()?;
            return Ok(DeclKind::Empty);
        }
        Ok(if self.declaration(true)? { DeclKind::Function } else { DeclKind::Declaration })
    }

    pub(super) fn at_static_assert(&self) -> bool {
        is_static_assert(self.peek()) && self.text(self.cursor + 1) == "("
    }
    pub(super) fn skip_static_assert(&mut self) -> Scan<()> {
        self.cursor = self.past_group(self.cursor + 1)?;
        if self.peek() == ";" {
            self.cursor += 1;
        }
        Ok(())
    }

    /// A declaration through its `;`, or a function definition through its body: then the answer is true.
    pub(super) fn declaration(&mut self, top: bool) -> Scan<bool> {
        let specifiers = self.specifiers(true)?;
        if self.peek() == ";" {
            self.finish_without_declarators(&specifiers);
            return Ok(false);
        }
        let mut first = true;
        loop {
            let mark = self.attributes.len();
            self.skip_attributes(AttributeTarget::Declarator(self.cursor))?;
            let start = self.cursor;
            let declarator = self.declarator(specifiers.is_typedef)?;
            let Some(name) = declarator.name else { return Err(self.unexpected("a declared name")) };
            for attribute in &mut self.attributes[mark..] {
                if let AttributeTarget::Declarator(at) = attribute.target
                    && (at <= start || at == name)
                {
                    attribute.target = AttributeTarget::Declarator(name);
                }
            }
            if top && self.name.is_none() {
                self.name = Some(name);
            }
            self.declare(name, specifiers.is_typedef);
            let has_body = first
                && declarator.parameters.is_some()
                && (self.peek() == "{" || (declarator.identifier_list && self.starts_declaration()));
            if has_body {
                if !top {
                    return Err("a nested function".to_owned());
                }
                let scope = declarator.parameters.unwrap_or_default();
                self.special.old_style = declarator.identifier_list;
                self.scoped(scope, |s| {
                    while s.peek() != "{" {
                        if s.declaration(false)? {
                            return Err("a function body among parameter declarations".to_owned());
                        }
                    }
                    s.block_without_scope()
                })?;
                return Ok(true);
            }
            first = false;
            if self.peek() == "=" {
                self.pass();
                let has_length = self.text(name + 1) == "[" && self.text(name + 2) != "]";
                if !(top && self.table(has_length)) {
                    self.initialiser()?;
                }
            }
            if self.peek() == "," {
                self.pass();
                continue;
            }
            self.expect(";")?;
            return Ok(false);
        }
    }

    /// `struct S {...};` and the like: the grammar wants the type alone there.
    pub(super) fn finish_without_declarators(&mut self, specifiers: &Specifiers) {
        if specifiers.has_tag {
            for range in &specifiers.modifiers {
                let blank = " ".repeat(range.len());
                self.out.replace_range(range.clone(), &blank);
                self.segments.retain(|s| !(range.start as u32..range.end as u32).contains(&s.start));
            }
            self.pass();
        } else {
            self.out.truncate(specifiers.view_start);
            self.segments.retain(|s| (s.start as usize) < specifiers.view_start);
            self.cursor += 1;
        }
    }

    pub(super) fn starts_declaration(&self) -> bool {
        let mut at = self.cursor;
        loop {
            match self.text(at) {
                "__extension__" => at += 1,
                "[" if self.text(at + 1) == "[" => match self.past_group(at) {
                    Ok(next) => at = next,
                    Err(_) => return false,
                },
                word if is_attribute(word) && self.text(at + 1) == "(" => match self.past_group(at + 1) {
                    Ok(next) => at = next,
                    Err(_) => return false,
                },
                _ => break,
            }
        }
        self.starts_type(at)
            || (storage_class(self.text(at)).is_some() && !self.is_name(at))
            || self.text(at) == "_Noreturn"
            || (is_alignas(self.text(at)) && !self.is_name(at))
    }

    /// Whether a type name (or a declaration without a storage class) starts at `at`.
    pub(super) fn starts_type(&self, at: usize) -> bool {
        let word = self.text(at);
        if self.kind(at) != Some(TokenKind::Identifier) {
            return false;
        }
        if self.is_name(at) {
            return self.lookup(word) == Some(true);
        }
        if word == "__extension__" || is_attribute(word) {
            let next = if word == "__extension__" { Ok(at + 1) } else { self.past_group(at + 1) };
            return next.is_ok_and(|n| n > at && self.starts_type(n));
        }
        is_type_word(word)
            || qualifier(word).is_some()
            || is_typeof(word)
            || matches!(word, "struct" | "union" | "enum")
    }

    // ---- Attributes.

    /// Skips attributes, asm labels and `__extension__`, and keeps what they say.
    pub(super) fn skip_attributes(&mut self, target: AttributeTarget) -> Scan<()> {
        loop {
            let word = self.peek();
            if word == "__extension__"
                || matches!(word, "_Nonnull" | "_Nullable" | "_Null_unspecified")
                    && !self.is_name(self.cursor)
            {
                self.cursor += 1;
            } else if is_attribute(word) {
                let open = self.cursor + 1;
                let past = if self.text(open) == "(" {
                    self.past_group(open)?
                } else {
                    return Err(self.unexpected("("));
                };
                let double = word != "__declspec";
                self.attribute_list(if double { open + 2..past - 2 } else { open + 1..past - 1 }, target);
                self.cursor = past;
            } else if word == "[" && self.text(self.cursor + 1) == "[" {
                let past = self.past_group(self.cursor)?;
                let mark = self.attributes.len();
                self.attribute_list(self.cursor + 2..past.saturating_sub(2), target);
                // In C23 the place says what they are of.
                self.no_layout_since(mark)?;
                self.cursor = past;
            } else if is_asm(word)
                && !self.is_name(self.cursor)
                && matches!(target, AttributeTarget::Declarator(_))
            {
                let open = self.cursor + 1;
                let past = self.past_group(open)?;
                self.attribute("asm_label", self.cursor, open + 1..past - 1, target);
                self.cursor = past;
            } else {
                return Ok(());
            }
        }
    }

    pub(super) fn attribute_list(&mut self, range: Range<usize>, target: AttributeTarget) {
        let mut i = range.start;
        while i < range.end {
            if self.kind(i) != Some(TokenKind::Identifier) {
                i += 1;
                continue;
            }
            let token = i;
            let name = self.text(i).trim_matches('_').to_owned();
            i += 1;
            let mut arguments = i..i;
            if self.text(i) == "("
                && let Ok(past) = self.past_group(i)
            {
                arguments = i + 1..past.saturating_sub(1).max(i + 1);
                i = past;
            }
            self.attribute(&name, token, arguments, target);
        }
    }

    pub(super) fn attribute(
        &mut self,
        name: &str,
        token: usize,
        arguments: Range<usize>,
        target: AttributeTarget,
    ) {
        let text = arguments.clone().map(|i| self.text(i)).collect::<Vec<_>>().join(" ");
        self.attributes.push(Attribute { name: name.to_owned(), arguments, text, token, target });
    }

    /// An error if one of the attributes since this mark changes sizes or places.
    fn no_layout_since(&self, mark: usize) -> Scan<()> {
        match self.attributes[mark..].iter().any(|attribute| changes_layout(&attribute.name)) {
            true => Err("an attribute where it may be somebody else's".to_owned()),
            false => Ok(()),
        }
    }

    /// Follows `#pragma pack` up to token `at`.
    pub(super) fn follow_pack(&mut self, at: usize) {
        while let Some(directive) = self.tokens.directives.get(self.next_directive).filter(|d| d.before <= at)
        {
            self.next_directive += 1;
            let text = self.tokens.directive_text(directive);
            let words = text.trim_start_matches('#').trim_start();
            let Some(rest) = words.strip_prefix("pragma").and_then(|w| w.trim_start().strip_prefix("pack"))
            else {
                continue;
            };
            if !rest.starts_with(|c: char| c.is_alphanumeric() || c == '_') {
                self.pack_by(rest.trim_start());
            }
        }
    }

    /// One `#pragma pack`, by what stands behind the word: as gcc's `handle_pragma_pack` takes it.
    fn pack_by(&mut self, text: &str) {
        // Alignments that are not understood, of whatever is declared from here on.
        const UNKNOWN: Option<usize> = Some(usize::MAX);
        let Some((inside, _junk)) = text.strip_prefix('(').and_then(|text| text.split_once(')')) else {
            // Nothing, to gcc; other compilers may see it in other ways.
            self.pack_now = UNKNOWN;
            return;
        };
        let parts: Vec<&str> = inside.split(',').map(str::trim).collect();
        let number = |text: &str| {
            let text = text.trim_end_matches(['u', 'U', 'l', 'L']);
            let hexadecimal = text.strip_prefix("0x").or(text.strip_prefix("0X"));
            match hexadecimal {
                Some(digits) => usize::from_str_radix(digits, 16).ok(),
                None if text.len() > 1 && text.starts_with('0') => usize::from_str_radix(text, 8).ok(),
                None => text.parse().ok(),
            }
        };
        // No limit, a limit, or not understood.
        let limit = |text: &str| match number(text) {
            Some(0) => None,
            Some(n @ (1 | 2 | 4 | 8 | 16)) => Some(n),
            _ => UNKNOWN,
        };
        match parts.as_slice() {
            [""] => self.pack_now = None,
            ["push"] => self.pack.push(self.pack_now),
            ["push", n] => {
                self.pack.push(self.pack_now);
                self.pack_now = limit(n);
            }
            // More of them than of the others change nothing.
            ["pop"] => self.pack_now = self.pack.pop().unwrap_or(self.pack_now),
            [n] if *n != "push" && *n != "pop" => self.pack_now = limit(n),
            // With names.
            ["push", ..] => {
                self.pack.push(self.pack_now);
                self.pack_now = UNKNOWN;
            }
            _ => self.pack_now = UNKNOWN,
        }
    }

    // ---- Specifiers.

    /// Declaration specifiers, or the specifiers and qualifiers of a type name, written with one base type.
    pub(super) fn specifiers(&mut self, storage_allowed: bool) -> Scan<Specifiers> {
        let first = self.cursor;
        let view_start = self.out.len();
        let mut waiting: Vec<(usize, &'static str)> = Vec::new();
        let mut words: Vec<usize> = Vec::new();
        let mut base: Option<(usize, BaseType)> = None;
        let mut result =
            Specifiers { first, is_typedef: false, has_tag: false, view_start, modifiers: Vec::new() };
        loop {
            self.skip_attributes(AttributeTarget::Specifiers(first))?;
            let (at, word) = (self.cursor, self.peek());
            let seen_type = base.is_some() || result.has_tag || !words.is_empty();
            // `typedef unsigned char bool;` declares what C23 has as a keyword.
            let name = self.is_name(at) || (word == "bool" && seen_type);
            if name && (seen_type || self.lookup(word) != Some(true)) {
                break;
            }
            if name {
                base = Some((at, BaseType::Typedef));
                self.cursor += 1;
            } else if word == "_Atomic" && self.text(at + 1) == "(" {
                let past = self.past_group(at + 1)?;
                base = Some((at, BaseType::Atomic(at + 2..past - 1)));
                self.type_operand(at)?;
                self.cursor = past;
            } else if let Some(text) =
                qualifier(word).or_else(|| storage_class(word).filter(|_| storage_allowed))
            {
                result.is_typedef |= text == "typedef";
                if result.has_tag {
                    if text == "typedef" {
                        return Err("`typedef` behind the type".to_owned());
                    }
                    let start = self.out.len();
                    self.emit(at, text);
                    result.modifiers.push(start..self.out.len());
                } else {
                    waiting.push((at, text));
                }
                self.cursor += 1;
            } else if word == "_Noreturn" {
                self.attribute("noreturn", at, at..at, AttributeTarget::Specifiers(first));
                self.cursor += 1;
            } else if is_alignas(word) {
                let past = self.past_group(at + 1)?;
                self.attribute("aligned", at, at + 2..past - 1, AttributeTarget::Specifiers(first));
                self.cursor = past;
            } else if is_typeof(word) && self.text(at + 1) == "(" {
                let past = self.past_group(at + 1)?;
                base = Some((at, BaseType::Typeof(at + 2..past - 1)));
                self.type_operand(at)?;
                self.cursor = past;
            } else if matches!(word, "struct" | "union" | "enum") && !seen_type {
                self.modifiers(&mut waiting, &mut result);
                result.has_tag = true;
                if word == "enum" { self.enumeration()? } else { self.record()? }
            } else if is_type_word(word) {
                words.push(at);
                self.cursor += 1;
                if word == "_BitInt" && self.peek() == "(" {
                    self.cursor = self.past_group(self.cursor)?;
                }
            } else {
                break;
            }
        }
        if result.has_tag {
            return if base.is_some() || !words.is_empty() {
                Err("two types in one declaration".to_owned())
            } else {
                Ok(result)
            };
        }
        let inferred = waiting.iter().any(|w| w.1 == "auto");
        let (at, kind) = match (base, words.first()) {
            (Some(_), Some(_)) => return Err("two types in one declaration".to_owned()),
            (Some(base), None) => base,
            (None, Some(&at)) => (at, self.arithmetic(&words)?),
            // An `int` to most compilers, and the type of what it begins with to those of C23.
            (None, None) if inferred => return Err("`auto` without a type".to_owned()),
            (None, None) => (first, BaseType::Int(IntKind::Int)),
        };
        self.modifiers(&mut waiting, &mut result);
        self.emit(at, "size_t");
        self.special.types.insert(at, kind);
        Ok(result)
    }

    /// Writes the parentheses behind the `typeof` or `_Atomic` at `at` to a view of their own.
    pub(super) fn type_operand(&mut self, at: usize) -> Scan<()> {
        let outer = (std::mem::take(&mut self.out), std::mem::take(&mut self.segments));
        self.emit(at, "int pg_operand = sizeof");
        self.cursor = at + 1;
        let scanned = self.nested(Self::parenthesised);
        self.emit(at, ";");
        let text = std::mem::replace(&mut self.out, outer.0);
        let segments = std::mem::replace(&mut self.segments, outer.1);
        self.special.operands.insert(at, (text, ViewMap { segments }));
        scanned.map(|_| ())
    }

    /// Writes the storage classes and qualifiers seen so far, `typedef` first as the grammar wants it.
    pub(super) fn modifiers(&mut self, waiting: &mut Vec<(usize, &'static str)>, result: &mut Specifiers) {
        waiting.sort_by_key(|w| w.1 != "typedef");
        for (at, text) in waiting.drain(..) {
            let start = self.out.len();
            self.emit(at, text);
            result.modifiers.push(start..self.out.len());
        }
    }

    /// The type that several type words name together.
    pub(super) fn arithmetic(&self, words: &[usize]) -> Scan<BaseType> {
        let count = |wanted: &[&str]| words.iter().filter(|&&w| wanted.contains(&self.text(w))).count();
        let unsigned = count(&["unsigned"]) > 0;
        let signed = count(&["signed", "__signed", "__signed__"]) > 0;
        let complex = count(&["_Complex", "__complex__", "__complex"]) > 0;
        let longs = count(&["long"]);
        let pick = |s: IntKind, u: IntKind| BaseType::Int(if unsigned { u } else { s });
        let float = |f: FloatKind| if complex { BaseType::Complex(f) } else { BaseType::Float(f) };
        if unsigned && signed {
            return Err("both signed and unsigned".to_owned());
        }
        let main: Vec<&str> = words
            .iter()
            .map(|&w| self.text(w))
            .filter(|w| {
                !matches!(
                    *w,
                    "unsigned"
                        | "signed"
                        | "__signed"
                        | "__signed__"
                        | "_Complex"
                        | "__complex__"
                        | "__complex"
                        | "long"
                        | "short"
                )
            })
            .collect();
        if main.len() > 1 {
            return Err("two types in one declaration".to_owned());
        }
        let integer_complex = || BaseType::Other("complex integer".to_owned());
        Ok(match main.first().copied() {
            Some("double") if longs > 0 => float(FloatKind::LongDouble),
            Some("double" | "_Float64" | "_Float32x") => float(FloatKind::Double),
            Some("float" | "_Float32") => float(FloatKind::Float),
            Some("_Float64x" | "__float80") => float(FloatKind::LongDouble),
            Some("_Float128" | "__float128") => float(FloatKind::Float128),
            Some("void") => BaseType::Void,
            Some("_Bool" | "bool") => BaseType::Int(IntKind::Bool),
            Some("__builtin_va_list") => BaseType::VaList,
            Some("__auto_type") => BaseType::Inferred,
            None if complex && longs == 0 && !unsigned && !signed && count(&["short"]) == 0 => {
                float(FloatKind::Double)
            }
            _ if complex => integer_complex(),
            Some("__int128" | "__int128_t") => pick(IntKind::Int128, IntKind::UInt128),
            Some("__uint128_t") => BaseType::Int(IntKind::UInt128),
            Some("char") if !signed => pick(IntKind::Char, IntKind::UChar),
            Some("char") => BaseType::Int(IntKind::SChar),
            Some("int") | None if count(&["short"]) > 0 => pick(IntKind::Short, IntKind::UShort),
            Some("int") | None => match longs {
                0 => pick(IntKind::Int, IntKind::UInt),
                1 => pick(IntKind::Long, IntKind::ULong),
                _ => pick(IntKind::LongLong, IntKind::ULongLong),
            },
            Some(other) => BaseType::Other(other.to_owned()),
        })
    }

    pub(super) fn tag(&mut self) -> Scan<()> {
        if self.kind(self.cursor) == Some(TokenKind::Identifier) {
            let token = self.pass_name()?;
            self.special.type_names.insert(token);
        }
        Ok(())
    }

    pub(super) fn record(&mut self) -> Scan<()> {
        let keyword = self.cursor;
        let target = AttributeTarget::Record(keyword);
        let mark = self.attributes.len();
        self.pass();
        self.skip_attributes(target)?;
        self.tag()?;
        self.skip_attributes(target)?;
        if self.peek() != "{" {
            // They belong to what is declared.
            return self.no_layout_since(mark);
        }
        self.pass();
        self.nested(|s| {
            while s.peek() != "}" {
                match s.peek() {
                    ";" => s.cursor += 1,
                    "" => return Err(s.unexpected("}")),
                    _ if s.at_static_assert() => s.skip_static_assert()?,
                    _ => s.field()?,
                }
            }
            s.pass();
            Ok(())
        })?;
        // What holds where the record ends.
        self.follow_pack(self.cursor - 1);
        if let Some(limit) = self.pack_now {
            let (arguments, name) = (keyword..keyword, "pragma_pack".to_owned());
            self.attributes.push(Attribute {
                name,
                arguments,
                text: limit.to_string(),
                token: keyword,
                target,
            });
        }
        self.skip_attributes(target)
    }

    pub(super) fn field(&mut self) -> Scan<()> {
        let specifiers = self.specifiers(false)?;
        if self.cursor == specifiers.first {
            return Err(self.unexpected("a member"));
        }
        if self.peek() == ";" {
            // Without a name, those in front of the type are nobody's.
            let first = AttributeTarget::Specifiers(specifiers.first);
            if self.attributes.iter().any(|a| a.target == first && changes_layout(&a.name)) {
                return Err("an attribute of a member without a name".to_owned());
            }
            self.pass();
            return Ok(());
        }
        loop {
            let mark = self.attributes.len();
            let start = self.cursor;
            self.skip_attributes(AttributeTarget::Declarator(start))?;
            let mut name = None;
            if self.peek() != ":" {
                name = self.declarator(false)?.name;
                if name.is_none() {
                    return Err(self.unexpected("a member's name"));
                }
            }
            if self.peek() == ":" {
                if name.is_none() {
                    name = Some(self.cursor);
                    self.emit(self.cursor, UNNAMED);
                }
                self.pass();
                self.expression(&[",", ";"])?;
            }
            self.skip_attributes(AttributeTarget::Declarator(start))?;
            for attribute in &mut self.attributes[mark..] {
                if let (AttributeTarget::Declarator(at), Some(name)) = (attribute.target, name)
                    && at == start
                {
                    attribute.target = AttributeTarget::Declarator(name);
                }
            }
            if self.peek() == "," {
                self.pass();
                continue;
            }
            return self.expect(";");
        }
    }

    pub(super) fn enumeration(&mut self) -> Scan<()> {
        let target = AttributeTarget::Enum(self.cursor);
        self.pass();
        self.skip_attributes(target)?;
        self.tag()?;
        if self.peek() == ":" && self.starts_type(self.cursor + 1) {
            self.pass();
            self.specifiers(false)?;
        }
        if self.peek() == "{" {
            self.pass();
            while self.peek() != "}" {
                let name = self.pass_name()?;
                self.declare(name, false);
                self.skip_attributes(AttributeTarget::Declarator(name))?;
                if self.peek() == "=" {
                    self.pass();
                    self.expression(&[",", "}"])?;
                }
                if self.peek() != "}" {
                    self.expect(",")?;
                }
            }
            self.pass();
        }
        self.skip_attributes(target)
    }

    // ---- Declarators.

    /// A declarator, abstract where no name stands.
    pub(super) fn declarator(&mut self, is_typedef: bool) -> Scan<Declarator<'a>> {
        self.nested(|s| s.declarator_inner(is_typedef))
    }

    pub(super) fn declarator_inner(&mut self, is_typedef: bool) -> Scan<Declarator<'a>> {
        let start = self.cursor;
        let target = AttributeTarget::Declarator(start);
        let mark = self.attributes.len();
        let mut result = Declarator::default();
        loop {
            self.skip_attributes(target)?;
            if self.peek() == "*" {
                self.pass();
            } else if let Some(text) = qualifier(self.peek()) {
                self.emit(self.cursor, text);
                self.cursor += 1;
            } else {
                break;
            }
        }
        // Here they are the pointer's, which compilers take in their own ways.
        self.no_layout_since(mark)?;
        if self.peek() == "(" && self.nested_declarator() {
            self.pass();
            result = self.declarator(is_typedef)?;
            self.expect(")")?;
        } else if self.is_name(self.cursor)
            || (self.kind(self.cursor) == Some(TokenKind::Identifier) && is_soft_keyword(self.peek()))
        {
            result.name = Some(self.pass_name()?);
        }
        loop {
            self.skip_attributes(target)?;
            match self.peek() {
                "[" => self.array_suffix()?,
                "(" => {
                    let (scope, identifier_list) = self.parameters()?;
                    if result.parameters.is_none() {
                        result.parameters = Some(scope);
                        result.identifier_list = identifier_list;
                    }
                }
                _ => break,
            }
        }
        if let Some(name) = result.name {
            for attribute in &mut self.attributes[mark..] {
                if attribute.target == target {
                    attribute.target = AttributeTarget::Declarator(name);
                }
            }
        }
        Ok(result)
    }

    /// Whether the `(` here encloses a declarator rather than parameters.
    pub(super) fn nested_declarator(&self) -> bool {
        let mut at = self.cursor + 1;
        while is_attribute(self.text(at)) {
            match self.past_group(at + 1) {
                Ok(next) => at = next,
                Err(_) => return false,
            }
        }
        !matches!(self.text(at), ")" | "..." | "")
            && !self.starts_type(at)
            && storage_class(self.text(at)).is_none()
    }

    pub(super) fn array_suffix(&mut self) -> Scan<()> {
        self.pass();
        loop {
            if self.peek() == "static" {
                self.pass();
            } else if let Some(text) = qualifier(self.peek()) {
                self.emit(self.cursor, text);
                self.cursor += 1;
            } else {
                break;
            }
        }
        if self.peek() == "*" && self.text(self.cursor + 1) == "]" {
            self.pass();
        } else if self.peek() != "]" {
            self.expression(&["]"])?;
        }
        self.expect("]")
    }

    /// A parameter list; the names that it declares, and whether it is an identifier list.
    pub(super) fn parameters(&mut self) -> Scan<(Scope<'a>, bool)> {
        self.pass();
        if self.peek() == ")" {
            self.pass();
            return Ok((Scope::new(), false));
        }
        let identifiers = self.is_name(self.cursor) && !self.is_typedef_name(self.cursor);
        self.scopes.push(Scope::new());
        let result = self.nested(|s| {
            loop {
                if s.peek() == "..." {
                    s.pass();
                } else if identifiers {
                    let name = s.pass_name()?;
                    s.declare(name, false);
                } else {
                    let first = s.cursor;
                    s.specifiers(true)?;
                    if s.cursor == first {
                        return Err(s.unexpected("a parameter"));
                    }
                    let declarator = s.declarator(false)?;
                    if let Some(name) = declarator.name {
                        s.declare(name, false);
                    }
                }
                if s.peek() == "," {
                    s.pass();
                    continue;
                }
                return s.expect(")");
            }
        });
        let scope = self.scopes.pop().unwrap_or_default();
        result.map(|()| (scope, identifiers))
    }

    /// `T *[3]`: specifiers and an abstract declarator.
    pub(super) fn type_name(&mut self) -> Scan<()> {
        self.specifiers(false)?;
        match self.declarator(false)?.name {
            None => Ok(()),
            Some(_) => Err("a name in a type name".to_owned()),
        }
    }
}

/// Whether an attribute changes sizes or places.
fn changes_layout(name: &str) -> bool {
    matches!(
        name,
        "packed" | "aligned" | "vector_size" | "mode" | "warn_if_not_aligned" | "ms_struct" | "gcc_struct"
    )
}
