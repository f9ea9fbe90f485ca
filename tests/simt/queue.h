#pragma once

#include <functional>

#include "kernels/array.h"

namespace kernels::simt {

/// Puts work of a simulated library (a matrix product, a convolution) on the stream; it may touch
/// device memory when it runs. Counts as a launch.
void enqueue(const char* name, Stream stream, std::function<void()> work);

}  // namespace kernels::simt
