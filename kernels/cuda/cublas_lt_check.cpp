#include <cublasLt.h>

#include "cuda/cublas_lt_api.h"
#include "cuda/same_call.h"

// cublas_lt_api.h against the header that comes with the library.
namespace kernels::cuda::lt {

#define HALFTONE_SAME(ours, theirs) \
    static_assert(static_cast<int>(ours) == static_cast<int>(theirs))
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
#undef HALFTONE_SAME

static_assert(sizeof(Algorithm) == sizeof(cublasLtMatmulAlgo_t));
static_assert(sizeof(HeuristicResult) == sizeof(cublasLtMatmulHeuristicResult_t));
static_assert(offsetof(HeuristicResult, workspace_bytes) ==
              offsetof(cublasLtMatmulHeuristicResult_t, workspaceSize));
static_assert(offsetof(HeuristicResult, state) == offsetof(cublasLtMatmulHeuristicResult_t, state));

namespace {

constexpr Table none{};
static_assert(same_call(&cublasLtCreate, none.create));
static_assert(same_call(&cublasLtMatmul, none.matmul));
static_assert(same_call(&cublasLtMatmulAlgoGetHeuristic, none.heuristic));
static_assert(same_call(&cublasLtMatmulDescCreate, none.desc_create));
static_assert(same_call(&cublasLtMatmulDescDestroy, none.desc_destroy));
static_assert(same_call(&cublasLtMatmulDescSetAttribute, none.desc_set));
static_assert(same_call(&cublasLtMatrixLayoutCreate, none.layout_create));
static_assert(same_call(&cublasLtMatrixLayoutDestroy, none.layout_destroy));
static_assert(same_call(&cublasLtMatrixLayoutSetAttribute, none.layout_set));
static_assert(same_call(&cublasLtMatmulPreferenceCreate, none.preference_create));
static_assert(same_call(&cublasLtMatmulPreferenceDestroy, none.preference_destroy));
static_assert(same_call(&cublasLtMatmulPreferenceSetAttribute, none.preference_set));
static_assert(same_call(&cublasLtMatmulAlgoConfigGetAttribute, none.algorithm_get));
static_assert(same_call(&cublasLtMatmulAlgoCheck, none.algorithm_check));
static_assert(same_call(&cublasLtGetStatusName, none.status_name));

}  // namespace
}  // namespace kernels::cuda::lt
