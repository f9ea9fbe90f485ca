#pragma once

#include <cstdint>
#include <string>

#include "engine/runs/run_store.h"

namespace engine {

/// Drafts a lesson from a run: its settings that differ from the defaults, its seed, and a check at
/// the selected step. parse_lesson() reads it without a problem if the data set is generated; the
/// path of a data set is left for the author, with a sentence that says so.
std::string draft_lesson(const RunSummary& run, std::int64_t step, const std::string& title);

}  // namespace engine
