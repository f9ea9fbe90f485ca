#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace engine {

/// A checkpoint in a run's folder: `checkpoint-STEP/` with weights.safetensors,
/// optimizer.safetensors, carried.safetensors where the task carries state, and state.json.
struct CheckpointInfo {
    std::filesystem::path folder;
    std::int64_t step = 0;   ///< steps that the run had made
    bool best = false;       ///< no evaluation before it was better; of several the newest is best
    std::int64_t bytes = 0;  ///< of its files
    std::string saved;       ///< local time, ISO 8601
};

/// The checkpoints of a run's folder whose state can be read, oldest first. Their other files are
/// checked when they are loaded.
std::vector<CheckpointInfo> list_checkpoints(const std::filesystem::path& run_folder);

/// "last", "best", or a number of steps. Throws Error(data), which lists the checkpoints, if none
/// matches.
CheckpointInfo find_checkpoint(const std::filesystem::path& run_folder, const std::string& which);

}  // namespace engine
