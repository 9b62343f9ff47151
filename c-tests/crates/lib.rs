//! Nothing of its own: the tests use C code that other crates bundle.
