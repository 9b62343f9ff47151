//! A loop's entry as it takes to run the loop again when the entry itself is long gone: its numbers, and the code that its object has for the program's own memory.

use crate::abi::{Access, Base, Entry, Info, PG_MAX_DIMS, Pin, Value};
use crate::floating_point::Flushing;
use crate::memory::tracking::Range;
use crate::speculation::parts::Running;

/// See the module.
#[derive(Debug)]
pub struct Again {
    info: Info,
    /// Where the object has that: the loop is known by it.
    of: u64,
    trip: [i64; PG_MAX_DIMS],
    values: Box<[Value]>,
    results: Box<[Value]>,
    bases: Box<[Base]>,
    accesses: Box<[Access]>,
    pins: Box<[Pin]>,
    flushing: Flushing,
}

impl PartialEq for Again {
    fn eq(&self, other: &Again) -> bool {
        let Again { info: _, of, trip, values, results, bases, accesses, pins, flushing } = self;
        (*of, *trip, *flushing) == (other.of, other.trip, other.flushing)
            && (values, results, bases, accesses, pins)
                == (&other.values, &other.results, &other.bases, &other.accesses, &other.pins)
    }
}

impl Again {
    /// Of an entry on the calling thread.
    ///
    /// # Safety
    /// The entry was filled in by generated code for `info`, and is alive.
    pub unsafe fn of(info: &Info, entry: &Entry) -> Again {
        // SAFETY: promised by the caller.
        unsafe {
            Again {
                info: *info,
                of: std::ptr::from_ref(info) as u64,
                trip: entry.trip,
                values: entry.values(info).into(),
                results: entry.results(info).into(),
                bases: entry.bases(info).into(),
                accesses: entry.accesses(info).into(),
                pins: entry.pins(info).into(),
                flushing: Flushing::of_caller(),
            }
        }
    }

    /// Some of each piece of the object that has to be loaded as long as it may be run.
    pub fn code(&self) -> Vec<Range> {
        [self.of, self.info.direct as usize as u64].map(|at| (at, at + 1)).into()
    }

    /// Runs it on the program's memory, in source order. Its results and floating-point flags are what they were; nobody wants them.
    ///
    /// # Safety
    /// Its memory is there, has what it had at the entry, and is the caller's to change; its object is loaded.
    pub unsafe fn run(&self) {
        let (mut values, mut bases, mut accesses, mut pins) =
            (self.values.to_vec(), self.bases.to_vec(), self.accesses.to_vec(), self.pins.to_vec());
        let mut results = self.results.to_vec();
        let entry = Entry {
            info: &raw const self.info,
            trip: self.trip,
            values: values.as_mut_ptr(),
            results: results.as_mut_ptr(),
            bases: bases.as_mut_ptr(),
            accesses: accesses.as_mut_ptr(),
            pins: pins.as_mut_ptr(),
        };
        let mut running = Running::new(&self.info, &self.results);
        // SAFETY: promised by the caller; the entry is as generated code has made it.
        self.flushing.raised_by(|| unsafe { running.run(&self.info, &entry, 0, self.trip[0]) });
    }
}
