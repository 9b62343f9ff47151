//! The real compiler: finding it, becoming it, and running it for preprocessing and for the rewritten text.
//!
//! Not here: which options mean what (`driver::arguments`) and what is done with the texts (`compile`).

use super::arguments::{Input, Invocation};
use std::ffi::{OsStr, OsString};
use std::fs;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

/// Set in the environment of everything that we run: a real compiler that turns out to be ourselves notices.
const ACTIVE: &str = "PARAGON_CC_ACTIVE";

/// The real compiler.
#[derive(Clone, Debug)]
pub struct Toolchain {
    path: PathBuf,
    name: OsString,
}

/// The two texts of a preprocessed file.
#[derive(Clone, Debug)]
pub struct Preprocessed {
    /// Everything expanded.
    pub expanded: String,
    /// Directives executed, macros not expanded.
    pub directives: String,
    /// What the dependency options would have written, and where.
    pub dependencies: Option<(PathBuf, Vec<u8>)>,
}

impl Toolchain {
    /// The compiler that `PARAGON_CC` names, else `gcc`, else `cc`; never ourselves.
    pub fn find() -> Result<Toolchain, String> {
        let wanted: Vec<OsString> = match std::env::var_os("PARAGON_CC") {
            Some(name) if !name.is_empty() && std::env::var_os(ACTIVE).is_none() => vec![name],
            _ => vec!["gcc".into(), "cc".into()],
        };
        let ourselves =
            std::env::current_exe().and_then(fs::canonicalize).map_err(|error| error.to_string())?;
        let search = std::env::var_os("PATH").unwrap_or_else(|| "/usr/local/bin:/usr/bin:/bin".into());
        for name in &wanted {
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
                    return Ok(Toolchain { path: path.clone(), name });
                }
            }
        }
        Err(format!("no C compiler: {} not found", wanted.join(OsStr::new(", ")).display()))
    }

    /// Whether a wrapper further out has already taken care of this command.
    pub fn is_nested() -> bool {
        std::env::var_os(ACTIVE).is_some()
    }

    /// Whether it is gcc, whose `-fdirectives-only` text we can edit. Others compile as they stand.
    pub fn is_gcc(&self) -> bool {
        let real = fs::canonicalize(&self.path).unwrap_or_else(|_| self.path.clone());
        let name = real.file_name().unwrap_or_default().to_string_lossy().into_owned();
        name.contains("gcc") && !name.contains("clang")
    }

    fn command(&self) -> Command {
        let mut command = Command::new(&self.path);
        command.arg0(&self.name).env(ACTIVE, "1");
        command
    }

    /// Becomes the real compiler: exit status, signals and streams are its own. Returns only when that fails.
    pub fn become_real(&self, arguments: &[OsString]) -> String {
        let error = self.command().args(arguments).exec();
        format!("{}: {error}", self.path.display())
    }

    /// Runs it with its messages caught. Standard output and input are the user's.
    pub fn run(&self, arguments: &[OsString]) -> std::io::Result<Output> {
        let output =
            self.command().args(arguments).stdout(Stdio::inherit()).stderr(Stdio::piped()).spawn()?;
        output.wait_with_output()
    }

    /// Preprocesses `input` both ways. The error says why that is not enough to go on with.
    pub fn preprocess(
        &self,
        invocation: &Invocation,
        input: &Input,
        folder: &Path,
    ) -> Result<Preprocessed, String> {
        let base = invocation.for_one(
            &[&invocation.not_for_preprocessor, &invocation.dependency_options],
            input,
            None,
        );
        let dependency_copy = folder.join("dependencies");
        let text = |extra: &[OsString], name: &str| -> Result<String, String> {
            let path = folder.join(name);
            let mut arguments = base.clone();
            arguments.extend(extra.iter().cloned());
            arguments.extend(["-E".into(), "-o".into(), path.clone().into_os_string()]);
            let output = self.run(&arguments).map_err(|error| error.to_string())?;
            // What preprocessing says would be said by the user's own command only, so that one has to run.
            if !output.status.success() || !output.stderr.is_empty() {
                return Err("preprocessing has something to say".into());
            }
            let bytes = fs::read(&path).map_err(|error| error.to_string())?;
            String::from_utf8(bytes).map_err(|_| "the text is not UTF-8".into())
        };
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
        let expanded = text(&extra, "expanded.i")?;
        let directives = text(&["-fdirectives-only".into()], "directives.i")?;
        let dependencies = match names {
            Some(file) => Some((file, fs::read(&dependency_copy).map_err(|error| error.to_string())?)),
            None => None,
        };
        Ok(Preprocessed { expanded, directives, dependencies })
    }

    /// The command that compiles the rewritten text at `path` in place of `input`; `output` replaces the user's.
    /// `expanded`: whether its macros are expanded already.
    pub fn rewritten(
        &self,
        invocation: &Invocation,
        input: &Input,
        path: &Path,
        output: &Path,
        expanded: bool,
    ) -> Vec<OsString> {
        use super::arguments::Mode;
        let mut arguments = invocation.for_one(
            &[&invocation.not_for_preprocessor, &invocation.dependency_options],
            input,
            Some(path),
        );
        arguments.push(if invocation.mode == Mode::Assembly { "-S" } else { "-c" }.into());
        arguments.push("-fpreprocessed".into());
        if !expanded {
            arguments.push("-fdirectives-only".into());
        }
        arguments.extend(["-o".into(), output.as_os_str().to_owned()]);
        arguments
    }
}

/// `libparagon_rt.so`, beside our executable or in `../lib`.
pub fn runtime_library() -> Option<PathBuf> {
    let executable = std::env::current_exe().and_then(fs::canonicalize).ok()?;
    let folder = executable.parent()?;
    [folder.join("libparagon_rt.so"), folder.join("../lib/libparagon_rt.so")]
        .into_iter()
        .find_map(|path| fs::canonicalize(path).ok())
}
