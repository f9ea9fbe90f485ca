#include "network/graph_builder.h"

#include <algorithm>

namespace engine::network {
namespace {

/// Whether a matrix is made orthogonal, vector by vector, in less than minutes.
bool is_soon_orthogonal(const std::vector<std::int64_t>& sizes) {
    double numbers = 1;
    for (const std::int64_t size : sizes) numbers *= static_cast<double>(size);
    const double rows = sizes.empty() ? 1 : static_cast<double>(sizes.front());
    constexpr double most = 4096.0 * 4096 * 4096;
    return numbers * std::min(rows, numbers / rows) <= most;
}

}  // namespace

int GraphBuilder::add_input(const NetworkData& data, std::size_t field) {
    const NetworkInput& input = data.inputs[field];
    TensorType type{{batch_size}, input.field == "tokens" || input.field == "indices", input.counts};
    if (input.field == "tokens") type.sizes.push_back(window_size);
    for (const std::int64_t size : input.sizes) type.sizes.push_back({size, Size::Symbol::none});
    graph_.values.push_back({std::move(type), -1, {}, input.field});
    graph_.inputs.push_back(static_cast<int>(graph_.values.size()) - 1);
    graph_.fields.push_back(static_cast<int>(field));
    return graph_.inputs.back();
}

void GraphBuilder::name_value(int value, const std::string& name) {
    if (value < 0) return;
    std::string& own = graph_.values[static_cast<std::size_t>(value)].name;
    if (own.empty()) own = name;
}

std::size_t GraphBuilder::begin_body(GraphBody body) {
    body.first = static_cast<int>(graph_.nodes.size());
    body.again = expansion_.runs_again();
    graph_.bodies.push_back(std::move(body));
    return graph_.bodies.size() - 1;
}

void GraphBuilder::end_body(std::size_t index, int output) {
    graph_.bodies[index].end = static_cast<int>(graph_.nodes.size());
    graph_.bodies[index].output = output;
}

int GraphBuilder::add_layer(const LayerUse& use, const std::vector<NamedValue>& inputs, TextEnvironment& environment) {
    for (const NamedValue& input : inputs)
        if (input.value < 0) return -1;
    LayerCall call{use.kind, use.arguments};
    call.place = place_for_faults(use.statement);
    call.inputs.reserve(inputs.size());
    call.input_names.reserve(inputs.size());
    for (std::size_t i = 0; i < inputs.size(); ++i) {
        call.inputs.push_back(graph_.values[static_cast<std::size_t>(inputs[i].value)].type);
        const std::string_view name = i < use.statement.from.size() ? use.statement.from[i].fixed() : std::string_view();
        call.input_names.emplace_back(name.empty() ? "value " + std::to_string(i + 1) : std::string(name));
    }
    const int tied = find_tied(use, call);
    use.kind.shape(call);
    check_limits(use.statement, call.parameters.size());
    GraphNode node{.kind = &use.kind, .arguments = use.arguments, .module = use.module, .own_module = use.own_module, .labelled = use.statement.label.has_value(), .place = call.place, .heads = heads_};
    if (tied >= 0) node.parameters.push_back(tied);
    for (LayerParameter& each : call.parameters) node.parameters.push_back(parameter(use, each, call, environment));
    for (LayerBuffer& each : call.buffers) {
        std::string name = use.module + '.' + each.role;
        if (buffer_names_.insert(name).second) graph_.buffers.push_back({std::move(name), std::move(each.sizes), graph_.parameters.size()});
    }
    note_unused_initials(use, call);
    for (const NamedValue& input : inputs) node.inputs.push_back(input.value);
    for (std::size_t i = 0; i < call.outputs.size(); ++i) {
        node.outputs.push_back(static_cast<int>(graph_.values.size()));
        graph_.values.push_back({std::move(call.outputs[i]), static_cast<int>(graph_.nodes.size()), call.output_roles[i], {}});
    }
    node.flops = call.flops;
    graph_.nodes.push_back(std::move(node));
    return graph_.nodes.back().outputs.front();
}

void GraphBuilder::check_limits(const Statement& statement, std::size_t parameters) {
    parameter_uses_ += static_cast<std::int64_t>(parameters);
    if (parameter_uses_ > Limits::parameters)
        throw Overrun{{statement.place, msg("The layers have more than {} tensors of weights here.", Limits::parameters), {}}};
    if (graph_.nodes.size() < static_cast<std::size_t>(Limits::layers)) return;
    std::string product;
    for (const std::size_t times : times_)
        if (times > 0) product += (product.empty() ? "" : " x ") + std::to_string(times);
    throw Overrun{{statement.place, product.empty() ? msg("The network grows beyond {} layers here.", Limits::layers)
                                                    : msg("The network grows beyond {} layers here ({}).", Limits::layers, product), {}}};
}

/// The parameter that `weight=` names; -1: none.
int GraphBuilder::find_tied(const LayerUse& use, LayerCall& call) const {
    const auto given = use.arguments.all.find("weight");
    if (given == use.arguments.all.end() || given->second.is_default) return -1;
    const std::string& path = given->second.reference;
    // A name is seen from the layer's own module outwards.
    std::string around = use.module;
    while (true) {
        const std::size_t dot = around.rfind('.');
        around = dot == around.npos ? std::string() : around.substr(0, dot);
        const auto found = parameter_indices_.find(around.empty() ? path : around + '.' + path);
        if (found != parameter_indices_.end()) {
            const GraphParameter& parameter = graph_.parameters[static_cast<std::size_t>(found->second)];
            call.tied = parameter.name;
            for (const std::int64_t size : parameter.sizes) call.tied_sizes.push_back({size, Size::Symbol::none});
            return found->second;
        }
        if (around.empty()) break;
    }
    call.fail(msg("{}: there is no such parameter above.", path));
}

int GraphBuilder::parameter(const LayerUse& use, LayerParameter& parameter, const LayerCall& call, TextEnvironment& environment) {
    std::string name = parameter.role.empty() ? use.module : use.module + '.' + parameter.role;
    GraphParameter made{.initial = std::move(parameter.initial), .fixed = parameter.fixed, .node = static_cast<int>(graph_.nodes.size())};
    made.sizes.reserve(parameter.sizes.size());
    std::int64_t count = 1;  // LayerCall::parameter() keeps it below 2^62
    for (const Size& size : parameter.sizes) {
        made.sizes.push_back(size.number);
        count *= size.number;
    }
    const auto [found, added] = parameter_indices_.emplace(name, static_cast<int>(graph_.parameters.size()));
    if (!added) {
        const GraphParameter& first = graph_.parameters[static_cast<std::size_t>(found->second)];
        if (first.sizes == made.sizes) return found->second;
        Sizes sizes;
        for (const std::int64_t size : first.sizes) sizes.push_back({size, Size::Symbol::none});
        call.fail(msg("{} is {}; here it would be {}.", name, to_string(sizes), to_string(parameter.sizes)));
    }
    if (numbers_ >= size_limit - count) {
        parameter_indices_.erase(found);
        call.fail(msg("{}: with its weights the network has 2^62 numbers or more.", use.kind.name));
    }
    numbers_ += count;
    made.name = std::move(name);
    const auto own = use.arguments.all.find(is_bias(parameter.role) ? "bias_init" : "init");
    const InitialRule* const chosen = own != use.arguments.all.end() && !own->second.is_default ? &own->second.initial : environment.initial(use.kind, parameter.role);
    if (chosen != nullptr) made.initial = *chosen;
    made.chosen = chosen != nullptr;
    if (made.initial.rule == "orthogonal" && !is_soon_orthogonal(made.sizes)) {
        parameter_indices_.erase(found);
        call.fail(msg("orthogonal: a weight of {} would take minutes. Use at most 4096 x 4096, or another rule.", to_string(parameter.sizes)));
    }
    graph_.parameters.push_back(std::move(made));
    return found->second;
}

/// init= of a layer whose weight another one has, or bias_init= of one without a bias.
void GraphBuilder::note_unused_initials(const LayerUse& use, const LayerCall& call) {
    for (const bool bias : {false, true}) {
        const char* const name = bias ? "bias_init" : "init";
        const auto given = use.arguments.all.find(name);
        if (given == use.arguments.all.end() || given->second.is_default) continue;
        const auto sets = [&](const LayerParameter& parameter) { return is_bias(parameter.role) == bias; };
        if (std::ranges::none_of(call.parameters, sets))
            expansion_.note(call.place, msg("{}: this layer has nothing that {} could set.", use.kind.name, name));
    }
}

}  // namespace engine::network
