#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>

#include "cpu/scalar_convert.h"
#include "kernels/softmax.h"

namespace kernels::cpu {

/// Whether the row is -inf throughout. `most`, its maximum, may have passed a NaN over.
template <class T, class W>
bool all_masked(const T* row, std::int64_t cols, W most) {
    constexpr W least = -std::numeric_limits<W>::infinity();
    return most == least &&
           std::all_of(row, row + cols, [](T v) { return static_cast<W>(widen(v)) == least; });
}

/// The rows [begin, end) of the kernels in kernels/softmax.h for f64.
void softmax_rows_double(Array y, ConstArray x, std::int64_t cols, SoftmaxForm form,
                         std::int64_t begin, std::int64_t end);
/// dx of any floating dtype.
void softmax_backward_rows_double(Array dx, ConstArray dy, ConstArray y, std::int64_t cols,
                                  bool log, std::int64_t begin, std::int64_t end);
void cross_entropy_forward_rows_double(Array stats, Array losses, ConstArray logits,
                                       ConstArray target, std::int64_t cols,
                                       std::int64_t ignore_index, std::int64_t begin,
                                       std::int64_t end);
void cross_entropy_backward_rows_double(Array dlogits, ConstArray scale, ConstArray logits,
                                        ConstArray stats, ConstArray target, std::int64_t cols,
                                        std::int64_t ignore_index, std::int64_t begin,
                                        std::int64_t end);

}  // namespace kernels::cpu
