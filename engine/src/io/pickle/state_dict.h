#pragma once

#include <map>
#include <string>
#include <vector>

#include "io/pickle/torch_rules.h"

namespace engine {

/// A dict of tensors within a PyTorch file's value.
struct StateDict {
    /// Where it lies: its keys with dots between them ("model.ema", "nets.0"); ".": the value
    /// itself.
    std::string key;
    std::map<std::string, const TorchTensor*> tensors{};
    std::vector<std::string> others{};  ///< keys of the other dicts of weights in the file
};

/// The dict of weights: the one under `wanted`; without a match the only one with floating tensors
/// of one or more dimensions, or of several the one that lies under `state_dict`,
/// `model_state_dict` or `model`. Plain values and objects beside the tensors are left out, and so
/// is what an optimizer, a callback or a loop saved. Throws PickleFault if there is none, and where
/// nothing decides between several.
StateDict find_state_dict(const PickleValues& all, const TorchRules& rules,
                          const std::string& wanted = {});

}  // namespace engine
