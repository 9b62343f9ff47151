//! System calls past the C library: by an instruction that the kernel never dispatches, wherever the selector stands, and without `errno`. The way back from a signal
//! handler lies beside it, because it is a system call as well, made after the selector has been set for the program.

use std::arch::global_asm;
use std::sync::atomic::AtomicU8;

// Programs that walk the stack know the way back from a handler by its bytes, so it is written as the C library writes it. The kernel compares the address behind an
// instruction: something has to follow the last one.
global_asm!(
    ".pushsection .text.paragon_gate, \"ax\", @progbits",
    ".balign 16",
    ".globl paragon_gate_call, paragon_gate_wait, paragon_gate_behind_wait, paragon_gate_back_to, paragon_gate_back, paragon_gate_end",
    ".hidden paragon_gate_call, paragon_gate_wait, paragon_gate_behind_wait, paragon_gate_back_to, paragon_gate_back, paragon_gate_end",
    ".type paragon_gate_call, @function",
    "paragon_gate_call:",
    "mov rax, rdi",
    "mov rcx, rsi",
    "mov rdi, [rcx]",
    "mov rsi, [rcx + 8]",
    "mov rdx, [rcx + 16]",
    "mov r10, [rcx + 24]",
    "mov r8, [rcx + 32]",
    "mov r9, [rcx + 40]",
    "syscall",
    "ret",
    ".type paragon_gate_wait, @function",
    "paragon_gate_wait:",
    "push rbx",
    "mov rbx, rdx",
    "mov rax, rdi",
    "mov rcx, rsi",
    "mov rdi, [rcx]",
    "mov rsi, [rcx + 8]",
    "mov rdx, [rcx + 16]",
    "mov r10, [rcx + 24]",
    "mov r8, [rcx + 32]",
    "mov r9, [rcx + 40]",
    "syscall",
    "paragon_gate_behind_wait:",
    "mov byte ptr [rbx], 0",
    "pop rbx",
    "ret",
    ".type paragon_gate_back_to, @function",
    "paragon_gate_back_to:",
    "mov rsp, rdi",
    "mov rax, 15",
    "syscall",
    "ud2",
    ".balign 16",
    "nop",
    ".type paragon_gate_back, @function",
    "paragon_gate_back:",
    "mov rax, 15",
    "syscall",
    "ud2",
    "paragon_gate_end:",
    "ud2",
    ".popsection",
);

// Not between the bounds: system calls are made behind it, too.
global_asm!(
    ".pushsection .text.paragon_gate_on, \"ax\", @progbits",
    ".balign 16",
    ".globl paragon_gate_on",
    ".hidden paragon_gate_on",
    ".type paragon_gate_on, @function",
    "paragon_gate_on:",
    ".cfi_startproc",
    "push rbp",
    ".cfi_def_cfa_offset 16",
    ".cfi_offset rbp, -16",
    "mov rbp, rsp",
    ".cfi_def_cfa_register rbp",
    "mov rsp, rdi",
    "mov rdi, rdx",
    "call rsi",
    "mov rsp, rbp",
    "pop rbp",
    ".cfi_def_cfa rsp, 8",
    "ret",
    ".cfi_endproc",
    ".popsection",
);

// The kernel lets a new thread go on behind the instruction, on the stack that it was given, with the registers of whoever made the call. First it is sent elsewhere; then all registers are
// what the program's own call would have left: the two that the instruction itself overwrites as well, as far as anybody may count on them.
global_asm!(
    ".pushsection .text.paragon_gate_begin, \"ax\", @progbits",
    ".balign 16",
    ".globl paragon_gate_begin",
    ".hidden paragon_gate_begin",
    ".type paragon_gate_begin, @function",
    "paragon_gate_begin:",
    "push rbx",
    "mov rbx, rdx",
    "mov eax, 435",
    "syscall",
    "test rax, rax",
    "jz 2f",
    "pop rbx",
    "ret",
    "2:",
    "xor ebp, ebp",
    "mov r12, rsp",
    "and rsp, -16",
    "mov rdi, rbx",
    "call [rbx]",
    "mov rsp, r12",
    "mov r8, [rbx + 8]",
    "mov r9, [rbx + 16]",
    "mov r10, [rbx + 24]",
    "mov r12, [rbx + 32]",
    "mov r13, [rbx + 40]",
    "mov r14, [rbx + 48]",
    "mov r15, [rbx + 56]",
    "mov rdi, [rbx + 64]",
    "mov rsi, [rbx + 72]",
    "mov rbp, [rbx + 80]",
    "mov rdx, [rbx + 88]",
    "mov rcx, [rbx + 96]",
    "mov rbx, [rbx + 104]",
    "xor eax, eax",
    "jmp rcx",
    ".popsection",
);

/// What a thread begins with, as the code above reads it.
#[repr(C)]
pub struct Beginning {
    /// What it is sent to before it comes to the program's code, with the address of this.
    pub call: extern "C" fn(*mut Beginning),
    /// See [`BEGINS_WITH`].
    pub registers: [u64; BEGINS_WITH.len()],
}

/// The registers of a [`Beginning`], in their order.
pub const BEGINS_WITH: [i32; 13] = [
    libc::REG_R8,
    libc::REG_R9,
    libc::REG_R10,
    libc::REG_R12,
    libc::REG_R13,
    libc::REG_R14,
    libc::REG_R15,
    libc::REG_RDI,
    libc::REG_RSI,
    libc::REG_RBP,
    libc::REG_RDX,
    libc::REG_RIP,
    libc::REG_RBX,
];

unsafe extern "C" {
    fn paragon_gate_begin(wanted: *const u8, bytes: u64, with: *mut Beginning) -> i64;
    fn paragon_gate_call(number: u64, arguments: *const [u64; 6]) -> i64;
    fn paragon_gate_wait(number: u64, arguments: *const [u64; 6], waits: *const AtomicU8) -> i64;
    fn paragon_gate_behind_wait();
    fn paragon_gate_back_to(interrupted: *const libc::ucontext_t) -> !;
    fn paragon_gate_back();
    fn paragon_gate_end();
    fn paragon_gate_on(top: u64, work: extern "C" fn(u64), argument: u64);
}

/// Makes a system call. Errors are negative numbers.
///
/// # Safety
/// As for the call.
pub unsafe fn call(number: u64, arguments: [u64; 6]) -> i64 {
    // SAFETY: promised by the caller; the arguments are read before the call is made.
    unsafe { paragon_gate_call(number, &raw const arguments) }
}

/// The same; `waits`, which is set, is cleared by the first instruction behind it ([`behind_wait`]). So a handler that interrupts it knows whether the call has been made.
///
/// # Safety
/// As for the call.
pub unsafe fn wait(number: u64, arguments: [u64; 6], waits: &AtomicU8) -> i64 {
    // SAFETY: promised by the caller; the arguments are read before the call is made.
    unsafe { paragon_gate_wait(number, &raw const arguments, waits) }
}

/// Where [`wait`] is when the call has been made and nothing else.
pub fn behind_wait() -> u64 {
    paragon_gate_behind_wait as *const () as u64
}

/// Goes back to what a handler of a signal has interrupted, from wherever that has come to.
///
/// # Safety
/// The kernel's own, of a handler on the calling thread that hasn't returned; nothing in between is to be undone.
pub unsafe fn back_to(interrupted: &libc::ucontext_t) -> ! {
    // SAFETY: promised by the caller.
    unsafe { paragon_gate_back_to(interrupted) }
}

/// Begins a thread (`clone3`) that first calls what it is given, and then goes on at the registers that it is given, as if it had made the call there. Errors are negative numbers.
///
/// # Safety
/// What the kernel is told has so many bytes, and wants a thread on a stack of its own. What it begins with stays until it has come to its registers, and may be called.
pub unsafe fn begin(wanted: *const u8, bytes: u64, with: *mut Beginning) -> i64 {
    // SAFETY: promised by the caller.
    unsafe { paragon_gate_begin(wanted, bytes, with) }
}

/// Calls a function on another stack.
///
/// # Safety
/// `top` is the end of memory that is a stack's, aligned as the processor's calls want it, and nobody else's; the function may be called with this argument.
pub unsafe fn on(top: u64, work: extern "C" fn(u64), argument: u64) {
    // SAFETY: promised by the caller; what calls save comes back.
    unsafe { paragon_gate_on(top, work, argument) }
}

/// Where it begins, and how many bytes it has.
pub fn bounds() -> (u64, u64) {
    let [begin, end] = [paragon_gate_call as *const () as u64, paragon_gate_end as *const () as u64];
    (begin, end - begin)
}

/// What the kernel calls `sigaction`.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Action {
    /// The handler's address; 0: the default, 1: the signal is ignored.
    pub handler: u64,
    /// How it is called.
    pub flags: u64,
    /// Where it returns to.
    pub restorer: u64,
    /// Which signals wait meanwhile.
    pub mask: u64,
}

/// The C library's `SA_RESTORER`, which the `libc` crate hasn't.
const HAS_RESTORER: u64 = 0x0400_0000;

impl Action {
    /// A handler of ours. It changes nothing about which signals wait, so that a system call in it is interrupted by what would interrupt the program's; and it has
    /// a stack of its own, because the program's may be full, or kept away.
    pub fn ours(handler: extern "C" fn(i32, *mut libc::siginfo_t, *mut libc::ucontext_t)) -> Action {
        Action {
            handler: handler as *const () as u64,
            flags: (libc::SA_SIGINFO | libc::SA_NODEFER | libc::SA_ONSTACK) as u64 | HAS_RESTORER,
            restorer: paragon_gate_back as *const () as u64,
            mask: 0,
        }
    }

    /// What is done by default.
    pub const DEFAULT: Action = Action { handler: 0, flags: 0, restorer: 0, mask: 0 };

    /// That of a signal. `None`: there is no such signal.
    pub fn of(signal: i32) -> Option<Action> {
        let mut action = Action::DEFAULT;
        // SAFETY: only asks, into a local variable.
        let failed = unsafe {
            call(libc::SYS_rt_sigaction as u64, [signal as u64, 0, &raw mut action as u64, 8, 0, 0])
        };
        (failed == 0).then_some(action)
    }

    /// Sets that of a signal.
    ///
    /// # Safety
    /// A handler must bear what it may interrupt.
    pub unsafe fn set(&self, signal: i32) -> bool {
        let action = std::ptr::from_ref(self) as u64;
        // SAFETY: promised by the caller.
        unsafe { call(libc::SYS_rt_sigaction as u64, [signal as u64, action, 0, 8, 0, 0]) == 0 }
    }
}
