#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <set>

#include "engine/base/json.h"
#include "engine/base/plain_text.h"
#include "engine/settings/catalog.h"
#include "models/model_descriptor.h"
#include "verdict/rules.h"

namespace engine {
namespace {

/// Tensor Cores read 16 bytes at once; blocks are padded to whole ones.
std::int64_t multiple_of(RecipeKind recipe) {
    switch (recipe) {
        case RecipeKind::none:
            return 8;
        case RecipeKind::fp8_block:
            return 128;
        case RecipeKind::mxfp8:
        case RecipeKind::nvfp4:
        case RecipeKind::mxfp4:
            return 32;
        default:
            return 16;
    }
}

/// Options that are sizes of layers, and not counts of them.
constexpr std::array sizes = {"hidden", "embedding", "width",  "feed_forward",
                              "code",   "latent",    "bottom", "top"};

std::int64_t rounded_up(std::int64_t value, std::int64_t to) { return (value + to - 1) / to * to; }

/// Names of layers whose products have a side that is no such multiple.
std::set<std::string> unaligned_layers(const Model& model, std::int64_t multiple) {
    std::set<std::string> names;
    for (const Parameter& each : model.parameters()) {
        const Tensor& weight = each.tensor;
        if (!each.autocast_low || weight.rank() < 2) continue;
        if (weight.size(0) % multiple != 0 || weight.size(1) % multiple != 0)
            names.insert(each.name.substr(0, each.name.rfind('.')));
    }
    return names;
}

std::int64_t whole_option(const Options& options, const char* name, std::int64_t otherwise) {
    const auto found = options.find(name);
    if (found == options.end()) return otherwise;
    const auto* value = std::get_if<std::int64_t>(&found->second);
    return value != nullptr ? *value : otherwise;
}

/// Sizes of layers rounded up, as changes of settings.
std::vector<std::string> aligned_sizes(const RunConfig& config, std::int64_t multiple) {
    std::vector<std::string> fix;
    const Options& options = config.model.options;
    const std::int64_t heads = std::max<std::int64_t>(1, whole_option(options, "heads", 1));
    for (const char* const name : sizes) {
        const auto found = options.find(name);
        if (found == options.end()) continue;
        const std::string path = std::string("model.options.") + name + "=";
        if (const auto* value = std::get_if<std::int64_t>(&found->second)) {
            const bool divided = std::string_view(name) == "width";
            const std::int64_t to = divided ? std::lcm(multiple, heads) : multiple;
            if (*value % to != 0) fix.push_back(path + std::to_string(rounded_up(*value, to)));
        }
        if (const auto* list = std::get_if<std::vector<std::int64_t>>(&found->second)) {
            std::vector<std::int64_t> up;
            for (const std::int64_t value : *list) up.push_back(rounded_up(value, multiple));
            if (up != *list) fix.push_back(path + "[" + join(up, ",") + "]");
        }
    }
    return fix;
}

std::string joined(const std::set<std::string>& names) {
    constexpr std::size_t most = 6;
    std::string out;
    std::size_t count = 0;
    for (const auto& name : names) {
        if (++count > most) return out + ", ...";
        out += (out.empty() ? "" : ", ") + name;
    }
    return out;
}

/// Share of products that padded sizes add.
double padding(const Model& model, std::int64_t multiple) {
    const auto up = [&](double size) {
        return static_cast<double>(rounded_up(static_cast<std::int64_t>(size), multiple));
    };
    double own = 0, padded = 0;
    for (const LinearShape& layer : linear_layers(model)) {
        own += layer.in * layer.out;
        padded += up(layer.in) * up(layer.out);
    }
    return own > 0 ? padded / own - 1 : 0;
}

/// Reports only layers that the fix aligns. Others, such as one that scores ten classes, cannot
/// change.
void unaligned_sizes(const LintSubject& s, Findings& out) {
    if (s.model == nullptr) return;
    const RecipeKind recipe = s.precision.recipe;
    const std::int64_t multiple = multiple_of(recipe);
    std::vector<std::string> fix = aligned_sizes(s.config, multiple);
    if (fix.empty()) return;
    const ParsedConfig changed = parse_run_config(to_json(s.config), fix);
    if (!changed.errors.empty()) return;
    const LintSubject after = make_subject(changed.config, s.context);
    if (after.model == nullptr) return;
    std::set<std::string> mended = unaligned_layers(*s.model, multiple);
    for (const auto& still : unaligned_layers(*after.model, multiple)) mended.erase(still);
    // An output layer keeps the side that is its classes, and gains the other.
    const std::string layers = mended.empty() ? s.config.model.kind : joined(mended);
    if (recipe != RecipeKind::none) {
        out.push_back(
            {.id = "fp8-multiples",
             .severity = LintSeverity::note,
             .sentence = msg("Layer sizes that are not multiples of {}: {}", multiple, layers),
             .reason = msg("A card pads the operands of such products with zeros, which costs "
                           "memory and {} % more products here.",
                           std::lround(100 * padding(*s.model, multiple))),
             .handbook = "Sizes are multiples of 8",
             .fix = std::move(fix)});
        return;
    }
    out.push_back({.id = "sizes-no-multiple-of-8",
                   .severity = LintSeverity::note,
                   .sentence = msg("Layer sizes that are not multiples of 8: {}", layers),
                   .reason = msg("Tensor Cores read 16-bit matrices in steps of 8; other sizes are "
                                 "padded or computed without them."),
                   .handbook = "Sizes are multiples of 8",
                   .fix = std::move(fix)});
}

void far_learning_rate(const LintSubject& s, Findings& out) {
    constexpr double far = 100;
    const LearningRate rate = learning_rate_of(s.config);
    if (!(rate.given > far * rate.usual)) return;
    out.push_back(
        {.id = "learning-rate-far-above-default",
         .severity = LintSeverity::warning,
         .sentence = msg("A learning rate of {} is over 100 times the usual {} of {}", rate.given,
                         rate.usual, rate.optimizer),
         .reason = msg("Hardly any network trains at such a rate: the first updates throw "
                       "the weights far off."),
         .handbook = "The loss falls in the first steps",
         .fix = {"optimizer.lr=" + number_words(rate.usual)}});
}

void probabilities_for_logits(const LintSubject& s, Findings& out) {
    if (!s.probabilities) return;
    const auto& [layer, line, without] = *s.probabilities;
    out.push_back({.id = "network-ends-in-probabilities",
                   .severity = LintSeverity::warning,
                   .sentence = msg("The network ends in {}, in line {}", layer, line),
                   .reason = msg("The loss takes logits and applies {} itself. After two of them "
                                 "gradients are small, and the network learns slowly.",
                                 layer),
                   .handbook = "Losses take logits",
                   .fix = {"model.network=" + nlohmann::json(without.all).dump()}});
}

void unaligned_batch(const LintSubject& s, Findings& out) {
    constexpr std::int64_t multiple = 8;
    const std::int64_t batch = s.config.batch_size;
    // Pixels and regions are the rows of a detector's products.
    const bool detector = model_descriptor(s.config.model)->output == ModelOutput::detections;
    if (batch % multiple == 0 || detector) return;
    out.push_back({.id = "batch-no-multiple-of-8",
                   .severity = LintSeverity::note,
                   .sentence = msg("The batch size, {}, is not a multiple of 8", batch),
                   .reason = msg("Tensor Cores read 16-bit matrices in steps of 8; other sizes are "
                                 "padded or computed without them."),
                   .handbook = "Sizes are multiples of 8",
                   .fix = {"batch_size=" + std::to_string(rounded_up(batch, multiple))}});
}

}  // namespace

LearningRate learning_rate_of(const RunConfig& config) {
    const OptimizerDescriptor* kind = find_kind(optimizers(), config.optimizer.kind);
    if (kind == nullptr) return {};
    return {TypedOptions(config.optimizer.options, kind->options).number("lr"),
            TypedOptions({}, kind->options).number("lr"), kind->title};
}

void lint_model(const LintSubject& subject, Findings& out) {
    far_learning_rate(subject, out);
    probabilities_for_logits(subject, out);
    if (!subject.context.gpu || !(subject.fp16() || subject.bf16())) return;
    unaligned_sizes(subject, out);
    unaligned_batch(subject, out);
}

}  // namespace engine
