//! Whether this is still the process that the runtime was loaded in, with its memory. A child after `fork` has another number, but not always: in a namespace of
//! processes of its own it may be the first, as its parent is in its own. So there is a page of memory, too, that children find empty.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, Ordering};

/// What stands in that page.
const MARK: u32 = 0x5061_7261;

/// A process, by number and memory.
#[derive(Clone, Copy, Debug)]
pub struct Process {
    number: u32,
    /// `None`: the system can't empty pages for children.
    mark: Option<&'static AtomicU32>,
}

impl Process {
    /// The calling one.
    pub fn this() -> Process {
        static PAGE: OnceLock<Option<&'static AtomicU32>> = OnceLock::new();
        Process { number: std::process::id(), mark: *PAGE.get_or_init(page) }
    }

    /// Whether it is the calling one.
    pub fn is_this(&self) -> bool {
        std::process::id() == self.number && self.mark.is_none_or(|mark| mark.load(Ordering::Relaxed) == MARK)
    }
}

/// A page with the mark that children find empty.
fn page() -> Option<&'static AtomicU32> {
    let (access, kind) = (libc::PROT_READ | libc::PROT_WRITE, libc::MAP_PRIVATE | libc::MAP_ANONYMOUS);
    // SAFETY: new memory, that stays.
    unsafe {
        let bytes = libc::sysconf(libc::_SC_PAGESIZE) as usize;
        let page = libc::mmap(std::ptr::null_mut(), bytes, access, kind, -1, 0);
        if page == libc::MAP_FAILED {
            return None;
        }
        if libc::madvise(page, bytes, libc::MADV_WIPEONFORK) != 0 {
            libc::munmap(page, bytes);
            return None;
        }
        let mark = AtomicU32::from_ptr(page.cast());
        mark.store(MARK, Ordering::Relaxed);
        Some(mark)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// In a child, what it says of its parent.
    fn in_child(work: impl FnOnce() -> bool) -> bool {
        // SAFETY: the child only asks, and ends.
        unsafe {
            let child = libc::fork();
            if child == 0 {
                libc::_exit(i32::from(work()));
            }
            let mut status = -1;
            assert_eq!(libc::waitpid(child, &raw mut status, 0), child);
            libc::WEXITSTATUS(status) == 1
        }
    }

    #[test]
    fn children_are_others() {
        let own = Process::this();
        assert!(own.is_this());
        assert!(!in_child(|| own.is_this()));
        // Had they the same number.
        assert!(!in_child(|| Process { number: std::process::id(), ..own }.is_this()) || own.mark.is_none());
        assert!(own.is_this() && Process::this().is_this());
    }
}
