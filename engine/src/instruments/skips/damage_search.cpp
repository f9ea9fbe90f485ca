#include "instruments/skips/damage_search.h"

#include <cmath>
#include <ranges>

#include "engine/base/error.h"
#include "engine/runs/checkpoint.h"
#include "instruments/replay/run_replay.h"
#include "instruments/replay/tensor_scan.h"
#include "train/run/saved_run.h"

namespace engine {
namespace {

bool is_finite(const TensorMap& tensors) {
    for (const auto& [name, tensor] : tensors) {
        if (is_floating(tensor.dtype()) && !std::isfinite(largest_magnitude(tensor))) return false;
    }
    return true;
}

/// The step of the newest checkpoint before `step` whose state is finite; 0: none.
std::int64_t newest_finite(const std::filesystem::path& run_folder, std::int64_t step) {
    for (const CheckpointInfo& each : std::views::reverse(list_checkpoints(run_folder))) {
        if (each.step >= step) continue;
        try {
            if (is_finite(read_saved_run(each.folder).training)) return each.step;
        } catch (const Error&) {
            continue;  // a damaged file
        }
    }
    return 0;
}

}  // namespace

bool is_finite(const TrainingState& state) {
    return is_finite(state.weights) && is_finite(state.optimizer) && is_finite(state.carried);
}

std::int64_t step_that_damaged(const std::filesystem::path& run_folder, std::int64_t step,
                               const std::function<void(const Message&)>& progress) {
    RunReplay replay(run_folder, step, newest_finite(run_folder, step));
    if (!is_finite(replay.state())) return 0;
    while (replay.remaining() > 0) {
        const std::int64_t next = step - replay.remaining();
        progress(msg("Looking for the step that damaged the state: step {}", next));
        replay.advance();
        if (!is_finite(replay.state())) return next;
    }
    return 0;
}

}  // namespace engine
