#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "engine/record/event.h"
#include "engine/record/speed.h"
#include "engine/record/step_record.h"
#include "engine/settings/run_config.h"

namespace engine {

/// The settings of a comparison's or twin's run in this precision. Loss scaling that was chosen
/// against the settings' own preset stays where the precision scales its loss, too. The other
/// overrides belong to the precision of the single run, and go.
RunConfig in_precision(RunConfig config, const std::string& preset);
/// The chosen overrides that in_precision() keeps in none of these precisions, as their paths.
std::vector<std::string> overrides_left_out(const RunConfig& config,
                                            std::span<const std::string> presets);

/// A run that has ended, as a comparison needs it.
struct FinishedRun {
    RunDone done{};
    StepRecordReader record;
    std::vector<TestResult> tests;
    std::int64_t growths = 0;        ///< of the loss scale
    std::string device = {};         ///< "cpu", "cuda:0"
};

/// One precision's runs, one a seed.
struct ComparedRuns {
    std::string precision;
    std::vector<FinishedRun> runs;
    /// The primary one; an empty key: the task has none.
    Metric metric = classification_metrics().front();
};

/// Mean over seeds and the spread between them (standard deviation of the sample; 0 for one seed).
/// NaN where no run has the figure.
struct MeanSpread {
    double mean = 0;
    double spread = 0;
};
MeanSpread mean_and_spread(const std::vector<double>& values);
/// The mean, and "±" with the spread if asked; `format` is number_text()'s.
std::string spread_text(const char* format, const MeanSpread& value, bool with_spread);

/// The figures of one precision. Times are the run's own training time, without the turns of the
/// other runs.
struct ComparisonRow {
    std::string precision;
    std::size_t seeds = 0;
    std::size_t diverged = 0;  ///< of the seeds: their loss was not finite to the end
    MeanSpread best_test_loss;
    MeanSpread last_test_loss;
    Metric metric;  ///< the primary one
    MeanSpread best_test_metric;
    MeanSpread last_test_metric;
    MeanSpread step_ms;  ///< of the whole runs (KeyFigures)
    MeanSpread samples_per_s;
    Speed speed;          ///< over steps that all took turns in: means, and the last seed's steps
    double speed_up = 0;  ///< over the first precision, by `speed`
    double peak_bytes = 0;  ///< in training; means over the seeds, as those below
    double updates = 0;
    double skipped = 0;
    double growths = 0;
};
std::vector<ComparisonRow> compare_runs(const std::vector<ComparedRuns>& precisions);

/// The rows as a table for a terminal, a line a precision, with a header; unknown figures as "-".
/// `unit`: of speed, as speed_unit() gives it.
std::string comparison_table(const std::vector<ComparisonRow>& rows,
                             const std::string& unit = "samples/s");

}  // namespace engine
