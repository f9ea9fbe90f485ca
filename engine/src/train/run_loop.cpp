#include "train/run_loop.h"

#include <chrono>
#include <cmath>
#include <limits>

#include "engine/error.h"
#include "kernels/parallel.h"
#include "train/run_needs.h"

namespace engine {
namespace {

using Clock = std::chrono::steady_clock;
constexpr double none = std::numeric_limits<double>::quiet_NaN();
constexpr std::int64_t test_batch_size = 256;

double seconds_since(Clock::time_point start) {
    return std::chrono::duration<double>(Clock::now() - start).count();
}

}  // namespace

RunLoop::RunLoop(const RunConfig& config, RunStore& store, const SessionOptions& options, Post post)
    : config_(config),
      store_(store),
      options_(options),
      post_(std::move(post)),
      test_loss_(none),
      test_accuracy_(none) {}

void RunLoop::prepare() {
    const std::string device = resolve_device(config_.device);
    data_ = open_dataset(config_.dataset, config_.seed);
    loader_ = std::make_unique<BatchLoader>(data_.train,
                                            LoaderOptions{.batch_size = config_.batch_size,
                                                          .seed = config_.seed,
                                                          .augment = config_.dataset.augment,
                                                          .normalize = config_.dataset.normalize,
                                                          .order = config_.dataset.order});
    const std::int64_t per_epoch =
        (loader_->batches_per_epoch() + config_.accumulate - 1) / config_.accumulate;
    steps_planned_ = per_epoch * config_.epochs;
    if (config_.max_steps > 0) steps_planned_ = std::min(steps_planned_, config_.max_steps);
    trainer_ = std::make_unique<Trainer>(config_, data_.train->shape(), data_.train->classes(),
                                         steps_planned_);
    if (!options_.dump_gradients.empty())
        trainer_->dump_next_gradients(options_.dump_gradients.string());
    const auto made = store_.create(config_, options_.folder);
    run_ = made.run;
    writer_.emplace(StepRecordWriter::create(made.folder));
    const std::int64_t threads =
        config_.threads > 0 ? config_.threads : kernels::cpu::hardware_threads();
    post_(RunStarted{run_, config_, device, threads, trainer_->model().parameter_count(),
                     data_.train->size(), data_.test->size(), steps_planned_,
                     made.folder.string()});
}

StepRecordReader RunLoop::record() const {
    return writer_ ? writer_->reader() : StepRecordReader();
}

/// The micro-batches of one optimizer step; an epoch's last step may have fewer.
void RunLoop::take_batches() {
    batches_.resize(static_cast<std::size_t>(config_.accumulate));
    std::size_t taken = 0;
    do {
        loader_->next(batches_[taken]);
    } while (!batches_[taken++].last_of_epoch && taken < batches_.size());
    batches_.resize(taken);
}

void RunLoop::train_step() {
    const auto start = Clock::now();
    take_batches();
    const double data_s = seconds_since(start);
    StepRecord row = trainer_->step(batches_);
    epoch_ended_ = batches_.back().last_of_epoch;
    if (epoch_ended_) ++epoch_;
    const double step_s = seconds_since(start);
    elapsed_s_ += step_s;
    std::int64_t samples = 0;
    for (const auto& batch : batches_) samples += batch.size();
    row.epoch = epoch_;
    row.elapsed_s = elapsed_s_;
    row.data_ms = static_cast<float>(data_s * 1e3);
    row.step_ms = static_cast<float>(step_s * 1e3);
    row.samples_per_s = static_cast<float>(static_cast<double>(samples) / step_s);
    epoch_tally_.loss_sum += static_cast<double>(row.loss) * static_cast<double>(samples);
    epoch_tally_.correct +=
        std::llround(static_cast<double>(row.accuracy) * static_cast<double>(samples));
    epoch_tally_.samples += samples;
    pending_ = row;
    write_pending();
}

void RunLoop::write_pending() {
    if (!pending_) return;
    writer_->append(*pending_);
    const StepRecord row = *pending_;
    pending_.reset();
    report(row);
}

void RunLoop::report(const StepRecord& row) {
    const double next_scale = trainer_->next_loss_scale();
    if (const auto event = watch_.see(run_, row, next_scale)) post_(*event);
    warn_once(row);
    check_scale(row, next_scale);
}

void RunLoop::warn_once(const StepRecord& row) {
    if (!std::isfinite(row.loss) && !warned_loss_) {
        warned_loss_ = true;
        post_(
            RunWarning{run_,
                       msg("The loss is {} at step {}: a value of the forward pass is not finite.",
                           row.loss, row.step),
                       row.step});
    }
    if (std::isnan(row.lost_update_share)) return;
    constexpr double weight = 0.05;  // mean of about the last twenty steps
    lost_share_ += weight * (static_cast<double>(row.lost_update_share) - lost_share_);
    if (lost_share_ > 0.5 && !warned_lost_) {
        warned_lost_ = true;
        post_(RunWarning{run_,
                         msg("{} % of the weight updates vanish: they are smaller than half a unit "
                             "of the 16-bit weights. "
                             "Master weights in fp32 would keep them.",
                             std::lround(lost_share_ * 100)),
                         row.step});
    }
}

void RunLoop::check_scale(const StepRecord& row, double next_scale) const {
    if (row.found_inf == 0) return;
    if (next_scale == 0) {
        throw Error(
            ErrorCode::training,
            msg("The loss scale fell to 0 at step {}: every step overflows.", row.step),
            msg("Look for a NaN in the data or the forward pass, or lower the learning rate."));
    }
    if (config_.scaler.min_scale > 0 &&
        static_cast<double>(row.loss_scale) <= config_.scaler.min_scale) {
        throw Error(ErrorCode::training,
                    msg("The loss scale fell through its floor of {} at step {}: the gradients "
                        "overflow even there.",
                        config_.scaler.min_scale, row.step),
                    msg("Lower scaler.min_scale or the learning rate, or train in bf16."));
    }
}

void RunLoop::begin_evaluation() {
    test_tally_ = {};
    test_loader_ = data_.test->size() == 0
                       ? nullptr
                       : std::make_unique<BatchLoader>(
                             data_.test, LoaderOptions{.batch_size = test_batch_size,
                                                       .seed = config_.seed,
                                                       .shuffle = false,
                                                       .normalize = config_.dataset.normalize,
                                                       .epochs = 1});
}

bool RunLoop::evaluate_some() {
    if (test_loader_ && test_loader_->next(test_batch_)) {
        const Tally part = trainer_->evaluate(test_batch_);
        test_tally_.loss_sum += part.loss_sum;
        test_tally_.correct += part.correct;
        test_tally_.samples += part.samples;
        return true;
    }
    test_loader_.reset();
    if (test_tally_.samples > 0) {
        test_loss_ = test_tally_.loss();
        test_accuracy_ = test_tally_.accuracy();
    }
    finish_epoch();
    return false;
}

void RunLoop::finish_epoch() {
    const bool any = epoch_tally_.samples > 0;
    post_(EpochDone{run_, epoch_, trainer_->steps(), any ? epoch_tally_.loss() : none,
                    any ? epoch_tally_.accuracy() : none, test_loss_, test_accuracy_,
                    elapsed_s_ - epoch_start_s_});
    if (!epoch_ended_) return;
    epoch_tally_ = {};
    epoch_start_s_ = elapsed_s_;
}

RunDone RunLoop::done(DoneReason reason) const {
    const std::int64_t steps = trainer_ ? trainer_->steps() : 0;
    const std::int64_t updates = trainer_ ? trainer_->updates() : 0;
    const double samples = trainer_ ? static_cast<double>(trainer_->samples()) : 0;
    return {run_,
            reason,
            steps,
            updates,
            steps - updates,
            test_loss_,
            test_accuracy_,
            elapsed_s_,
            elapsed_s_ > 0 ? samples / elapsed_s_ : 0,
            trainer_ ? trainer_->books()->peak() : 0};
}

}  // namespace engine
