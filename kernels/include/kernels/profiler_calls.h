#pragma once

#include <atomic>

namespace kernels {

/// A profiler's calls for named ranges on its time line. Ranges of one thread nest.
struct ProfilerCalls {
    void (*push)(const char* name);
    void (*pop)();
};
namespace detail {
inline std::atomic<const ProfilerCalls*> attached_profiler{nullptr};
}
/// Null: no profiler is attached.
inline const ProfilerCalls* profiler_calls() noexcept {
    return detail::attached_profiler.load(std::memory_order_acquire);
}
/// Sets what profiler_calls() returns; not owned. Ranges that are open when a profiler is attached
/// end without a pop. To null: while no range is open on any thread.
inline void set_profiler_calls(const ProfilerCalls* calls) noexcept {
    detail::attached_profiler = calls;
}

namespace cuda {

/// Sets the calls of NVIDIA's NVTX library, opened at the first call, if a profiler has announced
/// itself in the environment (NVTX_INJECTION64_PATH, as Nsight Systems does). Without the library:
/// nothing.
void open_profiler();

}  // namespace cuda

}  // namespace kernels
