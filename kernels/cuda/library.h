#pragma once

#include <string>
#include <vector>

#include "kernels/cuda_libraries.h"

/// NVIDIA's libraries, opened at run time.
namespace kernels::cuda {

struct Library {
    LibraryInfo info;
    void* handle = nullptr;  ///< of dlopen; null if not found

    /// Its function. Throws DeviceError that says what is missing and where it was looked for.
    void* function(const char* name) const;
};

/// Opened at first use, once.
const Library& cublas_lt_library();
const Library& cudnn_library();
const Library& nccl_library();

/// The folders that are searched after the system's own, in order: $HALFTONE_CUDA_LIBS, the
/// toolkit's, and those of Python's nvidia/* wheels.
std::vector<std::string> library_folders();

/// Opens the first of `names` that the system or `folders` have; info.version stays empty.
Library open_library(const std::string& name, const std::vector<std::string>& names,
                     const std::vector<std::string>& folders);

}  // namespace kernels::cuda
