//! Kernels of all programs, as NVIDIA's run-time compiler makes them. What they compute is compared elsewhere.

use super::building::{Built, built, in_parallel, plain, succeed};
use super::tally::{announce, conclude};
use super::{PARAGON_CC, ROOT};
use std::collections::{BTreeMap, BTreeSet};
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

/// A text whose variables and whose function have the numbers in whose order they come up. Those of a file count all that is in it, so that a
/// loop of a shared header has others in each program. No macro makes such a name, and none is in the kernels' headers: where two texts are
/// the same after this, one is the other with its names exchanged one for one, and compiles if and only if that does.
fn renumbered(text: &str) -> String {
    let mut numbers = BTreeMap::new();
    let mut renumbered = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find("__pg_") {
        let (before, name) = rest.split_at(at);
        let prefix = ["__pg_v", "__pg_run_"].into_iter().find(|prefix| name.starts_with(prefix));
        let length = |name: &str| name.bytes().take_while(u8::is_ascii_digit).count();
        let is_whole = !before.ends_with(|c: char| c.is_ascii_alphanumeric() || c == '_');
        renumbered += before;
        match prefix.map(|prefix| (prefix, length(&name[prefix.len()..]))) {
            Some((prefix, digits)) if digits > 0 && is_whole => {
                let (name, behind) = name.split_at(prefix.len() + digits);
                let next = numbers.len();
                renumbered += &format!("{prefix}#{}", numbers.entry(name).or_insert(next));
                rest = behind;
            }
            _ => {
                let (start, behind) = name.split_at("__pg_".len());
                renumbered += start;
                rest = behind;
            }
        }
    }
    renumbered + rest
}

/// The texts of some programs' kernels as files, each text once.
fn kernels_of(programs: &[&Built<'_>]) -> Vec<PathBuf> {
    // Loops of the shared headers come out the same in many programs, but for their names' numbers.
    let mut seen = BTreeSet::new();
    let mut kernels: Vec<PathBuf> = Vec::new();
    for built in programs {
        let (before, name) = (kernels.len(), &built.program.name);
        let mut files: Vec<PathBuf> = fs::read_dir(built.kernels())
            .unwrap()
            .map(|entry| entry.unwrap().path())
            .filter(|path| path.extension().is_some_and(|e| e == "cu"))
            .collect();
        files.sort();
        assert!(!files.is_empty(), "{name}: no kernel");
        let is_new = |path: &PathBuf| seen.insert(renumbered(&fs::read_to_string(path).unwrap()));
        kernels.extend(files.into_iter().filter(is_new));
        assert!(kernels.len() > before, "{name}: no kernel of its own");
    }
    kernels
}

/// Every CUDA kernel of every program becomes machine code, with each log method; no GPU is needed for that.
#[test]
fn every_kernel_compiles_for_cuda() {
    let started = Instant::now();
    let Some((checker, nvrtc)) = checker("kernels") else { return };
    let kernels = kernels_of(&built().iter().collect::<Vec<_>>());
    let chunks: Vec<(usize, &[PathBuf])> =
        kernels.chunks(8).enumerate().map(|(k, chunk)| (8 * k, chunk)).collect();
    let compiled = AtomicUsize::new(0);
    let failures = in_parallel(&chunks, |(first, chunk)| {
        let mut command = plain(&checker);
        command.env("PARAGON_NVRTC", &nvrtc).arg(format!("--in-turn={first}")).args(*chunk);
        let output = command.output().unwrap();
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        let last = text.lines().last().unwrap_or_default().to_string();
        let passed: usize = last.split(' ').next().and_then(|n| n.parse().ok()).unwrap_or(0);
        compiled.fetch_add(passed, Ordering::Relaxed);
        // In how many variants each of them is the checker's to know.
        if output.status.success() && passed >= 2 * chunk.len() {
            return Vec::new();
        }
        vec![format!("{text}{}", String::from_utf8_lossy(&output.stderr))]
    });
    let text = format!("{} kernels in {} variants compiled for sm_90", kernels.len(), compiled.into_inner());
    conclude("kernels", started, &text, failures);
}

/// What the compiler knows of addresses: that they are in the GPU's memory. A mask on one is enough for it to forget, and lanes take a
/// third longer. Kernels with accesses that find their array by themselves are left out: those lead anywhere.
#[test]
fn accesses_of_kernels_are_known_to_be_global() {
    let started = Instant::now();
    let Some((checker, nvrtc)) = checker("generic accesses") else { return };
    let names = ["fwd", "csr_forward", "ger", "gemver", "sor"];
    let programs: Vec<&Built<'_>> =
        built().iter().filter(|b| names.contains(&b.program.name.as_str())).collect();
    let kernels = kernels_of(&programs);
    let finds_array = |line: &str| !line.starts_with("#define ") && line.contains("__PG_LDX(");
    let has_base = |file: &&PathBuf| !fs::read_to_string(file).unwrap().lines().any(finds_array);
    let kernels: Vec<&PathBuf> = kernels.iter().filter(has_base).collect();
    let found = AtomicUsize::new(0);
    let failures = in_parallel(&kernels, |kernel| {
        let mut command = plain(&checker);
        let output = succeed(command.env("PARAGON_NVRTC", &nvrtc).arg("--generic").arg(kernel));
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

#[test]
fn texts_are_the_same_if_names_are_exchanged_one_for_one() {
    let text =
        "f(__pg_v12, __pg_v7); __pg_view v; __pg_b12 = __pg_v12; __pg_run_3(my__pg_v7, __pg_v, __PG_LD(7))";
    let same = text
        .replace("__pg_v12,", "__pg_v7 ,")
        .replace("__pg_v7)", "__pg_v9)")
        .replace("= __pg_v12", "= __pg_v7");
    let same = same.replace("__pg_v7 ,", "__pg_v7,").replace("run_3", "run_40");
    assert_ne!(text, same);
    assert_eq!(renumbered(text), renumbered(&same));
    // Another variable in one place, another base, another literal, a name that only ends like one.
    for (from, to) in
        [("= __pg_v12", "= __pg_v7"), ("b12", "b13"), ("LD(7)", "LD(8)"), ("my__pg_v7", "my__pg_v8")]
    {
        assert_ne!(renumbered(text), renumbered(&text.replace(from, to)), "{from}");
    }
    let merged = text.replace("__pg_v12", "__pg_v7");
    assert_ne!(renumbered(text), renumbered(&merged));
}
