#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engine/base/message.h"
#include "engine/base/metric.h"
#include "engine/base/options.h"
#include "engine/settings/run_config.h"

namespace engine {

struct DatasetPreview;

/// Texts here are English; the window translates them by looking the whole text up.

struct DatasetInfo {
    std::string kind;                        ///< as in RunConfig
    std::string title;                       ///< "Fashion-MNIST"
    std::string summary;                     ///< one sentence
    std::string needs;                       ///< "" if generated, else what the path must hold
    std::string files;                       ///< of an official set: the names of its files
    std::string page;                        ///< and the address where they are
    std::string unit;                        ///< "images", "rows", "tokens"
    std::string input;                       ///< "image", "features", "tokens"
    std::vector<std::int64_t> sample_shape;  ///< (C, H, W), (features) or (window)
    std::int64_t classes;                    ///< or words of the vocabulary; 0: none
    bool augments;                           ///< crop and flip make sense
    bool files_decide;                       ///< shape and classes are a typical file's
    std::vector<OptionSpec> options;         ///< "dataset.NAME"
};
std::span<const DatasetInfo> datasets();
/// Null if there is no such kind.
const DatasetInfo* find_dataset(std::string_view kind);
/// The name of one sample of these settings, as DatasetInfo::unit; "samples" if the data set is
/// unknown.
std::string sample_unit(const RunConfig& config);
/// The unit of speed: "rows/s", "tokens/s", and "samples/s" for everything else.
std::string speed_unit(const RunConfig& config);

struct ModelInfo {
    std::string kind;
    std::string title;
    std::string summary;
    std::vector<OptionSpec> options;  ///< "model.options.NAME"
    std::vector<std::string> inputs;  ///< that it takes: "image", "features", "tokens"
    bool second_derivative;           ///< of all its operations
    bool has_blocks;                  ///< that can be computed again (recompute)
};
std::span<const ModelInfo> models();
/// Parameter count of the model for these settings, which must have passed validate(). If it
/// depends on the data set's files, the count for a typical file.
std::int64_t parameter_count(const RunConfig& config);
/// The parameter count for the data of the preview. Throws Error(settings) if they do not fit the
/// model or the task.
std::int64_t parameter_count(const RunConfig& config, const DatasetPreview& preview);

struct TaskInfo {
    std::string kind;
    std::string title;
    std::string summary;
    std::vector<Metric> metrics;
};
std::span<const TaskInfo> tasks();
/// Metrics of the task for these settings, as far as they are known without the data.
std::vector<Metric> metrics_of(const RunConfig& config);
/// The metrics for the data of the preview: a table with words to predict has other metrics than
/// one with numbers.
std::vector<Metric> metrics_of(const RunConfig& config, const DatasetPreview& preview);

struct PrecisionInfo {
    std::string preset;
    std::string title;  ///< "AMP FP16"
    std::string summary;
    ResolvedPrecision settings;
};
std::span<const PrecisionInfo> precisions();

struct ScalerPresetInfo {
    std::string preset;
    std::string title;
    std::string summary;
    ScalerConfig settings;
};
std::span<const ScalerPresetInfo> scaler_presets();

struct OptimizerInfo {
    std::string kind;
    std::string title;
    std::string summary;
    std::vector<OptionSpec> options;  ///< "optimizer.NAME"
    /// Finds conflicts between options that are valid one by one; null: there can be none.
    std::optional<OptionConflict> (*check)(const TypedOptions& options) = nullptr;
};
std::span<const OptimizerInfo> optimizers();

struct ScheduleInfo {
    std::string kind;
    std::string title;
    std::string summary;
    std::vector<OptionSpec> options;  ///< "schedule.NAME"
};
std::span<const ScheduleInfo> schedules();

/// One field of RunConfig: how to show and explain it. An option shared by several kinds of its
/// section is one field, with the description of the first kind.
struct FieldInfo {
    std::string path;   ///< "scaler.growth_interval"
    std::string label;  ///< "Growth interval"
    std::string help;   ///< one or two sentences
    std::string unit;   ///< "steps", or empty
    /// The allowed values; empty: any text or number. Validation rejects all others (except for
    /// `device`, which also takes cuda:N).
    std::vector<FieldChoice> choices = {};
    bool optional = false;                ///< may be left out and then follows precision.preset
    std::vector<std::string> kinds = {};  ///< of an option: those of its section that have it
    bool prominent = false;               ///< of an option: shown without being asked for
    std::string needs = {};               ///< of an option: path of the flag it plays a part with
};
std::span<const FieldInfo> fields();
/// Null if there is no such field.
const FieldInfo* find_field(std::string_view path);
/// The field as this kind of its section describes it: "model.options.hidden" is a list of layers
/// in an MLP and a size in an RNN. The same as find_field(path) if the kind has no such option.
const FieldInfo* find_field(std::string_view path, std::string_view kind);

/// One op of the catalog.
struct OpSummary {
    std::string name;
    std::string signature;
    std::string policy;  ///< "low", "f32", "f32_dtype", "f32_append", "promote", "banned", "none"
    int derivatives;     ///< orders available: 0, 1 or 2
    std::string why;     ///< the policy explained to a learner
    bool flushes_subnormals;
    /// Its type can be set by precision.force: it computes, rather than only moves or chooses
    /// values.
    bool forceable;
};
std::vector<OpSummary> ops();
/// A list of small calls, at least one of each op with a gradient. An argument is a shape of random
/// values in `range` (-2 to 2), null, or an object: values by rows as "i64", "bool" or "like" (the
/// type of the random ones), "mask", "swapped" (last two dimensions), "log_softmax", or a "list".
/// The first `outputs` results have a gradient, and no sum has more than `terms` terms.
std::string_view op_samples_json();

}  // namespace engine
