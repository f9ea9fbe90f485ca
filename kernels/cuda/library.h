#pragma once

#include <functional>
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
const Library& nvjpeg_library();

/// The folders that are searched after the system's own, in order: $HALFTONE_CUDA_LIBS, the
/// toolkit's, and those of Python's nvidia/* wheels.
std::vector<std::string> library_folders();

/// Says why the library in `file` must not be opened; an empty text accepts it.
using Refuses = std::function<std::string(const std::string& file)>;

/// Opens the first of `names` that the system or `folders` have and that `refuses` accepts;
/// info.version stays empty.
Library open_library(const std::string& name, const std::vector<std::string>& names,
                     const std::vector<std::string>& folders, const Refuses& refuses = {});

/// "libcublasLt.so" as "libcublasLt.so.13" and "libcublasLt.so.12", of `major` first.
std::vector<std::string> sonames(const std::string& stem, int major);

/// NVTX's file names, in the order in which they are tried.
std::vector<std::string> nvtx_names();

/// Calls the function of that name, which takes no argument and returns a number, in a copy of the
/// library that is loaded for this question alone; 0 if there is no such file or function. cuDNN
/// loads its parts by their sonames, so a library that is opened, refused and closed leaves parts
/// behind that the next one would take. Those of the copy are in a namespace of their own.
std::size_t ask_copy(const std::string& file, const char* function);

/// Opens a cuDNN that was built for CUDA `major`.0 or later of that major version: the builds for
/// CUDA 12 and 13 have one soname.
Library open_cudnn(const std::vector<std::string>& names, const std::vector<std::string>& folders,
                   int major);

/// Has cudnn-frontend take this CUDA run time, unless the user chose one. By itself it takes the
/// oldest of several major versions that it finds.
void choose_run_time(const Library& run_time);

}  // namespace kernels::cuda
