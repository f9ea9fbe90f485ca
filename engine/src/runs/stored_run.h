#pragma once

#include <filesystem>
#include <vector>

#include "engine/record/figures.h"
#include "engine/runs/run_store.h"
#include "runs/event_file.h"
#include "runs/run_folder.h"
#include "runs/run_hold.h"

namespace engine {

inline constexpr char running_state[] = "running";
inline constexpr char interrupted_state[] = "interrupted";
inline constexpr char missing_state[] = "missing";

/// Brings a summary up to date with an event.
void apply(RunSummary& summary, const Event& event);
/// Updates a summary from the run's record and events; leaves it unchanged if there is no row. The
/// evaluations of a summary that is kept up to date by apply() need no events.
void apply_record(RunSummary& summary, const FigureEvents& events = {});

/// Who trains a run that is "running", and how.
void set_holder(RunSummary& summary, const LeaseState& holder);

/// A run as its folder has it. Where the index differs, the folder is right.
struct StoredRun {
    RunSummary summary;  ///< its id is the one that it was made under; empty if that is lost
    Moment made;
    std::vector<Event> events;
};

/// Reads a folder that holds settings. A run without an end whose process is gone is "interrupted".
/// Damaged files are used as far as they can be read. Events for which `keep` is false are not
/// kept, so that the memory does not depend on their number.
StoredRun read_stored_run(const std::filesystem::path& folder,
                          const EventFilter& keep = keep_every_event);
/// Reads a run of which it is known whether a program writes it.
StoredRun read_stored_run_as(bool held, const std::filesystem::path& folder,
                             const EventFilter& keep = keep_every_event);

}  // namespace engine
