#pragma once

#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/settings/run_config.h"

namespace engine {

/// Calls f(path, member) for every field of the settings, in the order of their JSON form. The only
/// list of field names: reading, writing, comparing and the catalog all go through it. A path that
/// ends in a dot stands for the options of the section's kind, each a field of its own.
template <typename Config, typename F>
void for_each_setting(Config&& c, F&& f) {
    f("dataset.kind", c.dataset.kind);
    f("dataset.path", c.dataset.path);
    f("dataset.augment", c.dataset.augment);
    f("dataset.normalize", c.dataset.normalize);
    f("dataset.train_limit", c.dataset.train_limit);
    f("dataset.test_limit", c.dataset.test_limit);
    f("dataset.order", c.dataset.order);
    f("dataset.validation_share", c.dataset.validation_share);
    f("dataset.", c.dataset.options);
    f("task.kind", c.task.kind);
    f("model.kind", c.model.kind);
    f("model.options", c.model.options);
    f("model.init_from", c.model.init_from);
    f("model.init_key", c.model.init_key);
    f("model.new_head", c.model.new_head);
    f("model.freeze", c.model.freeze);
    f("precision.preset", c.precision.preset);
    f("precision.weights", c.precision.weights);
    f("precision.autocast", c.precision.autocast);
    f("precision.batch_norm", c.precision.batch_norm);
    f("precision.master_weights", c.precision.master_weights);
    f("precision.scaler", c.precision.scaler);
    f("precision.force", c.precision.force);
    f("scaler.preset", c.scaler.preset);
    f("scaler.init_scale", c.scaler.init_scale);
    f("scaler.growth_factor", c.scaler.growth_factor);
    f("scaler.backoff_factor", c.scaler.backoff_factor);
    f("scaler.growth_interval", c.scaler.growth_interval);
    f("scaler.min_scale", c.scaler.min_scale);
    f("scaler.max_scale", c.scaler.max_scale);
    f("scaler.hysteresis", c.scaler.hysteresis);
    f("optimizer.kind", c.optimizer.kind);
    f("optimizer.", c.optimizer.options);
    f("schedule.kind", c.schedule.kind);
    f("schedule.", c.schedule.options);
    f("clip.kind", c.clip.kind);
    f("clip.value", c.clip.value);
    f("early_stopping.patience", c.early_stopping.patience);
    f("early_stopping.min_delta", c.early_stopping.min_delta);
    f("gradient_penalty", c.gradient_penalty);
    f("batch_size", c.batch_size);
    f("accumulate", c.accumulate);
    f("recompute", c.recompute);
    f("bptt", c.bptt);
    f("evaluation_batch", c.evaluation_batch);
    f("epochs", c.epochs);
    f("max_steps", c.max_steps);
    f("stop_on_nan", c.stop_on_nan);
    f("checkpoint.every_steps", c.checkpoint.every_steps);
    f("checkpoint.every_minutes", c.checkpoint.every_minutes);
    f("checkpoint.every_epochs", c.checkpoint.every_epochs);
    f("checkpoint.keep", c.checkpoint.keep);
    f("checkpoint.best", c.checkpoint.best);
    f("checkpoint.at_end", c.checkpoint.at_end);
    f("instruments.histograms_every", c.instruments.histograms_every);
    f("instruments.armed", c.instruments.armed);
    f("teach.clip_before_unscale", c.teach.clip_before_unscale);
    f("teach.update_each_micro_batch", c.teach.update_each_micro_batch);
    f("teach.resume_without_scaler", c.teach.resume_without_scaler);
    f("teach.loss", c.teach.loss);
    f("teach.norm", c.teach.norm);
    f("teach.norm_epsilon", c.teach.norm_epsilon);
    f("teach.plant.kind", c.teach.plant.kind);
    f("teach.plant.step", c.teach.plant.step);
    f("teach.plant.where", c.teach.plant.where);
    f("seed", c.seed);
    f("device", c.device);
    f("threads", c.threads);
    f("deterministic", c.deterministic);
    f("workers", c.workers);
    f("sync_batch_norm", c.sync_batch_norm);
}

/// Calls f(path) for every path of a file or folder that is given.
template <typename F>
void for_each_path(RunConfig& config, F&& f) {
    for (std::string& path : config.dataset.path) f(path);
    for (std::string* path : {&config.dataset.order, &config.model.init_from}) {
        if (!path->empty()) f(*path);
    }
}

/// Whether a path of for_each_setting() stands for the options of a section's kind.
inline bool is_option_group(std::string_view path) { return path.ends_with('.'); }
/// Options of all kinds of the section, by name; `path` as for_each_setting() has it.
std::vector<std::string> option_names(std::string_view path);
/// Options of the kinds of a section: the kind, and what it has.
struct KindOptions {
    std::string kind;
    std::span<const OptionSpec> options;
};
/// Options of the groups of for_each_setting(), and of "model.options".
std::vector<KindOptions> options_by_kind(std::string_view path);
/// The option of this name of the first kind that has it; null if none does.
const OptionSpec* any_option(std::string_view path, std::string_view name);
/// A section with options: "dataset.", its kind and what is given.
struct OptionGroup {
    std::string_view path;
    const std::string& kind;
    Options& options;

    /// "optimizer.lr", "model.options.hidden"
    std::string path_of(std::string_view option) const;
    /// Options of the chosen kind; empty for an unknown kind.
    std::span<const OptionSpec> own() const;
};
std::vector<OptionGroup> option_groups(RunConfig& config);

/// ("optimizer", "lr") of "optimizer.lr"; ("", "seed") of "seed".
std::pair<std::string_view, std::string_view> split_path(std::string_view path);

/// The known name that is most like a misspelt one, or empty if none comes near.
std::string nearest_name(std::string_view wrong, const std::vector<std::string>& known);

/// "fp32, amp-fp16": for the sentences on what is allowed.
std::string join(const std::vector<std::string>& names);
/// "use off, static or dynamic", with the one that is meant if a name comes near.
Message use_one_of(const std::vector<std::string>& names, const std::string& wrong);

/// JSON can hold the text.
bool is_utf8(const std::string& text);

/// A word as shown in an error line: bare if it is plain, else quoted with escapes, so that it
/// stays one line. Long ones are shortened.
std::string shown(const std::string& text);
/// Numbers and flags as JSON has them; non-finite ones as nan, inf, -inf.
std::string shown(double value);
std::string shown(std::int64_t value);
std::string shown(bool value);
std::string shown(const OptionValue& value);

}  // namespace engine
