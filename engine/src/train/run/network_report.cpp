#include "engine/train/network_report.h"

#include "engine/base/json.h"

namespace engine {

NetworkReport report_network(std::string_view text, const NetworkData& data, const RunConfig& config) {
    NetworkReport out;
    out.network = check_network(text, data);
    out.batch_size = config.batch_size;
    if (out.network.usable()) {
        out.operations = predict_types(text, data, config.precision);
        out.memory = predict_step_memory(text, data, config);
    }
    out.types = types_by_row(out.operations, out.network.rows.size());
    out.memory.saved.resize(out.network.rows.size());
    return out;
}

std::string network_to_json(const NetworkReport& report, const std::string& file) {
    const CheckedNetwork& network = report.network;
    ordered_json faults = ordered_json::array(), layers = ordered_json::array(), parameters = ordered_json::array(), state = ordered_json::array();
    for (const auto& fault : network.faults)
        faults.push_back({{"line", fault.place.line}, {"column", fault.place.column}, {"length", fault.place.length},
                          {"text", fault.text.str()}, {"note", fault.note},
                          {"replacement", fault.replacement ? ordered_json(*fault.replacement) : ordered_json()}});
    for (std::size_t i = 0; i < network.rows.size(); ++i) {
        const auto& row = network.rows[i];
        layers.push_back({{"line", row.place.line}, {"module", row.module}, {"layer", row.layer}, {"shape", row.shape},
                          {"parameters", row.parameters}, {"flops", row.flops}, {"saved_bytes", network.usable() ? ordered_json(report.memory.saved[i]) : ordered_json()}, {"type", report.types[i]},
                          {"operations", ordered_json::array()}, {"inputs", row.inputs}});
    }
    for (const auto& op : report.operations)
        layers[static_cast<std::size_t>(op.row)]["operations"].push_back(
            {{"module", op.module}, {"op", op.op}, {"type", op.type}, {"result", op.result}, {"rule", op.rule}, {"key", op.key}, {"why", op.why}});
    for (const auto& parameter : network.parameters)
        parameters.push_back({{"name", parameter.name}, {"sizes", parameter.sizes}, {"initial", parameter.initial}, {"fixed", parameter.fixed}});
    for (const std::size_t place : network.state) {
        if (place < network.parameters.size())
            state.push_back({{"name", network.parameters[place].name}, {"sizes", network.parameters[place].sizes}});
        else
            state.push_back({{"name", network.buffers[place - network.parameters.size()].name}, {"sizes", network.buffers[place - network.parameters.size()].sizes}});
    }
    const StepMemory& memory = report.memory;
    const ordered_json bytes = !network.usable() ? ordered_json() : ordered_json{{"batch_size", report.batch_size}, {"activations", memory.activations}, {"weights", memory.weights}, {"masters", memory.masters},
                                {"low_copies", memory.low_copies}, {"optimizer", memory.optimizer}, {"gradients", memory.gradients}, {"peak", memory.peak}};
    const ordered_json out = {{"file", file}, {"usable", network.usable()}, {"faults", std::move(faults)}, {"gives", network.gives},
                              {"shape", network.shape}, {"parameter_count", network.parameter_count()}, {"flops", network.flops()}, {"memory", bytes},
                              {"layers", std::move(layers)}, {"parameters", std::move(parameters)}, {"state", std::move(state)}};
    return dumped(out) + '\n';
}

}  // namespace engine
