#include <cublasLt.h>
#include <cudnn.h>
#if __has_include(<nccl.h>)
#include <nccl.h>
#endif
#if __has_include(<nvjpeg.h>)
#include <nvjpeg.h>
#endif

#include <cstddef>
#include <type_traits>

#include "cuda/cublas_lt_api.h"
#include "cuda/cudnn_rnn_api.h"
#include "cuda/nccl_api.h"
#include "cuda/nvjpeg_api.h"

// Our own declarations of the libraries' calls (*_api.h) against the headers that come with them.
// NCCL's and nvJPEG's are not everywhere where CUDA is.
#define HALFTONE_SAME(ours, theirs) \
    static_assert(static_cast<int>(ours) == static_cast<int>(theirs))
#define HALFTONE_SAME_CALL(member, name) static_assert(same_call(&name, Table{}.member));

namespace kernels::cuda {
namespace {

/// A type of theirs and the one that stands for it in a table of functions.
template <typename Theirs, typename Ours>
constexpr bool stands_for() {
    if constexpr (std::is_pointer_v<Theirs> && std::is_pointer_v<Ours>)
        return true;  // opaque handles and memory
    else if constexpr (std::is_enum_v<Theirs>)
        return sizeof(Theirs) == sizeof(Ours) &&
               (std::is_enum_v<Ours> || std::is_same_v<Ours, int>);
    else if constexpr (std::is_class_v<Theirs> && std::is_class_v<Ours>)
        return sizeof(Theirs) == sizeof(Ours) && alignof(Theirs) == alignof(Ours) &&
               std::is_trivially_copyable_v<Theirs> && std::is_trivially_copyable_v<Ours>;
    else
        return std::is_same_v<Theirs, Ours>;
}

template <typename R1, typename... P1, typename R2, typename... P2>
constexpr bool same_call(R1 (*)(P1...), R2 (*)(P2...)) {
    if constexpr (sizeof...(P1) != sizeof...(P2))
        return false;
    else
        return stands_for<R1, R2>() && (stands_for<P1, P2>() && ...);
}

}  // namespace
}  // namespace kernels::cuda

namespace kernels::cuda::lt {

HALFTONE_SAME(success, CUBLAS_STATUS_SUCCESS);
HALFTONE_SAME(not_supported, CUBLAS_STATUS_NOT_SUPPORTED);
HALFTONE_SAME(DataType::f32, CUDA_R_32F);
HALFTONE_SAME(DataType::f64, CUDA_R_64F);
HALFTONE_SAME(DataType::f16, CUDA_R_16F);
HALFTONE_SAME(DataType::bf16, CUDA_R_16BF);
HALFTONE_SAME(ComputeType::f32, CUBLAS_COMPUTE_32F);
HALFTONE_SAME(ComputeType::f64, CUBLAS_COMPUTE_64F);
HALFTONE_SAME(ComputeType::tf32, CUBLAS_COMPUTE_32F_FAST_TF32);
HALFTONE_SAME(Operation::none, CUBLAS_OP_N);
HALFTONE_SAME(Operation::transpose, CUBLAS_OP_T);
HALFTONE_SAME(Epilogue::none, CUBLASLT_EPILOGUE_DEFAULT);
HALFTONE_SAME(Epilogue::bias, CUBLASLT_EPILOGUE_BIAS);
HALFTONE_SAME(Epilogue::relu, CUBLASLT_EPILOGUE_RELU);
HALFTONE_SAME(Epilogue::relu_bias, CUBLASLT_EPILOGUE_RELU_BIAS);
HALFTONE_SAME(Epilogue::sums_of_a, CUBLASLT_EPILOGUE_BGRADA);
HALFTONE_SAME(Epilogue::sums_of_b, CUBLASLT_EPILOGUE_BGRADB);
HALFTONE_SAME(DescAttribute::trans_a, CUBLASLT_MATMUL_DESC_TRANSA);
HALFTONE_SAME(DescAttribute::trans_b, CUBLASLT_MATMUL_DESC_TRANSB);
HALFTONE_SAME(DescAttribute::epilogue, CUBLASLT_MATMUL_DESC_EPILOGUE);
HALFTONE_SAME(DescAttribute::bias_pointer, CUBLASLT_MATMUL_DESC_BIAS_POINTER);
HALFTONE_SAME(LayoutAttribute::batch_count, CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT);
HALFTONE_SAME(LayoutAttribute::batch_stride, CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET);
HALFTONE_SAME(PreferenceAttribute::workspace_bytes, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES);
HALFTONE_SAME(PreferenceAttribute::reduction_schemes, CUBLASLT_MATMUL_PREF_REDUCTION_SCHEME_MASK);
HALFTONE_SAME(PreferenceAttribute::alignment_a, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES);
HALFTONE_SAME(PreferenceAttribute::alignment_b, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES);
HALFTONE_SAME(PreferenceAttribute::alignment_c, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES);
HALFTONE_SAME(PreferenceAttribute::alignment_d, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES);
HALFTONE_SAME(reduce_in_compute_type, CUBLASLT_REDUCTION_SCHEME_COMPUTE_TYPE);
HALFTONE_SAME(reduce_in_place, CUBLASLT_REDUCTION_SCHEME_INPLACE);
HALFTONE_SAME(AlgorithmPart::id, CUBLASLT_ALGO_CONFIG_ID);
HALFTONE_SAME(AlgorithmPart::tile, CUBLASLT_ALGO_CONFIG_TILE_ID);
HALFTONE_SAME(AlgorithmPart::split, CUBLASLT_ALGO_CONFIG_SPLITK_NUM);
HALFTONE_SAME(AlgorithmPart::stages, CUBLASLT_ALGO_CONFIG_STAGES_ID);

static_assert(sizeof(Algorithm) == sizeof(cublasLtMatmulAlgo_t));
static_assert(sizeof(HeuristicResult) == sizeof(cublasLtMatmulHeuristicResult_t));
static_assert(offsetof(HeuristicResult, workspace_bytes) ==
              offsetof(cublasLtMatmulHeuristicResult_t, workspaceSize));
static_assert(offsetof(HeuristicResult, state) == offsetof(cublasLtMatmulHeuristicResult_t, state));

HALFTONE_LT_CALLS(HALFTONE_SAME_CALL)

}  // namespace kernels::cuda::lt

namespace kernels::cuda::rnn {

HALFTONE_SAME(success, CUDNN_STATUS_SUCCESS);
HALFTONE_SAME(not_supported, CUDNN_STATUS_NOT_SUPPORTED);
HALFTONE_SAME(no_host_memory, CUDNN_STATUS_INTERNAL_ERROR_HOST_ALLOCATION_FAILED);
HALFTONE_SAME(no_device_memory, CUDNN_STATUS_INTERNAL_ERROR_DEVICE_ALLOCATION_FAILED);
static_assert(is_not_supported(CUDNN_STATUS_NOT_SUPPORTED_ARCH_MISMATCH));
static_assert(!is_not_supported(CUDNN_STATUS_INTERNAL_ERROR));
static_assert(!is_not_supported(CUDNN_STATUS_BAD_PARAM));
HALFTONE_SAME(DataType::f32, CUDNN_DATA_FLOAT);
HALFTONE_SAME(DataType::f64, CUDNN_DATA_DOUBLE);
HALFTONE_SAME(DataType::f16, CUDNN_DATA_HALF);
HALFTONE_SAME(DataType::bf16, CUDNN_DATA_BFLOAT16);
HALFTONE_SAME(Algorithm::standard, CUDNN_RNN_ALGO_STANDARD);
HALFTONE_SAME(Algorithm::persist_static, CUDNN_RNN_ALGO_PERSIST_STATIC);
HALFTONE_SAME(Algorithm::persist_static_small_h, CUDNN_RNN_ALGO_PERSIST_STATIC_SMALL_H);
HALFTONE_SAME(Cell::relu, CUDNN_RNN_RELU);
HALFTONE_SAME(Cell::tanh, CUDNN_RNN_TANH);
HALFTONE_SAME(Cell::lstm, CUDNN_LSTM);
HALFTONE_SAME(Cell::gru, CUDNN_GRU);
HALFTONE_SAME(Bias::none, CUDNN_RNN_NO_BIAS);
HALFTONE_SAME(Bias::two, CUDNN_RNN_DOUBLE_BIAS);
HALFTONE_SAME(Direction::one, CUDNN_UNIDIRECTIONAL);
HALFTONE_SAME(Direction::both, CUDNN_BIDIRECTIONAL);
HALFTONE_SAME(Input::linear, CUDNN_LINEAR_INPUT);
HALFTONE_SAME(Math::standard, CUDNN_DEFAULT_MATH);
HALFTONE_SAME(Math::tensor_op, CUDNN_TENSOR_OP_MATH);
HALFTONE_SAME(Math::fma, CUDNN_FMA_MATH);
HALFTONE_SAME(Layout::packed, CUDNN_RNN_DATA_LAYOUT_SEQ_MAJOR_PACKED);
HALFTONE_SAME(Mode::inference, CUDNN_FWD_MODE_INFERENCE);
HALFTONE_SAME(Mode::training, CUDNN_FWD_MODE_TRAINING);
HALFTONE_SAME(WeightGradient::add, CUDNN_WGRAD_MODE_ADD);
HALFTONE_SAME(padding_off, CUDNN_RNN_PADDED_IO_DISABLED);

HALFTONE_RNN_CALLS(HALFTONE_SAME_CALL)

}  // namespace kernels::cuda::rnn

#if __has_include(<nccl.h>)
namespace kernels::cuda::nccl {

HALFTONE_SAME(success, ncclSuccess);
HALFTONE_SAME(system_error, ncclSystemError);
HALFTONE_SAME(invalid_argument, ncclInvalidArgument);
HALFTONE_SAME(invalid_usage, ncclInvalidUsage);
HALFTONE_SAME(DataType::u8, ncclUint8);
HALFTONE_SAME(DataType::i32, ncclInt32);
HALFTONE_SAME(DataType::i64, ncclInt64);
HALFTONE_SAME(DataType::f16, ncclFloat16);
HALFTONE_SAME(DataType::f32, ncclFloat32);
HALFTONE_SAME(DataType::f64, ncclFloat64);
HALFTONE_SAME(DataType::bf16, ncclBfloat16);
HALFTONE_SAME(Reduction::sum, ncclSum);

static_assert(sizeof(UniqueId) == sizeof(ncclUniqueId));
static_assert(alignof(UniqueId) == alignof(ncclUniqueId));
static_assert(sizeof(UniqueId) == NCCL_UNIQUE_ID_BYTES);

HALFTONE_NCCL_CALLS(HALFTONE_SAME_CALL)

}  // namespace kernels::cuda::nccl
#endif

#if __has_include(<nvjpeg.h>)
namespace kernels::cuda::nvjpeg {

HALFTONE_SAME(success, NVJPEG_STATUS_SUCCESS);
HALFTONE_SAME(invalid_parameter, NVJPEG_STATUS_INVALID_PARAMETER);
HALFTONE_SAME(bad_jpeg, NVJPEG_STATUS_BAD_JPEG);
HALFTONE_SAME(jpeg_not_supported, NVJPEG_STATUS_JPEG_NOT_SUPPORTED);
HALFTONE_SAME(allocator_failure, NVJPEG_STATUS_ALLOCATOR_FAILURE);
HALFTONE_SAME(implementation_not_supported, NVJPEG_STATUS_IMPLEMENTATION_NOT_SUPPORTED);
HALFTONE_SAME(incomplete_bitstream, NVJPEG_STATUS_INCOMPLETE_BITSTREAM);
HALFTONE_SAME(Backend::standard, NVJPEG_BACKEND_DEFAULT);
HALFTONE_SAME(OutputFormat::rgb_interleaved, NVJPEG_OUTPUT_RGBI);
HALFTONE_SAME(Subsampling::unknown, NVJPEG_CSS_UNKNOWN);
HALFTONE_SAME(Property::major, MAJOR_VERSION);
HALFTONE_SAME(Property::minor, MINOR_VERSION);
HALFTONE_SAME(Property::patch, PATCH_LEVEL);
HALFTONE_SAME(strict, (NVJPEG_FLAGS_BITSTREAM_STRICT));
HALFTONE_SAME(interpolated, (NVJPEG_FLAGS_UPSAMPLING_WITH_INTERPOLATION));
HALFTONE_SAME(max_components, NVJPEG_MAX_COMPONENT);

static_assert(sizeof(Image) == sizeof(nvjpegImage_t));
static_assert(offsetof(Image, pitch) == offsetof(nvjpegImage_t, pitch));

HALFTONE_NVJPEG_CALLS(HALFTONE_SAME_CALL)

}  // namespace kernels::cuda::nvjpeg
#endif
