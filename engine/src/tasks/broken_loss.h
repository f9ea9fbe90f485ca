#pragma once

#include "engine/settings/setting_words.h"
#include "tensor/tensor.h"

namespace engine {

/// The loss of logits (rows, classes) and labels (rows).
using ClassLoss = Tensor (*)(const Tensor& logits, const Tensor& labels);
/// cross_entropy(), or the loss that teach.loss puts in its place:
///   bce-probabilities  binary cross entropy of sigmoid(logits), in the logits' type, against the
///                      labels as 0 and 1
///   where-mismatch     cross entropy written out over one class more, which a where masks with a
///                      single f32 number, -1e9: the same value in f32 and bf16, NaN in fp16, where
///                      the number is -inf and meets a 0
ClassLoss class_loss(TeachLoss form);

}  // namespace engine
