//! How much of what could be tested is tested: a selection on every change, or all of it (`PARAGON_TESTS_WHOLE=1`, which `make test-everything`
//! sets). A selection covers: whatever kinds, settings and forms there are come up in it. It is chosen by number, the same each
//! time, so that a result depends on nothing but the code.

// No test needs all of it.
#![allow(dead_code)]

/// Whether all of it is asked for.
pub fn is_whole() -> bool {
    std::env::var_os("PARAGON_TESTS_WHOLE").is_some_and(|value| !value.is_empty() && value != "0")
}

/// How many there are of what is numbered: some of them in a selection.
pub fn selected(some: u64, all: u64) -> u64 {
    if is_whole() { all } else { some }
}

/// Whether the one with this number is tested with the other one: in a selection each of them with one in so many, and the next one with the
/// next ones.
pub fn is_tested(number: usize, other: usize, one_in: usize) -> bool {
    is_whole() || (number + other).is_multiple_of(one_in)
}

/// A number that the environment gives, or another one.
pub fn number(name: &str, otherwise: u64) -> u64 {
    std::env::var(name).ok().and_then(|value| value.parse().ok()).unwrap_or(otherwise)
}
