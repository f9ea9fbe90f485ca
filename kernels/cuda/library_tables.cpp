#include <dlfcn.h>

#include <cstdlib>
#include <mutex>

#include "cuda/cublas_lt_api.h"
#include "cuda/cudnn_rnn_api.h"
#include "cuda/library.h"
#include "cuda/nccl_api.h"
#include "cuda/nvjpeg_api.h"
#include "kernels/jpeg_decoder.h"
#include "kernels/profiler_calls.h"

// The functions that each library is asked for, by their names in the file that was opened.
namespace kernels::cuda {
namespace {

template <typename F>
void take(const Library& library, F*& function, const char* name) {
    function = reinterpret_cast<F*>(library.function(name));
}

#define HALFTONE_TAKE(member, name) take(library, t.member, #name);

}  // namespace

namespace lt {
const Table& table() {
    static const Table only = [] {
        const Library& library = cublas_lt_library();
        Table t{};
        HALFTONE_LT_CALLS(HALFTONE_TAKE)
        return t;
    }();  // what throws is tried again by the next call
    return only;
}
}  // namespace lt

namespace rnn {
const Table& table() {
    static const Table only = [] {
        const Library& library = cudnn_library();
        Table t{};
        HALFTONE_RNN_CALLS(HALFTONE_TAKE)
        return t;
    }();  // what throws is tried again by the next call
    return only;
}
}  // namespace rnn

namespace nccl {
const Table& table() {
    static const Table only = [] {
        const Library& library = nccl_library();
        Table t{};
        HALFTONE_NCCL_CALLS(HALFTONE_TAKE)
        return t;
    }();  // what throws is tried again by the next call
    return only;
}
}  // namespace nccl

LibraryInfo jpeg_library() { return nvjpeg_library().info; }

namespace nvjpeg {
const Table& table() {
    static const Table only = [] {
        const Library& library = nvjpeg_library();
        Table t{};
        HALFTONE_NVJPEG_CALLS(HALFTONE_TAKE)
        return t;
    }();  // what throws is tried again by the next call
    return only;
}
}  // namespace nvjpeg

// NVTX, which a profiler brings along.
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
