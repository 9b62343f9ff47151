//! Loops that are run as several loops, one after the other (`analysis::distribution` of the compiler takes them apart): whether all of
//! them may, and the way of each. What a single loop's entry does, the module above says.

use super::{Declined, Engine, HANDLES_FAULTS, lock, run_all};
use crate::abi::{Entry, Loop};
use crate::config::RaceChoice;
use crate::signals::{self, Deferred};
use crate::speculation::predicate::{self, Rest};
use crate::trace::Record;
use crate::{floating_point, history};
use std::sync::atomic::Ordering;
use std::time::Instant;

/// A distributed loop is worth it where it takes this part of the time that its parts would take on the calling thread: as it
/// stands it loads what several of them use once.
const DISTRIBUTED: f64 = 0.6;

impl Engine {
    /// A loop that is distributed is entered: the loop itself, then its parts. True: all of them are complete. False: nothing
    /// has happened.
    ///
    /// # Safety
    /// As for [`Engine::enter`], for each of them.
    pub unsafe fn enter_parts(
        &self,
        entries: &mut [(&Loop, Entry)],
        errno: &mut i32,
        signals: &Deferred,
    ) -> bool {
        let Some(((whole, own), parts)) = entries.split_first_mut() else { return false };
        if !self.serves() {
            history::switch_off(whole);
        }
        if !self.may_enter(signals) || !floating_point::is_default() {
            return false;
        }
        // SAFETY: promised by the caller, here and below.
        if unsafe { own.info.as_ref() }.is_some_and(|info| self.is_limited(whole, info)) {
            return false;
        }
        // SAFETY: as above.
        let may = match unsafe { own.info.as_ref() } {
            Some(info) if self.config.race == RaceChoice::Auto && signals::handles_faults(info) => {
                Err(HANDLES_FAULTS.into())
            }
            // SAFETY: as above.
            _ => unsafe { self.may_distribute(own, parts) },
        };
        if let Err(why) = may {
            if self.config.race == RaceChoice::Auto {
                let key = (whole.key(), None);
                let mut histories = lock(&self.histories);
                let history = histories.entry(key).or_default();
                match history.is_too_small(own.trip[0]) {
                    true => history.overrated(whole),
                    false => history.paid(false, whole, own.trip[0]),
                }
            }
            // SAFETY: as above.
            if let Some(info) = unsafe { own.info.as_ref() }.filter(|_| self.trace.enabled()) {
                let trip = own.trip[0].max(0) as u64;
                self.trace.write(&Record { why, trip, ..Record::new(info) });
            }
            return false;
        }
        // What one part has stored the others have to follow.
        signals.only_handled();
        let started = Instant::now();
        let mut worker_ns = Some(0.0);
        for (part, entry) in parts {
            // SAFETY: as above.
            let Some(info) = (unsafe { entry.info.as_ref::<'static>() }) else { continue };
            let is_off = self.is_off(part, entry);
            // From the first part on there is no way back to the loop as it stood, whatever happens here.
            // SAFETY: as above.
            let elsewhere = !is_off
                && crate::without_panic(|| unsafe { self.enter_elsewhere(part, entry, errno, signals) })
                    == Some(true);
            // Its own flags are the program's; those of the arithmetic here are not.
            let product = || entry.trip.iter().map(|trip| *trip as f64).product::<f64>();
            let iterations = floating_point::apart(product);
            let key = (part.key(), None);
            if !elsewhere {
                let started = Instant::now();
                // SAFETY: as above.
                unsafe { run_all(info, entry, errno, None) };
                let took = started.elapsed().as_nanos() as u64;
                floating_point::apart(|| {
                    lock(&self.histories).entry(key).or_default().worker_took(iterations as u64, took);
                });
            }
            floating_point::apart(|| {
                let each = lock(&self.histories).get(&key).map_or(0.0, |history| history.worker_ns);
                worker_ns = worker_ns.filter(|_| each > 0.0).map(|sum| sum + each * iterations);
            });
        }
        floating_point::apart(|| self.judge(whole, own.trip[0], started, worker_ns));
        true
    }

    /// Remembers whether a distributed loop was worth it, whose parts would have taken the calling thread so long.
    fn judge(&self, whole: &Loop, trip: i64, started: Instant, worker_ns: Option<f64>) {
        let took = started.elapsed().as_nanos() as f64;
        if let (Some(worker_ns), RaceChoice::Auto) = (worker_ns, self.config.race) {
            let key = (whole.key(), None);
            let mut histories = lock(&self.histories);
            histories.entry(key).or_default().paid(took < DISTRIBUTED * worker_ns, whole, trip);
        }
    }

    /// Whether a part of a distributed loop, which no guard stands in front of, has shown that it doesn't pay.
    pub(super) fn is_off(&self, part: &Loop, entry: &Entry) -> bool {
        let key = (part.key(), None);
        part.threshold.load(Ordering::Relaxed) == i64::MAX
            || lock(&self.histories).get(&key).is_some_and(|history| history.is_too_small(entry.trip[0]))
    }

    /// Whether a distributed loop gives what it gives as it stands, and all of its parts are proven. `Err` says why not.
    ///
    /// # Safety
    /// As for [`Engine::enter_parts`].
    pub(super) unsafe fn may_distribute(
        &self,
        own: &Entry,
        parts: &[(&Loop, Entry)],
    ) -> Result<(), Declined> {
        let proven = |entry: &Entry| {
            // SAFETY: promised by the caller; info is static data of a loaded object.
            let info = unsafe { entry.info.as_ref() }?;
            // SAFETY: promised by the caller.
            unsafe { predicate::prove(info, entry, u64::MAX) }.ok().filter(Rest::is_empty)
        };
        let asked = self.config.race != RaceChoice::Auto;
        if !asked && parts.iter().all(|(part, entry)| self.is_off(part, entry)) {
            return Err("none of its parts has been faster elsewhere".into());
        }
        let held = proven(own).is_some_and(|rest| !rest.snapshot)
            && parts.iter().all(|(_, entry)| proven(entry).is_some());
        if !held {
            return Err(
                "its parts are not proven independent, or not proven to leave each other alone".into()
            );
        }
        Ok(())
    }
}
