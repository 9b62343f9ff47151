//! Kernels as functions of the driver's: loaded, launched once. Where their machine code comes from says `machine_code.rs`, their text is `nvrtc.rs`'s; what a loop's
//! launches are is in `launches.rs`.

use super::grids::Grid;
use super::machine_code::Recipe;
use super::{Cuda, check, nvrtc};
use crate::abi::Info;
use crate::device::{DeviceError, Specialisation};
use cudarc::driver::sys;
use std::ffi::c_void;

/// A kernel.
#[derive(Clone, Copy)]
pub(super) struct Loaded {
    pub(super) function: sys::CUfunction,
    /// How many of its blocks one processor holds.
    pub(super) resident: u32,
    /// Whether it keeps more than a few values in memory that it has no registers for.
    pub(super) spills: bool,
    /// Whether its blocks have shared memory: each as much, however few threads it has.
    pub(super) has_room: bool,
    /// Most threads of a block.
    pub(super) block: u32,
    /// Bytes that a launch gives each block besides.
    pub(super) room: u32,
}

/// The part of a processor's memory for blocks and caches, in hundredths of what blocks can have of it, that so many of a kernel's blocks
/// need. By itself the driver may give them more, and what is gathered then has less room in L1: twice the time for rows of sparse matrices.
fn part_for_shared(of_block: u32, blocks: u32, all: u32) -> u32 {
    let needed = u64::from(of_block + RESERVED) * u64::from(blocks) * 100;
    needed.div_ceil(u64::from(all.max(1))).min(100) as u32
}

/// What the driver itself takes of each block's shared memory.
const RESERVED: u32 = 1024;

/// Bytes of a thread's own memory that still mean nothing: what is put away before its loops and taken back behind them.
const MOST_PUT_AWAY: i32 = 96;

impl Cuda {
    pub(super) fn function(
        &mut self,
        recipe: &Recipe,
        name: &std::ffi::CStr,
        block: u32,
    ) -> Result<Loaded, DeviceError> {
        let made = recipe.get().map_err(DeviceError::Kernel)?;
        // SAFETY: driver calls with pointers to local variables; the image outlives the call that reads it.
        unsafe {
            let mut module = std::ptr::null_mut();
            check(sys::cuModuleLoadData(&mut module, made.code.as_ptr().cast()), "cuModuleLoadData", 0)?;
            let mut function = std::ptr::null_mut();
            check(sys::cuModuleGetFunction(&mut function, module, name.as_ptr()), "cuModuleGetFunction", 0)?;
            recipe.keep(&made);
            let mut resident = 0;
            check(
                sys::cuOccupancyMaxActiveBlocksPerMultiprocessor(&mut resident, function, block as i32, 0),
                "occupancy",
                0,
            )?;
            let mut local = 0;
            let which = sys::CUfunction_attribute_enum::CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES;
            check(sys::cuFuncGetAttribute(&mut local, which, function), "cuFuncGetAttribute", 0)?;
            let mut shared = 0;
            let which = sys::CUfunction_attribute_enum::CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES;
            check(sys::cuFuncGetAttribute(&mut shared, which, function), "cuFuncGetAttribute", 0)?;
            if shared > 0 {
                let part = part_for_shared(shared as u32, resident.max(1) as u32, self.outline.shared);
                let which =
                    sys::CUfunction_attribute_enum::CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT;
                check(sys::cuFuncSetAttribute(function, which, part as i32), "cuFuncSetAttribute", 0)?;
            }
            let (spills, has_room) = (local > MOST_PUT_AWAY, shared > 0);
            Ok(Loaded { function, resident: resident.max(1) as u32, spills, has_room, block, room: 0 })
        }
    }

    /// Gives each block of a kernel's launches so many bytes to share, and says how many blocks a processor holds then.
    pub(super) fn make_room(&mut self, kernel: &mut Loaded, bytes: u32) -> Result<(), DeviceError> {
        if bytes == 0 {
            return Ok(());
        }
        let fit = (self.outline.shared / (bytes + RESERVED)).max(1);
        kernel.resident = kernel.resident.min(fit);
        (kernel.has_room, kernel.room) = (true, bytes);
        let told = self.rooms.insert(kernel.function as usize, bytes);
        if told == Some(bytes) {
            return Ok(());
        }
        use sys::CUfunction_attribute_enum as A;
        let part = part_for_shared(bytes, kernel.resident, self.outline.shared) as i32;
        let most = A::CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES;
        for (which, value) in
            [(most, bytes as i32), (A::CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT, part)]
        {
            // SAFETY: a function of a loaded module.
            let set = unsafe { sys::cuFuncSetAttribute(kernel.function, which, value) };
            check(set, "cuFuncSetAttribute", 0)?;
        }
        Ok(())
    }

    pub(super) fn kernel(
        &mut self,
        info: &Info,
        loop_key: usize,
        kernel: Specialisation,
    ) -> Result<Loaded, DeviceError> {
        let key = (loop_key, kernel);
        if let Some(function) = self.kernels.get(&key) {
            return Ok(*function);
        }
        if let Some(why) = self.refused.get(&key) {
            return Err(DeviceError::Kernel(why.clone()));
        }
        let recipe = self.outline.recipe(info, kernel);
        let function = self.function(&recipe, c"__pg_kernel", kernel.block.into());
        match &function {
            Ok(function) => {
                self.kernels.insert(key, *function);
            }
            Err(DeviceError::Kernel(why)) if why.starts_with(nvrtc::LOSES_SIGN) => {
                self.refused.insert(key, why.clone());
            }
            Err(_) => {}
        }
        function
    }

    /// Starts a kernel that may be made ready, and begin, while the one in front of it is still under way: nothing may be queued between the two, and it has
    /// to wait for that one before it does anything ([`AWAIT_SOURCE`](super::logs::AWAIT_SOURCE)).
    pub(super) fn start_early(
        &self,
        kernel: Loaded,
        grid: Grid,
        parameters: &mut [*mut c_void],
    ) -> Result<(), DeviceError> {
        // SAFETY: plain numbers.
        let mut attribute: sys::CUlaunchAttribute = unsafe { std::mem::zeroed() };
        attribute.id = sys::CUlaunchAttributeID::CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION;
        attribute.value.programmaticStreamSerializationAllowed = 1;
        let config = sys::CUlaunchConfig {
            gridDimX: grid.blocks.0,
            gridDimY: grid.blocks.1,
            gridDimZ: grid.blocks.2,
            blockDimX: grid.block.0,
            blockDimY: grid.block.1,
            blockDimZ: 1,
            sharedMemBytes: 0,
            hStream: self.stream,
            attrs: &raw mut attribute,
            numAttrs: 1,
        };
        // SAFETY: a driver call; the parameters lead to values of the kernel's parameter types.
        let status = unsafe {
            sys::cuLaunchKernelEx(&config, kernel.function, parameters.as_mut_ptr(), std::ptr::null_mut())
        };
        // What can't be launched so can be as any other.
        if status as u32 == 0 { Ok(()) } else { self.start(kernel, grid, parameters) }
    }

    pub(super) fn start(
        &self,
        kernel: Loaded,
        grid: Grid,
        parameters: &mut [*mut c_void],
    ) -> Result<(), DeviceError> {
        // SAFETY: a driver call; the parameters lead to values of the kernel's parameter types.
        unsafe {
            check(
                sys::cuLaunchKernel(
                    kernel.function,
                    grid.blocks.0,
                    grid.blocks.1,
                    grid.blocks.2,
                    grid.block.0,
                    grid.block.1,
                    1,
                    kernel.room,
                    self.stream,
                    parameters.as_mut_ptr(),
                    std::ptr::null_mut(),
                ),
                "cuLaunchKernel",
                0,
            )
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shared_memory_is_as_much_as_blocks_need() {
        assert_eq!(part_for_shared(10240, 5, 233_472), 25);
        assert_eq!(part_for_shared(1, 1, 233_472), 1);
        assert_eq!(part_for_shared(49152, 8, 233_472), 100);
    }
}
