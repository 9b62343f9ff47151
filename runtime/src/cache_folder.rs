//! The folder of what outlives a process: compiled kernels (`device::cuda::cache`) and what earlier runs have measured (`history::file`).
//!
//! It is `$XDG_CACHE_HOME/paragon` or `~/.cache/paragon`. It has to be a folder (no link to one) of the effective user's, in which nobody else may
//! create files; programs with raised privileges have none. Relative paths are no answer (XDG Base Directory Specification).

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
    // A relative path would be another folder after the program has gone to one.
    let absolute = |name: &str| std::env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
    let base = absolute("XDG_CACHE_HOME").or_else(|| Some(absolute("HOME")?.join(".cache")))?;
    let folder = base.join("paragon");
    if creates {
        let _ = std::fs::DirBuilder::new().recursive(true).mode(0o700).create(&folder);
    }
    let found = std::fs::symlink_metadata(&folder).ok()?;
    (found.is_dir() && is_ours(&found)).then_some(folder)
}
