#include <algorithm>

#include "verdict/rules.h"

namespace engine {
namespace {

constexpr const char* heading = "Broken on purpose";

void add(Findings& out, const char* id, LintSeverity severity, Message sentence, Message reason,
         const char* handbook, std::string fix) {
    out.push_back({.id = id,
                   .severity = severity,
                   .sentence = std::move(sentence),
                   .reason = std::move(reason),
                   .handbook = handbook,
                   .fix = {std::move(fix)}});
}

void lint_loss_and_norm(const TeachConfig& t, Findings& out) {
    if (t.loss == TeachLoss::bce_probabilities)
        add(out, "loss-of-probabilities", LintSeverity::error,
            msg("The loss takes probabilities, not logits"),
            msg("In FP16 a probability rounds to 0 or 1, and autocast refuses "
                "binary_cross_entropy; the form with logits is exact."),
            "Losses take logits", "teach.loss=");
    if (t.loss == TeachLoss::where_mismatch)
        add(out, "where-of-mixed-dtypes", LintSeverity::error,
            msg("where fills FP16 logits with a number that only FP32 holds"),
            msg("-1e9 becomes -inf in FP16, and 0 times -inf is NaN."), "where takes one dtype",
            "teach.loss=");
    if (t.norm == TeachNorm::composed)
        add(out, "composed-norm", LintSeverity::error,
            msg("Norms are computed as single 16-bit operations"),
            msg("E[x²] − E[x]² overflows, cancels to 0 or falls below it in 16 bits; norms need "
                "FP32 "
                "inside."),
            "Norms compute in FP32", "teach.norm=");
    if (t.boxes == TeachBoxes::low)
        add(out, "boxes-in-16-bits", LintSeverity::error,
            msg("Anchors and boxes are computed in 16 bits"),
            msg("From 256 pixels on bf16 has every second pixel alone, from 512 on every fourth: "
                "boxes lie off by pixels. Geometry needs FP32."),
            "Boxes compute in FP32", "teach.boxes=");
}

}  // namespace

void lint_teach(const LintSubject& s, Findings& out) {
    const TeachConfig& t = s.config.teach;
    if (t.clip_before_unscale && s.scaled() && s.config.clip.kind != ClipKind::none)
        add(out, "clip-before-unscale", LintSeverity::error,
            msg("Gradients are clipped at {} before they are unscaled",
                number_words(s.config.clip.value)),
            msg("They still carry the loss scale of {}, so the limit is too tight by that factor.",
                scale_words(s.config.scaler.init_scale)),
            "Clip after unscaling", "teach.clip_before_unscale=false");
    if (t.update_each_micro_batch && s.dynamic() && s.config.accumulate > 1)
        add(out, "update-each-micro-batch", LintSeverity::error,
            msg("The loss scale changes within an accumulated step"),
            msg("Gradients of different scales are added up, and divided by the last one."),
            "One scale for each step", "teach.update_each_micro_batch=false");
    if (t.resume_without_scaler && s.dynamic())
        add(out, "resume-without-scaler", LintSeverity::error,
            msg("A resumed run loses its loss scale"),
            msg("It begins again at {}, and skips steps until the scaler has found a scale that "
                "fits.",
                scale_words(s.config.scaler.init_scale)),
            "A checkpoint holds the scaler", "teach.resume_without_scaler=false");
    const std::vector<RecipeKind> recipes = s.precision.recipes();
    if (t.resume_without_history && std::ranges::count(recipes, RecipeKind::fp8_delayed) > 0)
        add(out, "resume-without-history", LintSeverity::error,
            msg("A resumed run loses the scales of its recipe"),
            msg("They begin again at 1, with which small gradients become 0 until a step has "
                "measured them."),
            "A checkpoint holds the scaler", "teach.resume_without_history=false");
    lint_loss_and_norm(t, out);
    if (t.plant.kind != PlantKind::none)
        add(out, "planted-fault", LintSeverity::error,
            msg("A fault is planted at step {}: {}", t.plant.step, word_of(t.plant.kind)),
            msg("It is there for practice, and breaks the training from that step on."), heading,
            "teach.plant.kind=");
}

}  // namespace engine
