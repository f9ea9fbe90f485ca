#pragma once

#include <optional>
#include <string>
#include <vector>

#include "network/kinds.h"

namespace engine::network {

/// A tensor that the network learns, or reads at its beginning (fixed).
struct GraphParameter {
    std::string name{};  ///< "layer1.0.conv1.weight"
    std::vector<std::int64_t> sizes{};
    InitialRule initial{};
    bool fixed = false;
    bool chosen = false;  ///< the text says `initial`; else it is the kind's
    int node = 0;  ///< the first that uses it
};

/// A tensor that a layer keeps and does not learn, such as running statistics.
struct GraphBuffer {
    std::string name{};
    std::vector<std::int64_t> sizes{};
    std::size_t parameters = 0;  ///< that were made before it
};

/// A tensor of PyTorch's state_dict.
struct GraphState {
    bool buffer = false;
    int index = 0;  ///< among the graph's buffers or parameters
};

struct GraphValue {
    TensorType type{};
    int node = -1;       ///< -1: an input of the network
    std::string role{};  ///< "hidden" of LSTM's second value; empty: the first
    std::string name{};  ///< an input's field, or "x" of a line "x = ..."
};

/// A layer as it runs.
struct GraphNode {
    const LayerKind* kind = nullptr;
    LayerArguments arguments{};
    std::vector<int> inputs{}, outputs{};  ///< values
    std::vector<int> parameters{};         ///< in the order of the kind
    std::string module{};                  ///< "layer1.0.conv1"; of one that is no module the one around it
    bool own_module = false;
    bool labelled = false;  ///< its module's name is written, not counted
    TextPlace place{};
    std::vector<NetworkHead> heads{};  ///< around it, the outermost first
    double flops = 0;  ///< forward pass of one sample; T counts as 1
};

/// A body as it runs: a use of a block, a container, or a repeat with a label and its runs.
struct GraphBody {
    std::string module{};  ///< "layer1.0"
    std::string block{};   ///< the block that it uses; empty: none
    TextPlace place{};     ///< the line that makes the module
    int first = 0, end = 0;  ///< its nodes; none: it passes its input
    std::vector<int> inputs{};               ///< values
    std::vector<std::string> input_names{};  ///< of a block's `of`; empty: one, called "in"
    int output = -1;
    bool again = false;  ///< the module has run before
};

/// The network for given data, sizes and options: nodes in the order of the text, which is also an
/// order in which they can run.
struct NetworkGraph {
    std::vector<int> inputs{};  ///< values, in the order of the text
    std::vector<int> fields{};  ///< of each input: its place in NetworkData::inputs
    std::vector<GraphValue> values{};
    std::vector<GraphNode> nodes{};
    std::vector<GraphBody> bodies{};  ///< in the order in which they begin
    std::vector<GraphParameter> parameters{};  ///< in each module before those of its modules
    std::vector<GraphBuffer> buffers{};        ///< in the order of the text
    std::vector<GraphState> state{};           ///< parameters and buffers: in each module its parameters, its buffers, its modules
    std::vector<int> outputs{};                ///< values; several for stages alone
    std::string prefix{};                      ///< "backbone.body.": all names begin with it, but it is no module of the network
};

/// Puts it before the names of all modules, parameters and buffers.
void add_prefix(NetworkGraph& graph, const std::string& prefix);

/// Puts the parameters into the order of PyTorch's state_dict, in each module its own before those
/// of its modules, both in the order of the text, and sets `state`.
void order_parameters(NetworkGraph& graph);

inline constexpr std::size_t stage_count = 4;
/// "layer1"
inline std::string stage_label(std::size_t stage) { return "layer" + std::to_string(stage + 1); }

/// Says what is wrong with the values that the network ends with, for what the text says it gives.
std::optional<Failure> check_outputs(const NetworkGraph& graph, const NetworkSyntax& syntax, const NetworkData& data);

}  // namespace engine::network
