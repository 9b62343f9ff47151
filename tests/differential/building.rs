//! Programs as executables of cc and of `paragon-cc`, in folders of the tests' own. How they are run is in `running.rs`.

use super::programs::{Program, programs};
use super::turns::level;
use super::{PARAGON_CC, ROOT, SECONDS};
use std::collections::hash_map::DefaultHasher;
use std::fs;
use std::hash::{Hash, Hasher};
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

/// A program that a shell runs. Not written by this process either.
pub fn write_program(path: &Path, text: &str) {
    succeed(
        Command::new("sh").args(["-c", r#"printf %s "$1" > "$2" && chmod +x "$2""#, "sh", text]).arg(path),
    );
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

/// A command that is given up after some time, if something goes on in it for ever. It isn't asked: what waits for a loop of its own leaves it no time to
/// hear.
pub fn limited() -> Command {
    let mut command = plain("timeout");
    command.args(["--signal=KILL", SECONDS]);
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
    /// The number by which the program has its turns on this input.
    pub fn turn(&self, input: &str) -> usize {
        self.program.number + self.inputs.iter().position(|other| other == input).unwrap_or(0)
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

pub fn build_all<'a>(
    programs: impl IntoIterator<Item = &'a Program>,
    compiler: &Path,
    level: impl Fn(&Program) -> &'static str + Sync,
    folder: &Path,
) -> Vec<Built<'a>> {
    all_of(programs, |program| build(program, compiler, level(program), folder))
}

fn all_of<'a>(
    programs: impl IntoIterator<Item = &'a Program>,
    one: impl Fn(&'a Program) -> Built<'a> + Sync,
) -> Vec<Built<'a>> {
    let programs: Vec<&Program> = programs.into_iter().collect();
    let built = Mutex::new(Vec::new());
    in_parallel(&programs, |program| {
        let one = one(program);
        built.lock().unwrap().push(one);
        Vec::new()
    });
    let mut built = built.into_inner().unwrap();
    built.sort_by(|a, b| a.program.name.cmp(&b.program.name));
    built
}

/// Each of them with each of its inputs.
pub fn cases<'a>(built: &'a [Built<'a>]) -> Vec<(&'a Built<'a>, &'a str)> {
    built.iter().flat_map(|b| b.inputs.iter().map(move |input| (b, input.as_str()))).collect()
}

/// A program of a folder of its own, with an object that cc made of its reference.
pub fn build_with_reference(name: &str, folder: &Path) -> PathBuf {
    let source = |file: &str| Path::new(ROOT).join("c-tests").join(name).join(file);
    let (reference, executable) = (folder.join("reference.o"), folder.join(name));
    succeed(plain("cc").args(["-O2", "-c", "-o"]).arg(&reference).arg(source("reference.c")));
    succeed(
        plain(PARAGON_CC)
            .args(["-std=gnu11", "-O2", "-fparagon-threshold=1", "-fparagon-checked-threads", "-o"])
            .arg(&executable)
            .arg(source(&format!("{name}.c")))
            .arg(&reference),
    );
    executable
}

/// All programs, each at the level whose turn it is, which several tests run: built by the first one that comes to a program, in whichever process, and
/// found by all others.
pub fn built() -> &'static [Built<'static>] {
    static BUILT: OnceLock<Vec<Built<'static>>> = OnceLock::new();
    BUILT.get_or_init(|| {
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("differential").join("programs");
        fs::create_dir_all(&folder).unwrap();
        let tools = tools();
        all_of(programs(), |program| build_once(program, tools, &folder))
    })
}

/// All that programs are made of but for their own texts: the compiler and what it puts beside them, cc, the headers that the programs have in common, and
/// what this program tells both compilers.
fn tools() -> u64 {
    let mut made_of = DefaultHasher::new();
    let compiler = Path::new(PARAGON_CC);
    let own = std::env::current_exe().unwrap();
    let mut files = vec![own, compiler.to_path_buf(), compiler.with_file_name("libparagon_rt.so")];
    let headers = fs::read_dir(Path::new(ROOT).join("c-tests/support")).unwrap();
    files.extend(headers.map(|entry| entry.unwrap().path()));
    files.sort();
    for file in files {
        (&file, fs::read(&file).unwrap()).hash(&mut made_of);
    }
    succeed(plain("cc").arg("--version")).stdout.hash(&mut made_of);
    made_of.finish()
}

/// Builds a program, unless it is there. What is there is what a file beside it says that it was made of, which is written last; and nobody looks while
/// another one builds.
fn build_once<'a>(program: &'a Program, tools: u64, folder: &Path) -> Built<'a> {
    let level = level(program);
    let mut made_of = DefaultHasher::new();
    (tools, level, &program.text).hash(&mut made_of);
    let made_of = format!("{:016x}", made_of.finish());
    let beside = |extension: &str| folder.join(format!("{}.{extension}", program.name));
    let turn = fs::File::create(beside("lock")).unwrap();
    turn.lock().unwrap();
    let said = fs::read_to_string(beside("made-of")).unwrap_or_default();
    let mut lines = said.lines();
    if lines.next() == Some(&made_of) {
        return Built { program, folder: folder.into(), inputs: lines.map(String::from).collect() };
    }
    let _ = fs::remove_file(beside("made-of"));
    let built = build(program, Path::new(PARAGON_CC), level, folder);
    let lines: Vec<&str> =
        [made_of.as_str()].into_iter().chain(built.inputs.iter().map(String::as_str)).collect();
    fs::write(beside("new"), lines.join("\n")).unwrap();
    fs::rename(beside("new"), beside("made-of")).unwrap();
    built
}
