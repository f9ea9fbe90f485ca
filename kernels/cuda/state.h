#pragma once

#include <cuda_runtime.h>

#include <atomic>
#include <cstdint>

/// Shared by the files that stand for cuda_device.h. Nothing here runs before the first use.
namespace kernels::cuda {

struct Counters {
    std::atomic<std::int64_t> launches{0}, synchronizations{0}, allocations{0};
};
Counters& counters() noexcept;

/// The CUDA number of the calling thread's device, after selecting it for this thread. Throws
/// DeviceError with the reason if there is none.
int use_device();

/// CUDA's number of a device. Throws DeviceError if there is none.
int ordinal_of(int index);
/// The compute stream of that device.
cudaStream_t compute_stream();

}  // namespace kernels::cuda
