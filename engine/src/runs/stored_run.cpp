#include "runs/stored_run.h"

#include <cmath>

#include "engine/base/error.h"
#include "engine/runs/end_notice.h"
#include "engine/settings/catalog.h"

namespace engine {
namespace {

void apply_to(RunSummary& run, const RunStarted& event) {
    run.config = event.config;
    run.metrics = event.metrics;
    run.unit = event.unit;
    run.origin = event.origin;
}
void apply_to(RunSummary& run, const RunResumed& event) {
    run.state = running_state;
    run.steps = event.step;
    run.skipped = event.skipped;
    run.diverged_at = 0;
    if (!event.parent.empty()) run.parent = event.parent;
}
void apply_to(RunSummary&, const CheckpointSaved&) {}
void apply_to(RunSummary&, const StepExamined&) {}
void apply_to(RunSummary&, const RecipeStarted&) {}
void apply_to(RunSummary&, const ScaleAlarm&) {}
void apply_to(RunSummary&, const StateChanged&) {}
void apply_to(RunSummary&, const RunWarning&) {}
void apply_to(RunSummary& run, const RunFailed&) { run.state = "failed"; }
void apply_to(RunSummary& run, const EpochDone& event) {
    run.steps = event.step;
    if (event.evaluated) run.test = event.test;
}
void apply_to(RunSummary& run, const ScaleChanged& event) {
    run.steps = event.step;
    if (event.kind != ScaleChanged::Kind::grown) ++run.skipped;
}
void apply_to(RunSummary& run, const RunDone& event) {
    run.state = end_state(event);
    run.diverged_at = event.diverged_at;
    run.steps = event.steps;
    run.skipped = event.skipped;
    // A resumed run may end before it is evaluated again.
    if (event.test.known()) run.test = event.test;
    run.wall_s = event.wall_s;
    run.samples_per_s = event.samples_per_s;
    run.peak_bytes = event.peak_bytes;
}

}  // namespace

std::string model_name(const RunSummary& run) {
    if (!run.origin) return model_name(run.config.model);
    return run.origin->model.empty() ? "-" : run.origin->model;
}

std::string dataset_name(const RunSummary& run) {
    if (!run.origin) return run.config.dataset.kind;
    return run.origin->dataset.empty() ? "-" : run.origin->dataset;
}

void apply(RunSummary& summary, const Event& event) {
    std::visit([&summary](const auto& e) { apply_to(summary, e); }, event);
}

void apply_record(RunSummary& run, const FigureEvents& events) {
    try {
        const auto record = StepRecordReader::open(run.folder);
        if (record.size() == 0) return;
        const KeyFigures now = key_figures(record, events);
        // The end of a run whose record was cut short still has its figures.
        if (run.state != running_state && now.steps != run.steps) return;
        run.steps = now.steps;
        run.skipped = now.skipped;
        if (!std::isnan(now.train_s)) run.wall_s = now.train_s;
        if (!std::isnan(now.samples_per_s)) run.samples_per_s = now.samples_per_s;
        if (now.peak_bytes > 0) run.peak_bytes = now.peak_bytes;
        if (now.test.known()) run.test = now.test;
    } catch (const Error&) {
        // Without a readable record the figures of the events stay.
    }
}

void set_holder(RunSummary& run, const LeaseState& holder) {
    run.host = holder.host;
    run.silent_s = holder.silent_s;
    run.paused = holder.activity == name(RunState::paused);
}

StoredRun read_stored_run(const std::filesystem::path& folder, const EventFilter& keep) {
    // Asked before the events are read: a run that ends now writes its end before it lets go.
    const LeaseState holder = holder_of(folder);
    StoredRun out = read_stored_run_as(holder.held, folder, keep);
    if (out.summary.state == running_state) set_holder(out.summary, holder);
    return out;
}

StoredRun read_stored_run_as(bool held, const std::filesystem::path& folder,
                             const EventFilter& keep) {
    const EventFile stored(folder);
    StoredRun out;
    out.made = stored.made().microseconds != 0 ? stored.made() : Moment::of(folder / config_file);
    RunSummary& run = out.summary;
    run.run = stored.run();
    run.folder = folder;
    run.started = out.made.local;
    run.state = running_state;
    run.group = stored.group();
    run.group_number = stored.group_number();
    run.config = parse_run_config(read_text(folder / config_file)).config;
    FigureEvents events;
    stored.for_each([&](Event&& event) {
        engine::apply(run, event);
        events.apply(event);
        if (keep(event)) out.events.push_back(std::move(event));
    });
    // Also of a run that has ended: earlier versions wrote the speed and the peak of its last part
    // alone into its last event.
    apply_record(run, events);
    if (run.state == running_state && !held) run.state = interrupted_state;
    const RunNotes notes = read_notes(folder);
    run.notes = notes.notes;
    run.tags = notes.tags;
    run.title = notes.title;
    run.starred = notes.starred;
    return out;
}

}  // namespace engine
