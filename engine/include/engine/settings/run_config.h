#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/base/message.h"
#include "engine/base/options.h"
#include "engine/settings/setting_words.h"

namespace engine {

struct DatasetConfig {
    std::string kind = "glyphs";
    std::vector<std::string> path;  ///< folders or files; one is written as a string in JSON
    bool augment = false;
    bool normalize = true;
    std::int64_t train_limit = 0;  ///< first samples used; 0: all
    std::int64_t test_limit = 0;
    std::string order;  ///< file of sample indices, one batch a line; empty: seeded shuffle
    double validation_share = 0;  ///< of the training part, split off by the seed; 0: none
    Options options;              ///< of this kind: "target", "delimiter", "min_count"

    bool operator==(const DatasetConfig&) const = default;
};

struct TaskConfig {
    std::string kind = "auto";  ///< auto: follows from data set and model

    bool operator==(const TaskConfig&) const = default;
};

/// The text of a network, line by line, without line ends.
struct NetworkLines {
    std::vector<std::string> all = {};

    bool empty() const { return all.empty(); }
    auto operator<=>(const NetworkLines&) const = default;
};

struct ModelConfig {
    std::string kind = "lenet";
    Options options;
    std::string init_from;  ///< safetensors, .pt or .pth file with weights by name
    /// Chooses one of several dicts of weights in init_from, or of several prefixes of its names;
    /// empty: the only one.
    std::string init_key;
    /// The last layer is drawn anew where init_from does not have it in the model's shapes.
    bool new_head = false;
    std::vector<std::string> freeze;  ///< prefixes of the names of parameters that stay as they are

    // Fields of a kind whose network is a text (ModelDescriptor::from_text).
    std::string path = {};  ///< file that `network` was read from; empty: none
    NetworkLines network = {};
    std::string sha256 = {};    ///< of the text with \n ends; completed() adds it
    std::int64_t notation = 0;  ///< version of the notation; completed() adds it

    bool operator==(const ModelConfig&) const = default;
};

/// Types of modules and operations, and recipes of modules. A key is a module by its full name
/// ("layer1.0.conv1"), which stands for all inside it too; an operation, as `halftone ops` lists
/// them; or both, "module:operation". A name that is a module of the model means the module. The
/// most specific key decides: the longest module name, then the one with an operation.
using ForcedTypes = std::map<std::string, ForcedType>;

/// The preset and its five settings; an empty one takes the preset's value.
struct PrecisionConfig {
    std::string preset = "amp-fp16";
    std::optional<WeightFormat> weights = {};
    std::optional<AutocastFormat> autocast = {};
    std::optional<WeightFormat> batch_norm = {};
    std::optional<bool> master_weights = {};
    std::optional<ScalerMode> scaler = {};
    ForcedTypes force = {};  ///< over what the other settings say; empty: none
    std::optional<RecipeKind> recipe = {};

    bool operator==(const PrecisionConfig&) const = default;
};

/// Parts of a recipe that differ from its own (resources/handbook/low-bits.md). A recipe ignores
/// what it does not have.
struct QuantizeConfig {
    GradientFormat gradient_format = GradientFormat::automatic;
    std::optional<std::int64_t> history = {};  ///< steps that delayed scales remember
    HistoryRule history_algorithm = HistoryRule::largest;
    std::int64_t margin = 0;  ///< of delayed scales, in powers of two
    FirstScale first_scale = FirstScale::one;
    std::optional<bool> power_of_2_scales = {};
    MxScaling mx_scale = MxScaling::rceil;
    FourBitRounding stochastic_rounding = FourBitRounding::automatic;
    Rotation hadamard = Rotation::automatic;
    WeightBlocks weight_blocks = WeightBlocks::automatic;
    ProductType wgrad = ProductType::automatic;
    ProductType dgrad = ProductType::automatic;
    NonFiniteRule non_finite = NonFiniteRule::propagate;
    bool head = false;                              ///< the output layer, too
    std::optional<std::int64_t> first_blocks = {};  ///< kept in autocast's type
    std::optional<std::int64_t> last_blocks = {};
    std::vector<std::string> skip = {};  ///< "MODULE:fprop", ":dgrad" or ":wgrad": kept
    AmaxReduction reduce_amax = AmaxReduction::automatic;
    std::optional<bool> evaluate = {};  ///< evaluation is quantised, too; none: it is
    double high_precision_from = 0;     ///< share of the run; 0: never
    bool convolutions = false;

    bool operator==(const QuantizeConfig&) const = default;
};

/// Loss scaler. In JSON a missing field takes the preset's value, so after parsing all numbers are
/// final.
struct ScalerConfig {
    std::string preset = "production";  ///< production (interval 2000) or classroom (25)
    double init_scale = 65536;
    double growth_factor = 2;
    double backoff_factor = 0.5;
    std::int64_t growth_interval = 2000;
    double min_scale = 0;         ///< 0: no floor
    double max_scale = 0;         ///< 0: no ceiling
    std::int64_t hysteresis = 1;  ///< overflows until the scale backs off

    bool operator==(const ScalerConfig&) const = default;
};

struct OptimizerConfig {
    std::string kind = "sgd";  ///< of optimizers()
    Options options;           ///< of this kind: "lr", "momentum", "beta1"

    bool operator==(const OptimizerConfig&) const = default;
};

struct ScheduleConfig {
    std::string kind = "cosine";  ///< of schedules()
    Options options;

    bool operator==(const ScheduleConfig&) const = default;
};

struct ClipConfig {
    ClipKind kind = ClipKind::none;  ///< always after unscaling
    double value = 1.0;

    bool operator==(const ClipConfig&) const = default;
};

/// When a run is evaluated. At the end and on request, too.
struct EvaluationConfig {
    std::int64_t every_steps = 0;   ///< 0: not by steps
    std::int64_t every_epochs = 1;  ///< 0: not by epochs

    bool operator==(const EvaluationConfig&) const = default;
};

/// When a run saves its state (interfaces.md, section 5). At the end and on request, too.
struct CheckpointConfig {
    std::int64_t every_steps = 0;   ///< 0: not by steps
    double every_minutes = 10;      ///< 0: not by time
    std::int64_t every_epochs = 0;  ///< 0: not by epochs
    std::int64_t keep = 3;          ///< newest ones kept; the best one is kept beside them
    bool best = true;               ///< after each evaluation that is better than all before
    bool at_end = true;             ///< when the run ends or is stopped

    bool operator==(const CheckpointConfig&) const = default;
};

/// Ends a run whose primary metric (without one, the loss) stops improving on the validation part,
/// else on the test part.
struct EarlyStoppingConfig {
    std::int64_t patience = 0;  ///< epochs without improvement; 0: off
    double min_delta = 0;       ///< a smaller gain does not count

    bool operator==(const EarlyStoppingConfig&) const = default;
};

/// When exponent histograms are kept: after every so many steps, only on demand (0), or
/// `automatic`: every 50 steps, at most four a second and 2,000 in a run.
struct HistogramInterval {
    std::int64_t steps = 0;
    bool automatic = false;

    constexpr HistogramInterval() = default;
    constexpr HistogramInterval(std::int64_t every) : steps(every) {}  // NOLINT: a number is one

    bool operator==(const HistogramInterval&) const = default;
};
inline constexpr HistogramInterval automatic_histograms = [] {
    HistogramInterval interval;
    interval.automatic = true;
    return interval;
}();

/// Instruments that examine every run of these settings, whether or not their page is open. They do
/// not change results.
struct InstrumentsConfig {
    HistogramInterval histograms_every;  ///< "auto" in a file and on the command line: automatic
    /// A skip is examined before the next update, from the state of the step itself; on a GPU that
    /// costs a synchronisation a step.
    bool armed = false;
    /// Steps from one sample of a recipe's casts to the next; 0: none.
    std::int64_t quantization_every = 10;

    bool operator==(const InstrumentsConfig&) const = default;
};

/// Where a run is written for other programs while it trains, beside its own folder.
struct LogConfig {
    std::string tensorboard;  ///< folder; empty: not

    bool operator==(const LogConfig&) const = default;
};

/// A fault that one step meets (train/teach/planted_fault.h).
struct PlantConfig {
    PlantKind kind = PlantKind::none;
    std::int64_t step = 1;  ///< from 1
    /// Module, parameter ("name" or "name:row") or sample (its position in the batch); empty: the
    /// first that fits.
    std::string where;

    bool operator==(const PlantConfig&) const = default;
};

/// Settings that are broken on purpose, for lessons and tests; all off by default. A run with one
/// of them says so wherever it is shown (broken_on_purpose()).
struct TeachConfig {
    bool clip_before_unscale = false;      ///< clip.value bounds the scaled gradients
    bool update_each_micro_batch = false;  ///< the scale moves within an accumulated step
    bool resume_without_scaler = false;    ///< a resumed run begins with the initial scale
    bool resume_without_history = false;   ///< a resumed run begins with delayed scales of 1
    TeachLoss loss = TeachLoss::intact;
    TeachNorm norm = TeachNorm::intact;  ///< composed: norms of single 16-bit operations
    double norm_epsilon = 0;             ///< of composed norms; 0: that of each layer
    TeachBoxes boxes = TeachBoxes::intact;  ///< low: a detector's geometry in the region's 16 bits
    PlantConfig plant;
    double quantize_scale = 0;  ///< in place of each scale of a tensor; 0: its own
    /// Bits of the sums of quantised products; 0: f32's.
    std::int64_t accumulator_bits = 0;
    std::int64_t promote_every = 0;  ///< products of such a sum; 0: 128

    bool operator==(const TeachConfig&) const = default;
};

/// Settings of one run (interfaces.md, section 1): plain values, one JSON form, one validator.
struct RunConfig {
    DatasetConfig dataset;
    TaskConfig task;
    ModelConfig model;
    PrecisionConfig precision;
    QuantizeConfig quantize;
    ScalerConfig scaler;
    OptimizerConfig optimizer;
    ScheduleConfig schedule;
    ClipConfig clip;
    EarlyStoppingConfig early_stopping;
    double gradient_penalty = 0;  ///< weight of the norm of the loss's gradient; 0: off
    std::int64_t batch_size = 128;
    std::int64_t accumulate = 1;           ///< micro-batches of batch_size per optimizer step
    Recompute recompute = Recompute::off;  ///< blocks: activation checkpointing
    std::int64_t bptt = 35;                ///< tokens in a window of a text
    std::int64_t evaluation_batch = 0;     ///< rows; 0: the task's
    std::int64_t epochs = 2;     ///< 0: the initial weights are evaluated alone
    std::int64_t max_steps = 0;  ///< 0: no limit
    /// Steps in a row with a non-finite loss after which the run ends as diverged; 0: never.
    std::int64_t stop_on_nan = 50;
    EvaluationConfig evaluation;
    CheckpointConfig checkpoint;
    InstrumentsConfig instruments;
    LogConfig log;
    TeachConfig teach;
    std::int64_t seed = 1;
    std::string device = "auto";  ///< auto, cpu, cuda, cuda:N
    std::int64_t threads = 0;     ///< 0: all cores
    bool deterministic = true;
    /// Processes of a data-parallel run, over which batch_size is shared out.
    std::int64_t workers = 1;
    bool sync_batch_norm = false;  ///< statistics over the batch of all workers

    bool operator==(const RunConfig&) const = default;
};

/// One invalid setting: the field's path as in JSON ("optimizer.lr"), the value as written, and the
/// allowed values.
struct SettingError {
    std::string field;
    std::string value;
    Message allowed;

    /// "field: value: what is allowed"
    std::string str() const;
};

struct ParsedConfig {
    RunConfig config;  ///< defaults where a field was refused
    /// The presets of "compare": {"precisions": [...]}, which a file may hold beside the settings
    /// of a run, the baseline first. Empty if the file has none.
    std::vector<std::string> compared;
    std::vector<SettingError> errors;  ///< all of them; empty if the settings can run
    std::vector<Message> notes;        ///< what is ignored: options of other kinds
};

/// The six settings of a precision after the preset and its overrides.
struct ResolvedPrecision {
    WeightFormat weights = WeightFormat::fp32;
    AutocastFormat autocast = AutocastFormat::off;
    WeightFormat batch_norm = WeightFormat::fp32;
    bool master_weights = false;
    ScalerMode scaler = ScalerMode::off;
    bool tf32 = false;  ///< f32 products in TensorFloat-32, where the device has it
    ForcedTypes force = {};
    RecipeKind recipe = RecipeKind::none;  ///< of products with weights

    /// Some products are in 8 or 4 bits.
    bool has_recipe() const;
    /// The recipe, and those of single modules.
    std::vector<RecipeKind> recipes() const;
    /// Matrix products or weights in FP16, apart from forced types.
    bool computes_in_fp16() const {
        return weights == WeightFormat::fp16 || autocast == AutocastFormat::fp16;
    }
    /// Stores or computes in 16 bits, apart from forced types.
    bool computes_in_16_bits() const {
        return weights != WeightFormat::fp32 || autocast != AutocastFormat::off;
    }
};

/// Reads settings from JSON text and applies `overrides` ("path=value", as in --set) on top, then
/// validates. Never throws for bad input: everything wrong is in `errors`, all at once.
ParsedConfig parse_run_config(std::string_view json,
                              const std::vector<std::string>& overrides = {});

/// The errors of settings that could not be taken, such as words of a later version: the config has
/// defaults in their place. The other errors are about values that it holds.
std::vector<SettingError> replaced_settings(const ParsedConfig& parsed);

/// Everything wrong with these settings; empty if they can run. Does not open files.
std::vector<SettingError> validate(const RunConfig& config);

/// The JSON form with every field, two-space indent; with `compared` presets also the "compare"
/// section.
std::string to_json(const RunConfig& config, const std::vector<std::string>& compared = {});

/// The recipe of a module; none: a type is forced.
RecipeKind forced_recipe(ForcedType type);
/// Paths of the settings of recipes that differ from their default and that none of the recipes has.
std::vector<std::string> ignored_of_recipes(const RunConfig& config);

/// The preset's six settings with the overrides. The preset must be valid.
ResolvedPrecision resolve(const PrecisionConfig& precision);

/// The settings with every option of the chosen kinds; missing ones get their defaults.
RunConfig completed(RunConfig config);

/// The settings with absolute paths of files, as a run keeps them: it can be read from any folder.
RunConfig with_absolute_paths(RunConfig config);

/// `{}` with scaler.preset classroom: what `compare` without a file and the first start run.
RunConfig default_comparison();

/// Paths of the fields in which the two differ, as in JSON, for "difference of their settings". An
/// option that is left out has its default.
std::vector<std::string> differing_fields(const RunConfig& a, const RunConfig& b);

/// The value of a field by its path, as JSON has it; empty for a path that these settings lack.
std::string setting_text(const RunConfig& config, const std::string& path);

/// The settings of a run that are broken on purpose, as "path=value", in the order of the settings;
/// empty for an ordinary run. Leaves out settings without effect, such as the step of a fault that
/// is not planted.
std::vector<std::string> broken_on_purpose(const RunConfig& config);
/// These settings on one line: "teach.norm=composed, teach.plant.kind=nan-pixel"; empty for none.
std::string broken_on_purpose_text(const RunConfig& config);

}  // namespace engine
