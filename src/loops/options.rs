//! What the command line allows analysis and code generation to do.
//!
//! Filled by `driver::arguments`. Not here: what the language is (`c::dialect`) and anything known only at run time.

use std::path::PathBuf;

/// Licences and limits for the analysis of loops.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct AnalysisOptions {
    /// Floating-point reductions may run in another order (`-ffast-math`, `-fassociative-math`, `-fparagon-reassoc`).
    pub reassociate: bool,
    /// The bits of calls of libm are free (all of `-ffast-math`, not a part of it; `-fparagon-math=device`).
    pub device_math: bool,
    /// Results may be approximations (`-ffast-math`, `-funsafe-math-optimizations`, `-ffinite-math-only` ...): then they depend
    /// on what the compiler makes of an expression where it stands.
    pub approximates: bool,
    /// Functions whose names mean nothing to the compiler (`-fno-builtin-sin`); an empty name: all of them (`-fno-builtin`).
    pub not_builtin: Vec<String>,
    /// Strict C90: the names that came with C99 are the program's own.
    pub strict_c90: bool,
    /// The target may fuse products with sums (an FMA target without `-ffp-contract=off`): which ones, is not known.
    pub contraction: bool,
    /// Signed overflow wraps (`-fwrapv`).
    pub wrapping: bool,
    /// Objects are only accessed as what they are (`-fstrict-aliasing`, part of `-O2`).
    pub strict_aliasing: bool,
    /// Somebody reads the reasons: then advice is tried out.
    pub explains: bool,
    /// Arrays may be privatized (`loops::privatization`): asked for where a loop can't do without.
    pub privatizes: bool,
    /// A function that is visible outside may be another one when the program runs (`-fPIC`, for shared libraries).
    pub interposable: bool,
}

/// What code generation is told.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct CodegenOptions {
    /// Absolute path of `libparagon_rt.so`, fixed into the object.
    pub runtime: Option<PathBuf>,
    /// `-fparagon-threshold=N`: the literal and static threshold of every loop.
    pub threshold: Option<u64>,
    /// `-fparagon-doubt`: every access of every loop is logged, so that a run refutes proofs that are wrong.
    pub doubt: bool,
    /// `-fparagon-checked-threads`: every loop can be speculated on threads, whether that may pay or not.
    pub checked_threads: bool,
    /// Whether the object tells how stacks are walked (`-fasynchronous-unwind-tables`, which most compilers have by default, `-fexceptions` ...).
    pub describes_frames: bool,
}
