#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "engine/base/message.h"
#include "engine/lab/lesson_expression.h"
#include "engine/settings/run_config.h"

namespace engine {

/// A lesson of the Lab: a text file (Markdown with fenced blocks) as `resources/lessons/README.md`
/// describes it. Nothing in it can run code, and every path in it stays within its folder.

/// A problem of a lesson, one sentence. A block with a problem is left out; the rest of the lesson
/// is read.
struct LessonProblem {
    int line = 1;  ///< from 1
    Message text;

    /// "line 12: ..."
    std::string str() const;
};

/// One answer of a choice.
struct LessonChoice {
    std::string key{};
    std::string text{};
};

/// A question that is answered before the runs start.
struct Prediction {
    enum class Kind {
        choice,  ///< one of `choices`
        number,  ///< any number, in `unit`
        range,   ///< a number from `low` to `high`
        curve,   ///< `column` over the steps `low` to `high`, drawn with the mouse
    };
    std::string id{};
    Kind kind = Kind::choice;
    std::string question{};
    std::vector<LessonChoice> choices{};
    std::string unit{};
    std::string column{};
    double low = 0, high = 0;
    double bottom = 0, top = 0;  ///< heights to draw a curve between; both 0: not given
    /// Largest distance of a right answer from the measured value; for a curve the mean distance.
    /// Given by `within:`; else a tenth of the measured value (number), of the range (range), or of
    /// the measured curve's height.
    std::optional<double> within{};
    std::string note{};  ///< shown beneath the question; may be empty
    std::string hint{};  ///< shown after a wrong answer; may be empty
    int line = 0;
};

/// One of the runs, with the settings that are its own.
struct LessonRun {
    /// The run continues from a checkpoint of another one.
    struct Resume {
        std::string run;
        std::int64_t step = 0;
    };
    std::string name{};                   ///< in expressions
    std::string label{};                  ///< shown; the name where the lesson gives none
    std::vector<std::string> settings{};  ///< "path=value": those of all runs, then its own
    std::optional<Resume> resume{};
    int line = 0;
};

/// One plot over the steps.
struct LessonPlot {
    std::string column{};  ///< of the step record, or a metric's key
    bool logarithmic = false;
    std::vector<std::string> runs{};  ///< names; empty: all
};

/// A view at the selected step beside or beneath the plots.
struct LessonInstrument {
    enum class Kind { weight, histogram, xray, skip, bits, sum };
    Kind kind = Kind::weight;
    std::vector<std::string>
        runs{};               ///< of weight, histogram, xray, skip: one, or two side by side
    std::string parameter{};  ///< weight: its name
    std::vector<std::int64_t> index{};  ///< weight: of the element
    std::string quantity{};             ///< histogram: gradients, activations, weights or updates
    std::string layer{};                ///< histogram: may be empty: all
    std::vector<std::string> ops{};     ///< xray: "linear" or "fc1:linear"; empty: all
    std::optional<LessonBlockNumber> number{};  ///< bits, sum
    int line = 0;
};

/// One line of a check block: what was measured, for a prediction or for itself.
struct LessonCheck {
    /// `ID = KEY: condition`: the first true one is the answer.
    struct Case {
        std::string key;
        LessonExpression condition;
    };
    std::string id{};
    std::string label{};  ///< what it is, where no prediction asks it; may be empty
    std::optional<LessonExpression> value{};  ///< `ID "label" = expression`
    std::vector<Case> cases{};
    int line = 0;
};

/// A condition that must hold for every seed; `halftone lesson --check` says whether it does.
struct LessonExpectation {
    LessonExpression condition{};
    int line = 0;
};

/// A knob: a setting to change, after which all runs are run again.
struct LessonKnob {
    std::string path{};
    std::vector<std::string> values{};  ///< empty: from `low` to `high`
    double low = 0, high = 0;
    std::string note{};
    int line = 0;
};

/// The runs of a lesson, which train in lockstep.
struct LessonRuns {
    std::vector<LessonRun> runs{};
    double pace = 0;  ///< steps a second at most; 0: as fast as they can
};

struct LessonMarkdown {
    std::string text{};
    int line = 0;
};

/// The parts of a lesson's step, in order. An unusable block is replaced by its LessonProblem.
using LessonPart = std::variant<LessonMarkdown, Prediction, LessonRuns, std::vector<LessonPlot>,
                                std::vector<LessonInstrument>, std::vector<LessonCheck>,
                                std::vector<LessonKnob>, LessonProblem>;

/// The parts of a lesson under one `##` heading.
struct LessonStep {
    std::string title{};
    std::vector<LessonPart> parts{};
    int line = 0;
};

struct Lesson {
    std::string name{};  ///< of its file, without ".lesson.md" and ".zh"
    std::string language = "en";
    std::string title{};
    std::string chapter{};
    int minutes = 0;  ///< for a person; 0: not given
    std::vector<LessonStep> steps{};
    std::filesystem::path folder{};  ///< that its paths are relative to; empty: it has no files
    std::string source{};            ///< the text itself

    // The contents of the blocks of all steps.
    std::vector<std::string> network{};  ///< lines of the text that the runs train; empty: none
    std::vector<Prediction> predictions{};
    std::vector<LessonRun> runs{};
    double pace = 0;
    std::vector<LessonPlot> plots{};
    std::vector<LessonInstrument> instruments{};
    std::vector<LessonCheck> checks{};
    std::vector<LessonExpectation> expectations{};
    std::vector<LessonKnob> knobs{};
    std::vector<LessonProblem> problems{};  ///< by line; empty: the lesson can be used whole
};

/// Largest file that is read as a lesson.
inline constexpr std::int64_t max_lesson_bytes = 1 << 20;

/// Reads a lesson. Never throws for the content: all problems are in `problems`. `name` is
/// Lesson::name, `folder` Lesson::folder.
Lesson parse_lesson(std::string_view text, const std::string& name = {},
                    const std::filesystem::path& folder = {});

/// Whether a knob changes a run: it changes the runs that set its path, and if none does, all of
/// them. So an intact run stays intact when the fault of the others is changed.
bool knob_applies(const Lesson& lesson, const LessonRun& run, const std::string& path);

/// Settings of a run of the lesson with a seed and with the values of knobs ("path=value") on top.
/// `config` is that of ParsedConfig; its `errors` name what is refused.
ParsedConfig lesson_settings(const Lesson& lesson, const LessonRun& run, std::int64_t seed,
                             const std::vector<std::string>& knobs = {});

/// Null if the lesson has none of that name.
const LessonRun* find_run(const Lesson& lesson, std::string_view name);
const LessonCheck* find_check(const Lesson& lesson, std::string_view id);
const Prediction* find_prediction(const Lesson& lesson, std::string_view id);

/// Differences between a lesson and its translation in parts that must be equal: runs, checks,
/// knobs. Lines are those of `translation`.
std::vector<LessonProblem> differences(const Lesson& lesson, const Lesson& translation);

}  // namespace engine
