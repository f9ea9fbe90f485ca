#include "tensor/sparse.h"

#include "engine/base/error.h"

namespace engine {

const SparseParts& sparse_parts(const Tensor& x) {
    if (!x.is_sparse()) throw Error(ErrorCode::state, "the tensor is dense, not sparse");
    return *x.impl()->sparse;
}

}  // namespace engine
