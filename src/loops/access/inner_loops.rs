//! Loops around an access, and inside of an iteration: which values their variables have.

use super::*;
use crate::c::constant::{Value, evaluate};

/// How many turns an inner loop is taken for where work is estimated, unless its text says that they are fewer. `device::cuda::pace` counts on as many.
const TURNS: u64 = 32;

/// Distance of a counted loop's last value from its first, where it runs at all.
fn to_last(head: &Counted, first: &Linear, limit: &Linear) -> Option<Linear> {
    let inclusive = match head.relation {
        Relation::Le | Relation::Ge => 0,
        Relation::Lt => -1,
        Relation::Gt => 1,
        Relation::Ne => -head.step.signum(),
    };
    limit.plus(&first.negated()?)?.plus(&Linear::number(constant(inclusive)))
}

impl Accesses<'_> {
    pub(super) fn level(&mut self, head: &Counted) -> Result<Level, Refused> {
        let first = self.linear(&head.first_inside, 0);
        let first = first.unwrap_or_else(|| self.entry_number(&head.first_inside));
        let mut limit = self.linear(&head.limit, 0);
        if limit.is_none() && head.control.is_some() {
            limit = Some(self.entry_number(&head.limit));
        }
        let mut level = Level { id: head.id, iv: head.iv, first: first.clone(), range: None };
        if let Some(limit) = limit {
            let distance = to_last(head, &first, &limit);
            // A counter of ours goes up, at most as fast.
            let counts_up = head.control.is_some() && head.step < 0;
            let distance = if counts_up { distance.and_then(|d| d.negated()) } else { distance };
            if let Some(distance) = distance {
                let zero = Linear::number(constant(0));
                let up = head.step > 0 || counts_up;
                // 0 where the loop may not run at all.
                let clamped = if distance.terms.is_empty() {
                    let c = distance.constant.clone();
                    Linear::number(if up { linear::max(constant(0), c) } else { linear::min(constant(0), c) })
                } else {
                    distance
                };
                level.range = Some(if up { (zero, clamped) } else { (clamped, zero) });
            }
        }
        Ok(level)
    }

    pub(super) fn inner_loop(&mut self, l: &LoopStmt) -> Result<(), Refused> {
        l.init.iter().try_for_each(|s| self.statement(s))?;
        let before = (self.work, self.touches);
        let head = crate::loops::counted::counted(self.unit, l).ok();
        let turns = head.as_ref().and_then(|head| self.few_turns(head));
        self.has_long_loops |= turns.is_none();
        // The variable's definition by the first clause is no definition inside.
        if let Some(head) = &head {
            self.definitions.remove(&head.iv);
        }
        let level = match head {
            Some(head) => self.level_inside(&head),
            None => Level { id: l.id, iv: VarId(u32::MAX), first: Linear::number(constant(0)), range: None },
        };
        self.inner.push(level);
        self.next_path += 1;
        self.path.push(self.next_path);
        let behind = self.enter_turns(l);
        self.forget_assigned(l);
        let in_front = self.before_branch();
        let result = (|| {
            if let Some(cond) = &l.cond {
                self.full_expression(cond)?;
            }
            self.statement(&l.body)?;
            // Turns that don't come to their end come here, too, whatever they have been left for.
            self.leave_branch(&in_front);
            match &l.step {
                Some(step) => self.full_expression(step),
                None => Ok(()),
            }
        })();
        // There may have been no turn, or one that was left where a condition didn't hold which is known to hold further down.
        self.leave_branch(&in_front);
        self.moved.extend(behind);
        self.path.pop();
        self.inner.pop();
        let inside = self.inner.len();
        self.definitions.retain(|_, definition| definition.loops <= inside);
        let often = |before: u64, now: u64| before + (now - before).saturating_mul(turns.unwrap_or(TURNS));
        (self.work, self.touches) = (often(before.0, self.work), often(before.1, self.touches));
        result
    }

    /// How many turns a loop has whose text says that they are few, or at most one more.
    fn few_turns(&self, head: &Counted) -> Option<u64> {
        let number = |e| match evaluate(&self.unit.types, e) {
            Some(Value::Int(value)) => Some(value),
            _ => None,
        };
        let (first, limit) = (number(&head.first)?, number(&head.limit)?);
        let turns =
            u64::try_from(first.abs_diff(limit) / u128::from(head.step.unsigned_abs().max(1))).ok()? + 1;
        (head.by.is_none() && turns <= TURNS).then_some(turns)
    }

    /// The level of a counted loop inside the body: its bounds may vary.
    pub(super) fn level_inside(&mut self, head: &Counted) -> Level {
        if head.control.is_some() {
            // The program has no variable that is linear in it.
            return Level {
                id: head.id,
                iv: VarId(u32::MAX),
                first: Linear::number(constant(0)),
                range: None,
            };
        }
        let known = self.linear(&head.first, 0);
        match known {
            None => {
                // Its variable is then not linear in anything.
                Level { id: head.id, iv: VarId(u32::MAX), first: Linear::number(constant(0)), range: None }
            }
            Some(first) => {
                let mut level = Level { id: head.id, iv: head.iv, first: first.clone(), range: None };
                if let Some(limit) = self.linear(&head.limit, 0) {
                    let distance = to_last(head, &first, &limit);
                    let zero = Linear::number(constant(0));
                    level.range = distance.map(|d| if head.step > 0 { (zero, d) } else { (d, zero) });
                    if self.stays_in_range(head, &first, &limit).is_none() {
                        level.iv = VarId(u32::MAX);
                        level.range = None;
                    }
                }
                level
            }
        }
    }

    /// Sees to it that the variable of a loop inside the body comes from its first value to its limit without wrapping
    /// around: other than for merged dimensions, no trip count is computed at entry.
    pub(super) fn stays_in_range(&mut self, head: &Counted, first: &Linear, limit: &Linear) -> Option<()> {
        // Upwards there are no more turns than the numbers say.
        if !head.compares_numbers(self.unit) && head.step < 0 {
            return None;
        }
        // To start beyond the limit would have to overflow, unless something leaves the loop before.
        let is_equality = head.relation == Relation::Ne;
        if head.kind.size() >= 4 && head.kind.signed() && !self.options.wrapping && !is_equality {
            return Some(());
        }
        let distance = limit.plus(&first.negated()?)?;
        let (size, up) = (head.step.checked_abs()?, head.step > 0);
        if is_equality {
            // It must not start beyond its limit, nor step over it.
            let distance = if up { distance } else { distance.negated()? };
            return if size == 1 { self.assume(&distance, IntKind::ULongLong) } else { None };
        }
        // The value that ends it is at most a step beyond the last one.
        let beyond = size - i64::from(matches!(head.relation, Relation::Lt | Relation::Gt));
        let beyond = Linear::number(constant(if up { beyond } else { -beyond }));
        self.assume(&limit.plus(&beyond)?, head.kind)
    }
}

#[cfg(test)]
mod tests {
    use crate::compile::judged;
    use crate::loops::options::AnalysisOptions;

    /// Operations of an iteration with an inner loop, and whether there may be far more.
    fn estimated(inner: &str) -> (u64, bool) {
        let text = format!(
            "void f(int n, int m, double *restrict a, const double *restrict b) {{\n\
             for (int i = 0; i < n; i++) {{ double s = 0; {inner} s = s * 3 + b[i + k]; a[i] = s; }} }}"
        );
        let (_, reports) = judged(&text, &AnalysisOptions::default());
        let plan = reports.iter().find(|report| report.line == 2).and_then(|report| report.plan.as_ref());
        plan.map(|plan| (plan.work, plan.has_long_loops)).expect(inner)
    }

    #[test]
    fn inner_loops_are_taken_for_as_many_turns_as_their_text_says() {
        let (of_four, may_be_more) = estimated("for (int k = 0; k < 4; k++)");
        assert!(!may_be_more);
        let (of_unknown, may_be_more) = estimated("for (int k = 0; k < m; k++)");
        assert!(may_be_more && of_unknown > 4 * of_four, "{of_unknown} {of_four}");
        let (of_many, may_be_more) = estimated("for (int k = 0; k < 1000; k++)");
        assert!(may_be_more && of_many == of_unknown);
        for few in [
            "for (int k = -2; k <= 2; k++)",
            "for (int k = 8; k > 0; k -= 2)",
            "for (int k = 0; k != 30; k++)",
        ] {
            let (work, may_be_more) = estimated(few);
            assert!(!may_be_more && work < of_unknown, "{few}: {work}");
        }
        let (of_both, may_be_more) = estimated("for (int j = 0; j < m; j++) for (int k = 0; k < 4; k++)");
        assert!(may_be_more && of_both > 4 * of_four);
    }
}
