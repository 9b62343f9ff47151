//! Kernels of all programs, as NVIDIA's run-time compiler makes them. What they compute is compared elsewhere.

use super::building::{in_parallel, plain, scratch, succeed, write_program};
use super::programs::{Program, programs};
use super::selection::{is_whole, selected};
use super::tally::{announce, conclude};
use super::{PARAGON_CC, ROOT};
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

/// Where NVIDIA's run-time compiler is, if it is anywhere: `make test` sees to it that it is.
fn nvrtc() -> Option<PathBuf> {
    match std::env::var_os("PARAGON_NVRTC") {
        Some(folder) => Some(folder.into()),
        None => Some(Path::new(ROOT).join(".tools/nvrtc/nvidia/cu13/lib")).filter(|folder| folder.exists()),
    }
}

/// The program that compiles kernels, and where the compiler is; `None`: it isn't here, which is said.
fn checker(name: &str) -> Option<(PathBuf, PathBuf)> {
    let Some(nvrtc) = nvrtc() else {
        announce(&format!("{name}: SKIPPED, because NVRTC is not here; `make test` fetches it"));
        return None;
    };
    let checker = Path::new(PARAGON_CC).with_file_name("paragon-kernel-check");
    assert!(checker.exists(), "{} is missing: cargo build --workspace", checker.display());
    Some((checker, nvrtc))
}

/// A compiler that leaves out what isn't looked at here: of what it is given to compile it looks for errors only.
const CHECKS_SYNTAX: &str = r#"#!/bin/sh
case " $* " in
*" -E "*) exec cc "$@" ;;
*" -c "*) exec cc "$@" -fsyntax-only ;;
*) exec cc "$@" ;;
esac
"#;

/// The texts of all programs' kernels as files, each text once, in folders that have the programs' names.
fn kernels() -> &'static [PathBuf] {
    static KERNELS: OnceLock<Vec<PathBuf>> = OnceLock::new();
    KERNELS.get_or_init(|| kernels_of(&programs().iter().collect::<Vec<_>>(), &scratch("kernels")))
}

fn kernels_of(programs: &[&Program], folder: &Path) -> Vec<PathBuf> {
    // Its name says whose text it gives.
    let compiler = folder.join("gcc-for-errors");
    write_program(&compiler, CHECKS_SYNTAX);
    in_parallel(programs, |program| {
        let mut own = std::ffi::OsString::from("--paragon-save-temps=");
        own.push(folder.join(&program.name));
        let object = folder.join(format!("{}.o", program.name));
        let mut compile = plain(PARAGON_CC);
        compile.env("PARAGON_CC", &compiler);
        compile.args(["-std=gnu11", "-O2", "-c", "-o"]).arg(object).arg(own).arg(&program.source);
        succeed(&mut compile);
        Vec::new()
    });
    // Loops of the shared headers come out the same in many programs.
    let mut seen = BTreeSet::new();
    let mut kernels: Vec<PathBuf> = Vec::new();
    for program in programs {
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
    kernels
}

/// NVRTC gives back and takes again much memory for each kernel: a fifth of its time.
fn keep_memory(command: &mut Command) -> &mut Command {
    let tunables = "glibc.malloc.trim_threshold=1000000000:glibc.malloc.mmap_threshold=1000000000:glibc.malloc.hugetlb=1";
    command.env("GLIBC_TUNABLES", tunables)
}

/// Every CUDA kernel of every program becomes machine code, with each log method; no GPU is needed for that.
#[test]
fn every_kernel_compiles_for_cuda() {
    let started = Instant::now();
    let Some((checker, nvrtc)) = checker("kernels") else { return };
    let kernels = kernels();
    let mut command = plain(&checker);
    let output = keep_memory(&mut command)
        .env("PARAGON_NVRTC", &nvrtc)
        .arg(if is_whole() { "--in-turn=0" } else { "--once" })
        .args(kernels)
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    let last = said.lines().last().unwrap_or_default();
    let passed: usize = last.split(' ').next().and_then(|n| n.parse().ok()).unwrap_or(0);
    // What the assembler would get wrong is refused, and there is one program that has it for that.
    let refused: Vec<&str> = said.lines().filter(|line| line.starts_with("REFUSED ")).collect();
    let mut failures = Vec::new();
    failures
        .extend(refused.iter().filter(|line| !line.contains("/signed_zeros.")).map(|line| line.to_string()));
    // In how many variants each of them is the checker's to know.
    if !output.status.success() || passed + refused.len() < selected(1, 2) as usize * kernels.len() {
        failures.push(format!("{said}{}", String::from_utf8_lossy(&output.stderr)));
    }
    let text = format!(
        "{} kernels in {passed} variants compiled for sm_90, {} refused",
        kernels.len(),
        refused.len()
    );
    conclude("kernels", started, &text, failures);
}

/// Constants that a compiler folds to -1 and -0 are refused, as the runtime's own options fold them: which other options a text has above depends on its turn.
#[test]
fn kernels_whose_zeros_would_lose_their_sign_are_refused() {
    let started = Instant::now();
    let Some((checker, nvrtc)) = checker("refused kernels") else { return };
    let is_of_it = |path: &&PathBuf| path.parent().is_some_and(|p| p.ends_with("signed_zeros"));
    let texts: Vec<&PathBuf> = kernels().iter().filter(is_of_it).collect();
    if texts.is_empty() {
        return;
    }
    let mut command = plain(&checker);
    let output =
        succeed(keep_memory(&mut command).env("PARAGON_NVRTC", &nvrtc).arg("--in-turn=0").args(&texts));
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    let refused = said.lines().filter(|line| line.starts_with("REFUSED ")).count();
    let failures = if refused == 0 { vec![said] } else { Vec::new() };
    conclude(
        "refused kernels",
        started,
        &format!("{refused} of {} texts' variants", 2 * texts.len()),
        failures,
    );
}

/// What the compiler knows of addresses: that they are in the GPU's memory. A mask on one is enough for it to forget, and lanes take a
/// third longer. Kernels with accesses that find their array by themselves are left out: those lead anywhere.
#[test]
fn accesses_of_kernels_are_known_to_be_global() {
    let started = Instant::now();
    let Some((checker, nvrtc)) = checker("generic accesses") else { return };
    let names = ["fwd", "csr_forward", "ger", "gemver", "sor"];
    let is_of_them =
        |file: &&PathBuf| names.iter().any(|name| file.parent().is_some_and(|p| p.ends_with(name)));
    let finds_array = |line: &str| !line.starts_with("#define ") && line.contains("__PG_LDX(");
    let has_base = |file: &&PathBuf| !fs::read_to_string(file).unwrap().lines().any(finds_array);
    let kernels: Vec<&PathBuf> = kernels().iter().filter(is_of_them).filter(has_base).collect();
    let found = AtomicUsize::new(0);
    let numbered: Vec<(usize, &PathBuf)> = kernels.iter().copied().enumerate().collect();
    let failures = in_parallel(&numbered, |(number, kernel)| {
        let mut command = plain(&checker);
        let counts = if is_whole() { "--generic".to_string() } else { format!("--generic={number}") };
        let output = succeed(keep_memory(&mut command).env("PARAGON_NVRTC", &nvrtc).arg(counts).arg(kernel));
        let text = String::from_utf8(output.stdout).unwrap();
        let last = text.lines().last().unwrap_or_default();
        let numbers: Vec<usize> = last.split(' ').filter_map(|word| word.parse().ok()).collect();
        let [_, all, generic] = numbers[..] else { panic!("{text}") };
        found.fetch_add(all, Ordering::Relaxed);
        if generic == 0 { Vec::new() } else { vec![text] }
    });
    let text = format!("{} accesses of {} loops' kernels", found.into_inner(), kernels.len());
    conclude("generic accesses", started, &text, failures);
}

/// What lanes store side by side they have loaded before they compute (`kernel/side_by_side.h`). The assembler decides that, and nothing in the text tells it to: a loop like ger's takes three times
/// as long where it puts one load behind the first sum, with the same results.
#[test]
fn turns_side_by_side_load_first() {
    let started = Instant::now();
    let Some((checker, nvrtc)) = checker("turns side by side") else { return };
    let is_of_ger = |file: &&PathBuf| file.parent().is_some_and(|p| p.ends_with("ger"));
    let of_ger: Vec<&PathBuf> = kernels().iter().filter(is_of_ger).collect();
    // Where other programs are asked for.
    if of_ger.is_empty() {
        return;
    }
    let takes_them = |file: &&&PathBuf| fs::read_to_string(file).unwrap().contains("__PG_SHARING(");
    let rows = of_ger.iter().find(takes_them).expect("no loop of ger's takes turns side by side");
    let mut command = plain(&checker);
    let output =
        succeed(keep_memory(&mut command).env("PARAGON_NVRTC", &nvrtc).arg("--late-loads").arg(rows));
    let said = String::from_utf8(output.stdout).unwrap();
    let numbers: Vec<usize> = said.split(' ').filter_map(|word| word.parse().ok()).collect();
    // Three turns of three loads each, and what a row begins with.
    let is_in_order = matches!(numbers[..], [early, 0] if early > 9);
    let failures = if is_in_order { Vec::new() } else { vec![said.clone()] };
    conclude("turns side by side", started, said.trim_end(), failures);
}
