#pragma once

#include <chrono>
#include <filesystem>
#include <optional>

#include "data/dataset.h"
#include "engine/runs/run_store.h"
#include "engine/train/session_options.h"
#include "record/step_record.h"
#include "runs/run_hold.h"
#include "train/run/run_listener.h"

namespace engine {

/// A run's folder: its record, the description of its data, and the right to write them. A rank
/// that follows has none: nothing is written there.
class RunHome final : public RunListener {
public:
    /// All must outlive it. `store`: null on a rank that follows.
    RunHome(const RunConfig& config, const SessionOptions& options, const DataParts& data,
            RunStore* store, PostEvent post);

    /// The folder and record of a new run, with that many columns of the task's metrics.
    void create(std::size_t metrics, const record_layout::OptionalColumns& optional);
    /// The folder and record of the run that goes on after this many steps. Throws Error(state) if
    /// another program has resumed the run since this was planned: to go on would take its steps
    /// back.
    void reopen(const Continuation& from, std::int64_t step, std::size_t columns);
    /// Copies the parent's rows, events, pictures and observations up to the checkpoint, so that
    /// the new run's curves and pages are complete. `epoch_ended`: the epoch that ended with it is
    /// evaluated and reported by this run.
    void copy_parent(const std::filesystem::path& parent, std::int64_t step, bool epoch_ended);

    /// Its parts are empty before create() and reopen().
    const RunStore::NewRun& place() const { return place_; }
    /// Empty before create() and reopen().
    StepRecordReader record() const { return writer_ ? writer_->reader() : StepRecordReader(); }
    /// Throws Error(state) if another program has taken the run over.
    void check_hold() const {
        if (place_.hold) place_.hold->check();
    }
    bool is_taken_over() const { return place_.hold && place_.hold->is_lost(); }
    void append(const StepRecord& row) {
        if (writer_) writer_->append(row);
    }
    /// Throws Error if another program has removed the folder or cut the record short. At most
    /// once a second, unless `now`.
    void check_files(bool now);

    /// Peak memory of all recorded steps, including those that are computed again; 0: unknown.
    std::int64_t recorded_peak() const { return recorded_peak_; }
    /// The last row of the run's earlier parts; step 0: there is none.
    const StepRecord& last_row() const { return last_row_; }
    /// Seconds since 1970 (UTC), not before those of the last step: the system's clock may be set
    /// back while a run is under way.
    double clock_now();

    /// Keeps its pictures, and the checksums of files that were decoded for the first time.
    RunRequest on_evaluation(const Evaluated& evaluated) override;
    RunRequest on_end(std::int64_t step, std::int64_t epoch) override;

private:
    void keep_data();
    template <typename F>
    void unless_disk_full(std::int64_t step, const F& write) const;
    void read_last_row(std::int64_t step);

    const RunConfig& config_;
    const SessionOptions& options_;
    const DataParts& data_;
    RunStore* store_;
    PostEvent post_;
    RunStore::NewRun place_;
    std::optional<StepRecordWriter> writer_;
    std::int64_t kept_hashes_ = 0;  // files whose checksum the folder has
    std::int64_t recorded_peak_ = 0;
    double clock_s_ = 0;  // of the step recorded last; 0: unknown
    StepRecord last_row_{};
    std::chrono::steady_clock::time_point checked_{};
};

}  // namespace engine
