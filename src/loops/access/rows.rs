//! Accesses behind pointers that elements of another array hold: `a[i][j]` of `double **a`, `p[i]->x` of `struct body **p`, `u[i][j][k]` of `double ***u`. Which element
//! it is, and how far behind its pointer the access lies, are two forms; what they are worth together, only an entry can see ([`Row`]).

use super::*;

/// Pointers that lead to pointers: no more than so many. What an entry reads grows with each.
const DEEPEST: usize = 3;

impl Accesses<'_> {
    /// The row that an access of a place without a base is made to, and where in it.
    pub(super) fn row(&mut self, place: &Place, width: u32) -> Option<Row> {
        let assumed = self.assumptions.len();
        let found = self.row_place(place, 0);
        let assumptions = self.assumptions.split_off(assumed);
        let (slot, offset) = found?;
        let holder = self.table(slot, 0)?;
        let is_known = holder.affine.is_some() || holder.window.is_some();
        let offset = self.window(&offset, width).filter(|_| is_known)?;
        for assumption in assumptions {
            if !self.assumptions.contains(&assumption) {
                self.assumptions.push(assumption);
            }
        }
        Some(Row { slot, offset })
    }

    /// The access of the table that all starts with, where that isn't too many tables away.
    fn table(&self, slot: SiteId, depth: usize) -> Option<&Site> {
        let site = &self.sites[slot.0 as usize];
        match &site.row {
            None => Some(site),
            Some(_) if depth + 1 == DEEPEST => None,
            Some(row) => self.table(row.slot, depth + 1),
        }
    }

    /// Forgets rows of tables that each thread has for itself: what the program has there at entry is nothing that the loop follows.
    pub fn forget_private_tables(&mut self) {
        let is_private = |site: &Site| {
            let row = site.row.as_ref();
            row.and_then(|row| self.table(row.slot, 0))
                .is_some_and(|table| self.privatized.contains(&table.base))
        };
        let private: Vec<bool> = self.sites.iter().map(is_private).collect();
        let private = self.sites.iter_mut().zip(private).filter(|(_, is_private)| *is_private);
        private.for_each(|(site, _)| site.row = None);
    }

    /// The load of the pointer behind which a place lies, and how far behind it.
    fn row_place(&mut self, place: &Place, depth: usize) -> Option<(SiteId, Linear)> {
        match &place.kind {
            PlaceKind::Deref(e) => self.row_pointer(e, depth + 1),
            PlaceKind::Field { base, offset, .. } => {
                let (slot, at) = self.row_place(base, depth + 1)?;
                Some((slot, at.plus(&Linear::number(constant(i64::try_from(*offset).ok()?)))?))
            }
            PlaceKind::Var(_) | PlaceKind::Opaque(_) => None,
        }
    }

    /// The same for a pointer's value.
    pub(super) fn row_pointer(&mut self, e: &Expr, depth: usize) -> Option<(SiteId, Linear)> {
        if depth > 24 || self.values.in_prelude {
            return None;
        }
        match &e.kind {
            ExprKind::PtrAdd { pointer, index, stride } => {
                let (slot, offset) = self.row_pointer(pointer, depth + 1)?;
                let index = self.subscript(index)?.times(&constant(i64::try_from(*stride).ok()?))?;
                Some((slot, offset.plus(&index)?))
            }
            ExprKind::Cast(inner) if self.unit.types.pointee(inner.ty.ty).is_some() => {
                self.row_pointer(inner, depth + 1)
            }
            ExprKind::AddressOf(place) => self.row_place(place, depth + 1),
            ExprKind::Load(place) => match is_scalar(self.unit, place) {
                Some(v) => {
                    let definition = self.definition(v).filter(|_| self.written.contains(&v))?;
                    self.assumptions.extend(definition.assumptions);
                    definition.row
                }
                None => {
                    let (load, _) = self.site_of.get(&place.id)?;
                    Some(((*load)?, Linear::number(constant(0))))
                }
            },
            _ => None,
        }
    }
}
