#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "engine/lab/lesson.h"
#include "engine/lab/lesson_answers.h"
#include "engine/lab/lesson_expression.h"
#include "engine/lab/lesson_runner.h"

namespace engine {

/// The runs of a lesson as seen by its expressions. X-rays and examinations of skips are computed
/// on first use, on the calling thread, and kept.
class MeasuredRuns final : public LessonMeasurements {
public:
    /// The runner must outlive it.
    explicit MeasuredRuns(const LessonRunner& runner);
    ~MeasuredRuns() override;

    std::vector<double> column(const std::string& run, const std::string& column) const override;
    std::optional<double> result(const std::string& run, const std::string& key) const override;
    std::optional<std::string> xray(const std::string& run, const std::string& op,
                                    const std::string& field) const override;
    std::optional<LessonValue> skip(const std::string& run,
                                    const std::string& field) const override;
    bool ended(const std::string& run) const override;

private:
    struct Kept;
    const LessonRunner& runner_;
    std::unique_ptr<Kept> kept_;
};

/// Keys of `RUN.result.KEY`: steps, updates, skipped, growths, diverged_at, wall_s, samples_per_s,
/// peak_bytes, step_ms (median), test_loss, and test_METRIC.
std::vector<std::string> lesson_result_keys();

/// The measured result of one check.
struct CheckResult {
    std::string id{};
    std::optional<LessonValue> value{};  ///< a word for a check of cases
    bool final = false;                  ///< more steps cannot change it
};
std::vector<CheckResult> check_results(const Lesson& lesson, const LessonMeasurements& measured);

/// An `expect:` and whether it holds; nothing until it is known.
struct ExpectationResult {
    int line = 0;
    std::string text{};
    std::optional<bool> holds{};
};
std::vector<ExpectationResult> expectation_results(const Lesson& lesson,
                                                   const LessonMeasurements& measured);

/// Whether a prediction was right, as Prediction::within says; nothing while the value is unknown.
std::optional<bool> is_right(const Prediction& prediction, const LessonAnswer& answer,
                             const std::optional<LessonValue>& measured);

/// "0.0412", "1,540", "fp16", "-": for tables and the page.
std::string to_string(const std::optional<LessonValue>& value);
/// A printf format: whole numbers have no decimals.
const char* shown_format(double number);

}  // namespace engine
