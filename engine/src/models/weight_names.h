#pragma once

#include <set>
#include <string>
#include <vector>

#include "engine/base/message.h"
#include "tensor/tensor.h"

namespace engine {

/// Changes that fit_names() made to the names of a file.
struct NameFit {
    /// Prefix of the model's names that the file's names lacked: "bert." of a bare BertModel.
    std::string added;
    /// Tensors of one or more dimensions that the model does not have: a pooler, another
    /// model beside the one that is read. Buffers that are known not to matter are not among them.
    std::vector<std::string> left_out;
};

/// Gives the tensors of a file the names of a model where these differ in a known way:
/// - one prefix that the file's names have and the model's do not ("module.", "model.",
/// "_orig_mod.",
///   one after another), or the other way round;
/// - older names of BERT and GPT-2: LayerNorm.gamma and beta, lm_head.decoder.weight; those of
///   torchvision's detectors: rpn.head.conv.weight, mask_fcn1;
/// - position ids, attention masks, poolers and counters that the model has no place for go.
///
/// `model`: all names, those of tied tensors too. `path`: of the file, for errors. `wanted`: the
/// prefix whose tensors are meant; empty: the one that fits. Throws Error(data) if `wanted` is no
/// prefix, and if several fit equally well; it lists them.
NameFit fit_names(const std::set<std::string>& model, const std::string& path,
                  const std::string& wanted, TensorMap& file);

}  // namespace engine
