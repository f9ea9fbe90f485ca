#pragma once

#include <vector>

#include "engine/instruments/skip_report.h"
#include "engine/record/step_record.h"
#include "engine/settings/run_config.h"
#include "instruments/skips/nonfinite_trace.h"

namespace engine {

/// Evidence from the replays of a step.
struct StepEvidence {
    const NonfiniteTrace& trace;  ///< of the step as it was
    double scale = 1;             ///< the loss scale; 1: none
    bool has_scaler = false;
    bool shadow_is_finite = true;  ///< loss and gradients of the shadow
    const std::vector<StepTrial>& ladder;
    /// The first tensor is 16 bits in the FP32 replay too, since the model casts by hand. So the
    /// replay does not have its true value.
    bool cast_by_hand = false;
    double largest_in_f32 = 0;  ///< BadTensor::largest_in_f32 of the first tensor
};

/// The six tests in their order; at most one of them is found.
std::vector<SkipTest> skip_tests(const StepEvidence& evidence);
/// The cause that the tests found; unknown: none.
SkipCause find_cause(const std::vector<SkipTest>& tests);
/// The remedy, in one sentence.
Message advice_for(SkipCause cause, const SkipReport& report);
/// The remedy for a step of a run, in the words of the error that ends such a run. The earlier
/// steps decide whether the learning rate is the cause; reads a bounded number of rows.
Message advice_in_run(const SkipReport& report, const RunConfig& config,
                      const StepRecordReader& record);

}  // namespace engine
