//! What [`protocol`](super::protocol) synchronises by. The model of it (`tests/protocol.rs`) has a module of this name with the same names in it, whose
//! interleavings are explored; nothing else of the protocol knows which one it has.

pub use crossbeam_channel::{Receiver, Sender, unbounded as channel};
pub use std::sync::Arc;
pub use std::sync::atomic::{AtomicBool, AtomicU32, Ordering, fence};
pub use std::thread::yield_now;
use std::time::{Duration, Instant};

/// What comes next, waited for without sleeping at first, so long: who is woken is late by as much as a short job takes.
const AWAKE: Duration = Duration::from_micros(200);

/// The same; an error where nobody is left to send it.
pub fn receive_awake<T>(from: &Receiver<T>) -> Result<T, crossbeam_channel::RecvError> {
    let started = Instant::now();
    while started.elapsed() < AWAKE {
        match from.try_recv() {
            Ok(value) => return Ok(value),
            Err(crossbeam_channel::TryRecvError::Disconnected) => return Err(crossbeam_channel::RecvError),
            Err(crossbeam_channel::TryRecvError::Empty) => std::hint::spin_loop(),
        }
    }
    from.recv()
}
