//! The C programs under `c-tests`, each built by `cc` and by `paragon-cc`: whatever the runtime is told to do, they must
//! print the same and leave the same memory behind, byte for byte.
//!
//! A program says in its comments what must happen besides (`c-tests/support/check.h` has the language): which loops a
//! device must have carried out, and in which of them the logs must have found a conflict. So the tests can't pass because
//! nothing was ever run elsewhere. Set `PARAGON_TESTS` to a part of a program's name to run only the programs that match.

#[path = "support/emulated_gpu.rs"]
mod emulated_gpu;

use emulated_gpu::EmulatedGpu;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, OnceLock};
use std::time::Instant;

const PARAGON_CC: &str = env!("CARGO_BIN_EXE_paragon-cc");
const ROOT: &str = env!("CARGO_MANIFEST_DIR");
/// More than the machine may have, so that chunks of one loop overlap in time.
const DEVICE_THREADS: &str = "4";
const SECONDS: &str = "120";

// ---- programs and what is expected of them

/// What must happen to a loop on some inputs.
#[derive(Clone, Copy, PartialEq, Debug)]
enum Event {
    /// A device carries out an entry.
    Runs,
    /// The logs find a conflict.
    Conflicts,
    /// The logs find a conflict, except stamps, by which a device carries out an entry.
    Stamps,
    /// Its iterations depend on each other, and run level by level.
    Levels,
    /// Threads carry out an entry on the program's own memory; where they have to work on copies or are to keep logs, nobody does.
    InPlace,
    /// No entry is carried out by a device.
    Stays,
    /// The last entry comes to a GPU, which doesn't check what earlier entries have shown: whatever becomes of it there.
    UncheckedAtLast,
    /// A GPU carries out an entry and checks no address that an earlier one has seen.
    Unchecked,
}

#[derive(Debug)]
struct Expectation {
    /// Lines of the loops; one of them is enough.
    lines: Vec<u64>,
    event: Event,
    inputs: Vec<String>,
    text: String,
}

#[derive(Debug)]
struct Program {
    name: String,
    source: PathBuf,
    text: String,
    size: String,
    expectations: Vec<Expectation>,
    /// Inputs on which the loops' order can't be seen in the result.
    commuting: Vec<String>,
    /// Whether it is about kernels of which few threads run.
    has_few_threads: bool,
}

impl Program {
    fn read(source: PathBuf) -> Program {
        let text = fs::read_to_string(&source).unwrap();
        let name = source.file_stem().unwrap().to_string_lossy().into_owned();
        let mut loops = BTreeMap::new();
        for (line, number) in text.lines().zip(1u64..) {
            if let Some((_, rest)) = line.split_once("/* loop ") {
                loops.insert(rest.trim_end_matches("*/").trim().to_string(), number);
            }
        }
        let comment =
            |line: &str| line.trim_start_matches([' ', '*']).trim_end_matches("*/").trim().to_string();
        let words = |text: &str| text.split_whitespace().map(String::from).collect::<Vec<_>>();
        let mut program = Program {
            size: String::new(),
            expectations: Vec::new(),
            commuting: Vec::new(),
            has_few_threads: false,
            name,
            source,
            text: text.clone(),
        };
        for line in text.lines().map(comment) {
            if let Some(size) = line.strip_prefix("test size: ") {
                program.size = size.to_string();
            } else if line == "few threads" {
                program.has_few_threads = true;
            } else if let Some(inputs) = line.strip_prefix("order does not show on ") {
                program.commuting = words(inputs);
            } else if let Some(rest) = line.strip_prefix("expect ") {
                let (names, what) = rest.split_once(": ").expect(rest);
                let (event, inputs) = match what.split_once(" on ") {
                    Some(("runs", inputs)) => (Event::Runs, inputs),
                    Some(("conflicts", inputs)) => (Event::Conflicts, inputs),
                    Some(("stamps", inputs)) => (Event::Stamps, inputs),
                    Some(("levels", inputs)) => (Event::Levels, inputs),
                    Some(("runs unchecked at last", inputs)) => (Event::UncheckedAtLast, inputs),
                    Some(("runs in place", inputs)) => (Event::InPlace, inputs),
                    Some(("stays", inputs)) => (Event::Stays, inputs),
                    Some(("unchecked", inputs)) => (Event::Unchecked, inputs),
                    _ => panic!("{}: unknown expectation: {line}", program.name),
                };
                let lines = names.split(" or ").map(|name| {
                    *loops.get(name).unwrap_or_else(|| panic!("{}: no loop {name}", program.name))
                });
                program.expectations.push(Expectation {
                    lines: lines.collect(),
                    event,
                    inputs: words(inputs),
                    text: line.clone(),
                });
            }
        }
        assert!(!program.size.is_empty(), "{}: no test size", program.name);
        program
    }
    /// Whether its author has thought of what stamps take for a conflict.
    fn is_about_stamps(&self) -> bool {
        self.expectations.iter().any(|expectation| expectation.event == Event::Stamps)
    }
}

fn programs_in(folder: &str) -> Vec<Program> {
    let wanted = std::env::var("PARAGON_TESTS").unwrap_or_default();
    let mut sources: Vec<PathBuf> = fs::read_dir(Path::new(ROOT).join("c-tests").join(folder))
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|e| e == "c"))
        .filter(|path| path.file_stem().unwrap().to_string_lossy().contains(&wanted))
        .collect();
    sources.sort();
    sources.into_iter().map(Program::read).collect()
}

fn programs() -> &'static [Program] {
    static PROGRAMS: OnceLock<Vec<Program>> = OnceLock::new();
    PROGRAMS.get_or_init(|| {
        let mut all = programs_in("chapter");
        all.extend(programs_in("features"));
        all
    })
}

// ---- building and running

fn scratch(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("differential").join(name);
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).unwrap();
    folder
}

/// Runs `work` on every item, on all cores. The messages that it returns are collected.
fn in_parallel<'a, T: Sync>(items: &'a [T], work: impl Fn(&'a T) -> Vec<String> + Sync) -> Vec<String> {
    let next = AtomicUsize::new(0);
    let found = Mutex::new(Vec::new());
    let threads = std::thread::available_parallelism().map_or(1, |n| n.get());
    std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                while let Some(item) = items.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let messages = work(item);
                    found.lock().unwrap().extend(messages);
                }
            });
        }
    });
    found.into_inner().unwrap()
}

/// Not by this process: what it has open for writing, a program has open, too, that another test starts at that moment; and what
/// anybody has open for writing can't be run.
fn copy_program(from: &Path, to: &Path) {
    succeed(Command::new("cp").args([from, to]));
}

fn succeed(command: &mut Command) -> Output {
    let output = command.output().unwrap_or_else(|error| panic!("{command:?}: {error}"));
    assert!(output.status.success(), "{command:?}: {}", String::from_utf8_lossy(&output.stderr));
    output
}

/// A command with none of our variables set.
fn plain(program: impl AsRef<std::ffi::OsStr>) -> Command {
    let mut command = Command::new(program);
    for (name, _) in std::env::vars_os() {
        if name.to_string_lossy().starts_with("PARAGON_") {
            command.env_remove(name);
        }
    }
    command
}

/// A program built twice.
struct Built<'a> {
    program: &'a Program,
    folder: PathBuf,
    inputs: Vec<String>,
}

impl Built<'_> {
    fn reference(&self) -> PathBuf {
        self.folder.join(format!("{}.cc", self.program.name))
    }
    fn paragon(&self) -> PathBuf {
        self.folder.join(format!("{}.paragon", self.program.name))
    }
}

/// Builds `program` with cc and with `compiler`. A compiler that says anything about these clean programs has failed.
fn build<'a>(program: &'a Program, compiler: &Path, level: &str, folder: &Path) -> Built<'a> {
    let built = Built { program, folder: folder.into(), inputs: Vec::new() };
    let flags = ["-std=gnu11", level, "-Wall", "-Wextra"];
    succeed(plain("cc").args(flags).arg("-o").arg(built.reference()).arg(&program.source).arg("-lm"));
    let said = succeed(
        plain(compiler)
            .args(flags)
            .args(["-fparagon-threshold=1", "-fparagon-checked-threads"])
            .arg("-o")
            .arg(built.paragon())
            .arg(&program.source)
            .arg("-lm"),
    );
    let said = String::from_utf8_lossy(&said.stderr);
    assert!(said.is_empty(), "paragon-cc about {}: {said}", program.name);
    let list = succeed(plain(built.reference()).arg("--list"));
    let inputs = String::from_utf8(list.stdout).unwrap().lines().map(String::from).collect();
    Built { inputs, ..built }
}

fn build_all(compiler: &Path, level: &str, folder: &Path) -> Vec<Built<'static>> {
    let built = Mutex::new(Vec::new());
    in_parallel(programs(), |program| {
        let one = build(program, compiler, level, folder);
        built.lock().unwrap().push(one);
        Vec::new()
    });
    let mut built = built.into_inner().unwrap();
    built.sort_by(|a, b| a.program.name.cmp(&b.program.name));
    built
}

/// All programs with -O2, which several tests run.
fn built() -> &'static [Built<'static>] {
    static BUILT: OnceLock<Vec<Built<'static>>> = OnceLock::new();
    BUILT.get_or_init(|| build_all(Path::new(PARAGON_CC), "-O2", &scratch("programs")))
}

/// Instead of a log method: nothing is inspected, and what runs under logs have shown is used in later entries.
const LEARNT: &str = "learnt";

/// What the runtime is told.
#[derive(Clone, Copy, PartialEq, Debug)]
struct Setting {
    device: &'static str,
    memory: &'static str,
    /// Or [`LEARNT`]; behind `stamp` also what is guessed.
    log: &'static str,
    /// Whether a GPU's threads run several iterations together.
    groups: &'static str,
    /// `device`: the device's result stands unless it fails; `auto`: the first one wins, after monitoring, three times over.
    race: &'static str,
}

impl Setting {
    fn apply(self, command: &mut Command) {
        command
            .env("PARAGON_DEVICE", self.device)
            .env("PARAGON_MEMORY", self.memory)
            .env("PARAGON_LOG", if self.log == LEARNT { "auto" } else { self.log().0 })
            .env("PARAGON_GUESSES", self.log().1)
            .env("PARAGON_INSPECTIONS", if self.log == LEARNT { "off" } else { "on" })
            .env("PARAGON_RACE", self.race)
            .env("PARAGON_MONITOR", if self.race == "auto" { "on" } else { "off" })
            .env("PARAGON_THREADS", DEVICE_THREADS);
        if self.device == "cuda" {
            // A processor takes much longer than a GPU.
            command.env("PARAGON_GROUPS", self.groups).env("PARAGON_PATIENCE", "60000");
            emulated_gpu().apply(command);
        }
    }
    /// The log, and what stamps guess first.
    fn log(self) -> (&'static str, &'static str) {
        self.log.split_once(' ').unwrap_or((self.log, "auto"))
    }
    fn repeat(self) -> &'static str {
        if self.race == "auto" || self.log == LEARNT { "3" } else { "1" }
    }
}

/// The GPU that is none, built when the first test asks for it.
fn emulated_gpu() -> &'static EmulatedGpu {
    static BUILT: OnceLock<EmulatedGpu> = OnceLock::new();
    BUILT.get_or_init(|| {
        EmulatedGpu::build(&Path::new(ROOT).join("c-tests/emulated_gpu"), &scratch("emulated GPU"))
    })
}

/// Stamps as they are, and with each guess that they may begin with, every time.
const GUESSES: [&str; 4] = ["stamp", "stamp off", "stamp bits", "stamp numbers"];

/// Every combination of {off, threads shared, threads separate} and the log methods, and races for real.
fn all_settings() -> Vec<Setting> {
    let mut settings = Vec::new();
    for (device, memory) in [("off", "shared"), ("threads", "shared"), ("threads", "separate")] {
        for log in ["atomic", "reduction", "bitmap", "stamp", "auto"] {
            // Where nothing runs elsewhere, nothing is logged.
            if device == "off" && log != "auto" {
                continue;
            }
            settings.push(Setting { device, memory, log, groups: "auto", race: "device" });
        }
    }
    for memory in ["shared", "separate"] {
        settings.push(Setting { device: "threads", memory, log: "auto", groups: "auto", race: "auto" });
        settings.push(Setting { device: "threads", memory, log: LEARNT, groups: "auto", race: "device" });
    }
    settings
}

#[derive(PartialEq)]
struct Outcome {
    status: Option<i32>,
    stdout: Vec<u8>,
    stderr: Vec<u8>,
    dump: Vec<u8>,
}

impl Outcome {
    /// In what way `self` differs from `wanted`.
    fn difference(&self, wanted: &Outcome) -> Option<String> {
        if self.status != wanted.status {
            return Some(format!("exit status {:?}: {}", self.status, String::from_utf8_lossy(&self.stderr)));
        }
        if self.stderr != wanted.stderr {
            return Some(format!("says: {}", String::from_utf8_lossy(&self.stderr)));
        }
        if self.stdout != wanted.stdout {
            let (ours, theirs) =
                (String::from_utf8_lossy(&self.stdout), String::from_utf8_lossy(&wanted.stdout));
            let line = ours.lines().zip(theirs.lines()).find(|(a, b)| a != b);
            return Some(format!("prints (paragon, cc) {line:?}"));
        }
        (self.dump != wanted.dump).then(|| "prints the same but leaves other memory behind".to_string())
    }
}

/// Runs a program of ours in a folder of its own.
fn run(executable: &Path, size: &str, input: &str, repeat: &str, tell: impl Fn(&mut Command)) -> Outcome {
    let folder = tempfile::tempdir().unwrap();
    let dump = folder.path().join("dump");
    let mut command = plain("timeout");
    command.arg(SECONDS).arg(executable).args(["--size", size, "--input", input, "--repeat", repeat]);
    command.arg("--dump").arg(&dump);
    tell(&mut command);
    let output = command.output().unwrap();
    Outcome {
        status: output.status.code(),
        stdout: output.stdout,
        stderr: output.stderr,
        dump: fs::read(&dump).unwrap_or_default(),
    }
}

fn read_trace(path: &Path) -> Vec<Value> {
    let text = fs::read_to_string(path).unwrap_or_default();
    text.lines().map(|line| serde_json::from_str(line).expect(line)).collect()
}

// ---- counting

/// What happened in a test, for the line at its end.
#[derive(Default)]
struct Tally {
    runs: AtomicUsize,
    entries: AtomicUsize,
    on_device: AtomicUsize,
    with_conflict: AtomicUsize,
    expectations: AtomicUsize,
    /// Entries that ran without logs because of what runs under logs had shown.
    learnt: AtomicUsize,
    /// Entries whose accesses a GPU didn't check, because it had seen them before.
    unchecked: AtomicUsize,
    /// Entries by the iterations that a thread of a GPU ran together.
    groups: Mutex<BTreeMap<String, usize>>,
}

fn is_conflict(record: &Value) -> bool {
    record["conflicts"].as_u64().unwrap_or(0) > 0
        && record["fail"].as_array().is_some_and(|words| !words.is_empty())
}

fn on_device(record: &Value) -> bool {
    record["decision"] == "threads" || record["decision"] == "cuda"
}

/// Whether a GPU would give other bits.
fn is_for_hosts(record: &Value) -> bool {
    let is_nan = record["fail"].as_array().is_some_and(|fail| fail.iter().any(|what| what == "NaN"));
    is_nan || record["why"].as_str().is_some_and(|why| why.contains("the same bits"))
}

/// Whether an inspection has seen iterations that depend on each other.
fn inspection_objects(record: &Value) -> bool {
    record["inspection"] == "levels" || record["inspection"] == "chain"
}

/// Whether accesses were recorded to be checked.
fn is_logged(record: &Value) -> bool {
    ["atomic", "reduction", "bitmap", "stamp"].iter().any(|log| record["log"] == *log)
}

/// On the device, all iterations independently of each other.
fn at_once(record: &Value) -> bool {
    on_device(record) && !inspection_objects(record)
}

impl Tally {
    fn count(&self, trace: &[Value]) {
        let add = |counter: &AtomicUsize, n: usize| counter.fetch_add(n, Ordering::Relaxed);
        add(&self.runs, 1);
        add(&self.entries, trace.len());
        add(&self.on_device, trace.iter().filter(|r| on_device(r)).count());
        add(&self.with_conflict, trace.iter().filter(|r| is_conflict(r)).count());
    }
    fn text(&self) -> String {
        let get = |counter: &AtomicUsize| counter.load(Ordering::Relaxed);
        format!(
            "{} runs compared byte by byte, {} loop entries, {} carried out by the device, {} with a conflict, {} by what \
             logs had shown, {} expectations checked",
            get(&self.runs),
            get(&self.entries),
            get(&self.on_device),
            get(&self.with_conflict),
            get(&self.learnt),
            get(&self.expectations)
        )
    }
}

/// Tells the person at the terminal, past the test harness's capture.
fn announce(line: &str) {
    let _ = writeln!(std::io::stderr(), "{line}");
}

fn conclude(name: &str, started: Instant, text: &str, failures: Vec<String>) {
    announce(&format!(
        "{name}: {text}, {} failures, {:.0} s",
        failures.len(),
        started.elapsed().as_secs_f64()
    ));
    assert!(failures.is_empty(), "{} failures:\n{}", failures.len(), failures.join("\n"));
}

// ---- comparing

/// Runs one program on one input in every setting. The messages say what differs from cc, and which expectation failed.
fn compare(built: &Built<'_>, input: &str, settings: &[Setting], tally: &Tally) -> Vec<String> {
    let Built { program, .. } = built;
    // What cc made doesn't look at the variable.
    let off = |command: &mut Command| {
        command.env("PARAGON_DEVICE", "off");
    };
    let reference = |repeat| run(&built.reference(), &program.size, input, repeat, off);
    let mut references: BTreeMap<&str, Outcome> = BTreeMap::new();
    let mut failures = Vec::new();
    for &setting in settings {
        let folder = tempfile::tempdir().unwrap();
        let trace_path = folder.path().join("trace");
        let wanted = references.entry(setting.repeat()).or_insert_with(|| reference(setting.repeat()));
        assert_eq!(wanted.status, Some(0), "{} {input} as cc built it", program.name);
        let ours = run(&built.paragon(), &program.size, input, setting.repeat(), |command| {
            setting.apply(command);
            command.env("PARAGON_TRACE", &trace_path);
        });
        let trace = read_trace(&trace_path);
        tally.count(&trace);
        let mut fail = |what: String| failures.push(format!("{} {input} {setting:?}: {what}", program.name));
        if let Some(difference) = ours.difference(wanted) {
            fail(difference);
        }
        if setting.device == "off" {
            if trace.iter().any(on_device) {
                fail("a device ran although it is off".into());
            }
            continue;
        }
        if setting.log == LEARNT {
            let learnt = trace.iter().filter(|r| r["inspection"] == "independent" && on_device(r)).count();
            tally.learnt.fetch_add(learnt, Ordering::Relaxed);
        }
        if setting.race != "device" || setting.log == LEARNT && setting.device != "cuda" {
            continue;
        }
        let unchecked = trace.iter().filter(|r| r["unchecked"] == true && r["decision"] == "cuda").count();
        tally.unchecked.fetch_add(unchecked, Ordering::Relaxed);
        let groups = trace
            .iter()
            .filter(|r| r["decision"] == "cuda")
            .map(|r| format!("{}{}", r["group"], if r["deep"] == true { " deep" } else { "" }));
        groups.for_each(|group| *tally.groups.lock().unwrap().entry(group).or_default() += 1);
        for expectation in program.expectations.iter().filter(|e| e.inputs.iter().any(|i| i == input)) {
            tally.expectations.fetch_add(1, Ordering::Relaxed);
            let source = program.source.file_name().unwrap().to_string_lossy();
            let entries: Vec<&Value> = trace
                .iter()
                .filter(|r| r["file"].as_str().is_some_and(|f| f.ends_with(source.as_ref())))
                .filter(|r| r["line"].as_u64().is_some_and(|line| expectation.lines.contains(&line)))
                .collect();
            let met = match (expectation.event, setting.log().0) {
                // What the host's libm answers a GPU doesn't, and NaNs have another sign there.
                (Event::Runs | Event::Levels, _)
                    if setting.device == "cuda" && entries.iter().any(|r| is_for_hosts(r)) =>
                {
                    true
                }
                // The applications of the chapter need no log where nothing conflicts: that is what proofs are for.
                (Event::Runs, "auto") if program.source.parent().is_some_and(|p| p.ends_with("chapter")) => {
                    entries.iter().any(|r| at_once(r)) && !entries.iter().any(|r| is_logged(r))
                }
                // To a bitmap an iteration that meets itself looks like two.
                (Event::Runs, "bitmap")
                    if !program.source.parent().is_some_and(|p| p.ends_with("chapter")) =>
                {
                    entries.iter().any(|r| at_once(r) || is_conflict(r) && r["log"] == "bitmap")
                }
                (Event::Runs, _) => entries.iter().any(|r| at_once(r)),
                // Logs that are asked for look at everything.
                (Event::UncheckedAtLast, log) => {
                    setting.device != "cuda"
                        || log != "auto"
                        || entries.last().is_some_and(|r| r["unchecked"] == true)
                }
                (Event::InPlace, "auto") if setting.memory == "shared" => {
                    entries.iter().any(|r| at_once(r)) && !entries.iter().any(|r| is_logged(r))
                }
                (Event::InPlace, _) => !entries.is_empty() && !entries.iter().any(|r| on_device(r)),
                (Event::Unchecked, _) => {
                    let is_unchecked = |r: &Value| r["unchecked"] == true && r["decision"] == "cuda";
                    setting.device != "cuda" || entries.iter().any(|r| is_unchecked(r))
                }
                (Event::Stays, _) => !entries.iter().any(|r| on_device(r)),
                // Without forced logs a predicate or an inspection may already have seen the conflict.
                (Event::Conflicts, "auto") => entries.iter().any(|r| !at_once(r)),
                (Event::Levels, "auto") => entries.iter().any(|r| on_device(r) && inspection_objects(r)),
                (Event::Stamps, "auto") => true,
                (Event::Stamps, "stamp") => {
                    entries.iter().any(|r| at_once(r)) && !entries.iter().any(|r| is_conflict(r))
                }
                // What others take for a conflict may be an anti or output dependence to stamps.
                (Event::Conflicts | Event::Levels, "stamp")
                    if entries.iter().any(|r| at_once(r) && r["log"] == "stamp") =>
                {
                    !program.is_about_stamps()
                }
                (Event::Conflicts | Event::Levels | Event::Stamps, log) => {
                    // Not every loop can have bitmaps.
                    let is_other = |r: &Value| ["bitmap", "stamp"].contains(&log) && r["log"] == "atomic";
                    let is_asked = |r: &Value| r["log"] == log || is_other(r);
                    entries.iter().any(|r| is_conflict(r) && !on_device(r) && is_asked(r))
                }
            };
            if !met {
                let what: Vec<String> = entries
                    .iter()
                    .take(4)
                    .map(|r| format!("{} {} {} {}", r["line"], r["decision"], r["why"], r["fail"]))
                    .collect();
                fail(format!("expected: {}; seen: [{}]", expectation.text, what.join("; ")));
            }
        }
    }
    failures
}

fn compare_all(name: &str, built: &[Built<'_>], settings: &[Setting]) {
    let started = Instant::now();
    let cases: Vec<(&Built<'_>, &str)> =
        built.iter().flat_map(|b| b.inputs.iter().map(move |input| (b, input.as_str()))).collect();
    let tally = Tally::default();
    let failures = in_parallel(&cases, |(built, input)| {
        let mut settings = settings.to_vec();
        if built.program.is_about_stamps() {
            let guesses = GUESSES.iter().filter(|guesses| **guesses != "stamp");
            settings.extend(guesses.map(|log| Setting {
                device: "threads",
                memory: "separate",
                log,
                groups: "auto",
                race: "device",
            }));
        }
        compare(built, input, &settings, &tally)
    });
    conclude(&format!("{name} ({} programs)", built.len()), started, &tally.text(), failures);
}

#[test]
fn same_results_in_every_setting() {
    compare_all("every setting", built(), &all_settings());
}

/// The very kernels that GPUs run, and all that the runtime does around them.
#[test]
fn same_results_on_an_emulated_gpu() {
    let started = Instant::now();
    let built = built();
    let setting = |log, groups| Setting { device: "cuda", memory: "separate", log, groups, race: "device" };
    let cases: Vec<(&Built<'_>, &str)> =
        built.iter().flat_map(|b| b.inputs.iter().map(move |input| (b, input.as_str()))).collect();
    let tally = Tally::default();
    let failures = in_parallel(&cases, |(built, input)| {
        // Tests have too few iterations for groups otherwise; so few threads that they load ahead are the chapter's programs'.
        let mut settings = vec![setting("auto", "always")];
        if *input == "clean" && built.program.source.parent().is_some_and(|p| p.ends_with("chapter")) {
            settings.extend([
                setting("auto", "auto"),
                setting("atomic", "auto"),
                setting("reduction", "auto"),
                setting("bitmap", "auto"),
                setting("bitmap", "always"),
                setting("stamp", "auto"),
            ]);
        }
        // A single conflict, which bits of all lanes together have to show.
        if *input == "one" {
            settings.push(setting("bitmap", "auto"));
        }
        if built.program.has_few_threads {
            settings.push(setting("auto", "auto"));
        }
        if built.program.is_about_stamps() {
            settings.extend(GUESSES.map(|guesses| setting(guesses, "always")));
        }
        // Without inspections nothing but where arrays lie settles them.
        if built.program.expectations.iter().any(|expectation| expectation.event == Event::Unchecked) {
            settings.push(setting(LEARNT, "auto"));
        }
        compare(built, input, &settings, &tally)
    });
    let groups = tally.groups.lock().unwrap();
    let unchecked = tally.unchecked.load(Ordering::Relaxed);
    let text = format!("{}, {unchecked} unchecked, groups {:?}", tally.text(), *groups);
    let is_all = std::env::var_os("PARAGON_TESTS").is_none();
    assert!(unchecked > 20 || !is_all, "{text}");
    for group in ["[8,8]", "[4,4]", "[4,1]", "[1,4]", "[1,1]", "[1,1] deep"].into_iter().filter(|_| is_all) {
        assert!(groups.get(group).is_some_and(|count| *count > 1), "{group}: {text}");
    }
    conclude("on an emulated GPU", started, &text, failures);
}

#[test]
fn same_results_when_cc_optimises_more() {
    let settings: Vec<Setting> = all_settings().into_iter().filter(|s| s.memory == "separate").collect();
    let built = build_all(Path::new(PARAGON_CC), "-O3", &scratch("optimised more"));
    compare_all("optimised more", &built, &settings);
}

// ---- without the runtime

#[test]
fn programs_run_without_the_runtime() {
    let started = Instant::now();
    let folder = scratch("without the runtime");
    // A tree of its own, whose runtime can be taken away.
    let compiler = folder.join("paragon-cc");
    let library = folder.join("libparagon_rt.so");
    copy_program(Path::new(PARAGON_CC), &compiler);
    copy_program(&Path::new(PARAGON_CC).with_file_name("libparagon_rt.so"), &library);
    let built = build_all(&compiler, "-O2", &folder);
    // One input each: nothing depends on them here.
    let cases: Vec<(&Built<'_>, &str)> =
        built.iter().filter_map(|b| b.inputs.first().map(|input| (b, input.as_str()))).collect();
    let runs = AtomicUsize::new(0);
    let setting =
        Setting { device: "threads", memory: "separate", log: "atomic", groups: "auto", race: "device" };
    // Whether the runtime was there is seen by its trace.
    let check = |runtime: Option<&str>, wants_trace: bool| {
        in_parallel(&cases, |(built, input)| {
            let folder = tempfile::tempdir().unwrap();
            let trace = folder.path().join("trace");
            let size = &built.program.size;
            let wanted = run(&built.reference(), size, input, "1", |_| ());
            let ours = run(&built.paragon(), size, input, "1", |command| {
                setting.apply(command);
                command.env("PARAGON_TRACE", &trace);
                if let Some(runtime) = runtime {
                    command.env("PARAGON_RT", runtime);
                }
            });
            runs.fetch_add(1, Ordering::Relaxed);
            let name = &built.program.name;
            let mut failures = Vec::new();
            if let Some(difference) = ours.difference(&wanted) {
                failures.push(format!("{name} {input} (PARAGON_RT {runtime:?}): {difference}"));
            }
            if trace.exists() != wants_trace {
                failures.push(format!("{name} {input} (PARAGON_RT {runtime:?}): trace: {}", trace.exists()));
            }
            failures
        })
    };
    let mut failures = check(Some("/nonexistent"), false);
    fs::rename(&library, folder.join("moved-away.so")).unwrap();
    failures.extend(check(None, false));
    fs::rename(folder.join("moved-away.so"), &library).unwrap();
    failures.extend(check(None, true));
    let runs = runs.into_inner();
    conclude("without the runtime", started, &format!("{runs} runs compared byte by byte"), failures);
}

// ---- planted conflicts

#[test]
fn every_planted_conflict_is_detected() {
    const RUNS: usize = 1000;
    let started = Instant::now();
    let folder = scratch("planted");
    let source = |name: &str| Path::new(ROOT).join("c-tests/planted").join(name);
    let (reference, executable) = (folder.join("reference.o"), folder.join("planted"));
    succeed(plain("cc").args(["-O2", "-c", "-o"]).arg(&reference).arg(source("reference.c")));
    succeed(
        plain(PARAGON_CC)
            .args(["-std=gnu11", "-O2", "-fparagon-threshold=1", "-fparagon-checked-threads", "-o"])
            .arg(&executable)
            .arg(source("planted.c"))
            .arg(&reference),
    );
    let mut cases = Vec::new();
    for log in ["atomic", "reduction", "bitmap", "auto"].into_iter().chain(GUESSES) {
        for kind in ["waw", "raw", "war", "mixed-width"] {
            for form in ["indirect", "pointer", "rows"] {
                cases.push((log, kind, form));
            }
        }
    }
    let detected = AtomicUsize::new(0);
    let failures = in_parallel(&cases, |&(log, kind, form)| {
        let folder = tempfile::tempdir().unwrap();
        let trace = folder.path().join("trace");
        let mut command = plain("timeout");
        command.arg(SECONDS).arg(&executable);
        command.args(["--runs", &RUNS.to_string(), "--kind", kind, "--loop", form, "--seed", "20"]);
        let setting = Setting { device: "threads", memory: "separate", log, groups: "auto", race: "device" };
        setting.apply(&mut command);
        let (log, guesses) = setting.log();
        let output = command.env("PARAGON_TRACE", &trace).output().unwrap();
        let mut failures = Vec::new();
        let mut fail = |what: String| failures.push(format!("planted {form} {kind} {log}: {what}"));
        if !output.status.success() {
            fail(format!("{output:?}"));
        }
        let entries: Vec<Value> = read_trace(&trace)
            .into_iter()
            .filter(|r| r["function"].as_str().is_some_and(|f| f.starts_with(form)))
            .collect();
        // Without forced logs, a predicate sees that pointers overlap and keeps the loop where it is, and an inspection sees
        // which iterations meet.
        let refused = |r: &Value| log == "auto" && r["check"] == "predicate" && r["decision"] == "sequential";
        // Anti dependences between pointers are no conflict to loads from a snapshot, and to stamps only flow dependences are.
        let settled = |r: &Value| {
            let by_snapshot = (kind, form) == ("war", "pointer") && r["snapshot"] == true;
            on_device(r) && (by_snapshot || r["log"] == "stamp" && kind != "raw")
        };
        let found = entries
            .iter()
            .filter(|r| is_conflict(r) || refused(r) || inspection_objects(r) || settled(r))
            .count();
        detected.fetch_add(found, Ordering::Relaxed);
        // Two writers refute a guess, whatever else there is; readers alone don't.
        let guess = match (guesses, kind) {
            ("auto", _) | ("off", _) => None,
            // There are readers whom bits would take for a conflict.
            (_, "raw" | "war") => Some("held"),
            // Of rows it is the reader that is narrower.
            (_, "mixed-width") if form == "rows" => Some("held"),
            _ => Some("refuted"),
        };
        // A reader behind the only writer is a conflict, so that nothing holds.
        let told = |r: &Value| if is_conflict(r) && guess == Some("held") { "" } else { guess.unwrap_or("") };
        let is_stamped = |r: &&Value| r["log"] == "stamp" && guesses != "auto";
        if let Some(other) = entries.iter().filter(is_stamped).find(|r| r["guess"] != told(r)) {
            fail(format!("a guess {} instead of {:?}", other["guess"], told(other)));
        }
        if entries.len() != RUNS || found != RUNS || entries.iter().any(|r| at_once(r) && !settled(r)) {
            fail(format!("{found} of {RUNS} detected, in {} entries", entries.len()));
        }
        failures
    });
    let text = format!("{} of {} planted conflicts detected", detected.into_inner(), RUNS * cases.len());
    conclude("planted conflicts", started, &text, failures);
}

// ---- what only speculation does

#[test]
fn faults_of_speculation_hurt_nobody() {
    let started = Instant::now();
    let folder = scratch("faults");
    let source = |name: &str| Path::new(ROOT).join("c-tests/faults").join(name);
    let (reference, executable) = (folder.join("reference.o"), folder.join("faults"));
    succeed(plain("cc").args(["-O2", "-c", "-o"]).arg(&reference).arg(source("reference.c")));
    succeed(
        plain(PARAGON_CC)
            .args(["-std=gnu11", "-O2", "-fparagon-threshold=1", "-fparagon-checked-threads", "-o"])
            .arg(&executable)
            .arg(source("faults.c"))
            .arg(&reference),
    );
    let listed = plain("timeout").arg(SECONDS).arg(&executable).arg("--list").output().unwrap();
    let listed = String::from_utf8(listed.stdout).unwrap();
    let kinds: Vec<&str> = listed.lines().collect();
    assert!(kinds.len() > 40, "{listed}");
    let settings: Vec<(&str, &str)> = ["atomic", "reduction", "bitmap", "stamp"]
        .map(|log| ("threads", log))
        .into_iter()
        .chain([("threads", "auto"), ("cuda", "bitmap")])
        .collect();
    let cases: Vec<(&str, &str, &str)> = settings
        .iter()
        .flat_map(|(device, log)| kinds.iter().map(move |kind| (*device, *log, *kind)))
        .collect();
    let (speculated, faults, runs) = (AtomicUsize::new(0), AtomicUsize::new(0), AtomicUsize::new(0));
    let failures = in_parallel(&cases, |&(device, log, kind)| {
        let folder = tempfile::tempdir().unwrap();
        let trace = folder.path().join("trace");
        // Each run of a crash has a process of its own, which begins with opening the GPU.
        let count = if device == "cuda" { 8 } else { 20 };
        let mut command = plain("timeout");
        command.arg(SECONDS).arg(&executable).args([
            "--runs",
            &count.to_string(),
            "--kind",
            kind,
            "--seed",
            "3",
        ]);
        Setting { device, memory: "separate", log, groups: "auto", race: "device" }.apply(&mut command);
        // What never ends is given up; so is little else, where a processor is a GPU.
        command.env(
            "PARAGON_PATIENCE",
            if kind.starts_with("endless") || kind.starts_with("row-length") { "50" } else { "20000" },
        );
        let output = command.env("PARAGON_TRACE", &trace).output().unwrap();
        runs.fetch_add(count, Ordering::Relaxed);
        for record in read_trace(&trace) {
            speculated.fetch_add(usize::from(on_device(&record) || is_conflict(&record)), Ordering::Relaxed);
            let hurt = ["out of range", "no array", "misaligned", "arithmetic", "NaN", "too long"];
            let fail = record["fail"].as_array().cloned().unwrap_or_default();
            let is_hurt = fail.iter().any(|word| hurt.iter().any(|hurt| word == hurt));
            faults.fetch_add(usize::from(is_hurt), Ordering::Relaxed);
        }
        if output.status.success() { Vec::new() } else { vec![format!("{kind} {device} {log}: {output:?}")] }
    });
    let (speculated, faults) = (speculated.into_inner(), faults.into_inner());
    let text = format!(
        "{} runs with the reference's memory or its signal, {speculated} loops were guesses, {faults} came to an address, an \
         operation or a loop that the program never comes to",
        runs.into_inner()
    );
    assert!(speculated > 1000 && faults > 100, "{text}");
    conclude("faults of speculation", started, &text, failures);
}

// ---- the inputs themselves

/// The program with every named loop running backwards.
fn backwards(program: &Program) -> String {
    let mut text = String::new();
    for line in program.text.lines() {
        let reversed = line.contains("/* loop ").then(|| reverse(line)).flatten();
        assert!(
            reversed.is_some() || !line.contains("/* loop "),
            "{}: can't turn round: {line}",
            program.name
        );
        text += &reversed.unwrap_or_else(|| line.to_string());
        text.push('\n');
    }
    text.replace("\"../support/", &format!("\"{ROOT}/c-tests/support/"))
}

/// `for (T i = a; i < b; i++)` as a loop over the same values from the last to the first.
fn reverse(line: &str) -> Option<String> {
    let (indent, rest) = line.split_once("for (")?;
    let (first, rest) = rest.split_once("; ")?;
    let (condition, rest) = rest.split_once("; ")?;
    let (step, rest) = rest.split_once(')')?;
    let (declared, from) = first.split_once(" = ")?;
    let (variable, to) = condition.split_once(" < ")?;
    let kind = declared.strip_suffix(variable)?.trim();
    (step == format!("{variable}++")).then_some(())?;
    let value = format!("{variable} = ({from}) + ({to}) - 1 - up_{variable}");
    let up = format!("up_{variable}");
    Some(if kind.is_empty() {
        format!(
            "{indent}for (int {up} = ({value0}, {from}); {up} < ({to}); {up}++, {value}){rest}",
            value0 = format_args!("{variable} = ({to}) - 1")
        )
    } else {
        format!("{indent}for ({kind} {up} = ({from}), {value}; {up} < ({to}); {up}++, {value}){rest}")
    })
}

/// Tests are worth something only if their inputs are what they say: on clean inputs the named loops may run in any order,
/// on conflicting ones they may not.
#[test]
fn conflicting_inputs_depend_on_the_order() {
    let started = Instant::now();
    let folder = scratch("backwards");
    let programs: Vec<Program> = programs_in("chapter");
    let runs = AtomicUsize::new(0);
    let failures = in_parallel(&programs, |program| {
        let source = folder.join(format!("{}.c", program.name));
        fs::write(&source, backwards(program)).unwrap();
        let (forwards, backwards) =
            (folder.join(&program.name), folder.join(format!("{}.back", program.name)));
        for (from, to) in [(&program.source, &forwards), (&source, &backwards)] {
            succeed(plain("cc").args(["-std=gnu11", "-O2", "-o"]).arg(to).arg(from).arg("-lm"));
        }
        let list = succeed(plain(&forwards).arg("--list"));
        let mut failures = Vec::new();
        for input in String::from_utf8(list.stdout).unwrap().lines() {
            runs.fetch_add(1, Ordering::Relaxed);
            let [there, back] =
                [&forwards, &backwards].map(|executable| run(executable, &program.size, input, "1", |_| ()));
            let shows = there.difference(&back).is_some();
            let conflict = program
                .expectations
                .iter()
                .any(|e| e.event != Event::Runs && e.inputs.iter().any(|i| i == input));
            let commutes = program.commuting.iter().any(|i| i == input);
            assert!(conflict || input == "clean", "{}: nothing is expected of {input}", program.name);
            if shows != (conflict && !commutes) {
                failures.push(format!("{} {input}: order shows: {shows}", program.name));
            }
        }
        failures
    });
    let text = format!("{} inputs run forwards and backwards", runs.into_inner());
    conclude("inputs", started, &text, failures);
}

// ---- kernels

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

// ---- sums in free order

/// Where the user gives the order of sums and products free, the results are not cc's; but they are the same wherever a loop
/// runs, and with any number of threads. What they are compared with is the same program where nothing may run elsewhere.
#[test]
fn sums_in_free_order_are_the_same_everywhere() {
    let flags = [
        &["-O2", "-fparagon-reassoc"][..],
        &["-O3", "-ffast-math"],
        &["-O3", "-fassociative-math", "-fno-signed-zeros", "-fno-trapping-math"],
        &["-O3", "-march=native", "-fparagon-reassoc", "-ffp-contract=off"],
    ];
    // A program that was linked so flushes denormal numbers, which only threads on its own memory can, too.
    let everywhere = |flags: &[&str], s: &Setting| {
        !flags.contains(&"-ffast-math") || s.race == "auto" || s.device == "off"
    };
    same_everywhere("sums in free order", "licence", &flags, everywhere);
}

/// The same of calls of libm whose bits the user gives free; in place, the only way in which they run.
#[test]
fn calls_with_free_bits_are_the_same_everywhere() {
    let flags = [&["-O3", "-ffast-math"][..], &["-Ofast", "-fmath-errno", "-fno-finite-math-only"]];
    let in_place = |_: &[&str], s: &Setting| s.device == "off" || s.memory == "shared" && s.log == "auto";
    same_everywhere("calls with free bits", "free_calls", &flags, in_place);
}

/// Compares the programs of a folder with themselves, in the settings that are wanted and with any number of threads.
fn same_everywhere(name: &str, programs: &str, flags: &[&[&str]], wants: impl Fn(&[&str], &Setting) -> bool) {
    let (tally, started) = (Tally::default(), Instant::now());
    let mut failures = Vec::new();
    for flags in flags {
        let folder = scratch(&format!("{programs}{}", flags.concat()));
        for program in &programs_in(programs) {
            let built = Built { program, folder: folder.clone(), inputs: Vec::new() };
            let said = succeed(
                plain(PARAGON_CC)
                    .args(["-std=gnu11", "-Wall", "-Wextra"])
                    .args(*flags)
                    .args(["-fparagon-threshold=1", "-fparagon-checked-threads", "-o"])
                    .arg(built.paragon())
                    .arg(&program.source)
                    .arg("-lm"),
            );
            assert!(said.stderr.is_empty(), "{}", String::from_utf8_lossy(&said.stderr));
            copy_program(&built.paragon(), &built.reference());
            let list = succeed(plain(built.reference()).arg("--list"));
            let inputs: Vec<String> =
                String::from_utf8(list.stdout).unwrap().lines().map(String::from).collect();
            let mut settings = all_settings();
            settings.retain(|s| wants(flags, s));
            failures.extend(in_parallel(&inputs, |input| {
                let mut failures = compare(&built, input, &settings, &tally);
                let wanted = run(&built.reference(), &program.size, input, "1", |_| ());
                if String::from_utf8_lossy(&wanted.stdout).contains("WRONG") {
                    failures.push(format!(
                        "{} {input}: {}",
                        program.name,
                        String::from_utf8_lossy(&wanted.stdout)
                    ));
                }
                for threads in ["1", "2", "3", "7"] {
                    for race in ["device", "worker", "auto"] {
                        let ours = run(&built.paragon(), &program.size, input, "1", |command| {
                            command.env("PARAGON_DEVICE", "threads").env("PARAGON_RACE", race);
                            command.env("PARAGON_THREADS", threads);
                        });
                        if let Some(difference) = ours.difference(&wanted) {
                            failures.push(format!("{} {input} {threads} {race}: {difference}", program.name));
                        }
                    }
                }
                failures.iter().map(|failure| format!("{flags:?} {failure}")).collect()
            }));
        }
    }
    conclude(name, started, &tally.text(), failures);
}
