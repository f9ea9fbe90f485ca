#pragma once

#include <functional>
#include <limits>

#include "instruments/skips/nonfinite_trace.h"
#include "train/run/step_capsule.h"

namespace engine {

/// The samples of a micro-batch and what they contribute to the first non-finite tensor.
struct SampleShares {
    std::vector<SampleShare> samples;  ///< largest share first
    Message note;                      ///< how they were found, or why they were not
};

struct SampleShareOptions {
    std::int64_t most = 256;  ///< samples computed alone
    /// Samples are computed alone only if that takes no longer, judging by the first one.
    double patience_s = std::numeric_limits<double>::infinity();
    /// Called after each sample; may throw to give up.
    std::function<void()> progress = [] {};
};

/// The share of each sample. If the rows of the tensor belong to samples, they are read directly.
/// Otherwise the step is computed once for each sample alone, with its gradient weighted as in the
/// whole batch; dropout masks and batch statistics then differ from those of the batch. `trace`: of
/// the whole step. Throws Error.
SampleShares sample_shares(const StepCapsule& capsule, const NonfiniteTrace& trace, double scale,
                           const SampleShareOptions& options = {});

}  // namespace engine
