#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/record/event.h"
#include "runs/run_folder.h"

namespace engine {

/// Whether a run that goes on after `step` invalidates the event: it is of a later step, or an end.
bool is_taken_back(const Event& event, std::int64_t step);
/// Removes what a run resumed at `step` invalidates.
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
    /// run invalidated. One event is in memory at a time, so that those who need all of them can
    /// read a run of any length.
    void for_each(const std::function<void(Event&&)>& take) const;

private:
    /// A run went on here: of the events of earlier lines those up to `step` count.
    struct Resumed {
        std::int64_t line, step;
    };

    void read_made(const std::string& line);
    void note_turns(RunStarted& started) const;

    std::filesystem::path file_;
    std::string run_, group_;
    std::int64_t group_number_ = 0;
    Moment made_;
    std::vector<Resumed> resumed_;
};

/// Calls take() for each of the first `lines` lines of the events up to a step, with its newline,
/// without the end of the run. A line that is cut off is left out. Returns the number of lines that
/// were read, so that a second reading ends where the first one did while the run goes on.
std::int64_t each_event_line_until(
    const std::filesystem::path& run_folder, std::int64_t step,
    const std::function<void(std::string_view)>& take,
    std::int64_t lines = std::numeric_limits<std::int64_t>::max());
/// How the run in the folder was started last; nothing if its events do not say.
std::optional<RunStarted> last_start(const std::filesystem::path& run_folder);

/// The lines of a file that another process appends to, as they become whole.
class LineTail {
public:
    explicit LineTail(std::filesystem::path file) : path_(std::move(file)) {}

    /// Calls take(line) for the whole lines since the last call, at most so many bytes of them, so
    /// that a call stays short. True if there are more. Throws Error(data) for a file that was replaced or
    /// truncated, that is no plain file, or that has a line above 1 MiB. Does nothing while there
    /// is no file.
    bool read(const std::function<void(std::string_view)>& take,
              std::size_t most = std::size_t{1} << 20);

private:
    void check_same(std::uint64_t device, std::uint64_t inode, std::int64_t size);

    std::filesystem::path path_;
    std::string rest_;         ///< of a line that is not whole yet
    std::int64_t offset_ = 0;  ///< of what was read
    std::uint64_t device_ = 0, inode_ = 0;
    bool found_ = false;
};

}  // namespace engine
