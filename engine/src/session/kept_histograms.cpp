#include "session/kept_histograms.h"

#include "engine/error.h"

namespace engine {

KeptHistograms::KeptHistograms(Trainer& trainer, std::int64_t every,
                               const std::filesystem::path& run_folder)
    : trainer_(trainer), sampler_(std::make_shared<HistogramSampler>(every)), writer_(run_folder) {
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
