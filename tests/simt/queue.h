#pragma once

#include <functional>

#include "kernels/array.h"

namespace kernels::simt {

/// Enqueues work of a simulated library (a matrix product, a convolution) on the stream. The work
/// may access device memory when it runs. Counts as a launch.
void enqueue(const char* name, Stream stream, std::function<void()> work);

}  // namespace kernels::simt
