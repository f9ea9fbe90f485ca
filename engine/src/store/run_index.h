#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "engine/run_store.h"
#include "store/database.h"
#include "store/run_folder.h"

namespace engine {

/// Brings a summary up to date with an event.
void apply(RunSummary& summary, const Event& event);

/// The SQLite index of the runs. Not thread-safe; several processes may share the file. Throws
/// Error(io), and DamagedDatabase.
class RunIndex {
public:
    /// Opens or makes it.
    explicit RunIndex(const std::filesystem::path& path);

    void insert(const RunSummary& run, const Moment& made);
    /// Writes the event down, and the summary as it is after it.
    void append(const RunSummary& after, const Event& event);
    void update(const RunSummary& run);
    void set_notes(const std::string& run, const std::string& notes);
    void set_tags(const std::string& run, const std::string& tags);

    std::vector<RunSummary> list();
    std::optional<RunSummary> find(const std::string& run);
    std::vector<Event> events(const std::string& run);
    bool has(const std::string& run);
    /// The folder's name, with a number behind it if another run has that name.
    std::string free_id(const std::filesystem::path& folder);

    /// Drops all runs and enters the ones found in these folders.
    void rebuild(const std::vector<std::filesystem::path>& folders);

private:
    void make_tables();
    void add_run(const RunSummary& run, const Moment& made);
    void enter_folder(const std::filesystem::path& folder);
    void add_event(const std::string& run, const Event& event);

    Database database_;
};

}  // namespace engine
