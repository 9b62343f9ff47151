//! Folders in which one command after the other is executed, and what it leaves there. What of that has to be the same is in `comparison.rs`.

use paragon::driver::arguments::response_words;
use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::fs;
use std::io::Write;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::os::unix::fs::{FileTypeExt, PermissionsExt};
use std::os::unix::process::ExitStatusExt;
use std::path::PathBuf;
use std::process::{Command, Output};
use std::time::{Duration, SystemTime};

/// What one command did.
pub struct Outcome {
    pub code: Option<i32>,
    pub signal: Option<i32>,
    pub streams: [Vec<u8>; 2],
    pub files: BTreeMap<PathBuf, Vec<u8>>,
    /// What programs that it made print.
    pub programs: BTreeMap<PathBuf, Output>,
}

/// A place in which one command after the other finds the same folder under the same name.
pub struct Place {
    pub folder: PathBuf,
    pub temporary: PathBuf,
}

impl Place {
    pub fn fill(&self, files: &BTreeMap<Vec<u8>, Vec<u8>>) {
        let _ = fs::remove_dir_all(&self.folder);
        fs::create_dir_all(self.folder.join("sub")).unwrap();
        fs::create_dir_all(&self.temporary).unwrap();
        let time = SystemTime::UNIX_EPOCH + Duration::from_secs(1_000_000_000);
        for (name, content) in files {
            let path = self.folder.join(OsStr::from_bytes(name));
            let mut file = fs::File::create(&path).unwrap();
            file.write_all(content).unwrap();
            file.set_modified(time).unwrap();
        }
    }

    pub fn command(&self, compiler: &str, words: &[OsString]) -> Command {
        let mut command = Command::new(compiler);
        command.args(words).current_dir(&self.folder).env("TMPDIR", &self.temporary);
        for name in ["PARAGON_CC", "CPATH", "LIBRARY_PATH", "DEPENDENCIES_OUTPUT", "SUNPRO_DEPENDENCIES"] {
            command.env_remove(name);
        }
        command
    }

    pub fn execute(&self, compiler: &str, words: &[OsString], files: &BTreeMap<Vec<u8>, Vec<u8>>) -> Outcome {
        self.fill(files);
        let mut command = self.command(compiler, words);
        let input = fs::File::open(self.folder.join("loop.c")).unwrap();
        let output = command.stdin(input).output().unwrap();
        let left: Vec<_> =
            fs::read_dir(&self.temporary).unwrap().map(|entry| entry.unwrap().path()).collect();
        assert!(left.is_empty(), "{words:?} leaves {left:?}");
        let mut found = BTreeMap::new();
        let mut programs = BTreeMap::new();
        let mut folders = vec![self.folder.clone()];
        while let Some(folder) = folders.pop() {
            for entry in fs::read_dir(folder).unwrap() {
                let path = entry.unwrap().path();
                let name = path.strip_prefix(&self.folder).unwrap().to_owned();
                if path.is_dir() {
                    folders.push(path);
                } else if !path.metadata().unwrap().file_type().is_fifo() {
                    let content = fs::read(&path).unwrap();
                    let executable = path.metadata().unwrap().permissions().mode() & 0o100 != 0;
                    if executable && !words.iter().any(|word| word == "-shared") {
                        programs.insert(name.clone(), Command::new(&path).output().unwrap());
                    }
                    found.insert(name, content);
                }
            }
        }
        let streams = [output.stdout, output.stderr].map(|text| without_random_names(&text));
        Outcome {
            code: output.status.code(),
            signal: output.status.signal(),
            streams,
            files: found,
            programs,
        }
    }
}

/// The compiler's temporary files have random names, which its own messages and listings contain.
fn without_random_names(text: &[u8]) -> Vec<u8> {
    let mut result = Vec::new();
    let mut at = 0;
    while at < text.len() {
        let name = text[at..].strip_prefix(b"/cc").and_then(|rest| rest.get(..6));
        if name.is_some_and(|name| name.iter().all(u8::is_ascii_alphanumeric)) {
            result.extend(b"/ccXXXXXX");
            at += 9;
        } else {
            result.push(text[at]);
            at += 1;
        }
    }
    result
}

/// The words of a line; `%E4` is the byte 0xe4, `<folder>` the folder's name.
pub fn words(line: &str, place: &Place) -> Vec<OsString> {
    let line = line.replace("<folder>", &place.folder.display().to_string());
    let bytes = |word: Vec<u8>| {
        let text = String::from_utf8(word).unwrap();
        let mut parts = text.split("%E4").map(|part| part.as_bytes().to_vec());
        let mut word = parts.next().unwrap();
        for part in parts {
            word.push(0xe4);
            word.extend(part);
        }
        OsString::from_vec(word)
    };
    response_words(line.as_bytes()).into_iter().map(bytes).collect()
}

pub fn contains(text: &[u8], part: &[u8]) -> bool {
    let mut rest = text;
    while let Some(at) = rest.iter().position(|byte| *byte == part[0]) {
        if rest[at..].starts_with(part) {
            return true;
        }
        rest = &rest[at + 1..];
    }
    false
}
