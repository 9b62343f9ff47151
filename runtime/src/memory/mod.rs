//! Which memory a loop touches: recorded allocations, the placement of an entry's arrays, copies that report unmapped
//! pages instead of faulting, snapshots, copies for each thread, how much memory copies may take, which pages may have changed, what the system's list of mappings says, and
//! copies on a device that stay as long as few have. What loops store stays there by [`coherence`]; [`own`] is memory of the runtime's,
//! [`programs_allocator`] whose `malloc` the program has.

pub mod allocations;
pub mod buffer;
pub mod coherence;
pub mod limits;
pub mod mappings;
pub mod own;
pub mod placement;
pub mod private_copies;
pub mod programs_allocator;
pub mod readable;
pub mod reserve;
pub mod residency;
pub mod safe_copy;
pub mod snapshot;
pub mod tracking;
pub mod writable;
