//! Devices for tests of what is above devices: they do nothing but what a test asks about. No other code has such ones, whose silence would be taken for
//! success.

use super::{Device, DeviceError, DevicePtr, Launch, Outcome, Specialisation};
use crate::abi::Info;

/// What a test's device does. Without a method of its own it takes and gives nothing, has any kernel, and runs none.
#[allow(missing_docs, unused_variables)]
pub trait Scripted: Send {
    fn name(&self) -> &'static str {
        "scripted"
    }
    fn allocate(&mut self, bytes: u64) -> Result<DevicePtr, DeviceError>;
    fn copy_in(
        &mut self,
        pieces: &[(u64, u64, DevicePtr)],
        instead: &[(u64, u64, DevicePtr)],
    ) -> Result<(), DeviceError> {
        Ok(())
    }
    fn room_for_residents(&self) -> u64 {
        0
    }
    fn duplicate(&mut self, from: DevicePtr, to: DevicePtr) {}
    fn prepare(&mut self, kernel: Specialisation) -> Result<Specialisation, DeviceError> {
        Ok(kernel)
    }
    fn run(&mut self, launch: &mut Launch<'_>) -> Result<Outcome, DeviceError> {
        Err(DeviceError::Kernel("it runs nothing".into()))
    }
    fn run_behind(&mut self, launch: &Launch<'_>) -> Result<bool, DeviceError> {
        Ok(false)
    }
}

impl<T: Scripted> Device for T {
    fn name(&self) -> &'static str {
        Scripted::name(self)
    }
    fn allocate(&mut self, bytes: u64) -> Result<DevicePtr, DeviceError> {
        Scripted::allocate(self, bytes)
    }
    fn threads(&self) -> u64 {
        1
    }
    fn room_for_residents(&self) -> u64 {
        Scripted::room_for_residents(self)
    }
    fn free(&mut self, _: DevicePtr) {}
    fn copy_in(
        &mut self,
        pieces: &[(u64, u64, DevicePtr)],
        instead: &[(u64, u64, DevicePtr)],
    ) -> Result<(), DeviceError> {
        Scripted::copy_in(self, pieces, instead)
    }
    fn copy_out(&mut self, _: &mut [(DevicePtr, &mut [u8])]) -> Result<(), DeviceError> {
        Ok(())
    }
    fn duplicate(&mut self, from: DevicePtr, to: DevicePtr, _: u64) -> Result<(), DeviceError> {
        Scripted::duplicate(self, from, to);
        Ok(())
    }
    fn fill(&mut self, _: DevicePtr, _: u32, _: u64) -> Result<(), DeviceError> {
        Ok(())
    }
    fn prepare(&mut self, _: &Info, _: usize, kernel: Specialisation) -> Result<Specialisation, DeviceError> {
        Scripted::prepare(self, kernel)
    }
    fn run(&mut self, launch: &mut Launch<'_>) -> Result<Outcome, DeviceError> {
        Scripted::run(self, launch)
    }
    fn run_behind(&mut self, launch: &Launch<'_>) -> Result<bool, DeviceError> {
        Scripted::run_behind(self, launch)
    }
}
