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

}  // namespace

namespace lt {
namespace {

Table open_table() {
    const Library& library = cublas_lt_library();
    Table t{};
    take(library, t.create, "cublasLtCreate");
    take(library, t.matmul, "cublasLtMatmul");
    take(library, t.heuristic, "cublasLtMatmulAlgoGetHeuristic");
    take(library, t.desc_create, "cublasLtMatmulDescCreate");
    take(library, t.desc_destroy, "cublasLtMatmulDescDestroy");
    take(library, t.desc_set, "cublasLtMatmulDescSetAttribute");
    take(library, t.layout_create, "cublasLtMatrixLayoutCreate");
    take(library, t.layout_destroy, "cublasLtMatrixLayoutDestroy");
    take(library, t.layout_set, "cublasLtMatrixLayoutSetAttribute");
    take(library, t.preference_create, "cublasLtMatmulPreferenceCreate");
    take(library, t.preference_destroy, "cublasLtMatmulPreferenceDestroy");
    take(library, t.preference_set, "cublasLtMatmulPreferenceSetAttribute");
    take(library, t.algorithm_get, "cublasLtMatmulAlgoConfigGetAttribute");
    take(library, t.algorithm_check, "cublasLtMatmulAlgoCheck");
    take(library, t.status_name, "cublasLtGetStatusName");
    return t;
}

}  // namespace

const Table& table() {
    static const Table only = open_table();  // what throws is tried again by the next call
    return only;
}

}  // namespace lt

namespace rnn {
namespace {

Table open_table() {
    const Library& library = cudnn_library();
    Table t{};
    take(library, t.create, "cudnnCreate");
    take(library, t.set_stream, "cudnnSetStream");
    take(library, t.error_text, "cudnnGetErrorString");
    take(library, t.tensor_create, "cudnnCreateTensorDescriptor");
    take(library, t.tensor_destroy, "cudnnDestroyTensorDescriptor");
    take(library, t.tensor_set, "cudnnSetTensorNdDescriptor");
    take(library, t.tensor_get, "cudnnGetTensorNdDescriptor");
    take(library, t.dropout_create, "cudnnCreateDropoutDescriptor");
    take(library, t.dropout_destroy, "cudnnDestroyDropoutDescriptor");
    take(library, t.dropout_set, "cudnnSetDropoutDescriptor");
    take(library, t.sequence_create, "cudnnCreateRNNDataDescriptor");
    take(library, t.sequence_destroy, "cudnnDestroyRNNDataDescriptor");
    take(library, t.sequence_set, "cudnnSetRNNDataDescriptor");
    take(library, t.network_create, "cudnnCreateRNNDescriptor");
    take(library, t.network_destroy, "cudnnDestroyRNNDescriptor");
    take(library, t.network_set, "cudnnSetRNNDescriptor_v8");
    take(library, t.weight_bytes, "cudnnGetRNNWeightSpaceSize");
    take(library, t.weight_params, "cudnnGetRNNWeightParams");
    take(library, t.space_bytes, "cudnnGetRNNTempSpaceSizes");
    take(library, t.forward, "cudnnRNNForward");
    take(library, t.backward_data, "cudnnRNNBackwardData_v8");
    take(library, t.backward_weights, "cudnnRNNBackwardWeights_v8");
    return t;
}

}  // namespace

const Table& table() {
    static const Table only = open_table();  // what throws is tried again by the next call
    return only;
}

}  // namespace rnn

namespace nccl {
namespace {

Table open_table() {
    const Library& library = nccl_library();
    Table t{};
    take(library, t.error_text, "ncclGetErrorString");
    take(library, t.unique_id, "ncclGetUniqueId");
    take(library, t.comm_init_rank, "ncclCommInitRank");
    take(library, t.comm_destroy, "ncclCommDestroy");
    take(library, t.comm_abort, "ncclCommAbort");
    take(library, t.comm_async_error, "ncclCommGetAsyncError");
    take(library, t.all_reduce, "ncclAllReduce");
    take(library, t.broadcast, "ncclBroadcast");
    take(library, t.group_start, "ncclGroupStart");
    take(library, t.group_end, "ncclGroupEnd");
    return t;
}

}  // namespace

const Table& table() {
    static const Table only = open_table();  // what throws is tried again by the next call
    return only;
}

}  // namespace nccl

LibraryInfo jpeg_library() { return nvjpeg_library().info; }

namespace nvjpeg {
namespace {

Table open_table() {
    const Library& library = nvjpeg_library();
    Table t{};
    take(library, t.property, "nvjpegGetProperty");
    take(library, t.create, "nvjpegCreateEx");
    take(library, t.destroy, "nvjpegDestroy");
    take(library, t.state_create, "nvjpegJpegStateCreate");
    take(library, t.state_destroy, "nvjpegJpegStateDestroy");
    take(library, t.image_info, "nvjpegGetImageInfo");
    take(library, t.decode, "nvjpegDecode");
    return t;
}

}  // namespace

const Table& table() {
    static const Table only = open_table();  // what throws is tried again by the next call
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
