#pragma once

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "engine/base/message.h"
#include "engine/base/metric.h"
#include "engine/base/options.h"
#include "engine/settings/run_config.h"

namespace kernels {
enum class ScheduleKind : std::int32_t;
struct LearningRateSchedule;
}

namespace engine {

struct DatasetPreview;
struct NetworkData;

// Members of the descriptors with these types are for the engine alone.
class Model;
class Optimizer;
class Task;
struct DataParts;
struct ModelSetup;
struct OptimizerOptions;
struct Parameter;
struct Schema;
struct TaskSetup;
enum class FieldKind;
enum class ModelOutput;
/// "image", "features", "tokens"
const char* name(FieldKind kind);

/// The entry of a catalog with this name; null: there is none.
template <typename Kind>
const Kind* find_kind(std::span<const Kind> all, std::string_view kind) {
    const auto found = std::ranges::find(all, kind, &Kind::kind);
    return found == all.end() ? nullptr : &*found;
}

/// Its title; of an unknown kind the name itself.
template <typename Kind>
std::string title_of(std::span<const Kind> all, const std::string& kind) {
    const Kind* found = find_kind(all, kind);
    return found == nullptr ? kind : found->title;
}

/// A kind of data set: the only place that knows it (decisions.md#descriptor, D16), as each
/// descriptor below. Texts are English; the window translates them by looking the whole text up.
struct DatasetDescriptor {
    std::string kind;       ///< as in RunConfig
    std::string title;      ///< "Fashion-MNIST"
    std::string summary;    ///< one sentence
    std::string needs{};    ///< "" if generated, else what the path must hold
    std::string files{};    ///< of an official set: the names of its files
    std::string page{};     ///< and the address where they are
    std::string unit;       ///< what one sample is called: "images", "rows", "tokens"
    bool augments = false;  ///< crop and flip make sense
    std::int64_t usual_batch = 0;  ///< batch_size of settings without one; 0: as RunConfig has it
    std::vector<OptionSpec> options = {};  ///< "dataset.NAME"
    /// Fields of its samples, known without opening it. Where its files decide, of a typical one.
    Schema (*schema)(const DatasetConfig& config) = nullptr;
    bool files_decide = false;
    DataParts (*open)(const DatasetConfig& config, std::int64_t seed,
                      const std::stop_token& stop) = nullptr;
    /// Opens a text with the ids of a given vocabulary (open_dataset_as); null for other kinds.
    DataParts (*open_as)(const std::vector<std::string>& vocabulary, const DatasetConfig& config,
                         std::int64_t seed, const std::stop_token& stop) = nullptr;
    /// Whether a file or folder holds it, by its content; null: never recognised, or by
    /// recognise_path() itself.
    bool (*recognise)(const std::filesystem::path& path) = nullptr;

    // datasets() takes these from the schema.
    std::string input = {};                       ///< "image", "features", "tokens"
    std::vector<std::int64_t> sample_shape = {};  ///< (C, H, W), (features) or (window)
    std::int64_t classes = 0;                     ///< or words of the vocabulary; 0: none
};
/// All kinds, in the order in which they are offered; so are the other catalogs.
std::span<const DatasetDescriptor> datasets();
/// Null if there is no such kind.
const DatasetDescriptor* find_dataset(std::string_view kind);
/// The name of one sample of these settings, as DatasetDescriptor::unit; "samples" if the data set
/// is unknown.
std::string sample_unit(const RunConfig& config);
/// The unit of speed: "rows/s", "tokens/s", and "samples/s" for everything else.
std::string speed_unit(const RunConfig& config);

/// A model in the list of what the benchmarks measure, on the first generated data set of its
/// input.
struct Benchmark {
    std::int64_t batch = 0;  ///< 0: not in the list
    bool chosen = false;     ///< measured unless something else is chosen
    Options optimizer = {};
};

/// A kind of model.
struct ModelDescriptor {
    std::string kind;
    std::string title;              ///< "ResNet-18"
    std::string summary;            ///< one sentence
    std::vector<FieldKind> inputs;  ///< that its first input may be
    ModelOutput output{};
    std::vector<OptionSpec> options = {};  ///< "model.options.NAME"
    /// Rows of token_scores are those of the first time step, then of the second; else sample after
    /// sample.
    bool steps_first = false;
    bool second_derivative = false;  ///< all of its operations have one (gradient_penalty)
    bool has_blocks = false;         ///< that can be computed again (recompute)
    /// The settings hold the network as a text, which has inputs, output and options of its own
    /// (find_model).
    bool from_text = false;
    Benchmark benchmark = {};
    std::unique_ptr<Model> (*make)(const ModelSetup& setup) = nullptr;
    /// Its parameter count without making it; null: counted on a model.
    std::int64_t (*count)(const ModelSetup& setup) = nullptr;

    bool takes(FieldKind kind) const;
    bool takes(const DatasetDescriptor& data) const;
};
std::span<const ModelDescriptor> models();
/// The kind that the settings choose, with what its text says of it where it is one of a text; null:
/// there is none of that name.
std::shared_ptr<const ModelDescriptor> find_model(const ModelConfig& model);

/// A network's text, read without data (resources/handbook/write-a-network.md).
struct NetworkText {
    /// The kind of model with the inputs and options of this text and, if it is the whole model, its
    /// output.
    ModelDescriptor model;
    std::string sha256;  ///< of the lines, each with a \n
    /// A fault of lines or grammar.
    struct Fault {
        int line, column;  ///< from 1
        Message text;
    };
    std::vector<Fault> faults;
};
/// The newest version of the notation that this program reads.
inline constexpr std::int64_t network_notation = 1;
/// Reads a text, or returns what an earlier call has read. `kind`: the model that it is for, which
/// may have options beside the text's; else the text is the model. Any thread.
std::shared_ptr<const NetworkText> read_network(const NetworkLines& lines,
                                                std::string_view kind = {});
/// The lines of a file. Throws Error(data) if it is no text that can be read, or an ONNX file.
NetworkLines read_network_file(const std::string& path);
/// Says so if the settings hold a network's text and the file at model.path has another one; else
/// empty.
Message other_text_in_file(const ModelConfig& model);
/// The name of these settings' model as runs are listed: its kind, or of a text the name of its
/// file without extension, else "own network".
std::string model_name(const ModelConfig& model);
/// "image", "features"
std::vector<std::string> input_names(const ModelDescriptor& model);
/// Parameter count of the model for these settings, which must have passed validate(). If it
/// depends on the data set's files, the count for a typical file.
std::int64_t parameter_count(const RunConfig& config);
/// The parameter count for the data of the preview. Throws Error(settings) if they do not fit the
/// model or the task.
std::int64_t parameter_count(const RunConfig& config, const DatasetPreview& preview);
/// The sizes that the network of these settings gets from its data set and task, and the options
/// of its text (engine/network/network.h). If they depend on the data set's files, those of a
/// typical file. Throws Error(settings) if no task learns the network from these data.
NetworkData network_data(const RunConfig& config);
NetworkData network_data(const RunConfig& config, const DatasetPreview& preview);

/// A kind of task.
struct TaskDescriptor {
    std::string kind;
    std::string title;    ///< "Language model"
    std::string summary;  ///< one sentence
    std::vector<Metric> metrics = {};
    /// Which of `metrics` a run has, where its settings decide; null: all.
    std::vector<Metric> (*metrics_by_settings)(const RunConfig& config) = nullptr;
    bool predicts_classes = false;              ///< so it has a confusion matrix
    std::vector<TeachLoss> broken_losses = {};  ///< wrong on purpose, for lessons
    /// Whether it can be learnt from batches of these fields by a model that takes such inputs.
    bool (*fits)(const Schema& data, const ModelDescriptor& model) = nullptr;
    std::unique_ptr<Task> (*make)(const TaskSetup& setup) = nullptr;

    std::vector<Metric> metrics_of(const RunConfig& config) const {
        return metrics_by_settings != nullptr ? metrics_by_settings(config) : metrics;
    }
};
/// `auto` takes the first that fits.
std::span<const TaskDescriptor> tasks();
/// Metrics of the task for these settings, as far as they are known without the data.
std::vector<Metric> metrics_of(const RunConfig& config);
/// The metrics for the data of the preview: a table with words to predict has other metrics than
/// one with numbers.
std::vector<Metric> metrics_of(const RunConfig& config, const DatasetPreview& preview);

struct PrecisionDescriptor {
    std::string kind;     ///< as precision.preset
    std::string title;    ///< "AMP FP16"
    std::string summary;  ///< one or two sentences
    ResolvedPrecision settings;
    std::uint32_t light, dark;  ///< colours of its curves on light and on dark paper: 0xRRGGBB
    Message on_cpu, on_gpu;     ///< why it pays or not; empty: the device's instructions decide
};
/// The baseline of the others first.
std::span<const PrecisionDescriptor> precisions();
/// The name of precisions().front().
const std::string& baseline_precision();
/// Presets of a comparison for which none are chosen: the baseline, and the preset of new settings.
std::vector<std::string> default_precisions();
/// Presets with autocast and without a recipe; those without loss scaling first.
std::vector<std::string> amp_precisions();
/// Whether a preset computes products in BF16; no unknown one does.
bool computes_in_bf16(std::string_view preset);

struct ScalerDescriptor {
    std::string kind;  ///< as scaler.preset
    std::string title;
    std::string summary;
    ScalerConfig settings;
    bool teaches = false;  ///< skips too many steps for real training
};
std::span<const ScalerDescriptor> scaler_presets();

/// A kind of optimizer.
struct OptimizerDescriptor {
    std::string kind;
    std::string title;                     ///< "AdamW"
    std::string summary;                   ///< one sentence
    std::vector<OptionSpec> options = {};  ///< "optimizer.NAME"; optimizers() adds LARC's
    /// Numbers of state that it keeps for each parameter, in f32 unless it says otherwise.
    int (*states)(const TypedOptions& options) = nullptr;
    bool low_state = false;  ///< the state of 16-bit weights without masters is in 16 bits
    /// Adam's formula for every weight: an update is about as large as the rate, whatever the
    /// gradients are, and 0 / 0 without epsilon where there never was one.
    bool adam_step = false;
    bool decoupled_decay = false;  ///< weight decay stays out of the gradient
    /// Finds conflicts between options that are valid one by one; null: there can be none.
    std::optional<OptionConflict> (*check)(const TypedOptions& options) = nullptr;
    std::function<std::unique_ptr<Optimizer>(const TypedOptions& options,
                                             std::vector<Parameter> parameters,
                                             const OptimizerOptions& common)>
        make = nullptr;
};
std::span<const OptimizerDescriptor> optimizers();

/// A kind of learning-rate schedule.
struct ScheduleDescriptor {
    std::string kind;
    std::string title;                     ///< "Cosine"
    std::string summary = {};              ///< one sentence, or empty
    std::vector<OptionSpec> options = {};  ///< "schedule.NAME"
    bool follows_metric = false;           ///< the evaluated metric moves it
    kernels::ScheduleKind form{};
    /// Sets what the schedule takes from the options; null: nothing but the warm-up.
    void (*set)(const TypedOptions& options, kernels::LearningRateSchedule& schedule) = nullptr;
    /// As OptimizerDescriptor::check.
    std::optional<OptionConflict> (*check)(const TypedOptions& options) = nullptr;
};
std::span<const ScheduleDescriptor> schedules();

/// A text of the settings that is a path, and where it leads.
enum class PathKind { none, file, folder };

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
    bool text = false;                    ///< a text or texts, which a bare number can be
    PathKind path_kind = PathKind::none;  ///< of a text that is a path
    bool in_files = false;                ///< no field of the window and no column of a table

    bool operator==(const FieldInfo&) const = default;
};
/// The fields of the catalog.
std::span<const FieldInfo> fields();
/// Null if there is no such field.
const FieldInfo* find_field(std::string_view path);
/// The field as this kind of its section describes it: "model.options.hidden" is a list of layers
/// in an MLP and a size in an RNN. The same as find_field(path) if the kind has no such option.
const FieldInfo* find_field(std::string_view path, std::string_view kind);
/// The field as the kinds that these settings choose describe it; null if they have no such field.
std::shared_ptr<const FieldInfo> find_field(std::string_view path, const RunConfig& config);
/// The fields of these settings, in the order of the settings.
std::vector<FieldInfo> fields(const RunConfig& config);

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
