//! `paragon-cc` against gcc, command line by command line: the same exit code, the same output, the same files. Where a
//! loop was rewritten the files' contents can't be the same; there it is the sections, the global symbols, the
//! dependency files and what programs print. Reproducible objects, interruption, and other compilers below it, too.

mod comparison;
mod lines;
mod place;
#[path = "../support/selection.rs"]
mod selection;
mod sources;

use comparison::compare;
use lines::lines;
use place::{Place, contains, words};
use sources::{LOOP, objects, sources};
use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::process::{Command, Output, Stdio};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

const PARAGON: &str = env!("CARGO_BIN_EXE_paragon-cc");
/// What files with rewritten loops contain and others don't.
const MARK: &[u8] = b"libparagon_rt.so";

#[test]
fn command_lines_as_gcc() {
    let lines: Vec<String> = lines().into_iter().collect();
    assert!(lines.len() > 300);
    let mut files = sources();
    files.extend(objects());
    let base = tempfile::tempdir().unwrap();
    let next = AtomicUsize::new(0);
    let failures = Mutex::new(Vec::new());
    let rewritten = AtomicUsize::new(0);
    // Some lines wait for disks and processes rather than for a core.
    let threads = std::thread::available_parallelism().map_or(2, usize::from) + 1;
    std::thread::scope(|scope| {
        for thread in 0..threads {
            let (lines, files, next, failures, rewritten) = (&lines, &files, &next, &failures, &rewritten);
            let place = Place {
                folder: base.path().join(format!("{thread}")),
                temporary: base.path().join(format!("{thread}-temporary")),
            };
            scope.spawn(move || {
                while let Some(line) = lines.get(next.fetch_add(1, Ordering::Relaxed)) {
                    match compare(line, &place, files) {
                        Ok(true) => drop(rewritten.fetch_add(1, Ordering::Relaxed)),
                        Ok(false) => {}
                        Err(difference) => failures.lock().unwrap().push(format!("{line}: {difference}")),
                    }
                }
            });
        }
    });
    let failures = failures.into_inner().unwrap();
    let rewritten = rewritten.into_inner();
    println!("{} command lines, {rewritten} of them rewritten", lines.len());
    assert!(failures.is_empty(), "{} of {} differ:\n{}", failures.len(), lines.len(), failures.join("\n"));
    assert!(rewritten > 150, "only {rewritten} of {} were rewritten", lines.len());
}

/// Executes `line` with our compiler in a fresh place and gives what it did.
fn with_environment(line: &str, place: &Place, environment: &[(&str, &OsStr)]) -> Output {
    let mut command = place.command(PARAGON, &words(line, place));
    command.envs(environment.iter().copied()).stdin(Stdio::null()).output().unwrap()
}

fn single_place(base: &tempfile::TempDir) -> Place {
    let place = Place { folder: base.path().join("folder"), temporary: base.path().join("temporary") };
    place.fill(&sources());
    place
}

#[test]
fn our_own_options_never_reach_gcc() {
    let base = tempfile::tempdir().unwrap();
    let place = single_place(&base);
    fs::write(place.folder.join("own"), "-O2 -fparagon-threshold=10 -c loop.c").unwrap();
    let object = |line: &str| {
        let output = with_environment(line, &place, &[]);
        assert!(output.status.success() && output.stderr.is_empty(), "{line}: {output:?}");
        fs::read(place.folder.join("loop.o")).unwrap()
    };
    assert!(contains(&object("@own"), MARK));
    assert!(!contains(&object("@own -fno-paragon"), MARK));
    assert!(!contains(
        &object(
            "-O2 -fno-paragon -fparagon-threshold=1 -fparagon-math=device -fparagon-report=json -c loop.c"
        ),
        MARK
    ));
    assert!(!contains(&object("-fparagon-threshold=10 -O0 -c loop.c"), MARK));
    assert!(contains(&object("-fparagon -c loop.c"), MARK));
}

#[test]
fn the_same_object_every_time() {
    let base = tempfile::tempdir().unwrap();
    let place = single_place(&base);
    let compile = |output: &str| {
        let line = format!("-O2 -g -c loop.c -o {output} -frandom-seed=1");
        assert!(with_environment(&line, &place, &[]).status.success());
        fs::read(place.folder.join(output)).unwrap()
    };
    let first = compile("first.o");
    assert!(contains(&first, MARK));
    let others = std::thread::scope(|scope| {
        let jobs: Vec<_> =
            (0..6).map(|number| scope.spawn(move || compile(&format!("{number}.o")))).collect();
        jobs.into_iter().map(|job| job.join().unwrap()).collect::<Vec<_>>()
    });
    for other in others {
        // The debugging information holds the command line's options, but not the output's name.
        assert!(first == other, "an object differs");
    }
}

/// A gcc that reads its input but takes its time, so that there is something to interrupt.
const SLOW: &str = "#!/bin/sh\ncase \"$*\" in *-E*) gcc \"$@\" ; sleep 300 ;; *) exec gcc \"$@\" ;; esac\n";

#[test]
fn interruption_leaves_nothing_behind() {
    for signal in [libc::SIGINT, libc::SIGTERM, libc::SIGHUP] {
        let base = tempfile::tempdir().unwrap();
        let place = single_place(&base);
        let slow = base.path().join("slow-gcc");
        fs::write(&slow, SLOW).unwrap();
        fs::set_permissions(&slow, fs::Permissions::from_mode(0o755)).unwrap();
        let mut command = place.command(PARAGON, &words("-O2 -c loop.c", &place));
        // Whoever runs this in the background has it ignored, and the child would inherit that.
        // SAFETY: signal may be called between fork and exec, and touches nothing of ours.
        unsafe {
            command.pre_exec(move || {
                libc::signal(signal, libc::SIG_DFL);
                Ok(())
            });
        }
        let mut child = command.env("PARAGON_CC", &slow).stderr(Stdio::piped()).spawn().unwrap();
        let folders = || fs::read_dir(&place.temporary).unwrap().count();
        let start = Instant::now();
        // The expanded text is there: the child is asleep.
        let asleep = || {
            let folder = fs::read_dir(&place.temporary).unwrap().next().and_then(Result::ok);
            folder.is_some_and(|folder| folder.path().join("0/expanded.i").exists())
        };
        while !asleep() {
            assert!(start.elapsed() < Duration::from_secs(250), "the compiler doesn't start");
            std::thread::sleep(Duration::from_millis(10));
        }
        // SAFETY: a plain call; the child has not been waited for, so its number is its own.
        unsafe { libc::kill(child.id() as libc::pid_t, signal) };
        let status = child.wait().unwrap();
        assert_eq!(status.signal(), Some(signal), "{status:?}");
        assert!(start.elapsed() < Duration::from_secs(250), "it waits for its children");
        assert_eq!(folders(), 0);
        assert!(!place.folder.join("loop.o").exists());
        // Nobody is left who could still write: standard error is closed everywhere.
        let mut said = String::new();
        std::io::Read::read_to_string(&mut child.stderr.take().unwrap(), &mut said).unwrap();
        assert!(start.elapsed() < Duration::from_secs(250), "a child sleeps on");
        assert_eq!(said, "");
    }
}

#[test]
fn an_ignored_signal_stays_ignored() {
    let base = tempfile::tempdir().unwrap();
    let place = single_place(&base);
    let output = Command::new("nohup")
        .args([PARAGON, "-O2", "-c", "loop.c"])
        .current_dir(&place.folder)
        .stdin(Stdio::null())
        .output()
        .unwrap();
    assert!(output.status.success() && contains(&fs::read(place.folder.join("loop.o")).unwrap(), MARK));
}

/// Says so if a tool isn't installed.
fn is_missing(tool: &str) -> bool {
    let missing = Command::new(tool).arg("--version").output().is_err();
    if missing {
        eprintln!("skipped: {tool} is not installed");
    }
    missing
}

/// What clang does with a line, and what it does below us.
#[test]
fn clang_below() {
    if is_missing("clang") {
        return;
    }
    let base = tempfile::tempdir().unwrap();
    let place = single_place(&base);
    let clang = OsStr::new("clang");
    for line in [
        "-O2 -c loop.c",
        "-O2 -Weverything -c warns.c",
        "-O2 -c error.c",
        "-O2 main.c loop.c -o prog",
        "-O2 -emit-llvm -S loop.c",
        "--version",
        "-O2 -MMD -c loop.c",
        "-O2 -Rpass=loop-vectorize -c loop.c",
        "-O2 -c missing.c",
        "-O2 -fnonsense -c loop.c",
        "-O2 -Xclang -disable-llvm-passes -c loop.c",
        "-O2 -g -flto -c loop.c",
        "-O2 -fcolor-diagnostics -c warns.c",
        "-O2 -mllvm -nonsense -c loop.c",
        "-O2 @input -c",
        "-E loop.c",
        "-O2 --target=aarch64-linux-gnu -S plain.c",
        "-O2 -x c text.txt -c",
        "-O2 -###  -fparagon-threshold=4 -c loop.c",
    ] {
        let line = line.to_string();
        let run = |ours: bool| {
            place.fill(&sources());
            let output = if ours {
                with_environment(&line, &place, &[("PARAGON_CC", clang)])
            } else {
                let line = line.replace("-fparagon-threshold=4", "");
                place.command("clang", &words(&line, &place)).stdin(Stdio::null()).output().unwrap()
            };
            let files: BTreeMap<_, _> = fs::read_dir(&place.folder)
                .unwrap()
                .map(|entry| entry.unwrap().path())
                .filter(|path| path.is_file())
                .map(|path| (path.clone(), fs::read(path).unwrap()))
                .collect();
            let random = |text: &[u8]| {
                // Its temporary files have names like plain-1a2b3c.o.
                let text = String::from_utf8_lossy(text).into_owned();
                text.split_whitespace()
                    .filter(|word| !word.contains("/temporary/"))
                    .collect::<Vec<_>>()
                    .join(" ")
            };
            (output.status.code(), random(&output.stdout), random(&output.stderr), files)
        };
        let (theirs, ours) = (run(false), run(true));
        assert_eq!((theirs.0, theirs.1, theirs.2), (ours.0, ours.1, ours.2), "{line}");
        assert!(theirs.3 == ours.3, "{line}: files differ");
    }
}

#[test]
fn deep_nesting_and_long_commands() {
    let base = tempfile::tempdir().unwrap();
    let place = single_place(&base);
    let depth = 3000;
    let mut text = LOOP.to_string();
    text.push_str(&format!(
        "int deep(int x) {{ return {}x{}; }}\n",
        "(1 + ".repeat(depth),
        ")".repeat(depth)
    ));
    let chain =
        (0..depth).map(|number| format!("if (x == {number}) return {number} + 7; else ")).collect::<String>();
    text.push_str(&format!("int chain(int x) {{ {chain} return 0; }}\n"));
    text.push_str(&format!(
        "int blocks(int x) {{ {}x++;{} return x; }}\n",
        "{".repeat(depth),
        "}".repeat(depth)
    ));
    fs::write(place.folder.join("deep.c"), text).unwrap();
    let output = with_environment("-O2 -c deep.c", &place, &[]);
    assert!(output.status.success() && output.stderr.is_empty(), "{output:?}");
    // More words than we put on a command line (gcc itself stops at 128 KiB).
    let many: String =
        (0..2_400).map(|number| format!("-DA_RATHER_LONG_NAME_{number}=\"{number} + 1\"\n")).collect();
    fs::write(place.folder.join("many"), many).unwrap();
    let output = with_environment("-O2 @many -c loop.c", &place, &[]);
    assert!(output.status.success() && output.stderr.is_empty(), "{output:?}");
    assert!(contains(&fs::read(place.folder.join("loop.o")).unwrap(), MARK));
}

#[test]
fn dependencies_asked_for_in_the_environment() {
    let base = tempfile::tempdir().unwrap();
    let place = single_place(&base);
    let output = with_environment("-O2 -c loop.c", &place, &[("DEPENDENCIES_OUTPUT", OsStr::new("deps"))]);
    assert!(output.status.success());
    assert_eq!(fs::read_to_string(place.folder.join("deps")).unwrap(), "loop.o: loop.c b.h\n");
}

#[test]
fn messages_on_a_terminal() {
    let probe = Command::new("script").args(["-qec", "true", "/dev/null"]).stdin(Stdio::null()).output();
    if !probe.is_ok_and(|probe| probe.status.success()) {
        eprintln!("skipped: there is no terminal to be had (script, /dev/pts)");
        return;
    }
    let base = tempfile::tempdir().unwrap();
    let place = single_place(&base);
    for terminal in ["xterm-256color", "dumb", "linux"] {
        let said = |compiler: &str| {
            let line = format!("{compiler} -O2 -Wall -c warns.c warning.c loop.c");
            let output = Command::new("script")
                .args(["-qec", &line, "/dev/null"])
                .current_dir(&place.folder)
                .env("TERM", terminal)
                .stdin(Stdio::null())
                .output()
                .unwrap();
            assert!(output.status.success());
            output.stdout
        };
        let (theirs, ours) = (said("gcc"), said(PARAGON));
        assert_eq!(String::from_utf8_lossy(&theirs), String::from_utf8_lossy(&ours), "{terminal}");
        assert!(
            contains(&theirs, b"unused") && contains(&fs::read(place.folder.join("loop.o")).unwrap(), MARK)
        );
    }
}

#[test]
fn a_compiler_cache_below() {
    if is_missing("ccache") {
        return;
    }
    let base = tempfile::tempdir().unwrap();
    let place = single_place(&base);
    let cache = base.path().join("cache");
    let output = with_environment(
        "-O2 main.c loop.c -o prog",
        &place,
        &[("PARAGON_CC", OsStr::new("ccache gcc")), ("CCACHE_DIR", cache.as_os_str())],
    );
    assert!(output.status.success() && output.stderr.is_empty(), "{output:?}");
    assert!(contains(&fs::read(place.folder.join("prog")).unwrap(), MARK));
    let output = with_environment("-c loop.c", &place, &[("PARAGON_CC", OsStr::new("no such compiler"))]);
    assert_eq!(output.status.code(), Some(1));
    assert_eq!(output.stderr, b"paragon-cc: error: no C compiler: no such compiler not found\n");
}
