#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "tensor/tensor.h"

namespace engine {

/// Whether the file is what torch.save writes, by its content: the zip form, or the form before
/// PyTorch 1.6.
bool is_torch_file(const std::filesystem::path& path);

/// Weights of a model in a file of torch.save (.pt, .pth, .ckpt).
struct TorchWeights {
    std::string key;                    ///< where it lies in the file's value (StateDict)
    TensorMap tensors;                  ///< row-major, by name
    std::vector<std::string> others{};  ///< keys of other dicts of weights in the file
};

/// Reads the state dict that find_state_dict() finds. Integers of 8 and 16 bits are widened. Names
/// are as in the file.
///
/// The pickle is read as data: nothing in it is called or imported. What is neither a tensor nor a
/// plain value is skipped. Throws Error(data).
TorchWeights load_torch_weights(const std::filesystem::path& path, const std::string& key = {});

}  // namespace engine
