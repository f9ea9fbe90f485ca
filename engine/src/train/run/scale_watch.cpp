#include "train/run/scale_watch.h"

#include <cmath>
#include <utility>

namespace engine {

namespace {
constexpr std::int64_t persistent_after = 16;
constexpr float used_up = 0x1p-16f;
const char* const fitting_scale = "fitting_scale";
}  // namespace

template <typename Watch, typename F>
void ScaleWatch::for_each_number(Watch& watch, F&& f) {
    f("clean_steps", watch.clean_steps_);
    f("skips_in_a_row", watch.skips_in_a_row_);
    f("has_grown", watch.has_grown_);
}

SavedNumbers ScaleWatch::saved_state() const {
    SavedNumbers out;
    for_each_number(*this, saving_into(out));
    saving_into(out)(fitting_scale, fitting_scale_);
    return out;
}

void ScaleWatch::load_state(const SavedNumbers& saved) {
    for_each_number(*this, loading_from(saved));
    // States of earlier versions lack it.
    if (saved.contains(fitting_scale)) loading_from(saved)(fitting_scale, fitting_scale_);
}

bool ScaleWatch::lower_scale_helps(const StepRecord& row, float to) const {
    if (!std::isfinite(row.loss)) return false;
    if (skips_in_a_row_ < persistent_after + hysteresis_ - 1) return true;
    return to < row.loss_scale && to > fitting_scale_ * used_up;
}

ScaleChanged::Kind ScaleWatch::kind_of_skip(const StepRecord& row, float to) const {
    using Kind = ScaleChanged::Kind;
    if (!lower_scale_helps(row, to)) return Kind::skipped_persistent;
    return has_grown_ ? Kind::skipped_normal : Kind::skipped_calibrating;
}

std::optional<ScaleChanged> ScaleWatch::see(const std::string& run, const StepRecord& row,
                                            double next_scale) {
    const auto to = static_cast<float>(next_scale);
    if (row.found_inf != 0) {
        ++skips_in_a_row_;
        ScaleChanged event{run,
                           row.step,
                           kind_of_skip(row, to),
                           row.loss_scale,
                           to,
                           std::exchange(clean_steps_, 0)};
        if (!std::isfinite(row.loss)) event.loss = row.loss;
        return event;
    }
    skips_in_a_row_ = 0;
    ++clean_steps_;
    fitting_scale_ = row.loss_scale;
    if (!(to > row.loss_scale)) return std::nullopt;
    has_grown_ = true;
    return ScaleChanged{run,
                        row.step,
                        ScaleChanged::Kind::grown,
                        row.loss_scale,
                        to,
                        std::exchange(clean_steps_, 0)};
}

}  // namespace engine
