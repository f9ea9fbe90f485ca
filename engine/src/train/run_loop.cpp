#include "train/run_loop.h"

#include <chrono>
#include <cmath>
#include <limits>
#include <utility>

#include "core/resolve_device.h"
#include "data/dataset_descriptor.h"
#include "engine/error.h"
#include "engine/speed.h"
#include "kernels/parallel.h"
#include "tasks/task_descriptor.h"
#include "train/run_needs.h"

namespace engine {
namespace {

using Clock = std::chrono::steady_clock;
constexpr double none = std::numeric_limits<double>::quiet_NaN();
constexpr std::chrono::seconds check_interval{1};

/// What to try after a run of this precision diverged.
Message divergence_hint(const PrecisionConfig& config) {
    const ResolvedPrecision precision = resolve(config);
    if (precision.scaler == ScalerMode::constant) {
        return msg(
            "Lower optimizer.lr or scaler.init_scale, or use a dynamic scaler, which skips "
            "the steps whose gradients overflow.");
    }
    if (precision.weights == WeightFormat::fp16 && !precision.master_weights) {
        return msg(
            "Train in amp-fp16, which keeps the weights and delicate operations in fp32, or "
            "lower optimizer.lr.");
    }
    return msg("Lower optimizer.lr, or clip the gradients with clip.kind norm.");
}

/// Columns of the record that the task's metrics take beside accuracy.
std::size_t metric_column_count(const Task& task) {
    const auto metrics = task.step_metrics();
    return static_cast<std::size_t>(
        std::count_if(metrics.begin(), metrics.end(),
                      [](const Metric& metric) { return metric.key != "accuracy"; }));
}

double seconds_since(Clock::time_point start) {
    return std::chrono::duration<double>(Clock::now() - start).count();
}

}  // namespace

RunLoop::RunLoop(const RunConfig& config, RunStore& store, const SessionOptions& options, Post post)
    : config_(config), store_(store), options_(options), post_(std::move(post)) {}

LoaderOptions RunLoop::training_options() const {
    return {.sampler = {.batch_size = config_.batch_size,
                        .seed = config_.seed,
                        .order = config_.dataset.order,
                        .window = config_.bptt}};
}

LoaderOptions RunLoop::evaluation_options(const EvaluatedPart& part) const {
    std::int64_t rows = config_.evaluation_batch > 0 ? config_.evaluation_batch
                                                     : trainer_->task().evaluation_batch();
    // A stream needs two tokens, and a short text has fewer streams rather than no evaluation.
    if (part.part.data->is_stream()) rows = std::clamp<std::int64_t>(part.part.size() / 2, 1, rows);
    return {.sampler = {.batch_size = rows,
                        .seed = config_.seed,
                        .shuffle = false,
                        .window = config_.bptt},
            .epochs = 1,
            .indices_only = part.feed && part.feed->indices_only()};
}

/// A task of several phases needs its batches until the last one.
FeedDepth RunLoop::feed_depth() const {
    const bool holds = trainer_->task().phases().size() > 1;
    return {.per_step = config_.accumulate, .held = holds ? config_.accumulate : 1};
}

void RunLoop::prepare(const std::stop_token& stop) {
    const Device device = resolve_device(config_.device);
    check_precision_is_there(config_, device);
    data_ = open_dataset(config_.dataset, config_.seed, stop);
    const Schema& fields = data_.train.data->schema();
    LoaderOptions options = training_options();
    const std::int64_t batches = make_sampler(data_.train, options.sampler)->batches_per_epoch();
    const std::int64_t per_epoch = (batches + config_.accumulate - 1) / config_.accumulate;
    steps_planned_ = per_epoch * config_.epochs;
    if (config_.max_steps > 0) steps_planned_ = std::min(steps_planned_, config_.max_steps);
    trainer_ = std::make_unique<Trainer>(config_, device, fields, steps_planned_);
    const Task& task = trainer_->task();
    const DeviceScope scope(device);
    const BooksScope books(trainer_->books());
    feed_ = make_feed(device, data_.train, task.schema(true), options, feed_depth());
    options.indices_only = feed_->indices_only();
    loader_ = std::make_unique<BatchLoader>(data_.train, task.schema(true), options);
    validation_ = {data_.validation, unknown_figures(task.metrics())};
    test_ = {data_.test, unknown_figures(task.metrics())};
    if (!options_.dump_gradients.empty())
        trainer_->dump_next_gradients(options_.dump_gradients.string());
    const auto made = store_.create(config_, options_.folder);
    run_ = made.run;
    writer_.emplace(StepRecordWriter::create(made.folder, metric_column_count(task)));
    post_(started(made.folder));
    for (const Message& warning : data_.warnings) post_(RunWarning{run_, warning});
}

RunStarted RunLoop::started(const std::filesystem::path& folder) const {
    const Task& task = trainer_->task();
    RunStarted event;
    event.run = run_;
    event.config = config_;
    event.device = to_string(trainer_->device());
    event.threads = config_.threads > 0 ? config_.threads : kernels::cpu::hardware_threads();
    event.parameters = trainer_->model().parameter_count();
    event.train_samples = data_.train.size();
    event.test_samples = data_.test.size();
    event.validation_samples = data_.validation.size();
    event.steps_planned = steps_planned_;
    event.folder = folder.string();
    event.task = task_of(config_, data_.train.data->schema()).kind;
    event.unit = dataset_descriptor(config_.dataset.kind).unit;
    event.metrics = task.metrics();
    event.step_metrics = task.step_metrics();
    return event;
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
    for (const auto& batch : batches_) samples += batch.samples;
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
    epoch_loss_sum_ += static_cast<double>(row.loss) * step.sums.weight;
    epoch_sums_.weight += step.sums.weight;
    epoch_sums_.loss += step.sums.loss;
    for (int i = 0; i < MetricSums::value_count; ++i) epoch_sums_.values[i] += step.sums.values[i];
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
    warn_of_resets(step);
    if (const auto event = watch_.see(run_, step.row, step.next_loss_scale)) post_(*event);
    warn_once(step.row);
    warn_of_idle_epoch(step.row);
    check_divergence(step.row);
    check_scale(step);
}

void RunLoop::warn_of_idle_epoch(const StepRecord& row) {
    if (row.epoch == reported_epoch_) return;
    if (row.updates == updates_before_epoch_) {
        const std::int64_t steps = row.step - steps_before_epoch_;
        post_(RunWarning{
            run_,
            std::isfinite(row.loss)
                ? msg("No update was applied in epoch {}: all {} steps were skipped, the last one "
                      "at a loss scale of {}. Lower scaler.init_scale, scaler.backoff_factor or "
                      "the learning rate.",
                      row.epoch, steps, row.loss_scale)
                : msg("No update was applied in epoch {}: all {} steps were skipped, since the "
                      "loss itself was not finite, which no loss scale can mend. Bring the inputs "
                      "into a smaller range, or train in bf16 or fp32.",
                      row.epoch, steps),
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

/// The state of a recurrent model overflowed: it starts again from zero in those streams.
void RunLoop::warn_of_resets(const FinishedStep& step) {
    if (step.state_resets == 0 || std::exchange(warned_resets_, true)) return;
    post_(RunWarning{run_,
                     msg("The carried state was not finite in {} of the text's streams after step "
                         "{} and was reset to 0 there. Later resets are not reported.",
                         step.state_resets, step.row.step),
                     step.row.step});
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

PartFigures RunLoop::figures_of(const MetricSums& sums, double loss) const {
    const Task& task = trainer_->task();
    PartFigures figures = unknown_figures(task.metrics());
    if (sums.weight == 0) return figures;
    figures.loss = loss;
    std::vector<double> values(figures.metrics.size());
    task.derive(sums, values);
    for (std::size_t i = 0; i < values.size(); ++i) figures.metrics[i].value = values[i];
    return figures;
}

void RunLoop::begin_evaluation() {
    settle();
    to_evaluate_.clear();
    for (EvaluatedPart* part : {&test_, &validation_}) {
        if (part->part.size() > 0) to_evaluate_.push_back(part);
    }
    begin_part();
}

/// Makes the loader of the next part, and its feed the first time.
void RunLoop::begin_part() {
    if (to_evaluate_.empty()) return;
    EvaluatedPart& part = *to_evaluate_.back();
    const Schema& schema = trainer_->task().schema(false);
    if (!part.feed) {
        const DeviceScope scope(trainer_->device());
        const BooksScope books(trainer_->books());
        part.feed = make_feed(trainer_->device(), part.part, schema, evaluation_options(part));
    }
    part.loader = std::make_unique<BatchLoader>(part.part, schema, evaluation_options(part));
    trainer_->begin_evaluation();
}

bool RunLoop::evaluate_some() {
    if (to_evaluate_.empty()) {
        finish_epoch();
        return false;
    }
    EvaluatedPart& part = *to_evaluate_.back();
    if (part.loader->next(evaluated_batch_)) {
        trainer_->evaluate(evaluated_batch_, *part.feed);
        pass_warnings_on();
        return true;
    }
    part.loader.reset();
    const MetricSums sums = trainer_->take_evaluation();
    part.figures = figures_of(sums, sums.loss / sums.weight);
    to_evaluate_.pop_back();
    begin_part();
    if (!to_evaluate_.empty()) return true;
    finish_epoch();
    return false;
}

void RunLoop::finish_epoch() {
    // An epoch ends once: an evaluation later on belongs to none.
    const bool ended = std::exchange(epoch_ended_, false);
    post_(EpochDone{run_, epoch_, trainer_->steps(),
                    figures_of(epoch_sums_, epoch_loss_sum_ / epoch_sums_.weight),
                    validation_.figures, test_.figures, elapsed_s_ - epoch_start_s_, ended});
    if (!ended) return;
    epoch_sums_ = {};
    epoch_loss_sum_ = 0;
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
            test_.figures,
            elapsed_s_,
            samples_per_s(),
            trainer_ ? trainer_->books()->peak() : 0,
            diverged_at(),
            validation_.figures};
}

}  // namespace engine
