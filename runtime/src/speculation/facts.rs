//! What a job knows of its loop: copies of the tables that the program's object has of it. A job that has lost may be at work when its loop is
//! long over, and the object may be unloaded then. What stays the object's is the code of the body ([`Info::device`]), which
//! [`Seat::in_code`](super::protocol::Seat::in_code) is for.

use crate::abi::{DirectFn, Entry, Info, ResultInfo, Site, Value};
use std::collections::HashMap;
use std::ffi::{CString, c_char};
use std::ops::Deref;
use std::ptr::null;
use std::sync::{Arc, Mutex, PoisonError};

/// See the module. As an [`Info`] it has what devices ask for: numbers, flags, accesses, results and the text of the body.
pub struct Facts {
    info: Info,
    _sites: Box<[Site]>,
    _results: Box<[ResultInfo]>,
    _text: CString,
    _pieces: Box<[*const c_char; 2]>,
}

// SAFETY: as for `Info`; its pointers lead to tables that this owns and nobody changes.
unsafe impl Send for Facts {}
// SAFETY: as above.
unsafe impl Sync for Facts {}

impl Deref for Facts {
    type Target = Info;
    fn deref(&self) -> &Info {
        &self.info
    }
}

impl Facts {
    /// Those of a loop whose object is loaded.
    pub fn of(info: &Info) -> Facts {
        const NOBODYS: DirectFn = {
            extern "C" fn direct(_: *const Entry, _: *mut Value, _: i64, _: i64) {}
            direct
        };
        let (sites, results): (Box<[Site]>, Box<[ResultInfo]>) = (info.sites().into(), info.results().into());
        let text = CString::new(info.cuda_text()).unwrap_or_default();
        let pieces = Box::new([text.as_ptr(), null()]);
        let info = Info {
            file: null(),
            function: null(),
            n_sites: sites.len() as u32,
            n_results: results.len() as u32,
            n_pairs: 0,
            n_pins: 0,
            n_keys: 0,
            sites: sites.as_ptr(),
            pairs: null(),
            results: results.as_ptr(),
            cuda_body: if text.is_empty() { null() } else { pieces.as_ptr() },
            direct: NOBODYS,
            recipe: null(),
            inspect: None,
            keys: null(),
            search: None,
            searched: null(),
            n_searched: 0,
            ..*info
        };
        Facts { info, _sites: sites, _results: results, _text: text, _pieces: pieces }
    }
}

/// Those of loops that were entered, so that an entry copies nothing.
#[derive(Default)]
pub struct Known(Mutex<HashMap<usize, Arc<Facts>>>);

impl Known {
    /// So many loops: programs that load libraries again and again don't keep the tables of all of them.
    const MOST: usize = 1024;

    /// Those of the loop with this [`key`](crate::abi::Loop::key).
    pub fn of(&self, key: usize, info: &Info) -> Arc<Facts> {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if all.len() >= Known::MOST && !all.contains_key(&key) {
            all.clear();
        }
        all.entry(key).or_insert_with(|| Arc::new(Facts::of(info))).clone()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::abi::{PG_ADD, PG_F64, PG_LOOP_GROUPS, PG_SITE_STORE, nothing};

    #[test]
    fn facts_outlive_the_object() {
        let loaded = vec![Site { base: 3, width: 8, flags: PG_SITE_STORE, line: 7, slot: 0 }; 2];
        let results = vec![ResultInfo { op: PG_ADD, ty: PG_F64, how: 0, with: 0 }];
        let texts = [c"one ".to_owned(), c"two".to_owned()];
        let pieces = vec![texts[0].as_ptr(), texts[1].as_ptr(), null()];
        let info = Info {
            flags: PG_LOOP_GROUPS,
            work: 9,
            n_sites: 2,
            sites: loaded.as_ptr(),
            n_results: 1,
            results: results.as_ptr(),
            cuda_body: pieces.as_ptr(),
            ..nothing()
        };
        let known = Known::default();
        let facts = known.of(1, &info);
        assert!(Arc::ptr_eq(&facts, &known.of(1, &info)) && !Arc::ptr_eq(&facts, &known.of(2, &info)));
        drop((loaded, results, texts, pieces));
        assert_eq!(
            (facts.flags, facts.work, facts.sites().len(), facts.results().len()),
            (PG_LOOP_GROUPS, 9, 2, 1)
        );
        assert!(facts.sites().iter().all(|site| site.base == 3 && site.has(PG_SITE_STORE)));
        assert_eq!((facts.results()[0].op, facts.cuda_text().as_str()), (PG_ADD, "one two"));
        assert_eq!(Facts::of(&nothing()).cuda_text(), "");
        for key in 3..=Known::MOST {
            known.of(key, &nothing());
        }
        assert!(Arc::ptr_eq(&facts, &known.of(1, &nothing())));
        known.of(0, &nothing());
        assert_eq!(known.0.lock().unwrap().len(), 1);
    }
}
