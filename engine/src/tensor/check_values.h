#pragma once

#include <optional>

#include "tensor/deferred_errors.h"
#include "tensor/tape.h"

// Range checks of a tensor's values. The CPU throws Error(value) for the first value out of range,
// at once. A GPU records the smallest such value, and the next call that waits for the device
// throws it (tensor/deferred_errors.h).
namespace engine {

/// Checks that all values of x, i64, are in [low, high] or equal to `but`.
void check_whole_values(const ValueRule& rule, const Tensor& x, std::int64_t low, std::int64_t high,
                        std::optional<std::int64_t> but = {});
/// Class targets: "NAME: a target of 7 is outside the 5 classes".
void check_class_values(const Op& info, const Tensor& target, std::int64_t classes,
                        std::optional<std::int64_t> ignore_index = {});
/// The rule that check_class_values() applies, for kernels that check while they compute.
ValueRule wrong_class(const Op& info, std::int64_t classes);
/// Indices in [low, size): "NAME: index 7 is out of range for a dimension of 5".
void check_index_values(const Op& info, const Tensor& index, std::int64_t low,
                        std::int64_t size);
/// x, floating, holds nothing below low or above high; a NaN is neither.
void check_values(const ValueRule& rule, const Tensor& x, double low, double high);

}  // namespace engine
