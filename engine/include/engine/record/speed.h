#pragma once

#include <cstdint>
#include <limits>
#include <vector>

#include "engine/record/step_record.h"

namespace engine {

/// How fast a run trained in steps that other runs have too: what verdicts and the speed-up of
/// `compare` rest on. The speed of a run by itself is KeyFigures::samples_per_s.
struct Speed {
    /// Mean of the middle half of the step times; NaN: unknown.
    double step_ms = std::numeric_limits<double>::quiet_NaN();
    double samples_per_s = std::numeric_limits<double>::quiet_NaN();  ///< at that step time
    std::int64_t first_step = 0;  ///< of the steps measured, from 1; 0: none
    std::int64_t last_step = 0;

    bool known() const { return first_step > 0; }
};

/// The speed of each run over steps that all runs have: the newest 512, without the first 10 (they
/// build primitives and fill caches) or, for runs shorter than 20 steps, without the first half. If
/// there are longer runs, a run shorter than 20 steps has no speed, since it would shorten theirs.
/// Step times exclude evaluation. Reads a bounded number of rows. Throws Error(data) if a record
/// cannot be read.
std::vector<Speed> speeds(const std::vector<StepRecordReader>& records);

}  // namespace engine
