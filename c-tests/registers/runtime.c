/* A runtime that refuses every loop, but changes whatever a function may change before it does. It counts how often it was asked, and from how many of these questions somebody who walks the
 * stack, as debuggers and thread cancellation do, comes back to `main`. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <unwind.h>
#include "paragon_rt.h"

static int asked, walked, aligned;
static void *main_function;

static _Unwind_Reason_Code look(struct _Unwind_Context *frame, void *found)
{
  if (_Unwind_FindEnclosingFunction((void *)_Unwind_GetIP(frame)) == main_function)
    *(int *)found = 1;
  return _URC_NO_REASON;
}

static void change_numbers(void)
{
  __asm__ volatile("movq $-1, %%rax\n\tmovq %%rax, %%rcx\n\tmovq %%rax, %%rdx\n\tmovq %%rax, %%rsi\n\tmovq %%rax, %%rdi\n\tmovq %%rax, %%r8\n\tmovq %%rax, %%r9\n\t"
                   "movq %%rax, %%r10\n\tmovq %%rax, %%r11"
                   :
                   :
                   : "rax", "rcx", "rdx", "rsi", "rdi", "r8", "r9", "r10", "r11", "cc");
  __asm__ volatile("fld1\n\tfld1\n\tfld1\n\tfld1\n\tfld1\n\tfld1\n\tfld1\n\tfld1\n\tfstp %%st(0)\n\tfstp %%st(0)\n\tfstp %%st(0)\n\tfstp %%st(0)\n\t"
                   "fstp %%st(0)\n\tfstp %%st(0)\n\tfstp %%st(0)\n\tfstp %%st(0)"
                   :
                   :
                   : "st", "st(1)", "st(2)", "st(3)", "st(4)", "st(5)", "st(6)", "st(7)");
}

#define SAME(register) "pcmpeqd %%xmm" register ", %%xmm" register "\n\t"
static void change_vectors(void)
{
  __asm__ volatile(SAME("0") SAME("1") SAME("2") SAME("3") SAME("4") SAME("5") SAME("6") SAME("7") SAME("8") SAME("9") SAME("10") SAME("11") SAME("12")
                       SAME("13") SAME("14") SAME("15")
                   :
                   :
                   : "xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7", "xmm8", "xmm9", "xmm10", "xmm11", "xmm12", "xmm13", "xmm14", "xmm15");
}

#define ONES(register) "vpternlogd $0xff, %%zmm" register ", %%zmm" register ", %%zmm" register "\n\t"
#define MASK(register) "kxnorw %%k" register ", %%k" register ", %%k" register "\n\t"
__attribute__((target("avx512f"))) static void change_wide_vectors(void)
{
  __asm__ volatile(ONES("0") ONES("1") ONES("2") ONES("3") ONES("4") ONES("5") ONES("6") ONES("7") ONES("8") ONES("9") ONES("10") ONES("11") ONES("12")
                       ONES("13") ONES("14") ONES("15") ONES("16") ONES("17") ONES("18") ONES("19") ONES("20") ONES("21") ONES("22") ONES("23") ONES("24")
                           ONES("25") ONES("26") ONES("27") ONES("28") ONES("29") ONES("30") ONES("31") MASK("1") MASK("2") MASK("3") MASK("4")
                               MASK("5") MASK("6") MASK("7") "vzeroupper"
                   :
                   :
                   : "xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7", "xmm8", "xmm9", "xmm10", "xmm11", "xmm12", "xmm13", "xmm14", "xmm15",
                     "xmm16", "xmm17", "xmm18", "xmm19", "xmm20", "xmm21", "xmm22", "xmm23", "xmm24", "xmm25", "xmm26", "xmm27", "xmm28", "xmm29", "xmm30",
                     "xmm31", "k1", "k2", "k3", "k4", "k5", "k6", "k7");
}

static int start(struct __pg_loop *loop, __pg_value *numbers)
{
  int found = 0;
  (void)loop;
  (void)numbers;
  asked++;
  aligned += (unsigned long)__builtin_frame_address(0) % 16 == 0;
  _Unwind_Backtrace(look, &found);
  walked += found;
  change_vectors();
  if (__builtin_cpu_supports("avx512f"))
    change_wide_vectors();
  change_numbers();
  return 0;
}

static void nothing(void *memory)
{
  (void)memory;
}

static void nothing_of(void *memory, __pg_u64 bytes)
{
  (void)memory;
  (void)bytes;
}

const struct __pg_api *__pg_rt_attach(__pg_u32 abi, __pg_u64 blocked)
{
  static const struct __pg_api api = {PG_ABI_VERSION, start, 0, 0, nothing_of, nothing, nothing_of};
  (void)abi;
  (void)blocked;
  main_function = dlsym(RTLD_DEFAULT, "main");
  return &api;
}

__attribute__((destructor)) static void tell(void)
{
  fprintf(stderr, "asked %d walked %d aligned %d\n", asked, walked, aligned);
}
