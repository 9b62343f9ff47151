//! Programs on a GPU that is none (`c-tests/emulated_gpu`). All tests for which there has to be one are in this module, which has its folder for itself.

mod speculation;

use super::building::{built, cases, in_parallel};
use super::comparison::compare;
use super::running::Setting;
use super::tally::{Tally, conclude};
use super::turns::{on_gpu, possible_on_gpu};
use std::sync::atomic::Ordering;
use std::time::Instant;

/// The very kernels that GPUs run, and all that the runtime does around them.
#[test]
fn same_results_on_an_emulated_gpu() {
    let started = Instant::now();
    let built = built();
    let cases = cases(built);
    let tally = Tally::default();
    let failures = in_parallel(&cases, |(built, input)| compare(built, input, &on_gpu(built, input), &tally));
    // Programs that are tested by themselves don't have all turns.
    let is_all = std::env::var_os("PARAGON_TESTS").is_none();
    let met: Vec<Setting> = cases.iter().flat_map(|(built, input)| on_gpu(built, input)).collect();
    for setting in cases.iter().flat_map(|(built, input)| possible_on_gpu(built, input)) {
        assert!(met.contains(&setting) || !is_all, "{setting:?} has no turn");
    }
    let groups = tally.groups.lock().unwrap();
    let unchecked = tally.unchecked.load(Ordering::Relaxed);
    let text = format!("{}, {unchecked} unchecked, groups {:?}", tally.text(), *groups);
    assert!(unchecked > 20 || !is_all, "{text}");
    let wanted = ["[8,8]", "[4,4]", "[4,1]", "[1,4]", "[1,1]", "[1,1] deep", "[1,1] sorted"];
    for group in wanted.into_iter().filter(|_| is_all) {
        assert!(groups.get(group).is_some_and(|count| *count > 1), "{group}: {text}");
    }
    conclude("on an emulated GPU", started, &text, failures);
}
