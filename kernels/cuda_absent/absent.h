#pragma once

#include <string>

#include "kernels/device_error.h"

namespace kernels::cuda {

/// Stands in for every CUDA kernel in a build without CUDA.
[[noreturn]] inline void absent(const char* kernel) {
    throw DeviceError(std::string("this build has no CUDA backend, so it cannot run ") + kernel);
}

}  // namespace kernels::cuda
