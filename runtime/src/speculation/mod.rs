//! Running a loop elsewhere on a guess: entry predicates, monitoring, the race, the checks, and what becomes visible.

pub mod cmt;
pub mod commit;
pub mod inspector;
pub mod monitor;
pub mod parts;
pub mod predicate;
pub mod race;
pub mod watch;
pub mod written;
