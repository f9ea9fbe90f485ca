#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <string>

#include "engine/instruments/skip_report.h"

namespace engine {

/// The skipped and non-finite steps of a run by its record, with the reports that its folder keeps.
/// Throws Error(data).
SkipList list_skips(const std::filesystem::path& run_folder);

/// The images of an examined step's samples, in the order of SkipReport::samples: at most 64, eight
/// in a row, each one pixel apart. Absent for data without images.
std::filesystem::path skip_picture(const std::filesystem::path& run_folder, std::int64_t step);

struct SkipOptions {
    std::string device;  ///< "cpu", "cuda"; empty: the run's
    /// Called between parts, from the calling thread; may throw to give up.
    std::function<void(const Message&)> progress = [](const Message&) {};
    /// Called before each step that is computed again on the way to the wanted one, with the number
    /// of those left; may throw to give up.
    std::function<void(std::int64_t)> replay = [](std::int64_t) {};
    /// Called with the number of operations that an examination has checked so far; may throw to
    /// give up.
    std::function<void(std::int64_t)> operation = [](std::int64_t) {};
};

/// Examines a step of a run, which is computed again from the newest checkpoint before it, and
/// writes the report to the run's folder as skips/STEP.json if that is possible. Any step of the
/// run may be examined. Throws Error(data) for a step that the run does not have, Error(state) for
/// a run that another program trained or whose first steps its parent made, and what opening the
/// data set throws.
SkipReport examine_skip(const std::filesystem::path& run_folder, std::int64_t step,
                        const SkipOptions& options = {});

/// How a step of a run is computed again for comparison.
struct RetryChange {
    std::optional<double> scale{};          ///< another loss scale
    std::optional<std::int64_t> without{};  ///< leave this sample out (SampleShare::sample)
    bool fp32 = false;                      ///< in FP32, without a loss scale
};
/// Throws Error, Error(value) for a sample that is not in the batch.
StepTrial retry_step(const std::filesystem::path& run_folder, std::int64_t step,
                     const RetryChange& change, const SkipOptions& options = {});

/// "Step 12 at 2^15: passes, loss 0.3, gradient norm 1.2." and the same as a JSON line.
std::string trial_page(std::int64_t step, const StepTrial& trial);
std::string to_json_line(const StepTrial& trial);

}  // namespace engine
