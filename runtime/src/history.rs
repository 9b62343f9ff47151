//! What is remembered of each loop within a run, and what follows from it: the chapter's categories after monitoring, and
//! the threshold that the loop's guard compares with.
//!
//! Numbers here only ever decide where a loop runs, never what it computes. So they may come from earlier runs, too ([`records`]), by
//! way of a file that anything may have happened to ([`file`]).

pub mod file;
pub mod records;

use crate::abi::Loop;
use crate::speculation::cmt::Guesses;
use crate::speculation::parts;
use std::sync::atomic::Ordering;
use std::time::Instant;

/// After so many entries a loop is one that comes again and again.
const OFTEN: u64 = 16;
/// The same where it has been one in an earlier run.
const OFTEN_AGAIN: u64 = 2;
/// After so many entries without a gain a loop is switched off for trip counts like theirs.
const PATIENCE: u32 = 3;
/// Entries of a short loop elsewhere, after which the calling thread takes one.
const MEASURED_EVERY: u32 = 100;
/// What pays with so many times as many iterations is asked again.
const LARGER: i64 = 2;
/// After a conflict a loop runs sequentially for this many entries, then twice as many, and so on.
const FIRST_PAUSE: u64 = 8;
/// Which part of a loop's time inspections of each kind may take: one of so many.
const INSPECTION_PART: f64 = 200.0;
/// Which part of what inspections have saved others may take: one of so many.
const REINVESTED: f64 = 2.0;
/// How much of that one inspection may take, in times of what the calling thread takes for the entry.
const REINVESTED_AT_ONCE: f64 = 16.0;
/// An inspection that didn't come to its end is expected to take so many times what it has taken, at least and at most: the first one starts threads, and gets memory.
const UNFINISHED: (f64, f64) = (2.0, 16.0);
/// After so many runs with conflicts a loop is switched off for the rest of the run.
const HOPELESS: u32 = 6;

/// The chapter's category of a possibly-parallel loop (section 4.5.1).
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Category {
    /// Not monitored yet.
    #[default]
    Unknown,
    /// No conflict was found: it is speculated.
    Parallel,
    /// Conflicts were found: it runs sequentially for now.
    Sequential,
}

/// The ways in which a loop can run elsewhere.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Way {
    /// Proven parallel: all threads on the program's own memory.
    InPlace = 0,
    /// On the threads device's copies.
    Threads = 1,
    /// On the GPU.
    Cuda = 2,
}

/// The two ways to inspect: see `speculation::inspector`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Inspector {
    /// Whether iterations meet.
    Marks = 0,
    /// Who has to wait for whom.
    Levels = 1,
}

/// What is remembered of one of them.
#[derive(Clone, Copy, Debug, Default)]
struct Inspections {
    /// Nanoseconds per iteration, smoothed; 0: not known.
    ns: f64,
    /// Nanoseconds that the calling thread alone would have taken for all entries since the last one.
    since_ns: f64,
    /// How many were made since a finding has held last.
    in_vain: u32,
    /// Whether it takes so little that it is made at each entry, instead of comparing what it followed from with what is there; `None`: not known.
    is_made_anew: Option<bool>,
}

/// One loop's past.
#[derive(Clone, Copy, Debug, Default)]
pub struct History {
    /// See [`Category`].
    pub category: Category,
    /// Entries so far.
    pub entries: u64,
    /// Nanoseconds per iteration of the merged space on the calling thread alone, smoothed; 0: not known.
    pub worker_ns: f64,
    /// The same for each [`Way`], with all that an entry costs; 0: not known.
    pub way_ns: [f64; 3],
    /// Nanoseconds per iteration that a GPU's kernel without logs takes, copies aside, smoothed; 0: not known.
    pub kernel_ns: f64,
    /// Whether `worker_ns` is of the first iterations of entries only, beside which others may take any time.
    worker_is_partial: bool,
    /// Measurements behind `worker_ns`, and behind `way_ns`.
    worker_samples: u32,
    way_samples: [u32; 3],
    /// Iterations of the longest entry behind each of `way_ns`; 0: not known.
    way_iterations: [u64; 3],
    /// Entries elsewhere since the calling thread was measured last.
    unmeasured: u32,
    losses: u32,
    /// Trip counts below don't pay.
    pays_from: i64,
    /// How many entries there were with such trip counts all the same.
    overrated: u32,
    conflicts: u32,
    paused_until: u64,
    /// In the order of [`Inspector`].
    inspections: [Inspections; 2],
    /// Nanoseconds that entries have saved whose iterations an inspection has found independent, or in levels, less what all inspections have taken; `None`: there was none.
    inspections_gain_ns: Option<f64>,
    /// Nanoseconds of that, and of what an earlier run has saved, that other inspections may take.
    to_reinvest_ns: f64,
    /// What an earlier run has saved so.
    inspections_gain_before_ns: f64,
    /// What runs under logs have shown, that was written down since it has held last; and how many more such runs are not.
    lessons_in_vain: u32,
    lessons_paused: u64,
    /// Conflicts were found by a log that takes an iteration that meets itself, or an anti or output dependence, for one.
    may_be_harmless: bool,
    /// Whose record this goes on from: [`records::identity`] and [`records::class`]; 0: nobody has looked for one yet.
    identity: u64,
    class: u32,
    /// Nanoseconds that a GPU has saved the calling thread, in this run and in the one that the record is of.
    gain_ns: f64,
    gain_before_ns: f64,
    /// Entries in that run.
    entries_before: u64,
    /// Stamps have guessed that each cell has one writer, and were wrong.
    has_several_writers: bool,
    /// Iterations seemed to meet cells in order in the last run that told.
    in_order: bool,
    /// A log that relied on it had to be made again.
    order_refuted: bool,
    /// Lanes seemed to store to a cell each where they do, in the last run that told.
    stores_once: bool,
    /// A log that relied on it had to be made again.
    once_refuted: bool,
    /// Stamps have guessed that a cell's writers are run by lanes side by side, and were wrong.
    joined_refuted: bool,
    /// They were run by lanes on both sides of a row's end, too.
    has_seams: bool,
    /// Iterations of launches none of which have met, if several have carried the loop out for that; 0: none have.
    portion: u64,
    /// Some of one launch have met.
    portion_refuted: bool,
    /// Cells had many writers in the last run that told.
    many_writers: bool,
    /// Bitmaps have guessed that nothing is stored between what is loaded, and were wrong.
    stores_between: bool,
    /// The last entry, where the loop ran as it stood: its thread, when it began, and its iterations.
    stood: Option<(u64, Instant, u64)>,
    /// Nanoseconds per iteration until that thread came back; 0: it hasn't yet.
    at_most_ns: f64,
    /// Nanoseconds that predicates took to decide all pairs, smoothed; 0: not known.
    proof_ns: f64,
}

impl History {
    /// Notes an entry. False while the loop is paused after conflicts.
    pub fn enter(&mut self) -> bool {
        self.entries += 1;
        if self.category == Category::Sequential && self.entries >= self.paused_until {
            self.category = Category::Unknown;
        }
        self.category != Category::Sequential
    }
    /// Notes an entry that the calling thread alone would take so many nanoseconds for, at least.
    pub fn worth_inspecting(&mut self, worker_ns: f64) {
        self.inspections.iter_mut().for_each(|inspections| inspections.since_ns += worker_ns);
    }
    /// Nanoseconds that an inspection of an entry may take that the calling thread would take so many for: a small part of the time that the loop has taken since the last one, so that little
    /// is lost if its finding never holds again, half of that with each whose finding hasn't held; and some of what others have saved.
    pub fn inspection_may_take(&self, inspector: Inspector, worker_ns: f64) -> f64 {
        let Inspections { since_ns, in_vain, .. } = self.inspections[inspector as usize];
        let saved = self.to_reinvest_ns.min(REINVESTED_AT_ONCE * worker_ns);
        since_ns / (INSPECTION_PART * (1u64 << in_vain.min(40)) as f64) + saved
    }
    /// Notes an inspection.
    pub fn inspected(&mut self, inspector: Inspector, iterations: u64, ns: u64) {
        let inspections = &mut self.inspections[inspector as usize];
        smooth(&mut inspections.ns, iterations, ns);
        inspections.in_vain += 1;
        self.has_inspected(inspector, ns);
    }
    /// Notes one that is made at each entry, and has taken far longer than the others.
    pub fn inspection_overran(&mut self, inspector: Inspector, iterations: u64, ns: u64) {
        smooth(&mut self.inspections[inspector as usize].ns, iterations, ns);
        self.has_inspected(inspector, ns);
    }
    /// Notes an inspection that came to no end in its time. `part`: of the iterations that it has looked at.
    pub fn inspection_unfinished(&mut self, inspector: Inspector, iterations: u64, ns: u64, part: f64) {
        let whole = ns as f64 * (1.0 / part).clamp(UNFINISHED.0, UNFINISHED.1);
        self.inspections[inspector as usize].ns = whole / iterations.max(1) as f64;
        self.has_inspected(inspector, ns);
    }
    fn has_inspected(&mut self, inspector: Inspector, ns: u64) {
        self.inspections[inspector as usize].since_ns = 0.0;
        *self.inspections_gain_ns.get_or_insert(0.0) -= ns as f64;
        self.to_reinvest_ns = (self.to_reinvest_ns - ns as f64).max(0.0);
    }
    /// Notes that all inspections of an entry have told nothing about how it may run elsewhere: then what was saved before says nothing of others, either.
    pub fn inspected_in_vain(&mut self) {
        self.to_reinvest_ns = 0.0;
    }
    /// Notes an entry that an inspection let run elsewhere: how long it took, without an inspection that was noted by itself, and how long the calling thread alone
    /// would have taken, in nanoseconds.
    pub fn inspection_saved(&mut self, took_ns: f64, worker_ns: f64) {
        *self.inspections_gain_ns.get_or_insert(0.0) += worker_ns - took_ns;
        self.to_reinvest_ns = (self.to_reinvest_ns + (worker_ns - took_ns) / REINVESTED).max(0.0);
    }
    /// Notes that inspections are remembered, or come to nothing.
    pub fn inspections_are_remembered(&mut self) {
        self.inspections[Inspector::Marks as usize].is_made_anew = Some(false);
    }
    /// Notes an inspection that found iterations independent, of which nothing is remembered. `is_cheap`: it may be made at each entry.
    pub fn inspected_for_once(&mut self, inspector: Inspector, iterations: u64, ns: u64, is_cheap: bool) {
        let inspections = &mut self.inspections[inspector as usize];
        smooth(&mut inspections.ns, iterations, ns);
        inspections.is_made_anew = Some(is_cheap);
        // What it takes is a part of what its entry takes.
        self.has_inspected(inspector, 0);
    }
    /// Whether an inspection is a part of each entry; `None`: not known.
    pub fn is_inspected_anew(&self) -> Option<bool> {
        self.inspections[Inspector::Marks as usize].is_made_anew
    }
    /// Nanoseconds per iteration that an inspection takes; 0: not known.
    pub fn inspection_ns(&self, inspector: Inspector) -> f64 {
        self.inspections[inspector as usize].ns
    }
    /// Whether what a run under logs has shown is worth writing down: ever less often, where it never holds again.
    pub fn wants_lesson(&mut self) -> bool {
        if self.lessons_paused != 0 {
            self.lessons_paused -= 1;
            return false;
        }
        self.lessons_paused = (1 << self.lessons_in_vain.min(40)) - 1;
        self.lessons_in_vain += 1;
        true
    }
    /// Notes that the finding of an earlier inspection holds, or what a run has shown.
    pub fn finding_held(&mut self) {
        (self.lessons_in_vain, self.lessons_paused) = (0, 0);
        self.inspections.iter_mut().for_each(|inspections| inspections.in_vain = 0);
    }
    /// Notes a conflict: the loop is sequential for a while, longer each time.
    pub fn conflict(&mut self) {
        self.category = Category::Sequential;
        self.paused_until = self.entries + (FIRST_PAUSE << self.conflicts.min(40));
        self.conflicts += 1;
    }
    /// Notes a conflict that a better log may not find: bits don't say who stored, and only stamps say who came first.
    pub fn met(&mut self) {
        self.may_be_harmless = true;
    }
    /// Whether cheaper logs than the best one have found conflicts.
    pub fn wants_better_log(&self) -> bool {
        self.may_be_harmless
    }
    /// Notes whether a guess that each cell has one writer has held.
    pub fn guess_held(&mut self, held: bool) {
        self.has_several_writers |= !held;
    }
    /// Notes whether a guess that nothing is stored between what is loaded has held.
    pub fn range_held(&mut self, held: bool) {
        self.stores_between |= !held;
    }
    /// Notes whether iterations have met cells in order.
    pub fn met_in_order(&mut self, is_met: bool) {
        self.in_order = is_met;
    }
    /// Notes that a log had to be made again because it relied on that.
    pub fn order_refuted(&mut self) {
        self.order_refuted = true;
    }
    /// Whether stamps may rely on the order of iterations. What was wrong once would only cost another run.
    pub fn meets_in_order(&self) -> bool {
        self.in_order && !self.order_refuted
    }
    /// Notes whether each cell was stored to by one lane, once, in a run that relied on the order of iterations.
    pub fn stored_once(&mut self, once: bool) {
        self.stores_once = once;
    }
    /// Notes that a log had to be made again because it relied on that.
    pub fn once_refuted(&mut self) {
        self.once_refuted = true;
    }
    /// Whether stamps may rely on it.
    pub fn may_store_once(&self) -> bool {
        self.stores_once && !self.once_refuted
    }
    /// Notes whether a guess that a cell's writers are run by lanes side by side has held.
    pub fn joined_held(&mut self, held: bool) {
        self.joined_refuted |= !held;
    }
    /// Notes that it has held where writers lay on both sides of a row's end.
    pub fn found_seams(&mut self) {
        self.has_seams = true;
    }
    /// Whether they did.
    pub fn has_seams(&self) -> bool {
        self.has_seams
    }
    /// Whether stamps may guess so.
    pub fn may_join(&self) -> bool {
        !self.joined_refuted
    }
    /// Notes that no two iterations of a launch have met, of which each had so many at most; `None`: some have.
    pub fn portion_held(&mut self, portion: Option<u64>) {
        self.portion_refuted |= portion.is_none();
        self.portion = portion.filter(|_| !self.portion_refuted).unwrap_or(0);
    }
    /// How many iterations a launch may have whose own ones are not expected to meet, where others do; 0: nobody knows.
    pub fn portion(&self) -> u64 {
        self.portion
    }
    /// Whether to look for that number. What was wrong once would only cost another run.
    pub fn may_portion(&self) -> bool {
        !self.portion_refuted
    }
    /// Notes whether cells have many writers.
    pub fn found_writers(&mut self, many: bool) {
        self.many_writers = many;
    }
    /// Whether they seem to have.
    pub fn has_many_writers(&self) -> bool {
        self.many_writers
    }
    /// Whether bitmaps may guess so.
    pub fn may_guess_range(&self) -> bool {
        !self.stores_between
    }
    /// What stamps may guess first: what was wrong once would only cost another run. What a better log is wanted for are two writers to
    /// bits, or an iteration that meets itself.
    pub fn guesses(&self) -> Guesses {
        match (self.has_several_writers, self.may_be_harmless) {
            (true, _) => Guesses::None,
            (false, true) => Guesses::NoBits,
            (false, false) => Guesses::All,
        }
    }
    /// Whether conflicts have been found so often that asking again isn't worth an entry.
    pub fn hopeless(&self) -> bool {
        self.conflicts >= HOPELESS
    }
    /// Notes a run without conflict.
    pub fn clean(&mut self) {
        self.category = Category::Parallel;
    }
    /// Notes how long the calling thread took for all iterations of an entry, or for a good part of them.
    pub fn worker_took(&mut self, iterations: u64, ns: u64) {
        if iterations != 0 && std::mem::take(&mut self.worker_is_partial) {
            (self.worker_ns, self.worker_samples) = (0.0, 0);
        }
        self.worker_measured(iterations, ns);
    }
    /// The same for its first iterations, which counts until a whole entry has been measured: rows of a triangle take ever longer.
    pub fn worker_began(&mut self, iterations: u64, ns: u64) {
        if iterations != 0 && (self.worker_is_partial || self.worker_samples == 0) {
            self.worker_is_partial = true;
            self.worker_measured(iterations, ns);
        }
    }
    fn worker_measured(&mut self, iterations: u64, ns: u64) {
        settle(&mut self.worker_ns, &mut self.worker_samples, iterations, ns);
        if iterations != 0 {
            self.unmeasured = 0;
        }
    }
    /// Notes that a thread's entry, of so many iterations, runs as it stands from now on.
    pub fn stands(&mut self, thread: u64, iterations: u64) {
        self.stood = (iterations != 0).then(|| (thread, Instant::now(), iterations));
    }
    /// Notes that a thread has come to the loop: what it ran as it stood is over, so it took no longer than until now. (Unless the loop calls itself; and
    /// other threads may have taken longer. It is an estimate.)
    pub fn came_back(&mut self, thread: u64, now: Instant) {
        if let Some((stood, since, iterations)) = self.stood.take()
            && stood == thread
        {
            self.at_most_ns =
                (now.saturating_duration_since(since).as_nanos() as f64).max(1.0) / iterations as f64;
        }
    }
    /// Nanoseconds per iteration that the calling thread took at most when the loop last ran as it stood; `None`: not known.
    pub fn at_most_ns(&self) -> Option<f64> {
        (self.at_most_ns > 0.0).then_some(self.at_most_ns)
    }
    /// Notes how long predicates took.
    pub fn proof_took(&mut self, ns: u64) {
        smooth(&mut self.proof_ns, 1, ns.max(1));
    }
    /// Nanoseconds that they take; `None`: not known.
    pub fn proof_ns(&self) -> Option<f64> {
        (self.proof_ns > 0.0).then_some(self.proof_ns)
    }
    /// Notes how long a whole run elsewhere took.
    pub fn way_took(&mut self, way: Way, iterations: u64, ns: u64) {
        let (way, longest) = (way as usize, &mut self.way_iterations[way as usize]);
        settle(&mut self.way_ns[way], &mut self.way_samples[way], iterations, ns);
        // The first time is not known any more.
        *longest = if self.way_samples[way] == 2 { iterations } else { iterations.max(*longest) };
        self.unmeasured = self.unmeasured.saturating_add(1);
    }
    /// Notes how long a GPU took for so many iterations that it was the first to finish, and answers how many nanoseconds that has saved,
    /// compared with the best of the other ways.
    pub fn gpu_won(&mut self, iterations: u64, ns: u64) -> f64 {
        let others = [
            (self.worker_ns > 0.0).then_some(self.worker_ns),
            self.known_ns(Way::InPlace),
            self.known_ns(Way::Threads),
        ];
        let best = others.into_iter().flatten().reduce(f64::min).unwrap_or(0.0);
        let gain = (best * iterations as f64 - ns as f64).max(0.0);
        self.gain_ns += gain;
        gain
    }
    /// Nanoseconds that a GPU has saved in the run that the record is of.
    pub fn gain_before_ns(&self) -> f64 {
        self.gain_before_ns
    }
    /// Notes how long a kernel without logs took.
    pub fn kernel_took(&mut self, iterations: u64, ns: u64) {
        smooth(&mut self.kernel_ns, iterations, ns);
    }
    /// What is known of a way, in nanoseconds per iteration. Once is not known: the first time, memory is touched, threads are started and
    /// kernels are made.
    pub fn known_ns(&self, way: Way) -> Option<f64> {
        (self.way_samples[way as usize] > 1).then_some(self.way_ns[way as usize])
    }
    /// Iterations of the longest entry that [`known_ns`](History::known_ns) was measured at; 0: nobody knows.
    pub fn known_at(&self, way: Way) -> u64 {
        self.way_iterations[way as usize]
    }
    /// Whether the calling thread should take a whole entry, to have its time: where that of a sample says too little, at first, and
    /// so rarely later that it doesn't count.
    pub fn wants_worker(&self) -> bool {
        self.worker_samples < 2 || self.unmeasured >= MEASURED_EVERY
    }
    /// Whether the calling thread should take a whole entry before threads, which were measured, are given up: only first iterations say that they are slower.
    pub fn wants_whole_entry(&self) -> bool {
        self.worker_is_partial && self.known_ns(Way::InPlace).is_some()
    }
    /// Notes whether an entry with this trip count was worth it, and switches the loop off for such entries after they have shown that
    /// they are not.
    pub fn paid(&mut self, gain: bool, the_loop: &Loop, trip: i64) {
        self.losses = if gain { 0 } else { self.losses + 1 };
        if self.losses < PATIENCE {
            return;
        }
        self.losses = 0;
        self.pays_from = trip.saturating_mul(LARGER);
        raise(the_loop, self.pays_from);
    }
    /// Notes an entry that should not have come: another thread may have been on its way, but a guard that takes trip counts for larger
    /// than they are lets every entry pass, so then the loop is switched off for good.
    pub fn overrated(&mut self, the_loop: &Loop) {
        self.overrated = self.overrated.saturating_add(1);
        if self.overrated >= PATIENCE {
            switch_off(the_loop);
        }
    }
    /// Whether it is one of those loops that come again and again.
    pub fn comes_often(&self) -> bool {
        self.entries >= OFTEN || self.entries >= OFTEN_AGAIN && self.entries_before >= 4 * OFTEN
    }

    /// Whether entries with this trip count have shown that they don't pay.
    pub fn is_too_small(&self, trip: i64) -> bool {
        trip < self.pays_from
    }
}

/// Entries with this trip count, and some more, are over too soon: the guard doesn't ask about them again; one that has been told so already, and takes trip counts for larger than they are,
/// never asks again. 0: nobody knows the trip count, so nothing is said.
pub fn too_short(the_loop: &Loop, trip: i64) {
    if trip <= 0 {
        return;
    }
    let enough = trip.saturating_mul(LARGER);
    match the_loop.threshold.load(Ordering::Relaxed) >= enough {
        true => switch_off(the_loop),
        false => raise(the_loop, enough),
    }
}

/// The guard never enters the loop again; unless the order of a result depends on that it does.
pub fn switch_off(the_loop: &Loop) {
    raise(the_loop, i64::MAX);
}

/// The same for trip counts below.
fn raise(the_loop: &Loop, trip: i64) {
    // SAFETY: null, or static data of the object that the loop belongs to.
    if unsafe { the_loop.info.as_ref() }.is_some_and(parts::is_ordered) {
        return;
    }
    the_loop.threshold.fetch_max(trip, Ordering::Relaxed);
}

/// Notes a measurement. The second one replaces the first, which is slower than all that follow.
fn settle(value: &mut f64, samples: &mut u32, iterations: u64, ns: u64) {
    if iterations == 0 {
        return;
    }
    if *samples == 1 {
        *value = 0.0;
    }
    *samples = samples.saturating_add(1);
    smooth(value, iterations, ns);
}

fn smooth(value: &mut f64, iterations: u64, ns: u64) {
    if iterations == 0 {
        return;
    }
    let new = ns as f64 / iterations as f64;
    *value = if *value == 0.0 { new } else { 0.5 * *value + 0.5 * new };
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicI64, AtomicU32, AtomicUsize};

    #[test]
    fn what_ran_as_it_stood_took_no_longer_than_until_its_thread_came_back() {
        let mut h = History::default();
        h.came_back(1, Instant::now());
        assert_eq!(h.at_most_ns(), None);
        let later = |ms: u64| Instant::now() + std::time::Duration::from_millis(ms);
        h.stands(1, 1000);
        // Another thread says nothing about it.
        h.came_back(2, later(5));
        assert_eq!(h.at_most_ns(), None);
        h.stands(1, 1000);
        h.came_back(1, later(5));
        let each = h.at_most_ns().unwrap();
        assert!((5000.0..50_000.0).contains(&each), "{each}");
        // What ran elsewhere since says nothing, either; and without iterations there is nothing to be told.
        h.came_back(1, later(500));
        h.stands(1, 0);
        h.came_back(1, later(500));
        assert_eq!(h.at_most_ns(), Some(each));
    }

    #[test]
    fn conflicts_pause_longer_each_time() {
        let mut h = History::default();
        assert!(h.enter());
        h.conflict();
        let mut first = 0;
        while !h.enter() {
            first += 1;
        }
        h.conflict();
        let mut second = 0;
        while !h.enter() {
            second += 1;
        }
        assert!(second > first);
    }

    #[test]
    fn inspections_take_a_small_part_of_what_a_loop_takes() {
        let mut h = History::default();
        let may_take = |h: &History| h.inspection_may_take(Inspector::Marks, 1e9);
        assert_eq!(may_take(&h), 0.0);
        h.worth_inspecting(1e9);
        assert_eq!(may_take(&h), 5e6);
        // A tenth of the iterations took a millisecond: that is no reason to ask less often, only to wait until there is time for all of them.
        h.inspection_unfinished(Inspector::Marks, 1000, 1_000_000, 0.1);
        assert_eq!((may_take(&h), h.inspection_ns(Inspector::Marks)), (0.0, 10_000.0));
        h.worth_inspecting(1e9);
        assert_eq!(may_take(&h), 5e6);
        // Where hardly any were looked at, it was threads that took so long, and where nearly all were, it was another's turn.
        for (part, each) in [(0.0, 16_000.0), (0.001, 16_000.0), (0.9, 2000.0), (1.0, 2000.0)] {
            h.inspection_unfinished(Inspector::Marks, 1000, 1_000_000, part);
            assert_eq!(h.inspection_ns(Inspector::Marks), each, "{part}");
        }
        // What comes to its end without anything that holds is asked for half as often.
        h.inspected(Inspector::Marks, 1000, 1_000_000);
        h.worth_inspecting(1e9);
        assert_eq!(may_take(&h), 25e5);
        // What is made at each entry is smoothed, whatever has held one up.
        h.inspected_for_once(Inspector::Marks, 1000, 1_000_000, true);
        let before = h.inspection_ns(Inspector::Marks);
        h.inspection_overran(Inspector::Marks, 1000, 9_000_000);
        assert_eq!(h.inspection_ns(Inspector::Marks), 0.5 * before + 4500.0);
        assert_eq!(h.is_inspected_anew(), Some(true));
    }

    #[test]
    fn what_inspections_save_pays_for_others() {
        let mut h = History::default();
        let may_take = |h: &History| h.inspection_may_take(Inspector::Marks, 10e6);
        h.inspected(Inspector::Marks, 1000, 1_000_000);
        h.inspection_saved(2e6, 10e6);
        assert_eq!((may_take(&h), h.inspections_gain_ns), (4e6, Some(7e6)));
        // No more at once than the entry is worth.
        assert_eq!(h.inspection_may_take(Inspector::Marks, 1e5), 16e5);
        // That is spent once, by whichever comes first; marks that iterations have left levels something to be looked at with.
        h.inspected(Inspector::Marks, 1000, 1_000_000);
        assert_eq!(h.inspection_may_take(Inspector::Levels, 10e6), 3e6);
        h.inspected(Inspector::Levels, 1000, 2_000_000);
        assert_eq!((may_take(&h), h.inspections_gain_ns), (1e6, Some(4e6)));
        // Losses count, but are no loan.
        h.inspection_saved(3e6, 2e6);
        assert_eq!(may_take(&h), 5e5);
        h.inspection_saved(10e6, 2e6);
        assert_eq!((may_take(&h), h.inspections_gain_ns), (0.0, Some(-5e6)));
        // Nothing is risked where inspections have come to nothing.
        h.inspection_saved(2e6, 10e6);
        assert_eq!(may_take(&h), 4e6);
        h.inspected_in_vain();
        assert_eq!(may_take(&h), 0.0);
    }

    #[test]
    fn what_was_wrong_is_not_guessed_again() {
        let mut h = History::default();
        h.range_held(true);
        assert!(h.may_guess_range());
        h.range_held(false);
        h.range_held(true);
        assert!(!h.may_guess_range() && h.guesses() == Guesses::All);
        let mut h = History::default();
        assert_eq!(h.guesses(), Guesses::All);
        h.guess_held(true);
        assert_eq!(h.guesses(), Guesses::All);
        h.joined_held(true);
        assert!(h.may_join() && !h.has_seams());
        h.found_seams();
        assert!(h.may_join() && h.has_seams());
        h.joined_held(false);
        h.joined_held(true);
        assert!(!h.may_join() && h.guesses() == Guesses::All);
        h.met();
        assert_eq!(h.guesses(), Guesses::NoBits);
        h.guess_held(false);
        assert_eq!(h.guesses(), Guesses::None);
        h.guess_held(true);
        assert_eq!(h.guesses(), Guesses::None);
    }

    #[test]
    fn the_last_run_says_how_many_writers_there_are() {
        let mut h = History::default();
        assert!(!h.has_many_writers());
        for many in [true, false, true] {
            h.found_writers(many);
            assert_eq!(h.has_many_writers(), many);
        }
    }

    #[test]
    fn launches_stay_as_large_as_they_were_until_iterations_have_met() {
        let mut h = History::default();
        assert_eq!((h.portion(), h.may_portion()), (0, true));
        h.portion_held(Some(1 << 22));
        assert_eq!((h.portion(), h.may_portion()), (1 << 22, true));
        h.portion_held(None);
        assert_eq!((h.portion(), h.may_portion()), (0, false));
        h.portion_held(Some(1 << 22));
        assert_eq!((h.portion(), h.may_portion()), (0, false));
    }

    #[test]
    fn an_order_is_relied_on_until_it_was_refuted() {
        let mut h = History::default();
        assert!(!h.meets_in_order());
        h.met_in_order(true);
        assert!(h.meets_in_order());
        h.met_in_order(false);
        assert!(!h.meets_in_order());
        h.met_in_order(true);
        h.order_refuted();
        assert!(!h.meets_in_order());
        h.met_in_order(true);
        assert!(!h.meets_in_order());
    }

    #[test]
    fn a_loop_that_does_not_pay_is_switched_off_for_its_size() {
        let after = |entries: &[(bool, i64)]| {
            let the_loop = Loop {
                threshold: AtomicI64::new(20),
                info: std::ptr::null(),
                state: AtomicUsize::new(0),
                stays: AtomicU32::new(0),
            };
            let mut h = History::default();
            entries.iter().for_each(|(gain, trip)| h.paid(*gain, &the_loop, *trip));
            (the_loop.threshold.load(Ordering::Relaxed), h.is_too_small(199), h.is_too_small(200))
        };
        let lost = |trips: &[i64]| after(&trips.iter().map(|trip| (false, *trip)).collect::<Vec<_>>());
        assert_eq!(lost(&[100, 100]), (20, false, false));
        assert_eq!(lost(&[100, 100, 100]), (200, true, false));
        assert_eq!(after(&[(false, 100), (false, 100), (true, 100), (false, 100), (false, 100)]).0, 20);
        // Larger trip counts are asked again.
        assert_eq!(lost(&[100, 100, 100, 300, 300, 400]), (800, true, true));
        assert_eq!(lost(&[i64::MAX / 2 + 1; 3]), (i64::MAX, true, true));
    }

    #[test]
    fn lessons_that_never_hold_become_rare() {
        let mut h = History::default();
        let taken = |h: &mut History| (0..20).map(|_| h.wants_lesson()).collect::<Vec<_>>();
        let all = taken(&mut h);
        let at: Vec<usize> = (0..20).filter(|i| all[*i]).collect();
        assert_eq!(at, [0, 1, 3, 7, 15]);
        h.finding_held();
        assert!(taken(&mut h)[0]);
    }

    #[test]
    fn first_iterations_are_not_believed_to_be_like_all() {
        let mut h = History::default();
        // Rows of a triangle: by the first ones, threads are slower.
        h.worker_began(10, 10);
        assert!(!h.wants_whole_entry());
        (0..2).for_each(|_| h.way_took(Way::InPlace, 1000, 20_000));
        assert!(h.wants_whole_entry());
        // What has been measured as a whole replaces it, and stands.
        h.worker_took(1000, 64_000);
        assert_eq!((h.worker_ns, h.wants_whole_entry()), (64.0, false));
        h.worker_began(10, 10);
        assert_eq!((h.worker_ns, h.wants_whole_entry()), (64.0, false));
        h.worker_took(1000, 66_000);
        assert_eq!(h.worker_ns, 66.0);
        // Nothing was run.
        h.worker_took(0, 0);
        assert_eq!(h.worker_ns, 66.0);
    }

    #[test]
    fn first_measurements_do_not_last() {
        let mut h = History::default();
        assert!(h.wants_worker());
        h.worker_took(10, 1000);
        assert!(h.wants_worker());
        h.worker_took(10, 100);
        assert_eq!((h.worker_ns, h.wants_worker()), (10.0, false));
        h.way_took(Way::InPlace, 10, 5000);
        assert_eq!(h.known_ns(Way::InPlace), None);
        h.way_took(Way::InPlace, 10, 50);
        assert_eq!(h.known_ns(Way::InPlace), Some(5.0));
        h.way_took(Way::InPlace, 10, 70);
        assert_eq!(h.known_ns(Way::InPlace), Some(6.0));
        assert!(!h.wants_worker());
        (0..MEASURED_EVERY).for_each(|_| h.way_took(Way::InPlace, 10, 50));
        // A race that the calling thread took no part in says nothing of it.
        h.worker_took(0, 0);
        assert!(h.wants_worker());
        h.worker_took(10, 120);
        assert_eq!((h.worker_ns, h.wants_worker()), (11.0, false));
    }

    #[test]
    fn a_guard_that_overrates_is_seen() {
        let the_loop = Loop {
            threshold: AtomicI64::new(200),
            info: std::ptr::null(),
            state: AtomicUsize::new(0),
            stays: AtomicU32::new(0),
        };
        let mut h = History::default();
        (0..PATIENCE - 1).for_each(|_| h.overrated(&the_loop));
        assert_eq!(the_loop.threshold.load(Ordering::Relaxed), 200);
        h.overrated(&the_loop);
        assert_eq!(the_loop.threshold.load(Ordering::Relaxed), i64::MAX);
    }
}
