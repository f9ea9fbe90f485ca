#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <source_location>

#include "kernels/device_error.h"

/// The one place that CUDA's answers pass.
namespace kernels::cuda {

/// Throws DeviceError with the call's name, its place and CUDA's text unless `status` is success.
/// An error that the device does not survive marks it as lost for the rest of the process.
void check(cudaError_t status, const char* call,
           std::source_location place = std::source_location::current());
/// As check, for a call that allocates `bytes` (0: unknown): if there is no memory left it throws
/// OutOfMemory, and the device stays usable.
void check_memory(cudaError_t status, const char* call, std::size_t bytes,
                  std::source_location place = std::source_location::current());
/// As check, where nothing may be thrown: only marks a lost device; the next call that may throw
/// reports it.
void note(cudaError_t status) noexcept;

bool lost() noexcept;

}  // namespace kernels::cuda
