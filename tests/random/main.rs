//! Random programs: our own with candidate loops, and csmith's. Each must give the same output however it is compiled and
//! wherever its loops run; and no conflict may refute what was proven of its loops.
//!
//! `PARAGON_RANDOM=N` and `PARAGON_CSMITH=N` set how many programs of each kind there are, `PARAGON_SEED` where the seeds
//! begin. A program that differs is kept, and its path printed; with `PARAGON_KEEP` all are kept.

mod affine;
mod forms;
mod generator;
mod heads;
#[path = "../support/numbers.rs"]
mod numbers;
mod prelude;
mod scalars;
#[path = "../support/selection.rs"]
mod selection;

use numbers::Random;
use selection::{number, selected};

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

const PARAGON_CC: &str = env!("CARGO_BIN_EXE_paragon-cc");

/// How a program's loops are run: device, memory, log, race.
const SETTINGS: [[&str; 4]; 10] = [
    ["threads", "shared", "auto", "device"],
    ["threads", "separate", "atomic", "device"],
    ["threads", "separate", "reduction", "device"],
    ["threads", "separate", "bitmap", "device"],
    ["threads", "separate", "stamp", "device"],
    ["threads", "separate", "auto", "device"],
    ["threads", "separate", "all", "device"],
    ["threads", "shared", "reduction", "worker"],
    ["threads", "separate", "auto", "auto"],
    ["auto", "shared", "auto", "auto"],
];

/// Seconds of processors that a program has whose threads may keep two of them busy.
const LONG: u32 = 40;

enum Ran {
    Output(Vec<u8>, Option<i32>),
    TooLong,
}

/// `seconds` are a processor's, of all threads together: what else the machine has to do decides nothing. Who waits for ever is given up, too.
fn run(executable: &Path, seconds: u32, setting: Option<[&str; 4]>, trace: Option<&Path>) -> Ran {
    let mut command = Command::new("sh");
    command.args(["-c", "ulimit -c 0; ulimit -S -t \"$0\" && exec timeout 600 \"$@\""]);
    command.arg(seconds.to_string()).arg(executable);
    if let Some([device, memory, log, race]) = setting {
        command
            .env("PARAGON_DEVICE", device)
            .env("PARAGON_MEMORY", memory)
            .env("PARAGON_LOG", log)
            .env("PARAGON_RACE", race)
            .env("PARAGON_AT_ONCE", "on")
            // What is found is remembered where memory is separate, and for once elsewhere.
            .env("PARAGON_INSPECTIONS", if memory == "shared" && race != "auto" { "anew" } else { "on" })
            .env("PARAGON_MONITOR", if race == "auto" { "on" } else { "off" })
            .env("PARAGON_THREADS", "4");
    }
    if let Some(trace) = trace {
        command.env("PARAGON_TRACE", trace);
    }
    let output = command.output().unwrap();
    match output.status.code() {
        Some(124) => Ran::TooLong,
        None if output.status.signal() == Some(libc::SIGXCPU) => Ran::TooLong,
        // What the runtime complains about belongs to it.
        code => Ran::Output([output.stdout, output.stderr].concat(), code),
    }
}

#[derive(Default)]
struct Tally {
    programs: AtomicU64,
    runs: AtomicU64,
    entries: AtomicU64,
    /// Loops of programs that the device carried out at least once.
    loops: AtomicU64,
    on_device: AtomicU64,
    conflicts: AtomicU64,
    /// Entries whose iterations were proven independent and were logged all the same.
    doubted: AtomicU64,
    too_long: AtomicU64,
    /// Programs that gcc itself compiles to something else at another level: nothing can be learnt from them.
    disputed: AtomicU64,
}

/// One source file through every way of compiling and some ways of running it; says what differs.
fn compare(source: &Path, flags: &[&str], threshold: u64, seed: u64, tally: &Tally) -> Vec<String> {
    let folder = tempfile::tempdir().unwrap();
    let build = |compiler: &str, more: &[&str], name: &str| -> Result<PathBuf, String> {
        let executable = folder.path().join(name);
        let output = Command::new(compiler)
            .args(["-w"])
            .args(flags)
            .args(more)
            .arg("-o")
            .arg(&executable)
            .arg(source)
            .output()
            .unwrap();
        match output.status.success() && output.stderr.is_empty() {
            true => Ok(executable),
            false => Err(format!("{compiler} {more:?}: {}", String::from_utf8_lossy(&output.stderr))),
        }
    };
    let reference = match build("gcc", &[], "reference") {
        Ok(executable) => executable,
        Err(error) => return vec![error],
    };
    let Ran::Output(wanted, code) = run(&reference, 5, None, None) else {
        tally.too_long.fetch_add(1, Ordering::Relaxed);
        return Vec::new();
    };
    tally.programs.fetch_add(1, Ordering::Relaxed);
    let mut failures = Vec::new();
    let mut check = |what: &str, ran: Ran| match ran {
        Ran::Output(output, status) if output == wanted && status == code => {
            tally.runs.fetch_add(1, Ordering::Relaxed);
        }
        Ran::Output(..) => failures.push(format!("{what}: another result")),
        // Millions of tiny entries, each made to run elsewhere, take their time.
        Ran::TooLong => {
            tally.too_long.fetch_add(1, Ordering::Relaxed);
        }
    };
    match build(PARAGON_CC, &["-fparagon-echo"], "echo") {
        Ok(executable) => check("echo", run(&executable, LONG, None, None)),
        Err(error) => return vec![error],
    }
    // One in eight as users compile it: what can't pay when speculated on threads has no code for that.
    let threshold = format!("-fparagon-threshold={threshold}");
    let mut flags = vec![threshold.as_str(), "-fparagon-checked-threads"];
    if seed.is_multiple_of(8) {
        flags.pop();
    }
    match build(PARAGON_CC, &flags, "paragon") {
        Ok(executable) => {
            check("as users run it", run(&executable, LONG, None, None));
            let mut loops = BTreeSet::new();
            for turn in 0..3 {
                let setting = SETTINGS[(seed as usize + 3 * turn) % SETTINGS.len()];
                let trace = folder.path().join("trace");
                let _ = fs::remove_file(&trace);
                check(&format!("{setting:?}"), run(&executable, LONG, Some(setting), Some(&trace)));
                let text = fs::read_to_string(&trace).unwrap_or_default();
                let add = |counter: &AtomicU64, what: &str| {
                    counter.fetch_add(text.matches(what).count() as u64, Ordering::Relaxed);
                };
                add(&tally.entries, "\n");
                add(&tally.on_device, "\"decision\":\"threads\"");
                add(&tally.conflicts, "\"fail\":[\"");
                for record in text.lines().filter(|line| line.contains("\"decision\":\"threads\"")) {
                    let record: serde_json::Value = serde_json::from_str(record).expect(record);
                    loops.extend(record["line"].as_u64());
                }
            }
            tally.loops.fetch_add(loops.len() as u64, Ordering::Relaxed);
        }
        Err(error) => failures.push(error),
    }
    // gcc 12.2 is wrong about a loop in some thousands: its other levels, clang and the sanitizers then agree with each other.
    if !failures.is_empty()
        && let Ok(plain) = build("gcc", &["-O0"], "plain")
        && let Ran::Output(output, _) = run(&plain, LONG, None, None)
        && output != wanted
    {
        tally.disputed.fetch_add(1, Ordering::Relaxed);
        failures.clear();
    }
    match build(PARAGON_CC, &["-fparagon-doubt", &threshold], "doubted") {
        Ok(executable) => failures.extend(doubt(&executable, &folder.path().join("trace"), tally)),
        Err(error) => failures.push(error),
    }
    failures
}

/// Runs a program in which everything is logged, and names the proofs that a conflict refutes.
fn doubt(executable: &Path, trace: &Path, tally: &Tally) -> BTreeSet<String> {
    let _ = fs::remove_file(trace);
    if let Ran::TooLong =
        run(executable, 3 * LONG / 2, Some(["threads", "separate", "auto", "device"]), Some(trace))
    {
        tally.too_long.fetch_add(1, Ordering::Relaxed);
    }
    let text = fs::read_to_string(trace).unwrap_or_default();
    let claimed = text.lines().filter(|line| line.contains("\"claimed\":true"));
    let mut refuted = BTreeSet::new();
    for line in claimed {
        tally.doubted.fetch_add(1, Ordering::Relaxed);
        if line.contains("\"write-write\"") || line.contains("\"read-write\"") {
            let record: serde_json::Value = serde_json::from_str(line).expect(line);
            refuted.insert(format!(
                "the {} loop in line {} has a conflict ({})",
                record["verdict"], record["line"], record["fail"]
            ));
        }
    }
    refuted
}

/// Does `one` for each seed on all cores, and reports.
fn for_seeds(name: &str, count: u64, one: impl Fn(u64, &Tally) -> Vec<String> + Sync) -> Tally {
    let first = number("PARAGON_SEED", 1);
    let (next, tally, failures) = (AtomicU64::new(0), Tally::default(), Mutex::new(Vec::new()));
    std::thread::scope(|scope| {
        for _ in 0..std::thread::available_parallelism().map_or(1, |n| n.get()) {
            scope.spawn(|| {
                loop {
                    let n = next.fetch_add(1, Ordering::Relaxed);
                    if n >= count {
                        return;
                    }
                    let found = one(first + n, &tally);
                    failures
                        .lock()
                        .unwrap()
                        .extend(found.into_iter().map(|what| format!("seed {}: {what}", first + n)));
                }
            });
        }
    });
    let failures = failures.into_inner().unwrap();
    let get = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
    eprintln!(
        "{name}: {} programs, {} runs compared, {} loop entries, {} carried out by the device ({} loops), {} with a failed \
         check, {} entries proven and doubted, {} runs took too long, {} programs that gcc disagrees with itself about, {} differences",
        get(&tally.programs),
        get(&tally.runs),
        get(&tally.entries),
        get(&tally.on_device),
        get(&tally.loops),
        get(&tally.conflicts),
        get(&tally.doubted),
        get(&tally.too_long),
        get(&tally.disputed),
        failures.len()
    );
    assert!(failures.is_empty(), "{}", failures.join("\n"));
    tally
}

/// Compares, and keeps the program if it differs.
fn compare_and_keep(
    name: &str,
    text: &[u8],
    flags: &[&str],
    threshold: u64,
    seed: u64,
    tally: &Tally,
) -> Vec<String> {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("random");
    fs::create_dir_all(&folder).unwrap();
    let source = folder.join(format!("{name}-{seed}.c"));
    fs::write(&source, text).unwrap();
    let failures = compare(&source, flags, threshold, seed, tally);
    if failures.is_empty() && std::env::var_os("PARAGON_KEEP").is_none() {
        let _ = fs::remove_file(&source);
    }
    failures.into_iter().map(|what| format!("{}: {what}", source.display())).collect()
}

/// Programs of a kind, where nothing else is said: what a few minutes bear. More of them run on GPUs (`benches/random.sh`). Ten of most kinds come up in each
/// of the settings, at each level, in each dialect, and one of them as users compile it.
fn programs_by(name: &str) -> u64 {
    number(name, selected(8, 24))
}

fn programs() -> u64 {
    programs_by("PARAGON_RANDOM")
}

#[test]
fn loops_of_our_own() {
    let count = programs();
    let tally = for_seeds("random loops", count, |seed, tally| {
        let text = generator::program(&mut Random::new(seed));
        let level = ["-O1", "-O2", "-O3"][seed as usize % 3];
        // Loops of a few iterations inside others would be entered far more often than the rest together.
        compare_and_keep("loops", text.as_bytes(), &["-std=gnu11", level], 6, seed, tally)
    });
    assert!(tally.on_device.into_inner() >= 5 * count, "hardly a loop was carried out by the device");
}

/// Builds and runs programs with gcc's sanitizers, which must have nothing to say.
fn sanitize(name: &str, count: u64, text: impl Fn(u64) -> String + Sync) {
    for_seeds(&format!("{name}, sanitized"), count, |seed, tally| {
        let folder = tempfile::tempdir().unwrap();
        let (source, executable) = (folder.path().join("t.c"), folder.path().join("t"));
        fs::write(&source, text(seed)).unwrap();
        let built = Command::new("gcc")
            .args(["-w", "-O1", "-fsanitize=undefined,address", "-fno-sanitize-recover=all", "-o"])
            .args([&executable, &source])
            .arg("-lm")
            .status();
        assert!(built.unwrap().success());
        let output = Command::new(&executable).output().unwrap();
        tally.programs.fetch_add(1, Ordering::Relaxed);
        if output.status.success() {
            return Vec::new();
        }
        vec![String::from_utf8_lossy(&output.stderr).lines().take(6).collect::<Vec<_>>().join("\n")]
    });
}

/// The generator promises it; gcc's sanitizers look.
#[test]
fn our_loops_have_no_undefined_behaviour() {
    sanitize("loops", programs().div_ceil(4), |seed| generator::program(&mut Random::new(seed)));
}

fn forms_of_seed(seed: u64) -> String {
    forms::program(&mut Random::new(seed ^ 0x5eed))
}

#[test]
fn loops_of_every_form() {
    let count = programs();
    let tally = for_seeds("loops of every form", count, |seed, tally| {
        // What else changes how a program is read.
        let dialects = ["-std=gnu11", "-fwrapv", "-funsigned-char", "-fno-strict-aliasing", "-std=c11"];
        let level = ["-O2", "-O3", "-O1", "-O2"][seed as usize % 4];
        let dialect = dialects[seed as usize % 5];
        let flags = [dialect, level, "-Wl,--no-as-needed", "-lm"];
        compare_and_keep("forms", forms_of_seed(seed).as_bytes(), &flags, 1, seed, tally)
    });
    assert!(tally.loops.into_inner() >= 5 * count, "hardly a loop was carried out by the device");
}

#[test]
fn loop_heads() {
    let count = programs().div_ceil(2);
    let tally = for_seeds("loop heads", count, |seed, tally| {
        let wraps = seed % 2 == 0;
        let text = heads::program(&mut Random::new(seed ^ 0x4ead), wraps);
        let level = ["-O2", "-O3", "-O1", "-O2"][seed as usize / 2 % 4];
        let dialect = if wraps { "-fwrapv" } else { "-std=gnu11" };
        compare_and_keep("heads", text.as_bytes(), &[dialect, level], 1, seed, tally)
    });
    assert!(tally.loops.into_inner() >= 5 * count, "hardly a loop was carried out by the device");
}

#[test]
fn affine_loops() {
    let count = programs();
    let tally = for_seeds("affine loops", count, |seed, tally| {
        let text = affine::program(&mut Random::new(seed));
        // gcc 12's induction variable optimisation compiles some of these loops to something else.
        let flags = ["-O2", "-fno-ivopts", "-fno-strict-aliasing"];
        compare_and_keep("affine", text.as_bytes(), &flags, 1, seed, tally)
    });
    assert!(tally.doubted.into_inner() >= 5 * count, "hardly a loop was proven");
}

#[test]
fn affine_loops_have_no_undefined_behaviour() {
    sanitize("affine loops", programs().div_ceil(4), |seed| affine::program(&mut Random::new(seed)));
}

/// The generator promises it; gcc's sanitizers look.
#[test]
fn loops_of_every_form_have_no_undefined_behaviour() {
    sanitize("forms", programs().div_ceil(4), forms_of_seed);
}

fn scalars_of_seed(seed: u64) -> String {
    scalars::program(&mut Random::new(seed ^ 0x5ca1a5))
}

#[test]
fn loops_with_moving_scalars() {
    let count = programs().div_ceil(3);
    let tally = for_seeds("loops with moving scalars", count, |seed, tally| {
        let flags = [["-O2", "-O3", "-O1", "-O2"][seed as usize % 4], "-fno-strict-aliasing"];
        // Inner loops have fewer iterations: they would be entered far more often than the rest together.
        compare_and_keep("scalars", scalars_of_seed(seed).as_bytes(), &flags, 16, seed, tally)
    });
    assert!(tally.loops.into_inner() >= count, "hardly a loop was carried out by the device");
}

/// The generator promises it; gcc's sanitizers look.
#[test]
fn loops_with_moving_scalars_have_no_undefined_behaviour() {
    sanitize("scalars", programs().div_ceil(4), scalars_of_seed);
}

/// Writes the programs of [`loops_of_every_form`] and [`loops_with_moving_scalars`] into the folder `PARAGON_SOURCES`, for machines without Rust.
#[test]
fn sources() {
    let Some(folder) = std::env::var_os("PARAGON_SOURCES") else { return };
    let first = number("PARAGON_SEED", 1);
    for seed in first..first + programs() {
        fs::write(Path::new(&folder).join(format!("forms-{seed}.c")), forms_of_seed(seed)).unwrap();
        fs::write(Path::new(&folder).join(format!("scalars-{seed}.c")), scalars_of_seed(seed)).unwrap();
    }
}

#[test]
fn programs_of_csmith() {
    let count = programs_by("PARAGON_CSMITH");
    let present =
        Command::new("csmith").arg("--version").current_dir(env!("CARGO_TARGET_TMPDIR")).output().is_ok();
    let headers = Path::new("/usr/include/csmith/csmith.h").exists();
    assert!(present && headers, "csmith is not installed (on Debian: csmith, libcsmith-dev)");
    for_seeds("csmith", count, |seed, tally| {
        let seed_text = seed.to_string();
        // It leaves a file where it runs.
        let folder = tempfile::tempdir().unwrap();
        let mut csmith = Command::new("csmith");
        csmith.args(["--seed", &seed_text, "--max-funcs", "5"]).current_dir(folder.path());
        let output = csmith.output().unwrap();
        let level = ["-O1", "-O2", "-O3"][seed as usize % 3];
        compare_and_keep("csmith", &output.stdout, &["-I/usr/include/csmith", level], 1, seed, tally)
    });
}
