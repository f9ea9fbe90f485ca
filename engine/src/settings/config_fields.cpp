#include "settings/config_fields.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "base/text_utf8.h"
#include "engine/base/near_name.h"
#include "engine/settings/catalog.h"

namespace engine {
namespace {

constexpr std::size_t max_shown_size = 80;

}  // namespace

std::pair<std::string_view, std::string_view> split_path(std::string_view path) {
    const auto dot = path.find('.');
    if (dot == std::string_view::npos) return {{}, path};
    return {path.substr(0, dot), path.substr(dot + 1)};
}

Message use_one_of(const std::vector<std::string>& names, const std::string& wrong) {
    const std::string last = names.back();
    const std::string first = join(std::span(names).first(names.size() - 1));
    const std::string near_one = nearest_name(wrong, names);
    if (near_one.empty()) return msg("use {} or {}", first, last);
    return msg("use {} or {}; did you mean {}?", first, last, near_one);
}

bool is_utf8(const std::string& text) {
    Utf8Checker checker;
    return checker.accept(text) && checker.complete();
}

std::string shortened(const std::string& text) {
    if (text.size() <= max_shown_size) return text;
    std::size_t end = max_shown_size;
    while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0) == 0x80) --end;
    return text.substr(0, end) + "...";
}

std::string shown(const std::string& text) {
    using nlohmann::json;
    std::string quoted = json(text).dump(-1, ' ', false, json::error_handler_t::replace);
    const bool plain = !text.empty() && quoted.size() == text.size() + 2;
    return shortened(plain ? text : quoted);
}

std::string shown(double value) {
    if (std::isnan(value)) return "nan";
    if (std::isinf(value)) return value > 0 ? "inf" : "-inf";
    return nlohmann::json(value).dump();
}

std::string shown(std::int64_t value) { return std::to_string(value); }

std::string shown(bool value) { return value ? "true" : "false"; }

std::string shown(const OptionValue& value) {
    using nlohmann::json;
    if (const double* number = std::get_if<double>(&value)) return shown(*number);
    return std::visit([](const auto& v) { return json(v); }, value)
        .dump(-1, ' ', false, json::error_handler_t::replace);
}

std::vector<KindOptions> OptionCatalog::by_kind(std::string_view path) const {
    std::vector<KindOptions> out;
    const auto add = [&](std::string_view group, const auto& infos) {
        if (path != group) return;
        for (const auto& info : infos) out.push_back({info.kind, info.options});
    };
    add("dataset.", datasets());
    add("model.options", models());
    if (path == "model.options" && model_ != nullptr && model_->from_text)
        std::ranges::find(out, model_->kind, &KindOptions::kind)->options = model_->options;
    add("optimizer.", optimizers());
    add("schedule.", schedules());
    return out;
}

std::span<const OptionSpec> OptionCatalog::of(std::string_view path, std::string_view kind) const {
    for (const auto& [name, specs] : by_kind(path)) {
        if (name == kind) return specs;
    }
    return {};
}

const OptionSpec* OptionCatalog::any(std::string_view path, std::string_view name) const {
    for (const auto& [kind, specs] : by_kind(path)) {
        if (const OptionSpec* spec = find_option(specs, name)) return spec;
    }
    return nullptr;
}

std::vector<std::string> OptionCatalog::names(std::string_view path) const {
    std::vector<std::string> names;
    for (const auto& [kind, options] : by_kind(path)) {
        for (const OptionSpec& spec : options) {
            if (std::find(names.begin(), names.end(), spec.name) == names.end())
                names.push_back(spec.name);
        }
    }
    return names;
}

std::string option_path(std::string_view path, std::string_view option) {
    return std::string(path) + (is_option_group(path) ? "" : ".") + std::string(option);
}

std::string_view chosen_kind(const RunConfig& config, std::string_view path) {
    const std::string_view section = split_path(path).first;
    if (section == "dataset") return config.dataset.kind;
    if (section == "model") return config.model.kind;
    if (section == "optimizer") return config.optimizer.kind;
    if (section == "schedule") return config.schedule.kind;
    return {};
}

std::vector<OptionGroup> option_groups(RunConfig& config) {
    const OptionCatalog catalog(config.model);
    return {{"dataset.", config.dataset.kind, config.dataset.options, catalog},
            {"model.options", config.model.kind, config.model.options, catalog},
            {"optimizer.", config.optimizer.kind, config.optimizer.options, catalog},
            {"schedule.", config.schedule.kind, config.schedule.options, catalog}};
}

}  // namespace engine
