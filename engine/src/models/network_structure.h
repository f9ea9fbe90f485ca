#pragma once

#include <string>
#include <vector>

#include "network/graph.h"

/// The order and the modules in which the layers of a network run, in its plan and on types.
namespace engine::network {

/// Layers that are computed together, in place of the one at `at`.
struct Join {
    enum class Kind {
        none,
        norm_relu,      ///< batch norm, relu
        norm_add_relu,  ///< batch norm, sum, relu
        linear_relu,
        linear_chain,  ///< linear layers with relu between them
        sum_norm       ///< sum, layer norm
    };
    Kind kind = Kind::none;
    std::vector<int> nodes{};  ///< in their order, without the relus of a chain
    int at = 0;
};

/// Finds layers that are computed together where the models of models/ do so, in the order in which
/// they run. `keeps_blocks`: no layers of two blocks.
std::vector<Join> find_joins(const NetworkGraph& graph, bool keeps_blocks);

/// A module that contains a layer.
struct ModulePlace {
    std::string module{};
    int use = -1;  ///< the use of a block, in bodies, whose module this is; -1: none
    friend bool operator==(const ModulePlace&, const ModulePlace&) = default;
};

/// The modules of a network. The graph must outlive it.
class NetworkModules {
public:
    explicit NetworkModules(const NetworkGraph& graph);

    /// Whether the layer is a module of its own. Those without a label or parameters belong to the
    /// module around them.
    static bool is_module(const GraphNode& node) { return node.own_module && (node.labelled || node.kind->weighted); }
    /// The modules that contain a node, outermost first.
    std::vector<ModulePlace> around(int node) const;
    /// How many of the node's values, from the first on, others read.
    std::size_t used_outputs(int node) const;

private:
    const NetworkGraph& graph_;
    std::vector<int> block_uses_;  // of each node
    std::vector<bool> used_;       // values
};

}  // namespace engine::network
