#include <algorithm>
#include <cmath>

#include "engine/number/figure_text.h"
#include "engine/record/scale_outlook.h"
#include "verdict/rules.h"

namespace engine {
namespace {

constexpr double likely_static_scale = 1024;

bool is_power_of_two(double value) {
    int exponent = 0;
    return std::frexp(value, &exponent) == 0.5;
}

/// Gradients below 2^-25 are 0 in FP16, and most of a network's are small.
void fp16_without_scaler(const LintSubject& s, Findings& out) {
    if (!s.fp16() || s.scaled() || s.precision.has_recipe()) return;  // lint_recipe()
    const bool plain = s.precision.weights == WeightFormat::fp16 && !s.precision.master_weights;
    LintFinding finding{
        .id = "fp16-without-scaler",
        .severity = LintSeverity::warning,
        .sentence = msg("FP16 gradients without loss scaling"),
        .reason =
            msg("Gradients below 2⁻²⁵ become 0 in FP16, and weights with small gradients stop "
                "learning."),
        .handbook = "FP16 needs loss scaling",
        .fix = {"precision.scaler=dynamic"}};
    // Without master weights a dynamic scaler would unscale into FP16.
    if (plain)
        finding.fix = {"precision.scaler=static",
                       "scaler.init_scale=" + number_words(likely_static_scale),
                       "scaler.min_scale=0", "scaler.max_scale=0"};
    out.push_back(std::move(finding));
}

void scaler_without_fp16(const LintSubject& s, Findings& out) {
    if (s.fp16() || !s.scaled() || s.precision.has_recipe()) return;  // lint_recipe()
    out.push_back(
        {.id = "scaler-without-fp16",
         .severity = LintSeverity::note,
         .sentence = s.bf16() ? msg("A loss scaler with BF16") : msg("A loss scaler with FP32"),
         .reason = msg("BF16 and FP32 hold numbers down to about 1e-38, so nothing is lost "
                       "that a scale could save; the checks cost time."),
         .handbook = "BF16 and FP32 need no loss scaling",
         .fix = {"precision.scaler=off"}});
}

void interval_beyond_run(const LintSubject& s, Findings& out) {
    const std::int64_t interval = s.config.scaler.growth_interval;
    if (!s.dynamic() || s.steps == 0 || interval <= s.steps) return;
    out.push_back(
        {.id = "growth-interval-beyond-run",
         .severity = LintSeverity::note,
         .sentence = msg("The loss scale never grows: the growth interval is {} steps, the "
                         "run {}",
                         interval, s.steps),
         .reason = msg(
             "After an overflow the scale stays low to the end, and small gradients underflow."),
         .handbook = "The growth interval fits the run",
         .fix = {"scaler.growth_interval=" +
                 std::to_string(std::max<std::int64_t>(1, s.steps / 10))}});
}

void scale_no_power_of_two(const LintSubject& s, Findings& out) {
    const double scale = s.config.scaler.init_scale;
    if (!s.scaled() || is_power_of_two(scale)) return;
    const double below = power_of_two_below(scale);
    std::vector<std::string> fix = {"scaler.init_scale=" + number_words(below)};
    // The floor may not stand above it.
    if (s.config.scaler.min_scale > below) fix.push_back("scaler.min_scale=" + number_words(below));
    out.push_back(
        {.id = "scale-no-power-of-two",
         .severity = LintSeverity::warning,
         .sentence = msg("The initial loss scale, {}, is not a power of two", number_words(scale)),
         .reason = msg("A power of two changes only the exponent; any other scale rounds every "
                       "gradient twice."),
         .handbook = "Scales are powers of two",
         .fix = std::move(fix)});
}

void factors_no_power_of_two(const LintSubject& s, Findings& out) {
    const ScalerConfig& scaler = s.config.scaler;
    const bool exact =
        is_power_of_two(scaler.growth_factor) && is_power_of_two(scaler.backoff_factor);
    if (!s.dynamic() || exact) return;
    out.push_back(
        {.id = "factor-no-power-of-two",
         .severity = LintSeverity::note,
         .sentence =
             msg("Growth factor {} and backoff factor {} lead to scales that are not powers of two",
                 number_words(scaler.growth_factor), number_words(scaler.backoff_factor)),
         .reason = msg("A power of two changes only the exponent; any other scale rounds every "
                       "gradient twice."),
         .handbook = "Scales are powers of two",
         .fix = {"scaler.growth_factor=2", "scaler.backoff_factor=0.5"}});
}

/// A ceiling at the initial scale or a floor there leaves nothing to adapt.
void scale_cannot_move(const LintSubject& s, Findings& out) {
    const ScalerConfig& scaler = s.config.scaler;
    if (!s.dynamic()) return;
    if (scaler.min_scale > 0 && scaler.min_scale >= scaler.init_scale) {
        out.push_back({.id = "floor-at-initial-scale",
                       .severity = LintSeverity::warning,
                       .sentence = msg("The minimum loss scale is the initial one, {}",
                                       scale_words(scaler.init_scale)),
                       .reason = msg("The first overflow, which is normal while the scaler looks "
                                     "for a scale, ends the run."),
                       .handbook = "The scale has room to move",
                       .fix = {"scaler.min_scale=0"}});
    }
    if (scaler.max_scale > 0 && scaler.max_scale <= scaler.init_scale) {
        out.push_back({.id = "ceiling-at-initial-scale",
                       .severity = LintSeverity::note,
                       .sentence = msg("The maximum loss scale is the initial one, {}",
                                       scale_words(scaler.init_scale)),
                       .reason = msg("The scale can fall, but cannot rise to the higher value that "
                                     "later, smaller gradients need."),
                       .handbook = "The scale has room to move",
                       .fix = {"scaler.max_scale=0"}});
    }
}

/// A static scale above the usual one, by the settings alone. lint_measured() finds whether the
/// first gradients fit.
void static_scale_beyond_usual(const LintSubject& s, Findings& out) {
    const double scale = s.config.scaler.init_scale;
    const auto usual = static_cast<double>(usual_loss_scale);
    if (s.precision.scaler != ScalerMode::constant || !s.fp16() || scale <= usual) return;
    constexpr double largest_fp16 = 65504;
    out.push_back(
        {.id = "static-scale-beyond-usual",
         .severity = LintSeverity::warning,
         .sentence = msg("The static loss scale, {}, overflows with any gradient above {}",
                         scale_words(scale), figure_text(largest_fp16 / scale)),
         .reason = msg("A static scaler never skips: the update makes the weights NaN. "
                       "Lower the static scale to {} or use a dynamic one.",
                       scale_words(usual)),
         .handbook = "A static scale fits the largest gradient",
         .fix = {"scaler.init_scale=" + number_words(usual), "scaler.min_scale=0",
                 "scaler.max_scale=0"}});
}

}  // namespace

void lint_scaler(const LintSubject& subject, Findings& out) {
    fp16_without_scaler(subject, out);
    scaler_without_fp16(subject, out);
    interval_beyond_run(subject, out);
    scale_no_power_of_two(subject, out);
    factors_no_power_of_two(subject, out);
    scale_cannot_move(subject, out);
    static_scale_beyond_usual(subject, out);
}

}  // namespace engine
