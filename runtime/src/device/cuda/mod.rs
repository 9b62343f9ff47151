//! The CUDA device.

use super::{Device, DeviceError};

/// Opens the first GPU.
pub fn open() -> Result<Box<dyn Device>, DeviceError> {
    Err(DeviceError::Lost("built without CUDA".into()))
}
