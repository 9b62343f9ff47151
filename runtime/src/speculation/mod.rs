//! Running a loop elsewhere on a guess: entry predicates, monitoring, the race, the checks, and what becomes visible.

pub mod cmt;
pub mod commit;
pub mod facts;
pub mod filled;
pub mod inspector;
pub mod monitor;
pub mod parts;
pub mod predicate;
pub mod protocol;
pub mod race;
pub mod rows;
pub mod search;
mod sync;
pub mod watch;
pub mod written;
