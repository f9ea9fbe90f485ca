#pragma once

#include <filesystem>
#include <memory>
#include <optional>

#include "engine/base/message.h"
#include "engine/settings/run_config.h"
#include "instruments/histograms/histogram_sampler.h"
#include "record/histogram_file.h"
#include "train/run/trainer.h"

namespace engine {

/// Takes histograms of a run's steps and keeps them in its folder. On the compute thread.
class KeptHistograms {
public:
    /// `planned_steps`: of the whole run. Histograms that the folder holds count as kept.
    KeptHistograms(Trainer& trainer, HistogramInterval every, std::int64_t planned_steps,
                   const std::filesystem::path& run_folder);

    /// The next step is counted too.
    void request() { sampler_->request(); }
    /// Writes the histograms of the step just computed, if it was counted. Returns a message for
    /// the user if they cannot be written: the run goes on without any.
    std::optional<Message> keep();

private:
    Trainer& trainer_;
    std::shared_ptr<HistogramSampler> sampler_;
    HistogramWriter writer_;
};

}  // namespace engine
