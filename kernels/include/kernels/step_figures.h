#pragma once

#include <cmath>

#include "kernels/array.h"
#include "kernels/host_device.h"
#include "kernels/kernel.h"
#include "kernels/multi_tensor.h"
#include "kernels/multi_tensor_update.h"
#include "kernels/refusal.h"

namespace kernels {

/// Loss and accuracy of the batches since it was zeroed. On the device.
struct BatchTally {
    double loss_sum;  ///< over samples
    std::int64_t correct;
    std::int64_t samples;
};

/// *tally += one batch: rows * loss[0], the rows whose first largest logit (NaN counts as largest)
/// is that of their label, rows. loss one number of any floating dtype; logits (rows, cols) dense,
/// floating; labels (rows) i64.
using TallyBatch = void(BatchTally* tally, ConstArray loss, ConstArray logits, ConstArray labels,
                        std::int64_t rows, std::int64_t cols, Stream stream);
HALFTONE_KERNEL(TallyBatch, tally_batch);

/// What the host wants to know of a step; leaves the device in one copy.
struct StepFigures {
    BatchTally tally;
    Judgement judgement;
    UpdateCounts counts;
    std::int64_t updates;  ///< applied so far
    float loss_scale;      ///< used in this step
    float next_loss_scale;
    float lr;
    float scaled_f16_max;  ///< as AbsMax leaves it
    std::int32_t growth_tracker;
    RefusalNote refusal;  ///< of a value of this step; 0: none
};

/// Where the figures lie on the device; a null pointer leaves its field as it is.
struct StepSources {
    const BatchTally* tally = nullptr;
    const Judgement* judgement = nullptr;
    const UpdateCounts* counts = nullptr;
    const std::int64_t* updates = nullptr;
    const float* loss_scale = nullptr;
    const float* next_loss_scale = nullptr;
    const float* lr = nullptr;
    const float* scaled_f16_max = nullptr;
    const std::int32_t* growth_tracker = nullptr;
    RefusalNote* refusal = nullptr;  ///< the device's; left at 0 for the next step
};
/// Moves the refusal and copies each other given field into *figures.
using GatherStep = void(StepFigures* figures, const StepSources& sources, Stream stream);
HALFTONE_KERNEL(GatherStep, gather_step);

/// cosine: base / 2 * (1 + cos(pi * updates / planned)), down to 0 (Loshchilov & Hutter 2017, one
/// cycle); otherwise base throughout.
struct LearningRateSchedule {
    double base = 0;
    bool cosine = false;
    std::int64_t planned = 0;
};
HALFTONE_HOST_DEVICE inline double learning_rate(const LearningRateSchedule& schedule,
                                                 std::int64_t updates) {
    if (!schedule.cosine || schedule.planned <= 0) return schedule.base;
    const double part = static_cast<double>(updates) / static_cast<double>(schedule.planned);
    constexpr double pi = 3.141592653589793;
    return schedule.base * 0.5 * (1.0 + std::cos(pi * (part < 1.0 ? part : 1.0)));
}
/// *lr = learning_rate(schedule, *updates), rounded to f32: skipped steps do not advance it.
using SetLearningRate = void(float* lr, const std::int64_t* updates,
                             const LearningRateSchedule& schedule, Stream stream);
HALFTONE_KERNEL(SetLearningRate, set_learning_rate);

}  // namespace kernels
