#pragma once

#include <memory>

#include "engine/settings/run_config.h"
#include "instruments/histograms/histogram_sampler.h"
#include "record/histogram_file.h"
#include "train/run/run_loop.h"

namespace engine {

/// Takes histograms of a run's steps and keeps them in its folder. On the compute thread.
class KeptHistograms final : public RunListener {
public:
    /// Histograms that the run's folder holds count as kept.
    KeptHistograms(RunLoop& loop, HistogramInterval every, PostEvent post);

    /// The next step is counted too.
    void request() { sampler_->request(); }
    /// Writes the histograms of the step just computed, if it was counted. If they cannot be
    /// written, the run goes on without any.
    void after_step() override;

private:
    RunLoop& loop_;
    PostEvent post_;
    std::shared_ptr<HistogramSampler> sampler_;
    HistogramWriter writer_;
};

}  // namespace engine
