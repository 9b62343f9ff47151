//! The C front end: from preprocessed text to the typed tree [`hir`].

pub mod dialect;
pub mod hir;
pub mod lexer;
pub mod view;
