//! Results of loops that stay on a device, while the pages that they belong to are kept away from the program: [`interception`] sees every load, store and system call
//! that wants one of them, [`alone`] says where it may be relied on to.

pub mod alone;
pub mod interception;
