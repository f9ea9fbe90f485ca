#pragma once

#include <functional>
#include <optional>
#include <string_view>

#include "engine/network/network.h"
#include "models/model.h"
#include "models/network_plan.h"

namespace engine::network {

/// How the values of an input are used.
struct InputUse {
    bool casts_first = true;  ///< products and convolutions alone compute with them
    bool convolved = true;    ///< two-dimensional convolutions alone read them
};

/// A written network with its tensors.
class NetworkBody {
public:
    /// Draws the tensors, which `registry` takes. `frozen_eps`: BatchNorm2d are frozen, with this
    /// eps. Both must stay where they are while it lives.
    NetworkBody(NetworkGraph graph, TensorRegistry& registry, const Device& device, std::optional<double> frozen_eps = {});
    NetworkBody(const NetworkBody&) = delete;
    NetworkBody& operator=(const NetworkBody&) = delete;

    /// Runs the network on `inputs` and returns its outputs. `model` owns the tensors. Calls `seen`
    /// with each output, in order, as soon as the outermost module around it ends.
    using Seen = std::function<void(std::size_t output, const Tensor& value)>;
    TensorList run(const Model& model, const TensorList& inputs, LayerPass& pass, const Seen& seen = {}) const;

    const NetworkGraph& graph() const { return graph_; }
    /// Use of all inputs that are no whole numbers.
    InputUse input_use() const;

private:
    void add_aliases(TensorRegistry& registry) const;

    NetworkGraph graph_;
    TensorList tensors_;  // of the graph's parameters
    Plan plan_, block_plan_;
    bool has_blocks_ = false;
};

/// The graph of a text for a model of this shape. Throws Error(settings) with the first fault, and
/// how many there are.
NetworkGraph faultless_graph(std::string_view text, const NetworkData& data, bool has_file);

}  // namespace engine::network
