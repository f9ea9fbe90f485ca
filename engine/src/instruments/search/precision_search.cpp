#include "engine/instruments/precision_search.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <set>

#include "base/json_fields.h"
#include "engine/base/error.h"
#include "engine/base/table.h"
#include "engine/settings/catalog.h"
#include "instruments/replay/scratch_folder.h"
#include "instruments/replay/step_variant.h"
#include "instruments/search/minimal_precision.h"
#include "instruments/xray/op_trace.h"
#include "train/run/run_loop.h"

namespace engine {
namespace {

/// The result of a few steps of training.
struct ShortRun {
    double loss = 0;  ///< mean over the last quarter of the steps
    std::int64_t skipped = 0;
};

/// Trains from the start for `steps` steps; keeps nothing. `after_step` may throw, which ends
/// the training. Throws Error.
ShortRun short_run(const RunConfig& config, std::int64_t steps,
                   const std::function<void()>& after_step) {
    const ScratchFolder scratch;
    RunStore store(scratch.path() / "runs");
    RunConfig own = config;
    own.max_steps = steps;
    own.epochs = std::max(own.epochs, steps);  // a data set of few batches is read again
    SessionOptions options;
    options.save_checkpoints = false;
    options.evaluate = false;
    RunLoop loop(own, &store, options, [](const Event&) {});
    loop.prepare({});
    while (!loop.finished()) {
        loop.train_step();
        after_step();
    }
    loop.settle();
    const StepRecordReader record = loop.record();
    const std::int64_t made = record.size(), from = made - std::max<std::int64_t>(made / 4, 1);
    ShortRun out;
    for (std::int64_t i = from; i < made; ++i) out.loss += record.row(i).loss;
    out.loss /= static_cast<double>(made - from);
    out.skipped = record.row(made - 1).step - record.row(made - 1).updates;
    return out;
}

/// The operations of the step's forward pass whose types can be forced.
std::vector<OpPlace> places_of(const StepCapsule& capsule) {
    std::set<std::string> forceable;
    for (const OpSummary& op : ops()) {
        if (op.forceable) forceable.insert(op.name);
    }
    CapsuleStep step(capsule, fp32_settings(capsule.config));
    const auto trace =
        std::make_shared<OpTrace>(step.trainer().device(), step.trainer().accounting());
    step.trainer().attach(trace);
    step.run();
    std::vector<OpPlace> out;
    for (const XrayOp& op : trace->take()) {
        OpPlace place{op.module, op.op};
        const bool known = std::ranges::find(out, place) != out.end();
        if (op.pass == XrayPass::forward && forceable.contains(op.op) && !known)
            out.push_back(std::move(place));
    }
    return out;
}

/// AMP FP16, the preset of new settings, where types are forced; `scale` is the loss scale.
RunConfig forced_config(RunConfig config, const ForcedTypes& forced, double scale) {
    config.precision = {};
    config.precision.scaler = ScalerMode::constant;
    config.precision.force = forced;
    config.scaler.init_scale = scale;
    config.scaler.min_scale = config.scaler.max_scale = 0;
    return config;
}

/// The error under the first loss scale at which all gradients are finite: in training a dynamic
/// scale would come down to one. inf: no scale helps.
double error_under(const StepComparison& trial, const RunConfig& config,
                   const ForcedTypes& forced) {
    double error = std::numeric_limits<double>::infinity();
    for (const double scale : {65536.0, 1024.0, 16.0, 1.0}) {
        error = trial.gradient_error(forced_config(config, forced, scale));
        if (error < std::numeric_limits<double>::infinity()) break;
    }
    return error;
}

double tolerance_for(double amp_error) {
    constexpr double room = 1.25;
    const double usual = PrecisionSearchOptions::usual_tolerance;
    return std::isfinite(amp_error) ? std::max(usual, room * amp_error) : usual;
}

FoundPrecision search(const StepCapsule& capsule, const PrecisionSearchOptions& given) {
    const StepComparison trial(capsule);
    const double amp_error = error_under(trial, capsule.config, {});
    PrecisionSearchOptions options = given;
    if (!options.tolerance) options.tolerance = tolerance_for(amp_error);
    FoundPrecision found = minimal_precision(
        places_of(capsule), options,
        [&](const ForcedTypes& forced) { return error_under(trial, capsule.config, forced); });
    found.amp_error = amp_error;
    if (options.confirm_steps == 0) return found;
    RunConfig config = capsule.config;
    config.precision = {};
    config.precision.force = found.force;
    // Two trainings, one after the other.
    const std::int64_t all = 2 * options.confirm_steps;
    std::int64_t done = 0;
    const auto after_step = [&] {
        if (options.on_confirm && !options.on_confirm(++done, all))
            throw Error(ErrorCode::state, msg("The search for a precision was stopped."));
    };
    const ShortRun in_fp16 = short_run(config, options.confirm_steps, after_step);
    found.confirmed_steps = options.confirm_steps;
    found.loss = in_fp16.loss;
    found.skipped = in_fp16.skipped;
    const RunConfig fp32 = fp32_settings(capsule.config);
    found.fp32_loss = short_run(fp32, options.confirm_steps, after_step).loss;
    return found;
}

ordered_json force_object(const ForcedTypes& forced) {
    ordered_json out = ordered_json::object();
    for (const auto& [key, type] : forced) out[key] = word_of(type);
    return out;
}

std::string list_text(const std::vector<std::string>& keys) {
    std::string out;
    for (const auto& key : keys) out += "  " + key + "\n";
    return out;
}

}  // namespace

FoundPrecision search_precision(const CapturedStep& step, const PrecisionSearchOptions& options) {
    return search(step.capsule(), options);
}

std::string to_json(const FoundPrecision& found) {
    ordered_json trials = ordered_json::array();
    for (const auto& trial : found.trials) {
        trials.push_back(
            {{"fp32", trial.fp32}, {"error", json_number(trial.error)}, {"passed", trial.passed}});
    }
    ordered_json out;
    FieldWriter{out}("force", force_object(found.force), "fp32", found.fp32,
                     "operations", found.operations, "tolerance", found.tolerance,
                     "amp_error", found.amp_error, "error", found.error,
                     "trial_steps", found.trials.size(), "confirmed_steps", found.confirmed_steps,
                     "loss", found.loss, "fp32_loss", found.fp32_loss, "skipped", found.skipped,
                     "trials", trials);
    return dumped(out);
}

std::string text_of(const FoundPrecision& found) {
    const std::string count = std::to_string(found.fp32.size());
    std::string out =
        found.fp32.empty()
            ? "All " + std::to_string(found.operations) + " operations can run in FP16.\n"
            : count + " of " + std::to_string(found.operations) +
                  " operations must stay in FP32:\n" + list_text(found.fp32);
    out += "Error of the gradients: " + number_text("%.3g", found.error) + ", tolerance " +
           number_text("%.3g", found.tolerance) + ", " + std::to_string(found.trials.size()) +
           " trials. amp-fp16 by itself: " + number_text("%.3g", found.amp_error) + ".\n";
    if (found.confirmed_steps > 0) {
        out += "After " + std::to_string(found.confirmed_steps) + " steps of training: loss " +
               number_text("%.5g", found.loss) + ", in FP32 " +
               number_text("%.5g", found.fp32_loss) + ", " + std::to_string(found.skipped) +
               " skipped.\n";
    }
    out += "\"precision\": {\"preset\": \"amp-fp16\", \"force\": " +
           force_object(found.force).dump(2) + "}\n";
    return out;
}

}  // namespace engine
