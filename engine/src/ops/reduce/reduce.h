#pragma once

#include "tensor/tape.h"

namespace engine {

extern const OpInfo mean_info, argmax_info;

/// Not listed: the mean of an fp16 tensor is fp16.
Tensor mean(const Tensor& x, const std::vector<std::int64_t>& dims = {}, bool keepdim = false,
            std::optional<DType> dtype = {});
/// Index of the first largest along dim, i64.
Tensor argmax(const Tensor& x, std::int64_t dim, bool keepdim = false);

}  // namespace engine
