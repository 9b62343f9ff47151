//! Finding loops and what they do: nests, counted loops, accesses, roles of scalars.

pub mod options;
pub mod plan;
