//! What code generation asks of splicing: text for the start of the unit, and edits at tokens of the user's text.

use crate::c::hir::{LoopId, Span};

/// One change of the user's text.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Edit {
    /// Text in front of a loop's keyword.
    BeforeLoop {
        /// The loop.
        loop_id: LoopId,
        /// The text.
        text: String,
        /// Put `{` before the text and `}` after the loop.
        wrap_braces: bool,
        /// A condition under which the loop runs as the user wrote it, without the edits in it. The text ends with `else`.
        untouched_if: Option<String>,
        /// The text ends where the loop goes on whose first iterations are done; then an `else` follows.
        goes_on: Option<GoesOn>,
    },
    /// Another name in place of an identifier (a recording function in place of `malloc`).
    ReplaceIdentifier {
        /// The identifier in the expanded text.
        span: Span,
        /// What stands there instead; one line.
        text: String,
    },
}

/// How a loop goes on behind iterations that are done: it stands there once more, without edits, and begins with what it was given.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct GoesOn {
    /// Whether its first clause declares variables, so that it stays; otherwise it is left out.
    pub declares: bool,
    /// Statements that give those variables their values, in front of the first test.
    pub begin: String,
}

/// All that is generated for one translation unit.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Generated {
    /// Goes in front of the user's text.
    pub prelude: String,
    /// Changes of the user's text.
    pub edits: Vec<Edit>,
    /// The device text of each loop, by line: what run-time compilation will get behind the two headers.
    pub kernels: Vec<(u32, String)>,
    /// Loops that have a plan and are left as they stand, and why.
    pub left_out: Vec<(LoopId, String)>,
}
