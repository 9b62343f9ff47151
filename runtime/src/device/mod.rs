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
use crate::speculation::inspector::Schedule;
use std::sync::atomic::AtomicU32;

pub mod cuda;
pub mod pool;
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
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[allow(missing_docs)]
#[repr(u32)]
pub enum LogMethod {
    None = 0,
    Mark = 1,
    Atomic = 2,
    Reduction = 3,
}

/// What a kernel is compiled for: another one is needed where a launch differs in any of it. Masks have a bit for each of the
/// first 64 bases. What a device doesn't make use of it ignores.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Specialisation {
    /// Instrumentation.
    pub method: LogMethod,
    /// Bases whose accesses are all shown to stay in their array, aligned: [`Placement::bounded`].
    ///
    /// [`Placement::bounded`]: crate::memory::placement::Placement::bounded
    pub bounded: u64,
    /// Those of them whose array nothing stores to.
    pub constant: u64,
    /// Whether iterations can be counted in 31 bits.
    pub narrow: bool,
    /// Whether the launch has an order of iterations.
    pub ordered: bool,
    /// The dimensions that go with x and y of a grid which has a thread for each iteration:
    /// [`Placement::tile`](crate::memory::placement::Placement::tile).
    pub tile: Option<(u8, u8)>,
}

impl Specialisation {
    /// A kernel for whatever there may be.
    pub fn none(method: LogMethod) -> Specialisation {
        Specialisation { method, bounded: 0, constant: 0, narrow: false, ordered: false, tile: None }
    }
}

/// What one launch needs; the host-side form of `struct __pg_launch`. The device copies the tables to where its
/// kernels can read them.
pub struct Launch<'a> {
    /// Static facts of the loop.
    pub info: &'a abi::Info,
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
    /// Read log, null where not needed.
    pub rd: DevicePtr,
    /// Cells in each log.
    pub cells: u64,
    /// log2 of the bytes of a cell.
    pub log_shift: u32,
    /// What is known of the launch.
    pub kernel: Specialisation,
    /// Where iterations depend on each other: the order that keeps their dependences.
    pub schedule: Option<&'a Schedule>,
    /// Becomes nonzero when the launch is to give up. It outlives the launch.
    pub stop: &'a AtomicU32,
    /// Parts that the iterations are run in; 0: each by itself. Such loops have no schedule.
    pub n_parts: u64,
    /// Iterations of dimension 0 in each block of parts.
    pub block: u64,
}

impl Launch<'_> {
    /// Instrumentation.
    pub fn method(&self) -> LogMethod {
        self.kernel.method
    }

    /// The iterations in portions that run one after the other: for each, where its list begins in the schedule's order, and
    /// how many it has. Without a schedule all iterations, or parts, are one portion.
    pub fn portions(&self) -> Vec<(usize, u64)> {
        match self.schedule {
            Some(schedule) => schedule.levels().map(|level| (level.start, level.len() as u64)).collect(),
            None if self.n_parts != 0 => vec![(0, self.n_parts)],
            None => vec![(0, self.n)],
        }
    }
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
    /// Nanoseconds in the execution kernel and in the checking kernel.
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
    /// Gives memory back.
    fn free(&mut self, pointer: DevicePtr);
    /// Copies host memory in. The host range may turn out to be unmapped, which is an error, not a fault.
    fn copy_in(&mut self, host: u64, bytes: u64, to: DevicePtr) -> Result<(), DeviceError>;
    /// Copies device memory into a buffer of ours.
    fn copy_out(&mut self, from: DevicePtr, to: &mut [u8]) -> Result<(), DeviceError>;
    /// Copies device memory to another place on the device.
    fn duplicate(&mut self, from: DevicePtr, to: DevicePtr, bytes: u64) -> Result<(), DeviceError>;
    /// Sets `bytes` bytes (a multiple of 4; address too) to repeated `word`.
    fn fill(&mut self, to: DevicePtr, word: u32, bytes: u64) -> Result<(), DeviceError>;
    /// Prepares one of the loop's kernels; may take long the first time (compilation).
    fn prepare(&mut self, info: &abi::Info, kernel: Specialisation) -> Result<(), DeviceError>;
    /// Runs all iterations (execution kernel), then, for the atomic and reduction methods and unless it failed
    /// already, the checking kernel over the logs. Blocks until the device is idle again.
    fn run(&mut self, launch: &mut Launch<'_>) -> Result<Outcome, DeviceError>;
}
