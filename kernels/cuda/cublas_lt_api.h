#pragma once

#include <cstddef>
#include <cstdint>

/// The part of cuBLASLt's binary interface that is used here, unchanged since its version 11:
/// opaque handles, numbers and a table of functions, so that what calls it compiles and is tested
/// without CUDA. library_checks.cpp holds it against NVIDIA's own header.
namespace kernels::cuda::lt {

using Status = int;
constexpr Status success = 0, not_supported = 15;

enum class DataType : int { f32 = 0, f64 = 1, f16 = 2, bf16 = 14 };
enum class ComputeType : int { f32 = 68, f64 = 70, tf32 = 77 };
enum class Operation : int { none = 0, transpose = 1 };
/// Work that follows the product: a bias that is added, relu after one, and the sums of an operand
/// over the products' terms, of a's rows or b's columns, which are written where a bias would be.
enum class Epilogue : int {
    none = 1,
    bias = 4,
    relu = 2,
    relu_bias = 6,
    sums_of_a = 256,
    sums_of_b = 512
};

enum class DescAttribute : int { trans_a = 3, trans_b = 4, epilogue = 7, bias_pointer = 8 };
enum class LayoutAttribute : int { batch_count = 5, batch_stride = 6 };
enum class PreferenceAttribute : int {
    workspace_bytes = 1,
    reduction_schemes = 3,
    alignment_a = 5,
    alignment_b = 6,
    alignment_c = 7,
    alignment_d = 8
};
/// Parts of a sum that was split are added in the compute type, by a second kernel; or in d, as
/// each is ready.
constexpr std::uint32_t reduce_in_compute_type = 2, reduce_in_place = 1;

/// Parts of an algorithm: 32-bit numbers.
enum class AlgorithmPart : int { id = 0, tile = 1, split = 2, stages = 6 };

struct Context;
struct DescOpaque;
struct LayoutOpaque;
struct PreferenceOpaque;
using Handle = Context*;
using Desc = DescOpaque*;
using Layout = LayoutOpaque*;
using Preference = PreferenceOpaque*;

struct Algorithm {
    std::uint64_t data[8];
};
struct HeuristicResult {
    Algorithm algorithm;
    std::size_t workspace_bytes;
    Status state;
    float waves;
    int reserved[4];
};

struct Table {
    Status (*create)(Handle*);
    Status (*matmul)(Handle, Desc, const void* alpha, const void* a, Layout, const void* b, Layout,
                     const void* beta, const void* c, Layout, void* d, Layout, const Algorithm*,
                     void* workspace, std::size_t workspace_bytes, void* stream);
    Status (*heuristic)(Handle, Desc, Layout a, Layout b, Layout c, Layout d, Preference,
                        int wanted, HeuristicResult*, int* found);
    Status (*desc_create)(Desc*, ComputeType, DataType scale);
    Status (*desc_destroy)(Desc);
    Status (*desc_set)(Desc, DescAttribute, const void*, std::size_t);
    Status (*layout_create)(Layout*, DataType, std::uint64_t rows, std::uint64_t cols,
                            std::int64_t ld);
    Status (*layout_destroy)(Layout);
    Status (*layout_set)(Layout, LayoutAttribute, const void*, std::size_t);
    Status (*preference_create)(Preference*);
    Status (*preference_destroy)(Preference);
    Status (*preference_set)(Preference, PreferenceAttribute, const void*, std::size_t);
    Status (*algorithm_get)(const Algorithm*, AlgorithmPart, void*, std::size_t,
                            std::size_t* written);
    Status (*algorithm_check)(Handle, Desc, Layout a, Layout b, Layout c, Layout d,
                              const Algorithm*, HeuristicResult*);
    const char* (*status_name)(Status);
};

/// The members of Table by their names in the library.
#define HALFTONE_LT_CALLS(CALL) \
    CALL(create, cublasLtCreate) \
    CALL(matmul, cublasLtMatmul) \
    CALL(heuristic, cublasLtMatmulAlgoGetHeuristic) \
    CALL(desc_create, cublasLtMatmulDescCreate) \
    CALL(desc_destroy, cublasLtMatmulDescDestroy) \
    CALL(desc_set, cublasLtMatmulDescSetAttribute) \
    CALL(layout_create, cublasLtMatrixLayoutCreate) \
    CALL(layout_destroy, cublasLtMatrixLayoutDestroy) \
    CALL(layout_set, cublasLtMatrixLayoutSetAttribute) \
    CALL(preference_create, cublasLtMatmulPreferenceCreate) \
    CALL(preference_destroy, cublasLtMatmulPreferenceDestroy) \
    CALL(preference_set, cublasLtMatmulPreferenceSetAttribute) \
    CALL(algorithm_get, cublasLtMatmulAlgoConfigGetAttribute) \
    CALL(algorithm_check, cublasLtMatmulAlgoCheck) \
    CALL(status_name, cublasLtGetStatusName)

/// The opened library's. Throws DeviceError if it is not there.
const Table& table();

/// Throws DeviceError naming the call unless `status` is success.
void check(Status status, const char* call);

}  // namespace kernels::cuda::lt
