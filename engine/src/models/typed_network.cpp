#include "models/typed_network.h"

#include <algorithm>
#include <set>

#include "engine/base/plain_text.h"
#include "models/forced_types.h"
#include "models/layer_run.h"
#include "models/network_structure.h"
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
    TypedNetwork(const NetworkGraph& graph, const ResolvedPrecision& precision, const BatchSizes& sizes)
        : graph_(graph), sizes_(sizes), modules_(graph), pass_(autocast_type(precision), force_rules(precision.force, module_names(graph, modules_))), values_(graph.values.size()) {
        // Parameters of batch norms may stay f32, but decide about no type.
        const DType held = precision.weights == WeightFormat::fp16 ? DType::f16 : DType::f32;
        for (const int input : graph.inputs) {
            const TensorType& type = graph.values[at(input)].type;
            values_[at(input)].type = type.whole ? DType::i64 : held;
            values_[at(input)].elements = count_elements(type.sizes, sizes);
            if (is_low(values_[at(input)].type)) pass_.set_cast_input(values_[at(input)]);
        }
        for (const GraphParameter& each : graph.parameters) {
            ValueType type;
            type.type = held;
            type.has_dims = !each.sizes.empty();
            type.learns = !each.fixed;
            for (const std::int64_t size : each.sizes) type.elements *= static_cast<double>(size);
            parameters_.push_back(type);
        }
    }

    TypedForward run(std::string_view gives) {
        for (const Join& join : find_joins(graph_, false)) run(join);
        TypedForward out;
        if (!graph_.outputs.empty()) {
            out.result = values_[at(graph_.outputs.front())];
            if (gives == "token scores" || gives == "masked token scores") {
                pass_.module.clear();
                pass_.row = graph_.values[at(graph_.outputs.front())].node;
                out.result = pass_.call(reshape_op, {&out.result, 1});
            }
        }
        out.operations = pass_.take();
        out.calls = pass_.calls();
        out.blocks = pass_.blocks();
        return out;
    }

private:
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
        ValueTypes in;
        for (const int value : own.inputs) in.push_back(values_[at(value)]);
        const ValueTypes weights = weight_types(own);
        ValueTypes out = layer_kind.types({{graph_, own, modules_.used_outputs(index)}, in, weights, pass_});
        for (std::size_t i = 0; i < out.size(); ++i) set_value(own.outputs[i], out[i]);
    }

    ValueTypes weight_types(const GraphNode& layer) const {
        ValueTypes out;
        for (const int parameter : layer.parameters) out.push_back(parameters_[at(parameter)]);
        return out;
    }

    void set_value(int index, ValueType value) {
        const double elements = count_elements(graph_.values[at(index)].type.sizes, sizes_);
        if (value.elements != elements) pass_.set_elements(value, elements);
        values_[at(index)] = value;
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
            pass_.set_made_of(out, weight_types(norm));
            std::vector<int> further(join.nodes.begin() + 1, join.nodes.end());
            further.push_back(join.at);
            pass_.add_rows(std::move(further));
            return;
        }
        ValueType normed = pass_.call(batch_norm_op, {&in.front(), 1});
        pass_.set_made_of(normed, weight_types(norm));
        const ValueType sum = pass_.call(add_op, ValueTypes{normed, in.back()});
        out = pass_.call(relu_op, {&sum, 1});
    }

    const NetworkGraph& graph_;
    const BatchSizes sizes_;
    NetworkModules modules_;
    TypePass pass_;
    ValueTypes values_;
    ValueTypes parameters_{};
};

}  // namespace

double count_elements(const Sizes& sizes, const BatchSizes& batch) {
    double count = 1;
    for (const Size& each : sizes)
        count *= static_cast<double>(each == batch_size ? batch.samples : each == window_size ? batch.window : each.number);
    return count;
}

TypedForward run_on_types(const NetworkGraph& graph, std::string_view gives, const PrecisionConfig& precision, const BatchSizes& sizes) {
    return TypedNetwork(graph, resolve(precision), sizes).run(gives);
}

}  // namespace engine::network
