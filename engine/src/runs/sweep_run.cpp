#include "engine/runs/sweep_run.h"

#include <algorithm>
#include <utility>

namespace engine {
namespace fs = std::filesystem;

QueueState queue_state(const RunDone& done) {
    if (done.reason == DoneReason::stopped) return QueueState::waiting;
    return end_state(done) == "done" ? QueueState::done : QueueState::failed;
}

QueueState queue_state(const RunOutcome& outcome) {
    if (!outcome.ended) return QueueState::waiting;
    const QueueState state = queue_state(outcome.run.done);
    const bool counts = outcome.exit_code == 0 || outcome.run.done.unsaved > 0;
    return state == QueueState::done && !counts ? QueueState::failed : state;
}

std::optional<RunSummary> earlier_try(const QueuedRun& queued, const RunStore& store) {
    if (queued.run.empty()) return std::nullopt;
    auto found = store.find(queued.run);
    if (!found || found->config != queued.entry.config || found->state == "running" ||
        found->state == "missing")
        return std::nullopt;
    return found;
}

std::optional<QueueState> ended_state(const RunSummary& run) {
    if (run.state == "done") return QueueState::done;
    if (run.state == "failed" || run.state == "diverged") return QueueState::failed;
    return std::nullopt;
}

SweepRun::SweepRun(SweepPlan plan, std::shared_ptr<RunStore> store, const fs::path& out)
    : plan_(std::move(plan)),
      store_(std::move(store)),
      out_(out),
      queue_(store_->root()),
      entries_(plan_.entries()),
      batch_(entries_.front().batch) {
    if (!out_.empty()) batch_ += " in " + fs::absolute(out_).string();
    for (QueueEntry& entry : entries_) entry.batch = batch_;
}

std::int64_t SweepRun::enter(bool again) {
    std::int64_t ended = 0;
    for (const QueuedRun& run : queue_.list(batch_)) {
        if (run.state != QueueState::done && run.state != QueueState::failed) continue;
        if (again || !store_->find(run.run))
            queue_.reset(run.id);
        else
            ++ended;
    }
    queue_.add(entries_);
    return ended;
}

std::int64_t SweepRun::number_of(const QueuedRun& queued) const {
    const auto at = std::ranges::find(entries_, queued.entry.config, &QueueEntry::config);
    return at - entries_.begin() + 1;
}

/// A folder that no run has used.
fs::path SweepRun::free_folder(std::int64_t number) const {
    const fs::path wanted = out_ / ("run-" + std::to_string(number));
    fs::path folder = wanted;
    std::error_code ignored;
    for (int n = 2; fs::exists(folder, ignored); ++n)
        folder = wanted.string() + "-" + std::to_string(n);
    return folder;
}

std::optional<SweepRun::Turn> SweepRun::next() {
    while (auto taken = queue_.take(batch_)) {
        auto earlier = earlier_try(taken->queued(), *store_);
        const auto ended = earlier ? ended_state(*earlier) : std::nullopt;
        if (ended) {  // and its process died at once after that
            taken->finish(*ended);
            continue;
        }
        const QueueEntry& entry = taken->queued().entry;
        const std::int64_t number = number_of(taken->queued());
        std::string label =
            std::to_string(number) + "/" + std::to_string(entries_.size()) + " " + entry.label;
        const fs::path folder = out_.empty() ? fs::path() : free_folder(number);
        const fs::path data_of = ended_run_with_data(queue_.list(batch_), entry, *store_);
        return Turn{std::move(*taken), std::move(label), std::move(earlier), folder, data_of};
    }
    return std::nullopt;
}

QueueState SweepRun::finish(Turn& turn, const RunOutcome& outcome) {
    if (!outcome.id.empty()) notice_.runs.push_back(outcome.id);
    const QueueState state = queue_state(outcome);
    turn.taken.finish(state);
    if (state == QueueState::waiting)
        notice_.state = outcome.failure.empty() ? "stopped" : "failed";
    return state;
}

std::vector<SweepRow> SweepRun::rows() const {
    return sweep_rows(plan_, queue_.list(batch_), *store_);
}

bool SweepRun::has_result() const {
    return std::ranges::any_of(queue_.list(batch_), [](const QueuedRun& run) {
        return run.state != QueueState::failed;
    });
}

EndNotice SweepRun::notice() const {
    std::int64_t done = 0, failed = 0;
    for (const QueuedRun& run : queue_.list(batch_)) {
        done += run.state == QueueState::done ? 1 : 0;
        failed += run.state == QueueState::failed ? 1 : 0;
    }
    EndNotice out = notice_;
    if (!has_result()) out.state = "failed";
    out.reason = std::to_string(done) + " done, " + std::to_string(failed) + " failed, " +
                 std::to_string(size() - done - failed) + " waiting";
    return out;
}

}  // namespace engine
