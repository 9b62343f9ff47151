//! Monitoring (the chapter, section 4.5.1): the first invocation of a loop whose iterations can't be proven independent
//! runs twice, on the program's memory as the worker, whose result stands, and with logs on copies, for the number of its
//! conflicts. What is found only decides where the loop will run from then on; it is never taken as a proof.
//!
//! The monitored run may take longer than the loop. It goes on behind the program's back, and its report is collected at
//! a later entry of any loop.

use super::cmt::{Event, Report};
use crate::abi::{PG_FAIL_RAW, PG_FAIL_TIME, PG_FAIL_WAW};
use crate::history::History;
use crossbeam_channel::{Receiver, TryRecvError};

/// A monitored run that is still under way.
pub struct Pending {
    /// [`crate::abi::Loop::key`] of the loop that it is about.
    pub the_loop: usize,
    events: Receiver<Event>,
}

/// How a pending run stands.
pub enum Progress {
    /// Not finished.
    UnderWay,
    /// Finished; `None` if its thread is gone.
    Finished(Option<Box<Report>>),
}

impl Pending {
    /// A run of `the_loop` that will report to `events`.
    pub fn new(the_loop: usize, events: Receiver<Event>) -> Pending {
        Pending { the_loop, events }
    }
    /// Looks without waiting.
    pub fn progress(&self) -> Progress {
        loop {
            match self.events.try_recv() {
                Ok(Event::Done(report)) => return Progress::Finished(Some(report)),
                Ok(Event::WorkerMayStart) => {}
                Err(TryRecvError::Empty) => return Progress::UnderWay,
                Err(TryRecvError::Disconnected) => return Progress::Finished(None),
            }
        }
    }
}

/// Draws the conclusion for the loop's category. A bitmap can't tell an iteration that met itself from two that met, and only stamps can
/// tell anti and output dependences, which keep no iteration waiting: so the next log will be the best one that the loop may have. Runs
/// that ended for other reasons than conflicts, or too late, conclude nothing.
pub fn conclude(history: &mut History, report: &Report) {
    if let Some(held) = report.guess_held {
        history.guess_held(held);
    }
    if let Some(held) = report.range_held {
        history.range_held(held);
    }
    if let Some(is_met) = report.in_order {
        history.met_in_order(is_met);
    }
    if report.order_held == Some(false) {
        history.order_refuted();
    }
    if let Some(once) = report.stored_once {
        history.stored_once(once);
    }
    if let Some(held) = report.joined_held {
        history.joined_held(held);
    }
    if let Some(held) = report.portion_held {
        history.portion_held(held.then_some(report.portion));
    }
    if let Some(many) = report.many_writers {
        history.found_writers(many);
    }
    if report.has_seams {
        history.found_seams();
    }
    if report.once_held == Some(false) {
        history.once_refuted();
    }
    if report.method != report.best_method && report.outcome.fail & (PG_FAIL_WAW | PG_FAIL_RAW) != 0 {
        history.met();
    } else if report.outcome.fail & (PG_FAIL_WAW | PG_FAIL_RAW | PG_FAIL_TIME) != 0 {
        history.conflict();
    } else if report.error.is_none() && report.outcome.fail == 0 {
        history.clean();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::device::{DeviceError, LogMethod, Outcome};
    use crate::history::Category;
    use crate::speculation::cmt::Guesses;

    #[test]
    fn only_conflicts_make_a_loop_sequential() {
        let report = |fail, error| Report {
            outcome: Outcome { fail, ..Outcome::default() },
            error,
            ..Report::default()
        };
        let mut history = History::default();
        conclude(&mut history, &report(0, Some(DeviceError::OutOfMemory(1))));
        assert_eq!(history.category, Category::Unknown);
        conclude(&mut history, &report(0, None));
        assert_eq!(history.category, Category::Parallel);
        for fail in [PG_FAIL_RAW, PG_FAIL_TIME] {
            let mut history = history;
            conclude(&mut history, &report(fail, None));
            assert_eq!(history.category, Category::Sequential);
        }
    }

    #[test]
    fn what_cheap_logs_find_is_looked_at_again() {
        let report = |method, best_method| Report {
            outcome: Outcome { fail: PG_FAIL_WAW, ..Outcome::default() },
            method,
            best_method,
            ..Report::default()
        };
        for best in [LogMethod::Atomic, LogMethod::Stamp] {
            let mut history = History::default();
            assert!(!history.wants_better_log());
            conclude(&mut history, &report(LogMethod::Bitmap, best));
            assert_eq!((history.category, history.wants_better_log()), (Category::Unknown, true));
            conclude(&mut history, &report(best, best));
            assert_eq!(history.category, Category::Sequential);
        }
        let mut history = History::default();
        let refuted = Report { guess_held: Some(false), ..Report::default() };
        conclude(&mut history, &refuted);
        assert_eq!((history.category, history.guesses()), (Category::Parallel, Guesses::None));
        let mut history = History::default();
        conclude(&mut history, &Report { in_order: Some(true), ..Report::default() });
        assert!(history.meets_in_order());
        conclude(
            &mut history,
            &Report { order_held: Some(true), stored_once: Some(true), ..Report::default() },
        );
        assert!(history.meets_in_order() && history.may_store_once());
        conclude(
            &mut history,
            &Report { once_held: Some(false), stored_once: Some(true), ..Report::default() },
        );
        assert!(history.meets_in_order() && !history.may_store_once());
        conclude(
            &mut history,
            &Report { order_held: Some(false), in_order: Some(true), ..Report::default() },
        );
        assert!(!history.meets_in_order());
        let mut history = History::default();
        conclude(&mut history, &Report { portion_held: Some(true), portion: 1 << 20, ..Report::default() });
        assert_eq!(history.portion(), 1 << 20);
        conclude(&mut history, &Report { portion_held: Some(false), ..Report::default() });
        assert_eq!((history.portion(), history.may_portion()), (0, false));
        conclude(&mut history, &Report { many_writers: Some(true), ..Report::default() });
        conclude(&mut history, &Report::default());
        assert!(history.has_many_writers());
        let mut history = History::default();
        conclude(&mut history, &report(LogMethod::Atomic, LogMethod::Stamp));
        assert_eq!((history.category, history.wants_better_log()), (Category::Unknown, true));
    }

    #[test]
    fn a_pending_run_is_looked_at_without_waiting() {
        let (events, inbox) = crossbeam_channel::unbounded();
        let pending = Pending::new(1, inbox);
        assert!(matches!(pending.progress(), Progress::UnderWay));
        events.send(Event::WorkerMayStart).unwrap();
        assert!(matches!(pending.progress(), Progress::UnderWay));
        events.send(Event::Done(Box::default())).unwrap();
        assert!(matches!(pending.progress(), Progress::Finished(Some(_))));
        drop(events);
        assert!(matches!(pending.progress(), Progress::Finished(None)));
    }
}
