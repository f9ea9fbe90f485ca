#pragma once

#include <filesystem>
#include <functional>

#include "engine/message.h"
#include "train/training_state.h"

namespace engine {

/// Whether weights, buffers, optimizer state and carried state are finite.
bool is_finite(const TrainingState& state);

/// The step that made a state which is not finite before `step`: from the newest checkpoint whose
/// state is finite, else from the start, the run is computed again until it is not. 0: the state
/// was damaged from the start, or is finite. Throws Error as RunReplay does.
std::int64_t step_that_damaged(const std::filesystem::path& run_folder, std::int64_t step,
                               const std::function<void(const Message&)>& progress);

}  // namespace engine
