#pragma once

#include <string>

#include "tensor/tape.h"

namespace engine {

extern const OpInfo pad_info, constant_pad_nd_info, reflection_pad1d_info, reflection_pad2d_info,
    reflection_pad3d_info, replication_pad1d_info, replication_pad2d_info, replication_pad3d_info;

// `padding` holds the amounts before and after the last dimension, then those of the one before it
// and so on, as in PyTorch. No autocast entry: x's type stays.

/// Filled with a number; negative amounts cut. Any type.
Tensor constant_pad(const Tensor& x, const std::vector<std::int64_t>& padding, double value = 0);

enum class PadMode { reflect, replicate, circular };
/// Pads with elements from inside: mirrored at the last element (by less than the size), that
/// element repeated, or those of the other end (up to the size). Negative amounts cut. Gradients
/// are added in f32 (f64 for f64) and rounded once. Throws Error(value) for larger amounts.
Tensor pad_from_inside(const Tensor& x, const std::vector<std::int64_t>& padding, PadMode mode);

/// mode constant, reflect, replicate or circular.
Tensor pad(const Tensor& x, const std::vector<std::int64_t>& padding,
           const std::string& mode = "constant", double value = 0);

}  // namespace engine
