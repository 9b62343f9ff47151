//! Two threads write interleaved elements of one array, one of them through a loop that Paragon runs (`c-tests/interleaved/odd_and_even.c`). Whatever is copied for the
//! loop, and wherever it runs, exactly what it stores may be copied back: no store of the other thread's is lost.
//!
//! A selection has some thousand trials in all; with `PARAGON_TESTS_WHOLE=1` each setting has 100,000. With `--nocapture` each says how many entries ran elsewhere.

#[path = "support/emulated_gpu.rs"]
mod emulated_gpu;

#[path = "support/selection.rs"]
mod selection;

use emulated_gpu::EmulatedGpu;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Trials of a setting; of one on the GPU that is none, whose processors take turns, a tenth of them or a hundredth.
const SELECTED: u64 = 200;
const ALL: u64 = 100_000;

/// What a run is told besides, whether its loops are to run elsewhere each time, and how they find their elements.
struct Setting {
    variables: &'static [(&'static str, &'static str)],
    kind: &'static str,
    elsewhere: Option<&'static str>,
}

const ASKED: [(&str, &str); 3] = [("RACE", "device"), ("MONITOR", "off"), ("INSPECTIONS", "off")];
const APART: (&str, &str) = ("MEMORY", "separate");

const fn setting(
    variables: &'static [(&'static str, &'static str)],
    kind: &'static str,
    elsewhere: Option<&'static str>,
) -> Setting {
    Setting { variables, kind, elsewhere }
}

/// A program in a folder, and what it needs.
struct Place {
    folder: tempfile::TempDir,
    gpu: EmulatedGpu,
}

impl Place {
    /// With a program of the folder.
    fn of(name: &str) -> Place {
        let root = Path::new(env!("CARGO_MANIFEST_DIR"));
        let folder = tempfile::tempdir().unwrap();
        let mut command = Command::new(env!("CARGO_BIN_EXE_paragon-cc"));
        command.args(["-std=gnu11", "-O2", "-Wall", "-Wextra", "-fparagon-threshold=1"]);
        command.args(["-fparagon-checked-threads", "-pthread", "-o"]).arg(folder.path().join("program"));
        command.arg(root.join(format!("c-tests/interleaved/{name}.c")));
        let output = command.output().unwrap();
        assert!(output.status.success() && output.stderr.is_empty(), "{output:?}");
        let gpu = EmulatedGpu::build(&root.join("c-tests/emulated_gpu"), folder.path());
        Place { folder, gpu }
    }

    fn at(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// The program, with a trace of its own, on the GPU that is none if there is to be one, and with none of our variables besides.
    fn command(&self, is_gpu: bool) -> Command {
        let mut command = Command::new("timeout");
        for (name, _) in
            std::env::vars_os().filter(|(name, _)| name.to_string_lossy().starts_with("PARAGON_"))
        {
            command.env_remove(name);
        }
        // A child that waits for threads which it hasn't would wait forever.
        let longest = if selection::is_whole() { "3600" } else { "300" };
        command.args(["--signal=KILL", longest]).arg(self.at("program"));
        if is_gpu {
            self.gpu.apply(&mut command);
            command.env("PARAGON_PATIENCE", "600000");
        }
        command.env("PARAGON_HISTORY", "off").env("PARAGON_AT_ONCE", "on").env("PARAGON_THREADS", "3");
        let _ = std::fs::remove_file(self.at("trace"));
        command.env("PARAGON_TRACE", self.at("trace"));
        command
    }

    /// Runs so many trials, all of which have to be right, and sees who has run their loops.
    fn run(&self, setting: &Setting, trials: u64) {
        let Setting { variables, kind, elsewhere } = setting;
        let mut command = self.command(*elsewhere == Some("cuda"));
        command.arg(kind).arg(trials.to_string());
        command.envs(variables.iter().map(|(name, value)| (format!("PARAGON_{name}"), value)));
        let output = command.output().unwrap();
        let said = String::from_utf8_lossy(&output.stdout);
        assert!(output.status.success(), "{variables:?}, {kind}: {} {said}", output.status);
        assert_eq!(said, format!("{trials} trials, no store lost\n"));
        let trace = std::fs::read_to_string(self.at("trace")).unwrap();
        // The loop that looks at the elements afterwards is left alone, but may run elsewhere, too.
        let of_kind = format!("\"function\":\"{kind}_");
        let entries: Vec<&str> = trace.lines().filter(|line| line.contains(&of_kind)).collect();
        let count = |what: &str| entries.iter().filter(|line| line.contains(what)).count() as u64;
        let (on_threads, on_gpu) = (count(r#""decision":"threads""#), count(r#""decision":"cuda""#));
        println!(
            "{kind} {variables:?}: {trials} trials, {on_threads} on threads, {on_gpu} on the GPU; {}",
            String::from_utf8_lossy(&output.stderr).trim()
        );
        // One entry or another may have found a device busy, or too late.
        match elsewhere {
            Some("threads") => assert!(on_threads * 10 >= trials * 9, "{on_threads} of {trials}"),
            Some("cuda") => assert!(on_gpu * 10 >= trials * 9, "{on_gpu} of {trials}"),
            _ => (),
        }
        if *kind == "logged" && elsewhere.is_some() {
            let unlogged = count(r#""log":"none""#) + count(r#""log":"mark""#);
            assert!(unlogged * 10 <= trials, "{unlogged} of {trials} without a log");
        }
    }

    fn run_each(&self, settings: &[Setting]) {
        for setting in settings {
            let all = if setting.elsewhere == Some("cuda") { ALL / 100 } else { ALL };
            let some = if setting.elsewhere == Some("cuda") { SELECTED / 10 } else { SELECTED };
            self.run(setting, selection::selected(some, all));
        }
    }
}

/// What the loop has stored on a copy comes back, under each log.
#[test]
fn what_is_copied_back_is_what_the_loop_stored() {
    const DEVICE: (&str, &str) = ("DEVICE", "threads");
    const A: [(&str, &str); 3] = ASKED;
    Place::of("odd_and_even").run_each(&[
        setting(&[A[0], A[1], A[2], DEVICE, APART], "logged", Some("threads")),
        setting(&[A[0], A[1], A[2], DEVICE, APART, ("LOG", "atomic")], "logged", Some("threads")),
        setting(&[A[0], A[1], A[2], DEVICE, APART, ("LOG", "reduction")], "logged", Some("threads")),
        setting(&[A[0], A[1], A[2], DEVICE, APART, ("LOG", "bitmap")], "logged", Some("threads")),
        setting(&[A[0], A[1], A[2], DEVICE, APART, ("LOG", "stamp")], "logged", Some("threads")),
        setting(&[A[0], A[1], A[2], DEVICE, APART, ("STAYING", "on")], "logged", Some("threads")),
        setting(&[A[0], A[1], A[2], DEVICE, APART], "proven", Some("threads")),
        setting(&[A[0], A[1], A[2], DEVICE, APART, ("STAYING", "on")], "proven", Some("threads")),
    ]);
}

/// Threads at work on the program's own memory, and loops that are run as it is decided, with both sides in the race.
#[test]
fn wherever_it_is_decided() {
    Place::of("odd_and_even").run_each(&[
        setting(&[ASKED[0], ASKED[1], ASKED[2], ("DEVICE", "threads")], "logged", Some("threads")),
        setting(&[ASKED[0], ASKED[1], ("DEVICE", "threads")], "logged", None),
        setting(&[ASKED[0], ASKED[1], ("DEVICE", "threads")], "proven", Some("threads")),
        setting(&[("DEVICE", "threads"), APART], "logged", None),
        setting(&[("DEVICE", "threads"), ("RACE", "worker"), APART], "logged", None),
        setting(&[], "logged", None),
        setting(&[], "proven", None),
        setting(&[("STAYING", "on")], "logged", None),
        setting(&[("STAYING", "on")], "proven", None),
    ]);
}

#[test]
fn what_a_gpu_gives_back_is_what_the_loop_stored() {
    Place::of("odd_and_even").run_each(&[
        setting(&[ASKED[0], ASKED[1], ASKED[2], ("DEVICE", "cuda")], "logged", Some("cuda")),
        setting(
            &[ASKED[0], ASKED[1], ASKED[2], ("DEVICE", "cuda"), ("LOG", "stamp")],
            "logged",
            Some("cuda"),
        ),
        setting(&[ASKED[0], ASKED[1], ASKED[2], ("DEVICE", "cuda")], "proven", Some("cuda")),
    ]);
}

/// Children by fork, in the middle of loops and between them (`c-tests/interleaved/forked_meanwhile.c`): each ends with the right result, and says nothing.
#[test]
fn children_in_the_middle_of_loops() {
    let place = Place::of("forked_meanwhile");
    let children = selection::selected(24, 2000).to_string();
    let apart: [(&str, &str); 2] = [("DEVICE", "threads"), APART];
    let mut gone = 0;
    for (variables, is_gpu) in [
        (vec![], false),
        (vec![ASKED[0], ASKED[1], ASKED[2], apart[0], apart[1]], false),
        (vec![ASKED[0], ASKED[1], ASKED[2], apart[0]], false),
        (vec![apart[0], apart[1]], false),
        (vec![apart[0], apart[1], ("STAYING", "on")], false),
        (vec![ASKED[0], ASKED[1], ASKED[2], ("DEVICE", "cuda")], true),
    ] {
        let mut command = place.command(is_gpu);
        command.arg(if is_gpu { "10" } else { &children });
        command.envs(variables.iter().map(|(name, value)| (format!("PARAGON_{name}"), value)));
        let output = command.output().unwrap();
        let said = String::from_utf8_lossy(&output.stdout);
        assert!(output.status.success(), "{variables:?}: {} {said}", output.status);
        assert!(said == "right\n" && output.stderr.is_empty(), "{variables:?}: {output:?}");
        let trace = std::fs::read_to_string(place.at("trace")).unwrap();
        let elsewhere = [r#""decision":"threads""#, r#""decision":"cuda""#];
        let elsewhere = trace.lines().filter(|line| elsewhere.iter().any(|what| line.contains(what))).count();
        println!("{variables:?}: {} entries, {elsewhere} elsewhere", trace.lines().count());
        assert!(!variables.contains(&ASKED[0]) || elsewhere >= 20, "{variables:?}: {elsewhere}");
        gone += elsewhere;
    }
    assert!(gone != 0);
}
