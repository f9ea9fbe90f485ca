#pragma once

#include "kernels/array.h"
#include "kernels/deferred_error.h"
#include "kernels/host_device.h"
#include "kernels/kernel.h"
#include "kernels/learning_rate.h"
#include "kernels/multi_tensor.h"
#include "kernels/multi_tensor_update.h"

namespace kernels {

/// Sums since they were zeroed, from which a task derives its loss and metrics. On the device.
struct MetricSums {
    static constexpr int value_count = 14;

    double loss;                 ///< of weight * mean loss of a batch
    double weight;               ///< what the losses are means over: samples, tokens
    double values[value_count];  ///< the task's own
};

/// sums->loss += weight * loss[0], sums->weight += weight. loss one number of any floating dtype.
using AddLoss = void(MetricSums* sums, ConstArray loss, double weight, Stream stream);
HALFTONE_KERNEL(AddLoss, add_loss);

/// *sum += weight * value[0], in double. value one number of any floating dtype.
using AddWeighted = void(double* sum, ConstArray value, double weight, Stream stream);
HALFTONE_KERNEL(AddWeighted, add_weighted);

/// *correct += the rows whose first largest logit (NaN counts as largest) is that of their label.
/// logits (rows, cols) dense, floating; labels (rows) i64.
using CountCorrect = void(double* correct, ConstArray logits, ConstArray labels, std::int64_t rows,
                          std::int64_t cols, Stream stream);
HALFTONE_KERNEL(CountCorrect, count_correct);

/// sums[0] += sum of (prediction - target)^2, sums[1] += sum of target, sums[2] += sum of target^2,
/// in double. prediction and target of equal size, floating; the order of summation is fixed.
using AddSquares = void(double* sums, ConstArray prediction, ConstArray target, Stream stream);
HALFTONE_KERNEL(AddSquares, add_squares);

/// Adds the gradient statistics of another optimizer to *to: counts and squares add up, maxima and
/// found_inf combine.
using MergeGradientStatistics = void(GradientStatistics* to, const GradientStatistics* from,
                                     Stream stream);
HALFTONE_KERNEL(MergeGradientStatistics, merge_gradient_statistics);

/// The most optimizers that one step can have.
inline constexpr int max_optimizers = 4;

/// The figures of a step; they leave the device together.
struct StepFigures {
    MetricSums sums;
    GradientStatistics gradient_statistics;
    UpdateCounts counts;
    std::int64_t updates;  ///< applied so far by the first optimizer
    std::int64_t further_updates[max_optimizers - 1];
    std::int64_t state_resets;  ///< streams whose carried state was not finite and was zeroed
    std::int64_t ended;         ///< steps that have ended so far, this one included
    float loss_scale;           ///< used in this step
    float next_loss_scale;
    float lr;
    float scaled_f16_max;  ///< as AbsMax leaves it
    std::int32_t growth_tracker;
    DeferredError deferred_error;  ///< of a value of this step; 0: none
};

/// Where the figures lie on the device; a null pointer leaves its field as it is. The end of a step
/// (step_ends.h) moves the deferred device error, and copies the other given fields.
struct StepSources {
    const MetricSums* sums = nullptr;
    const GradientStatistics* gradient_statistics = nullptr;
    const UpdateCounts* counts = nullptr;
    const std::int64_t* updates[max_optimizers] = {};
    const std::int64_t* state_resets = nullptr;
    const float* loss_scale = nullptr;
    const float* next_loss_scale = nullptr;
    const float* lr = nullptr;
    /// Largest magnitude of the gradients that gradient_statistics does not cover; with it the
    /// larger of both.
    const float* scaled_f16_max = nullptr;
    const std::int32_t* growth_tracker = nullptr;
    DeferredError* deferred_error = nullptr;  ///< the device's; left at 0 for the next step
};
/// *lr = learning_rate(schedule, *updates) * *multiplier, rounded to f32: skipped steps do not
/// advance it. multiplier may be null: 1.
using SetLearningRate = void(float* lr, const std::int64_t* updates, const double* multiplier,
                             const LearningRateSchedule& schedule, Stream stream);
HALFTONE_KERNEL(SetLearningRate, set_learning_rate);

}  // namespace kernels
