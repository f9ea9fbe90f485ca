#include <algorithm>
#include <iomanip>
#include <iostream>
#include <string>
#include <variant>
#include <vector>

#include "commands.h"
#include "engine/base/plain_text.h"
#include "engine/number/figure_text.h"
#include "engine/runs/settings_presets.h"
#include "engine/settings/catalog.h"
#include "json_output.h"

namespace app {
namespace {

/// Names and summary of a model, a data set or a preset, for the text output.
struct Entry {
    std::string name, title, summary;
    std::vector<std::string> details = {};  ///< a line each
};

std::string default_text(const engine::OptionValue& value) {
    struct Text {
        std::string operator()(bool flag) const { return flag ? "true" : "false"; }
        std::string operator()(std::int64_t number) const { return std::to_string(number); }
        std::string operator()(double number) const { return engine::short_figure_text(number); }
        std::string operator()(const std::string& word) const { return word; }
        std::string operator()(const std::vector<std::string>& words) const {
            return engine::join(words);
        }
        std::string operator()(const std::vector<std::int64_t>& numbers) const {
            std::vector<std::string> words;
            for (const auto number : numbers) words.push_back(std::to_string(number));
            return engine::join(words);
        }
    };
    return std::visit(Text{}, value);
}

void add_options(Entry& entry, const std::string& section,
                 const std::vector<engine::OptionSpec>& options) {
    for (const auto& option : options) {
        const std::string usual = default_text(option.default_value);
        entry.details.push_back(section + option.name + (usual.empty() ? "" : "=" + usual) + ": " +
                                option.help);
    }
}

std::vector<Entry> model_entries() {
    std::vector<Entry> out;
    for (const auto& model : engine::models()) {
        Entry& entry = out.emplace_back(Entry{model.kind, model.title, model.summary});
        entry.details.push_back("takes: " + engine::join(engine::input_names(model)));
        add_options(entry, "model.options.", model.options);
    }
    return out;
}

std::vector<Entry> dataset_entries() {
    std::vector<Entry> out;
    for (const auto& set : engine::datasets()) {
        Entry& entry = out.emplace_back(Entry{set.kind, set.title, set.summary});
        entry.details.push_back(set.needs.empty() ? std::string("needs no files")
                                                  : "dataset.path needs: " + set.needs);
        add_options(entry, "dataset.", set.options);
    }
    return out;
}

std::vector<Entry> task_entries() {
    std::vector<Entry> out;
    for (const auto& task : engine::tasks()) {
        Entry& entry = out.emplace_back(Entry{task.kind, task.title, task.summary});
        for (const auto& metric : task.metrics)
            entry.details.push_back(
                "metric " + metric.key + ": " + metric.title +
                (metric.higher_is_better ? ", higher is better" : ", lower is better"));
        if (task.metrics.empty()) entry.details.emplace_back("no metric: compared by the loss");
    }
    return out;
}

std::vector<Entry> preset_entries() {
    std::vector<Entry> out;
    for (const auto& info : engine::precisions())
        out.push_back({info.kind, info.title, info.summary});
    for (const auto& info : engine::scaler_presets())
        out.push_back({info.kind, info.title, info.summary});
    return out;
}

/// Width of the column of names.
template <typename Entries>
int name_width(const Entries& entries) {
    std::size_t width = 0;
    for (const auto& entry : entries) width = std::max(width, entry.name.size());
    return static_cast<int>(width) + 2;
}

void print(const std::vector<Entry>& entries) {
    const int width = name_width(entries);
    for (const auto& entry : entries) {
        std::cout << std::left << std::setw(width) << entry.name << entry.title << ": "
                  << entry.summary << '\n';
        for (const auto& line : entry.details)
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

/// Settings that the user has named. `train`, `compare` and the other commands with settings take
/// the name in place of a file.
void print_settings_presets() {
    const auto presets = engine::list_settings_presets();
    std::cout << "\nNamed settings, in "
              << engine::one_line(engine::settings_presets_folder().string())
              << (presets.empty() ? ": none. File > Presets in the window saves some.\n" : ":\n");
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

void describe_catalog(Command& command, std::string (*json)(), std::vector<Entry> (*entries)()) {
    auto as_json = std::make_shared<bool>(false);
    command.flag("--json", *as_json, "A JSON list on standard output");
    command.run([as_json, json, entries] {
        if (*as_json)
            std::cout << json() << '\n';
        else
            print(entries());
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
            std::cout << ops_json() << '\n';
        else
            print_ops();
        return 0;
    });
}

void describe_models(Command command) { describe_catalog(command, models_json, model_entries); }
void describe_datasets(Command command) {
    describe_catalog(command, datasets_json, dataset_entries);
}
void describe_tasks(Command command) { describe_catalog(command, tasks_json, task_entries); }
void describe_presets(Command command) {
    auto as_json = std::make_shared<bool>(false);
    command.flag("--json", *as_json, "A JSON list on standard output");
    command.run([as_json] {
        if (*as_json) {
            std::cout << presets_json() << '\n';
            return 0;
        }
        print(preset_entries());
        print_settings_presets();
        return 0;
    });
}

}  // namespace app
