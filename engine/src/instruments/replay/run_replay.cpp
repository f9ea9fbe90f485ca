#include "instruments/replay/run_replay.h"

#include "engine/base/error.h"
#include "engine/record/twin.h"
#include "engine/runs/checkpoint.h"
#include "engine/runs/group_plan.h"
#include "engine/settings/catalog.h"
#include "instruments/replay/scratch_folder.h"
#include "runs/stored_run.h"
#include "train/run/run_loop.h"
#include "train/run/saved_run.h"

namespace engine {
namespace {

namespace fs = std::filesystem;

/// A run that this program trained, as its folder has it.
struct OwnRun {
    fs::path folder;
    StoredRun stored;
    StepRecordReader record;
};

/// Throws Error(state) for a run of another program, and Error(data) for a step that it has not.
OwnRun own_run(const fs::path& folder, std::int64_t step) {
    OwnRun run{folder, read_stored_run(folder, keep_no_event), {}};
    const RunSummary& summary = run.stored.summary;
    if (summary.origin) {
        throw Error(ErrorCode::state,
                    msg("Run {} was trained by {}, so its steps cannot be computed again here.",
                        summary.run, summary.origin->program));
    }
    run.record = StepRecordReader::open(folder);
    const std::int64_t recorded = run.record.size();
    if (step < 1 || step > recorded + 1) {
        throw Error(ErrorCode::data,
                    msg("Run {} has no step {}: it has {} steps.", summary.run, step, recorded));
    }
    return run;
}

/// The settings with the number of threads that the run had: sums depend on it.
RunConfig replayed_config(const StoredRun& run) {
    RunConfig config = run.summary.config;
    if (const auto started = last_start(run.summary.folder)) config.threads = started->threads;
    return config;
}

/// The newest whole checkpoint before the step; of step 0: there is none.
CheckpointInfo checkpoint_before(const fs::path& folder, std::int64_t step) {
    auto all = list_checkpoints(folder);
    for (; !all.empty(); all.pop_back()) {
        if (all.back().step >= step) continue;
        try {
            read_saved_run(all.back().folder);
            return all.back();
        } catch (const Error&) {
            continue;  // a damaged one: those before it serve as well
        }
    }
    return {};
}

[[noreturn]] void throw_of_a_twin(const std::string& run, std::int64_t step, std::int64_t changed) {
    throw Error(ErrorCode::state,
                msg("Step {} of run {} cannot be computed again: its twin changed it at step {}.",
                    step, run, changed),
                msg("Arm the run (instruments.armed) to keep what its skipped steps need."));
}

/// The first of these steps at whose end the run took the state of its twin; 0: none.
std::int64_t resynced(const fs::path& folder, std::int64_t first, std::int64_t last) {
    if (!TwinRecordReader::exists(folder)) return 0;
    const TwinRecordReader twin = TwinRecordReader::open(folder);
    const std::int64_t layers = std::ssize(twin.layers());
    for (std::int64_t i = 0; i < twin.steps(); ++i) {
        TwinRow row;
        twin.rows(i * layers, {&row, 1});
        if (row.resynced && row.step >= first && row.step <= last) return row.step;
    }
    return 0;
}

/// The first of these steps that was skipped though its own gradients were finite, since those of
/// its twin were not; 0: none.
std::int64_t skipped_for_another(const StepRecordReader& record, std::int64_t first,
                                 std::int64_t last) {
    if (last < first || record.row(record.size() - 1).updates == 0) return 0;  // none are recorded
    std::vector<StepRecord> rows(static_cast<std::size_t>(last - first + 1));
    record.rows(first - 1, rows);
    std::int64_t updates = first > 1 ? record.row(first - 2).updates : 0;
    for (const StepRecord& row : rows) {
        if (row.found_inf == 0 && row.updates == updates) return row.step;
        updates = row.updates;
    }
    return 0;
}

/// Whether the run took the proposals of its twin, which no replay has.
bool took_proposals(const OwnRun& run) {
    if (TwinRecordReader::exists(run.folder)) return false;  // it is the one that made them
    RunSummary summary = run.stored.summary;
    summary.folder = run.folder;
    const auto plan = plan_of_group({&summary, 1});
    return plan && plan->twin && plan->twin->share_proposals;
}

/// A replay computes one run alone. Throws Error(state) if what it computes after `start` steps
/// would not be what the run did.
void check_is_alone(const OwnRun& run, std::int64_t start, std::int64_t step) {
    const std::string& id = run.stored.summary.run;
    // A checkpoint may have been saved just before a resync at the end of its step.
    if (const std::int64_t at = resynced(run.folder, start, step - 1))
        throw_of_a_twin(id, step, at);
    if (const std::int64_t at = skipped_for_another(run.record, start + 1, step - 1))
        throw_of_a_twin(id, step, at);
    if (start + 1 < step && took_proposals(run)) throw_of_a_twin(id, step, start + 1);
}

SessionOptions options_of(const OwnRun& run, std::int64_t step, std::int64_t newest) {
    SessionOptions options;
    options.save_checkpoints = false;
    options.data_of = run.folder;
    options.data_use = DataUse::replay;
    const CheckpointInfo start = checkpoint_before(run.folder, newest < step ? newest + 1 : step);
    check_is_alone(run, start.step, step);
    const RunSummary& summary = run.stored.summary;
    if (start.step > 0) {
        options.continuation = {run.folder, start.folder, /*in_place=*/false};
    } else if (!summary.parent.empty()) {
        throw Error(ErrorCode::state,
                    msg("Run {} continued run {} and kept no checkpoint before step {}.",
                        summary.run, summary.parent, step));
    }
    return options;
}

bool follows_metric(const RunConfig& config) {
    const ScheduleDescriptor* kind = find_kind(schedules(), config.schedule.kind);
    return kind != nullptr && kind->follows_metric;
}

}  // namespace

struct RunReplay::Impl {
    Impl(const fs::path& folder, std::int64_t step_, std::int64_t newest)
        : Impl(own_run(folder, step_), step_, newest) {}
    Impl(const OwnRun& run, std::int64_t step_, std::int64_t newest)
        : step(step_),
          store(scratch.path() / "runs"),
          loop(replayed_config(run.stored), &store, options_of(run, step_, newest),
               [](const Event&) {}),
          has_plateau(follows_metric(run.stored.summary.config)) {
        loop.prepare({});
        evaluate_if_due();
    }

    std::int64_t remaining() { return step - 1 - loop.trainer().steps(); }

    /// The plateau's rate is the only state that depends on an evaluation.
    void evaluate_if_due() {
        if (!has_plateau || !loop.at_epoch_end() || !loop.is_evaluation_due()) return;
        loop.begin_evaluation();
        while (loop.evaluate_some()) {
        }
    }

    const std::int64_t step;
    ScratchFolder scratch;
    RunStore store;
    RunLoop loop;
    const bool has_plateau;
};

RunReplay::RunReplay(const fs::path& run_folder, std::int64_t step, std::int64_t newest)
    : impl_(std::make_unique<Impl>(run_folder, step, newest)) {}

RunReplay::~RunReplay() = default;

std::int64_t RunReplay::remaining() const { return impl_->remaining(); }

bool RunReplay::advance() {
    if (remaining() == 0) return false;
    impl_->loop.train_step();
    impl_->evaluate_if_due();
    return true;
}

TrainingState RunReplay::state() {
    impl_->loop.settle();
    return impl_->loop.trainer().saved_state();
}

StepCapsule RunReplay::capsule() { return impl_->loop.capsule(); }

StepCapsule capsule_before(const fs::path& run_folder, std::int64_t step,
                           const std::function<void(std::int64_t)>& progress) {
    RunReplay replay(run_folder, step);
    while (replay.remaining() > 0) {
        progress(replay.remaining());
        replay.advance();
    }
    return replay.capsule();
}

}  // namespace engine
