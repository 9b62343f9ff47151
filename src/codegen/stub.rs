//! The stub of a translation unit: how an object finds the runtime without being linked to it, and how allocations are
//! recorded.
//!
//! Everything is static, needs no header, and declares libc's functions under names of its own, so that nothing of the user's can
//! clash. `dlopen` is reached through a weak `dlsym`: where that is missing (static programs), no runtime is found and the
//! original loops run.

/// What a unit asks of its stub.
#[derive(Clone, Copy, Debug)]
pub struct Needs<'a> {
    /// The library's path, fixed into the object.
    pub runtime: &'a str,
    /// Whether small allocations are recorded, too.
    pub records_all: bool,
    /// The allocating functions that the unit calls.
    pub allocators: &'a [&'a str],
    /// Whether some loop keeps to the order of its blocks wherever it runs.
    pub keeps_order: bool,
    /// Whether some loop is distributed.
    pub has_parts: bool,
    /// Whether something is read for some loop that it may never read.
    pub reads_early: bool,
}

/// Text of the stub.
pub fn stub(needs: Needs) -> String {
    let Needs { runtime, records_all, allocators, keeps_order, has_parts, reads_early } = needs;
    let path = escape(runtime);
    let version = if keeps_order { "PG_ABI_VERSION | PG_ATTACH_IN_ORDER" } else { "PG_ABI_VERSION" };
    let mut text = format!(
        r#"
extern void *__pg_libc_dlsym(void *, const char *) __asm__("dlsym") __attribute__((__weak__));
extern char *__pg_libc_getenv(const char *) __asm__("secure_getenv") __attribute__((__weak__));
extern int *__pg_libc_errno(void) __asm__("__errno_location") __attribute__((__weak__));
extern unsigned long __pg_libc_auxiliary(unsigned long) __asm__("getauxval") __attribute__((__weak__));
extern unsigned long __pg_libc_self(void) __asm__("pthread_self") __attribute__((__weak__));
extern int __pg_libc_attributes(unsigned long, void *) __asm__("pthread_getattr_np") __attribute__((__weak__));
extern int __pg_libc_stack(const void *, void *, void *) __asm__("pthread_attr_getstack") __attribute__((__weak__));
extern int __pg_libc_end_attributes(void *) __asm__("pthread_attr_destroy") __attribute__((__weak__));
extern void __pg_sanitizer(const char *) __asm__("__sanitizer_set_report_path") __attribute__((__weak__));
static const struct __pg_api *__pg_api_found;
static int __pg_refusals; /* a thread that blocks such a signal for good asks a few times */
static int __pg_roomless; /* and a program that does everything on stacks of its own some more, because each time costs a microsecond */
static int __pg_api_state; /* 0: not looked for, 1: being looked for, 2: decided */
/* What runs a few times in a process, which the compiler takes less time for so. Without optimizing anything it would put strings of the whole file elsewhere. */
#define __PG_SELDOM_FN static __attribute__((__cold__, __noinline__, __unused__, __optimize__(1)))
/* A system call, past the C library, whose functions take more of the stack and may be the program's; the same ones that it would make. */
__PG_SELDOM_FN long __pg_call(long __pg_number, __pg_u64 __pg_a, __pg_u64 __pg_b, __pg_u64 __pg_c, __pg_u64 __pg_d)
{{
  long __pg_result;
  register __pg_u64 __pg_fourth __asm__("r10") = __pg_d;
  __asm__ volatile("syscall" : "=a"(__pg_result) : "a"(__pg_number), "D"(__pg_a), "S"(__pg_b), "d"(__pg_c), "r"(__pg_fourth) : "rcx", "r11", "memory");
  return __pg_result;
}}
/* Whether the program has a handler for one of these signals. */
__PG_SELDOM_FN int __pg_handles_some(__pg_u64 __pg_signals)
{{
  __pg_u64 __pg_signal;
  for (__pg_signal = 1; __pg_signal <= 64; __pg_signal++)
    if (__pg_signals >> (__pg_signal - 1) & 1) {{
      /* The handler is what the kernel's struct sigaction begins with: 0 or 1 where there is none. */
      __pg_u64 __pg_action[8];
      __builtin_memset(__pg_action, 0, sizeof __pg_action);
      if (__pg_call({rt_sigaction}, __pg_signal, 0, (__pg_u64)__pg_action, 8) == 0 && __pg_action[0] > 1)
        return 1;
    }}
  return 0;
}}
/* Whether the runtime could be opened on this stack, which may be a small one of the program's own: the stack has to be the thread's, and so much has to be left of it. Outside of
 * handlers only: where it asks about a thread, the C library allocates memory. The runtime's own `stacks` ask the same of each entry. */
__PG_SELDOM_FN int __pg_has_room(void)
{{
  __pg_u64 __pg_here = (__pg_u64)__builtin_frame_address(0), __pg_limits[2], __pg_attributes[16], __pg_low = 0, __pg_bytes = 0;
  /* Random bytes of the kernel's, which lie above the first frame of the process's first stack. */
  __pg_u64 __pg_top = __pg_libc_auxiliary ? __pg_libc_auxiliary(25) : 0;
  __pg_limits[0] = __pg_limits[1] = 0;
  __builtin_memset(__pg_attributes, 0, sizeof __pg_attributes);
  if (__pg_here < __pg_top && __pg_call({prlimit}, 0, 3, 0, (__pg_u64)__pg_limits) == 0) {{
    /* Nothing else is mapped so near below it. */
    __pg_u64 __pg_depth = __pg_limits[0] == ~(__pg_u64)0 ? PG_STACK_UNLIMITED : __pg_limits[0] < PG_STACK_LIMITED ? __pg_limits[0] : PG_STACK_LIMITED;
    if (__pg_top - __pg_here + PG_STACK_ROOM < __pg_depth)
      return 1;
  }}
  /* Of the first thread's stack the C library would read in a file, for which there may be no room. */
  if (!__pg_libc_attributes || __pg_call({gettid}, 0, 0, 0, 0) == __pg_call({getpid}, 0, 0, 0, 0)
      || __pg_libc_attributes(__pg_libc_self(), __pg_attributes) != 0)
    return 0;
  if (__pg_libc_stack(__pg_attributes, &__pg_low, &__pg_bytes) != 0)
    __pg_bytes = 0;
  (void)__pg_libc_end_attributes(__pg_attributes);
  return __pg_here - __pg_low < __pg_bytes && __pg_here - __pg_low >= PG_STACK_ROOM;
}}
__PG_SELDOM_FN const struct __pg_api *__pg_attach(void)
{{
  const struct __pg_api *__pg_found = 0;
  int __pg_expected = 0, __pg_errno;
  __pg_u64 __pg_all = ~(__pg_u64)0x1c00004d8, __pg_before = 0;
  /* Static programs, which may come here before a thread has anything of its own, and those without a C library. */
  if (!__pg_libc_dlsym || !__pg_libc_getenv || !__pg_libc_errno) {{
    __atomic_store_n(&__pg_api_state, 2, 3);
    return 0;
  }}
  __pg_errno = *__pg_libc_errno();
  /* No handler leaves this by siglongjmp. Faults are the thread's own (SIGILL, SIGTRAP, SIGBUS, SIGFPE, SIGSEGV, SIGSYS): the runtime may have to
   * bring back what is touched here. Two are the C library's own (32, 33). */
  __pg_call({rt_sigprocmask}, 0, (__pg_u64)&__pg_all, (__pg_u64)&__pg_before, 8);
  /* Signals that wait may be those whose handler this is, and what that has interrupted can't be entered again. */
  if (__pg_before && __pg_refusals < 8 && __pg_handles_some(__pg_before)) {{
    __pg_refusals++;
    __pg_call({rt_sigprocmask}, 2, (__pg_u64)&__pg_before, 0, 8);
    return 0;
  }}
  if ((!__pg_has_room() && ++__pg_roomless < 256) || !__atomic_compare_exchange_n(&__pg_api_state, &__pg_expected, 1, 0, 2, 0)) {{
    __pg_call({rt_sigprocmask}, 2, (__pg_u64)&__pg_before, 0, 8);
    *__pg_libc_errno() = __pg_errno;
    return 0;
  }}
  if (__pg_roomless < 256) {{
    void *(*__pg_dlopen)(const char *, int);
    char *(*__pg_dlerror)(void);
    *(void **)(void *)&__pg_dlopen = __pg_libc_dlsym((void *)0, "dlopen");
    *(void **)(void *)&__pg_dlerror = __pg_libc_dlsym((void *)0, "dlerror");
    if (__pg_dlopen) {{
      const char *__pg_path = __pg_libc_getenv("PARAGON_RT");
      /* RTLD_NOW, never unloaded; RTLD_DEEPBIND: programs have functions called read, access or malloc, which the library must not take for the C library's. Sanitizers, linked or
       * loaded before, end whoever asks for that. */
      int __pg_apart = __pg_sanitizer || __pg_libc_dlsym((void *)0, "__sanitizer_set_report_path") ? 0 : 8;
      void *__pg_library = __pg_dlopen(__pg_path && *__pg_path ? __pg_path : "{path}", 2 | 0x1000 | __pg_apart);
      if (__pg_library) {{
        __pg_attach_fn __pg_function;
        *(void **)(void *)&__pg_function = __pg_libc_dlsym(__pg_library, PG_ATTACH_SYMBOL);
        if (__pg_function)
          __pg_found = __pg_function({version}, __pg_before);
      }}
      if (__pg_dlerror)
        (void)__pg_dlerror();
    }}
  }}
  if (__pg_found && __pg_found->abi != PG_ABI_VERSION)
    __pg_found = 0;
  __pg_api_found = __pg_found;
  __atomic_store_n(&__pg_api_state, 2, 3);
  __pg_call({rt_sigprocmask}, 2, (__pg_u64)&__pg_before, 0, 8);
  *__pg_libc_errno() = __pg_errno;
  return __pg_found;
}}
/* Null: no runtime, or not yet. */
__PG_FN const struct __pg_api *__pg_runtime(void)
{{
  if (__atomic_load_n(&__pg_api_state, 2) == 2)
    return __pg_api_found;
  return __pg_attach();
}}
/* Not 0: the loop is complete. A loop never asks again where there will be no runtime. */
__PG_SHARED_FN int __pg_start(struct __pg_loop *__pg_l, __pg_value *__pg_numbers)
{{
  const struct __pg_api *__pg_api = __pg_runtime();
  if (__pg_api)
    return __pg_api->start(__pg_l, __pg_numbers);
  if (__atomic_load_n(&__pg_api_state, 0) == 2) {{
    __atomic_store_n(&__pg_l->__pg_threshold, {never}, 0);
    __atomic_store_n(&__pg_l->__pg_stays, 1, 0);
  }}
  return 0;
}}
"#,
        never = super::types::literal(i64::MAX),
        rt_sigaction = libc::SYS_rt_sigaction,
        rt_sigprocmask = libc::SYS_rt_sigprocmask,
        prlimit = libc::SYS_prlimit64,
        gettid = libc::SYS_gettid,
        getpid = libc::SYS_getpid,
    );
    if reads_early {
        text.push_str(&format!(
            r#"
/* No address leads there, nor to anything that is near. */
#define PG_NOWHERE ((__pg_u64)1 << 63)
/* Whether memory could be read, of which the loop may read nothing. Pages are there as a whole, and of one it is known already. The kernel looks at the signals
 * that it is told of first, and then refuses what it is asked to do with them: -EINVAL instead of -EFAULT. */
static __attribute__((__noinline__, __unused__)) int __pg_is_there(__pg_u64 *__pg_known_page, __pg_u64 __pg_at, __pg_u64 __pg_width)
{{
  __pg_u64 __pg_end = __pg_at + __pg_width - 1;
  for (;;) {{
    if (__pg_at >> 12 != *__pg_known_page) {{
      if (__pg_call({rt_sigprocmask}, ~(__pg_u64)0, __pg_at & ~(__pg_u64)7, 0, 8) != -{EINVAL})
        return 0;
      *__pg_known_page = __pg_at >> 12;
    }}
    if (__pg_at >> 12 == __pg_end >> 12)
      return 1;
    __pg_at = __pg_end;
  }}
}}
"#,
            rt_sigprocmask = libc::SYS_rt_sigprocmask,
            EINVAL = libc::EINVAL,
        ));
    }
    if has_parts {
        text.push_str(&format!(
            r#"
__PG_SHARED_FN int __pg_start_parts(const struct __pg_part *__pg_parts, __pg_u32 __pg_n)
{{
  const struct __pg_api *__pg_api = __pg_runtime();
  if (__pg_api)
    return __pg_api->start_parts(__pg_parts, __pg_n);
  if (__atomic_load_n(&__pg_api_state, 0) == 2)
    __atomic_store_n(&__pg_parts->the_loop->__pg_threshold, {never}, 0);
  return 0;
}}
"#,
            never = super::types::literal(i64::MAX)
        ));
    }
    if allocators.is_empty() {
        return text;
    }
    let record_minimum = if records_all { "1u" } else { "PG_RECORD_MINIMUM" };
    text.push_str(&format!(
        r#"
/* Not cold: whoever calls such a function in any case is taken for cold, too. */
static __attribute__((__noinline__, __unused__)) void __pg_record(void *__pg_start, __pg_u64 __pg_bytes)
{{
  const struct __pg_api *__pg_api = __pg_runtime();
  if (__pg_api && __pg_start)
    __pg_api->allocated(__pg_start, __pg_bytes);
}}
/* Programs give back many small pieces, of which nothing is known. What is large begins a page, or has what the C library notes of it at the beginning of one. What is recorded and looks
 * otherwise stays recorded, which does no harm. */
__PG_FN void __pg_forget(void *__pg_start)
{{
  if (__builtin_expect(((__pg_u64)__pg_start & 0xfef) == 0 && __pg_start != 0, 0) && __atomic_load_n(&__pg_api_state, 2) == 2 && __pg_api_found)
    __pg_api_found->freed(__pg_start);
}}
#define __PG_RECORD_MINIMUM {record_minimum}
"#
    ));
    for allocator in allocators {
        text.push_str(match *allocator {
            "malloc" => {
                r#"extern void *__pg_libc_malloc(unsigned long) __asm__("malloc") __attribute__((__malloc__, __alloc_size__(1)));
__PG_FN void *__pg_malloc(unsigned long __pg_n)
{
  void *__pg_p = __pg_libc_malloc(__pg_n);
  if (__builtin_expect(__pg_n >= __PG_RECORD_MINIMUM, 0))
    __pg_record(__pg_p, __pg_n);
  return __pg_p;
}
"#
            }
            "calloc" => {
                r#"extern void *__pg_libc_calloc(unsigned long, unsigned long) __asm__("calloc") __attribute__((__malloc__, __alloc_size__(1, 2)));
__PG_FN void *__pg_calloc(unsigned long __pg_n, unsigned long __pg_m)
{
  void *__pg_p = __pg_libc_calloc(__pg_n, __pg_m);
  if (__builtin_expect(__pg_p != 0 && __pg_n * __pg_m >= __PG_RECORD_MINIMUM, 0))
    __pg_record(__pg_p, __pg_n * __pg_m);
  return __pg_p;
}
"#
            }
            "realloc" => {
                r#"extern void *__pg_libc_realloc(void *, unsigned long) __asm__("realloc") __attribute__((__alloc_size__(2)));
__PG_FN void *__pg_realloc(void *__pg_old, unsigned long __pg_n)
{
  void *__pg_p;
  __pg_forget(__pg_old);
  __pg_p = __pg_libc_realloc(__pg_old, __pg_n);
  if (__builtin_expect(__pg_n >= __PG_RECORD_MINIMUM, 0))
    __pg_record(__pg_p, __pg_n);
  return __pg_p;
}
"#
            }
            "aligned_alloc" => {
                r#"extern void *__pg_libc_aligned_alloc(unsigned long, unsigned long) __asm__("aligned_alloc") __attribute__((__malloc__, __alloc_size__(2)));
__PG_FN void *__pg_aligned_alloc(unsigned long __pg_a, unsigned long __pg_n)
{
  void *__pg_p = __pg_libc_aligned_alloc(__pg_a, __pg_n);
  if (__builtin_expect(__pg_n >= __PG_RECORD_MINIMUM, 0))
    __pg_record(__pg_p, __pg_n);
  return __pg_p;
}
"#
            }
            "posix_memalign" => {
                r#"extern int __pg_libc_posix_memalign(void **, unsigned long, unsigned long) __asm__("posix_memalign");
__PG_FN int __pg_posix_memalign(void **__pg_p, unsigned long __pg_a, unsigned long __pg_n)
{
  int __pg_r = __pg_libc_posix_memalign(__pg_p, __pg_a, __pg_n);
  if (__builtin_expect(__pg_r == 0 && __pg_n >= __PG_RECORD_MINIMUM, 0))
    __pg_record(*__pg_p, __pg_n);
  return __pg_r;
}
"#
            }
            "free" => {
                r#"extern void __pg_libc_free(void *) __asm__("free");
__PG_FN void __pg_free(void *__pg_p)
{
  __pg_forget(__pg_p);
  __pg_libc_free(__pg_p);
}
"#
            }
            _ => "",
        });
    }
    text
}

/// A text as the inside of a C string literal.
pub fn escape(text: &str) -> String {
    let mut out = String::new();
    for byte in text.bytes() {
        match byte {
            b'"' => out.push_str("\\\""),
            b'\\' => out.push_str("\\\\"),
            b'\n' => out.push_str("\\n"),
            b'?' => out.push_str("\\?"),
            0x20..=0x7e => out.push(byte as char),
            other => out.push_str(&format!("\\{other:03o}")),
        }
    }
    out
}
