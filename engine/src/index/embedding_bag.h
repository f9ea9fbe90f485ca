#pragma once

#include <optional>

#include "core/tape.h"

namespace engine {

extern const OpInfo embedding_bag_info;

enum class BagMode { sum, mean };

struct EmbeddingBagOptions {
    BagMode mode = BagMode::mean;
    /// The last offset is the end of the last bag, not the beginning of one more.
    bool include_last_offset = false;
    /// This row takes no part in its bag and gets no gradient; negative from the end.
    std::optional<std::int64_t> padding_idx = {};
    /// A sparse gradient (index/sparse.h) of the rows that the index names. It has no gradient of
    /// its own.
    bool sparse = false;
};

/// Sums, or means, of rows of a table: bag b has the rows of `weight` (rows, d) that the indices
/// from offsets[b] up to offsets[b + 1] name (the last bag: all that are left); an empty bag is 0.
/// index (n) with offsets (bags), i64 or i32, ascending from 0; or index (bags, k) without offsets:
/// k indices a bag. `sample_weights` (of the index's shape and the table's type; undefined: 1)
/// multiply the rows, with sum alone. Returns (bags, d) of the table's type. Not on the list: an
/// f32 table gives f32 in a region too. Sums run in f32 (f64 for f64) and are rounded once, those
/// of the gradient too. An index outside the table, or offsets out of order, are Error(value), on a
/// GPU at the next read (core/check_values.h).
Tensor embedding_bag(const Tensor& index, const Tensor& weight, const Tensor& offsets = {},
                     const Tensor& sample_weights = {}, const EmbeddingBagOptions& options = {});

}  // namespace engine
