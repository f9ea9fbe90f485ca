#include <algorithm>
#include <cmath>
#include <limits>

#include "engine/settings/catalog.h"
#include "settings/config_fields.h"
#include "settings/setting_errors.h"
#include "settings/setting_specs.h"

namespace engine {
namespace {

using Names = std::vector<std::string>;

constexpr double largest_float = std::numeric_limits<float>::max();
constexpr double smallest_float = std::numeric_limits<float>::min();

bool has(const Names& names, const std::string& name) {
    return std::find(names.begin(), names.end(), name) != names.end();
}

Names models_for(const std::string& dataset) {
    Names names;
    for (const auto& model : models()) {
        if (!model.from_text && model.takes(*find_dataset(dataset))) names.push_back(model.kind);
    }
    return names;
}

class Checker {
public:
    Checker(const RunConfig& config, SettingErrors& setting_errors)
        : c_(config), setting_errors_(setting_errors) {}

    void check_all() {
        for_each_setting(c_, [this](const SettingSpec& spec, const auto& field) {
            check_text(spec.path, field);
            check_range(spec.path, spec.range, field);
        });
        check_options();
        check_dataset();
        check_model();
        check_gradient_penalty();
        check_precision();
        check_scaler();
        const RunConfig all = completed(c_);
        check_kind("optimizer.", optimizers(), all.optimizer);
        check_kind("schedule.", schedules(), all.schedule);
        check_epochs();
        check_workers();
        check_device();
        check_teach();
    }

private:
    bool refused(std::string_view field) const { return setting_errors_.has(field); }

    template <typename T>
    void require(bool ok, std::string_view field, const T& value, Message allowed) {
        if (!ok && !refused(field)) setting_errors_.add(field, shown(value), std::move(allowed));
    }

    template <typename T>
    void check_range(std::string_view, const SettingRange&, const T&) {}
    void check_range(std::string_view field, const SettingRange& range, std::int64_t value) {
        constexpr auto most = std::numeric_limits<std::int64_t>::max();
        require(value >= range.lowest && value <= range.highest, field, value,
                range.highest == most  // which is no limit worth naming
                    ? msg("use a whole number, {} or more", range.lowest)
                    : msg("use a whole number from {} to {}", range.lowest, range.highest));
    }
    void check_range(std::string_view field, const SettingRange& range,
                     const HistogramInterval& value) {
        check_range(field, range, value.steps);
    }
    void check_range(std::string_view field, const SettingRange& range,
                     const std::optional<std::int64_t>& value) {
        if (value) check_range(field, range, *value);
    }
    void check_range(std::string_view field, const SettingRange& range, double value) {
        if (range.number == nullptr) return;
        const Message allowed = range.number(value);
        require(allowed.empty(), field, value, allowed);
    }
    void check_range(std::string_view field, const SettingRange& range, const std::string& value) {
        if (range.choices == nullptr || !range.only_choices) return;
        Names names;
        for (const FieldChoice& choice : range.choices()) names.push_back(choice.value);
        if (!has(names, value)) require(false, field, value, use_one_of(names, value));
    }

    /// Text that is not UTF-8 could not be written back as JSON.
    template <typename T>
    void check_text(std::string_view, const T&) {}
    void check_text(std::string_view field, const std::vector<std::string>& texts) {
        for (const std::string& text : texts) {
            check_text(field, text);
            require(!text.empty(), field, text,
                    field == "dataset.path" ? msg("remove the empty path from the list")
                                            : msg("remove the empty name from the list"));
        }
    }
    void check_text(std::string_view field, const NetworkLines& text) {
        for (const std::string& line : text.all) check_text(field, line);
    }
    void check_text(std::string_view field, const std::string& text) {
        const bool valid = text.find('\0') == std::string::npos && is_utf8(text);
        require(valid, field, text, msg("use UTF-8 text without zero bytes"));
    }

    void check_dataset() {
        if (refused("dataset.kind")) return;
        const DatasetDescriptor& info = *find_dataset(c_.dataset.kind);
        require(info.needs.empty() || !c_.dataset.path.empty(), "dataset.path", std::string(),
                info.page.empty()
                    ? msg("choose the folder or the files of {}", info.kind)
                    : msg("choose the folder or the files of {}: {}. The official page is {}",
                          info.kind, info.files, info.page));
        require(info.input == "image" || !c_.dataset.augment, "dataset.augment", c_.dataset.augment,
                msg("use false: {} holds no images, and only images can be augmented", info.kind));
        require(c_.dataset.order.empty() || info.input != "tokens", "dataset.order",
                c_.dataset.order, msg("leave it empty: a text is read as contiguous streams"));
    }

    /// Refuses what several processes cannot do together.
    void check_workers() {
        if (c_.workers == 1) return;
        require(
            c_.workers <= c_.batch_size, "workers", c_.workers,
            msg("use a number up to batch_size, {}: each worker needs a sample", c_.batch_size));
        const auto refuse = [this](const char* field, const auto& value, bool asked) {
            require(!asked, field, value, msg("use several workers without this setting"));
        };
        refuse("gradient_penalty", c_.gradient_penalty, c_.gradient_penalty != 0);
        refuse("instruments.armed", true, c_.instruments.armed);
        refuse("teach.update_each_micro_batch", true, c_.teach.update_each_micro_batch);
        refuse("teach.plant.kind", word_of(c_.teach.plant.kind),
               c_.teach.plant.kind != PlantKind::none);
    }

    void check_model() {
        if (refused("model.kind")) return;
        require(c_.recompute == Recompute::off || find_model(c_.model)->has_blocks,
                "recompute", word_of(c_.recompute),
                msg("use off: {} has no blocks to recompute", model_name(c_.model)));
        require(!c_.model.new_head || !c_.model.init_from.empty(), "model.new_head", true,
                msg("use false, or choose the weights to start from in model.init_from"));
        require(c_.model.init_key.empty() || !c_.model.init_from.empty(), "model.init_key",
                c_.model.init_key,
                msg("leave it empty, or choose the weights to start from in model.init_from"));
        const auto kind = find_model(c_.model);
        if (kind->from_text && !check_network_text()) return;
        if (refused("dataset.kind")) return;
        const DatasetDescriptor& data = *find_dataset(c_.dataset.kind);
        if (kind->from_text)
            return require(kind->takes(data), "model.network", join(input_names(*kind)),
                           msg("use a network that takes {}, as the data set {} has it",
                               data.input, data.kind));
        const Names allowed = models_for(c_.dataset.kind);
        require(has(allowed, c_.model.kind), "model.kind", c_.model.kind,
                msg("use {} with the data set {}", join(allowed), c_.dataset.kind));
    }

    /// Without data: lines and grammar, not shapes. Returns false if there is no text to look at.
    bool check_network_text() {
        const ModelConfig& model = c_.model;
        if (refused("model.path") || refused("model.network")) return false;
        require(!model.network.empty(), "model.path", model.path,
                msg("choose the file of the network, NAME.network"));
        if (model.network.empty()) return false;
        require(model.notation <= network_notation, "model.notation", model.notation,
                msg("use a newer version of Halftone: this one reads the notation up to {}",
                    network_notation));
        const auto text = read_network(model.network, model.kind);
        require(model.sha256.empty() || model.sha256 == text->sha256, "model.sha256", model.sha256,
                msg("use the hash of model.network, {}, or leave it out if you have changed the "
                    "text",
                    text->sha256));
        if (refused("model.network")) return false;
        for (const NetworkText::Fault& fault : text->faults) {
            setting_errors_.add("model.network",
                                model_name(model) + ':' + std::to_string(fault.line) + ':' +
                                    std::to_string(fault.column),
                                fault.text);
        }
        return text->faults.empty();
    }

    void check_gradient_penalty() {
        if (refused("model.kind")) return;
        require(c_.gradient_penalty == 0 || find_model(c_.model)->second_derivative,
                "gradient_penalty", c_.gradient_penalty,
                msg("use 0 with {}: a gradient penalty needs mlp or lenet", model_name(c_.model)));
    }

    /// Options of other kinds are ignored, but must be valid for their kind.
    void check_options() {
        RunConfig config = c_;
        for (const OptionGroup& group : option_groups(config)) {
            if (group.own().empty() && refused(std::string(split_path(group.path).first) + ".kind"))
                continue;
            for (const auto& [name, value] : group.options) check_group_option(group, name, value);
        }
    }

    void check_group_option(const OptionGroup& group, const std::string& name,
                            const OptionValue& value) {
        const std::string field = group.path_of(name);
        const OptionSpec* spec = find_option(group.own(), name);
        if (spec == nullptr) spec = group.catalog.any(group.path, name);
        if (spec == nullptr) return refuse_option(group, field, value);
        const Message allowed = check_option(*spec, value);
        require(allowed.empty(), field, value, allowed);
    }

    void refuse_option(const OptionGroup& group, const std::string& field,
                       const OptionValue& value) {
        Names names;
        for (const auto& option : group.own()) names.push_back(option.name);
        const std::string kind = group.path == "model.options" ? model_name(c_.model) : group.kind;
        require(false, field, value,
                names.empty()
                    ? msg("{} has no options", kind)
                    : msg("there is no such option of {}; it has {}", kind, join(names)));
    }

    void check_precision() {
        if (refused("precision.preset")) return;
        const ResolvedPrecision resolved = resolve(c_.precision);
        check_forced_types();
        require(!resolved.tf32 || c_.device != "cpu", "precision.preset", c_.precision.preset,
                msg("TF32 needs an NVIDIA Ampere or newer GPU"));
        check_precision_together(resolved);
    }

    /// Only checks that need no model: modules are looked up when it is made
    /// (train/step/mixed_precision.h).
    void check_forced_types() {
        for (const auto& [key, type] : c_.precision.force) {
            const std::string field = "precision.force." + key;
            check_text(field, key);
            const auto colon = key.find(':');
            if (colon == std::string::npos) {
                require(!key.empty(), field, word_of(type),
                        msg("name a module, an operation, or module:operation"));
                continue;
            }
            const std::string op = key.substr(colon + 1);
            const bool known = std::ranges::any_of(
                ops(), [&op](const OpSummary& each) { return each.name == op && each.forceable; });
            require(
                known, field, word_of(type),
                msg("{} is not an operation whose type can be forced; the ops command lists them",
                    shown(op)));
        }
    }

    void check_precision_together(const ResolvedPrecision& r) {
        const bool low = r.weights == WeightFormat::fp16;
        require(!r.master_weights || low, "precision.master_weights", true,
                msg("use false: fp32 weights need no master copy"));
        require(r.batch_norm == WeightFormat::fp32 || low, "precision.batch_norm",
                word_of(r.batch_norm), msg("use fp32, as precision.weights is fp32"));
        require(r.scaler != ScalerMode::dynamic || !low || r.master_weights, "precision.scaler",
                word_of(r.scaler),
                msg("use off or static: without master weights the unscaled gradients are fp16 too "
                    "and underflow again"));
        check_recipe(r);
    }

    void check_recipe(const ResolvedPrecision& r) {
        check_skipped_products();
        if (!r.has_recipe()) return;
        const bool by_preset = r.recipe != RecipeKind::none;
        const auto& force = c_.precision.force;
        const auto forced = std::ranges::find_if(force, [](const auto& each) {
            return forced_recipe(each.second) != RecipeKind::none;
        });
        const std::string field =
            by_preset ? "precision.recipe" : "precision.force." + forced->first;
        const auto refuse = [&](bool refused, Message allowed) {
            require(!refused, field, word_of(r.recipes().front()), std::move(allowed));
        };
        refuse(r.weights == WeightFormat::fp16,
               msg("use fp32 weights, from which a recipe casts, or no recipe"));
        refuse(c_.device.starts_with("cuda"), msg("use it on a CPU, or no recipe"));
        refuse(c_.gradient_penalty != 0,
               msg("use gradient_penalty 0: products of a recipe have no second derivative"));
        const auto rotates = [&](RecipeKind kind) {
            return kind == RecipeKind::nvfp4
                       ? c_.quantize.hadamard != Rotation::off
                       : kind == RecipeKind::mxfp4 && c_.quantize.hadamard == Rotation::wgrad;
        };
        refuse(r.autocast != AutocastFormat::bf16 && std::ranges::any_of(r.recipes(), rotates),
               msg("use precision.autocast bf16, in which rotated rows are, or quantize.hadamard "
                   "off"));
    }

    /// Without a model: modules are looked up when it is made.
    void check_skipped_products() {
        for (const std::string& each : c_.quantize.skip) {
            const auto colon = each.rfind(':');
            if (colon == std::string::npos || colon == 0) {
                require(false, "quantize.skip", each,
                        msg("name a module and a product, MODULE:fprop, MODULE:dgrad or "
                            "MODULE:wgrad; precision.force keeps a whole module"));
                continue;
            }
            const std::string product = each.substr(colon + 1);
            const Names products{"fprop", "dgrad", "wgrad"};
            if (!has(products, product))
                require(false, "quantize.skip", each, use_one_of(products, product));
        }
    }

    void check_scaler() {
        const auto& s = c_.scaler;
        if (refused("scaler.min_scale") || refused("scaler.max_scale")) return;
        const bool ceiling = s.max_scale > 0;
        require(!ceiling || s.min_scale <= s.max_scale, "scaler.min_scale", s.min_scale,
                msg("use a number up to scaler.max_scale, {}", shown(s.max_scale)));
        if (refused("scaler.init_scale") || refused("scaler.min_scale")) return;
        require(
            s.init_scale >= s.min_scale && (!ceiling || s.init_scale <= s.max_scale),
            "scaler.init_scale", s.init_scale,
            msg("use a number from scaler.min_scale, {}, to scaler.max_scale, {} (0 = no limit)",
                shown(s.min_scale), shown(s.max_scale)));
    }

    /// Options that are valid one by one.
    template <typename Kinds, typename Chosen>
    void check_kind(const std::string& section, const Kinds& kinds, const Chosen& chosen) {
        if (refused(section + "kind")) return;
        const auto& info = *find_kind(kinds, chosen.kind);
        const bool typed = std::none_of(info.options.begin(), info.options.end(), [&](auto& spec) {
            return refused(section + spec.name);
        });
        if (info.check == nullptr || !typed) return;
        const TypedOptions options(chosen.options, info.options);
        if (const auto conflict = info.check(options))
            require(false, section + conflict->name, chosen.options.at(conflict->name),
                    conflict->allowed);
    }

    void check_epochs() {
        require(c_.epochs > 0 || !c_.model.init_from.empty(), "epochs", c_.epochs,
                msg("use 1 or more, or choose the weights to evaluate in model.init_from"));
        const auto* schedule = find_kind(schedules(), c_.schedule.kind);
        const bool waits = c_.early_stopping.patience > 0 ||
                           (schedule != nullptr && schedule->follows_metric);
        require(c_.evaluation.every_epochs > 0 || !waits, "evaluation.every_epochs",
                c_.evaluation.every_epochs,
                msg("use 1 or more: early_stopping.patience and schedule.kind plateau wait for "
                    "evaluations at the ends of epochs"));
    }

    void check_teach() {
        const TeachConfig& t = c_.teach;
        require(t.accumulator_bits == 0 || t.accumulator_bits >= 10, "teach.accumulator_bits",
                t.accumulator_bits, msg("use 0, or a whole number from 10 to 24"));
        // As a scale it is f32, and so is its inverse.
        const bool is_scale = t.quantize_scale >= 0x1p-126 && t.quantize_scale <= 0x1p126;
        require(t.quantize_scale == 0 || is_scale, "teach.quantize_scale", t.quantize_scale,
                msg("use 0, or a number from 1.2e-38 to 8.5e37"));
        if (t.plant.kind != PlantKind::adam_epsilon_zero || refused("optimizer.kind")) return;
        const OptimizerDescriptor& kind = *find_kind(optimizers(), c_.optimizer.kind);
        require(kind.adam_step, "teach.plant.kind", word_of(t.plant.kind),
                msg("use it with optimizer.kind adam or adamw"));
        // Adam's decay is a part of the gradient, which then is not 0.
        const Options& options = c_.optimizer.options;
        const auto decay = options.find("weight_decay");
        const bool decays = decay != options.end() && decay->second != OptionValue(0.0);
        require(kind.decoupled_decay || !decays, "teach.plant.kind", word_of(t.plant.kind),
                msg("use it with optimizer.weight_decay 0, or with adamw"));
    }

    void check_device() {
        const std::string& d = c_.device;
        constexpr std::string_view numbered = "cuda:";
        const bool number = d.starts_with(numbered) && d.size() > numbered.size() &&
                            d.size() <= numbered.size() + 3 &&
                            std::all_of(d.begin() + numbered.size(), d.end(),
                                        [](char ch) { return ch >= '0' && ch <= '9'; });
        require(d == "auto" || d == "cpu" || d == "cuda" || number, "device", d,
                msg("use auto, cpu, cuda or cuda:N, the number of the GPU"));
    }

    const RunConfig& c_;
    SettingErrors& setting_errors_;
};

/// The step uses f32, so values that underflow or overflow there are refused.
bool fits_f32(double value) { return value >= smallest_float && value <= largest_float; }

Message unless(bool ok, const Message& allowed) { return ok ? Message() : allowed; }

}  // namespace

namespace setting_ranges {

Message above_zero(double value) {
    if (!std::isfinite(value) || !(value > 0)) return msg("use a number above 0");
    return initial_scale(value);
}

Message not_negative(double value) {
    if (!std::isfinite(value) || !(value >= 0)) return msg("use a number, 0 or more");
    return unless(value <= largest_float, msg("use a number, 0 or more, that fits into fp32"));
}

Message from_zero_below_one(double value) {
    return unless(value >= 0 && value < 1, msg("use a number from 0 to below 1"));
}

Message share(double value) {
    return unless(value >= 0 && value <= 1, msg("use a number from 0 to 1"));
}

Message initial_scale(double value) {
    return unless(fits_f32(value), msg("use a number above 0 that fits into fp32"));
}

Message growth_factor(double value) {
    return unless(value > 1 && value <= largest_float, msg("use a number above 1"));
}

Message backoff_factor(double value) {
    return unless(value >= smallest_float && value < 1, msg("use a number above 0 and below 1"));
}

Message scale_limit(double value) {
    return unless(value >= 0 && value <= largest_float,
                  msg("use 0 (no limit) or a positive number that fits into fp32"));
}

std::vector<FieldChoice> task_kinds() {
    std::vector<FieldChoice> choices = kinds<tasks>();
    choices.insert(choices.begin(), {"auto", "Auto", ""});
    return choices;
}

std::vector<FieldChoice> devices() { return {{"auto", "Auto"}, {"cpu", "CPU"}, {"cuda", "CUDA"}}; }

}  // namespace setting_ranges

void check_config(const RunConfig& config, SettingErrors& setting_errors) {
    Checker(config, setting_errors).check_all();
}

}  // namespace engine
