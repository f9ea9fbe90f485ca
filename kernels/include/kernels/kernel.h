#pragma once

/// Declares a kernel, in namespace kernels. `Type` is a function type that the same header defines,
/// `using Type = void(...)` (or bool(...)). From both, a build without CUDA generates a cuda::
/// definition that throws DeviceError (kernels/cuda_absent/generate.cmake).

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
