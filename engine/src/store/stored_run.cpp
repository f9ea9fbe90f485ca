#include "store/stored_run.h"

#include <limits>

#include "engine/error.h"
#include "engine/speed.h"
#include "store/run_hold.h"

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
void apply_to(RunSummary&, const StateChanged&) {}
void apply_to(RunSummary&, const RunWarning&) {}
void apply_to(RunSummary& run, const RunFailed&) { run.state = "failed"; }
void apply_to(RunSummary& run, const EpochDone& event) {
    run.steps = event.step;
    run.test = event.test;
}
void apply_to(RunSummary& run, const ScaleChanged& event) {
    run.steps = event.step;
    if (event.kind != ScaleChanged::Kind::grown) ++run.skipped;
}
void apply_to(RunSummary& run, const RunDone& event) {
    switch (event.reason) {
        case DoneReason::epochs:
        case DoneReason::max_steps:
        case DoneReason::early_stopping:
            run.state = "done";
            break;
        case DoneReason::stopped:
            run.state = "stopped";
            break;
        case DoneReason::diverged:
            run.state = "diverged";
            break;
        case DoneReason::failed:
            run.state = "failed";
            break;
    }
    run.diverged_at = event.diverged_at;
    if (run.diverged_at != 0 && event.reason != DoneReason::failed) run.state = "diverged";
    run.steps = event.steps;
    run.skipped = event.skipped;
    run.test = event.test;
    run.wall_s = event.wall_s;
    run.samples_per_s = event.samples_per_s;
    run.peak_bytes = event.peak_bytes;
}

}  // namespace

std::string model_name(const RunSummary& run) {
    if (!run.origin) return run.config.model.kind;
    return run.origin->model.empty() ? "-" : run.origin->model;
}

std::string dataset_name(const RunSummary& run) {
    if (!run.origin) return run.config.dataset.kind;
    return run.origin->dataset.empty() ? "-" : run.origin->dataset;
}

void apply(RunSummary& summary, const Event& event) {
    std::visit([&summary](const auto& e) { apply_to(summary, e); }, event);
}

void apply_record(RunSummary& run) {
    try {
        const auto record = StepRecordReader::open(run.folder);
        if (record.size() == 0) return;
        const StepRecord last = record.row(record.size() - 1);
        run.steps = last.step;
        run.skipped = last.step - last.updates;
        run.wall_s = last.elapsed_s;
        run.peak_bytes = last.peak_bytes;
        run.samples_per_s = speeds({record}).front().samples_per_s;
    } catch (const Error&) {
        // Without a readable record the figures of the events stay.
    }
}

StoredRun read_stored_run(const std::filesystem::path& folder, const EventFilter& keep) {
    // Asked before the events are read: a run that ends now writes its end before it lets go.
    const LeaseState holder = holder_of(folder);
    StoredRun out = read_stored_run_as(holder.held, folder, keep);
    if (out.summary.state == running_state) out.summary.host = holder.host;
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
    run.config = parse_run_config(read_text(folder / config_file)).config;
    stored.for_each([&](Event&& event) {
        engine::apply(run, event);
        if (keep(event)) out.events.push_back(std::move(event));
    });
    if (run.state == running_state) {
        apply_record(run);
        if (!held) run.state = interrupted_state;
    }
    const RunNotes notes = read_notes(folder);
    run.notes = notes.notes;
    run.tags = notes.tags;
    run.title = notes.title;
    run.starred = notes.starred;
    return out;
}

}  // namespace engine
