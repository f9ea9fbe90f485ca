#pragma once

#include <cstddef>
#include <cstdint>

// The address sanitizer follows swapcontext() from stack to stack and nothing else.
#if defined(__SANITIZE_ADDRESS__) || !defined(__x86_64__)
#define HALFTONE_SIMT_SWAPCONTEXT
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define HALFTONE_SIMT_SWAPCONTEXT
#endif
#endif

#ifdef HALFTONE_SIMT_SWAPCONTEXT
#include <ucontext.h>
#endif

namespace kernels::simt {

/// The place where code on a stack of its own waits to go on.
class Context {
public:
    /// Has the next switch_to() here call `entry`, which never returns, on an empty stack.
    void start(std::byte* memory, std::size_t bytes, void (*entry)());
    /// Waits here while `other`, another place, goes on.
    void switch_to(Context& other);

private:
#ifdef HALFTONE_SIMT_SWAPCONTEXT
    ucontext_t place_{};
#else
    void* stack_ = nullptr;
#endif
};

}  // namespace kernels::simt
