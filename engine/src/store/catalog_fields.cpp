#include <algorithm>
#include <optional>
#include <type_traits>

#include "engine/catalog.h"
#include "store/config_fields.h"

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
        {"task.kind", "Task", "What is learnt. Auto follows from the data set and the model.", ""},
        {"model.kind", "Model",
         "The network to train. Small networks show the same effects as large ones, sooner.", ""},
        {"model.init_from", "Start from",
         "Safetensors file with the initial weights. Empty: random weights from the seed.", ""},
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

std::vector<FieldInfo> optimizer_fields() {
    return {
        {"optimizer.kind", "Optimizer", "The rule that turns gradients into weight updates.", ""},
        {"optimizer.lr", "Learning rate",
         "Step size. Too high: the loss jumps or becomes NaN. Too low: training stalls. Default: "
         "0.05 (SGD), 0.1 (NovoGrad), 0.01 (LAMB, Adagrad), 0.001 (Adam, AdamW).",
         ""},
        {"optimizer.momentum", "Momentum",
         "Share of the previous direction that each step of SGD keeps: 0 is none, 0.9 is usual.",
         ""},
        {"optimizer.nesterov", "Nesterov",
         "Nesterov momentum: looks ahead along the momentum before the step, which often converges "
         "slightly faster.",
         ""},
        {"optimizer.weight_decay", "Weight decay",
         "Pulls every weight towards 0 in each step, against overfitting. Default: 0.0005 (SGD), "
         "0.01 (AdamW, LAMB), 0 (others).",
         ""},
        {"optimizer.beta1", "Beta 1",
         "Decay rate of the running mean of gradients. 0.9 averages over about 10 steps.", ""},
        {"optimizer.beta2", "Beta 2",
         "Decay rate of the running mean of squared gradients. 0.999 averages over about 1,000 "
         "steps.",
         ""},
        {"optimizer.eps", "Epsilon",
         "Small number added to the divisor, so that a weight with tiny gradients does not get a "
         "huge update.",
         ""},
        {"optimizer.amsgrad", "AMSGrad",
         "Divides by the largest running mean so far, so that step sizes never grow again.", ""},
        {"optimizer.lr_decay", "LR decay",
         "Decay of Adagrad's learning rate with the number of updates (0 = none).", ""},
        {"optimizer.initial_accumulator_value", "Initial accumulator",
         "Initial value of Adagrad's sums of squared gradients. Above 0, the first steps are "
         "shorter.",
         ""},
        {"optimizer.max_grad_norm", "Max grad norm",
         "LAMB clips the norm of all gradients together to this value (0 = no limit).", ""},
        {"optimizer.nvlamb", "NVLAMB",
         "Applies LAMB's layer-wise rate to weights without decay too.", ""},
        {"optimizer.norm", "Norm",
         "Norm of a layer's gradient that NovoGrad divides by: L2, or the largest magnitude.", ""},
        {"optimizer.larc", "LARC",
         "Scales each layer's rate by the ratio of its weight norm to its gradient norm. Works "
         "with any optimizer.",
         ""},
        {"optimizer.larc_trust", "LARC trust",
         "Trust coefficient: the share of a layer's weights that LARC lets one step change.", ""},
        {"optimizer.larc_clip", "LARC clip",
         "On: LARC only shortens steps. Off: its rate always multiplies the learning rate.", ""},
        {"schedule.kind", "Schedule",
         "Learning rate over the run: constant, or cosine decay to 0. Only applied updates count, "
         "not skipped steps.",
         ""},
        {"clip.kind", "Clip gradients",
         "Limits the gradients after unscaling: norm scales all of them together, value clamps "
         "each element.",
         ""},
        {"clip.value", "Clip at",
         "Largest norm, or largest magnitude of an element, that the gradients may have.", ""},
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
         "Rows of a batch in evaluation (0 = the task's own number).", "rows"},
        {"epochs", "Epochs", "Number of passes over the whole training set.", "epochs"},
        {"max_steps", "Step limit", "Ends the run after this many steps (0 = no limit).", "steps"},
        {"stop_on_nan", "Stop on NaN",
         "Ends the run as diverged after this many consecutive steps with a NaN or infinite loss "
         "(0 = never).",
         "steps"},
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
    };
}

template <typename Info>
Choices kinds_of(std::span<const Info> infos) {
    Choices choices;
    for (const auto& info : infos) choices.push_back({info.kind, info.title, info.summary});
    return choices;
}

template <typename Info>
Choices presets_of(std::span<const Info> infos) {
    Choices choices;
    for (const auto& info : infos) choices.push_back({info.preset, info.title, info.summary});
    return choices;
}

/// The values of the fields that take words.
Choices word_choices(std::string_view path) {
    if (path == "dataset.kind") return kinds_of(datasets());
    if (path == "model.kind") return kinds_of(models());
    if (path == "task.kind") {
        Choices choices = kinds_of(tasks());
        choices.insert(choices.begin(), {"auto", "Auto", ""});
        return choices;
    }
    if (path == "precision.preset") return presets_of(precisions());
    if (path == "precision.weights") return {{"fp32", "FP32"}, {"fp16", "FP16"}};
    if (path == "precision.autocast") return {{"off", "Off"}, {"fp16", "FP16"}, {"bf16", "BF16"}};
    if (path == "precision.batch_norm") return {{"fp32", "FP32"}, {"fp16", "FP16"}};
    if (path == "precision.scaler")
        return {{"off", "Off"}, {"static", "Static"}, {"dynamic", "Dynamic"}};
    if (path == "scaler.preset") return presets_of(scaler_presets());
    if (path == "optimizer.kind") return kinds_of(optimizers());
    if (path == "optimizer.norm") return {{"l2", "L2"}, {"largest", "Largest magnitude"}};
    if (path == "schedule.kind") return {{"constant", "Constant"}, {"cosine", "Cosine"}};
    if (path == "clip.kind") return {{"none", "None"}, {"norm", "By norm"}, {"value", "By value"}};
    if (path == "recompute") return {{"off", "Off"}, {"blocks", "Blocks"}};
    if (path == "device") return {{"auto", "Auto"}, {"cpu", "CPU"}, {"cuda", "CUDA"}};
    return {};
}

/// What follows from the type of the field in RunConfig.
template <typename Field>
void add_type(FieldInfo& info, const Field&) {
    info.optional = std::is_same_v<Field, std::optional<std::string>> ||
                    std::is_same_v<Field, std::optional<bool>>;
    if constexpr (std::is_same_v<Field, bool> || std::is_same_v<Field, std::optional<bool>>) {
        info.choices = {{"true", "On"}, {"false", "Off"}};
    } else {
        info.choices = word_choices(info.path);
    }
}

/// A field for each option of the section's kinds.
std::vector<FieldInfo> option_fields(std::string_view group) {
    std::vector<FieldInfo> out;
    for (const auto& [kind, options] : options_by_kind(group)) {
        for (const OptionSpec& spec : options) {
            const std::string path =
                std::string(group) + (is_option_group(group) ? "" : ".") + spec.name;
            const auto same = [&](const FieldInfo& info) { return info.path == path; };
            if (const auto found = std::find_if(out.begin(), out.end(), same); found != out.end()) {
                found->kinds.push_back(kind);
                continue;
            }
            FieldInfo info{path, spec.label, spec.help, spec.unit, spec.choices};
            if (std::holds_alternative<bool>(spec.default_value))
                info.choices = {{"true", "On"}, {"false", "Off"}};
            info.kinds = {kind};
            info.prominent = spec.prominent;
            out.push_back(std::move(info));
        }
    }
    return out;
}

}  // namespace

std::span<const FieldInfo> fields() {
    static const std::vector<FieldInfo> infos = [] {
        std::vector<FieldInfo> all;
        for (auto part : {data_and_model_fields, precision_fields, optimizer_fields, run_fields}) {
            for (auto& info : part()) all.push_back(std::move(info));
        }
        for (const char* group : {"dataset.", "model.options"})
            for (auto& info : option_fields(group)) all.push_back(std::move(info));
        for_each_setting(RunConfig{}, [&all](std::string_view path, const auto& field) {
            for (FieldInfo& info : all) {
                if (info.path == path) add_type(info, field);
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

}  // namespace engine
