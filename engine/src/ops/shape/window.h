#pragma once

#include <vector>

#include "tensor/op.h"
#include "tensor/tape.h"

// The windows of convolutions and pools, and their batches.
namespace engine {

/// Numbers for each dimension of space.
struct Steps {
    Dims stride, padding, dilation;
};

/// `values` as one for each of `dims` dimensions; a single value applies to all. Error(value) names
/// the op and the option.
Dims one_each(const Op& info, const char* option, const std::vector<std::int64_t>& values,
              int dims);
/// size + 2 padding, and the elements that a window of `taps` spans: dilation (taps - 1) + 1. Throw
/// Error(shape) if the result exceeds 64 bits.
std::int64_t padded_size(std::int64_t size, std::int64_t padding);
std::int64_t window_span(std::int64_t taps, std::int64_t dilation);

/// Largest stride, padding and dilation: the libraries take 32 bits.
constexpr std::int64_t max_step = (std::int64_t{1} << 31) - 1;
/// Checked steps: stride, dilation and groups are at least 1, padding at least 0; all but groups
/// are at most max_step.
Steps steps_of(const Op& info, int dims, const std::vector<std::int64_t>& stride,
               const std::vector<std::int64_t>& padding, const std::vector<std::int64_t>& dilation,
               std::int64_t groups);

// Ops on batches of sequences, images or volumes that also accept a single one, with `dims` spatial
// dimensions after the channels.

/// x (N, C, space..), or x (C, space..) as a batch of one. Error(shape) for another rank.
Tensor with_batch(const Op& info, const Tensor& x, int dims);
/// The op's result y without its batch dimension if x had none.
Tensor without_batch(const Tensor& y, const Tensor& x, int dims);

}  // namespace engine
