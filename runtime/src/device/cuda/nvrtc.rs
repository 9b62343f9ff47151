//! NVIDIA's run-time compiler, loaded when a kernel is needed.
//!
//! It is looked for in the folder that `PARAGON_NVRTC` names, on the loader's path, and in the toolkit's usual folders. It
//! finds its builtins only if that library is loaded globally before it, from the same folder. No GPU and no driver is needed
//! to compile.

pub use super::needed::headers;
use super::tables::Given;
use super::zeros;
use crate::device::{CELLS_OF_GROUP, Guess, ITERATIONS_OF_ROW, LARGE, LOG2_OF_CHUNK, Specialisation};
use crate::leaving;
use crate::memory::programs_allocator;
use libloading::os::unix::{Library, RTLD_GLOBAL, RTLD_NOW};
use std::collections::BTreeSet;
use std::ffi::{CString, c_char, c_int, c_void};
use std::path::PathBuf;
use std::sync::OnceLock;

type CreateProgram = unsafe extern "C" fn(
    *mut *mut c_void,
    *const c_char,
    *const c_char,
    c_int,
    *const *const c_char,
    *const *const c_char,
) -> c_int;
type CompileProgram = unsafe extern "C" fn(*mut c_void, c_int, *const *const c_char) -> c_int;
type Size = unsafe extern "C" fn(*mut c_void, *mut usize) -> c_int;
type Get = unsafe extern "C" fn(*mut c_void, *mut c_char) -> c_int;
type Destroy = unsafe extern "C" fn(*mut *mut c_void) -> c_int;
type Version = unsafe extern "C" fn(*mut c_int, *mut c_int) -> c_int;

/// The loaded compiler.
pub struct Nvrtc {
    create: CreateProgram,
    compile: CompileProgram,
    cubin_size: Size,
    cubin: Get,
    ptx_size: Size,
    ptx: Get,
    log_size: Size,
    log: Get,
    destroy: Destroy,
    /// For cache keys.
    pub version: (i32, i32),
    // The functions above are valid while these are loaded: for ever.
    _libraries: (Option<Library>, Library),
}

/// Options that make results those of the host: no contraction, IEEE division and square root, no flushing. And none of what the compiler
/// would declare for programs by itself.
pub const OPTIONS: [&str; 7] = [
    "-fmad=false",
    "-prec-div=true",
    "-prec-sqrt=true",
    "-ftz=false",
    "--std=c++17",
    "-default-device",
    "--minimal",
];

/// How an error begins that says what the assembler would get wrong.
pub const LOSES_SIGN: &str = "a zero may lose its sign";

/// Blocks of a processor where iterations share operands: so many that each thread has 64 registers ...
const RESIDENT: u32 = 4;
/// ... and 128 for large groups.
const RESIDENT_OF_LARGE: u32 = 2;
/// As many as there can be: 32 registers.
const RESIDENT_OF_FULL: u32 = 8;
/// The same for lanes that lend.
const RESIDENT_OF_LENDING: u32 = 2;

fn folders() -> Vec<Option<PathBuf>> {
    let mut folders = Vec::new();
    if let Some(folder) = std::env::var_os("PARAGON_NVRTC").filter(|f| !f.is_empty()) {
        folders.push(Some(PathBuf::from(folder)));
    }
    folders.push(None);
    let roots =
        std::env::var_os("CUDA_HOME").map(PathBuf::from).into_iter().chain(["/usr/local/cuda".into()]);
    for root in roots {
        folders.push(Some(root.join("lib64")));
        folders.push(Some(root.join("targets/x86_64-linux/lib")));
    }
    folders
}

/// The compiler, loaded once; the error says where it was looked for.
pub fn get() -> Result<&'static Nvrtc, String> {
    static LOADED: OnceLock<Result<Nvrtc, String>> = OnceLock::new();
    LOADED
        .get_or_init(|| {
            let loaded = load();
            leaving::arrange();
            loaded
        })
        .as_ref()
        .map_err(Clone::clone)
}

fn load() -> Result<Nvrtc, String> {
    let now = RTLD_NOW | programs_allocator::apart_from_program();
    for folder in folders() {
        for (major, minors) in [(13, [0, 1, 2, 3]), (12, [9, 8, 6, 4])] {
            let path = |name: String| folder.as_ref().map_or(PathBuf::from(&name), |f| f.join(&name));
            let builtins = minors.iter().find_map(|minor| {
                let name = path(format!("libnvrtc-builtins.so.{major}.{minor}"));
                // SAFETY: NVIDIA's library; its initialisers have no preconditions.
                unsafe { Library::open(Some(name), now | RTLD_GLOBAL) }.ok()
            });
            // SAFETY: as above.
            let Ok(library) = (unsafe { Library::open(Some(path(format!("libnvrtc.so.{major}"))), now) })
            else {
                continue;
            };
            // SAFETY: the types are those of nvrtc.h.
            let loaded = unsafe { symbols(library, builtins) };
            if let Ok(nvrtc) = loaded {
                return Ok(nvrtc);
            }
        }
    }
    Err("libnvrtc was not found (PARAGON_NVRTC may name its folder)".into())
}

/// What was made of a program: by these functions of the compiler, which tell how many bytes there are, and copy them.
fn read(program: *mut c_void, size_of: Size, copy: Get) -> Result<Vec<u8>, String> {
    let mut size = 0;
    // SAFETY: calls as nvrtc.h describes them, on a program that has been compiled; the buffer is as long as is asked for.
    unsafe {
        size_of(program, &mut size);
        let mut made = vec![0u8; size];
        match size != 0 && copy(program, made.as_mut_ptr().cast()) == 0 {
            true => Ok(made),
            false => Err("no machine code".into()),
        }
    }
}

/// # Safety
/// `library` is libnvrtc.
unsafe fn symbols(library: Library, builtins: Option<Library>) -> Result<Nvrtc, libloading::Error> {
    // SAFETY: promised by the caller; the types are those of nvrtc.h.
    unsafe {
        let version: Version = *library.get(b"nvrtcVersion\0")?;
        let (mut major, mut minor) = (0, 0);
        version(&mut major, &mut minor);
        Ok(Nvrtc {
            create: *library.get(b"nvrtcCreateProgram\0")?,
            compile: *library.get(b"nvrtcCompileProgram\0")?,
            cubin_size: *library.get(b"nvrtcGetCUBINSize\0")?,
            cubin: *library.get(b"nvrtcGetCUBIN\0")?,
            ptx_size: *library.get(b"nvrtcGetPTXSize\0")?,
            ptx: *library.get(b"nvrtcGetPTX\0")?,
            log_size: *library.get(b"nvrtcGetProgramLogSize\0")?,
            log: *library.get(b"nvrtcGetProgramLog\0")?,
            destroy: *library.get(b"nvrtcDestroyProgram\0")?,
            version: (major, minor),
            _libraries: (builtins, library),
        })
    }
}

impl Nvrtc {
    /// Compiles CUDA text to machine code; the error is the compiler's log, or [`LOSES_SIGN`] and where.
    pub fn compile(&self, source: &str, options: &[String]) -> Result<Vec<u8>, String> {
        self.compiled(source, options, |program| {
            let ptx = read(program, self.ptx_size, self.ptx)?;
            match zeros::loses_sign(&String::from_utf8_lossy(&ptx)) {
                Some(line) => Err(format!("{LOSES_SIGN}: {line}")),
                None => read(program, self.cubin_size, self.cubin),
            }
        })
    }

    /// The same to PTX, for those who look at what the compiler has made of it.
    pub fn ptx(&self, source: &str, options: &[String]) -> Result<String, String> {
        let text = self.compiled(source, options, |program| read(program, self.ptx_size, self.ptx))?;
        Ok(String::from_utf8_lossy(&text).trim_end_matches('\0').to_owned())
    }

    /// Compiles, and reads what was asked for.
    fn compiled(
        &self,
        source: &str,
        options: &[String],
        read: impl FnOnce(*mut c_void) -> Result<Vec<u8>, String>,
    ) -> Result<Vec<u8>, String> {
        let source = CString::new(source).map_err(|_| "a zero byte in the source")?;
        let options: Vec<CString> = options
            .iter()
            .map(|o| CString::new(o.as_str()))
            .collect::<Result<_, _>>()
            .map_err(|_| "a zero byte")?;
        let pointers: Vec<*const c_char> = options.iter().map(|o| o.as_ptr()).collect();
        let mut program = std::ptr::null_mut();
        // SAFETY: calls as nvrtc.h describes them, on strings and buffers that outlive them.
        unsafe {
            let none = std::ptr::null();
            if (self.create)(&mut program, source.as_ptr(), c"loop.cu".as_ptr(), 0, none, none) != 0 {
                return Err("nvrtcCreateProgram failed".into());
            }
            let status = (self.compile)(program, pointers.len() as c_int, pointers.as_ptr());
            let result = if status == 0 {
                read(program)
            } else {
                let mut size = 0;
                (self.log_size)(program, &mut size);
                let mut log = vec![0u8; size + 1];
                (self.log)(program, log.as_mut_ptr().cast());
                let text = String::from_utf8_lossy(&log).trim_end_matches('\0').to_owned();
                Err(format!("error {status}: {text}"))
            };
            (self.destroy)(&mut program);
            result
        }
    }
}

/// The whole source of a loop's kernel: what it needs of the texts that all kernels have, and its own.
pub fn kernel_source(body: &str) -> String {
    format!("{}{body}", headers(&[body]))
}

/// Kernels of several loops as one program, for those who only want to know whether they compile: headers and the compiler's own start are half of
/// the time of most. Each body has its names for itself, and its macros until it ends.
pub fn joined_source(bodies: &[&str]) -> String {
    let mut source = headers(bodies);
    for (number, body) in bodies.iter().enumerate() {
        let macros: BTreeSet<&str> = body
            .lines()
            .filter_map(|line| line.trim_start().strip_prefix('#')?.trim_start().strip_prefix("define "))
            .filter_map(|rest| {
                rest.trim_start().split(|c: char| !c.is_ascii_alphanumeric() && c != '_').next()
            })
            .collect();
        let undefined: String = macros.iter().map(|name| format!("#undef {name}\n")).collect();
        // C has no namespaces: functions without a name of their own there would be one.
        source += &format!(
            "namespace __pg_loop_{number} {{\n#define __pg_kernel __pg_kernel_{number}\n{body}\n}}\n#undef __pg_kernel\n{undefined}"
        );
    }
    source
}

/// Options for an architecture (`sm_90`) and what a kernel is compiled for, and is given.
pub fn options(architecture: &str, kernel: Specialisation, given: Given) -> Vec<String> {
    let mut options: Vec<String> = OPTIONS.iter().map(|o| o.to_string()).collect();
    options.push(format!("--gpu-architecture={architecture}"));
    options.push(format!("-D__PG_METHOD={}", kernel.method as u32));
    options.push(format!("-D__PG_GUESSED={}", kernel.guess as u32));
    if kernel.guess == Guess::Range {
        options.push("-D__PG_RANGES".into());
    }
    options.push(format!("-D__PG_LOG_SHIFT={}", kernel.log_shift));
    if kernel.buffered != 0 {
        options.push(format!("-D__PG_BUFFERED={}", kernel.buffered));
        options.push(format!("-D__PG_LOG2_OF_CHUNK={LOG2_OF_CHUNK}"));
        if kernel.backwards {
            options.push("-D__PG_BACKWARDS".into());
        }
        if kernel.apart {
            options.push("-D__PG_BUFFERED_APART".into());
        }
        if kernel.grouped {
            options.push(format!("-D__PG_BUFFERED_GROUPED={CELLS_OF_GROUP}"));
        }
        if kernel.alone {
            options.push("-D__PG_BUFFERED_ALONE".into());
        }
    }
    options.push(format!("-D__PG_BOUNDED={:#x}ull", kernel.bounded));
    options.push(format!("-D__PG_INSIDE={:#x}ull", kernel.inside));
    options.push(format!("-D__PG_CONSTANT={:#x}ull", kernel.constant & (kernel.bounded | kernel.inside)));
    options.push(format!("-D__PG_KEPT={:#x}ull", kernel.kept));
    // A kernel without a log is the same wherever the log has what it has from.
    let has_bits = kernel.method.is_bitmap();
    options.push(format!("-D__PG_FILLED={:#x}ull", if has_bits { kernel.filled } else { 0 }));
    options.push(format!("-D__PG_COVERED={:#x}ull", if has_bits { kernel.covered } else { 0 }));
    if kernel.joined {
        options.push("-D__PG_JOINED".into());
    }
    if kernel.seams != 0 {
        options.push(format!("-D__PG_SEAMS={}", kernel.seams));
        options.push(format!("-D__PG_ITERATIONS_OF_ROW={ITERATIONS_OF_ROW}"));
    }
    if kernel.repeats {
        options.push("-D__PG_REPEATS".into());
    }
    if kernel.narrow {
        options.push("-D__PG_NARROW".into());
    }
    if kernel.gathers {
        options.push("-D__PG_GATHERS".into());
    }
    if kernel.ordered {
        options.push("-D__PG_ORDERED".into());
    }
    if let Some((x, y)) = kernel.tile {
        options.push(format!("-D__PG_TILE_X={x}"));
        options.push(format!("-D__PG_TILE_Y={y}"));
    }
    if let Some(dim) = kernel.across {
        options.push(format!("-D__PG_ACROSS={dim}"));
    }
    let (rows, columns) = kernel.group;
    let block = u32::from(kernel.block);
    let width = if kernel.tile.is_some() { super::TILE_WIDTH } else { block };
    options.push(format!("-D__PG_ROWS={rows}"));
    options.push(format!("-D__PG_COLUMNS={columns}"));
    options.push(format!("-D__PG_WIDTH={width}"));
    options.push(format!("-D__PG_BLOCK={block}"));
    if kernel.updated_alone != 0 {
        options.push(format!("-D__PG_UPDATED_ALONE={:#x}ull", kernel.updated_alone));
    }
    if kernel.collects != 0 {
        options.push(format!("-D__PG_COLLECTS={:#x}ull", kernel.collects));
        options.push(format!("-D__PG_COLLECTS_PART={:#x}ull", kernel.collects_part));
        options.push(format!("-D__PG_COLLECTS_TELL={:#x}ull", kernel.collects_tell));
    }
    if kernel.nameless {
        options.push("-D__PG_NAMELESS".into());
    }
    options.push(format!("-D__PG_SPREAD={}", kernel.spread));
    // Lanes that lend keep what they have asked, and have many loads under way each: with 80 registers instead of 128 they took a third longer.
    if kernel.lends {
        options.push("-D__PG_LENDS".into());
        options.push(format!("-D__PG_RESIDENT={}", RESIDENT_OF_LENDING * super::BLOCK / block));
    } else if kernel.spread > 1 {
        // Others wait for memory most of the time: many of them are to wait.
        options.push(format!("-D__PG_RESIDENT={RESIDENT}"));
    }
    // Where values are shared registers are worth more than threads.
    if kernel.shares {
        let resident = if LARGE.contains(&kernel.group) { RESIDENT_OF_LARGE } else { RESIDENT };
        options.push(format!("-D__PG_RESIDENT={resident}"));
    }
    if kernel.full {
        options.push(format!("-D__PG_RESIDENT={RESIDENT_OF_FULL}"));
    }
    if kernel.deep {
        options.push("-D__PG_DEEP".into());
    }
    match given {
        Given::Far => options.push("-D__PG_FAR_TABLES".into()),
        Given::All => {}
        some => options.push(format!("-D__PG_GIVEN={}", some as u32)),
    }
    options.push("-w".into());
    options
}

/// Compiles a loop's device text without any GPU.
pub fn compile_for(
    architecture: &str,
    body: &str,
    kernel: Specialisation,
    given: Given,
) -> Result<Vec<u8>, String> {
    get()?.compile(&kernel_source(body), &options(architecture, kernel, given))
}

/// The same to PTX.
pub fn ptx_for(
    architecture: &str,
    body: &str,
    kernel: Specialisation,
    given: Given,
) -> Result<String, String> {
    get()?.ptx(&kernel_source(body), &options(architecture, kernel, given))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::device::LogMethod;
    use crate::texts::{BODY, KERNEL};
    use std::path::Path;

    /// A header behind its comment, with its parts in place of their names.
    fn joined(header: &str) -> String {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("include");
        let text = |name: &str| std::fs::read_to_string(folder.join(name)).unwrap();
        let part = |line: &str| match line.strip_prefix("#include ") {
            Some(name) => text(name.trim().trim_matches('"')),
            None => line.to_owned(),
        };
        let header = text(header);
        header.split_once("*/\n").unwrap().1.split_inclusive('\n').map(part).collect()
    }

    #[test]
    fn texts_are_what_the_headers_include() {
        assert_eq!(joined("paragon_body.h"), BODY);
        assert_eq!(joined("paragon_kernel.h"), KERNEL);
    }

    #[test]
    fn kernels_have_the_accesses_that_they_make() {
        let defines = |body: &str| -> Vec<String> {
            let macros = "#define __PG_LD(t, b, l, a) __pg_ld_##t(b, l, a)\n#define __PG_LDX(t, l, a) __pg_ldx_##t(l, a)\n\
                          #define __PG_OWN_ST(t, array, size, at, v) __pg_own_st_##t(array, size, at, v)\n";
            let source = kernel_source(&format!("{macros}{body}"));
            let lines = source.lines().filter(|line| line.starts_with("__PG_DEFINE_"));
            let heads =
                lines.filter_map(|line| line.split(',').next()).filter(|head| head.contains("ACCESS("));
            heads.map(str::to_owned).collect()
        };
        assert_eq!(defines("x = __PG_LD(i32, 0, 1, a);"), ["__PG_DEFINE_ACCESS(i32"]);
        assert_eq!(
            defines("x = __PG_LDX(f32, 1, __PG_LD(u64, 0, 1, a));"),
            ["u64", "f32"]
                .iter()
                .map(|name| format!("__PG_DEFINE_ACCESS({name}"))
                .chain(["u64", "f32"].iter().map(|name| format!("__PG_DEFINE_DYNAMIC_ACCESS({name}")))
                .collect::<Vec<_>>()
        );
        assert_eq!(defines("__PG_OWN_ST(u8, own, 4, 0, 1);"), ["__PG_DEFINE_OWN_ACCESS(u8"]);
        // A name that contains another one.
        assert!(defines("x = my_i32 + i32x;").is_empty());
    }

    /// Needs the run-time compiler, as `make test` has it.
    #[test]
    fn what_logs_note_in_turns_is_printed_once() {
        if get().is_err() {
            return;
        }
        let holds = |method: LogMethod, what: &str| {
            let kernel = Specialisation { narrow: true, ..Specialisation::none(method) };
            let body =
                format!("static_assert({what}, \"\");\nextern \"C\" __global__ void __pg_kernel() {{}}\n");
            if let Err(log) = compile_for("sm_90", &body, kernel, Given::All) {
                panic!("{method:?}: {log}");
            }
        };
        for method in [LogMethod::Atomic, LogMethod::Reduction, LogMethod::Stamp] {
            holds(method, "__pg_turns_at_once(0, true, false) == 1");
            // Loads that are under way together are worth it.
            holds(method, "__pg_turns_at_once(1, true, false) > 1");
            holds(method, "__pg_turns_at_once(0, false, false) > 1");
        }
        holds(LogMethod::Bitmap, "__pg_turns_at_once(0, true, true) == 1");
        for method in [LogMethod::None, LogMethod::Bitmap] {
            holds(method, "__pg_turns_at_once(0, true, false) > 1");
        }
        for method in [LogMethod::Atomic, LogMethod::Reduction, LogMethod::Bitmap, LogMethod::Stamp] {
            holds(method, "__pg_unrolled(true) == 1 && __pg_unrolled(false) > 1");
        }
        holds(LogMethod::None, "__pg_unrolled(true) > 1");
    }

    /// Needs the run-time compiler, as `make test` has it.
    #[test]
    fn kernels_of_one_program_have_their_names_and_macros_for_themselves() {
        let Ok(nvrtc) = get() else { return };
        let compile = |bodies: &[&str]| {
            let kernel = Specialisation::none(LogMethod::None);
            nvrtc.compile(&joined_source(bodies), &options("sm_90", kernel, Given::All))
        };
        let body = |number: usize| {
            format!(
                "#define __PG_OWN {number}\nstruct __pg_tables {{ int own[__PG_OWN]; }};\n\
                 static_assert(sizeof(__pg_tables) == {number} * sizeof(int), \"\");\n\
                 extern \"C\" __global__ void __pg_kernel() {{}}\n"
            )
        };
        let (one, two) = (body(1), body(2));
        assert!(compile(&[&one, &two]).is_ok(), "{:?}", compile(&[&one, &two]));
        // What only another one has is not there.
        assert!(compile(&[&one, "__device__ int __pg_other = __PG_OWN;\n"]).is_err());
        assert!(compile(&[&one, "__device__ __pg_tables __pg_other;\n"]).is_err());
    }

    /// The texts of the example by hand, as `paragon_loop.h` makes them. Needs the run-time compiler, as `make test` has it.
    #[test]
    fn texts_by_hand_are_kernels() {
        if get().is_err() {
            return;
        }
        let root = Path::new(env!("CARGO_MANIFEST_DIR"));
        let folder = tempfile::tempdir().unwrap();
        let (source, program) = (folder.path().join("texts.c"), folder.path().join("texts"));
        let example = root.join("../examples/saxpy-by-hand.c");
        let text = format!(
            "#define main of_example\n#include \"{}\"\n#undef main\n\
             int main(void) {{ fputs(saxpy_cuda[0], stdout); putchar(0); fputs(scatter_cuda[0], stdout); return 0; }}\n",
            example.display()
        );
        std::fs::write(&source, text).unwrap();
        let mut compiler = std::process::Command::new("cc");
        compiler.arg("-I").arg(root.join("include")).arg(&source).arg("-o").arg(&program);
        assert!(compiler.arg("-ldl").status().unwrap().success());
        let output = std::process::Command::new(&program).output().unwrap();
        let texts = String::from_utf8(output.stdout).unwrap();
        assert_eq!(texts.split('\0').count(), 2);
        for body in texts.split('\0') {
            for method in [LogMethod::None, LogMethod::Atomic, LogMethod::Bitmap, LogMethod::Stamp] {
                let less = [Given::Moves, Given::Locations, Given::Divisors, Given::Sizes];
                let less = less.into_iter().filter(|_| method == LogMethod::None).map(|given| (true, given));
                for (narrow, given) in [(true, Given::All), (false, Given::Far)].into_iter().chain(less) {
                    let kernel = Specialisation { narrow, ..Specialisation::none(method) };
                    if let Err(log) = compile_for("sm_90", body, kernel, given) {
                        panic!("{method:?}, {given:?}: {log}");
                    }
                }
            }
            // What isn't given can't be asked for.
            let asks = format!("#undef __PG_STEP\n#define __PG_STEP ((__pg_count)__pg_l.n)\n{body}");
            let kernel = Specialisation { bounded: u64::MAX, ..Specialisation::none(LogMethod::None) };
            let made = |given| compile_for("sm_90", &asks, kernel, given).is_ok();
            assert_eq!([Given::Moves, Given::Locations].map(made), [false, true]);
        }
    }

    /// What benches/without.cpp leaves out is there, under the names that it knows.
    #[test]
    fn parts_that_measurements_leave_out_are_there() {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../benches/without.cpp");
        let without = std::fs::read_to_string(path).unwrap();
        let source = format!("{BODY}{KERNEL}");
        let names: Vec<&str> =
            without.split('"').filter(|s| s.starts_with("__pg_") && !s.contains('(')).collect();
        assert!(names.contains(&"__pg_log_read") && names.len() >= 8, "{names:?}");
        for name in names {
            let is_there = ["struct __pg_ctx", "const struct __pg_ctx"]
                .iter()
                .any(|first| source.contains(&format!(" {name}({first}")));
            assert!(is_there, "{name}");
        }
    }
}
