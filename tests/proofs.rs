//! What an entry proves by itself: loops that run in place because nothing needs to be checked while they do, without an inspection and without logs. Results say nothing
//! about that, since what isn't proven is checked, or runs as it stands.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::process::Command;

#[test]
fn rows_of_tables_are_proven_apart() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let source = root.join("c-tests/features/row_tables.c");
    let folder = tempfile::tempdir().unwrap();
    let program = folder.path().join("row_tables");
    let built = Command::new(env!("CARGO_BIN_EXE_paragon-cc"))
        .args(["-O2", "-fparagon-threshold=1"])
        .arg(&source)
        .arg("-o")
        .arg(&program)
        .output()
        .unwrap();
    assert!(built.status.success(), "{built:?}");
    let text = std::fs::read_to_string(&source).unwrap();
    let named = (1u64..).zip(text.lines()).filter_map(|(number, line)| {
        let (_, rest) = line.split_once("/* loop ")?;
        Some((number, rest.split_once(" */")?.0))
    });
    let named: BTreeMap<u64, &str> = named.collect();
    // The loops each of whose entries is proven; the loop itself, or the one inside of it that runs instead.
    let proven = |input: &str| {
        let trace = folder.path().join(input);
        let run = Command::new(&program)
            .args(["--size", "37", "--input", input])
            .env("PARAGON_TRACE", &trace)
            .envs([("PARAGON_DEVICE", "threads"), ("PARAGON_THREADS", "2"), ("PARAGON_RACE", "device")])
            .envs([("PARAGON_INSPECTIONS", "off"), ("PARAGON_HISTORY", "off")])
            .output()
            .unwrap();
        assert!(run.status.success(), "{run:?}");
        let mut entries: BTreeMap<&str, bool> = BTreeMap::new();
        for record in std::fs::read_to_string(&trace).unwrap().lines() {
            let record: serde_json::Value = serde_json::from_str(record).unwrap();
            if let Some(name) = named.get(&record["line"].as_u64().unwrap()) {
                *entries.entry(name).or_insert(true) &= record["why"] == "proven parallel, in place";
            }
        }
        let proven = entries.into_iter().filter(|(_, is_proven)| *is_proven);
        proven.map(|(name, _)| name).collect::<BTreeSet<&str>>()
    };
    let all =
        ["column", "counts", "cube", "forces", "grown", "layers", "picture", "product", "some", "sweep"];
    for input in ["clean", "backwards", "packed", "absent"] {
        assert_eq!(proven(input), BTreeSet::from(all), "{input}");
    }
    // All others store to a row that two slots lead to; `sweep` loads from two that are one, and `column` has all rows of one table.
    assert_eq!(proven("shared"), BTreeSet::from(["column", "grown", "sweep"]));
    // Those of these that leave the ends of their rows alone have nothing in common.
    assert_eq!(proven("touching"), BTreeSet::from(["cube", "forces", "layers", "picture", "sweep"]));
    // A table that the loop makes as it goes isn't known at entry (`build`), and bounds that lie in a row may be stored to.
    let others: BTreeSet<&str> = all.into_iter().filter(|name| *name != "grown").collect();
    assert_eq!(proven("inside"), others);
}
