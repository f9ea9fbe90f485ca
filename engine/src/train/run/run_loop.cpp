#include "train/run/run_loop.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "data/dataset_descriptor.h"
#include "engine/base/error.h"
#include "engine/record/figures.h"
#include "kernels/parallel.h"
#include "parallel/rank_device.h"
#include "runs/event_file.h"
#include "tasks/task_descriptor.h"
#include "train/run/live_board.h"
#include "train/run/run_alerts.h"
#include "train/run/run_checkpoints.h"
#include "train/run/run_needs.h"
#include "train/run/skipped_batches.h"
#include "train/run/training_sampler.h"
#include "train/step/make_optimizer.h"

namespace engine {
namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) {
    return std::chrono::duration<double>(Clock::now() - start).count();
}

}  // namespace

RunLoop::RunLoop(const RunConfig& config, RunStore* store, const SessionOptions& options,
                 PostEvent post)
    : config_(config),
      options_(options),
      post_([this, post = std::move(post)](Event event) {
          std::visit([this](auto& each) { each.run = run(); }, event);
          post(std::move(event));
      }),
      ranks_(options.communicator.get()),
      home_(config_, options_, data_.parts, store, post_) {}

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
    data_ = open_data(config_, options_, stop);
    const DataPart& train = data_.parts.train;
    if (ranks_) check_same_data(*ranks_, data_.parts, training_options());
    sampler_ = training_sampler(config_, train, ranks_ ? ranks_->size() : 1);
    LoaderOptions options = training_options();
    const std::int64_t batches = make_sampler(train, options.sampler)->batches_per_epoch();
    steps_planned_ = steps_per_epoch(batches) * config_.epochs;
    if (config_.max_steps > 0) steps_planned_ = std::min(steps_planned_, config_.max_steps);
    RunConfig of_model = config_;
    // A checkpoint has all weights: the file that they came from may be gone.
    if (options_.continuation && !options_.continuation->checkpoint.empty())
        of_model.model.init_from.clear();
    trainer_ = std::make_unique<Trainer>(of_model, device, train.data->schema(), steps_planned_,
                                         options_.communicator);
    const Task& task = trainer_->task();
    check_best_is_there(config_, task);
    const DeviceScope scope(device);
    const AccountingScope accounting(trainer_->accounting());
    feed_ = make_feed(device, train, task.schema(true), options, feed_depth());
    feed_->choose(options);
    if (ranks_) {
        options.rank = ranks_->rank();
        options.ranks = ranks_->size();
    }
    loader_ = std::make_unique<BatchLoader>(train, task.schema(true), options);
    evaluation_ = std::make_unique<RunEvaluation>(config_, *trainer_, data_.parts);
    if (!options_.dump_gradients.empty() && !follows())
        trainer_->dump_next_gradients(options_.dump_gradients.string());
    if (!follows()) add_listeners();
    if (options_.continuation)
        go_on(*options_.continuation);
    else
        begin_run();
    for (const auto* notes : {&data_.parts.warnings, &data_.notes})
        for (const Message& warning : *notes) post_(RunWarning{{}, warning});
}

/// In the order of their calls.
void RunLoop::add_listeners() {
    const auto add = [this](std::unique_ptr<RunListener> listener) {
        listen(*own_.emplace_back(std::move(listener)));
    };
    const Task& task = trainer_->task();
    const RunStore::NewRun& place = home_.place();
    add(std::make_unique<SkippedBatches>(place, data_.parts.train, sampler_, config_.accumulate,
                                         post_));
    add(std::make_unique<RunAlerts>(config_, post_));
    listen(home_);
    add(std::make_unique<EpochRules>(config_, task.metrics()));
    if (!options_.save_checkpoints) return;
    if (!config_.log.tensorboard.empty())
        add(std::make_unique<LiveBoard>(config_, home_, task.metrics(), task.step_metrics(), post_));
    CheckpointConfig checkpoint = config_.checkpoint;
    checkpoint.best = checkpoint.best && task.has_best();
    add(std::make_unique<RunCheckpoints>(checkpoint, place, task.metrics(), post_));
}

/// Calls all listeners, and grants what they ask for the rest of the run. Returns the checkpoints
/// that they ask for.
template <typename F>
RunRequest RunLoop::ask(const F& call) {
    RunRequest all;
    for (RunListener* const each : listeners_) {
        const RunRequest own = call(*each);
        all.save |= own.save;
        all.best |= own.best;
        stopped_ |= own.stop;
        rate_ = own.rate.value_or(rate_);
    }
    return all;
}

RunStarted RunLoop::started() const {
    const Task& task = trainer_->task();
    RunStarted event;
    event.run = run();
    event.config = config_;
    event.device = to_string(trainer_->device());
    event.threads = config_.threads > 0 ? config_.threads : kernels::cpu::hardware_threads();
    event.parameters = trainer_->model().parameter_count();
    event.train_samples = data_.parts.train.size();
    event.test_samples = data_.parts.test.size();
    event.validation_samples = data_.parts.validation.size();
    event.steps_planned = steps_planned_;
    event.folder = folder().string();
    event.task = task_of(config_, data_.parts.train.data->schema()).kind;
    event.unit = dataset_descriptor(config_.dataset.kind).unit;
    event.metrics = task.metrics();
    event.step_metrics = task.step_metrics();
    event.turns = options_.turns;
    event.first_step = trainer_->steps() + 1;
    event.steps_per_epoch = steps_per_epoch(loader_->batches_per_epoch());
    return event;
}

record_layout::OptionalColumns RunLoop::start_meter() {
    meter_ = std::make_unique<MachineMeter>(trainer_->device());
    return {
        .exchange = ranks_ != nullptr, .card = meter_->has_card(), .cpu_meter = meter_->has_cpu()};
}

void RunLoop::begin_run() {
    if (follows()) return;
    home_.create(metric_column_count(trainer_->task()), start_meter());
    post_(started());
}

void RunLoop::go_on(const Continuation& from) {
    std::optional<SavedRun> saved;
    const RunStarted before = last_start(from.run_folder).value_or(RunStarted{});
    std::vector<Message> restored{from.in_place
                                      ? msg("Nothing: the run has no checkpoint and starts again.")
                                      : msg("Nothing: the run begins anew from the start.")};
    if (!from.checkpoint.empty()) {
        saved = read_saved_run(from.checkpoint);
        restored = restored_parts(*saved, config_);
        load(*saved);
        lengthen_schedule(*saved, before, restored);
    }
    const std::int64_t threads = started().threads;
    if (before.threads > 0 && before.threads != threads)
        restored.push_back(
            msg("Threads: {} instead of {}. Sums are added in another order, so the bits are not "
                "those of a run that was never stopped.",
                threads, before.threads));
    if (follows()) return;
    const std::int64_t step = trainer_->steps();
    const std::size_t columns = metric_column_count(trainer_->task());
    const bool in_place = goes_on_in_place(from);
    const record_layout::OptionalColumns optional = start_meter();
    std::string parent;
    if (in_place) {
        home_.reopen(from, step, columns);
    } else {
        home_.create(columns, optional);
        parent = EventFile(from.run_folder).run();
    }
    post_(started());
    if (!parent.empty()) home_.copy_parent(from.run_folder, step, progress_.epoch_ended);
    clock_s_ = home_.recorded_clock();
    meter_->go_on_from(home_.last_row());
    post_(RunResumed{{}, step, step - trainer_->updates(), parent, std::move(restored)});
    // A new run has a checkpoint of its own to go on from.
    if (!in_place && saved && options_.save_checkpoints) save(/*best=*/false);
}

/// False if the run goes on as a new one, as it must with another number of samples. Throws
/// Error(data) within an epoch, whose batches would be different.
bool RunLoop::goes_on_in_place(const Continuation& from) const {
    if (data_.same_size) return from.in_place;
    if (progress_.batch > 0) {
        throw Error(ErrorCode::data,
                    msg("The data set has another number of samples, and the checkpoint of step {} "
                        "lies within an epoch.",
                        trainer_->steps()),
                    msg("Resume from a checkpoint at the end of an epoch (--from), or train a new "
                        "run."));
    }
    return false;
}

void RunLoop::load(const SavedRun& saved) {
    trainer_->load_state(saved.training, change_of(saved.config, config_));
    load_state(progress_, saved.progress);
    ask([&](RunListener& each) { return each.load_state(saved); });
    set_rate();
    evaluation_->load_figures(saved.validation, saved.test);
    check_place();
    plan_rest();
    loader_->seek(progress_.epoch, progress_.batch);
}

/// Throws Error(data) if the data set has no such batch: the file was changed, or the data.
void RunLoop::check_place() const {
    const std::int64_t batches = loader_->batches_per_epoch();
    const bool counts = trainer_->steps() >= 0 && trainer_->updates() >= 0;
    const bool epoch = progress_.epoch >= 0 && progress_.epoch <= trainer_->steps();
    if (counts && epoch && progress_.batch >= 0 && progress_.batch < batches) return;
    throw Error(
        ErrorCode::data,
        msg("The checkpoint of step {} has an impossible place in the data: epoch {}, batch "
            "{}; an epoch has {} batches.",
            trainer_->steps(), progress_.epoch, progress_.batch, batches),
        msg("Resume from an earlier checkpoint of the run (--from)."));
}

/// Plans the steps that are left; earlier epochs may have had another number of steps each.
void RunLoop::plan_rest() {
    const std::int64_t accumulate = config_.accumulate;
    const std::int64_t per_epoch = steps_per_epoch(loader_->batches_per_epoch());
    const std::int64_t epochs = std::max<std::int64_t>(config_.epochs - progress_.epoch, 0);
    const std::int64_t made = epochs > 0 ? progress_.batch / accumulate : 0;
    std::int64_t planned = trainer_->steps() + per_epoch * epochs - made;
    if (config_.max_steps > 0) planned = std::min(planned, config_.max_steps);
    if (planned == steps_planned_) return;
    steps_planned_ = planned;
    trainer_->set_schedule(make_schedule(config_, planned));
}

/// Carries the schedule over to the steps that the run gets.
void RunLoop::lengthen_schedule(const SavedRun& saved, const RunStarted& before,
                                std::vector<Message>& restored) {
    const ScheduleConfig given = config_.schedule;
    const LongerRun run{before.steps_planned, trainer_->steps(), trainer_->updates()};
    engine::lengthen_schedule(config_, saved.config, run, steps_planned_,
                              options_.continuation->schedule, restored);
    if (!(config_.schedule == given))
        trainer_->set_schedule(make_schedule(config_, steps_planned_));
}

/// The other ranks have no listeners.
void RunLoop::set_rate() {
    share(rate_);
    trainer_->set_rate_multiplier(rate_);
}

/// The micro-batches of one optimizer step; an epoch's last step may have fewer.
void RunLoop::take_batches() {
    batches_.resize(static_cast<std::size_t>(config_.accumulate));
    std::size_t taken = 0;
    do {
        loader_->next(batches_[taken]);
    } while (!batches_[taken++].last_of_epoch && taken < batches_.size());
    batches_.resize(taken);
    // Each rank counts those of its own rows, and sum_replaced() adds them up.
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
        post_(RunWarning{{}, std::move(text), trainer_->steps()});
    }
}

/// Each rank decodes its own rows alone, and a count that nobody reads before the next checkpoint
/// or the end is not worth an exchange a step. All ranks call it, with no step in flight.
void RunLoop::sum_replaced() {
    if (!data_.parts.train.data->skips_damaged()) return;
    std::int64_t count = std::exchange(replaced_here_, 0);
    if (ranks_) ranks_->sum({&count, kernels::DType::i64, 1});
    progress_.replaced += count;
}

void RunLoop::train_step() {
    if (!in_step_) submit();
    write_pending();
    home_.check_files(/*now=*/false);
    for (RunListener* const each : listeners_) each->after_step();
    in_step_ = false;
}

void RunLoop::submit() {
    home_.check_hold();
    const auto before = [&](RunListener& each) {
        return each.before_step(trainer_->steps(), progress_.epoch);
    };
    if (ask(before).save) save_checkpoint();
    tell(Order::step);
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
    submitted_.push_back({.start = last_start_,
                          .epoch = progress_.epoch,
                          .samples = samples,
                          .data_s = data_s,
                          .step_s = seconds_since(start),
                          .elapsed_s = progress_.elapsed_s,
                          .clock_s = 0,
                          .peak_before = home_.recorded_peak()});
    in_step_ = true;
    pass_warnings_on();  // the step is already among the submitted ones if this throws
    // On the CPU this step; on a GPU the one before it, so that a turn takes as long as a step.
    const auto finished = trainer_->take(/*all=*/false);
    LoopFigures& figures = submitted_.back();
    figures.step_s = seconds_since(start);
    figures.elapsed_s = progress_.elapsed_s += figures.step_s;
    figures.clock_s = clock_now();
    if (meter_) figures.machine = meter_->figures(figures.elapsed_s);
    if (finished) finish_step(*finished);
}

void RunLoop::settle() {
    if (!trainer_) return;
    auto start = Clock::now();
    while (const auto finished = trainer_->take(/*all=*/true)) {
        const double waited = seconds_since(start);
        start = Clock::now();
        LoopFigures& figures = submitted_.front();
        figures.step_s += waited;
        figures.elapsed_s = progress_.elapsed_s += waited;
        figures.clock_s = clock_now();
        if (meter_) figures.machine = meter_->figures(figures.elapsed_s);
        finish_step(*finished);
    }
    write_pending();
    home_.check_files(/*now=*/true);
}

/// The system's clock, which may be set back while a run is under way; that of its steps is not.
double RunLoop::clock_now() {
    using namespace std::chrono;
    const auto now = duration_cast<milliseconds>(system_clock::now().time_since_epoch());
    clock_s_ = std::max(clock_s_, static_cast<double>(now.count()) / 1e3);
    return clock_s_;
}

void RunLoop::finish_step(CompletedStep step) {
    home_.check_hold();
    RowBuilder::complete(step, submitted_.front());
    submitted_.pop_front();
    progress_.add(step.sums, static_cast<double>(step.row.loss));
    last_row_ = step.row;
    pending_.push_back(std::move(step));
}

void RunLoop::write_pending() {
    while (!pending_.empty()) {
        home_.check_hold();
        home_.append(pending_.front().row);
        const CompletedStep written = std::move(pending_.front());
        pending_.pop_front();
        for (RunListener* const each : listeners_) each->on_step(written);
    }
}

void RunLoop::pass_warnings_on() {
    for (const Message& message : trainer_->take_warnings())
        post_(RunWarning{{}, message, trainer_->steps()});
}

void RunLoop::begin_evaluation() {
    tell(Order::begin_evaluation);
    settle();
    sum_replaced();
    evaluation_->begin();
}

bool RunLoop::evaluate_some() {
    home_.check_hold();
    tell(Order::evaluate);
    const bool more = evaluation_->advance();
    tell_replaced(evaluation_->take_replaced(), Damaged::left_out);
    pass_warnings_on();
    if (!more) finish_evaluation();
    return more;
}

void RunLoop::finish_evaluation() {
    // An epoch ends once: an evaluation later on belongs to none.
    const bool ended = std::exchange(progress_.epoch_ended, false);
    Evaluated evaluated{evaluation_->validation(), evaluation_->test(), progress_.epoch,
                        trainer_->steps()};
    if (!follows()) evaluated.pictures = trainer_->take_pictures();
    const PartFigures training =
        figures_of(trainer_->task(), progress_.sums, progress_.loss_sum / progress_.sums.weight);
    evaluated.training = training;
    evaluated.epoch_ended = ended;
    post_(EpochDone{{}, progress_.epoch, trainer_->steps(), training,
                    evaluated.validation, evaluated.test,
                    progress_.elapsed_s - progress_.epoch_start_s, ended});
    const RunRequest request =
        ask([&](RunListener& each) { return each.on_evaluation(evaluated); });
    progress_.evaluated = evaluated.step;
    if (ended) {
        ask([&](RunListener& each) { return each.on_epoch(evaluated); });
        set_rate();
        progress_.begin_epoch();
    }
    if (request.best) save(/*best=*/true);
}

StepCapsule RunLoop::capsule() {
    settle();
    return capsule_at(next_start(), gathered_state());
}

StepCapsule RunLoop::last_capsule() { return capsule_at(last_start_, trainer_->kept_state()); }

StepCapsule RunLoop::capsule_at(const StepStart& start, TrainingState before) const {
    const DeviceScope scope(trainer_->device());
    const AccountingScope accounting(trainer_->accounting());
    const DataPart& train = data_.parts.train;
    StepCapsule out{.config = config_,
                    .data = train.data->schema(),
                    .before = std::move(before),
                    .batches = {},
                    .planned = steps_planned_,
                    .rate_multiplier = start.rate_multiplier};
    // This collator is one of its own: the loader may be far ahead, and leaves out fields that lie
    // on the device.
    Collator collator(train, trainer_->task().schema(true), training_options());
    for (std::int64_t i = 0; i < config_.accumulate; ++i) {
        collator.make(out.batches.emplace_back(), start.epoch, start.batch + i);
        if (out.batches.back().last_of_epoch) break;
    }
    return out;
}

/// Gathers the state of all ranks.
TrainingState RunLoop::gathered_state() {
    tell(Order::save);
    sum_replaced();
    return trainer_->saved_state();
}

SavedRun RunLoop::saved_run() {
    SavedRun out;
    out.run = run();
    out.config = config_;
    out.training = gathered_state();
    out.progress = saved_state(progress_);  // which the gathering brings up to date
    out.validation = evaluation_->validation();
    out.test = evaluation_->test();
    for (const RunListener* const each : listeners_) each->save_state(out);
    return out;
}

void RunLoop::save(bool best) {
    SavedRun saved = saved_run();
    saved.is_best = best;
    for (RunListener* const each : listeners_) each->on_checkpoint(saved);
}

void RunLoop::save_checkpoint() {
    if (!options_.save_checkpoints || trainer_->steps() == 0) return;
    settle();
    save(/*best=*/false);
}

bool RunLoop::poll() {
    bool working = false;
    for (RunListener* const each : listeners_) working |= each->poll();
    return working;
}

RunDone RunLoop::end(DoneReason reason) {
    const bool failed = reason == DoneReason::failed;
    RunDone event{};
    event.reason = reason;
    const auto at_end = [&](RunListener& each) {
        return each.on_end(trainer_->steps(), progress_.epoch);
    };
    const bool wanted = ask(at_end).save;
    if (wanted && !failed && !is_taken_over() && trainer_->steps() > 0 && !has_unwritten())
        save(/*best=*/false);
    for (RunListener* const each : listeners_) each->complete(event);
    if (!failed) leave({});
    event.run = run();
    event.steps = trainer_->steps() - std::ssize(submitted_);  // those in flight are lost
    event.updates = trainer_->updates();
    event.skipped = event.steps - event.updates;
    event.test = evaluation_->test();
    event.validation = evaluation_->validation();
    event.wall_s = progress_.elapsed_s;
    KeyFigures whole{};
    try {
        whole = key_figures(record(), {});
    } catch (const Error&) {  // another program has cut the record short or removed it
    }
    event.samples_per_s = whole.samples_per_s;
    event.peak_bytes = whole.peak_bytes;
    if (event.peak_bytes == 0) event.peak_bytes = trainer_->accounting()->peak();
    event.replaced_samples = progress_.replaced + replaced_here_;
    return event;
}

void RunLoop::follow() {
    for (Order order{};;) {
        share(order);
        switch (order) {
            case Order::step:
                train_step();
                break;
            case Order::begin_evaluation:
                begin_evaluation();
                break;
            case Order::evaluate:
                evaluate_some();
                break;
            case Order::save:
                gathered_state();
                break;
            case Order::count:
                sum_replaced();
                break;
            case Order::end:
                return;
        }
    }
}

void RunLoop::leave(const std::string& failure) {
    if (!ranks_ || follows() || std::exchange(left_, true)) return;
    // Ranks that are still preparing do not receive orders yet.
    if (!failure.empty() || !evaluation_)
        return ranks_->abort(failure.empty() ? "The run was stopped before it began." : failure);
    try {
        if (failure.empty() && data_.parts.train.data->skips_damaged()) {
            tell(Order::count);
            sum_replaced();
        }
        tell(Order::end);
    } catch (const Error&) {  // a lost rank needs no order
    }
}

}  // namespace engine
