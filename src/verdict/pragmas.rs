//! What is said of pragmas that can't apply. What they do where they can is said where loops are judged.

use crate::c::hir::*;
use crate::c::pragma::Wish;
use crate::loops::plan::*;
use crate::loops::reason::{AccessNote, Kind};

/// A pragma that can't apply.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct PragmaError {
    /// The pragma.
    pub span: Span,
    /// What it is told.
    pub message: String,
    /// The accesses that show why.
    pub accesses: Vec<AccessNote>,
}

/// The pragmas that can't apply, given what became of the loops.
pub fn misplaced_pragmas(unit: &TranslationUnit, reports: &[LoopReport]) -> Vec<PragmaError> {
    let mut errors = Vec::new();
    for (number, pragma) in unit.pragmas.iter().enumerate() {
        let mut fail = |message: String, accesses: &[AccessNote]| {
            errors.push(PragmaError { span: pragma.span, message, accesses: accesses.to_vec() });
        };
        let wish = match &pragma.wish {
            Ok(wish) => *wish,
            Err(problem) => {
                fail(format!("`#pragma paragon`: {problem}"), &[]);
                continue;
            }
        };
        if !pragma.is_at_loop {
            fail(format!("`#pragma paragon {wish}` stands in front of no loop"), &[]);
            continue;
        }
        if unit.pragmas[..number]
            .iter()
            .any(|other| other.before == pragma.before && other.wish != pragma.wish)
        {
            fail(format!("`#pragma paragon {wish}` contradicts the one before it"), &[]);
            continue;
        }
        if wish == Wish::Forbid {
            continue;
        }
        match reports.iter().find(|report| report.span.start == pragma.before) {
            // That they are independent is nothing that anybody has to check, then.
            Some(report) if report.reason.kind == Kind::NothingKept => {}
            Some(report) if report.verdict == Verdict::Sequential => {
                let why = match report.reason.kind {
                    Kind::CarriedDependence | Kind::CarriedScalar | Kind::FloatingPointOrder => {
                        "the iterations are not independent"
                    }
                    _ => "the loop can't be run in parallel",
                };
                let reason = &report.reason;
                fail(format!("`#pragma paragon {wish}`: {why}: {reason}"), &reason.accesses);
            }
            Some(_) => {}
            None => fail(format!("`#pragma paragon {wish}`: the loop stands in what is not understood"), &[]),
        }
    }
    errors
}
