#pragma once

/// How a kernel is declared: once, in namespace kernels, behind its function type. `Type` is one
/// that this header defines with `using Type = void(...)` (or bool, ...). A build without CUDA
/// generates the definition of the CUDA function from these two lines, and it throws DeviceError
/// (kernels/cuda_absent/generate.cmake).

/// The twins cpu::name, which returns when done and ignores its stream, and cuda::name, which is
/// asynchronous on its stream.
#define HALFTONE_KERNEL(Type, name) \
    namespace cpu {                 \
    Type name;                      \
    }                               \
    HALFTONE_CUDA_KERNEL(Type, name)

/// cuda::name alone.
#define HALFTONE_CUDA_KERNEL(Type, name) \
    namespace cuda {                     \
    Type name;                           \
    }                                    \
    static_assert(true, "for the semicolon")
