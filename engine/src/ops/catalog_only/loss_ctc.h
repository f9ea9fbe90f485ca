#pragma once

#include "ops/loss/loss.h"

namespace engine {

struct CtcOptions {
    std::int64_t blank = 0;
    bool zero_infinity = false;             ///< a target that does not fit its input costs nothing
    Reduction reduction = Reduction::mean;  ///< mean: of the losses by their target's length

    void read(auto& from) {
        from("blank", blank)("zero_infinity", zero_infinity)("reduction", reduction);
    }
};

/// Connectionist temporal classification (Graves et al. 2006): -log of the probability that a row
/// of labels, with repetitions and blanks inserted, is `targets`.
///
/// - log_probs (time, batch, classes) or (time, classes), f32 or f64, else Error(dtype). No
///   autocast entry, so not cast in a region.
/// - targets i64 (batch, length), with any padding, or concatenated (sum of the lengths); then the
///   lengths are read on the host.
/// - input_lengths, target_lengths i64 (batch) or without dimensions.
///
/// A length or label out of range is Error(value), on a GPU at the next read
/// (tensor/check_values.h).
///
/// As in PyTorch, the gradient is that of logits behind log_softmax: exp(log_probs) minus the share
/// of each label. Written in ops, one time step after the other.
Tensor ctc_loss(const Tensor& log_probs, const Tensor& targets, const Tensor& input_lengths,
                const Tensor& target_lengths, const CtcOptions& options = {});
inline constexpr Op ctc_loss_op(
    CastPolicy::none,
    "ctc_loss(log_probs, targets, input_lengths, target_lengths; blank=0, reduction='mean', "
    "zero_infinity=False)",
    "Not on the autocast list: runs in its input's type, which must be fp32 or fp64.",
    by_name<ctc_loss>, {.forceable = false});

}  // namespace engine
