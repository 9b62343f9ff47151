//! Kernels of all programs, as NVIDIA's run-time compiler makes them. What they compute is compared elsewhere.

use super::building::{in_parallel, plain, scratch, succeed};
use super::programs::programs;
use super::tally::{announce, conclude};
use super::{PARAGON_CC, ROOT};
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

/// Where NVIDIA's run-time compiler is, if it is anywhere: `make test` sees to it that it is.
fn nvrtc() -> Option<PathBuf> {
    match std::env::var_os("PARAGON_NVRTC") {
        Some(folder) => Some(folder.into()),
        None => Some(Path::new(ROOT).join(".tools/nvrtc/nvidia/cu13/lib")).filter(|folder| folder.exists()),
    }
}

/// Every CUDA kernel of every program becomes machine code, with each log method; no GPU is needed for that.
#[test]
fn every_kernel_compiles_for_cuda() {
    let started = Instant::now();
    let Some(nvrtc) = nvrtc() else {
        announce("kernels: SKIPPED, because NVRTC is not here; `make test` fetches it");
        return;
    };
    let checker = Path::new(PARAGON_CC).with_file_name("paragon-kernel-check");
    assert!(checker.exists(), "{} is missing: cargo build --workspace", checker.display());
    let folder = scratch("kernels");
    in_parallel(programs(), |program| {
        let mut own = std::ffi::OsString::from("--paragon-save-temps=");
        own.push(folder.join(&program.name));
        let object = folder.join(format!("{}.o", program.name));
        let mut compile = plain(PARAGON_CC);
        compile.args(["-std=gnu11", "-O2", "-c", "-o"]).arg(object).arg(own).arg(&program.source);
        succeed(&mut compile);
        Vec::new()
    });
    // Loops of the shared headers come out the same in many programs.
    let mut seen = BTreeSet::new();
    let mut kernels: Vec<PathBuf> = Vec::new();
    for program in programs() {
        let before = kernels.len();
        let mut files: Vec<PathBuf> = fs::read_dir(folder.join(&program.name))
            .unwrap()
            .map(|entry| entry.unwrap().path())
            .filter(|path| path.extension().is_some_and(|e| e == "cu"))
            .collect();
        files.sort();
        assert!(!files.is_empty(), "{}: no kernel", program.name);
        kernels.extend(files.into_iter().filter(|path| seen.insert(fs::read(path).unwrap())));
        assert!(kernels.len() > before, "{}: no kernel of its own", program.name);
    }
    let chunks: Vec<&[PathBuf]> = kernels.chunks(8).collect();
    let compiled = AtomicUsize::new(0);
    let failures = in_parallel(&chunks, |chunk| {
        let output =
            plain(&checker).env("PARAGON_NVRTC", &nvrtc).arg("--in-turn").args(*chunk).output().unwrap();
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        let last = text.lines().last().unwrap_or_default().to_string();
        let passed: usize = last.split(' ').next().and_then(|n| n.parse().ok()).unwrap_or(0);
        compiled.fetch_add(passed, Ordering::Relaxed);
        // How many variants there are is the checker's to know.
        if output.status.success() && passed >= chunk.len() && passed.is_multiple_of(chunk.len()) {
            return Vec::new();
        }
        vec![format!("{text}{}", String::from_utf8_lossy(&output.stderr))]
    });
    let text = format!("{} kernels in {} variants compiled for sm_90", kernels.len(), compiled.into_inner());
    conclude("kernels", started, &text, failures);
}
