#include "engine/instruments/weight_watch.h"

#include <algorithm>

namespace engine {

WeightWatch::WeightWatch(std::string parameter, std::vector<std::int64_t> index)
    : parameter_(std::move(parameter)), index_(std::move(index)) {}

std::string WeightWatch::dtype() const {
    const std::lock_guard lock(mutex_);
    return dtype_;
}

std::string WeightWatch::problem() const {
    const std::lock_guard lock(mutex_);
    return problem_;
}

std::optional<WeightChange> WeightWatch::at(std::int64_t step) const {
    const std::lock_guard lock(mutex_);
    const auto found = std::ranges::lower_bound(changes_, step, {}, &WeightChange::step);
    if (found == changes_.end() || found->step != step) return std::nullopt;
    return *found;
}

std::int64_t WeightWatch::size() const {
    const std::lock_guard lock(mutex_);
    return static_cast<std::int64_t>(changes_.size());
}

void WeightWatch::begin(std::string dtype) {
    const std::lock_guard lock(mutex_);
    dtype_ = std::move(dtype);
}

void WeightWatch::refuse(std::string problem) {
    const std::lock_guard lock(mutex_);
    problem_ = std::move(problem);
}

void WeightWatch::append(const WeightChange& change) {
    const std::lock_guard lock(mutex_);
    changes_.push_back(change);
}

}  // namespace engine
