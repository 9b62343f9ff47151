//! The folder of what outlives a process: compiled kernels (`device::cuda::cache`) and what earlier runs have measured (`history::file`).
//!
//! It is `$XDG_CACHE_HOME/paragon` or `~/.cache/paragon`. It has to be a folder (no link to one) of the effective user's, in which nobody else may
//! create files; programs with raised privileges have none. Relative paths are no answer (XDG Base Directory Specification).

use std::fs::{File, Metadata, Permissions};
use std::io::ErrorKind;
use std::os::unix::fs::{DirBuilderExt, MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

/// Whether what was found belongs to the effective user and nobody else may change it.
pub fn is_ours(found: &Metadata) -> bool {
    // SAFETY: a plain query of the process.
    let user = unsafe { libc::geteuid() };
    found.uid() == user && found.mode() & 0o022 == 0
}

/// Where the folder belongs: what it is in, whether that is the user's home, which nobody but the system makes. The environment is
/// looked at once, where the runtime is loaded: later another thread of the program may be changing it.
fn base() -> Option<&'static (PathBuf, bool)> {
    static BASE: OnceLock<Option<(PathBuf, bool)>> = OnceLock::new();
    // A relative path would be another folder after the program has gone to one.
    let absolute = |name: &str| std::env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
    let find = || match absolute("XDG_CACHE_HOME") {
        Some(cache) => Some((cache, false)),
        None => Some((absolute("HOME")?, true)),
    };
    BASE.get_or_init(find).as_ref()
}

/// Looks at the environment.
pub fn settle() {
    base();
}

/// The folder, if there is a safe one. `creates`: whether it is made where it is missing.
pub fn folder(creates: bool) -> Option<PathBuf> {
    // SAFETY: a plain query of the process.
    if unsafe { libc::getauxval(libc::AT_SECURE) != 0 } {
        return None;
    }
    let (base, is_home) = base()?;
    let folder = if *is_home { base.join(".cache/paragon") } else { base.join("paragon") };
    if creates && (!is_home || base.is_dir()) {
        make(&folder);
    }
    let found = std::fs::symlink_metadata(&folder).ok()?;
    (found.is_dir() && is_ours(&found)).then_some(folder)
}

/// Makes a folder, and those that it is in, where they are missing. Failures say nothing.
pub fn make(folder: &Path) {
    let create = || std::fs::DirBuilder::new().mode(0o700).create(folder);
    let mut made = create();
    if let (Err(error), Some(parent)) = (&made, folder.parent())
        && error.kind() == ErrorKind::NotFound
    {
        make(parent);
        made = create();
    }
    // The program's mask may have taken from the owner what all programs need that keep something there.
    if made.is_ok()
        && std::fs::symlink_metadata(folder)
            .is_ok_and(|found| found.is_dir() && found.mode() & 0o700 != 0o700)
    {
        let _ = std::fs::set_permissions(folder, Permissions::from_mode(0o700));
    }
}

/// Gives a file that was just made this mode, of which the program's mask may have taken something.
pub fn permit(file: &File, mode: u32) {
    if file.metadata().is_ok_and(|found| found.mode() & 0o777 != mode) {
        let _ = file.set_permissions(Permissions::from_mode(mode));
    }
}
