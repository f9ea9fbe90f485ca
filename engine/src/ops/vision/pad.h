#pragma once

#include <string>

#include "tensor/tape.h"

namespace engine {

inline constexpr const char* pads_with_copies =
    "Not on the CUDA list: it copies, so the type does not change.";

// `padding` holds the amounts before and after the last dimension, then those of the one before it
// and so on, as in PyTorch. No autocast entry: x's type stays.

/// Filled with a number; negative amounts cut. Any type.
Tensor constant_pad(const Tensor& x, const std::vector<std::int64_t>& padding, double value = 0);
inline constexpr Op constant_pad_nd_op(CastPolicy::none, "constant_pad_nd(x; pad=[], value=0)",
                                       pads_with_copies, by_name<constant_pad>, not_forced);

enum class PadMode { reflect, replicate, circular };
/// Pads with elements from inside: mirrored at the last element (by less than the size), that
/// element repeated, or those of the other end (up to the size). Negative amounts cut. Gradients
/// are added in f32 (f64 for f64) and rounded once. Throws Error(value) for larger amounts.
Tensor pad_from_inside(const Tensor& x, const std::vector<std::int64_t>& padding, PadMode mode);
TensorList run_pad_inside(const Op& op, const OpArguments& args);
inline constexpr Op reflection_pad1d_op(CastPolicy::none, "reflection_pad1d(x; padding=[])",
                                        pads_with_copies, run_pad_inside, not_forced);
inline constexpr Op reflection_pad2d_op(CastPolicy::none, "reflection_pad2d(x; padding=[])",
                                        pads_with_copies, run_pad_inside, not_forced);
inline constexpr Op reflection_pad3d_op(CastPolicy::none, "reflection_pad3d(x; padding=[])",
                                        pads_with_copies, run_pad_inside, not_forced);
inline constexpr Op replication_pad1d_op(CastPolicy::none, "replication_pad1d(x; padding=[])",
                                         pads_with_copies, run_pad_inside, not_forced);
inline constexpr Op replication_pad2d_op(CastPolicy::none, "replication_pad2d(x; padding=[])",
                                         pads_with_copies, run_pad_inside, not_forced);
inline constexpr Op replication_pad3d_op(CastPolicy::none, "replication_pad3d(x; padding=[])",
                                         pads_with_copies, run_pad_inside, not_forced);

/// mode constant, reflect, replicate or circular.
Tensor pad(const Tensor& x, const std::vector<std::int64_t>& padding,
           const std::string& mode = "constant", double value = 0);
inline constexpr Op pad_op(CastPolicy::none, "pad(x; pad=[], mode='constant', value=0)",
                           pads_with_copies, by_name<pad>, not_forced);

}  // namespace engine
