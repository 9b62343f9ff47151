//! Jobs that nobody waits for, and that may never end: speculation can make an inner loop endless that the program's own order
//! ends. A thread of ours tells such a job to stop when its time is up. Where a race decides, whoever wins does that, and a GPU's
//! launches are timed by the thread that waits for them ([`Launch::limit`](crate::device::Launch::limit)).

use crate::device::TIME_IS_UP;
use crate::own_threads;
use crossbeam_channel::{Receiver, RecvTimeoutError, Sender, unbounded};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

struct Watched {
    until: Instant,
    stop: Arc<AtomicU32>,
}

/// The thread, started when first needed.
#[derive(Default)]
pub struct Watch {
    inbox: OnceLock<Option<Sender<Watched>>>,
}

impl Watch {
    /// Sets `stop` to [`TIME_IS_UP`] after so long, unless it is set already; a job that has ended takes no notice. False: there is no
    /// thread to be had, and nobody will.
    pub fn stop_after(&self, time: Duration, stop: &Arc<AtomicU32>) -> bool {
        let start = || {
            let (sender, inbox) = unbounded();
            own_threads::start(own_threads::WATCH, move || watch(&inbox)).then_some(sender)
        };
        let watched = Watched { until: Instant::now() + time, stop: stop.clone() };
        self.inbox.get_or_init(start).as_ref().is_some_and(|inbox| inbox.send(watched).is_ok())
    }
}

fn watch(inbox: &Receiver<Watched>) {
    let mut all: Vec<Watched> = Vec::new();
    loop {
        let next = match all.iter().map(|watched| watched.until).min() {
            Some(until) => inbox.recv_deadline(until),
            None => inbox.recv().map_err(|_| RecvTimeoutError::Disconnected),
        };
        match next {
            Ok(watched) => all.push(watched),
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => return,
        }
        let now = Instant::now();
        all.retain(|watched| {
            // Whoever else held the word has forgotten it: the job is over.
            let is_over = Arc::strong_count(&watched.stop) == 1;
            if watched.until <= now {
                let _ = watched.stop.compare_exchange(0, TIME_IS_UP, Ordering::SeqCst, Ordering::SeqCst);
            }
            watched.until > now && !is_over
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::device::TOLD_TO_STOP;

    #[test]
    fn jobs_are_told_when_their_time_is_up() {
        let watch = Watch::default();
        let stops: Vec<Arc<AtomicU32>> = (0..3).map(|_| Arc::new(AtomicU32::new(0))).collect();
        for (stop, milliseconds) in stops.iter().zip([3_600_000, 20, 1]) {
            assert!(watch.stop_after(Duration::from_millis(milliseconds), stop));
        }
        stops[2].store(TOLD_TO_STOP, Ordering::SeqCst);
        let started = Instant::now();
        while stops[1].load(Ordering::SeqCst) == 0 {
            assert!(started.elapsed() < Duration::from_secs(10));
            std::thread::yield_now();
        }
        assert!(started.elapsed() >= Duration::from_millis(15));
        let seen: Vec<u32> = stops.iter().map(|stop| stop.load(Ordering::SeqCst)).collect();
        assert_eq!(seen, [0, TIME_IS_UP, TOLD_TO_STOP]);
    }
}
