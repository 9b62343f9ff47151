//! The C front end: from preprocessed text to the typed tree [`hir`].

pub mod constant;
pub mod containers;
pub mod dialect;
pub mod dump;
pub mod hir;
pub mod lexer;
pub mod lower;
pub mod pragma;
pub mod types;
pub mod view;

pub use lower::lower_unit;
