#pragma once

#include "kernels/array.h"

/// For callers of NVIDIA's libraries (cuBLAS, cuDNN, NCCL, nvJPEG), with a real device or the
/// simulated one.
namespace kernels::cuda {

/// The stream as the libraries take it (a cudaStream_t).
void* native_stream(Stream stream);
/// Counts a launch that a library made: call_counts() covers those too.
void count_launch() noexcept;

}  // namespace kernels::cuda
