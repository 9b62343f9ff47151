//! The way between pinned slots and the GPU's memory. What goes through which slot, and when, is in `staging.rs`.

use super::check;
use super::staging::{self, SLOT, Way};
use crate::device::{DeviceError, DevicePtr};
use cudarc::driver::sys;
use std::ffi::c_void;

/// The way of pinned slots to the GPU and back; an event for each slot.
pub(super) struct Link {
    pub(super) stream: sys::CUstream,
    pub(super) memory: *mut u8,
    pub(super) events: Vec<sys::CUevent>,
}

// SAFETY: as for `Cuda`, whose part it is.
unsafe impl Send for Link {}

impl staging::Link for Link {
    fn queue(&mut self, slot: usize, device: DevicePtr, bytes: usize, way: Way) -> Result<(), DeviceError> {
        let memory = self.memory.wrapping_add(slot * SLOT).cast::<c_void>();
        // SAFETY: a slot of ours and memory of the GPU's that the caller has allocated; nobody touches either before the event.
        unsafe {
            let status = match way {
                Way::In => sys::cuMemcpyHtoDAsync_v2(device.0, memory, bytes, self.stream),
                Way::Out => sys::cuMemcpyDtoHAsync_v2(memory, device.0, bytes, self.stream),
            };
            check(status, "copying", bytes as u64)?;
            // Nobody would know when the slot is free again.
            let lost = |error| DeviceError::Lost(format!("a copy under way: {error}"));
            check(sys::cuEventRecord(self.events[slot], self.stream), "cuEventRecord", 0).map_err(lost)
        }
    }

    fn is_done(&mut self, slot: usize) -> Result<bool, DeviceError> {
        // SAFETY: the event is ours; before its first record it counts as complete.
        match unsafe { sys::cuEventQuery(self.events[slot]) } as u32 {
            0 => Ok(true),
            600 => Ok(false),
            code => Err(DeviceError::Lost(format!("copying: error {code}"))),
        }
    }
}
