#include "engine/verdict/lint.h"

#include <algorithm>
#include <cmath>

#include "data/dataset_descriptor.h"
#include "engine/base/error.h"
#include "engine/base/json.h"
#include "engine/data/dataset_preview.h"
#include "engine/number/figure_text.h"
#include "tasks/task_descriptor.h"
#include "train/run/training_batches.h"
#include "verdict/rules.h"

namespace engine {
namespace {

Schema schema_of(const RunConfig& config, const LintContext& context) {
    const bool read = context.data != nullptr && context.data->schema != nullptr;
    return read ? *context.data->schema
                : dataset_descriptor(config.dataset.kind).schema(config.dataset);
}

std::shared_ptr<const Model> shapes_of(const RunConfig& config, const LintContext& context) {
    try {
        const Schema schema = schema_of(config, context);
        return make_model(config.model, make_task(config, schema)->model_shape(), std::nullopt,
                          Device{});
    } catch (const std::exception&) {
        return nullptr;  // a model or task that does not fit the data: training says so
    }
}

/// The last layer of a network that the user wrote, for a task whose loss applies the softmax or sigmoid itself.
std::optional<FinalProbabilities> probabilities_of(const RunConfig& config, const LintContext& context) {
    try {
        const auto model = model_descriptor(config.model);
        if (!model->from_text) return {};
        const Schema schema = schema_of(config, context);
        const bool of_words = model->output == ModelOutput::token_scores ||
                              model->output == ModelOutput::masked_token_scores;
        if (!of_words && !task_of(config, schema).predicts_classes) return {};
        return final_probabilities(config.model, make_task(config, schema)->model_shape());
    } catch (const std::exception&) {
        return {};  // as in shapes_of()
    }
}

/// Whether a last batch of `rows` rows joins the one before it.
bool joins_last(const RunConfig& config, const LintContext& context, std::int64_t rows) {
    try {
        return rows < min_last_batch(config, schema_of(config, context), rows,
                                       static_cast<int>(config.workers));
    } catch (const std::exception&) {
        return false;  // as in shapes_of()
    }
}

/// Planned steps, as far as the settings and the data determine them.
std::int64_t planned_steps(const RunConfig& config, const LintContext& context) {
    std::int64_t steps = 0;
    const std::int64_t samples = context.data != nullptr ? context.data->train_samples : 0;
    if (samples > 0) {
        const bool text = context.data->text.has_value();
        const std::int64_t each = config.batch_size * (text ? config.bptt : 1);
        std::int64_t batches = (samples + each - 1) / each;
        const std::int64_t last = samples - (batches - 1) * each;
        if (!text && batches > 1 && joins_last(config, context, last)) --batches;
        steps = (batches + config.accumulate - 1) / config.accumulate * config.epochs;
    }
    if (config.max_steps > 0)
        steps = steps > 0 ? std::min(steps, config.max_steps) : config.max_steps;
    return steps;
}

}  // namespace

bool runs_on_gpu(const RunConfig& config, std::size_t cards) {
    return config.device.starts_with("cuda") || (config.device == "auto" && cards > 0);
}

LintSubject make_subject(const RunConfig& config, const LintContext& context) {
    return {config, resolve(config.precision), context, shapes_of(config, context),
            planned_steps(config, context), probabilities_of(config, context)};
}

bool is_quick_to_measure(const RunConfig& config, const LintContext& context) {
    constexpr double max_products = 1e10, steps = 10, passes = 3;
    if (!validate(config).empty()) return false;
    const auto model = shapes_of(completed(config), context);
    if (!model) return false;
    double weights = 0;
    for (const Parameter& each : model->parameters())
        weights += static_cast<double>(each.tensor.numel());
    const bool text = context.data != nullptr && context.data->text.has_value();
    const std::int64_t rows = config.batch_size * config.accumulate * (text ? config.bptt : 1);
    return passes * steps * weights * static_cast<double>(rows) <= max_products;
}

std::vector<LintFinding> lint(const RunConfig& config, const LintContext& context) {
    if (!validate(config).empty()) return {};
    const RunConfig whole = completed(config);
    const LintSubject subject = make_subject(whole, context);
    Findings out;
    lint_teach(subject, out);
    lint_scaler(subject, out);
    lint_precision(subject, out);
    lint_recipe(subject, out);
    lint_forced(subject, out);
    lint_model(subject, out);
    lint_detection(subject, out);
    lint_boxes(subject, out);
    std::ranges::stable_sort(out, std::greater<>(), &LintFinding::severity);
    return out;
}

ParsedConfig with_fix(const RunConfig& config, const LintFinding& finding) {
    return parse_run_config(to_json(config), finding.fix);
}

double power_of_two_below(double value) { return std::exp2(std::floor(std::log2(value))); }

std::string number_words(double value) { return nlohmann::json(value).dump(); }

std::string scale_words(double scale) {
    const double exponent = std::log2(scale);
    if (exponent == std::floor(exponent) && std::abs(exponent) >= 4) return power_text(scale);
    return number_words(scale);
}

std::string to_text(const LintFinding& finding) {
    std::string out = std::string(name(finding.severity)) + ": " + finding.sentence.str() + " [" +
                      finding.id + "]\n    " + finding.reason.str() + "\n    Fix it:";
    for (const auto& change : finding.fix) out += " --set " + change;
    return out + "\n    Handbook, hazards.md: " + finding.handbook + '\n';
}

std::string to_json_line(const LintFinding& finding) {
    const nlohmann::ordered_json object = {{"event", "finding"},
                                           {"id", finding.id},
                                           {"severity", name(finding.severity)},
                                           {"message", finding.sentence.str()},
                                           {"reason", finding.reason.str()},
                                           {"handbook", finding.handbook},
                                           {"fix", finding.fix}};
    return dumped(object);
}

}  // namespace engine
