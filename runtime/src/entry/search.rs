//! Loops that may be left early, by `break`, `return` or a condition beside the one that counts: how far such a loop comes is found out first, where that pays
//! ([`crate::speculation::search`]). The iterations up to there are an entry like any other, and the program's own text goes on with the one that leaves. Where nothing is left of them but how
//! many there are (somebody looks for an element), the search is all.

use super::{Engine, lock};
use crate::abi::*;
use crate::config::RaceChoice;
use crate::floating_point::{self, FloatingPoint};
use crate::memory::coherence;
use crate::memory::coherence::alone;
use crate::memory::programs_allocator;
use crate::policy::{self, Situation};
use crate::signals::{self, Deferred};
use crate::speculation::cmt::CudaState;
use crate::speculation::predicate::{self, Rest};
use crate::speculation::search::{self, Bytes, Found, Places, Terms};
use crate::trace::Record;
use std::collections::HashMap;
use std::sync::Mutex;
use std::time::{Duration, Instant};

/// Searches after which nothing came of the iterations that were found, before the loop is left alone.
const PATIENCE: u32 = 3;

/// A search by several threads takes less than this part of what the calling thread alone would have taken, or it doesn't pay.
const PAYS: f64 = 0.95;

/// What is known of loops that may be left early.
#[derive(Default)]
pub(super) struct Searches {
    /// By loop.
    known: Mutex<HashMap<usize, Known>>,
    /// The one of the entry under way, for its trace: iterations, and nanoseconds.
    last: Mutex<Option<(u64, u64)>>,
}

/// What earlier searches of a loop have shown.
#[derive(Clone, Copy, Default)]
struct Known {
    /// Nanoseconds of an iteration's search on the calling thread; 0: not measured.
    each_ns: f64,
    /// Iterations in front of the one that left it the last time; `None`: none was, or nobody knows.
    comes_to: Option<i64>,
    /// Searches in a row that came to nothing.
    in_vain: u32,
}

impl Known {
    /// How far the loop is expected to come this time: some loops are left late, others at once, and the next time may be twice as far.
    fn expected(&self, trip: i64) -> i64 {
        self.comes_to.map_or(trip, |last| last.saturating_mul(2).clamp(1, trip))
    }

    fn each_ns(&self) -> Option<f64> {
        (self.each_ns > 0.0).then_some(self.each_ns)
    }

    fn measured(&mut self, found: &Found, inner: f64) {
        let (iterations, took) = found.alone;
        // What takes less than that says more of the clock, and of memory that is looked at for the first time.
        if iterations > 0 && took.as_nanos() > 2_000 {
            let each = took.as_nanos() as f64 / (iterations as f64 * inner);
            self.each_ns = if self.each_ns > 0.0 { (self.each_ns + each) / 2.0 } else { each };
        }
    }
}

impl Searches {
    fn of(&self, key: usize) -> Known {
        lock(&self.known).get(&key).copied().unwrap_or_default()
    }

    fn keep(&self, key: usize, known: Known) {
        lock(&self.known).insert(key, known);
    }

    /// How long the search of the entry under way has taken.
    pub(super) fn took(&self) -> Duration {
        Duration::from_nanos(lock(&self.last).map_or(0, |(_, ns)| ns))
    }

    /// Completes the record of the entry whose iterations were found.
    pub(super) fn tell(&self, record: &mut Record) {
        if let Some((iterations, ns)) = *lock(&self.last) {
            (record.comes_to, record.search_ns) = (Some(iterations), ns);
        }
    }
}

impl Engine {
    /// An entry of a loop that may be left early: as far as it comes.
    ///
    /// # Safety
    /// As for [`Engine::enter`]; `info` is the entry's, and has a search.
    pub(super) unsafe fn enter_behind_search(
        &self,
        the_loop: &Loop,
        info: &'static Info,
        entry: &mut Entry,
        errno: &mut i32,
        signals: &Deferred,
    ) -> bool {
        let (key, all) = (the_loop.key(), entry.trip[0]);
        // SAFETY: promised by the caller, here and below.
        let found = match unsafe { self.search(the_loop, info, entry, errno, signals) } {
            Ok(found) => found,
            Err(why) => {
                if self.trace.enabled() {
                    let (why, trip) = (why.to_owned(), all.max(0) as u64);
                    self.trace.write(&Record { why, trip, ..Record::new(info) });
                }
                return false;
            }
        };
        entry.trip[0] = found;
        // SAFETY: as above; these iterations are executed, whoever executes them.
        let done = found > 0
            && (info.has(PG_LOOP_ONLY_SEARCHED)
                || unsafe { self.enter_here(the_loop, info, entry, errno, signals) });
        let last = lock(&self.searches.last).take();
        if (info.has(PG_LOOP_ONLY_SEARCHED) || found == 0) && self.trace.enabled() {
            let search_ns = last.map_or(0, |(_, ns)| ns);
            let (decision, why) = match done {
                true => ("searched", "nothing else is to be done"),
                false => ("sequential", "its first iteration leaves it"),
            };
            let (why, comes_to) = (why.to_owned(), Some(found as u64));
            let record = Record { decision, why, comes_to, trip: all as u64, search_ns, ..Record::new(info) };
            self.trace.write(&Record { total_ns: search_ns, ..record });
        }
        let mut known = self.searches.of(key);
        known.in_vain = if done { 0 } else { known.in_vain + 1 };
        if known.in_vain >= PATIENCE && self.config.race == RaceChoice::Auto {
            known.in_vain = 0;
            self.did_not_pay(the_loop, all);
        }
        self.searches.keep(key, known);
        if !done {
            entry.trip[0] = all;
        }
        done
    }

    fn did_not_pay(&self, the_loop: &Loop, trip: i64) {
        let key = (the_loop.key(), self.config.logs[0].filter(|_| self.tries_all_logs()));
        let mut histories = lock(&self.histories);
        histories.entry(key).or_default().paid(false, the_loop, trip);
    }

    /// Iterations of dimension 0 in front of the one that leaves the loop. `Err`: nobody has looked, and why.
    ///
    /// # Safety
    /// As for [`Engine::enter_behind_search`].
    unsafe fn search(
        &self,
        the_loop: &Loop,
        info: &'static Info,
        entry: &Entry,
        errno: &mut i32,
        signals: &Deferred,
    ) -> Result<i64, &'static str> {
        let Some(search) = info.search else { return Err("it has no search") };
        let key = the_loop.key();
        let asked = self.config.race != RaceChoice::Auto;
        let (trip, is_all) = (entry.trip[0], info.has(PG_LOOP_ONLY_SEARCHED));
        let inner = entry.trip[1..].iter().fold(1.0, |all, trip| all * *trip as f64);
        if trip <= 0 || !floating_point::is_default() {
            return Err("the floating-point environment is not the default one");
        }
        let known = self.searches.of(key);
        let expected = known.expected(trip);
        let situation = self.situation_of(info, (expected as f64 * inner) as u64);
        if !asked {
            let history = lock(&self.histories).entry((key, None)).or_default().to_owned();
            self.vain.saw(the_loop, trip);
            let is_guess = info.has(PG_LOOP_LONG_LOOPS);
            if !self.config.at_once && policy::is_early(&history, &situation, is_guess, self.passed()) {
                return Err("so short a loop stays, so early in the program");
            }
            // What nobody has measured may take no time, until it has been seen to take some.
            if !policy::deserves_search(&history, &situation, Some(known.each_ns().unwrap_or(0.0)), is_all) {
                self.did_not_pay(the_loop, trip);
                return Err("it isn't expected to come so far that anything would be faster");
            }
            if signals::handles_faults(info) {
                self.did_not_pay(the_loop, trip);
                return Err(super::HANDLES_FAULTS);
            }
        }
        // What decides must be as it was in front of the loop when an iteration loads it, and so must be all that was read at entry.
        let decides = |site: &u32| info.searched().contains(site);
        let is_settled =
            |rest: Rest| rest.unplaced.is_none() && !rest.pairs.iter().any(|(a, b)| decides(a) || decides(b));
        // SAFETY: promised by the caller, here and below.
        if !unsafe { predicate::prove(info, entry, 0) }.is_ok_and(is_settled) {
            if !asked {
                self.did_not_pay(the_loop, trip);
            }
            return Err("what it stores may decide how far it comes");
        }
        // SAFETY: as above.
        let places = unsafe { Places::of(info, entry) };
        let Some((places, bytes)) = places.and_then(|places| places.all().map(|bytes| (places, bytes)))
        else {
            return Err("nobody knows where what decides lies");
        };
        let are_arrays = self.are_arrays(&bytes, &places, info, entry);
        if !are_arrays && !alone::is_only_thread() {
            if !asked {
                self.did_not_pay(the_loop, trip);
            }
            return Err("another thread may unmap what lies behind the iteration that leaves");
        }
        signals.only_handled();
        coherence::bring_home();
        let first = ((policy::searched_first(&situation, known.each_ns()) as f64 / inner) as i64).max(1);
        let threads = self.config.threads;
        let terms = match asked {
            false => Terms { alone: first, chunk: None, threads, are_arrays },
            // For tests: all threads have some of it.
            true => Terms {
                alone: 1 + trip / 16,
                chunk: Some(1 + trip / (8 * threads as i64)),
                threads,
                are_arrays,
            },
        };
        let started = Instant::now();
        let mut fp = FloatingPoint::enter(*errno);
        let history = lock(&self.histories).entry((key, None)).or_default().to_owned();
        let goes_on = |iterations: i64, took: Duration| {
            let each = took.as_nanos() as f64 / (iterations as f64 * inner);
            asked || known.each_ns > 0.0 || policy::deserves_search(&history, &situation, Some(each), is_all)
        };
        // SAFETY: the entry's own search and places, where nobody unmaps what is there.
        let found = unsafe { search::first_to_leave(entry, search, &places, terms, &goes_on, &self.pool) };
        let Some(found) = found else {
            self.did_not_pay(the_loop, trip);
            return Err("to find out how far it comes would take too long");
        };
        fp.add(found.flags);
        *errno = fp.errno();
        let ns = started.elapsed().as_nanos() as u64;
        *lock(&self.searches.last) = Some((found.iterations as u64, ns));
        let mut known = known;
        known.measured(&found, inner);
        known.comes_to = (found.iterations < trip).then_some(found.iterations);
        self.searches.keep(key, known);
        if is_all && found.iterations > 0 {
            let mut histories = lock(&self.histories);
            let history = histories.entry((key, None)).or_default();
            let (iterations, took) = found.alone;
            let (all, ns_alone) = ((iterations as f64 * inner) as u64, took.as_nanos() as u64);
            match iterations == found.iterations {
                true => history.worker_took(all, ns_alone),
                false => history.worker_began(all, ns_alone),
            }
            if !asked {
                let alone = known.each_ns * found.iterations as f64 * inner;
                history.paid((ns as f64) < PAYS * alone, the_loop, trip);
            }
        }
        Ok(found.iterations)
    }

    /// What the policy asks about so many iterations of a loop that is proven. Of one that is only searched none runs anywhere.
    pub(super) fn situation_of(&self, info: &Info, iterations: u64) -> Situation {
        let only = info.has(PG_LOOP_ONLY_SEARCHED);
        Situation {
            iterations,
            work: info.work,
            bytes: 0,
            threads: self.config.threads,
            logged: false,
            snapshot: false,
            portions: 1,
            open: [
                !only && self.config.threads >= 2 && !info.has(PG_LOOP_MAY_TRAP | PG_LOOP_UPDATES),
                false,
                !only && self.cmt.cuda_state() == CudaState::Ready && info.has(PG_LOOP_CUDA_EXACT),
            ],
        }
    }

    /// Whether what a search reads belongs to objects that are there for as long as the loop runs, whatever other threads do: named ones, and blocks of memory of which the loop's first iteration reads
    /// a part, of the C library's. Then none of their pages is kept from anybody either.
    fn are_arrays(&self, bytes: &[Bytes], places: &Places, info: &Info, entry: &Entry) -> bool {
        // SAFETY: promised by who calls `search`.
        let bases = unsafe { entry.bases(info) };
        let Some(first) = places.first() else { return false };
        let table = self.known_allocations();
        let is_of_c_library = programs_allocator::is_of_c_library();
        let objects = info.searched().iter().zip(bytes.iter().zip(first));
        objects.into_iter().all(|(site, ((lo, hi), first))| {
            let base = info.sites().get(*site as usize).and_then(|site| bases.get(site.base as usize));
            let is_named = base.is_some_and(|base| base.object_lo <= *lo && *hi <= base.object_hi);
            let block = || table.as_ref()?.find(first.0).filter(|_| is_of_c_library);
            is_named || block().is_some_and(|(start, end)| start <= *lo && *hi <= end)
        })
    }
}
