#pragma once

#include <cstdint>
#include <limits>
#include <vector>

#include "engine/settings/catalog.h"

namespace engine {

/// Values that a setting takes, besides what its type says.
struct SettingRange {
    /// Bounds of a whole number.
    std::int64_t lowest = std::numeric_limits<std::int64_t>::min();
    std::int64_t highest = std::numeric_limits<std::int64_t>::max();
    /// Says what is allowed instead of a number; empty for a valid one. Null: any number.
    Message (*number)(double value) = nullptr;
    /// The words that a text may be; null: any.
    std::vector<FieldChoice> (*choices)() = nullptr;
    bool only_choices = true;
    PathKind path_kind = PathKind::none;  ///< of a text that is a path
};

/// Where a setting stands.
enum class SettingPlace {
    everywhere,
    if_given,  ///< in files only with a value
    in_files,  ///< in files, with a value, alone: no field of the window and no column of a table
};

/// A field of RunConfig but for its default: all that files, command line, checks and window need.
struct SettingSpec {
    /// As in JSON. If it ends in a dot, the row stands for the options of the section's kind, each
    /// a field of its own.
    const char* path;
    const char* label = "";
    const char* help = "";
    const char* unit = "";
    SettingRange range = {};
    SettingPlace place = SettingPlace::everywhere;
};

namespace setting_ranges {

constexpr std::int64_t max_in_batch = 1'000'000;

constexpr SettingRange at_least(std::int64_t lowest) { return {.lowest = lowest}; }
constexpr SettingRange between(std::int64_t lowest, std::int64_t highest) {
    return {.lowest = lowest, .highest = highest};
}
constexpr SettingRange numbers(Message (*check)(double value)) { return {.number = check}; }
Message above_zero(double value);
Message not_negative(double value);
Message from_zero_below_one(double value);
Message share(double value);
Message initial_scale(double value);
Message growth_factor(double value);
Message backoff_factor(double value);
Message scale_limit(double value);

constexpr SettingRange path_to(PathKind kind) { return {.path_kind = kind}; }
constexpr SettingRange one_of(std::vector<FieldChoice> (*choices)()) {
    return {.choices = choices};
}
/// The kinds of a catalog.
template <auto catalog>
std::vector<FieldChoice> kinds() {
    std::vector<FieldChoice> choices;
    for (const auto& each : catalog()) choices.push_back({each.kind, each.title, each.summary});
    return choices;
}
std::vector<FieldChoice> task_kinds();
/// `device` takes cuda:N, too.
std::vector<FieldChoice> devices();

}  // namespace setting_ranges

/// Calls f(spec, member) for every field of the settings, in the order of their JSON form. The only
/// list of fields: reading, writing, comparing, checking and describing all go through it.
template <typename Config, typename F>
void for_each_setting(Config&& c, F&& f) {
    using namespace setting_ranges;
    const auto row = [&f](auto& member, const char* path, const char* label = "",
                          const char* help = "", const char* unit = "",
                          const SettingRange& range = {},
                          SettingPlace place = SettingPlace::everywhere) {
        f(SettingSpec{path, label, help, unit, range, place}, member);
    };
    row(c.dataset.kind, "dataset.kind", "Data set",
        "The data to train on. Some are generated; the others are read from files on disk.",
        "", one_of(kinds<datasets>));
    row(c.dataset.path, "dataset.path", "Path",
        "Folder or file of the data set, compressed or not. Give several parts as a list.");
    row(c.dataset.augment, "dataset.augment", "Augment",
        "Shifts each training image by a few pixels and mirrors it, both at random (data "
        "augmentation).");
    row(c.dataset.normalize, "dataset.normalize", "Normalize",
        "Scales the inputs to mean 0 and standard deviation 1, which keeps gradients in range.");
    row(c.dataset.train_limit, "dataset.train_limit", "Training limit",
        "Use only the first N training samples, for a quick try (0 = all).", "samples",
        at_least(0));
    row(c.dataset.test_limit, "dataset.test_limit", "Test limit",
        "Use only the first N test samples (0 = all).", "samples", at_least(0));
    row(c.dataset.order, "dataset.order", "Order file",
        "File with the sample indices of one batch per line, to replay another program's batches "
        "exactly. Empty: shuffled by the seed.",
        "", path_to(PathKind::file));
    row(c.dataset.validation_share, "dataset.validation_share", "Validation share",
        "Share of the training part that is kept out of training and evaluated after each epoch (0 "
        "= none).",
        "", numbers(from_zero_below_one));
    row(c.dataset.options, "dataset.");
    row(c.task.kind, "task.kind", "Task",
        "What the model learns. Auto: decided by the data set and the model.", "",
        one_of(task_kinds));
    row(c.model.kind, "model.kind", "Model",
        "The network to train. Small networks show the same effects as large ones, sooner.", "",
        one_of(kinds<models>));
    row(c.model.path, "model.path", "Network file",
        "File with the network as text (NAME.network). The settings keep its text, so a run does not "
        "change when the file does.",
        "", path_to(PathKind::file), SettingPlace::if_given);
    row(c.model.network, "model.network", "Network",
        "The text of the network, a list of lines. It is read from the network file, if one is given.",
        "", {}, SettingPlace::in_files);
    row(c.model.sha256, "model.sha256", "Hash of the network",
        "SHA-256 of the network's text. The program writes it, and refuses a text with another one.",
        "", {}, SettingPlace::in_files);
    row(c.model.notation, "model.notation", "Notation",
        "Version of the notation of the network's text. The program writes it.", "",
        at_least(0), SettingPlace::in_files);
    row(c.model.options, "model.options");
    row(c.model.init_from, "model.init_from", "Start from",
        "File with the initial weights: safetensors, or PyTorch's .pt or .pth. Empty: random "
        "weights from the seed.",
        "", path_to(PathKind::file));
    row(c.model.init_key, "model.init_key", "Key in the file",
        "Of a file with several models, the one to start from: its key or the prefix of its names. "
        "Empty: the only one.");
    row(c.model.new_head, "model.new_head", "New last layer",
        "Draws the last layer again if the file lacks it or has it in another shape, for "
        "fine-tuning on other classes.");
    row(c.model.freeze, "model.freeze", "Freeze",
        "Parameters whose names begin with one of these, such as conv1, are not trained. "
        "Batch-norm statistics still follow the data.");
    row(c.precision.preset, "precision.preset", "Precision",
        "Number formats for computing and for storing the weights. The settings below override its "
        "parts.",
        "", one_of(kinds<precisions>));
    row(c.precision.weights, "precision.weights", "Weights",
        "Storage format of the weights. In fp16, an update below half a unit in the last place of "
        "its weight is lost.");
    row(c.precision.autocast, "precision.autocast", "Autocast",
        "Format of matrix products and convolutions. Operations that need range or precision stay "
        "in fp32.");
    row(c.precision.batch_norm, "precision.batch_norm", "Batch norm",
        "Format of batch norm's parameters and statistics, the first to lose accuracy in fp16.");
    row(c.precision.master_weights, "precision.master_weights", "Master weights",
        "Keeps an fp32 copy of fp16 weights, so that small updates accumulate instead of being "
        "lost.");
    row(c.precision.scaler, "precision.scaler", "Loss scaling",
        "Multiplies the loss before the backward pass so that small fp16 gradients do not "
        "underflow to 0. Dynamic adapts the scale; static keeps it and never skips a step.");
    row(c.precision.recipe, "precision.recipe", "Recipe",
        "Formats and scales in 8 or 4 bits for the operands of products with weights, on a CPU. None: as "
        "autocast has them.");
    row(c.precision.force, "precision.force", "Forced types",
        "Types of modules and operations over all other settings, such as {\"layer1\": \"fp32\", "
        "\"fc:linear\": \"bf16\"}, or the recipe of a module. The most specific key decides.");
    row(c.quantize.gradient_format, "quantize.gradient_format", "Gradient format",
        "Format of the gradients of outputs in 8 bits: E5M2 has more range, E4M3 more fraction.",
        "", {}, SettingPlace::if_given);
    row(c.quantize.history, "quantize.history", "History",
        "Steps whose largest magnitudes decide about a delayed scale (1,024 unless given).",
        "steps", between(1, 65'536), SettingPlace::if_given);
    row(c.quantize.history_algorithm, "quantize.history_algorithm", "Value of the history",
        "The magnitude of the history that decides about a delayed scale: the largest, or the newest.",
        "", {}, SettingPlace::if_given);
    row(c.quantize.margin, "quantize.margin", "Margin",
        "Bits of headroom of a delayed scale: it is divided by 2 to this power.",
        "bits", between(0, 8), SettingPlace::if_given);
    row(c.quantize.first_scale, "quantize.first_scale", "First scale",
        "The delayed scale before any history: 1, or measured in the first step.",
        "", {}, SettingPlace::if_given);
    row(c.quantize.power_of_2_scales, "quantize.power_of_2_scales", "Powers of two",
        "Rounds scales of tensors, rows and blocks of FP8 down to a power of two.",
        "", {}, SettingPlace::if_given);
    row(c.quantize.mx_scale, "quantize.mx_scale", "MX scale",
        "How the power of two of an MX block follows from its largest magnitude. Floor may saturate.",
        "", {}, SettingPlace::if_given);
    row(c.quantize.stochastic_rounding, "quantize.stochastic_rounding", "Rounding at random",
        "Rounds gradients in FP4 up or down at random, so that small ones count in the mean.",
        "", {}, SettingPlace::if_given);
    row(c.quantize.hadamard, "quantize.hadamard", "Rotation",
        "Rotates 16 rows of both operands of a weight gradient in FP4, which spreads outliers.",
        "", {}, SettingPlace::if_given);
    row(c.quantize.weight_blocks, "quantize.weight_blocks", "Blocks of weights",
        "Blocks of weights: along the contraction, or square, with one set of codes for both passes.",
        "", {}, SettingPlace::if_given);
    row(c.quantize.wgrad, "quantize.wgrad", "Weight gradients",
        "Products that give the gradients of weights: by codes, or as autocast has them.",
        "", {}, SettingPlace::if_given);
    row(c.quantize.dgrad, "quantize.dgrad", "Input gradients",
        "Products that give the gradients of inputs: by codes, or as autocast has them.",
        "", {}, SettingPlace::if_given);
    row(c.quantize.non_finite, "quantize.non_finite", "Infinity and NaN",
        "Keeps infinity and NaN visible in codes. Saturated, infinity becomes the largest value, and "
        "skips lack their reason.",
        "", {}, SettingPlace::if_given);
    row(c.quantize.head, "quantize.head", "Output layer",
        "Quantises the output layer, too.",
        "", {}, SettingPlace::if_given);
    row(c.quantize.first_blocks, "quantize.first_blocks", "First blocks kept",
        "Blocks at the beginning of the network that no recipe covers (auto: as the recipe has it).",
        "", at_least(0), SettingPlace::if_given);
    row(c.quantize.last_blocks, "quantize.last_blocks", "Last blocks kept",
        "Blocks at the end of the network that no recipe covers (auto: as the recipe has it).",
        "", at_least(0), SettingPlace::if_given);
    row(c.quantize.skip, "quantize.skip", "Kept products",
        "Single products as autocast has them: MODULE:fprop, MODULE:dgrad or MODULE:wgrad, a list. "
        "They go before forced types.",
        "", {}, SettingPlace::if_given);
    row(c.quantize.reduce_amax, "quantize.reduce_amax", "Magnitudes of workers",
        "Which scales of tensors follow the largest magnitude of all workers. Auto: delayed ones.",
        "", {}, SettingPlace::if_given);
    row(c.quantize.evaluate, "quantize.evaluate", "Evaluation",
        "Quantises in evaluation, too (on unless given). Scales never change there.",
        "", {}, SettingPlace::if_given);
    row(c.quantize.high_precision_from, "quantize.high_precision_from", "High precision from",
        "Share of the run after which forward products are as autocast has them (0 = never).",
        "", numbers(share), SettingPlace::if_given);
    row(c.quantize.convolutions, "quantize.convolutions", "Convolutions",
        "Quantises convolutions, too, with recipes of one scale a tensor. The first one is kept.",
        "", {}, SettingPlace::if_given);
    row(c.scaler.preset, "scaler.preset", "Scaler preset",
        "Values of the loss scaler: for real training, or with a scale that moves often enough to "
        "watch in a short run.",
        "", one_of(kinds<scaler_presets>));
    row(c.scaler.init_scale, "scaler.init_scale", "Initial scale",
        "Loss scale of the first step. A value that is too high costs only a few skipped steps.",
        "", numbers(initial_scale));
    row(c.scaler.growth_factor, "scaler.growth_factor", "Growth factor",
        "The scale is multiplied by this after a full growth interval without overflow.", "",
        numbers(growth_factor));
    row(c.scaler.backoff_factor, "scaler.backoff_factor", "Backoff factor",
        "The scale is multiplied by this after a gradient overflow. That step is skipped.", "",
        numbers(backoff_factor));
    row(c.scaler.growth_interval, "scaler.growth_interval", "Growth interval",
        "Overflow-free steps before the scale grows.", "steps", between(1, 2'147'483'647));
    row(c.scaler.min_scale, "scaler.min_scale", "Min scale",
        "Training fails with an explanation if the scale falls below this (0 = no limit).", "",
        numbers(scale_limit));
    row(c.scaler.max_scale, "scaler.max_scale", "Max scale",
        "The scale never grows above this (0 = no limit).", "", numbers(scale_limit));
    row(c.scaler.hysteresis, "scaler.hysteresis", "Hysteresis",
        "Overflows before the scale backs off. 1 backs off at once; a higher value only skips the "
        "step of a single outlier.",
        "steps", between(1, 1'000'000));
    row(c.optimizer.kind, "optimizer.kind", "Optimizer",
        "The rule that turns gradients into weight updates.", "", one_of(kinds<optimizers>));
    row(c.optimizer.options, "optimizer.");
    row(c.schedule.kind, "schedule.kind", "Schedule",
        "How the learning rate changes over the run. Only applied updates count, not skipped "
        "steps.",
        "", one_of(kinds<schedules>));
    row(c.schedule.options, "schedule.");
    row(c.clip.kind, "clip.kind", "Clip gradients",
        "Limits the gradients after unscaling: norm scales all of them together, value clamps each "
        "element.");
    row(c.clip.value, "clip.value", "Clip at",
        "Largest norm, or largest magnitude of an element, that the gradients may have.", "",
        numbers(above_zero));
    row(c.early_stopping.patience, "early_stopping.patience", "Early stopping",
        "Ends the run after this many evaluated epochs in which the metric did not improve (0 = "
        "never). The metric is that of the validation part, else of the test part; the loss where there is "
        "none.",
        "epochs", at_least(0));
    row(c.early_stopping.min_delta, "early_stopping.min_delta", "Least improvement",
        "Early stopping does not count an improvement of the metric up to this size.", "",
        numbers(not_negative));
    row(c.gradient_penalty, "gradient_penalty", "Gradient penalty",
        "Adds this multiple of the gradient norm to the loss, which favours flat minima. Needs "
        "second derivatives in every step, which not all models have (0 = off).",
        "", numbers(not_negative));
    row(c.batch_size, "batch_size", "Batch size",
        "Samples per gradient. Larger batches give smoother gradients and higher throughput, but "
        "need more memory.",
        "samples", between(1, max_in_batch));
    row(c.accumulate, "accumulate", "Accumulate",
        "Batches whose gradients are added up before one step: the effect of a larger batch in the "
        "same memory.",
        "batches", between(1, max_in_batch));
    row(c.recompute, "recompute", "Recompute",
        "Blocks: keeps only the input of each block and computes the block again in the backward "
        "pass. Less memory for activations, a third more computation, the same results.");
    row(c.bptt, "bptt", "Window",
        "Tokens of a text that gradients flow back through (truncated back-propagation).", "tokens",
        between(1, 100'000));
    row(c.evaluation_batch, "evaluation_batch", "Evaluation batch",
        "Rows of a batch in evaluation (0 = chosen by the task).", "rows",
        between(0, max_in_batch));
    row(c.epochs, "epochs", "Epochs",
        "Number of passes over the whole training set. 0 only evaluates the weights that the run "
        "starts from.",
        "epochs", between(0, 1'000'000'000));
    row(c.max_steps, "max_steps", "Step limit",
        "Ends the run after this many steps (0 = no limit).", "steps", at_least(0));
    row(c.stop_on_nan, "stop_on_nan", "Stop on NaN",
        "Ends the run as diverged after this many consecutive steps with a NaN or infinite loss (0 "
        "= never).",
        "steps", at_least(0));
    row(c.evaluation.every_steps, "evaluation.every_steps", "Evaluate every",
        "Evaluates after this many steps (0 = not by steps). Early stopping and schedules that "
        "wait for progress look at the ends of epochs only.",
        "steps", at_least(0));
    row(c.evaluation.every_epochs, "evaluation.every_epochs", "Evaluate every",
        "Evaluates after this many epochs (0 = not by epochs). The end of the run is always "
        "evaluated.",
        "epochs", at_least(0));
    row(c.checkpoint.every_steps, "checkpoint.every_steps", "Save every",
        "Saves a checkpoint after this many steps (0 = not by steps).", "steps", at_least(0));
    row(c.checkpoint.every_minutes, "checkpoint.every_minutes", "Save every",
        "Saves a checkpoint after this many minutes, so that a crash loses no more (0 = not by "
        "time).",
        "minutes", numbers(not_negative));
    row(c.checkpoint.every_epochs, "checkpoint.every_epochs", "Save every",
        "Saves a checkpoint after this many epochs (0 = not by epochs).", "epochs", at_least(0));
    row(c.checkpoint.keep, "checkpoint.keep", "Keep",
        "Number of newest checkpoints that are kept. The best one is kept in addition.",
        "checkpoints", between(1, 1'000'000));
    row(c.checkpoint.best, "checkpoint.best", "Save the best",
        "Saves a checkpoint after each evaluation that is better than all before it.");
    row(c.checkpoint.at_end, "checkpoint.at_end", "Save at the end",
        "Saves a checkpoint when the run ends or is stopped, so that it can be resumed and used.");
    row(c.instruments.histograms_every, "instruments.histograms_every", "Histograms every",
        "Keeps exponent histograms of gradients, activations, weights and updates by layer after "
        "this many steps (0 = only on demand). auto: every 50 steps, at most 4 a second and 2,000 "
        "in a run, which costs a large network at most 1 % of its time and a small one at most 5 "
        "%. Results do not change.",
        "steps", at_least(0));
    row(c.instruments.armed, "instruments.armed", "Armed",
        "Examines a skipped step before the next update. On a GPU this costs a synchronisation in "
        "every step.");
    row(c.instruments.quantization_every, "instruments.quantization_every", "Casts every",
        "With a recipe in 8 or 4 bits: keeps scales, zeroed and saturated shares and the errors of "
        "all casts in the first step and after this many (0 = never), at most 2,000 times in a "
        "run. Results do not change.",
        "steps", at_least(0));
    row(c.log.tensorboard, "log.tensorboard", "TensorBoard folder",
        "Writes the figures of the run as they come into a folder of its own below this one, where "
        "TensorBoard shows them. At most 20 steps a second, and every skipped one. Empty: not.",
        "", path_to(PathKind::folder));
    row(c.teach.clip_before_unscale, "teach.clip_before_unscale", "Clip before unscaling",
        "Broken on purpose: clips the gradients while they still carry the loss scale, so the "
        "limit is too tight by that factor.");
    row(c.teach.update_each_micro_batch, "teach.update_each_micro_batch",
        "Update in each micro-batch",
        "Broken on purpose: changes the loss scale after each micro-batch of an accumulated step, "
        "so that gradients of different scales are added up.");
    row(c.teach.resume_without_scaler, "teach.resume_without_scaler", "Resume without the scaler",
        "Broken on purpose: a resumed run begins again with the initial scale.");
    row(c.teach.resume_without_history, "teach.resume_without_history",
        "Resume without the history",
        "Broken on purpose: delayed scales begin again at 1 in a resumed run.", "", {},
        SettingPlace::if_given);
    row(c.teach.loss, "teach.loss", "Broken loss",
        "Broken on purpose: binary cross entropy of 16-bit probabilities, or a target that where "
        "builds in another dtype than the logits.");
    row(c.teach.norm, "teach.norm", "Broken norms",
        "Broken on purpose: batch and layer norm as single 16-bit operations, with the variance as "
        "E[x²] − E[x]² and epsilon added in 16 bits.");
    row(c.teach.norm_epsilon, "teach.norm_epsilon", "Epsilon of broken norms",
        "Epsilon of composed norms (0 = that of each layer). 1e-8 is 0 in fp16.", "",
        numbers(not_negative));
    row(c.teach.boxes, "teach.boxes", "Broken boxes",
        "Broken on purpose: a detector computes anchors and boxes in the 16-bit type of its heads, "
        "where bf16 has every second or fourth pixel.",
        "", {}, SettingPlace::if_given);
    row(c.teach.plant.kind, "teach.plant.kind", "Planted fault",
        "Broken on purpose: one step has this fault, for the Skips page to find.");
    row(c.teach.plant.step, "teach.plant.step", "Planted at step",
        "The step that has the fault, counted from 1.", "step", at_least(1));
    row(c.teach.plant.where, "teach.plant.where", "Planted where",
        "The module, the parameter (name, or name:row) or the sample's position in the batch. "
        "Empty: the first that fits.");
    row(c.teach.quantize_scale, "teach.quantize_scale", "Fixed scale",
        "Broken on purpose: every scale of a tensor of a recipe is this number (0 = its own).",
        "", numbers(not_negative), SettingPlace::if_given);
    row(c.teach.accumulator_bits, "teach.accumulator_bits", "Bits of sums",
        "Broken on purpose: sums of quantised products keep this many bits, 10 to 24 (0 = those of "
        "fp32).",
        "bits", between(0, 24), SettingPlace::if_given);
    row(c.teach.promote_every, "teach.promote_every", "Promote every",
        "Products after which such a sum is added up in fp32 (0 = 128).",
        "", at_least(0), SettingPlace::if_given);
    row(c.seed, "seed", "Seed",
        "Seed of all randomness: the same seed gives the same weights, order and noise.", "",
        at_least(0));
    row(c.device, "device", "Device",
        "Device that computes. Auto takes the first GPU, else the CPU.", "",
        SettingRange{.choices = devices, .only_choices = false});
    row(c.threads, "threads", "Threads",
        "CPU threads (0 = all cores). Results repeat bit for bit only with the same number.",
        "threads", between(0, 4096));
    row(c.deterministic, "deterministic", "Deterministic",
        "Uses only algorithms that give the same bits in every run, even where a faster one "
        "exists.");
    row(c.workers, "workers", "Workers",
        "Processes that train the run together on this machine, each on its part of every batch. "
        "The batch size is that of all of them.",
        "processes", between(1, 4096));
    row(c.sync_batch_norm, "sync_batch_norm", "Synchronised batch norm",
        "Batch norm takes mean and variance over the batch of all workers; otherwise each worker "
        "takes those of its own part.");
}

}  // namespace engine
