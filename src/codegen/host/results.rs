//! What comes back from a loop's iterations besides memory, in which order, and how it is told to the runtime. How iterations come to it
//! is a body's.

use super::Printed;
use crate::c::hir::*;
use crate::codegen::body::{self, variable};
use crate::codegen::types::{self, Scalar, scalar};
use crate::loops::plan::*;

/// A scalar that comes back.
pub(in crate::codegen) struct ResultSlot {
    /// Its name in generated text.
    pub name: String,
    /// The program's variable that gets it; `None`: nothing of the program's.
    pub var: Option<VarId>,
    /// The place in memory that gets it, by its number in [`LoopPlan::kept`].
    pub kept: Option<usize>,
    pub kind: Scalar,
    pub gives: Gives,
}

/// What a result is of a loop's iterations.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(in crate::codegen) enum Gives {
    Last,
    Reduction(ReductionOp),
    Accumulation(ReductionOp),
    /// With so many results behind it that go with it.
    Extreme(Taking, usize),
    /// The iteration that set the extreme in front of it.
    Setter,
    Companion,
    /// 1 if what an iteration hands to the next is in the results already: on the calling thread, which runs all of them. 0
    /// (what results start from elsewhere) where a thread begins in the middle.
    GoesOn,
}

impl Gives {
    /// Whether each part of the iterations has one of its own.
    pub(super) fn is_in_parts(self) -> bool {
        !matches!(self, Gives::Last | Gives::Reduction(_) | Gives::GoesOn)
    }
    /// Fields of `struct __pg_result` besides the type: operation, how, with.
    pub(super) fn facts(self) -> [String; 3] {
        let plain = |op: &str| [op.to_string(), "0".into(), "0".into()];
        match self {
            Gives::Last | Gives::GoesOn => plain("PG_LAST"),
            Gives::Reduction(op) | Gives::Accumulation(op) => plain(types::operation(op)),
            Gives::Extreme(taking, with) => ["PG_EXTREME".into(), types::taking(taking), with.to_string()],
            Gives::Setter | Gives::Companion => plain("PG_FOLLOWS"),
        }
    }
}

/// All results of a plan: an extreme is followed by what goes with it.
pub(super) fn results_of(unit: &TranslationUnit, plan: &LoopPlan) -> Printed<Vec<ResultSlot>> {
    let mut results = Vec::new();
    for (var, role) in &plan.scalars {
        let slot = |var: VarId, gives: Gives| -> Printed<ResultSlot> {
            let kind = scalar(&unit.types, unit.var(var).ty.ty)?;
            let kept = plan.kept.iter().position(|kept| kept.var == var);
            Ok(ResultSlot { name: variable(var), var: kept.is_none().then_some(var), kept, kind, gives })
        };
        match role {
            ScalarRole::Reduction { op, .. } => results.push(slot(*var, Gives::Reduction(*op))?),
            ScalarRole::Accumulation { op } => results.push(slot(*var, Gives::Accumulation(*op))?),
            ScalarRole::Private { last_value: true } => results.push(slot(*var, Gives::Last)?),
            ScalarRole::Extreme { taking } => {
                let own = ScalarRole::Companion { of: *var };
                let companions: Vec<VarId> =
                    plan.scalars.iter().filter(|(_, role)| **role == own).map(|(v, _)| *v).collect();
                results.push(slot(*var, Gives::Extreme(*taking, 1 + companions.len()))?);
                results.push(ResultSlot {
                    name: body::taken_by(*var),
                    var: None,
                    kept: None,
                    kind: Scalar::Int(IntKind::ULongLong),
                    gives: Gives::Setter,
                });
                for companion in companions {
                    results.push(slot(companion, Gives::Companion)?);
                }
            }
            _ => {}
        }
    }
    if !plan.prelude.variables.is_empty() {
        let kind = Scalar::Int(IntKind::ULongLong);
        results.push(ResultSlot { name: GOES_ON.into(), var: None, kept: None, kind, gives: Gives::GoesOn });
    }
    Ok(results)
}

/// The local variable of [`Gives::GoesOn`].
pub(super) const GOES_ON: &str = "__pg_goes_on";
