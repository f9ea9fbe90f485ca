#include <iomanip>
#include <iostream>
#include <nlohmann/json.hpp>

#include "commands.h"
#include "engine/catalog.h"

namespace app {
namespace {

using nlohmann::json;

json value_of(const engine::OptionValue& value) {
    return std::visit([](const auto& v) { return json(v); }, value);
}

json ops_json() {
    json out = json::array();
    for (const auto& op : engine::ops()) {
        out.push_back({{"name", op.name},
                       {"signature", op.signature},
                       {"policy", op.policy},
                       {"derivatives", op.derivatives},
                       {"second_derivative", op.derivatives >= 2},
                       {"why", op.why},
                       {"flushes_subnormals", op.flushes_subnormals}});
    }
    return out;
}

json models_json() {
    json out = json::array();
    for (const auto& model : engine::models()) {
        json options = json::array();
        for (const auto& option : model.options) {
            options.push_back({{"name", option.name},
                               {"default", value_of(option.default_value)},
                               {"help", option.help}});
        }
        out.push_back({{"name", model.kind},
                       {"title", model.title},
                       {"summary", model.summary},
                       {"options", options},
                       {"datasets", model.dataset_kinds}});
    }
    return out;
}

json datasets_json() {
    json out = json::array();
    for (const auto& set : engine::datasets()) {
        out.push_back({{"name", set.kind},
                       {"title", set.title},
                       {"summary", set.summary},
                       {"needs", set.needs},
                       {"sample_shape", set.sample_shape},
                       {"classes", set.classes},
                       {"augments", set.augments}});
    }
    return out;
}

json presets_json() {
    json out = json::array();
    for (const auto& info : engine::precisions()) {
        const auto& s = info.settings;
        out.push_back({{"name", info.preset},
                       {"kind", "precision"},
                       {"title", info.title},
                       {"summary", info.summary},
                       {"settings",
                        {{"weights", s.weights},
                         {"autocast", s.autocast},
                         {"batch_norm", s.batch_norm},
                         {"master_weights", s.master_weights},
                         {"scaler", s.scaler}}}});
    }
    for (const auto& info : engine::scaler_presets()) {
        const auto& s = info.settings;
        out.push_back({{"name", info.preset},
                       {"kind", "scaler"},
                       {"title", info.title},
                       {"summary", info.summary},
                       {"settings",
                        {{"init_scale", s.init_scale},
                         {"growth_factor", s.growth_factor},
                         {"backoff_factor", s.backoff_factor},
                         {"growth_interval", s.growth_interval},
                         {"hysteresis", s.hysteresis}}}});
    }
    return out;
}

/// Two columns for people: the name, and what there is to say in one line.
void print(const json& entries) {
    std::size_t width = 0;
    for (const auto& entry : entries)
        width = std::max(width, entry["name"].get<std::string>().size());
    for (const auto& entry : entries) {
        std::cout << std::left << std::setw(static_cast<int>(width) + 2)
                  << entry["name"].get<std::string>();
        if (entry.contains("policy")) {
            std::cout << std::setw(12) << entry["policy"].get<std::string>()
                      << entry["signature"].get<std::string>() << "\n"
                      << std::string(width + 14, ' ') << entry["why"].get<std::string>() << '\n';
        } else {
            std::cout << entry["title"].get<std::string>() << ": "
                      << entry["summary"].get<std::string>() << '\n';
        }
    }
}

const char* policy_words(const std::string& policy) {
    if (policy == "low") return "casts to the region's 16 bits";
    if (policy == "f32") return "casts to f32";
    if (policy == "f32_dtype" || policy == "f32_append") return "computes and writes f32";
    if (policy == "promote") return "casts to the widest input";
    if (policy == "banned") return "refused";
    return "as outside";
}

/// engine/OPERATIONS.md, which a test holds to this.
void print_ops_page() {
    std::cout
        << "# The operations\n\n"
           "Written by `halftone ops --markdown` from the table that the window shows too (Help > "
           "Operations and their types).\n"
           "A question mark is an argument that may be absent, brackets are a list; what stands "
           "after the semicolon is given by name.\n\n"
           "| operation | in an autocast region | derivatives | why |\n"
           "| --- | --- | ---: | --- |\n";
    for (const auto& op : engine::ops()) {
        std::cout << "| `" << op.signature << "` | " << policy_words(op.policy) << " | "
                  << op.derivatives << " | " << op.why << " |\n";
    }
}

void add_ops(CLI::App& cli, int* exit_code) {
    auto as_json = std::make_shared<bool>(false), as_page = std::make_shared<bool>(false);
    auto* command =
        cli.add_subcommand("ops", "The operations, their autocast policies and derivatives");
    auto* json_flag = command->add_flag("--json", *as_json, "A JSON list on standard output");
    command->add_flag("--markdown", *as_page, "The page engine/OPERATIONS.md")->excludes(json_flag);
    command->callback([as_json, as_page, exit_code] {
        if (*as_page)
            print_ops_page();
        else if (*as_json)
            std::cout << ops_json().dump(1) << '\n';
        else
            print(ops_json());
        *exit_code = 0;
    });
}

void add(CLI::App& cli, int* exit_code, const std::string& name, const std::string& help,
         json (*entries)()) {
    auto as_json = std::make_shared<bool>(false);
    auto* command = cli.add_subcommand(name, help);
    command->add_flag("--json", *as_json, "A JSON list on standard output");
    command->callback([as_json, exit_code, entries] {
        if (*as_json)
            std::cout << entries().dump(1) << '\n';
        else
            print(entries());
        *exit_code = 0;
    });
}

}  // namespace

void add_catalogs(CLI::App& cli, int* exit_code) {
    add_ops(cli, exit_code);
    add(cli, exit_code, "models", "The models and their options", models_json);
    add(cli, exit_code, "datasets", "The data sets and what they need", datasets_json);
    add(cli, exit_code, "presets", "The precision and scaler presets", presets_json);
}

}  // namespace app
