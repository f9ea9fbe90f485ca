#include "train/run/run_loop.h"

#include <algorithm>
#include <utility>

#include "data/dataset_descriptor.h"
#include "engine/base/error.h"
#include "engine/record/figures.h"
#include "kernels/parallel.h"
#include "tasks/task_descriptor.h"
#include "train/run/continued_run.h"
#include "train/run/live_board.h"
#include "train/run/quantization_recorder.h"
#include "train/run/run_alerts.h"
#include "train/run/run_checkpoints.h"
#include "train/run/run_needs.h"
#include "train/run/skipped_batches.h"

namespace engine {

RunLoop::RunLoop(const RunConfig& config, RunStore* store, const SessionOptions& options,
                 PostEvent post)
    : config_(config),
      options_(options),
      post_([this, post = std::move(post)](Event event) {
          std::visit([this](auto& each) { each.run = run(); }, event);
          post(std::move(event));
      }),
      ranks_(options.communicator.get()),
      home_(config_, options_, data_.parts, store, post_),
      steps_(config_, progress_, home_, post_) {}

void RunLoop::prepare(const std::stop_token& stop) {
    const Device device = checked_device(config_, ranks_.line());
    data_ = open_data(config_, options_, stop);
    const DataPart& train = data_.parts.train;
    if (ranks_.line() != nullptr)
        check_same_data(*ranks_.line(), data_.parts, {.threads = config_.threads});
    const SamplerOptions sampler = training_sampler(config_, train, ranks_.size());
    const PlannedSteps planned = planned_steps(config_, train, sampler);
    steps_planned_ = planned.all;
    RunConfig of_model = config_;
    // A checkpoint has all weights: the file that they came from may be gone.
    if (options_.continuation && !options_.continuation->checkpoint.empty())
        of_model.model.init_from.clear();
    trainer_ = std::make_unique<Trainer>(of_model, device, train.data->schema(), planned,
                                         options_.communicator);
    check_best_is_there(config_, trainer_->task());
    const DeviceScope scope(device);
    const AccountingScope accounting(trainer_->accounting());
    steps_.prepare(train, sampler, *trainer_);
    evaluation_ = std::make_unique<RunEvaluation>(config_, *trainer_, data_.parts);
    if (!options_.dump_gradients.empty() && !ranks_.follows())
        trainer_->dump_next_gradients(options_.dump_gradients.string());
    if (!ranks_.follows()) add_listeners(sampler);
    if (options_.continuation) {
        go_on(*options_.continuation);
    } else if (!ranks_.follows()) {
        home_.create(metric_column_count(trainer_->task()), start_meter());
        post_(started());
    }
    for (const auto* notes : {&data_.parts.warnings, &data_.notes})
        for (const Message& warning : *notes) post_(RunWarning{{}, warning});
}

/// In the order of their calls.
void RunLoop::add_listeners(const SamplerOptions& sampler) {
    const auto add = [this](std::unique_ptr<RunListener> listener) {
        listen(*own_.emplace_back(std::move(listener)));
    };
    const Task& task = trainer_->task();
    const RunStore::NewRun& place = home_.place();
    add(std::make_unique<SkippedBatches>(place, data_.parts.train, sampler, config_.accumulate,
                                         post_));
    add(std::make_unique<RunAlerts>(config_, post_));
    if (trainer_->quantized() != nullptr)
        add(std::make_unique<QuantizationRecorder>(config_, *trainer_, steps_planned_, place,
                                                   post_));
    listen(home_);
    add(std::make_unique<EpochRules>(config_, task.metrics()));
    if (!options_.save_checkpoints) return;
    if (!config_.log.tensorboard.empty())
        add(std::make_unique<LiveBoard>(config_, home_, task.metrics(), task.step_metrics(),
                                        post_));
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
    event.steps_per_epoch = steps_.per_epoch();
    return event;
}

record_layout::OptionalColumns RunLoop::start_meter() {
    const MachineMeter& meter = steps_.start_meter();
    return {.exchange = ranks_.line() != nullptr,
            .card = meter.has_card(),
            .cpu_meter = meter.has_cpu(),
            .recipe = resolve(config_.precision).has_recipe()};
}

void RunLoop::go_on(const Continuation& from) {
    ContinuedRun continued(from, config_);
    if (const SavedRun* const saved = continued.saved()) {
        load(*saved);
        continued.set_schedule(config_, *trainer_, {steps_planned_, steps_.per_epoch()});
    }
    if (ranks_.follows()) return;
    const std::int64_t step = trainer_->steps();
    continued.open(home_, progress_, step, data_.same_size, metric_column_count(trainer_->task()),
                   start_meter());
    const RunStarted event = started();
    post_(event);
    continued.copy_parent(home_, progress_, step);
    steps_.meter().go_on_from(home_.last_row());
    post_(continued.resumed(*trainer_, event.threads));
    if (continued.needs_checkpoint() && options_.save_checkpoints) save(/*best=*/false);
}

void RunLoop::load(const SavedRun& saved) {
    trainer_->load_state(saved.training, change_of(saved.config, config_));
    load_state(progress_, saved.progress);
    ask([&](RunListener& each) { return each.load_state(saved); });
    set_rate();
    evaluation_->load_figures(saved.validation, saved.test);
    steps_.seek();
    steps_planned_ = steps_.planned();
}

/// The other ranks have no listeners.
void RunLoop::set_rate() {
    ranks_.share(rate_);
    trainer_->set_rate_multiplier(rate_);
}

void RunLoop::train_step() {
    if (!in_step()) submit();
    write_pending();
    home_.check_files(/*now=*/false);
    for (RunListener* const each : listeners_) each->after_step();
    steps_.end_step();
}

void RunLoop::submit() {
    home_.check_hold();
    const auto before = [&](RunListener& each) {
        return each.before_step(trainer_->steps(), progress_.epoch);
    };
    if (ask(before).save) save_checkpoint();
    ranks_.send(Order::step);
    steps_.submit(rate_);
}

void RunLoop::settle() {
    if (!trainer_) return;
    steps_.settle();
    write_pending();
    home_.check_files(/*now=*/true);
}

void RunLoop::write_pending() {
    while (const auto written = steps_.write_row())
        for (RunListener* const each : listeners_) each->on_step(*written);
}

void RunLoop::begin_evaluation() {
    ranks_.send(Order::begin_evaluation);
    settle();
    steps_.sum_replaced();
    evaluation_->begin();
}

bool RunLoop::is_evaluation_due() const {
    if (is_evaluated()) return false;
    if (finished()) return true;
    const auto is_turn = [](std::int64_t every, std::int64_t at) {
        return every > 0 && at > 0 && at % every == 0;
    };
    return is_turn(config_.evaluation.every_steps, trainer_->steps()) ||
           (at_epoch_end() && is_turn(config_.evaluation.every_epochs, progress_.epoch));
}

void RunLoop::end_epoch() {
    ranks_.send(Order::end_epoch);
    settle();
    progress_.epoch_ended = false;
    const PartFigures unknown = unknown_figures(trainer_->task().metrics());
    const Evaluated ended{.validation = unknown,
                          .test = unknown,
                          .epoch = progress_.epoch,
                          .step = trainer_->steps(),
                          .training = training_figures(),
                          .epoch_ended = true,
                          .made = false};
    report_epoch(ended);
    for (RunListener* const each : listeners_) each->on_unevaluated_epoch(ended);
    progress_.begin_epoch();
}

bool RunLoop::evaluate_some() {
    home_.check_hold();
    ranks_.send(Order::evaluate);
    const bool more = evaluation_->advance();
    steps_.report_damaged(evaluation_->take_replaced(), RunSteps::Damaged::left_out);
    steps_.report_warnings();
    if (!more) finish_evaluation();
    return more;
}

PartFigures RunLoop::training_figures() const {
    return figures_of(trainer_->task(), progress_.sums,
                      progress_.loss_sum / progress_.sums.weight);
}

void RunLoop::report_epoch(const Evaluated& evaluated) {
    post_(EpochDone{{},
                    evaluated.epoch,
                    evaluated.step,
                    evaluated.training,
                    evaluated.validation,
                    evaluated.test,
                    progress_.elapsed_s - progress_.epoch_start_s,
                    evaluated.epoch_ended,
                    evaluated.made});
}

void RunLoop::finish_evaluation() {
    // An epoch ends once: an evaluation later on belongs to none.
    const bool ended = std::exchange(progress_.epoch_ended, false);
    Evaluated evaluated{evaluation_->validation(), evaluation_->test(), progress_.epoch,
                        trainer_->steps()};
    if (!ranks_.follows()) evaluated.pictures = trainer_->take_pictures();
    evaluated.training = training_figures();
    evaluated.epoch_ended = ended;
    report_epoch(evaluated);
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
    return steps_.capsule(steps_.next_start(rate_), gathered_state(), steps_planned_);
}

StepCapsule RunLoop::last_capsule() {
    return steps_.capsule(steps_.last_start(), trainer_->kept_state(), steps_planned_);
}

/// Gathers the state of all ranks.
TrainingState RunLoop::gathered_state() {
    ranks_.send(Order::save);
    steps_.sum_replaced();
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
    if (!options_.save_checkpoints || !has_weights_to_save()) return;
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
    if (wanted && !failed && !is_taken_over() && has_weights_to_save() && !has_unwritten())
        save(/*best=*/false);
    for (RunListener* const each : listeners_) each->complete(event);
    if (!failed) leave({});
    event.run = run();
    event.steps = trainer_->steps() - steps_.in_flight();  // which are lost
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
    event.replaced_samples = steps_.replaced();
    return event;
}

void RunLoop::follow() {
    ranks_.follow([this](Order order) { obey(order); });
}

void RunLoop::obey(Order order) {
    switch (order) {
        case Order::step:
            return train_step();
        case Order::begin_evaluation:
            return begin_evaluation();
        case Order::evaluate:
            evaluate_some();
            return;
        case Order::end_epoch:
            return end_epoch();
        case Order::save:
            gathered_state();
            return;
        case Order::count:
            return steps_.sum_replaced();
        case Order::end:
            return;
    }
}

void RunLoop::leave(const std::string& failure) {
    ranks_.leave(failure, /*prepared=*/evaluation_ != nullptr, [this] {
        if (!data_.parts.train.data->skips_damaged()) return;
        ranks_.send(Order::count);
        steps_.sum_replaced();
    });
}

}  // namespace engine
