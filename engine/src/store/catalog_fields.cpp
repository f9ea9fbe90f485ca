#include "engine/catalog.h"

namespace engine {
namespace {

std::vector<FieldInfo> data_and_model_fields() {
    return {
        {"dataset.kind", "Data set",
         "What the model learns from; spirals and glyphs are made here, the others are read from "
         "files on your disk.",
         ""},
        {"dataset.path", "Path",
         "The folder or file that holds the data set, packed or not; several parts can be given as "
         "a "
         "list.",
         ""},
        {"dataset.augment", "Augment",
         "Shows each training image shifted by a few pixels and mirrored at random, so that the "
         "model "
         "learns the object and not its place.",
         ""},
        {"dataset.normalize", "Normalize",
         "Brings the inputs to mean 0 and spread 1, which keeps gradients in a healthy range.", ""},
        {"dataset.train_limit", "Training limit",
         "Uses only the first so many training samples, for a quick try; 0 uses all.", "samples"},
        {"dataset.test_limit", "Test limit",
         "Evaluates only on the first so many test samples; 0 uses all.", "samples"},
        {"dataset.order", "Order file",
         "A file with the sample numbers of one batch a line, to replay exactly the batches of "
         "another program; empty shuffles by the seed.",
         ""},
        {"model.kind", "Model",
         "The network to train; a small one shows the same effects as a big one, only sooner.", ""},
        {"model.options", "Model options",
         "Settings of the model's own, such as the sizes of its hidden layers.", ""},
        {"model.init_from", "Start from",
         "A safetensors file with the weights to start from; empty starts from random weights "
         "drawn "
         "by the seed.",
         ""},
    };
}

std::vector<FieldInfo> precision_fields() {
    return {
        {"precision.preset", "Precision",
         "In which number formats the model computes and keeps its weights; the five settings "
         "below "
         "open it up.",
         ""},
        {"precision.weights", "Weights",
         "The format the model's weights are kept in; in fp16 an update smaller than half a step "
         "of "
         "the weight is lost.",
         ""},
        {"precision.autocast", "Autocast",
         "The format that matrix products and convolutions are computed in, while delicate "
         "operations "
         "stay in fp32.",
         ""},
        {"precision.batch_norm", "Batch norm",
         "The format of the batch norm's statistics and parameters, which lose accuracy first in "
         "fp16.",
         ""},
        {"precision.master_weights", "Master weights",
         "Keeps an fp32 copy of fp16 weights, so that small updates add up instead of being lost.",
         ""},
        {"precision.scaler", "Loss scaling",
         "Multiplies the loss before the backward pass so that small fp16 gradients do not become "
         "0: "
         "dynamic adapts the scale, static keeps it and never skips a step.",
         ""},
        {"scaler.preset", "Scaler preset",
         "production is what real training uses; classroom moves the scale often enough to watch "
         "in "
         "a short run.",
         ""},
        {"scaler.init_scale", "Initial scale",
         "The loss scale of the first step; too high only costs a few skipped steps until it has "
         "come "
         "down.",
         ""},
        {"scaler.growth_factor", "Growth factor",
         "The scale is multiplied by this after a full interval of steps without overflow.", ""},
        {"scaler.backoff_factor", "Back-off factor",
         "The scale is multiplied by this after a step whose gradients overflowed; that step is "
         "skipped.",
         ""},
        {"scaler.growth_interval", "Growth interval",
         "So many steps in a row without overflow until the scale grows again.", "steps"},
        {"scaler.min_scale", "Floor",
         "Training fails with an explanation if the scale would fall below this; 0 means no floor.",
         ""},
        {"scaler.max_scale", "Ceiling", "The scale never grows above this; 0 means no ceiling.",
         ""},
        {"scaler.hysteresis", "Hysteresis",
         "So many overflows until the scale backs off: 1 backs off at once, more lets single "
         "outliers pass with nothing but their step skipped.",
         "steps"},
    };
}

std::vector<FieldInfo> optimizer_fields() {
    return {
        {"optimizer.kind", "Optimizer",
         "The rule that turns gradients into changes of the weights.", ""},
        {"optimizer.lr", "Learning rate",
         "How far each step goes: too high and the loss jumps or becomes NaN, too low and nothing "
         "happens; 0.05 unless given, 0.1 with novograd, 0.01 with lamb and adagrad, 0.001 with "
         "adam and adamw.",
         ""},
        {"optimizer.momentum", "Momentum",
         "How much of the previous direction is kept at each step of SGD: 0 is none, 0.9 is usual.",
         ""},
        {"optimizer.nesterov", "Nesterov",
         "Looks ahead along the momentum before it steps, which often converges a little faster.",
         ""},
        {"optimizer.weight_decay", "Weight decay",
         "Pulls every weight a little towards 0 at each step, against overfitting; unless "
         "given 0.0005 with sgd, 0.01 with adamw and lamb, else 0.",
         ""},
        {"optimizer.beta1", "Beta 1",
         "How slowly the running mean of the gradients forgets, in Adam and its kin: 0.9 "
         "looks back about 10 steps.",
         ""},
        {"optimizer.beta2", "Beta 2",
         "How slowly the running mean of the squared gradients forgets, in Adam and its kin: "
         "0.999 looks back about 1000 steps.",
         ""},
        {"optimizer.eps", "Epsilon",
         "A small number added to the divisor of Adam, its kin and Adagrad, so that a weight "
         "without gradient does not leap.",
         ""},
        {"optimizer.amsgrad", "AMSGrad",
         "Lets Adam divide by the largest running mean so far, so that its steps never grow "
         "back.",
         ""},
        {"optimizer.lr_decay", "Rate decay",
         "Lets Adagrad's learning rate fall with the number of updates: 0 leaves it.", ""},
        {"optimizer.initial_accumulator_value", "Initial sum",
         "What Adagrad's sums of squared gradients start from; above 0 the first steps are "
         "shorter.",
         ""},
        {"optimizer.max_grad_norm", "Largest norm",
         "LAMB shortens all gradients together to this norm before it uses them; 0 means no "
         "limit.",
         ""},
        {"optimizer.nvlamb", "NVLAMB",
         "Gives LAMB's layer-wise rate also to weights without decay.", ""},
        {"optimizer.norm", "Norm",
         "By which size of a layer's gradient NovoGrad divides it: l2 is the root of the "
         "squares' sum, largest the largest magnitude.",
         ""},
        {"optimizer.larc", "LARC",
         "Gives each layer a rate that follows the size of its weights beside its gradients, "
         "around any optimizer.",
         ""},
        {"optimizer.larc_trust", "LARC trust",
         "How large a share of a layer's weights LARC lets one step change.", ""},
        {"optimizer.larc_clip", "LARC clip",
         "LARC only shortens steps; off, its rate multiplies the learning rate whatever comes "
         "of it.",
         ""},
        {"schedule.kind", "Schedule",
         "How the learning rate moves over the run: constant keeps it, cosine lets it fall to 0 in "
         "a "
         "smooth curve; only applied updates count, skipped steps do not.",
         ""},
        {"clip.kind", "Clip gradients",
         "Limits the gradients after unscaling: norm shortens all of them together, value cuts off "
         "each number by itself.",
         ""},
        {"clip.value", "Clip at",
         "The largest norm, or the largest magnitude of one number, that gradients keep.", ""},
        {"gradient_penalty", "Gradient penalty",
         "Adds so many times the norm of the loss's gradient to the loss, so that training prefers "
         "flat places; takes a second derivative in every step, for MLP and LeNet; 0 is off.",
         ""},
    };
}

std::vector<FieldInfo> run_fields() {
    return {
        {"batch_size", "Batch size",
         "How many samples one gradient is the mean of: larger is smoother and faster by the "
         "sample, "
         "but takes more memory.",
         "samples"},
        {"accumulate", "Accumulate",
         "Adds up the gradients of so many batches before one step, to act like a larger batch in "
         "the "
         "same memory.",
         "batches"},
        {"epochs", "Epochs", "How often training goes through the whole training set.", "epochs"},
        {"max_steps", "Step limit", "Ends the run after so many steps; 0 means no limit.", "steps"},
        {"stop_on_nan", "Stop on NaN",
         "Ends the run as diverged after this many steps in a row with a loss that is NaN or "
         "infinite; 0 never does.",
         "steps"},
        {"seed", "Seed",
         "The number that all randomness is drawn from: the same seed gives the same weights, "
         "order "
         "and noise again.",
         ""},
        {"device", "Device", "Where the model computes; auto takes the first GPU, else the CPU.",
         ""},
        {"threads", "Threads",
         "How many CPU cores compute; 0 takes all, and results repeat bit for bit only with the "
         "same "
         "number.",
         "threads"},
        {"deterministic", "Deterministic",
         "Uses only methods that give the same bits in every run, even where a faster one exists.",
         ""},
    };
}

}  // namespace

std::span<const FieldInfo> fields() {
    static const std::vector<FieldInfo> infos = [] {
        std::vector<FieldInfo> all;
        for (auto part : {data_and_model_fields, precision_fields, optimizer_fields, run_fields}) {
            for (auto& info : part()) all.push_back(std::move(info));
        }
        return all;
    }();
    return infos;
}

}  // namespace engine
