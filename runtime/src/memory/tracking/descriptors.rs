//! The system calls: a userfaultfd that protects, and the process's page map, which is scanned.

use super::{Range, page};
use crate::process::Process;
use std::os::fd::RawFd;

/// What the kernel's headers say; the C library's may be older.
mod kernel {
    pub const USER_MODE_ONLY: libc::c_int = 1;
    pub const API: u64 = 0xaa;
    /// Stores to protected pages go on at once, and are told by scans; pages that aren't there are protected, too.
    pub const WP_UNPOPULATED: u64 = 1 << 13;
    pub const WP_ASYNC: u64 = 1 << 15;
    pub const REGISTER_WP: u64 = 2;

    /// What a page can be: of registered memory, written, of a file or shared, there, swapped out.
    pub const WP_ALLOWED: u64 = 1;
    pub const WRITTEN: u64 = 2;
    pub const FILE: u64 = 4;
    pub const PRESENT: u64 = 8;
    pub const SWAPPED: u64 = 16;
    /// Fails where memory isn't registered.
    pub const CHECKS: u64 = 2;

    #[repr(C)]
    pub struct Api {
        pub api: u64,
        pub features: u64,
        pub ioctls: u64,
    }
    #[repr(C)]
    pub struct Register {
        pub start: u64,
        pub length: u64,
        pub mode: u64,
        pub ioctls: u64,
    }
    #[repr(C)]
    pub struct Protect {
        pub start: u64,
        pub length: u64,
        pub mode: u64,
    }
    #[repr(C)]
    #[derive(Clone, Copy, Default)]
    pub struct Pages {
        pub start: u64,
        pub end: u64,
        pub categories: u64,
    }
    #[repr(C)]
    #[derive(Default)]
    pub struct Scan {
        pub size: u64,
        pub flags: u64,
        pub start: u64,
        pub end: u64,
        pub walk_end: u64,
        pub found: u64,
        pub most: u64,
        pub max_pages: u64,
        pub inverted: u64,
        pub mask: u64,
        pub any_of: u64,
        pub told: u64,
    }

    /// Asks for mappings that can be read, one at a time.
    pub const READABLE: u64 = 1;
    #[repr(C)]
    #[derive(Default)]
    pub struct Mapping {
        pub size: u64,
        pub flags: u64,
        pub address: u64,
        pub start: u64,
        pub end: u64,
        pub others: [u64; 8],
    }

    /// `_IOWR` with the size of what is handed over.
    pub const fn call<T>(kind: u8, number: u8) -> u64 {
        3 << 30 | (size_of::<T>() as u64) << 16 | (kind as u64) << 8 | number as u64
    }
}

/// What both descriptors are known by: device and inode.
type Identity = (u64, u64);

/// The two descriptors of this process.
pub struct Descriptors {
    process: Process,
    /// Protects.
    pub protection: RawFd,
    pages: RawFd,
    identities: [Identity; 2],
    /// A page of ours that is registered and has been stored to, never protected: if it seems to be, somebody protects all memory that he finds, and what
    /// has been stored to before is not to be seen any more.
    stored: Range,
}

fn identity(file: RawFd) -> Option<Identity> {
    // SAFETY: zeros are a value of it, and the call fills it in or fails.
    unsafe {
        let mut status: libc::stat = std::mem::zeroed();
        (libc::fstat(file, &raw mut status) == 0).then_some((status.st_dev, status.st_ino))
    }
}

/// Whether system calls are filtered: then one that isn't foreseen may be the process's end.
fn is_confined() -> bool {
    // SAFETY: no preconditions.
    unsafe { libc::prctl(libc::PR_GET_SECCOMP, 0, 0, 0, 0) != 0 }
}

/// The same file under a number that nobody expects to be free.
fn out_of_the_way(file: RawFd) -> Option<RawFd> {
    if file < 0 {
        return None;
    }
    // SAFETY: the file is ours; zeros are a value of the limits.
    unsafe {
        let mut limit: libc::rlimit = std::mem::zeroed();
        libc::getrlimit(libc::RLIMIT_NOFILE, &raw mut limit);
        let from = (limit.rlim_cur / 2).clamp(64, 300) as libc::c_int;
        let moved = libc::fcntl(file, libc::F_DUPFD_CLOEXEC, from);
        libc::close(file);
        (moved >= 0).then_some(moved)
    }
}

impl Descriptors {
    /// `None`: the system can't, or doesn't let us.
    pub fn open() -> Option<Descriptors> {
        if is_confined() {
            return None;
        }
        let stored = page_of_ours()?;
        let flags = libc::O_CLOEXEC | libc::O_NONBLOCK | kernel::USER_MODE_ONLY;
        // SAFETY: no pointers.
        let protection = unsafe { libc::syscall(libc::SYS_userfaultfd, flags) } as RawFd;
        let protection = out_of_the_way(protection).unwrap_or(-1);
        // SAFETY: a path that ends with a zero.
        let pages = unsafe { libc::open(c"/proc/self/pagemap".as_ptr(), libc::O_RDONLY | libc::O_CLOEXEC) };
        let pages = out_of_the_way(pages).unwrap_or(-1);
        let identities = [protection, pages].map(|file| identity(file).unwrap_or_default());
        let own = Descriptors { process: Process::this(), protection, pages, identities, stored };
        let mut api =
            kernel::Api { api: kernel::API, features: kernel::WP_ASYNC | kernel::WP_UNPOPULATED, ioctls: 0 };
        own.call(protection, kernel::call::<kernel::Api>(0xaa, 0x3f), &mut api)?;
        own.register(own.stored)?;
        own.works().then_some(own)
    }

    /// Whether the descriptors are still what they were, and memory is this process's.
    pub fn are_ours(&self) -> bool {
        self.process.is_this()
            && [self.protection, self.pages].map(identity) == self.identities.map(Some)
            && !is_confined()
    }

    fn call<T>(&self, file: RawFd, number: u64, argument: &mut T) -> Option<libc::c_int> {
        // SAFETY: the numbers are of calls that take such a structure.
        let result = unsafe { libc::ioctl(file, number as libc::c_ulong, &raw mut *argument) };
        (result >= 0).then_some(result)
    }

    /// Makes memory one that can be protected; it must be whole mappings.
    pub fn register(&self, (start, end): Range) -> Option<()> {
        let mut all = kernel::Register { start, length: end - start, mode: kernel::REGISTER_WP, ioctls: 0 };
        self.call(self.protection, kernel::call::<kernel::Register>(0xaa, 0), &mut all).map(|_| ())
    }

    /// Protects pages, or lets go of them.
    pub fn protect(&self, (start, end): Range, protects: bool) -> Option<()> {
        let mut all = kernel::Protect { start, length: end - start, mode: protects.into() };
        self.call(self.protection, kernel::call::<kernel::Protect>(0xaa, 6), &mut all).map(|_| ())
    }

    /// Whether nobody else protects what we watch, as far as can be seen: to be asked after each look at what is clean.
    pub fn are_alone(&self) -> bool {
        self.scan(self.stored).is_some_and(|clean| clean.is_empty())
    }

    /// Pages that are there and have not been written since they were protected, in their order. `None`: some memory isn't registered any more, or they
    /// are in too many pieces.
    pub fn clean(&self, range: Range) -> Option<Vec<Range>> {
        // A scan doesn't tell whose registration it is; to register once more fails where it is another's. First it must be somebody's: what was lost must
        // not be found again. What is registered in between isn't protected.
        self.is_registered(range)?;
        self.register(range)?;
        self.scan(range)
    }

    /// `None`: some memory isn't registered, by anybody. It looks at no page.
    fn is_registered(&self, (start, end): Range) -> Option<()> {
        // Nothing is registered and isn't.
        let mut scan = kernel::Scan {
            size: size_of::<kernel::Scan>() as u64,
            flags: kernel::CHECKS,
            start,
            end,
            inverted: kernel::WP_ALLOWED,
            mask: kernel::WP_ALLOWED,
            told: kernel::WP_ALLOWED,
            ..kernel::Scan::default()
        };
        self.call(self.pages, kernel::call::<kernel::Scan>(b'f', 16), &mut scan).map(|_| ())
    }

    /// Pages that are there, protected, and in memory that somebody has registered.
    fn scan(&self, (start, end): Range) -> Option<Vec<Range>> {
        let mut found = [kernel::Pages::default(); super::MOST_PIECES];
        let mut clean: Vec<Range> = Vec::new();
        let mut at = start;
        while at < end {
            let mut scan = kernel::Scan {
                size: size_of::<kernel::Scan>() as u64,
                flags: kernel::CHECKS,
                start: at,
                end,
                found: found.as_mut_ptr() as u64,
                most: found.len() as u64,
                inverted: kernel::WRITTEN | kernel::FILE,
                mask: kernel::WRITTEN | kernel::FILE | kernel::WP_ALLOWED,
                any_of: kernel::PRESENT | kernel::SWAPPED,
                told: kernel::WP_ALLOWED,
                ..kernel::Scan::default()
            };
            let count = self.call(self.pages, kernel::call::<kernel::Scan>(b'f', 16), &mut scan)?;
            if scan.walk_end <= at || clean.len() > 4 * super::MOST_PIECES {
                return None;
            }
            clean.extend(found[..count as usize].iter().map(|pages| (pages.start, pages.end)));
            at = scan.walk_end;
        }
        Some(super::merged(clean.into_iter()))
    }

    /// Whether they do what they are there for, with some memory of ours.
    fn works(&self) -> bool {
        let (page, count) = (page(), 4);
        // SAFETY: memory of our own.
        unsafe {
            let (access, kind) =
                (libc::PROT_READ | libc::PROT_WRITE, libc::MAP_PRIVATE | libc::MAP_ANONYMOUS);
            let bytes = (count * page) as usize;
            let memory = libc::mmap(std::ptr::null_mut(), bytes, access, kind, -1, 0);
            if memory == libc::MAP_FAILED {
                return false;
            }
            let first = memory.cast::<u8>();
            let lo = first as u64;
            let all = (lo, lo + count * page);
            // The last one isn't there.
            (0..count - 1).for_each(|n| first.add((n * page) as usize).write_volatile(1));
            let tell = || {
                self.register(all)?;
                self.protect(all, true)?;
                let before = self.clean(all)?;
                first.add(page as usize).write_volatile(2);
                let after = self.clean(all)?;
                libc::madvise(memory, page as usize, libc::MADV_DONTNEED);
                Some((before, after, self.clean(all)?))
            };
            let told = tell();
            // Some systems let pages that have moved look as if they were still protected.
            let moved = libc::mremap(
                memory,
                bytes,
                2 * bytes,
                libc::MREMAP_MAYMOVE | libc::MREMAP_FIXED,
                apart(2 * bytes),
            );
            if moved == libc::MAP_FAILED {
                return false;
            }
            let there = (moved as u64, moved as u64 + 2 * bytes as u64);
            let lost = self.clean(there).is_none();
            let found = self.register(there).and_then(|()| self.clean(there));
            libc::munmap(moved, 2 * bytes);
            let stored = vec![(lo, lo + page), (lo + 2 * page, all.1)];
            told == Some((vec![all], stored, vec![(lo + 2 * page, all.1)]))
                && lost
                && found == Some(Vec::new())
        }
    }
}

/// Whether all of it may be read. The list of mappings is asked for those that there are (Linux 6.11), which is sooner done than reading it; before, the system is
/// asked to do what loads from each page would do.
pub fn is_readable((lo, hi): Range) -> bool {
    let by_pages = || {
        let first = lo & !(page() - 1);
        // SAFETY: changes nothing that the program could see.
        unsafe {
            libc::madvise(first as *mut libc::c_void, (hi - first) as usize, libc::MADV_POPULATE_READ) == 0
        }
    };
    // SAFETY: a path that ends with a zero.
    let maps = unsafe { libc::open(c"/proc/self/maps".as_ptr(), libc::O_RDONLY | libc::O_CLOEXEC) };
    if maps < 0 {
        return by_pages();
    }
    let mut at = lo;
    let mut is_known = true;
    while at < hi {
        let size = size_of::<kernel::Mapping>() as u64;
        let mut mapping =
            kernel::Mapping { size, flags: kernel::READABLE, address: at, ..kernel::Mapping::default() };
        // SAFETY: the number is of a call that takes such a structure.
        let found = unsafe {
            libc::ioctl(maps, kernel::call::<kernel::Mapping>(b'f', 17) as libc::c_ulong, &raw mut mapping)
        };
        if found != 0 || mapping.end <= at {
            is_known = std::io::Error::last_os_error().raw_os_error() == Some(libc::ENOENT);
            break;
        }
        at = mapping.end;
    }
    // SAFETY: opened above.
    unsafe { libc::close(maps) };
    at >= hi || !is_known && by_pages()
}

/// A page that has been stored to.
fn page_of_ours() -> Option<Range> {
    let (access, kind) = (libc::PROT_READ | libc::PROT_WRITE, libc::MAP_PRIVATE | libc::MAP_ANONYMOUS);
    // SAFETY: new memory.
    unsafe {
        let memory = libc::mmap(std::ptr::null_mut(), page() as usize, access, kind, -1, 0);
        if memory == libc::MAP_FAILED {
            return None;
        }
        memory.cast::<u8>().write_volatile(1);
        Some((memory as u64, memory as u64 + page()))
    }
}

/// Where there is room.
fn apart(bytes: usize) -> *mut libc::c_void {
    // SAFETY: new memory that nobody can use, to be replaced.
    unsafe {
        libc::mmap(
            std::ptr::null_mut(),
            bytes,
            libc::PROT_NONE,
            libc::MAP_PRIVATE | libc::MAP_ANONYMOUS,
            -1,
            0,
        )
    }
}

impl Drop for Descriptors {
    fn drop(&mut self) {
        for (file, known) in [self.protection, self.pages].into_iter().zip(self.identities) {
            if identity(file) == Some(known) {
                // SAFETY: ours.
                unsafe { libc::close(file) };
            }
        }
        if self.process.is_this() {
            // SAFETY: memory of our own.
            unsafe { libc::munmap(self.stored.0 as *mut libc::c_void, page() as usize) };
        }
    }
}
