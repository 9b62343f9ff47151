//! From facts to a verdict with its reason.
