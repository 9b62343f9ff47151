//! Compiled kernels on disk, so that a program's second run does not compile.
//!
//! One file for each kernel under `$XDG_CACHE_HOME/paragon` or `~/.cache/paragon`, named by a hash of all that went into it and
//! holding a checksum. Whatever is wrong with a file or folder (damage, a full disk, another owner) only means that the kernel
//! is compiled. Programs with raised privileges use no cache.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::io::Write;
use std::os::unix::fs::{DirBuilderExt, MetadataExt};
use std::path::PathBuf;

/// First bytes of a cache file.
const MAGIC: &[u8; 8] = b"paragon1";

fn hash(salt: u64, parts: &[&[u8]]) -> u64 {
    let mut hasher = DefaultHasher::new();
    salt.hash(&mut hasher);
    parts.hash(&mut hasher);
    hasher.finish()
}

/// The cache's folder, if there is a safe one.
fn folder() -> Option<PathBuf> {
    // SAFETY: plain queries of the process.
    let (secure, user) = unsafe { (libc::getauxval(libc::AT_SECURE) != 0, libc::geteuid()) };
    if secure {
        return None;
    }
    let base = std::env::var_os("XDG_CACHE_HOME")
        .filter(|v| !v.is_empty())
        .map(PathBuf::from)
        .or_else(|| std::env::var_os("HOME").map(|h| PathBuf::from(h).join(".cache")))?;
    let folder = base.join("paragon");
    let _ = std::fs::DirBuilder::new().recursive(true).mode(0o700).create(&folder);
    let meta = std::fs::symlink_metadata(&folder).ok()?;
    (meta.is_dir() && meta.uid() == user && meta.mode() & 0o022 == 0).then_some(folder)
}

/// The name of the file for these inputs.
fn file(parts: &[&[u8]]) -> Option<PathBuf> {
    Some(folder()?.join(format!("{:016x}{:016x}.cubin", hash(1, parts), hash(2, parts))))
}

/// A kernel compiled before.
pub fn load(parts: &[&[u8]]) -> Option<Vec<u8>> {
    let content = std::fs::read(file(parts)?).ok()?;
    let rest = content.strip_prefix(MAGIC)?;
    let (sum, cubin) = rest.split_first_chunk::<8>()?;
    (u64::from_le_bytes(*sum) == hash(3, &[cubin])).then(|| cubin.to_vec())
}

/// Keeps a kernel; failing to is no error.
pub fn store(parts: &[&[u8]], cubin: &[u8]) {
    let Some(target) = file(parts) else { return };
    let temporary = target.with_extension(format!("{}.tmp", std::process::id()));
    let written = std::fs::File::create(&temporary).and_then(|mut f| {
        f.write_all(MAGIC)?;
        f.write_all(&hash(3, &[cubin]).to_le_bytes())?;
        f.write_all(cubin)
    });
    if written.and_then(|()| std::fs::rename(&temporary, &target)).is_err() {
        let _ = std::fs::remove_file(&temporary);
    }
}
