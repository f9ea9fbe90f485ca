#include <dlfcn.h>

#include <cstdlib>
#include <mutex>

#include "cuda/library.h"
#include "kernels/profiler_calls.h"

namespace kernels::cuda {
namespace {

// Both return the depth of the ranges that are open.
int (*range_push)(const char*) = nullptr;
int (*range_pop)() = nullptr;

template <typename F>
void find(F*& function, void* handle, const char* name) {
    function = reinterpret_cast<F*>(dlsym(handle, name));
}

void open_nvtx() {
    if (std::getenv("NVTX_INJECTION64_PATH") == nullptr) return;
    const Library library = open_library("NVTX", nvtx_names(), library_folders());
    if (!library.handle) return;
    find(range_push, library.handle, "nvtxRangePushA");
    find(range_pop, library.handle, "nvtxRangePop");
    if (!range_push || !range_pop) return;
    static constexpr ProfilerCalls calls{[](const char* name) { range_push(name); },
                                         [] { range_pop(); }};
    set_profiler_calls(&calls);
}

}  // namespace

void open_profiler() {
    static std::once_flag once;
    std::call_once(once, open_nvtx);
}

}  // namespace kernels::cuda
