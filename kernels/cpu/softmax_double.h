#pragma once

#include "kernels/softmax.h"

namespace kernels::cpu {

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
