//! Running a loop elsewhere on a guess: entry predicates, the race, the checks, and what becomes visible.

pub mod cmt;
pub mod commit;
pub mod predicate;
pub mod race;
