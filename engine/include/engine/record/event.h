#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "engine/base/error.h"
#include "engine/base/metric.h"
#include "engine/record/step_record.h"
#include "engine/settings/run_config.h"

namespace engine {

/// How a run of another program describes itself. Texts are that program's own, for people to read;
/// none of them is a setting for this program.
struct RunOrigin {
    std::string program;            ///< "PyTorch 2.15.0"
    std::string model{};            ///< "ResNet"; may be empty, as the next two
    std::string dataset{};          ///< "CIFAR-10"
    std::string optimizer{};        ///< "SGD"
    std::int64_t epochs = 0;        ///< planned; 0: unknown
    std::int64_t shares_every = 1;  ///< steps from one with gradient figures to the next; 0: none
    std::vector<std::pair<std::string, std::string>> settings{};  ///< name and value

    bool operator==(const RunOrigin&) const = default;
};

/// State of a session.
enum class RunState {
    idle,        ///< made, not started
    preparing,   ///< opening data, making the model
    training,    ///< steps are being run
    paused,      ///< between two steps, waiting
    evaluating,  ///< the test set, between two steps
    stopping,    ///< a stop was asked for; the step in flight ends first
    done,        ///< ended as planned or by a stop
    failed,      ///< ended by an error
};

template <>
inline constexpr std::array enum_names<RunState> = {
    "idle", "preparing", "training", "paused", "evaluating", "stopping", "done", "failed"};

/// Facts, in the order they happened. `run` is the run's id ("12" in the store, or its folder's
/// name).
struct RunStarted {
    std::string run;
    RunConfig config;
    std::string device;       ///< "cpu", "cuda:0"
    std::int64_t threads;     ///< resolved
    std::int64_t parameters;  ///< parameter count
    std::int64_t train_samples;
    std::int64_t test_samples;
    std::int64_t steps_planned;  ///< 0: unknown
    std::string folder;
    std::int64_t validation_samples = 0;
    std::string task = "classification";  ///< kind
    std::string unit = "images";          ///< what one sample is called
    /// Metrics of the task; the first is the primary one. Empty: the loss is used instead.
    std::vector<Metric> metrics = classification_metrics();
    /// Metrics of a training step, in the order of metric_column(): the task's, and counts of its
    /// further optimizers.
    std::vector<Metric> step_metrics = classification_metrics();
    /// For a run that another program trains. Then only precision and scaler of `config` are
    /// meaningful; the rest are defaults.
    std::optional<RunOrigin> origin = {};
    /// Shared by runs that take turns step by step from here on (SessionOptions::turns). Only their
    /// speeds can be compared. Empty: the run trains alone, or that is not known.
    std::string turns = {};
    std::int64_t first_step = 1;  ///< the one that comes next; above 1: the run was resumed
    std::int64_t steps_per_epoch = 0;  ///< 0: unknown
};

/// A run continues from a checkpoint, or from its start if it has none. Follows RunStarted.
struct RunResumed {
    std::string run;
    std::int64_t step = 0;  ///< steps made before; events and rows after it do not count any more
    std::int64_t skipped = 0;         ///< of them
    std::string parent{};             ///< the run that had made them; empty: this one
    std::vector<Message> restored{};  ///< what was restored, one sentence each
};

/// A checkpoint was written. One that could not be is a warning.
struct CheckpointSaved {
    std::string run;
    std::int64_t step = 0;
    std::int64_t bytes = 0;
    double seconds = 0;  ///< that the writing took, beside the training
    bool best = false;   ///< no evaluation before it was better
};

/// A skipped or non-finite step was examined while the run trained; skips/STEP.json in the run's
/// folder holds the report.
struct StepExamined {
    std::string run;
    std::int64_t step = 0;
    std::string cause;            ///< name(SkipCause)
    Message verdict{};            ///< SkipReport::verdict()
    std::int64_t damaged_at = 0;  ///< SkipReport::damaged_at
};

struct StateChanged {
    std::string run;
    RunState state;
};

/// An epoch ended, or the test and validation parts were evaluated; mostly both.
struct EpochDone {
    std::string run;
    std::int64_t epoch;  ///< from 1: completed epochs
    std::int64_t step;   ///< last step of it
    PartFigures train;
    PartFigures validation;  ///< unknown without such a part, or if nothing was evaluated
    PartFigures test;
    double seconds;  ///< this run's own time for it
    /// False: an evaluation between epochs, by the settings, on request or at the step limit; the
    /// training figures are those of the epoch so far.
    bool epoch_ended = true;
    /// False: the settings leave this end of an epoch out. The figures of an evaluation may be NaN.
    bool evaluated = true;
};

/// The test part's figures in an evaluation.
struct TestResult {
    std::int64_t step = 0;  ///< after it
    PartFigures figures{};  ///< unknown without a test part
};

/// The loss scale moved, or a step was skipped (then to <= from).
struct ScaleChanged {
    /// How healthy it is: early skips calibrate; several in a row that no lower scale resolves
    /// persist.
    enum class Kind { grown, skipped_calibrating, skipped_normal, skipped_persistent };
    std::string run;
    std::int64_t step;
    Kind kind;
    float from;
    float to;
    std::int64_t
        clean_steps;  ///< without a skip, since the scale last changed or a step was skipped
    std::optional<float> loss = {};  ///< of a skipped step whose loss itself was NaN or infinite
};
template <>
inline constexpr std::array enum_names<ScaleChanged::Kind> = {
    "grown", "skipped_calibrating", "skipped_normal", "skipped_persistent"};

/// The products of a layer under a recipe. A type is that of its operands' codes ("e4m3 x e5m2"), or
/// "bf16" or another type of autocast where the product stays in that.
struct QuantizedProduct {
    std::string module;
    std::string fprop{}, dgrad{}, wgrad{};  ///< y, dx, dW
    std::string engine = "emulated";
    std::string reason{};  ///< why it stays in autocast's type; empty: it does not
};

/// Which products a run's recipe covers: after the first step, at the start and on resume.
struct RecipeStarted {
    std::string run;
    std::int64_t step = 0;
    std::string recipe;
    std::vector<std::pair<std::string, std::string>> settings{};  ///< in effect
    std::vector<QuantizedProduct> products{};
    std::int64_t quantised = 0, kept = 0;  ///< layers
};

/// The casts of an operand went wrong in a sampled step. At most one in 100 steps for each operand.
struct ScaleAlarm {
    enum class Kind {
        saturated,  ///< more than 0.1 % of the elements
        zeroed,     ///< of non-zero ones more than 25 % of gradients, 5 % of others (FP4: 15 %)
        stuck,      ///< a delayed scale is off by more than a factor of 4 for 50 steps
        nonfinite,  ///< the operand held NaN or infinity
        noise,      ///< a gradient is less than sqrt(3) times the noise of rounding at random
    };
    std::string run;
    std::int64_t step = 0;
    std::string module, role;  ///< role: x, w or g
    Kind kind{};
    double value = 0;  ///< share, factor, count or ratio
    Message hint{};
};
template <>
inline constexpr std::array enum_names<ScaleAlarm::Kind> = {"saturated", "zeroed", "stuck",
                                                            "nonfinite", "noise"};

struct RunWarning {
    std::string run;
    Message message;
    std::int64_t step = 0;  ///< the step it is about; 0: none
};

struct RunFailed {
    std::string run;
    ErrorCode code;
    Message message;
    Message hint;
};

enum class DoneReason {
    epochs,
    max_steps,
    stopped,         ///< by a command
    early_stopping,  ///< the metric stopped improving
    diverged,        ///< the loss stayed non-finite for `stop_on_nan` steps
    failed,          ///< by any other error
};
template <>
inline constexpr std::array enum_names<DoneReason> = {
    "epochs", "max_steps", "stopped", "early_stopping", "diverged", "failed"};

struct RunDone {
    std::string run;
    DoneReason reason;
    std::int64_t steps;
    std::int64_t updates;
    std::int64_t skipped;
    PartFigures test;      ///< unknown: never evaluated
    double wall_s;         ///< this run's own time
    double samples_per_s;  ///< of the whole run (KeyFigures); NaN: unknown
    std::int64_t peak_bytes;
    /// The step from which the loss was NaN or infinite to the end; 0: it was not.
    std::int64_t diverged_at = 0;
    PartFigures validation = {};
    /// Damaged samples of training whose place the next one of the order took, in all epochs.
    std::int64_t replaced_samples = 0;
    std::int64_t unsaved = 0;  ///< step of the last checkpoint, if it could not be written
};

using Event = std::variant<RunStarted, RunResumed, StateChanged, EpochDone, ScaleChanged,
                           CheckpointSaved, StepExamined, RecipeStarted, ScaleAlarm, RunWarning,
                           RunFailed, RunDone>;

/// The object of `--json` (interfaces.md, section 3; its fields: events.md), one line without a
/// newline; non-finite numbers as "nan", "inf", "-inf".
std::string to_json_line(const Event& event);
/// `metrics`: RunStarted::step_metrics, whose keys name the columns.
std::string to_json_line(const std::string& run, const StepRecord& step,
                         std::span<const Metric> metrics);

}  // namespace engine
