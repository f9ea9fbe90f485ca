#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "engine/settings/catalog.h"
#include "settings/config_fields.h"
#include "settings/setting_errors.h"

namespace engine {
namespace {

using Names = std::vector<std::string>;

constexpr std::int64_t max_in_batch = 1'000'000;
constexpr std::int64_t max_epochs = 1'000'000'000;
constexpr std::int64_t max_threads = 4096;
constexpr std::int64_t max_workers = 4096;
constexpr std::int64_t max_hysteresis = 1'000'000;
constexpr double largest_float = std::numeric_limits<float>::max();
constexpr double smallest_float = std::numeric_limits<float>::min();

bool has(const Names& names, const std::string& name) {
    return std::find(names.begin(), names.end(), name) != names.end();
}

/// The values that the catalog lists for a field.
Names choice_names(std::string_view field) {
    Names names;
    for (const auto& choice : find_field(field)->choices) names.push_back(choice.value);
    return names;
}

Names models_for(const std::string& dataset) {
    Names names;
    for (const auto& model : models()) {
        if (model.takes(*find_dataset(dataset))) names.push_back(model.kind);
    }
    return names;
}

class Checker {
public:
    Checker(const RunConfig& config, SettingErrors& setting_errors)
        : c_(config), setting_errors_(setting_errors) {}

    void check_all() {
        check_texts();
        check_dataset();
        check_task();
        check_model();
        check_precision();
        check_scaler_numbers();
        check_scaler_limits();
        check_options();
        check_optimizer();
        check_schedule_clip_and_end();
        check_gradient_penalty();
        check_length();
        check_device();
        check_teach();
    }

private:
    bool refused(std::string_view field) const { return setting_errors_.has(field); }

    template <typename T>
    void require(bool ok, std::string_view field, const T& value, Message allowed) {
        if (!ok && !refused(field)) setting_errors_.add(field, shown(value), std::move(allowed));
    }

    /// Refuses a value that the catalog does not list.
    void check_name(std::string_view field, const std::string& value) {
        const Names names = choice_names(field);
        if (has(names, value) || refused(field)) return;
        setting_errors_.add(field, shown(value), use_one_of(names, value));
    }

    void check_count(std::string_view field, std::int64_t value, std::int64_t lowest,
                     std::int64_t highest) {
        require(value >= lowest && value <= highest, field, value,
                msg("use a whole number from {} to {}", lowest, highest));
    }

    /// Not above the largest of 64 bits, which is no limit worth naming.
    void check_count(std::string_view field, std::int64_t value, std::int64_t lowest) {
        require(value >= lowest, field, value, msg("use a whole number, {} or more", lowest));
    }

    /// The step uses f32, so values that underflow or overflow there are refused.
    void check_above_zero(std::string_view field, double value) {
        require(std::isfinite(value) && value > 0, field, value, msg("use a number above 0"));
        require(value >= smallest_float && value <= largest_float, field, value,
                msg("use a number above 0 that fits into fp32"));
    }

    void check_not_negative(std::string_view field, double value) {
        require(std::isfinite(value) && value >= 0, field, value, msg("use a number, 0 or more"));
        require(value <= largest_float, field, value,
                msg("use a number, 0 or more, that fits into fp32"));
    }

    void check_below_one(std::string_view field, double value) {
        require(value >= 0 && value < 1, field, value, msg("use a number from 0 to below 1"));
    }

    /// Text that is not UTF-8 could not be written back as JSON.
    void check_texts() {
        for_each_setting(c_, [this](const char* path, const auto& field) {
            if constexpr (std::is_same_v<std::decay_t<decltype(field)>, std::string>) {
                check_text(path, field);
            }
        });
        for (const auto& prefix : c_.model.freeze) {
            check_text("model.freeze", prefix);
            require(!prefix.empty(), "model.freeze", prefix,
                    msg("remove the empty name from the list"));
        }
        for (const auto& path : c_.dataset.path) {
            check_text("dataset.path", path);
            require(!path.empty(), "dataset.path", path,
                    msg("remove the empty path from the list"));
        }
    }

    void check_text(std::string_view field, const std::string& text) {
        const bool valid = text.find('\0') == std::string::npos && is_utf8(text);
        require(valid, field, text, msg("use UTF-8 text without zero bytes"));
    }

    void check_dataset() {
        check_name("dataset.kind", c_.dataset.kind);
        check_count("dataset.train_limit", c_.dataset.train_limit, 0);
        check_count("dataset.test_limit", c_.dataset.test_limit, 0);
        check_below_one("dataset.validation_share", c_.dataset.validation_share);
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
        check_name("model.kind", c_.model.kind);
        if (refused("model.kind")) return;
        require(c_.recompute == Recompute::off || find_kind(models(), c_.model.kind)->has_blocks,
                "recompute", word_of(c_.recompute),
                msg("use off: {} has no blocks to recompute", c_.model.kind));
        require(!c_.model.new_head || !c_.model.init_from.empty(), "model.new_head", true,
                msg("use false, or choose the weights to start from in model.init_from"));
        require(c_.model.init_key.empty() || !c_.model.init_from.empty(), "model.init_key",
                c_.model.init_key,
                msg("leave it empty, or choose the weights to start from in model.init_from"));
        if (refused("dataset.kind")) return;
        const Names allowed = models_for(c_.dataset.kind);
        require(has(allowed, c_.model.kind), "model.kind", c_.model.kind,
                msg("use {} with the data set {}", join(allowed), c_.dataset.kind));
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
        if (spec == nullptr) spec = any_option(group.path, name);
        if (spec == nullptr) return refuse_option(group, field, value);
        const Message allowed = check_option(*spec, value);
        require(allowed.empty(), field, value, allowed);
    }

    void refuse_option(const OptionGroup& group, const std::string& field,
                       const OptionValue& value) {
        Names names;
        for (const auto& option : group.own()) names.push_back(option.name);
        require(false, field, value,
                names.empty()
                    ? msg("{} has no options", group.kind)
                    : msg("there is no such option of {}; it has {}", group.kind, join(names)));
    }

    void check_task() {
        check_name("task.kind", c_.task.kind);
        check_count("bptt", c_.bptt, 1, 100'000);
        check_count("evaluation_batch", c_.evaluation_batch, 0, max_in_batch);
    }

    void check_precision() {
        check_name("precision.preset", c_.precision.preset);
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
    }

    void check_scaler_numbers() {
        const auto& s = c_.scaler;
        check_name("scaler.preset", s.preset);
        // The scale lives in f32.
        require(s.init_scale >= smallest_float && s.init_scale <= largest_float,
                "scaler.init_scale", s.init_scale, msg("use a number above 0 that fits into fp32"));
        require(s.growth_factor > 1 && s.growth_factor <= largest_float, "scaler.growth_factor",
                s.growth_factor, msg("use a number above 1"));
        require(s.backoff_factor >= smallest_float && s.backoff_factor < 1, "scaler.backoff_factor",
                s.backoff_factor, msg("use a number above 0 and below 1"));
        check_count("scaler.growth_interval", s.growth_interval, 1,
                    std::numeric_limits<std::int32_t>::max());
        check_count("scaler.hysteresis", s.hysteresis, 1, max_hysteresis);
    }

    void check_scaler_limits() {
        const auto& s = c_.scaler;
        require(s.min_scale >= 0 && s.min_scale <= largest_float, "scaler.min_scale", s.min_scale,
                msg("use 0 (no limit) or a positive number that fits into fp32"));
        require(s.max_scale >= 0 && s.max_scale <= largest_float, "scaler.max_scale", s.max_scale,
                msg("use 0 (no limit) or a positive number that fits into fp32"));
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

    void check_optimizer() {
        check_name("optimizer.kind", c_.optimizer.kind);
        if (refused("optimizer.kind")) return;
        const OptimizerConfig o = completed(c_).optimizer;
        const OptimizerDescriptor& info = *find_kind(optimizers(), o.kind);
        const bool typed = std::none_of(info.options.begin(), info.options.end(), [&](auto& spec) {
            return refused("optimizer." + spec.name);
        });
        if (info.check == nullptr || !typed) return;
        const TypedOptions options(o.options, info.options);
        if (const auto conflict = info.check(options))
            require(false, "optimizer." + conflict->name, o.options.at(conflict->name),
                    conflict->allowed);
    }

    void check_schedule_clip_and_end() {
        check_name("schedule.kind", c_.schedule.kind);
        check_above_zero("clip.value", c_.clip.value);
        check_count("early_stopping.patience", c_.early_stopping.patience, 0);
        check_not_negative("early_stopping.min_delta", c_.early_stopping.min_delta);
    }

    void check_gradient_penalty() {
        check_not_negative("gradient_penalty", c_.gradient_penalty);
        if (refused("model.kind")) return;
        require(c_.gradient_penalty == 0 || find_kind(models(), c_.model.kind)->second_derivative,
                "gradient_penalty", c_.gradient_penalty,
                msg("use 0 with {}: a gradient penalty needs mlp or lenet", c_.model.kind));
    }

    void check_length() {
        check_count("batch_size", c_.batch_size, 1, max_in_batch);
        check_count("accumulate", c_.accumulate, 1, max_in_batch);
        check_count("epochs", c_.epochs, 1, max_epochs);
        check_count("max_steps", c_.max_steps, 0);
        check_count("stop_on_nan", c_.stop_on_nan, 0);
        check_checkpoints();
        check_count("instruments.histograms_every", c_.instruments.histograms_every.steps, 0);
        check_count("seed", c_.seed, 0);
        check_count("threads", c_.threads, 0, max_threads);
        check_count("workers", c_.workers, 1, max_workers);
        check_workers();
    }

    void check_checkpoints() {
        check_count("checkpoint.every_steps", c_.checkpoint.every_steps, 0);
        check_count("checkpoint.every_epochs", c_.checkpoint.every_epochs, 0);
        check_not_negative("checkpoint.every_minutes", c_.checkpoint.every_minutes);
        check_count("checkpoint.keep", c_.checkpoint.keep, 1, 1'000'000);
    }

    void check_teach() {
        const TeachConfig& t = c_.teach;
        check_not_negative("teach.norm_epsilon", t.norm_epsilon);
        check_count("teach.plant.step", t.plant.step, 1);
        if (t.plant.kind != PlantKind::adam_epsilon_zero || refused("optimizer.kind")) return;
        const std::string& kind = c_.optimizer.kind;
        require(kind == "adam" || kind == "adamw", "teach.plant.kind", word_of(t.plant.kind),
                msg("use it with optimizer.kind adam or adamw"));
        // Adam's decay is a part of the gradient, which then is not 0.
        const Options& options = c_.optimizer.options;
        const auto decay = options.find("weight_decay");
        const bool decays = decay != options.end() && decay->second != OptionValue(0.0);
        require(kind != "adam" || !decays, "teach.plant.kind", word_of(t.plant.kind),
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

}  // namespace

void check_config(const RunConfig& config, SettingErrors& setting_errors) {
    Checker(config, setting_errors).check_all();
}

}  // namespace engine
