//! Programs that try to see that their memory is also elsewhere (`c-tests/coherence`). Their loops run again and again on the same arrays, and in between the program
//! reads, writes, moves, frees, shares and hands these to the system in every way that programs have. Whatever a device keeps of what loops have stored, they print, say
//! and end as what cc makes of them does.
//!
//! With `PARAGON_TESTS_SUMS=1` and `--nocapture` each says how many entries ran elsewhere, and what was copied for them.

#[path = "support/emulated_gpu.rs"]
mod emulated_gpu;

#[path = "support/selection.rs"]
mod selection;

use emulated_gpu::EmulatedGpu;
use selection::{is_tested, selected};
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

const SOURCES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/c-tests/coherence");
/// After which a program is given up, in seconds: a machine may be busy with other things.
const LONGEST: &str = "300";

/// Where loops run.
#[derive(Clone, Copy, PartialEq, Debug)]
enum Setting {
    /// On threads, whose memory is another one.
    Threads,
    /// On the GPU that is none.
    Gpu,
    /// Wherever it is decided.
    Default,
}

/// A program's translation units, and its library where it has one.
fn sources(name: &str) -> (Vec<PathBuf>, Option<PathBuf>) {
    let of = |part: &str| Path::new(SOURCES).join(format!("{name}{part}.c"));
    let units = [of(""), of(".step")].into_iter().filter(|unit| unit.exists()).collect();
    (units, Some(of(".library")).filter(|library| library.exists()))
}

/// Builds a program and its library in a folder of their own.
fn build(name: &str, compiler: &str, folder: &Path) -> PathBuf {
    std::fs::create_dir_all(folder).unwrap();
    let (units, library) = sources(name);
    const WARNS: [&str; 2] = ["-Wall", "-Wextra"];
    if let Some(library) = library {
        let output = folder.join(format!("{name}.library.so"));
        compile(compiler, &[library], &output, &[&WARNS[..], &["-shared", "-fPIC"]].concat());
    }
    let program = folder.join(name);
    compile(compiler, &units, &program, &[&WARNS[..], &["-Wl,-rpath,$ORIGIN"]].concat());
    program
}

/// Makes a program, or a library, about which the compiler has nothing to say.
fn compile(compiler: &str, sources: &[PathBuf], output: &Path, more: &[&str]) {
    let mut command = Command::new(compiler);
    command.args(["-std=gnu11", "-O2"]).args(more).arg("-o").arg(output);
    if compiler != "cc" {
        command.args(["-fparagon-threshold=1", "-fparagon-checked-threads"]);
    }
    let said = command.args(sources).args(["-pthread", "-ldl", "-lm"]).output().unwrap();
    assert!(said.status.success() && said.stderr.is_empty(), "{command:?}: {said:?}");
}

/// Runs a program in a folder that is empty, with none of our variables but those that are told.
fn run(program: &Path, tell: impl FnOnce(&mut Command)) -> Output {
    let folder = tempfile::tempdir().unwrap();
    let mut command = Command::new("timeout");
    for (name, _) in std::env::vars_os() {
        if name.to_string_lossy().starts_with("PARAGON_") {
            command.env_remove(name);
        }
    }
    command.args(["--signal=KILL", LONGEST]).arg(program).current_dir(folder.path());
    tell(&mut command);
    command.output().unwrap()
}

/// Tells a program where its loops run, and that results may stay there.
fn apply(setting: Setting, gpu: &EmulatedGpu, command: &mut Command) {
    command.env("PARAGON_STAYING", "on").env("PARAGON_HISTORY", "off").env("PARAGON_AT_ONCE", "on");
    command.env("PARAGON_THREADS", "3");
    match setting {
        Setting::Default => return,
        Setting::Threads => command.env("PARAGON_DEVICE", "threads").env("PARAGON_MEMORY", "separate"),
        Setting::Gpu => {
            gpu.apply(command);
            // A processor takes much longer than a GPU.
            command.env("PARAGON_DEVICE", "cuda").env("PARAGON_PATIENCE", "600000")
        }
    };
    command.env("PARAGON_RACE", "device").env("PARAGON_MONITOR", "off");
}

fn read_trace(path: &Path) -> Vec<Value> {
    let text = std::fs::read_to_string(path).unwrap_or_default();
    text.lines().map(|line| serde_json::from_str(line).expect(line)).collect()
}

fn is_elsewhere(record: &Value) -> bool {
    record["decision"] == "threads" || record["decision"] == "cuda"
}

fn sum(trace: &[Value], what: &str) -> u64 {
    trace.iter().map(|record| record[what].as_u64().unwrap()).sum()
}

/// What differs in two texts, from the first line on that does.
fn first_difference(ours: &[u8], theirs: &[u8]) -> String {
    let (ours, theirs) = (String::from_utf8_lossy(ours), String::from_utf8_lossy(theirs));
    let same = ours.lines().zip(theirs.lines()).take_while(|(a, b)| a == b).count();
    format!("line {}: {:?}, not {:?}", same + 1, ours.lines().nth(same), theirs.lines().nth(same))
}

/// Everywhere the same as what cc makes of it.
fn compare(name: &str) {
    let folder = tempfile::tempdir().unwrap();
    let gpu = EmulatedGpu::build(
        &Path::new(env!("CARGO_MANIFEST_DIR")).join("c-tests/emulated_gpu"),
        folder.path(),
    );
    let text = std::fs::read_to_string(&sources(name).0[0]).unwrap();
    // Of programs that close the file it goes to there is none.
    let is_traced = !text.contains("No trace");
    let reference = build(name, "cc", &folder.path().join("cc"));
    let program = build(name, env!("CARGO_BIN_EXE_paragon-cc"), &folder.path().join("paragon"));
    let theirs = run(&reference, |_| ());
    assert_ne!(theirs.status.code(), Some(99), "{name} as cc makes it: {theirs:?}");
    let number: usize = name.bytes().map(usize::from).sum();
    // Kernels of the GPU that is none are compiled for each program, and what is decided by itself leaves nothing there for so short a time.
    let others = [(0, Setting::Gpu), (2, Setting::Default)];
    let others =
        others.into_iter().filter(|(other, _)| is_tested(number, *other, 5)).map(|(_, setting)| setting);
    for setting in [Setting::Threads].into_iter().chain(others) {
        let trace = folder.path().join(format!("{setting:?}"));
        let ours = run(&program, |command| {
            apply(setting, &gpu, command);
            if is_traced {
                command.env("PARAGON_TRACE", &trace);
            }
        });
        assert_eq!(
            String::from_utf8_lossy(&ours.stderr),
            String::from_utf8_lossy(&theirs.stderr),
            "{name} on {setting:?}"
        );
        assert!(
            ours.stdout == theirs.stdout,
            "{name} on {setting:?}: {}",
            first_difference(&ours.stdout, &theirs.stdout)
        );
        assert_eq!(ours.status, theirs.status, "{name} on {setting:?}");
        let trace = read_trace(&trace);
        let elsewhere = trace.iter().filter(|record| is_elsewhere(record)).count();
        if std::env::var_os("PARAGON_TESTS_SUMS").is_some_and(|value| value == "1") {
            let (bytes_in, bytes_out) = (sum(&trace, "bytes_in"), sum(&trace, "bytes_out"));
            println!(
                "{name} {setting:?}: {elsewhere} of {} entries elsewhere, {bytes_in} bytes in, {bytes_out} out",
                trace.len()
            );
        }
        // Where loops stay, nothing is tested.
        if is_traced && setting != Setting::Default {
            let of = trace.len();
            assert!(elsewhere > 0 && elsewhere * 2 >= of, "{name} on {setting:?}: {elsewhere} of {of}");
        }
    }
}

macro_rules! programs {
    ($($name:ident)*) => {
        $(
            #[test]
            fn $name() {
                compare(stringify!($name));
            }
        )*

        #[test]
        fn none_is_left_out() {
            let mut listed = vec![$(stringify!($name).to_string()),*];
            let mut there: Vec<String> = std::fs::read_dir(SOURCES)
                .unwrap()
                .filter_map(|file| file.unwrap().file_name().to_str()?.strip_suffix(".c").map(String::from))
                .filter(|name| !name.contains('.'))
                .collect();
            listed.sort();
            there.sort();
            assert_eq!(listed, there);
        }
    };
}

programs! {
    aliases
    answers
    at_exit
    atfork
    between
    company
    constants
    descriptors
    divided
    endings
    environments
    executed
    fallbacks
    files
    forked
    given_up
    grown
    grows
    handlers
    jumps
    lent_pages
    libraries
    limits
    longer
    mappings
    masks
    moved_bytes
    moved_mappings
    neighbours
    not_numbers
    one_array
    own_stack
    own_variables
    pieces
    raw_masks
    refused
    sealed
    single_values
    sorted
    stacks
    streams
    structs
    sums
    texts
    time_loop
    threads
    timers
    gaps
    two_files
    watched
    windows
}

/// Programs that nobody has thought of (`c-tests/coherence/random`): each is built once, and makes other random choices by each number that it is given.
#[test]
fn random_programs_see_one_memory() {
    let generator = Path::new(SOURCES).join("random/generator.py");
    let (programs, numbers) = (selected(5, 60), selected(8, 40));
    let mut stays = 0;
    for seed in 1..=programs {
        let folder = tempfile::tempdir().unwrap();
        let told = Command::new("python3").arg(&generator).arg(seed.to_string()).arg(folder.path()).output();
        assert!(told.as_ref().is_ok_and(|told| told.status.success()), "{told:?}");
        let sources = ["main.c", "kernels.c"].map(|name| folder.path().join(name));
        let [reference, program] =
            [("cc", "reference"), (env!("CARGO_BIN_EXE_paragon-cc"), "program")].map(|(compiler, name)| {
                let output = folder.path().join(name);
                compile(compiler, &sources, &output, &["-w"]);
                output
            });
        let gpu = EmulatedGpu::build(
            &Path::new(env!("CARGO_MANIFEST_DIR")).join("c-tests/emulated_gpu"),
            &folder.path().join("gpu"),
        );
        for number in 1..=numbers {
            let theirs = run(&reference, |command| {
                command.arg(number.to_string());
            });
            assert_ne!(theirs.status.code(), Some(99), "{seed} {number}: {theirs:?}");
            let trace = folder.path().join("trace");
            let _ = std::fs::remove_file(&trace);
            let ours = run(&program, |command| {
                apply(Setting::Threads, &gpu, command);
                command.env("PARAGON_TRACE", &trace).arg(number.to_string());
            });
            let what = format!("program {seed} by {number}");
            assert!(
                ours.stdout == theirs.stdout,
                "{what}: {}",
                first_difference(&ours.stdout, &theirs.stdout)
            );
            assert_eq!((ours.status, &ours.stderr), (theirs.status, &theirs.stderr), "{what}");
            stays += read_trace(&trace).iter().filter(|record| record["stays"] == true).count();
        }
    }
    println!("{stays} entries of {programs} programs left arrays elsewhere");
    assert!(stays as u64 > 20 * programs * numbers, "{stays}");
}

/// A GPU that is lost at any moment takes nothing with it: what only it had is computed once more.
#[test]
fn a_gpu_that_is_lost_costs_no_results() {
    const PROGRAMS: [&str; 13] = [
        "at_exit",
        "between",
        "constants",
        "executed",
        "files",
        "grown",
        "jumps",
        "mappings",
        "moved_bytes",
        "neighbours",
        "pieces",
        "sums",
        "time_loop",
    ];
    const MOMENTS: [u32; 14] = [3, 8, 15, 25, 40, 60, 90, 130, 180, 250, 350, 500, 800, 1500];
    let (mut runs, mut saved) = (0, 0);
    for (number, name) in PROGRAMS.into_iter().enumerate() {
        if !is_tested(number, 0, 6) {
            continue;
        }
        let folder = tempfile::tempdir().unwrap();
        let gpu = EmulatedGpu::build(
            &Path::new(env!("CARGO_MANIFEST_DIR")).join("c-tests/emulated_gpu"),
            folder.path(),
        );
        let theirs = run(&build(name, "cc", &folder.path().join("cc")), |_| ());
        let program = build(name, env!("CARGO_BIN_EXE_paragon-cc"), &folder.path().join("paragon"));
        for moment in MOMENTS {
            let trace = folder.path().join("trace");
            let _ = std::fs::remove_file(&trace);
            let ours = run(&program, |command| {
                apply(Setting::Gpu, &gpu, command);
                command.env("EMULATED_DIES", moment.to_string()).env("PARAGON_TRACE", &trace);
            });
            let what = format!("{name}, lost after {moment}");
            assert_eq!(
                String::from_utf8_lossy(&ours.stderr),
                String::from_utf8_lossy(&theirs.stderr),
                "{what}"
            );
            assert!(
                ours.stdout == theirs.stdout,
                "{what}: {}",
                first_difference(&ours.stdout, &theirs.stdout)
            );
            assert_eq!(ours.status, theirs.status, "{what}");
            runs += 1;
            saved += u32::from(sum(&read_trace(&trace), "run_again") != 0);
        }
    }
    println!("{saved} of {runs} runs had something to compute once more");
    assert!(saved * 4 > runs, "{saved} of {runs}");
}

/// What the program has freed while it was elsewhere could be given to a thread that can't wait for it: where the C library has no arenas for threads, nothing stays.
#[test]
fn nothing_stays_where_threads_share_the_programs_arena() {
    let folder = tempfile::tempdir().unwrap();
    let gpu = EmulatedGpu::build(
        &Path::new(env!("CARGO_MANIFEST_DIR")).join("c-tests/emulated_gpu"),
        folder.path(),
    );
    let theirs = run(&build("grown", "cc", &folder.path().join("cc")), |_| ());
    let program = build("grown", env!("CARGO_BIN_EXE_paragon-cc"), &folder.path().join("paragon"));
    for (setting, value, stays) in [
        ("MALLOC_ARENA_MAX", "1", false),
        ("GLIBC_TUNABLES", "glibc.malloc.arena_max=1", false),
        ("A", "", true),
    ] {
        let trace = folder.path().join("trace");
        let _ = std::fs::remove_file(&trace);
        let ours = run(&program, |command| {
            apply(Setting::Gpu, &gpu, command);
            command.env("PARAGON_TRACE", &trace).env(setting, value);
        });
        assert_eq!((ours.status, &ours.stdout), (theirs.status, &theirs.stdout), "{setting}: {ours:?}");
        let has_stayed = read_trace(&trace).iter().any(|record| record["stays"] == true);
        assert_eq!(has_stayed, stays, "{setting}");
    }
}

/// Loops aren't computed once more where somebody else sees what they store meanwhile: then the process ends, with a line.
#[test]
fn nobody_else_sees_what_is_computed_once_more() {
    let folder = tempfile::tempdir().unwrap();
    let gpu = EmulatedGpu::build(
        &Path::new(env!("CARGO_MANIFEST_DIR")).join("c-tests/emulated_gpu"),
        folder.path(),
    );
    let theirs = run(&build("watched", "cc", &folder.path().join("cc")), |_| ());
    let program = build("watched", env!("CARGO_BIN_EXE_paragon-cc"), &folder.path().join("paragon"));
    let mut ended = 0;
    for moment in [25, 60, 90, 130, 180, 250, 500] {
        let ours = run(&program, |command| {
            apply(Setting::Gpu, &gpu, command);
            command.env("EMULATED_DIES", moment.to_string());
        });
        if ours.stdout == theirs.stdout && ours.stderr == theirs.stderr && ours.status == theirs.status {
            continue;
        }
        let said = String::from_utf8_lossy(&ours.stdout);
        assert!(!said.contains("went back"), "lost after {moment}: {said}");
        assert_eq!(
            String::from_utf8_lossy(&ours.stderr),
            "paragon: results are lost: its device doesn't answer\n",
            "lost after {moment}"
        );
        ended += 1;
    }
    // Otherwise nothing is tested.
    assert!(ended > 0);
}

/// A division that ends the program ends it where it stands, though nobody waits for other loops.
#[test]
fn nothing_comes_behind_a_loop_that_ends_the_program() {
    let folder = tempfile::tempdir().unwrap();
    let gpu = EmulatedGpu::build(
        &Path::new(env!("CARGO_MANIFEST_DIR")).join("c-tests/emulated_gpu"),
        folder.path(),
    );
    let theirs = run(&build("divided", "cc", &folder.path().join("cc")), |_| ());
    assert!(!theirs.status.success() && !theirs.stdout.is_empty(), "{theirs:?}");
    let program = build("divided", env!("CARGO_BIN_EXE_paragon-cc"), &folder.path().join("paragon"));
    let trace = folder.path().join("trace");
    let ours = run(&program, |command| {
        apply(Setting::Gpu, &gpu, command);
        command.env("PARAGON_TRACE", &trace);
    });
    assert_eq!(String::from_utf8_lossy(&ours.stdout), String::from_utf8_lossy(&theirs.stdout));
    assert_eq!(ours.status, theirs.status);
    let (trace, is_of) = (read_trace(&trace), |one: &Value, name: &str| one["function"] == name);
    let followed = |name| trace.iter().filter(|one| is_of(one, name) && one["follows"] == true).count();
    let divisions = trace.iter().filter(|one| is_of(one, "divide") && is_elsewhere(one)).count();
    assert!(followed("divide") == 0 && followed("lessen") > 10 && divisions > 10, "{trace:?}");
}

/// Nobody waits for loops whose results stay; where one fails, it and all behind it are run once more.
#[test]
fn loops_are_left_to_the_gpu() {
    let folder = tempfile::tempdir().unwrap();
    let gpu = EmulatedGpu::build(
        &Path::new(env!("CARGO_MANIFEST_DIR")).join("c-tests/emulated_gpu"),
        folder.path(),
    );
    let name = "not_numbers";
    let theirs = run(&build(name, "cc", &folder.path().join("cc")), |_| ());
    let program = build(name, env!("CARGO_BIN_EXE_paragon-cc"), &folder.path().join("paragon"));
    for following in ["on", "off"] {
        let trace = folder.path().join(following);
        let ours = run(&program, |command| {
            apply(Setting::Gpu, &gpu, command);
            command.env("PARAGON_FOLLOWING", following).env("PARAGON_TRACE", &trace);
        });
        assert_eq!((&ours.stdout, ours.status), (&theirs.stdout, theirs.status), "{ours:?}");
        let trace = read_trace(&trace);
        let followed = trace.iter().filter(|record| record["follows"] == true).count();
        let (elsewhere, again) =
            (trace.iter().filter(|one| is_elsewhere(one)).count(), sum(&trace, "run_again"));
        println!("{following}: {followed} of {elsewhere} followed, {again} run again");
        match following {
            // Some 290 before one fails, and as many as are on their way then. The others are waited for, though nobody asks for anything.
            "on" => assert!((200..340).contains(&followed) && again > 100, "{followed} {again}"),
            _ => assert_eq!((followed, again), (0, 0)),
        }
    }
}

/// Loops that nobody waits for may become longer, all of a sudden: each has as much time as where it is waited for, so none is given up.
#[test]
fn loops_that_become_longer_are_left_to_the_gpu() {
    let folder = tempfile::tempdir().unwrap();
    let gpu = EmulatedGpu::build(
        &Path::new(env!("CARGO_MANIFEST_DIR")).join("c-tests/emulated_gpu"),
        folder.path(),
    );
    let theirs = run(&build("longer", "cc", &folder.path().join("cc")), |_| ());
    let program = build("longer", env!("CARGO_BIN_EXE_paragon-cc"), &folder.path().join("paragon"));
    // A busy machine may take longer for one than it is given.
    let mut tries = (0..3).map(|number| {
        let trace = folder.path().join(number.to_string());
        let ours = run(&program, |command| {
            apply(Setting::Gpu, &gpu, command);
            // Three times what a long one takes there, but less than those take together that are begun behind each other by what short ones took.
            command.env("PARAGON_PATIENCE", "300").env("PARAGON_TRACE", &trace);
        });
        assert_eq!((&ours.stdout, ours.status), (&theirs.stdout, theirs.status), "{ours:?}");
        let trace = read_trace(&trace);
        (trace.iter().filter(|record| record["follows"] == true).count(), sum(&trace, "run_again"))
    });
    assert!(tries.any(|(followed, again)| followed > 40 && again == 0));
}

/// A time loop of small steps moves each of its arrays to the device once, and home once.
#[test]
fn arrays_of_a_time_loop_move_once() {
    // In whole pages: those that an array has a part of only are the program's, and are copied in each step.
    const COUNT: u64 = 40_960;
    const BYTES: u64 = COUNT * 8;
    const STENCIL: &str = r#"
#include <stdio.h>
#include <stdlib.h>
__attribute__((noinline)) static void step(long n, double *to, const double *from)
{
  to[0] = from[0];
  for (long i = 1; i < n - 1; i++)
    to[i] = (from[i - 1] + from[i] * 2 + from[i + 1]) * 0.25;
}
int main(void)
{
  long n = 40960;
  double *now = aligned_alloc(4096, n * sizeof *now), *next = aligned_alloc(4096, n * sizeof *next), sum = 0;
  for (long i = 0; i < n; i++) {
    now[i] = next[i] = i % 97;
    sum = sum * 0.5 + now[i];
  }
  for (int t = 0; t < 1000; t++) {
    step(n, next, now);
    double *other = now;
    now = next;
    next = other;
  }
  for (long i = 0; i < n; i++)
    sum = sum * 0.5 + now[i] - next[i];
  printf("%.17g\n", sum);
  return 0;
}
"#;
    let folder = tempfile::tempdir().unwrap();
    let gpu = EmulatedGpu::build(
        &Path::new(env!("CARGO_MANIFEST_DIR")).join("c-tests/emulated_gpu"),
        folder.path(),
    );
    // Once with a value that the program moves in each step, from a page that comes back for it, and once without.
    let still = STENCIL.replace("  to[0] = from[0];\n", "");
    for (text, is_touched) in [(STENCIL, true), (&still, false)] {
        let source = folder.path().join("stencil.c");
        std::fs::write(&source, text).unwrap();
        let reference = folder.path().join("reference");
        assert!(
            Command::new("cc").args(["-O2", "-o"]).args([&reference, &source]).status().unwrap().success()
        );
        let theirs = run(&reference, |_| ());
        let program = folder.path().join("stencil");
        let mut command = Command::new(env!("CARGO_BIN_EXE_paragon-cc"));
        command.args(["-O2", "-fparagon-threshold=1", "-fparagon-checked-threads", "-o"]).arg(&program);
        assert!(command.arg(&source).status().unwrap().success());
        for setting in [Setting::Threads, Setting::Gpu] {
            let trace = folder.path().join(format!("{setting:?} {is_touched}"));
            let output = run(&program, |command| {
                apply(setting, &gpu, command);
                command.env("PARAGON_TRACE", &trace);
            });
            assert!(output.status.success() && output.stderr.is_empty(), "{output:?}");
            assert_eq!(output.stdout, theirs.stdout, "{setting:?}");
            let all = read_trace(&trace);
            let steps: Vec<Value> =
                all.iter().filter(|record| record["function"] == "step").cloned().collect();
            assert_eq!(steps.iter().filter(|record| is_elsewhere(record)).count(), 1000);
            assert!(steps.iter().all(|record| record["stays"] == true));
            let (bytes_in, bytes_out) = (sum(&steps, "bytes_in"), sum(&steps, "bytes_out"));
            let back = sum(&all, "bytes_back");
            println!("{setting:?} {is_touched}: {bytes_in} bytes in, {bytes_out} out, {back} back");
            // A page for each end of what a step stores, and some pages for what the program touches.
            let (page, opened) = (4096 * 1000, 16 * 4096 * 1000);
            let some = if is_touched { 2 * opened } else { 0 };
            assert!(bytes_in <= 2 * BYTES + 4 * page / 10 + some, "{setting:?} {is_touched}: {bytes_in}");
            assert!(bytes_out <= 2 * page, "{setting:?} {is_touched}: {bytes_out}");
            assert!((BYTES..=2 * BYTES + some).contains(&back), "{setting:?} {is_touched}: {back}");
        }
    }
}

/// Arrays of malloc's, and the step in another file, whose search for the runtime comes between two entries: each goes there at most once, and comes back once.
#[test]
fn arrays_whose_step_is_elsewhere_move_once() {
    const ROWS: u64 = 256;
    // With what malloc notes in front of it.
    const BYTES: u64 = ROWS * ROWS * 4 + 4096;
    let folder = tempfile::tempdir().unwrap();
    let gpu = EmulatedGpu::build(
        &Path::new(env!("CARGO_MANIFEST_DIR")).join("c-tests/emulated_gpu"),
        folder.path(),
    );
    let arguments = |what: &'static str| [ROWS.to_string(), "1000".into(), what.into(), "10".into()];
    let reference = build("time_loop", "cc", &folder.path().join("cc"));
    let program = build("time_loop", env!("CARGO_BIN_EXE_paragon-cc"), &folder.path().join("paragon"));
    // Nothing in between; an element each time, for which its surroundings come back (now and then it seems to go on where the last one was) and need not go there again; and a thread that
    // reads five rows and stores to one element, whose surroundings go there again.
    const OPENED: u64 = 100 * 32 * 4096;
    for (setting, what, more, again) in [
        (Setting::Threads, "none", 0, 0),
        (Setting::Gpu, "none", 0, 0),
        (Setting::Threads, "element", OPENED, 0),
        (Setting::Threads, "thread", OPENED, OPENED),
    ] {
        let theirs = run(&reference, |command| {
            command.args(arguments(what));
        });
        let trace = folder.path().join(format!("{setting:?} {what}"));
        let output = run(&program, |command| {
            apply(setting, &gpu, command);
            command.env("PARAGON_TRACE", &trace).args(arguments(what));
        });
        assert!(output.status.success() && output.stderr.is_empty(), "{output:?}");
        assert_eq!(output.stdout, theirs.stdout, "{setting:?} {what}");
        let all = read_trace(&trace);
        let of_loops = all.iter().filter(|record| is_elsewhere(record));
        assert!(of_loops.clone().count() > 1000 && of_loops.clone().all(|record| record["stays"] == true));
        let bytes_in = sum(&all, "bytes_in");
        assert!(bytes_in <= 2 * BYTES + again, "{setting:?} {what}: {bytes_in}");
        assert_eq!(sum(&all, "bytes_out"), 0, "{setting:?} {what}");
        let back = sum(&all, "bytes_back");
        assert!((2 * BYTES - 8192..=2 * BYTES + more).contains(&back), "{setting:?} {what}: {back}");
    }
}
