#pragma once

#include <optional>

#include "engine/event.h"
#include "train/saved_numbers.h"

namespace engine {

/// Reports growths and skips of the loss scale from step to step, and how healthy a skip is:
/// calibrating until the scale has grown once; persistent if the loss itself is not finite or 16
/// steps in a row were skipped, since a lower scale helps in neither case; else normal.
class ScaleWatch {
public:
    std::optional<ScaleChanged> see(const std::string& run, const StepRecord& row,
                                    double next_scale);

    /// What has been seen so far, to go on from in a checkpoint.
    SavedNumbers saved_state() const;
    /// Throws Error(data) if a number is missing.
    void load_state(const SavedNumbers& saved);

private:
    template <typename Watch, typename F>
    static void for_each_number(Watch& watch, F&& f);
    ScaleChanged::Kind kind_of_skip(const StepRecord& row) const;

    std::int64_t clean_steps_ = 0;  ///< since the last growth or skip
    std::int64_t skips_in_a_row_ = 0;
    bool has_grown_ = false;
};

}  // namespace engine
