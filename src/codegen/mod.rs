//! See docs/design.md.

pub mod edits;

pub use edits::{Edit, Generated};
