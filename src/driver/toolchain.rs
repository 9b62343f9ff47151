//! The real compiler: finding it, becoming it, and running it for preprocessing, for the rewritten text and for the own one.
//!
//! Not here: which options mean what (`driver::arguments`) and what is done with the texts (`compile`).

use super::arguments::{self, Input, Invocation, Mode};
use super::interruption::{self, Cancellation};
use std::ffi::{OsStr, OsString};
use std::fs;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus};

/// More words than this many bytes don't stand on a command line but in a file: the system has a limit.
const LONGEST_COMMAND: usize = 64 << 10;

/// Set in the environment of everything that we run: a real compiler that turns out to be ourselves notices.
const ACTIVE: &str = "PARAGON_CC_ACTIVE";

/// The real compiler.
#[derive(Clone, Debug)]
pub struct Toolchain {
    path: PathBuf,
    name: OsString,
    /// The words behind the name, as in `PARAGON_CC="ccache gcc"`.
    leading: Vec<OsString>,
}

/// A preprocessed file.
#[derive(Clone, Debug)]
pub struct Preprocessed {
    /// Everything expanded.
    pub expanded: Text,
    /// What the dependency options would have written, and where.
    pub dependencies: Option<(PathBuf, Vec<u8>)>,
    /// Whether the preprocessor had something to say.
    pub spoke: bool,
}

/// A text that is compiled in place of the user's.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Rewritten {
    /// Where it is.
    pub path: PathBuf,
    /// Whether its macros are expanded already.
    pub expanded: bool,
    /// What is made of what the compiler says of it.
    pub messages: Messages,
}

/// How it is found out what the compiler has to say of the text as it was written.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Messages {
    /// If it says nothing of the rewritten text, then nothing; otherwise it is asked.
    Alike,
    /// The same, but its parser is asked in any case: braces were added, which it has views on.
    Parser,
    /// It is asked.
    Compiler,
    /// Nobody wants to know.
    Unheard,
}

/// Why a text can't be had.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Obstacle {
    /// The file can't be compiled, or we can't know: the user's own command has to say so.
    Failure(String),
    /// The file can be compiled, but not rewritten.
    Unsuitable(String),
}

impl std::fmt::Display for Obstacle {
    fn fmt(&self, formatter: &mut std::fmt::Formatter) -> std::fmt::Result {
        let (Obstacle::Failure(reason) | Obstacle::Unsuitable(reason)) = self;
        formatter.write_str(reason)
    }
}

/// Where a guard or a function of ours comes before a loop, the loop begins elsewhere than `cc`'s, and where that is decides about a good part of a short
/// loop's time: one of 17 bytes that a line of the processor's cache cuts in two takes 1.6 times as long (`docs/measurements/2026-11-26-never-slower.md`), one of 33
/// bytes in the middle of a line 1.17 times (`docs/measurements/2026-11-28-guards.md`). So loops of rewritten texts begin where lines do, unless that is
/// far: what fills the rest of a line is executed in front of the loop, and loops of a few turns are entered millions of times
/// (`docs/measurements/2026-11-28-members.md`). For gcc this number means a line, less than so many bytes away; the spelling `64:48` is one that versions before 9 don't know.
const ALIGNMENTS: [&str; 2] = ["-falign-functions=64", "-falign-loops=48"];

/// Stands for a byte that isn't UTF-8.
const STAND_IN: u8 = 0x7f;

/// A text that need not be UTF-8: each byte that isn't is replaced by a stand-in, and kept.
#[derive(Clone, Default, Debug)]
pub struct Text {
    /// The text, with every byte where it was.
    pub text: String,
    replaced: Vec<u8>,
}

impl Text {
    /// Reads `bytes`. None if the stand-in stands there itself.
    pub fn new(bytes: Vec<u8>) -> Option<Text> {
        let bytes = match String::from_utf8(bytes) {
            Ok(text) => return Some(Text { text, replaced: Vec::new() }),
            Err(error) => error.into_bytes(),
        };
        if bytes.contains(&STAND_IN) {
            return None;
        }
        let mut text = String::with_capacity(bytes.len());
        let mut replaced = Vec::new();
        for chunk in bytes.utf8_chunks() {
            text.push_str(chunk.valid());
            for byte in chunk.invalid() {
                text.push(char::from(STAND_IN));
                replaced.push(*byte);
            }
        }
        Some(Text { text, replaced })
    }

    /// `edited`, which is this text with other text inserted, with the user's own bytes.
    pub fn restore(&self, edited: &str) -> Vec<u8> {
        let mut bytes = edited.as_bytes().to_vec();
        let mut replaced = self.replaced.iter();
        if !self.replaced.is_empty() {
            for byte in bytes.iter_mut().filter(|byte| **byte == STAND_IN) {
                *byte = replaced.next().copied().unwrap_or(STAND_IN);
            }
        }
        bytes
    }

    /// Whether every byte is there.
    pub fn is_complete(&self) -> bool {
        self.replaced.is_empty()
    }

    /// Whether every replaced byte is inside a string literal, where only its place counts. For expanded text, which
    /// has no comments.
    fn replaced_in_strings_only(&self) -> bool {
        if !self.text.as_bytes().contains(&STAND_IN) {
            return true;
        }
        let mut quote = None;
        let mut line_start = true;
        let mut in_marker = false;
        let mut escaped = false;
        for byte in self.text.bytes() {
            if byte == b'\n' {
                (quote, in_marker, line_start, escaped) = (None, false, true, false);
                continue;
            }
            match (byte, quote) {
                // Escaped it makes no sense, and anywhere else it isn't known what it means.
                (STAND_IN, Some(b'"')) if !in_marker && !escaped => {}
                (STAND_IN, _) => return false,
                _ if escaped => {}
                (b'#', None) if line_start => in_marker = true,
                (_, Some(open)) if byte == open => quote = None,
                (b'"' | b'\'', None) => quote = Some(byte),
                _ => {}
            }
            escaped = byte == b'\\' && quote.is_some() && !escaped;
            line_start = false;
        }
        true
    }
}

/// Macros whose value depends on which file is compiled, so that it would be that of ours.
const FILE_MACROS: [&str; 3] = ["__BASE_FILE__", "__TIMESTAMP__", "__INCLUDE_LEVEL__"];

impl Toolchain {
    /// The compiler that `PARAGON_CC` names, else `gcc`, else `cc`; never ourselves. What is no program as a whole may be
    /// one with arguments.
    pub fn find() -> Result<Toolchain, String> {
        let wanted: Vec<OsString> = match std::env::var_os("PARAGON_CC") {
            Some(name) if !name.is_empty() && std::env::var_os(ACTIVE).is_none() => vec![name],
            _ => vec!["gcc".into(), "cc".into()],
        };
        if let Some(found) = Toolchain::search(&wanted)? {
            return Ok(found);
        }
        if let [words] = wanted.as_slice() {
            let mut words = arguments::response_words(words.as_bytes()).into_iter().map(OsString::from_vec);
            let first: Vec<OsString> = words.next().into_iter().collect();
            if let Some(found) = Toolchain::search(&first)? {
                return Ok(Toolchain { leading: words.collect(), ..found });
            }
        }
        Err(format!("no C compiler: {} not found", wanted.join(OsStr::new(", ")).display()))
    }

    /// The first of the programs `wanted` that there is.
    fn search(wanted: &[OsString]) -> Result<Option<Toolchain>, String> {
        let ourselves =
            std::env::current_exe().and_then(fs::canonicalize).map_err(|error| error.to_string())?;
        let search = std::env::var_os("PATH").unwrap_or_else(|| "/usr/local/bin:/usr/bin:/bin".into());
        for name in wanted {
            let candidates: Vec<PathBuf> = if name.as_encoded_bytes().contains(&b'/') {
                vec![name.into()]
            } else {
                std::env::split_paths(&search).map(|folder| folder.join(name)).collect()
            };
            let present: Vec<PathBuf> = candidates.into_iter().filter(|path| path.is_file()).collect();
            for (number, path) in present.iter().enumerate() {
                if fs::canonicalize(path).is_ok_and(|real| real != ourselves) {
                    // gcc looks its own name up in PATH to find its parts: behind a link to us it needs the path.
                    let name = if number == 0 { name.clone() } else { path.clone().into_os_string() };
                    return Ok(Some(Toolchain { path: path.clone(), name, leading: Vec::new() }));
                }
            }
        }
        Ok(None)
    }

    /// Whether a wrapper further out has already taken care of this command.
    pub fn is_nested() -> bool {
        std::env::var_os(ACTIVE).is_some()
    }

    /// Whether it is gcc, whose `-fdirectives-only` text we can edit. Others compile as they stand. A link named gcc to
    /// a program of another name is a compiler cache or the like, which calls gcc.
    pub fn is_gcc(&self) -> bool {
        let real = fs::canonicalize(&self.path).unwrap_or_else(|_| self.path.clone());
        let words = self.leading.iter().map(Path::new);
        let paths = [real.as_path(), self.path.as_path()].into_iter().chain(words);
        let names: Vec<_> =
            paths.map(|path| path.file_name().unwrap_or_default().to_string_lossy()).collect();
        names.iter().any(|name| name.contains("gcc")) && !names.iter().any(|name| name.contains("clang"))
    }

    fn command(&self) -> Command {
        let mut command = Command::new(&self.path);
        command.arg0(&self.name).args(&self.leading).env(ACTIVE, "1");
        command
    }

    /// Becomes the real compiler: exit status, signals and streams are its own. Returns only when that fails.
    pub fn become_real(&self, arguments: &[OsString]) -> String {
        interruption::release();
        let error = self.command().args(arguments).exec();
        format!("{}: {error}", self.path.display())
    }

    /// Runs it with its messages caught. Standard output and input are the user's. Where the user wrote a response
    /// file, or could have, `folder` gets one.
    pub fn run(
        &self,
        arguments: &[OsString],
        folder: &Path,
        from_files: bool,
    ) -> std::io::Result<(ExitStatus, Vec<u8>)> {
        let mut command = self.command_for(arguments, folder, from_files)?;
        // A compiler cache below us would expand the rewritten text a second time, differently.
        command.env("CCACHE_DISABLE", "1");
        interruption::run(command, None)
    }

    /// The same for the user's own text, until it is cancelled.
    pub fn run_own(
        &self,
        arguments: &[OsString],
        folder: &Path,
        from_files: bool,
        cancellation: &Cancellation,
    ) -> std::io::Result<(ExitStatus, Vec<u8>)> {
        let mut command = self.command_for(arguments, folder, from_files)?;
        // A compiler that is cancelled just after it has made a temporary file leaves it behind.
        command.env("TMPDIR", folder);
        interruption::run(command, Some(cancellation))
    }

    fn command_for(
        &self,
        arguments: &[OsString],
        folder: &Path,
        from_files: bool,
    ) -> std::io::Result<Command> {
        let mut command = self.command();
        if from_files || arguments.iter().map(|word| word.len() + 1).sum::<usize>() > LONGEST_COMMAND {
            let path = folder.join("arguments");
            fs::write(&path, arguments::response_text(arguments))?;
            let mut word = OsString::from("@");
            word.push(path);
            command.arg(word);
        } else {
            command.args(arguments);
        }
        Ok(command)
    }

    /// Runs the preprocessor alone on `input`, and gives its text and whether it had something to say.
    fn preprocessor(
        &self,
        invocation: &Invocation,
        input: &Input,
        folder: &Path,
        extra: Vec<OsString>,
        name: &str,
    ) -> Result<(Vec<u8>, bool), String> {
        let left_out = [invocation.mode_options.as_slice(), &invocation.dependency_options];
        let path = folder.join(name);
        let mut arguments = invocation.for_one(&left_out, input, None);
        arguments.extend(extra);
        arguments.extend(["-E".into(), "-o".into(), path.clone().into_os_string()]);
        let (status, said) =
            self.run(&arguments, folder, invocation.from_files).map_err(|error| error.to_string())?;
        if !status.success() {
            return Err("the preprocessor fails".into());
        }
        Ok((fs::read(&path).map_err(|error| error.to_string())?, !said.is_empty()))
    }

    /// Preprocesses `input`: everything executed and expanded.
    pub fn preprocess(
        &self,
        invocation: &Invocation,
        input: &Input,
        folder: &Path,
    ) -> Result<Preprocessed, Obstacle> {
        let dependency_copy = folder.join("dependencies");
        let mut extra: Vec<OsString> = Vec::new();
        let names = invocation.dependencies.as_ref().map(|kind| {
            let (file, target) = invocation.dependency_names(&input.path);
            let mut words = invocation.dependency_options.iter().map(|index| &invocation.arguments[*index]);
            while let Some(word) = words.next() {
                let text = word.to_string_lossy();
                if text.starts_with("-MT") || text.starts_with("-MQ") || text == "-MP" {
                    extra.push(word.clone());
                    if text == "-MT" || text == "-MQ" {
                        extra.extend(words.next().cloned());
                    }
                } else if text == "-MF" {
                    words.next();
                }
            }
            extra.extend([kind.clone(), "-MF".into(), dependency_copy.clone().into_os_string()]);
            if !invocation.has_dependency_target {
                extra.extend(["-MQ".into(), target]);
            }
            file
        });
        let (expanded, spoke) =
            self.preprocessor(invocation, input, folder, extra, "expanded.i").map_err(Obstacle::Failure)?;
        let dependencies = match names {
            Some(file) => {
                let content =
                    fs::read(&dependency_copy).map_err(|error| Obstacle::Failure(error.to_string()))?;
                Some((file, content))
            }
            None => None,
        };
        let expanded = Text::new(expanded).filter(Text::replaced_in_strings_only).ok_or_else(not_text)?;
        Ok(Preprocessed { expanded, dependencies, spoke })
    }

    /// The text of `input` with its directives executed and its macros not expanded, and whether the preprocessor had
    /// something to say.
    pub fn directives(
        &self,
        invocation: &Invocation,
        input: &Input,
        folder: &Path,
    ) -> Result<(Text, bool), Obstacle> {
        let only = vec!["-fdirectives-only".into()];
        let (directives, spoke) = self
            .preprocessor(invocation, input, folder, only, "directives.i")
            .map_err(Obstacle::Unsuitable)?;
        let directives = Text::new(directives).ok_or_else(not_text)?;
        // Each macro is defined to be there; only a use beyond that counts.
        let used = |name: &&&str| {
            let lines = directives.text.lines().filter(|line| line.contains(**name));
            lines.into_iter().any(|line| !line.starts_with("#define __"))
        };
        if let Some(name) = FILE_MACROS.iter().find(used) {
            let reason = format!("{name} would be that of the rewritten text");
            return Err(Obstacle::Unsuitable(reason));
        }
        Ok((directives, spoke))
    }

    /// The command that compiles `input` to `output` and nothing else; with `rewritten` that text.
    pub fn compilation(
        &self,
        invocation: &Invocation,
        input: &Input,
        rewritten: Option<&Rewritten>,
        output: &Path,
    ) -> Vec<OsString> {
        let left_out = [invocation.mode_options.as_slice(), &invocation.dependency_options];
        let path = rewritten.map(|rewritten| rewritten.path.as_path());
        let mut arguments = invocation.for_one(&left_out, input, path);
        arguments.push(if invocation.mode == Mode::Assembly { "-S" } else { "-c" }.into());
        if let Some(rewritten) = rewritten {
            if invocation.aligns_loops {
                // The user's own options, which come later, win.
                arguments.splice(0..0, ALIGNMENTS.map(OsString::from));
            }
            arguments.push("-fpreprocessed".into());
            if !rewritten.expanded {
                arguments.push("-fdirectives-only".into());
            }
            if matches!(rewritten.messages, Messages::Compiler | Messages::Unheard) {
                arguments.push("-w".into());
            }
        }
        arguments.extend(["-o".into(), output.as_os_str().to_owned()]);
        arguments
    }
}

fn not_text() -> Obstacle {
    Obstacle::Unsuitable("bytes that aren't UTF-8 stand outside of comments and strings".into())
}

/// `libparagon_rt.so`, beside our executable or in `../lib`.
pub fn runtime_library() -> Option<PathBuf> {
    let executable = std::env::current_exe().and_then(fs::canonicalize).ok()?;
    let folder = executable.parent()?;
    [folder.join("libparagon_rt.so"), folder.join("../lib/libparagon_rt.so")]
        .into_iter()
        .find_map(|path| fs::canonicalize(path).ok())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::driver::arguments::{Decision, parse};

    #[test]
    fn bytes_that_are_no_text() {
        let bytes = b"a \xe4 \"\xf6\" b".to_vec();
        let text = Text::new(bytes.clone()).unwrap();
        assert_eq!(text.text.len(), bytes.len());
        assert_eq!(text.restore(&text.text), bytes);
        assert_eq!(text.restore(&text.text.replace(" b", "!")), b"a \xe4 \"\xf6\"!");
        assert!(!text.replaced_in_strings_only());
        assert!(Text::new(b"\"\xe4\" 'a'".to_vec()).unwrap().replaced_in_strings_only());
        assert!(!Text::new(b"'\xe4'".to_vec()).unwrap().replaced_in_strings_only());
        assert!(!Text::new(b"\"\\\xe4\"".to_vec()).unwrap().replaced_in_strings_only());
        assert!(Text::new(b"\x7f\xe4".to_vec()).is_none());
    }

    /// Where a guard comes before it, a loop begins elsewhere than the compiler would have it; unless the user says where.
    #[test]
    fn loops_begin_where_short_ones_are_not_cut() {
        let words = |flags: &str, rewritten: bool| {
            let command: Vec<OsString> = format!("{flags} -c a.c").split(' ').map(OsString::from).collect();
            let Decision::Handle(invocation) = parse(&command) else { panic!("{flags}") };
            let text = Rewritten { path: "b.c".into(), expanded: true, messages: Messages::Alike };
            let toolchain = Toolchain { path: "cc".into(), name: "cc".into(), leading: Vec::new() };
            let rewritten = rewritten.then_some(&text);
            toolchain.compilation(&invocation, &invocation.inputs[0], rewritten, Path::new("a.o"))
        };
        for flags in ["-O2", "-O3", "-Ofast", "-Os -O2", "-O2 -falign-loops=16"] {
            // What the user says comes later, and wins.
            assert_eq!(words(flags, true)[..2], ALIGNMENTS.map(OsString::from), "{flags}");
            assert_ne!(words(flags, false)[..2], ALIGNMENTS.map(OsString::from), "{flags}");
        }
        for flags in ["-O1", "-O2 -Os", "-O"] {
            assert!(!words(flags, true).contains(&ALIGNMENTS[1].into()), "{flags}");
        }
    }
}
