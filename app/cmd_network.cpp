#include <algorithm>
#include <array>
#include <filesystem>
#include <iostream>
#include <limits>
#include <optional>
#include <set>

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
#include "engine/network/onnx_import.h"
#include "engine/number/figure_text.h"
#include "engine/runs/export.h"
#include "engine/settings/catalog.h"
#include "engine/train/network_report.h"
#include "settings.h"
#include "terminal.h"

namespace app {
namespace {

using nlohmann::ordered_json;

struct NetworkArguments {
    std::string file, data_file, template_name, format, output, precision;
    std::vector<std::string> inputs, options, overrides, forced;
    std::int64_t outputs = 0;  ///< 0: not given
    std::int64_t depth = 0;
    bool kinds = false, json = false, lying = false, types = false;
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
    bool usual_sizes = true;  ///< no data set gave them
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
    const auto with = [&](engine::NetworkData data, bool usual = false) { return NetworkSettings{std::move(data), parsed.config, usual}; };
    if (args.overrides.empty() || faults > 0) return with(engine::usual_network_data(text), true);
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

/// Writes the network in the form that --to names.
void write_export(const NetworkArguments& args, const std::string& text, const NetworkSettings& settings) {
    const auto types = [&] {
        const auto rows = engine::check_network(text, settings.data).rows.size();
        return args.types ? engine::types_by_row(engine::predict_types(text, settings.data, settings.run.precision), rows) : std::vector<std::string>();
    };
    std::string out;
    const auto& forms = engine::network_forms();
    const auto form = std::ranges::find(forms, args.format, &engine::NetworkForm::name);
    if (args.format == "svg")
        out = engine::network_to_svg(text, settings.data, {.depth = static_cast<int>(args.depth), .lying = args.lying, .types = types()});
    else if (form != forms.end())
        out = form->write(text, settings.data, {});
    else if (args.format == "onnx")
        out = engine::network_to_onnx(text, settings.data, settings.run.seed);
    else
        out = engine::network_to_json(engine::report_network(text, settings.data, settings.run), args.file);
    if (args.output.empty()) {
        std::cout << out;
        return;
    }
    std::error_code ignored;
    if (std::filesystem::equivalent(args.output, args.file, ignored))
        refuse_network_argument(engine::msg("-o {}: this is the network's own file.", args.output));
    engine::write_named_file(args.output, out);
}

/// "image 3 x 224 x 224 (not set), 10 outputs (not set)".
std::string sizes_text(const NetworkArguments& args, const NetworkSettings& settings) {
    const auto origin = [&](bool given) { return settings.usual_sizes && !given ? " (not set)" : ""; };
    std::string out;
    for (const engine::NetworkInput& input : settings.data.inputs) {
        std::string sizes = engine::join(input.sizes, " x ");
        if (!input.counts.empty()) sizes += (sizes.empty() ? "below " : ", below ") + std::to_string(std::ranges::max(input.counts));
        out += (out.empty() ? "" : ", ") + input.field + ' ' + sizes + origin(!args.inputs.empty());
    }
    if (settings.data.outputs > 0) out += ", " + std::to_string(settings.data.outputs) + " outputs" + origin(args.outputs > 0);
    const bool has_data = !settings.usual_sizes && (args.inputs.empty() || args.outputs == 0);
    return has_data ? out + " of the data set " + settings.run.dataset.kind : out;
}

void print_table(const engine::NetworkReport& report, const std::string& sizes, const std::string& precision) {
    const engine::CheckedNetwork& network = report.network;
    engine::Table table{{"line", "name", "layer", "shape", "parameters", "FLOPs", "saved", "type"}};
    for (std::size_t i = 0; i < network.rows.size(); ++i) {
        const auto& row = network.rows[i];
        table.rows.push_back({row.place.line, row.module, row.layer, row.shape, row.parameters, engine::Cell(row.flops, "%.4g"),
                              network.usable() ? engine::Cell(engine::estimated_bytes_text(report.memory.saved[i])) : engine::Cell(""), report.types[i]});
    }
    std::cout << to_text(table, 4);
    print_formatted("%zu layers, %lld parameters, %.4g FLOPs for one sample; the result is %s\n", network.rows.size(),
                    static_cast<long long>(network.parameter_count()), network.flops(), network.shape.empty() ? "?" : network.shape.c_str());
    print_formatted("for %s\n", sizes.c_str());
    if (!network.usable()) return;
    print_formatted("a step in %s on a batch of %lld keeps %s for its backward pass and needs about %s\n", precision.c_str(), static_cast<long long>(report.batch_size),
                    engine::estimated_bytes_text(report.memory.activations).c_str(),
                    engine::estimated_bytes_text(report.memory.peak).c_str());
}

const char* name_of(engine::OnnxRemark::Kind kind) {
    constexpr std::array names = {"read", "layers", "lifted", "dropped", "folded", "tensors", "note", "advice", "data"};
    return names.at(static_cast<std::size_t>(kind));
}

ordered_json remark_json(const engine::OnnxRemark& remark) {
    ordered_json out = {{"kind", name_of(remark.kind)}, {"text", remark.text.str()}};
    if (remark.line > 0) out["line"] = remark.line;
    if (!remark.copy.empty()) out["copy"] = remark.copy;
    for (const auto& item : remark.items) {
        out["items"].push_back({{"count", item.count}, {"name", item.name}});
        if (item.line > 0) out["items"].back()["line"] = item.line;
    }
    return out;
}

/// One object of what an ONNX model became.
void print_import(const engine::OnnxImport& import, const std::string& file) {
    ordered_json inputs = ordered_json::array(), tensors = ordered_json::array(), report = ordered_json::array();
    for (const auto& input : import.data.inputs) {
        inputs.push_back({{"field", input.field}, {"sizes", input.sizes}});
        if (!input.counts.empty()) inputs.back()["counts"] = input.counts;
    }
    for (const auto& tensor : import.tensors) tensors.push_back({{"name", tensor.name}, {"sizes", tensor.sizes}});
    for (const auto& remark : import.report) report.push_back(remark_json(remark));
    const ordered_json out = {{"file", file}, {"inputs", inputs}, {"outputs", import.data.outputs}, {"report", report}, {"tensors", tensors}, {"text", import.text}};
    std::cout << engine::dumped(out) << '\n';
}

void print_report(const engine::OnnxImport& import, std::ostream& out) {
    for (const auto& remark : import.report) out << engine::one_line(remark.str()) << '\n';
}

/// Writes an ONNX model as a text with its weights beside it, or prints what was read of it.
int take_onnx(const NetworkArguments& args) {
    if (!args.overrides.empty() || !args.options.empty())
        refuse_network_argument(engine::msg("{} is an ONNX model: write it as text first, with --to network -o FILE.", args.file));
    const engine::OnnxImport import = engine::import_onnx(args.file, args.data_file);
    if (args.json) {
        print_import(import, args.file);
        return 0;
    }
    if (!args.format.empty() && args.format != "network") {
        NetworkSettings settings{import.data, {}, false};
        settings.data = read_data(args, std::move(settings.data));
        write_export(args, import.text, settings);
        return 0;
    }
    if (args.output.empty()) {
        print_report(import, args.format.empty() ? std::cout : std::cerr);
        std::cout << (args.format.empty() ? "\n" : "") << import.text;
        return 0;
    }
    const std::string weights = std::filesystem::path(args.output).replace_extension(".safetensors").string();
    engine::write_named_file(args.output, import.text);
    engine::write_onnx_weights(import, weights);
    print_report(import, std::cout);
    std::cout << "Train it: halftone train --set model.path=" << engine::one_line(args.output) << " --set model.init_from=" << engine::one_line(weights)
              << ", with model.new_head=true for other classes.\n";
    return 0;
}

int check(const NetworkArguments& args) {
    if (args.file.ends_with(".onnx") || args.file.ends_with(".ONNX")) return take_onnx(args);
    if (!args.data_file.empty()) refuse_network_argument(engine::msg("--data is for ONNX models."));
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
    if (!args.format.empty() && network.usable())
        write_export(args, *text, *settings);
    else if (args.json)
        std::cout << engine::network_to_json(engine::report_network(*text, settings->data, settings->run), args.file);
    else if (args.format.empty())
        print_table(engine::report_network(*text, settings->data, settings->run), sizes_text(args, *settings), settings->run.precision.preset);
    return network.usable() ? 0 : engine::exit_code(engine::ErrorCode::settings);
}

/// Names of --to: a picture's types are a flag here.
std::vector<std::string> network_formats() {
    std::vector<std::string> names;
    for (const auto& form : engine::network_forms())
        if (form.name != "svg-types") names.push_back(form.name);
    names.insert(names.end(), {"onnx", "json"});
    return names;
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
    const std::vector<std::string> formats = network_formats();
    if (!args.format.empty() && std::ranges::find(formats, args.format) == formats.end())
        refuse_network_argument(engine::msg("--to {}: the forms are {}.", args.format, engine::join(formats)));
    if (args.format.empty() && !args.output.empty()) refuse_network_argument(engine::msg("-o is for --to."));
    if (args.format != "svg" && (args.lying || args.types || args.depth != 0)) refuse_network_argument(engine::msg("--lying, --types and --depth are for --to svg."));
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
    command.text("FILE", args->file, "A network as text (NAME.network), or an ONNX model").optional();
    command.text("--data", args->data_file, "ONNX: the file of its tensors, instead of the one beside it").not_empty().takes("FILE");
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
    command.flag("--types", args->types, "Picture: a box has the colour of its result's type, which stands beside its shape");
    command.flag("--json", args->json, "One JSON object on standard output; with --kinds a list");
    command.run([args] { return network(*args); });
}

}  // namespace app
