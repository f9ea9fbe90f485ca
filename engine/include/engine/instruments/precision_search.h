#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "engine/base/message.h"
#include "engine/instruments/captured_step.h"
#include "engine/settings/run_config.h"

namespace engine {

/// Delta debugging for the smallest set of operations that must stay in FP32 when all others run in
/// FP16 (interfaces.md, section 2).

/// One trial: the operations that stayed in FP32, and the error of the step's gradients.
struct PrecisionTrial {
    std::vector<std::string> fp32;  ///< keys, "module:operation"
    double error = 0;               ///< XrayOutcome::gradient_error
    bool passed = false;
};

struct FoundPrecision {
    /// Every operation in FP16 but for those that must not be: a value of precision.force.
    ForcedTypes force;
    std::vector<std::string> fp32;  ///< the keys of the latter; without any one of them it fails
    std::int64_t operations = 0;    ///< places, a module and an operation each, that were searched
    double tolerance = 0;
    /// The error of the same step in amp-fp16, with no type forced. inf: it overflowed under every
    /// loss scale that was tried.
    double amp_error = 0;
    double error = 0;  ///< with `fp32` as found
    std::vector<PrecisionTrial> trials;

    /// A short training with `force` beside one in FP32: mean losses of the last quarter.
    std::int64_t confirmed_steps = 0;  ///< 0: none was asked for
    double loss = 0, fp32_loss = 0;
    std::int64_t skipped = 0;
};

struct PrecisionSearchOptions {
    /// The least that is allowed where no tolerance is given.
    static constexpr double usual_tolerance = 0.05;

    /// Tolerance for the error of gradients. None: the larger of usual_tolerance and 1.25 times the
    /// error of amp-fp16. Any rounding moves gradients through batch norms of a small batch by a
    /// few per cent, so a fixed tolerance could keep most of such a network in FP32.
    std::optional<double> tolerance = {};
    std::int64_t confirm_steps = 20;  ///< 0: no training
    /// Called after each trial; false ends the search with Error(state).
    std::function<bool(const PrecisionTrial&)> on_trial = {};
    /// Called after each step of the short trainings, with the steps so far and in all. Returning
    /// false ends the search with Error(state).
    std::function<bool(std::int64_t done, std::int64_t all)> on_confirm = {};
};

/// Searches on a captured step. Throws Error; Error(value) if even FP32 alone does not stay within
/// the tolerance.
FoundPrecision search_precision(const CapturedStep& step, const PrecisionSearchOptions& options);

/// One JSON object.
std::string to_json(const FoundPrecision& found);
/// The result as text for a terminal.
std::string text_of(const FoundPrecision& found);

}  // namespace engine
