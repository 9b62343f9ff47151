//! Whose `malloc` the program has: the C library's, a library's, or one of its own. The C library allocates by it too, in threads of ours as well, where these begin and where they
//! load libraries; an allocator of a program that has no threads need not bear that. The runtime itself is bound to the C library's functions before the program's, whatever their
//! names (`RTLD_DEEPBIND`), and its own memory comes from there.

use std::ffi::{CStr, c_int, c_void};
use std::sync::OnceLock;

/// What allocates and gives back.
const FUNCTIONS: [&CStr; 7] =
    [c"malloc", c"calloc", c"realloc", c"free", c"memalign", c"posix_memalign", c"aligned_alloc"];
/// What allocators that bear threads lock or keep apart by, or programs that have some begin them by: one of these is in a name among the dynamic symbols of their objects. What a thread only asks
/// of itself (`pthread_self`, `pthread_getattr_np`) says nothing: the compiler's part of each object asks that, too.
const OF_THREADS: &[&CStr] = &[
    c"pthread_create",
    c"pthread_mutex_",
    c"pthread_rwlock_",
    c"pthread_spin_",
    c"pthread_once",
    c"pthread_key_create",
    c"thrd_create",
    c"mtx_lock",
    c"tss_create",
];

/// The process's executable, as a number of its objects.
const EXECUTABLE: usize = 0;

/// Whether threads of ours may begin. Not where `malloc` is of an object, the executable for one, that knows nothing of threads.
pub fn bears_threads() -> bool {
    static BEARS: OnceLock<bool> = OnceLock::new();
    *BEARS.get_or_init(|| {
        let library = object_of(address_of(c"gnu_get_libc_version"));
        FUNCTIONS[..4].iter().all(|name| {
            let address = address_of(name);
            let object = object_of(address);
            object.is_some() && object == library
                || is_stand_in(address)
                || object
                    .is_some_and(|object| OF_THREADS.iter().any(|name| asks_for(object, name.to_bytes())))
        })
    })
}

/// Whether an address is where an executable that is loaded at a fixed place has a function that is another object's: its own jump to that.
fn is_stand_in(address: usize) -> bool {
    unsafe extern "C" {
        /// Not in the `libc` crate.
        fn dladdr1(
            address: *const c_void,
            found: *mut libc::Dl_info,
            more: *mut *mut c_void,
            flags: c_int,
        ) -> c_int;
    }
    /// It gives the symbol.
    const RTLD_DL_SYMENT: c_int = 1;
    // SAFETY: any address will do; what is found is filled in, and a symbol stays where it is as long as its object, which is the executable.
    unsafe {
        let mut found: libc::Dl_info = std::mem::zeroed();
        let mut symbol = std::ptr::null_mut();
        object_of(address) == Some(EXECUTABLE)
            && dladdr1(address as *const c_void, &raw mut found, &raw mut symbol, RTLD_DL_SYMENT) != 0
            && !symbol.is_null()
            && (*symbol.cast::<libc::Elf64_Sym>()).st_shndx == 0
    }
}

/// Whether one of the names of an object's dynamic symbols has `name` in it: of what it asks others for, or has for them.
fn asks_for(object: usize, name: &[u8]) -> bool {
    struct Search<'a> {
        object: usize,
        name: &'a [u8],
        is_there: bool,
    }
    /// Looks at the object that is asked about, which ends the search.
    ///
    /// # Safety
    /// As the loader calls it, with a [`Search`] that nobody else has.
    unsafe extern "C" fn look(info: *mut libc::dl_phdr_info, _: usize, search: *mut c_void) -> c_int {
        /// Of the table of an object's dynamic section.
        const ENDS: i64 = 0;
        const NAMES: i64 = 5;
        const BYTES_OF_NAMES: i64 = 10;
        // SAFETY: promised by the caller; an object that is loaded has its dynamic section where its headers say, and the names where that says.
        unsafe {
            let (info, search) = (&*info, &mut *search.cast::<Search<'_>>());
            if search.object > 0 {
                search.object -= 1;
                return 0;
            }
            let segments = std::slice::from_raw_parts(info.dlpi_phdr, usize::from(info.dlpi_phnum));
            let Some(dynamic) = segments.iter().find(|segment| segment.p_type == libc::PT_DYNAMIC) else {
                return 1;
            };
            let mut entry = (info.dlpi_addr + dynamic.p_vaddr) as *const [u64; 2];
            let (mut names, mut bytes) = (0, 0);
            while (*entry)[0] as i64 != ENDS {
                match (*entry)[0] as i64 {
                    // The loader has made an address of it.
                    NAMES => names = (*entry)[1],
                    BYTES_OF_NAMES => bytes = (*entry)[1],
                    _ => {}
                }
                entry = entry.add(1);
            }
            if names > info.dlpi_addr {
                let (name, length) = (search.name.as_ptr().cast(), search.name.len());
                search.is_there =
                    !libc::memmem(names as *const c_void, bytes as usize, name, length).is_null();
            }
            1
        }
    }
    let mut search = Search { object, name, is_there: false };
    // SAFETY: a function of the kind that is asked for, which gets what it expects.
    unsafe { libc::dl_iterate_phdr(Some(look), (&raw mut search).cast()) };
    search.is_there
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
        assert!(
            asks_for(EXECUTABLE, b"pthread_create") && !asks_for(EXECUTABLE, b"no_such_function_of_anybody")
        );
        assert!(!is_stand_in(look_for_me as *const () as usize) && !is_stand_in(address_of(c"malloc")));
        assert_eq!(object_of(look_for_me as *const () as usize), Some(EXECUTABLE));
        assert_ne!(object_of(address_of(c"malloc")), Some(EXECUTABLE));
        assert_eq!(address_of(c"no_such_function_of_anybody"), 0);
        assert_eq!(object_of(0), None);
        assert_eq!(object_of(16), None);
    }

    fn look_for_me() {}
}
