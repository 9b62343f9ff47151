//! The calling thread's floating-point environment: whether loops may run elsewhere under it, and keeping its sticky
//! exception flags exactly as the program's own arithmetic would leave them.
//!
//! The runtime computes with floating-point numbers too (times, estimates). [`FloatingPoint`] keeps that out of the
//! program's flags: code of the program runs inside [`FloatingPoint::program`], everything else leaves no trace. Nothing
//! here ever changes rounding, masks or flushing.

/// MXCSR and x87 control word as a program finds them.
const DEFAULT_MXCSR: u32 = 0x1f80;
const DEFAULT_X87: u16 = 0x037f;
/// The sticky exception flags of MXCSR.
const STICKY: u32 = 0x3f;

fn read_mxcsr() -> u32 {
    let mut value = 0u32;
    // SAFETY: stores 32 bits into a local variable.
    unsafe { std::arch::asm!("stmxcsr [{}]", in(reg) &raw mut value, options(nostack, preserves_flags)) };
    value
}

/// Sets the sticky flags, and leaves all other bits as they are.
fn write_sticky(flags: u32) {
    let value = (read_mxcsr() & !STICKY) | (flags & STICKY);
    // SAFETY: only sticky flags change; the other bits were read from the register.
    unsafe {
        std::arch::asm!("ldmxcsr [{}]", in(reg) &raw const value, options(nostack, readonly, preserves_flags))
    };
}

/// Whether rounding, masks and flushing are the default.
pub fn is_default() -> bool {
    let mut x87 = 0u16;
    // SAFETY: stores 16 bits into a local variable.
    unsafe { std::arch::asm!("fnstcw [{}]", in(reg) &raw mut x87, options(nostack, preserves_flags)) };
    read_mxcsr() & !STICKY == DEFAULT_MXCSR && x87 == DEFAULT_X87
}

/// Runs `work` with clear sticky flags and returns those that it raised. For threads of ours, whose own flags nobody
/// looks at.
pub fn raised_by(work: impl FnOnce()) -> u32 {
    write_sticky(0);
    work();
    read_mxcsr() & STICKY
}

/// The program's sticky flags while the runtime runs on its thread; see the module.
#[derive(Debug)]
pub struct FloatingPoint {
    flags: u32,
}

impl FloatingPoint {
    /// Takes over from the program.
    pub fn enter() -> FloatingPoint {
        FloatingPoint { flags: read_mxcsr() & STICKY }
    }
    /// Runs code of the program: the flags that it raises are the program's.
    pub fn program<T>(&mut self, work: impl FnOnce() -> T) -> T {
        write_sticky(self.flags);
        let result = work();
        self.flags |= read_mxcsr() & STICKY;
        result
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
    fn only_the_programs_own_flags_stay() {
        assert!(is_default());
        let raised = raised_by(|| {
            {
                let mut fp = FloatingPoint::enter();
                black_box(black_box(1.0f64) / black_box(3.0));
                fp.program(|| black_box(black_box(1.0f64) / black_box(0.0)));
                black_box(black_box(1.0f64) / black_box(3.0));
            }
            assert_eq!(read_mxcsr() & INEXACT, 0);
        });
        assert_eq!(raised, DIVISION_BY_ZERO);
    }
}
