#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "engine/runs/run_store.h"
#include "runs/shared_index.h"

// How a run gets into a store.
namespace engine {

/// RunStore::create(), import_runs() and reopen().
RunStore::NewRun create_run(SharedIndex& index, const RunConfig& config,
                            const std::filesystem::path& folder, const std::string& group);
std::vector<RunStore::NewRun> import_runs(SharedIndex& index, const std::filesystem::path& file);
RunStore::NewRun reopen_run(SharedIndex& index, const std::filesystem::path& folder,
                            std::int64_t step);

}  // namespace engine
