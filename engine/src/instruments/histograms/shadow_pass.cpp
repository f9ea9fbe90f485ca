#include "engine/instruments/microscope.h"

#include <memory>

#include "instruments/histograms/histogram_sampler.h"
#include "instruments/replay/run_replay.h"
#include "instruments/replay/step_variant.h"
#include "io/file/work_progress.h"

namespace engine {
namespace {

HistogramSample counted(const StepCapsule& capsule, const RunConfig& config,
                        const std::shared_ptr<CountedTensors>& kept = nullptr) {
    CapsuleStep step(capsule, config);
    const auto sampler = std::make_shared<HistogramSampler>(0);
    sampler->request();
    sampler->keep_tensors(kept);
    step.trainer().attach(sampler);
    poll_work();
    step.run();
    return *sampler->take();
}

/// Counts the step in FP32 on a copy, with the dropout masks and the carried state of the original.
HistogramSample shadow_pass(const StepCapsule& capsule) {
    HistogramSample sample = counted(capsule, fp32_settings(capsule.config));
    sample.shadow = true;
    return sample;
}

}  // namespace

HistogramSample shadow_histograms(const std::filesystem::path& run_folder, std::int64_t step) {
    return shadow_pass(capsule_before(run_folder, step));
}

HistogramSample shadow_histograms(const CapturedStep& step) { return shadow_pass(step.capsule()); }

HistogramSample step_histograms(const CapturedStep& step) {
    return counted(step.capsule(), step.config());
}

HistogramSample dump_histogram_tensors(const std::filesystem::path& run_folder, std::int64_t step,
                                       bool shadow, const std::filesystem::path& folder) {
    const StepCapsule capsule = capsule_before(run_folder, step);
    const auto tensors = std::make_shared<CountedTensors>();
    HistogramSample sample =
        counted(capsule, shadow ? fp32_settings(capsule.config) : capsule.config, tensors);
    sample.shadow = shadow;
    tensors->write(folder);
    return sample;
}

}  // namespace engine
