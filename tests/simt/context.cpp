#include "simt/context.h"

#ifndef HALFTONE_SIMT_SWAPCONTEXT

// Half of the time of a kernel with barriers is the way from thread to thread. swapcontext() makes
// two system calls, and longjmp() checks and decodes; a function has to preserve six registers and
// the stack. The jump is no return, since the processor predicts returns by the calls before.
asm(R"(
    .pushsection .text
    .p2align 4
    .type halftone_switch_stack, @function
halftone_switch_stack:
    .cfi_startproc
    pushq %rbp
    pushq %rbx
    pushq %r12
    pushq %r13
    pushq %r14
    pushq %r15
    movq %rsp, (%rdi)
    movq %rsi, %rsp
    popq %r15
    popq %r14
    popq %r13
    popq %r12
    popq %rbx
    popq %rbp
    popq %rcx
    jmp *%rcx
    .cfi_endproc
    .size halftone_switch_stack, . - halftone_switch_stack
    .popsection
)");

extern "C" void halftone_switch_stack(void** from, void* to);

namespace kernels::simt {

void Context::start(std::byte* memory, std::size_t bytes, void (*entry)()) {
    // Words that halftone_switch_stack() takes from the stack: six registers and the entry, and
    // above them, at the distance from a multiple of 16 that a call leaves, no place to return to.
    const auto end = (reinterpret_cast<std::uintptr_t>(memory) + bytes) / 16 * 16;
    auto* const words = reinterpret_cast<std::uintptr_t*>(end) - 8;
    for (int i = 0; i < 8; ++i) words[i] = 0;
    words[6] = reinterpret_cast<std::uintptr_t>(entry);
    stack_ = words;
}

void Context::switch_to(Context& other) { halftone_switch_stack(&stack_, other.stack_); }

}  // namespace kernels::simt

#else

namespace kernels::simt {

void Context::start(std::byte* memory, std::size_t bytes, void (*entry)()) {
    getcontext(&place_);
    place_.uc_stack.ss_sp = memory;
    place_.uc_stack.ss_size = bytes;
    place_.uc_link = nullptr;
    makecontext(&place_, entry, 0);
}

void Context::switch_to(Context& other) { swapcontext(&place_, &other.place_); }

}  // namespace kernels::simt

#endif
