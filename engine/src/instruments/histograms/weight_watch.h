#pragma once

#include <memory>

#include "engine/instruments/weight_watch.h"
#include "train/step/step_observer.h"

namespace engine {

/// Writes a WeightWatch: reads one element of a parameter before and after each update. On a GPU
/// each step waits for the device.
class WeightObserver final : public StepObserver {
public:
    explicit WeightObserver(std::shared_ptr<WeightWatch> watch);

    bool observes(std::int64_t step) const override;
    void begin(const StepView& step) override;
    void before_update(const StepView& step) override;
    void after_update(const StepView& step) override;

private:
    void find(const StepView& step);
    double element(const Tensor& tensor) const;

    std::shared_ptr<WeightWatch> watch_;
    bool looked_ = false;
    const Optimizer* optimizer_ = nullptr;  ///< null: there is no such element
    std::size_t parameter_ = 0;
    WeightChange change_;
};

}  // namespace engine
