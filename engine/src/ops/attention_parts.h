#pragma once

#include "ops/attention.h"

// What the forms of attention share.
namespace engine::detail {

/// Options of a call through `halftone op`.
AttentionOptions attention_options(const OpArguments& args);
/// dropout_p lies in [0, 1] and has its numbers, else Error(value).
void check_dropout(const OpInfo& info, const AttentionOptions& options);

struct Attended {
    Tensor y;
    Tensor scores;  ///< (..., L, S), f32 (f64 for f64), under their mask
};
/// After casts and checks; leading dimensions are broadcast to `lead`. enable_gqa is not read: each
/// head of q has its own of k and v.
Attended attend(const Tensor& q, const Tensor& k, const Tensor& v, const Tensor& mask,
                const AttentionOptions& options, const Shape& lead);

}  // namespace engine::detail
