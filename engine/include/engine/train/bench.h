#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <vector>

#include "engine/base/message.h"
#include "engine/settings/run_config.h"

namespace engine {

class Communicator;

struct BenchOptions {
    std::int64_t steps = 50;  ///< a block
    std::int64_t blocks = 7;
    std::int64_t warm_up = 10;
    /// Called before each block, so that something else can be measured in between. Returning false
    /// ends the bench. Null: never ends it.
    std::function<bool()> goes_on;
    std::function<void(double step_ms)> after_block;  ///< may be null
    /// Connects the ranks of a bench of data-parallel steps; all of them run it. Null: one process.
    std::shared_ptr<Communicator> communicator{};
};

struct BenchResult {
    std::vector<double> block_step_ms;  ///< mean time of a step, one a block
    double median_step_ms = 0;
    double spread_ms = 0;    ///< largest block less smallest
    double steps_per_s = 0;  ///< from the median
    double samples_per_s = 0;
    std::int64_t peak_bytes = 0;
    std::int64_t threads = 0;
    double host_step_ms = 0;          ///< of it what the host takes to give a step to the device
    double launches_a_step = 0;       ///< on a GPU: kernels, or whole graphs, given one by one
    std::int64_t graph_nodes = 0;     ///< of the recorded step; 0: steps are not replayed
    std::vector<float> first_losses;  ///< of at most 20 steps
    /// For steps of several ranks: the time in which gradients were exchanged, and the share of it
    /// during the backward pass. NaN in one process.
    double exchange_ms = std::numeric_limits<double>::quiet_NaN();
    double exchange_hidden_share = std::numeric_limits<double>::quiet_NaN();
    std::vector<Message> warnings;  ///< why it is slower than it could be
};

/// Speed of training steps of these settings on random data that is already on the device: after a
/// warm-up, blocks of steps, nothing else running in them. The settings must have passed
/// validate(). Throws Error.
BenchResult run_bench(const RunConfig& config, const BenchOptions& options);

}  // namespace engine
