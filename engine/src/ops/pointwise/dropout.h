#pragma once

#include "tensor/random_source.h"
#include "tensor/tape.h"

namespace engine {

/// x * mask / (1 - p), x's type; mask of x's shape, not 0 where x is kept. p in [0, 1], else
/// Error(value).
Tensor dropout(const Tensor& x, const Tensor& mask, double p);
/// Dropout with a mask drawn from `source`: element i of x (row-major) is dropped if uniform number
/// offset + i is below p. The caller moves its offset on by x.numel().
///
/// If x is a rank's part of a batch (source.share), i is the index in the tensor of the whole
/// batch, and the offset advances by the count of that tensor. The batch is x's outermost
/// dimension, or the second one inside `runs` steps of a sequence.
Tensor dropout(const Tensor& x, double p, const RandomSource& source, std::uint64_t offset,
               std::int64_t runs = 1);
TensorList run_dropout(const Op& op, const OpArguments& args);
inline constexpr Op dropout_op(CastPolicy::none, "dropout(x, mask; p=0.5, training=True)",
                               "Not on the list: keeps values or drops them in its input's type.",
                               run_dropout);

/// Drops whole parts of x: x times 0 or 1 / (1 - p), one draw for each place of its first `dims`
/// dimensions (1: samples; 2: channels of samples), row-major from `offset` on. The factors are of
/// x's type. The caller moves its offset on by the number of places.
Tensor dropout_parts(const Tensor& x, int dims, double p, const RandomSource& source,
                     std::uint64_t offset);

}  // namespace engine
