#include "models/network_plan.h"

#include <algorithm>
#include <limits>

#include "autograd/checkpoint.h"
#include "ops/pointwise/activation.h"
#include "ops/pointwise/binary.h"

namespace engine::network {
namespace {

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

/// A module around a layer.
struct ModulePlace {
    std::string module;
    int use;  // of a block, whose module this is; -1: none
    friend bool operator==(const ModulePlace&, const ModulePlace&) = default;
};

/// Outermost first. `use`: as uses_of_blocks() says.
std::vector<ModulePlace> modules_around(const NetworkGraph& graph, int index, int use) {
    const GraphNode& node = graph.nodes[static_cast<std::size_t>(index)];
    const std::string around = node.own_module || node.kind->bare ? module_around(node.module) : node.module;
    std::vector<ModulePlace> places;
    for (std::size_t end = 0; end < around.size() && end != around.npos;) {
        end = around.find('.', end + 1);
        const std::string name = around.substr(0, end);
        const bool is_use = use >= 0 && graph.bodies[static_cast<std::size_t>(use)].module == name;
        places.push_back({name, is_use ? use : -1});
    }
    return places;
}

/// Finds layers that are computed together where the models of models/ do so.
class Joiner {
public:
    Joiner(const NetworkGraph& graph, bool keeps_blocks) : graph_(graph), keeps_blocks_(keeps_blocks), block_uses_(uses_of_blocks(graph)), taken_(graph.nodes.size(), false), readers_(graph.values.size()), uses_(graph.parameters.size(), 0) {
        for (std::size_t i = 0; i < graph.nodes.size(); ++i) {
            for (const int value : graph.nodes[i].inputs) readers_[at(value)].push_back(static_cast<int>(i));
            for (const int parameter : graph.nodes[i].parameters) ++uses_[at(parameter)];
        }
        for (const int value : graph.outputs) readers_[at(value)].push_back(-1);
    }

    /// In the order in which they run.
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

    std::vector<ModulePlace> around(int index) const { return modules_around(graph_, index, block_uses_[at(index)]); }

    /// The only reader of a layer's value; -1: there are others, or none, or it is in another module,
    /// whose type can be forced.
    int only_reader(int index) const {
        const std::vector<int>& readers = readers_[at(node(index).outputs.front())];
        if (readers.size() != 1 || readers.front() < 0 || !may_join(index, readers.front())) return -1;
        return around(index) == around(readers.front()) ? readers.front() : -1;
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
    std::vector<int> block_uses_;
    std::vector<bool> taken_;
    std::vector<std::vector<int>> readers_;  // of each value; -1: the network's end
    std::vector<int> uses_;                  // of each parameter
    std::vector<Join> joins_;
};

/// Makes the steps, in the parts of their modules.
class PlanMaker {
public:
    explicit PlanMaker(const PlanSetup& setup) : setup_(setup), graph_(setup.graph), block_uses_(uses_of_blocks(graph_)) {}

    Plan make() {
        count_states();
        // Buffers are registered in the order of the text, which is not that of joined layers.
        for (std::size_t i = 0; i < graph_.nodes.size(); ++i)
            if (graph_.nodes[i].kind->name.starts_with("BatchNorm")) (void)batch_norm_layer(layer(static_cast<int>(i)));
        for (const Join& join : Joiner(graph_, setup_.keeps_blocks).joins()) add(join);
        find_last_uses();
        close_part(plan_.whole);
        return std::move(plan_);
    }

private:
    static std::size_t at(int index) { return static_cast<std::size_t>(index); }
    const GraphNode& node(int index) const { return graph_.nodes[at(index)]; }

    void count_states() {
        std::size_t states = 0;
        for (const GraphNode& each : graph_.nodes) {
            first_states_.emplace_back();
            if (!each.arguments.all.contains("carry") || !each.arguments.flag("carry")) continue;
            first_states_.back() = states;
            states += each.kind->name == "LSTM" ? 2 : 1;
        }
        used_.assign(graph_.values.size(), false);
        for (const GraphNode& each : graph_.nodes)
            for (const int value : each.inputs) used_[at(value)] = true;
        for (const int value : graph_.outputs) used_[at(value)] = true;
    }

    LayerSetup layer(int index) const {
        const GraphNode& own = node(index);
        std::size_t used = 1;
        for (std::size_t i = 0; i < own.outputs.size(); ++i)
            if (used_[at(own.outputs[i])]) used = i + 1;
        return {graph_, own, setup_.registry, setup_.device, setup_.tensors, setup_.buffers, first_states_[at(index)], used};
    }

    /// Whether the layer is a module of its own. Those without a label or parameters belong to the
    /// module around them.
    static bool is_module(const GraphNode& node) { return node.own_module && (node.labelled || node.kind->weighted); }

    void add(const Join& join) {
        enter(modules_around(graph_, join.at, block_uses_[at(join.at)]));
        PlanPart& part = *open_.back();
        part.items.push_back({static_cast<int>(plan_.steps.size()), -1});
        for (PlanPart* each : open_)
            for (const int index : join.nodes) each->draws = each->draws || layer_run(*node(index).kind).draws;
        plan_.steps.push_back(step(join));
    }

    void enter(const std::vector<ModulePlace>& places) {
        if (open_.empty()) open_.push_back(&plan_.whole);
        std::size_t same = 0;
        while (same < places.size() && same < entered_.size() && places[same] == entered_[same]) ++same;
        open_.resize(same + 1);
        entered_.resize(same);
        for (; same < places.size(); ++same) {
            PlanPart& outer = *open_.back();
            outer.items.push_back({-1, static_cast<int>(outer.parts.size())});
            outer.parts.push_back({.module = ModuleName(places[same].module), .is_block = places[same].use >= 0});
            open_.push_back(&outer.parts.back());
            entered_.push_back(places[same]);
        }
    }

    PlanStep step(const Join& join) {
        PlanStep out;
        const GraphNode &first = node(join.nodes.front()), &last = node(join.at);
        out.inputs = first.inputs;
        out.outputs = last.outputs;
        switch (join.kind) {
            case Join::Kind::norm_relu:
                out.run = gives_one([norm = batch_norm_layer(layer(join.nodes[0]))](const Tensor& x, LayerPass& pass) { return norm.relu(x, {}, pass.training); });
                break;
            case Join::Kind::norm_add_relu: {
                const std::vector<int>& added = node(join.nodes[1]).inputs;
                out.inputs.push_back(added[0] == first.outputs.front() ? added[1] : added[0]);
                out.run = gives_one([norm = batch_norm_layer(layer(join.nodes[0]))](const TensorList& in, LayerPass& pass) { return norm.relu(in[0], in[1], pass.training); });
                break;
            }
            case Join::Kind::linear_relu:
                out.run = gives_one([own = linear_layer(layer(join.nodes[0]))](const Tensor& x) { return linear_relu(own, x); });
                break;
            case Join::Kind::linear_chain: {
                std::vector<Linear> layers;
                for (const int each : join.nodes) layers.push_back(linear_layer(layer(each)));
                out.run = gives_one([layers](const Tensor& x) { return linear_chain(layers, x); });
                break;
            }
            case Join::Kind::sum_norm:
                out.outputs.push_back(node(join.nodes[1]).outputs.front());
                out.run = [norm = layer_norm_layer(layer(join.nodes[1]))](TensorList&& in, LayerPass&) {
                    if (!LayerNorm::may_join_sum()) {
                        const Tensor sum = add_tensors(in[0], in[1]);
                        return TensorList{sum, norm(sum)};
                    }
                    SumAndNorm both = norm.of_sum(in[0], in[1]);
                    return TensorList{std::move(both.sum), std::move(both.normed)};
                };
                break;
            case Join::Kind::none: {
                const LayerRun& run = layer_run(*first.kind);
                out.run = run.make(layer(join.nodes[0]));
                if (is_module(first)) out.module = ModuleName(first.module);
                out.opens = is_module(first) && !run.opens_module;
            }
        }
        return out;
    }

    static Tensor add_tensors(const Tensor& a, const Tensor& b) { return engine::add(a, b); }

    void find_last_uses() {
        constexpr int end = std::numeric_limits<int>::max();
        last_.assign(graph_.values.size(), -1);
        for (std::size_t i = 0; i < plan_.steps.size(); ++i)
            for (const int value : plan_.steps[i].inputs) last_[at(value)] = static_cast<int>(i);
        for (const int value : graph_.outputs) last_[at(value)] = end;
        for (std::size_t i = 0; i < plan_.steps.size(); ++i) {
            PlanStep& each = plan_.steps[i];
            for (std::size_t k = 0; k < each.inputs.size(); ++k) {
                const auto again = std::find(each.inputs.begin() + static_cast<std::ptrdiff_t>(k) + 1, each.inputs.end(), each.inputs[k]);
                each.last.push_back(last_[at(each.inputs[k])] == static_cast<int>(i) && again == each.inputs.end());
            }
            for (int& output : each.outputs)
                if (last_[at(output)] < 0) output = -1;
        }
    }

    struct Range {
        int first, last;
    };
    /// The steps of a part, and what its blocks take and give.
    Range close_part(PlanPart& part) {
        Range range{std::numeric_limits<int>::max(), -1};
        for (const PlanPart::Item& item : part.items) {
            const Range own = item.step >= 0 ? Range{item.step, item.step} : close_part(part.parts[at(item.part)]);
            range = {std::min(range.first, own.first), std::max(range.last, own.last)};
        }
        if (!part.is_block) return range;
        std::vector<bool> made(graph_.values.size(), false), taken(graph_.values.size(), false);
        for (int i = range.first; i <= range.last; ++i) {
            for (const int value : plan_.steps[at(i)].inputs) {
                if (made[at(value)] || taken[at(value)]) continue;
                taken[at(value)] = true;
                part.inputs.push_back(value);
                part.last.push_back(last_[at(value)] <= range.last);
            }
            for (const int value : plan_.steps[at(i)].outputs) {
                if (value < 0) continue;
                made[at(value)] = true;
                if (last_[at(value)] > range.last) part.outputs.push_back(value);
            }
        }
        return range;
    }

    const PlanSetup& setup_;
    const NetworkGraph& graph_;
    std::vector<int> block_uses_;
    Plan plan_;
    std::vector<PlanPart*> open_;  // the parts that the next step is in, outermost first
    std::vector<ModulePlace> entered_;   // theirs, but for the whole
    std::vector<std::optional<std::size_t>> first_states_;  // of each node
    std::vector<bool> used_;                                // values
    std::vector<int> last_;                                 // step that reads a value last
};

/// One run of a plan.
class PlanRun {
public:
    PlanRun(const Plan& plan, bool recompute) : plan_(plan), recompute_(recompute) {}

    void part(const PlanPart& part, TensorList& values, LayerPass& pass) const {
        for (const PlanPart::Item& item : part.items) {
            if (item.step >= 0) {
                step(plan_.steps[static_cast<std::size_t>(item.step)], values, pass);
                continue;
            }
            const PlanPart& inner = part.parts[static_cast<std::size_t>(item.part)];
            const ModuleScope opened(inner.module);
            if (inner.is_block && recompute_)
                block(inner, values, pass);
            else
                this->part(inner, values, pass);
        }
    }

private:
    static Tensor taken(TensorList& values, int value, bool last) {
        Tensor& held = values[static_cast<std::size_t>(value)];
        return last ? std::move(held) : held;
    }

    static void step(const PlanStep& step, TensorList& values, LayerPass& pass) {
        TensorList inputs;
        inputs.reserve(step.inputs.size());
        for (std::size_t i = 0; i < step.inputs.size(); ++i) inputs.push_back(taken(values, step.inputs[i], step.last[i]));
        std::optional<ModuleScope> opened;
        if (step.opens) opened.emplace(step.module);
        TensorList outputs = step.run(std::move(inputs), pass);
        for (std::size_t i = 0; i < outputs.size(); ++i)
            if (step.outputs[i] >= 0) values[static_cast<std::size_t>(step.outputs[i])] = std::move(outputs[i]);
    }

    /// Keeps the block's inputs alone, and computes it again in the backward pass.
    void block(const PlanPart& part, TensorList& values, LayerPass& pass) const {
        TensorList inputs;
        for (std::size_t i = 0; i < part.inputs.size(); ++i) inputs.push_back(taken(values, part.inputs[i], part.last[i]));
        const auto segment = [&plan = plan_, &part, count = values.size(), first = &pass, later = pass.from_here(part.draws)](const TensorList& in) {
            LayerPass again = later;
            TensorList inner(count);
            for (std::size_t i = 0; i < in.size(); ++i) inner[static_cast<std::size_t>(part.inputs[i])] = in[i];
            PlanRun(plan, false).part(part, inner, recomputing() ? again : *first);
            TensorList out;
            for (const int value : part.outputs) out.push_back(std::move(inner[static_cast<std::size_t>(value)]));
            return out;
        };
        TensorList outputs = checkpoint(segment, inputs);
        for (std::size_t i = 0; i < outputs.size(); ++i) values[static_cast<std::size_t>(part.outputs[i])] = std::move(outputs[i]);
    }

    const Plan& plan_;
    bool recompute_;
};

}  // namespace

Plan make_plan(const PlanSetup& setup) { return PlanMaker(setup).make(); }

void run_plan(const Plan& plan, TensorList& values, LayerPass& pass, bool recompute) {
    PlanRun(plan, recompute).part(plan.whole, values, pass);
}

}  // namespace engine::network
