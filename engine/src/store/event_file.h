#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "engine/event.h"
#include "store/run_folder.h"

namespace engine {

/// Removes what a run resumed at `step` invalidates: events of later steps, and its end.
void take_back_after(std::int64_t step, std::vector<Event>& events);

/// events.jsonl of a run. It is read line by line, so that its length costs no memory. Lines that
/// are cut off, damaged or longer than 1 MiB are left out.
class EventFile {
public:
    /// Goes over the file once, for who made the run and where it was resumed.
    explicit EventFile(const std::filesystem::path& run_folder);

    /// The id that the run was made under; empty if that line is lost.
    const std::string& run() const { return run_; }
    /// 0 microseconds if that line is lost.
    const Moment& made() const { return made_; }
    /// RunSummary::group.
    const std::string& group() const { return group_; }
    /// RunSummary::group_number when the run was made; 0: not known.
    std::int64_t group_number() const { return group_number_; }

    /// Goes over the file again: calls take() for each event, in order, but those that a resumed
    /// run invalidated.
    void for_each(const std::function<void(Event&&)>& take) const;

private:
    /// A run went on here: of the events of earlier lines those up to `step` count.
    struct Resumed {
        std::int64_t line, step;
    };

    void read_made(const std::string& line);

    std::filesystem::path file_;
    std::string run_, group_;
    std::int64_t group_number_ = 0;
    Moment made_;
    std::vector<Resumed> resumed_;
};

/// The lines of the events up to a step, without the end of the run. One that is cut off is left
/// out.
std::string event_lines_until(const std::filesystem::path& run_folder, std::int64_t step);
/// All events of a run at once.
std::vector<Event> read_events(const std::filesystem::path& run_folder);

}  // namespace engine
