//! The launches of one loop: in portions, waited for and stopped, and what comes back. What a device does besides is in the module above.

use super::grids::{Grid, ROUNDS, ROUNDS_OF_PORTIONS, ROUNDS_OF_RESULTS, Tiles};
use super::kernels::Loaded;
use super::pace::Pace;
use super::{AT_FLAGS, AT_STOP, BLOCK, COUNTERS, Cuda, TABLES, check, tables};
use crate::abi::{self, PG_TOTALS, PG_TOTALS_APART, RawLaunch, Value};
use crate::device::{
    DeviceError, DevicePtr, ITERATIONS_OF_ROW, Launch, Outcome, Specialisation, TIME_IS_UP, WIDEST,
    words_of_bitmap,
};
use cudarc::driver::sys;
use std::collections::HashMap;
use std::ffi::c_void;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

impl Cuda {
    pub(super) fn run_packed(
        &mut self,
        launch: &mut Launch<'_>,
        kernel: Loaded,
        packed: DevicePtr,
        words: &[u64],
        [at_tables, at_values, at_bases, at_anchors, at_regions, at_totals, at_arrays, n_results]: [usize; 8],
        order: Option<DevicePtr>,
    ) -> Result<Outcome, DeviceError> {
        let bytes = words.len() * 8;
        let (whole, room) = self.staging.memory();
        if bytes > room {
            return Err(DeviceError::Kernel("too many tables".into()));
        }
        let is_blank = packed == self.blank.start();
        let no_tables = self.blank.tables();
        let at_word = |word: usize| packed.0 + word as u64 * 8;
        let at_table = |word: usize| if is_blank { no_tables } else { at_word(word) };
        let raw = RawLaunch {
            regions: at_table(at_regions),
            anchors: at_table(at_anchors),
            bases: at_table(at_bases),
            values: at_table(at_values),
            results: at_table(COUNTERS),
            total: at_table(at_totals),
            n_regions: if is_blank { 0 } else { launch.regions.len() as u32 },
            ..self.raw(launch, packed, order)
        };
        // To launch a kernel takes the host 20 to 30 microseconds after it has copied much. They pass while the GPU still copies.
        let tables = match bytes <= TABLES {
            true => self.tables,
            false => {
                self.wait()?;
                whole
            }
        };
        if is_blank {
            self.blank.clear(self.stream)?;
        } else {
            // SAFETY: the buffer is ours and idle, because every launch is waited for.
            unsafe { std::ptr::copy_nonoverlapping(words.as_ptr().cast::<u8>(), tables, bytes) };
            let copy = |from: usize, to: usize| {
                // SAFETY: both buffers have so many words.
                let status = unsafe {
                    let host = tables.add(from * 8).cast();
                    sys::cuMemcpyHtoDAsync_v2(at_word(from), host, (to - from) * 8, self.stream)
                };
                check(status, "copying tables", 0)
            };
            if at_arrays != words.len() {
                copy(at_arrays, words.len())?;
            }
            copy(0, at_totals)?;
            // What is counted is cleared there, not copied: a kernel behind a copy of 8 KB begins 5 microseconds after it.
            if at_arrays != at_totals {
                let count = 2 * (at_arrays - at_totals);
                // SAFETY: the buffer has so many words.
                let status = unsafe { sys::cuMemsetD32Async(at_word(at_totals), 0, count, self.stream) };
                check(status, "filling", 0)?;
            }
        }
        let tiles = launch.kernel.tile.map(|tile| Tiles::new(&launch.trip, tile, &launch.kernel));
        let wave = self.wave(launch, kernel, tiles.as_ref());
        let which = (launch.loop_key, launch.kernel);
        let mut pace = pace_for(&self.paces, which, wave, launch.longest(), launch.info.work);
        pace.begins();
        let back = (COUNTERS + n_results) * 8;
        let bits = launch.log_words as usize * 4;
        let looks = self.looks_itself(launch) && checks(launch) && bytes + bits <= TABLES;
        let looked = looks.then_some((bytes, bits));
        let totals = at_word(at_totals);
        let arrays = (at_word(at_arrays), (words.len() - at_arrays) as u32 / 2);
        let mut ending = Ending {
            packed,
            totals,
            arrays,
            tables,
            back,
            looked,
            told: false,
            met: false,
            execute_ns: 0.0,
            check_ns: 0.0,
        };
        let mut is_over = false;
        let portions = launch.portions();
        let bytes_of_bitmap = if launch.portion == 0 { 0 } else { words_of_bitmap(launch.log_words) * 4 };
        for (number, (first, count)) in portions.into_iter().enumerate() {
            // Bits of its own.
            let log = |log: u64| if log == 0 { 0 } else { log + number as u64 * bytes_of_bitmap };
            let raw = RawLaunch { wr: log(raw.wr), rd: log(raw.rd), ..raw };
            let (order, base) =
                if raw.order == 0 { (0, first as u64) } else { (raw.order + first as u64 * 4, 0) };
            let places = tiles.map_or(count, |tiles| tiles.rows * tiles.layers);
            let mut at = 0;
            while at < places && !is_over {
                let mut most = pace.next(places - at, wave);
                if most == 0 {
                    is_over = !self.await_launches(launch, &mut pace, &mut ending, None)?;
                    continue;
                }
                if launch.kernel.seams != 0 && tiles.is_none() {
                    // Each begins with a row.
                    most = most.next_multiple_of(ITERATIONS_OF_ROW).min(places - at);
                } else if launch.kernel.spread > 1 {
                    most = of_whole_blocks(most, places - at);
                }
                if pace.is_waited_for() {
                    // SAFETY: the event is ours, and so are the words, which no kernel is using now.
                    unsafe {
                        if std::mem::take(&mut ending.told) {
                            check(sys::cuMemsetD32Async(raw.stop, 0, 1, self.stream), "filling", 0)?;
                        }
                        check(sys::cuEventRecord(self.events[0], self.stream), "cuEventRecord", 0)?;
                    }
                }
                let (grid, (first_row, first_layer), done) =
                    self.grid(launch, kernel, tiles.as_ref(), at, most);
                let mut argument = RawLaunch {
                    order,
                    first: base + at,
                    end: base + at + done,
                    first_row,
                    first_layer,
                    ..raw
                };
                let mut far_tables = at_word(at_tables);
                let second: *mut c_void = match tables::bytes(launch.info) > tables::MOST_IN_PARAMETERS {
                    true => (&raw mut far_tables).cast(),
                    false => words[at_tables..].as_ptr().cast_mut().cast(),
                };
                self.start(kernel, grid, &mut [(&raw mut argument).cast(), second])?;
                pace.launched(done, wave);
                at += done;
            }
            if number == 0 && launch.probes && !is_over {
                is_over = !self.await_probe(launch, &mut pace, &mut ending)?;
            }
        }
        if !is_over {
            self.await_launches(launch, &mut pace, &mut ending, Some(launch.bitmaps()))?;
        }
        if launch.kernel.sorted {
            pace.ends_with_the_shortest();
        }
        self.paces.insert(which, pace);
        let mut counters = [0u64; COUNTERS];
        let mut outcome = Outcome::default();
        // SAFETY: the copy is complete; the buffer holds so many words.
        unsafe {
            std::ptr::copy_nonoverlapping(tables.cast::<u64>(), counters.as_mut_ptr(), COUNTERS);
            for (number, value) in launch.results.iter_mut().enumerate() {
                *value = Value(*tables.cast::<u64>().add(COUNTERS + number));
            }
        }
        if looks && !is_over && counters[AT_FLAGS] as u32 == 0 {
            // SAFETY: all that the launch has left has been copied there: its words, and behind them the log's bits.
            let (places, bits) = unsafe {
                let places = std::slice::from_raw_parts(
                    tables.cast::<u64>().add(at_totals),
                    PG_TOTALS * PG_TOTALS_APART,
                );
                (places, std::slice::from_raw_parts(tables.add(bytes).cast::<u32>(), bits / 4))
            };
            counters[..3].copy_from_slice(&Cuda::found(places, bits));
        }
        if is_blank {
            self.blank.ended(&counters, ending.told);
        }
        outcome.execute_ns = ending.execute_ns as u64;
        outcome.check_ns = ending.check_ns as u64;
        let [mut total, written, met, flags, _] = counters;
        total += launch.filled().map_or(0, |filled| filled.cells);
        outcome.fail = flags as u32;
        if is_over && outcome.fail == 0 && !ending.met {
            // Told to stop between two launches.
            outcome.fail = abi::PG_FAIL_STOPPED;
        }
        outcome.iteration = (flags >> 32) as u32;
        outcome.conflicts = met + u64::from(outcome.fail & (abi::PG_FAIL_WAW | abi::PG_FAIL_RAW) != 0);
        if outcome.fail == 0 && met != 0 {
            outcome.fail |= abi::PG_FAIL_RAW;
        }
        (outcome.stores, outcome.cells, outcome.is_probe) = (total, written, ending.met);
        outcome.unsettled = launch.unsettled(total, written);
        outcome.far = launch.far(total);
        outcome.stored_once = launch.stored_once(total);
        if outcome.fail & !abi::PG_FAIL_RAW == 0 && launch.kernel.alone && outcome.stored_once == Some(false)
        {
            outcome.fail |= abi::PG_FAIL_WAW;
            outcome.conflicts += 1;
        }
        if outcome.fail & !abi::PG_FAIL_RAW == 0 && launch.counts() && total != written {
            outcome.fail |= abi::PG_FAIL_WAW;
            outcome.conflicts += 1;
        }
        Ok(outcome)
    }

    /// Waits for the first of several launches with bits of their own, and looks at these. False: what is left need not be launched.
    fn await_probe(
        &mut self,
        launch: &Launch<'_>,
        pace: &mut Pace,
        ending: &mut Ending,
    ) -> Result<bool, DeviceError> {
        if !self.await_launches(launch, pace, ending, Some(1))? {
            return Ok(false);
        }
        // SAFETY: what the launches have left has been copied there; counters come first.
        let [total, written, met]: [u64; 3] = unsafe { ending.tables.cast::<[u64; 3]>().read() };
        // If nothing is wrong, the last check counts the same stores and cells once more.
        ending.met = met != 0 || total != written;
        Ok(!ending.met)
    }

    /// Waits for all launches since the last wait, and for what is done with the logs behind the last ones, if somebody is to look at so many of their
    /// [bitmaps](Launch::bitmaps). The stop word is handed on meanwhile, and becomes set when they take too long. False: what is left need not be launched.
    fn await_launches(
        &mut self,
        launch: &Launch<'_>,
        pace: &mut Pace,
        ending: &mut Ending,
        last: Option<u64>,
    ) -> Result<bool, DeviceError> {
        let are_last = last.is_some();
        let record = |event: sys::CUevent, stream: sys::CUstream| {
            // SAFETY: the event is ours, and so is the stream.
            check(unsafe { sys::cuEventRecord(event, stream) }, "cuEventRecord", 0)
        };
        let looked = ending.looked.filter(|_| are_last);
        let checks = are_last && checks(launch) && looked.is_none();
        let fills = launch.filled().filter(|_| are_last);
        // An early check is timed with the launch: even an event would keep it from being made ready.
        let is_early = checks && fills.is_none() && self.checks_early(launch);
        if is_early {
            self.start_check(launch, ending, last.unwrap_or(1))?;
        }
        record(self.events[1], self.stream)?;
        // Behind the loop, so that the GPU has something to do while they are launched.
        if let Some(filled) = fills {
            let is_check = checks && launch.is_all_filled();
            self.fill_log(launch, filled, is_check.then_some(ending.packed))?;
        }
        if checks && !is_early && !launch.is_all_filled() {
            self.start_check(launch, ending, last.unwrap_or(1))?;
        }
        let is_timed = checks && !is_early || fills.is_some();
        if is_timed {
            record(self.events[2], self.stream)?;
        }
        // SAFETY: the buffer holds the counters and results, and its tables have been copied when this copy begins.
        unsafe {
            check(
                sys::cuMemcpyDtoHAsync_v2(
                    ending.tables.cast(),
                    ending.packed.0,
                    looked.map_or(ending.back, |(bytes, _)| bytes),
                    self.stream,
                ),
                "copying results",
                0,
            )?;
            if let Some((bytes, bits)) = looked {
                let to = ending.tables.add(bytes).cast();
                check(sys::cuMemcpyDtoHAsync_v2(to, launch.wr.0, bits, self.stream), "copying bits", 0)?;
            }
        }
        let stop_word = ending.packed.0 + AT_STOP as u64 * 8;
        self.await_stream(launch.limit, launch.stop, stop_word, &mut ending.told, false)?;
        let (mut execute, mut checking, mut flags) = (0f32, 0f32, 0u64);
        // SAFETY: the events are ours and complete; so is the copy.
        unsafe {
            check(
                sys::cuEventElapsedTime_v2(&mut execute, self.events[0], self.events[1]),
                "cuEventElapsedTime",
                0,
            )?;
            if is_timed {
                let (from, to) = (self.events[1], self.events[2]);
                check(sys::cuEventElapsedTime_v2(&mut checking, from, to), "cuEventElapsedTime", 0)?;
            }
            std::ptr::copy_nonoverlapping(ending.tables.cast::<u64>().add(AT_FLAGS), &mut flags, 1);
        }
        let execute = f64::from(execute) * 1e6;
        ending.execute_ns += execute;
        ending.check_ns += f64::from(checking) * 1e6;
        if flags as u32 == 0 {
            // Whether it was late or not: nobody has given up.
            let _ = launch.stop.compare_exchange(TIME_IS_UP, 0, Ordering::SeqCst, Ordering::SeqCst);
        }
        match flags as u32 {
            0 => pace.waited(execute),
            // It says nothing of their speed.
            _ => pace.stopped(),
        }
        Ok(launch.stop.load(Ordering::Relaxed) == 0 && flags as u32 == 0)
    }

    /// Waits for all that is under way. The stop word is handed on meanwhile to where kernels look (`stop_word`, on the GPU; then `told` is set), and becomes set itself when they take longer than
    /// `limit`: all that has been launched behind the first event or, for `each`, whichever began last, of those that say so.
    pub(super) fn await_stream(
        &mut self,
        limit: Duration,
        stop: &AtomicU32,
        stop_word: u64,
        told: &mut bool,
        each: bool,
    ) -> Result<(), DeviceError> {
        let mut begun: Option<Instant> = None;
        // SAFETY: the stream is ours.
        let state = || unsafe { sys::cuStreamQuery(self.stream) } as u32;
        loop {
            match state() {
                600 => {}
                0 => break,
                _ => {
                    self.wait()?;
                    return Err(DeviceError::Lost("the GPU's stream failed".into()));
                }
            }
            // What is done before is not the launch's time: copies that were queued, code and memory that the driver makes ready.
            if begun.is_none() || each {
                // A kernel that says so itself, by a store to the host's memory, takes a tenth of a microsecond more.
                // SAFETY: both are ours: a word in mapped memory, and an event that has been recorded.
                let has_begun = unsafe {
                    match each {
                        true => std::ptr::read_volatile(self.begun.0) != 0,
                        false => sys::cuEventQuery(self.events[0]) as u32 == 0,
                    }
                };
                if has_begun {
                    begun = Some(Instant::now());
                    if each {
                        // The next one says so, too.
                        // SAFETY: as above.
                        unsafe { std::ptr::write_volatile(self.begun.0, 0) };
                    }
                }
            }
            // It may have ended while this thread was waiting for a processor.
            if begun.is_some_and(|begun| begun.elapsed() > limit) && state() == 600 {
                let _ = stop.compare_exchange(0, TIME_IS_UP, Ordering::SeqCst, Ordering::SeqCst);
            }
            let why = stop.load(Ordering::Relaxed);
            // Before it has begun, its tables would be copied over the word.
            if why != 0 && begun.is_some() && !*told {
                *told = true;
                // SAFETY: pinned memory of ours, which no copy is reading, and a word of the buffer.
                unsafe {
                    self.told.write_volatile(why);
                    check(
                        sys::cuMemcpyHtoDAsync_v2(stop_word, self.told.cast(), 4, self.control),
                        "stopping",
                        0,
                    )?;
                }
            }
            std::thread::yield_now();
        }
        self.copies_much = false;
        if *told {
            // SAFETY: the stream is ours.
            check(unsafe { sys::cuStreamSynchronize(self.control) }, "stopping", 0)?;
        }
        Ok(())
    }

    /// A launch of all iterations whose words are in `packed`, and nothing behind them.
    pub(super) fn raw(&self, launch: &Launch<'_>, packed: DevicePtr, order: Option<DevicePtr>) -> RawLaunch {
        let no_tables = self.blank.tables();
        RawLaunch {
            regions: no_tables,
            anchors: no_tables,
            bases: no_tables,
            values: no_tables,
            results: no_tables,
            flags: packed.0 + AT_FLAGS as u64 * 8,
            stop: packed.0 + AT_STOP as u64 * 8,
            total: no_tables,
            n_regions: 0,
            order: order.map_or(0, |order| order.0),
            ..launch.raw()
        }
    }

    /// How many of a launch's places (iterations, or rows of tiles) the GPU has threads for at once.
    pub(super) fn wave(&self, launch: &Launch<'_>, kernel: Loaded, tiles: Option<&Tiles>) -> f64 {
        // Sorted rows have as many lanes as can be where one is much longer than others: no reason for smaller portions.
        let lanes =
            if launch.kernel.sorted { launch.kernel.spread.min(WIDEST / 2) } else { launch.kernel.spread };
        let threads = f64::from(self.outline.processors * kernel.resident * kernel.block);
        match tiles {
            Some(tiles) => threads / (tiles.columns * u64::from(BLOCK)) as f64,
            None => threads * f64::from(launch.kernel.group.1) / f64::from(lanes),
        }
    }

    /// The blocks for places from `at` on, `most` of them at most; the row and the layer that they begin with, and how many they are.
    pub(super) fn grid(
        &self,
        launch: &Launch<'_>,
        kernel: Loaded,
        tiles: Option<&Tiles>,
        at: u64,
        most: u64,
    ) -> (Grid, (u32, u32), u64) {
        if let Some(tiles) = tiles {
            return tiles.next(at, most);
        }
        let rounds = match launch.info.n_results {
            _ if launch.portion != 0 => ROUNDS_OF_PORTIONS,
            0 => ROUNDS,
            _ => ROUNDS_OF_RESULTS,
        };
        let threads = most * u64::from(launch.kernel.spread);
        (self.line(kernel, threads, launch.kernel.group.1, rounds), (0, 0), most)
    }
}

/// Whether somebody looks at a launch's logs.
fn checks(launch: &Launch<'_>) -> bool {
    launch.method().detects() && !launch.settles
}

/// The pace of a kernel: its own, or what is expected of it where nobody has launched it; `longest` is [`Launch::longest`], `work` of [`abi::Info`].
fn pace_for(
    paces: &HashMap<(usize, Specialisation), Pace>,
    which: (usize, Specialisation),
    wave: f64,
    longest: Option<(u64, bool)>,
    work: u64,
) -> Pace {
    let by_turns = || longest.map(|(longest, are_counted)| Pace::by_turns(longest, are_counted, work));
    match paces.get(&which) {
        Some(pace) => *pace,
        None => expected(paces, which, wave).or_else(by_turns).unwrap_or_default(),
    }
}

/// Of iterations that lanes run together, those of whole blocks: lanes of a warp that isn't complete run each by itself.
fn of_whole_blocks(most: u64, left: u64) -> u64 {
    let block = u64::from(BLOCK);
    if most < left && most > block { most / block * block } else { most }
}

/// What is expected of a kernel that nobody has timed, where a wave has so many places: by the slowest kernel that does the same and more.
fn expected(
    paces: &HashMap<(usize, Specialisation), Pace>,
    (loop_key, kernel): (usize, Specialisation),
    wave: f64,
) -> Option<Pace> {
    let others = paces.iter().filter(|((key, other), _)| *key == loop_key && kernel.does_part_of(other));
    let known = others.filter_map(|(_, pace)| Some((pace.place_ns()?, pace.of_part(wave)?)));
    known.max_by(|(a, _), (b, _)| a.total_cmp(b)).map(|(_, pace)| pace)
}

/// What launches leave behind: where it is on the GPU and where it is copied to, so many bytes, and the nanoseconds that they and
/// their check took.
pub(super) struct Ending {
    pub(super) packed: DevicePtr,
    pub(super) totals: u64,
    /// Where the arrays are that have a log, and how many they are: [`buffered::arrays`](super::buffered::arrays).
    pub(super) arrays: (u64, u32),
    tables: *mut u8,
    back: usize,
    /// Where the host looks at logs itself: bytes of all the launch's words, which are copied there instead, and of the bits that come behind them.
    looked: Option<(usize, usize)>,
    /// Whether the kernels' stop word has been set.
    told: bool,
    /// Whether iterations of the first of several launches have met.
    met: bool,
    execute_ns: f64,
    check_ns: f64,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::device::LogMethod;

    #[test]
    fn portions_of_rows_end_with_blocks() {
        assert_eq!(of_whole_blocks(1000, 5000), 768);
        assert_eq!((of_whole_blocks(1000, 1000), of_whole_blocks(100, 5000)), (1000, 100));
    }

    #[test]
    fn kernels_are_expected_to_be_as_fast_as_the_slowest_that_does_more() {
        let checked = Specialisation::none(LogMethod::None);
        let logged = Specialisation::none(LogMethod::Bitmap);
        let unchecked = Specialisation { inside: 0b1, ..checked };
        let timed = |ns: f64| {
            let mut pace = Pace::default();
            pace.launched(100, 100.0);
            pace.waited(ns);
            pace
        };
        let mut paces = HashMap::new();
        // Another loop's kernels say nothing, nor do those that were launched and stopped.
        paces.insert((2, checked), timed(1e3));
        paces.insert((1, logged), Pace::default());
        assert!(expected(&paces, (1, unchecked), 100.0).is_none());
        paces.insert((1, checked), timed(1e3));
        let next = |paces: &HashMap<_, _>, kernel| {
            expected(paces, (1, kernel), 100.0).map(|pace| pace.next(1_000_000, 100.0))
        };
        assert_eq!(next(&paces, unchecked), Some(1600));
        // A millisecond for each wave, at most four: of twenty that are wanted five waves.
        paces.insert((1, logged), timed(1e6));
        assert_eq!(next(&paces, unchecked), Some(500));
        // So by turns only if nothing else is known: 0.3 milliseconds for each wave, sixteen of them. What was stopped begins with one.
        let turns = |paces: &HashMap<_, _>, kernel| {
            pace_for(paces, (1, kernel), 100.0, Some((200, true)), 1000).next(1_000_000, 100.0)
        };
        assert_eq!(turns(&paces, unchecked), 500);
        assert_eq!(turns(&HashMap::new(), unchecked), 1600);
        assert_eq!(pace_for(&paces, (3, checked), 100.0, None, 1000).next(1_000_000, 100.0), 100);
        let stopped = HashMap::from([((1, checked), Pace::default())]);
        assert_eq!(turns(&stopped, checked), 100);
        // What has been timed without checks says nothing of those that check.
        paces.remove(&(1, checked));
        paces.insert((1, unchecked), timed(1e3));
        assert_eq!(next(&paces, checked), Some(500));
        paces.remove(&(1, logged));
        assert_eq!(next(&paces, checked), None);
    }
}
