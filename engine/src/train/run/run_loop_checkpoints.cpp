// RunLoop's folder: how a run begins there, goes on from a checkpoint, and is saved.
#include <algorithm>
#include <utility>

#include "engine/base/error.h"
#include "engine/data/changed_data.h"
#include "engine/runs/group_plan.h"
#include "record/copy_observations.h"
#include "runs/checkpoint.h"
#include "runs/event_file.h"
#include "train/run/run_data.h"
#include "train/run/run_loop.h"
#include "train/run/run_pictures.h"
#include "train/run/saved_run.h"
#include "train/step/make_optimizer.h"

namespace engine {
namespace {

/// The event, as one of another run.
Event renamed(Event event, const std::string& run) {
    std::visit([&run](auto& each) { each.run = run; }, event);
    return event;
}

bool is_of_steps(const Event& event) {
    return std::holds_alternative<EpochDone>(event) || std::holds_alternative<ScaleChanged>(event);
}

/// Renames damaged checkpoints, so that they can be examined and a new one can take their name.
void move_aside(const std::vector<std::filesystem::path>& damaged) {
    std::error_code ignored;
    for (const auto& checkpoint : damaged)
        std::filesystem::rename(checkpoint, aside_of(checkpoint), ignored);
}

/// Peak memory of all recorded steps, including those that will be computed again; 0: unknown.
std::int64_t recorded_peak(const std::filesystem::path& folder) {
    try {
        const StepRecordReader record = StepRecordReader::open(folder);
        return record.size() == 0 ? 0 : record.row(record.size() - 1).peak_bytes;
    } catch (const Error&) {
        return 0;  // opening it for writing says what is wrong
    }
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
    hold_ = made.hold;
    writer_.emplace(StepRecordWriter::create(folder_, metric_column_count(trainer_->task()),
                                             /*exchange=*/ranks_ != nullptr));
    if (!options_.group_plan.empty()) keep_group_plan(folder_, options_.group_plan);
    if (options_.save_checkpoints)
        checkpoints_ =
            std::make_unique<RunCheckpoints>(config_.checkpoint, folder_, run_, 0, 0, hold_);
    keep_data();
    post_(started());
}

/// Opens the data set. A run that goes on, or a step that is computed again, has the data of its
/// run.
DataParts RunLoop::opened_data(const std::stop_token& stop) {
    const std::filesystem::path run =
        options_.continuation ? options_.continuation->run_folder : options_.data_of;
    // A run of a sweep that may have other data than those before it has them as its own.
    const bool any = !options_.continuation && options_.accept_data;
    if (run.empty() || any) return open_dataset(config_.dataset, config_.seed, stop);
    RunData data = open_data_of(run, stop);
    data_notes_ = std::move(data.notes);
    same_size_ = data.same_size;
    return std::move(data.parts);
}

/// Opens the data of `run` again. Within an epoch a run cannot go on with another number of
/// samples, so that choice is not offered there.
RunData RunLoop::open_data_of(const std::filesystem::path& run, const std::stop_token& stop) const {
    try {
        return open_run_data(run, config_, options_.data_use, options_.accept_data, stop);
    } catch (const ChangedData& changed) {
        const auto& from = options_.continuation;
        if (!changed.other_size() || !from || from->checkpoint.empty()) throw;
        RunProgress progress;
        load_state(progress, read_saved_run(from->checkpoint).progress);
        if (progress.batch == 0) throw;
        throw Error(ErrorCode::data, changed.message(),
                    msg("Put the data back as they were, resume from a checkpoint at the end of an "
                        "epoch (--from), or train a new run."));
    }
}

/// Keeps what describes the data, so that the trained model can be used without them, and so that
/// they can be compared when they are opened again.
void RunLoop::keep_data() {
    if (options_.data_use == DataUse::replay) return;  // its folder goes at once
    kept_hashes_ = data_.files->hash_count();
    keep_run_data(folder_, data_, make_fingerprint(data_, config_.dataset));
}

/// Keeps the checksums of pictures that were decoded for the first time. A full disk costs them,
/// not the run.
void RunLoop::keep_new_hashes() {
    if (follows() || is_taken_over() || data_.files->hash_count() == kept_hashes_) return;
    try {
        keep_data();
    } catch (const Error& error) {
        post_(RunWarning{run_, error.message(), trainer_->steps()});
    }
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
    if (in_place) check_newest(from);
    const RunStore::NewRun made = in_place
                                      ? store_->reopen(from.run_folder, step)
                                      : store_->create(config_, options_.folder, options_.group);
    run_ = made.run;
    folder_ = made.folder;
    hold_ = made.hold;
    std::string parent;
    keep_data();
    if (in_place) {
        move_aside(from.damaged);
        peak_before_ = recorded_peak(folder_);
        writer_.emplace(StepRecordWriter::open(folder_, step, columns));
        remove_pictures_after(folder_, step);
    } else {
        parent = EventFile(from.run_folder).run();
        writer_.emplace(StepRecordWriter::create(folder_, columns, /*exchange=*/ranks_ != nullptr));
    }
    post_(started());
    if (!parent.empty()) copy_parent(from.run_folder, step);
    if (step > 0) {
        const StepRecord last = writer_->reader().row(step - 1);
        peak_before_ = std::max(peak_before_, last.peak_bytes);
        if (last.clock_s > 0) clock_s_ = last.clock_s;  // earlier versions have none
    }
    post_(RunResumed{run_, step, step - trainer_->updates(), parent, std::move(restored)});
    if (!options_.save_checkpoints) return;
    checkpoints_ = std::make_unique<RunCheckpoints>(config_.checkpoint, folder_, run_, step,
                                                    progress_.epoch, hold_);
    // A new run has a checkpoint of its own to go on from.
    if (!in_place && saved) checkpoints_->save(saved_run());
}

/// Throws Error(state) if another program has resumed the run since this was planned: to go on
/// would take its steps back.
void RunLoop::check_newest(const Continuation& from) const {
    for (const CheckpointFolder& each : checkpoint_folders(from.run_folder)) {
        const bool known = std::ranges::find(from.damaged, each.folder) != from.damaged.end();
        if (each.step <= trainer_->steps() || known) continue;
        throw Error(ErrorCode::state,
                    msg("{}: the run has gone on meanwhile, to a checkpoint of step {}",
                        from.run_folder.string(), each.step),
                    msg("Resume it once more."));
    }
}

/// False if the run goes on as a new one, as it must with another number of samples. Throws
/// Error(data) within an epoch, whose batches would be different.
bool RunLoop::goes_on_in_place(const Continuation& from) const {
    if (same_size_) return from.in_place;
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

/// Copies the parent's rows, events, pictures and observations up to the checkpoint, so that the
/// new run's curves and pages are complete.
void RunLoop::copy_parent(const std::filesystem::path& folder, std::int64_t step) {
    const StepRecordReader record = StepRecordReader::open(folder);
    if (record.size() < step)
        throw Error(ErrorCode::data,
                    msg("{}: the step record ends before step {}", folder.string(), step),
                    msg("Resume from an earlier checkpoint of the run (--from)."));
    for (std::int64_t row = 0; row < step; ++row) writer_->append(record.row(row));
    EventFile(folder).for_each([&](Event&& event) {
        if (!is_of_steps(event) || is_taken_back(event, step)) return;
        // The epoch that ended with the checkpoint is evaluated and reported by this run.
        const auto* epoch = std::get_if<EpochDone>(&event);
        const bool again =
            epoch != nullptr && epoch->step == step && epoch->epoch_ended && progress_.epoch_ended;
        if (!again) post_(renamed(std::move(event), run_));
    });
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
    check_place();
    plan_rest();
    loader_->seek(progress_.epoch, progress_.batch);
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

SavedRun RunLoop::saved_run() {
    return {.run = run_,
            .config = config_,
            .training = gathered_state(),  // brings the progress up to date
            .progress = saved_state(progress_),
            .alerts = alerts_.saved_state(),
            .best = numbers_of(best_->state()),
            .rules = rules_->saved_state(),
            .validation = evaluation_->validation(),
            .test = evaluation_->test()};
}

/// Gathers the state of all ranks.
TrainingState RunLoop::gathered_state() {
    tell(Turn::save);
    sum_replaced();
    return trainer_->saved_state();
}

void RunLoop::save_checkpoint() {
    if (!checkpoints_ || trainer_->steps() == 0) return;
    settle();
    checkpoints_->save(saved_run());
}

void RunLoop::finish_checkpoints(bool save) {
    keep_new_hashes();
    if (!checkpoints_) return;
    if (save && !is_taken_over() && trainer_->steps() > 0 && !has_unwritten() &&
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
