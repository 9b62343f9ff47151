//! Columns of tokens in the user's own file. Preprocessing keeps lines but moves what stands on them; so the token is looked up in
//! the file, as the same one among those that are spelled alike on the line. Where a macro made it there is no such token, and
//! no column.

use crate::c::hir::Span;
use crate::c::lexer::{self, Tokens};
use std::collections::HashMap;

/// Tokens of an expanded text and of the files that it was made from.
pub struct Positions {
    expanded: Tokens,
    files: HashMap<u32, Option<Tokens>>,
}

impl Positions {
    /// For the expanded text of a unit.
    pub fn new(expanded: &str) -> Positions {
        Positions { expanded: lexer::lex(expanded), files: HashMap::new() }
    }

    /// The column, in characters from 1, of what starts at `span`.
    pub fn column(&mut self, span: Span) -> Option<u32> {
        let tokens = &self.expanded;
        let wanted = tokens.tokens.binary_search_by_key(&span.start, |token| token.start).ok()?;
        let (number, all) = tokens.ordinal(wanted);
        let name = tokens.files.get(span.file as usize)?;
        let file = self.files.entry(span.file).or_insert_with(|| {
            let bytes = std::fs::read(name).ok()?;
            Some(lexer::lex_directives_only(&String::from_utf8_lossy(&bytes)))
        });
        let file = file.as_ref()?;
        // A file that is renumbered by `#line` has other lines than those that are counted here.
        let first = file.tokens.partition_point(|token| token.line < span.line);
        let on_line = (first..file.len()).take_while(|index| file.tokens[*index].line == span.line);
        let spelling = tokens.spelling(wanted);
        let alike: Vec<usize> = on_line.filter(|index| file.spelling(*index) == spelling).collect();
        if alike.len() != all as usize || file.files.len() > 1 {
            return None;
        }
        let start = file.tokens[*alike.get(number as usize)?].start as usize;
        let line_start = file.text[..start].rfind('\n').map_or(0, |newline| newline + 1);
        Some(file.text[line_start..start].chars().count() as u32 + 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_those_of_the_file() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.c");
        let text =
            "#define LOOP for (;;)\n\tx(\t/* for */  for  (;;) y; )\n LOOP;\n\u{e9} for(;;) for(;;);\n";
        std::fs::write(&path, text).unwrap();
        let name = path.display();
        let expanded = format!("# 1 \"{name}\"\n\n x( for (;;) y; )\n for (;;);\n\u{e9} for(;;) for(;;);\n");
        let mut positions = Positions::new(&expanded);
        let columns: Vec<_> = expanded
            .match_indices("for")
            .map(|(at, _)| {
                let token = positions.expanded.tokens.iter().find(|t| t.start as usize == at).unwrap();
                let span = Span { start: token.start, end: token.end, file: token.file, line: token.line };
                positions.column(span)
            })
            .collect();
        assert_eq!(columns, [Some(16), None, Some(3), Some(11)]);
    }
}
