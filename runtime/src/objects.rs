//! Libraries of the program that hold loops: they may be unloaded whenever none of their loops is entered.

use std::ffi::c_void;

/// How long code of the program's stays.
#[derive(Default)]
pub enum Code {
    /// As long as the entry of the loop whose it is.
    #[default]
    ForItsEntry,
    /// As long as this lives.
    Kept(Kept),
    /// As long as the process, or nobody needs it.
    ForGood,
}

impl Code {
    /// Whether it outlasts its loop's entry.
    pub fn stays(&self) -> bool {
        !matches!(self, Code::ForItsEntry)
    }

    /// Keeps the code at an address, if that can be done.
    pub fn kept(address: usize) -> Code {
        // SAFETY: `dladdr` takes any address, and fills in the structure where it finds something; the library is loaded, so that
        // this only counts.
        unsafe {
            let mut found: libc::Dl_info = std::mem::zeroed();
            if libc::dladdr(address as *const c_void, &raw mut found) == 0 || found.dli_fname.is_null() {
                return Code::ForItsEntry;
            }
            // To ask for the executable would be an error, which `dlerror` would tell the program.
            let (object, mut executable) = (found.dli_fbase, std::mem::zeroed::<libc::Dl_info>());
            let entry = libc::getauxval(libc::AT_ENTRY) as *const c_void;
            if libc::dladdr(entry, &raw mut executable) == 0 || executable.dli_fbase == object {
                return Code::ForGood;
            }
            let handle = libc::dlopen(found.dli_fname, libc::RTLD_LAZY | libc::RTLD_NOLOAD);
            if handle.is_null() { Code::ForItsEntry } else { Code::Kept(Kept(handle)) }
        }
    }
}

/// Keeps a library loaded while it lives.
pub struct Kept(*mut c_void);

// SAFETY: a handle of the loader belongs to no thread.
unsafe impl Send for Kept {}

impl Drop for Kept {
    fn drop(&mut self) {
        // SAFETY: opened above.
        unsafe { libc::dlclose(self.0) };
    }
}
