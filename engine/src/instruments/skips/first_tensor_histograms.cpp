#include "instruments/skips/first_tensor_histograms.h"

#include <algorithm>
#include <cmath>
#include <memory>

#include "instruments/histograms/exponent_counters.h"
#include "instruments/replay/step_trial.h"

namespace engine {
namespace {

std::optional<ExponentHistogram> histogram_of(const StepCapsule& capsule, const RunConfig& config,
                                              const std::string& key) {
    CapsuleStep step(capsule, config);
    const auto trace = std::make_shared<NonfiniteTrace>(key);
    step.trainer().attach(trace);
    step.run();
    if (!trace->kept().defined()) return std::nullopt;
    ExponentCounters counters{Device{}};
    counters.add(0, trace->kept());
    return counters.read(1).front();
}

}  // namespace

std::optional<TensorHistograms> first_tensor_histograms(const StepCapsule& capsule,
                                                        const NonfiniteTrace& trace,
                                                        const SkipReport& report) {
    const std::string key = trace.first_key();
    if (key.empty() || !report.first) return std::nullopt;
    TensorHistograms out;
    out.in_f32 = report.first->stage != SkipStage::backward || !(report.loss_scale > 1);
    out.scale = report.loss_scale;
    out.other_scale = out.in_f32                            ? 1
                      : std::isfinite(report.passing_scale) ? report.passing_scale
                                                            : std::max(1.0, out.scale / 2);
    const auto before = histogram_of(capsule, capsule.config, key);
    const StepCapsule other = with_scale(capsule, out.other_scale);
    const auto after =
        histogram_of(other, out.in_f32 ? fp32_config(other.config) : other.config, key);
    if (!before || !after) return std::nullopt;
    out.before = *before;
    out.after = *after;
    return out;
}

}  // namespace engine
