//! Secondary induction variables: scalars beside the loop's own that every iteration moves by the same amount, and what they are worth
//! at any point of an iteration. How far they are moved, `movement` says.

use super::*;

impl Accesses<'_> {
    /// Finds the scalars that every iteration moves by the same amount: one assignment in the whole loop, which nothing can
    /// skip or repeat. Everything else in the loop's step is refused.
    pub(super) fn find_secondary(
        &mut self,
        head: &Counted,
        whole: &LoopStmt,
        body: &Stmt,
    ) -> Result<(), Refused> {
        // What is kept for a place in memory goes back there as a sum.
        let mut declared: BTreeSet<VarId> = self.unit.cells(whole.id).iter().map(|cell| cell.var).collect();
        nest::statements(body, &mut |s| {
            if let StmtKind::Declare { var, .. } = s.kind {
                declared.insert(var);
            }
        });
        if let Some(Control { var, before }) = head.control {
            // The head has been read: it moves by that much, once in each iteration.
            let step = match &head.by {
                Some(by) => self.stride(var, head, by)?,
                None => constant(head.step),
            };
            self.secondary.insert(var, step);
            if before {
                self.moved_by_test = Some((var, head.step));
            }
        }
        for start in &head.starts {
            let place = self.variable(start.var, start.value.span);
            if is_scalar(self.unit, &place).is_none()
                || place.ty.quals.is_volatile
                || place.ty.quals.is_atomic
            {
                return Err(format!("its first clause sets {}", self.unit.var(start.var).name).into());
            }
            if !self.assignments.contains_key(&start.var) {
                if self.unit.types.as_float(place.ty.ty).is_some() {
                    return Err(format!("its first clause sets {}", self.unit.var(start.var).name).into());
                }
                self.secondary.insert(start.var, constant(0));
            }
            let mut fixed = true;
            nest::expressions(&start.value, &mut |e| {
                if let ExprKind::Load(place) = &e.kind {
                    fixed &= is_scalar(self.unit, place).is_some_and(|v| !self.written.contains(&v));
                }
            });
            if fixed {
                self.set_first.insert(start.var, start.value.clone());
            }
        }
        let by_steps = self.moved_by_steps(&head.other_steps);
        let mut in_body = BTreeSet::new();
        nest::all_expressions(body, &mut |e| {
            if let Some((place, _, true)) = nest::accessed_place(e) {
                in_body.extend(is_scalar(self.unit, place));
            }
        });
        for step in &head.other_steps {
            let mut counts = false;
            let mut others = false;
            nest::expressions(step, &mut |e| {
                if let Some((place, _, true)) = nest::accessed_place(e) {
                    let moves = is_scalar(self.unit, place).is_some_and(|v| {
                        self.secondary.contains_key(&v)
                            || by_steps.contains_key(&v) && !declared.contains(&v) && !in_body.contains(&v)
                    });
                    counts |= moves;
                    others |= !moves;
                }
            });
            if !counts || others {
                let text = format!("its step does more than count in line {}", step.span.line);
                return Err(Reason::new(Kind::NotCounted, text));
            }
        }
        let movements = match self.has_continue {
            true => movement::Movements::default(),
            false => self.movements(body),
        };
        self.moved_inside = movements.inner;
        for (v, step) in by_steps.into_iter().chain(movements.body) {
            if v != head.iv && !declared.contains(&v) && !self.secondary.contains_key(&v) {
                self.secondary.insert(v, step);
            }
        }
        if head.control.is_some() {
            // Of a counter of ours everything else has to be a multiple; else it goes by 1, and its range is only known to
            // be within that of the variable that the test looks at.
            let size = head.step.abs();
            let fits = |step: &Bound| linear::as_constant(step).is_some_and(|step| step % size == 0);
            let distance = if self.secondary.values().all(fits) { size } else { 1 };
            self.distances.insert(head.id, distance);
        }
        Ok(())
    }

    pub(super) fn variable(&self, v: VarId, span: Span) -> Place {
        Place { id: PlaceId(u32::MAX), kind: PlaceKind::Var(v), ty: self.unit.var(v).ty, span }
    }

    /// How far the control variable of a loop moves whose step is no constant. It must not wrap around.
    pub(super) fn stride(&mut self, var: VarId, head: &Counted, by: &Stride) -> Result<Bound, Refused> {
        let unknown = || Refused::from("its step is no number that is known when it starts");
        let size = self.linear(&by.size, 0).filter(|form| form.terms.is_empty());
        let size = size.ok_or_else(unknown)?.constant;
        let step = if by.down { linear::neg(&size).ok_or_else(unknown)? } else { size };
        let start = head.starts.iter().find(|start| start.var == var).ok_or_else(unknown)?;
        let first = self.linear(&start.value, 0).unwrap_or_else(|| self.entry_number(&start.value));
        let turns = self.entry_number(&head.limit);
        let kind = self.unit.types.as_int(self.unit.var(var).ty.ty).ok_or_else(unknown)?;
        let end = turns.times(&step).and_then(|way| way.plus(&first)).ok_or_else(unknown)?;
        self.assume(&end, kind).ok_or_else(unknown)?;
        Ok(step)
    }

    /// A secondary induction variable as a linear form, without its value at entry, `moved` after its iteration's start.
    pub(super) fn secondary_form(&mut self, v: VarId, moved: &Linear) -> Option<Linear> {
        let step = self.secondary.get(&v)?.clone();
        let dim = self.dims.first()?;
        let (id, one) = (dim.id, Linear::induction(dim.id, &Linear::number(constant(0)))?);
        let counter = self.distances.get(&id).copied()?;
        // The dimension's distance moves by `counter`, the variable by `step`.
        let form = match counter {
            1 | -1 => one.times(&linear::mul(&step, &constant(counter))?)?,
            _ => {
                let amount = linear::as_constant(&step).filter(|s| s % counter == 0)?;
                one.times(&constant(amount / counter))?
            }
        };
        form.plus(moved)
    }

    /// How far an iteration has moved a variable so far.
    pub(super) fn moved_so_far(&self, v: VarId) -> Option<Linear> {
        self.moved.get(&v).cloned().unwrap_or_else(|| Some(Linear::number(constant(0))))
    }

    /// The secondary induction variable whose value `e` is, and how far its iteration has then moved it.
    pub(super) fn secondary_value(&mut self, e: &Expr) -> Option<(VarId, Linear)> {
        let place = match &e.kind {
            ExprKind::Load(place) | ExprKind::IncDec { place, .. } | ExprKind::PtrAssign { place, .. } => {
                place
            }
            _ => return None,
        };
        let v = is_scalar(self.unit, place).filter(|v| self.secondary.contains_key(v))?;
        let moved = self.moved_so_far(v)?;
        let moving = self.moving.get(&v).copied().unwrap_or(0);
        match &e.kind {
            ExprKind::Load(_) => (moving == 0).then_some((v, moved)),
            ExprKind::IncDec { post: true, .. } if moving == 1 => Some((v, moved)),
            _ if moving == 1 => Some((v, moved.plus(&Linear::number(self.added(e, true)?))?)),
            _ => None,
        }
    }

    /// Walks an expression that is evaluated as a whole before anything that follows.
    pub(super) fn full_expression(&mut self, e: &Expr) -> Result<(), Refused> {
        let mut updates = Vec::new();
        nest::expressions(e, &mut |e| {
            if let Some((place, _, true)) = nest::accessed_place(e)
                && let Some(v) = is_scalar(self.unit, place)
                && self.secondary.contains_key(&v)
            {
                updates.push((v, e));
            }
        });
        let mut moving = BTreeMap::new();
        for (v, _) in &updates {
            *moving.entry(*v).or_default() += 1;
        }
        // What is assigned is computed before anything moves.
        let mut moved = Vec::new();
        for (v, update) in &updates {
            let now = match &update.kind {
                _ if moving[v] > 1 => None,
                ExprKind::Assign(_, value) => self.moved_to(*v, value),
                _ => self.added(update, true).and_then(|by| self.moved_so_far(*v)?.plus(&Linear::number(by))),
            };
            moved.push((*v, now));
        }
        self.moving = moving;
        let result = self.expression(e);
        self.moving.clear();
        self.moved.extend(moved);
        result
    }

    /// How far a variable has been moved when it is assigned a value.
    pub(super) fn moved_to(&mut self, v: VarId, value: &Expr) -> Option<Linear> {
        let place = self.variable(v, value.span);
        let ty = QualType { ty: place.ty.ty, quals: Quals::default() };
        let at_start = Expr { kind: ExprKind::Load(place), ty, span: value.span };
        let so_far = self.moved.remove(&v);
        let is_pointer = self.unit.types.pointee(ty.ty).is_some();
        let start = match is_pointer {
            true => self.pointer(&at_start, 0).ok().map(|(base, form)| (Some(base), form)),
            false => Some((None, self.linear(&at_start, 0))),
        };
        if let Some(so_far) = so_far {
            self.moved.insert(v, so_far);
        }
        let (base, start) = start?;
        let new = match is_pointer {
            true => self.pointer(value, 0).ok().filter(|(other, _)| Some(*other) == base)?.1,
            false => self.linear(value, 0),
        };
        let moved = new?.plus(&start?.negated()?)?;
        // An iteration like any other.
        let is_fixed = self.dims.iter().all(|dim| !moved.terms.contains_key(&dim.id));
        is_fixed.then_some(moved)
    }

    /// The scalars that an inner loop's turns assign.
    pub(super) fn assigned_in_turns(&self, l: &LoopStmt) -> BTreeSet<VarId> {
        let mut assigned = BTreeSet::new();
        let mut note = |e: &Expr| {
            if let Some((place, _, true)) = nest::accessed_place(e) {
                assigned.extend(is_scalar(self.unit, place));
            }
        };
        nest::turn_expressions(l, &mut note);
        assigned
    }

    /// Where an inner loop begins: what it moves depends on its turn. Gives back how far everything is moved behind it.
    pub(super) fn enter_turns(&mut self, l: &LoopStmt) -> Vec<(VarId, Option<Linear>)> {
        let mut behind = Vec::new();
        for v in self.assigned_in_turns(l).into_iter().filter(|v| self.secondary.contains_key(v)) {
            let so_far = self.moved_so_far(v);
            let known =
                self.moved_inside.get(&(l.id, v)).cloned().zip(so_far).and_then(|((by, all), so_far)| {
                    let turn = Linear::induction(l.id, &Linear::number(constant(0)))?.times(&by)?;
                    Some((so_far.plus(&turn)?, so_far.plus(&Linear::number(all))?))
                });
            let (inside, after) = known.unzip();
            self.moved.insert(v, inside);
            behind.push((v, after));
        }
        behind
    }

    /// What the test in front of the first iteration has added to a variable.
    pub(super) fn moved_by_test(&self, v: VarId) -> Linear {
        let moved = self.moved_by_test.filter(|(moved, _)| *moved == v);
        Linear::number(constant(moved.map_or(0, |(_, by)| by)))
    }

    pub(super) fn secondary_number(&mut self, e: &Expr, kind: IntKind) -> Option<Linear> {
        let (v, moved) = self.secondary_value(e)?;
        let form = self.secondary_form(v, &moved)?;
        let at_entry = match self.set_first.get(&v).cloned() {
            Some(value) => self.linear(&value, 1).and_then(|start| start.plus(&self.moved_by_test(v))),
            None => None,
        };
        let at_entry = match at_entry {
            Some(at_entry) => at_entry,
            None => {
                let place = nest::accessed_place(e)?.0.clone();
                self.entry_number(&Expr { kind: ExprKind::Load(place), ty: e.ty, span: e.span })
            }
        };
        let form = form.plus(&at_entry)?;
        let may_wrap = kind.size() < 4 || self.converted.contains(&v);
        if may_wrap { self.assume(&form, kind).map(|()| form) } else { self.fits(form, kind) }
    }
}
