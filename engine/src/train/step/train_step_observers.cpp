// Who observes the steps of a TrainStep.
#include <algorithm>
#include <utility>

#include "train/step/train_step.h"

namespace engine {

void TrainStep::attach(std::shared_ptr<StepObserver> observer) {
    observers_.push_back(std::move(observer));
}

void TrainStep::detach(const StepObserver& observer) {
    const auto is_it = [&](const auto& each) { return each.get() == &observer; };
    std::erase_if(observers_, is_it);
    std::erase_if(observing_, is_it);
}

void TrainStep::announce(std::int64_t step) {
    announced_ = step;
    observing_.clear();
    for (const auto& observer : observers_) {
        if (observer->observes(step)) observing_.push_back(observer);
    }
}

void TrainStep::complete_row(StepRecord& row) const {
    for (const auto& observer : observers_) observer->fill(row);
}

StepView TrainStep::view(std::size_t phase, std::size_t micro_batch) {
    return {announced_, task_, model_, precision_, optimizers_, phase, micro_batch};
}

}  // namespace engine
