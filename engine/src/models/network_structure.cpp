#include "models/network_structure.h"

#include <algorithm>

namespace engine::network {
namespace {

/// The use of a block, in bodies, that each node is in: the outermost; -1: none.
std::vector<int> uses_of_blocks(const NetworkGraph& graph) {
    std::vector<int> uses(graph.nodes.size(), -1);
    for (std::size_t i = 0; i < graph.bodies.size(); ++i) {
        const GraphBody& body = graph.bodies[i];
        if (body.block.empty()) continue;
        for (int node = body.first; node < body.end; ++node) {
            int& use = uses[static_cast<std::size_t>(node)];
            use = use < 0 ? static_cast<int>(i) : use;
        }
    }
    return uses;
}

std::string module_around(const std::string& name) {
    const std::size_t dot = name.rfind('.');
    return dot == name.npos ? std::string() : name.substr(0, dot);
}

class Joiner {
public:
    Joiner(const NetworkGraph& graph, bool keeps_blocks) : graph_(graph), keeps_blocks_(keeps_blocks), modules_(graph), block_uses_(uses_of_blocks(graph)), taken_(graph.nodes.size(), false), readers_(graph.values.size()), uses_(graph.parameters.size(), 0) {
        for (std::size_t i = 0; i < graph.nodes.size(); ++i) {
            for (const int value : graph.nodes[i].inputs) readers_[at(value)].push_back(static_cast<int>(i));
            for (const int parameter : graph.nodes[i].parameters) ++uses_[at(parameter)];
        }
        for (const int value : graph.outputs) readers_[at(value)].push_back(-1);
    }

    std::vector<Join> joins() {
        for (int i = 0; i < static_cast<int>(graph_.nodes.size()); ++i) {
            if (taken_[at(i)]) continue;
            const std::string& kind = node(i).kind->name;
            if (kind == "Linear") linear(i);
            else if (kind == "BatchNorm2d") batch_norm(i);
            else if (kind == "Add") sum(i);
            if (!taken_[at(i)]) take({Join::Kind::none, {i}, i});
        }
        std::ranges::sort(joins_, {}, &Join::at);
        return std::move(joins_);
    }

private:
    static std::size_t at(int index) { return static_cast<std::size_t>(index); }
    const GraphNode& node(int index) const { return graph_.nodes[at(index)]; }
    const Sizes& sizes(int value) const { return graph_.values[at(value)].type.sizes; }

    void take(Join join, std::initializer_list<int> others = {}) {
        for (const int each : join.nodes) taken_[at(each)] = true;
        for (const int each : others) taken_[at(each)] = true;
        joins_.push_back(std::move(join));
    }

    bool may_join(int a, int b) const { return !taken_[at(b)] && (!keeps_blocks_ || block_uses_[at(a)] == block_uses_[at(b)]); }

    /// The only reader of a layer's value; -1: there are others, or none, or it is in another module,
    /// whose type can be forced.
    int only_reader(int index) const {
        const std::vector<int>& readers = readers_[at(node(index).outputs.front())];
        if (readers.size() != 1 || readers.front() < 0 || !may_join(index, readers.front())) return -1;
        return modules_.around(index) == modules_.around(readers.front()) ? readers.front() : -1;
    }
    /// A relu with a name is a module, whose type can be forced.
    int relu_behind(int index) const {
        const int reader = only_reader(index);
        return reader >= 0 && node(reader).kind->name == "ReLU" && !node(reader).labelled ? reader : -1;
    }

    void linear(int first) {
        std::vector<int> layers{first}, relus;
        while (true) {
            const int relu = relu_behind(layers.back());
            if (relu < 0) break;
            relus.push_back(relu);
            const int next = only_reader(relu);
            if (next < 0 || node(next).kind->name != "Linear") break;
            layers.push_back(next);
        }
        const bool chains = layers.size() > 1 && relus.size() + 1 == layers.size() && std::ranges::all_of(layers, [&](int each) {
            const std::vector<int>& parameters = node(each).parameters;
            return parameters.size() == 2 && uses_[at(parameters[0])] == 1 && uses_[at(parameters[1])] == 1;
        });
        if (chains) {
            for (const int relu : relus) taken_[at(relu)] = true;
            return take({Join::Kind::linear_chain, layers, layers.back()});
        }
        for (std::size_t i = 0; i < relus.size(); ++i) take({Join::Kind::linear_relu, {layers[i]}, relus[i]}, {relus[i]});
    }

    bool is_joinable_norm(int value) const {
        const int maker = graph_.values[at(value)].node;
        return maker >= 0 && node(maker).kind->name == "BatchNorm2d" && !taken_[at(maker)] && only_reader(maker) >= 0;
    }

    void batch_norm(int norm) {
        if (const int relu = relu_behind(norm); relu >= 0) return take({Join::Kind::norm_relu, {norm}, relu}, {relu});
        const int add = only_reader(norm);
        if (add < 0 || node(add).kind->name != "Add") return;
        const std::vector<int>& in = node(add).inputs;
        const int relu = relu_behind(add);
        if (relu < 0 || in.size() != 2 || sizes(in[0]) != sizes(in[1])) return;
        // Between two norms: the first one adds the other's rounded values.
        if (in[0] != node(norm).outputs.front() && is_joinable_norm(in[0])) return;
        take({Join::Kind::norm_add_relu, {norm, add}, relu}, {relu});
    }

    /// The norm may be in another module: with forced types, sum and norm run one after the other.
    void sum(int add) {
        const std::vector<int>& in = node(add).inputs;
        if (in.size() != 2 || sizes(in[0]) != sizes(in[1])) return;
        for (const int reader : readers_[at(node(add).outputs.front())]) {
            if (reader < 0 || node(reader).kind->name != "LayerNorm" || !may_join(add, reader)) continue;
            const LayerArguments& arguments = node(reader).arguments;
            if (arguments.whole("dims") != 1 || !arguments.flag("bias")) continue;
            return take({Join::Kind::sum_norm, {add, reader}, add});
        }
    }

    const NetworkGraph& graph_;
    bool keeps_blocks_;
    NetworkModules modules_;
    std::vector<int> block_uses_;
    std::vector<bool> taken_;
    std::vector<std::vector<int>> readers_;  // of each value; -1: the network's end
    std::vector<int> uses_;                  // of each parameter
    std::vector<Join> joins_;
};

}  // namespace

std::vector<Join> find_joins(const NetworkGraph& graph, bool keeps_blocks) { return Joiner(graph, keeps_blocks).joins(); }

NetworkModules::NetworkModules(const NetworkGraph& graph) : graph_(graph), block_uses_(uses_of_blocks(graph)), used_(graph.values.size(), false) {
    for (const GraphNode& each : graph.nodes)
        for (const int value : each.inputs) used_[static_cast<std::size_t>(value)] = true;
    for (const int value : graph.outputs) used_[static_cast<std::size_t>(value)] = true;
}

std::vector<ModulePlace> NetworkModules::around(int index) const {
    const GraphNode& node = graph_.nodes[static_cast<std::size_t>(index)];
    const int use = block_uses_[static_cast<std::size_t>(index)];
    const std::string name = node.own_module || node.kind->bare ? module_around(node.module) : node.module;
    std::vector<ModulePlace> places;
    for (std::size_t end = graph_.prefix.size(); end < name.size() && end != name.npos;) {
        end = name.find('.', end + 1);
        const std::string outer = name.substr(0, end);
        const bool is_use = use >= 0 && graph_.bodies[static_cast<std::size_t>(use)].module == outer;
        places.push_back({outer, is_use ? use : -1});
    }
    return places;
}

std::size_t NetworkModules::used_outputs(int index) const {
    const std::vector<int>& outputs = graph_.nodes[static_cast<std::size_t>(index)].outputs;
    std::size_t count = 1;
    for (std::size_t i = 0; i < outputs.size(); ++i)
        if (used_[static_cast<std::size_t>(outputs[i])]) count = i + 1;
    return count;
}

}  // namespace engine::network
