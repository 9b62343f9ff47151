//! The options of gcc and clang as data: how each takes its value and what it means to us.
//!
//! Whatever [`lookup`] doesn't find makes the whole command the real compiler's, so nothing is listed here whose effect
//! on a loop's results isn't known. Not here: reading a command line (`driver::arguments`).

/// How an option takes its value.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Value {
    /// It has none.
    None,
    /// In the same argument.
    Joined,
    /// In the next argument.
    Separate,
    /// In the same argument, or in the next when nothing is joined.
    Either,
}

/// What an option means to us.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Meaning {
    /// Nothing: it is passed on.
    Irrelevant,
    /// `-c`.
    CompileOnly,
    /// `-S`.
    AssemblyOnly,
    /// `-o`.
    Output,
    /// `-MD`, `-MMD`.
    Dependencies,
    /// `-MF`.
    DependencyFile,
    /// `-MT`, `-MQ`.
    DependencyTarget,
    /// `-MP`.
    DependencyDetail,
    /// `-x`.
    Language,
    /// `-include`, `-imacros`.
    Included,
    /// `-Wp,` with words that the table holds for themselves.
    PreprocessorWords,
    /// The real compiler's alone, or a switch that asks for code as the user wrote it.
    TooHard,
    /// A warning that depends on a function's size, on what it calls or on how the text is handed over, or one that fails
    /// the command: what is said has to be said of the text as it was written.
    Warning,
    /// `-O...`.
    Optimisation,
    /// `-std=`, `-ansi`.
    Standard,
    /// A switch that changes the dialect or what analysis may do; told apart by its whole text.
    Licence,
    /// Changes whether the object tells how stacks are walked.
    Frames,
    /// Ours: never seen by the real compiler.
    Own,
}

use Meaning::*;

/// An option's name, how it takes its value, and what it means.
pub type Entry = (&'static str, Value, Meaning);

/// The options, sorted by name. A joined option matches every argument that starts with its name; the longest wins.
///
/// Warnings as such don't matter: if anything is said of a rewritten text, the user reads what is said of the own one.
#[rustfmt::skip]
pub static OPTIONS: &[Entry] = &[
    ("--dump-after", Value::Joined, Own),
    ("--paragon-save-temps", Value::Joined, Own),
    ("--param", Value::Either, Irrelevant),
    ("--sysroot", Value::Either, Irrelevant),
    ("-B", Value::Either, Irrelevant),
    ("-D", Value::Either, Irrelevant),
    ("-I", Value::Either, Irrelevant),
    ("-L", Value::Either, Irrelevant),
    ("-MD", Value::None, Dependencies),
    ("-MF", Value::Either, DependencyFile),
    ("-MMD", Value::None, Dependencies),
    ("-MP", Value::None, DependencyDetail),
    ("-MQ", Value::Either, DependencyTarget),
    ("-MT", Value::Either, DependencyTarget),
    ("-O", Value::Joined, Optimisation),
    ("-Qn", Value::None, Irrelevant),
    ("-Qy", Value::None, Irrelevant),
    ("-Rpass-analysis=paragon", Value::None, Own),
    ("-Rpass-missed=paragon", Value::None, Own),
    ("-Rpass=paragon", Value::None, Own),
    ("-S", Value::None, AssemblyOnly),
    ("-T", Value::Either, Irrelevant),
    ("-U", Value::Either, Irrelevant),
    ("-W", Value::Joined, Irrelevant),
    ("-Wa,", Value::Joined, TooHard),
    ("-Wa,--noexecstack", Value::None, Irrelevant),
    ("-Walloca-larger-than", Value::Joined, Warning),
    ("-Wdisabled-optimization", Value::None, Warning),
    ("-Werror", Value::Joined, Warning),
    ("-Wframe-larger-than", Value::Joined, Warning),
    ("-Winline", Value::None, Warning),
    ("-Wlarger-than", Value::Joined, Warning),
    ("-Wp,", Value::Joined, TooHard),
    ("-Wp,-D", Value::Joined, PreprocessorWords),
    ("-Wp,-I", Value::Joined, PreprocessorWords),
    ("-Wp,-U", Value::Joined, PreprocessorWords),
    ("-Wstack-protector", Value::None, Warning),
    ("-Wstack-usage", Value::Joined, Warning),
    ("-Wsuggest-attribute", Value::Joined, Warning),
    ("-Wsystem-headers", Value::None, Warning),
    ("-Wunsafe-loop-optimizations", Value::None, Warning),
    ("-Wunused-macros", Value::None, Warning),
    ("-Wvla-larger-than", Value::Joined, Warning),
    ("-Xlinker", Value::Separate, Irrelevant),
    ("-ansi", Value::None, Standard),
    ("-c", Value::None, CompileOnly),
    ("-fassociative-math", Value::None, Licence),
    ("-fasynchronous-unwind-tables", Value::None, Frames),
    ("-fdebug-prefix-map=", Value::Joined, Irrelevant),
    ("-fdiagnostics-format=", Value::Joined, TooHard),
    ("-fdiagnostics-generate-patch", Value::None, TooHard),
    ("-fexceptions", Value::None, Frames),
    ("-fexcess-precision=", Value::Joined, Irrelevant),
    ("-ffast-math", Value::None, Licence),
    ("-ffile-prefix-map=", Value::Joined, Irrelevant),
    ("-ffinite-math-only", Value::None, Licence),
    ("-ffp-contract=", Value::Joined, Licence),
    ("-fgnu89-inline", Value::None, Licence),
    ("-fhosted", Value::None, Irrelevant),
    ("-fmacro-prefix-map=", Value::Joined, Irrelevant),
    ("-fmath-errno", Value::None, Irrelevant),
    ("-fno-associative-math", Value::None, Licence),
    ("-fno-asynchronous-unwind-tables", Value::None, Frames),
    ("-fno-builtin", Value::Joined, Licence),
    ("-fno-exceptions", Value::None, Frames),
    ("-fno-fast-math", Value::None, Licence),
    ("-fno-finite-math-only", Value::None, Irrelevant),
    ("-fno-float-store", Value::None, Irrelevant),
    ("-fno-gnu89-inline", Value::None, Licence),
    ("-fno-instrument-functions", Value::None, Irrelevant),
    ("-fno-lto", Value::None, Irrelevant),
    ("-fno-math-errno", Value::None, Irrelevant),
    ("-fno-non-call-exceptions", Value::None, Irrelevant),
    ("-fno-paragon", Value::None, Own),
    ("-fno-reciprocal-math", Value::None, Irrelevant),
    ("-fno-rounding-math", Value::None, Irrelevant),
    ("-fno-short-enums", Value::None, Licence),
    ("-fno-signaling-nans", Value::None, Irrelevant),
    ("-fno-signed-char", Value::None, Licence),
    ("-fno-signed-zeros", Value::None, Irrelevant),
    ("-fno-split-stack", Value::None, Irrelevant),
    ("-fno-stack-check", Value::None, Irrelevant),
    ("-fno-strict-aliasing", Value::None, Licence),
    ("-fno-strict-overflow", Value::None, Licence),
    ("-fno-trapping-math", Value::None, Irrelevant),
    ("-fno-trapv", Value::None, Irrelevant),
    ("-fno-unsafe-math-optimizations", Value::None, Licence),
    ("-fno-unsigned-char", Value::None, Licence),
    ("-fno-unwind-tables", Value::None, Frames),
    ("-fno-wrapv", Value::None, Licence),
    ("-fopenmp", Value::None, Irrelevant),
    ("-fparagon", Value::None, Own),
    ("-fparagon-checked-threads", Value::None, Own),
    ("-fparagon-doubt", Value::None, Own),
    ("-fparagon-echo", Value::None, Own),
    ("-fparagon-math=device", Value::None, Own),
    ("-fparagon-reassoc", Value::None, Own),
    ("-fparagon-report=", Value::Joined, Own),
    ("-fparagon-threshold=", Value::Joined, Own),
    ("-frandom-seed=", Value::Joined, Irrelevant),
    ("-fshort-enums", Value::None, Licence),
    ("-fsigned-char", Value::None, Licence),
    ("-fsigned-zeros", Value::None, Irrelevant),
    ("-fstrict-aliasing", Value::None, Licence),
    ("-fstrict-overflow", Value::None, Licence),
    ("-ftrapping-math", Value::None, Irrelevant),
    ("-funsafe-math-optimizations", Value::None, Licence),
    ("-funsigned-char", Value::None, Licence),
    ("-funwind-tables", Value::None, Frames),
    ("-fuse-ld=", Value::Joined, Irrelevant),
    ("-fwrapv", Value::None, Licence),
    ("-g", Value::None, Irrelevant),
    ("-g0", Value::None, Irrelevant),
    ("-g1", Value::None, Irrelevant),
    ("-g2", Value::None, Irrelevant),
    ("-g3", Value::None, Irrelevant),
    ("-gdwarf", Value::Joined, Irrelevant),
    ("-ggdb", Value::Joined, Irrelevant),
    ("-gtoggle", Value::None, Irrelevant),
    ("-gz", Value::Joined, Irrelevant),
    ("-idirafter", Value::Either, Irrelevant),
    ("-imacros", Value::Either, Included),
    ("-include", Value::Either, Included),
    ("-iprefix", Value::Either, Irrelevant),
    ("-iquote", Value::Either, Irrelevant),
    ("-isysroot", Value::Either, Irrelevant),
    ("-isystem", Value::Either, Irrelevant),
    ("-iwithprefix", Value::Either, Irrelevant),
    ("-iwithprefixbefore", Value::Either, Irrelevant),
    ("-l", Value::Either, Irrelevant),
    ("-m64", Value::None, Irrelevant),
    ("-march=", Value::Joined, Licence),
    ("-mavx512", Value::Joined, Licence),
    ("-mcmodel=", Value::Joined, Irrelevant),
    ("-mcmodel=kernel", Value::None, TooHard),
    // Another object under the name of one of the file's own: gas 2.40 gets its place in the table of addresses wrong.
    ("-mcmodel=large", Value::None, TooHard),
    ("-mfma", Value::None, Licence),
    ("-mfma4", Value::None, Licence),
    ("-mfpmath=sse", Value::None, Irrelevant),
    ("-mno-80387", Value::None, TooHard),
    ("-mno-avx512", Value::Joined, Irrelevant),
    ("-mno-fma", Value::None, Licence),
    ("-mno-fma4", Value::None, Licence),
    ("-mno-mmx", Value::None, TooHard),
    ("-mno-red-zone", Value::None, TooHard),
    ("-mno-sse", Value::None, TooHard),
    ("-mno-sse2", Value::None, TooHard),
    ("-no-canonical-prefixes", Value::None, Irrelevant),
    ("-no-pie", Value::None, Irrelevant),
    ("-nodefaultlibs", Value::None, TooHard),
    ("-nostdinc", Value::None, TooHard),
    ("-o", Value::Either, Output),
    ("-pass-exit-codes", Value::None, Irrelevant),
    ("-pedantic", Value::None, Irrelevant),
    ("-pedantic-errors", Value::None, Irrelevant),
    ("-pie", Value::None, Irrelevant),
    ("-pipe", Value::None, Irrelevant),
    ("-pthread", Value::None, Irrelevant),
    ("-rdynamic", Value::None, Irrelevant),
    ("-s", Value::None, Irrelevant),
    ("-shared", Value::None, Irrelevant),
    ("-shared-libgcc", Value::None, Irrelevant),
    ("-static", Value::None, Irrelevant),
    ("-static-libgcc", Value::None, Irrelevant),
    ("-static-pie", Value::None, Irrelevant),
    ("-std=", Value::Joined, Standard),
    ("-symbolic", Value::None, Irrelevant),
    ("-u", Value::Either, Irrelevant),
    ("-w", Value::None, Irrelevant),
    ("-x", Value::Either, Language),
    ("-z", Value::Either, Irrelevant),
];

/// What follows `-f` or `-fno-`, with or without `=value`, in options that change how code is optimised, laid out or
/// reported, and not what it computes. Sorted.
#[rustfmt::skip]
static SWITCHES: &[&str] = &[
    "PIC", "PIE", "aggressive-loop-optimizations", "align-functions", "align-jumps", "align-labels",
    "align-loops", "allocation-dce", "allow-store-data-races", "auto-inc-dec",
    "bit-tests", "branch-count-reg", "caller-saves", "canonical-system-headers", "cf-protection",
    "code-hoisting", "combine-stack-adjustments", "common", "compare-elim", "conserve-stack",
    "cprop-registers", "crossjumping", "cse-follow-jumps", "cse-skip-blocks", "data-sections", "dce",
    "debug-types-section", "defer-pop", "delayed-branch", "delete-dead-exceptions",
    "delete-null-pointer-checks", "devirtualize", "devirtualize-at-ltrans", "devirtualize-speculatively",
    "dse", "dwarf2-cfi-asm", "early-inlining", "eliminate-dwarf2-dups", "eliminate-unused-debug-symbols",
    "eliminate-unused-debug-types", "expensive-optimizations", "fat-lto-objects",
    "finite-loops", "fold-simple-inlines", "forward-propagate", "free", "function-cse", "function-sections",
    "gcse", "gcse-after-reload", "gcse-las", "gcse-lm", "gcse-sm", "gnu-unique", "graphite",
    "graphite-identity", "guess-branch-probability", "harden-compares", "harden-conditional-branches",
    "hoist-adjacent-loads", "ident", "if-conversion", "if-conversion2", "indirect-inlining", "inline",
    "inline-atomics", "inline-functions", "inline-functions-called-once", "inline-limit",
    "inline-small-functions", "isolate-erroneous-paths-attribute", "isolate-erroneous-paths-dereference",
    "ivopts", "jump-tables", "lax-vector-conversions", "lifetime-dse", "limit-function-alignment",
    "live-range-shrinkage", "loop-block", "loop-interchange", "loop-nest-optimize", "loop-optimize",
    "loop-parallelize-all", "loop-strip-mine", "loop-unroll-and-jam", "lra-remat", "max-errors",
    "merge-all-constants", "merge-constants", "merge-debug-strings", "message-length", "modulo-sched",
    "modulo-sched-allow-regmoves", "move-loop-invariants", "move-loop-stores", "omit-frame-pointer",
    "openmp-simd", "optimize-sibling-calls", "optimize-strlen", "partial-inlining", "peel-loops", "peephole",
    "peephole2", "pic", "pie", "plt", "predictive-commoning", "prefetch-loop-arrays", "printf-return-value",
    "rename-registers", "reorder-blocks", "reorder-blocks-algorithm", "reorder-blocks-and-partition",
    "reorder-functions", "rerun-cse-after-loop", "reschedule-modulo-scheduled-loops", "schedule-fusion",
    "schedule-insns", "schedule-insns2", "section-anchors", "sel-sched-pipelining",
    "sel-sched-pipelining-outer-loops", "sel-sched-reschedule-pipelined", "selective-scheduling",
    "selective-scheduling2", "semantic-interposition", "show-column", "shrink-wrap", "shrink-wrap-separate",
    "simd-cost-model", "split-ivs-in-unroller", "split-loops", "split-paths", "split-wide-types",
    "split-wide-types-early", "ssa-backprop", "ssa-phiopt", "stack-clash-protection", "stack-reuse",
    "stdarg-opt", "store-merging", "tabstop", "thread-jumps", "tls-model", "tracer",
    "track-macro-expansion", "trampolines", "unconstrained-commons", "unit-at-a-time", "unroll-all-loops",
    "unroll-loops", "unswitch-loops", "use-linker-plugin", "var-tracking",
    "var-tracking-assignments", "var-tracking-assignments-toggle", "var-tracking-uninit",
    "variable-expansion-in-unroller", "vect-cost-model", "verbose-asm", "version-loops-for-strides",
    "visibility", "vpt", "web", "working-directory", "zero-call-used-regs", "zero-initialized-in-bss",
];

/// Beginnings of names that hold for whole groups of [`SWITCHES`].
static SWITCH_GROUPS: &[&str] =
    &["diagnostics-", "ipa-", "ira-", "sched-", "sched2-", "stack-protector", "tree-"];

/// The same for `-m` and `-mno-`: which instructions may be used and what they are tuned for. Fused products are not among
/// them, because they change results.
#[rustfmt::skip]
static MACHINE_SWITCHES: &[&str] = &[
    "3dnow", "3dnowa", "64", "8bit-idiv", "abm", "accumulate-outgoing-args", "adx", "aes", "align-data",
    "align-stringops", "avx", "avx2", "avx256-split-unaligned-load", "avx256-split-unaligned-store",
    "avxvnni", "bmi", "bmi2", "branch-cost", "cet-switch", "cld", "cldemote", "clflushopt", "clwb", "clzero",
    "crc32", "cx16", "f16c", "fancy-math-387", "fsgsbase", "function-return", "fxsr", "gfni", "glibc",
    "harden-sls", "hle", "hreset", "indirect-branch", "indirect-branch-cs-prefix", "indirect-branch-register",
    "inline-all-stringops", "inline-stringops-dynamically", "large-data-threshold", "lwp", "lzcnt",
    "memcpy-strategy", "memset-strategy", "mmx", "movbe", "movdir64b", "movdiri", "move-max", "mwait",
    "mwaitx", "omit-leaf-frame-pointer", "pclmul", "pku", "popcnt", "prefer-avx128", "prefer-vector-width",
    "prefetchwt1", "prfchw", "ptwrite", "push-args", "rdpid", "rdrnd", "rdseed", "red-zone",
    "relax-cmpxchg-loop", "rtm", "sahf", "serialize", "sgx", "sha", "shstk", "sse", "sse2", "sse2avx", "sse3",
    "sse4", "sse4.1", "sse4.2", "sse4a", "ssse3", "stackrealign", "store-max", "stringop-strategy", "stv",
    "tbm", "tls-dialect", "tls-direct-seg-refs", "tsxldtrk", "tune", "vaes", "vpclmulqdq", "vzeroupper",
    "waitpkg", "wbnoinvd", "xsave", "xsavec", "xsaveopt", "xsaves",
];

/// The same for `-g` and `-gno-`.
#[rustfmt::skip]
static DEBUGGING_SWITCHES: &[&str] = &[
    "as-loc-support", "as-locview-support", "column-info", "describe-dies", "gnu-pubnames", "inline-points",
    "internal-reset-location-views", "pubnames", "record-gcc-switches", "statement-frontiers", "strict-dwarf",
    "variable-location-views",
];

/// What every member of the lists of switches is.
static SWITCH: Entry = ("a switch without meaning to us", Value::None, Irrelevant);

/// Looks `argument` up: the entry, and the value if it is joined.
pub fn lookup(argument: &[u8]) -> Option<(&'static Entry, Option<&[u8]>)> {
    if let Ok(index) = OPTIONS.binary_search_by(|option| option.0.as_bytes().cmp(argument)) {
        return Some((&OPTIONS[index], None));
    }
    let prefix = OPTIONS
        .iter()
        .filter(|option| {
            matches!(option.1, Value::Joined | Value::Either) && argument.starts_with(option.0.as_bytes())
        })
        .max_by_key(|option| option.0.len());
    match prefix {
        Some(entry) => Some((entry, Some(&argument[entry.0.len()..]))),
        None => is_switch(argument).then_some((&SWITCH, None)),
    }
}

/// Whether it is a member of the lists of switches.
fn is_switch(argument: &[u8]) -> bool {
    let Some(text) = std::str::from_utf8(argument).ok().and_then(|text| text.strip_prefix('-')) else {
        return false;
    };
    let (list, groups) = match text.as_bytes().first() {
        Some(b'f') => (SWITCHES, SWITCH_GROUPS),
        Some(b'm') => (MACHINE_SWITCHES, [].as_slice()),
        Some(b'g') => (DEBUGGING_SWITCHES, [].as_slice()),
        _ => return false,
    };
    let name = text[1..].strip_prefix("no-").unwrap_or(&text[1..]);
    let name = name.split_once('=').map_or(name, |(name, _)| name);
    list.binary_search(&name).is_ok() || groups.iter().any(|group| name.starts_with(group))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_are_sorted() {
        assert!(OPTIONS.windows(2).all(|pair| pair[0].0 < pair[1].0));
        for list in [SWITCHES, MACHINE_SWITCHES, DEBUGGING_SWITCHES] {
            assert!(list.windows(2).all(|pair| pair[0] < pair[1]));
        }
    }

    #[test]
    fn what_changes_results_is_in_no_list() {
        for option in [
            "-freciprocal-math",
            "-frounding-math",
            "-ftrapv",
            "-fsanitize=address",
            "-fsingle-precision-constant",
            "-fpack-struct",
            "-fshort-wchar",
            "-fms-extensions",
            "-fstrict-volatile-bitfields",
            "-ffloat-store",
            "-fcx-limited-range",
            "-fno-signed-bitfields",
            "-finstrument-functions",
            "-fprofile-generate",
            "-flto",
            "-fstack-usage",
            "-fdump-tree-all",
            "-fopt-info",
            "-mlong-double-64",
            "-malign-double",
            "-m32",
            "-mx32",
            "-mfpmath=387",
            "-mpc32",
            "-mdaz-ftz",
            "-mgeneral-regs-only",
            "-msoft-float",
            "-mrecip",
            "-gsplit-dwarf",
            "-fcallgraph-info",
            "-save-temps",
            "-fnonsense",
            "-mnonsense",
        ] {
            assert!(lookup(option.as_bytes()).is_none(), "{option}");
        }
        for option in
            ["-fno-tree-vectorize", "-falign-functions=32", "-msse4.2", "-mno-avx", "-gno-column-info"]
        {
            assert!(lookup(option.as_bytes()).is_some_and(|found| found.0.2 == Irrelevant), "{option}");
        }
    }
}
