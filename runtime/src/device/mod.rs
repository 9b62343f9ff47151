//! Where loops run when they don't run on the calling thread. One trait; everything above it can't tell devices apart.
//!
//! A device owns memory (which may be a separate part of the host's: [`threads`] always works on copies here, so that
//! machines without a GPU exercise transfers, translation, logs, checks and discarding) and runs the device flavour of
//! a loop body over an iteration space. Running a *proven* loop in place on host memory is not a device operation but
//! `threads::run_in_place`.
//!
//! Invariant: nothing outside of `device/cuda` knows CUDA. Invariant: no method panics or exits; a device that fails
//! answers [`DeviceError`], and one that is lost answers [`DeviceError::Lost`] forever.

use crate::abi;
use crate::config::GroupChoice;
use crate::speculation::filled::Filled;
use crate::speculation::inspector::levels::Schedule;
use crate::speculation::inspector::turns::Order;
use std::sync::atomic::AtomicU32;
use std::time::Duration;

pub mod collected;
pub mod cuda;
pub mod pool;
#[cfg(test)]
pub mod scripted;
pub mod threads;

/// An address in a device's memory.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct DevicePtr(pub u64);

/// Why a device could not do what it was asked.
#[derive(Debug, Clone, thiserror::Error)]
pub enum DeviceError {
    /// Not enough memory; others may still succeed.
    #[error("out of device memory ({0} bytes asked for)")]
    OutOfMemory(u64),
    /// The kernel could not be compiled or loaded: this loop can't run there.
    #[error("kernel not available: {0}")]
    Kernel(String),
    /// Host memory that was to be read or written is not mapped: this entry can't run there.
    #[error("host memory {0:#x}+{1} is not accessible")]
    HostMemory(u64, u64),
    /// The device is unusable for the rest of the process.
    #[error("device lost: {0}")]
    Lost(String),
}

/// Which instrumentation a kernel is compiled with; see `PG_LOG_*` in the C ABI.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
#[allow(missing_docs)]
#[repr(u32)]
pub enum LogMethod {
    #[default]
    None = 0,
    Mark = 1,
    Atomic = 2,
    Reduction = 3,
    Bitmap = 4,
    Stamp = 5,
}

impl LogMethod {
    /// What traces and the environment call it.
    pub const NAMES: [&str; 6] = ["none", "mark", "atomic", "reduction", "bitmap", "stamp"];

    /// Whether iterations are watched for meeting each other.
    pub fn detects(self) -> bool {
        self.knows_iterations() || self == LogMethod::Bitmap
    }

    /// Whether the log says which iteration made an access: then no iterations may be run together.
    pub fn knows_iterations(self) -> bool {
        matches!(self, LogMethod::Atomic | LogMethod::Reduction | LogMethod::Stamp)
    }

    /// Whether writes are counted, because two of one cell show only in their number.
    pub fn counts(self) -> bool {
        matches!(self, LogMethod::Reduction | LogMethod::Bitmap)
    }

    /// Most words of a write log with so many cells: those of stamps have fewer where no loads are noted.
    pub fn words(self, cells: u64) -> u64 {
        match self {
            LogMethod::Mark | LogMethod::Bitmap => cells.div_ceil(CELLS_OF_WORD),
            LogMethod::None | LogMethod::Atomic | LogMethod::Reduction => cells,
            LogMethod::Stamp => u64::from(abi::PG_STAMP_WORDS_READ) * cells,
        }
    }

    /// How many words, or stamps, the check looks at.
    pub fn entries(self, cells: u64) -> u64 {
        if self == LogMethod::Stamp { cells } else { self.words(cells) }
    }

    /// Whether a word of the write log stands for so many cells that it says by its bits what was written.
    pub fn is_bitmap(self) -> bool {
        matches!(self, LogMethod::Mark | LogMethod::Bitmap)
    }
}

/// Whether stamps guess that each cell has one writer (`body/logs.h`), and how stores are counted then; see `PG_GUESS_*` in the C ABI.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
#[repr(u32)]
pub enum Guess {
    /// There is no guess: stamps know the first writer, too.
    #[default]
    None = 0,
    /// Those that don't find their own number.
    Looking = 1,
    /// All of them.
    Counting = 2,
    /// Of bitmaps: nothing is stored between the first and the last cell that is loaded.
    Range = 3,
}

/// Words of a cell's entry where stamps are held back with their values (`body/buffered.h`). `apart`: its pairs don't lie together.
pub fn words_of_entry(log_shift: u32, notes_loads: bool, apart: bool) -> u8 {
    match (log_shift, notes_loads) {
        (..3, false) => 2,
        (..3, true) | (_, false) => 4,
        (_, true) if apart => 6,
        // One sector of memory.
        (_, true) => 8,
    }
}

/// Cells that have their first writer and their last reader in common, where stamps are held back in the order of cells: a power of two, at most 32.
pub const CELLS_OF_GROUP: u64 = 8;

/// Cells, as a power of two, that have one mark which says whether anything is stored there, where stamps are held back and each has an entry of its own.
pub const LOG2_OF_CHUNK: u32 = 12;

/// Where the count of far accesses begins in what groups count; below it are stores that weren't their cells' only ones. `__pg_end_thread` has the same number.
const FAR_SHIFT: u32 = 36;

/// Whether entries of such stamps have room for who loads.
fn notes_loads(kernel: Specialisation) -> bool {
    kernel.buffered > words_of_entry(kernel.log_shift.into(), false, kernel.apart)
}

/// How many bits of a stamp are left to number the stores of an iteration, where there are `n` of them.
pub fn numbers_of_stores(n: u64) -> u32 {
    u32::try_from(n).map_or(0, u32::leading_zeros)
}

/// Iterations that a warp runs side by side, from a multiple of their number on, as a rule: what one of them leaves to the next row is compared behind the loop
/// (`body/joined.h`).
pub const ITERATIONS_OF_ROW: u64 = 32;

/// Words between two rows, for each store that may be left.
pub const WORDS_OF_SEAM: u64 = 4;

/// Cells that a word of a bitmap stands for.
pub const CELLS_OF_WORD: u64 = 32;

/// What a kernel is compiled for: another one is needed where a launch differs in any of it. Masks have a bit for each of the
/// first 64 bases. What a device doesn't make use of it ignores.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Specialisation {
    /// Instrumentation.
    pub method: LogMethod,
    /// What stamps guess.
    pub guess: Guess,
    /// Of stamps whose values are held back in the log until the loop is over: words of a cell's entry; 0: stores are made at once.
    pub buffered: u8,
    /// Whether the last iterations of a launch come first, and a store isn't made where a later one has been (`body/buffered.h`).
    pub backwards: bool,
    /// Whether the pairs of such an entry lie apart from each other.
    pub apart: bool,
    /// Whether [`CELLS_OF_GROUP`] cells have their first writer and their last reader in common; then pairs lie apart, too.
    pub grouped: bool,
    /// Whether those are stored without operations in one piece, because no two lanes are expected to store to one cell.
    pub alone: bool,
    /// Whether a thread has so few registers that as many threads as a processor can hold are there.
    pub full: bool,
    /// Of bitmaps: whether lanes side by side that store to one place leave it to the last of them (`body/joined.h`).
    pub joined: bool,
    /// Of joined stores: how many stores of an iteration are put away where they are the last ones of their row, as the next one may store to the same
    /// place; 0: none is. See [`ITERATIONS_OF_ROW`].
    pub seams: u8,
    /// Whether bits of stores to members of one element are gathered, to be set together.
    pub gathers: bool,
    /// log2 of the bytes of a log's cell; 0 where there is none.
    pub log_shift: u8,
    /// Bases whose accesses are all shown to stay in their array, aligned: [`Placement::bounded`].
    ///
    /// [`Placement::bounded`]: crate::memory::placement::Placement::bounded
    pub bounded: u64,
    /// Other bases whose accesses all lie in their array, aligned, because an inspection or an earlier run has seen the same ones
    /// ([`Seen`](crate::speculation::inspector::Seen)).
    pub inside: u64,
    /// Those of `bounded` and `inside` whose array nothing stores to.
    pub constant: u64,
    /// Bases whose array nothing stores to, shown to stay there or not; only where the loop's text asks for it (`PG_LOOP_KEPT`), or loads
    /// are noted.
    pub kept: u64,
    /// Bases whose stores a bitmap has from the entry ([`Filled`]): nobody notes them.
    pub filled: u64,
    /// Bases whose loads a bitmap doesn't note, because each finds what its own iteration is to store ([`Filled::covered`]).
    pub covered: u64,
    /// Whether bitmaps note once what inner loops store to one place (`PG_LOOP_REPEATS`).
    pub repeats: bool,
    /// Whether iterations can be counted in 31 bits, and the cells of a bitmap in 32.
    pub narrow: bool,
    /// Whether the launch has an order of iterations.
    pub ordered: bool,
    /// Whether that is the one by their numbers of turns.
    pub sorted: bool,
    /// The dimensions that go with x and y of a grid which has a thread for each iteration:
    /// [`Placement::tile`](crate::memory::placement::Placement::tile).
    pub tile: Option<(u8, u8)>,
    /// The dimension of a tile's nest that the rows of a group go along, if that isn't y:
    /// [`Placement::across`](crate::memory::placement::Placement::across).
    pub across: Option<u8>,
    /// Rows and columns of iterations that a thread runs together: along y (or across) and x of a tile, in a line columns only.
    pub group: (u8, u8),
    /// Whether the iterations of a group have loops, and so operands, in common.
    pub shares: bool,
    /// Whether so few threads run that each should have as many loads under way as it can.
    pub deep: bool,
    /// Threads that run an iteration together, side by side: a power of two up to [`WIDEST`].
    pub spread: u8,
    /// Whether lanes lend each other what they load, many loads at a time, and do nothing else together.
    pub lends: bool,
    /// Bases to whose array nothing but updates of one kind and width is made: [`Placement::updated_alone`].
    ///
    /// [`Placement::updated_alone`]: crate::memory::placement::Placement::updated_alone
    pub updated_alone: u64,
    /// Those of them whose updates blocks collect: [`collected`].
    pub collects: u64,
    /// Those of `collects` whose array has more elements than slots.
    pub collects_part: u64,
    /// Those of `collects` whose slots tell by their values whether they were updated.
    pub collects_tell: u64,
    /// Whether logs hold nothing but what such updates note, which is no iteration's number.
    pub nameless: bool,
    /// Most threads of a block.
    pub block: u16,
}

/// Rows and columns of large groups, the largest first: they may have twice as many registers as a smaller one, and don't always find
/// enough of them. Then the next one is taken.
pub const LARGE: [(u8, u8); 2] = [(8, 8), (8, 4)];
/// What comes behind them.
pub const SMALLER: (u8, u8) = (4, 4);

/// Most threads that run an iteration together.
pub const WIDEST: u8 = 16;

impl Specialisation {
    /// A kernel for whatever there may be.
    pub fn none(method: LogMethod) -> Specialisation {
        Specialisation {
            method,
            guess: Guess::None,
            buffered: 0,
            backwards: false,
            apart: false,
            grouped: false,
            alone: false,
            full: false,
            joined: false,
            seams: 0,
            gathers: false,
            log_shift: 0,
            bounded: 0,
            inside: 0,
            constant: 0,
            kept: 0,
            filled: 0,
            covered: 0,
            repeats: false,
            narrow: false,
            ordered: false,
            sorted: false,
            tile: None,
            across: None,
            group: (1, 1),
            shares: false,
            deep: false,
            spread: 1,
            lends: false,
            updated_alone: 0,
            collects: 0,
            collects_part: 0,
            collects_tell: 0,
            nameless: false,
            block: cuda::BLOCK as u16,
        }
    }

    /// Whether this kernel does a part of what another one of the loop does at each place of a launch: the same accesses, some of which it doesn't check
    /// or doesn't log.
    pub fn does_part_of(&self, other: &Specialisation) -> bool {
        let checks_less = other.bounded & !self.bounded == 0
            && other.inside & !(self.inside | self.bounded) == 0
            && other.constant & !self.constant == 0
            && (self.method == LogMethod::None || other.filled & !self.filled == 0);
        let places = |kernel: &Specialisation| (kernel.tile, kernel.across, kernel.group, kernel.ordered);
        let how = |kernel: &Specialisation| {
            (kernel.spread, kernel.lends, kernel.shares, kernel.deep, kernel.kept, kernel.sorted)
        };
        let collects_as = |kernel: &Specialisation| {
            let block = (kernel.collects != 0).then_some(kernel.block);
            (kernel.collects, kernel.collects_part, kernel.collects_tell, block)
        };
        let does_less = match (self.method, other.method) {
            (LogMethod::None, LogMethod::None) | (LogMethod::Mark, LogMethod::Mark) => {
                how(self) == how(other)
            }
            // Logs leave fewer ways to run iterations, all of which are slower.
            (LogMethod::None, _) => true,
            (LogMethod::Mark, other) => other.detects(),
            _ => false,
        };
        does_less && checks_less && places(self) == places(other) && collects_as(self) == collects_as(other)
    }

    /// The same for `n` iterations of a loop with `flags` (`PG_LOOP_*`), so many dimensions and `bases` (a bit for each of the first
    /// 64), on a device that runs `threads` at once: in groups where the loop's text allows it and the launch is known well enough,
    /// everything bounded or the text regular, no log that would have to tell a group's iterations apart, no order to be kept. Or the other way round,
    /// where there are few iterations with inner loops: each of them for several threads.
    ///
    /// Sizes are those that were fastest on an H200 (`docs/measurements/2026-11-22-kernels.md`): what has inner loops in common
    /// shares operands along both dimensions, so that eight by eight iterations make an eighth of the loads; other nests share what
    /// neighbours in y have in common, or across the tile where they have as much in common there: what neighbours in y load a block's
    /// threads find in their cache all the same (`docs/measurements/2026-11-25-nests.md`); a line has more loads under way.
    pub fn in_groups(
        self,
        flags: u32,
        dims: u32,
        bases: u64,
        n: u64,
        threads: u64,
        choice: GroupChoice,
    ) -> Specialisation {
        let has = |flag: u32| flags & flag != 0;
        // The logs that know iterations would take a group for one.
        let is_plain = (!self.method.knows_iterations() || self.nameless) && !self.ordered;
        // What is loaded from addresses that were loaded has nothing in common. But updates that are collected wait for such loads and nothing else.
        let is_regular = self.bounded == bases || has(abi::PG_LOOP_DIRECT) || self.collects != 0;
        let is_known = is_plain && self.narrow && is_regular;
        let may = has(abi::PG_LOOP_GROUPS) && is_known && choice != GroupChoice::Off;
        let have_loops = has(abi::PG_LOOP_COMMON_LOOPS);
        let candidates: &[(u8, u8)] = match (have_loops, self.tile.is_some()) {
            _ if !may => &[],
            (true, true) if has(abi::PG_LOOP_SMALL) => &[LARGE[0], SMALLER, (2, 2)],
            (true, true) if has(abi::PG_LOOP_LONG) => &[(4, 1), (2, 1)],
            (true, true) => &[(4, 4), (2, 2)],
            (false, true) => &[(4, 1), (2, 1)],
            (_, false) if dims == 1 => &[(1, 4), (1, 2)],
            _ => &[],
        };
        // A group's work can't be spread over more threads: an eighth of what the device holds still hides its latencies where
        // loads are shared, half of it where they are only more at a time.
        let least = match choice {
            GroupChoice::Always => 0,
            _ if have_loops => threads / 8,
            _ => threads / 2,
        };
        let size = |(rows, columns): (u8, u8)| u64::from(rows) * u64::from(columns);
        let group = candidates.iter().copied().find(|group| n / size(*group) >= least).unwrap_or((1, 1));
        let shares = have_loops && size(group) > 1;
        let across = self.across.filter(|_| group.0 > 1 && !shares);
        let is_small = n / size(group) < threads / 8;
        let deep = has(abi::PG_LOOP_TURNS) && is_small && choice == GroupChoice::Auto;
        let may_spread = has(abi::PG_LOOP_SPREADS) && group == (1, 1) && self.tile.is_none();
        let has_bits = self.method == LogMethod::Bitmap && self.guess != Guess::Range;
        let spread = match choice {
            _ if !may_spread || self.method.knows_iterations() => 1,
            GroupChoice::Off => 1,
            GroupChoice::Always => 4,
            // Where lanes take turns side by side all are at work, so that there may be more of them than the device runs at once. Lanes that
            // lend have so many loads under way that a quarter of its threads is what it runs at once: twice as many for eight lanes a row,
            // which wait for a long row half as long, four times as many for four (`docs/measurements/2026-11-25-rows.md`). Under bits
            // they make one part at a time, and what hides latencies are other lanes (`docs/measurements/2026-11-25-logs.md`).
            GroupChoice::Auto => {
                let most = match has(abi::PG_LOOP_SIDE_BY_SIDE) {
                    true => [(WIDEST, 4 * threads), (8, 4 * threads), (4, 4 * threads)],
                    false if has_bits => [(WIDEST, 2 * threads), (8, 2 * threads), (4, 2 * threads)],
                    false => [(WIDEST, threads / 4), (8, threads / 2), (4, threads)],
                };
                most.into_iter().find(|(s, most)| n * u64::from(*s) <= *most).map_or(1, |(s, _)| s)
            }
        };
        let may_lend = may_spread && !has(abi::PG_LOOP_SIDE_BY_SIDE) && choice != GroupChoice::Off;
        let lends = may_lend && !self.method.knows_iterations() && !(has_bits && spread > 1);
        Specialisation { across, group, shares, deep, spread, lends, ..self }
    }
}

impl Specialisation {
    /// The same for iterations in the order of their numbers of turns, on a device that runs `threads` at once: where lanes lend each other what the rows
    /// of several iterations load, so that one which has more turns holds others up. Where nobody asks for an iteration's number, which all logs
    /// but bits do. Where one iteration takes longer than its part of the GPU takes for everything, it has as many lanes as can be (`docs/measurements/2026-11-25-row-order.md`).
    pub fn sorted(self, order: &Order, threads: u64) -> Specialisation {
        /// Turns that all processors together make while one row makes one, for each thread of theirs.
        const OTHERS: u64 = 48;
        /// Lanes of a row, up to which small blocks are faster (`docs/measurements/2026-11-25-row-order-2.md`; bitmaps: `2026-11-26-rows-6.md`).
        const FEW_LANES: u8 = 4;
        let is_lending = self.lends && self.spread > 1 && self.group == (1, 1) && self.tile.is_none();
        let asks = self.method.knows_iterations() || self.filled != 0 || self.collects != 0;
        if !is_lending || asks || self.ordered {
            return self;
        }
        let is_long = u64::from(order.longest) * (threads / OTHERS) > order.all;
        let spread = if is_long { WIDEST } else { self.spread };
        // A block holds its place until its longest row ends: rows of few lanes are many of a block's.
        let is_small = matches!(self.method, LogMethod::None | LogMethod::Bitmap) && spread <= FEW_LANES;
        let block = if is_small { cuda::BLOCK_OF_SORTED as u16 } else { self.block };
        Specialisation { ordered: true, sorted: true, spread, block, ..self }
    }
}

pub use crate::speculation::protocol::TOLD_TO_STOP;
/// In [`Launch::stop`]: it has taken too long; speculation may have made one of its loops endless.
pub const TIME_IS_UP: u32 = 2;

/// What one launch needs; the host-side form of `struct __pg_launch`. The device copies the tables to where its
/// kernels can read them.
pub struct Launch<'a> {
    /// Static facts of the loop.
    pub info: &'a abi::Info,
    /// [`abi::Loop::key`].
    pub loop_key: usize,
    /// Iterations of the merged space (at most 2^32 - 3).
    pub n: u64,
    /// Of each dimension.
    pub trip: [u64; abi::PG_MAX_DIMS],
    /// Sorted by `lo`, disjoint; `dev` are addresses of this device.
    pub regions: &'a [abi::Region],
    /// One per base.
    pub anchors: &'a [u64],
    /// One per base.
    pub bases: &'a [u64],
    /// Live-ins and invariants.
    pub values: &'a [abi::Value],
    /// In: identities of reductions. Out: this launch's results, then those of each part; see `speculation::parts`.
    pub results: &'a mut [abi::Value],
    /// Write log, null where not needed.
    pub wr: DevicePtr,
    /// Read log, null where not needed: all there is to check then is what the write log says.
    pub rd: DevicePtr,
    /// Bits of the cells that were written, which the check makes of logs that have words for them; null where nobody asks.
    pub written: DevicePtr,
    /// Words in the log for one of all purposes: of bitmaps those of all cells, else as many as there are cells.
    pub log_words: u64,
    /// Words of a cell's stamps: `PG_STAMP_WORDS`, or `PG_STAMP_WORDS_READ` or, in a guess, `PG_GUESS_WORDS_READ` where loads are noted.
    pub stamp_words: u32,
    /// log2 of the bytes of a cell.
    pub log_shift: u32,
    /// Whether stamps are complete, from an earlier launch, and this one is to store what the last writers of cells store.
    pub settles: bool,
    /// Instrumentation. Where a bitmap has everything from the entry ([`Launch::filled`]), the kernel has none.
    pub method: LogMethod,
    /// What is known of the launch.
    pub kernel: Specialisation,
    /// What bitmaps have from the entry: where the kernel has [`Specialisation::filled`], otherwise nothing of it is asked for.
    pub filled: &'a Filled,
    /// Where iterations depend on each other: the order that keeps their dependences. Where the kernel is [`Specialisation::sorted`]: the one by
    /// their numbers of turns.
    pub schedule: Option<&'a Schedule>,
    /// 0, or most iterations of a launch. Launches follow each other in the source order then, and each has bits of its own ([`Launch::bitmaps`]), so that iterations of
    /// different ones may meet. Only for bitmaps without a schedule, without parts, and with nothing from the entry.
    pub portion: u64,
    /// Whether such launches begin with a small one, behind which nothing is launched if its own iterations meet.
    pub probes: bool,
    /// The number under which a device may keep that order: no other one has it.
    pub kept_as: Option<u64>,
    /// Where the kernel is [`Specialisation::sorted`]: turns of the iteration that has most, as far as they were counted.
    pub longest: Option<u32>,
    /// Becomes nonzero when the launch is to give up: [`TOLD_TO_STOP`] or [`TIME_IS_UP`]. It outlives the launch.
    pub stop: &'a AtomicU32,
    /// How long the device may be at work without having told how far it is; then it gives up. Threads, who can be told at any
    /// time, take no notice.
    pub limit: Duration,
    /// Parts that the iterations are run in; 0: each by itself. Such loops have no schedule.
    pub n_parts: u64,
    /// Iterations of dimension 0 in each block of parts.
    pub block: u64,
}

impl Launch<'_> {
    /// What the loop's code is told on any device. What lies in memory, and which iterations it begins and ends with, the device adds.
    pub fn raw(&self) -> abi::RawLaunch {
        abi::RawLaunch {
            n: self.n,
            trip: self.trip,
            regions: 0,
            anchors: 0,
            bases: 0,
            values: 0,
            results: 0,
            flags: 0,
            stop: 0,
            begun: 0,
            wr: self.wr.0,
            rd: self.rd.0,
            total: 0,
            n_regions: self.regions.len() as u32,
            n_bases: self.bases.len() as u32,
            log_shift: self.log_shift,
            log_method: self.method() as u32,
            order: 0,
            block: self.block,
            first: 0,
            end: 0,
            first_row: 0,
            first_layer: 0,
            settles: self.settles.into(),
            stamp_words: self.stamp_words,
            guess: self.kernel.guess as u32,
            store_bits: self.store_bits(),
            sign_bit: abi::SIGN_BIT,
            apart: [0; 4],
        }
    }

    /// Instrumentation.
    pub fn method(&self) -> LogMethod {
        self.method
    }

    /// Whether more counted stores than written cells are a conflict: of stamps where they guess that there are none. See [`Guess`].
    pub fn counts(&self) -> bool {
        self.method().counts() || self.kernel.guess != Guess::None
    }

    /// Of joined stores: what may have been put away, for all rows. They lie in front of the bits.
    pub fn seams(&self) -> u64 {
        u64::from(self.kernel.seams) * self.n.div_ceil(ITERATIONS_OF_ROW)
    }

    /// What bitmaps have from the entry.
    pub fn filled(&self) -> Option<&Filled> {
        (self.kernel.filled != 0).then_some(self.filled)
    }

    /// Turns that the longest iteration has: where they were counted, and whether they were. Elsewhere, where lanes run rows together, as many as if rows were
    /// as long as each other and all arrays together were gone through once, four bytes in a turn.
    pub fn longest(&self) -> Option<(u64, bool)> {
        let counted = self.longest.map(|longest| (u64::from(longest), true));
        let bytes: u64 = self.regions.iter().map(|region| region.size).sum();
        counted.or_else(|| (self.kernel.spread > 1).then(|| (bytes / 4 / self.n.max(1), false)))
    }

    /// Whether that is all that there is in the log: then the kernel has none.
    pub fn is_all_filled(&self) -> bool {
        self.kernel.filled != 0 && self.kernel.method == LogMethod::None
    }

    /// Of stamps: how many cells are unsettled, by the counted stores and what the check has counted: unsettled cells where stamps know the
    /// first writer, otherwise written ones.
    pub fn unsettled(&self, total: u64, counted: u64) -> u64 {
        match self.method() {
            LogMethod::Stamp if self.kernel.buffered != 0 => match notes_loads(self.kernel) {
                true => counted,
                false => total.saturating_sub(counted),
            },
            LogMethod::Stamp if self.kernel.guess != Guess::None => 0,
            LogMethod::Stamp if self.stamp_words == abi::PG_STAMP_WORDS => total.saturating_sub(counted),
            LogMethod::Stamp => counted,
            _ => 0,
        }
    }

    /// Of stamps that are held back and loads that are noted: how many accesses were far from the neighbouring iteration's, by what was counted.
    pub fn far(&self, total: u64) -> Option<u64> {
        let shift = if self.kernel.grouped { FAR_SHIFT } else { 0 };
        (self.kernel.buffered != 0 && notes_loads(self.kernel)).then_some(total >> shift)
    }

    /// Of groups of cells: whether each cell was stored to by one lane, once.
    pub fn stored_once(&self, total: u64) -> Option<bool> {
        self.kernel.grouped.then_some(total.trailing_zeros() >= FAR_SHIFT)
    }

    /// Of stamps that are held back: how many bits of each are left to number the stores of an iteration.
    pub fn store_bits(&self) -> u32 {
        match self.kernel.buffered {
            0 => 0,
            _ => numbers_of_stores(self.n),
        }
    }

    /// How many bitmaps lie side by side in each of the logs: one for each of [`Launch::portions`] where these have bits of their own.
    pub fn bitmaps(&self) -> u64 {
        if self.portion == 0 { 1 } else { bitmaps(self.n, self.portion, self.probes) }
    }

    /// The iterations in portions that run one after the other: for each, where its list begins in the schedule's order, or the first of its iterations, and
    /// how many it has. Without a schedule all iterations, or parts, are one portion, unless [`Launch::portion`] says otherwise.
    pub fn portions(&self) -> Vec<(usize, u64)> {
        match self.schedule {
            _ if self.portion != 0 => of_launches(self.n, self.portion, self.probes),
            Some(schedule) => schedule.levels().map(|level| (level.start, level.len() as u64)).collect(),
            None if self.n_parts != 0 => vec![(0, self.n_parts)],
            None => vec![(0, self.n)],
        }
    }
}

/// Iterations of the small launch that shows whether portions have a chance: enough that those of a random order meet.
fn probe(n: u64, portion: u64) -> u64 {
    /// What is lost where they have none.
    const PART: u64 = 32;
    (n / PART).clamp(1, portion)
}

/// From where one of several bitmaps begins to where the next one does, in words of which each has so many: so that four can be looked at together.
pub fn words_of_bitmap(words: u64) -> u64 {
    words.next_multiple_of(4)
}

/// [`Launch::bitmaps`] of `n` iterations, at least one, in launches of at most so many, at least one.
pub fn bitmaps(n: u64, portion: u64, probes: bool) -> u64 {
    let first = if probes { probe(n, portion) } else { 0 };
    u64::from(probes) + (n - first).div_ceil(portion)
}

/// Their [`Launch::portions`].
fn of_launches(n: u64, portion: u64, probes: bool) -> Vec<(usize, u64)> {
    let mut begin = 0;
    let launches = (0..bitmaps(n, portion, probes)).map(|number| {
        let most = if probes && number == 0 { probe(n, portion) } else { portion };
        let count = most.min(n - begin);
        begin += count;
        ((begin - count) as usize, count)
    });
    launches.collect()
}

/// What came of a launch and its check.
#[derive(Clone, Copy, Debug, Default)]
pub struct Outcome {
    /// `PG_FAIL_*` bits; 0: every iteration ran and no conflict was found.
    pub fail: u32,
    /// Some iteration that conflicted, for the trace.
    pub iteration: u32,
    /// Cells in conflict (a lower bound where the launch ended early).
    pub conflicts: u64,
    /// Cells that several iterations have stored to, by their stamps: what stands there has to be settled.
    pub unsettled: u64,
    /// Of bitmaps: cells that were stored to, and stores of cells that were counted; of launches with bits of their own the sums of all.
    pub cells: u64,
    /// See `cells`.
    pub stores: u64,
    /// Whether [`Launch::probes`] has ended it.
    pub is_probe: bool,
    /// [`Launch::far`].
    pub far: Option<u64>,
    /// [`Launch::stored_once`].
    pub stored_once: Option<bool>,
    /// Nanoseconds in the execution kernel and in the checking kernel; in both together where the log is so short that a GPU makes the second one ready
    /// while the first one is under way.
    pub execute_ns: u64,
    /// See `execute_ns`.
    pub check_ns: u64,
}

/// A place to run loop bodies. Calls on one device are serialised by the conflict-management thread.
pub trait Device: Send {
    /// For traces: `threads` or `cuda`.
    fn name(&self) -> &'static str;
    /// Allocates `bytes` (never 0), aligned to 256.
    fn allocate(&mut self, bytes: u64) -> Result<DevicePtr, DeviceError>;
    /// How many threads it runs at once.
    fn threads(&self) -> u64;
    /// How many bytes of copies may stay on it between entries (`memory::residency`); 0 where its memory is the program's, too.
    fn room_for_residents(&self) -> u64 {
        0
    }
    /// How many bytes the threads of a block may share; 0 where there are no blocks.
    fn room_of_block(&self) -> u64 {
        0
    }
    /// Gives memory back.
    fn free(&mut self, pointer: DevicePtr);
    /// Copies host memory in: each piece, so many bytes from a host address, to its place. Pieces in the order of their places, a few bytes
    /// apart, may be copied as one: what lies between them in the device's memory becomes anything, so nothing else may lie there. Host memory may turn out to
    /// be unmapped, which is an error, not a fault. `instead`: what the same places are given instead of what lies there now, from memory of
    /// ours, in the order of the places.
    fn copy_in(
        &mut self,
        pieces: &[(u64, u64, DevicePtr)],
        instead: &[(u64, u64, DevicePtr)],
    ) -> Result<(), DeviceError>;
    /// Copies device memory into buffers of ours.
    fn copy_out(&mut self, pieces: &mut [(DevicePtr, &mut [u8])]) -> Result<(), DeviceError>;
    /// Copies device memory to another place on the device.
    fn duplicate(&mut self, from: DevicePtr, to: DevicePtr, bytes: u64) -> Result<(), DeviceError>;
    /// Sets `bytes` bytes (a multiple of 4; address too) to repeated `word`.
    fn fill(&mut self, to: DevicePtr, word: u32, bytes: u64) -> Result<(), DeviceError>;
    /// Prepares one of the loop's kernels, and answers which: one for smaller groups where the device has too few registers. May
    /// take long the first time (compilation).
    fn prepare(
        &mut self,
        info: &abi::Info,
        loop_key: usize,
        kernel: Specialisation,
    ) -> Result<Specialisation, DeviceError>;
    /// Has an order of iterations there ahead of launches that need it, where it keeps such orders ([`Launch::kept_as`]).
    fn keep_order(&mut self, _order: &Order) -> Result<(), DeviceError> {
        Ok(())
    }
    /// Runs all iterations (execution kernel), then, where the log method detects anything and unless it failed already, the checking
    /// kernel over the logs, which also makes [`Launch::written`]. Blocks until the device is idle again.
    fn run(&mut self, launch: &mut Launch<'_>) -> Result<Outcome, DeviceError>;
    /// Begins to run a loop that leaves nothing but what it stores, behind those that were begun so before, and doesn't wait for it: [`Device::settle`] does, and says whether all have
    /// succeeded. Behind one that hasn't, a loop finds anything in memory: its addresses have to be checked. False: it has to be [run](Device::run).
    fn run_behind(&mut self, _launch: &Launch<'_>) -> Result<bool, DeviceError> {
        Ok(false)
    }
    /// Waits for what was begun by [`Device::run_behind`]. False: one of the loops has failed, or was stopped. `stop` is what [`Launch::stop`] is, for all of them.
    fn settle(&mut self, _stop: &AtomicU32) -> Result<bool, DeviceError> {
        Ok(true)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_sorted_where_nobody_asks_for_iterations() {
        const THREADS: u64 = 1 << 18;
        let lends = |method| Specialisation { lends: true, spread: 4, ..Specialisation::none(method) };
        let alike = Order::by(50_000, |iteration| 200 + iteration as u32 % 100).unwrap();
        let one_is_long = Order::by(50_000, |iteration| if iteration == 7 { 4000 } else { 200 }).unwrap();
        for method in [LogMethod::None, LogMethod::Mark, LogMethod::Bitmap] {
            let sorted = lends(method).sorted(&alike, THREADS);
            assert_eq!((sorted.sorted, sorted.ordered, sorted.spread), (true, true, 4));
            let block = if method == LogMethod::Mark { cuda::BLOCK } else { cuda::BLOCK_OF_SORTED };
            assert_eq!(u32::from(sorted.block), block);
            let sorted = lends(method).sorted(&one_is_long, THREADS);
            assert_eq!((sorted.sorted, sorted.spread), (true, WIDEST));
            assert_eq!(u32::from(sorted.block), cuda::BLOCK);
            // It is another kernel.
            assert!(!sorted.does_part_of(&lends(method)) && !lends(method).does_part_of(&sorted));
        }
        let mut others: Vec<_> =
            [LogMethod::Atomic, LogMethod::Reduction, LogMethod::Stamp].map(lends).into();
        let plain = lends(LogMethod::None);
        others.push(Specialisation { lends: false, ..plain });
        others.push(Specialisation { spread: 1, ..plain });
        others.push(Specialisation { ordered: true, ..plain });
        others.push(Specialisation { collects: 1, ..plain });
        others.push(Specialisation { filled: 1, ..lends(LogMethod::Mark) });
        others.push(Specialisation { filled: 1, ..lends(LogMethod::Bitmap) });
        others.push(Specialisation { tile: Some((1, 0)), ..plain });
        others.push(Specialisation { group: (1, 4), ..plain });
        assert!(others.into_iter().all(|kernel| kernel.sorted(&alike, THREADS) == kernel));
    }

    #[test]
    fn launches_with_bits_of_their_own_have_all_iterations_in_their_order() {
        for n in [1, 2, 31, 32, 33, 100, 1000] {
            for portion in 1..=n + 1 {
                for probes in [false, true] {
                    let portions = of_launches(n, portion, probes);
                    assert_eq!(portions.len() as u64, bitmaps(n, portion, probes));
                    let mut next = 0;
                    for (number, (begin, count)) in portions.iter().enumerate() {
                        assert_eq!(*begin as u64, next);
                        assert!((1..=portion).contains(count), "{n} {portion} {probes}: {portions:?}");
                        assert!(!probes || number != 0 || *count <= (n / 32).max(1));
                        next += count;
                    }
                    assert_eq!(next, n);
                }
            }
        }
    }

    #[test]
    fn groups_leave_enough_threads() {
        use abi::{
            PG_LOOP_COMMON_LOOPS as LOOPS, PG_LOOP_GROUPS as GROUPS, PG_LOOP_SMALL as SMALL,
            PG_LOOP_TURNS as TURNS,
        };
        let plain = Specialisation { narrow: true, bounded: 0b11, ..Specialisation::none(LogMethod::None) };
        let tiled = Specialisation { tile: Some((1, 0)), ..plain };
        let group = |kernel: Specialisation, flags: u32, n: u64| {
            let dims = if kernel.tile.is_some() { 2 } else { 1 };
            let kernel = kernel.in_groups(flags, dims, 0b11, n, 1 << 18, GroupChoice::Auto);
            (kernel.group, kernel.shares, kernel.deep)
        };
        assert_eq!(group(tiled, GROUPS, 1 << 24), ((4, 1), false, false));
        assert_eq!(group(tiled, GROUPS, 1 << 18), ((2, 1), false, false));
        assert_eq!(group(tiled, GROUPS, 1 << 17), ((1, 1), false, false));
        assert_eq!(group(tiled, GROUPS | LOOPS | TURNS | SMALL, 1 << 24), (LARGE[0], true, false));
        assert_eq!(group(tiled, GROUPS | LOOPS | TURNS, 1 << 24), ((4, 4), true, false));
        assert_eq!(group(tiled, GROUPS | LOOPS | TURNS | SMALL, 1 << 20), ((4, 4), true, false));
        assert_eq!(group(tiled, GROUPS | LOOPS | TURNS, 1 << 17), ((2, 2), true, false));
        assert_eq!(group(tiled, GROUPS | LOOPS | TURNS, 1 << 12), ((1, 1), false, true));
        assert_eq!(group(plain, GROUPS, 1 << 24), ((1, 4), false, false));
        assert_eq!(group(plain, GROUPS | LOOPS | TURNS, 4096), ((1, 1), false, true));
        // Text that knows no groups, arrays that not all is known of, logs, an order, and merged dimensions that are no tile.
        assert_eq!(group(tiled, TURNS, 1 << 24), ((1, 1), false, false));
        for (method, size) in
            [(LogMethod::Atomic, (1, 1)), (LogMethod::Reduction, (1, 1)), (LogMethod::Bitmap, (1, 4))]
        {
            assert_eq!(group(Specialisation { method, ..plain }, GROUPS, 1 << 24).0, size);
        }
        let unknown = |kernel: Specialisation| Specialisation { bounded: 0b10, ..kernel };
        assert_eq!(group(unknown(plain), GROUPS, 1 << 24).0, (1, 1));
        // Unless what it does there is regular; and long bodies have small groups.
        assert_eq!(group(unknown(plain), GROUPS | abi::PG_LOOP_DIRECT, 1 << 24).0, (1, 4));
        assert_eq!(group(tiled, GROUPS | LOOPS | abi::PG_LOOP_LONG, 1 << 24).0, (4, 1));
        assert_eq!(group(Specialisation { ordered: true, ..plain }, GROUPS, 1 << 24).0, (1, 1));
        let merged = plain.in_groups(GROUPS, 2, 0b11, 1 << 24, 1 << 18, GroupChoice::Auto);
        assert_eq!(merged.group, (1, 1));
        let asked = |choice| tiled.in_groups(GROUPS | LOOPS | TURNS | SMALL, 2, 0b11, 5, 1 << 18, choice);
        assert_eq!((asked(GroupChoice::Always).group, asked(GroupChoice::Always).deep), (LARGE[0], false));
        assert_eq!((asked(GroupChoice::Off).group, asked(GroupChoice::Off).deep), ((1, 1), false));
    }

    #[test]
    fn rows_go_across_tiles() {
        use abi::{PG_LOOP_COMMON_LOOPS as LOOPS, PG_LOOP_GROUPS as GROUPS};
        let plain = Specialisation { narrow: true, bounded: 0b11, ..Specialisation::none(LogMethod::None) };
        let tiled = Specialisation { tile: Some((2, 1)), across: Some(0), ..plain };
        let across = |kernel: Specialisation, flags, n: u64| {
            let kernel = kernel.in_groups(flags, 3, 0b11, n, 1 << 18, GroupChoice::Auto);
            (kernel.group, kernel.across)
        };
        assert_eq!(across(tiled, GROUPS, 1 << 24), ((4, 1), Some(0)));
        // Where there are no rows, or iterations share loops: their blocks work together along y.
        assert_eq!(across(tiled, GROUPS, 1 << 17), ((1, 1), None));
        assert_eq!(across(tiled, GROUPS | LOOPS, 1 << 24), ((4, 4), None));
        assert_eq!(across(Specialisation { across: None, ..tiled }, GROUPS, 1 << 24), ((4, 1), None));
    }

    #[test]
    fn what_checks_or_logs_less_does_a_part() {
        let plain = Specialisation { bounded: 0b1, ..Specialisation::none(LogMethod::None) };
        let unchecked = Specialisation { inside: 0b110, constant: 0b10, ..plain };
        assert!(unchecked.does_part_of(&plain) && !plain.does_part_of(&unchecked));
        assert!(plain.does_part_of(&plain));
        // What is shown to be inside needs no run that has seen it.
        let bounded = Specialisation { bounded: 0b111, constant: 0b10, ..plain };
        assert!(bounded.does_part_of(&unchecked) && !unchecked.does_part_of(&bounded));
        for method in [LogMethod::Mark, LogMethod::Bitmap, LogMethod::Atomic, LogMethod::Stamp] {
            let logged = Specialisation { method, lends: true, ..plain };
            assert!(plain.does_part_of(&logged) && !logged.does_part_of(&plain), "{method:?}");
        }
        let marked = Specialisation { method: LogMethod::Mark, ..plain };
        assert!(marked.does_part_of(&Specialisation { method: LogMethod::Bitmap, ..plain }));
        // Other threads run the iterations, or other iterations are counted.
        for other in [
            Specialisation { spread: 4, ..plain },
            Specialisation { tile: Some((1, 0)), ..plain },
            Specialisation { group: (1, 4), ..plain },
            Specialisation { ordered: true, ..plain },
        ] {
            assert!(!unchecked.does_part_of(&other), "{other:?}");
        }
    }

    #[test]
    fn iterations_are_spread_over_idle_threads() {
        use abi::PG_LOOP_SPREADS as SPREADS;
        let plain = Specialisation::none(LogMethod::Mark);
        let spread = |kernel: Specialisation, flags: u32, n: u64, choice| {
            kernel.in_groups(flags, 1, 0b11, n, 1 << 18, choice).spread
        };
        for (n, expected) in
            [(1, 16), (1 << 12, 16), ((1 << 12) + 1, 8), (1 << 14, 8), (1 << 16, 4), ((1 << 16) + 1, 1)]
        {
            assert_eq!(spread(plain, SPREADS, n, GroupChoice::Auto), expected, "{n}");
            // A range takes no more than registers.
            let range = Specialisation { method: LogMethod::Bitmap, guess: Guess::Range, ..plain };
            let kernel = range.in_groups(SPREADS, 1, 0b11, n, 1 << 18, GroupChoice::Auto);
            assert_eq!((kernel.spread, kernel.lends), (expected, true), "{n}");
        }
        let bitmap = Specialisation { method: LogMethod::Bitmap, ..plain };
        for (n, expected) in [(1 << 15, 16), (1 << 16, 8), (1 << 17, 4), ((1 << 17) + 1, 1)] {
            let kernel = bitmap.in_groups(SPREADS, 1, 0b11, n, 1 << 18, GroupChoice::Auto);
            assert_eq!((kernel.spread, kernel.lends), (expected, expected == 1), "{n}");
        }
        assert_eq!(spread(plain, 0, 1, GroupChoice::Auto), 1);
        let both = SPREADS | abi::PG_LOOP_SIDE_BY_SIDE;
        for (n, expected) in [(1 << 16, 16), (1 << 17, 8), ((1 << 19) + 1, 1)] {
            assert_eq!(spread(plain, both, n, GroupChoice::Auto), expected, "{n}");
        }
        assert_eq!(spread(plain, SPREADS, 1, GroupChoice::Off), 1);
        let lends = |flags, choice| plain.in_groups(flags, 1, 0b11, 1 << 20, 1 << 18, choice).lends;
        assert!(lends(SPREADS, GroupChoice::Auto) && !lends(0, GroupChoice::Auto));
        assert!(!lends(both, GroupChoice::Auto) && !lends(SPREADS, GroupChoice::Off));
        for method in [LogMethod::Atomic, LogMethod::Reduction] {
            assert_eq!(spread(Specialisation { method, ..plain }, SPREADS, 1, GroupChoice::Auto), 1);
        }
        let tiled = Specialisation { tile: Some((1, 0)), ..plain };
        assert_eq!(spread(tiled, SPREADS, 1, GroupChoice::Auto), 1);
    }
}
