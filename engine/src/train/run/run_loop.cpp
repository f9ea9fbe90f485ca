#include "train/run/run_loop.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <utility>

#include "data/dataset_descriptor.h"
#include "engine/base/error.h"
#include "kernels/parallel.h"
#include "parallel/rank_device.h"
#include "tasks/task_descriptor.h"
#include "train/run/run_needs.h"
#include "train/run/run_pictures.h"
#include "train/run/training_sampler.h"

namespace engine {
namespace {

using Clock = std::chrono::steady_clock;
constexpr std::chrono::seconds check_interval{1};

double seconds_since(Clock::time_point start) {
    return std::chrono::duration<double>(Clock::now() - start).count();
}

}  // namespace

RunLoop::RunLoop(const RunConfig& config, RunStore* store, const SessionOptions& options, Post post)
    : config_(config),
      store_(store),
      options_(options),
      post_(std::move(post)),
      ranks_(options.communicator.get()),
      alerts_(config_, post_) {}

std::int64_t RunLoop::steps_per_epoch(std::int64_t batches) const {
    return (batches + config_.accumulate - 1) / config_.accumulate;
}

LoaderOptions RunLoop::training_options() const {
    return {.sampler = sampler_, .threads = config_.threads};
}

/// A task of several phases needs its batches until the last one.
FeedDepth RunLoop::feed_depth() const {
    const bool holds = trainer_->task().phases().size() > 1;
    return {.per_step = config_.accumulate, .held = holds ? config_.accumulate : 1};
}

void RunLoop::prepare(const std::stop_token& stop) {
    const Device device = device_of_rank(config_.device, ranks_);
    check_precision_is_there(config_, device);
    data_ = opened_data(stop);
    if (ranks_) check_same_data();
    const Schema& fields = data_.train.data->schema();
    sampler_ = training_sampler(config_, data_.train, ranks_ ? ranks_->size() : 1);
    LoaderOptions options = training_options();
    const std::int64_t batches = make_sampler(data_.train, options.sampler)->batches_per_epoch();
    steps_planned_ = steps_per_epoch(batches) * config_.epochs;
    if (config_.max_steps > 0) steps_planned_ = std::min(steps_planned_, config_.max_steps);
    RunConfig of_model = config_;
    // A checkpoint has all weights: the file that they came from may be gone.
    if (options_.continuation && !options_.continuation->checkpoint.empty())
        of_model.model.init_from.clear();
    trainer_ =
        std::make_unique<Trainer>(of_model, device, fields, steps_planned_, options_.communicator);
    const Task& task = trainer_->task();
    check_best_is_there(config_, task);
    const DeviceScope scope(device);
    const AccountingScope accounting(trainer_->accounting());
    feed_ = make_feed(device, data_.train, task.schema(true), options, feed_depth());
    feed_->choose(options);
    cut_batches(options);
    loader_ = std::make_unique<BatchLoader>(data_.train, task.schema(true), options);
    evaluation_ = std::make_unique<RunEvaluation>(config_, *trainer_, data_);
    best_.emplace(task.metrics());
    rules_.emplace(config_, task.metrics());
    if (!options_.dump_gradients.empty() && !follows())
        trainer_->dump_next_gradients(options_.dump_gradients.string());
    open_run();
    if (!follows()) skipped_.emplace(folder_, data_.train, options.sampler, config_.accumulate);
    for (const auto* notes : {&data_.warnings, &data_notes_})
        for (const Message& warning : *notes) post_(RunWarning{run_, warning});
}

RunStarted RunLoop::started() const {
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
    event.folder = folder_.string();
    event.task = task_of(config_, data_.train.data->schema()).kind;
    event.unit = dataset_descriptor(config_.dataset.kind).unit;
    event.metrics = task.metrics();
    event.step_metrics = task.step_metrics();
    event.turns = options_.turns;
    event.first_step = trainer_->steps() + 1;
    event.steps_per_epoch = steps_per_epoch(loader_->batches_per_epoch());
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
    count_replaced();
}

/// Each rank counts those of its own rows, and sum_replaced() adds them up.
void RunLoop::count_replaced() {
    for (const Batch& batch : batches_) {
        replaced_here_ += std::ssize(batch.replaced);
        tell_replaced(batch.replaced, Damaged::replaced);
    }
}

/// Each picture once, and the first ten by name: a disk may fail.
void RunLoop::tell_replaced(const std::vector<ReplacedSample>& samples, Damaged how) {
    constexpr std::size_t max_named = 10;
    if (follows()) return;
    for (const ReplacedSample& sample : samples) {
        const std::string why = sample.why.str();
        if (told_damaged_.size() > max_named || !told_damaged_.insert(why).second) continue;
        Message text = how == Damaged::left_out
                           ? msg("A damaged sample is left out of the evaluation: {}", why)
                           : msg("A damaged sample is skipped, and the next one of the order "
                                 "takes its place: {}",
                                 why);
        if (told_damaged_.size() > max_named)
            text = msg("More than {} samples are damaged; the end of the run counts those of "
                       "training.",
                       max_named);
        post_(RunWarning{run_, std::move(text), trainer_->steps()});
    }
}

void RunLoop::train_step() {
    check_hold();
    if (checkpoints_ && checkpoints_->is_due(trainer_->steps(), progress_.epoch)) save_checkpoint();
    tell(Turn::step);
    last_start_ = next_start();
    const auto start = Clock::now();
    take_batches();
    const double data_s = seconds_since(start);
    trainer_->submit(batches_, *feed_);
    progress_.epoch_ended = batches_.back().last_of_epoch;
    if (progress_.epoch_ended) ++progress_.epoch;
    progress_.batch = progress_.epoch_ended ? 0 : batches_.back().index_in_epoch + 1;
    std::int64_t samples = 0;
    for (const auto& batch : batches_) samples += batch.samples;
    submitted_.push_back({last_start_,
                          {.epoch = progress_.epoch,
                           .samples = samples,
                           .data_s = data_s,
                           .step_s = seconds_since(start),
                           .elapsed_s = progress_.elapsed_s,
                           .clock_s = 0,
                           .peak_before = peak_before_}});
    pass_warnings_on();  // the step is already among the submitted ones if this throws
    // On the CPU this step; on a GPU the one before it, so that a turn takes as long as a step.
    const auto finished = trainer_->take(/*all=*/false);
    LoopFigures& figures = submitted_.back().figures;
    figures.step_s = seconds_since(start);
    figures.elapsed_s = progress_.elapsed_s += figures.step_s;
    figures.clock_s = clock_now();
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
        LoopFigures& figures = submitted_.front().figures;
        figures.step_s += waited;
        figures.elapsed_s = progress_.elapsed_s += waited;
        figures.clock_s = clock_now();
        finish_step(*finished);
    }
    write_pending();
    check_files();
}

/// Another program may have removed the run's folder or cut its record short.
void RunLoop::check_files() {
    checked_ = Clock::now();
    if (!run_.empty()) store_->check_folder(run_);
    if (writer_) writer_->check();
}

void RunLoop::check_hold() const {
    if (hold_) hold_->check();
}

/// The system's clock, which may be set back while a run is under way; that of its steps is not.
double RunLoop::clock_now() {
    using namespace std::chrono;
    const auto now = duration_cast<milliseconds>(system_clock::now().time_since_epoch());
    clock_s_ = std::max(clock_s_, static_cast<double>(now.count()) / 1e3);
    return clock_s_;
}

void RunLoop::finish_step(CompletedStep step) {
    check_hold();
    const InFlight submitted = submitted_.front();
    submitted_.pop_front();
    RowBuilder::complete(step.row, submitted.figures);
    progress_.add(step.sums, static_cast<double>(step.row.loss));
    last_row_ = step.row;
    keep_batch(submitted.start, step.row);
    pending_.push_back(step);
}

/// A full disk costs the list of samples, not the run.
void RunLoop::keep_batch(const StepStart& start, const StepRecord& row) {
    const bool is_finite = std::isfinite(row.loss) && std::isfinite(row.grad_norm);
    if (!skipped_ || (row.found_inf == 0 && is_finite)) return;
    try {
        skipped_->add(row.step, start.epoch, start.batch);
    } catch (const Error& error) {
        skipped_.reset();
        post_(RunWarning{run_, error.message(), row.step});
    }
}

void RunLoop::write_pending() {
    while (!pending_.empty()) {
        check_hold();
        if (writer_) writer_->append(pending_.front().row);
        const CompletedStep step = pending_.front();
        pending_.pop_front();
        if (!follows()) alerts_.see(run_, step);
    }
}

void RunLoop::pass_warnings_on() {
    for (const Message& message : trainer_->take_warnings())
        post_(RunWarning{run_, message, trainer_->steps()});
}

void RunLoop::begin_evaluation() {
    tell(Turn::begin_evaluation);
    settle();
    sum_replaced();
    evaluation_->begin();
}

bool RunLoop::evaluate_some() {
    check_hold();
    tell(Turn::evaluate);
    const bool more = evaluation_->advance();
    tell_replaced(evaluation_->take_replaced(), Damaged::left_out);
    pass_warnings_on();
    if (!more) finish_epoch();
    return more;
}

void RunLoop::finish_epoch() {
    // An epoch ends once: an evaluation later on belongs to none.
    const bool ended = std::exchange(progress_.epoch_ended, false);
    const PartFigures& validation = evaluation_->validation();
    const PartFigures& test = evaluation_->test();
    const PartFigures training =
        figures_of(trainer_->task(), progress_.sums, progress_.loss_sum / progress_.sums.weight);
    post_(EpochDone{run_, progress_.epoch, trainer_->steps(), training, validation, test,
                    progress_.elapsed_s - progress_.epoch_start_s, ended});
    keep_pictures();
    keep_new_hashes();
    const bool better = best_->see(validation, test, progress_.epoch, trainer_->steps()) &&
                        trainer_->task().has_best();
    progress_.evaluated = trainer_->steps();
    if (ended) end_epoch();
    if (checkpoints_) checkpoints_->evaluated(trainer_->steps());
    if (better && checkpoints_ && checkpoints_->wants_best()) checkpoints_->save_best(saved_run());
}

/// A full disk costs the pictures, not the run.
void RunLoop::keep_pictures() {
    if (follows()) return;
    try {
        engine::keep_pictures(folder_, trainer_->steps(), trainer_->take_pictures());
    } catch (const Error& error) {
        post_(RunWarning{run_, error.message(), trainer_->steps()});
    }
}

void RunLoop::end_epoch() {
    rules_->see(evaluation_->validation(), evaluation_->test(), progress_.epoch, trainer_->steps());
    trainer_->set_rate_multiplier(rules_->rate_multiplier());
    progress_.begin_epoch();
}

RunLoop::StepStart RunLoop::next_start() const {
    return {progress_.epoch, progress_.batch, rules_->rate_multiplier()};
}

StepCapsule RunLoop::capsule() {
    settle();
    return capsule_at(next_start(), gathered_state());
}

StepCapsule RunLoop::last_capsule() { return capsule_at(last_start_, trainer_->kept_state()); }

StepCapsule RunLoop::capsule_at(const StepStart& start, TrainingState before) const {
    const DeviceScope scope(trainer_->device());
    const AccountingScope accounting(trainer_->accounting());
    StepCapsule out{.config = config_,
                    .data = data_.train.data->schema(),
                    .before = std::move(before),
                    .batches = {},
                    .planned = steps_planned_,
                    .rate_multiplier = start.rate_multiplier};
    // This collator is one of its own: the loader may be far ahead, and leaves out fields that lie
    // on the device.
    Collator collator(data_.train, trainer_->task().schema(true), training_options());
    for (std::int64_t i = 0; i < config_.accumulate; ++i) {
        collator.make(out.batches.emplace_back(), start.epoch, start.batch + i);
        if (out.batches.back().last_of_epoch) break;
    }
    return out;
}

/// Figures of the complete run by its record; unknown if another program cut it short or removed
/// it.
KeyFigures RunLoop::figures() const {
    try {
        return key_figures(record(), {});
    } catch (const Error&) {
        return {};
    }
}

RunDone RunLoop::done(DoneReason reason) const {
    RunDone event{};
    event.run = run_;
    event.reason = reason;
    if (trainer_) {
        event.steps = trainer_->steps() - std::ssize(submitted_);  // those in flight are lost
        event.updates = trainer_->updates();
        event.skipped = event.steps - event.updates;
    }
    if (evaluation_) {
        event.test = evaluation_->test();
        event.validation = evaluation_->validation();
    }
    event.wall_s = progress_.elapsed_s;
    const KeyFigures whole = figures();
    event.samples_per_s = whole.samples_per_s;
    event.peak_bytes = whole.peak_bytes;
    if (event.peak_bytes == 0 && trainer_) event.peak_bytes = trainer_->accounting()->peak();
    event.diverged_at = alerts_.diverged_at();
    event.replaced_samples = progress_.replaced + replaced_here_;
    if (checkpoints_) event.unsaved = checkpoints_->unsaved();
    return event;
}

}  // namespace engine
