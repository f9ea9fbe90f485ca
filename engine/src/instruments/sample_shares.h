#pragma once

#include "instruments/nonfinite_trace.h"
#include "train/step_capsule.h"

namespace engine {

/// The samples of a micro-batch and what they contribute to the first non-finite tensor.
struct SampleShares {
    std::vector<SampleShare> samples;  ///< largest share first
    Message note;                      ///< how they were found, or why they were not
};

/// Where each row of the tensor belongs to a sample, its rows are read; else the step is computed
/// once for each sample, alone, its gradient weighted as in the whole batch. Dropout masks are then
/// others, and batch norms have the statistics of the one sample. At most `most` samples are
/// computed so. `trace`: of the whole step. Throws Error.
SampleShares sample_shares(const StepCapsule& capsule, const NonfiniteTrace& trace, double scale,
                           std::int64_t most = 256);

}  // namespace engine
