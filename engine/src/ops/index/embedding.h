#pragma once

#include <optional>

#include "tensor/tape.h"

namespace engine {

struct EmbeddingOptions {
    /// This row takes no gradient; negative from the end.
    std::optional<std::int64_t> padding_idx = {};
    /// Divide a row's gradient by the number of times that the index names the row.
    bool scale_grad_by_freq = false;
    /// Makes the gradient sparse (ops/index/sparse.h): only the rows that the index names. Such a
    /// gradient cannot be differentiated again.
    bool sparse = false;

    void read(auto& from) {
        from("padding_idx", padding_idx)("scale_grad_by_freq", scale_grad_by_freq)("sparse",
                                                                                   sparse);
    }
};

/// Rows of a table: index (any shape, i64 or i32) into weight (rows, d) gives (index's shape, d).
/// No autocast entry: an f32 table gives f32 in a region too. Gradients of a row are added in f32
/// (f64 for f64) in the order of the index and rounded once. An out-of-range index is Error(value),
/// on a GPU at the next read (tensor/check_values.h).
Tensor embedding(const Tensor& index, const Tensor& weight, const EmbeddingOptions& options = {});
inline constexpr Op embedding_op(
    CastPolicy::none,
    "embedding(index, weight; padding_idx=None, scale_grad_by_freq=False, sparse=False)",
    "Not on the list: it copies rows of its table, so an fp32 table gives fp32.",
    by_name<embedding>, {.casts_result = true});

}  // namespace engine
