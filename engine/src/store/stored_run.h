#pragma once

#include <filesystem>
#include <vector>

#include "engine/run_store.h"
#include "store/run_folder.h"

namespace engine {

inline constexpr char running_state[] = "running";

/// Brings a summary up to date with an event.
void apply(RunSummary& summary, const Event& event);
/// Brings a summary up to date with the last row of the run's record; keeps it as it is where there
/// is none.
void apply_record(RunSummary& summary);

/// A run as its folder has it. Where the index differs, the folder is right.
struct StoredRun {
    RunSummary summary;  ///< its id is the one that it was made under; empty if that is lost
    Moment made;
    std::vector<Event> events;
};

/// Reads a folder that holds settings. A run without an end whose process is gone is "interrupted".
/// Damaged files count as far as they can be read.
StoredRun read_stored_run(const std::filesystem::path& folder);

}  // namespace engine
