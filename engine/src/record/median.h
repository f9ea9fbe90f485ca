#pragma once

#include <cstddef>
#include <vector>

#include "engine/record/step_record.h"

namespace engine {

/// The upper median of the finite values; NaN if there are none.
double median(std::vector<double> values);

/// The mean of the middle half of the finite values: as robust to outliers as the median, and
/// smooth where the values form two groups, between which a median would jump. NaN if there are
/// none.
double interquartile_mean(std::vector<double> values);

/// The places of the values that interquartile_mean() takes, in the values' order.
std::vector<std::size_t> interquartile_places(const std::vector<double>& values);

/// Median of a column over the last 512 rows at most, leaving out the first 10 of the run (a run's
/// first steps build primitives and fill caches) and what is not a number; NaN if fewer than 8 are
/// left.
double recent_median(const StepRecordReader& record, float StepRecord::*field);

}  // namespace engine
