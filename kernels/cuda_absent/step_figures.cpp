#include "kernels/step_figures.h"

#include "cuda_absent/absent.h"

namespace kernels::cuda {

void tally_batch(BatchTally*, ConstArray, ConstArray, ConstArray, std::int64_t, std::int64_t,
                 Stream) {
    absent("tally_batch");
}

void gather_step(StepFigures*, const StepSources&, Stream) { absent("gather_step"); }

void set_learning_rate(float*, const std::int64_t*, const LearningRateSchedule&, Stream) {
    absent("set_learning_rate");
}

}  // namespace kernels::cuda
