#pragma once

#include <algorithm>

#include "cpu/prefetch.h"
#include "kernels/embedding_bag.h"

namespace kernels::cpu {

/// The operands of embedding_bag (kernels/embedding_bag.h), all of type T.
template <class T>
struct BagArrays {
    T* y;
    const T* table;
    const std::int64_t* index;
    const T* weights;  ///< null: 1
    std::int64_t rows, width;
    bool mean;

    /// Row of a term, null for an index that is out of range.
    const T* row(std::int64_t term) const {
        const std::int64_t i = index[term];
        return i >= 0 && i < rows ? table + i * width : nullptr;
    }
    void fetch_ahead(const Bags& bags, std::int64_t begin, std::int64_t end) const {
        const std::int64_t last = std::min(end + rows_ahead, bags.terms);
        for (std::int64_t i = begin + rows_ahead; i < last; ++i)
            if (const T* p = row(i)) prefetch(p, static_cast<std::size_t>(width) * sizeof(T));
    }
};

}  // namespace kernels::cpu
