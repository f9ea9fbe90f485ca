// RunLoop's checkpoints: how a run is saved, and how it goes on; and a copy of its next step.
#include <utility>

#include "data/input_guide.h"
#include "engine/error.h"
#include "store/copy_observations.h"
#include "store/event_file.h"
#include "train/restored.h"
#include "train/run_loop.h"
#include "train/run_pictures.h"

namespace engine {
namespace {

/// The event under another run's name.
Event renamed(Event event, const std::string& run) {
    std::visit([&run](auto& each) { each.run = run; }, event);
    return event;
}

bool is_of_steps(const Event& event) {
    return std::holds_alternative<EpochDone>(event) || std::holds_alternative<ScaleChanged>(event);
}

SavedNumbers numbers_of(const BestMetricState& best) {
    SavedNumbers out;
    save_into(out, "", best);
    return out;
}

}  // namespace

/// Makes the run's folder and record, or opens those of the run that goes on.
void RunLoop::open_run() {
    if (options_.continuation)
        go_on(*options_.continuation);
    else
        begin_run();
}

void RunLoop::begin_run() {
    if (follows()) return;
    const auto made = store_->create(config_, options_.folder, options_.group);
    run_ = made.run;
    folder_ = made.folder;
    writer_.emplace(StepRecordWriter::create(folder_, metric_column_count(trainer_->task()),
                                             /*exchange=*/ranks_ != nullptr));
    if (options_.save_checkpoints)
        checkpoints_ = std::make_unique<RunCheckpoints>(config_.checkpoint, folder_, run_, 0, 0);
    keep_input_guide();
    post_(started());
}

/// For those who use the trained model where the data are not at hand.
void RunLoop::keep_input_guide() {
    InputGuide guide{data_.train.data->schema()};
    data_.train.data->guide(guide);
    write_input_guide(folder_, guide);
}

void RunLoop::go_on(const Continuation& from) {
    std::optional<SavedRun> saved;
    std::vector<Message> restored{msg("Nothing: the run has no checkpoint and starts again.")};
    if (!from.checkpoint.empty()) {
        saved = read_saved_run(from.checkpoint);
        restored = restored_parts(*saved, config_);
        load(*saved);
    }
    if (follows()) return;
    const std::int64_t step = trainer_->steps();
    const std::size_t columns = metric_column_count(trainer_->task());
    const RunStore::NewRun made = from.in_place
                                      ? store_->reopen(from.run_folder, step)
                                      : store_->create(config_, options_.folder, options_.group);
    run_ = made.run;
    folder_ = made.folder;
    std::string parent;
    keep_input_guide();
    if (from.in_place) {
        writer_.emplace(StepRecordWriter::open(folder_, step, columns));
        remove_pictures_after(folder_, step);
    } else {
        parent = EventFile(from.run_folder).run();
        writer_.emplace(StepRecordWriter::create(folder_, columns, /*exchange=*/ranks_ != nullptr));
    }
    post_(started());
    if (!parent.empty()) copy_parent(from.run_folder, step);
    post_(RunResumed{run_, step, step - trainer_->updates(), parent, std::move(restored)});
    if (!options_.save_checkpoints) return;
    checkpoints_ =
        std::make_unique<RunCheckpoints>(config_.checkpoint, folder_, run_, step, progress_.epoch);
    // A new run has a checkpoint of its own to go on from.
    if (!from.in_place && saved) checkpoints_->save(saved_run());
}

/// The rows, events, pictures and observations of the parent up to the checkpoint, so that the new
/// run's curves and pages are whole.
void RunLoop::copy_parent(const std::filesystem::path& folder, std::int64_t step) {
    const StepRecordReader record = StepRecordReader::open(folder);
    if (record.size() < step)
        throw Error(ErrorCode::data,
                    msg("{}: the step record ends before step {}", folder.string(), step),
                    msg("Resume from an earlier checkpoint of the run (--from)."));
    for (std::int64_t row = 0; row < step; ++row) writer_->append(record.row(row));
    std::vector<Event> events = read_events(folder);
    take_back_after(step, events);
    for (Event& event : events) {
        if (is_of_steps(event)) post_(renamed(std::move(event), run_));
    }
    try {
        copy_pictures(folder, folder_, step);
        copy_observations(folder, folder_, run_, step);
    } catch (const Error& error) {  // the run goes on without them
        post_(RunWarning{run_, error.message(), step});
    }
}

void RunLoop::load(const SavedRun& saved) {
    trainer_->load_state(saved.training, change_of(saved.config, config_));
    load_state(progress_, saved.progress);
    alerts_.load_state(saved.alerts);
    best_->restore(best_metric_of(saved.best, ""));
    rules_->load_state(saved.rules);
    trainer_->set_rate_multiplier(rules_->rate_multiplier());
    evaluation_->load_figures(saved.validation, saved.test);
    loader_->seek(progress_.epoch, progress_.batch);
}

SavedRun RunLoop::saved_run() const {
    return {.run = run_,
            .config = config_,
            .training = gathered_state(),
            .progress = saved_state(progress_),
            .alerts = alerts_.saved_state(),
            .best = numbers_of(best_->state()),
            .rules = rules_->saved_state(),
            .validation = evaluation_->validation(),
            .test = evaluation_->test()};
}

/// Of all ranks.
TrainingState RunLoop::gathered_state() const {
    tell(Turn::save);
    return trainer_->saved_state();
}

RunLoop::StepStart RunLoop::next_start() const {
    return {progress_.epoch, progress_.batch, rules_->rate_multiplier()};
}

StepCapsule RunLoop::capsule() {
    settle();
    return capsule_of(next_start(), gathered_state());
}

StepCapsule RunLoop::last_capsule() { return capsule_of(last_start_, trainer_->kept_state()); }

StepCapsule RunLoop::capsule_of(const StepStart& start, TrainingState before) const {
    const DeviceScope scope(trainer_->device());
    const AccountingScope accounting(trainer_->accounting());
    StepCapsule out{.config = config_,
                    .data = data_.train.data->schema(),
                    .before = std::move(before),
                    .batches = {},
                    .planned = steps_planned_,
                    .rate_multiplier = start.rate_multiplier};
    // Of its own: the loader may be far ahead, and leaves out fields that lie on the device.
    Collator collator(data_.train, trainer_->task().schema(true), training_options());
    for (std::int64_t i = 0; i < config_.accumulate; ++i) {
        collator.make(out.batches.emplace_back(), start.epoch, start.batch + i);
        if (out.batches.back().last_of_epoch) break;
    }
    return out;
}

void RunLoop::save_checkpoint() {
    if (!checkpoints_ || trainer_->steps() == 0) return;
    settle();
    checkpoints_->save(saved_run());
}

void RunLoop::finish_checkpoints(bool save) {
    if (!checkpoints_) return;
    if (save && trainer_->steps() > 0 && !has_unwritten() &&
        checkpoints_->wants_end(trainer_->steps(), progress_.epoch)) {
        checkpoints_->save(saved_run());
    }
    checkpoints_->finish();
    follow_checkpoints();
}

bool RunLoop::follow_checkpoints() {
    if (!checkpoints_) return false;
    for (Event& event : checkpoints_->take_events()) post_(std::move(event));
    return checkpoints_->is_writing();
}

}  // namespace engine
