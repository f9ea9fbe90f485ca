#pragma once

#include <optional>

#include "engine/record/event.h"
#include "engine/record/scale_outlook.h"
#include "train/step/saved_numbers.h"

namespace engine {

/// Reports growths and skips of the loss scale from step to step, and how healthy a skip is:
/// persistent if a lower scale does not help, calibrating until the scale has grown once, else
/// normal. A lower scale does not help if the loss itself is not finite, or if at least 16 steps in
/// a row were skipped and the scale
/// - fell to 2^-16 of the last one that fitted, or of the usual one if none has yet, or
/// - does not fall any more, for longer than `hysteresis` skips.
class ScaleWatch {
public:
    /// `hysteresis`: skips in a row until the scale falls (ScalerConfig).
    explicit ScaleWatch(std::int64_t hysteresis = 1) : hysteresis_(hysteresis) {}

    std::optional<ScaleChanged> see(const std::string& run, const StepRecord& row,
                                    double next_scale);

    /// Everything seen so far, to go on from in a checkpoint.
    SavedNumbers saved_state() const;
    /// Throws Error(data) if a number is missing.
    void load_state(const SavedNumbers& saved);

private:
    template <typename Watch, typename F>
    static void for_each_number(Watch& watch, F&& f);
    bool lower_scale_helps(const StepRecord& row, float to) const;
    ScaleChanged::Kind kind_of_skip(const StepRecord& row, float to) const;

    const std::int64_t hysteresis_;
    std::int64_t clean_steps_ = 0;  ///< since the last growth or skip
    std::int64_t skips_in_a_row_ = 0;
    bool has_grown_ = false;
    float fitting_scale_ = usual_loss_scale;  ///< of the last applied step
};

}  // namespace engine
