//! Why a loop got its verdict, in a form that people and tools can act on: the kind of obstacle, the accesses that collide with
//! where they stand, and what would settle it.
//!
//! Analysis makes these values, `remarks` prints them. Advice names a change that takes away the very obstacle that it stands
//! with; the next obstacle, if there is one, has a reason of its own. `c-tests/advice` applies each kind of advice and sees
//! that the verdict gets better. Not here: finding obstacles (`verdict` and what it calls) and printing (`remarks`).

use crate::c::hir::Span;
use std::fmt;

/// What kind of reason it is. The identifiers are stable: tools filter by them.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
#[allow(missing_docs)]
pub enum Kind {
    Independent,
    Snapshot,
    Interchanged,
    Distributed,
    Privatized,
    Searched,
    Asserted,
    UnresolvedPair,
    WrapAround,
    BoundsMayChange,
    CarriedDependence,
    CarriedScalar,
    ConditionalLastValue,
    FloatingPointOrder,
    FloatingPointContraction,
    UninitialisedScalar,
    NotCounted,
    EarlyExit,
    UnknownCall,
    VolatileAccess,
    ThreadLocal,
    UnsupportedType,
    UnsupportedConstruct,
    NothingKept,
    InnerLoopsFirst,
    TooLarge,
    FunctionFixed,
    NotUnderstood,
    Forbidden,
}

impl Kind {
    /// The identifier, and what it means.
    pub fn describe(self) -> (&'static str, &'static str) {
        match self {
            Kind::Independent => ("independent", "The iterations are proven independent."),
            Kind::Snapshot => (
                "snapshot",
                "The iterations are independent once loads find what was in memory before the loop.",
            ),
            Kind::Interchanged => (
                "interchanged",
                "The iterations of a loop inside it are proven independent, and it is run with that one outermost.",
            ),
            Kind::Distributed => (
                "distributed",
                "It is split into loops whose iterations are independent, which run one after the other.",
            ),
            Kind::Privatized => (
                "privatized",
                "The iterations are independent once each thread has copies of some arrays for itself.",
            ),
            Kind::Searched => (
                "searched",
                "How far the loop comes is found out first; the iterations up to there are independent.",
            ),
            Kind::Asserted => {
                ("asserted", "A pragma says that the iterations are independent, and is believed.")
            }
            Kind::UnresolvedPair => {
                ("unresolved-pair", "Two accesses may touch the same memory in different iterations.")
            }
            Kind::WrapAround => {
                ("wrap-around", "Index arithmetic of a type that wraps around has to be checked.")
            }
            Kind::BoundsMayChange => {
                ("bounds-may-change", "A store may change what the loop's bounds or addresses are read from.")
            }
            Kind::CarriedDependence => {
                ("carried-dependence", "Two accesses touch the same memory in different iterations.")
            }
            Kind::CarriedScalar => {
                ("carried-scalar", "A variable carries a value from one iteration to the next.")
            }
            Kind::ConditionalLastValue => (
                "conditional-last-value",
                "A variable is used after the loop that not every iteration assigns.",
            ),
            Kind::FloatingPointOrder => {
                ("floating-point-order", "The order of floating-point operations is part of the result.")
            }
            Kind::FloatingPointContraction => (
                "floating-point-contraction",
                "The compiler may fuse a product and a sum, and it is not known which ones.",
            ),
            Kind::UninitialisedScalar => {
                ("uninitialised-scalar", "A variable may be read before it has a value.")
            }
            Kind::NotCounted => {
                ("not-counted", "The number of iterations is not known when the loop starts.")
            }
            Kind::EarlyExit => ("early-exit", "The loop can be left early."),
            Kind::UnknownCall => ("unknown-call", "It calls a function whose effects are not known."),
            Kind::VolatileAccess => ("volatile-access", "It accesses volatile or atomic memory."),
            Kind::ThreadLocal => ("thread-local", "It accesses a thread-local variable by name."),
            Kind::UnsupportedType => {
                ("unsupported-type", "It works on values of a type that is not supported.")
            }
            Kind::UnsupportedConstruct => {
                ("unsupported-construct", "It has a statement or expression that is not supported.")
            }
            Kind::NothingKept => ("nothing-kept", "It computes nothing that is kept."),
            Kind::InnerLoopsFirst => {
                ("inner-loops-first", "It would be a guess that hides loops which are better known.")
            }
            Kind::TooLarge => ("too-large", "It has too many accesses."),
            Kind::FunctionFixed => ("function-fixed", "Its function is compiled under rules of its own."),
            Kind::NotUnderstood => ("not-understood", "Its function is not understood."),
            Kind::Forbidden => ("forbidden", "A pragma forbids it."),
        }
    }

    /// The stable identifier.
    pub fn id(self) -> &'static str {
        self.describe().0
    }
}

/// An access that a reason is about.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct AccessNote {
    /// Roughly as the programmer wrote it.
    pub text: String,
    /// Whether it writes.
    pub is_store: bool,
    /// Where it stands.
    pub span: Span,
}

/// A change to the program or its compilation that takes an obstacle away.
#[derive(Clone, PartialEq, Eq, Debug)]
#[allow(missing_docs)]
pub enum Advice {
    /// The text of a place that doesn't change in the loop.
    CopyToLocal(String),
    LocalCounter(String),
    CallBefore(String),
    CallApart(String),
    DefineHere(String),
    MakeStatic(String),
    Initialise(String),
    SumApart(String),
    SignedIndex,
    NoContraction,
    Reassociate,
    IfForSwitch,
    MemberByMember,
    WholeMember,
    PointerBefore(String),
    AssertIndependent,
    AssertUnchecked,
}

impl Advice {
    /// The stable identifier.
    pub fn id(&self) -> &'static str {
        match self {
            Advice::CopyToLocal(_) => "copy-to-local",
            Advice::LocalCounter(_) => "local-counter",
            Advice::CallBefore(_) => "call-before",
            Advice::CallApart(_) => "call-apart",
            Advice::DefineHere(_) => "define-here",
            Advice::MakeStatic(_) => "make-static",
            Advice::Initialise(_) => "initialise",
            Advice::SumApart(_) => "sum-apart",
            Advice::SignedIndex => "signed-index",
            Advice::NoContraction => "no-contraction",
            Advice::Reassociate => "reassociate",
            Advice::IfForSwitch => "if-for-switch",
            Advice::MemberByMember => "member-by-member",
            Advice::WholeMember => "whole-member",
            Advice::PointerBefore(_) => "pointer-before",
            Advice::AssertIndependent => "assert-independent",
            Advice::AssertUnchecked => "assert-unchecked",
        }
    }
}

impl fmt::Display for Advice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Advice::CopyToLocal(name) => {
                write!(f, "copy {name} into a local variable in front of the loop, and use that one in it")
            }
            Advice::LocalCounter(name) => {
                write!(f, "count with a local variable whose address is not taken, instead of {name}")
            }
            Advice::CallBefore(name) => {
                write!(f, "if {name} gives the same value each time, call it once in front of the loop")
            }
            Advice::CallApart(name) => {
                write!(f, "call {name} in a statement of its own, whose result is a local variable")
            }
            Advice::DefineHere(name) => {
                write!(f, "define {name} in this file or a header, if it only computes and stores")
            }
            Advice::MakeStatic(name) => {
                write!(
                    f,
                    "make {name} static: what is visible outside may be replaced when the program is linked"
                )
            }
            Advice::Initialise(name) => write!(f, "give {name} a value where it is declared"),
            Advice::SumApart(name) => write!(
                f,
                "store what each iteration adds to {name} in an array, and add that up in a loop of its own"
            ),
            Advice::SignedIndex => {
                write!(f, "compute the index in a signed type (`int` or `long`), which can't wrap around")
            }
            Advice::NoContraction => write!(f, "compile with -ffp-contract=off"),
            Advice::Reassociate => {
                write!(f, "if any order of these operations will do, compile with -fparagon-reassoc")
            }
            Advice::IfForSwitch => write!(f, "write the switch as a chain of ifs"),
            Advice::MemberByMember => write!(f, "copy the value member by member"),
            Advice::WholeMember => write!(f, "make the bit-field an ordinary member"),
            Advice::PointerBefore(name) => {
                write!(f, "take a pointer to {name} in front of the loop, and access it through that")
            }
            Advice::AssertIndependent => {
                write!(f, "if its iterations are independent: `#pragma paragon independent`; it is checked")
            }
            Advice::AssertUnchecked => write!(
                f,
                "if its iterations are independent whatever the input: `#pragma paragon independent unchecked`; nothing \
                 checks that"
            ),
        }
    }
}

/// Why a loop got its verdict.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Reason {
    /// What kind of reason it is.
    pub kind: Kind,
    /// One sentence.
    pub text: String,
    /// The accesses that it is about: for a dependence two, or one with itself.
    pub accesses: Vec<AccessNote>,
    /// What would settle it, any of these; empty where nothing is known that would.
    pub advice: Vec<Advice>,
}

impl Reason {
    /// A reason without accesses and advice.
    pub fn new(kind: Kind, text: impl Into<String>) -> Reason {
        Reason { kind, text: text.into(), accesses: Vec::new(), advice: Vec::new() }
    }
    /// With what it is about.
    pub fn about(mut self, accesses: impl IntoIterator<Item = AccessNote>) -> Reason {
        self.accesses.extend(accesses);
        self
    }
    /// With what would settle it.
    pub fn settled_by(mut self, advice: impl IntoIterator<Item = Advice>) -> Reason {
        self.advice.extend(advice);
        self
    }
}

/// What has no kind of its own.
impl From<String> for Reason {
    fn from(text: String) -> Reason {
        Reason::new(Kind::UnsupportedConstruct, text)
    }
}

/// What has no kind of its own.
impl From<&str> for Reason {
    fn from(text: &str) -> Reason {
        text.to_owned().into()
    }
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}
