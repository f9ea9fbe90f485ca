#pragma once

#include <filesystem>
#include <functional>

#include "engine/base/message.h"
#include "train/step/training_state.h"

namespace engine {

/// Whether weights, buffers, optimizer state and carried state are finite.
bool is_finite(const TrainingState& state);

/// Finds the step that made the state non-finite before `step`. Computes the run again, from the
/// newest checkpoint with a finite state, else from the start, until the state is non-finite. 0:
/// the state was non-finite from the start, or is finite. Throws Error as RunReplay does.
std::int64_t step_that_damaged(const std::filesystem::path& run_folder, std::int64_t step,
                               const std::function<void(const Message&)>& progress);

}  // namespace engine
