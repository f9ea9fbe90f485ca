#include "engine/train/learning_rate_finder.h"

#include <cmath>
#include <limits>

#include "data/dataset_descriptor.h"
#include "data/loader/batch_loader.h"
#include "tensor/device.h"
#include "train/bench/rate_suggestion.h"
#include "train/run/run_needs.h"
#include "train/run/trainer.h"
#include "train/run/training_sampler.h"

namespace engine {
namespace {

/// The steps of a training run without its record.
class RangeTest {
public:
    RangeTest(const RunConfig& config, const FindRateOptions& options)
        : config_(config),
          options_(options),
          device_(resolve_device(config.device)),
          scope_(device_),
          data_(open_dataset(config.dataset, config.seed)),
          trainer_(config, device_, data_.train.data->schema(), options.steps),
          accounting_(trainer_.accounting()) {
        const Schema& schema = trainer_.task().schema(true);
        LoaderOptions loading{.sampler = training_sampler(config, data_.train)};
        const bool holds = trainer_.task().phases().size() > 1;
        feed_ = make_feed(device_, data_.train, schema, loading,
                          {.per_step = config.accumulate, .held = holds ? config.accumulate : 1});
        feed_->choose(loading);
        loader_ = std::make_unique<BatchLoader>(data_.train, schema, loading);
        trainer_.set_schedule(ramp());
    }

    StepRecord step() {
        batches_.resize(static_cast<std::size_t>(config_.accumulate));
        std::size_t taken = 0;
        do {
            loader_->next(batches_[taken]);
        } while (!batches_[taken++].last_of_epoch && taken < batches_.size());
        batches_.resize(taken);
        return trainer_.step(batches_, *feed_).row;
    }

    std::vector<Message> warnings() {
        std::vector<Message> out = data_.warnings;
        for (Message& warning : trainer_.take_warnings()) out.push_back(std::move(warning));
        return out;
    }

private:
    /// Multiplies the rate after each update: rate i is lowest · (highest / lowest)^(i / (steps −
    /// 1)).
    kernels::LearningRateSchedule ramp() const {
        const double intervals = static_cast<double>(std::max<std::int64_t>(options_.steps - 1, 1));
        return {.base = options_.lowest,
                .kind = kernels::ScheduleKind::step,
                .planned = options_.steps,
                .gamma = std::pow(options_.highest / options_.lowest, 1 / intervals)};
    }

    const RunConfig& config_;
    const FindRateOptions& options_;
    Device device_;
    DeviceScope scope_;
    DataParts data_;
    Trainer trainer_;
    AccountingScope accounting_;
    std::unique_ptr<BatchFeed> feed_;
    std::unique_ptr<BatchLoader> loader_;
    std::vector<Batch> batches_;
};

}  // namespace

FoundRate find_learning_rate(const RunConfig& config, const FindRateOptions& options,
                             const FindRateProgress& progress) {
    check_precision_is_there(config, resolve_device(config.device));
    RangeTest test(config, options);
    FoundRate found;
    SmoothedLoss smoothed;
    double best = std::numeric_limits<double>::infinity();
    // A skipped step has the rate of the next one; a scale that never settles must end, too.
    const std::int64_t max_steps = 3 * options.steps;
    for (std::int64_t i = 0; i < max_steps && std::ssize(found.points) < options.steps; ++i) {
        const StepRecord row = test.step();
        const double loss = row.loss;
        if (!std::isfinite(loss)) break;
        if (row.found_inf != 0) continue;
        const RatePoint point{row.lr, loss, smoothed.add(loss)};
        found.points.push_back(point);
        best = std::min(best, point.smoothed);
        if (progress && !progress(point)) break;
        if (point.smoothed > options.diverged * best) break;
    }
    const auto usable = usable_points(found.points, options.steps);
    found.steepest = steepest_rate(usable);
    found.valley = valley_rate(usable);
    found.warnings = test.warnings();
    return found;
}

}  // namespace engine
