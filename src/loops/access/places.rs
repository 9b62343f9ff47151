//! Where an access lies: its base and its byte offset from there, and the window that it covers in an iteration.

use super::*;

impl Accesses<'_> {
    pub(super) fn supported(&self, place: &Place) -> Result<(), Refused> {
        let quals = place.ty.quals;
        if quals.is_volatile || quals.is_atomic {
            let text = format!("it accesses volatile or atomic memory in line {}", place.span.line);
            return Err(Reason::new(Kind::VolatileAccess, text));
        }
        match &place.kind {
            PlaceKind::Field { bits: Some(_), .. } => {
                let text = format!("it accesses a bit-field in line {}", place.span.line);
                Err(Reason::new(Kind::UnsupportedType, text).settled_by([Advice::WholeMember]))
            }
            PlaceKind::Opaque(what) => Err(format!("it has {what} in line {}", place.span.line).into()),
            _ => Ok(()),
        }
    }

    pub(super) fn width(&self, place: &Place) -> Result<u32, Refused> {
        let types = &self.unit.types;
        let simple = match types.kind(place.ty.ty) {
            TypeKind::Int(k) | TypeKind::Enum(k) => k.size() <= 8,
            TypeKind::Float(k) => matches!(k, FloatKind::Float | FloatKind::Double),
            TypeKind::Pointer(_) => true,
            _ => false,
        };
        match types.size_of(place.ty.ty) {
            Some(size) if simple => Ok(size as u32),
            _ => {
                let text = format!(
                    "it copies a value that is no simple number or pointer in line {}",
                    place.span.line
                );
                let is_record = matches!(types.kind(place.ty.ty), TypeKind::Record(_));
                let members = is_record.then_some(Advice::MemberByMember);
                Err(Reason::new(Kind::UnsupportedType, text).settled_by(members))
            }
        }
    }

    pub(super) fn base(&mut self, base: Base) -> BaseId {
        let known = self.bases.iter().position(|b| match (b, &base) {
            (Base::Object { var: a, .. }, Base::Object { var: b, .. }) => a == b,
            (Base::Pointer { var: a }, Base::Pointer { var: b }) => a == b,
            (Base::Invariant { value: a }, Base::Invariant { value: b }) => a == b,
            (Base::Dynamic, Base::Dynamic) => true,
            _ => false,
        });
        BaseId(known.unwrap_or_else(|| {
            self.bases.push(base);
            self.bases.len() - 1
        }) as u32)
    }

    /// Base and byte offset of a pointer value.
    pub(super) fn pointer(&mut self, e: &Expr, depth: usize) -> Result<(BaseId, Option<Linear>), Refused> {
        if depth > 24 {
            return Ok((self.base(Base::Dynamic), None));
        }
        if let Some((v, moved)) = self.secondary_value(e) {
            if let Some(value) = self.set_first.get(&v).cloned() {
                let bases = self.bases.len();
                let (base, start) = self.pointer(&value, depth + 1)?;
                let form = self.secondary_form(v, &moved);
                let offset =
                    start.zip(form).and_then(|(start, form)| start.plus(&form)?.plus(&self.moved_by_test(v)));
                if offset.is_some() {
                    return Ok((base, offset));
                }
                self.bases.truncate(bases);
            }
            self.live_ins.insert(v);
            return Ok((self.base(Base::Pointer { var: v }), self.secondary_form(v, &moved)));
        }
        match &e.kind {
            ExprKind::PtrAdd { pointer, index, stride } => {
                let (base, offset) = self.pointer(pointer, depth + 1)?;
                let stride = i64::try_from(*stride).map_err(|_| "an element too large")?;
                let index = self.subscript(index).and_then(|i| i.times(&constant(stride)));
                let offset = match (offset, index) {
                    (Some(a), Some(b)) => a.plus(&b),
                    _ => None,
                };
                Ok((base, offset))
            }
            ExprKind::Cast(inner) if self.unit.types.pointee(inner.ty.ty).is_some() => {
                self.pointer(inner, depth + 1)
            }
            ExprKind::AddressOf(place) => self.location(place, depth + 1),
            ExprKind::Load(place) => {
                if let Some(v) = is_scalar(self.unit, place) {
                    if !self.written.contains(&v) {
                        self.live_ins.insert(v);
                        return Ok((self.base(Base::Pointer { var: v }), Some(Linear::number(constant(0)))));
                    }
                    if let Some((base, form)) = self.remembered_address(v) {
                        return Ok((base, Some(form)));
                    }
                    if let Some(definition) = self.definition(v) {
                        self.assumptions.extend(definition.assumptions);
                        return match definition.form {
                            Some((Some(base), form)) => Ok((base, form)),
                            _ => self.pointer(&definition.value, depth + 1),
                        };
                    }
                    return Ok((self.base(Base::Dynamic), None));
                }
                match self.invariant_load(place) {
                    Some(value) => {
                        Ok((self.base(Base::Invariant { value }), Some(Linear::number(constant(0)))))
                    }
                    None => Ok((self.base(Base::Dynamic), None)),
                }
            }
            _ => Ok((self.base(Base::Dynamic), None)),
        }
    }

    /// Base and byte offset of an object.
    pub(super) fn location(
        &mut self,
        place: &Place,
        depth: usize,
    ) -> Result<(BaseId, Option<Linear>), Refused> {
        match &place.kind {
            PlaceKind::Var(v) if self.private.contains_key(v) => {
                Err(format!("it uses the address of its local variable {}", self.unit.var(*v).name).into())
            }
            PlaceKind::Var(v) => {
                if self.unit.var(*v).storage == Storage::ThreadLocal {
                    let name = &self.unit.var(*v).name;
                    let text = format!("it accesses the thread-local variable {name}");
                    return Err(Reason::new(Kind::ThreadLocal, text)
                        .settled_by([Advice::PointerBefore(name.clone())]));
                }
                let size = self.unit.types.size_of(self.unit.var(*v).ty.ty).unwrap_or(0);
                Ok((self.base(Base::Object { var: *v, size }), Some(Linear::number(constant(0)))))
            }
            PlaceKind::Deref(e) => self.pointer(e, depth + 1),
            PlaceKind::Field { base, offset, .. } => {
                let (base, at) = self.location(base, depth + 1)?;
                let offset = i64::try_from(*offset).map_err(|_| "an offset too large")?;
                Ok((base, at.and_then(|a| a.plus(&Linear::number(constant(offset))))))
            }
            PlaceKind::Opaque(what) => Err(format!("it has {what} in line {}", place.span.line).into()),
        }
    }

    /// Whether a place lies multiples of a width, which is a power of two, from its base, whatever the numbers in between are worth.
    fn moves_by(&self, place: &Place, width: u64) -> bool {
        match &place.kind {
            PlaceKind::Var(_) => true,
            PlaceKind::Deref(e) => self.points_by(e, width, 0),
            PlaceKind::Field { base, offset, .. } => {
                offset.is_multiple_of(width) && self.moves_by(base, width)
            }
            PlaceKind::Opaque(_) => false,
        }
    }

    /// The same for what a pointer leads to, by the way that [`Accesses::pointer`] takes.
    fn points_by(&self, e: &Expr, width: u64, depth: usize) -> bool {
        match &e.kind {
            _ if depth > 24 => false,
            ExprKind::PtrAdd { pointer, stride, .. } => {
                stride.is_multiple_of(width) && self.points_by(pointer, width, depth + 1)
            }
            ExprKind::Cast(inner) if self.unit.types.pointee(inner.ty.ty).is_some() => {
                self.points_by(inner, width, depth + 1)
            }
            ExprKind::AddressOf(place) => self.moves_by(place, width),
            ExprKind::Load(place) => match is_scalar(self.unit, place) {
                // The base itself.
                Some(v) if !self.written.contains(&v) => true,
                Some(v) => self.definition(v).is_some_and(|d| self.points_by(&d.value, width, depth + 1)),
                None => true,
            },
            _ => false,
        }
    }

    /// Notes the loads in `value` of the place that it is assigned to. Nothing in the expression may have a side effect
    /// (functions that have any are refused elsewhere), so that both addresses are computed from the same values.
    pub(super) fn note_update(&mut self, place: &Place, value: &Expr) {
        let mut pure = true;
        let mut loads = Vec::new();
        let mut look = |e: &Expr| {
            pure &= !nest::accessed_place(e).is_some_and(|(_, _, writes)| writes);
            if let ExprKind::Load(p) = &e.kind
                && same_place(p, place)
            {
                loads.push(p.id);
            }
        };
        nest::expressions(value, &mut look);
        nest::place_expressions(place, &mut look);
        if pure {
            self.updated.extend(loads.into_iter().map(|load| (load, place.id)));
        }
    }

    /// The object of the iteration's own that a place is part of.
    pub(super) fn own(&self, place: &Place) -> Option<VarId> {
        private::object(&self.unit.types, &self.private, place)
    }

    /// An access of memory that each iteration has for itself.
    pub(super) fn own_access(&mut self, place: &Place, reads: bool) -> Result<(), Refused> {
        self.supported(place)?;
        if reads && self.unit.types.pointee(place.ty.ty).is_some() && self.copied != Some(place.id) {
            // What it leads to would be in no region that a device has.
            let text = format!(
                "it follows a pointer that a local array or struct holds, in line {}",
                place.span.line
            );
            return Err(Reason::new(Kind::UnsupportedType, text));
        }
        let width = u64::from(self.width(place)?);
        let Some(part) = private::part(&self.unit.types, place) else { return Ok(()) };
        let line = place.span.line;
        let mut outer = place;
        while let PlaceKind::Field { base, .. } = &outer.kind {
            self.supported(outer)?;
            if outer.ty.quals.is_volatile || base.ty.quals.is_volatile || base.ty.quals.is_atomic {
                let text = format!("it accesses volatile or atomic memory in line {line}");
                return Err(Reason::new(Kind::VolatileAccess, text));
            }
            outer = base;
        }
        // Elsewhere it could lie across words.
        let aligned = part.constant.is_some_and(|at| at.rem_euclid(width as i64) == 0)
            && part.indices.iter().all(|(_, stride)| stride % width == 0);
        if !aligned {
            let text = format!("it accesses a member of a packed structure in line {line}");
            return Err(Reason::new(Kind::UnsupportedType, text));
        }
        self.work += 2;
        part.indices.iter().try_for_each(|(index, _)| self.expression(index))
    }

    /// Notes an access of memory.
    pub(super) fn access(&mut self, place: &Place, reads: bool, writes: bool) -> Result<(), Refused> {
        if self.own(place).is_some() {
            return self.own_access(place, reads);
        }
        self.supported(place)?;
        let width = self.width(place)?;
        // The pointers inside are loaded by themselves.
        self.place_operands(place)?;
        let (base, offset) = self.location(place, 0)?;
        self.work += 2;
        self.touches += u64::from(reads) + u64::from(writes);
        let mut ids = (None, None);
        for is_store in [false, true] {
            if !(if is_store { writes } else { reads }) {
                continue;
            }
            let id = SiteId(self.sites.len() as u32);
            let affine = offset.as_ref().and_then(|o| self.window(o, width));
            let window = if affine.is_none() { self.window_of(place, base, width) } else { None };
            let row = match self.bases[base.0 as usize] {
                Base::Dynamic => self.row(place, width),
                _ => None,
            };
            let offset = affine.as_ref().and(offset.clone());
            let loads_pointer = !is_store && self.unit.types.pointee(place.ty.ty).is_some();
            self.sites.push(Site {
                place: place.id,
                span: place.span,
                base,
                width,
                is_store,
                loads_pointer,
                unconditional: self.path.is_empty() && !self.has_continue,
                affine,
                window,
                row,
                whole_elements: self.moves_by(place, width.into()),
                may_change_pin: false,
                may_touch_kept: false,
                may_use_snapshot: false,
                logged: false,
                covered: false,
            });
            let inner = self.inner.iter().map(|l| (l.id, l.range.clone())).collect();
            self.forms.push(SiteForm {
                offset,
                inner,
                path: self.path.clone(),
                text: describe(self.unit, place),
                place: place.clone(),
            });
            if is_store {
                ids.1 = Some(id);
            } else {
                ids.0 = Some(id);
            }
        }
        self.site_of.insert(place.id, ids);
        Ok(())
    }

    /// Loads of what is handed over at entry are none: some of them were noted before it was known of them.
    pub(super) fn forget_known_loads(&mut self) {
        let is_known: Vec<bool> =
            self.sites.iter().map(|site| self.invariant_places.contains_key(&site.place)).collect();
        if !is_known.contains(&true) {
            return;
        }
        let mut kept = 0;
        let numbers: Vec<Option<SiteId>> = (is_known.iter())
            .map(|known| {
                kept += u32::from(!known);
                (!known).then(|| SiteId(kept - 1))
            })
            .collect();
        let number = |site: Option<SiteId>| site.and_then(|site| numbers[site.0 as usize]);
        self.site_of.values_mut().for_each(|(load, store)| (*load, *store) = (number(*load), number(*store)));
        self.site_of.retain(|_, sites| *sites != (None, None));
        let mut known = is_known.iter();
        self.sites.retain(|_| known.next() == Some(&false));
        for site in &mut self.sites {
            site.row = site.row.take().and_then(|row| Some(Row { slot: number(Some(row.slot))?, ..row }));
        }
        let mut known = is_known.iter();
        self.forms.retain(|_| known.next() == Some(&false));
    }

    /// Strides over the dimensions, and the window that inner loops make.
    pub(super) fn window(&self, offset: &Linear, width: u32) -> Option<Affine> {
        let (mut lo, mut hi) = Level::over(self.inner.iter().rev(), self.over_unknowns(offset)?)?;
        let whole = (lo.clone(), hi.clone());
        // Where an inner range depends on the dimensions, the two ends move differently: the window takes the extremes of
        // what is not common.
        let mut strides = Vec::new();
        for dim in &self.dims {
            let zero = constant(0);
            let own = offset.terms.get(&dim.id).cloned().unwrap_or(zero.clone());
            for end in [&mut lo, &mut hi] {
                let total = end.terms.remove(&dim.id).unwrap_or(zero.clone());
                let rest = linear::add(&total, &linear::neg(&own)?)?;
                if linear::as_constant(&rest) != Some(0) {
                    end.terms.insert(dim.id, rest);
                }
            }
            strides.push(own);
        }
        let is_skewed = !lo.terms.is_empty() || !hi.terms.is_empty();
        let (lo, hi) = self.over_dimensions((lo, hi), width)?;
        let hull = if is_skewed { self.over_dimensions(whole, width) } else { None };
        // On a device that gives up, an inner loop may end early: what it moves, other than its own variable, is then not where
        // it is said to be.
        let may_lag = self.moved_inside.keys().any(|(_, v)| self.secondary.contains_key(v));
        let whole_steps = !may_lag && offset.terms.values().all(|step| step.is_multiple(width.into()));
        Some(Affine { strides, lo, hi, hull, exact: self.inner.is_empty(), whole_steps })
    }

    /// What lies between two ends in all iterations: the lowest, and what is behind the highest access.
    pub(super) fn over_dimensions(
        &self,
        (mut lo, mut hi): (Linear, Linear),
        width: u32,
    ) -> Option<(Bound, Bound)> {
        for dim in self.dims.iter().rev() {
            if lo.terms.contains_key(&dim.id) || hi.terms.contains_key(&dim.id) {
                let (from, to) = dim.range.as_ref()?;
                lo = lo.without(dim.id, from, to)?.0;
                hi = hi.without(dim.id, from, to)?.1;
            }
        }
        if !lo.terms.is_empty() || !hi.terms.is_empty() {
            return None;
        }
        Some((lo.constant, linear::add(&hi.constant, &constant(i64::from(width)))?))
    }

    pub(super) fn place_operands(&mut self, place: &Place) -> Result<(), Refused> {
        match &place.kind {
            PlaceKind::Deref(e) => self.expression(e),
            PlaceKind::Field { base, .. } => self.place_operands(base),
            _ => Ok(()),
        }
    }
}
