#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "engine/runs/end_notice.h"
#include "engine/runs/run_follower.h"
#include "engine/runs/run_queue.h"
#include "engine/runs/run_store.h"
#include "engine/runs/sweep.h"

namespace engine {

/// How a run ended, for the queue: a run that was stopped waits for another turn.
QueueState queue_state(const RunDone& done);
/// How a followed run ended, for the queue: one that never began waits, too. Results count although
/// the last checkpoint could not be written.
QueueState queue_state(const RunOutcome& outcome);

/// The run that an interrupted program began for a queued run, with the settings that it has now.
/// Nothing if there is none, or if another program trains it.
std::optional<RunSummary> earlier_try(const QueuedRun& queued, const RunStore& store);
/// Nothing for a run that can go on; else how it ended.
std::optional<QueueState> ended_state(const RunSummary& run);

/// Works off the runs of a sweep, one after another: in the queue of the store's root, which other
/// programs may share. Who trains them is up to the caller. Throws as RunQueue does.
class SweepRun {
public:
    /// `out`: the folder for the runs; empty: the history.
    SweepRun(SweepPlan plan, std::shared_ptr<RunStore> store,
             const std::filesystem::path& out = {});

    /// Enters the runs that the queue lacks. Runs whose results are gone wait again, and with
    /// `again` all of them. Returns how many have ended already.
    std::int64_t enter(bool again);
    std::int64_t size() const { return std::ssize(entries_); }

    /// A run that is to be trained now. It waits again if it is destroyed without finish().
    struct Turn {
        RunQueue::Taken taken;
        std::string label;                   ///< "3/12 optimizer.lr=0.1"
        std::optional<RunSummary> earlier;   ///< an interrupted try that may go on
        std::filesystem::path folder = {};   ///< of a new run; empty: in the history
        std::filesystem::path data_of = {};  ///< SessionOptions::data_of of a new run
    };
    /// Nothing when no run waits.
    std::optional<Turn> next();
    /// A run that waits again ends the sweep for now.
    QueueState finish(Turn& turn, const RunOutcome& outcome);

    /// A row for each point, best first.
    std::vector<SweepRow> rows() const;
    /// Not all runs have failed.
    bool has_result() const;
    const SweepPlan& plan() const { return plan_; }
    /// Group of the runs (RunSummary::group).
    std::string group() const { return plan_.entries().front().batch; }
    /// How the sweep stands after the last finish().
    EndNotice notice() const;

private:
    std::int64_t number_of(const QueuedRun& queued) const;
    std::filesystem::path free_folder(std::int64_t number) const;

    SweepPlan plan_;
    std::shared_ptr<RunStore> store_;
    std::filesystem::path out_;
    RunQueue queue_;
    std::vector<QueueEntry> entries_;
    std::string batch_;
    EndNotice notice_{"sweep", {}, "done", {}};
};

}  // namespace engine
