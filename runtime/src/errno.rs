//! `errno` of loops that call functions which may set it (sines of infinities, logarithms of negative numbers). After a loop
//! it is what the last call in source order left that failed, and what it was before if none did.
//!
//! No library function sets `errno` to 0. So a run of ascending iterations that starts with 0 ends with what its last failing
//! call has left, or with 0: of the runs that failed the last one decides. On devices, which carry out iterations in any order
//! and of whose results nothing may stay, a failing call makes the device give up.

/// That of the calling thread.
pub fn get() -> i32 {
    // SAFETY: it is this thread's own variable.
    unsafe { *libc::__errno_location() }
}

/// Sets that of the calling thread.
pub fn set(value: i32) {
    // SAFETY: as above.
    unsafe { *libc::__errno_location() = value };
}

/// Runs `work`, and says what a call in it has set `errno` to; 0: none has. For threads of ours, and while the program's own
/// value is kept elsewhere.
pub fn left_by(work: impl FnOnce()) -> i32 {
    set(0);
    work();
    get()
}

/// What several runs of iterations have left, in any order.
#[derive(Clone, Copy, Default, Debug)]
pub struct Last(Option<(i64, i32)>);

impl Last {
    /// The run that starts with this iteration has left `errno` so.
    pub fn add(&mut self, first: i64, errno: i32) {
        if errno != 0 {
            self.0 = self.0.max(Some((first, errno)));
        }
    }
    /// The same of the runs of another thread.
    pub fn join(&mut self, other: Last) {
        self.0 = self.0.max(other.0);
    }
    /// What all of them leave, if any call has failed.
    pub fn value(self) -> Option<i32> {
        self.0.map(|(_, errno)| errno)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_run_that_fails_decides() {
        let mut last = Last::default();
        assert_eq!(last.value(), None);
        last.add(40, left_by(|| set(libc::EDOM)));
        last.add(80, left_by(|| {}));
        last.add(10, libc::ERANGE);
        assert_eq!(last.value(), Some(libc::EDOM));
        let mut other = Last::default();
        other.add(41, libc::ERANGE);
        other.join(last);
        assert_eq!(other.value(), Some(libc::ERANGE));
    }
}
