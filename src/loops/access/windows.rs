//! Windows of accesses that aren't affine: between which bytes of its array each lies, by the ranges of its subscripts (`ranges`).
//!
//! A window says nothing about which iteration touches what. What it is good for is decided at entry: accesses to other
//! memory can't meet it, and where it lies inside of the array that its pointer leads to, or nobody knows how large that is, the window is
//! what a device gets, and no address needs to be checked.

use super::*;

/// Windows this wide or wider, in bytes, are those of a type and not of an array.
const WIDEST: i64 = 1 << 31;

impl Accesses<'_> {
    /// A subscript as a form. While addresses are computed by ranges it may have unknowns.
    pub(super) fn subscript(&mut self, index: &Expr) -> Option<Linear> {
        if self.values.collecting.is_none() {
            return self.linear(index, 0);
        }
        let range = self.range(index, 0)?;
        let form = self.form_of(&range)?;
        if let Some(needs) = &mut self.values.collecting {
            needs.extend(range.needs);
        }
        Some(form)
    }

    /// Computes an address by ranges, with what that needs.
    fn by_ranges(
        &mut self,
        address: impl FnOnce(&mut Self) -> Result<(BaseId, Option<Linear>), Refused>,
    ) -> Option<(BaseId, Linear, Vec<Assumption>)> {
        let (assumed, bases) = (self.assumptions.len(), self.bases.len());
        self.values.collecting = Some(Vec::new());
        let result = address(self);
        let mut needs = self.values.collecting.take()?;
        needs.extend(self.assumptions.split_off(assumed));
        match result {
            Ok((base, Some(form))) => Some((base, form, needs)),
            _ => {
                self.bases.truncate(bases);
                None
            }
        }
    }

    /// A pointer variable now holds the value of an expression whose offset isn't affine.
    pub(super) fn remember_address(&mut self, v: VarId, value: &Expr) {
        let address = self.by_ranges(|s| s.pointer(value, 0));
        self.forget(v);
        if let Some((base, form, needs)) = address {
            self.values.known.insert(v, Known::Address(base, form, needs));
        }
    }

    /// What a pointer variable holds, while addresses are computed by ranges.
    pub(super) fn remembered_address(&mut self, v: VarId) -> Option<(BaseId, Linear)> {
        let collecting = self.values.collecting.as_mut()?;
        let Some(Known::Address(base, form, needs)) = self.values.known.get(&v) else { return None };
        collecting.extend(needs.iter().cloned());
        Some((*base, form.clone()))
    }

    /// The window of an access through `base` that isn't affine.
    pub(super) fn window_of(&mut self, place: &Place, base: BaseId, width: u32) -> Option<Window> {
        if self.values.in_prelude || matches!(self.bases[base.0 as usize], Base::Dynamic) {
            return None;
        }
        let (own, form, needs) = self.by_ranges(|s| s.location(place, 0))?;
        let affine = self.window(&form, width).filter(|_| own == base)?;
        let (lo, hi) = (linear::as_constant(&affine.lo), linear::as_constant(&affine.hi));
        if lo
            .zip(hi)
            .is_some_and(|(lo, hi)| hi.checked_sub(lo).is_none_or(|wide| wide <= 0 || wide >= WIDEST))
        {
            return None;
        }
        let mut assumptions: Vec<Assumption> = Vec::new();
        for need in needs {
            let need = Assumption { lo: self.settled(need.lo), hi: self.settled(need.hi), kind: need.kind };
            if !assumptions.contains(&need) {
                assumptions.push(need);
            }
        }
        let strides = affine.strides.into_iter().map(|stride| self.settled(stride)).collect();
        let (lo, hi) = (self.settled(affine.lo), self.settled(affine.hi));
        let hull = affine.hull.map(|(first, end)| (self.settled(first), self.settled(end)));
        Some(Window { affine: Affine { strides, lo, hi, hull, exact: false, ..affine }, assumptions })
    }

    /// A bound whose numbers are all handed over.
    fn settled(&mut self, bound: Bound) -> Bound {
        let mut both =
            |a: Box<Bound>, b: Box<Bound>| (Box::new(self.settled(*a)), Box::new(self.settled(*b)));
        match bound {
            Bound::Const(_) => bound,
            Bound::Value(index) => match index.checked_sub(facts::CANDIDATES) {
                Some(candidate) => {
                    let e = self.values.candidates[candidate].clone();
                    self.value(&e)
                }
                None => bound,
            },
            Bound::Add(a, b) => {
                let (a, b) = both(a, b);
                Bound::Add(a, b)
            }
            Bound::Mul(a, b) => {
                let (a, b) = both(a, b);
                Bound::Mul(a, b)
            }
            Bound::Min(a, b) => {
                let (a, b) = both(a, b);
                Bound::Min(a, b)
            }
            Bound::Max(a, b) => {
                let (a, b) = both(a, b);
                Bound::Max(a, b)
            }
        }
    }
}

#[cfg(test)]
mod tests;
