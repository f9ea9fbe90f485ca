#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "amp/recipe.h"

namespace engine {

bool DelayedScale::is_new() const {
    return std::ranges::all_of(history_, [](float entry) { return entry == 0; });
}

float DelayedScale::scale_of(float amax) const {
    const float scale = std::ldexp(kernels::largest_value(layout_), -margin_) / amax;
    return std::min(scale, std::numeric_limits<float>::max());
}

void DelayedScale::measured(const kernels::BlockRange& range) {
    step_.amax = std::max(step_.amax, range.amax);
    step_.nonfinite |= range.nonfinite;
}

void DelayedScale::update() {
    const kernels::BlockRange step = std::exchange(step_, {});
    if (step.amax == 0 || step.nonfinite) return;
    history_[next_] = step.amax;
    next_ = (next_ + 1) % history_.size();
    scale_ = scale_of(newest_ ? step.amax : std::ranges::max(history_));
}

std::vector<float> DelayedScale::history() const {
    std::vector<float> out = history_;
    std::ranges::rotate(out, out.begin() + static_cast<std::ptrdiff_t>(next_));
    return out;
}

void DelayedScale::restore(float scale, const std::vector<float>& history) {
    const auto possible = [](float size) { return size >= 0 && std::isfinite(size); };
    if (history.size() != history_.size() || scale == 0 || !possible(scale) ||
        !std::ranges::all_of(history, possible))
        return;
    scale_ = scale;
    history_ = history;
    next_ = 0;
}

}  // namespace engine
