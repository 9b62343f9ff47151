//! What is kept of a loop across runs: a [`Row`] for each loop, class of trip counts and machine, and one for the program itself.
//!
//! A row is named by what its numbers depend on. The loop: file, function, line and text, so that a loop that was edited starts anew. The class: the
//! order of magnitude of the iterations at its first entry in a run. The machine: processors, threads, the GPU's driver and model, and this
//! library. Whatever a row says, each number of it has been brought within its range, and only decides where a loop runs.

use super::{Category, FIRST_PAUSE, HOPELESS, History, raise};
use crate::abi::{Info, Loop, PG_ABI_VERSION};
use std::hash::{DefaultHasher, Hash, Hasher};

/// Which part of what inspections have saved an earlier run this one's may take: one of so many. It is not this run that was faster, and this one may be no slower for it.
const LENT: f64 = 100.0;

/// Bytes of a row in a file.
pub const BYTES: usize = 120;
/// Nanoseconds that no measurement is longer than: eleven days.
pub const LONGEST_NS: f64 = 1e15;
/// So many conflicts of earlier runs count: one in each run would add up, and a loop that has gone on without any would be given up for the whole
/// of every later run.
const MOST_CONFLICTS: u32 = HOPELESS / 2;
/// Seconds after which a row no longer keeps a loop from being tried elsewhere. What a row switches off may have so little left to do that the run
/// isn't written down, and then no run is counted either that would end it.
const KEEPS_FOR: u64 = 3600;
/// So many samples are as good as any number.
const KNOWN: u32 = 2;

const IS_PARALLEL: u32 = 1;
const IS_SEQUENTIAL: u32 = 2;
const MAY_BE_HARMLESS: u32 = 4;
const HAS_SEVERAL_WRITERS: u32 = 8;
const STORES_BETWEEN: u32 = 16;
const WORKER_IS_PARTIAL: u32 = 32;

/// What is kept of one loop, class and machine; with `the_loop` 0, of the program on that machine.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct Row {
    /// [`identity`].
    pub the_loop: u64,
    /// [`machine`].
    pub machine: u64,
    /// [`class`].
    pub class: u32,
    /// Bits of what was found.
    pub(crate) flags: u32,
    /// Seconds since 1970 when it was written: the oldest rows make room.
    pub when: u64,
    /// Nanoseconds per iteration on the calling thread, by each way and in a GPU's kernel; 0: not known.
    pub(crate) worker_ns: f64,
    pub(crate) way_ns: [f64; 3],
    pub(crate) kernel_ns: f64,
    /// Nanoseconds that a GPU has saved. Of the program: those that arrays have saved which stay on it.
    pub gain_ns: f64,
    /// Nanoseconds that inspections have saved, in the last run that has made any.
    pub(crate) inspections_gain_ns: f64,
    /// Trip counts below don't pay.
    pub(crate) pays_from: i64,
    /// Entries of that run.
    pub(crate) entries: u64,
    pub(crate) conflicts: u32,
    pub(crate) worker_samples: u8,
    pub(crate) way_samples: [u8; 3],
    /// Of the program: runs that were written down.
    pub runs: u32,
    /// Of the program: runs in a row that have opened the GPU's driver, for nothing that was worth it.
    pub vain: u32,
}

impl Row {
    /// Whether both are about the same.
    pub fn is_about(&self, other: &Row) -> bool {
        (self.the_loop, self.machine, self.class) == (other.the_loop, other.machine, other.class)
    }

    /// What it says `now`, in seconds since 1970: nothing that keeps the loop where it is, if it is old, or comes from the future.
    pub fn at(self, now: u64) -> Row {
        if self.when.abs_diff(now) <= KEEPS_FOR {
            return self;
        }
        Row {
            flags: self.flags & !(IS_SEQUENTIAL | IS_PARALLEL),
            way_ns: [0.0; 3],
            way_samples: [0; 3],
            kernel_ns: 0.0,
            pays_from: 0,
            conflicts: 0,
            ..self
        }
    }

    /// Adds its bytes.
    pub fn write(&self, to: &mut Vec<u8>) {
        let before = to.len();
        to.extend(self.the_loop.to_le_bytes());
        to.extend(self.machine.to_le_bytes());
        to.extend(self.class.to_le_bytes());
        to.extend(self.flags.to_le_bytes());
        to.extend(self.when.to_le_bytes());
        let [in_place, threads, cuda] = self.way_ns;
        let (gain, inspections) = (self.gain_ns, self.inspections_gain_ns);
        for ns in [self.worker_ns, in_place, threads, cuda, self.kernel_ns, gain, inspections] {
            to.extend(ns.to_le_bytes());
        }
        to.extend(self.pays_from.to_le_bytes());
        to.extend(self.entries.to_le_bytes());
        to.extend(self.conflicts.to_le_bytes());
        to.extend([self.worker_samples, self.way_samples[0], self.way_samples[1], self.way_samples[2]]);
        to.extend(self.runs.to_le_bytes());
        to.extend(self.vain.to_le_bytes());
        debug_assert_eq!(to.len() - before, BYTES);
    }

    /// Its bytes' meaning. `None`: no measurement is such a number.
    pub fn read(bytes: &[u8; BYTES]) -> Option<Row> {
        let mut rest = &bytes[..];
        let row = Row {
            the_loop: u64::from_le_bytes(take(&mut rest)?),
            machine: u64::from_le_bytes(take(&mut rest)?),
            class: u32::from_le_bytes(take(&mut rest)?),
            flags: u32::from_le_bytes(take(&mut rest)?),
            when: u64::from_le_bytes(take(&mut rest)?),
            worker_ns: nanoseconds(&mut rest)?,
            way_ns: [nanoseconds(&mut rest)?, nanoseconds(&mut rest)?, nanoseconds(&mut rest)?],
            kernel_ns: nanoseconds(&mut rest)?,
            gain_ns: nanoseconds(&mut rest)?,
            inspections_gain_ns: nanoseconds(&mut rest)?,
            pays_from: i64::from_le_bytes(take(&mut rest)?),
            entries: u64::from_le_bytes(take(&mut rest)?),
            conflicts: u32::from_le_bytes(take(&mut rest)?),
            worker_samples: take::<1>(&mut rest)?[0],
            way_samples: take(&mut rest)?,
            runs: u32::from_le_bytes(take(&mut rest)?),
            vain: u32::from_le_bytes(take(&mut rest)?),
        };
        Some(row)
    }
}

fn take<const N: usize>(rest: &mut &[u8]) -> Option<[u8; N]> {
    let (first, others) = rest.split_first_chunk::<N>()?;
    *rest = others;
    Some(*first)
}

fn nanoseconds(rest: &mut &[u8]) -> Option<f64> {
    Some(f64::from_le_bytes(take(rest)?)).filter(|ns| (0.0..=LONGEST_NS).contains(ns))
}

impl History {
    /// Whether a record of earlier runs has been looked for.
    pub fn has_looked(&self) -> bool {
        self.identity != 0
    }

    /// Goes on from a record, where there is one; what this run has measured already is better. After that the loop has looked.
    /// `iterations` are the entry's that looks, of the record's class.
    pub fn go_on_from(&mut self, identity: u64, iterations: u64, row: Option<&Row>, the_loop: &Loop) {
        (self.identity, self.class) = (identity, class(iterations));
        let Some(row) = row else { return };
        if self.worker_samples == 0 && row.worker_ns > 0.0 {
            (self.worker_ns, self.worker_samples) = (row.worker_ns, u32::from(row.worker_samples).min(KNOWN));
            self.worker_is_partial = row.flags & WORKER_IS_PARTIAL != 0;
        }
        for way in 0..3 {
            if self.way_samples[way] == 0 && row.way_ns[way] > 0.0 {
                self.way_ns[way] = row.way_ns[way];
                self.way_samples[way] = u32::from(row.way_samples[way]).min(KNOWN);
                self.way_iterations[way] = iterations;
            }
        }
        if self.kernel_ns == 0.0 {
            self.kernel_ns = row.kernel_ns;
        }
        self.gain_before_ns = row.gain_ns;
        self.entries_before = row.entries;
        self.inspections_gain_before_ns = row.inspections_gain_ns;
        // Not where this run's have come to nothing.
        if self.inspections_gain_ns.is_none_or(|gain| gain > 0.0) {
            self.to_reinvest_ns += row.inspections_gain_ns / LENT;
        }
        self.may_be_harmless |= row.flags & MAY_BE_HARMLESS != 0;
        self.has_several_writers |= row.flags & HAS_SEVERAL_WRITERS != 0;
        self.stores_between |= row.flags & STORES_BETWEEN != 0;
        if self.category == Category::Unknown && self.conflicts == 0 {
            if row.flags & IS_SEQUENTIAL != 0 {
                self.conflicts = row.conflicts.min(MOST_CONFLICTS);
                self.category = Category::Sequential;
                self.paused_until = self.entries + (FIRST_PAUSE << self.conflicts);
            } else if row.flags & IS_PARALLEL != 0 {
                self.category = Category::Parallel;
            } else {
                self.conflicts = row.conflicts.min(MOST_CONFLICTS);
            }
        }
        if row.pays_from > self.pays_from {
            self.pays_from = row.pays_from;
            raise(the_loop, self.pays_from);
        }
    }

    /// What is to be kept. `None`: nobody has looked for a record, so it isn't known whose this is.
    pub fn row(&self, machine: u64) -> Option<Row> {
        let category = match self.category {
            Category::Unknown => 0,
            Category::Parallel => IS_PARALLEL,
            Category::Sequential => IS_SEQUENTIAL,
        };
        let flag = |is_set, flag| if is_set { flag } else { 0 };
        let samples = |n: u32| n.min(KNOWN) as u8;
        let ns = |ns: f64| if ns.is_finite() { ns.clamp(0.0, LONGEST_NS) } else { 0.0 };
        self.has_looked().then(|| Row {
            the_loop: self.identity,
            machine,
            class: self.class,
            flags: category
                | flag(self.may_be_harmless, MAY_BE_HARMLESS)
                | flag(self.has_several_writers, HAS_SEVERAL_WRITERS)
                | flag(self.stores_between, STORES_BETWEEN)
                | flag(self.worker_is_partial, WORKER_IS_PARTIAL),
            worker_ns: ns(self.worker_ns),
            way_ns: self.way_ns.map(ns),
            kernel_ns: ns(self.kernel_ns),
            gain_ns: ns(self.gain_ns),
            inspections_gain_ns: ns(self.inspections_gain_ns.unwrap_or(self.inspections_gain_before_ns)),
            pays_from: self.pays_from,
            entries: self.entries,
            conflicts: self.conflicts,
            worker_samples: samples(self.worker_samples),
            way_samples: self.way_samples.map(samples),
            ..Row::default()
        })
    }

    /// Whether something was decided since it was as it was `before`, so that it is worth keeping at once.
    pub fn has_decided_since(&self, before: &History) -> bool {
        (self.pays_from, self.conflicts, self.category)
            != (before.pays_from, before.conflicts, before.category)
    }
}

/// A number for a loop: never 0.
pub fn identity(info: &Info) -> u64 {
    let mut hasher = DefaultHasher::new();
    (info.file(), info.function(), info.line).hash(&mut hasher);
    (info.verdict, info.check, info.flags, info.work).hash(&mut hasher);
    (info.n_dims, info.n_values, info.n_results, info.n_bases, info.n_sites, info.n_pairs).hash(&mut hasher);
    for site in info.sites() {
        (site.line, site.flags).hash(&mut hasher);
    }
    info.cuda_text().hash(&mut hasher);
    hasher.finish().max(1)
}

/// The order of magnitude of so many iterations: 0 to 64.
pub fn class(iterations: u64) -> u32 {
    u64::BITS - iterations.leading_zeros()
}

/// A number for what measurements depend on besides the loop. `settings`: what the user has asked for that they depend on.
pub fn machine(settings: &[usize]) -> u64 {
    const DRIVER: &str = "/proc/driver/nvidia";
    let mut hasher = DefaultHasher::new();
    (env!("CARGO_PKG_VERSION"), PG_ABI_VERSION, settings).hash(&mut hasher);
    // SAFETY: a plain query of the system.
    unsafe { libc::sysconf(libc::_SC_NPROCESSORS_ONLN) }.hash(&mut hasher);
    for chosen in ["CUDA_VISIBLE_DEVICES", "PARAGON_GPU"] {
        std::env::var_os(chosen).hash(&mut hasher);
    }
    std::fs::read(format!("{DRIVER}/version")).ok().hash(&mut hasher);
    // The driver's own words about a model may wake it up; the bus knows its number.
    let mut models: Vec<_> = std::fs::read_dir(format!("{DRIVER}/gpus"))
        .into_iter()
        .flatten()
        .flatten()
        .map(|gpu| {
            std::fs::read(format!("/sys/bus/pci/devices/{}/device", gpu.file_name().to_string_lossy())).ok()
        })
        .collect();
    models.sort();
    models.hash(&mut hasher);
    hasher.finish()
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::history::{Inspector, Way};
    use std::sync::atomic::{AtomicI64, AtomicU32, AtomicUsize, Ordering};

    /// A row about that loop, with numbers of its own.
    pub(in super::super) fn row(the_loop: u64) -> Row {
        Row { the_loop, machine: 7, class: 20, when: the_loop, worker_ns: 1.5, runs: 3, ..Row::default() }
    }

    fn a_loop() -> Loop {
        Loop {
            threshold: AtomicI64::new(20),
            info: std::ptr::null(),
            state: AtomicUsize::new(0),
            stays: AtomicU32::new(0),
        }
    }

    fn bytes(row: &Row) -> [u8; BYTES] {
        let mut bytes = Vec::new();
        row.write(&mut bytes);
        bytes.try_into().unwrap()
    }

    #[test]
    fn rows_come_back_and_numbers_have_ranges() {
        let mut known = History::default();
        known.go_on_from(5, 1024, None, &a_loop());
        (0..3).for_each(|_| known.worker_took(1000, 7000));
        known.way_took(Way::Cuda, 1000, 500);
        assert_eq!(
            (known.gpu_won(1000, 500), known.gpu_won(1000, 500), known.gpu_won(1000, 8000)),
            (6500.0, 6500.0, 0.0)
        );
        known.conflict();
        known.range_held(false);
        let row = known.row(9).unwrap();
        assert_eq!(Row::read(&bytes(&row)), Some(row));
        assert_eq!((row.the_loop, row.class, row.machine, row.gain_ns), (5, 11, 9, 13_000.0));
        for wrong in [f64::NAN, f64::INFINITY, -1.0, 1e300] {
            assert_eq!(Row::read(&bytes(&Row { worker_ns: wrong, ..row })), None);
            assert_eq!(Row::read(&bytes(&Row { way_ns: [0.0, 0.0, wrong], ..row })), None);
        }
    }

    #[test]
    fn a_second_run_goes_on_from_the_first() {
        let the_loop = a_loop();
        let mut first = History::default();
        assert_eq!(first.row(1), None);
        first.go_on_from(5, 1024, None, &the_loop);
        (0..2).for_each(|_| first.worker_took(1000, 7000));
        (0..2).for_each(|_| first.way_took(Way::InPlace, 1000, 900));
        (0..3).for_each(|_| first.paid(false, &the_loop, 40));
        first.clean();
        let mut second = History::default();
        let its_loop = a_loop();
        second.go_on_from(5, 1024, first.row(1).as_ref(), &its_loop);
        assert_eq!((second.worker_ns, second.known_ns(Way::InPlace)), (7.0, Some(0.9)));
        assert!(!second.wants_worker() && second.is_too_small(79) && !second.is_too_small(80));
        assert_eq!((second.category, its_loop.threshold.load(Ordering::Relaxed)), (Category::Parallel, 80));
        // So does what it knows of a part only.
        let mut part = History::default();
        part.go_on_from(5, 1024, None, &the_loop);
        part.worker_began(10, 10);
        (0..2).for_each(|_| part.way_took(Way::InPlace, 1000, 20_000));
        let mut after = History::default();
        after.go_on_from(5, 1024, part.row(1).as_ref(), &a_loop());
        assert!(after.wants_whole_entry() && !second.wants_whole_entry());
        // What is measured now stands.
        let mut measured = History::default();
        measured.worker_took(1000, 3000);
        measured.go_on_from(5, 1024, first.row(1).as_ref(), &a_loop());
        assert_eq!(measured.worker_ns, 3.0);
    }

    #[test]
    fn what_inspections_have_saved_lets_the_next_run_inspect_sooner() {
        let run = |before: Option<&Row>, saves: &[f64]| {
            let mut history = History::default();
            history.go_on_from(5, 1024, before, &a_loop());
            let may_take = history.inspection_may_take(Inspector::Marks, 1e9);
            saves.iter().for_each(|ns| history.inspection_saved(0.0, *ns));
            (may_take, history.row(1).unwrap())
        };
        let (nothing, saved) = run(None, &[10e6, 20e6]);
        let (lent, unchanged) = run(Some(&saved), &[]);
        assert_eq!((nothing, lent, run(Some(&unchanged), &[]).0), (0.0, 3e5, 3e5));
        assert_eq!(Row::read(&bytes(&saved)), Some(saved));
        // Whoever finds out first that they are in vain isn't lent anything.
        let mut vain = History::default();
        vain.inspected(Inspector::Marks, 1000, 1000);
        vain.go_on_from(5, 1024, Some(&saved), &a_loop());
        assert_eq!(vain.inspection_may_take(Inspector::Marks, 1e9), 0.0);
        // A run in which they were in vain is the last one that does.
        let (_, lost) = run(Some(&saved), &[-1e6]);
        assert_eq!(run(Some(&lost), &[]).0, 0.0);
    }

    #[test]
    fn a_loop_that_came_often_comes_often() {
        let entered = |times: u32, before: Option<&Row>| {
            let mut history = History::default();
            history.go_on_from(5, 1024, before, &a_loop());
            (0..times).for_each(|_| {
                history.enter();
            });
            history
        };
        assert!(!entered(15, None).comes_often() && entered(16, None).comes_often());
        let (rarely, often) = (entered(63, None).row(1), entered(64, None).row(1));
        assert!(!entered(2, rarely.as_ref()).comes_often());
        assert!(entered(2, often.as_ref()).comes_often() && !entered(1, often.as_ref()).comes_often());
    }

    #[test]
    fn conflicts_are_paused_again_but_not_for_good() {
        let mut first = History::default();
        first.go_on_from(5, 1024, None, &a_loop());
        first.conflict();
        let mut second = History::default();
        second.go_on_from(5, 1024, first.row(1).as_ref(), &a_loop());
        assert_eq!(second.category, Category::Sequential);
        assert!((0..100).any(|_| second.enter()));
    }

    #[test]
    fn a_conflict_in_each_run_does_not_add_up() {
        let mut last = History::default();
        last.go_on_from(5, 1024, None, &a_loop());
        last.conflict();
        for _ in 0..20 {
            let mut next = History::default();
            next.go_on_from(5, 1024, last.row(1).as_ref(), &a_loop());
            assert!(!next.hopeless());
            // Not for longer than a program may have entries.
            assert!((0..100).any(|_| next.enter()));
            next.conflict();
            assert!(!next.hopeless());
            last = next;
        }
        // What went on without conflicts begins without any.
        last.clean();
        let mut next = History::default();
        next.go_on_from(5, 1024, last.row(1).as_ref(), &a_loop());
        assert_eq!((next.category, next.conflicts), (Category::Parallel, 0));
    }

    #[test]
    fn what_is_old_keeps_nothing_back() {
        let old = Row {
            flags: IS_SEQUENTIAL | STORES_BETWEEN,
            pays_from: i64::MAX,
            conflicts: 9,
            way_ns: [4.0; 3],
            way_samples: [2; 3],
            gain_ns: 6.0,
            ..row(100_000)
        };
        for now in [old.when, old.when + KEEPS_FOR, old.when - KEEPS_FOR] {
            assert_eq!(old.at(now), old);
        }
        for now in [0, old.when + KEEPS_FOR + 1, old.when - KEEPS_FOR - 1, u64::MAX] {
            let (mut history, the_loop) = (History::default(), a_loop());
            history.go_on_from(1, 1, Some(&old.at(now)), &the_loop);
            assert!(history.enter() && !history.is_too_small(1) && !history.may_guess_range());
            assert_eq!((history.known_ns(Way::Cuda), history.gain_before_ns()), (None, 6.0));
            assert_eq!((history.worker_ns, the_loop.threshold.load(Ordering::Relaxed)), (1.5, 20));
        }
    }

    #[test]
    fn any_row_is_borne() {
        let mut seed = 1u64;
        for _ in 0..20_000 {
            let mut bytes = [0; BYTES];
            for byte in &mut bytes {
                seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                *byte = (seed >> 56) as u8;
            }
            // Random exponents are mostly out of range: these are in it.
            (0..7).for_each(|number| bytes[32 + 8 * number + 7] = 0x3f);
            let row = Row::read(&bytes).unwrap();
            let (mut history, the_loop) = (History::default(), a_loop());
            history.go_on_from(1, 1, Some(&row), &the_loop);
            history.enter();
            history.conflict();
            history.paid(false, &the_loop, i64::MAX);
            history.worker_took(10, u64::MAX);
            assert!(Row::read(&self::bytes(&history.row(1).unwrap())).is_some());
        }
    }

    #[test]
    fn a_gpu_has_saved_what_the_next_best_would_have_taken_more() {
        let mut history = History::default();
        assert_eq!(history.gpu_won(1000, 500), 0.0);
        (0..2).for_each(|_| history.worker_took(1000, 9000));
        assert_eq!(history.gpu_won(1000, 500), 8500.0);
        (0..2).for_each(|_| history.way_took(Way::InPlace, 1000, 600));
        assert_eq!(history.gpu_won(1000, 500), 100.0);
    }

    #[test]
    fn classes_are_orders_of_magnitude() {
        assert_eq!([0, 1, 2, 3, 4, 1023, 1024, u64::MAX].map(class), [0, 1, 2, 2, 3, 10, 11, 64]);
        assert_ne!(machine(&[1]), machine(&[2]));
        assert_eq!(machine(&[1]), machine(&[1]));
    }
}
