//! The calling thread's floating-point environment: whether loops may run elsewhere under it, and keeping its sticky
//! exception flags exactly as the program's own arithmetic would leave them; `errno` with them, which the same functions set.
//!
//! The runtime computes with floating-point numbers too (times, estimates). [`FloatingPoint`] keeps that out of the
//! program's flags: code of the program runs inside [`FloatingPoint::program`], everything else leaves no trace. Nothing
//! here ever changes rounding or masks, or flushing on the program's own thread.

use crate::errno;

/// MXCSR and x87 control word as a program finds them.
const DEFAULT_MXCSR: u32 = 0x1f80;
const DEFAULT_X87: u16 = 0x037f;
/// The sticky exception flags of MXCSR.
const STICKY: u32 = 0x3f;
/// Denormal numbers are taken for zero, and results that would be denormal become zero: what programs that are linked with
/// `-ffast-math` start with.
const FLUSHING: u32 = 0x8040;

fn read_mxcsr() -> u32 {
    let mut value = 0u32;
    // SAFETY: stores 32 bits into a local variable.
    unsafe { std::arch::asm!("stmxcsr [{}]", in(reg) &raw mut value, options(nostack, preserves_flags)) };
    value
}

fn write_mxcsr(value: u32) {
    // SAFETY: all values come from the register, besides sticky flags and flushing, which every processor of 64 bits has.
    unsafe {
        std::arch::asm!("ldmxcsr [{}]", in(reg) &raw const value, options(nostack, readonly, preserves_flags))
    };
}

/// Sets the sticky flags, and leaves all other bits as they are.
fn write_sticky(flags: u32) {
    write_mxcsr((read_mxcsr() & !STICKY) | (flags & STICKY));
}

/// Whether the calling thread flushes denormal numbers to zero.
pub fn is_flushing() -> bool {
    read_mxcsr() & FLUSHING != 0
}

/// Whether rounding and masks are the default; flushing may not be.
pub fn is_default() -> bool {
    let mut x87 = 0u16;
    // SAFETY: stores 16 bits into a local variable.
    unsafe { std::arch::asm!("fnstcw [{}]", in(reg) &raw mut x87, options(nostack, preserves_flags)) };
    read_mxcsr() & !(STICKY | FLUSHING) == DEFAULT_MXCSR && x87 == DEFAULT_X87
}

/// What a thread of the program's begins with: what the one that begins it had.
pub fn begin_with(mxcsr: u32, x87: u16) {
    write_mxcsr(mxcsr);
    // SAFETY: loads 16 bits that the processor had there before.
    unsafe {
        std::arch::asm!("fldcw [{}]", in(reg) &raw const x87, options(nostack, readonly, preserves_flags))
    };
}

/// Runs `work` with clear sticky flags and returns those that it raised. For threads of ours, whose own flags nobody
/// looks at.
pub fn raised_by(work: impl FnOnce()) -> u32 {
    write_sticky(0);
    work();
    read_mxcsr() & STICKY
}

/// Runs something of ours, whose flags are not the program's, on a thread of the program's.
pub fn apart<T>(work: impl FnOnce() -> T) -> T {
    let flags = read_mxcsr() & STICKY;
    let result = work();
    write_sticky(flags);
    result
}

/// What a thread of ours begins with. It inherits how the thread that starts it treats denormal numbers at that moment.
pub fn begin_thread() {
    write_mxcsr(DEFAULT_MXCSR);
}

/// How the calling thread treats denormal numbers, to be taken over by others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Flushing(u32);

impl Flushing {
    /// That of the calling thread.
    pub fn of_caller() -> Flushing {
        Flushing(read_mxcsr() & FLUSHING)
    }
    /// Denormal numbers are numbers.
    pub fn off() -> Flushing {
        Flushing(0)
    }
    /// [`raised_by`], with this treatment.
    pub fn raised_by(self, work: impl FnOnce()) -> u32 {
        let own = read_mxcsr();
        write_mxcsr((own & !FLUSHING) | self.0);
        let raised = raised_by(work);
        write_mxcsr(own);
        raised
    }
}

/// The program's sticky flags while the runtime runs on its thread; see the module.
#[derive(Debug)]
pub struct FloatingPoint {
    flags: u32,
    errno: i32,
}

impl FloatingPoint {
    /// Takes over from the program, whose `errno` is this.
    pub fn enter(errno: i32) -> FloatingPoint {
        FloatingPoint { flags: read_mxcsr() & STICKY, errno }
    }
    /// Runs code of the program: the flags that it raises are the program's, and so is the `errno` that it leaves.
    pub fn program<T>(&mut self, work: impl FnOnce() -> T) -> T {
        write_sticky(self.flags);
        errno::set(self.errno);
        let result = work();
        self.errno = errno::get();
        self.flags |= read_mxcsr() & STICKY;
        result
    }
    /// The program's `errno`.
    pub fn errno(&self) -> i32 {
        self.errno
    }
    /// Other threads' last failing call on the program's behalf has left this.
    pub fn fail(&mut self, errno: i32) {
        self.errno = errno;
    }
    /// Adds flags that other threads raised on the program's behalf.
    pub fn add(&mut self, flags: u32) {
        self.flags |= flags & STICKY;
    }
}

impl Drop for FloatingPoint {
    fn drop(&mut self) {
        write_sticky(self.flags);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::hint::black_box;

    const INEXACT: u32 = 0x20;
    const DIVISION_BY_ZERO: u32 = 0x04;

    #[test]
    fn flushing_is_taken_over_and_given_back() {
        let tiny = || black_box(black_box(f64::MIN_POSITIVE) / black_box(4.0));
        assert!(is_default() && !is_flushing() && tiny() != 0.0);
        let (mut inside, mut outside) = (1.0, 0.0);
        Flushing(FLUSHING).raised_by(|| {
            assert!(is_default() && is_flushing());
            inside = tiny();
            Flushing(0).raised_by(|| outside = tiny());
            assert!(is_flushing());
        });
        assert!(inside == 0.0 && outside != 0.0);
        assert!(!is_flushing());
    }

    #[test]
    fn only_the_programs_own_flags_stay() {
        assert!(is_default());
        let raised = raised_by(|| {
            {
                let mut fp = FloatingPoint::enter(0);
                black_box(black_box(1.0f64) / black_box(3.0));
                fp.program(|| black_box(black_box(1.0f64) / black_box(0.0)));
                black_box(black_box(1.0f64) / black_box(3.0));
            }
            apart(|| black_box(black_box(1.0f64) / black_box(3.0)));
            assert_eq!(read_mxcsr() & INEXACT, 0);
        });
        assert_eq!(raised, DIVISION_BY_ZERO);
    }
}
