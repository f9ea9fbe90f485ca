#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "engine/runs/run_store.h"

namespace engine {

/// Bytes that the files of a folder occupy on disk. A file with holes counts without them; links
/// are not followed. 0: there is no such folder.
std::int64_t disk_bytes(const std::filesystem::path& folder);

/// Fills what takes a look into each run's folder: RunSummary::disk_bytes and loss_sketch. Keeps it
/// for runs that have ended: a folder is looked at again when a file or a checkpoint came to it or
/// left it. One thread at a time.
class FolderFigures {
public:
    /// `sketch`: the most values of a loss sketch; 0: none.
    explicit FolderFigures(int sketch = 0) : sketch_(sketch) {}
    void fill(std::span<RunSummary> runs);

private:
    struct Measured {
        std::filesystem::file_time_type changed;
        std::int64_t bytes = 0;
        std::vector<float> losses = {};
    };
    int sketch_;
    std::map<std::string, Measured> known_;  ///< by folder
};

/// The checkpoints of a run other than its best and its last one.
struct SpareCheckpoints {
    std::int64_t count = 0;
    std::int64_t bytes = 0;
};
SpareCheckpoints spare_checkpoints(const std::filesystem::path& run_folder);

/// Removes them, and what a killed process left of unfinished ones. Returns what was removed.
/// Throws Error(state) for a run that a process is training, and Error(io).
SpareCheckpoints free_checkpoints(const std::filesystem::path& run_folder);

}  // namespace engine
