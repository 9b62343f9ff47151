//! Programs as executables of cc and of `paragon-cc`, in folders of the tests' own. How they are run is in `running.rs`.

use super::PARAGON_CC;
use super::programs::{Program, programs};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, OnceLock};

pub fn scratch(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("differential").join(name);
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).unwrap();
    folder
}

/// Runs `work` on every item, on all cores. The messages that it returns are collected.
pub fn in_parallel<'a, T: Sync>(items: &'a [T], work: impl Fn(&'a T) -> Vec<String> + Sync) -> Vec<String> {
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
pub fn copy_program(from: &Path, to: &Path) {
    succeed(Command::new("cp").args([from, to]));
}

pub fn succeed(command: &mut Command) -> Output {
    let output = command.output().unwrap_or_else(|error| panic!("{command:?}: {error}"));
    assert!(output.status.success(), "{command:?}: {}", String::from_utf8_lossy(&output.stderr));
    output
}

/// A command with none of our variables set.
pub fn plain(program: impl AsRef<std::ffi::OsStr>) -> Command {
    let mut command = Command::new(program);
    for (name, _) in std::env::vars_os() {
        if name.to_string_lossy().starts_with("PARAGON_") {
            command.env_remove(name);
        }
    }
    command
}

/// A program built twice.
pub struct Built<'a> {
    pub program: &'a Program,
    pub folder: PathBuf,
    pub inputs: Vec<String>,
}

impl Built<'_> {
    pub fn reference(&self) -> PathBuf {
        self.folder.join(format!("{}.cc", self.program.name))
    }
    pub fn paragon(&self) -> PathBuf {
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

pub fn build_all(compiler: &Path, level: &str, folder: &Path) -> Vec<Built<'static>> {
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
pub fn built() -> &'static [Built<'static>] {
    static BUILT: OnceLock<Vec<Built<'static>>> = OnceLock::new();
    BUILT.get_or_init(|| build_all(Path::new(PARAGON_CC), "-O2", &scratch("programs")))
}
