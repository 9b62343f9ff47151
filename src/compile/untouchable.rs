//! Files that are compiled as they stand, whatever loops they have: what stands in front of a loop would be found by a function of their own, or what they do would go on otherwise once the
//! runtime is loaded. Which loops of other files are left alone is [`crate::verdict`]'s matter.

use crate::c::hir::{Callee, ExprKind, TranslationUnit};
use crate::loops::nest;
use std::path::Path;

/// Functions by which the runtime is found, or that are called meanwhile. Where a unit has its own (ISO C leaves most of these names to programs), its loops may be what they consist of.
const SERVING: [&str; 19] = [
    "malloc",
    "calloc",
    "realloc",
    "free",
    "memalign",
    "posix_memalign",
    "aligned_alloc",
    "dlsym",
    "dlopen",
    "dlerror",
    "secure_getenv",
    "getauxval",
    "pthread_self",
    "pthread_getattr_np",
    "pthread_attr_getstack",
    "pthread_attr_destroy",
    "__errno_location",
    "la_version",
    "la_objopen",
];

/// Functions whose callers would notice that the runtime is loaded at the first loop, or whose handlers would: the end of the data is where the C library's allocator goes on (`sbrk`), and a handler whose own signal isn't blocked (`SA_NODEFER`) isn't known for one, and may have interrupted an allocation.
const BETRAYED: [&str; 4] = ["brk", "sbrk", "sysv_signal", "__sysv_signal"];

/// As <signal.h> has it.
const SA_NODEFER: &str = "0x40000000";

/// Why nothing in a unit may be changed, if that is so. `expanded`: its text behind the preprocessor.
pub fn untouchable(unit: &TranslationUnit, expanded: &str) -> Option<String> {
    // The compiler takes the precompiled header if it can, which may be older than the header. The preprocessor by itself never does.
    let precompiled = unit.files.iter().find(|file| Path::new(&format!("{file}.gch")).exists());
    if let Some(file) = precompiled {
        return Some(format!("{file} is there as a precompiled header, too"));
    }
    let defined = unit.functions.iter().map(|function| unit.var(function.var).name.as_str());
    let refused = unit.refused.iter().map(|refused| refused.name.as_str());
    if let Some(name) = defined.chain(refused).find(|name| SERVING.contains(name)) {
        return Some(format!("the runtime would be looked for by a {name} of its own"));
    }
    let defers = expanded.contains(SA_NODEFER);
    let mut calls = None;
    for function in &unit.functions {
        nest::all_expressions(&function.body, &mut |e| {
            if let ExprKind::Call { callee: Callee::Named(callee), .. } = &e.kind {
                let name = unit.var(*callee).name.as_str();
                let is_betrayed = match name {
                    "sigaction" => defers,
                    // Under strict standards the header has this name stand for System V's function, which lets a handler interrupt itself, and be taken for no handler.
                    "signal" => unit.replaceable.contains(callee),
                    _ => BETRAYED.contains(&name),
                };
                if is_betrayed {
                    calls.get_or_insert(name);
                }
            }
        });
    }
    calls.map(|name| format!("it calls {name}"))
}
