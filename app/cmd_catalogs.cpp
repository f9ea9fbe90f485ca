#include <algorithm>
#include <cmath>
#include <iomanip>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <variant>
#include <vector>

#include "commands.h"
#include "engine/base/error.h"
#include "engine/base/json.h"
#include "engine/base/plain_text.h"
#include "engine/models/recipe_info.h"
#include "engine/number/figure_text.h"
#include "engine/runs/settings_presets.h"
#include "engine/settings/catalog.h"

namespace app {
namespace {

using nlohmann::json;

std::string shown(const json& value) {
    if (value.is_number_float()) return engine::short_figure_text(value.get<double>());
    if (value.is_array()) return engine::join(value, ", ", shown);
    return value.is_string() ? value.get<std::string>() : value.dump();
}

json options_list(const std::vector<engine::OptionSpec>& specs) {
    json options = json::array();
    for (const auto& spec : specs) {
        json option = {{"name", spec.name}, {"help", spec.help}};
        option["default"] =
            std::visit([](const auto& value) { return json(value); }, spec.default_value);
        if (std::isfinite(spec.lowest)) option["lowest"] = spec.lowest;
        if (std::isfinite(spec.highest)) option["highest"] = spec.highest;
        for (const auto& choice : spec.choices) option["choices"].push_back(choice.value);
        options.push_back(std::move(option));
    }
    return options;
}

/// Name, title and summary of a kind, with further members.
template <typename Kind>
json described(const Kind& kind, json more) {
    more.update({{"name", kind.kind}, {"title", kind.title}, {"summary", kind.summary}});
    return more;
}

json model_list() {
    json out = json::array();
    for (const auto& model : engine::models()) {
        json fitting = json::array();
        for (const auto& set : engine::datasets()) {
            if (model.takes(set)) fitting.push_back(set.kind);
        }
        out.push_back(described(model, {{"options", options_list(model.options)},
                                        {"inputs", engine::input_names(model)},
                                        {"datasets", std::move(fitting)}}));
    }
    return out;
}

json dataset_list() {
    json out = json::array();
    for (const auto& set : engine::datasets()) {
        out.push_back(described(set, {{"needs", set.needs},
                                      {"sample_shape", set.sample_shape},
                                      {"classes", set.classes},
                                      {"augments", set.augments},
                                      {"unit", set.unit},
                                      {"input", set.input},
                                      {"files_decide", set.files_decide},
                                      {"options", options_list(set.options)}}));
    }
    return out;
}

json task_list() {
    json out = json::array();
    for (const auto& task : engine::tasks()) {
        json metrics = json::array();
        for (const auto& metric : task.metrics) {
            metrics.push_back({{"key", metric.key},
                               {"title", metric.title},
                               {"higher_is_better", metric.higher_is_better},
                               {"is_share", metric.is_share}});
        }
        out.push_back(described(task, {{"metrics", std::move(metrics)}}));
    }
    return out;
}

/// Precisions and scaler presets.
json preset_list() {
    json out = json::array();
    for (const auto& info : engine::precisions()) {
        const auto& s = info.settings;
        out.push_back(described(info, {{"kind", "precision"},
                                       {"settings",
                                        {{"weights", engine::word_of(s.weights)},
                                         {"autocast", engine::word_of(s.autocast)},
                                         {"batch_norm", engine::word_of(s.batch_norm)},
                                         {"master_weights", s.master_weights},
                                         {"scaler", engine::word_of(s.scaler)},
                                         {"recipe", engine::word_of(s.recipe)}}}}));
    }
    for (const auto& info : engine::scaler_presets()) {
        const auto& s = info.settings;
        out.push_back(described(info, {{"kind", "scaler"},
                                       {"settings",
                                        {{"init_scale", s.init_scale},
                                         {"growth_factor", s.growth_factor},
                                         {"backoff_factor", s.backoff_factor},
                                         {"growth_interval", s.growth_interval},
                                         {"hysteresis", s.hysteresis}}}}));
    }
    return out;
}

std::vector<engine::SettingsPreset> all_named_settings() {
    auto all = engine::list_settings_presets();
    for (auto& example : engine::list_example_settings()) all.push_back(std::move(example));
    return all;
}

/// A recipe in JSON. Cards' own arithmetic is not used, so every one of them is emulated.
json recipe_object(const engine::RecipeInfo& recipe) {
    return {{"name", recipe.kind},
            {"title", recipe.title},
            {"forward", recipe.forward},
            {"gradient", recipe.gradient},
            {"scale", recipe.scale},
            {"gradient_rounding", recipe.random_gradients ? "random" : "nearest"},
            {"rotates_rows", recipe.rotates_rows},
            {"engine", "emulated"}};
}

void print_recipe(const engine::RecipeInfo& recipe) {
    std::cout << std::left << std::setw(16) << recipe.kind << recipe.title << ", emulated\n"
              << "                input and weight " << recipe.forward << ", gradient "
              << recipe.gradient << (recipe.random_gradients ? ", rounded at random" : "") << '\n'
              << "                a scale for " << recipe.scale << '\n';
    if (recipe.rotates_rows)
        std::cout << "                rows are rotated for the gradient of a weight\n";
}

int recipes(const std::string& only, bool as_json) {
    json out = json::array();
    std::vector<std::string> names;
    for (const engine::RecipeInfo& each : engine::recipe_infos()) {
        names.push_back(each.kind);
        if (!only.empty() && only != each.kind) continue;
        out.push_back(recipe_object(each));
        if (!as_json) print_recipe(each);
    }
    if (out.empty())
        throw engine::Error(engine::ErrorCode::settings,
                            engine::msg("{} is not a recipe: use {}.", only,
                                        engine::join(names, ", ")));
    if (as_json) std::cout << engine::dumped(out, 1) << '\n';
    return 0;
}

json settings_preset_list() {
    json out = json::array();
    for (const auto& preset : all_named_settings()) {
        json entry = {{"name", preset.name},          {"kind", "settings"},
                      {"title", preset.name},         {"summary", ""},
                      {"file", preset.file.string()}, {"valid", preset.parsed.errors.empty()}};
        if (!preset.parsed.errors.empty()) entry["problem"] = preset.parsed.errors.front().str();
        out.push_back(std::move(entry));
    }
    return out;
}

json op_list() {
    json out = json::array();
    for (const auto& op : engine::ops()) {
        out.push_back({{"name", op.name},
                       {"signature", op.signature},
                       {"policy", op.policy},
                       {"derivatives", op.derivatives},
                       {"second_derivative", op.derivatives >= 2},
                       {"why", op.why},
                       {"flushes_subnormals", op.flushes_subnormals},
                       {"forceable", op.forceable}});
    }
    return out;
}

/// The lines below an entry of a catalog. `section`: of its options, "dataset.".
std::vector<std::string> details(const json& entry, const std::string& section) {
    std::vector<std::string> lines;
    const auto text = [](const json& object, const char* key) {
        return object.at(key).get<std::string>();
    };
    if (entry.contains("inputs")) lines.push_back("takes: " + shown(entry.at("inputs")));
    if (entry.contains("needs"))
        lines.push_back(text(entry, "needs").empty()
                            ? "needs no files"
                            : "dataset.path needs: " + text(entry, "needs"));
    for (const json& option : entry.value("options", json::array())) {
        const std::string usual = shown(option.at("default"));
        lines.push_back(section + text(option, "name") + (usual.empty() ? "" : "=" + usual) + ": " +
                        text(option, "help"));
    }
    for (const json& metric : entry.value("metrics", json::array()))
        lines.push_back("metric " + text(metric, "key") + ": " + text(metric, "title") +
                        (metric.at("higher_is_better").get<bool>() ? ", higher is better"
                                                                   : ", lower is better"));
    if (entry.contains("metrics") && entry.at("metrics").empty())
        lines.emplace_back("no metric: compared by the loss");
    return lines;
}

/// Width of the column of names.
template <typename Entries>
int name_width(const Entries& entries) {
    std::size_t width = 0;
    for (const auto& entry : entries) width = std::max(width, entry.name.size());
    return static_cast<int>(width) + 2;
}

void print(const json& entries, const std::string& section = {}) {
    std::size_t widest = 0;
    for (const auto& entry : entries)
        widest = std::max(widest, entry.at("name").get_ref<const std::string&>().size());
    const int width = static_cast<int>(widest) + 2;
    for (const auto& entry : entries) {
        std::cout << std::left << std::setw(width) << entry.at("name").get<std::string>()
                  << entry.at("title").get<std::string>() << ": "
                  << entry.at("summary").get<std::string>() << '\n';
        for (const auto& line : details(entry, section))
            std::cout << std::string(static_cast<std::size_t>(width), ' ') << line << '\n';
    }
}

void print_ops() {
    const auto ops = engine::ops();
    const int width = name_width(ops);
    for (const auto& op : ops) {
        std::cout << std::left << std::setw(width) << op.name << std::setw(12) << op.policy
                  << op.signature << "\n"
                  << std::string(static_cast<std::size_t>(width) + 12, ' ') << op.why << '\n';
    }
}

void print_named_settings(const std::vector<engine::SettingsPreset>& presets) {
    const int width = name_width(presets);
    for (const auto& preset : presets) {
        const auto& config = preset.parsed.config;
        std::cout << std::left << std::setw(width) << engine::one_line(preset.name);
        if (preset.parsed.errors.empty())
            std::cout << config.dataset.kind << ", " << config.model.kind << ", "
                      << config.precision.preset << '\n';
        else
            std::cout << "cannot be used: " << engine::one_line(preset.parsed.errors.front().str())
                      << '\n';
    }
}

/// Settings with a name. `train`, `compare` and the other commands with settings take
/// the name in place of a file.
void print_settings_presets() {
    const auto presets = engine::list_settings_presets();
    std::cout << "\nNamed settings, in "
              << engine::one_line(engine::settings_presets_folder().string())
              << (presets.empty() ? ": none. File > Presets in the window saves some.\n" : ":\n");
    print_named_settings(presets);
    std::cout << "\nExamples:\n";
    print_named_settings(engine::list_example_settings());
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
           "Autocast op rules…).\n"
           "A question mark is an argument that may be absent, brackets are a list; what stands "
           "after the semicolon is given by name.\n\n"
           "| operation | in an autocast region | derivatives | why |\n"
           "| --- | --- | ---: | --- |\n";
    for (const auto& op : engine::ops()) {
        std::cout << "| `" << op.signature << "` | " << policy_words(op.policy) << " | "
                  << op.derivatives << " | " << op.why << " |\n";
    }
}

void describe_catalog(Command& command, json (*list)(), const std::string& section = {}) {
    auto as_json = std::make_shared<bool>(false);
    command.flag("--json", *as_json, "A JSON list on standard output");
    command.run([as_json, list, section] {
        if (*as_json)
            std::cout << engine::dumped(list(), 1) << '\n';
        else
            print(list(), section);
        return 0;
    });
}

}  // namespace

void describe_ops(Command command) {
    auto as_json = std::make_shared<bool>(false), as_page = std::make_shared<bool>(false),
         samples = std::make_shared<bool>(false);
    const Option json = command.flag("--json", *as_json, "A JSON list on standard output");
    command.flag("--markdown", *as_page, "The page engine/OPERATIONS.md").excludes(json);
    command.flag("--samples", *samples, "Small calls of the operations instead, as JSON");
    command.run([as_json, as_page, samples] {
        if (*as_page)
            print_ops_page();
        else if (*samples)
            std::cout << engine::op_samples_json();
        else if (*as_json)
            std::cout << engine::dumped(op_list(), 1) << '\n';
        else
            print_ops();
        return 0;
    });
}

void describe_models(Command command) { describe_catalog(command, model_list, "model.options."); }
void describe_datasets(Command command) { describe_catalog(command, dataset_list, "dataset."); }
void describe_tasks(Command command) { describe_catalog(command, task_list); }
void describe_presets(Command command) {
    auto as_json = std::make_shared<bool>(false);
    command.flag("--json", *as_json, "A JSON list on standard output");
    command.run([as_json] {
        json presets = preset_list();
        if (*as_json) {
            for (auto& preset : settings_preset_list()) presets.push_back(std::move(preset));
            std::cout << engine::dumped(presets, 1) << '\n';
            return 0;
        }
        print(presets);
        print_settings_presets();
        return 0;
    });
}

void describe_recipes(Command command) {
    auto only = std::make_shared<std::string>();
    auto as_json = std::make_shared<bool>(false);
    command.text("NAME", *only, "One recipe");
    command.flag("--json", *as_json, "A JSON list on standard output");
    command.run([only, as_json] { return recipes(*only, *as_json); });
}

}  // namespace app
