//! The C ABI of `include/paragon_rt.h`, mirrored. The header is the one place where it is written down; the test at the
//! end of this file compiles it and compares every size and offset.
//!
//! Nothing here has behaviour beyond reading the tables that a pointer and a count describe.

use std::ffi::{CStr, c_char, c_int, c_void};
use std::sync::atomic::AtomicI64;

#[allow(missing_docs)]
mod constants {
    pub const PG_ABI_VERSION: u32 = 27;
    pub const PG_ATTACH_IN_ORDER: u32 = 0x8000_0000;
    pub const PG_STACK_ROOM: u64 = 0x1_0000;
    pub const PG_STACK_LIMITED: u64 = 0x800_0000;
    pub const PG_STACK_UNLIMITED: u64 = 0x10_0000_0000;
    pub const PG_MAX_DIMS: usize = 4;
    pub const PG_RECORD_MINIMUM: u64 = 65536;
    pub const PG_TOTALS: usize = 256;
    pub const PG_TOTALS_APART: usize = 4;
    pub const PG_PARALLEL: u32 = 1;
    pub const PG_POSSIBLY_PARALLEL: u32 = 2;
    pub const PG_CHECK_NONE: u32 = 0;
    pub const PG_CHECK_PREDICATE: u32 = 1;
    pub const PG_CHECK_INSPECTOR: u32 = 2;
    pub const PG_CHECK_LOGS: u32 = 3;
    pub const PG_LOOP_MAY_ABORT: u32 = 1;
    pub const PG_LOOP_MAY_TRAP: u32 = 16_777_216;
    pub const PG_LOOP_CUDA_EXACT: u32 = 2;
    pub const PG_LOOP_DYNAMIC: u32 = 4;
    pub const PG_LOOP_DOUBTED: u32 = 8;
    pub const PG_LOOP_UPDATES: u32 = 16;
    pub const PG_LOOP_REORDERED: u32 = 32;
    pub const PG_LOOP_PART: u32 = 64;
    pub const PG_LOOP_PRIVATIZED: u32 = 128;
    pub const PG_LOOP_FREE_CALLS: u32 = 256;
    pub const PG_LOOP_GROUPS: u32 = 512;
    pub const PG_LOOP_COMMON_LOOPS: u32 = 1024;
    pub const PG_LOOP_TURNS: u32 = 2048;
    pub const PG_LOOP_SMALL: u32 = 4096;
    pub const PG_LOOP_STORES_ONCE: u32 = 8192;
    pub const PG_LOOP_KEPT: u32 = 16384;
    pub const PG_LOOP_SPREADS: u32 = 32768;
    pub const PG_LOOP_SIDE_BY_SIDE: u32 = 1048576;
    pub const PG_LOOP_SLICE_DECIDES: u32 = 262144;
    pub const PG_LOOP_REPEATS: u32 = 524288;
    pub const PG_LOOP_LONG: u32 = 65536;
    pub const PG_LOOP_DIRECT: u32 = 131_072;
    pub const PG_LOOP_MEMBERS: u32 = 2_097_152;
    pub const PG_LOOP_SHOWS_ALL: u32 = 4_194_304;
    pub const PG_LOOP_LONG_LOOPS: u32 = 8_388_608;
    pub const PG_LOOP_ONLY_SEARCHED: u32 = 33_554_432;
    pub const PG_SITE_STORE: u32 = 1;
    pub const PG_SITE_LOGGED: u32 = 2;
    pub const PG_SITE_UNCONDITIONAL: u32 = 4;
    pub const PG_SITE_EXACT: u32 = 8;
    pub const PG_SITE_LOADS_POINTER: u32 = 16;
    pub const PG_SITE_HAS_AFFINE: u32 = 32;
    pub const PG_SITE_MAY_CHANGE_PIN: u32 = 64;
    pub const PG_SITE_MAY_TOUCH_KEPT: u32 = 128;
    pub const PG_SITE_SNAPSHOT: u32 = 256;
    pub const PG_SITE_PRIVATE: u32 = 512;
    pub const PG_SITE_WHOLE_STEPS: u32 = 1024;
    pub const PG_SITE_INSPECTED: u32 = 2048;
    pub const PG_SITE_FEEDS: u32 = 4096;
    pub const PG_SITE_COVERED: u32 = 8192;
    pub const PG_SITE_HAS_WINDOW: u32 = 16384;
    pub const PG_SITE_UPDATE: u32 = 32768;
    pub const PG_SITE_WHOLE_ELEMENTS: u32 = 65536;
    pub const PG_SITE_ONLY_SEEN: u32 = 131_072;
    pub const PG_OPERATION_OF_SITE: u32 = 18;
    pub const PG_STEP_OF_SITE: u32 = 24;
    pub const PG_PAIR_ANTI: u32 = 0x100;
    pub const PG_PAIR_APART: u32 = 0x200;
    pub const PG_PIN_KEPT: u32 = 0x8000_0000;
    pub const PG_LAST: u32 = 0;
    pub const PG_ADD: u32 = 1;
    pub const PG_MUL: u32 = 2;
    pub const PG_AND: u32 = 3;
    pub const PG_OR: u32 = 4;
    pub const PG_XOR: u32 = 5;
    pub const PG_MIN: u32 = 6;
    pub const PG_MAX: u32 = 7;
    pub const PG_EXTREME: u32 = 8;
    pub const PG_FOLLOWS: u32 = 9;
    pub const PG_TAKE_LESS: u32 = 0;
    pub const PG_TAKE_LESS_OR_EQUAL: u32 = 1;
    pub const PG_TAKE_GREATER: u32 = 2;
    pub const PG_TAKE_GREATER_OR_EQUAL: u32 = 3;
    pub const PG_TAKE_UNORDERED: u32 = 4;
    pub const PG_TOOK_NAN: u64 = 1 << 63;
    pub const PG_LANES: u64 = 256;
    pub const PG_I8: u32 = 0;
    pub const PG_U8: u32 = 1;
    pub const PG_I16: u32 = 2;
    pub const PG_U16: u32 = 3;
    pub const PG_I32: u32 = 4;
    pub const PG_U32: u32 = 5;
    pub const PG_I64: u32 = 6;
    pub const PG_U64: u32 = 7;
    pub const PG_F32: u32 = 8;
    pub const PG_F64: u32 = 9;
    pub const PG_LT: u32 = 0;
    pub const PG_LE: u32 = 1;
    pub const PG_GT: u32 = 2;
    pub const PG_GE: u32 = 3;
    pub const PG_NE: u32 = 4;
    pub const PG_FROM_POINTER: u32 = 0;
    pub const PG_FROM_OBJECT: u32 = 1;
    pub const PG_FROM_NOWHERE: u32 = 2;
    pub const PG_TERM_CONSTANT: u32 = 0;
    pub const PG_TERM_SIGNED: u32 = 1;
    pub const PG_TERM_UNSIGNED: u32 = 2;
    pub const PG_TERM_ADD: u32 = 3;
    pub const PG_TERM_MUL: u32 = 4;
    pub const PG_TERM_MIN: u32 = 5;
    pub const PG_TERM_MAX: u32 = 6;
    pub const PG_TERM_ACCESS: u32 = 7;
    pub const PG_TERM_NUMBER: u32 = 8;
    pub const PG_TERM_AT_LEAST: u32 = 9;
    pub const PG_TERM_AT_MOST: u32 = 10;
    pub const PG_TERM_MAY_FAIL: u32 = 11;
    pub const PG_FAIL_WAW: u32 = 1;
    pub const PG_FAIL_RAW: u32 = 2;
    pub const PG_FAIL_RANGE: u32 = 4;
    pub const PG_FAIL_NO_ARRAY: u32 = 8;
    pub const PG_FAIL_MISALIGNED: u32 = 16;
    pub const PG_FAIL_ARITHMETIC: u32 = 32;
    pub const PG_FAIL_NAN: u32 = 64;
    pub const PG_FAIL_STOPPED: u32 = 128;
    pub const PG_FAIL_TIME: u32 = 256;
    pub const PG_TOUCH_STORE: u32 = 1;
    pub const PG_TOUCH_FEEDS: u32 = 2;
    pub const PG_TOUCH_MEETS: u32 = 4;
    pub const PG_TOUCH_UPDATE: u32 = 8;
    pub const PG_TOUCH_SEEN: u32 = 16;
    pub const PG_TOUCH_WIDTH: u32 = 8;
    pub const PG_TOUCH_KIND: u32 = 16;
    pub const PG_MANY: u32 = 0xffff_ffff;
    pub const PG_STAMP_LAST: u32 = 0;
    pub const PG_STAMP_FIRST: u32 = 1;
    pub const PG_STAMP_READER: u32 = 2;
    pub const PG_STAMP_WORDS: u32 = 1;
    pub const PG_STAMP_WORDS_READ: u32 = 4;
    pub const PG_GUESS_READER: u32 = 1;
    pub const PG_GUESS_WORDS_READ: u32 = 2;
    /// All numbers from here on that aren't `PG_MANY` stand for updates (`PG_UPDATED`), none for an iteration.
    pub const PG_UPDATES: u32 = PG_MANY - 1 - (PG_MAX * 4 + 3);
    /// `log` of a region without a log.
    pub const PG_NO_LOG: u64 = u64::MAX;
}
pub use constants::*;

/// `union __pg_value`: any scalar in eight bytes, narrower values in the low bytes.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
#[repr(transparent)]
pub struct Value(pub u64);

/// `struct __pg_site`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
#[repr(C)]
pub struct Site {
    pub base: u32,
    pub width: u32,
    pub flags: u32,
    pub line: u32,
    pub slot: u32,
}

impl Site {
    /// The site that loads the pointer which this one follows, where something is known of that.
    pub fn slot(&self) -> Option<u32> {
        self.slot.checked_sub(1)
    }
    /// Whether flag `PG_SITE_*` is set.
    pub fn has(&self, flag: u32) -> bool {
        self.flags & flag != 0
    }
    /// Of an update: its operation.
    pub fn operation(&self) -> u32 {
        self.flags >> PG_OPERATION_OF_SITE & 0x3f
    }
    /// Of an update: how much an iteration adds at most; 0: nobody knows.
    pub fn step(&self) -> u32 {
        self.flags >> PG_STEP_OF_SITE
    }
}

/// `struct __pg_pair`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
#[repr(C)]
pub struct Pair {
    pub a: u32,
    pub b: u32,
    pub check: u32,
}

/// `struct __pg_result`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
#[repr(C)]
pub struct ResultInfo {
    pub op: u32,
    pub ty: u32,
    pub how: u32,
    pub with: u32,
}

impl ResultInfo {
    /// Whether it is a floating-point sum or product: an operation whose order is part of its result.
    pub fn is_accumulated(&self) -> bool {
        matches!(self.op, PG_ADD | PG_MUL) && matches!(self.ty, PG_F32 | PG_F64)
    }
}

/// `struct __pg_base`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
#[allow(missing_docs)]
#[repr(C)]
pub struct Base {
    pub pointer: u64,
    pub object_lo: u64,
    pub object_hi: u64,
    pub dynamic: u64,
    pub snapshot: u64,
}

/// `struct __pg_access`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
#[allow(missing_docs)]
#[repr(C)]
pub struct Access {
    pub stride: [i64; PG_MAX_DIMS],
    pub lo: i64,
    pub hi: i64,
    pub first: i64,
    pub end: i64,
}

/// `struct __pg_pin`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
#[repr(C)]
pub struct Pin {
    pub address: u64,
    pub width: u32,
    pub kept: u32,
}

/// `struct __pg_dim`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
#[repr(C)]
pub struct Dim {
    pub first: u32,
    pub relation: u32,
    pub is_unsigned: u32,
    pub step: i64,
    pub low: i64,
    pub high: i64,
}

/// `struct __pg_origin`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
#[repr(C)]
pub struct Origin {
    pub kind: u32,
    pub number: u32,
    pub size: u64,
}

/// `struct __pg_term`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
#[repr(C)]
pub struct Term {
    pub op: u32,
    pub operand: i64,
}

/// `struct __pg_recipe`.
#[derive(Clone, Copy, Debug)]
#[allow(missing_docs)]
#[repr(C)]
pub struct Recipe {
    pub dims: *const Dim,
    pub origins: *const Origin,
    pub accesses: *const Access,
    pub pins: *const u32,
    pub terms: *const Term,
    pub moved: *const u32,
    pub n_terms: u32,
    pub n_moved: u32,
}

/// `struct __pg_region`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
#[allow(missing_docs)]
#[repr(C)]
pub struct Region {
    pub lo: u64,
    pub size: u64,
    pub dev: u64,
    pub log: u64,
    pub snapshot: u64,
    pub before: u64,
}

/// `struct __pg_launch`.
#[derive(Clone, Copy, Debug)]
#[allow(missing_docs)]
#[repr(C)]
pub struct RawLaunch {
    pub first: u64,
    pub end: u64,
    pub flags: u64,
    pub stop: u64,
    pub begun: u64,
    pub order: u64,
    pub sign_bit: u32,
    pub log_shift: u32,
    pub n: u64,
    pub trip: [u64; PG_MAX_DIMS],
    pub block: u64,
    pub first_row: u32,
    pub first_layer: u32,
    pub regions: u64,
    pub anchors: u64,
    pub bases: u64,
    pub values: u64,
    pub results: u64,
    pub n_regions: u32,
    pub n_bases: u32,
    pub log_method: u32,
    pub settles: u32,
    pub stamp_words: u32,
    pub guess: u32,
    pub store_bits: u32,
    pub apart: [u64; 4],
    pub wr: u64,
    pub rd: u64,
    pub total: u64,
}

/// [`RawLaunch::sign_bit`]: the bit of a number's sign, in its upper 32.
pub const SIGN_BIT: u32 = 1 << 31;

/// `struct __pg_inspector`: the part of an inspection that generated code knows.
#[derive(Clone, Copy, Debug)]
#[allow(missing_docs)]
#[repr(C)]
pub struct RawInspector {
    pub touch: unsafe extern "C" fn(*mut RawInspector, u32, u64, u32) -> c_int,
    pub next: unsafe extern "C" fn(*mut RawInspector) -> c_int,
    pub poll: unsafe extern "C" fn(*mut RawInspector) -> c_int,
    pub known: u64,
    pub first: u64,
    pub length: u64,
    pub lasting: u64,
    pub turns: u32,
    pub counts: u32,
}

/// `struct __pg_entry`.
#[derive(Clone, Copy, Debug)]
#[allow(missing_docs)]
#[repr(C)]
pub struct Entry {
    pub info: *const Info,
    pub trip: [i64; PG_MAX_DIMS],
    pub values: *mut Value,
    pub results: *mut Value,
    pub bases: *mut Base,
    pub accesses: *mut Access,
    pub pins: *mut Pin,
}

/// Type of `direct` in `struct __pg_info`.
pub type DirectFn = unsafe extern "C" fn(*const Entry, *mut Value, i64, i64);
/// Type of `device` in `struct __pg_info`.
pub type DeviceFn = unsafe extern "C" fn(*const RawLaunch, u64, u64);
/// Type of `search` in `struct __pg_info`.
pub type SearchFn = unsafe extern "C" fn(*const Entry, *const AtomicI64, i64, i64) -> i64;
/// Type of `inspect` in `struct __pg_info`.
pub type InspectFn = unsafe extern "C" fn(*const Entry, *mut RawInspector, i64, i64);

/// `struct __pg_info`.
#[derive(Clone, Copy, Debug)]
#[allow(missing_docs)]
#[repr(C)]
pub struct Info {
    pub abi: u32,
    pub verdict: u32,
    pub check: u32,
    pub flags: u32,
    pub file: *const c_char,
    pub function: *const c_char,
    pub line: u32,
    pub n_dims: u32,
    pub n_values: u32,
    pub n_results: u32,
    pub n_bases: u32,
    pub n_sites: u32,
    pub n_pairs: u32,
    pub n_pins: u32,
    pub work: u64,
    pub sites: *const Site,
    pub pairs: *const Pair,
    pub results: *const ResultInfo,
    pub cuda_body: *const *const c_char,
    pub direct: DirectFn,
    pub device: Option<DeviceFn>,
    pub recipe: *const Recipe,
    pub inspect: Option<InspectFn>,
    pub keys: *const u32,
    pub n_keys: u32,
    pub search: Option<SearchFn>,
    pub searched: *const u32,
    pub n_searched: u32,
}

/// A loop of one dimension that does nothing.
#[cfg(test)]
pub fn nothing() -> Info {
    extern "C" fn direct(_: *const Entry, _: *mut Value, _: i64, _: i64) {}
    Info {
        abi: PG_ABI_VERSION,
        verdict: PG_POSSIBLY_PARALLEL,
        check: PG_CHECK_NONE,
        flags: 0,
        file: std::ptr::null(),
        function: std::ptr::null(),
        line: 0,
        n_dims: 1,
        n_values: 0,
        n_results: 0,
        n_bases: 0,
        n_sites: 0,
        n_pairs: 0,
        n_pins: 0,
        work: 1,
        sites: std::ptr::null(),
        pairs: std::ptr::null(),
        results: std::ptr::null(),
        cuda_body: std::ptr::null(),
        direct,
        device: None,
        recipe: std::ptr::null(),
        inspect: None,
        keys: std::ptr::null(),
        n_keys: 0,
        search: None,
        searched: std::ptr::null(),
        n_searched: 0,
    }
}

// SAFETY: an Info is immutable static data of a loaded object; its pointers lead to immutable static data too.
unsafe impl Send for Info {}
// SAFETY: as above.
unsafe impl Sync for Info {}

/// A table of `count` elements; empty where the pointer is null.
///
/// # Safety
/// `start` is null or leads to `count` initialised elements that live and stay unchanged for `'a`.
unsafe fn table<'a, T>(start: *const T, count: u32) -> &'a [T] {
    if start.is_null() || count == 0 {
        return &[];
    }
    // SAFETY: promised by the caller.
    unsafe { std::slice::from_raw_parts(start, count as usize) }
}

/// A C string's text, empty for null.
///
/// # Safety
/// `text` is null or a terminated string that lives for `'a`.
unsafe fn string<'a>(text: *const c_char) -> std::borrow::Cow<'a, str> {
    if text.is_null() {
        return "".into();
    }
    // SAFETY: promised by the caller.
    unsafe { CStr::from_ptr(text) }.to_string_lossy()
}

impl Info {
    /// Whether flag `PG_LOOP_*` is set.
    pub fn has(&self, flag: u32) -> bool {
        self.flags & flag != 0
    }
    /// The accesses.
    pub fn sites(&self) -> &[Site] {
        // SAFETY: generated objects point to static tables of exactly this many elements.
        unsafe { table(self.sites, self.n_sites) }
    }
    /// Bytes of the widest element that it accesses, a power of two: where elements keep their alignment to that, all do.
    pub fn widest(&self) -> u64 {
        self.sites().iter().map(|site| u64::from(site.width)).max().unwrap_or(1).next_power_of_two()
    }
    /// The unresolved pairs.
    pub fn pairs(&self) -> &[Pair] {
        // SAFETY: as for `sites`.
        unsafe { table(self.pairs, self.n_pairs) }
    }
    /// The scalars given back.
    pub fn results(&self) -> &[ResultInfo] {
        // SAFETY: as for `sites`.
        unsafe { table(self.results, self.n_results) }
    }
    /// Whether all that it has indices of is there, and its numbers are such as the header names. What the compiler makes is; others may err.
    pub fn is_sound(&self) -> bool {
        let are_there = self.sites().len() == self.n_sites as usize
            && self.pairs().len() == self.n_pairs as usize
            && self.results().len() == self.n_results as usize
            && self.keys().len() == self.n_keys as usize
            && self.searched().len() == self.n_searched as usize;
        let is_known = |result: &ResultInfo| result.op <= PG_FOLLOWS && result.ty <= PG_F64;
        are_there
            && matches!(self.verdict, PG_PARALLEL | PG_POSSIBLY_PARALLEL)
            && self.check <= PG_CHECK_LOGS
            && (1..=PG_MAX_DIMS as u32).contains(&self.n_dims)
            && self.sites().iter().all(|s| s.base < self.n_bases && matches!(s.width, 1 | 2 | 4 | 8))
            && (0..).zip(self.sites()).all(|(number, s)| s.slot <= number)
            && self.sites().iter().all(|s| s.slot == 0 || !s.has(PG_SITE_HAS_AFFINE | PG_SITE_HAS_WINDOW))
            && self.pairs().iter().all(|pair| pair.a < self.n_sites && pair.b < self.n_sites)
            && self.results().iter().all(is_known)
            && self.keys().iter().all(|key| *key < self.n_values)
            && self.searched().iter().all(|site| *site < self.n_sites)
            && (self.search.is_some() || !self.has(PG_LOOP_ONLY_SEARCHED))
    }
    /// The sites of what a search loads.
    pub fn searched(&self) -> &[u32] {
        // SAFETY: as for `sites`.
        unsafe { table(self.searched, self.n_searched) }
    }
    /// The values that an inspection's outcome depends on.
    pub fn keys(&self) -> &[u32] {
        // SAFETY: as for `sites`.
        unsafe { table(self.keys, self.n_keys) }
    }
    /// How an entry is made of numbers.
    pub fn recipe(&self) -> Option<&Recipe> {
        // SAFETY: null, or static data of the object.
        unsafe { self.recipe.as_ref() }
    }
    /// How each dimension counts; empty without a recipe.
    pub fn dims(&self) -> &[Dim] {
        // SAFETY: as for `sites`.
        self.recipe().map_or(&[], |r| unsafe { table(r.dims, self.n_dims) })
    }
    /// Where each base comes from; empty without a recipe.
    pub fn origins(&self) -> &[Origin] {
        // SAFETY: as for `sites`.
        self.recipe().map_or(&[], |r| unsafe { table(r.origins, self.n_bases) })
    }
    /// What is known of the sites' addresses before an entry; empty without a recipe.
    pub fn known_accesses(&self) -> &[Access] {
        // SAFETY: as for `sites`.
        self.recipe().map_or(&[], |r| unsafe { table(r.accesses, self.n_sites) })
    }
    /// Width of each pin, and whether it is kept; empty without a recipe.
    pub fn pin_widths(&self) -> &[u32] {
        // SAFETY: as for `sites`.
        self.recipe().map_or(&[], |r| unsafe { table(r.pins, self.n_pins) })
    }
    /// What is computed at an entry; empty without a recipe.
    pub fn terms(&self) -> &[Term] {
        // SAFETY: as for `sites`.
        self.recipe().map_or(&[], |r| unsafe { table(r.terms, r.n_terms) })
    }
    /// The numbers that move on with dimension 0; empty without a recipe.
    pub fn moved(&self) -> &[u32] {
        // SAFETY: as for `sites`.
        self.recipe().map_or(&[], |r| unsafe { table(r.moved, r.n_moved) })
    }
    /// The user's file.
    pub fn file(&self) -> std::borrow::Cow<'_, str> {
        // SAFETY: a static string literal.
        unsafe { string(self.file) }
    }
    /// The function that the loop stands in.
    pub fn function(&self) -> std::borrow::Cow<'_, str> {
        // SAFETY: a static string literal.
        unsafe { string(self.function) }
    }
    /// The device text of the body, pieces joined; it comes after `paragon_rt.h` and `paragon_body.h`.
    pub fn cuda_text(&self) -> String {
        let mut text = String::new();
        let mut piece = self.cuda_body;
        if piece.is_null() {
            return text;
        }
        // SAFETY: generated objects end this static array of static strings with a null pointer.
        unsafe {
            while !(*piece).is_null() {
                text.push_str(&string(*piece));
                piece = piece.add(1);
            }
        }
        text
    }
}

impl Entry {
    /// Whether it has each of the tables that a loop with these facts has.
    pub fn is_complete(&self, info: &Info) -> bool {
        [
            (info.n_values, self.values.is_null()),
            (info.n_results, self.results.is_null()),
            (info.n_bases, self.bases.is_null()),
            (info.n_sites, self.accesses.is_null()),
            (info.n_pins, self.pins.is_null()),
        ]
        .into_iter()
        .all(|(count, is_null)| count == 0 || !is_null)
    }
    /// Entry-time bases.
    ///
    /// # Safety
    /// The entry was filled in by generated code for `info` and is alive.
    pub unsafe fn bases(&self, info: &Info) -> &[Base] {
        // SAFETY: promised by the caller.
        unsafe { table(self.bases, info.n_bases) }
    }
    /// Entry-time addresses of the sites.
    ///
    /// # Safety
    /// As for [`Entry::bases`].
    pub unsafe fn accesses(&self, info: &Info) -> &[Access] {
        // SAFETY: promised by the caller.
        unsafe { table(self.accesses, info.n_sites) }
    }
    /// Memory that must not change.
    ///
    /// # Safety
    /// As for [`Entry::bases`].
    pub unsafe fn pins(&self, info: &Info) -> &[Pin] {
        // SAFETY: promised by the caller.
        unsafe { table(self.pins, info.n_pins) }
    }
    /// Live-ins and invariants.
    ///
    /// # Safety
    /// As for [`Entry::bases`].
    pub unsafe fn values(&self, info: &Info) -> &[Value] {
        // SAFETY: promised by the caller.
        unsafe { table(self.values, info.n_values) }
    }
    /// Values at entry of the scalars given back.
    ///
    /// # Safety
    /// As for [`Entry::bases`].
    pub unsafe fn results(&self, info: &Info) -> &[Value] {
        // SAFETY: promised by the caller.
        unsafe { table(self.results, info.n_results) }
    }
}

/// `struct __pg_loop`.
#[derive(Debug)]
#[allow(missing_docs)]
#[repr(C)]
pub struct Loop {
    pub threshold: std::sync::atomic::AtomicI64,
    pub info: *const Info,
    pub state: std::sync::atomic::AtomicUsize,
    pub stays: std::sync::atomic::AtomicU32,
}

impl Loop {
    /// Whether this library can make anything of an entry. The facts of a loop are looked at until it has a number: they never change.
    pub fn is_served(&self, info: &Info, entry: &Entry) -> bool {
        use std::sync::atomic::Ordering;
        info.abi == PG_ABI_VERSION
            && entry.is_complete(info)
            && (self.state.load(Ordering::Relaxed) != 0 || info.is_sound())
    }
    /// A number of its own. Addresses are not: another object may be loaded where one was unloaded.
    pub fn key(&self) -> usize {
        use std::sync::atomic::{AtomicUsize, Ordering};
        static NEXT: AtomicUsize = AtomicUsize::new(1);
        match self.state.load(Ordering::Relaxed) {
            0 => {
                let new = NEXT.fetch_add(1, Ordering::Relaxed);
                match self.state.compare_exchange(0, new, Ordering::Relaxed, Ordering::Relaxed) {
                    Ok(_) => new,
                    Err(known) => known,
                }
            }
            known => known,
        }
    }
}

/// `struct __pg_part`.
#[derive(Clone, Copy, Debug)]
#[allow(missing_docs)]
#[repr(C)]
pub struct Part {
    pub the_loop: *mut Loop,
    pub numbers: *mut Value,
}

/// `struct __pg_api`.
#[derive(Clone, Copy, Debug)]
#[allow(missing_docs)]
#[repr(C)]
pub struct Api {
    pub abi: u32,
    pub start: extern "C" fn(*mut Loop, *mut Value) -> c_int,
    pub enter: extern "C" fn(*mut Loop, *mut Entry) -> c_int,
    pub start_parts: extern "C" fn(*const Part, u32) -> c_int,
    pub allocated: extern "C" fn(*mut c_void, u64),
    pub freed: extern "C" fn(*mut c_void),
    pub object: extern "C" fn(*mut c_void, u64),
}

/// What each bit of a launch's failure says, for traces.
pub fn failure_words(fail: u32) -> Vec<&'static str> {
    [
        (PG_FAIL_WAW, "write-write"),
        (PG_FAIL_RAW, "read-write"),
        (PG_FAIL_RANGE, "out of range"),
        (PG_FAIL_NO_ARRAY, "no array"),
        (PG_FAIL_MISALIGNED, "misaligned"),
        (PG_FAIL_ARITHMETIC, "arithmetic"),
        (PG_FAIL_NAN, "NaN"),
        (PG_FAIL_STOPPED, "stopped"),
        (PG_FAIL_TIME, "too long"),
    ]
    .into_iter()
    .filter(|(bit, _)| fail & bit != 0)
    .map(|(_, word)| word)
    .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::mem::{offset_of, size_of};

    /// Size of a mirrored struct and offset of each of its fields, as C assertions.
    macro_rules! layout {
        ($out:ident, $mirror:ty, $c:literal, [$($field:ident = $name:literal),* $(,)?]) => {
            $out.push(format!("sizeof(struct __pg_{}) == {}", $c, size_of::<$mirror>()));
            $($out.push(format!(
                "__builtin_offsetof(struct __pg_{}, {}) == {}", $c, $name, offset_of!($mirror, $field)
            ));)*
        };
        ($out:ident, $mirror:ty, $c:literal, [$($field:ident),* $(,)?]) => {
            $out.push(format!("sizeof(struct __pg_{}) == {}", $c, size_of::<$mirror>()));
            $($out.push(format!(
                "__builtin_offsetof(struct __pg_{}, {}) == {}", $c, stringify!($field), offset_of!($mirror, $field)
            ));)*
        };
    }

    #[test]
    fn mirrors_the_header() {
        let mut checks: Vec<String> = Vec::new();
        layout!(checks, Site, "site", [base, width, flags, line]);
        layout!(checks, Pair, "pair", [a, b, check]);
        layout!(checks, ResultInfo, "result", [op = "op", ty = "type", how = "how", with = "with"]);
        layout!(checks, Base, "base", [pointer, object_lo, object_hi, dynamic, snapshot]);
        layout!(checks, Access, "access", [stride, lo, hi, first, end]);
        layout!(checks, Pin, "pin", [address, width, kept]);
        layout!(checks, Dim, "dim", [first, relation, is_unsigned, step, low, high]);
        layout!(checks, Origin, "origin", [kind, number, size]);
        layout!(checks, Term, "term", [op, operand]);
        layout!(checks, Recipe, "recipe", [dims, origins, accesses, pins, terms, moved, n_terms, n_moved]);
        layout!(checks, Region, "region", [lo, size, dev, log, snapshot, before]);
        layout!(checks, Entry, "entry", [info, trip, values, results, bases, accesses, pins]);
        layout!(
            checks,
            RawLaunch,
            "launch",
            [
                n,
                trip,
                regions,
                anchors,
                bases,
                values,
                results,
                flags,
                stop,
                begun,
                wr,
                rd,
                total,
                n_regions,
                n_bases,
                log_shift,
                log_method,
                order,
                block,
                first,
                end,
                first_row,
                first_layer,
                settles,
                stamp_words,
                guess,
                store_bits,
                sign_bit,
                apart
            ]
        );
        layout!(
            checks,
            RawInspector,
            "inspector",
            [touch, next, poll, known, first, length, lasting, turns, counts]
        );
        layout!(
            checks,
            Info,
            "info",
            [
                abi, verdict, check, flags, file, function, line, n_dims, n_values, n_results, n_bases,
                n_sites, n_pairs, n_pins, work, sites, pairs, results, cuda_body, direct, device, recipe,
                inspect, keys, n_keys, search, searched, n_searched
            ]
        );
        layout!(
            checks,
            Loop,
            "loop",
            [threshold = "__pg_threshold", info = "info", state = "state", stays = "__pg_stays"]
        );
        layout!(checks, Part, "part", [the_loop, numbers]);
        layout!(checks, Api, "api", [abi, start, enter, start_parts, allocated, freed, object]);
        checks.push(format!("sizeof(__pg_value) == {}", size_of::<Value>()));
        macro_rules! constants {
            ($($name:ident)*) => { $(checks.push(format!("{} == {}", stringify!($name), $name));)* };
        }
        constants!(PG_ABI_VERSION PG_ATTACH_IN_ORDER PG_STACK_ROOM PG_STACK_LIMITED PG_STACK_UNLIMITED PG_MAX_DIMS PG_RECORD_MINIMUM PG_TOTALS PG_TOTALS_APART PG_PARALLEL PG_POSSIBLY_PARALLEL PG_CHECK_NONE PG_CHECK_PREDICATE
            PG_CHECK_INSPECTOR PG_CHECK_LOGS PG_LOOP_MAY_ABORT PG_LOOP_MAY_TRAP PG_LOOP_CUDA_EXACT PG_LOOP_DYNAMIC PG_LOOP_DOUBTED PG_SITE_STORE
            PG_SITE_LOGGED PG_SITE_UNCONDITIONAL PG_SITE_EXACT PG_SITE_LOADS_POINTER PG_SITE_HAS_AFFINE PG_SITE_MAY_CHANGE_PIN PG_SITE_MAY_TOUCH_KEPT PG_SITE_SNAPSHOT PG_PAIR_ANTI PG_PAIR_APART PG_PIN_KEPT PG_LAST PG_ADD
            PG_MUL PG_AND PG_OR PG_XOR PG_MIN PG_MAX PG_EXTREME PG_FOLLOWS PG_TAKE_LESS PG_TAKE_LESS_OR_EQUAL PG_TAKE_GREATER
            PG_TAKE_GREATER_OR_EQUAL PG_TAKE_UNORDERED PG_TOOK_NAN PG_LANES PG_I8 PG_U8 PG_I16 PG_U16 PG_I32 PG_U32 PG_I64 PG_U64 PG_F32
            PG_F64 PG_LT PG_LE PG_GT PG_GE PG_NE PG_FROM_POINTER PG_FROM_OBJECT PG_FROM_NOWHERE PG_TERM_CONSTANT
            PG_TERM_SIGNED PG_TERM_UNSIGNED PG_TERM_ADD PG_TERM_MUL PG_TERM_MIN PG_TERM_MAX PG_TERM_ACCESS PG_TERM_NUMBER
            PG_TERM_AT_LEAST PG_TERM_AT_MOST PG_TERM_MAY_FAIL PG_SITE_HAS_WINDOW PG_FAIL_WAW PG_FAIL_RAW PG_FAIL_RANGE PG_FAIL_NO_ARRAY PG_FAIL_MISALIGNED PG_FAIL_ARITHMETIC
            PG_FAIL_NAN PG_FAIL_STOPPED PG_FAIL_TIME PG_MANY PG_STAMP_LAST PG_STAMP_FIRST PG_STAMP_READER PG_STAMP_WORDS PG_STAMP_WORDS_READ PG_GUESS_READER PG_GUESS_WORDS_READ PG_TOUCH_STORE PG_TOUCH_FEEDS PG_TOUCH_MEETS PG_TOUCH_UPDATE PG_TOUCH_WIDTH PG_TOUCH_KIND PG_LOOP_UPDATES
            PG_LOOP_REORDERED PG_LOOP_PART PG_LOOP_PRIVATIZED PG_LOOP_FREE_CALLS PG_LOOP_GROUPS
            PG_LOOP_COMMON_LOOPS PG_LOOP_TURNS PG_LOOP_SMALL PG_LOOP_STORES_ONCE PG_LOOP_KEPT PG_LOOP_SPREADS PG_LOOP_SIDE_BY_SIDE PG_LOOP_SLICE_DECIDES PG_LOOP_REPEATS PG_LOOP_LONG PG_LOOP_DIRECT PG_LOOP_MEMBERS PG_LOOP_SHOWS_ALL PG_LOOP_LONG_LOOPS PG_LOOP_ONLY_SEARCHED PG_SITE_WHOLE_ELEMENTS PG_SITE_ONLY_SEEN PG_TOUCH_SEEN PG_SITE_PRIVATE PG_SITE_WHOLE_STEPS PG_SITE_INSPECTED PG_SITE_FEEDS PG_SITE_COVERED PG_SITE_UPDATE PG_OPERATION_OF_SITE PG_STEP_OF_SITE);
        use crate::device::LogMethod;
        for (name, method) in [
            ("NONE", LogMethod::None),
            ("MARK", LogMethod::Mark),
            ("ATOMIC", LogMethod::Atomic),
            ("REDUCTION", LogMethod::Reduction),
            ("BITMAP", LogMethod::Bitmap),
            ("STAMP", LogMethod::Stamp),
        ] {
            checks.push(format!("PG_LOG_{name} == {}", method as u32));
        }
        use crate::device::Guess;
        for (name, guess) in [
            ("NONE", Guess::None),
            ("LOOKING", Guess::Looking),
            ("COUNTING", Guess::Counting),
            ("RANGE", Guess::Range),
        ] {
            checks.push(format!("PG_GUESS_{name} == {}", guess as u32));
        }
        checks.push(format!("PG_UPDATED(PG_MAX, 8) == {PG_UPDATES}u"));
        let mut text = String::from(include_str!("../include/paragon_rt.h"));
        // None is left out. These two are no numbers.
        let compared = checks.join(" ");
        let is_word = |c: char| c.is_ascii_alphanumeric() || c == '_';
        let words = |text: &str| -> std::collections::BTreeSet<String> {
            text.split(|c| !is_word(c)).filter(|word| word.starts_with("PG_")).map(str::to_owned).collect()
        };
        let code: String =
            text.split("/*").map(|part| part.rsplit_once("*/").map_or(part, |(_, code)| code)).collect();
        let left_out: Vec<String> = words(&code).difference(&words(&compared)).cloned().collect();
        assert_eq!(left_out, ["PG_ATTACH_SYMBOL", "PG_UPDATE_KIND"]);
        for check in checks {
            text.push_str(&format!("_Static_assert({check}, \"\");\n"));
        }
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("check.c");
        std::fs::write(&file, text).unwrap();
        let status = std::process::Command::new("cc").arg("-fsyntax-only").arg(&file).status().unwrap();
        assert!(status.success());
    }

    #[test]
    fn flags_of_loops_and_sites_are_bits_of_their_own() {
        let text = include_str!("../include/paragon_rt.h");
        for kind in ["PG_LOOP_", "PG_SITE_"] {
            let number = |line: &str| {
                let (_, rest) = line.trim_start().strip_prefix(kind)?.split_once(" = ")?;
                rest[..rest.find(|c: char| !c.is_ascii_digit())?].parse::<u32>().ok()
            };
            let numbers: Vec<u32> = text.lines().filter_map(number).collect();
            assert!(numbers.len() > 10 && numbers.iter().all(|n| n.is_power_of_two()), "{kind}: {numbers:?}");
            let all = numbers.iter().fold(0, |all, n| all | n);
            assert_eq!(all.count_ones() as usize, numbers.len(), "{kind}: {numbers:?}");
        }
    }
}
