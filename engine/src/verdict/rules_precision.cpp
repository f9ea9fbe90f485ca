#include <algorithm>
#include <cmath>

#include "amp/recipe.h"
#include "engine/settings/catalog.h"
#include "verdict/rules.h"

namespace engine {
namespace {

bool has_batch_norm(const LintSubject& s) {
    return s.model != nullptr && std::ranges::any_of(s.model->buffers(), [](const Parameter& each) {
               return each.name.ends_with("running_mean");
           });
}

void batch_norm_in_fp16(const LintSubject& s, Findings& out) {
    if (s.precision.batch_norm != WeightFormat::fp16 || !has_batch_norm(s)) return;
    out.push_back({.id = "batch-norm-fp16",
                   .severity = LintSeverity::warning,
                   .sentence = msg("Batch norm keeps its statistics in FP16"),
                   .reason = msg("Running means and variances move by 10 % of a small difference a "
                                 "step, which FP16 rounds away, and a variance above 65,504 is "
                                 "infinite."),
                   .handbook = "Batch norm stays in FP32",
                   .fix = {"precision.batch_norm=fp32"}});
}

void accumulate_with_batch_norm(const LintSubject& s, Findings& out) {
    if (s.config.accumulate == 1 || !has_batch_norm(s)) return;
    const std::int64_t whole = s.config.batch_size * s.config.accumulate;
    out.push_back(
        {.id = "accumulate-with-batch-norm",
         .severity = LintSeverity::note,
         .sentence = msg("Batch norm uses {} samples at a time, not the {} of a step",
                         s.config.batch_size, whole),
         .reason = msg("Accumulation adds up gradients, but each micro-batch is normalised "
                       "by its own statistics."),
         .handbook = "Accumulation and batch norm",
         .fix = {"batch_size=" + std::to_string(whole), "accumulate=1"}});
}

/// Half the distance of FP16 values at the mean magnitude of a layer's initial weights, which are
/// U(-b, b) with b = 1 / sqrt(fan in). Smaller updates round to no change.
std::optional<double> smallest_update(const LintSubject& s) {
    if (s.model == nullptr) return std::nullopt;
    const Parameter* largest = nullptr;
    for (const Parameter& each : s.model->parameters()) {
        const bool matrix = each.tensor.rank() >= 2 && each.tensor.size(0) > 0;
        if (matrix && (largest == nullptr || each.tensor.numel() > largest->tensor.numel()))
            largest = &each;
    }
    if (largest == nullptr) return std::nullopt;
    const auto fan_in = static_cast<double>(largest->tensor.numel() / largest->tensor.size(0));
    const double weight = 0.5 / std::sqrt(std::max(fan_in, 1.0));
    return std::exp2(std::floor(std::log2(weight)) - 11);
}

void updates_below_fp16(const LintSubject& s, Findings& out) {
    const OptimizerDescriptor* kind = find_kind(optimizers(), s.config.optimizer.kind);
    if (s.precision.weights != WeightFormat::fp16 || s.precision.master_weights ||
        kind == nullptr || !kind->adam_step)
        return;
    const double rate = std::get<double>(s.config.optimizer.options.at("lr"));
    const auto least = smallest_update(s);
    if (!least || rate >= *least) return;
    out.push_back(
        {.id = "updates-below-fp16",
         .severity = LintSeverity::warning,
         .sentence = msg("Updates of about {}, the learning rate, are lost in FP16 weights",
                         number_words(rate)),
         .reason = msg("Half a unit in the last place of a typical weight is {}: a smaller update "
                       "does not change the weight. Master weights in fp32 would keep them.",
                       *least),
         .handbook = "Small updates need master weights",
         .fix = {"precision.master_weights=true"}});
}

/// Only composed norms hold epsilon in 16 bits: the engine's own and its optimizers keep it in
/// FP32.
void epsilon_of_norm(const LintSubject& s, Findings& out) {
    constexpr double half_of_min = 0x1p-25;
    const double eps = s.config.teach.norm_epsilon;
    const bool held = s.config.teach.norm == TeachNorm::composed && s.fp16();
    if (!held || eps == 0 || eps > half_of_min) return;
    out.push_back(
        {.id = "epsilon-below-fp16",
         .severity = LintSeverity::warning,
         .sentence = msg("An epsilon of {} is 0 in FP16", number_words(eps)),
         .reason = msg("FP16 holds nothing below 2⁻²⁴ = 6e-8, so a variance of 0 is divided "
                       "by 0."),
         .handbook = "An epsilon must not round to 0",
         .fix = {"teach.norm_epsilon=1e-05"}});
}

void tf32_off(const LintSubject& s, Findings& out) {
    const ResolvedPrecision& p = s.precision;
    const bool plain = p.weights == WeightFormat::fp32 && p.autocast == AutocastFormat::off;
    if (!s.context.gpu || !plain || p.tf32) return;
    out.push_back(
        {.id = "tf32-off",
         .severity = LintSeverity::note,
         .sentence = msg("FP32 products on a GPU without TF32"),
         .reason = msg("From Ampere on, TF32 computes products several times as fast, with "
                       "the range of FP32 and 10 fraction bits."),
         .handbook = "TF32 on newer GPUs",
         .fix = {"precision.preset=tf32"}});
}

void history_beyond_run(const LintSubject& s, Findings& out) {
    const std::int64_t scale_history = s.config.quantize.history.value_or(Recipe{}.history);
    if (s.precision.recipe != RecipeKind::fp8_delayed || s.steps == 0 || s.steps >= scale_history)
        return;
    out.push_back(
        {.id = "fp8-history-longer-than-run",
         .severity = LintSeverity::note,
         .sentence = msg("Delayed scales remember {} steps, and the run has {}", scale_history,
                         s.steps),
         .reason = msg("A scale follows the largest value of these steps, so here that of the whole "
                       "run: one outlier holds it down to the end."),
         .handbook = "Delayed scales need a long run",
         .fix = {"precision.recipe=" + word_of(RecipeKind::fp8_current)}});
}

}  // namespace

void lint_precision(const LintSubject& subject, Findings& out) {
    batch_norm_in_fp16(subject, out);
    epsilon_of_norm(subject, out);
    updates_below_fp16(subject, out);
    accumulate_with_batch_norm(subject, out);
    tf32_off(subject, out);
    history_beyond_run(subject, out);
}

void lint_forced(const LintSubject& subject, Findings& out) {
    static const std::vector<OpSummary> all = ops();
    for (const auto& [key, type] : subject.config.precision.force) {
        if (type != ForcedType::fp16) continue;
        const std::string op = key.substr(key.rfind(':') + 1);  // all of it without a colon
        const auto found = std::ranges::find(all, op, &OpSummary::name);
        if (found == all.end() || !found->policy.starts_with("f32")) continue;
        out.push_back({.id = "forced-fp16",
                       .severity = LintSeverity::warning,
                       .sentence = msg("{} is forced to FP16, though its policy is FP32", key),
                       .reason = found->why,
                       .handbook = "Operations that stay in FP32",
                       .fix = {"precision.force." + key + "=fp32"}});
    }
}

}  // namespace engine
