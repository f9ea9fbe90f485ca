#include "cuda/cudnn_session.h"

#include <string>

#include "cuda/library.h"
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

}  // namespace

void check(cudnnStatus_t status, const char* call) {
    if (status == CUDNN_STATUS_SUCCESS) return;
    const auto words = cudnn(&cudnnGetErrorString, "cudnnGetErrorString");
    throw DeviceError(std::string(call) + ": " + words(status));
}

cudnnHandle_t CudnnSession::handle_of(int device) {
    cudnnHandle_t& handle = handles[device];
    if (!handle) check(cudnn(&cudnnCreate, "cudnnCreate")(&handle), "cudnnCreate");
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
