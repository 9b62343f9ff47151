//! The texts that generated code stands on, joined: where they are used nothing can be included. The compiler and the runtime both have this
//! module, each for itself. `paragon_body.h` and `paragon_kernel.h` say what the parts are for, and include them in the same order for
//! those who compile them as files; a test in `nvrtc.rs` compares both.

/// The C ABI, in front of everything that is generated.
pub const ABI: &str = include_str!("paragon_rt.h");

/// What bodies stand on.
pub const BODY: &str = concat!(
    "#ifndef PARAGON_BODY_H\n#define PARAGON_BODY_H\n\n",
    include_str!("body/operations.h"),
    "/* A unit without functions for the threads device needs no more than this. */\n#ifndef __PG_DIRECT_ONLY\n",
    include_str!("body/launch.h"),
    include_str!("body/range.h"),
    include_str!("body/bitmaps.h"),
    include_str!("body/logs.h"),
    include_str!("body/joined.h"),
    include_str!("body/buffered.h"),
    include_str!("body/iterations.h"),
    include_str!("body/accesses.h"),
    include_str!("body/updates.h"),
    include_str!("body/results.h"),
    include_str!("body/arithmetic.h"),
    include_str!("body/loop.h"),
    "#endif /* __PG_DIRECT_ONLY */\n#endif\n",
);

/// What kernels have besides.
pub const KERNEL: &str = concat!(
    "#ifndef PARAGON_KERNEL_H\n#define PARAGON_KERNEL_H\n\n",
    include_str!("kernel/groups.h"),
    include_str!("kernel/origins.h"),
    include_str!("kernel/edges.h"),
    include_str!("kernel/room.h"),
    include_str!("kernel/walks.h"),
    include_str!("kernel/stages.h"),
    include_str!("kernel/subscripts.h"),
    include_str!("kernel/lent.h"),
    include_str!("kernel/runs.h"),
    include_str!("kernel/held.h"),
    include_str!("kernel/warps.h"),
    include_str!("kernel/side_by_side.h"),
    include_str!("kernel/gathered.h"),
    include_str!("kernel/notes.h"),
    include_str!("kernel/turns.h"),
    include_str!("kernel/collected.h"),
    "#endif\n",
);
