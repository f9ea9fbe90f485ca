#pragma once

#include "kernels/array.h"

/// Native handles of streams, real or simulated, for calls of libraries.
namespace kernels::cuda {

/// The libraries' handle of the stream (a cudaStream_t).
void* native_stream(Stream stream);
/// Counts work that a library has put on a stream.
void count_launch() noexcept;

}  // namespace kernels::cuda
