//! Compiled kernels on disk, so that a program's second run does not compile.
//!
//! One file for each kernel in [`cache_folder`], named by a hash of all that went into it and holding a checksum. Whatever is wrong with
//! a file or folder (damage, a full disk, another owner) only means that the kernel is compiled.

use crate::cache_folder;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io::Write;
use std::path::PathBuf;

/// First bytes of a cache file.
const MAGIC: &[u8; 8] = b"paragon1";

fn hash(salt: u64, parts: &[&[u8]]) -> u64 {
    let mut hasher = DefaultHasher::new();
    salt.hash(&mut hasher);
    parts.hash(&mut hasher);
    hasher.finish()
}

/// The name of the file for these inputs.
fn file(parts: &[&[u8]]) -> Option<PathBuf> {
    Some(cache_folder::folder(true)?.join(format!("{:016x}{:016x}.cubin", hash(1, parts), hash(2, parts))))
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
