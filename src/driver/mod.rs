//! The compiler driver: the command line, the real compiler, and the way of generated text into the user's.

pub mod arguments;
pub mod interruption;
pub mod options;
pub mod pragmas;
pub mod reports;
pub mod splice;
pub mod terminal;
pub mod toolchain;
