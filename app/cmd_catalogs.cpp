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
                         {"growth_interval", s.growth_interval}}}});
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
    add(cli, exit_code, "ops", "The operations, their autocast policies and derivatives", ops_json);
    add(cli, exit_code, "models", "The models and their options", models_json);
    add(cli, exit_code, "datasets", "The data sets and what they need", datasets_json);
    add(cli, exit_code, "presets", "The precision and scaler presets", presets_json);
}

}  // namespace app
