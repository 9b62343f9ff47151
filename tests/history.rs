//! What a run has measured decides where the loops of a later one run (`runtime/src/history`), and never what they compute, whatever has become of
//! the file meanwhile. On the GPU that is none, which tells how often its driver is opened.

#[path = "support/emulated_gpu.rs"]
mod emulated_gpu;

#[path = "support/selection.rs"]
mod selection;

use emulated_gpu::EmulatedGpu;
use std::collections::BTreeSet;
use std::collections::hash_map::DefaultHasher;
use std::hash::{Hash, Hasher};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Mutex;
use std::time::{Duration, Instant};
use tempfile::TempDir;

/// Where a file's rows begin, how long each is, and where some of its numbers stand (`history::records::Row`).
const HEADER: usize = 20;
const ROW: usize = 120;
const WHEN: usize = 24;
const GAIN: usize = 72;
const PAYS_FROM: usize = 88;
const CONFLICTS: usize = 104;
const VAIN: usize = 116;

/// A program, built by both compilers, and a cache's folder.
struct Bench {
    folder: TempDir,
    gpu: EmulatedGpu,
}

/// The folder with what both compilers make of a source: made once for all tests.
fn programs(source: &str) -> PathBuf {
    static BUILT: Mutex<BTreeSet<PathBuf>> = Mutex::new(BTreeSet::new());
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("history").join(source);
    // Who finds it here finds it complete.
    let mut built = BUILT.lock().unwrap();
    if built.insert(folder.clone()) {
        std::fs::create_dir_all(&folder).unwrap();
        for (compiler, name) in [("cc", "reference"), (env!("CARGO_BIN_EXE_paragon-cc"), "ours")] {
            let mut command = Command::new(compiler);
            command.args(["-std=gnu11", "-O2", "-Wall", "-Wextra", "-o"]).arg(folder.join(name));
            command.arg(Path::new(env!("CARGO_MANIFEST_DIR")).join("c-tests/history").join(source));
            let output = command.output().unwrap();
            assert!(output.status.success(), "{output:?}");
        }
    }
    folder
}

impl Bench {
    fn new() -> Bench {
        Bench::of("steps.c")
    }

    fn of(source: &str) -> Bench {
        let root = Path::new(env!("CARGO_MANIFEST_DIR"));
        let folder = tempfile::tempdir().unwrap();
        let gpu = EmulatedGpu::build(&root.join("c-tests/emulated_gpu"), &folder.path().join("gpu"));
        // By a process of its own: a file that this one writes may still be open in a child of another test, and then it can't be executed.
        let mut copy = Command::new("cp");
        copy.args(["reference", "ours"].map(|name| programs(source).join(name)));
        assert!(copy.arg(folder.path()).status().unwrap().success());
        Bench { folder, gpu }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// The program with arguments (entries of its loop, elements), started by `shell`, which ends in `exec "$@"`.
    fn command(&self, shell: &str, arguments: &str) -> Command {
        let mut command = Command::new("sh");
        command.args(["-c", shell, "sh"]).arg(self.path("ours")).args(arguments.split(' '));
        self.gpu.apply(&mut command);
        command
            .env("PARAGON_HISTORY", "on")
            .env("PARAGON_THREADS", "2")
            .env("XDG_CACHE_HOME", self.path("cache"))
            .env("PARAGON_TRACE", self.path("trace"))
            .env("EMULATED_OPENED", self.path("opened"));
        command
    }

    /// Runs it, and sees that it gives what the other compiler's program gives and says nothing else.
    fn run(&self, command: &mut Command, arguments: &str) {
        for left in ["trace", "opened"] {
            let _ = std::fs::remove_file(self.path(left));
        }
        let wanted = Command::new(self.path("reference")).args(arguments.split(' ')).output().unwrap();
        let output = command.output().unwrap();
        assert_eq!(
            (output.status, &output.stdout, &output.stderr),
            (wanted.status, &wanted.stdout, &wanted.stderr)
        );
    }

    fn plain(&self, arguments: &str) {
        self.run(&mut self.command("exec \"$@\"", arguments), arguments);
    }

    fn was_opened(&self) -> bool {
        self.path("opened").exists()
    }

    /// For each entry whether it went on from an earlier run.
    fn remembered(&self) -> Vec<bool> {
        let text = std::fs::read_to_string(self.path("trace")).unwrap_or_default();
        let records = text.lines().map(|line| serde_json::from_str::<serde_json::Value>(line).unwrap());
        records.map(|record| record["remembered"] == true).collect()
    }

    /// The program's file, once there is one.
    fn file(&self) -> Option<PathBuf> {
        let found = std::fs::read_dir(self.path("cache").join("paragon")).ok()?;
        found.flatten().map(|entry| entry.path()).find(|path| path.extension().is_some_and(|e| e == "runs"))
    }

    /// Changes rows of the file and makes its checksum right again.
    fn lie(&self, change: impl Fn(&mut [u8], bool)) {
        let path = self.file().unwrap();
        let mut bytes = std::fs::read(&path).unwrap();
        for row in bytes[HEADER..].chunks_mut(ROW) {
            let is_program = row[..8] == [0; 8];
            change(row, is_program);
        }
        let mut hasher = DefaultHasher::new();
        bytes[16..].hash(&mut hasher);
        bytes[8..16].copy_from_slice(&hasher.finish().to_le_bytes());
        std::fs::write(&path, bytes).unwrap();
    }
}

#[test]
fn later_runs_go_on_from_earlier_ones() {
    let bench = Bench::new();
    bench.plain("4");
    assert!(!bench.remembered().is_empty() && bench.remembered().iter().all(|known| !known));
    let file = bench.file().expect("a file");
    assert_eq!(std::fs::metadata(&file).unwrap().mode() & 0o777, 0o600);
    bench.plain("4");
    assert!(bench.remembered().contains(&true), "{:?}", bench.remembered());
    // Switched off, and with another number of threads, which is another machine.
    bench.run(bench.command("exec \"$@\"", "4").env("PARAGON_HISTORY", "off"), "4");
    assert!(!bench.remembered().contains(&true));
    bench.run(bench.command("exec \"$@\"", "4").env("PARAGON_THREADS", "3"), "4");
    assert!(!bench.remembered().contains(&true));
    // A way that is asked for leaves nothing to remember.
    let before = std::fs::read(&file).unwrap();
    bench.run(
        bench.command("exec \"$@\"", "4").env("PARAGON_RACE", "device").env("PARAGON_DEVICE", "threads"),
        "4",
    );
    assert!(!bench.remembered().contains(&true) && std::fs::read(&file).unwrap() == before);
    // Nor does a log that is.
    bench.run(bench.command("exec \"$@\"", "4").env("PARAGON_LOG", "bitmap"), "4");
    assert!(!bench.remembered().contains(&true) && std::fs::read(&file).unwrap() == before);
}

#[test]
fn a_driver_that_was_opened_in_vain_is_not_waited_for_again() {
    let bench = Bench::new();
    let run = |history: &str| {
        let mut command = bench.command("exec \"$@\"", "4 1048576");
        command.env("EMULATED_OPENING", "8000").env("PARAGON_HISTORY", history);
        bench.run(&mut command, "4 1048576");
    };
    // Enough to do for it to be opened, and over before it is open: the end waits.
    run("on");
    assert!(bench.was_opened());
    let in_vain = |row: &mut [u8], is_program: bool| match is_program {
        true => {
            assert_ne!(row[VAIN..], [0; 4], "written down before it was opened");
            row[VAIN..].copy_from_slice(&20u32.to_le_bytes());
        }
        false => row[PAYS_FROM..][..8].fill(0),
    };
    bench.lie(in_vain);
    run("on");
    assert!(!bench.was_opened());
    run("off");
    assert!(bench.was_opened());
}

#[test]
fn a_gpu_that_has_paid_is_opened_at_once() {
    let bench = Bench::new();
    bench.plain("2");
    // Not worth it by itself, unless this machine is at its slowest.
    let was_opened = bench.was_opened();
    bench.lie(|row, is_program| match is_program {
        true => row[VAIN..].fill(0),
        false => {
            row[GAIN..][..8].copy_from_slice(&1e10f64.to_le_bytes());
            row[PAYS_FROM..][..8].fill(0);
        }
    });
    bench.plain("2");
    assert!(bench.was_opened(), "{was_opened}");
}

#[test]
fn lies_cost_time_and_no_results() {
    let bench = Bench::new();
    bench.plain("2");
    let mut seed = 7u64;
    for round in 0..24u32 {
        if bench.file().is_none() {
            bench.plain("2");
        }
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let start = seed;
        bench.lie(|row, is_program| {
            let mut seed = start;
            for (at, byte) in row.iter_mut().enumerate().skip(if is_program { 100 } else { 20 }) {
                seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                // Numbers with a fraction keep an exponent that is in range, every other time.
                let is_exponent = (32..80).contains(&at) && at % 8 == 7;
                *byte = if is_exponent && round % 2 == 0 { 0x40 } else { (seed >> 56) as u8 };
            }
            if round % 3 == 0 && !is_program {
                row[PAYS_FROM..][..8].fill(0);
                row[CONFLICTS..][..4].fill(0);
            }
        });
        bench.plain("2");
    }
}

#[test]
fn whatever_lies_in_the_files_place() {
    let bench = Bench::new();
    bench.plain("2");
    let file = bench.file().unwrap();
    let good = std::fs::read(&file).unwrap();
    let plain = |what: &str| {
        bench.plain("2");
        assert!(!bench.remembered().contains(&true), "{what}");
    };
    for length in [0, 1, 8, 19, 20, 100, good.len() - 1] {
        std::fs::write(&file, &good[..length]).unwrap();
        plain("cut off");
    }
    std::fs::write(&file, vec![0xaa; 1 << 20]).unwrap();
    plain("much too long");
    // Bytes that nobody wrote: anywhere, in the version, and in the checksum of what is right.
    let mut seed = 11u64;
    let mut random = || {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (seed >> 56) as u8
    };
    for length in [20, good.len(), good.len() + 112] {
        std::fs::write(&file, (0..length).map(|_| random()).collect::<Vec<u8>>()).unwrap();
        plain("random bytes");
    }
    for at in [0, 6, 7, 8, 15, 16, 20, good.len() - 1] {
        let mut bytes = good.clone();
        bytes[at] ^= 1;
        std::fs::write(&file, bytes).unwrap();
        plain("a bit changed");
    }
    // As the version before would have it: all is right but what it begins with.
    let mut bytes = good.clone();
    bytes[7] -= 1;
    std::fs::write(&file, bytes).unwrap();
    plain("another version");
    let shell = |command: &str, file: &Path| {
        assert!(Command::new("sh").args(["-c", command, "sh"]).arg(file).status().unwrap().success());
    };
    shell("rm -f \"$1\" && mkfifo \"$1\"", &file);
    plain("a fifo");
    // Each of these has put a good file in its place.
    bench.plain("2");
    assert!(bench.remembered().contains(&true));
    shell("mv \"$1\" \"$1.other\" && ln -s \"$1.other\" \"$1\"", &file);
    plain("a link");
    shell("chmod 666 \"$1\"", &file);
    plain("anybody's");
    // Only root can give it away.
    // SAFETY: it asks who this process is.
    if unsafe { libc::geteuid() } == 0 {
        std::fs::write(&file, &good).unwrap();
        shell("chmod 600 \"$1\"; chown 65534 \"$1\"", &file);
        plain("somebody else's");
    }
    shell("rm -f \"$1\" && mkdir \"$1\"", &file);
    plain("a folder");
    shell("rmdir \"$1\"", &file);
    bench.plain("2");
    shell("chmod 777 \"$(dirname \"$1\")\"", &file);
    plain("in anybody's folder");
}

#[test]
fn where_nothing_can_be_written_nothing_is_said() {
    let bench = Bench::new();
    for shell in [
        "ulimit -f 0; unset PARAGON_TRACE; exec \"$@\"",
        "XDG_CACHE_HOME=/proc/nowhere exec \"$@\"",
        "XDG_CACHE_HOME=/dev/null exec \"$@\"",
        "unset XDG_CACHE_HOME HOME; exec \"$@\"",
        "export HOME=\"${XDG_CACHE_HOME%/*}/nobodys\"; unset XDG_CACHE_HOME; exec \"$@\"",
        "cd \"$XDG_CACHE_HOME/..\" && HOME=. XDG_CACHE_HOME=there exec \"$@\"",
        // Whoever runs the tests may have left files open.
        "exec 3<&- 4<&- 5<&- 6<&- 7<&- 8<&- 9<&-; ulimit -n 4; exec \"$@\"",
        "exec 3<&- 4<&- 5<&- 6<&- 7<&- 8<&- 9<&-; ulimit -n 5; exec \"$@\"",
        "exec \"$@\" 0<&-",
        "exec \"$@\" 2>&-",
    ] {
        bench.run(&mut bench.command(shell, "2"), "2");
    }
    let left = std::fs::read_dir(bench.path("cache").join("paragon")).map_or(0, |found| {
        found.flatten().filter(|entry| entry.path().extension().is_some_and(|e| e == "new")).count()
    });
    assert_eq!(left, 0);
    assert!(
        !bench.path("nobodys").exists() && !bench.path("there").exists() && !bench.path(".cache").exists()
    );
}

/// A full disk: a file system of the process's own on the cache's folder, in which nothing is left. Besides, one on which there is room for a few bytes, and a
/// trace that can't be written. `run` asks for results, and for silence.
#[test]
fn a_full_disk_costs_no_results() {
    let bench = Bench::new();
    let own = "exec unshare --user --map-root-user --mount sh -c 'mount -t tmpfs -o size=SIZE,mode=700 full \"$XDG_CACHE_HOME\" && \
               FILL; exec \"$@\"' sh \"$@\"";
    let full = "! head -c 1000000 /dev/zero >\"$XDG_CACHE_HOME/filler\" 2>\"$XDG_CACHE_HOME/../full\"";
    std::fs::create_dir_all(bench.path("cache")).unwrap();
    let may = Command::new("unshare").args(["--user", "--map-root-user", "--mount", "true"]).output();
    if may.is_ok_and(|output| output.status.success()) {
        for (size, fill) in [("64k", full), ("4k", "true"), ("8k", "mkdir \"$XDG_CACHE_HOME/paragon\"")] {
            let shell = own.replace("SIZE", size).replace("FILL", fill);
            for arguments in ["2", "8 262144"] {
                bench.run(&mut bench.command(&shell, arguments), arguments);
            }
        }
        assert!(std::fs::read_to_string(bench.path("full")).unwrap().contains("No space left"));
    } else {
        eprintln!("skipped: no file system may be mounted here");
    }
    // Where the trace goes, /dev/full says the same of each write.
    bench.run(&mut bench.command("PARAGON_TRACE=/dev/full exec \"$@\"", "4"), "4");
}

/// A GPU that dies at any moment of its work, for good: the loop runs on, elsewhere, and nobody is told, since there is nothing to be done about it.
#[test]
fn a_gpu_that_dies_costs_no_results() {
    let bench = Bench::new();
    let (mut runs, mut dead) = (0, 0);
    let moments: Vec<u32> = (0..24).chain((24..120).step_by(8)).collect();
    for (number, dies) in moments.iter().enumerate() {
        for (other, race) in ["device", "auto"].into_iter().enumerate() {
            if !selection::is_tested(number, other, 4) {
                continue;
            }
            let mut command = bench.command("exec \"$@\"", "6 20000");
            command
                .env("PARAGON_DEVICE", "cuda")
                .env("PARAGON_RACE", race)
                .env("EMULATED_DIES", dies.to_string());
            command.env("PARAGON_HISTORY", "off").env("PARAGON_AT_ONCE", "on");
            bench.run(&mut command, "6 20000");
            let trace = std::fs::read_to_string(bench.path("trace")).unwrap_or_default();
            runs += 1;
            dead += u32::from(trace.contains("device lost"));
        }
    }
    // Many have died while an entry waited for them.
    assert!(dead * 4 > runs, "{dead} of {runs}");
}

#[test]
fn many_at_once() {
    let bench = Bench::new();
    std::fs::create_dir(bench.path("cache")).unwrap();
    let started = Instant::now();
    let mut children: Vec<_> = (0..6)
        .map(|_| bench.command("unset PARAGON_TRACE; exec \"$@\" >/dev/null", "2").spawn().unwrap())
        .collect();
    for child in &mut children {
        assert!(child.wait().unwrap().success());
    }
    assert!(started.elapsed() < Duration::from_secs(600));
    bench.plain("2");
    assert!(bench.remembered().contains(&true));
}

#[cfg(target_arch = "x86_64")]
#[test]
fn who_has_given_up_files_is_not_made_to_open_any() {
    let bench = Bench::of("confined.c");
    // Before the file is read, and before it is written again.
    for arguments in ["8 262144 0", "8 262144 3", "8 1024 0"] {
        let mut command = bench.command("exec \"$@\"", arguments);
        bench.run(command.env("PARAGON_DEVICE", "threads"), arguments);
    }
}

#[test]
fn what_has_not_paid_is_asked_again_though_nothing_is_written() {
    let bench = Bench::new();
    bench.plain("4");
    // So switched off, a run has nothing to do that would be worth writing down.
    let switched_off = |row: &mut [u8], is_program: bool| {
        if !is_program {
            row[PAYS_FROM..][..8].copy_from_slice(&i64::MAX.to_le_bytes());
        }
    };
    bench.lie(switched_off);
    bench.plain("4");
    let is_off = || bench.remembered().len() < 4;
    assert!(is_off(), "{:?}", bench.remembered());
    bench.lie(|row, is_program| {
        switched_off(row, is_program);
        if !is_program {
            let when = u64::from_le_bytes(row[WHEN..][..8].try_into().unwrap());
            row[WHEN..][..8].copy_from_slice(&(when - 7200).to_le_bytes());
        }
    });
    bench.plain("4");
    assert!(!is_off(), "{:?}", bench.remembered());
}
