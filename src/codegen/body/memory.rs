//! Places, loads, stores and updates as text: what of memory is the iteration's own, what is shown to an inspection, and which macro an
//! access is. Where an access is found from is in [`super::walks`] and [`super::origins`].

use super::{Printed, Printer, Purpose, Scalar, invariant, note_taken, seen, unknown, variable};
use crate::c::hir::*;
use crate::codegen::types;
use crate::loops::plan::*;
use crate::loops::private;
use crate::loops::scalars::is_scalar;
use crate::loops::updates;

impl Printer<'_> {
    /// The address of a place in memory; of one in the iteration's own memory the offset.
    pub fn address(&mut self, place: &Place, out: &mut String) -> Printed<String> {
        match &place.kind {
            PlaceKind::Var(v) => {
                if is_scalar(self.unit, place).is_some() {
                    return Err("the address of a variable".into());
                }
                if self.plan.private.contains_key(v) {
                    return Ok("(__pg_u64)0".into());
                }
                Ok(format!("__pg_o{}", v.0))
            }
            PlaceKind::Deref(e) => self.value(e, out),
            PlaceKind::Field { base, offset, bits: None, .. } => {
                let base = self.address(base, out)?;
                Ok(if *offset == 0 { base } else { format!("({base} + {offset}u)") })
            }
            PlaceKind::Field { .. } => Err("a bit-field".into()),
            PlaceKind::Opaque(what) => Err((*what).into()),
        }
    }

    /// The object of the iteration's own that a place is part of.
    pub(super) fn own(&self, place: &Place) -> Option<VarId> {
        private::object(&self.unit.types, &self.plan.private, place)
    }

    /// Its name and its size, as the macros take them.
    fn own_memory(&self, v: VarId) -> String {
        format!("{}, {}", variable(v), self.plan.private[&v])
    }

    /// Memory of the iteration's own gets its first values.
    pub(super) fn own_values(&mut self, v: VarId, init: &Init, out: &mut String) -> Printed<()> {
        let one;
        let list: &[(u64, Expr)] = match init {
            Init::Scalar(value) => {
                one = [(0, value.clone())];
                &one
            }
            Init::Members(list) => list,
            Init::Aggregate => return Err("an aggregate".into()),
        };
        let mut covered = 0;
        let mut stores = String::new();
        for (at, value) in list {
            let text = self.value(value, &mut stores)?;
            if matches!(self.purpose, Purpose::Inspection(_)) {
                out.push_str(&std::mem::take(&mut stores));
                out.push_str(&seen(&text));
                continue;
            }
            let kind = self.scalar(value.ty)?;
            let memory = self.own_memory(v);
            stores.push_str(&format!("__PG_OWN_ST({}, {memory}, {at}u, {text});\n", kind.suffix()));
            covered += self.unit.types.size_of(value.ty.ty).unwrap_or(0);
        }
        if matches!(self.purpose, Purpose::Inspection(_)) {
            return Ok(());
        }
        if covered < self.plan.private[&v] {
            let (name, words) = (variable(v), self.plan.private[&v].div_ceil(8));
            let word = "__pg_word";
            out.push_str(&format!(
                "{{ int {word}; for ({word} = 0; {word} < {words}; {word}++) {name}[{word}] = 0; }}\n"
            ));
        }
        out.push_str(&stores);
        Ok(())
    }

    pub(super) fn load(&mut self, place: &Place, out: &mut String) -> Printed<String> {
        if !matches!(self.purpose, Purpose::Entry)
            && let Some(index) = self.plan.invariant_places.get(&place.id)
        {
            return Ok(invariant(*index));
        }
        if let Some(v) = is_scalar(self.unit, place) {
            self.declare(v)?;
            return Ok(variable(v));
        }
        let address = self.address(place, out)?;
        self.load_at(place, &address)
    }

    fn load_at(&mut self, place: &Place, address: &str) -> Printed<String> {
        let kind = self.scalar(place.ty)?;
        if matches!(self.purpose, Purpose::Entry) {
            return Ok(format!("__pg_get_{}({address})", kind.suffix()));
        }
        if let Some(v) = self.own(place) {
            return Ok(match self.purpose {
                // No inspection needs what is there.
                Purpose::Inspection(_) => unknown(kind, address),
                _ => format!("__PG_OWN_LD({}, {}, {address})", kind.suffix(), self.own_memory(v)),
            });
        }
        let id = self.plan.site_of.get(&place.id).and_then(|s| s.0).ok_or("a load that was not analysed")?;
        let site = &self.plan.sites[id.0 as usize];
        let logged = if site.logged { 1 } else { 2 * i32::from(site.covered) };
        if let Purpose::Inspection(slice) = self.purpose {
            let (feeds, meets) = (slice.feeding.contains(&place.id), slice.meeting.contains(&id));
            let touch = format!("{}, {}, {address}", id.0, Self::how(site, feeds, meets));
            return Ok(match (feeds, meets) {
                (true, _) if self.inside.contains(&place.id) => {
                    format!("__pg_get_{}({address})", kind.suffix())
                }
                _ if self.inside.contains(&place.id) => unknown(kind, address),
                (true, _) => format!("__PG_LOOK({}, {touch})", kind.suffix()),
                (false, true) => format!("__PG_PASS({}, {touch})", kind.name()),
                (false, false) if slice.only_seen.contains(&place.id) => {
                    format!("__PG_PASS({}, {}, {}, {address})", kind.name(), id.0, Self::only_seen(site))
                }
                (false, false) => unknown(kind, address),
            });
        }
        let (suffix, base) = (kind.suffix(), site.base.0);
        let known = (!matches!(self.plan.bases[base as usize], Base::Dynamic)).then_some(base);
        let (from, memory) = match self.plan.privatization.bases.contains(&site.base) {
            _ if known.is_none() => ("LDX", None),
            true => ("LDP", None),
            false if site.may_use_snapshot => ("LDS", Some("snapshot")),
            false => ("LD", Some("dev")),
        };
        if site.logged {
            self.noted.insert(known);
        }
        if logged != 0 {
            self.logged.insert(known);
        }
        if let Some(seeing) = &mut self.seeing {
            return Ok(seeing.load((place, from), suffix, known, logged, address));
        }
        if let Some(first) = &mut self.first_loads {
            if known.is_none() {
                first.refuse();
                return Ok(format!("__PG_LDX({suffix}, {logged}, {address})"));
            }
            let noted = self.load_in_memory(place, site, (from, suffix), logged, address);
            return Ok(match &mut self.first_loads {
                Some(first) => {
                    let text = format!("__PG_{from}({suffix}, {base}, {logged}, {address})");
                    first.load(suffix, base, address, text, noted)
                }
                None => noted,
            });
        }
        let walk = memory.and_then(|memory| self.walk(place, site, memory, suffix, address));
        if walk.is_none() {
            self.note_other_access();
        }
        let text = match walk {
            Some(walk) => format!("__PG_LDW(__PG_{from}, {suffix}, {base}, {logged}, {walk}, {address})"),
            None if known.is_none() => format!("__PG_LDX({suffix}, {logged}, {address})"),
            None => match memory.and_then(|memory| self.by_origin(site, memory)) {
                Some(at) => format!("__PG_LDO(__PG_{from}, {suffix}, {base}, {logged}, {at}, {address})"),
                None => self.load_in_memory(place, site, (from, suffix), logged, address),
            },
        };
        Ok(self.loaded(kind, known, (site.logged, from == "LD"), address, text))
    }

    /// A load that neither walks nor has an origin; `how`: which macro it is, and its type.
    fn load_in_memory(
        &mut self,
        place: &Place,
        site: &Site,
        (from, suffix): (&str, &str),
        logged: i32,
        address: &str,
    ) -> String {
        let base = site.base.0;
        match self.noted_together(place, site, from) {
            Some(name) => format!("__PG_LDN(__PG_{from}, {suffix}, {base}, {logged}, {name}, {address})"),
            None => format!("__PG_{from}({suffix}, {base}, {logged}, {address})"),
        }
    }

    pub(super) fn store(&mut self, place: &Place, value: &str, out: &mut String) -> Printed<()> {
        if let Some(v) = is_scalar(self.unit, place) {
            self.declare(v)?;
            out.push_str(&format!("{} = {value};\n", variable(v)));
            if let Some(ScalarRole::Extreme { taking }) = self.plan.scalars.get(&v) {
                out.push_str(&note_taken(v, *taking));
            }
            return Ok(());
        }
        let address = self.address(place, out)?;
        self.store_at(place, &address, value, out)
    }

    fn store_at(&mut self, place: &Place, address: &str, value: &str, out: &mut String) -> Printed<()> {
        self.note_other_access();
        let kind = self.scalar(place.ty)?;
        if let Some(v) = self.own(place) {
            let memory = self.own_memory(v);
            out.push_str(&match self.purpose {
                Purpose::Inspection(_) => seen(address),
                _ => format!("__PG_OWN_ST({}, {memory}, {address}, {value});\n", kind.suffix()),
            });
            return Ok(());
        }
        let id = self.plan.site_of.get(&place.id).and_then(|s| s.1).ok_or("a store that was not analysed")?;
        let site = &self.plan.sites[id.0 as usize];
        if let Purpose::Inspection(slice) = self.purpose {
            let meets = slice.meeting.contains(&id);
            if meets || slice.changing.contains(&id) {
                let how = Self::how(site, false, meets);
                out.push_str(&format!("__PG_TOUCH({}, {how}, {address})\n", id.0));
            } else if slice.only_seen.contains(&place.id) {
                out.push_str(&format!("__PG_TOUCH({}, {}, {address})\n", id.0, Self::only_seen(site)));
            } else {
                out.push_str(&seen(address));
            }
            return Ok(());
        }
        self.logged.insert(None);
        let text = match self.plan.bases[site.base.0 as usize] {
            Base::Dynamic => format!("__PG_STX({}, {address}, {value});", kind.suffix()),
            _ => {
                let own = self.plan.privatization.bases.contains(&site.base);
                let (suffix, base) = (kind.suffix(), site.base.0);
                match self.by_origin(site, "dev").filter(|_| !own) {
                    Some(at) => {
                        let how = if self.is_noted { "STN" } else { "STO" };
                        format!("__PG_{how}({suffix}, {base}, {at}, {address}, {value});")
                    }
                    None => format!(
                        "__PG_{}({suffix}, {base}, {address}, {value});",
                        if own { "STP" } else { "ST" }
                    ),
                }
            }
        };
        out.push_str(&self.stored(kind, address, value, text));
        out.push('\n');
        Ok(())
    }

    /// An update that may meet others: on devices it is made in one piece.
    pub(super) fn update(&mut self, parts: &updates::Parts, out: &mut String) -> Printed<()> {
        self.note_other_access();
        let Scalar::Int(kind) = self.scalar(parts.place.ty)? else { return Err("an update".into()) };
        // Arithmetic modulo the width of the place, where a product of two narrow numbers can't overflow either.
        let wide = if kind.size() == 8 { "__pg_u64" } else { "unsigned int" };
        let operand = match parts.operand {
            updates::Operand::Constant(amount) => format!("({wide}){}", types::literal(amount)),
            updates::Operand::Value { value, negated } => {
                let text = self.value(value, out)?;
                format!("{}({wide})({text})", if negated { "0u - " } else { "" })
            }
        };
        let address = self.address(parts.place, out)?;
        let store = self.plan.site_of.get(&parts.place.id).and_then(|s| s.1);
        let id = store.ok_or("an update that was not analysed")?;
        let site = &self.plan.sites[id.0 as usize];
        if let Purpose::Inspection(slice) = self.purpose {
            out.push_str(&seen(&operand));
            if slice.meeting.contains(&id) || slice.changing.contains(&id) {
                let how = Self::how(site, false, slice.meeting.contains(&id));
                let kind = format!("PG_UPDATE_KIND({}, {})", types::operation(parts.op), site.width);
                out.push_str(&format!(
                    "__PG_TOUCH({}, {how} | PG_TOUCH_UPDATE | {kind} << PG_TOUCH_KIND, {address})\n",
                    id.0
                ));
            } else if slice.only_seen.contains(&parts.place.id) {
                out.push_str(&format!("__PG_TOUCH({}, {}, {address})\n", id.0, Self::only_seen(site)));
            } else {
                out.push_str(&seen(&address));
            }
            return Ok(());
        }
        self.logged.insert(None);
        let (mut address, mut operand) = (address, operand);
        if std::mem::take(&mut self.in_group) && self.conditions == 0 {
            // All of a group load what they need before the first one updates: see `assigned_at`.
            let is_constant = matches!(parts.operand, updates::Operand::Constant(_));
            let operand = Some(&mut operand).filter(|_| !is_constant);
            for text in [Some(&mut address), operand].into_iter().flatten() {
                let value = self.temporary(Scalar::Int(IntKind::ULongLong));
                out.push_str(&format!("{value} = {text};\n"));
                *text = value;
            }
            out.push_str("}\n__PG_EACH { __PG_MEMBERS\n");
        }
        let suffix = format!("u{}", kind.size() * 8);
        let op = types::operation(parts.op).trim_start_matches("PG_");
        out.push_str(&match self.plan.bases[site.base.0 as usize] {
            Base::Dynamic => format!("__PG_UPX({suffix}, {op}, {address}, {operand});\n"),
            _ => format!("__PG_UP({suffix}, {}, {op}, {address}, {operand});\n", site.base.0),
        });
        Ok(())
    }

    /// Stores a value and gives it back.
    pub(super) fn assigned(&mut self, place: &Place, value: String, out: &mut String) -> Printed<String> {
        self.assigned_at(place, None, value, out)
    }

    /// The same for a place whose address is known already.
    pub(super) fn assigned_at(
        &mut self,
        place: &Place,
        address: Option<&str>,
        value: String,
        out: &mut String,
    ) -> Printed<String> {
        if let Some(v) = is_scalar(self.unit, place) {
            self.store(place, &value, out)?;
            return Ok(variable(v));
        }
        let kind = self.scalar(place.ty)?;
        let saved = self.temporary(kind);
        let is_common = self.in_group && self.conditions == 0;
        let note = if is_common { self.note_of_store(place) } else { None };
        if let Some(note) = &note {
            out.push_str(&format!("{note}\n}}\n__PG_EACH {{ __PG_MEMBERS\n"));
        }
        out.push_str(&format!("{saved} = {value};\n"));
        // All iterations of a group load before the first of them stores: their compiler would not dare to.
        if is_common {
            out.push_str("}\n__PG_EACH { __PG_MEMBERS\n");
        }
        self.is_noted = note.is_some();
        let stored = match address {
            Some(address) => self.store_at(place, address, &saved, out),
            None => self.store(place, &saved, out),
        };
        self.is_noted = false;
        stored.map(|()| saved)
    }

    /// The old value of a place that is about to be changed, and the address if it is in memory: an address that has side
    /// effects is computed only once.
    pub(super) fn load_to_change(
        &mut self,
        place: &Place,
        out: &mut String,
    ) -> Printed<(String, Option<String>)> {
        if is_scalar(self.unit, place).is_some() {
            return Ok((self.load(place, out)?, None));
        }
        let mut address = self.address(place, out)?;
        let mut changes = false;
        crate::loops::nest::place_expressions(place, &mut |e| {
            changes |= crate::loops::nest::accessed_place(e).is_some_and(|(_, _, writes)| writes);
        });
        if changes {
            let saved = self.temporary(Scalar::Address);
            out.push_str(&format!("{saved} = {address};\n"));
            address = saved;
        }
        Ok((self.load_at(place, &address)?, Some(address)))
    }

    /// How it is told of an access that nobody asks about for conflicts.
    fn only_seen(site: &Site) -> String {
        format!("PG_TOUCH_SEEN | {} << PG_TOUCH_WIDTH", site.width)
    }

    /// How an inspection is told of an access: `PG_TOUCH_*` and the width.
    fn how(site: &Site, feeds: bool, meets: bool) -> String {
        let flags = [(site.is_store, "PG_TOUCH_STORE"), (feeds, "PG_TOUCH_FEEDS"), (meets, "PG_TOUCH_MEETS")];
        let set: Vec<&str> = flags.iter().filter(|(on, _)| *on).map(|(_, name)| *name).collect();
        format!("{} | {} << PG_TOUCH_WIDTH", set.join(" | "), site.width)
    }
}
