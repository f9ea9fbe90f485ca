#pragma once

#include <span>

#include "kernels/array.h"

namespace kernels::cpu {

/// Elements [begin, end) of the sum of equally long dense parts, written to each of `outs`, which
/// may be the parts themselves. Added in the order of the parts: f64 in f64, i64 wrapping, others
/// in f32 and rounded once. dtype f64, f32, f16, bf16 or i64.
void rank_sum(std::span<void* const> outs, std::span<const void* const> parts, DType dtype,
              std::int64_t begin, std::int64_t end);

}  // namespace kernels::cpu
