#pragma once

#include <string>

#include "tensor/device_record.h"
#include "train/step/step_observer.h"

namespace engine {

/// Writes the loss and the unscaled f32 gradients of the first observed step to a safetensors file
/// ("loss", "grad.<name>").
class GradientDump final : public StepObserver {
public:
    /// `sums`: those of the step.
    GradientDump(std::string path, DeviceRecord<MetricSums> sums)
        : path_(std::move(path)), sums_(std::move(sums)) {}

    bool observes(std::int64_t) const override { return !written_; }
    /// Before the update of the last phase. Throws Error(io).
    void before_update(const StepView& step) override;

private:
    std::string path_;
    DeviceRecord<MetricSums> sums_;
    bool written_ = false;
};

}  // namespace engine
