#include "engine/network/network_exports.h"

#include <algorithm>

#include "engine/base/error.h"
#include "network/expand.h"
#include "network/grammar.h"
#include "network/text_options.h"
#include "network/to_pytorch.h"
#include "network/to_svg.h"
#include "network/to_text.h"

namespace engine {
namespace {

struct FaultlessNetwork {
    std::string gives{};
    network::NetworkGraph graph{};
};

FaultlessNetwork faultless(std::string_view text, const NetworkData& data) {
    std::vector<NetworkFault> faults;
    const network::NetworkSyntax syntax = network::parse_network(text, faults);
    network::NetworkGraph graph = network::expand_network(syntax, data, faults);
    const auto fault = std::ranges::find(faults, false, &NetworkFault::note);
    if (fault != faults.end()) throw Error(ErrorCode::settings, msg("Line {}: {}", fault->place.line, fault->text.str()));
    return {syntax.gives, std::move(graph)};
}

/// The value as a line "option" has it.
std::string option_text(const OptionValue& value) {
    return std::visit([](const auto& each) -> std::string {
        using Type = std::decay_t<decltype(each)>;
        if constexpr (std::is_same_v<Type, std::vector<std::int64_t>> || std::is_same_v<Type, std::vector<std::string>>) {
            network::ValueList items;
            for (const auto& item : each) items.push_back({item});
            return to_string(network::Value{std::move(items)});
        } else {
            return to_string(network::Value{each});
        }
    }, value);
}

/// As option_text(); a default that is a fraction stays one.
std::string default_text(const OptionValue& value, const OptionValue& before) {
    std::string out = option_text(value);
    if (std::holds_alternative<double>(before) && out.find_first_of(".e") == out.npos) out += ".0";
    return out;
}

/// Sets the literal behind the first "=" of an option's line.
void set_default(std::string& line, const std::string& literal) {
    const std::size_t equals = line.find('='), from = line.find_first_not_of(' ', equals + 1);
    const char first = line[from];
    std::size_t to = first == '[' ? line.find(']', from) + 1 : first == '"' ? line.find('"', from + 1) + 1 : line.find_first_of(" #\"", from);
    if (to == 0 || to > line.size()) to = line.size();
    line.replace(from, to - from, first == '"' ? '"' + literal + '"' : literal);
}

network::NetworkGraph faultless_graph(std::string_view text, const NetworkData& data) { return faultless(text, data).graph; }

}  // namespace

std::string network_with_options(std::string_view text, const Options& options) {
    std::vector<NetworkFault> faults;
    const network::NetworkSyntax syntax = network::parse_network(text, faults);
    std::vector<std::string> lines;
    for (std::size_t from = 0; from < text.size();) {
        const std::size_t to = std::min(text.find('\n', from), text.size());
        lines.emplace_back(text.substr(from, to - from));
        from = to + 1;
    }
    for (const OptionSpec& spec : network::text_options(syntax, faults)) {
        const auto given = options.find(spec.name);
        if (given == options.end() || engine::to_string(given->second) == engine::to_string(spec.default_value)) continue;
        const auto line = std::ranges::find(syntax.options, spec.name, &network::OptionLine::name);
        set_default(lines[static_cast<std::size_t>(line->place.line) - 1], default_text(given->second, spec.default_value));
    }
    std::string out;
    for (const std::string& line : lines) out += line + '\n';
    std::vector<NetworkFault> new_faults;
    const std::vector<OptionSpec> changed = network::text_options(network::parse_network(out, new_faults), new_faults);
    const bool broken = new_faults.size() > faults.size();
    for (const OptionSpec& spec : changed) {
        const auto given = options.find(spec.name);
        if (given != options.end() && (broken || engine::to_string(given->second) != engine::to_string(spec.default_value)))
            throw Error(ErrorCode::settings, msg("The default of the option {} cannot be changed in this text: write it on one line.", spec.name));
    }
    return out;
}

std::string network_to_pytorch(std::string_view text, const NetworkData& data) {
    return network::to_pytorch(faultless_graph(text, data), text);
}

std::string network_to_svg(std::string_view text, const NetworkData& data, const NetworkDrawing& drawing) {
    return network::to_svg(faultless_graph(text, data), drawing);
}

std::string network_to_text(std::string_view text, const NetworkData& data) {
    const auto [gives, graph] = faultless(text, data);
    std::string out = network::to_text(graph, gives, data.outputs);
    NetworkData without_options = data;
    without_options.options.clear();
    std::vector<NetworkFault> faults;
    const network::NetworkGraph again = network::expand_network(network::parse_network(out, faults), without_options, faults);
    if (!std::ranges::all_of(faults, &NetworkFault::note) || !network::are_equal(graph, again))
        throw Error(ErrorCode::settings, msg("No text without options makes this network."),
                    msg("A module that runs again with other layers needs conditions."));
    return out;
}

const std::vector<NetworkForm>& network_forms() {
    using Types = std::vector<std::string>;
    static const std::vector<NetworkForm> forms = {
        {"pytorch", "PyTorch source", "py", [](std::string_view text, const NetworkData& data, const Types&) { return network_to_pytorch(text, data); }},
        {"network", "Text without options", "network", [](std::string_view text, const NetworkData& data, const Types&) { return network_to_text(text, data); }},
        {"svg", "Picture", "svg", [](std::string_view text, const NetworkData& data, const Types&) { return network_to_svg(text, data); }},
        {"svg-types", "Picture with the layers of blocks and their types", "svg",
         [](std::string_view text, const NetworkData& data, const Types& types) {
             constexpr int all = 100;
             return network_to_svg(text, data, {.depth = all, .types = types});
         }}};
    return forms;
}

}  // namespace engine
