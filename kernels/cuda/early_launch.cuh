#pragma once

#include "cuda/launch.cuh"

/// Programmatic dependent launch between our own kernels: with HALFTONE_PDL=1, on cards of compute
/// capability 9.0 and later, a kernel's blocks may be set up while the one before it still runs.
/// Eager and recorded steps alike. Off unless asked for: no card has compared the bits yet.
///
/// A kernel that launch_early() starts waits in its first statement, and has no parameter that is
/// declared __restrict__: the compiler may read what such a pointer to const gives before the wait.
/// tests/gpu/check_reading.sh holds both.
namespace kernels::cuda {

/// Until all kernels before this one on the stream have ended, and what they wrote is there.
__device__ __forceinline__ void wait_for_earlier_kernels() {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
    cudaGridDependencySynchronize();
#endif
}

/// Once all blocks have come here, the next kernel on the stream may be set up, if it was started
/// by launch_early(). Behind the own wait, if there is one.
__device__ __forceinline__ void let_next_kernel_start() {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
    cudaTriggerProgrammaticLaunchCompletion();
#endif
}

#ifdef HALFTONE_SIMT

template <typename... P, typename... A>
void launch_early(const char* name, void (*kernel)(P...), const Grid& grid, Stream stream,
                  A&&... args) {
    launch(name, kernel, grid, stream, std::forward<A>(args)...);
}

#else

/// Like launch_raw.
void launch_raw_early(const char* name, const void* kernel, const Grid& grid, void** arguments,
                      Stream stream);

/// Like launch().
template <typename... P, typename... A>
void launch_early(const char* name, void (*kernel)(P...), const Grid& grid, Stream stream,
                  A&&... args) {
    static_assert(fit_launch<P...>);
    if (grid.blocks == 0 || grid.blocks_y == 0) return;
    std::tuple<P...> values(std::forward<A>(args)...);
    std::apply(
        [&](auto&... value) {
            void* arguments[] = {const_cast<void*>(static_cast<const void*>(&value))...};
            launch_raw_early(name, reinterpret_cast<const void*>(kernel), grid, arguments, stream);
        },
        values);
}

#endif

}  // namespace kernels::cuda
