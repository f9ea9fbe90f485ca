#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "engine/base/message.h"

namespace engine {

/// Expressions of lessons: `RUN.column` (a series over the steps), `RUN.result.KEY`,
/// `xray(RUN, op).output`, `skip(RUN).cause`, results of `bits` and `sum` blocks (`ID.value`), the
/// values of earlier checks, numbers, words, + - * /, comparisons, `and`, `or`, `not`, and the
/// functions mean, first, isnan, last, min, max, count. No loops, no files.

/// A number (a condition is 1 or 0), a series over the steps, or a word.
using LessonValue = std::variant<double, std::vector<double>, std::string>;

/// `bits ID: NUMBER in FORMAT`, or `sum ID: TERM x COUNT in FORMAT [accumulate FORMAT]`.
/// Its results: of bits `value`, `error` (value minus number), `gap`, `above`, `below`, `bits`;
/// of sum `term` (as stored), `value`, `exact`, `stalls_after` (NaN: never).
struct LessonBlockNumber {
    std::string id{};
    bool is_sum = false;
    std::string text{};         ///< the number or term as written
    double number = 0;          ///< what it means
    std::int64_t count = 0;     ///< of terms
    std::string format{};       ///< "fp16", ... as number_formats()
    std::string accumulator{};  ///< empty: the format's own
};
std::vector<std::string> result_names(const LessonBlockNumber& block);
/// Throws Error(value) for a name that the block does not have.
double block_result(const LessonBlockNumber& block, std::string_view name);

/// Where an expression finds what was measured.
class LessonMeasurements {
public:
    virtual ~LessonMeasurements() = default;
    /// The column of a run so far.
    virtual std::vector<double> column(const std::string& run, const std::string& column) const = 0;
    /// Nothing until the run has ended.
    virtual std::optional<double> result(const std::string& run, const std::string& key) const = 0;
    /// A word ("fp16"), of the first step; nothing until it is known.
    virtual std::optional<std::string> xray(const std::string& run, const std::string& op,
                                            const std::string& field) const = 0;
    /// The first step that was skipped or not finite: a word, or `step` as a number. Nothing until
    /// the run has ended; "none" and 0 if there is no such step.
    virtual std::optional<LessonValue> skip(const std::string& run,
                                            const std::string& field) const = 0;
    virtual bool ended(const std::string& run) const = 0;
};

enum class LessonType { number, series, word };

/// The names that an expression may use.
struct LessonNames {
    std::vector<std::string> runs{};
    std::vector<std::string> columns{};  ///< of the step record, metrics included
    std::vector<LessonBlockNumber> blocks{};
    std::vector<std::pair<std::string, LessonType>> checks{};  ///< that stand before it
    std::vector<std::string> words{};                          ///< keys of choices
};

/// A check that stands before an expression, as it was measured.
struct EarlierCheck {
    std::string id{};
    std::optional<LessonValue> value{};
    bool final = false;
};
using EarlierChecks = std::vector<EarlierCheck>;

/// A checked expression. Cheap to copy.
class LessonExpression {
public:
    struct Node;

    /// Throws Error(value) with one sentence if the text is not an expression or uses an unknown
    /// name.
    static LessonExpression parse(std::string_view text, const LessonNames& names);

    LessonType type() const { return type_; }
    const std::string& text() const { return text_; }
    /// The runs that it reads, each once.
    std::vector<std::string> runs() const;
    /// Nothing where something that it needs is not there yet.
    std::optional<LessonValue> value(const LessonMeasurements& measured,
                                     const EarlierChecks& checks = {}) const;
    /// Whether further steps cannot change it: the runs that it reads have ended, or it is a
    /// `first` whose condition was met.
    bool is_final(const LessonMeasurements& measured, const EarlierChecks& checks = {}) const;

private:
    std::string text_;
    std::shared_ptr<const Node> root_;
    LessonType type_ = LessonType::number;
};

/// A number that is neither 0 nor NaN.
bool is_true(const LessonValue& value);

}  // namespace engine
