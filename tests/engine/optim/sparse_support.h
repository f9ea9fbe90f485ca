#pragma once

#include "ops/index/sparse.h"
#include "optim_support.h"

namespace engine {

/// Rows of a (rows, cols) table; a row may occur twice.
inline Tensor sparse_rows(const std::vector<double>& rows, const std::vector<double>& values,
                          const Shape& table, DType dtype = DType::f32) {
    const auto n = static_cast<std::int64_t>(rows.size());
    return sparse_tensor(Tensor::of(rows, {1, n}, DType::i64),
                         Tensor::of(values, {n, table[1]}, dtype), table);
}

inline Tensor table_of(const std::vector<double>& values, const Shape& shape,
                       DType dtype = DType::f32) {
    Tensor w = Tensor::of(values, shape, dtype);
    w.set_requires_grad(true);
    return w;
}

}  // namespace engine
