// Findings from a measured training step.
#include <algorithm>
#include <chrono>
#include <cmath>

#include "engine/number/figure_text.h"
#include "engine/settings/catalog.h"
#include "models/model_descriptor.h"
#include "train/run/advice.h"
#include "train/run/training_batches.h"
#include "verdict/rules.h"

namespace engine {
namespace {

/// The largest magnitude among the floating inputs of the last step; 0 where they are bytes or lie
/// on the device.
double largest_input(FreshSteps& run) {
    const std::vector<FieldSpec> inputs = run.trainer().task().model_shape().inputs;
    const Schema& schema = run.trainer().task().schema(true);
    double largest = 0;
    for (const Batch& batch : run.batches()) {
        for (std::size_t f = 0; f < batch.fields.size(); ++f) {
            const bool is_input = std::ranges::any_of(inputs, [&](const FieldSpec& input) {
                return input.name == schema.fields[f].name;
            });
            if (!is_input || batch.fields[f].dtype != DType::f32) continue;
            for (const float value : batch.fields[f].values<float>())
                largest = std::max(largest, std::fabs(static_cast<double>(value)));
        }
    }
    return largest;
}

StepRecord first_step(const RunConfig& config) { return FreshSteps(config).step(); }

bool overflowed(const StepRecord& row) { return !std::isfinite(row.grad_norm); }

/// The largest power of two that the first gradients take, with one bit of room; nothing if the
/// step is not finite at any scale.
std::optional<double> fitting_scale(RunConfig config, StepRecord row) {
    while (overflowed(row)) {
        if (!std::isfinite(row.loss) || config.scaler.init_scale < 1) return std::nullopt;
        config.scaler.init_scale = power_of_two_below(config.scaler.init_scale) / 16;
        config.scaler.min_scale = 0;
        row = first_step(config);
    }
    const auto ceiling = static_cast<double>(row.scale_ceiling);
    return std::isfinite(ceiling) ? power_of_two_below(ceiling) / 2 : config.scaler.init_scale;
}

void static_scale_too_large(const RunConfig& config, const StepRecord& row, Findings& out) {
    if (resolve(config.precision).scaler != ScalerMode::constant || !overflowed(row)) return;
    const auto fits = fitting_scale(config, row);
    if (!fits) return;
    out.push_back({.id = "static-scale-too-large",
                   .severity = LintSeverity::error,
                   .sentence = msg("The static loss scale, {}, overflows in the first step",
                                   scale_words(config.scaler.init_scale)),
                   .reason = msg("A static scaler never skips: the update makes the weights NaN. "
                                 "Lower the static scale to {} or use a dynamic one.",
                                 scale_words(*fits)),
                   .handbook = "A static scale fits the largest gradient",
                   .fix = {"scaler.init_scale=" + number_words(*fits), "scaler.min_scale=0"}});
}

void lost_updates(const RunConfig& config, const StepRecord& row, Findings& out) {
    constexpr float many = 0.5f;
    const ResolvedPrecision precision = resolve(config.precision);
    const bool plain = precision.weights == WeightFormat::fp16 && !precision.master_weights;
    if (!plain || !(row.lost_update_share > many)) return;
    out.push_back(
        {.id = "updates-lost",
         .severity = LintSeverity::warning,
         .sentence = msg("{} % of the first updates do not change their FP16 weight",
                         std::lround(100 * row.lost_update_share)),
         .reason = msg("They are smaller than half a unit in the last place of the weight. "
                       "Master weights in fp32 would keep them."),
         .handbook = "Small updates need master weights",
         .fix = {"precision.master_weights=true"}});
}

/// Changes that bring the inputs into the range of one; none if the settings do that already.
std::vector<std::string> smaller_inputs(const RunConfig& config) {
    const auto found = config.dataset.options.find("standardize");
    if (found != config.dataset.options.end() && found->second == OptionValue(false))
        return {"dataset.standardize=true"};
    if (!config.dataset.normalize) return {"dataset.normalize=true"};
    return {};
}

/// Inputs, activations, loss and norm of the first step; true if it leaves nothing to train.
bool first_step_not_finite(const RunConfig& config, const StepRecord& row, double largest_input,
                           Findings& out) {
    constexpr double largest_fp16 = 65504;
    const bool fp16 = resolve(config.precision).computes_in_fp16();
    const bool scaled = resolve(config.precision).scaler != ScalerMode::off;
    std::vector<std::string> fix = smaller_inputs(config);
    LintFinding finding{.id = "",
                        .severity = LintSeverity::error,
                        .sentence = {},
                        .reason = non_finite_loss_advice(config, false),
                        .handbook = "The first step is finite",
                        .fix = {}};
    if (fp16 && largest_input > largest_fp16) {
        finding.id = "inputs-beyond-fp16";
        finding.sentence = msg(
            "Inputs of up to {} are beyond FP16, whose largest number is 65,504", largest_input);
        finding.fix = fix.empty() ? std::vector<std::string>{"precision.preset=amp-bf16"} : fix;
    } else if (fp16 && !std::isfinite(row.loss)) {
        finding.id = "activations-beyond-fp16";
        finding.sentence =
            msg("The loss of the first step is {}: a value of the forward pass is beyond FP16",
                row.loss);
        finding.fix = {"precision.preset=amp-bf16"};
    } else if (!std::isfinite(row.loss) || (!scaled && !std::isfinite(row.grad_norm))) {
        finding.id = "first-step-not-finite";
        finding.sentence = msg("The loss or a gradient of the first step is not finite");
        if (fix.empty() && fp16) fix = {"precision.scaler=dynamic"};
        finding.fix = fix;
    }
    // A run reports at its first step what no setting changes, such as a NaN in the data.
    if (!finding.fix.empty()) out.push_back(std::move(finding));
    return !std::isfinite(row.loss);
}

constexpr std::int64_t most_steps = 10;

/// The first of ten steps whose loss is ten times that of `first`, or not finite.
std::optional<StepRecord> step_of_growth(FreshSteps& run, const StepRecord& first,
                                         const std::stop_token& stop) {
    constexpr float tenfold = 10;
    for (StepRecord row = first; row.step < most_steps && !stop.stop_requested();) {
        row = run.step();
        if (!std::isfinite(row.loss) || row.loss > tenfold * std::fabs(first.loss)) return row;
    }
    return std::nullopt;
}

/// The largest rate below that of the settings, by a power of ten, at which the loss does not grow.
double calmer_rate(RunConfig config, const std::stop_token& stop) {
    constexpr int max_tries = 6;
    const double given = learning_rate_of(config).given;
    double rate = given;
    for (int i = 0; i < max_tries; ++i) {
        rate /= 10;
        config.optimizer.options["lr"] = rate;
        FreshSteps run(config, stop);
        if (!step_of_growth(run, run.step(), stop)) return rate;
    }
    return given / 10;  // the rate alone is not to blame
}

void loss_grows(const RunConfig& config, const StepRecord& first, const StepRecord& row,
                const std::stop_token& stop, Findings& out) {
    out.push_back({.id = "loss-grows-tenfold",
                   .severity = LintSeverity::warning,
                   .sentence = msg("The loss grows from {} to {} within {} steps",
                                   figure_text(first.loss), figure_text(row.loss), row.step),
                   .reason = divergence_advice(config),
                   .handbook = "The loss falls in the first steps",
                   .fix = {"optimizer.lr=" + number_words(calmer_rate(config, stop))}});
}

constexpr double longest_hours = 6, hour = 3600;

/// Changes that bring so many hours down to what a person waits for.
std::vector<std::string> shorter_run(const RunConfig& config, double step_seconds, double hours) {
    constexpr double short_side = 400, room = 0.9;  // of a measured time
    const double allowed = room * longest_hours;
    const DatasetDescriptor* data = find_kind(datasets(), config.dataset.kind);
    if (find_option(data->options, "short_side") != nullptr) {
        const TypedOptions options(config.dataset.options, data->options);
        const auto side =
            static_cast<double>(std::ranges::max(options.integers("short_side")));
        const double share = short_side / side;
        if (share < 1 && hours * share * share <= allowed) return {"dataset.short_side=[400]"};
    }
    const auto steps = static_cast<std::int64_t>(allowed * hour / step_seconds);
    const std::int64_t pictures =
        config.epochs > 0 ? steps / config.epochs * config.batch_size * config.accumulate : 0;
    if (pictures > 0) return {"dataset.train_limit=" + std::to_string(pictures)};
    return {"max_steps=" + std::to_string(std::max<std::int64_t>(steps, 1))};
}

/// A detector's epochs of large images take days on a CPU.
void training_takes_hours(const RunConfig& config, FreshSteps& run, double step_seconds,
                          Findings& out) {
    const double hours = step_seconds * static_cast<double>(run.planned()) / hour;
    const bool detects = model_descriptor(config.model)->output == ModelOutput::detections;
    if (!detects || run.trainer().device().kind != Device::Kind::cpu || hours <= longest_hours) return;
    out.push_back({.id = "training-takes-hours",
                   .severity = LintSeverity::note,
                   .sentence = msg("{} steps of {} s take about {} hours on this CPU", run.planned(),
                                   figure_text(step_seconds), std::lround(hours)),
                   .reason = msg("Smaller images or fewer pictures show in hours whether the "
                                 "settings are good; a GPU takes a small part of the time."),
                   .handbook = "Anchors and pictures fit the objects",
                   .fix = shorter_run(config, step_seconds, hours)});
}

}  // namespace

std::vector<LintFinding> lint_measured(const RunConfig& config, const std::stop_token& stop) {
    const RunConfig whole = completed(config);
    FreshSteps run(whole, stop);
    const StepRecord first = run.step();
    Findings out;
    if (first_step_not_finite(whole, first, largest_input(run), out)) return out;
    static_scale_too_large(whole, first, out);
    lost_updates(whole, first, out);
    if (!out.empty()) return out;
    const auto begun = std::chrono::steady_clock::now();
    const auto grown = step_of_growth(run, first, stop);
    const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - begun;
    if (grown)
        loss_grows(whole, first, *grown, stop, out);
    else if (!stop.stop_requested())
        training_takes_hours(whole, run, taken.count() / (most_steps - 1), out);
    return out;
}

}  // namespace engine
