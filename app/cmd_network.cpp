#include <algorithm>
#include <array>
#include <filesystem>
#include <iostream>
#include <set>
#include <limits>
#include <optional>

#include "commands.h"
#include "engine/base/error.h"
#include "engine/base/json.h"
#include "engine/base/near_name.h"
#include "engine/base/plain_text.h"
#include "engine/base/table.h"
#include "engine/data/dataset_preview.h"
#include "engine/io/named_file.h"
#include "engine/models/network_types.h"
#include "engine/network/network.h"
#include "engine/network/network_exports.h"
#include "engine/number/figure_text.h"
#include "engine/runs/export.h"
#include "engine/settings/catalog.h"
#include "engine/train/step_memory.h"
#include "settings.h"
#include "terminal.h"

namespace app {
namespace {

using nlohmann::ordered_json;

struct NetworkArguments {
    std::string file, template_name, format, output, precision;
    std::vector<std::string> inputs, options, overrides, forced;
    std::int64_t outputs = 0;  ///< 0: not given
    std::int64_t depth = 0;
    bool kinds = false, json = false, lying = false;
};

[[noreturn]] void refuse_network_argument(engine::Message message) { throw engine::Error(engine::ErrorCode::settings, std::move(message)); }

/// Reads "3x224x224".
std::vector<std::int64_t> read_sizes(const std::string& option, const std::string& text) {
    std::vector<std::int64_t> sizes;
    for (std::size_t from = 0; from <= text.size();) {
        const std::size_t to = std::min(text.find('x', from), text.size());
        const auto size = engine::to_number<std::int64_t>(text.substr(from, to - from));
        if (!size || *size < 1 || *size > std::int64_t{1} << 40) refuse_network_argument(engine::msg("--input {}: sizes are numbers joined by x, as in image=3x224x224.", option));
        sizes.push_back(*size);
        from = to + 1;
    }
    return sizes;
}

/// Reads "image=3x224x224", "features=8", "tokens=WORDS" or "indices=COLUMNSxROWS".
engine::NetworkInput read_input(const std::string& option) {
    const std::size_t equals = std::min(option.find('='), option.size());
    engine::NetworkInput input{.field = option.substr(0, equals)};
    const auto sizes = read_sizes(option, option.substr(std::min(equals + 1, option.size())));
    const auto need = [&](std::size_t count, const char* form) {
        if (sizes.size() != count) refuse_network_argument(engine::msg("--input {}: write {}.", option, form));
    };
    if (input.field == "image") {
        need(3, "image=CHANNELSxHEIGHTxWIDTH");
        input.sizes = sizes;
    } else if (input.field == "features") {
        need(1, "features=COLUMNS");
        input.sizes = sizes;
    } else if (input.field == "tokens") {
        need(1, "tokens=WORDS");
        input.counts = sizes;
    } else if (input.field == "indices") {
        need(2, "indices=COLUMNSxROWS");
        input.sizes = {sizes[0]};
        input.counts = {sizes[1]};
    } else {
        refuse_network_argument(engine::msg("--input {}: the inputs are image, features, tokens and indices.", option));
    }
    return input;
}

/// Whether a number of JSON fits into a signed one.
bool is_whole(const ordered_json& value) {
    constexpr auto most = static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
    return value.is_number_integer() && !(value.is_number_unsigned() && value.get<std::uint64_t>() > most);
}

/// Reads "width=32", "depth=[3,4,6,3]" or "stem=cifar".
std::pair<std::string, engine::OptionValue> read_option(const std::string& text) {
    const std::size_t equals = text.find('=');
    if (equals == text.npos || equals == 0) refuse_network_argument(engine::msg("--option {}: write NAME=VALUE.", text));
    const std::string written = text.substr(equals + 1);
    const auto value = ordered_json::parse(written, nullptr, false);
    const std::string name = text.substr(0, equals);
    if (value.is_boolean()) return {name, value.get<bool>()};
    if (is_whole(value)) return {name, value.get<std::int64_t>()};
    if (value.is_number_integer()) refuse_network_argument(engine::msg("--option {}: the number is out of range.", text));
    if (value.is_number()) return {name, value.get<double>()};
    if (value.is_array() && std::ranges::all_of(value, is_whole))
        return {name, value.get<std::vector<std::int64_t>>()};
    if (value.is_array() && std::ranges::all_of(value, [](const auto& each) { return each.is_string(); }))
        return {name, value.get<std::vector<std::string>>()};
    return {name, value.is_string() ? value.get<std::string>() : written};
}

/// The settings of a run, and the sizes of its data.
struct NetworkSettings {
    engine::NetworkData data;
    engine::RunConfig run;
};

/// The settings that --set, --precision and --force make of the defaults, with the network of this file;
/// usual data without --set, and for a text that cannot be read as a whole. Nothing for settings that
/// are not valid, which are reported.
std::optional<NetworkSettings> read_network_settings(const NetworkArguments& args, const std::string& text) {
    std::vector<std::string> overrides = args.overrides;
    if (!args.overrides.empty()) overrides.push_back("model.path=" + args.file);
    if (!args.precision.empty()) overrides.push_back("precision.preset=" + args.precision);
    for (const auto& each : args.forced) overrides.push_back("precision.force." + each);
    auto parsed = engine::parse_run_config("{}", overrides);
    // The check of the text has these with all others.
    const auto faults = std::erase_if(parsed.errors, [](const auto& error) { return error.field == "model.network"; });
    report(parsed.errors);
    if (!parsed.errors.empty()) return std::nullopt;
    const auto with = [&](engine::NetworkData data) { return NetworkSettings{std::move(data), parsed.config}; };
    if (args.overrides.empty() || faults > 0) return with(engine::usual_network_data(text));
    const engine::DatasetDescriptor* const kind = engine::find_dataset(parsed.config.dataset.kind);
    if (!kind->files_decide) return with(engine::network_data(parsed.config));
    return with(engine::network_data(parsed.config, engine::preview_dataset(parsed.config.dataset, parsed.config.seed, 0)));
}

engine::NetworkData read_data(const NetworkArguments& args, engine::NetworkData data) {
    if (args.outputs > 0) data.outputs = args.outputs;
    if (!args.inputs.empty()) data.inputs.clear();
    for (const auto& written : args.inputs) {
        auto input = read_input(written);
        if (std::ranges::find(data.inputs, input.field, &engine::NetworkInput::field) != data.inputs.end())
            refuse_network_argument(engine::msg("--input {}: {} is given twice.", written, input.field));
        data.inputs.push_back(std::move(input));
    }
    std::set<std::string> given;
    for (const auto& written : args.options) {
        auto [name, value] = read_option(written);
        if (!given.insert(name).second) refuse_network_argument(engine::msg("--option {}: {} is given twice.", written, name));
        data.options.insert_or_assign(std::move(name), std::move(value));  // the settings may have another
    }
    return data;
}

/// Refuses an option that the text does not have.
void check_option_names(const engine::NetworkData& data, const engine::CheckedNetwork& network) {
    std::vector<std::string> known;
    for (const auto& option : network.options) known.push_back(option.name);
    for (const auto& given : data.options) {
        const std::string& name = given.first;
        if (std::ranges::find(known, name) != known.end()) continue;
        const std::string near = engine::nearest_name(name, known);
        refuse_network_argument(!near.empty()   ? engine::msg("--option {}: the text has no such option. Did you mean {}?", name, near)
                                : known.empty() ? engine::msg("--option {}: the text has no options.", name)
                                                : engine::msg("--option {}: the text has no such option; it has {}.", name, engine::join(known)));
    }
}

/// A checked text and its types in a precision.
struct NetworkReport {
    const engine::CheckedNetwork& network;
    std::vector<engine::PredictedType> operations;  ///< of a text without a fault
    std::vector<std::string> types;                 ///< of each row
    engine::StepMemory memory;
    std::int64_t batch_size;
};

NetworkReport make_report(const engine::CheckedNetwork& network, const std::string& text, const NetworkSettings& settings) {
    NetworkReport out{network, {}, {}, {}, settings.run.batch_size};
    if (network.usable()) {
        out.operations = engine::predict_types(text, settings.data, settings.run.precision);
        out.memory = engine::predict_step_memory(text, settings.data, settings.run);
    }
    out.types = engine::types_by_row(out.operations, network.rows.size());
    out.memory.saved.resize(network.rows.size());
    return out;
}

std::string json_text(const std::string& file, const NetworkReport& report) {
    const engine::CheckedNetwork& network = report.network;
    ordered_json faults = ordered_json::array(), layers = ordered_json::array(), parameters = ordered_json::array(), state = ordered_json::array();
    for (const auto& fault : network.faults)
        faults.push_back({{"line", fault.place.line}, {"column", fault.place.column}, {"length", fault.place.length},
                          {"text", fault.text.str()}, {"note", fault.note},
                          {"replacement", fault.replacement ? ordered_json(*fault.replacement) : ordered_json()}});
    for (std::size_t i = 0; i < network.rows.size(); ++i) {
        const auto& row = network.rows[i];
        layers.push_back({{"line", row.place.line}, {"module", row.module}, {"layer", row.layer}, {"shape", row.shape},
                          {"parameters", row.parameters}, {"flops", row.flops}, {"saved_bytes", report.memory.saved[i]}, {"type", report.types[i]},
                          {"operations", ordered_json::array()}, {"inputs", row.inputs}});
    }
    for (const auto& op : report.operations)
        layers[static_cast<std::size_t>(op.row)]["operations"].push_back(
            {{"module", op.module}, {"op", op.op}, {"type", op.type}, {"rule", op.rule}, {"key", op.key}, {"why", op.why}});
    for (const auto& parameter : network.parameters)
        parameters.push_back({{"name", parameter.name}, {"sizes", parameter.sizes}, {"initial", parameter.initial}, {"fixed", parameter.fixed}});
    for (const std::size_t place : network.state) {
        if (place < network.parameters.size())
            state.push_back({{"name", network.parameters[place].name}, {"sizes", network.parameters[place].sizes}});
        else
            state.push_back({{"name", network.buffers[place - network.parameters.size()].name}, {"sizes", network.buffers[place - network.parameters.size()].sizes}});
    }
    const engine::StepMemory& memory = report.memory;
    const ordered_json bytes = {{"batch_size", report.batch_size}, {"activations", memory.activations}, {"weights", memory.weights}, {"masters", memory.masters},
                                {"low_copies", memory.low_copies}, {"optimizer", memory.optimizer}, {"gradients", memory.gradients}, {"peak", memory.peak}};
    const ordered_json out = {{"file", file}, {"usable", network.usable()}, {"faults", std::move(faults)}, {"gives", network.gives},
                              {"shape", network.shape}, {"parameter_count", network.parameter_count()}, {"flops", network.flops()}, {"memory", bytes},
                              {"layers", std::move(layers)}, {"parameters", std::move(parameters)}, {"state", std::move(state)}};
    return engine::dumped(out) + '\n';
}

/// Writes the network in the form that --to names.
void write_export(const NetworkArguments& args, const std::string& text, const engine::NetworkData& data, const NetworkReport& report) {
    std::string out;
    if (args.format == "pytorch")
        out = engine::network_to_pytorch(text, data);
    else if (args.format == "network")
        out = engine::network_to_text(text, data);
    else if (args.format == "onnx")
        out = engine::network_to_onnx(text, data, engine::RunConfig().seed);
    else if (args.format == "svg")
        out = engine::network_to_svg(text, data, {.depth = static_cast<int>(args.depth), .lying = args.lying});
    else
        out = json_text(args.file, report);
    if (args.output.empty()) {
        std::cout << out;
        return;
    }
    std::error_code ignored;
    if (std::filesystem::equivalent(args.output, args.file, ignored))
        refuse_network_argument(engine::msg("-o {}: this is the network's own file.", args.output));
    engine::write_named_file(args.output, out);
}

void print_table(const NetworkReport& report) {
    const engine::CheckedNetwork& network = report.network;
    engine::Table table{{"line", "name", "layer", "shape", "parameters", "FLOPs", "saved", "type"}};
    for (std::size_t i = 0; i < network.rows.size(); ++i) {
        const auto& row = network.rows[i];
        table.rows.push_back({row.place.line, row.module, row.layer, row.shape, row.parameters, engine::Cell(row.flops, "%.4g"),
                              engine::estimated_bytes_text(report.memory.saved[i]), report.types[i]});
    }
    std::cout << to_text(table, 4);
    print_formatted("%zu layers, %lld parameters, %.4g FLOPs for one sample; the result is %s\n", network.rows.size(),
                    static_cast<long long>(network.parameter_count()), network.flops(), network.shape.empty() ? "?" : network.shape.c_str());
    if (!network.usable()) return;
    print_formatted("a step on %lld samples keeps %s for its backward pass and needs about %s\n", static_cast<long long>(report.batch_size),
                    engine::estimated_bytes_text(report.memory.activations).c_str(),
                    engine::estimated_bytes_text(report.memory.peak).c_str());
}

int check(const NetworkArguments& args) {
    const auto text = read_small_file(args.file);
    if (!text) {
        std::cerr << "halftone: " << engine::one_line(args.file) << ": cannot be read\n";
        return engine::exit_code(engine::ErrorCode::data);
    }
    auto settings = read_network_settings(args, *text);
    if (!settings) return engine::exit_code(engine::ErrorCode::settings);
    settings->data = read_data(args, std::move(settings->data));
    const engine::CheckedNetwork network = engine::check_network(*text, settings->data);
    check_option_names(settings->data, network);
    for (const auto& fault : network.faults)
        std::cerr << engine::one_line(args.file) << ':' << fault.place.line << ':' << fault.place.column << ": "
                  << (fault.note ? "note: " : "") << fault.text.str() << '\n';
    const NetworkReport report = make_report(network, *text, *settings);
    if (!args.format.empty() && network.usable())
        write_export(args, *text, settings->data, report);
    else if (args.json)
        std::cout << json_text(args.file, report);
    else if (args.format.empty())
        print_table(report);
    return network.usable() ? 0 : engine::exit_code(engine::ErrorCode::settings);
}

void print_kinds(bool as_json) {
    ordered_json list = ordered_json::array();
    for (const auto& kind : engine::network_layer_kinds()) {
        if (as_json)
            list.push_back({{"name", kind.name}, {"form", kind.form}, {"help", kind.help}});
        else
            std::cout << kind.form << "\n    " << kind.help << '\n';
    }
    if (as_json) std::cout << engine::dumped(list) << '\n';
}

int network(const NetworkArguments& args) {
    const int asked = (args.file.empty() ? 0 : 1) + (args.template_name.empty() ? 0 : 1) + (args.kinds ? 1 : 0);
    if (asked != 1) {
        std::cerr << "halftone network: give a FILE, --kinds or --template NAME.\n";
        return CommandLine::usage_error;
    }
    static constexpr std::array formats = {"network", "pytorch", "onnx", "svg", "json"};
    if (!args.format.empty() && std::ranges::find(formats, args.format) == formats.end())
        refuse_network_argument(engine::msg("--to {}: the forms are {}.", args.format, engine::join(formats)));
    if (args.format.empty() && !args.output.empty()) refuse_network_argument(engine::msg("-o is for --to."));
    if (args.format != "svg" && (args.lying || args.depth != 0)) refuse_network_argument(engine::msg("--lying and --depth are for --to svg."));
    if (!args.format.empty() && args.json) refuse_network_argument(engine::msg("Choose --json or --to {}.", args.format));
    if (args.kinds) {
        print_kinds(args.json);
    } else if (!args.template_name.empty()) {
        std::cout << engine::network_template(args.template_name);
    } else {
        return check(args);
    }
    return 0;
}

}  // namespace

void describe_network(Command command) {
    auto args = std::make_shared<NetworkArguments>();
    command.text("FILE", args->file, "A network as text (NAME.network)").optional();
    command.repeated_text("--input", args->inputs,
                          "Sizes of an input instead of usual ones: image=3x224x224, features=8, tokens=WORDS or "
                          "indices=COLUMNSxROWS")
        .takes("FIELD=SIZES");
    command.repeated_text("--set", args->overrides, "path=value: the sizes are those of a run with these settings, and its options").takes("PATH=VALUE");
    command.text("--precision", args->precision, "The preset whose types are predicted, instead of that of the settings").not_empty().takes("PRESET");
    command.repeated_text("--force", args->forced, "A module, an operation or module:operation and its type: fp32, fp16 or bf16").takes("KEY=TYPE");
    command.number("--outputs", args->outputs, "Classes, targets or words").within(1, std::int64_t{1} << 40);
    command.repeated_text("--option", args->options, "An option of the text: width=32, depth=[3,4,6,3] or stem=cifar").takes("NAME=VALUE");
    command.flag("--kinds", args->kinds, "The kinds of layers with their arguments");
    command.text("--template", args->template_name, "Prints a network that comes with the program").not_empty().takes("NAME");
    command.text("--to", args->format, "Writes the network in another form: network (a text without options), pytorch (model.py), onnx (with initial weights), svg (a picture) or json").not_empty().takes("network|pytorch|onnx|svg|json");
    command.text("-o,--output", args->output, "The file for --to; without one, standard output").not_empty().takes("FILE");
    command.number("--depth", args->depth, "Picture: blocks around each other that are drawn with their layers; 0: each is a box").within(0, 100).takes("N");
    command.flag("--lying", args->lying, "Picture: from left to right instead of from top to bottom");
    command.flag("--json", args->json, "One JSON object on standard output; with --kinds a list");
    command.run([args] { return network(*args); });
}

}  // namespace app
