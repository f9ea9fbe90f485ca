#include "cuda/cublas_lt_api.h"
#include "cuda/library.h"

namespace kernels::cuda::lt {
namespace {

template <typename F>
void take(F*& function, const char* name) {
    function = reinterpret_cast<F*>(cublas_lt_library().function(name));
}

Table open_table() {
    Table t{};
    take(t.create, "cublasLtCreate");
    take(t.matmul, "cublasLtMatmul");
    take(t.heuristic, "cublasLtMatmulAlgoGetHeuristic");
    take(t.desc_create, "cublasLtMatmulDescCreate");
    take(t.desc_destroy, "cublasLtMatmulDescDestroy");
    take(t.desc_set, "cublasLtMatmulDescSetAttribute");
    take(t.layout_create, "cublasLtMatrixLayoutCreate");
    take(t.layout_destroy, "cublasLtMatrixLayoutDestroy");
    take(t.layout_set, "cublasLtMatrixLayoutSetAttribute");
    take(t.preference_create, "cublasLtMatmulPreferenceCreate");
    take(t.preference_destroy, "cublasLtMatmulPreferenceDestroy");
    take(t.preference_set, "cublasLtMatmulPreferenceSetAttribute");
    take(t.algorithm_get, "cublasLtMatmulAlgoConfigGetAttribute");
    take(t.algorithm_check, "cublasLtMatmulAlgoCheck");
    take(t.status_name, "cublasLtGetStatusName");
    return t;
}

}  // namespace

const Table& table() {
    static const Table only = open_table();  // what throws is tried again by the next call
    return only;
}

}  // namespace kernels::cuda::lt
