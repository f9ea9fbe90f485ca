#include "session/kept_histograms.h"

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

KeptHistograms::KeptHistograms(Trainer& trainer, HistogramInterval every,
                               std::int64_t planned_steps, const std::filesystem::path& run_folder)
    : trainer_(trainer),
      sampler_(
          std::make_shared<HistogramSampler>(make_sample_plan(every, planned_steps, run_folder))),
      writer_(run_folder) {
    trainer_.attach(sampler_);
}

std::optional<Message> KeptHistograms::keep() {
    const auto sample = sampler_->take();
    if (!sample) return std::nullopt;
    try {
        writer_.append(*sample);
    } catch (const Error& error) {
        trainer_.detach(*sampler_);
        return msg("The run keeps no further histograms: {}", error.message().str());
    }
    return std::nullopt;
}

}  // namespace engine
