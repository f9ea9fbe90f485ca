#pragma once

#include <optional>

#include "engine/base/names.h"
#include "tensor/tape.h"

namespace engine {

enum class BagMode { sum, mean };
template <>
inline constexpr std::array enum_names<BagMode> = {"sum", "mean"};

struct EmbeddingBagOptions {
    BagMode mode = BagMode::mean;
    /// The last offset is the end of the last bag, not the beginning of one more.
    bool include_last_offset = false;
    /// This row takes no part in its bag and gets no gradient; negative from the end.
    std::optional<std::int64_t> padding_idx = {};
    /// Makes the gradient sparse (ops/index/sparse.h): only the rows that the index names. Such a
    /// gradient cannot be differentiated again.
    bool sparse = false;

    void read(auto& from) {
        from("mode", mode)("include_last_offset", include_last_offset)("padding_idx", padding_idx)(
            "sparse", sparse);
    }
};

/// Sums, or means, of rows of the table `weight` (rows, d). Returns (bags, d) of the table's type.
///
/// - index (n) with offsets (bags), i64 or i32, ascending from 0: bag b has the indices from
///   offsets[b] up to offsets[b + 1], the last bag all that remain. An empty bag is 0.
/// - index (bags, k) without offsets: k indices a bag.
/// - `sample_weights` (of the index's shape and the table's type; undefined: 1) multiply the rows;
///   for sums only.
///
/// No autocast entry: an f32 table gives f32 in a region too. Sums, also those of the gradient, run
/// in f32 (f64 for f64) and are rounded once. An out-of-range index, or offsets out of order, are
/// Error(value), on a GPU at the next read (tensor/check_values.h).
Tensor embedding_bag(const Tensor& index, const Tensor& weight, const Tensor& offsets = {},
                     const Tensor& sample_weights = {}, const EmbeddingBagOptions& options = {});
inline constexpr Op embedding_bag_op(
    CastPolicy::none,
    "embedding_bag(index, weight, offsets?, sample_weights?; mode='mean', "
    "include_last_offset=False, padding_idx=None, sparse=False)",
    "Not on the list: it adds rows of its table in f32, so an fp32 table gives fp32.",
    by_name<embedding_bag>);

}  // namespace engine
