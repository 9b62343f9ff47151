//! How a guard asks the runtime without the function around it being compiled for a call.
//!
//! A function that may call another one has to keep what it needs afterwards in registers that it saves for its own caller, or in memory, and gcc chooses between these by what all of its code
//! asks for. So a guard in a loop's function makes that function save registers each time it is called, and gives the loop others than it would have had: up to a tenth of the time of loops
//! that stay. What gcc knows about a function of the same file is which registers that one changes (`-fipa-ra`, from `-O2` on). So `__pg_try_N` does nothing but put what it is
//! given into memory, and leaves all other registers to a few lines of assembler, which save those that a function may change, and then call `__pg_behind_N`, which does the work.
//!
//! Of the registers of vectors gcc is told that they are changed, as behind any call; but for those that only processors with AVX-512 have. To name these is an error where the file isn't compiled for
//! such a processor, and some function of it may be all the same (`__attribute__((target))`). So they are saved where the processor has them.
//!
//! None of that is needed for being right: where gcc doesn't look at what a function changes, it expects the worst of `__pg_try_N`, too.

/// Text in front of all loops of a file; `describes_frames`: with what those need who walk the stack.
pub fn behind(describes_frames: bool) -> String {
    let lines = TEXT.lines().filter(|line| describes_frames || !line.contains("\"\\t.cfi_"));
    lines.flat_map(|line| [line, "\n"]).collect()
}

/// What the compiler is told of the function that a guard calls: that it changes nothing (`pure`). Where the loop stays, that is true, and what was loaded in front of it need not be loaded again;
/// where the loop is complete, the guard says that anything may have changed (`host::guard`). Of its text gcc sees an `asm` that may do anything to memory.
///
/// What `__pg_around` is given in the register of the result leads to the numbers, the first of which is the function to call. An `asm` with a call in it needs a function that keeps nothing below
/// the stack pointer, as those may that call nothing. One that asks for room by `alloca` doesn't, and finds its frame by another register, so that whoever walks the stack finds it at each instruction.
const TEXT: &str = r#"
#define __PG_TRY_FN static __attribute__((__noinline__, __noclone__, __no_icf__, __nothrow__, __pure__))
#define __PG_WIDE ".irp number, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31\n"
#define __PG_MASKS ".irp number, 0, 1, 2, 3, 4, 5, 6, 7\n"
__asm__(".local __pg_width\n" /* 0: nobody has asked the processor, 1: no AVX-512, 2: without masks of 64 bits, 3: with them */
        "\t.comm __pg_width, 1, 1\n"
        "\t.pushsection .text\n"
        "\t.p2align 4\n"
        "\t.type __pg_around, @function\n"
        "__pg_around:\n"
        "\t.cfi_startproc\n"
        "\tpushq %rbp\n"
        "\t.cfi_def_cfa_offset 16\n"
        "\t.cfi_offset 6, -16\n"
        "\tmovq %rsp, %rbp\n"
        "\t.cfi_def_cfa_register 6\n"
        "\tpushq %rcx\n"
        "\tpushq %rdx\n"
        "\tpushq %rsi\n"
        "\tpushq %rdi\n"
        "\tpushq %r8\n"
        "\tpushq %r9\n"
        "\tpushq %r10\n"
        "\tpushq %r11\n"
        "\tmovq %rax, %rdi\n"
        "\tmovzbl __pg_width(%rip), %esi\n"
        "\ttestl %esi, %esi\n"
        "\tjne 2f\n"
        "\tpushq %rbx\n"
        "\tmovl $1, %esi\n"
        "\tmovl $1, %eax\n"
        "\txorl %ecx, %ecx\n"
        "\tcpuid\n"
        "\tbtl $27, %ecx\n" /* the system lets programs ask what it keeps for them */
        "\tjnc 1f\n"
        "\txorl %ecx, %ecx\n"
        "\txgetbv\n"
        "\tandl $0xe6, %eax\n" /* vectors of all widths, and masks */
        "\tcmpl $0xe6, %eax\n"
        "\tjne 1f\n"
        "\tmovl $7, %eax\n"
        "\txorl %ecx, %ecx\n"
        "\tcpuid\n"
        "\tbtl $16, %ebx\n"
        "\tjnc 1f\n"
        "\tmovl $2, %esi\n"
        "\tbtl $30, %ebx\n"
        "\tjnc 1f\n"
        "\tmovl $3, %esi\n"
        "1:\tpopq %rbx\n"
        "\tmovb %sil, __pg_width(%rip)\n"
        "2:\tcmpl $1, %esi\n"
        "\tja 3f\n"
        "\tandq $-16, %rsp\n"
        "\tcall *(%rdi)\n"
        "\tjmp 7f\n"
        "3:\tsubq $1152, %rsp\n"
        "\tandq $-64, %rsp\n"
        "\tmovl %esi, 1088(%rsp)\n"
        __PG_WIDE "\tvmovdqa64 %zmm\\number, 64 * (\\number - 16)(%rsp)\n\t.endr\n"
        "\tcmpl $3, %esi\n"
        "\tje 4f\n"
        __PG_MASKS "\tkmovw %k\\number, 1024 + 8 * \\number(%rsp)\n\t.endr\n"
        "\tjmp 5f\n"
        "4:\n"
        __PG_MASKS "\tkmovq %k\\number, 1024 + 8 * \\number(%rsp)\n\t.endr\n"
        "5:\tcall *(%rdi)\n"
        __PG_WIDE "\tvmovdqa64 64 * (\\number - 16)(%rsp), %zmm\\number\n\t.endr\n"
        "\tcmpl $3, 1088(%rsp)\n"
        "\tje 6f\n"
        __PG_MASKS "\tkmovw 1024 + 8 * \\number(%rsp), %k\\number\n\t.endr\n"
        "\tjmp 7f\n"
        "6:\n"
        __PG_MASKS "\tkmovq 1024 + 8 * \\number(%rsp), %k\\number\n\t.endr\n"
        "7:\tleaq -64(%rbp), %rsp\n"
        "\tpopq %r11\n"
        "\tpopq %r10\n"
        "\tpopq %r9\n"
        "\tpopq %r8\n"
        "\tpopq %rdi\n"
        "\tpopq %rsi\n"
        "\tpopq %rdx\n"
        "\tpopq %rcx\n"
        "\tpopq %rbp\n"
        "\t.cfi_def_cfa 7, 8\n"
        "\tret\n"
        "\t.cfi_endproc\n"
        "\t.size __pg_around, .-__pg_around\n"
        "\t.popsection\n");
/* In one register: each one more that is used here is one that loops can't have. */
__PG_FN int __pg_go(int (*__pg_behind)(const __pg_value *), __pg_value *__pg_given)
{
  __pg_u64 __pg_result = (__pg_u64)(__pg_address)__pg_behind;
  __pg_address __pg_room;
  /* How much, the compiler can't know: else it could have it ready without a frame of the kind. */
  __asm__ __volatile__("" : "=a"(__pg_room) : "0"((__pg_address)1));
  __asm__ __volatile__("" : : "a"(__builtin_alloca(__pg_room)));
  __asm__ __volatile__("movq %%rax, %1\n\tleaq %1, %%rax\n\tcall __pg_around"
                       : "+a"(__pg_result), "+m"(__pg_given->__pg_u)
                       :
                       : "memory", "cc", "st", "st(1)", "st(2)", "st(3)", "st(4)", "st(5)", "st(6)", "st(7)", "mm0", "mm1", "mm2", "mm3", "mm4", "mm5", "mm6", "mm7",
                         "xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7", "xmm8", "xmm9", "xmm10", "xmm11", "xmm12", "xmm13", "xmm14", "xmm15");
  return (int)__pg_result;
}
"#;
