#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "network/graph.h"
#include "network/python_text.h"

namespace engine::network {

/// A layer in PyTorch. In texts {0}, {1}, ... are its inputs and {m} its module.
struct PytorchForm {
    std::optional<Python> module{};    ///< makes the module; none: it has no module
    std::optional<Python> function{};  ///< computes it without a module; none: it needs one
    std::optional<Python> run{};       ///< runs the module where that is not {m}({0})
    bool gives_pair = false;           ///< the module returns its value and something else
    /// Second outputs, in the order of the node's, from {s}, the second thing that the module returns.
    std::vector<std::string> further{};
    std::vector<std::string> helpers{};  ///< parts of the file that it uses: see pytorch_helper()
};

/// Whether the kind has a part for PyTorch.
bool has_pytorch_form(const LayerKind& kind);

/// The form of a layer. Throws Error(settings) for a kind without one.
PytorchForm pytorch_form(const NetworkGraph& graph, const GraphNode& node);

}  // namespace engine::network
