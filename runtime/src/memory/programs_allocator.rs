//! Whose `malloc` the program has: the C library's, a library's, or one of its own. The C library allocates by it too, in threads of ours as well, where these begin and where they
//! load libraries; an allocator of a program that has no threads need not bear that. The runtime itself is bound to the C library's functions before the program's, whatever their
//! names (`RTLD_DEEPBIND`), and its own memory comes from there.

use super::tracking::contains;
use std::ffi::{CStr, c_int, c_void};
use std::sync::OnceLock;

/// What allocates and gives back.
const FUNCTIONS: [&CStr; 7] =
    [c"malloc", c"calloc", c"realloc", c"free", c"memalign", c"posix_memalign", c"aligned_alloc"];
/// What allocators that bear threads lock by, or programs that have some begin them by: one of these names is in their files.
const OF_THREADS: [&[u8]; 2] = [b"pthread_", b"thrd_create"];

/// The process's executable, as a number of its objects.
const EXECUTABLE: usize = 0;

/// Whether threads of ours may begin. Not where `malloc` is the executable's own, and neither it nor anything else there knows of threads.
pub fn bears_threads() -> bool {
    static BEARS: OnceLock<bool> = OnceLock::new();
    *BEARS.get_or_init(|| {
        let of_executable = |name: &&CStr| object_of(address_of(name)) == Some(EXECUTABLE);
        !FUNCTIONS[..4].iter().any(of_executable)
            || OF_THREADS.into_iter().any(|name| contains("/proc/self/exe", name) == Some(true))
    })
}

/// Whether `malloc` and its relatives are the C library's.
pub fn is_of_c_library() -> bool {
    static IS: OnceLock<bool> = OnceLock::new();
    *IS.get_or_init(|| {
        let library = object_of(address_of(c"gnu_get_libc_version"));
        library.is_some() && FUNCTIONS.into_iter().all(|name| object_of(address_of(name)) == library)
    })
}

/// How libraries are opened that know nothing of the program, as a GPU's driver: so that they find the C library's functions before those of the same name that the program has made for itself, as
/// we do. Sanitizers end a process that asks for that, and have another `dlopen`. Not to be asked on a thread of the program's: see [`address_of`].
pub fn apart_from_program() -> c_int {
    let of_sanitizers = c"__sanitizer_set_report_path";
    let may =
        object_of(libc::dlopen as *const () as usize) != Some(EXECUTABLE) && address_of(of_sanitizers) == 0;
    if may { libc::RTLD_DEEPBIND } else { 0 }
}

/// The first function of a name that the program and its libraries have, as they themselves find it. Where there is none it is an error, which `dlerror` tells the calling thread.
fn address_of(name: &CStr) -> usize {
    /// The program's own scope; to look from here would find the C library's first.
    struct Program(*mut c_void);
    // SAFETY: a handle of the loader belongs to no thread.
    unsafe impl Send for Program {}
    // SAFETY: nothing is done with it but to ask the loader.
    unsafe impl Sync for Program {}
    static PROGRAM: OnceLock<Program> = OnceLock::new();
    // SAFETY: the program is loaded; a name that ends with a zero.
    unsafe {
        let program = PROGRAM.get_or_init(|| Program(libc::dlopen(std::ptr::null(), libc::RTLD_LAZY)));
        libc::dlsym(program.0, name.as_ptr()) as usize
    }
}

/// The object in which an address lies, by its number in the loader's list; the executable is the first.
fn object_of(address: usize) -> Option<usize> {
    struct Search {
        address: usize,
        number: usize,
    }
    /// Whether the address lies in an object, which ends the search.
    ///
    /// # Safety
    /// As the loader calls it, with a [`Search`] that nobody else has.
    unsafe extern "C" fn look(object: *mut libc::dl_phdr_info, _: usize, search: *mut c_void) -> c_int {
        // SAFETY: promised by the caller.
        unsafe {
            let (object, search) = (&*object, &mut *search.cast::<Search>());
            let segments = std::slice::from_raw_parts(object.dlpi_phdr, usize::from(object.dlpi_phnum));
            let is_inside =
                segments.iter().filter(|segment| segment.p_type == libc::PT_LOAD).any(|segment| {
                    let begin = (object.dlpi_addr + segment.p_vaddr) as usize;
                    (begin..begin + segment.p_memsz as usize).contains(&search.address)
                });
            search.number += usize::from(!is_inside);
            c_int::from(is_inside)
        }
    }
    let mut search = Search { address, number: 0 };
    // SAFETY: a function of the kind that is asked for, which gets what it expects.
    let is_found = unsafe { libc::dl_iterate_phdr(Some(look), (&raw mut search).cast()) } != 0;
    (address != 0 && is_found).then_some(search.number)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whose_functions_there_are_is_known() {
        assert!(is_of_c_library());
        assert!(bears_threads());
        assert_eq!(object_of(look_for_me as *const () as usize), Some(EXECUTABLE));
        assert_ne!(object_of(address_of(c"malloc")), Some(EXECUTABLE));
        assert_eq!(address_of(c"no_such_function_of_anybody"), 0);
        assert_eq!(object_of(0), None);
        assert_eq!(object_of(16), None);
    }

    fn look_for_me() {}
}
