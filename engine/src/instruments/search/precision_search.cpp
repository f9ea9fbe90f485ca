#include "engine/instruments/precision_search.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <set>

#include "engine/base/error.h"
#include "engine/settings/catalog.h"
#include "instruments/replay/first_step.h"
#include "instruments/replay/run_replay.h"
#include "instruments/replay/trial_step.h"
#include "instruments/search/minimal_precision.h"
#include "instruments/search/short_run.h"
#include "instruments/xray/op_trace.h"

namespace engine {
namespace {

/// The operations of the step's forward pass whose types can be forced.
std::vector<OpPlace> places_of(const StepCapsule& capsule) {
    std::set<std::string> forceable;
    for (const OpSummary& op : ops()) {
        if (op.forceable) forceable.insert(op.name);
    }
    CapsuleStep step(capsule, in_fp32(capsule.config));
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

/// FP16 as in amp-fp16, where types are forced; `scale` is the loss scale.
RunConfig forced_config(RunConfig config, const ForcedTypes& forced, double scale) {
    config.precision = {};
    config.precision.preset = "amp-fp16";
    config.precision.scaler = ScalerMode::constant;
    config.precision.force = forced;
    config.scaler.init_scale = scale;
    config.scaler.min_scale = config.scaler.max_scale = 0;
    return config;
}

/// The error under the first loss scale at which all gradients are finite: in training a dynamic
/// scale would come down to one. inf: no scale helps.
double error_under(const TrialStep& trial, const RunConfig& config, const ForcedTypes& forced) {
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
    const TrialStep trial(capsule);
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
    config.precision.preset = "amp-fp16";
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
    found.fp32_loss = short_run(in_fp32(capsule.config), options.confirm_steps, after_step).loss;
    return found;
}

}  // namespace

FoundPrecision search_precision(const RunConfig& config, const PrecisionSearchOptions& options) {
    return search(first_step(config), options);
}

FoundPrecision search_precision(const std::filesystem::path& run_folder, std::int64_t step,
                                const PrecisionSearchOptions& options) {
    return search(capsule_before(run_folder, step), options);
}

FoundPrecision search_precision(const CapturedStep& step, const PrecisionSearchOptions& options) {
    return search(step.capsule(), options);
}

}  // namespace engine
