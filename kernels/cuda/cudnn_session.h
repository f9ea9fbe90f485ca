#pragma once

#include <cudnn.h>

#include <map>
#include <mutex>

namespace kernels::cuda {

/// Throws DeviceError with the call and cuDNN's words unless it went well, OutOfMemory where they
/// say so.
void check(cudnnStatus_t status, const char* call);

/// State that all work by cuDNN shares.
struct CudnnSession {
    std::mutex mutex;  ///< of a handle and its stream while work is put on it, and of plans
    std::map<int, cudnnHandle_t> handles;  ///< by device

    /// The handle of `device`, which is the thread's; made at first. The lock is held.
    cudnnHandle_t handle_of(int device);
};

/// Opens cuDNN at first. Throws DeviceError if it is not there. Never closed: cuDNN may be unloaded
/// before our exit.
CudnnSession& cudnn_session();

}  // namespace kernels::cuda
