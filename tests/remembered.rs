//! What decides a loop's addresses is given to a GPU as it was when it was compared with what is remembered, whatever the program's other threads
//! do to it meanwhile (`speculation::inspector::seen`). On the GPU that is none.

#[path = "support/emulated_gpu.rs"]
mod emulated_gpu;

use emulated_gpu::EmulatedGpu;
use std::path::Path;
use std::process::Command;

#[test]
fn what_is_remembered_is_what_the_gpu_gets() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let folder = tempfile::tempdir().unwrap();
    let sources = root.join("c-tests/emulated_gpu");
    let gpu = EmulatedGpu::build(&sources, &folder.path().join("gpu"));
    let build = |compiler: &str, name: &str, flags: &[&str]| {
        let executable = folder.path().join(name);
        let mut command = Command::new(compiler);
        command.args(["-std=gnu11", "-O2", "-Wall", "-Wextra"]).args(flags);
        let output = command.arg("-o").arg(&executable).arg(sources.join("remembered.c")).output().unwrap();
        assert!(output.status.success(), "{output:?}");
        executable
    };
    let reference = build("cc", "reference", &[]);
    let ours = build(env!("CARGO_BIN_EXE_paragon-cc"), "ours", &["-fparagon-threshold=1"]);
    let wanted = Command::new(reference).output().unwrap();
    assert!(wanted.status.success(), "{wanted:?}");
    let trace = folder.path().join("trace");
    let mut command = Command::new("timeout");
    command.args(["--signal=KILL", "900"]).arg(ours);
    command.env("PARAGON_DEVICE", "cuda").env("PARAGON_RACE", "device").env("PARAGON_MONITOR", "off");
    command.env("PARAGON_PATIENCE", "600000").env("PARAGON_TRACE", &trace);
    gpu.apply(&mut command);
    let output = command.output().unwrap();
    assert!(output.status.success(), "{:?} {}", output.status, String::from_utf8_lossy(&output.stderr));
    assert!(output.stdout == wanted.stdout, "other results");
    // In every entry of the loop, whether addresses were checked or not.
    assert_eq!(String::from_utf8_lossy(&output.stderr).trim(), "5");
    let text = std::fs::read_to_string(&trace).unwrap();
    let records: Vec<serde_json::Value> = text
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .filter(|r: &serde_json::Value| r["function"] == "scatter")
        .collect();
    assert_eq!(records.len(), 5, "{text}");
    assert!(records.iter().all(|r| r["decision"] == "cuda"), "{text}");
    assert!(records[1..].iter().all(|r| r["unchecked"] == true), "{text}");
}
