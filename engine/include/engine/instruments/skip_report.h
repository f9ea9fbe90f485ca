#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/base/message.h"
#include "engine/base/names.h"
#include "engine/base/table.h"
#include "engine/record/exponent_histogram.h"

namespace engine {

/// Why a step was skipped or came out non-finite.
enum class SkipCause {
    unknown,           ///< not examined, or the step is finite when it is computed again
    damaged_state,     ///< a weight, buffer or carried state was not finite before the step
    bad_input,         ///< a value of the batch is not finite
    forward_overflow,  ///< a 16-bit tensor of the forward pass left the range of its type
    mathematical,      ///< the result does not exist or is infinite in FP32, too
    scale_too_large,   ///< only the scaled gradients overflowed: benign
    optimizer,         ///< the gradients are finite, and the update made a weight non-finite
};
template <>
inline constexpr std::array enum_names<SkipCause> = {
    "unknown", "damaged_state", "bad_input", "forward_overflow", "mathematical", "scale_too_large",
    "optimizer"};
/// "Scale too large", ...
Message title(SkipCause cause);

/// Which part of the step a tensor belongs to.
enum class SkipStage {
    state,  ///< before the step: weights, buffers, carried state, optimizer state
    batch,  ///< before the step: a field of the batch
    forward,
    backward,  ///< from the scaled loss on
    update,    ///< a weight after the optimizer's update
};
template <>
inline constexpr std::array enum_names<SkipStage> = {
    "state", "batch", "forward", "backward", "update"};

/// One look at a tensor.
struct TensorGlance {
    std::string dtype;                ///< "f16"
    std::vector<std::int64_t> shape;  ///< empty: one number
    double largest = 0;               ///< largest magnitude; inf or NaN if a value is
};

/// A non-finite tensor, and how it came about.
struct BadTensor {
    SkipStage stage = SkipStage::forward;
    std::string op;      ///< that made it; empty for state and batch
    std::string module;  ///< of the model, by PyTorch's name; empty outside all
    std::string name;    ///< of a weight, a buffer, a carried state or a field; empty for others
    std::int64_t order = 0;   ///< operations of the step that came before
    std::int64_t output = 0;  ///< which output of the operation
    std::int64_t phase = 0;
    std::int64_t micro_batch = 0;
    TensorGlance tensor{};
    std::int64_t infinite = 0;  ///< values that are infinite
    std::int64_t nan = 0;       ///< values that are NaN
    std::int64_t total = 0;
    std::vector<std::int64_t> index;   ///< of the first non-finite value, in row-major order
    double value = 0;                  ///< inf, -inf or NaN
    std::vector<TensorGlance> inputs;  ///< what fed the operation, after its casts
    /// Largest magnitude of the same tensor in the FP32 replay; for a gradient multiplied by the
    /// loss scale. NaN: the replay has no such tensor.
    double largest_in_f32 = std::numeric_limits<double>::quiet_NaN();
};

/// One of the six tests, in their order.
struct SkipTest {
    SkipCause cause = SkipCause::unknown;
    bool found = false;
    Message finding{};
};

/// A layer on the path of the backward pass, or of the forward pass if the fault is there.
struct ChainLink {
    std::string module;
    std::string dtype;  ///< of the tensor that holds the largest value; "" where there is none
    double largest =
        0;  ///< forward: magnitude of its outputs; backward: of gradients at its outputs
    double largest_in_f32 = std::numeric_limits<double>::quiet_NaN();  ///< times the loss scale
    double weights = 0;  ///< backward: largest magnitude of its parameters' gradients, scaled
    double weights_in_f32 = std::numeric_limits<double>::quiet_NaN();
};

/// The step computed again with another loss scale, without a sample, or in FP32.
struct StepTrial {
    double scale = 1;
    bool passes = false;  ///< loss and gradients are finite
    double loss = 0;
    double grad_norm = 0;  ///< unscaled
};

/// The contribution of one sample of the batch to the first non-finite tensor.
struct SampleShare {
    std::int64_t micro_batch = 0;
    std::int64_t row = 0;  ///< within the micro-batch
    std::int64_t sample =
        0;                 ///< Batch::indices: of the data set; of a text: where its window begins
    double largest = 0;    ///< magnitude, of the values that are finite
    double share = 0;      ///< of the sum of all samples' largest magnitudes
    std::int64_t bad = 0;  ///< its non-finite values
};

/// Exponents of the first non-finite tensor, before and after a change.
struct TensorHistograms {
    ExponentHistogram before;
    double scale = 1;  ///< of the step
    ExponentHistogram after;
    double other_scale = 1;
    bool in_f32 = false;  ///< `after` is in FP32 without a scale; else as `before` at `other_scale`
};

/// Findings of the examination of one step.
struct SkipReport {
    std::string run;
    std::int64_t step = 0;
    bool skipped = false;   ///< the scaler skipped it
    std::string precision;  ///< preset
    std::string device;
    double loss = 0;
    double loss_scale = 1;
    double grad_norm = 0;
    double f32_loss = 0;  ///< of the FP32 replay
    double f32_grad_norm = 0;
    SkipCause cause = SkipCause::unknown;
    std::vector<SkipTest> tests;
    std::optional<BadTensor> first;  ///< the first non-finite tensor that the fault goes back to
    std::int64_t operations = 0;     ///< that were checked
    std::vector<ChainLink> chain;    ///< in execution order
    std::vector<StepTrial> ladder;   ///< from the step's scale downwards
    /// The largest scale of the ladder that passes; NaN: none, or none was tried.
    double passing_scale = std::numeric_limits<double>::quiet_NaN();
    /// 65,504 over the largest unscaled 16-bit gradient of the FP32 replay; NaN: unknown.
    double scale_bound = std::numeric_limits<double>::quiet_NaN();
    std::vector<SampleShare> samples;  ///< largest share first
    Message samples_note{};            ///< how they were found, or why they were not
    std::optional<TensorHistograms> histograms{};
    std::int64_t capsule_bytes = 0;  ///< about what a capsule of the step takes
    std::int64_t damaged_at = 0;     ///< the step that made the damaged state; 0: unknown
    Message advice{};

    /// The verdict in one sentence.
    Message verdict() const;
};

/// One JSON object, a line without a newline. Non-finite numbers as "nan", "inf", "-inf".
std::string to_json_line(const SkipReport& report);
/// Parses the output of to_json_line(). Throws Error(data) for anything else.
SkipReport parse_skip_report(std::string_view json);
/// The report for a terminal, in English.
std::string skip_page(const SkipReport& report);

/// A step of a run that was skipped or came out non-finite.
struct SkippedStep {
    std::int64_t step = 0;
    bool skipped = false;  ///< false: nothing skipped it
    double loss = 0;
    double loss_scale = 1;
    double grad_norm = 0;
    std::optional<SkipReport> report{};  ///< if it was examined
};

/// A sample that has one of the largest shares in several examined steps, or is in more batches of
/// skipped steps than chance explains.
struct RecurringSample {
    std::int64_t sample = 0;
    std::vector<std::int64_t> steps;
    /// Expected number of samples of the data set that are in this many of the batches by chance:
    /// below 0.01. NaN: found by its shares.
    double chance = std::numeric_limits<double>::quiet_NaN();
};

/// All skipped and non-finite steps of a run, in order.
struct SkipList {
    std::string run;
    std::int64_t steps = 0;        ///< of the run
    std::int64_t clean_steps = 0;  ///< since the last of them
    std::vector<SkippedStep> list;
    std::vector<RecurringSample> recurring;
};
/// A row for each step, with the first non-finite tensor of examined ones; unknown cells are empty.
Table to_table(const SkipList& skips);

/// Consecutive steps of a list with one outcome and, as far as they were examined, one cause.
struct SkipGroup {
    std::size_t first = 0;  ///< index in SkipList::list
    std::size_t count = 0;
    bool bad = false;  ///< the scaler does not put it right by itself

    bool operator==(const SkipGroup&) const = default;
};
/// Returns the groups in the order of their steps; each step is in one of them.
std::vector<SkipGroup> group_skips(const SkipList& skips);
/// The first step of the first bad group, which is where to look for the cause; nothing if all
/// groups are benign. An index in SkipList::list.
std::optional<std::size_t> first_bad_step(const SkipList& skips);

std::string to_json_line(const SkipList& skips);
std::string skips_page(const SkipList& skips);

}  // namespace engine
