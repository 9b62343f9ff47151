//! Which memory a loop touches: recorded allocations, the placement of an entry's arrays, and copies that report
//! unmapped pages instead of faulting.

pub mod allocations;
pub mod placement;
pub mod safe_copy;
