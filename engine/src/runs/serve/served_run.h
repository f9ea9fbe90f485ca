#pragma once

#include <cstdint>
#include <deque>
#include <filesystem>
#include <mutex>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>

#include "engine/record/step_record.h"
#include "engine/runs/followed_run.h"
#include "engine/runs/run_store.h"
#include "runs/serve/step_buckets.h"

namespace engine {

/// A run as the page of `halftone serve` shows it, also one that goes on. Its memory does not
/// depend on the number of steps. Thread-safe.
class ServedRun {
public:
    explicit ServedRun(std::filesystem::path folder);

    /// Looks at the folder, and returns the run as an object: figures of now, and those buckets and
    /// events that have come or changed since an answer with this cursor. All of them for an empty
    /// or unknown cursor, and where steps were taken back. "behind" is true while many rows or
    /// events of a long run are left to read. Throws Error(data) if the record cannot be read.
    nlohmann::ordered_json answer(std::string_view cursor);
    /// As it was after the last answer.
    RunSummary summary() const;

private:
    struct KeptEvent {
        std::int64_t number;
        Event event;
    };
    struct Cursor;

    void look();
    void begin();
    bool has_gone_on();
    void take(const Event& event);
    void keep(std::deque<KeptEvent>& list, std::size_t most, const Event& event);
    void take_back_after(std::int64_t step);
    void read_from_start();
    void read_rows();
    nlohmann::ordered_json figures() const;
    nlohmann::ordered_json figures_of_last_step() const;
    std::string state() const;

    const std::filesystem::path folder_;
    mutable std::mutex mutex_;  ///< guards the rest
    std::optional<FollowedRun> followed_;
    std::optional<StepRecordReader> record_;
    RunSummary summary_;
    std::string device_;
    std::int64_t planned_ = 0;
    StepBuckets steps_;
    std::string generation_;  ///< another one when buckets that were sent do not count any more
    std::deque<KeptEvent> events_, scale_events_;  ///< the newest
    std::int64_t event_count_ = 0;
    std::int64_t events_bytes_ = 0;  ///< of the file when the run was over
};

}  // namespace engine
