#pragma once

#include <optional>

#include "core/tape.h"

namespace engine {

extern const OpInfo embedding_info;

struct EmbeddingOptions {
    /// This row takes no gradient; negative from the end.
    std::optional<std::int64_t> padding_idx = {};
    /// Divide a row's gradient by the number of times that the index names the row.
    bool scale_grad_by_freq = false;
    /// A sparse gradient (index/sparse.h): of the rows that the index names alone. It has no
    /// gradient of its own.
    bool sparse = false;
};

/// Rows of a table: index (any shape, i64 or i32) of weight (rows, d) gives (index's shape, d). Not
/// on the list: an f32 table gives f32 in a region too. The rows' gradients are added in f32 (f64
/// for f64) in the order of the index and rounded once. An index outside the table is Error(value),
/// on a GPU at the next read (core/check_values.h).
Tensor embedding(const Tensor& index, const Tensor& weight, const EmbeddingOptions& options = {});

}  // namespace engine
