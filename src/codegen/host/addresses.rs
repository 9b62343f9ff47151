//! The addresses of objects that a guard hands over, and what of that the C compiler gets to see.
//!
//! An object of the file's own whose address nobody takes is nobody else's: no pointer leads there, so that a loop through pointers keeps its scalars in registers and is vectorised. A guard
//! that took the address in front of the loop would end that for all of the file, and the loop would be slower where it stays. So the guard asks for the address of something else that the assembler knows by the
//! same name. What a loop that ran elsewhere has stored there is said by an `asm` that changes all memory, which the object is in whether its address is taken or not; and one in front of the guard's call says that what was
//! stored before has to be there. The object itself would be gone if the compiler found that nobody loads it, or stores to it: a load and a store that never run, by a condition that it can't know, keep it. They stand
//! behind the first `asm`, so that nothing is known of what is loaded.
//!
//! Not here: variables of functions. Their `static` ones have symbols that nobody can foresee; the others are none of the assembler's.

use super::Emitter;
use crate::c::hir::*;

/// What a guard has to say of an object whose address stays hidden.
pub(super) struct Hidden {
    /// The other name.
    pub declares: String,
    /// What keeps the object, behind an `asm` that changes all memory.
    pub keeps: String,
    /// The address.
    pub address: String,
}

impl Emitter<'_> {
    /// How the address of an object is written, where its name means that object.
    pub(super) fn address_of(&self, v: VarId) -> String {
        let address = hidden(self.unit, v)
            .map_or_else(|| format!("&{}", self.unit.var(v).name), |hidden| hidden.address);
        format!("(__pg_u64)(__pg_address){address}")
    }
}

/// What a guard has to say of an object whose address it hides. `None`: it takes the address.
pub(super) fn hidden(unit: &TranslationUnit, v: VarId) -> Option<Hidden> {
    let Variable { name, ty, is_internal, .. } = unit.var(v);
    if !is_internal {
        return None;
    }
    let part = scalar(unit, *ty, true)?;
    let kept = format!("{name}{}", part.path);
    Some(Hidden {
        declares: format!(" extern char __pg_at_{name}[sizeof({name})] __asm__(\"{name}\");"),
        keeps: format!(
            " __asm__ __volatile__(\"\" : : \"g\"({kept})); {kept} = (__typeof__({kept}))__pg_no;"
        ),
        address: format!("__pg_at_{name}"),
    })
}

/// A scalar in an object.
struct Part {
    /// What follows the object's name.
    path: String,
    /// Whether the compiler can't know which one it is.
    is_any: bool,
}

/// One that can be stored to. The first subscript on the way there is one that the compiler doesn't know, if it `may_ask` for one: it could split what is always asked for the same element.
fn scalar(unit: &TranslationUnit, ty: QualType, may_ask: bool) -> Option<Part> {
    if ty.quals.is_const || ty.quals.is_volatile || ty.quals.is_atomic {
        return None;
    }
    match unit.types.kind(ty.ty) {
        TypeKind::Int(_)
        | TypeKind::Enum(_)
        | TypeKind::Float(FloatKind::Float | FloatKind::Double)
        | TypeKind::Pointer(_) => Some(Part { path: String::new(), is_any: false }),
        TypeKind::Array(element, ArrayLen::Known(1..)) => {
            let part = scalar(unit, *element, false)?;
            let subscript = if may_ask { "[__pg_no]" } else { "[0]" };
            Some(Part { path: format!("{subscript}{}", part.path), is_any: true })
        }
        TypeKind::Record(id) => {
            let fields = unit.types.record(*id).fields.iter().flatten();
            let mut parts = fields.filter(|field| field.bits.is_none()).filter_map(|field| {
                let part = scalar(unit, field.ty, may_ask)?;
                Some(Part { path: format!(".{}{}", field.name.as_ref()?, part.path), ..part })
            });
            let first = parts.next()?;
            if first.is_any { Some(first) } else { parts.find(|part| part.is_any).or(Some(first)) }
        }
        _ => None,
    }
}
