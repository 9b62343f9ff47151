//! Which accesses of different iterations can meet: dependence tests.

pub mod dependence;
pub mod pairs;
