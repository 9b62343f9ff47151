//! The folder of what outlives a process: compiled kernels (`device::cuda::cache`) and what earlier runs have measured (`history::file`).
//!
//! It is `$XDG_CACHE_HOME/paragon` or `~/.cache/paragon`. It has to be a folder (no link to one) of the effective user's, in which nobody else may
//! create files; programs with raised privileges have none.

use std::fs::Metadata;
use std::os::unix::fs::{DirBuilderExt, MetadataExt};
use std::path::PathBuf;

/// Whether what was found belongs to the effective user and nobody else may change it.
pub fn is_ours(found: &Metadata) -> bool {
    // SAFETY: a plain query of the process.
    let user = unsafe { libc::geteuid() };
    found.uid() == user && found.mode() & 0o022 == 0
}

/// The folder, if there is a safe one. `creates`: whether it is made where it is missing.
pub fn folder(creates: bool) -> Option<PathBuf> {
    // SAFETY: a plain query of the process.
    if unsafe { libc::getauxval(libc::AT_SECURE) != 0 } {
        return None;
    }
    let base = std::env::var_os("XDG_CACHE_HOME")
        .filter(|v| !v.is_empty())
        .map(PathBuf::from)
        .or_else(|| std::env::var_os("HOME").map(|h| PathBuf::from(h).join(".cache")))?;
    let folder = base.join("paragon");
    if creates {
        let _ = std::fs::DirBuilder::new().recursive(true).mode(0o700).create(&folder);
    }
    let found = std::fs::symlink_metadata(&folder).ok()?;
    (found.is_dir() && is_ours(&found)).then_some(folder)
}
