#pragma once

#include <span>

#include "kernels/array.h"
#include "kernels/host_device.h"
#include "kernels/kernel.h"

namespace kernels {

/// Which of the `terms` indices belong to which of the `count` bags.
struct Bags {
    std::int64_t count = 0;
    std::int64_t terms = 0;
    /// The start of each bag, on the device, in ascending order from 0. Null: all bags have terms /
    /// count indices.
    const std::int64_t* offsets = nullptr;
    bool with_end = false;      ///< offsets has one more, the end of the last bag
    std::int64_t padding = -1;  ///< an index that takes no part

    /// Stays in bounds whatever the offsets hold.
    HALFTONE_HOST_DEVICE std::int64_t begin(std::int64_t bag) const {
        if (offsets == nullptr) return count == 0 ? 0 : terms / count * bag;
        if (bag == count && !with_end) return terms;
        const std::int64_t at = offsets[bag];
        return at < 0 ? 0 : at < terms ? at : terms;
    }
    HALFTONE_HOST_DEVICE std::int64_t end(std::int64_t bag) const { return begin(bag + 1); }
    /// The bag of a term; -1 for one behind the last bag.
    HALFTONE_HOST_DEVICE std::int64_t bag_of(std::int64_t term) const {
        if (offsets == nullptr) return term / (terms / count);
        std::int64_t low = 0, high = count;  // of the bags that begin at `term` or before, the last
        while (low < high) {
            const std::int64_t middle = (low + high) / 2;
            if (begin(middle) <= term)
                low = middle + 1;
            else
                high = middle;
        }
        return low > 0 && term < end(low - 1) ? low - 1 : -1;
    }
};

/// y[b, c] = sum of weights[i] * table[index[i], c] over the indices of bag b, except those of the
/// padding row; with `mean` divided by their number; 0 for an empty bag. y (bags, width), table
/// (rows, width), weights (terms) or null for 1: one floating dtype; index (terms) i64. The sum
/// runs in f32 (f64 for f64) in the order of the indices, and is rounded once. An out-of-range
/// index reads as NaN: the caller reports it.
using EmbeddingBag = void(Array y, ConstArray table, ConstArray index, ConstArray weights,
                          const Bags& bags, std::int64_t width, bool mean, Stream stream);
HALFTONE_KERNEL(EmbeddingBag, embedding_bag);

/// y[i] = the bag of index i, -1 for the padding and for an index of no bag. y, index (terms) i64.
using BagNumbers = void(Array y, ConstArray index, const Bags& bags, Stream stream);
HALFTONE_KERNEL(BagNumbers, bag_numbers);

/// Vectors of `bags` samples side by side, (bags, across, width): those from `first` on are rows of
/// tables.
struct BagGroup {
    std::int64_t bags = 0, across = 0, first = 0, width = 0;
};

/// y[b, first + t, c] = tables[t][index[t, b], c] for each table, with the bits of embedding_bag
/// for bags of one index each. y (bags, across, width), tables (rows, width) with rows of their
/// own: one floating dtype; index (tables, bags) i64. An out-of-range index reads as NaN.
using EmbeddingBagGroup = void(Array y, std::span<const ConstArray> tables, ConstArray index,
                               const BagGroup& group, Stream stream);
HALFTONE_KERNEL(EmbeddingBagGroup, embedding_bag_group);

/// rows[t][b, c] = y[b, first + t, c] for each table, bits as they are. rows (bags, width), y
/// (bags, across, width): one floating dtype.
using SplitBagGroup = void(std::span<const Array> rows, ConstArray y, const BagGroup& group,
                           Stream stream);
HALFTONE_KERNEL(SplitBagGroup, split_bag_group);

}  // namespace kernels
