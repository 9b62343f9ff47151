//! Where a struct's bit-fields are: in containers, numbers of the machine's of one to eight bytes, of which they are some bits.
//!
//! A container is the smallest number of the machine's that holds a field and all fields that share a byte with it. So two containers of a struct are one or have no byte in common, and who
//! stores to a field stores to nothing but fields that C counts as the same memory location (C11 6.7.2.1, 3.14): neither to a member beside them, which another thread may be storing to, nor to fields
//! behind one without a width.

use super::hir::*;
use std::ops::Range;

/// Bytes of a struct that are read and stored together for the bit-fields in them.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Container {
    /// How many bytes into the struct.
    pub offset: u64,
    /// How many bytes: 1, 2, 4 or 8; the offset is a multiple.
    pub size: u64,
    /// Whether fields with names have all of its bits.
    pub is_full: bool,
}

impl Container {
    /// The number that it is.
    pub fn kind(&self) -> IntKind {
        match self.size {
            1 => IntKind::UChar,
            2 => IntKind::UShort,
            4 => IntKind::UInt,
            _ => IntKind::ULong,
        }
    }

    /// The type in which its bits are put together.
    pub fn wide(&self) -> IntKind {
        if self.size == 8 { IntKind::ULong } else { IntKind::UInt }
    }

    fn bytes(&self) -> Range<u64> {
        self.offset..self.offset + self.size
    }
}

/// The bits of a record that a field has.
pub(crate) fn bits_of(field: &Field) -> Option<Range<u64>> {
    let (first, width) = field.bits?;
    let start = field.offset * 8 + u64::from(first);
    Some(start..start + u64::from(width))
}

pub(crate) fn overlap(a: &Range<u64>, b: &Range<u64>) -> bool {
    a.start < b.end && b.start < a.end
}

/// The containers of all bit-fields of a record; `None` where some field has none, or none may be read with the others.
pub fn containers(record: &Record) -> Option<Vec<Container>> {
    let fields = record.fields.as_deref()?;
    let is_special = |field: &Field| field.ty.quals.is_volatile || field.ty.quals.is_atomic;
    if fields.iter().any(|field| field.bits.is_some() && is_special(field)) {
        return None;
    }
    let mut found = Vec::new();
    if record.is_union {
        for bits in fields.iter().filter_map(bits_of).filter(|bits| !bits.is_empty()) {
            // A byte that the field has a part of is another member's, too: it may be stored to all the same, since all of a union is one memory location for whoever stores to a member of it,
            // but not one that the field has nothing of.
            let within = bits.start / 8..bits.end.div_ceil(8);
            found.extend(of_run(record, &[(bits, true)], within)?);
        }
        return Some(found);
    }
    let mut at = 0;
    while at < fields.len() {
        // Fields that follow each other are one memory location, up to one without a width.
        let mut run = Vec::new();
        while let Some(bits) = fields.get(at).and_then(bits_of) {
            at += 1;
            if bits.is_empty() {
                break;
            }
            run.push((bits, fields[at - 1].name.is_some()));
        }
        let Some((first, _)) = run.first() else {
            at += usize::from(fields.get(at).is_some_and(|field| field.bits.is_none()));
            continue;
        };
        let next = fields[at..].iter().find(|field| bits_of(field).is_none_or(|bits| !bits.is_empty()));
        let end =
            next.map_or(record.size, |field| bits_of(field).map_or(field.offset, |bits| bits.start / 8));
        found.extend(of_run(record, &run, first.start / 8..end)?);
    }
    Some(found)
}

/// The containers of fields that follow each other; `within`: the bytes that storing to them may touch.
fn of_run(record: &Record, run: &[(Range<u64>, bool)], within: Range<u64>) -> Option<Vec<Container>> {
    let mut spans: Vec<Range<u64>> =
        run.iter().map(|(bits, _)| bits.start / 8..bits.end.div_ceil(8)).collect();
    loop {
        let mut blocks: Vec<Range<u64>> = Vec::new();
        for span in &spans {
            let fits = |size: &u64| span.end <= span.start / size * size + size;
            let size = [1, 2, 4, 8].into_iter().find(fits)?;
            let start = span.start / size * size;
            blocks.push(start..start + size);
        }
        let meeting = (1..blocks.len()).find(|&k| overlap(&blocks[k - 1], &blocks[k]));
        if let Some(second) = meeting {
            let joined: Range<u64> = spans.remove(second);
            let first = &mut spans[second - 1];
            *first = first.start.min(joined.start)..first.end.max(joined.end);
            continue;
        }
        let container = |block: Range<u64>| {
            let size = block.end - block.start;
            let fits =
                block.start >= within.start && block.end <= within.end && record.align.is_multiple_of(size);
            let bits = block.start * 8..block.end * 8;
            let named = |(own, is_named): &(Range<u64>, bool)| match *is_named && overlap(own, &bits) {
                true => own.end - own.start,
                false => 0,
            };
            let is_full = run.iter().map(named).sum::<u64>() == size * 8;
            fits.then_some(Container { offset: block.start, size, is_full })
        };
        return blocks.into_iter().map(container).collect();
    }
}

/// Where a bit-field is: its container, the first of its bits there, and how many it has.
pub(crate) fn located(record: &Record, offset: u64, bits: (u32, u32)) -> Option<(Container, u32, u32)> {
    let start = offset * 8 + u64::from(bits.0);
    let own = start..start + u64::from(bits.1);
    // In a union each field has one of its own.
    let all = match record.is_union {
        true => of_run(record, &[(own.clone(), true)], own.start / 8..own.end.div_ceil(8))?,
        false => containers(record)?,
    };
    let container = all.iter().find(|container| {
        let bytes = container.bytes();
        bytes.start * 8 <= own.start && own.end <= bytes.end * 8
    })?;
    Some((*container, (start - container.offset * 8) as u32, bits.1))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The containers of `struct R` or `union R`, with the sizes in bytes, and whether they are full.
    fn found(record: &str) -> Option<Vec<(u64, u64, bool)>> {
        let unit = super::super::lower_unit(&format!("{record} r;"), &Default::default());
        let variable = unit.variables.iter().find(|v| v.name == "r").unwrap_or_else(|| panic!("{record}"));
        let TypeKind::Record(id) = unit.types.kind(variable.ty.ty) else { panic!("{record}") };
        let all = containers(unit.types.record(*id))?;
        Some(all.iter().map(|c| (c.offset, c.size, c.is_full)).collect())
    }

    #[test]
    fn containers_are_apart_and_touch_nobody_else() {
        for (record, wanted) in [
            ("struct R { unsigned a : 3, b : 5; }", Some(vec![(0, 1, true)])),
            ("struct R { unsigned a : 3, b : 4; }", Some(vec![(0, 1, false)])),
            ("struct R { unsigned a : 3, : 5; unsigned b : 8; }", Some(vec![(0, 1, false), (1, 1, true)])),
            // Fields that share bytes share a container, and with what that reaches.
            ("struct R { unsigned a : 20, b : 12; }", Some(vec![(0, 4, true)])),
            ("struct R { unsigned a : 3, b : 13, c : 16; }", Some(vec![(0, 2, true), (2, 2, true)])),
            ("struct R { unsigned a : 8, b : 16, c : 8; }", Some(vec![(0, 4, true)])),
            ("struct R { unsigned long a : 20, b : 32, c : 12; }", Some(vec![(0, 8, true)])),
            // Behind the last field is nobody, before the next member and the one before somebody may be.
            ("struct R { unsigned a : 20; }", Some(vec![(0, 4, false)])),
            ("struct R { unsigned a : 20; char c; }", None),
            ("struct R { char c; unsigned a : 20; }", None),
            ("struct R { char c; unsigned a : 4, b : 12; }", None),
            (
                "struct R { char c; unsigned a : 4; char d; unsigned b : 2; }",
                Some(vec![(1, 1, false), (3, 1, false)]),
            ),
            ("struct R { unsigned a : 20; char more[]; }", None),
            // One without a width begins another memory location.
            (
                "struct R { unsigned a : 4; char : 0; unsigned b : 4; }",
                Some(vec![(0, 1, false), (1, 1, false)]),
            ),
            (
                "struct R { unsigned a : 12; int : 0; unsigned b : 20; }",
                Some(vec![(0, 2, false), (4, 4, false)]),
            ),
            ("struct R { unsigned a : 20; char : 0; unsigned b : 8; }", None),
            // Where words don't begin at their multiples, bytes do.
            ("struct __attribute__((packed)) R { char c; unsigned a : 4, b : 4; }", Some(vec![(1, 1, true)])),
            ("struct __attribute__((packed)) R { unsigned a : 12, b : 20; }", None),
            // Who may look at one of them doesn't want to be looked at with another one.
            ("struct R { unsigned a : 4; volatile unsigned b : 4; }", None),
            ("union R { unsigned a : 16; unsigned b : 7; int c; }", Some(vec![(0, 2, true), (0, 1, false)])),
            ("union R { unsigned a : 20; char c[4]; }", None),
            ("struct R { int a; }", Some(vec![])),
        ] {
            assert_eq!(found(record), wanted, "{record}");
        }
    }
}
