//! Libraries of the program that hold loops: they may be unloaded whenever none of their loops is entered.

use std::ffi::c_void;

/// Keeps the library that an address lies in loaded while it lives.
pub struct Kept(*mut c_void);

// SAFETY: a handle of the loader belongs to no thread.
unsafe impl Send for Kept {}

impl Kept {
    /// `None`: it can't be unloaded, as the executable, or isn't known.
    pub fn new(address: usize) -> Option<Kept> {
        // SAFETY: `dladdr` takes any address, and fills in the structure where it finds something; the library is loaded, so that
        // this only counts.
        unsafe {
            let mut found: libc::Dl_info = std::mem::zeroed();
            if libc::dladdr(address as *const c_void, &raw mut found) == 0 || found.dli_fname.is_null() {
                return None;
            }
            // To ask for the executable would be an error, which `dlerror` would tell the program.
            let (object, mut executable) = (found.dli_fbase, std::mem::zeroed::<libc::Dl_info>());
            let entry = libc::getauxval(libc::AT_ENTRY) as *const c_void;
            if libc::dladdr(entry, &raw mut executable) == 0 || executable.dli_fbase == object {
                return None;
            }
            let handle = libc::dlopen(found.dli_fname, libc::RTLD_LAZY | libc::RTLD_NOLOAD);
            (!handle.is_null()).then(|| Kept(handle))
        }
    }
}

impl Drop for Kept {
    fn drop(&mut self) {
        // SAFETY: opened above.
        unsafe { libc::dlclose(self.0) };
    }
}
