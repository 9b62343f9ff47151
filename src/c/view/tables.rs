//! Long lists of constants at file scope. A table of some hundred thousand numbers is all that many a generated file consists of; nobody
//! asks for its values, since an object that lives as long as the program has them before anything runs, and a tree of it would
//! take several times as long as the compiler does.
//!
//! A list is left out of the view if it names nothing (no object whose address it might take, no enumerator, no tag or
//! function that it might declare) and if its items alone tell how many elements it gives, or nobody has to know. What it
//! holds is then the compiler's to judge, which reads every text that we leave as it stood or rewrite.

use super::*;

/// Tokens from which on a list is long.
const LONG: usize = 1024;

impl Scanner<'_> {
    /// Passes a long list of constants in braces; answers whether there was one. Where `has_length`, the declarator says how long its
    /// array is.
    pub(super) fn table(&mut self, has_length: bool) -> bool {
        let open = self.cursor;
        if self.peek() != "{" || self.end - open < LONG {
            return false;
        }
        let Some((close, table)) = self.read_table(open) else { return false };
        let tells = match table.items.as_deref() {
            // A string in braces may be that of the array itself.
            Some([] | [TableItem::Text]) | None => false,
            Some(_) => true,
        };
        if table.length < LONG || !(tells || has_length) {
            return false;
        }
        self.emit(open, "{");
        self.emit(close, "}");
        self.cursor = close + 1;
        self.special.tables.insert(open, table);
        true
    }

    /// The list that starts at `open`, and its closing brace; none if there is anything in it but constants.
    fn read_table(&self, open: usize) -> Option<(usize, Table)> {
        let mut items = Vec::new();
        let mut designated = false;
        // The kind of the item that is being read, and the brackets that are open.
        let mut item = None;
        let mut depth = 0usize;
        for at in open..self.end {
            let word = self.text(at);
            let before = if at > open { self.text(at - 1) } else { "" };
            let outermost = depth == 1;
            let starts = outermost && item.is_none();
            let kind = match self.kind(at)? {
                TokenKind::Number | TokenKind::Character => TableItem::Scalar,
                TokenKind::String => TableItem::Text,
                // Bytes of no meaning, and text that the compiler would have to refuse: not for us to explain.
                TokenKind::Unknown => return None,
                TokenKind::Identifier => {
                    let is_member = before == ".";
                    let is_type = is_type_word(word) || qualifier(word).is_some() || self.is_typedef_name(at);
                    if !is_member && !is_type {
                        return None;
                    }
                    TableItem::Scalar
                }
                TokenKind::Punctuator => match word {
                    "{" | "(" | "[" => {
                        // A compound literal, or statements.
                        if word == "{" && matches!(before, ")" | "(") {
                            return None;
                        }
                        depth += 1;
                        designated |= starts && word == "[";
                        if word == "{" { TableItem::Braced } else { TableItem::Scalar }
                    }
                    "}" | ")" | "]" => {
                        depth = depth.checked_sub(1)?;
                        if depth == 0 {
                            items.extend(item);
                            let items = (!designated).then_some(items);
                            return (word == "}").then_some((at, Table { items, length: at - open }));
                        }
                        continue;
                    }
                    "," if depth == 1 => {
                        items.push(item.take()?);
                        continue;
                    }
                    "." => {
                        designated |= starts;
                        TableItem::Scalar
                    }
                    ";" | "#" => return None,
                    _ => TableItem::Scalar,
                },
            };
            match item {
                // The brace of the whole list.
                _ if at == open => {}
                None => item = Some(kind),
                // Several literals are one string; anything else behind one makes it an operand.
                Some(TableItem::Text) if outermost && kind != TableItem::Text => {
                    item = Some(TableItem::Scalar)
                }
                Some(_) => {}
            }
        }
        None
    }
}
