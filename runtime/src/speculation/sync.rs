//! What [`protocol`](super::protocol) synchronises by. The model of it (`tests/protocol.rs`) has a module of this name with the same names in it, whose
//! interleavings are explored; nothing else of the protocol knows which one it has.

pub use crossbeam_channel::{Receiver, Sender, unbounded as channel};
pub use std::sync::Arc;
pub use std::sync::atomic::{AtomicBool, AtomicU32, Ordering, fence};
pub use std::thread::yield_now;
