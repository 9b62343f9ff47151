//! Which accesses of different iterations can meet: dependence tests, what follows from them for the order of a body's
//! statements, and what a run-time inspection has to execute.

pub mod dependence;
pub mod distribution;
pub mod pairs;
pub mod slice;
