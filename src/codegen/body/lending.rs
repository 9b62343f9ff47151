//! What the turns of an inner loop need and could be made before them: limits that memory holds, and loads that lanes make for each
//! other. Whether memory stays as it is while the loop runs is asked here, of the text, and in kernels of what the launch stores to
//! (`__PG_IS_KEPT`). What kernels do with it is in `kernel/lent.h`.

use super::{Printed, Printer, Scalar, variable};
use crate::c::hir::*;
use crate::codegen::group::{Moving, Stride};
use crate::loops::nest;
use crate::loops::plan::*;
use crate::loops::scalars::is_scalar;
use std::collections::{BTreeMap, BTreeSet};

/// Values that an inner loop's turns need and that follow from nothing which turns before have made: the lanes of a warp make them
/// for each other, neighbours those of neighbouring turns, so that they load side by side. Where turns store, it is to one place, the same
/// for all or moving on from turn to turn, which kernels hold for as long.
pub(super) struct Lending {
    /// What turns change.
    assigned: BTreeSet<VarId>,
    /// Conditions around the loop: what a turn may not need is not made before it.
    conditions: u32,
    iv: VarId,
    found: Vec<Lent>,
    held: Option<Held>,
    /// Where turns carry nothing on: lanes may take them side by side, instead of lending.
    shared: Option<Shared>,
    /// Bases of what turns load by themselves: what is held must not be there.
    loaded: BTreeSet<u32>,
    /// Whether turns do what lending can't bear.
    is_refused: bool,
}

/// The place that turns store to.
struct Held {
    address: String,
    kind: Scalar,
    base: u32,
    /// From turn to turn, in bytes.
    stride: i64,
    /// Whether turns load it, and whether that is logged.
    loaded: Option<bool>,
    /// Stores that are still to be printed.
    stores: usize,
}

/// Turns that leave nothing behind but what each stores, to a place of its own: any lane may take any of them.
struct Shared {
    /// Bases of what they load besides that place: what nothing stores to.
    loaded: BTreeSet<u32>,
    /// Variables that differ from iteration to iteration, besides the inner loop's own.
    variables: BTreeSet<VarId>,
}

/// One of them.
pub(super) struct Lent {
    name: String,
    kind: Scalar,
    text: String,
    /// Types and texts of the loads that come first.
    ahead: Vec<(String, String)>,
    /// Bases, and pointers that addresses in them begin with.
    pointers: BTreeSet<(u32, String)>,
    /// See [`Seeing::seen`].
    seen: BTreeSet<String>,
    /// Variables that differ from iteration to iteration, besides the inner loop's own.
    variables: BTreeSet<VarId>,
}

/// Bytes that a turn may take from others, for which there is room; what there is more, each thread makes itself.
const MOST_LENT: u64 = 16;
/// What moves further from turn to turn, in bytes, doesn't lie side by side.
const SIDE_BY_SIDE: i64 = 16;
/// So many loads of a loop's turns are looked at where rows end (`__pg_ends`), which keeps two numbers for each; any others each by themselves.
const MOST_ROWS: usize = 4;

/// Loads are printed that are made before turns that store.
pub(super) struct Seeing {
    /// The place that is held, if any.
    held: Option<String>,
    /// Places that turns move through: nobody loads there again. And whether all of them lie between the first turn's and the last one's, if these
    /// two are as far apart as steps are long together.
    once: BTreeMap<PlaceId, bool>,
    /// Those of such places, by their types and texts, as far as they follow from none of the others: they can be made long before
    /// the rest.
    ahead: Vec<(String, String)>,
    /// Pointers that addresses begin with, each with the base that is loaded from.
    pointers: BTreeSet<(u32, String)>,
    /// Loads of the values before that are looked at where rows end.
    rows: usize,
    /// Whether one of them is of that place.
    meets: bool,
    /// For the loads that look whether they meet what is held: whether they do, as text that compilers evaluate.
    seen: BTreeSet<String>,
}

/// In front of a pointer that addresses begin with, the same for all lanes, where loads are printed that lanes make for each other.
const POINTER: &str = "__PG_POINTER ";

/// What stands in the rest of a value for what has been loaded ahead of it.
const AHEAD: &str = "__pg_ahead.v";

/// The subscript and the step of an address, by what stands behind its pointer, where there is nothing else.
fn subscript(text: &str) -> Option<(&str, &str)> {
    let (index, step) =
        text.strip_prefix(" + (__pg_u64)(__pg_i64)")?.strip_suffix(')')?.rsplit_once(" * ")?;
    let mut depth = 0u32;
    let ends = index.char_indices().filter_map(|(at, c)| {
        match c {
            '(' => depth += 1,
            ')' => depth = depth.checked_sub(1)?,
            _ => return None,
        }
        (depth == 0).then_some(at)
    });
    // Only the last parenthesis closes the first one.
    let is_whole = index.starts_with('(') && ends.take(2).eq([index.len() - 1]);
    let is_number = step.strip_suffix('u').is_some_and(|step| step.bytes().all(|c| c.is_ascii_digit()));
    (is_whole && is_number).then_some((index, step))
}

/// How many of such loads are looked at where rows end.
fn rows(ahead: &[(String, String)]) -> usize {
    ahead.iter().filter(|(_, text)| text.contains("__PG_LD_ROW")).count()
}

impl Seeing {
    /// The text of such a load; `base`: none that is known at entry, if `None`.
    pub(super) fn load(
        &mut self,
        (place, from): (&Place, &str),
        suffix: &str,
        base: Option<u32>,
        logged: i32,
        address: &str,
    ) -> String {
        let once = self.once.get(&place.id).copied().filter(|_| from == "LD");
        let is_once = once.is_some();
        let from = match from {
            "LD" if once == Some(true) => "LD_ROW",
            "LD" if is_once => "LD_ONCE",
            "LD" => "LD_LENT",
            _ => from,
        };
        let plain = address.replace(POINTER, "");
        let address = &match (address.trim_start_matches('(').strip_prefix(POINTER), base) {
            (Some(rest), Some(base)) => {
                let end = rest.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(rest.len());
                let pointer = &rest[..end];
                self.pointers.insert((base, pointer.to_owned()));
                // Pointers in subscripts are no more than numbers.
                match subscript(&rest[end..]).filter(|_| address.len() == POINTER.len() + rest.len() + 1) {
                    Some((index, step)) => {
                        format!("__PG_POINTER_AT({base}, {pointer}, {step}, {})", index.replace(POINTER, ""))
                    }
                    None => {
                        let named = format!("__PG_POINTER({base}, {pointer})");
                        address.replacen(&format!("{POINTER}{pointer}"), &named, 1).replace(POINTER, "")
                    }
                }
            }
            _ => plain.clone(),
        };
        let is_plain = matches!(from, "LD_ROW" | "LD_ONCE" | "LD_LENT");
        self.meets |= self.held.as_ref().is_some_and(|held| base.is_none() || *held == plain);
        if self.held.is_some() {
            self.seen.insert(format!("__PG_SEES({suffix}, {}, {logged})", base.unwrap_or_default()));
        }
        let printed = |from: &str| match (&self.held, base) {
            (Some(_), _) => {
                format!("__PG_SEEN(__PG_{from}, {suffix}, {}, {logged}, {address})", base.unwrap_or_default())
            }
            (None, Some(base)) => format!("__PG_{from}({suffix}, {base}, {logged}, {address})"),
            (None, None) => format!("__PG_{from}({suffix}, {logged}, {address})"),
        };
        let is_known = |text: &str| self.ahead.iter().any(|(_, other)| other == text);
        let text = match printed(from) {
            text if from == "LD_ROW" && self.rows + rows(&self.ahead) >= MOST_ROWS && !is_known(&text) => {
                printed("LD_ONCE")
            }
            text => text,
        };
        let text = if is_plain { text } else { format!("__PG_IF_DUE({suffix}, {text})") };
        if !is_once || base.is_none() || address.contains(AHEAD) {
            return text;
        }
        let load = (format!("__pg_{suffix}"), text);
        let number = self.ahead.iter().position(|other| *other == load).unwrap_or_else(|| {
            self.ahead.push(load);
            self.ahead.len() - 1
        });
        format!("{AHEAD}{number}")
    }
}

impl Held {
    /// What it takes of the room for each turn.
    fn bytes(&self) -> u64 {
        if self.stride == 0 { 0 } else { self.kind.size() }
    }
}

impl Lending {
    /// What a turn takes of the room.
    fn bytes(&self) -> u64 {
        self.held.as_ref().map_or(0, Held::bytes)
            + self.found.iter().map(|lent| lent.kind.size()).sum::<u64>()
    }
}

impl Printer<'_> {
    /// An expression as one that other threads may evaluate, if it is.
    pub(super) fn lend(&mut self, e: &Expr) -> Printed<Option<String>> {
        let may = |lending: &&Lending| {
            lending.conditions == self.conditions
                && self.unit.types.pointee(e.ty.ty).is_none()
                && self.is_made_before(&lending.assigned, e, true)
                && self.lies_side_by_side(e)
        };
        if self.lending.as_ref().filter(may).is_none() {
            return Ok(None);
        }
        let Ok(kind) = self.scalar(e.ty) else { return Ok(None) };
        let Some(lending) = self.lending.take_if(|lending| lending.bytes() + kind.size() <= MOST_LENT) else {
            return Ok(None);
        };
        let mut once = BTreeMap::new();
        if let Some(walks) = &self.walks {
            nest::expressions(e, &mut |e| {
                if let ExprKind::Load(place) = &e.kind
                    && let Some(Stride::Known(1..)) = walks.moving.address(place)
                {
                    once.insert(place.id, self.moves_once(place, lending.iv));
                }
            });
        }
        let mut effects = String::new();
        let held = lending.held.as_ref().map(|held| held.address.clone());
        self.asks_kept |= held.is_some();
        let rows = lending.found.iter().map(|lent| rows(&lent.ahead)).sum();
        let seeing = Seeing {
            held,
            once,
            ahead: Vec::new(),
            pointers: BTreeSet::new(),
            rows,
            meets: false,
            seen: BTreeSet::new(),
        };
        self.seeing = Some(seeing);
        let alone = self.value(e, &mut effects);
        let Some(Seeing { ahead, pointers, meets, seen, .. }) = self.seeing.take() else {
            return Err("a value that is seen".into());
        };
        let text = self.value(e, &mut effects);
        self.lending = Some(lending);
        let (alone, text) = (alone?, text?);
        let Some(lending) = self.lending.as_mut().filter(|_| effects.is_empty()) else {
            return Err("a value with effects".into());
        };
        if meets {
            return Ok(None);
        }
        self.walk_count += 1;
        let name = format!("__pg_lent_{}", self.walk_count);
        let lent = format!("__PG_LENT({name}, {text})");
        let mut variables = BTreeSet::new();
        nest::expressions(e, &mut |e| {
            if let ExprKind::Load(place) = &e.kind
                && !self.plan.invariant_places.contains_key(&place.id)
                && let Some(v) = is_scalar(self.unit, place)
                && !self.plan.live_ins.contains(&v)
                && v != lending.iv
            {
                variables.insert(v);
            }
        });
        // What is left of them are pointers that nothing is loaded through: they are compared, say.
        let text = alone.replace(POINTER, "");
        lending.found.push(Lent { name, kind, text, ahead, pointers, seen, variables });
        Ok(Some(lent))
    }

    /// Whether only one operand of an address moves. Numbers of 32 bits may wrap around on the way; where several move, that may happen to one after the
    /// other, and nothing tells it from where they are in the end.
    fn moves_once(&self, place: &Place, iv: VarId) -> bool {
        let mut times = 0;
        nest::place_expressions(place, &mut |e| {
            if let ExprKind::Load(place) = &e.kind {
                times += u32::from(is_scalar(self.unit, place) == Some(iv));
            }
        });
        times == 1
    }

    /// A pointer that something is added to, by its text: apart from that, if it is the same for all lanes.
    pub(super) fn pointer_of_all(&self, pointer: &Expr, text: String) -> String {
        let ExprKind::Load(place) = &pointer.kind else { return text };
        let is_common = self.plan.invariant_places.contains_key(&place.id)
            || is_scalar(self.unit, place).is_some_and(|v| self.plan.live_ins.contains(&v));
        if is_common { format!("{POINTER}{text}") } else { text }
    }

    /// Whether what an expression loads lies side by side from turn to turn, as far as that is known: something does, and nothing else
    /// moves in another way.
    fn lies_side_by_side(&self, e: &Expr) -> bool {
        let Some(walks) = &self.walks else { return false };
        let (mut some, mut all) = (false, true);
        nest::expressions(e, &mut |e| {
            if let ExprKind::Load(place) = &e.kind
                && is_scalar(self.unit, place).is_none()
                && !self.plan.invariant_places.contains_key(&place.id)
            {
                match walks.moving.address(place) {
                    Some(Stride::Known(0)) | None => {}
                    Some(Stride::Known(bytes)) if bytes.abs() <= SIDE_BY_SIDE => some = true,
                    Some(_) => all = false,
                }
            }
        });
        some && all
    }

    /// Whether an expression has the same value before turns that change `assigned`; one that others may evaluate loads something, too.
    pub(super) fn is_made_before(&self, assigned: &BTreeSet<VarId>, e: &Expr, loads: bool) -> bool {
        let all_lendable = |place: &Place| {
            let mut all = true;
            nest::place_expressions(place, &mut |e| all &= self.is_made_before(assigned, e, false));
            all
        };
        let is_lendable = match &e.kind {
            ExprKind::Int(_) | ExprKind::Float(_) => true,
            ExprKind::Load(place) if self.plan.invariant_places.contains_key(&place.id) => true,
            ExprKind::Load(place) => match is_scalar(self.unit, place) {
                Some(v) => !assigned.contains(&v),
                None => self.own(place).is_none() && all_lendable(place),
            },
            ExprKind::AddressOf(place) => all_lendable(place),
            ExprKind::Unary(_, a) | ExprKind::Cast(a) => self.is_made_before(assigned, a, false),
            ExprKind::Binary(_, a, b) => {
                self.is_made_before(assigned, a, false) && self.is_made_before(assigned, b, false)
            }
            ExprKind::PtrAdd { pointer, index, .. } => {
                self.is_made_before(assigned, pointer, false) && self.is_made_before(assigned, index, false)
            }
            _ => false,
        };
        let mut has_load = !loads;
        nest::expressions(e, &mut |e| {
            has_load |= matches!(&e.kind, ExprKind::Load(place) if is_scalar(self.unit, place).is_none()
                && !self.plan.invariant_places.contains_key(&place.id));
        });
        is_lendable && has_load
    }

    /// What stands in front of a loop whose turns take values from others.
    pub(super) fn lending_text(
        &mut self,
        lending: Option<&Lending>,
        kind: &str,
        iv: &str,
    ) -> Printed<String> {
        let found = lending.map_or(&[][..], |lending| &lending.found);
        let held = lending.and_then(|lending| lending.held.as_ref());
        let is_refused =
            lending.is_some_and(|lending| lending.is_refused) || held.is_some_and(|held| held.stores != 0);
        let loaded = lending.filter(|_| held.is_some()).map(|lending| lending.loaded.clone());
        let kept = self.kept_bases(&loaded.unwrap_or_default());
        let count = if is_refused { 0 } else { found.len() };
        let shared = lending.and_then(|lending| lending.shared.as_ref());
        self.lends |= count != 0 || shared.is_some();
        self.shares |= shared.is_some();
        let mut text = match shared {
            Some(shared) => {
                format!("__PG_SHARING(1, {}, {})\n", u8::from(!is_refused), self.kept_bases(&shared.loaded))
            }
            None => "__PG_SHARING(0, 0, 0)\n".into(),
        };
        let mut takes = String::new();
        for v in shared.map_or(&BTreeSet::new(), |shared| &shared.variables) {
            self.walk_count += 1;
            let name = format!("__pg_shared_{}", self.walk_count);
            text.push_str(&format!(
                "__PG_SHARE({name}, {}, {})\n",
                self.scalar(self.unit.var(*v).ty)?.name(),
                variable(*v)
            ));
            takes.push_str(&format!("__pg_do({name}); "));
        }
        text.push_str(&format!("__PG_ALL_SHARED({takes};)\n"));
        text.push_str(&format!("__PG_LENDING({count}, {kept})\n"));
        // Whether what lanes make for each other may meet what is held.
        let seen: BTreeSet<&str> = found.iter().flat_map(|lent| &lent.seen).map(String::as_str).collect();
        let meets: Vec<&str> = seen.into_iter().chain(["0"]).collect();
        let meets = meets.join(" || ");
        match held {
            Some(Held { address, kind: held, base, stride, loaded, .. }) => text.push_str(&format!(
                "__PG_HOLDING({kind}, {iv}, {}, {base}, {}, {stride}, {}, {meets}, {address})\n",
                held.suffix(),
                u8::from(*loaded == Some(true)),
                u8::from(loaded.is_some()),
            )),
            None => text.push_str(&format!("__PG_HOLDING_NOTHING({kind})\n")),
        }
        self.room = self.room.max(lending.map_or(0, Lending::bytes));
        let mut calls = String::new();
        let mut before = held.map_or(0, Held::bytes);
        let mut pointers = BTreeSet::new();
        for lent in found {
            let mut parameters = format!("const {kind} {iv}");
            let mut arguments = format!("__pg_of({iv})");
            for v in &lent.variables {
                let name = variable(*v);
                parameters.push_str(&format!(", const {} {name}", self.scalar(self.unit.var(*v).ty)?.name()));
                arguments.push_str(&format!(", __pg_of({name})"));
            }
            let members: String = lent
                .ahead
                .iter()
                .enumerate()
                .map(|(number, (kind, _))| format!("{kind} v{number}; "))
                .collect();
            for (base, pointer) in &lent.pointers {
                if pointers.insert((*base, pointer.clone())) {
                    text.push_str(&format!("__PG_PLACE_POINTER({base}, {pointer})\n"));
                }
            }
            let loads: Vec<&str> = lent.ahead.iter().map(|(_, load)| load.as_str()).collect();
            text.push_str(&format!(
                "__PG_LEND({}, {before}, {}, ({parameters}), ({arguments}), ({members}), ({}), {})\n",
                lent.name,
                lent.kind.name(),
                loads.join(", "),
                lent.text
            ));
            calls.push_str(&format!("__pg_do({}); ", lent.name));
            before += lent.kind.size();
        }
        text.push_str(&format!("__PG_ALL_LENT({calls};)\n"));
        Ok(text)
    }

    /// What the turns of a loop may take from others, before they are printed.
    pub(super) fn lending(&mut self, l: &LoopStmt, moving: &Moving, iv: VarId) -> Option<Lending> {
        let mut lending = Lending {
            assigned: moving.assigned.clone(),
            conditions: self.conditions,
            iv,
            found: Vec::new(),
            held: None,
            shared: None,
            loaded: BTreeSet::new(),
            is_refused: false,
        };
        if !self.stores(l)?.is_empty() {
            let held = self.held(l, moving)?;
            lending.shared = self.shared(l, moving, iv, &held);
            lending.held = Some(held);
        }
        Some(lending)
    }

    /// What a lane has to know to take turns of another one's loop, if they carry nothing on: each stores to the place that is held, in
    /// one that nobody else's turn stores to or loads, and sets no variable that was there before it.
    fn shared(&mut self, l: &LoopStmt, moving: &Moving, iv: VarId, held: &Held) -> Option<Shared> {
        let mut own = BTreeSet::new();
        nest::statements(&l.body, &mut |s| {
            if let StmtKind::Declare { var, init: Some(_) } = &s.kind {
                own.insert(*var);
            }
        });
        if held.stride == 0 || !moving.assigned.is_subset(&own) {
            return None;
        }
        let (mut places, mut variables) = (Vec::new(), BTreeSet::new());
        nest::all_expressions(&l.body, &mut |e| {
            let Some((place, reads, writes)) = nest::accessed_place(e) else { return };
            match is_scalar(self.unit, place) {
                _ if self.plan.invariant_places.contains_key(&place.id) => {}
                Some(v) if v == iv || own.contains(&v) || self.plan.live_ins.contains(&v) => {}
                Some(v) => _ = variables.insert(v),
                None => places.push((place, reads, writes)),
            }
        });
        let mut loaded = BTreeSet::new();
        for (place, reads, writes) in places {
            let mut effects = String::new();
            let address = self.address(place, &mut effects).ok().filter(|_| effects.is_empty());
            let is_held = address.is_some_and(|address| address == held.address)
                && self.scalar(place.ty).ok() == Some(held.kind);
            if self.own(place).is_some() || writes && !is_held {
                return None;
            }
            if reads && !is_held {
                loaded.insert(self.base(place, false)?);
            }
        }
        Some(Shared { loaded, variables })
    }

    /// The one place that a loop's turns store to.
    fn held(&mut self, l: &LoopStmt, moving: &Moving) -> Option<Held> {
        let mut all: Vec<&Expr> = Vec::new();
        nest::turn_expressions(l, &mut |e| all.push(e));
        let places: Vec<&Place> = all
            .into_iter()
            .filter_map(|e| nest::accessed_place(e).filter(|(_, _, writes)| *writes))
            .map(|(place, _, _)| place)
            .filter(|place| is_scalar(self.unit, place).is_none())
            .collect();
        let (first, stores) = (*places.first()?, places.len());
        let (base, kind) = (self.base(first, true)?, self.scalar(first.ty).ok()?);
        let Stride::Known(stride) = moving.address(first)? else { return None };
        let moves_on = stride == 0 || (kind.size() as i64..=SIDE_BY_SIDE).contains(&stride);
        let elsewhere = self.plan.privatization.bases.iter().any(|b| b.0 == base);
        let updated = places.iter().any(|place| self.plan.updates.contains_key(&place.id));
        if !moves_on || elsewhere || updated {
            return None;
        }
        let mut effects = String::new();
        let address = self.address(first, &mut effects).ok().filter(|_| effects.is_empty())?;
        Some(Held { address, kind, base, stride, loaded: None, stores })
    }

    /// A load as turns make it, whose text is given: of what is held, or of what isn't to be stored meanwhile. `base`: none that is known at
    /// entry, if `None`; `is_current`: whether it loads what is there now.
    pub(super) fn loaded(
        &mut self,
        kind: Scalar,
        base: Option<u32>,
        (logged, is_current): (bool, bool),
        address: &str,
        text: String,
    ) -> String {
        let Some(lending) = &mut self.lending else { return text };
        let held = lending.held.as_mut().filter(|held| held.address == address && held.kind == kind);
        match (held, base) {
            (Some(held), Some(_)) if is_current => {
                *held.loaded.get_or_insert_default() |= logged;
                format!("__PG_HELD({text})")
            }
            (None, Some(base)) => {
                lending.loaded.insert(base);
                text
            }
            _ => {
                lending.is_refused |= lending.held.is_some();
                text
            }
        }
    }

    /// A store as turns make it.
    pub(super) fn stored(&mut self, kind: Scalar, address: &str, value: &str, text: String) -> String {
        let Some(lending) = &mut self.lending else { return text };
        let is_due = lending.conditions == self.conditions;
        match &mut lending.held {
            Some(held) if held.address == address && held.kind == kind && is_due && held.stores != 0 => {
                held.stores -= 1;
                format!("__PG_HOLD({value}, {text})")
            }
            _ => {
                lending.is_refused = true;
                text
            }
        }
    }

    /// The base of what is loaded from a place, or stored there; `None`: none that is known at entry.
    fn base(&self, place: &Place, stores: bool) -> Option<u32> {
        let (load, store) = *self.plan.site_of.get(&place.id)?;
        let id = if stores { store? } else { load? };
        let base = self.plan.sites[id.0 as usize].base;
        (!matches!(self.plan.bases[base.0 as usize], Base::Dynamic)).then_some(base.0)
    }

    /// Text for whether all memory that an expression loads stays as it is, whoever stores; `None`: nobody knows.
    fn kept(&mut self, e: &Expr) -> Option<String> {
        let mut all = Some(BTreeSet::new());
        nest::expressions(e, &mut |e| {
            if let ExprKind::Load(place) = &e.kind
                && is_scalar(self.unit, place).is_none()
                && !self.plan.invariant_places.contains_key(&place.id)
            {
                let base = self.base(place, false);
                all = std::mem::take(&mut all).zip(base).map(|(mut all, base)| {
                    all.insert(base);
                    all
                });
            }
        });
        Some(self.kept_bases(&all?))
    }

    fn kept_bases(&mut self, bases: &BTreeSet<u32>) -> String {
        let all: Vec<String> = bases.iter().map(|base| format!("__PG_IS_KEPT({base})")).collect();
        self.asks_kept |= !all.is_empty();
        if all.is_empty() { "1".into() } else { format!("({})", all.join(" && ")) }
    }

    /// Text for whether an expression keeps its value while a loop runs: the loop stores nothing, or not there, and sets none of its
    /// variables.
    pub(super) fn is_kept(&mut self, e: &Expr, l: &LoopStmt) -> Option<String> {
        let set = nest::set_in_turns(l);
        let mut keeps = true;
        nest::expressions(e, &mut |e| {
            if let Some((place, _, writes)) = nest::accessed_place(e) {
                keeps &= !writes && nest::root_variable(place).is_none_or(|v| !set.contains(&v));
            }
        });
        match self.stores(l)? {
            _ if !keeps => None,
            stored if stored.is_empty() => Some("1".into()),
            _ => self.kept(e),
        }
    }

    /// The bases of what a loop stores; `None`: it may store elsewhere.
    pub(super) fn stores(&self, l: &LoopStmt) -> Option<BTreeSet<u32>> {
        let mut stored = Some(BTreeSet::new());
        let mut look = |e: &Expr| {
            let (stores, base) = match &e.kind {
                ExprKind::Call { args, .. } => {
                    (args.iter().any(|arg| self.unit.types.pointee(arg.ty.ty).is_some()), None)
                }
                ExprKind::Opaque(_) => (true, None),
                _ => match nest::accessed_place(e) {
                    Some((place, _, true)) if is_scalar(self.unit, place).is_none() => {
                        (true, self.base(place, true))
                    }
                    _ => (false, None),
                },
            };
            if stores {
                stored = std::mem::take(&mut stored).zip(base).map(|(mut stored, base)| {
                    stored.insert(base);
                    stored
                });
            }
        };
        nest::turn_expressions(l, &mut look);
        stored
    }
}
