#pragma once

#include <functional>
#include <nlohmann/json_fwd.hpp>

#include "engine/runs/checkpoint.h"
#include "tensor/tensor.h"

namespace engine {

/// The contents of a checkpoint. The state is a JSON object defined by the caller, except for
/// "step" and "best", and for "version", "saved" and "files", which are added on writing.
struct CheckpointContent {
    TensorMap weights, optimizer;
    TensorMap carried;       ///< empty: no such file
    TensorMap quantization;  ///< empty: no such file
    std::shared_ptr<nlohmann::json> state;
};

/// Writes `checkpoint-STEP` beside its place, with the sha256 of each file in its state, and
/// renames it there. One that is there already is replaced. Returns its bytes. `before_move` is
/// called before that and may throw. Throws Error(io), having removed what was written.
std::int64_t write_checkpoint(const std::filesystem::path& run_folder,
                              const CheckpointContent& content,
                              const std::function<void()>& before_move = {});

/// Exchanges the names of two folders, which happens as one. False where the file system cannot.
bool exchange_folders(const std::filesystem::path& one, const std::filesystem::path& other);
using FolderExchange = bool (*)(const std::filesystem::path&, const std::filesystem::path&);
/// Puts the finished folder `written` in its place. What was there is removed when the new one is
/// there: without `exchange` it waits beside its place, as "checkpoint-STEP.old.part", and comes
/// back if the new one cannot be moved. Throws Error(io).
void move_into_place(const std::filesystem::path& written, const std::filesystem::path& place,
                     FolderExchange exchange);
/// Whether it is named like a checkpoint that waits so: no sweep may remove it unseen.
bool is_replaced_checkpoint(const std::filesystem::path& path);
/// Puts a checkpoint back that a killed process had moved aside for a new one and not yet replaced;
/// removes it if the new one is there. For the folder of a run that no other process holds.
void settle_replaced_checkpoints(const std::filesystem::path& run_folder);

/// Reads a checkpoint and compares each file with its sha256. Throws Error(data).
CheckpointContent read_checkpoint(const std::filesystem::path& checkpoint);

/// A folder with the name of a checkpoint, whatever is in it.
struct CheckpointFolder {
    std::filesystem::path folder;
    std::int64_t step = 0;
};
/// The file with the weights of a checkpoint.
std::filesystem::path checkpoint_weights(const std::filesystem::path& checkpoint);
/// Lists the checkpoints of a run, oldest first. Throws Error(data) if the run's folder cannot be
/// read.
std::vector<CheckpointFolder> checkpoint_folders(const std::filesystem::path& run_folder);

/// Whether a later version of this program wrote it.
bool is_of_later_version(const std::filesystem::path& checkpoint);
/// Where a damaged checkpoint is moved to: a name beside it that no checkpoint has.
std::filesystem::path aside_of(const std::filesystem::path& checkpoint);

/// Removes all but the newest `keep` checkpoints and the best one, and partial ones that a killed
/// process left. For the process that holds the run's lock.
void prune_checkpoints(const std::filesystem::path& run_folder, std::int64_t keep);

}  // namespace engine
