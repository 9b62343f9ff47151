//! The conflict-management thread (the chapter, section 4.5.2): one thread of ours that drives the devices.
//!
//! It takes a [`Job`], which owns all that it needs (the loop's entry lives on the caller's stack and may be gone before a
//! slow device has stopped), copies data in, runs the kernel and its check, copies the written elements back into buffers of
//! ours, and reports. It never stores into the program's memory: only the calling thread does, in `commit`.
//!
//! Order matters: what the loop may write is copied first, and only then may the worker start, because the worker
//! stores into the very memory that is copied.

use super::commit::{Pieces, written_pieces};
use crate::abi::{Info, PG_MANY, Region, Value};
use crate::device::threads::ThreadsDevice;
use crate::device::{Device, DeviceError, DevicePtr, Launch, LogMethod, Outcome};
use crate::memory::placement::Placement;
use crossbeam_channel::{Receiver, Sender, unbounded};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU32, Ordering};
use std::time::Instant;

/// Which device a job is for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[allow(missing_docs)]
pub enum Kind {
    Threads,
    Cuda,
}

/// One run of a loop on a device.
pub struct Job {
    /// The loop.
    pub info: &'static Info,
    /// Where.
    pub kind: Kind,
    /// Iterations of each dimension.
    pub trip: [i64; crate::abi::PG_MAX_DIMS],
    /// The arrays.
    pub placement: Placement,
    /// Pointers of the bases.
    pub bases: Vec<u64>,
    /// Live-ins and invariants.
    pub values: Vec<Value>,
    /// Identities of reductions.
    pub results: Vec<Value>,
    /// Instrumentation.
    pub method: LogMethod,
    /// Log cells of pinned memory.
    pub pinned: Vec<(u64, u64)>,
    /// What is written completely, where that is known.
    pub dense: Option<Vec<(u64, u64)>>,
    /// Set to make the device give up.
    pub stop: Arc<AtomicU32>,
    /// Set by the thread when its result is ready, so that the worker stops.
    pub worker_stop: Arc<AtomicU32>,
    /// Where progress is reported.
    pub events: Sender<Event>,
}

/// Progress of a job.
pub enum Event {
    /// The device has its own copy of everything that the worker may overwrite.
    WorkerMayStart,
    /// It is over.
    Done(Box<Report>),
}

/// What came of a job.
#[derive(Default)]
pub struct Report {
    /// Set when the device could not do it.
    pub error: Option<DeviceError>,
    /// What the launch and its check said.
    pub outcome: Outcome,
    /// After success: what the loop wrote.
    pub pieces: Pieces,
    /// After success: reductions (partials over all iterations) and last values.
    pub results: Vec<Value>,
    /// Bytes and nanoseconds of copies.
    pub bytes_in: u64,
    /// See `bytes_in`.
    pub bytes_out: u64,
    /// See `bytes_in`.
    pub copy_in_ns: u64,
    /// See `bytes_in`.
    pub copy_out_ns: u64,
}

/// Whether CUDA can be used.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u8)]
pub enum CudaState {
    /// Nobody has asked yet.
    Unknown = 0,
    /// The driver is being initialised.
    Opening = 1,
    /// Ready.
    Ready = 2,
    /// No driver, no device, or it was lost.
    Absent = 3,
}

enum Message {
    Run(Box<Job>),
    OpenCuda,
}

/// The handle that calling threads hold.
pub struct Cmt {
    messages: Sender<Message>,
    busy: Arc<AtomicBool>,
    cuda: Arc<AtomicU8>,
}

impl Cmt {
    /// Starts the thread. `None` when no thread can be had.
    pub fn start(threads: usize) -> Option<Cmt> {
        let (messages, inbox) = unbounded();
        let busy = Arc::new(AtomicBool::new(false));
        let cuda = Arc::new(AtomicU8::new(CudaState::Unknown as u8));
        let mut state = Thread {
            threads: ThreadsDevice::new(threads),
            cuda: None,
            cuda_state: cuda.clone(),
            busy: busy.clone(),
        };
        // Signals belong to the program's own threads.
        let blocked = BlockSignals::new();
        let started =
            std::thread::Builder::new().name("paragon-cmt".into()).spawn(move || state.serve(&inbox)).is_ok();
        drop(blocked);
        started.then_some(Cmt { messages, busy, cuda })
    }
    /// Whether a job is still under way (an abandoned one, after the worker has won).
    pub fn busy(&self) -> bool {
        self.busy.load(Ordering::Acquire)
    }
    /// Whether CUDA can be used.
    pub fn cuda_state(&self) -> CudaState {
        match self.cuda.load(Ordering::Acquire) {
            0 => CudaState::Unknown,
            1 => CudaState::Opening,
            2 => CudaState::Ready,
            _ => CudaState::Absent,
        }
    }
    /// Initialises CUDA in the background.
    pub fn open_cuda(&self) {
        let unknown = CudaState::Unknown as u8;
        if self
            .cuda
            .compare_exchange(unknown, CudaState::Opening as u8, Ordering::AcqRel, Ordering::Acquire)
            .is_ok()
        {
            let _ = self.messages.send(Message::OpenCuda);
        }
    }
    /// Gives the thread a job. False if it is busy or gone.
    pub fn submit(&self, job: Job) -> bool {
        if self.busy.swap(true, Ordering::AcqRel) {
            return false;
        }
        if self.messages.send(Message::Run(Box::new(job))).is_err() {
            self.busy.store(false, Ordering::Release);
            return false;
        }
        true
    }
}

/// Blocks all signals in the calling thread while it lives.
struct BlockSignals(libc::sigset_t);

impl BlockSignals {
    fn new() -> BlockSignals {
        // SAFETY: plain signal-mask calls on local variables.
        unsafe {
            let mut all: libc::sigset_t = std::mem::zeroed();
            let mut old: libc::sigset_t = std::mem::zeroed();
            libc::sigfillset(&mut all);
            libc::pthread_sigmask(libc::SIG_SETMASK, &all, &mut old);
            BlockSignals(old)
        }
    }
}

impl Drop for BlockSignals {
    fn drop(&mut self) {
        // SAFETY: restores the mask that `new` saved.
        unsafe { libc::pthread_sigmask(libc::SIG_SETMASK, &self.0, std::ptr::null_mut()) };
    }
}

struct Thread {
    threads: ThreadsDevice,
    cuda: Option<Box<dyn Device>>,
    cuda_state: Arc<AtomicU8>,
    busy: Arc<AtomicBool>,
}

impl Thread {
    fn serve(&mut self, inbox: &Receiver<Message>) {
        while let Ok(message) = inbox.recv() {
            match message {
                Message::OpenCuda => {
                    let _ = self.cuda();
                }
                Message::Run(job) => {
                    let events = job.events.clone();
                    let run = std::panic::AssertUnwindSafe(|| self.run(*job));
                    let report = std::panic::catch_unwind(run).unwrap_or_else(|_| Report {
                        error: Some(DeviceError::Lost("internal error".into())),
                        ..Report::default()
                    });
                    self.busy.store(false, Ordering::Release);
                    let _ = events.send(Event::Done(Box::new(report)));
                }
            }
        }
    }

    fn cuda(&mut self) -> Result<&mut dyn Device, DeviceError> {
        if self.cuda.is_none() {
            if self.cuda_state.load(Ordering::Acquire) == CudaState::Absent as u8 {
                return Err(DeviceError::Lost("no CUDA device".into()));
            }
            match crate::device::cuda::open() {
                Ok(device) => {
                    self.cuda = Some(device);
                    self.cuda_state.store(CudaState::Ready as u8, Ordering::Release);
                }
                Err(error) => {
                    self.cuda_state.store(CudaState::Absent as u8, Ordering::Release);
                    return Err(error);
                }
            }
        }
        match &mut self.cuda {
            Some(device) => Ok(device.as_mut()),
            None => Err(DeviceError::Lost("no CUDA device".into())),
        }
    }

    fn run(&mut self, mut job: Job) -> Report {
        let mut report = Report::default();
        let mut allocated = Vec::new();
        let result = match job.kind {
            Kind::Threads => drive(&mut self.threads, &mut job, &mut report, &mut allocated),
            Kind::Cuda => self.cuda().and_then(|device| drive(device, &mut job, &mut report, &mut allocated)),
        };
        let device: Option<&mut dyn Device> = match job.kind {
            Kind::Threads => Some(&mut self.threads),
            Kind::Cuda => match &mut self.cuda {
                Some(device) => Some(device.as_mut()),
                None => None,
            },
        };
        if let Some(device) = device {
            for pointer in allocated {
                device.free(pointer);
            }
        }
        match result {
            Ok(()) if report.outcome.fail == 0 => job.worker_stop.store(1, Ordering::Release),
            Ok(()) => {}
            Err(error) => {
                if matches!(error, DeviceError::Lost(_)) && job.kind == Kind::Cuda {
                    self.cuda_state.store(CudaState::Absent as u8, Ordering::Release);
                    self.cuda = None;
                }
                report.error = Some(error);
            }
        }
        report
    }
}

/// The way of a job through a device.
fn drive(
    device: &mut dyn Device,
    job: &mut Job,
    report: &mut Report,
    allocated: &mut Vec<DevicePtr>,
) -> Result<(), DeviceError> {
    let n = job.trip.iter().try_fold(1u64, |n, t| n.checked_mul(*t as u64)).unwrap_or(u64::MAX);
    let started = Instant::now();
    let mut regions: Vec<Region> = job.placement.regions.clone();
    for region in &mut regions {
        // The same place within a cache line on both sides, so that alignment is the same.
        let pointer = device.allocate(region.size + 64)?;
        allocated.push(pointer);
        region.dev = pointer.0 + (region.lo & 63);
    }
    for written in [true, false] {
        for (region, is_written) in regions.iter().zip(&job.placement.written) {
            if *is_written == written {
                device.copy_in(region.lo, region.size, DevicePtr(region.dev))?;
                report.bytes_in += region.size;
            }
        }
        if written {
            let _ = job.events.send(Event::WorkerMayStart);
        }
    }
    device.prepare(job.info, job.method)?;
    let cells = job.placement.cells;
    let mut logs = (DevicePtr(0), DevicePtr(0));
    if cells != 0 && job.method != LogMethod::None {
        logs.0 = device.allocate(cells * 4)?;
        allocated.push(logs.0);
        device.fill(logs.0, 0, cells * 4)?;
        if job.method != LogMethod::Mark {
            logs.1 = device.allocate(cells * 4)?;
            allocated.push(logs.1);
            device.fill(logs.1, 0, cells * 4)?;
            for (first, end) in &job.pinned {
                device.fill(DevicePtr(logs.1.0 + first * 4), PG_MANY, (end - first) * 4)?;
            }
        }
    }
    report.copy_in_ns = started.elapsed().as_nanos() as u64;
    let mut launch = Launch {
        info: job.info,
        n,
        trip: job.trip.map(|t| t as u64),
        regions: &regions,
        anchors: &job.placement.anchors,
        bases: &job.bases,
        values: &job.values,
        results: &mut job.results,
        wr: logs.0,
        rd: logs.1,
        cells,
        log_shift: job.placement.log_shift,
        method: job.method,
        stop: &job.stop,
    };
    report.outcome = device.run(&mut launch)?;
    if report.outcome.fail != 0 || job.stop.load(Ordering::Relaxed) != 0 {
        return Ok(());
    }
    let started = Instant::now();
    match (&job.dense, job.method) {
        (Some(ranges), _) => {
            for &(lo, hi) in ranges {
                let Some(index) = job.placement.region_of(lo) else { continue };
                let mut data = vec![0u8; (hi - lo) as usize];
                device.copy_out(DevicePtr(regions[index].dev + (lo - regions[index].lo)), &mut data)?;
                report.bytes_out += hi - lo;
                report.pieces.pieces.push((lo, data));
            }
        }
        (None, _) => {
            for (index, region) in regions.iter().enumerate().filter(|(i, _)| job.placement.written[*i]) {
                let (first, end) = job.placement.cells_of(index, region.lo & !63, region.lo + region.size);
                let mut log = vec![0u32; (end - first) as usize];
                // SAFETY: a vector of words seen as its bytes.
                let bytes =
                    unsafe { std::slice::from_raw_parts_mut(log.as_mut_ptr().cast::<u8>(), log.len() * 4) };
                device.copy_out(DevicePtr(logs.0.0 + first * 4), bytes)?;
                if log.iter().all(|w| *w == 0) {
                    continue;
                }
                let mut data = vec![0u8; region.size as usize];
                device.copy_out(DevicePtr(region.dev), &mut data)?;
                report.bytes_out += region.size + log.len() as u64 * 4;
                written_pieces(&job.placement, index, &log, data, &mut report.pieces);
            }
        }
    }
    report.copy_out_ns = started.elapsed().as_nanos() as u64;
    report.results = std::mem::take(&mut job.results);
    Ok(())
}
