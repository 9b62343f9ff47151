//! How a job's loop is run and logged: what may be guessed first and what follows where that was wrong, and the memory that a device
//! has for its logs. Running it, and judging what came of it, is the module's above.

use super::copies::Taken;
use super::{Guesses, Job, Kind, Report};
use crate::abi::{
    PG_FAIL_RAW, PG_FAIL_STOPPED, PG_FAIL_TIME, PG_FAIL_WAW, PG_GUESS_READER, PG_GUESS_WORDS_READ,
    PG_LOOP_COMMON_LOOPS, PG_LOOP_MEMBERS, PG_LOOP_REPEATS, PG_LOOP_SIDE_BY_SIDE, PG_LOOP_SPREADS,
    PG_LOOP_STORES_ONCE, PG_LOOP_TURNS, PG_LOOP_UPDATES, PG_MANY, PG_SITE_COVERED, PG_SITE_HAS_AFFINE,
    PG_SITE_LOGGED, PG_SITE_STORE, PG_STAMP_READER, PG_STAMP_WORDS, PG_STAMP_WORDS_READ,
};
use crate::device::{
    CELLS_OF_GROUP, Device, DeviceError, DevicePtr, Guess, ITERATIONS_OF_ROW, LOG2_OF_CHUNK, LogMethod,
    Outcome, WORDS_OF_SEAM, bitmaps, numbers_of_stores, words_of_bitmap, words_of_entry,
};
use crate::speculation::parts;

/// Iterations meet cells in order where they are so many times as many as accesses far from the neighbouring iteration's.
const FAR_PART: u64 = 8;

/// Cells that are told apart, with the width of an access, in 32 bits.
const MOST_CELLS: u64 = 1 << 28;

/// How a job's loop is run and logged this time.
#[derive(Clone, Copy)]
pub(super) struct Attempt {
    pub(super) method: LogMethod,
    pub(super) guess: Guess,
    /// Whether what shows two writers of a cell, or a writer among what is loaded, refutes no more than a guess: then there is another attempt.
    pub(super) is_guess: bool,
    /// See [`Specialisation::buffered`]. If an iteration stores too often for that there is another attempt, too.
    pub(super) buffered: u8,
    /// See [`Specialisation::backwards`].
    pub(super) backwards: bool,
    /// See [`Specialisation::apart`].
    pub(super) apart: bool,
    /// See [`Specialisation::grouped`]. A conflict refutes no more than that groups of cells are met in order: then there is another attempt.
    pub(super) grouped: bool,
    /// See [`Specialisation::joined`]. Where a cell has other writers, or a reader, there is another attempt.
    pub(super) joined: bool,
    /// See [`Launch::portion`](crate::device::Launch::portion). Where iterations of one launch meet, there is another attempt.
    pub(super) portion: u64,
    /// See [`Launch::probes`](crate::device::Launch::probes).
    pub(super) probes: bool,
    /// See [`Specialisation::seams`]. Where that isn't enough there is another attempt, too.
    pub(super) seams: u8,
    /// See [`Specialisation::alone`]. Where several lanes have stored to one cell there is another attempt.
    pub(super) alone: bool,
}

impl Attempt {
    /// Stamps guess first that each cell has one writer, if that may be so: by bits where nobody asks which iteration it was
    /// (`body/logs.h` says when that is).
    pub(super) fn first(job: &Job, n: u64, may_buffer: bool) -> Attempt {
        // Rows note so many loads that their bits take longer than the loads themselves, where nobody else stores near them as a rule.
        if job.method == LogMethod::Bitmap
            && job.may_guess_range
            && job.kind == Kind::Cuda
            && job.info.has(PG_LOOP_SPREADS)
            && job.pinned.is_empty()
            && job.placement.cells < u64::from(u32::MAX)
            && job.placement.arrays_with_logged_readers_but(&job.info, job.filled.covered) == Some(1)
        {
            return Attempt {
                method: job.method,
                guess: Guess::Range,
                is_guess: true,
                buffered: 0,
                backwards: false,
                apart: false,
                grouped: false,
                alone: false,
                joined: false,
                portion: 0,
                probes: false,
                seams: 0,
            };
        }
        if job.method == LogMethod::Stamp && Attempt::may_join(job) {
            if job.may_join {
                let seams = if job.has_seams { Attempt::seams(job) } else { 0 };
                return Attempt { seams, ..Attempt::JOINED };
            }
            // One launch would be what was refuted.
            if job.portion != 0 && job.portion < n && Attempt::portion_pays(job, n, job.portion) {
                return Attempt { portion: job.portion, ..Attempt::JOINED };
            }
        }
        Attempt::without_neighbours(job, may_buffer)
    }

    /// That a cell's writers are run by lanes side by side, and nobody loads what another one stores.
    const JOINED: Attempt = Attempt {
        method: LogMethod::Bitmap,
        guess: Guess::None,
        is_guess: true,
        buffered: 0,
        backwards: false,
        apart: false,
        grouped: false,
        alone: false,
        joined: true,
        portion: 0,
        probes: false,
        seams: 0,
    };

    /// The same of the iterations of each of several launches, where this one has been refuted by a run of so many counted stores and cells: as many launches as a
    /// cell has writers, which are expected to come evenly; and if that was tried, half as large ones, as long as the first of their iterations haven't met.
    /// `None`: that was to no avail, or would take longer than stamps do.
    fn in_smaller_portions(self, job: &Job, n: u64, outcome: &Outcome) -> Option<Attempt> {
        let writers = outcome.stores.div_ceil(outcome.cells.max(1)).max(1);
        let portion = match self.portion {
            0 => n.div_ceil(writers),
            _ if !self.probes || outcome.is_probe => return None,
            portion => portion / 2,
        };
        let pays = job.may_portion && portion < n && Attempt::portion_pays(job, n, portion);
        pays.then_some(Attempt { portion, probes: true, ..Attempt::JOINED })
    }

    /// Whether launches of so many iterations take less time than stamps (`docs/measurements/2026-11-25-ordered-launches.md`).
    fn portion_pays(job: &Job, n: u64, portion: u64) -> bool {
        /// Least iterations of a launch: a few microseconds pass between two of them.
        const LEAST: u64 = 1 << 20;
        /// For tests: most launches.
        const MOST_LAUNCHES: u64 = 1 << 10;
        // Bytes of bits for each iteration, all launches together, which are cleared and looked at: as many as what stamps take longer is worth.
        let most = if job.placement.log_shift >= 3 { 8 } else { 5 };
        // Snapshots are of what was there before the loop, and not before a launch.
        if portion == 0 || job.placement.snapshot.contains(&true) {
            return false;
        }
        let launches = bitmaps(n, portion, false);
        if job.guesses == Guesses::Launches {
            return launches <= MOST_LAUNCHES;
        }
        let logs = 1 + u64::from(job.placement.has_logged_readers(&job.info));
        let bytes = LogMethod::Bitmap.words(job.placement.cells) * 4 * logs;
        // As many bits as any bitmap has are less than stamps, however few iterations there are.
        let is_cheap = portion >= LEAST && launches.saturating_mul(bytes) <= n.saturating_mul(most);
        launches == 1 || is_cheap
    }

    /// Whether a job's stores may be joined: lanes know by their iterations who stands for whom, so none runs another one's; and whatever loads what
    /// another iteration may have stored has to be noted. Of loops whose results are computed in parts nobody has tried it.
    fn may_join(job: &Job) -> bool {
        const NOT: u32 = PG_LOOP_REPEATS
            | PG_LOOP_TURNS
            | PG_LOOP_COMMON_LOOPS
            | PG_LOOP_SIDE_BY_SIDE
            | PG_LOOP_UPDATES
            | PG_LOOP_MEMBERS;
        job.kind == Kind::Cuda
            && job.info.has(PG_LOOP_STORES_ONCE)
            && job.info.flags & NOT == 0
            && job.placement.cells <= MOST_CELLS
            && job.pinned.is_empty()
            && job.schedule.is_none()
            && !parts::has_parts(&job.info)
            && !job.info.sites().iter().any(|site| site.has(PG_SITE_COVERED))
    }

    /// How many of an iteration's stores may be put away, if its stores may be joined: one for each store of the text; 0: that are too many, or iterations are,
    /// or an iteration may load what it has put away itself, and nobody notes that. (Where neighbours are joined and nothing is put away, a store is left only if
    /// another iteration stores there too: then such a load is noted.)
    fn seams(job: &Job) -> u8 {
        /// Words of memory for each row are four times as many.
        const MOST: usize = 4;
        const MOST_ITERATIONS: u64 = 1 << 31;
        let is_written = |base| {
            let region = job.placement.region_of_base(base);
            region.is_none_or(|region| job.placement.written[region])
        };
        let mut loads = job.info.sites().iter().filter(|site| !site.has(PG_SITE_STORE));
        if loads.any(|site| !site.has(PG_SITE_LOGGED) && is_written(site.base)) {
            return 0;
        }
        let stores = job.info.sites().iter().filter(|site| site.has(PG_SITE_STORE)).count();
        if stores <= MOST && job.iterations() < MOST_ITERATIONS { stores as u8 } else { 0 }
    }

    /// Whether what a run without seams has found is worth one with them: no more stores than one for each row, at each store of the text, were counted in vain. Where loads
    /// are noted and many iterations store to a cell, stamps in groups are faster (`docs/measurements/2026-11-25-stamps-4.md`).
    fn may_meet_at_seams(job: &Job, outcome: &Outcome) -> bool {
        const MOST_WRITERS: u64 = 6;
        let cells = |width: u32| u64::from(width) >> job.placement.log_shift;
        let stores = job.info.sites().iter().filter(|site| site.has(PG_SITE_STORE));
        let most: u64 = stores.map(|site| cells(site.width)).sum();
        let are_few = most * job.iterations() <= MOST_WRITERS * outcome.cells;
        outcome.stores.saturating_sub(outcome.cells) <= most * job.iterations().div_ceil(ITERATIONS_OF_ROW)
            && (are_few || !job.placement.has_logged_readers(&job.info))
    }

    /// The first one where what neighbours store isn't joined.
    pub(super) fn without_neighbours(job: &Job, may_buffer: bool) -> Attempt {
        let stores_once = job.info.has(PG_LOOP_STORES_ONCE);
        let are_numbers =
            job.placement.has_logged_readers(&job.info) || !job.pinned.is_empty() || !stores_once;
        // What inner loops store to one place again and again bits note once.
        let counts = stores_once && !job.info.has(PG_LOOP_REPEATS);
        let numbers = if counts { Guess::Counting } else { Guess::Looking };
        let (method, guess) = match job.guesses {
            Guesses::None | Guesses::Joined | Guesses::Launches | Guesses::InOrder | Guesses::Twice => {
                return Attempt::in_order(job, may_buffer);
            }
            _ if job.method != LogMethod::Stamp => return Attempt::in_order(job, may_buffer),
            Guesses::All if !are_numbers => (LogMethod::Bitmap, Guess::None),
            Guesses::NoBits if !are_numbers => return Attempt::in_order(job, may_buffer),
            Guesses::NoBits | Guesses::All | Guesses::Numbers => (job.method, numbers),
        };
        Attempt {
            method,
            guess,
            is_guess: true,
            buffered: 0,
            backwards: false,
            apart: false,
            grouped: false,
            alone: false,
            joined: false,
            portion: 0,
            probes: false,
            seams: 0,
        }
    }

    /// Where nothing is guessed.
    pub(super) fn proper(job: &Job, may_buffer: bool) -> Attempt {
        let notes_loads = job.placement.has_stamped_readers(&job.info);
        // Where places follow from the iteration alone, neighbours store side by side. There two operations for each value cost more than
        // a second run (`docs/measurements/2026-11-25-stamps.md`).
        let mut stores = job.info.sites().iter().filter(|site| site.has(PG_SITE_STORE));
        let apart = stores.all(|site| site.has(PG_SITE_HAS_AFFINE));
        let log_shift = job.placement.log_shift;
        let buffered = match may_buffer && !(apart && log_shift >= 3 && !notes_loads) {
            true => words_of_entry(log_shift, notes_loads, apart),
            false => 0,
        };
        Attempt {
            method: job.method,
            guess: Guess::None,
            is_guess: false,
            buffered,
            backwards: false,
            apart,
            grouped: false,
            alone: false,
            joined: false,
            portion: 0,
            probes: false,
            seams: 0,
        }
        .with_writers(job, job.many_writers)
    }

    /// Whether what a run counts says how many writers cells have: entries with values and nothing else.
    fn counts_writers(self, job: &Job) -> bool {
        self.buffered != 0 && !job.placement.has_stamped_readers(&job.info)
    }

    /// The same with the last iterations first, where cells have many writers and nothing asks for another order: a thread's results are those of its iterations in turn,
    /// orders, parts, and turns that lanes help with have theirs, and a nest whose accesses lie side by side along an outer loop would load each from elsewhere (and other neighbours
    /// leave other stores to each other, so that what is counted would depend on the order). What an iteration stores to its own cell again and again isn't spared, but counts as many.
    fn with_writers(self, job: &Job, are_many: bool) -> Attempt {
        const NOT: u32 = PG_LOOP_TURNS | PG_LOOP_COMMON_LOOPS | PG_LOOP_SIDE_BY_SIDE | PG_LOOP_UPDATES;
        let flags = job.info.flags;
        let is_in_line = job.placement.tile.is_none_or(|(x, _)| u32::from(x) + 1 == job.info.n_dims);
        let may = job.info.n_results == 0
            && job.schedule.is_none()
            && flags & NOT == 0
            && flags & PG_LOOP_STORES_ONCE != 0
            && is_in_line;
        Attempt { backwards: are_many && may && self.counts_writers(job), ..self }
    }

    /// Where nothing is guessed but that iterations meet cells in order, if an earlier run has shown that they do.
    pub(super) fn in_order(job: &Job, may_buffer: bool) -> Attempt {
        let attempt = Attempt::proper(job, may_buffer);
        if !job.in_order
            || job.placement.cells > MOST_CELLS
            || attempt.buffered == 0
            || !job.placement.has_stamped_readers(&job.info)
        {
            return attempt;
        }
        let buffered = words_of_entry(job.placement.log_shift, true, true);
        Attempt { buffered, apart: true, grouped: true, alone: job.stores_once, ..attempt }
    }
}

impl Attempt {
    /// What is tried where a run has failed as the report says, which is told what guess was wrong; `None`: nothing else is, or it has not failed.
    pub(super) fn after(self, job: &Job, n: u64, may_buffer: bool, report: &mut Report) -> Option<Attempt> {
        let fail = report.outcome.fail;
        let (met_writer, met_reader) = (fail & PG_FAIL_WAW != 0, fail & PG_FAIL_RAW != 0);
        if fail == 0 {
            return None;
        }
        if fail & !(PG_FAIL_WAW | PG_FAIL_RAW) != 0 {
            if !(self.joined || self.portion != 0)
                || fail & PG_FAIL_STOPPED != 0
                || !job.placement.has_logged_readers(&job.info)
            {
                return None;
            }
            // Noted loads find what is there, whoever has stored it: what has followed from that may be anything, and logs were not looked at.
            self.is_refuted_as_joined(report);
            let may_go_on = fail & PG_FAIL_TIME == 0;
            return may_go_on.then(|| self.without_joined(job, may_buffer));
        }
        if self.alone && met_writer {
            // What a cell holds may be an earlier iteration's.
            report.once_held = Some(false);
            return Some(Attempt { alone: false, ..self });
        }
        if self.grouped && !met_writer {
            // Cells may have met that lie in one group only.
            report.order_held = Some(false);
            return Some(Attempt::proper(job, may_buffer));
        }
        let may_have_seams = self.portion == 0 && self.seams == 0 && job.guesses != Guesses::Launches;
        if self.joined && met_writer && !met_reader && may_have_seams {
            // Nearly all of them are known to have stood side by side: those that didn't may have stood on both sides of a row's end.
            let seams = Attempt::seams(job);
            if seams != 0 && Attempt::may_meet_at_seams(job, &report.outcome) {
                report.joined_held = Some(false);
                return Some(Attempt { seams, ..self });
            }
        }
        if self.joined && !met_writer {
            self.is_refuted_as_joined(report);
            if let Some(next) =
                self.in_smaller_portions(job, n, &report.outcome).filter(|_| self.portion != 0)
            {
                return Some(next);
            }
            return Some(self.without_joined(job, may_buffer));
        }
        let is_refuted = if self.guess == Guess::Range { !met_writer && met_reader } else { met_writer };
        if !is_refuted || !(self.is_guess || self.buffered != 0) {
            return None;
        }
        // Where there are two writers no other guess needs to find them.
        if self.is_guess {
            *self.held(report) = Some(false);
        }
        if self.joined {
            self.is_refuted_as_joined(report);
            if let Some(next) = self.in_smaller_portions(job, n, &report.outcome) {
                return Some(next);
            }
        }
        // Several launches count a cell that each of them has stored to as many.
        if self.joined && self.portion == 0 {
            report.many_writers = Some(are_many_writers(job, &report.outcome));
        }
        // What was held back in vain, because an iteration stores too often for that, isn't a second time.
        Some(match self.buffered {
            0 => Attempt::in_order(job, may_buffer)
                .with_writers(job, report.many_writers.unwrap_or(job.many_writers)),
            _ => Attempt::proper(job, false),
        })
    }

    /// What is tried where readers have refuted this one: they may be nothing to numbers, unless cells have several writers, which is why there are several launches.
    fn without_joined(self, job: &Job, may_buffer: bool) -> Attempt {
        match self.portion {
            0 => Attempt::without_neighbours(job, may_buffer),
            _ => Attempt::in_order(job, may_buffer),
        }
    }

    /// Tells that what neighbours store can't be left to the last of them, or that iterations of one launch have met.
    fn is_refuted_as_joined(self, report: &mut Report) {
        let held = if self.portion == 0 { &mut report.joined_held } else { &mut report.portion_held };
        *held = Some(false);
    }

    /// Where a report says whether a guess has held.
    fn held(self, report: &mut Report) -> &mut Option<bool> {
        if self.guess == Guess::Range { &mut report.range_held } else { &mut report.guess_held }
    }

    /// Tells what a run has shown that stands.
    pub(super) fn stands(self, job: &Job, n: u64, report: &mut Report) {
        if self.counts_writers(job) {
            report.many_writers = Some(are_many_writers(job, &report.outcome));
        }
        if self.grouped {
            report.order_held = Some(true);
            report.stored_once = report.outcome.stored_once;
        }
        // Groups of cells tell, too: nothing else would notice that another entry's order isn't that of places.
        if let Some(far) = report.outcome.far {
            report.in_order = Some(far <= n / FAR_PART);
        }
        if self.portion != 0 {
            (report.portion_held, report.portion) = (Some(true), self.portion);
        } else if self.joined {
            report.joined_held = Some(true);
            report.has_seams = self.seams != 0;
        } else if self.is_guess {
            *self.held(report) = Some(true);
        }
    }

    /// Bases whose loads nobody notes, because each finds what its own iteration is to store: [`Specialisation::covered`].
    pub(super) fn covered(self, job: &Job) -> u64 {
        if self.method == LogMethod::Bitmap && !self.joined { job.filled.covered } else { 0 }
    }
}

/// Whether cells have many writers on the average, by what a run has counted: most of them need do nothing then, if the last ones come first. To look at a cell costs
/// a narrow one, whose stamp and value are raised together, more of what that is worth (`docs/measurements/2026-11-26-stamps-5.md`).
fn are_many_writers(job: &Job, outcome: &Outcome) -> bool {
    let many: u64 = if job.placement.log_shift >= 3 { 16 } else { 64 };
    outcome.stores >= many.saturating_mul(outcome.cells.max(1))
}

/// Whether stamps of a job may hold values back in the log, so that nothing is run a second time to settle what stands there.
pub(super) fn may_buffer(device: &dyn Device, job: &Job, n: u64) -> bool {
    /// Numbers for the stores of an iteration, at least, in bits.
    const LEAST: u32 = 4;
    device.name() == "cuda"
        && job.method == LogMethod::Stamp
        && job.guesses != Guesses::Twice
        // What later levels load earlier ones have stored.
        && job.schedule.is_none()
        && job.pinned.is_empty()
        && numbers_of_stores(n) >= LEAST
}

/// What accesses are logged in, on the device.
pub(super) struct Logs {
    pub(super) writers: DevicePtr,
    pub(super) readers: DevicePtr,
    /// Bits of the cells that were written, where the writers' log has words for them.
    pub(super) written: DevicePtr,
    /// What lies in front of the writers' in the same piece of memory, where anything does: see [`Launch::seams`].
    pub(super) seams: DevicePtr,
    /// See [`Launch::log_words`].
    pub(super) words: u64,
    pub(super) stamp_words: u32,
}

impl Logs {
    /// Empty ones for an attempt.
    pub(super) fn new(
        device: &mut dyn Device,
        job: &Job,
        attempt: Attempt,
        n: u64,
        taken: &mut Taken<'_>,
    ) -> Result<Logs, DeviceError> {
        let (placement, method) = (&job.placement, attempt.method);
        let stamp_words = match attempt.guess {
            _ if attempt.buffered != 0 => attempt.buffered.into(),
            Guess::None if placement.has_stamped_readers(&job.info) => PG_STAMP_WORDS_READ,
            Guess::None if !job.pinned.is_empty() => PG_STAMP_WORDS_READ,
            Guess::None => PG_STAMP_WORDS,
            _ if placement.has_logged_readers(&job.info) || !job.pinned.is_empty() => PG_GUESS_WORDS_READ,
            _ => PG_STAMP_WORDS,
        };
        let nothing = DevicePtr(0);
        let words = method.entries(placement.cells);
        let mut logs =
            Logs { writers: nothing, readers: nothing, written: nothing, seams: nothing, words, stamp_words };
        if words == 0 || method == LogMethod::None {
            return Ok(logs);
        }
        // Each has bits of its own.
        let bits = match attempt.portion {
            0 => words,
            portion => words_of_bitmap(words) * bitmaps(n, portion, attempt.probes),
        };
        let mut take = |device: &mut dyn Device, words: u64| -> Result<DevicePtr, DeviceError> {
            taken.allocate(device, words * 4)
        };
        let of_writers = match method {
            LogMethod::Stamp if attempt.grouped => {
                let pairs = u64::from(words_of_entry(placement.log_shift, false, true));
                pairs * placement.cells + 2 * placement.cells.div_ceil(CELLS_OF_GROUP)
            }
            // Behind the entries a byte for each chunk.
            LogMethod::Stamp if attempt.buffered != 0 => {
                u64::from(stamp_words) * placement.cells + (placement.cells >> LOG2_OF_CHUNK).div_ceil(4) + 1
            }
            LogMethod::Stamp => u64::from(stamp_words) * placement.cells,
            method if method.is_bitmap() => bits,
            method => method.words(placement.cells),
        };
        let of_seams = match attempt.seams {
            0 => 0,
            seams => WORDS_OF_SEAM * u64::from(seams) * job.iterations().div_ceil(ITERATIONS_OF_ROW),
        };
        logs.writers = take(device, of_seams + of_writers)?;
        device.fill(logs.writers, 0, (of_seams + of_writers) * 4)?;
        if of_seams != 0 {
            logs.seams = logs.writers;
            logs.writers.0 += of_seams * 4;
        }
        if attempt.buffered != 0 {
            let words = if attempt.apart { 2 } else { u64::from(attempt.buffered) };
            logs.readers = DevicePtr(logs.writers.0 + 4 * words * placement.cells);
        }
        // Bits of writers say by themselves whether two have met; stamps of readers lie beside those of writers.
        let needs_readers = match method {
            LogMethod::Bitmap => placement.has_logged_readers_but(&job.info, attempt.covered(job)),
            LogMethod::Stamp => false,
            method => method.detects(),
        };
        if !method.is_bitmap() && job.written.is_none() {
            logs.written = take(device, LogMethod::Mark.words(placement.cells))?;
        }
        // A range lies beside what is counted.
        if needs_readers && attempt.guess != Guess::Range {
            logs.readers = take(device, bits)?;
            device.fill(logs.readers, 0, bits * 4)?;
            for (first, end) in &job.pinned {
                device.fill(DevicePtr(logs.readers.0 + first * 4), PG_MANY, (end - first) * 4)?;
            }
        }
        if method == LogMethod::Stamp {
            let reader = if attempt.guess == Guess::None { PG_STAMP_READER } else { PG_GUESS_READER };
            for cell in job.pinned.iter().flat_map(|(first, end)| *first..*end) {
                let stamp = u64::from(stamp_words) * cell + u64::from(reader);
                device.fill(DevicePtr(logs.writers.0 + stamp * 4), PG_MANY, 4)?;
            }
        }
        Ok(logs)
    }

    /// Gives their memory back.
    pub(super) fn free(self, device: &mut dyn Device, taken: &mut Taken<'_>) {
        taken.give_back(device, &[self.seams, self.writers, self.readers, self.written]);
    }
}
