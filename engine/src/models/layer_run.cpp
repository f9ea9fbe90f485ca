#include "models/layer_run.h"

namespace engine::network {

LayerDraw LayerPass::draw(std::int64_t count) {
    if (random_ != nullptr) return {random_->source(), random_->take(count)};
    const LayerDraw drawn{*source_, next_};
    next_ += static_cast<std::uint64_t>(source_->share.of_all(count));
    return drawn;
}

LayerPass LayerPass::from_here(bool draws) const {
    LayerPass later(nullptr);
    later.training = training;
    later.sparse_gradients = sparse_gradients;
    later.state = state;
    later.next_state = next_state;
    later.source_ = source_;
    later.next_ = next_;
    if (draws && random_ != nullptr) {
        later.source_ = random_->source();
        later.next_ = random_->take(0);
    }
    return later;
}

Tensor LayerSetup::parameter(std::size_t index) const {
    if (index >= node.parameters.size()) return {};
    return tensors[static_cast<std::size_t>(node.parameters[index])];
}

TensorList LayerSetup::parameters() const {
    TensorList out;
    for (std::size_t i = 0; i < node.parameters.size(); ++i) out.push_back(parameter(i));
    return out;
}

Tensor LayerSetup::buffer(const std::string& role, const Shape& shape, double value, DType dtype) const {
    const std::string name = node.module + '.' + role;
    const auto [place, is_new] = buffers.try_emplace(name, registry.buffers.size());
    return is_new ? registry.buffer(name, shape, value, dtype) : registry.buffers[place->second].tensor;
}

std::optional<double> constant_start(const InitialRule& rule) {
    if (rule.rule == "zeros") return 0;
    if (rule.rule == "ones") return 1;
    if (rule.rule == "constant") return rule.numbers.front();
    return {};
}

const LayerRun& layer_run(const LayerKind& kind) {
    static const std::map<std::string, LayerRun, std::less<>> runs = [] {
        std::map<std::string, LayerRun, std::less<>> all;
#define HALFTONE_LAYER(name) all.emplace(#name, run_##name());
#include "network/kinds.inc"
#undef HALFTONE_LAYER
        return all;
    }();
    return runs.find(kind.name)->second;
}

std::vector<bool> low_parameters(const NetworkGraph& graph) {
    std::vector<bool> low(graph.parameters.size(), false);
    for (const GraphNode& node : graph.nodes) {
        const LayerRun::Low kind = layer_run(*node.kind).low;
        if (kind == LayerRun::Low::none) continue;
        for (const int index : node.parameters) {
            const auto at = static_cast<std::size_t>(index);
            low[at] = low[at] || kind == LayerRun::Low::all || graph.parameters[at].sizes.size() > 1;
        }
    }
    return low;
}

}  // namespace engine::network
