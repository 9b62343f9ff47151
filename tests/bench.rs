//! What `make bench` makes of numbers, and how it runs programs.

use std::path::Path;
use std::process::Command;

#[test]
fn measurements_are_counted_and_run_as_they_should_be() {
    let tests = Path::new(env!("CARGO_MANIFEST_DIR")).join("benches/test_bench.py");
    let output = Command::new("python3").arg(tests).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}
