//! Where a loop should run: what was measured of it where there are measurements, rough estimates before that.
//!
//! Nothing here decides whether a loop *may* run somewhere, only whether it is expected to pay. An estimate that is wrong
//! is replaced by measurements after two entries, and a loop that keeps losing is switched off by its history. When the GPU is worth
//! opening is decided here, too.

pub mod staying;

use crate::history::{History, Inspector, Way};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// Nanoseconds per estimated operation on one core.
const OPERATION_NS: f64 = 0.4;
/// Nanoseconds per estimated operation of the loop that an inspection takes a thread, in the order of [`Inspector`]. The first is that of loops most of whose loads are from where nothing is stored, a tenth
/// of what others take: these end when their time is up.
const INSPECTED_NS: [f64; 2] = [0.25, 30.0];
/// Handing work to sleeping threads, in nanoseconds.
const WAKE_NS: f64 = 25_000.0;
/// What the first one takes at least, that starts threads and is given memory (`docs/measurements/2026-11-29-first-turns.md`).
const FIRST_INSPECTION_NS: f64 = 1_000_000.0;
/// Copying a byte into and out of the threads device's memory.
const HOST_COPY_NS: f64 = 0.3;
/// The same over the bus to a GPU and through its staging buffers.
const BUS_COPY_NS: f64 = 0.12;
/// Launching on a GPU, allocations and synchronisation included.
const LAUNCH_NS: f64 = 300_000.0;
/// Another launch behind it.
const RELAUNCH_NS: f64 = 5_000.0;
/// Starting the driver and making a kernel.
const OPENING_NS: f64 = 400_000_000.0;
/// Compiling a kernel, which takes 0.3 to 0.8 s: what is longer than that may as well wait for it where it runs.
const COMPILING_NS: f64 = 600_000_000.0;
/// Entries from which on it is worth finding out which kernel they will want: a tenth or two of a millisecond.
const ASKED_NS: f64 = 20_000_000.0;
/// How many times too long loops are taken for that nobody has measured, at most: vectors of short numbers, and inner loops that are shorter than
/// the compiler takes them for.
const OVERRATED: f64 = 10.0;
/// What the first entries cost that are thought about: reading what earlier runs have measured, and starting threads, 0.3 to 0.7 ms
/// (`docs/measurements/2026-11-26-never-slower.md`), should be no more than one part in fifty of what a program's loops take.
const EARLY_NS: f64 = 35_000_000.0;
/// So many pairs of accesses take predicates no time that counts.
pub const MANY_PAIRS: u32 = 64;
/// Nanoseconds that one takes, where nobody has measured it.
const PAIR_NS: f64 = 80.0;
/// Which part of a loop's time predicates may take.
const PROOF_PART: f64 = 0.05;
/// Looking at a row of a table of pointers: reading its slot, and finding its place among the others.
const ROW_NS: f64 = 20.0;
/// Which part of a loop's time that may take, and which of the compiler's guess of it as long as nothing is known.
const ROWS_PART: f64 = 0.05;
const ROWS_PART_AT_FIRST: f64 = 0.25;
/// So much of an entry may be lost to what is inside of it, where the GPU becomes ready meanwhile.
const LOST_NS: f64 = OPENING_NS / 4.0;
/// Openings in vain after which it isn't put off any longer than for seven minutes of loops.
const MOST_IN_VAIN: u32 = 10;
/// Loops that may take so long are worth being timed ...
const TIMED_NS: f64 = 20_000_000.0;
/// ... if that is so many times as long as they are taken for.
const GUESSED: f64 = 4.0;
/// How many cores a GPU is worth.
const GPU_CORES: f64 = 150.0;
/// Comparing a byte with what is remembered of it, on several threads (`docs/measurements/2026-11-25-tracking.md`).
const COMPARED_NS: f64 = 0.15;
/// Which part of the time of the calling thread alone an inspection may take that is made at each entry.
const CHEAP: f64 = 0.25;
/// Which part of a kernel's time the checks are that it can do without, where they count: half of what they were seen to be at most.
const CHECKS: f64 = 0.1;
/// What logs cost, relative to the loop's own work.
const LOGGED: f64 = 4.0;
/// Faster by so much, or it isn't worth the risk.
const MARGIN: f64 = 0.9;
/// The same for short loops, which other threads' data in this core's caches, and this one's in theirs, costs more afterwards than
/// anybody measures.
const SHORT_MARGIN: f64 = 0.7;
/// Nanoseconds of loops that threads help with, once they are measured, and of those that are not short any more.
const SHORTEST_NS: f64 = 200_000.0;
const SHORT_NS: f64 = 2_000_000.0;

/// What is known of an entry.
#[derive(Clone, Copy, Debug)]
pub struct Situation {
    /// Iterations of the merged space.
    pub iterations: u64,
    /// Estimated operations in each.
    pub work: u64,
    /// Bytes that a device would be given.
    pub bytes: u64,
    /// Threads on this machine that we may use.
    pub threads: usize,
    /// Whether accesses would be logged on a device.
    pub logged: bool,
    /// Portions that run one after the other: levels of a schedule, otherwise 1.
    pub portions: u64,
    /// Whether loads need a copy of what was there before the loop.
    pub snapshot: bool,
    /// Which ways are open, in the order of [`Way`].
    pub open: [bool; 3],
}

/// Expected nanoseconds of a run on the calling thread alone.
pub fn worker_ns(history: &History, s: &Situation) -> f64 {
    let each = match history.worker_ns > 0.0 {
        true => history.worker_ns,
        false => (s.work as f64 * OPERATION_NS).min(history.at_most_ns().unwrap_or(f64::INFINITY)),
    };
    each * s.iterations as f64
}

/// The same, at least: where nobody has measured it, the compiler may have overrated it. `is_guess`: nobody knows how much there is to do in an iteration.
pub fn at_least_ns(history: &History, s: &Situation, is_guess: bool) -> f64 {
    let part = if history.worker_ns > 0.0 || !is_guess { 1.0 } else { OVERRATED };
    worker_ns(history, s) / part
}

/// Whether a program's loops could all be over, with this entry, before thinking about them pays: so long after the first entry. `is_guess`: nobody
/// knows how much there is to do in an iteration.
pub fn is_early(history: &History, s: &Situation, is_guess: bool, passed: Duration) -> bool {
    let is_known = !is_guess || history.worker_ns > 0.0 || history.at_most_ns().is_some();
    is_known && passed.as_nanos() as f64 + worker_ns(history, s) < EARLY_NS
}

/// Whether a loop's iterations are worth being proven independent at this entry, by predicates over so many pairs of accesses. Of a hundred accesses there are thousands of pairs, which
/// take longer than a nest of a few iterations. `is_guess`: nobody knows how much there is to do in an iteration; then the loop runs as it stands first, if many pairs are to be decided.
pub fn deserves_proof(history: &History, s: &Situation, pairs: u32, is_guess: bool) -> bool {
    if pairs < MANY_PAIRS {
        return true;
    }
    let proof = history.proof_ns().unwrap_or(f64::from(pairs) * PAIR_NS);
    let is_known = !is_guess || history.worker_ns > 0.0 || history.at_most_ns().is_some();
    is_known && proof < PROOF_PART * worker_ns(history, s)
}

/// How many rows of tables of pointers are worth being looked at, for a proof at this entry. Whoever has made a table has taken longer for each row, so as long as nothing is known of the
/// loop's time it may be as much as the compiler's guess, and more than the loop takes, once.
pub fn rows_worth_reading(history: &History, s: &Situation, is_guess: bool) -> u64 {
    let part = match (history.worker_ns > 0.0 || history.at_most_ns().is_some(), is_guess) {
        (true, _) => ROWS_PART,
        (false, false) => ROWS_PART_AT_FIRST,
        (false, true) => 1.0,
    };
    (worker_ns(history, s) * part / ROW_NS) as u64
}

/// Whether an entry is over so soon that it may stay with all that is in it while the driver is being opened.
pub fn ends_before_the_driver_opens(history: &History, s: &Situation) -> bool {
    worker_ns(history, s) < LOST_NS
}

/// Whether an entry is to be timed on the calling thread. Nobody knows how much there is to do in an iteration with loops in it, and the compiler's guess may say that nothing else
/// pays, entry after entry; but as much has passed between two entries as would make it worth while.
pub fn wants_time(history: &History, s: &Situation) -> bool {
    let guess = s.work as f64 * OPERATION_NS;
    let allows = |at_most: f64| at_most * s.iterations as f64 > TIMED_NS && at_most > GUESSED * guess;
    history.worker_ns == 0.0 && history.at_most_ns().is_some_and(allows)
}

/// Whether an entry is to be timed that only an inspection could let run elsewhere: what these may take is a part of what the loop is known to take.
pub fn wants_time_before_inspection(history: &History, s: &Situation) -> bool {
    let is_long = |at_most: f64| at_most * s.iterations as f64 > SHORT_NS && !is_short(history, s);
    history.worker_ns == 0.0 && history.at_most_ns().is_some_and(is_long) && deserves_inspection(history, s)
}

/// Decides when to open the GPU. Its driver takes part of a second to start, on a core that others may need, and the end of the process
/// waits for it; so the loops of this process that a GPU would be faster at must have had as much to do, and as much time must have passed: what nobody has
/// measured may be overrated. Who ends then has lost little, compared with that time.
#[derive(Default)]
pub struct Opening {
    /// Nanoseconds that the calling thread alone would have taken for them.
    worth_ns: AtomicU64,
}

impl Opening {
    /// Notes an entry; whether the GPU is worth opening now. `in_vain`: so many runs in a row have opened it for nothing that was worth it. `passed`: since
    /// the first entry.
    pub fn is_due(&self, history: &History, s: &Situation, in_vain: u32, passed: Duration) -> bool {
        let worker = worker_ns(history, s);
        if history.gain_before_ns() > OPENING_NS && in_vain == 0 {
            return true;
        }
        if estimate(Way::Cuda, worker, s) >= MARGIN * worker {
            return false;
        }
        let before = self.worth_ns.fetch_add(worker as u64, Ordering::Relaxed);
        let worth = before as f64 + worker;
        let needed = OPENING_NS * (1u64 << in_vain.min(MOST_IN_VAIN)) as f64;
        worth > needed && passed.as_nanos() as f64 > needed || worth > OVERRATED * needed
    }
}

/// Whether a loop that nothing is faster at had better be asked again, because a GPU that has not been opened yet would be. Short loops would pay for being asked.
pub fn is_worth_waiting_for_gpu(history: &History, s: &Situation) -> bool {
    !is_short(history, s) && choose(history, s) == Some(Way::Cuda)
}

/// Whether kernels of a loop are worth being made before it runs on a GPU: if that was there, and what it runs by.
pub fn deserves_kernels(history: &History, s: &Situation) -> bool {
    worker_ns(history, s) > ASKED_NS && choose(history, s) == Some(Way::Cuda)
}

/// How long it is until kernels are made ahead, so long after the first entry. The end of the process waits for what is being compiled, so that is begun no sooner than
/// it could be if the driver had to be ready first.
pub fn until_kernels_are_due(passed: Duration) -> Duration {
    Duration::from_nanos(2 * OPENING_NS as u64).saturating_sub(passed)
}

/// Whether an entry is likely to be over before a kernel is made that somebody has begun with.
pub fn ends_before_its_kernel_is_made(history: &History, s: &Situation) -> bool {
    worker_ns(history, s) < COMPILING_NS
}

/// Whether an inspection would be worth it, if it found that nothing needs to be checked.
pub fn deserves_inspection(history: &History, s: &Situation) -> bool {
    let worker = worker_ns(history, s);
    let pays = |way| {
        way != Way::InPlace || history.is_inspected_anew() != Some(true) || {
            let again = inspection_ns(Inspector::Marks, history, s);
            expected_ns(way, history, worker, s) + again < MARGIN * worker
        }
    };
    worker > SHORTEST_NS && choose(history, s).is_some_and(pays)
}

/// Whether it is worth finding out how far a loop comes that may be left early, as several threads do that, where it is expected to come so far as the situation says. `search_ns`: what an
/// iteration of that takes the calling thread; where nobody has measured it, it may be as much as the loop takes. `is_all`: nothing else is to be done then.
pub fn deserves_search(history: &History, s: &Situation, search_ns: Option<f64>, is_all: bool) -> bool {
    let worker = worker_ns(history, s);
    let search = search_ns.map_or(worker, |each| each * s.iterations as f64);
    let threads = s.threads.max(1) as f64;
    let shared = WAKE_NS + search / threads;
    let margin = if is_short(history, s) { SHORT_MARGIN } else { MARGIN };
    worker > SHORTEST_NS
        && match (is_all, choose(history, s)) {
            (true, _) => s.threads >= 2 && shared < margin * worker,
            (false, Some(way)) => expected_ns(way, history, worker, s) + shared < margin * worker,
            (false, None) => false,
        }
}

/// How many iterations of a search the calling thread looks at first. What nobody has measured may take as long as the loop.
pub fn searched_first(s: &Situation, search_ns: Option<f64>) -> i64 {
    /// Nanoseconds of them.
    const FIRST_NS: f64 = 20_000.0;
    let each = search_ns.unwrap_or(s.work as f64 * OPERATION_NS).max(0.05);
    ((FIRST_NS / each) as i64).max(1)
}

/// Whether an inspection that has taken an entry so many nanoseconds may be made at each.
pub fn is_cheap(inspection_ns: f64, history: &History, s: &Situation) -> bool {
    inspection_ns < CHEAP * worker_ns(history, s)
}

/// Whether the checks of addresses that nothing else asks about cost a GPU more than it takes to see that the memory that decides them, so many
/// bytes, is unchanged.
pub fn deserves_comparison(history: &History, iterations: u64, bytes: u64) -> bool {
    bytes as f64 * COMPARED_NS <= CHECKS * history.kernel_ns * iterations as f64
}

/// Expected nanoseconds of an inspection.
pub fn inspection_ns(inspector: Inspector, history: &History, s: &Situation) -> f64 {
    let measured = history.inspection_ns(inspector);
    let threads = if inspector == Inspector::Marks { s.threads.max(1) as f64 } else { 1.0 };
    if measured > 0.0 {
        return measured * s.iterations as f64;
    }
    // Whoever has taken longer than the compiler has guessed has had as much more to do.
    let operations = worker_ns(history, s) / OPERATION_NS;
    (operations * INSPECTED_NS[inspector as usize] / threads).max(FIRST_INSPECTION_NS)
}

/// Nanoseconds of an entry by the fastest way that was measured; `None`: none was.
pub fn fastest_ns(history: &History, s: &Situation) -> Option<f64> {
    let worker = (history.worker_ns > 0.0).then_some(history.worker_ns);
    let ways = [Way::InPlace, Way::Threads, Way::Cuda].map(|way| history.known_ns(way));
    // What threads may still be measured at comes first.
    let is_settled = !s.open[Way::InPlace as usize] || history.known_ns(Way::InPlace).is_some();
    worker.filter(|_| is_settled)?;
    worker
        .into_iter()
        .chain(ways.into_iter().flatten())
        .reduce(f64::min)
        .map(|each| each * s.iterations as f64)
}

/// Nanoseconds that arrays of so many bytes take to a GPU and back.
pub fn moving_ns(bytes: u64) -> f64 {
    bytes as f64 * BUS_COPY_NS
}

/// Whether an entry is so short that a sample of it says little of the whole.
pub fn is_short(history: &History, s: &Situation) -> bool {
    worker_ns(history, s) < SHORT_NS
}

fn estimate(way: Way, worker: f64, s: &Situation) -> f64 {
    let threads = s.threads.max(1) as f64;
    let logs = if s.logged { LOGGED } else { 1.2 };
    let portions = s.portions.max(1) as f64;
    match way {
        Way::InPlace => {
            let copies = if s.snapshot { s.bytes as f64 * HOST_COPY_NS } else { 0.0 };
            portions * WAKE_NS + (worker + copies) / threads
        }
        // One core is the worker's.
        Way::Threads => {
            (portions + 1.0) * WAKE_NS
                + s.bytes as f64 * HOST_COPY_NS
                + worker * logs / (threads - 1.0).max(0.5)
        }
        Way::Cuda => {
            LAUNCH_NS + portions * RELAUNCH_NS + s.bytes as f64 * BUS_COPY_NS + worker * logs / GPU_CORES
        }
    }
}

/// An entry so many times as long as those that were measured says how long these took with what each entry costs, not how long it takes itself.
const LONGER: u64 = 4;

/// Nanoseconds that an entry is expected to take by a way: as measured, or as estimated where nobody has. What is much longer than what was measured
/// takes as long as that, with what an entry costs, and for the rest what is estimated, until it has been measured itself.
fn expected_ns(way: Way, history: &History, worker: f64, s: &Situation) -> f64 {
    let Some(each) = history.known_ns(way) else { return estimate(way, worker, s) };
    let (all, known_at) = (each * s.iterations as f64, history.known_at(way));
    if known_at == 0 || s.iterations / LONGER < known_at {
        return all;
    }
    let rest = (s.iterations - known_at) as f64 / s.iterations as f64;
    all.min(each * known_at as f64 + estimate(way, worker * rest, s))
}

/// The way that is expected to be fastest, or `None` where none is expected to beat the calling thread.
pub fn choose(history: &History, s: &Situation) -> Option<Way> {
    let worker = worker_ns(history, s);
    // The compiler may have taken inner loops for shorter than they are: in place the calling thread runs such a loop first, to
    // have its time.
    let is_measured = history.worker_ns > 0.0;
    let is_open =
        |way: &Way| s.open[*way as usize] && (worker >= SHORTEST_NS || !is_measured && *way == Way::InPlace);
    let margin = if worker < SHORT_NS { SHORT_MARGIN } else { MARGIN };
    [Way::InPlace, Way::Threads, Way::Cuda]
        .into_iter()
        .filter(is_open)
        .map(|way| (way, expected_ns(way, history, worker, s)))
        .min_by(|a, b| a.1.total_cmp(&b.1))
        .filter(|(_, expected)| *expected < margin * worker)
        .map(|(way, _)| way)
}

/// What is faster than the calling thread meanwhile, where a GPU is expected to be fastest and can't be had now: it is busy, or the kernel isn't there yet. Only threads in place are:
/// whatever takes copies of arrays takes the processors that others wait for.
pub fn instead_of_gpu(history: &History, s: &Situation) -> Option<Way> {
    choose(history, &Situation { open: [s.open[Way::InPlace as usize], false, false], ..*s })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::abi::Loop;
    use std::sync::atomic::{AtomicI64, AtomicU32, AtomicUsize};
    use std::time::Instant;

    fn situation(iterations: u64, work: u64, bytes: u64) -> Situation {
        Situation {
            iterations,
            work,
            bytes,
            threads: 16,
            logged: false,
            portions: 1,
            snapshot: false,
            open: [true; 3],
        }
    }

    #[test]
    fn short_entries_say_little_of_long_ones() {
        let (short, long) = (1 << 18, 1 << 24);
        let mut history = History::default();
        // On the calling thread a nanosecond each; elsewhere more, because of what each entry costs.
        (0..2).for_each(|_| history.worker_took(short, short));
        (0..2).for_each(|_| history.way_took(Way::InPlace, short, 2 * short));
        let only_threads =
            |iterations| Situation { open: [true, false, false], ..situation(iterations, 1, 0) };
        assert_eq!(choose(&history, &only_threads(short)), None);
        assert_eq!(choose(&history, &only_threads(2 * short)), None);
        assert_eq!(choose(&history, &only_threads(long)), Some(Way::InPlace));
        // Once it has been measured nothing is hoped for; what is longer still may have another try.
        (0..20).for_each(|_| history.way_took(Way::InPlace, long, 2 * long));
        assert_eq!(choose(&history, &only_threads(long)), None);
        assert_eq!(choose(&history, &only_threads(3 * long)), None);
        assert_eq!(choose(&history, &only_threads(64 * long)), Some(Way::InPlace));
        // Where everything was slow, what it took is no less for being followed by more.
        let mut history = History::default();
        (0..2).for_each(|_| history.worker_took(short, short));
        (0..2).for_each(|_| history.way_took(Way::InPlace, short, 100 * short));
        assert_eq!(choose(&history, &only_threads(8 * short)), None);
    }

    #[test]
    fn streaming_stays_on_the_cores_and_heavy_work_goes_to_the_gpu() {
        let history = History::default();
        assert_eq!(choose(&history, &situation(1 << 24, 4, 3 << 26)), Some(Way::InPlace));
        assert_eq!(choose(&history, &situation(1 << 20, 4096, 3 << 22)), Some(Way::Cuda));
        assert_eq!(choose(&history, &situation(1000, 4, 12_000)), None);
        // A tenth of a millisecond is nothing to wake threads for, whatever they would save.
        let short = situation(1 << 16, 4, 1 << 18);
        assert!(is_short(&history, &short));
        let measured = |each: u64| {
            let mut history = History::default();
            (0..2).for_each(|_| history.worker_took(1000, each * 1000));
            history
        };
        assert_eq!(choose(&measured(1), &short), None);
        // Estimates may be wrong: in place it can be measured, elsewhere it would have to pay at once.
        assert_eq!(choose(&history, &short), Some(Way::InPlace));
        assert_eq!(choose(&history, &Situation { open: [false, true, true], ..short }), None);
        assert_eq!(choose(&measured(10), &short), Some(Way::InPlace));
        assert_eq!(choose(&history, &situation(1 << 18, 4, 1 << 20)), Some(Way::InPlace));
        // A copy of everything may cost more than the loop itself.
        let shifted = Situation {
            snapshot: true,
            threads: 2,
            open: [true, false, false],
            ..situation(1 << 24, 2, 1 << 26)
        };
        assert_eq!(choose(&history, &shifted), None);
    }

    #[test]
    fn a_gpu_is_opened_for_what_takes_longer_than_that() {
        let (opening, mut history) = (Opening::default(), History::default());
        // A hundred milliseconds each.
        history.worker_took(1, 1000);
        let heavy = situation(100_000, 4096, 1 << 20);
        let passed = Duration::from_secs(1);
        let due: Vec<bool> = (0..5).map(|_| opening.is_due(&history, &heavy, 0, passed)).collect();
        assert_eq!(due, [false, false, false, false, true]);
        // What copies cost more than they save says nothing about it.
        let streaming = situation(100_000, 4, 1 << 34);
        assert!(!opening.is_due(&history, &streaming, 0, passed));
        // So long a loop can't have been before so little time had passed, unless it is far longer than it is taken for.
        let longer = |times: u64| {
            let s = situation(500_000 * times, 4096, 1 << 20);
            [0, 100, 500].map(|ms| Opening::default().is_due(&history, &s, 0, Duration::from_millis(ms)))
        };
        assert_eq!(longer(1), [false, false, true]);
        assert_eq!(longer(10), [true; 3]);
    }

    #[test]
    fn threads_in_place_take_what_the_gpu_has_no_time_for() {
        let mut history = History::default();
        history.worker_took(1, 1000);
        let heavy = situation(100_000, 4096, 1 << 20);
        assert_eq!(choose(&history, &heavy), Some(Way::Cuda));
        assert_eq!(instead_of_gpu(&history, &heavy), Some(Way::InPlace));
        assert_eq!(instead_of_gpu(&history, &Situation { open: [false, true, true], ..heavy }), None);
        // They have been seen to be slower.
        (0..2).for_each(|_| history.way_took(Way::InPlace, 100_000, 120_000_000));
        assert_eq!((choose(&history, &heavy), instead_of_gpu(&history, &heavy)), (Some(Way::Cuda), None));
    }

    #[test]
    fn a_gpu_is_waited_for_by_what_is_long_and_faster_there() {
        let mut history = History::default();
        history.worker_took(1, 1000);
        // A hundred milliseconds, which threads don't make less.
        let heavy = Situation { open: [false, false, true], ..situation(100_000, 4096, 1 << 20) };
        assert!(is_worth_waiting_for_gpu(&history, &heavy));
        assert!(!is_worth_waiting_for_gpu(&history, &Situation { bytes: 1 << 34, ..heavy }));
        assert!(!is_worth_waiting_for_gpu(&history, &Situation { iterations: 1000, ..heavy }));
    }

    #[test]
    fn what_is_inspected_at_each_entry_pays_for_that() {
        let threads = Situation { open: [true, false, false], ..situation(1 << 20, 4, 0) };
        let mut history = History::default();
        // A nanosecond each, a quarter of it on threads.
        (0..2).for_each(|_| history.worker_took(1 << 20, 1 << 20));
        (0..2).for_each(|_| history.way_took(Way::InPlace, 1 << 20, 1 << 18));
        assert!(deserves_inspection(&history, &threads));
        assert!(is_cheap(250_000.0, &history, &threads) && !is_cheap(270_000.0, &history, &threads));
        history.inspected_for_once(Inspector::Marks, 1 << 20, 1 << 18, true);
        assert!(deserves_inspection(&history, &threads));
        // What takes longer would leave nothing, if it were made each time; it isn't where it is remembered. Times are smoothed.
        for (ns, pays) in [(900_000, true), (900_000, false), (1 << 16, true)] {
            history.inspected_for_once(Inspector::Marks, 1 << 20, ns, true);
            assert_eq!(deserves_inspection(&history, &threads), pays, "{ns}");
        }
        (0..3).for_each(|_| history.inspected_for_once(Inspector::Marks, 1 << 20, 900_000, true));
        assert!(!deserves_inspection(&history, &threads));
        history.inspections_are_remembered();
        assert!(deserves_inspection(&history, &threads));
    }

    #[test]
    fn what_takes_longer_to_prove_than_it_may_gain_is_not_proven() {
        let (short, long) = (situation(10, 100_000, 0), situation(1_000_000, 100, 0));
        let unknown = History::default();
        // 400 microseconds by the compiler's estimate, and 160 for the pairs; of 40 milliseconds these are nothing.
        assert!(!deserves_proof(&unknown, &short, 2000, false));
        assert!(deserves_proof(&unknown, &long, 2000, false));
        assert!(deserves_proof(&unknown, &short, 10, false));
        // Where the estimate is a guess, it is seen first how long the loop takes at most.
        assert!(!deserves_proof(&unknown, &long, 2000, true));
        let mut known = unknown;
        known.stands(1, 1_000_000);
        known.came_back(1, Instant::now() + Duration::from_millis(50));
        assert!(deserves_proof(&known, &long, 2000, true));
        // What was measured counts more than what is supposed.
        known.proof_took(10_000_000);
        assert!(!deserves_proof(&known, &long, 2000, true));
    }

    /// A loop of 1,000 iterations whose thread has come back after so long.
    fn came_back(after: Duration) -> History {
        let mut history = History::default();
        history.stands(1, 1000);
        history.came_back(1, Instant::now() + after);
        history
    }

    #[test]
    fn what_may_be_much_longer_than_it_is_taken_for_is_timed() {
        // Some 10 milliseconds by the compiler's guess.
        let s = situation(1000, 25_000, 1 << 20);
        let seconds = came_back(Duration::from_secs(1));
        assert!(wants_time(&seconds, &s));
        // Whoever knows, or need not know.
        assert!(!wants_time(&History::default(), &s));
        assert!(!wants_time(&came_back(Duration::from_millis(30)), &s));
        assert!(!wants_time(&came_back(Duration::from_millis(15)), &situation(1000, 25, 1 << 20)));
        let mut measured = seconds;
        measured.worker_took(1000, 1_000_000_000);
        assert!(!wants_time(&measured, &s));
        // Then a GPU is worth being opened for it.
        let passed = Duration::from_secs(2);
        assert!(!Opening::default().is_due(&seconds, &situation(1000, 25, 1 << 20), 0, passed));
        assert!(Opening::default().is_due(&measured, &situation(1000, 25, 1 << 20), 0, passed));
    }

    #[test]
    fn what_an_inspection_could_help_is_timed_first() {
        // Some 10 milliseconds by the compiler's guess.
        let s = situation(1000, 25_000, 0);
        let long = came_back(Duration::from_millis(8));
        assert!(wants_time_before_inspection(&long, &s));
        // A guess counts a tenth, and what an inspection takes is guessed by what is known of the loop.
        assert_eq!([true, false].map(|is_guess| at_least_ns(&History::default(), &s, is_guess)), [1e6, 10e6]);
        let takes = |history: &History| inspection_ns(Inspector::Marks, history, &s);
        assert_eq!(takes(&History::default()), FIRST_INSPECTION_NS);
        let mut measured = long;
        measured.worker_took(1000, 400_000_000);
        assert_eq!(
            (at_least_ns(&measured, &s, true), takes(&measured)),
            (400e6, 1e9 * INSPECTED_NS[0] / 16.0)
        );
        // Whoever knows, nobody has waited for, is short, or has nowhere else to run.
        assert!(!wants_time_before_inspection(&measured, &s));
        assert!(!wants_time_before_inspection(&History::default(), &s));
        assert!(!wants_time_before_inspection(&came_back(Duration::from_micros(100)), &s));
        assert!(!wants_time_before_inspection(&long, &Situation { open: [false; 3], ..s }));
    }

    #[test]
    fn kernels_are_made_for_what_a_gpu_is_expected_to_be_faster_at() {
        let mut history = History::default();
        let heavy = situation(100_000, 4096, 1 << 20);
        assert!(deserves_kernels(&history, &heavy));
        // It is over too soon to ask, copies cost more than they save, or other threads are as fast.
        assert!(!deserves_kernels(&history, &situation(10_000, 4096, 1 << 20)));
        assert!(!deserves_kernels(&history, &situation(100_000, 4096, 1 << 34)));
        (0..2).for_each(|_| history.way_took(Way::InPlace, 100_000, 100_000));
        assert!(!deserves_kernels(&history, &heavy));
        // Not before the driver could have been opened; and nobody waits for a kernel who is done before it is made.
        let due = |ms: u64| until_kernels_are_due(Duration::from_millis(ms)).as_millis();
        assert_eq!([due(0), due(500), due(800), due(5000)], [800, 300, 0, 0]);
        let ends = |work: u64| ends_before_its_kernel_is_made(&history, &situation(100_000, work, 1 << 20));
        assert!(ends(4096) && !ends(40_960));
    }

    #[test]
    fn openings_in_vain_put_the_next_one_off() {
        let mut history = History::default();
        history.worker_took(1, 1000);
        let heavy = situation(100_000, 4096, 1 << 20);
        let entries_until_due = |in_vain: u32| {
            let opening = Opening::default();
            let passed = Duration::from_secs(1000);
            (1..100_000).find(|_| opening.is_due(&history, &heavy, in_vain, passed)).unwrap()
        };
        assert_eq!([0, 1, 2, 10, 11, u32::MAX].map(entries_until_due), [5, 9, 17, 4097, 4097, 4097]);
        // What it has saved an earlier run says more than an estimate.
        let mut earlier = History::default();
        let the_loop = Loop {
            threshold: AtomicI64::new(20),
            info: std::ptr::null(),
            state: AtomicUsize::new(0),
            stays: AtomicU32::new(0),
        };
        earlier.go_on_from(1, 1, None, &the_loop);
        earlier.worker_took(1, 1000);
        earlier.gpu_won(1_000_000, 500_000_000);
        let mut later = History::default();
        later.go_on_from(1, 1, earlier.row(1).as_ref(), &the_loop);
        let is_due = |in_vain| Opening::default().is_due(&later, &heavy, in_vain, Duration::ZERO);
        assert!(is_due(0) && !is_due(1));
    }

    #[test]
    fn what_is_used_again_and_again_is_worth_comparing() {
        let mut history = History::default();
        // Where nothing needs to be compared there is nothing to be gained by waiting.
        assert!(deserves_comparison(&history, 1000, 0) && !deserves_comparison(&history, 1000, 1));
        history.kernel_took(1 << 20, 100_000);
        // A product with a sparse matrix loads each index once.
        assert!(!deserves_comparison(&history, 1 << 20, 60 << 20));
        assert!(deserves_comparison(&history, 1 << 20, 64 << 10));
    }

    #[test]
    fn what_is_soon_over_is_not_thought_about_early() {
        let mut history = History::default();
        let at = |ms: u64| Duration::from_millis(ms);
        // Some 10 and 70 milliseconds.
        let (short, long) = (situation(1 << 20, 25, 1 << 22), situation(1 << 20, 170, 1 << 22));
        assert!(is_early(&history, &short, false, at(20)) && !is_early(&history, &short, false, at(30)));
        assert!(!is_early(&history, &long, false, at(0)));
        // Inner loops may be longer than anybody thinks, until somebody has seen it.
        assert!(!is_early(&history, &short, true, at(0)));
        history.stands(1, 1 << 20);
        history.came_back(1, std::time::Instant::now());
        assert!([&short, &long].iter().all(|s| is_early(&history, s, true, at(0))));
    }

    #[test]
    fn a_loop_that_was_over_soon_is_no_longer_than_that() {
        let (mut history, s) = (History::default(), situation(1 << 24, 4096, 1 << 20));
        assert!(!ends_before_the_driver_opens(&history, &s) && choose(&history, &s) == Some(Way::Cuda));
        history.stands(1, 1 << 24);
        history.came_back(1, std::time::Instant::now());
        assert!(ends_before_the_driver_opens(&history, &s));
        // What was measured says more.
        history.worker_took(1 << 24, 10_000_000_000);
        assert!(!ends_before_the_driver_opens(&history, &s));
    }

    #[test]
    fn measurements_overrule_estimates() {
        let mut history = History::default();
        history.worker_took(1, 1000);
        (0..2).for_each(|_| history.way_took(Way::Cuda, 1 << 20, 2_000_000_000));
        let s = situation(1 << 20, 4096, 3 << 22);
        assert_eq!(choose(&history, &s), Some(Way::InPlace));
        (0..2).for_each(|_| history.way_took(Way::InPlace, 1 << 20, 3_000_000_000));
        assert_eq!(choose(&history, &Situation { open: [true, false, true], ..s }), None);
    }
}
