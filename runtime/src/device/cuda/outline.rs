//! What is known of a GPU before it can be used, as soon as the driver has told it: enough to say which kernels its loops will have, and to compile them
//! while the driver goes on to be opened.

use super::machine_code::Recipe;
use super::tables::Given;
use super::{THREADS_OF_PROCESSOR, check, logs, nvrtc};
use crate::abi::Info;
use crate::device::{Device, DeviceError, DevicePtr, Launch, LogMethod, Outcome, Specialisation};
use cudarc::driver::sys;

/// See the module. As a device it has kernels made, and does nothing else.
#[derive(Clone, Debug)]
pub struct Outline {
    pub(super) architecture: String,
    /// The first number of its architecture.
    pub(super) generation: i32,
    pub(super) processors: u32,
    /// Bytes of shared memory that all blocks of a processor can have together.
    pub(super) shared: u32,
    /// The same of one block.
    pub(super) shared_of_block: u32,
}

impl Outline {
    /// Asks the driver.
    pub(super) fn of(device: sys::CUdevice) -> Result<Outline, DeviceError> {
        use sys::CUdevice_attribute_enum as A;
        let attribute = |which| {
            let mut value = 0;
            // SAFETY: a pointer to a local variable; the driver is initialised, or there would be no device.
            let status = unsafe { sys::cuDeviceGetAttribute(&mut value, which, device) };
            check(status, "cuDeviceGetAttribute", 0).map(|()| value)
        };
        let major = attribute(A::CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR)?;
        let minor = attribute(A::CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR)?;
        Ok(Outline {
            architecture: format!("sm_{major}{minor}"),
            generation: major,
            processors: attribute(A::CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT)? as u32,
            shared: attribute(A::CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR)? as u32,
            shared_of_block: attribute(A::CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN)? as u32,
        })
    }

    /// What a loop's kernel is compiled from.
    pub(super) fn recipe(&self, info: &Info, kernel: Specialisation) -> Recipe {
        let options = nvrtc::options(&self.architecture, kernel, Given::of(info, &kernel));
        Recipe { source: nvrtc::kernel_source(&info.cuda_text()), options }
    }

    /// What a kernel that belongs to no loop is compiled from.
    pub(super) fn recipe_of(&self, source: String) -> Recipe {
        let options = nvrtc::options(&self.architecture, Specialisation::none(LogMethod::None), Given::All);
        Recipe { source, options }
    }
}

/// Nothing runs there.
fn unopened<T>() -> Result<T, DeviceError> {
    Err(DeviceError::Lost("the driver is not open yet".into()))
}

impl Device for Outline {
    fn name(&self) -> &'static str {
        "cuda"
    }
    fn threads(&self) -> u64 {
        u64::from(self.processors) * THREADS_OF_PROCESSOR
    }
    fn room_of_block(&self) -> u64 {
        self.shared_of_block.into()
    }
    /// Has the kernel compiled. Whether it finds enough registers only the driver knows.
    fn prepare(
        &mut self,
        info: &Info,
        _: usize,
        kernel: Specialisation,
    ) -> Result<Specialisation, DeviceError> {
        self.recipe(info, kernel).make_ahead();
        for beside in logs::beside(kernel).into_iter().flatten() {
            self.recipe_of(beside.source()).make_ahead();
        }
        Ok(kernel)
    }
    fn allocate(&mut self, _: u64) -> Result<DevicePtr, DeviceError> {
        unopened()
    }
    fn free(&mut self, _: DevicePtr) {}
    fn copy_in(
        &mut self,
        _: &[(u64, u64, DevicePtr)],
        _: &[(u64, u64, DevicePtr)],
    ) -> Result<(), DeviceError> {
        unopened()
    }
    fn copy_out(&mut self, _: &mut [(DevicePtr, &mut [u8])]) -> Result<(), DeviceError> {
        unopened()
    }
    fn duplicate(&mut self, _: DevicePtr, _: DevicePtr, _: u64) -> Result<(), DeviceError> {
        unopened()
    }
    fn fill(&mut self, _: DevicePtr, _: u32, _: u64) -> Result<(), DeviceError> {
        unopened()
    }
    fn run(&mut self, _: &mut Launch<'_>) -> Result<Outcome, DeviceError> {
        unopened()
    }
}
