//! Accesses of groups that are found from an origin: the place of one access, from which those of others are known distances away. Only what
//! is affine is; what moves in inner loops are walks.

use super::polynomial::Polynomial;
use super::{Printer, variable};
use crate::c::hir::*;
use crate::loops::plan::*;

/// A place that accesses are found from: see [`Printer::by_origin`].
pub(super) struct Origin {
    /// Index of the base.
    pub(super) base: u32,
    /// The field of `struct __pg_view` that it goes through.
    pub(super) memory: &'static str,
    /// Its address, as text.
    pub(super) first: String,
    /// Its offset from the base where all dimensions are at their first iteration.
    at: Polynomial,
    /// In bytes per iteration of each dimension.
    strides: Vec<Polynomial>,
}

impl Printer<'_> {
    /// What notes a group's store ahead of what computes its value, where its place follows from an origin alone: bits are set while loads are
    /// under way.
    pub(super) fn note_of_store(&mut self, place: &Place) -> Option<String> {
        let kind = self.scalar(place.ty).ok().filter(|_| self.own(place).is_none())?;
        let id = self.plan.site_of.get(&place.id)?.1?;
        let site = &self.plan.sites[id.0 as usize];
        let base = site.base;
        let is_dynamic = matches!(self.plan.bases[base.0 as usize], Base::Dynamic);
        if is_dynamic || self.plan.privatization.bases.contains(&base) {
            return None;
        }
        let at = self.by_origin(site, "dev")?;
        Some(format!("__PG_NOTE({}, {}, {at})", kind.suffix(), base.0))
    }

    /// Where an access is found from an origin, and how far from it: the place of another access, or its own, of the group's first
    /// iteration. For accesses that are affine, in what may be run in groups: those that strides move alike share what makes their address.
    /// Of subscripts it is made anew each time, because for all that a compiler knows they might wrap around.
    pub(super) fn by_origin(&mut self, site: &Site, memory: &'static str) -> Option<String> {
        let affine = site.affine.as_ref().filter(|affine| affine.exact && affine.whole_steps)?;
        if !self.is_grouped {
            return None;
        }
        let strides: Option<Vec<Polynomial>> = affine
            .strides
            .iter()
            .zip(&self.plan.dims)
            .map(|(stride, dim)| Polynomial::of(stride)?.times(dim.distance))
            .collect();
        let (strides, at) = (strides?, Polynomial::of(&affine.lo)?);
        let base = site.base.0;
        let pointer = match self.plan.bases[base as usize] {
            Base::Object { var, .. } => format!("__pg_o{}", var.0),
            Base::Pointer { var }
                if self.plan.live_ins.contains(&var) && !self.plan.scalars.contains_key(&var) =>
            {
                variable(var)
            }
            _ => return None,
        };
        let along = |how: &str| -> String {
            let moving = strides.iter().enumerate().filter(|(_, stride)| !stride.is_zero());
            moving
                .map(|(dim, stride)| format!(" + {} * {}", how.replace('#', &dim.to_string()), stride.text()))
                .collect()
        };
        let known = self
            .origins
            .iter()
            .position(|origin| origin.base == base && origin.memory == memory && origin.strides == strides);
        let number = known.unwrap_or_else(|| {
            let first = format!("{pointer} + {}{}", at.text(), along("(__pg_u64)__pg_first_k#"));
            self.origins.push(Origin { base, memory, first, at: at.clone(), strides: strides.clone() });
            self.origins.len() - 1
        });
        let away = at.minus(&self.origins[number].at)?;
        Some(format!("__pg_origin_{number}, {}{}", away.text(), along("(__pg_u64)__PG_OF_GROUP(#, 0)")))
    }
}
