//! What the runtime is told, how a program is run with it, and what that leaves behind.

use super::building::{limited, scratch};
use super::emulated_gpu::EmulatedGpu;
use super::{DEVICE_THREADS, ROOT};
use serde_json::Value;
use std::fs;
use std::path::Path;
use std::process::Command;
use std::sync::OnceLock;

/// Instead of a log method: nothing is inspected, and what runs under logs have shown is used in later entries.
pub const LEARNT: &str = "learnt";

/// What the runtime is told.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Setting {
    pub device: &'static str,
    pub memory: &'static str,
    /// Or [`LEARNT`]; behind `stamp` also what is guessed.
    pub log: &'static str,
    /// Whether a GPU's threads run several iterations together.
    pub groups: &'static str,
    /// `device`: the device's result stands unless it fails; `auto`: the first one wins, after monitoring, three times over.
    pub race: &'static str,
}

impl Setting {
    /// The device's result stands, on copies of memory that threads work on.
    pub const fn on_threads(log: &'static str) -> Setting {
        Setting { device: "threads", memory: "separate", log, groups: "auto", race: "device" }
    }
    pub fn apply(self, command: &mut Command) {
        command
            .env("PARAGON_DEVICE", self.device)
            .env("PARAGON_MEMORY", self.memory)
            .env("PARAGON_LOG", if self.log == LEARNT { "auto" } else { self.log().0 })
            .env("PARAGON_GUESSES", if self.log().1 == TOGETHER { "joined" } else { self.log().1 })
            .env("PARAGON_INSPECTIONS", if self.log == LEARNT { "off" } else { "on" })
            .env("PARAGON_RACE", self.race)
            .env("PARAGON_MONITOR", if self.race == "auto" { "on" } else { "off" })
            .env("PARAGON_THREADS", DEVICE_THREADS)
            // Programs of tests are over before anything else would be thought about.
            .env("PARAGON_AT_ONCE", "on");
        if self.device == "cuda" {
            // A processor takes much longer than a GPU.
            command.env("PARAGON_GROUPS", self.groups).env("PARAGON_PATIENCE", "600000");
            if self.log().1 == TOGETHER {
                command.env("EMULATED_TOGETHER", "1");
            }
            emulated_gpu().apply(command);
        }
    }
    /// The log, and what stamps guess first.
    pub fn log(self) -> (&'static str, &'static str) {
        self.log.split_once(' ').unwrap_or((self.log, "auto"))
    }
    pub fn repeat(self) -> &'static str {
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

/// What stamps guess: that stores are joined, where the emulated GPU never takes a warp's lanes apart.
pub const TOGETHER: &str = "together";

/// Stamps as they are, and with each guess that they may begin with, every time.
pub const GUESSES: [&str; 8] = [
    "stamp",
    "stamp off",
    "stamp bits",
    "stamp numbers",
    "stamp twice",
    "stamp order",
    "stamp joined",
    "stamp launches",
];

/// Every combination of {off, threads shared, threads separate} and the log methods, and races for real.
pub fn all_settings() -> Vec<Setting> {
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
pub struct Outcome {
    pub status: Option<i32>,
    pub stdout: Vec<u8>,
    pub stderr: Vec<u8>,
    pub dump: Vec<u8>,
}

impl Outcome {
    /// In what way `self` differs from `wanted`.
    pub fn difference(&self, wanted: &Outcome) -> Option<String> {
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
pub fn run(executable: &Path, size: &str, input: &str, repeat: &str, tell: impl Fn(&mut Command)) -> Outcome {
    let folder = tempfile::tempdir().unwrap();
    let dump = folder.path().join("dump");
    let mut command = limited();
    command.arg(executable).args(["--size", size, "--input", input, "--repeat", repeat]);
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

pub fn read_trace(path: &Path) -> Vec<Value> {
    let text = fs::read_to_string(path).unwrap_or_default();
    text.lines().map(|line| serde_json::from_str(line).expect(line)).collect()
}
