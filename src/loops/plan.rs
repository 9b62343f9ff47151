//! What analysis hands to code generation and to `explain`: one [`LoopReport`] per loop, with a [`LoopPlan`] where the
//! loop can be run on a device.
//!
//! A plan is a value that carries its evidence. Code generation decides nothing: which accesses are logged, which
//! pairs are tested at entry, which scalars are private, all stands here. Values that are known only at loop entry are
//! [`Bound`] expressions over live-in scalars; generated code evaluates them in 64-bit arithmetic that notices
//! overflow (an overflow means: the loop runs as it stood).

use super::carried::Prelude;
use crate::c::hir::{BinOp, Expr, IntKind, LoopId, LoopStmt, Place, PlaceId, Span, VarId};
use crate::loops::reason::Reason;
use std::collections::{BTreeMap, BTreeSet};

/// Most dimensions that are merged into one iteration space. The C ABI has the same number (`PG_MAX_DIMS`).
pub const MAX_DIMS: usize = 4;

/// The chapter's three classes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[allow(missing_docs)]
pub enum Verdict {
    Parallel,
    PossiblyParallel,
    Sequential,
}

/// How a possibly-parallel loop is checked.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Check {
    /// Nothing to check.
    None,
    /// Numbers known at entry decide (address ranges, strides).
    Predicate,
    /// The addresses that iterations touch are computed before the loop runs; where that can't be done, they are logged.
    Inspector,
    /// Accesses are logged while the loop runs, then the logs are checked.
    Logs,
}

impl Check {
    /// Orders checks by what they cost at run time.
    pub fn cost(self) -> u32 {
        match self {
            Check::None => 0,
            Check::Predicate => 1,
            Check::Inspector => 2,
            Check::Logs => 3,
        }
    }
}

/// The outcome for one loop, in the words that `explain` prints.
#[derive(Clone, Debug)]
#[allow(missing_docs)]
pub struct LoopReport {
    pub id: Option<LoopId>,
    pub file: String,
    pub line: u32,
    /// Its keyword.
    pub span: Span,
    pub function: String,
    pub verdict: Verdict,
    pub check: Check,
    /// Why, so that a programmer can act on it.
    pub reason: Reason,
    /// Present for parallel and possibly-parallel loops that code can be generated for.
    pub plan: Option<Box<LoopPlan>>,
    /// How long it took to find out. No report says so: it is never the same twice.
    pub took: std::time::Duration,
}

/// A number known at loop entry, over the values that live-in variables then have.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
#[allow(missing_docs)]
pub enum Bound {
    Const(i64),
    /// Value of a live-in integer expression (an index into [`LoopPlan::invariants`]), as a 64-bit signed number.
    Value(usize),
    Add(Box<Bound>, Box<Bound>),
    Mul(Box<Bound>, Box<Bound>),
    Min(Box<Bound>, Box<Bound>),
    Max(Box<Bound>, Box<Bound>),
}

impl Bound {
    /// Whether it is a multiple of `of` whatever the values are.
    pub fn is_multiple(&self, of: i64) -> bool {
        match self {
            _ if of == 1 => true,
            Bound::Const(c) => c % of == 0,
            Bound::Value(_) => false,
            Bound::Mul(a, b) => a.is_multiple(of) || b.is_multiple(of),
            Bound::Add(a, b) | Bound::Min(a, b) | Bound::Max(a, b) => a.is_multiple(of) && b.is_multiple(of),
        }
    }
}

/// One dimension of the iteration space. Iteration `k` of `trip` has induction variable `first + k*step`.
#[derive(Clone, Debug)]
pub struct Dim {
    /// The loop statement.
    pub loop_id: LoopId,
    /// The induction variable; a pointer induction variable is stepped in bytes.
    pub iv: VarId,
    /// Whether it is a counter of ours, which the body knows nothing of.
    pub is_counter: bool,
    /// Whether the variable is declared in the loop's own first clause (then it is dead afterwards).
    pub iv_local: bool,
    /// Integer kind of the induction variable; `None` for pointers.
    pub iv_kind: Option<IntKind>,
    /// Its first value: a loop-invariant expression, evaluated at entry. Pointers: the pointer value.
    pub first: Expr,
    /// What is added each time (never 0; bytes for pointers).
    pub step: i64,
    /// How far an iteration goes in the units of strides: `step`; where `iv` is a counter of ours, the size of `step`, or 1.
    pub distance: i64,
    /// The value it is compared with: a loop-invariant expression.
    pub limit: Expr,
    /// `iv REL limit` continues the loop, after normalising the variable to the left.
    pub relation: Relation,
}

/// What a loop's first clause sets besides its induction variable.
#[derive(Clone, Debug)]
pub struct Start {
    /// The variable.
    pub var: VarId,
    /// Its value, in terms of what variables hold before the loop.
    pub value: Expr,
    /// Whether it is declared there: then it has no name outside of the loop.
    pub declared: bool,
}

/// The comparisons of counted loops.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[allow(missing_docs)]
pub enum Relation {
    Lt,
    Le,
    Gt,
    Ge,
    Ne,
}

impl Relation {
    /// The operator.
    pub fn c_name(self) -> &'static str {
        match self {
            Relation::Lt => "<",
            Relation::Le => "<=",
            Relation::Gt => ">",
            Relation::Ge => ">=",
            Relation::Ne => "!=",
        }
    }

    /// Of a comparison by order; `flipped`: what is compared stands on the right.
    pub fn of_order(op: BinOp, flipped: bool) -> Option<Relation> {
        Some(match (op, flipped) {
            (BinOp::Lt, false) | (BinOp::Gt, true) => Relation::Lt,
            (BinOp::Le, false) | (BinOp::Ge, true) => Relation::Le,
            (BinOp::Gt, false) | (BinOp::Lt, true) => Relation::Gt,
            (BinOp::Ge, false) | (BinOp::Le, true) => Relation::Ge,
            _ => return None,
        })
    }
}

/// What becomes of a scalar variable that the loop assigns.
#[derive(Clone, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum ScalarRole {
    /// The induction variable of `dims[i]`. Its value after the loop is restored when `live_out`.
    Induction { dim: usize, live_out: bool },
    /// Another induction variable: every iteration moves it once by `step` (bytes for pointers), so iteration `k` starts
    /// with the value at entry plus `k * step`; 0 where only the first clause sets it. Only in plans of one dimension.
    Secondary { step: Bound },
    /// Written in each iteration before it is read. With `last_value`, the last iteration's value is needed after the
    /// loop (then every iteration assigns it on every path).
    Private { last_value: bool },
    /// Only ever combined by one associative and commutative operation; `kind` is the variable's type.
    Reduction { op: ReductionOp, kind: IntKind },
    /// The same over floating-point numbers, where rounding makes the order part of the result and the user has given it
    /// free; `op` is a sum or a product.
    Accumulation { op: ReductionOp },
    /// Only ever replaced by what compares with it in one way, so that it ends as the least or greatest of these values, and
    /// as the first or last one among equals.
    Extreme { taking: Taking },
    /// Assigned exactly where an extreme is: its value after the loop comes from the same iteration.
    Companion { of: VarId },
}

/// When an extreme takes a new value: `new relation old`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Taking {
    /// One of `Lt`, `Le`, `Gt` and `Ge`.
    pub relation: Relation,
    /// Also where one of them is a NaN, because the condition is a negated comparison.
    pub unordered: bool,
}

impl ScalarRole {
    /// Whether the variable's value after the loop is something that the loop computes in its iterations.
    pub fn is_result(&self) -> bool {
        matches!(
            self,
            ScalarRole::Reduction { .. }
                | ScalarRole::Accumulation { .. }
                | ScalarRole::Extreme { .. }
                | ScalarRole::Companion { .. }
                | ScalarRole::Private { last_value: true }
        )
    }
    /// Whether it is computed in parts of the iterations, which are put together in order.
    pub fn is_in_parts(&self) -> bool {
        matches!(self, ScalarRole::Accumulation { .. } | ScalarRole::Extreme { .. })
    }
    /// Whether the loop goes on from the value that the variable has before it.
    pub fn goes_on(&self) -> bool {
        self.is_result() && *self != (ScalarRole::Private { last_value: true })
    }
}

/// Operations that reductions may have. All are exact on wrapping integers in any order.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[allow(missing_docs)]
pub enum ReductionOp {
    Add,
    Mul,
    And,
    Or,
    Xor,
    Min,
    Max,
}

/// A store that combines what is there with a value, by an operation whose order doesn't matter; see `loops::updates`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Update {
    /// The operation, on wrapping integers of the place's width.
    pub op: ReductionOp,
    /// Where the old value is loaded: the same place, or another occurrence of it.
    pub load: PlaceId,
    /// What it adds, where that is always the same small positive number and an iteration adds it at most once; otherwise 0.
    pub step: u8,
}

/// Index into [`LoopPlan::bases`].
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct BaseId(pub u32);
/// Index into [`LoopPlan::sites`].
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct SiteId(pub u32);

/// Where a group of accesses starts.
#[derive(Clone, Debug)]
#[allow(missing_docs)]
pub enum Base {
    /// A named object with known extent: an array, struct or global scalar.
    Object { var: VarId, size: u64 },
    /// The value that a loop-invariant pointer variable has at entry. For pointer induction variables: its first
    /// value.
    Pointer { var: VarId },
    /// The value of a loop-invariant pointer expression, read at entry (`s->row`, `m.v`). It is read unconditionally
    /// by the first iteration, and `pinned` lists what it was read from.
    Invariant { value: usize },
    /// No loop-invariant base: each access finds its array by itself.
    Dynamic,
}

/// One load or store of memory in the loop body.
#[derive(Clone, Debug)]
pub struct Site {
    /// The place in the typed tree.
    pub place: PlaceId,
    /// Where it stands, for reasons.
    pub span: Span,
    /// Its base.
    pub base: BaseId,
    /// Width in bytes: 1, 2, 4 or 8.
    pub width: u32,
    /// Whether it writes. A read-modify-write has two sites with one place.
    pub is_store: bool,
    /// Whether what it reads is a pointer that the loop then follows.
    pub loads_pointer: bool,
    /// Whether every iteration executes it (no condition, no inner loop that may be empty, in the way).
    pub unconditional: bool,
    /// Its addresses, where they are affine in the dimensions.
    pub affine: Option<Affine>,
    /// Where they lie otherwise, if that is known.
    pub window: Option<Window>,
    /// How they lie behind a pointer that an element of another array holds, where the base is [`Base::Dynamic`].
    pub row: Option<Row>,
    /// Whether all that its pointer is made of moves it from its base by multiples of the width.
    pub whole_elements: bool,
    /// Stores: whether it may change a pinned word for all that is known before the entry. Where its address isn't affine,
    /// only an inspection can tell.
    pub may_change_pin: bool,
    /// Whether it may touch a place that the loop keeps in a variable, for all that is known before the entry.
    pub may_touch_kept: bool,
    /// Loads: whether it may be made from a snapshot, a copy of the array as it was before the loop. Every store that could hit
    /// what it loads in its own iteration or an earlier one is in a pair with it, so the entry knows whether the snapshot
    /// has what it would find.
    pub may_use_snapshot: bool,
    /// Whether accesses must be logged when the loop is speculated (it takes part in an unresolved pair, and is no
    /// load that the same iteration's unconditional store to the same address stands for).
    pub logged: bool,
    /// Whether it is such a load. Stamps, to which two writers are no conflict, need to know it all the same.
    pub covered: bool,
}

/// Byte offsets from the base: `sum(stride[d] * distance[d] * k[d]) + [lo, hi)` covers all that iteration `k` touches through the
/// site, width included, inner loops included.
#[derive(Clone, Debug)]
#[allow(missing_docs)]
pub struct Affine {
    /// One per dimension, in bytes per unit of [`Dim::distance`]: an iteration moves the address by their product.
    pub strides: Vec<Bound>,
    pub lo: Bound,
    pub hi: Bound,
    /// What all iterations together stay in, where that is less than strides and window say: an inner loop's range depends on
    /// the dimensions, so that the window's ends move in other ways.
    pub hull: Option<(Bound, Bound)>,
    /// Whether an iteration touches every byte of the window exactly (so that a dense store needs no write marks).
    pub exact: bool,
    /// Whether everything that moves the address moves it by multiples of the width, so that aligned once is aligned always; and
    /// whether it is this address even where a device leaves inner loops early.
    pub whole_steps: bool,
}

/// Where an access lies whose addresses aren't affine, as far as the ranges of its subscripts say: see `loops::access`. An iteration touches
/// some of it.
#[derive(Clone, Debug)]
pub struct Window {
    /// Never exact.
    pub affine: Affine,
    /// What it is only true under. An entry whose numbers don't fulfil it knows nothing of the access, and runs all the same.
    pub assumptions: Vec<Assumption>,
}

/// An access to a row of a table of pointers (`a[i][j]` of `double **a`). What the table holds only an entry can see, and whether its rows are
/// disjoint: then accesses meet only where their slots are the same, and their offsets.
#[derive(Clone, Debug)]
pub struct Row {
    /// The load of the pointer, which is affine or in a row itself.
    pub slot: SiteId,
    /// Byte offsets from where that pointer leads.
    pub offset: Affine,
}

/// Two accesses (or one with itself) that compile time could not keep apart across iterations; at least one stores.
#[derive(Clone, Debug)]
#[allow(missing_docs)]
pub struct Pair {
    pub a: SiteId,
    pub b: SiteId,
    /// `Predicate` (both affine) or `Logs`.
    pub check: Check,
    /// Whether only anti dependences join them: `b` is a load, and where it meets the store it does so in an earlier
    /// iteration. A snapshot settles it.
    pub is_anti: bool,
    /// Whether they may not meet in one iteration either.
    pub is_apart: bool,
}

/// A memory word that the plan relies on staying as it was at entry: a bound or base read from memory. Neither a device nor
/// the worker would notice a change, so no store may hit it: that is shown at compile time, or at entry by addresses.
#[derive(Clone, Debug)]
pub struct Pinned {
    /// Address expression, evaluated at entry.
    pub address: Expr,
    /// Bytes.
    pub width: u32,
    /// Whether it is a place that the loop keeps in a variable: then nothing else in the loop may touch it at all.
    pub is_kept: bool,
}

/// A place in memory that the loop keeps in a variable.
#[derive(Clone, Debug)]
pub struct Kept {
    /// The variable, which the program doesn't have.
    pub var: VarId,
    /// Index of the place in [`LoopPlan::pinned`].
    pub pin: usize,
    /// The place.
    pub place: Place,
}

/// A nest of which an inner loop runs outermost; see `loops::interchange`.
#[derive(Clone, Debug)]
pub struct Interchange {
    /// The loops that it was brought over, outermost first.
    pub over: Vec<MovedOver>,
    /// In the nest as it is run: the innermost of those. Its body is that of the loop that was brought outermost.
    pub innermost_over: LoopId,
    /// Where the loop that was brought outermost is written.
    pub line: u32,
}

/// A loop that another one was brought over.
#[derive(Clone, Debug)]
pub struct MovedOver {
    /// Its first test, in terms of what variables hold before the nest.
    pub test: Expr,
    /// See [`Dim`].
    pub first: Expr,
    /// See [`Dim`].
    pub limit: Expr,
    /// See [`Dim`].
    pub step: i64,
    /// See [`Dim`].
    pub relation: Relation,
}

/// Arrays that each thread has a copy of while it runs iterations; see `loops::privatization`.
#[derive(Clone, Debug, Default)]
pub struct Privatization {
    /// All accesses through these bases go to the copy.
    pub bases: BTreeSet<BaseId>,
    /// Sites (one of such a base) that must touch nothing in common in any iterations, the same one included: the entry
    /// compares their addresses.
    pub separate: BTreeSet<(SiteId, SiteId)>,
}

/// Something that must hold at entry for the affine forms to be true.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Assumption {
    /// `lo ..= hi` must lie within the values of `kind` (no wrap-around of narrower or unsigned arithmetic).
    pub lo: Bound,
    /// See `lo`.
    pub hi: Bound,
    /// The type whose range is meant.
    pub kind: IntKind,
}

/// The address slice of a body: what an inspection executes, and what its outcome depends on. See `analysis::slice`.
#[derive(Clone, Debug, Default)]
pub struct Inspection {
    /// The accesses whose addresses are wanted: those of unresolved pairs.
    pub meeting: BTreeSet<SiteId>,
    /// Further stores, which may change what a load of the slice loads afterwards, or what bounds were read from.
    pub changing: BTreeSet<SiteId>,
    /// Loads whose value decides addresses, or whether there is an access.
    pub feeding: BTreeSet<PlaceId>,
    /// The scalars that do.
    pub variables: BTreeSet<VarId>,
    /// The [`LoopPlan::invariants`] that do.
    pub invariants: BTreeSet<usize>,
    /// Whether floating-point arithmetic decides.
    pub computes_floats: bool,
    /// Whether something decides that a device may compute otherwise than an inspection where it gives up: floating-point numbers, quotients, calls.
    pub may_differ: bool,
    /// Whether a quotient decides that may trap.
    pub may_trap: bool,
    /// Whether it is the slice of the ways out of a loop: of these it keeps the conditions.
    pub ways_out: bool,
    /// Whether something does that it can't do anew: memory of an iteration's own, or a function of libm.
    pub is_refused: bool,
    /// Inner loops that have no part in it.
    pub left_out: BTreeSet<LoopId>,
    /// Whether what decides the addresses of these accesses decides those of all that aren't affine.
    pub decides_all: bool,
    /// Accesses that nobody asks about for conflicts, but whose addresses, which aren't affine, can be shown all the same.
    pub only_seen: BTreeSet<PlaceId>,
    /// Whether all addresses that aren't affine are shown or can be, as a device will compute them, and are aligned where their bases are.
    pub shows_all: bool,
}

/// One of the loops that a loop is distributed into; see `analysis::distribution`.
#[derive(Clone, Debug)]
pub struct Part {
    /// What it is.
    pub verdict: Verdict,
    /// How it is checked: not at all, or by a predicate.
    pub check: Check,
    /// Its plan; `held` is the loop.
    pub plan: LoopPlan,
}

/// All that code generation needs to run a loop elsewhere.
#[derive(Clone, Debug)]
pub struct LoopPlan {
    /// The loop.
    pub loop_id: LoopId,
    /// Index of its function in [`crate::c::hir::TranslationUnit::functions`].
    pub function: usize,
    /// Merged dimensions, outermost first; at least one.
    pub dims: Vec<Dim>,
    /// What the first clause sets, in its order. Bounds of `dims` don't need it; everything else is evaluated after it.
    pub starts: Vec<Start>,
    /// A secondary induction variable that the test in front of each iteration moves, and by how much: its value at entry
    /// is the one after the first test.
    pub moved_by_test: Option<(VarId, i64)>,
    /// Scalars that the loop assigns and that are declared outside of `body`.
    pub scalars: BTreeMap<VarId, ScalarRole>,
    /// Variables whose value at entry the loop or its bounds need (by value: integers, floats, pointers). Objects
    /// whose address is needed are in `bases`, not here.
    pub live_ins: Vec<VarId>,
    /// Loop-invariant expressions evaluated at entry: integers for [`Bound::Value`], pointers for
    /// [`Base::Invariant`]. They read only live-ins, named globals, and memory that `pinned` lists; each is evaluated
    /// only after the trip count is known to be positive.
    pub invariants: Vec<Expr>,
    /// Those among them that the loop may never come to read, such as members of a struct that only an inner loop looks at: they are read
    /// at entry all the same, if their memory is there.
    pub early: BTreeSet<usize>,
    /// Places in the body whose value is `invariants[i]`: read once at entry instead.
    pub invariant_places: BTreeMap<PlaceId, usize>,
    /// What comes in front of an iteration's body; everything else here includes it.
    pub prelude: Prelude,
    /// Arrays and structs that each iteration has for itself, with their sizes: see `loops::private`.
    pub private: BTreeMap<VarId, u64>,
    /// Where accesses start.
    pub bases: Vec<Base>,
    /// Every load and store of memory in the body.
    pub sites: Vec<Site>,
    /// Load and store site of each place.
    pub site_of: BTreeMap<PlaceId, (Option<SiteId>, Option<SiteId>)>,
    /// Unresolved pairs; empty for parallel loops.
    pub pairs: Vec<Pair>,
    /// By the place that they store to: updates that may meet each other in different iterations. Each has to be made in one
    /// piece, so the loop can't run in place on several threads.
    pub updates: BTreeMap<PlaceId, Update>,
    /// How the iterations' addresses can be found out before they run, where pairs would need logs otherwise.
    pub inspection: Option<Inspection>,
    /// Where there is no inspection: what decides all addresses that aren't affine, if it is known before the loop runs. Nothing is executed of it.
    pub deciding: Option<Inspection>,
    /// Of a loop that may be left early: what decides when it is. It is executed first, over all iterations up to the one that leaves; none of the
    /// accesses that this loads is one to memory that the loop stores to (pairs that are apart). Everything else here is about the iterations before that one.
    /// `held` is the loop with its ways out marked, and the program's own text goes on behind those iterations.
    pub search: Option<Inspection>,
    /// Memory that must not change.
    pub pinned: Vec<Pinned>,
    /// Places in memory that the loop keeps in variables, and the loop as it then is.
    pub kept: Vec<Kept>,
    /// See `kept`; `None`: as it stands.
    pub held: Option<Box<LoopStmt>>,
    /// Where the loop isn't run in the order that it is written in: what that needs. `held` is the nest in the order that it is
    /// run in.
    pub interchange: Option<Interchange>,
    /// Where the loop is distributed: the loops that are run instead, one after the other. Then `pairs` are those of accesses
    /// in different ones, this plan has no scalars but its induction variable, and nothing is generated from its body.
    pub parts: Vec<Part>,
    /// Whether no store changes a pointer that the loop loads and follows, as their types tell: then the C compiler may know of it, and load the row of a
    /// table once for all its elements.
    pub keeps_pointers: bool,
    /// Arrays that threads have copies of: then the loop runs nowhere but in place.
    pub privatization: Privatization,
    /// Conditions of the affine forms.
    pub assumptions: Vec<Assumption>,
    /// Whether the programmer says that iterations are independent: then it is worth code whatever it costs.
    pub asserted: bool,
    /// Whether an iteration may have to give up on a device: integer division, conversions out of range, domain errors.
    pub may_abort: bool,
    /// Whether it may trap, or do something else that depends on how many iterations a compiler runs at once: then it never runs in place.
    pub may_trap: bool,
    /// Whether CUDA gives the same bits (false: a call that only the host's libm answers exactly).
    pub cuda_exact: bool,
    /// Whether the user has given the bits of calls in it free: they differ between a call and a vector of them, so it only runs in
    /// place, in whole vectors.
    pub free_calls: bool,
    /// Operations per iteration of the merged space, estimated: arithmetic plus memory accesses, inner loops of
    /// unknown length counted as 32, and those of more as well.
    pub work: u64,
    /// Memory accesses among them.
    pub touches: u64,
    /// Whether there are inner loops among them that may have more turns than that, so that it may be many times as many.
    pub has_long_loops: bool,
}

impl LoopPlan {
    /// Whether the order of the iterations is part of a result, so that it is the same wherever the loop runs.
    pub fn is_ordered(&self) -> bool {
        self.scalars.values().any(|role| matches!(role, ScalarRole::Accumulation { .. }))
    }
    /// Whether anything is left of its iterations.
    pub fn keeps_something(&self) -> bool {
        self.sites.iter().any(|site| site.is_store) || self.scalars.values().any(ScalarRole::is_result)
    }
    /// Whether loads have to be made from a snapshot for the iterations to be independent, for all that is known before the
    /// entry.
    pub fn needs_snapshot(&self) -> bool {
        self.pairs.iter().any(|pair| pair.is_anti)
    }
    /// Whether some result is computed in parts, which are put together in order.
    pub fn has_parts(&self) -> bool {
        self.scalars.values().any(ScalarRole::is_in_parts)
    }
}
