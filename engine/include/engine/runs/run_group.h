#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engine/runs/run_store.h"

namespace engine {

/// The runs of one comparison or sweep (RunSummary::group), oldest first.
using GroupRuns = std::vector<RunSummary>;

/// The name of a group on the command line: "g3".
std::string group_name(std::int64_t number);
/// The number in such a name; nothing for another text.
std::optional<std::int64_t> number_in_group_name(std::string_view name);

/// Whether runs of this RunSummary::group are those of a sweep.
bool is_sweep_group(std::string_view group);
/// An id for the runs of one comparison that waits in the queue, where they are begun together.
std::string new_queued_comparison();
bool is_queued_comparison(std::string_view group);

/// Out of a history, newest first, as RunStore::list() returns it.
GroupRuns runs_of_group(std::span<const RunSummary> history, std::string_view group);
GroupRuns runs_of_group(std::span<const RunSummary> history, std::int64_t number);
/// The group that all of these runs belong to; empty if there is none, or more than one.
std::string common_group(std::span<const RunSummary> runs);

/// "Comparison 3", "Sweep 4".
Message group_title(const RunSummary& one);
/// How the group did, as RunSummary::state: running while one of its runs is, then interrupted,
/// stopped or failed if one of them is. A run that diverges beside one that does not is a result:
/// the group is then done.
std::string group_state(std::span<const RunSummary> runs);
/// Whether a run of a group can go on: it was stopped, killed, or failed.
bool is_unfinished(const RunSummary& run);

/// The group for a terminal: what it is, how it did, its runs, and how they differ.
std::string group_page(const GroupRuns& runs);
/// The group as one JSON object, a line without a newline; its runs by their ids.
std::string group_json_line(const GroupRuns& runs);

}  // namespace engine
