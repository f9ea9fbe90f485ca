#include <algorithm>
#include <map>
#include <optional>
#include <type_traits>

#include "engine/settings/catalog.h"
#include "settings/config_fields.h"

namespace engine {
namespace {

using Choices = std::vector<FieldChoice>;

std::vector<FieldInfo> data_and_model_fields() {
    return {
        {"dataset.kind", "Data set",
         "The data to train on. Spirals and glyphs are generated; the others are read from files "
         "on disk.",
         ""},
        {"dataset.path", "Path",
         "Folder or file of the data set, compressed or not. Give several parts as a list.", ""},
        {"dataset.augment", "Augment",
         "Shifts each training image by a few pixels and mirrors it, both at random (data "
         "augmentation).",
         ""},
        {"dataset.normalize", "Normalize",
         "Scales the inputs to mean 0 and standard deviation 1, which keeps gradients in range.",
         ""},
        {"dataset.train_limit", "Training limit",
         "Use only the first N training samples, for a quick try (0 = all).", "samples"},
        {"dataset.test_limit", "Test limit", "Use only the first N test samples (0 = all).",
         "samples"},
        {"dataset.order", "Order file",
         "File with the sample indices of one batch per line, to replay another program's batches "
         "exactly. Empty: shuffled by the seed.",
         ""},
        {"dataset.validation_share", "Validation share",
         "Share of the training part that is kept out of training and evaluated after each epoch "
         "(0 = none).",
         ""},
        {"task.kind", "Task", "What the model learns. Auto: decided by the data set and the model.",
         ""},
        {"model.kind", "Model",
         "The network to train. Small networks show the same effects as large ones, sooner.", ""},
        {"model.init_from", "Start from",
         "File with the initial weights: safetensors, or PyTorch's .pt or .pth. Empty: random "
         "weights from the seed.",
         ""},
        {"model.init_key", "Key in the file",
         "Of a file with several models, the one to start from: its key or the prefix of its "
         "names. Empty: the only one.",
         ""},
        {"model.new_head", "New last layer",
         "Draws the last layer again if the file lacks it or has it in other shapes, for "
         "fine-tuning on other classes.",
         ""},
        {"model.freeze", "Freeze",
         "Parameters whose names begin with one of these, such as conv1, are not trained. "
         "Batch-norm statistics still follow the data.",
         ""},
    };
}

std::vector<FieldInfo> precision_fields() {
    return {
        {"precision.preset", "Precision",
         "Number formats for computing and for storing the weights. The five settings below "
         "override its parts.",
         ""},
        {"precision.weights", "Weights",
         "Storage format of the weights. In fp16, an update below half a unit in the last place of "
         "its weight is lost.",
         ""},
        {"precision.autocast", "Autocast",
         "Format of matrix products and convolutions. Operations that need range or precision stay "
         "in fp32.",
         ""},
        {"precision.batch_norm", "Batch norm",
         "Format of batch norm's parameters and statistics, the first to lose accuracy in fp16.",
         ""},
        {"precision.master_weights", "Master weights",
         "Keeps an fp32 copy of fp16 weights, so that small updates accumulate instead of being "
         "lost.",
         ""},
        {"precision.scaler", "Loss scaling",
         "Multiplies the loss before the backward pass so that small fp16 gradients do not "
         "underflow to 0. Dynamic adapts the scale; static keeps it and never skips a step.",
         ""},
        {"precision.force", "Forced types",
         "Types of modules and operations over all other settings, such as {\"layer1\": "
         "\"fp32\", \"fc:linear\": \"bf16\"}. The most specific key decides.",
         ""},
        {"scaler.preset", "Scaler preset",
         "Production: values for real training. Classroom: the scale moves often enough to watch "
         "in a short run.",
         ""},
        {"scaler.init_scale", "Initial scale",
         "Loss scale of the first step. A value that is too high costs only a few skipped steps.",
         ""},
        {"scaler.growth_factor", "Growth factor",
         "The scale is multiplied by this after a full growth interval without overflow.", ""},
        {"scaler.backoff_factor", "Backoff factor",
         "The scale is multiplied by this after a gradient overflow. That step is skipped.", ""},
        {"scaler.growth_interval", "Growth interval", "Overflow-free steps before the scale grows.",
         "steps"},
        {"scaler.min_scale", "Min scale",
         "Training fails with an explanation if the scale falls below this (0 = no limit).", ""},
        {"scaler.max_scale", "Max scale", "The scale never grows above this (0 = no limit).", ""},
        {"scaler.hysteresis", "Hysteresis",
         "Overflows before the scale backs off. 1 backs off at once; a higher value only skips the "
         "step of a single outlier.",
         "steps"},
    };
}

std::vector<FieldInfo> update_fields() {
    return {
        {"optimizer.kind", "Optimizer", "The rule that turns gradients into weight updates.", ""},
        {"schedule.kind", "Schedule",
         "How the learning rate changes over the run. Only applied updates count, not skipped "
         "steps.",
         ""},
        {"clip.kind", "Clip gradients",
         "Limits the gradients after unscaling: norm scales all of them together, value clamps "
         "each element.",
         ""},
        {"clip.value", "Clip at",
         "Largest norm, or largest magnitude of an element, that the gradients may have.", ""},
        {"early_stopping.patience", "Early stopping",
         "Ends the run after this many epochs in which the metric did not improve (0 = never). The "
         "metric is that of the validation part, else of the test part; the loss where there is "
         "none.",
         "epochs"},
        {"early_stopping.min_delta", "Least improvement",
         "Early stopping does not count an improvement of the metric up to this size.", ""},
        {"gradient_penalty", "Gradient penalty",
         "Adds this multiple of the gradient norm to the loss, which favours flat minima. Needs "
         "second derivatives in every step; for MLP and LeNet (0 = off).",
         ""},
    };
}

std::vector<FieldInfo> run_fields() {
    return {
        {"batch_size", "Batch size",
         "Samples per gradient. Larger batches give smoother gradients and higher throughput, but "
         "need more memory.",
         "samples"},
        {"accumulate", "Accumulate",
         "Batches whose gradients are added up before one step: the effect of a larger batch in "
         "the same memory.",
         "batches"},
        {"recompute", "Recompute",
         "Blocks: keeps only the input of each block and computes the block again in the backward "
         "pass. Less memory for activations, a third more computation, the same results.",
         ""},
        {"bptt", "Window",
         "Tokens of a text that gradients flow back through (truncated back-propagation).",
         "tokens"},
        {"evaluation_batch", "Evaluation batch",
         "Rows of a batch in evaluation (0 = chosen by the task).", "rows"},
        {"epochs", "Epochs", "Number of passes over the whole training set.", "epochs"},
        {"max_steps", "Step limit", "Ends the run after this many steps (0 = no limit).", "steps"},
        {"stop_on_nan", "Stop on NaN",
         "Ends the run as diverged after this many consecutive steps with a NaN or infinite loss "
         "(0 = never).",
         "steps"},
        {"checkpoint.every_steps", "Save every",
         "Saves a checkpoint after this many steps (0 = not by steps).", "steps"},
        {"checkpoint.every_minutes", "Save every",
         "Saves a checkpoint after this many minutes, so that a crash loses no more (0 = not by "
         "time).",
         "minutes"},
        {"checkpoint.every_epochs", "Save every",
         "Saves a checkpoint after this many epochs (0 = not by epochs).", "epochs"},
        {"checkpoint.keep", "Keep",
         "Number of newest checkpoints that are kept. The best one is kept in addition.",
         "checkpoints"},
        {"checkpoint.best", "Save the best",
         "Saves a checkpoint after each evaluation that is better than all before it.", ""},
        {"checkpoint.at_end", "Save at the end",
         "Saves a checkpoint when the run ends or is stopped, so that it can be resumed and used.",
         ""},
        {"instruments.histograms_every", "Histograms every",
         "Keeps exponent histograms of gradients, activations, weights and updates by layer after "
         "this many steps (0 = only on demand). auto: every 50 steps, at most 4 a second and 2,000 "
         "in a run, which costs a ResNet-18 at most 1 % of its time and an MLP at most 5 %. "
         "Results "
         "do not change.",
         "steps"},
        {"instruments.armed", "Armed",
         "Examines a skipped step before the next update. On a GPU this costs a synchronisation in "
         "every step.",
         ""},
        {"seed", "Seed",
         "Seed of all randomness: the same seed gives the same weights, order and noise.", ""},
        {"device", "Device", "Device that computes. Auto takes the first GPU, else the CPU.", ""},
        {"threads", "Threads",
         "CPU threads (0 = all cores). Results repeat bit for bit only with the same number.",
         "threads"},
        {"deterministic", "Deterministic",
         "Uses only algorithms that give the same bits in every run, even where a faster one "
         "exists.",
         ""},
        {"workers", "Workers",
         "Processes that train the run together on this machine, each on its part of every batch. "
         "The batch size is that of all of them.",
         "processes"},
        {"sync_batch_norm", "Synchronised batch norm",
         "Batch norm takes mean and variance over the batch of all workers; otherwise each worker "
         "takes those of its own part.",
         ""},
    };
}

std::vector<FieldInfo> teach_fields() {
    return {
        {"teach.clip_before_unscale", "Clip before unscaling",
         "Broken on purpose: clips the gradients while they still carry the loss scale, so the "
         "limit is too tight by that factor.",
         ""},
        {"teach.update_each_micro_batch", "Update in each micro-batch",
         "Broken on purpose: changes the loss scale after each micro-batch of an accumulated step, "
         "so that gradients of different scales are added up.",
         ""},
        {"teach.resume_without_scaler", "Resume without the scaler",
         "Broken on purpose: a resumed run begins again with the initial scale.", ""},
        {"teach.loss", "Broken loss",
         "Broken on purpose: binary cross entropy of 16-bit probabilities, or a target that where "
         "builds in another dtype than the logits.",
         ""},
        {"teach.norm", "Broken norms",
         "Broken on purpose: batch and layer norm as single 16-bit operations, with the variance "
         "as E[x²] − E[x]² and epsilon added in 16 bits.",
         ""},
        {"teach.norm_epsilon", "Epsilon of broken norms",
         "Epsilon of composed norms (0 = that of each layer). 1e-8 is 0 in fp16.", ""},
        {"teach.plant.kind", "Planted fault",
         "Broken on purpose: one step has this fault, for the Skips page to find.", ""},
        {"teach.plant.step", "Planted at step", "The step that has the fault, counted from 1.",
         "step"},
        {"teach.plant.where", "Planted where",
         "The module, the parameter (name, or name:row) or the sample's position in the batch. "
         "Empty: the first that fits.",
         ""},
    };
}

template <typename Info>
Choices kind_choices(std::span<const Info> infos) {
    Choices choices;
    for (const auto& info : infos) choices.push_back({info.kind, info.title, info.summary});
    return choices;
}

/// The values of the fields that take words.
Choices word_choices(std::string_view path) {
    if (path == "dataset.kind") return kind_choices(datasets());
    if (path == "model.kind") return kind_choices(models());
    if (path == "task.kind") {
        Choices choices = kind_choices(tasks());
        choices.insert(choices.begin(), {"auto", "Auto", ""});
        return choices;
    }
    if (path == "precision.preset") return kind_choices(precisions());
    if (path == "scaler.preset") return kind_choices(scaler_presets());
    if (path == "optimizer.kind") return kind_choices(optimizers());
    if (path == "schedule.kind") return kind_choices(schedules());
    if (path == "device") return {{"auto", "Auto"}, {"cpu", "CPU"}, {"cuda", "CUDA"}};
    return {};
}

/// Properties that follow from the type of the field in RunConfig.
template <typename Field>
void add_type(FieldInfo& info, const Field&) {
    if constexpr (std::is_same_v<Field, bool>) {
        info.choices = {{"true", "On"}, {"false", "Off"}};
    } else if constexpr (SettingWord<Field>) {
        for (const auto& word : setting_words<Field>)
            info.choices.push_back({std::string(word.name), std::string(word.title)});
    } else {
        info.choices = word_choices(info.path);
    }
}
template <typename Field>
void add_type(FieldInfo& info, const std::optional<Field>&) {
    info.optional = true;
    add_type(info, Field{});
}

/// An option as one kind of its section describes it.
struct KindField {
    std::string kind;
    FieldInfo info;
};

FieldInfo option_field(std::string_view group, const OptionSpec& spec) {
    const std::string section = std::string(group) + (is_option_group(group) ? "" : ".");
    FieldInfo info{section + spec.name, spec.label, spec.help, spec.unit, spec.choices};
    if (std::holds_alternative<bool>(spec.default_value))
        info.choices = {{"true", "On"}, {"false", "Off"}};
    info.prominent = spec.prominent;
    if (!spec.needs.empty()) info.needs = section + spec.needs;
    return info;
}

/// The options of the section's kinds, kind by kind; each names all kinds that have one of its
/// path.
std::vector<KindField> kind_fields(std::string_view group) {
    std::vector<KindField> out;
    std::map<std::string, std::vector<std::string>> kinds;  // by path
    for (const auto& [kind, options] : options_by_kind(group)) {
        for (const OptionSpec& spec : options) {
            out.push_back({kind, option_field(group, spec)});
            kinds[out.back().info.path].push_back(kind);
        }
    }
    for (auto& each : out) each.info.kinds = kinds[each.info.path];
    return out;
}

/// A field for each path among the options of the section's kinds.
std::vector<FieldInfo> option_fields(std::string_view group) {
    std::vector<FieldInfo> out;
    for (auto& [kind, info] : kind_fields(group)) {
        if (kind == info.kinds.front()) out.push_back(std::move(info));
    }
    return out;
}

}  // namespace

std::span<const FieldInfo> fields() {
    static const std::vector<FieldInfo> infos = [] {
        std::vector<FieldInfo> described;
        for (auto part :
             {data_and_model_fields, precision_fields, update_fields, run_fields, teach_fields}) {
            for (auto& info : part()) described.push_back(std::move(info));
        }
        std::vector<FieldInfo> all;  // in the order of the settings
        for_each_setting(RunConfig{}, [&](std::string_view path, const auto& field) {
            if constexpr (std::is_same_v<std::decay_t<decltype(field)>, Options>) {
                for (auto& info : option_fields(path)) all.push_back(std::move(info));
            } else {
                for (const FieldInfo& info : described) {
                    if (info.path == path) add_type(all.emplace_back(info), field);
                }
            }
        });
        return all;
    }();
    return infos;
}

const FieldInfo* find_field(std::string_view path) {
    const auto all = fields();
    const auto found = std::find_if(all.begin(), all.end(),
                                    [path](const FieldInfo& info) { return info.path == path; });
    return found == all.end() ? nullptr : &*found;
}

const FieldInfo* find_field(std::string_view path, std::string_view kind) {
    static const std::vector<KindField> options = [] {
        std::vector<KindField> all;
        RunConfig config;
        for (const auto& group : option_groups(config)) {
            for (auto& each : kind_fields(group.path)) all.push_back(std::move(each));
        }
        return all;
    }();
    const auto found = std::ranges::find_if(options, [&](const KindField& each) {
        return each.kind == kind && each.info.path == path;
    });
    return found == options.end() ? find_field(path) : &found->info;
}

}  // namespace engine
