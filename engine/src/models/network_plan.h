#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "models/layer_run.h"

/// The order in which a network's layers run, with their values.
namespace engine::network {

/// A layer, or several that are computed together.
struct PlanStep {
    LayerFunction run{};
    ModuleName module{};          ///< opened around it, if `opens`
    bool opens = false;
    std::vector<int> inputs{};    ///< values of the graph
    std::vector<bool> last{};     ///< of each input: nothing reads it later
    std::vector<int> outputs{};   ///< values that are read later; -1: one that is not
};

/// Steps and parts in a module that contains them.
struct PlanPart {
    ModuleName module{};
    bool is_block = false;  ///< can be computed again: a use of a block
    struct Item {
        int step = -1;  ///< of the plan; -1: the part
        int part = -1;  ///< in `parts`
    };
    std::vector<Item> items{};
    std::vector<PlanPart> parts{};
    // A block's values that it takes from outside and gives to it.
    std::vector<int> inputs{}, outputs{};
    std::vector<bool> last{};  ///< of each input: nothing reads it later
    bool draws = false;        ///< random numbers
};

struct Plan {
    std::vector<PlanStep> steps{};
    PlanPart whole{};
};

struct PlanSetup {
    const NetworkGraph& graph;
    TensorRegistry& registry;
    Device device;
    std::span<const Tensor> tensors;
    BufferPlaces& buffers;  ///< grow with the layers' buffers
    /// Layers of two blocks are not computed together: each block can be computed again.
    bool keeps_blocks = false;
    std::optional<double> frozen_eps{};  ///< BatchNorm2d is frozen, with this eps
};
Plan make_plan(const PlanSetup& setup);

/// Runs it on the values of the graph's inputs, which `values` holds at their places. Leaves those
/// of its outputs there. `recompute`: blocks keep their inputs alone for the backward pass. `after`
/// is called behind each of the plan's outermost steps and parts, and may be empty.
void run_plan(const Plan& plan, TensorList& values, LayerPass& pass, bool recompute, const std::function<void()>& after = {});

}  // namespace engine::network
