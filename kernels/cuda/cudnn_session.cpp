#include "cuda/cudnn_session.h"

#include <string>

#include "cuda/library.h"
#include "cuda/workspace.h"
#include "kernels/cuda_libraries.h"
#include "kernels/device_error.h"

namespace cudnn_frontend {
extern void* cudnn_dlhandle;
void* cudnn_dlhandle = nullptr;  // the frontend takes cuDNN's functions from it
}  // namespace cudnn_frontend

namespace kernels::cuda {
namespace {

template <class Function>
Function* cudnn(Function*, const char* name) {
    return reinterpret_cast<Function*>(cudnn_library().function(name));
}

bool is_memory(cudnnStatus_t status) {
    return status == CUDNN_STATUS_INTERNAL_ERROR_HOST_ALLOCATION_FAILED ||
           status == CUDNN_STATUS_INTERNAL_ERROR_DEVICE_ALLOCATION_FAILED;
}

}  // namespace

void check(cudnnStatus_t status, const char* call) {
    if (status == CUDNN_STATUS_SUCCESS) return;
    const auto name = cudnn(&cudnnGetErrorString, "cudnnGetErrorString");
    const std::string words = std::string(call) + ": " + name(status);
    if (is_memory(status)) throw LibraryOutOfMemory(words);
    throw DeviceError(words);
}

cudnnHandle_t CudnnSession::handle_of(int device) {
    cudnnHandle_t& handle = handles[device];
    if (handle) return handle;
    const auto create = cudnn(&cudnnCreate, "cudnnCreate");
    cudnnStatus_t status = create(&handle);
    if (status != CUDNN_STATUS_SUCCESS) {  // it takes memory of the device
        trim_caches();
        status = create(&handle);
    }
    if (status != CUDNN_STATUS_SUCCESS) handle = nullptr;
    check(status, "cudnnCreate");
    return handle;
}

CudnnSession& cudnn_session() {
    static auto* only = [] {
        cudnn_library().function("cudnnGetVersion");  // throws where there is none
        cudnn_frontend::cudnn_dlhandle = cudnn_library().handle;
        return new CudnnSession;
    }();
    return *only;
}

}  // namespace kernels::cuda
