//! What a launch that reads nothing but its parameters has in the GPU's memory: the words in which it would say that it has failed, and
//! the one that tells it to stop. They are zero from launch to launch, so nothing has to be copied in front of one; what a launch has left
//! there, or may have, is cleared in front of the next.

use super::{COUNTERS, DeviceError, DevicePtr, check};
use crate::abi;
use cudarc::driver::sys;

/// Where others have tables. Nobody looks there; what threads would count has room all the same.
const AT_TABLES: usize = 256;

/// See the module.
pub struct Blank {
    start: DevicePtr,
    is_zero: bool,
}

impl Blank {
    /// Takes memory, which is never given back.
    pub fn new() -> Result<Blank, DeviceError> {
        let bytes = AT_TABLES + abi::PG_TOTALS * abi::PG_TOTALS_APART * 8;
        let mut start = 0;
        // SAFETY: a driver call with a pointer to a local variable.
        check(unsafe { sys::cuMemAlloc_v2(&mut start, bytes) }, "cuMemAlloc", bytes as u64)?;
        Ok(Blank { start: DevicePtr(start), is_zero: false })
    }

    /// Where a launch's words begin.
    pub fn start(&self) -> DevicePtr {
        self.start
    }

    /// Where its tables would be.
    pub fn tables(&self) -> u64 {
        self.start.0 + AT_TABLES as u64
    }

    /// In front of a launch: queues the clearing, unless it is known that all is zero. From here on it isn't.
    pub fn clear(&mut self, stream: sys::CUstream) -> Result<(), DeviceError> {
        if std::mem::take(&mut self.is_zero) {
            return Ok(());
        }
        // SAFETY: memory of ours, which no kernel is using now.
        let status = unsafe { sys::cuMemsetD32Async(self.start.0, 0, 2 * COUNTERS, stream) };
        check(status, "filling", 0)
    }

    /// The launch has ended with these words, and has been told to stop or not: that word may have come later.
    pub fn ended(&mut self, words: &[u64; COUNTERS], told: bool) {
        self.is_zero = !told && *words == [0; COUNTERS];
    }
}
