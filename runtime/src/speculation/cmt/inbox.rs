//! Where a driving thread gets its messages. They lie in a channel, of which nobody ever waits: whoever sleeps there is woken by means that a channel has, among them
//! variables of the sending thread's that come from the program's allocator when they are first needed, and a message may be sent in a signal handler that has interrupted just that
//! allocator ([`mailbox`](crate::memory::coherence::mailbox)). So the thread sleeps on a word of its own here, and nothing is allocated to send.

use crossbeam_channel::{Receiver, RecvError, SendError, Sender, TryRecvError, TrySendError, bounded};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};

/// Wakes the one who waits.
#[derive(Default)]
struct Bell {
    /// Changes each time.
    rung: AtomicU32,
    is_asleep: AtomicBool,
}

impl Bell {
    fn ring(&self) {
        self.rung.fetch_add(1, Ordering::SeqCst);
        if self.is_asleep.load(Ordering::SeqCst) {
            futex(&self.rung, libc::FUTEX_WAKE, 1);
        }
    }
}

/// Rings where it is dropped: somebody is gone.
struct Rope(Arc<Bell>);

impl Drop for Rope {
    fn drop(&mut self) {
        self.0.ring();
    }
}

/// Sends messages.
pub struct Outbox<T> {
    // Gone before it rings.
    messages: Sender<T>,
    rope: Rope,
}

impl<T> Clone for Outbox<T> {
    fn clone(&self) -> Outbox<T> {
        Outbox { messages: self.messages.clone(), rope: Rope(self.rope.0.clone()) }
    }
}

impl<T> Outbox<T> {
    /// Sends one, as soon as there is room. An error: nobody will have it.
    pub fn send(&self, mut message: T) -> Result<(), SendError<T>> {
        loop {
            message = match self.try_send(message) {
                Ok(()) => return Ok(()),
                Err(TrySendError::Disconnected(message)) => return Err(SendError(message)),
                Err(TrySendError::Full(message)) => message,
            };
            std::thread::yield_now();
        }
    }

    /// The same where there is room now.
    pub fn try_send(&self, message: T) -> Result<(), TrySendError<T>> {
        self.messages.try_send(message)?;
        self.rope.0.ring();
        Ok(())
    }

    /// So many haven't been taken out yet.
    pub fn len(&self) -> usize {
        self.messages.len()
    }
}

/// Takes them out, in their order.
pub struct Inbox<T> {
    messages: Receiver<T>,
    bell: Arc<Bell>,
}

impl<T> Inbox<T> {
    /// The next one, when it is there. An error: there won't be any.
    pub fn recv(&self) -> Result<T, RecvError> {
        loop {
            let rung = self.bell.rung.load(Ordering::SeqCst);
            match self.try_recv() {
                Ok(message) => return Ok(message),
                Err(TryRecvError::Disconnected) => return Err(RecvError),
                Err(TryRecvError::Empty) => {}
            }
            self.bell.is_asleep.store(true, Ordering::SeqCst);
            futex(&self.bell.rung, libc::FUTEX_WAIT, rung);
            self.bell.is_asleep.store(false, Ordering::SeqCst);
        }
    }

    /// The next one, if it is there.
    pub fn try_recv(&self) -> Result<T, TryRecvError> {
        self.messages.try_recv()
    }
}

/// Room for so many messages.
pub fn channel<T>(room: usize) -> (Outbox<T>, Inbox<T>) {
    let (sender, receiver) = bounded(room);
    let bell = Arc::new(Bell::default());
    (Outbox { messages: sender, rope: Rope(bell.clone()) }, Inbox { messages: receiver, bell })
}

fn futex(word: &AtomicU32, operation: libc::c_int, value: u32) {
    // SAFETY: a word of ours; waiting ends when it has changed, or for no reason.
    unsafe {
        libc::syscall(
            libc::SYS_futex,
            word.as_ptr(),
            operation | libc::FUTEX_PRIVATE_FLAG,
            value,
            std::ptr::null::<libc::timespec>(),
        );
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[test]
    fn whoever_waits_is_woken_for_each_message_and_for_the_end() {
        let (outbox, inbox) = channel(4);
        let all = std::thread::spawn(move || std::iter::from_fn(|| inbox.recv().ok()).collect::<Vec<u32>>());
        let other = outbox.clone();
        let sends = std::thread::spawn(move || {
            for number in 0..2000 {
                if number % 500 == 0 {
                    std::thread::sleep(Duration::from_millis(2));
                }
                other.send(number).unwrap();
            }
        });
        sends.join().unwrap();
        outbox.send(2000).unwrap();
        drop(outbox);
        assert_eq!(all.join().unwrap(), (0..=2000).collect::<Vec<_>>());
    }

    #[test]
    fn nobody_sends_what_nobody_will_have() {
        let (outbox, inbox) = channel(1);
        outbox.try_send(1).unwrap();
        assert!(matches!(outbox.try_send(2), Err(TrySendError::Full(2))));
        assert_eq!((outbox.len(), inbox.try_recv()), (1, Ok(1)));
        assert_eq!(inbox.try_recv(), Err(TryRecvError::Empty));
        drop(inbox);
        assert!(outbox.send(3).is_err());
    }
}
