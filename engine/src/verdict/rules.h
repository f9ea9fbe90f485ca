#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "engine/verdict/lint.h"
#include "models/network_model.h"

namespace engine {

/// The settings and what follows from them.
struct LintSubject {
    const RunConfig& config;  ///< completed
    ResolvedPrecision precision;
    LintContext context;
    std::shared_ptr<const Model> model;  ///< its shapes; null where it cannot be built
    std::int64_t steps = 0;              ///< of the run; 0: not known
    std::optional<FinalProbabilities> probabilities{};  ///< of a network whose loss takes logits

    bool fp16() const { return precision.computes_in_fp16(); }
    bool bf16() const { return precision.autocast == AutocastFormat::bf16; }
    bool scaled() const { return precision.scaler != ScalerMode::off; }
    bool dynamic() const { return precision.scaler == ScalerMode::dynamic; }
};

/// Throws nothing for settings that are valid.
LintSubject make_subject(const RunConfig& config, const LintContext& context);

using Findings = std::vector<LintFinding>;

// Each rule adds at most a few findings.
void lint_scaler(const LintSubject& subject, Findings& out);
void lint_precision(const LintSubject& subject, Findings& out);
void lint_recipe(const LintSubject& subject, Findings& out);
void lint_forced(const LintSubject& subject, Findings& out);
void lint_model(const LintSubject& subject, Findings& out);
void lint_detection(const LintSubject& subject, Findings& out);
void lint_boxes(const LintSubject& subject, Findings& out);
void lint_teach(const LintSubject& subject, Findings& out);

/// A matrix product with a weight, apart from those of the output layer.
struct LinearShape {
    std::string layer;
    double out = 0, in = 0;
};
std::vector<LinearShape> linear_layers(const Model& model);

/// Rate of the settings, and the default of their optimizer.
struct LearningRate {
    double given = 0, usual = 0;
    std::string optimizer;  ///< its title
};
LearningRate learning_rate_of(const RunConfig& config);

/// The power of two that is nearest to a positive number from below.
double power_of_two_below(double value);
/// "2¹⁶", or the number.
std::string scale_words(double scale);
/// "0.001": as settings are written.
std::string number_words(double value);

}  // namespace engine
