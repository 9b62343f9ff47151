//! A ring of `io_uring` without a library: in memory of the test's, known by a number that is no descriptor, so that neither the list of descriptors
//! nor that of mappings shows it.

use super::*;

/// What the kernel's headers say.
mod kernel {
    pub const NO_MMAP: u32 = 1 << 14;
    pub const REGISTERED_FD_ONLY: u32 = 1 << 15;
    pub const NO_SQARRAY: u32 = 1 << 16;
    pub const ENTER_GETEVENTS: u32 = 1;
    pub const ENTER_REGISTERED_RING: u32 = 1 << 4;
    pub const REGISTER_BUFFERS: u32 = 0;
    pub const UNREGISTER_BUFFERS: u32 = 1;
    pub const UNREGISTER_RING_FDS: u32 = 21;
    pub const USE_REGISTERED_RING: u32 = 1 << 31;
    pub const READ_FIXED: u8 = 4;
    pub const READ: u8 = 22;

    #[repr(C)]
    #[derive(Clone, Copy, Default)]
    pub struct Submission {
        pub operation: u8,
        pub flags: u8,
        pub priority: u16,
        pub file: i32,
        pub offset: u64,
        pub address: u64,
        pub length: u32,
        pub how: u32,
        pub user: u64,
        pub buffer: u16,
        pub rest: [u16; 11],
    }
    #[repr(C)]
    #[derive(Default)]
    pub struct Parameters {
        pub submissions: u32,
        pub completions: u32,
        pub flags: u32,
        pub thread: [u32; 2],
        pub features: u32,
        pub workers: u32,
        pub rest: [u32; 3],
        /// Head, tail, mask, entries, flags, dropped, array, nothing; then the address.
        pub of_submissions: [u32; 8],
        pub submissions_at: u64,
        pub of_completions: [u32; 8],
        pub completions_at: u64,
    }
    #[repr(C)]
    pub struct Unregister {
        pub offset: u32,
        pub rest: u32,
        pub data: u64,
    }
}

pub struct Ring {
    number: u32,
    /// Submissions, and behind them both queues' heads and tails.
    memory: Own,
    tail: u64,
}

impl Ring {
    /// `None`: the system has none, or none of this kind.
    pub fn new() -> Option<Ring> {
        let memory = Own::new();
        // SAFETY: memory of the test's, which lives as long as the ring.
        unsafe { memory.page(0).cast::<u8>().write_bytes(0, Own::bytes()) };
        let mut parameters = kernel::Parameters {
            flags: kernel::NO_MMAP | kernel::REGISTERED_FD_ONLY | kernel::NO_SQARRAY,
            submissions_at: memory.page(0) as u64,
            completions_at: memory.page(1) as u64,
            ..kernel::Parameters::default()
        };
        // SAFETY: as above.
        let number = unsafe { libc::syscall(libc::SYS_io_uring_setup, 4, &raw mut parameters) };
        let tail = memory.page(1) as u64 + u64::from(parameters.of_submissions[1]);
        Some(Ring { number: u32::try_from(number).ok()?, memory, tail })
    }

    fn register(&self, what: u32, argument: u64, count: u32) -> bool {
        let what = what | kernel::USE_REGISTERED_RING;
        // SAFETY: what the calls below hand over.
        unsafe { libc::syscall(libc::SYS_io_uring_register, self.number, what, argument, count) >= 0 }
    }

    /// Pins memory for good, or no more.
    pub fn pin(&self, (lo, hi): Range) -> bool {
        let memory = libc::iovec { iov_base: lo as *mut libc::c_void, iov_len: (hi - lo) as usize };
        self.register(kernel::REGISTER_BUFFERS, &raw const memory as u64, 1)
    }
    pub fn unpin(&self) -> bool {
        self.register(kernel::UNREGISTER_BUFFERS, 0, 0)
    }

    /// Reads from a file, into what is pinned or not, and waits for it.
    pub fn read(&self, file: i32, (lo, hi): Range, is_pinned: bool) -> bool {
        let submission = kernel::Submission {
            operation: if is_pinned { kernel::READ_FIXED } else { kernel::READ },
            file,
            address: lo,
            length: (hi - lo) as u32,
            ..kernel::Submission::default()
        };
        // SAFETY: the ring's memory; there is one submission at a time.
        unsafe {
            let tail = (self.tail as *mut u32).read();
            self.memory.page(0).cast::<kernel::Submission>().add(tail as usize % 4).write(submission);
            std::sync::atomic::AtomicU32::from_ptr(self.tail as *mut u32).store(tail + 1, Ordering::Release);
            let flags = kernel::ENTER_GETEVENTS | kernel::ENTER_REGISTERED_RING;
            libc::syscall(libc::SYS_io_uring_enter, self.number, 1, 1, flags, 0, 0) == 1
        }
    }
}

impl Drop for Ring {
    fn drop(&mut self) {
        let which = kernel::Unregister { offset: self.number, rest: 0, data: 0 };
        self.register(kernel::UNREGISTER_RING_FDS, &raw const which as u64, 1);
    }
}
