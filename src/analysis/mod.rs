//! Which accesses of different iterations can meet: dependence tests, and what a run-time inspection has to execute.

pub mod dependence;
pub mod pairs;
pub mod slice;
