#pragma once

#include "engine/record/step_record.h"

namespace engine {

/// Median of a column over the last 512 rows at most, leaving out the first 10 of the run (a run's
/// first steps build primitives and fill caches) and what is not a number; NaN if fewer than 8 are
/// left.
double recent_median(const StepRecordReader& record, float StepRecord::*field);

}  // namespace engine
