#pragma once

#include <string>

#include "kernels/device_error.h"

namespace kernels::cuda {

/// What every CUDA kernel does in a build without CUDA.
[[noreturn]] inline void absent(const char* kernel) {
    throw DeviceError(std::string("this build has no CUDA backend, so it cannot run ") + kernel);
}

}  // namespace kernels::cuda
