#pragma once

#include "engine/settings/setting_words.h"
#include "tensor/tape.h"

namespace engine {

/// Whether planted_op() knows the kind: the fault is an operation of the network itself.
bool is_planted_op(PlantKind kind);

/// y, the output of a model, with the operation of this kind in front of it, in the module
/// "teach.plant". Every value that it adds to y is 0 where nothing breaks:
///   log-of-zero    y + log(0 y): -inf, in every precision
///   zero-norm      y + v / norm(v) of a zero vector v, epsilon 0: 0 / 0
///   sqrt-at-zero   y + sqrt(0 y): 0, with an infinite slope
///   exp-12         y + 0 exp(12 + 0 y) in fp16, where exp(12) = 162,755 is inf
///   sum-of-ones    y + 0 sum of 100,000 ones in fp16, which is inf
Tensor planted_op(PlantKind kind, const Tensor& y);

}  // namespace engine
