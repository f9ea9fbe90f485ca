#include "train/run_loop.h"

#include <chrono>
#include <cmath>
#include <limits>
#include <utility>

#include "core/resolve_device.h"
#include "engine/error.h"
#include "engine/speed.h"
#include "kernels/parallel.h"
#include "train/run_needs.h"

namespace engine {
namespace {

using Clock = std::chrono::steady_clock;
constexpr double none = std::numeric_limits<double>::quiet_NaN();
constexpr std::int64_t test_batch_size = 256;
constexpr std::chrono::seconds check_interval{1};

/// What to try after a run of this precision diverged.
Message divergence_hint(const PrecisionConfig& config) {
    const ResolvedPrecision precision = resolve(config);
    if (precision.scaler == "static") {
        return msg(
            "Lower optimizer.lr or scaler.init_scale, or use a dynamic scaler, which skips "
            "the steps whose gradients overflow.");
    }
    if (precision.weights == "fp16" && !precision.master_weights) {
        return msg(
            "Train in amp-fp16, which keeps the weights and delicate operations in fp32, or "
            "lower optimizer.lr.");
    }
    return msg("Lower optimizer.lr, or clip the gradients with clip.kind norm.");
}

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

LoaderOptions RunLoop::training_options() const {
    return {.batch_size = config_.batch_size,
            .seed = config_.seed,
            .augment = config_.dataset.augment,
            .normalize = config_.dataset.normalize,
            .order = config_.dataset.order};
}

LoaderOptions RunLoop::test_options() const {
    return {.batch_size = test_batch_size,
            .seed = config_.seed,
            .shuffle = false,
            .normalize = config_.dataset.normalize,
            .epochs = 1,
            .indices_only = test_feed_ && test_feed_->indices_only()};
}

void RunLoop::prepare(const std::stop_token& stop) {
    const Device device = resolve_device(config_.device);
    check_precision_is_there(config_, device);
    data_ = open_dataset(config_.dataset, config_.seed, stop);
    LoaderOptions options = training_options();
    BatchMaker counted(data_.train, options);
    const std::int64_t per_epoch =
        (counted.batches_per_epoch() + config_.accumulate - 1) / config_.accumulate;
    steps_planned_ = per_epoch * config_.epochs;
    if (config_.max_steps > 0) steps_planned_ = std::min(steps_planned_, config_.max_steps);
    trainer_ = std::make_unique<Trainer>(config_, device, data_.train->shape(),
                                         data_.train->classes(), steps_planned_);
    const DeviceScope scope(device);
    const BooksScope books(trainer_->books());
    feed_ = make_feed(device, data_.train, options, config_.accumulate);
    options.indices_only = feed_->indices_only();
    loader_ = std::make_unique<BatchLoader>(data_.train, options);
    if (!options_.dump_gradients.empty())
        trainer_->dump_next_gradients(options_.dump_gradients.string());
    const auto made = store_.create(config_, options_.folder);
    run_ = made.run;
    writer_.emplace(StepRecordWriter::create(made.folder));
    const std::int64_t threads =
        config_.threads > 0 ? config_.threads : kernels::cpu::hardware_threads();
    post_(RunStarted{run_, config_, to_string(device), threads, trainer_->model().parameter_count(),
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
    trainer_->submit(batches_, *feed_);
    epoch_ended_ = batches_.back().last_of_epoch;
    if (epoch_ended_) ++epoch_;
    std::int64_t samples = 0;
    for (const auto& batch : batches_) samples += batch.size();
    given_.push_back({.epoch = epoch_,
                      .samples = samples,
                      .data_s = data_s,
                      .step_s = seconds_since(start),
                      .elapsed_s = elapsed_s_});
    pass_warnings_on();  // with the step among those given, whatever becomes of the warnings
    // On the CPU this step; on a GPU the one before it, so that a turn takes as long as a step.
    const auto finished = trainer_->take(/*all=*/false);
    Given& given = given_.back();
    given.step_s = seconds_since(start);
    given.elapsed_s = elapsed_s_ += given.step_s;
    if (finished) finish_step(*finished);
    write_pending();
    if (Clock::now() - checked_ >= check_interval) check_files();
}

void RunLoop::settle() {
    if (!trainer_) return;
    auto start = Clock::now();
    while (const auto finished = trainer_->take(/*all=*/true)) {
        const double waited = seconds_since(start);
        start = Clock::now();
        given_.front().step_s += waited;
        given_.front().elapsed_s = elapsed_s_ += waited;
        finish_step(*finished);
    }
    write_pending();
    check_files();
}

/// Another program may have removed the run's folder or cut its record short.
void RunLoop::check_files() {
    checked_ = Clock::now();
    if (!run_.empty()) store_.check_folder(run_);
    if (writer_) writer_->check();
}

void RunLoop::finish_step(FinishedStep step) {
    const Given given = given_.front();
    given_.pop_front();
    StepRecord& row = step.row;
    const auto samples = static_cast<double>(given.samples);
    row.epoch = given.epoch;
    row.elapsed_s = given.elapsed_s;
    row.data_ms = static_cast<float>(given.data_s * 1e3);
    row.step_ms = static_cast<float>(given.step_s * 1e3);
    row.samples_per_s = static_cast<float>(samples / given.step_s);
    epoch_tally_.loss_sum += static_cast<double>(row.loss) * samples;
    epoch_tally_.correct += std::llround(static_cast<double>(row.accuracy) * samples);
    epoch_tally_.samples += given.samples;
    pending_.push_back(step);
}

void RunLoop::write_pending() {
    while (!pending_.empty()) {
        writer_->append(pending_.front().row);
        const FinishedStep step = pending_.front();
        pending_.pop_front();
        report(step);
    }
}

void RunLoop::report(const FinishedStep& step) {
    if (step.refused) throw *step.refused;
    if (const auto event = watch_.see(run_, step.row, step.next_loss_scale)) post_(*event);
    warn_once(step.row);
    warn_of_idle_epoch(step.row);
    check_divergence(step.row);
    check_scale(step);
}

void RunLoop::warn_of_idle_epoch(const StepRecord& row) {
    if (row.epoch == reported_epoch_) return;
    if (row.updates == updates_before_epoch_) {
        post_(RunWarning{
            run_,
            msg("No update was applied in epoch {}: all {} steps were skipped, the last one at a "
                "loss scale of {}. Lower scaler.init_scale, scaler.backoff_factor or the learning "
                "rate.",
                row.epoch, row.step - steps_before_epoch_, row.loss_scale),
            row.step});
    }
    reported_epoch_ = row.epoch;
    updates_before_epoch_ = row.updates;
    steps_before_epoch_ = row.step;
}

void RunLoop::check_divergence(const StepRecord& row) {
    last_step_ = row.step;
    non_finite_losses_ = std::isfinite(row.loss) ? 0 : non_finite_losses_ + 1;
    if (diverged_ || config_.stop_on_nan == 0 || non_finite_losses_ < config_.stop_on_nan) return;
    diverged_ = true;
    throw Error(ErrorCode::training,
                msg("The run diverged: the loss has not been finite for {} steps, up to step {}.",
                    non_finite_losses_, row.step),
                divergence_hint(config_.precision));
}

/// One bad batch at the very end is not yet a divergence.
std::int64_t RunLoop::diverged_at() const {
    return non_finite_losses_ > 1 ? last_step_ - non_finite_losses_ + 1 : 0;
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
    if (std::isnan(row.lost_update_share) || resolve(config_.precision).master_weights) return;
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

void RunLoop::pass_warnings_on() {
    for (const Message& message : trainer_->take_warnings())
        post_(RunWarning{run_, message, trainer_->steps()});
}

void RunLoop::check_scale(const FinishedStep& step) const {
    const StepRecord& row = step.row;
    if (row.found_inf == 0) return;
    if (step.next_loss_scale == 0) {
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
    settle();
    if (data_.test->size() == 0) return;
    if (!test_feed_) {
        const DeviceScope scope(trainer_->device());
        const BooksScope books(trainer_->books());
        test_feed_ = make_feed(trainer_->device(), data_.test, test_options());
    }
    test_loader_ = std::make_unique<BatchLoader>(data_.test, test_options());
}

bool RunLoop::evaluate_some() {
    if (test_loader_ && test_loader_->next(test_batch_)) {
        trainer_->evaluate(test_batch_, *test_feed_);
        pass_warnings_on();
        return true;
    }
    test_loader_.reset();
    const Tally tally = trainer_->take_evaluation();
    if (tally.samples > 0) {
        test_loss_ = tally.loss();
        test_accuracy_ = tally.accuracy();
    }
    finish_epoch();
    return false;
}

void RunLoop::finish_epoch() {
    const bool any = epoch_tally_.samples > 0;
    // An epoch ends once: an evaluation later on belongs to none.
    const bool ended = std::exchange(epoch_ended_, false);
    post_(EpochDone{run_, epoch_, trainer_->steps(), any ? epoch_tally_.loss() : none,
                    any ? epoch_tally_.accuracy() : none, test_loss_, test_accuracy_,
                    elapsed_s_ - epoch_start_s_, ended});
    if (!ended) return;
    epoch_tally_ = {};
    epoch_start_s_ = elapsed_s_;
}

/// NaN where the record cannot be read: another program cut it short or removed it.
double RunLoop::samples_per_s() const {
    try {
        return speeds({record()}).front().samples_per_s;
    } catch (const Error&) {
        return std::numeric_limits<double>::quiet_NaN();
    }
}

RunDone RunLoop::done(DoneReason reason) const {
    const std::int64_t in_flight = static_cast<std::int64_t>(given_.size());
    const std::int64_t steps = trainer_ ? trainer_->steps() - in_flight : 0;
    const std::int64_t updates = trainer_ ? trainer_->updates() : 0;
    return {run_,
            reason,
            steps,
            updates,
            steps - updates,
            test_loss_,
            test_accuracy_,
            elapsed_s_,
            samples_per_s(),
            trainer_ ? trainer_->books()->peak() : 0,
            diverged_at()};
}

}  // namespace engine
