//! What the environment asks for: the `PARAGON_*` variables, read once.
//!
//! A value that isn't known is reported in one line and the default is used. Programs with raised privileges (set-user-ID
//! and its relatives) ignore all of them.

use crate::device::LogMethod;
use crate::device::cuda::Gpu;
use crate::memory::own;
use crate::speculation::cmt::Guesses;
use std::path::PathBuf;
use std::time::Duration;

/// `PARAGON_DEVICE`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[allow(missing_docs)]
pub enum DeviceChoice {
    Off,
    Threads,
    Cuda,
    Auto,
}

/// `PARAGON_RACE`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum RaceChoice {
    /// First come, first served.
    Auto,
    /// The worker waits; the device's result stands unless it fails.
    Device,
    /// The device runs, but the worker's result always stands.
    Worker,
}

/// `PARAGON_INSPECTIONS`: whether the addresses of a loop are looked at before it runs.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum InspectionChoice {
    /// Where that pays; what was found is remembered where that pays.
    On,
    /// Nothing is inspected.
    Off,
    /// Nothing that was found is remembered: each entry is inspected.
    Anew,
}

/// `PARAGON_GROUPS`: whether a thread of the GPU runs several iterations together.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum GroupChoice {
    /// Where enough threads are left.
    Auto,
    /// Never.
    Off,
    /// Wherever the loop's text allows it, however few iterations there are.
    Always,
}

/// What `PARAGON_LOG` may ask for, in the order of its values.
const ALL_LOGS: [Option<LogMethod>; 5] = [
    None,
    Some(LogMethod::Atomic),
    Some(LogMethod::Reduction),
    Some(LogMethod::Bitmap),
    Some(LogMethod::Stamp),
];

/// All switches.
#[derive(Clone, Debug)]
pub struct Config {
    /// Where loops may run.
    pub device: DeviceChoice,
    /// The log methods that each entry runs under, one after the other (`entry::every_log`, where they are several): one that is forced, so
    /// that even pairs are logged which a predicate could prove, or `None`, whichever suits.
    pub logs: &'static [Option<LogMethod>],
    /// Where records of loop entries go.
    pub trace: Option<PathBuf>,
    /// Whether the threads device may run proven loops in place.
    pub in_place: bool,
    /// Who may win.
    pub race: RaceChoice,
    /// Which GPU it is.
    pub gpu: Gpu,
    /// Threads for loops on the CPU, at least 1.
    pub threads: usize,
    /// Whether the first invocation of a logged loop is only monitored.
    pub monitor: bool,
    /// Whether the addresses of a loop may be inspected before it runs; what runs have shown is remembered all the same.
    pub inspections: InspectionChoice,
    /// Whether the system may be asked which pages of the program's memory have changed, instead of comparing all.
    pub tracking: bool,
    /// Whether what loops store may stay on a device until the program wants it.
    pub staying: bool,
    /// Whether loops whose results stay are left to a GPU without waiting for it.
    pub following: bool,
    /// Whether kernels are compiled before their loops come to a GPU, and its driver is opened behind the entry that was timed.
    pub ahead: bool,
    /// Whether what earlier runs have measured is read and added to.
    pub history: bool,
    /// Whether threads of the GPU run several iterations together.
    pub groups: GroupChoice,
    /// What stamps guess first, whatever has been wrong before; `None`: what may be right.
    pub guesses: Option<Guesses>,
    /// Whether short loops are thought about from the program's first millisecond on, instead of when there is something to be gained.
    pub at_once: bool,
    /// How long a device may be at work without having told how far it is, and an inspection that is asked for; `None`: as
    /// long as it is good for.
    pub patience: Option<Duration>,
}

fn privileged() -> bool {
    // SAFETY: getauxval has no preconditions.
    unsafe { libc::getauxval(libc::AT_SECURE) != 0 }
}

fn available_threads() -> usize {
    std::thread::available_parallelism().map_or(1, |n| n.get())
}

impl Config {
    /// Reads the environment. Complaints are returned, one line each, for standard error.
    pub fn read(lookup: impl Fn(&str) -> Option<String>) -> (Config, Vec<String>) {
        let mut complaints = Vec::new();
        let mut choice = |name: &str, values: &[&str], default: usize| -> usize {
            match lookup(name) {
                None => default,
                Some(text) if text.is_empty() => default,
                Some(text) => values.iter().position(|v| *v == text).unwrap_or_else(|| {
                    complaints
                        .push(format!("paragon: {name}={text} is not one of {}; ignored", values.join(", ")));
                    default
                }),
            }
        };
        let device = match choice("PARAGON_DEVICE", &["off", "threads", "cuda", "auto"], 3) {
            0 => DeviceChoice::Off,
            1 => DeviceChoice::Threads,
            2 => DeviceChoice::Cuda,
            _ => DeviceChoice::Auto,
        };
        let logs = match choice("PARAGON_LOG", &["auto", "atomic", "reduction", "bitmap", "stamp", "all"], 0)
        {
            number @ 0..5 => &ALL_LOGS[number..=number],
            _ => &ALL_LOGS[..],
        };
        let in_place = choice("PARAGON_MEMORY", &["shared", "separate"], 0) == 0;
        let race = match choice("PARAGON_RACE", &["auto", "device", "worker"], 0) {
            1 => RaceChoice::Device,
            2 => RaceChoice::Worker,
            _ => RaceChoice::Auto,
        };
        let monitor = choice("PARAGON_MONITOR", &["on", "off"], 0) == 0;
        let inspections = match choice("PARAGON_INSPECTIONS", &["on", "off", "anew"], 0) {
            1 => InspectionChoice::Off,
            2 => InspectionChoice::Anew,
            _ => InspectionChoice::On,
        };
        let history = choice("PARAGON_HISTORY", &["on", "off"], 0) == 0;
        let tracking = choice("PARAGON_TRACKING", &["off", "on"], 0) == 1;
        // Where nothing is said, whether the runtime has memory of its own decides below.
        let staying = choice("PARAGON_STAYING", &["off", "on"], 1) == 1;
        let following = choice("PARAGON_FOLLOWING", &["on", "off"], 0) == 0;
        let ahead = choice("PARAGON_AHEAD", &["on", "off"], 0) == 0;
        let at_once = choice("PARAGON_AT_ONCE", &["off", "on"], 0) == 1;
        let groups = match choice("PARAGON_GROUPS", &["auto", "off", "always"], 0) {
            1 => GroupChoice::Off,
            2 => GroupChoice::Always,
            _ => GroupChoice::Auto,
        };
        let guesses = match choice(
            "PARAGON_GUESSES",
            &["auto", "off", "bits", "numbers", "twice", "order", "joined", "launches"],
            0,
        ) {
            1 => Some(Guesses::None),
            2 => Some(Guesses::All),
            3 => Some(Guesses::Numbers),
            4 => Some(Guesses::Twice),
            5 => Some(Guesses::InOrder),
            6 => Some(Guesses::Joined),
            7 => Some(Guesses::Launches),
            _ => None,
        };
        let mut number = |name: &str, range: std::ops::RangeInclusive<u64>| -> Option<u64> {
            let text = lookup(name).filter(|text| !text.is_empty())?;
            let number = text.parse().ok().filter(|n| range.contains(n));
            if number.is_none() {
                let (least, most) = range.into_inner();
                complaints
                    .push(format!("paragon: {name}={text} is not a number from {least} to {most}; ignored"));
            }
            number
        };
        let threads = number("PARAGON_THREADS", 1..=4096).map_or_else(available_threads, |n| n as usize);
        let asked = number("PARAGON_GPU", 0..=u64::from(u32::MAX)).map(|n| n as u32);
        let gpu = Gpu::of_process(asked, &lookup);
        let patience = number("PARAGON_PATIENCE", 1..=3_600_000).map(Duration::from_millis);
        let trace = lookup("PARAGON_TRACE").filter(|t| !t.is_empty()).map(PathBuf::from);
        (
            Config {
                device,
                logs,
                trace,
                in_place,
                race,
                gpu,
                threads,
                monitor,
                inspections,
                tracking,
                staying,
                following,
                ahead,
                history,
                groups,
                guesses,
                at_once,
                patience,
            },
            complaints,
        )
    }

    /// The process's own environment; prints complaints.
    pub fn from_environment() -> Config {
        let secure = privileged();
        let (mut config, complaints) =
            Config::read(|name| if secure { None } else { std::env::var(name).ok() });
        // It asks the same of the environment, and where that says nothing for a GPU; and before the program may have changed anything.
        config.staying &= own::is_own();
        for line in complaints {
            crate::trace::complain(&line);
        }
        config
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unknown_values_are_reported_and_ignored() {
        let (config, complaints) = Config::read(|name| match name {
            "PARAGON_DEVICE" => Some("gpu".into()),
            "PARAGON_LOG" => Some("reduction".into()),
            "PARAGON_THREADS" => Some("0".into()),
            _ => None,
        });
        assert_eq!(config.device, DeviceChoice::Auto);
        assert_eq!(config.logs, [Some(LogMethod::Reduction)]);
        assert!(config.threads >= 1);
        assert_eq!(complaints.len(), 2);
    }

    #[test]
    fn what_is_empty_is_not_set() {
        let (config, complaints) = Config::read(|name| (name == "PARAGON_LOG").then(|| "stamp".into()));
        assert_eq!(config.logs, [Some(LogMethod::Stamp)]);
        assert!(complaints.is_empty());
        let (config, complaints) = Config::read(|_| Some(String::new()));
        assert!(complaints.is_empty());
        assert_eq!(config.logs, [None]);
        let (config, _) = Config::read(|name| (name == "PARAGON_LOG").then(|| "all".into()));
        assert_eq!(config.logs.len(), 5);
    }
}
