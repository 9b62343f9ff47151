//! What the command line says about the language: the few switches that change what a C text means to us.
//!
//! Filled by `driver::arguments`, read by lowering. Not here: switches that only change what is optimised or warned of.

/// The language that a translation unit is written in.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Dialect {
    /// `-funsigned-char`: plain `char` is unsigned.
    pub unsigned_char: bool,
    /// `-fgnu89-inline` or a standard before C99: `inline` without `static` or `extern` defines the function here.
    pub gnu89_inline: bool,
    /// `-fshort-enums`: enumerations take the smallest type that holds their values.
    pub short_enums: bool,
}
