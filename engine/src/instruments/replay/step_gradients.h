#pragma once

#include <map>
#include <string>
#include <vector>

#include "train/step/step_observer.h"

namespace engine {

/// Copies the unscaled gradients of a step to the host, in f32, by the names of their parameters.
class StepGradients final : public StepObserver {
public:
    void begin(const StepView&) override { gradients_.clear(); }
    void before_update(const StepView& step) override;
    const std::map<std::string, std::vector<double>>& values() const { return gradients_; }

private:
    std::map<std::string, std::vector<double>> gradients_;
};

/// Relative error of gradients: the norm of the difference over the norm of the exact ones, over
/// all parameters. inf if the first has a non-finite value, or if the second is zero and the first
/// is not; 0 if both are zero.
double relative_error(const StepGradients& found, const StepGradients& exact);

}  // namespace engine
