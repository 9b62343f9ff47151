//! Paragon's compiler as a library. Start at [`compile`], which is the list of stages; `docs/design.md` follows one
//! loop through them.

pub mod analysis;
pub mod c;
pub mod codegen;
pub mod compile;
pub mod driver;
pub mod loops;
pub mod remarks;
pub mod verdict;
