#pragma once

#include <map>
#include <string>

#include "train/step/step_observer.h"

namespace engine {

/// Figures of a step's gradients before the update, still scaled.
struct GradientFigures {
    std::string sha256;                   ///< of their bytes, in the order of the parameters' names
    std::map<std::string, double> norms;  ///< L2, by parameter; inf or NaN if a value is
};

/// Takes the figures of the gradients of every phase of one step.
class GradientRecord final : public StepObserver {
public:
    void before_update(const StepView& step) override;
    /// Once the step has ended.
    GradientFigures figures() const;

private:
    std::map<std::string, std::string> digests_;
    std::map<std::string, double> norms_;
};

}  // namespace engine
