#include "instruments/shadow_pass.h"

#include <memory>
#include <utility>

#include "engine/microscope.h"
#include "instruments/histogram_sampler.h"
#include "instruments/run_replay.h"

namespace engine {

RunConfig shadow_config(const RunConfig& config) {
    RunConfig out = config;
    out.precision = {};
    out.precision.preset = "fp32";
    return out;
}

HistogramSample shadow_pass(const StepCapsule& capsule) {
    CapsuleStep step(capsule, shadow_config(capsule.config));
    const auto sampler = std::make_shared<HistogramSampler>(0);
    sampler->request();
    step.trainer().attach(sampler);
    step.run();
    HistogramSample sample = *sampler->take();
    sample.shadow = true;
    return sample;
}

HistogramSample shadow_histograms(const std::filesystem::path& run_folder, std::int64_t step) {
    return shadow_pass(capsule_before(run_folder, step));
}

}  // namespace engine
