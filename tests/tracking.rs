//! Loops whose indices are watched rather than compared (`memory::tracking`): whatever changes them is noticed, and the emulated GPU, which takes
//! indices from what the runtime remembers of them, computes what cc's program does.

use serde_json::Value;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::process::Command;
#[path = "support/emulated_gpu.rs"]
mod emulated_gpu;
use emulated_gpu::EmulatedGpu;

/// Whether the runtime should be able to watch memory here: Linux 6.7, and nothing that forbids it to a user.
fn can_watch() -> bool {
    let release = std::fs::read_to_string("/proc/sys/kernel/osrelease").unwrap_or_default();
    let mut numbers = release.split('.').map(|number| number.parse::<u32>().unwrap_or(0));
    let version = (numbers.next().unwrap_or(0), numbers.next().unwrap_or(0));
    version >= (6, 7) && std::fs::metadata("/proc/self").is_ok_and(|process| process.uid() == 0)
}

#[test]
fn indices_that_change_are_noticed() {
    let (root, folder) = (Path::new(env!("CARGO_MANIFEST_DIR")), tempfile::tempdir().unwrap());
    let build = |compiler: &str, name: &str| {
        let program = folder.path().join(name);
        let mut command = Command::new(compiler);
        command
            .args(["-O2", "-o"])
            .arg(&program)
            .arg(root.join("c-tests/tracking/changed.c"))
            .arg("-pthread");
        assert!(command.status().unwrap().success(), "{command:?}");
        program
    };
    let expected = Command::new(build("cc", "reference")).output().unwrap();
    assert!(expected.status.success());
    let program = build(env!("CARGO_BIN_EXE_paragon-cc"), "paragon");
    let gpu = EmulatedGpu::build(&root.join("c-tests/emulated_gpu"), folder.path());
    for tracking in ["off", "on"] {
        let trace = folder.path().join(tracking);
        let mut command = Command::new(&program);
        command.env("PARAGON_DEVICE", "cuda").env("PARAGON_RACE", "device").env("PARAGON_MONITOR", "off");
        command
            .env("PARAGON_PATIENCE", "600000")
            .env("PARAGON_TRACKING", tracking)
            .env("PARAGON_TRACE", &trace);
        gpu.apply(&mut command);
        let output = command.output().unwrap();
        assert!(output.status.success());
        let (ours, theirs) =
            (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&expected.stdout));
        for (ours, theirs) in ours.lines().zip(theirs.lines()) {
            assert_eq!(ours, theirs, "tracking {tracking}: way, entry and what came of it");
        }
        assert_eq!(output.stdout, expected.stdout);
        // What isn't watched is compared, and that is no test.
        let said = String::from_utf8_lossy(&output.stderr);
        let watched = said.lines().find_map(|line| line.strip_prefix("watched: ")?.split_once(" of "));
        let (watched, ways) = watched.expect("the program says so");
        let (watched, ways): (u32, u32) = (watched.parse().unwrap(), ways.parse().unwrap());
        match (tracking, watched) {
            ("off", _) => assert_eq!(watched, 0),
            (_, 0) => eprintln!("SKIPPED: this system can't watch memory"),
            // Not where pages are pinned.
            _ => assert!(watched + 1 >= ways, "{watched} of {ways}"),
        }
        let records = std::fs::read_to_string(trace).unwrap();
        let records: Vec<Value> = records.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        // What changed nothing and what was seen before.
        let unchecked = records.iter().filter(|record| record["unchecked"] == true).count();
        assert!(unchecked > 60, "{unchecked}");
        // Copies of 3 MiB; those of the array that nothing stores to, and in part of the one that is changed a page at a time, stay on the GPU.
        let copied = |record: &Value| record["bytes_in"].as_u64().unwrap();
        // Loops that only store have nothing copied.
        let less = records.iter().skip(1).filter(|record| (1..3 << 20).contains(&copied(record))).count();
        match tracking {
            "on" if can_watch() => assert!(less > 60, "{less}"),
            "on" => eprintln!("SKIPPED: this system can't watch memory"),
            _ => assert_eq!(less, 0),
        }
    }
}
