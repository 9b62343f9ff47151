//! Statements as text, but for loops ([`super::inner`]) and what the iterations of a group do together ([`crate::codegen::group`]).

use super::{Printed, Printer, Purpose, variable};
use crate::c::hir::*;
use crate::loops::plan::*;
use crate::loops::scalars::is_scalar;
use crate::loops::updates;

impl Printer<'_> {
    /// `m = x < m ? x : m` of an extreme: place, condition, and the arm that is taken, behind it or behind its negation. It is
    /// printed so that only what is taken is assigned.
    #[allow(clippy::type_complexity)]
    fn kept_or_taken<'e>(&self, e: &'e Expr) -> Option<(&'e Place, &'e Expr, [Option<&'e Expr>; 2])> {
        let ExprKind::Assign(place, value) = &e.kind else { return None };
        let v = is_scalar(self.unit, place)
            .filter(|v| matches!(self.plan.scalars.get(v), Some(ScalarRole::Extreme { .. })))?;
        let mut value = &**value;
        while let ExprKind::Cast(inner) = &value.kind {
            value = inner;
        }
        let ExprKind::Conditional(c, a, b) = &value.kind else { return None };
        let is_kept = |mut arm: &Expr| {
            while let ExprKind::Cast(inner) = &arm.kind {
                arm = inner;
            }
            matches!(&arm.kind, ExprKind::Load(place) if is_scalar(self.unit, place) == Some(v))
        };
        Some((place, c, [(!is_kept(a)).then_some(a), (!is_kept(b)).then_some(b)]))
    }

    /// What is done where a condition holds, and where it doesn't.
    pub(super) fn branches(
        &mut self,
        cond: &str,
        then: &Stmt,
        otherwise: Option<&Stmt>,
        current: LoopId,
        out: &mut String,
    ) -> Printed<()> {
        out.push_str(&format!("if ({cond}) {{\n"));
        self.conditions += 1;
        self.statement(then, current, out)?;
        if let Some(otherwise) = otherwise {
            out.push_str("} else {\n");
            self.statement(otherwise, current, out)?;
        }
        self.conditions -= 1;
        out.push_str("}\n");
        Ok(())
    }

    pub(super) fn statement(&mut self, s: &Stmt, current: LoopId, out: &mut String) -> Printed<()> {
        match &s.kind {
            StmtKind::Empty | StmtKind::Declaration => {}
            StmtKind::Expr(e)
                if let Some(parts) = updates::parts(self.unit, e)
                    && self.plan.updates.contains_key(&parts.place.id) =>
            {
                self.update(&parts, out)?;
            }
            StmtKind::Expr(e) => {
                if let Some((place, c, arms)) = self.kept_or_taken(e) {
                    let c = self.value(c, out)?;
                    for (arm, sign) in arms.into_iter().zip(["", "!"]) {
                        let Some(value) = arm else { continue };
                        out.push_str(&format!("if ({sign}({c})) {{\n"));
                        self.conditions += 1;
                        let text = self.value(value, out);
                        self.conditions -= 1;
                        let text = text?;
                        let text = self.cast(&text, self.scalar(value.ty)?, self.scalar(place.ty)?);
                        self.store(place, &text, out)?;
                        out.push_str("}\n");
                    }
                    return Ok(());
                }
                let text = self.value(e, out)?;
                if !Self::has_side_effects(e) {
                    out.push_str(&format!("(void)({text});\n"));
                }
            }
            StmtKind::Declare { var, init } if self.plan.private.contains_key(var) => {
                if let Some(init) = init {
                    self.own_values(*var, init, out)?;
                }
            }
            StmtKind::Declare { var, init } => {
                self.declare(*var)?;
                match init {
                    Some(Init::Scalar(e)) => {
                        let text = self.value(e, out)?;
                        out.push_str(&format!("{} = {text};\n", variable(*var)));
                    }
                    Some(Init::Members(_) | Init::Aggregate) => return Err("an aggregate".into()),
                    None => {}
                }
            }
            StmtKind::Block(list) => list.iter().try_for_each(|s| self.statement(s, current, out))?,
            StmtKind::If { cond, then, otherwise } => {
                let cond = self.value(cond, out)?;
                self.branches(&cond, then, otherwise.as_deref(), current, out)?;
            }
            StmtKind::Loop(l) if matches!(self.purpose, Purpose::Inspection(s) if s.left_out.contains(&l.id)) =>
                {}
            StmtKind::Loop(l) => self.inner_loop(l, current, None, out)?,
            StmtKind::Continue => {
                self.labels.insert(current, true);
                out.push_str(&format!("goto __pg_continue_{};\n", current.0));
            }
            StmtKind::Break => out.push_str("break;\n"),
            StmtKind::Leave(_) => {
                // No other iterations come here.
                if matches!(self.purpose, Purpose::Inspection(slice) if slice.ways_out) {
                    out.push_str("return __pg_k0;\n");
                }
            }
            _ => return Err("a statement that is not generated".into()),
        }
        Ok(())
    }
}
