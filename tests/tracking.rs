//! Loops whose indices are watched rather than compared (`memory::tracking`): whatever changes them is noticed, and the emulated GPU, which takes
//! indices from what the runtime remembers of them, computes what cc's program does.

use serde_json::Value;
use std::path::Path;
use std::process::Command;
#[path = "support/emulated_gpu.rs"]
mod emulated_gpu;
use emulated_gpu::EmulatedGpu;

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
            .env("PARAGON_PATIENCE", "60000")
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
    }
}
