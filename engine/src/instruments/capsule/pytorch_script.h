#pragma once

#include <string>

namespace engine {

/// Computes the step of a capsule in PyTorch with a check after every operation: the files of
/// instruments/pytorch/ in the order of their names in CMakeLists.txt. Needs torch, for ResNets,
/// ResNeXts and MobileNetV2 torchvision too. Python; before it come lines that import json and set
/// CAPSULE (path), KIND and OPTIONS (of the model), FORCE (precision.force), WEIGHTS, AUTOCAST and
/// BATCH_NORM (words of the settings), MASTERS, DEVICE and SCALE.
std::string pytorch_script();

}  // namespace engine
