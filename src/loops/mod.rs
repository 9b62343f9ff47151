//! Finding loops and what they do: nests, counted loops, accesses, roles of scalars.

pub mod access;
pub mod addresses;
pub mod alias;
pub mod carried;
pub mod cells;
pub mod counted;
pub mod full_expressions;
pub mod hoist;
pub mod inline;
pub mod interchange;
pub mod leaving;
pub mod libm;
pub mod linear;
pub mod members;
pub mod nest;
pub mod options;
pub mod plan;
pub mod private;
pub mod privatization;
pub mod reason;
pub mod reductions;
pub mod rows;
pub mod scalars;
pub mod structured;
pub mod updates;
pub mod whole;
