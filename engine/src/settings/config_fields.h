#pragma once

#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/base/plain_text.h"
#include "engine/settings/catalog.h"
#include "engine/settings/run_config.h"

namespace engine {

/// Options of a kind, and its name.
struct KindOptions {
    std::string kind;
    std::span<const OptionSpec> options;
};

/// The options of all kinds of a section, in settings of this model. A section is named by its path
/// of for_each_setting(): "optimizer.", "model.options". What it returns lives as long as it does.
class OptionCatalog {
public:
    explicit OptionCatalog(const ModelConfig& model) : model_(find_model(model)) {}

    std::vector<KindOptions> by_kind(std::string_view path) const;
    /// Options of one kind; empty for an unknown one.
    std::span<const OptionSpec> of(std::string_view path, std::string_view kind) const;
    /// The option of this name of the first kind that has it; null if none does.
    const OptionSpec* any(std::string_view path, std::string_view name) const;
    /// Options of all kinds of the section, by name.
    std::vector<std::string> names(std::string_view path) const;

private:
    std::shared_ptr<const ModelDescriptor> model_;
};

/// Calls f(name, path) for each option of the data set that names a file: "tokenizer".
template <typename F>
void for_each_file_option(DatasetConfig& dataset, F&& f) {
    const OptionCatalog catalog{ModelConfig{}};
    for (const OptionSpec& spec : catalog.of("dataset.", dataset.kind)) {
        const auto given = dataset.options.find(spec.name);
        if (!spec.is_file || given == dataset.options.end()) continue;
        auto* path = std::get_if<std::string>(&given->second);
        if (path != nullptr && !path->empty()) f(spec.name, *path);
    }
}

/// Calls f(path) for every path of a file or folder that is given.
template <typename F>
void for_each_path(RunConfig& config, F&& f) {
    for_each_file_option(config.dataset, [&](const std::string&, std::string& path) { f(path); });
    for (std::string& path : config.dataset.path) f(path);
    for (std::string* path :
         {&config.dataset.order, &config.model.path, &config.model.init_from,
          &config.log.tensorboard}) {
        if (!path->empty()) f(*path);
    }
}

/// Whether the path of a SettingSpec stands for the options of a section's kind.
inline bool is_option_group(std::string_view path) { return path.ends_with('.'); }
/// "optimizer.lr", "model.options.hidden"
std::string option_path(std::string_view path, std::string_view option);
/// A section with options: "dataset.", its kind and what is given.
struct OptionGroup {
    std::string_view path;
    const std::string& kind;
    Options& options;
    OptionCatalog catalog;

    std::string path_of(std::string_view option) const { return option_path(path, option); }
    /// Options of the chosen kind; empty for an unknown kind.
    std::span<const OptionSpec> own() const { return catalog.of(path, kind); }
};
std::vector<OptionGroup> option_groups(RunConfig& config);
/// The kind that the settings choose in the section of this path; empty for a section without kinds
/// that have options.
std::string_view chosen_kind(const RunConfig& config, std::string_view path);

/// ("optimizer", "lr") of "optimizer.lr"; ("", "seed") of "seed".
std::pair<std::string_view, std::string_view> split_path(std::string_view path);

/// "use off, static or dynamic", with the one that is meant if a name comes near.
Message use_one_of(const std::vector<std::string>& names, const std::string& wrong);

/// JSON can hold the text.
bool is_utf8(const std::string& text);

/// At most 80 bytes of it, and dots.
std::string shortened(const std::string& text);
/// A word as shown in an error line: bare if it is plain, else quoted with escapes, so that it
/// stays one line. Long ones are shortened.
std::string shown(const std::string& text);
/// Numbers and flags as JSON has them; non-finite ones as nan, inf, -inf.
std::string shown(double value);
std::string shown(std::int64_t value);
std::string shown(bool value);
std::string shown(const OptionValue& value);

}  // namespace engine
