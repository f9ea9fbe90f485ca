#include "engine/models/network_types.h"

#include <algorithm>
#include <set>

#include "engine/base/plain_text.h"
#include "models/forced_types.h"
#include "models/layer_run.h"
#include "models/network_structure.h"
#include "network/expand.h"
#include "network/grammar.h"
#include "ops/norm/batch_norm.h"
#include "ops/pointwise/activation.h"
#include "ops/pointwise/binary.h"
#include "ops/shape/view.h"

namespace engine::network {
namespace {

std::size_t at(int index) { return static_cast<std::size_t>(index); }

/// Adds a module and those that contain it.
void add_module(const std::string& name, std::set<std::string>& modules) {
    for (std::size_t end = name.find('.'); end != name.npos; end = name.find('.', end + 1)) modules.insert(name.substr(0, end));
    if (!name.empty()) modules.insert(name);
}

/// The modules that a model of the graph opens.
std::vector<std::string> module_names(const NetworkGraph& graph, const NetworkModules& modules) {
    std::set<std::string> names;
    for (std::size_t i = 0; i < graph.nodes.size(); ++i) {
        for (const ModulePlace& place : modules.around(static_cast<int>(i))) add_module(place.module, names);
        if (NetworkModules::is_module(graph.nodes[i])) add_module(graph.nodes[i].module, names);
    }
    for (const GraphParameter& parameter : graph.parameters) {
        const std::size_t dot = parameter.name.rfind('.');
        if (dot != parameter.name.npos) add_module(parameter.name.substr(0, dot), names);
    }
    return {names.begin(), names.end()};
}

std::optional<DType> autocast_type(const ResolvedPrecision& precision) {
    if (precision.autocast == AutocastFormat::off) return std::nullopt;
    return precision.autocast == AutocastFormat::fp16 ? DType::f16 : DType::bf16;
}

/// The forward pass of a graph on types.
class TypedNetwork {
public:
    TypedNetwork(const NetworkGraph& graph, const PrecisionConfig& precision)
        : TypedNetwork(graph, resolve(precision)) {}

    std::vector<PredictedType> operations(bool makes_rows) {
        for (const Join& join : find_joins(graph_, false)) run(join);
        if (makes_rows && !graph_.outputs.empty()) {
            pass_.module.clear();
            pass_.row = graph_.values[at(graph_.outputs.front())].node;
            pass_.call(reshape_op, {&values_[at(graph_.outputs.front())], 1});
        }
        return pass_.take();
    }

private:
    TypedNetwork(const NetworkGraph& graph, const ResolvedPrecision& precision)
        : graph_(graph), modules_(graph), pass_(autocast_type(precision), force_rules(precision.force, module_names(graph, modules_))), values_(graph.values.size()) {
        // Parameters of batch norms may stay f32, but decide about no type.
        const DType held = precision.weights == WeightFormat::fp16 ? DType::f16 : DType::f32;
        for (const int input : graph.inputs) values_[at(input)].type = graph.values[at(input)].type.whole ? DType::i64 : held;
        for (const GraphParameter& each : graph.parameters) {
            ValueType type;
            type.type = held;
            type.has_dims = !each.sizes.empty();
            type.learns = !each.fixed;
            parameters_.push_back(type);
        }
    }

    const GraphNode& node(int index) const { return graph_.nodes[at(index)]; }

    void run(const Join& join) {
        const std::vector<ModulePlace> places = modules_.around(join.at);
        const std::string around = places.empty() ? std::string() : places.back().module;
        switch (join.kind) {
            case Join::Kind::norm_relu:
            case Join::Kind::norm_add_relu:
                return run_norm(join);
            case Join::Kind::linear_relu:
                run(join.nodes.front(), around);
                return run(join.at, around);
            case Join::Kind::linear_chain:
                for (const int layer : join.nodes) {
                    if (layer != join.nodes.front()) run(graph_.values[at(node(layer).inputs.front())].node, around);
                    run(layer, around);
                }
                return;
            case Join::Kind::sum_norm:
            case Join::Kind::none:
                for (const int layer : join.nodes) run(layer, around);
        }
    }

    /// A layer by itself; `around`: the module in which it is.
    void run(int index, const std::string& around) {
        const GraphNode& own = node(index);
        const LayerRun& layer_kind = layer_run(*own.kind);
        pass_.row = index;
        pass_.around = around;
        pass_.module = layer_kind.opens_module || NetworkModules::is_module(own) ? own.module : around;
        ValueTypes in, weights;
        for (const int value : own.inputs) in.push_back(values_[at(value)]);
        for (const int parameter : own.parameters) weights.push_back(parameters_[at(parameter)]);
        const ValueTypes out = layer_kind.types({{graph_, own, modules_.used_outputs(index)}, in, weights, pass_});
        for (std::size_t i = 0; i < out.size(); ++i) values_[at(own.outputs[i])] = out[i];
    }

    /// Batch norm and relu, perhaps with a sum in between.
    void run_norm(const Join& join) {
        const GraphNode& norm = node(join.nodes.front());
        pass_.row = join.nodes.front();
        pass_.module = norm.module;
        ValueTypes in{values_[at(norm.inputs.front())]};
        if (join.kind == Join::Kind::norm_add_relu) {
            const std::vector<int>& added = node(join.nodes[1]).inputs;
            in.push_back(values_[at(added[0] == norm.outputs.front() ? added[1] : added[0])]);
        }
        ValueType& out = values_[at(node(join.at).outputs.front())];
        const bool is_one = in.back().type == in.front().type || pass_.is_forced(batch_norm_relu_op);
        if (is_one) {
            out = pass_.call(batch_norm_relu_op, in, TypePass::Gives::first);
            return;
        }
        const ValueType normed = pass_.call(batch_norm_op, {&in.front(), 1});
        const ValueType sum = pass_.call(add_op, ValueTypes{normed, in.back()});
        out = pass_.call(relu_op, {&sum, 1});
    }

    const NetworkGraph& graph_;
    NetworkModules modules_;
    TypePass pass_;
    ValueTypes values_;
    ValueTypes parameters_{};
};

}  // namespace
}  // namespace engine::network

namespace engine {

std::vector<PredictedType> predict_types(std::string_view text, const NetworkData& data, const PrecisionConfig& precision) {
    std::vector<NetworkFault> faults;
    const network::NetworkSyntax syntax = network::parse_network(text, faults);
    const network::NetworkGraph graph = network::expand_network(syntax, data, faults);
    const bool makes_rows = syntax.gives == "token scores" || syntax.gives == "masked token scores";
    return network::TypedNetwork(graph, precision).operations(makes_rows);
}

std::vector<std::string> types_by_row(const std::vector<PredictedType>& operations, std::size_t rows) {
    std::vector<std::vector<std::string>> types(rows);
    for (const PredictedType& op : operations) {
        std::vector<std::string>& own = types[static_cast<std::size_t>(op.row)];
        if (!op.type.empty() && std::ranges::find(own, op.type) == own.end()) own.push_back(op.type);
    }
    std::vector<std::string> out;
    for (const std::vector<std::string>& each : types) out.push_back(join(each));
    return out;
}

}  // namespace engine
