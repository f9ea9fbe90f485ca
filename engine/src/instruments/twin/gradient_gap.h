#pragma once

#include <string>
#include <vector>

#include "models/model.h"
#include "tensor/tensor.h"

namespace engine {

struct StepView;

/// The parameters of one module, which the twin compares together.
struct ParameterLayer {
    std::string name;                     ///< module name as PyTorch has it
    std::vector<std::string> parameters;  ///< full names
};
/// The trained parameters, in the order of the model.
std::vector<ParameterLayer> parameter_layers(const Model& model);

/// Gradients by parameter name: f32, unscaled, dense.
using GradientMap = std::map<std::string, Tensor>;
/// The gradients of the phase that is about to be updated. Waits for the device.
GradientMap unscaled_gradients(const StepView& step);

/// How far gradients are from those of a reference.
struct GradientGap {
    double error = 0;  ///< |other - reference| / |reference|; NaN if one is not finite
    double angle = 0;  ///< degrees; 0 where both are zero, 180 where only one is
};
/// Compares over all parameters of a layer; one that a side lacks counts as zero there.
GradientGap gradient_gap(const GradientMap& reference, const GradientMap& other,
                         const ParameterLayer& layer);

}  // namespace engine
