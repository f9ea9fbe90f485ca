#include "session/kept_histograms.h"

#include <utility>

#include "engine/base/error.h"

namespace engine {

namespace {

/// Damaged files count as none: HistogramWriter reports them.
std::int64_t kept_in(const std::filesystem::path& run_folder) {
    if (!HistogramRecordReader::exists(run_folder)) return 0;
    try {
        const auto reader = HistogramRecordReader::open(run_folder);
        return static_cast<std::int64_t>(reader.samples().size());
    } catch (const Error&) {
        return 0;
    }
}

SamplePlan make_sample_plan(HistogramInterval every, std::int64_t planned_steps,
                            const std::filesystem::path& run_folder) {
    if (!every.automatic) return every.steps;
    return SamplePlan::automatic(planned_steps, kept_in(run_folder));
}

}  // namespace

KeptHistograms::KeptHistograms(RunLoop& loop, HistogramInterval every, PostEvent post)
    : loop_(loop),
      post_(std::move(post)),
      sampler_(std::make_shared<HistogramSampler>(
          make_sample_plan(every, loop.steps_planned(), loop.folder()))),
      writer_(loop.folder()) {
    loop.trainer().attach(sampler_);
}

void KeptHistograms::after_step() {
    const auto sample = sampler_->take();
    if (!sample) return;
    try {
        writer_.append(*sample);
    } catch (const Error& error) {
        loop_.trainer().detach(*sampler_);
        post_(RunWarning{loop_.run(),
                         msg("The run keeps no further histograms: {}", error.message().str())});
    }
}

}  // namespace engine
