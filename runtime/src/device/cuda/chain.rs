//! Loops that follow each other on the GPU while nobody waits for any of them: each is launched behind the one before, and only the last one is waited for. They share the words in
//! which a launch says that it has failed, so it isn't known which one did: whoever launches them has to have all of them run again then. What a launch behind a failed one loads may be
//! anything, so its kernel has to check all addresses that come from memory.
//!
//! What needs more than its parameters, leaves results or a log, or hasn't been timed yet is no part of such a chain: it is run by itself (`launches`).

use super::grids::Tiles;
use super::kernels::Loaded;
use super::pace::Pace;
use super::{AT_FLAGS, AT_STOP, COUNTERS, Cuda, check, tables};
use crate::abi::{self, RawLaunch};
use crate::device::collected::Rooms;
use crate::device::{DeviceError, Launch, Specialisation, TIME_IS_UP};
use cudarc::driver::sys;
use std::ffi::c_void;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

/// Most launches of a chain.
const MOST: u32 = 64;
/// Nanoseconds that a chain is expected to take at most: what passes between two of them is a hundredth of it.
const MOST_NS: f64 = 2e6;
/// A chain that takes so many times as long says that its kernels aren't what they were timed at.
const LATE: f64 = 4.0;

/// Launches under way that nobody has waited for.
pub(super) struct Chain {
    launches: u32,
    /// Their kernels, each once.
    kernels: Vec<(usize, Specialisation)>,
    /// When the first one was launched.
    since: Instant,
    /// What they are expected to take together.
    expected_ns: f64,
    /// The shortest of their [`Launch::limit`]s.
    limit: Duration,
}

impl Chain {
    fn begin(limit: Duration) -> Chain {
        Chain { launches: 0, kernels: Vec::new(), since: Instant::now(), expected_ns: 0.0, limit }
    }

    fn has_room_for(&self, ns: f64) -> bool {
        self.launches < MOST && self.expected_ns + ns <= MOST_NS
    }
}

/// Whether a launch needs nothing but its parameters, and leaves nothing but what it stores.
pub(super) fn is_plain(launch: &Launch<'_>) -> bool {
    !launch.method().detects()
        && launch.results.is_empty()
        && launch.schedule.is_none()
        && launch.portion == 0
        && !launch.settles
        && !launch.info.has(abi::PG_LOOP_DYNAMIC)
        && tables::bytes(launch.info) <= tables::MOST_IN_PARAMETERS
}

impl Cuda {
    /// Launches a [plain](is_plain) loop behind the chain. False: it hasn't been timed, takes too long for that, or more than one launch.
    pub(super) fn launch_behind(
        &mut self,
        launch: &Launch<'_>,
        kernel: Loaded,
        rooms: &Rooms,
    ) -> Result<bool, DeviceError> {
        let tiles = launch.kernel.tile.map(|tile| Tiles::new(&launch.trip, tile, &launch.kernel));
        let wave = self.wave(launch, kernel, tiles.as_ref());
        let places = tiles.map_or(launch.n, |tiles| tiles.rows * tiles.layers);
        let which = (launch.loop_key, launch.kernel);
        let pace = self.paces.get(&which);
        let Some(ns) = pace.and_then(|pace| pace.of_all(places, wave)).filter(|ns| *ns <= MOST_NS) else {
            return Ok(false);
        };
        let (grid, (first_row, first_layer), done) = self.grid(launch, kernel, tiles.as_ref(), 0, places);
        if done != places {
            return Ok(false);
        }
        if self.chain.as_ref().is_some_and(|chain| !chain.has_room_for(ns))
            && !self.await_chain(launch.stop)?
        {
            return Err(broken());
        }
        if self.chain.is_none() {
            // SAFETY: the word is ours, and no kernel is using it now.
            unsafe { std::ptr::write_volatile(self.begun.0, 0) };
            self.blank.clear(self.stream)?;
        }
        let words = tables::words(launch, self.nowhere, rooms);
        let raw = self.raw(launch, self.blank.start(), None);
        let mut argument = RawLaunch { begun: self.begun.1, end: places, first_row, first_layer, ..raw };
        let second: *mut c_void = words.as_ptr().cast_mut().cast();
        // Whatever comes of this one, what is under way has to be waited for.
        let chain = self.chain.get_or_insert_with(|| Chain::begin(launch.limit));
        chain.launches += 1;
        if !chain.kernels.contains(&which) {
            chain.kernels.push(which);
        }
        chain.expected_ns += ns;
        chain.limit = chain.limit.min(launch.limit);
        self.start(kernel, grid, &mut [(&raw mut argument).cast(), second])?;
        Ok(true)
    }

    /// Waits for the chain. False: one of its loops has failed, or was told to stop.
    pub(super) fn await_chain(&mut self, stop: &AtomicU32) -> Result<bool, DeviceError> {
        let Some(chain) = self.chain.take() else { return Ok(true) };
        let result = self.await_launched(chain.limit, stop);
        // The next time they are launched by themselves, and timed: they have become slower, or something has come between them, as a kernel that had to be compiled. What fails begins
        // carefully, too.
        let is_late = chain.since.elapsed().as_nanos() as f64 > LATE * MOST_NS;
        if is_late || !matches!(result, Ok(true)) {
            for kernel in &chain.kernels {
                self.paces.entry(*kernel).and_modify(Pace::stopped);
            }
        }
        if result.is_err() {
            self.abandon();
        }
        result
    }

    fn await_launched(&mut self, limit: Duration, stop: &AtomicU32) -> Result<bool, DeviceError> {
        let mut told = false;
        let words = self.blank.start();
        let bytes = COUNTERS * 8;
        // SAFETY: both have so many bytes, and nobody uses these tables while nothing else is launched.
        let status = unsafe { sys::cuMemcpyDtoHAsync_v2(self.tables.cast(), words.0, bytes, self.stream) };
        check(status, "copying results", 0)?;
        // Each launch has so much time.
        self.await_stream(limit, stop, words.0 + AT_STOP as u64 * 8, &mut told, true)?;
        // SAFETY: the copy is complete.
        let counters: [u64; COUNTERS] = unsafe { self.tables.cast::<[u64; COUNTERS]>().read() };
        self.blank.ended(&counters, told);
        // Whether they were late or not, if none has given up: the word may be that of a loop that is still to come.
        if counters[AT_FLAGS] as u32 == 0 {
            let _ = stop.compare_exchange(TIME_IS_UP, 0, Ordering::SeqCst, Ordering::SeqCst);
        }
        Ok(counters[AT_FLAGS] as u32 == 0)
    }
}

/// What is launched behind a chain has nothing to start from.
pub(super) fn broken() -> DeviceError {
    DeviceError::Kernel("a loop before it has failed".into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_chain_is_neither_long_nor_slow() {
        let mut chain = Chain::begin(Duration::ZERO);
        chain.launches = MOST - 1;
        assert!(chain.has_room_for(MOST_NS) && !chain.has_room_for(MOST_NS * 1.01));
        chain.expected_ns = MOST_NS / 2.0;
        assert!(!chain.has_room_for(MOST_NS * 0.6));
        assert!(!Chain { launches: MOST, ..chain }.has_room_for(0.0));
    }
}
