#pragma once

namespace engine {

/// Computes the step of a capsule in PyTorch with a check after every module. Needs torch, for
/// ResNets torchvision too. Python; before it come lines that set CAPSULE (path), KIND (of the
/// model), WEIGHTS, AUTOCAST and BATCH_NORM (words of the settings), MASTERS, DEVICE, SCALE and
/// ACCUMULATE.
extern const char* const pytorch_script;

}  // namespace engine
