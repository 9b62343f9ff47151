//! What a driving thread does with what it is told, one message after the other: jobs, those that nobody waits for, and letters. What becomes of a job on its device is the module's above.

use super::ahead::Ahead;
use super::inbox::Inbox;
use super::{CudaState, Driver, Job, Kind, Report, run};
use crate::device::cuda::{Gpu, Outline};
use crate::device::pool::{Pool, may_stay_awake};
use crate::device::threads::Width;
use crate::device::{Device, DeviceError};
use crate::leaving::{self, Working};
use crate::memory::coherence::alone;
use crate::memory::coherence::mailbox::{self, Letter};
use crate::memory::own;
use crate::memory::residency::Residency;
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, AtomicU32, Ordering};
use std::time::{Duration, Instant};

/// What a driving thread is told to do.
pub(super) enum Message {
    Job(Box<Job>),
    /// A job that nobody waits for.
    Following(Box<Job>),
    /// All of those are to be waited for that have been begun behind each other.
    Settle,
    Letter(Letter),
}

/// So long a driving thread stays awake behind a job that has left arrays on its device: the next one of a time loop comes soon, and a sleeping thread takes as
/// long to be woken as many such jobs take.
const AWAKE: Duration = Duration::from_micros(300);

/// The next message, if it comes while it is waited for without sleeping.
fn next_soon(inbox: &Inbox<Message>) -> Option<Message> {
    let started = Instant::now();
    while started.elapsed() < AWAKE {
        if let Ok(message) = inbox.try_recv() {
            return Some(message);
        }
        std::hint::spin_loop();
    }
    None
}

/// Serves messages one after the other; of jobs there is a report. Those that nobody waits for may be [begun behind each other](Device::run_behind): before anything else is done, and where no other
/// one is there yet, they are to [settle](Message::Settle), of which there is a report, too.
pub(super) fn serve(
    kind: Kind,
    driver: &Driver,
    inbox: &Inbox<Message>,
    mut work: impl FnMut(Message) -> Option<Report>,
) {
    let mut first = None;
    driver.ready.store(true, Ordering::Release);
    let mut work = move |message| std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| work(message)));
    let mut are_under_way = false;
    while let Some(message) = first.take().or_else(|| inbox.recv().ok()) {
        let (seat, stays, follows) = match &message {
            Message::Job(job) => (Some(job.seat.clone()), !job.tenants.is_empty(), false),
            Message::Following(..) => (None, true, true),
            Message::Letter(_) | Message::Settle => (None, false, false),
        };
        if !follows && std::mem::take(&mut are_under_way) {
            settle(kind, work(Message::Settle));
        }
        // What is on the device isn't what the loop is to find there.
        let is_in_vain = stays && mailbox::has_failed(kind);
        let end = if is_in_vain { Ok(None) } else { work(message) };
        match seat {
            None if follows => {
                are_under_way = true;
                if !matches!(&end, Ok(Some(report)) if report.has_succeeded()) {
                    mailbox::fail(kind);
                }
            }
            None => {
                if end.is_err() {
                    mailbox::give_up();
                }
            }
            Some(seat) => {
                let why = if is_in_vain { "a loop before it has failed" } else { "internal error" };
                let report = end.ok().flatten().unwrap_or_else(|| Report {
                    error: Some(DeviceError::Lost(why.into())),
                    ..Report::default()
                });
                let has_succeeded = report.has_succeeded();
                seat.end(&driver.turn, Box::new(report), has_succeeded);
            }
        }
        if are_under_way {
            first = inbox.try_recv().ok();
            if first.is_none() {
                are_under_way = false;
                settle(kind, work(Message::Settle));
            }
        }
        if first.is_none() && stays && may_stay_awake() {
            first = next_soon(inbox);
        }
    }
}

/// What has come of loops that nobody has waited for.
fn settle(kind: Kind, end: std::thread::Result<Option<Report>>) {
    let is_well = |report: Option<Report>| report.is_none_or(|report| report.has_succeeded());
    if !end.is_ok_and(is_well) {
        mailbox::fail(kind);
    }
}

/// The CUDA driver's thread: everything that knows the driver happens on it.
pub(super) fn serve_cuda(
    driver: &Driver,
    inbox: &Inbox<Message>,
    state: &AtomicU8,
    ahead: &Ahead,
    (pool, gpu): (&Pool, Gpu),
    width: &Width,
) {
    let set_state = |s: CudaState| {
        state.store(s as u8, Ordering::Release);
        if s == CudaState::Absent {
            ahead.end();
        }
    };
    let mut device = Working::begin(leaving::GPU, None).and_then(|_working| {
        let pool = std::panic::AssertUnwindSafe(pool.clone());
        let known = std::panic::AssertUnwindSafe(|outline: &Outline| ahead.begin(outline));
        let opened = std::panic::catch_unwind(|| {
            // Whole, with the promises that they carry.
            let (pool, known) = (pool, known);
            crate::device::cuda::open(pool.0, gpu, known.0)
        });
        leaving::arrange();
        opened.ok().and_then(Result::ok)
    });
    if device.is_some() {
        // Arrays may be to stay soon. Whoever has a loop waits for this, as for the driver, before it is measured.
        if own::is_own() {
            let _ = std::panic::catch_unwind(alone::look_ahead);
        }
        set_state(CudaState::Ready);
    } else {
        set_state(CudaState::Absent);
    }
    let mut residency = Residency::default();
    // Where loops are under way that nobody has waited for: the process doesn't end meanwhile, and this is what tells the last of them to stop.
    let mut under_way: Option<(Working, Arc<AtomicU32>)> = None;
    serve(Kind::Cuda, driver, inbox, |message| {
        let (job, follows) = match message {
            Message::Job(job) => (*job, false),
            Message::Following(job) => (*job, true),
            Message::Settle => {
                // Whoever has panicked meanwhile has dropped it, and left the loops to themselves.
                let (_working, stop) = match under_way.take() {
                    Some((working, stop)) => (Some(working), stop),
                    None => (None, Arc::default()),
                };
                let error = match device.as_deref_mut()?.settle(&stop) {
                    Ok(true) => None,
                    Ok(false) => Some(DeviceError::Kernel("a loop that nobody waits for has failed".into())),
                    Err(error) => Some(error),
                };
                if matches!(error, Some(DeviceError::Lost(_))) {
                    set_state(CudaState::Absent);
                }
                return Some(Report { error, ..Report::default() });
            }
            Message::Letter(letter) => {
                let device = device.as_deref_mut().map(|device| device as &mut dyn Device);
                mailbox::answer(device, Kind::Cuda, letter);
                return None;
            }
        };
        let stop = job.seat.stop().clone();
        let working = match under_way.take() {
            Some((mut working, _)) => {
                working.is_at(stop.clone());
                Some(working)
            }
            None => Working::begin(leaving::GPU, Some(stop.clone())),
        };
        let device = device.as_deref_mut().filter(|_| working.is_some());
        let report = run(device.map(|d| d as &mut dyn Device), &mut residency, job, width);
        if matches!(report.error, Some(DeviceError::Lost(_))) {
            set_state(CudaState::Absent);
        }
        under_way = working.filter(|_| follows).map(|working| (working, stop));
        Some(report)
    });
}

#[cfg(test)]
mod tests {
    use super::super::MESSAGES;
    use super::super::inbox::channel;
    use super::super::tests::job;
    use super::*;
    use crate::device::DevicePtr;
    use crate::memory::placement::Placement;
    use crate::speculation::protocol;

    /// Loops that nobody waits for settle before anything else is done, and where none follows; behind one that has failed none is run, nor anything fetched.
    #[test]
    fn loops_that_nobody_waits_for_settle_in_time() {
        const KIND: Kind = Kind::Cuda;
        let following = || {
            let (_caller, seat) = protocol::sides();
            Message::Following(Box::new(Job { follows: true, ..job(seat, KIND, Placement::default()) }))
        };
        let letter = || Message::Letter(Letter::Free(DevicePtr(0)));
        let failure = || Report {
            error: Some(DeviceError::Kernel("as the test wants it".into())),
            ..Report::default()
        };
        // What is served, and how what settles ends: well, badly, or not at all.
        for (fails, panics) in [(false, false), (true, false), (false, true)] {
            mailbox::forgive(KIND);
            let (sender, inbox) = channel(MESSAGES);
            for message in [
                following(),
                following(),
                letter(),
                following(),
                Message::Job(Box::new(job(protocol::sides().1, KIND, Placement::default()))),
            ] {
                sender.send(message).unwrap();
            }
            let (mut said, mut sender) = (Vec::new(), Some(sender));
            let mut last = Some(following());
            serve(KIND, &Driver::default(), &inbox, |message| match message {
                Message::Following(_) => {
                    said.push("follows");
                    Some(Report::default())
                }
                Message::Settle => {
                    said.push("settles");
                    assert!(!panics, "the test panics");
                    Some(if fails { failure() } else { Report::default() })
                }
                Message::Letter(_) => {
                    said.push(if mailbox::has_failed(KIND) { "a letter in vain" } else { "a letter" });
                    None
                }
                Message::Job(_) => {
                    said.push("a job");
                    // Behind it the last one that follows comes, and then nothing.
                    sender.take().unwrap().send(last.take().unwrap()).unwrap();
                    Some(Report::default())
                }
            });
            let wanted: &[&str] = match fails || panics {
                false => &[
                    "follows", "follows", "settles", "a letter", "follows", "settles", "a job", "follows",
                    "settles",
                ],
                true => &["follows", "follows", "settles", "a letter in vain"],
            };
            // A job without arrays that stay doesn't care; those that follow are in vain.
            let said: Vec<_> = said.into_iter().take(wanted.len()).collect();
            assert_eq!(said, wanted);
            assert_eq!(mailbox::has_failed(KIND), fails || panics);
        }
        mailbox::forgive(KIND);
    }
}
