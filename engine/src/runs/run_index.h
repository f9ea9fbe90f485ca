#pragma once

#include <filesystem>
#include <limits>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "engine/runs/run_store.h"
#include "runs/database.h"
#include "runs/run_hold.h"
#include "runs/stored_run.h"

namespace engine {

/// An event and its place among the run's events, from 1, so that to write it twice is harmless.
struct NumberedEvent {
    std::int64_t number;
    Event event;
};

/// The SQLite index of the runs. Not thread-safe; several processes may share the file. Throws
/// Error(io), DamagedDatabase and BusyDatabase.
class RunIndex {
public:
    /// Opens or makes it. Throws Error(io) for an index of a later version of this program.
    explicit RunIndex(const std::filesystem::path& path);

    /// Writes down a run of this process, as it is after these events, and enters it if it is not
    /// there. Changes run.run if another run has that id.
    void write(RunSummary& run, const Moment& made, const std::vector<NumberedEvent>& events);
    /// An id for a new run: the name of its folder, with a number behind it if that is taken.
    std::string new_id(const std::filesystem::path& folder, bool name_is_taken);
    /// Who writes the run in this folder; remembers what was seen of another machine's lease, so
    /// that the next program need not begin to wait anew.
    LeaseState holder(const std::filesystem::path& folder);
    LeaseSighting sighting(const std::filesystem::path& folder);
    /// Harmless if the index cannot be written now.
    void see(const std::filesystem::path& folder, const LeaseSighting& seen);
    /// For a run that is not as the index has it: one that runs and that nobody holds, or one that
    /// was interrupted and is held. Takes over the state in its folder, unless another process has
    /// done so meanwhile. Returns the run as it is, also if the index cannot be written now.
    RunSummary settle(const RunSummary& run, bool held);
    /// The run as its folder has it, with its events up to a step that it goes on from. Returns
    /// their number.
    std::int64_t replace(RunSummary& run, const Moment& made, std::int64_t step);
    /// Enters runs from their folders, which the index does not know.
    void adopt(const std::vector<std::filesystem::path>& folders);
    /// Enters the run in this folder unless it is there, and returns it.
    RunSummary enter(const std::filesystem::path& folder);
    /// Drops all runs and enters the ones found in these folders.
    void rebuild(const std::vector<std::filesystem::path>& folders);

    void set_notes(const std::string& run, const RunNotes& notes);
    void remove(const std::string& run);
    /// RunSummary::group_number; a group that has none gets the next one.
    std::int64_t number_of_group(const std::string& group);

    std::vector<RunSummary> list();
    std::optional<RunSummary> find(const std::string& run);
    std::vector<Event> events(const std::string& run, const EventFilter& keep = keep_every_event);
    bool has(const std::string& run) { return folder_of(run).has_value(); }
    std::set<std::string> folders();
    /// Folders of runs without an end.
    std::vector<std::filesystem::path> unended_folders();

private:
    std::string enter_folder(const std::filesystem::path& folder);
    std::vector<RunSummary> rows();
    void put(const RunSummary& run, const Moment& made, const std::vector<NumberedEvent>& events);
    void put_row(const RunSummary& run, const Moment& made);
    std::int64_t add_events(const std::string& run, const std::filesystem::path& folder,
                            std::int64_t until = std::numeric_limits<std::int64_t>::max());
    void update(const RunSummary& run);
    void drop_events(const std::string& run);
    void add_event(const std::string& run, const NumberedEvent& event);
    std::optional<std::filesystem::path> folder_of(const std::string& run);
    std::optional<std::string> run_in(const std::filesystem::path& folder);
    void take_id(RunSummary& run);
    void forget(const std::string& run);

    Database database_;
};

}  // namespace engine
