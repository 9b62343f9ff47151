//! That `scripts/mutations` breaks what it names: a text that changes takes its mutations with it, and a hunt, which takes an hour, runs too seldom to tell.

use std::process::Command;

#[test]
fn every_mutation_changes_its_text() {
    let hunt = concat!(env!("CARGO_MANIFEST_DIR"), "/scripts/mutation-hunt");
    let output =
        Command::new(hunt).env("APPLY", "only").env_remove("ONLY").env_remove("KIND").output().unwrap();
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(
        output.status.success() && output.stderr.is_empty(),
        "{said}{}",
        String::from_utf8_lossy(&output.stderr)
    );
}
