#include "engine/train/step_memory.h"

#include "models/layer_run.h"
#include "models/network_cost.h"
#include "network/expand.h"
#include "network/grammar.h"
#include "train/step/make_optimizer.h"
#include "train/step/mixed_precision.h"

namespace engine {
namespace {

double count_numbers(const std::vector<std::int64_t>& sizes) {
    double count = 1;
    for (const std::int64_t size : sizes) count *= static_cast<double>(size);
    return count;
}

double tensor_bytes(double numbers, DType type) { return network::block_bytes(numbers * static_cast<double>(size_of(type))); }

/// The types that parameters are held in.
std::vector<DType> held_types(const network::NetworkGraph& graph, const ResolvedPrecision& precision) {
    const bool low = precision.weights == WeightFormat::fp16;
    std::vector<DType> types(graph.parameters.size(), low ? DType::f16 : DType::f32);
    if (precision.batch_norm == WeightFormat::fp16) return types;
    for (const network::GraphNode& node : graph.nodes) {
        if (!node.kind->name.starts_with("BatchNorm")) continue;
        for (const int parameter : node.parameters) types[static_cast<std::size_t>(parameter)] = DType::f32;
    }
    return types;
}

}  // namespace

StepMemory predict_step_memory(std::string_view text, const NetworkData& data, const RunConfig& config) {
    std::vector<NetworkFault> faults;
    const network::NetworkSyntax syntax = network::parse_network(text, faults);
    const network::NetworkGraph graph = network::expand_network(syntax, data, faults);
    const ResolvedPrecision precision = resolve(config.precision);
    const bool casts = precision.autocast != AutocastFormat::off;
    const std::vector<bool> low = network::low_parameters(graph);
    std::vector<DType> types = held_types(graph, precision);
    StepMemory out;
    for (std::size_t i = 0; i < graph.parameters.size(); ++i) {
        const double numbers = count_numbers(graph.parameters[i].sizes);
        out.weights += tensor_bytes(numbers, types[i]);
        if (graph.parameters[i].fixed) continue;
        if (const std::int64_t state = optimizer_state_bytes(config.optimizer, precision); state > 0)
            out.optimizer += network::block_bytes(numbers * static_cast<double>(state));
        if (precision.master_weights && types[i] != DType::f32) out.masters += tensor_bytes(numbers, DType::f32);
        if (!casts || !low[i] || types[i] != DType::f32) continue;
        // Gradients of weights that have a 16-bit copy stay in its type.
        types[i] = DType::f16;
        out.low_copies += tensor_bytes(numbers, DType::f16);
    }
    for (const network::GraphBuffer& each : graph.buffers) out.weights += tensor_bytes(count_numbers(each.sizes), DType::f32);
    const network::BatchSizes sizes{config.batch_size, config.bptt};
    const network::PassMemory pass = network::count_pass_memory(graph, network::run_on_types(graph, syntax.gives, config.precision, sizes), types);
    for (const int input : graph.inputs) {
        const network::TensorType& type = graph.values[static_cast<std::size_t>(input)].type;
        out.batch += tensor_bytes(network::count_elements(type.sizes, sizes), type.whole ? DType::i64 : DType::f32);
    }
    out.saved = pass.saved;
    out.activations = pass.activations;
    out.gradients = pass.gradients;
    out.peak = out.weights + out.masters + out.low_copies + out.optimizer + out.batch + pass.peak;
    return out;
}

}  // namespace engine
