#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <span>
#include <string>
#include <vector>

#include "engine/base/message.h"
#include "engine/base/names.h"
#include "engine/record/step_record.h"
#include "engine/settings/run_config.h"

namespace engine {

/// A policy of the loss scale: dynamic (ScalerConfig), static at its initial scale, or off: a scale
/// of 1 that is never checked.
struct ScalePolicy {
    std::string name;  ///< "recorded", "classroom", "static-1024"
    ScalerMode mode = ScalerMode::dynamic;
    ScalerConfig scaler;
};

/// The policy of these settings.
ScalePolicy to_policy(const RunConfig& config, std::string name);
/// The policies worth comparing with a run's own: production, classroom, hysteresis-2, init-2^24,
/// static-1024, static-65536, none.
std::vector<ScalePolicy> usual_policies();

/// The outcome of a step under a policy.
enum class ReplayedStep : std::uint8_t {
    applied,
    skipped,
    /// Unknown: the record has lost the largest gradient to overflow, or never had it. The replay
    /// assumes the outcome of the nearest step for which it is known.
    unknown_applied,
    unknown_skipped,
    /// A static or absent scaler applies gradients that are not finite.
    broken,
};
template <>
inline constexpr std::array enum_names<ReplayedStep> = {
    "applied", "skipped", "unknown_applied", "unknown_skipped", "broken"};
constexpr bool is_unknown(ReplayedStep step) {
    return step == ReplayedStep::unknown_applied || step == ReplayedStep::unknown_skipped;
}

/// Steps in a row with one scale and one outcome.
struct ScaleStair {
    std::int64_t first_step;
    std::int64_t steps;
    float scale;  ///< the one used in these steps
    ReplayedStep outcome;
};

/// A recorded run under another policy. The gradients are assumed to be those of the recorded run;
/// from `parts_at` on the weights would have differed.
struct WhatIf {
    ScalePolicy policy;
    std::vector<ScaleStair> stairs;  ///< all steps, in order
    std::int64_t steps = 0;
    std::int64_t skipped = 0;    ///< known and unknown
    std::int64_t unknown = 0;    ///< steps whose outcome the record cannot know
    std::int64_t parts_at = 0;   ///< first step with another outcome than the recorded; 0: none
    std::int64_t breaks_at = 0;  ///< first broken step; 0: none
    float lowest = 0, highest = 0, last = 0;  ///< scales used; 0 without steps
    /// Bounds of the mean share of gradients that became zero in fp16 although they were not, over
    /// the steps whose share was measured. NaN: no step was measured, or there is no upper bound,
    /// since some scale is below the recorded one.
    double lost_at_least = std::numeric_limits<double>::quiet_NaN();
    double lost_at_most = std::numeric_limits<double>::quiet_NaN();
    std::int64_t floors = 0;       ///< steps with a known floor of the scale
    std::int64_t below_floor = 0;  ///< of them, with a scale below it: over 0.1 % of values lost

    /// Updates made.
    std::int64_t updates() const { return steps - skipped; }
};

/// Writes the smallest scales that keep 99.9 % of the gradients of rows [first, first +
/// out.size()), NaN where unknown.
using ScaleFloors = std::function<void(std::int64_t first, std::span<double> out)>;

/// A record to replay.
struct ReplayedRecord {
    StepRecordReader record;
    /// True if the run's own scaler was dynamic, so that found_inf marks non-finite gradients.
    /// Otherwise their norm and the loss do.
    bool checked = true;
    ScaleFloors floors = {};  ///< may be absent
};

/// Replays the record under the policy, a block of rows at a time, so memory grows only with the
/// stairs. A step at its recorded scale has its recorded outcome; every dynamic policy skips a
/// non-finite loss. Throws Error(data) for an unreadable record, and Error(value) for a policy that
/// does not validate.
WhatIf replay(const ReplayedRecord& record, const ScalePolicy& policy);

/// One sentence: how the policy's skips compare with the `recorded` ones, and what is unknown.
Message what_if_sentence(const WhatIf& policy, const WhatIf& recorded);
/// One sentence on all of them, the recorded policy first. With a single other policy the sentence
/// is on that one; with several, on the one that skips the fewest steps without breaking.
Message what_if_conclusion(const std::vector<WhatIf>& policies);
/// The policies as a table for a terminal, a line each, with a header.
std::string what_if_table(const std::vector<WhatIf>& policies);
/// One JSON object, a line without a newline. `stairs` is a list of [first step, steps, scale,
/// outcome].
std::string to_json_line(const std::string& run, const WhatIf& policy, const Message& sentence);

}  // namespace engine
