#include "train/run/quantization_recorder.h"

#include <algorithm>
#include <cmath>

#include "engine/base/error.h"
#include "engine/number/figure_text.h"

namespace engine {
namespace {

/// Samples of a run at most: the interval grows with the steps that are planned.
constexpr std::int64_t max_samples = 2000;
/// Bytes of the counts of scale codes, which take far more than all else: samples without them lie
/// between.
constexpr std::int64_t max_scale_bytes = 16 << 20;
constexpr std::int64_t alarm_pause = 100;  // steps
constexpr std::int64_t stuck_steps = 50;

std::string format_word(kernels::FloatLayout layout) {
    return 'e' + std::to_string(layout.exponent_bits) + 'm' + std::to_string(layout.fraction_bits);
}

const char* role_of(ProductOperand operand) {
    constexpr const char* roles[] = {"x", "w", "g"};
    return roles[static_cast<std::size_t>(operand)];
}

QuantizationSlot slot_of(const OperandSample& sample) {
    const char* const sums_over = sample.along == Contraction::cols ? "columns" : "rows";
    return {.module = sample.module,
            .role = role_of(sample.operand),
            .orientation = sample.casts.one_set ? "both" : sums_over,
            .rows = sample.casts.rows,
            .cols = sample.casts.cols,
            .format = format_word(sample.layout),
            .engine = "emulated",
            .reason = "a CPU has no products of 8 and 4 bits"};
}

QuantizationRow row_of(const CastSample& in) {
    return {.amax = in.amax,
            .scale = in.scale,
            .block_scale_min = in.block_scale_min,
            .block_scale_max = in.block_scale_max,
            .history_max = in.history_max,
            .current_scale = in.current_scale,
            .scale_floor = in.scale_floor,
            .zero_blocks = in.zero_blocks,
            .elements = in.elements,
            .nonzero = in.nonzero,
            .zeroed = in.zeroed,
            .saturated = in.saturated,
            .subnormal = in.subnormal,
            .nonfinite = in.nonfinite,
            .error2 = in.error2,
            .signal2 = in.signal2,
            .noise2 = in.noise2};
}

const char* basis_word(ScaleBasis rule) {
    constexpr const char* words[] = {"tensor",      "tensor, earlier steps",    "vector", "block",
                                     "block, E8M0", "block, E4M3 of a tensor's"};
    return words[static_cast<std::size_t>(rule)];
}

const char* mx_word(kernels::MxRule rule) {
    constexpr const char* words[] = {"rceil", "floor", "ceil", "even"};
    return words[static_cast<std::size_t>(rule)];
}

std::vector<std::pair<std::string, std::string>> settings_of(const Recipe& recipe) {
    const auto flag = [](bool on) { return on ? "true" : "false"; };
    std::vector<std::pair<std::string, std::string>> out{{"forward", format_word(recipe.forward)},
                                                         {"gradient", format_word(recipe.gradient)},
                                                         {"scale", basis_word(recipe.rule)}};
    if (recipe.block > 0) out.emplace_back("block", std::to_string(recipe.block));
    if (recipe.rule == ScaleBasis::delayed) {
        out.emplace_back("history", std::to_string(recipe.history));
        out.emplace_back("history_algorithm", recipe.newest ? "most-recent" : "max");
        out.emplace_back("margin", std::to_string(recipe.margin));
        out.emplace_back("first_scale", recipe.measures_first ? "current" : "one");
    }
    if (recipe.rule == ScaleBasis::mx) out.emplace_back("mx_scale", mx_word(recipe.mx_rule));
    const bool chooses_powers = recipe.rule == ScaleBasis::tensor ||
                                recipe.rule == ScaleBasis::row || recipe.rule == ScaleBasis::block;
    if (chooses_powers) out.emplace_back("power_of_2_scales", flag(recipe.powers_of_two));
    out.emplace_back("square_weights", flag(recipe.square_weights));
    out.emplace_back("random_gradients", flag(recipe.random_gradients));
    out.emplace_back("rotates_rows", flag(recipe.rotates_rows));
    out.emplace_back("non_finite", recipe.saturates ? "saturate" : "propagate");
    out.emplace_back("evaluate", flag(recipe.evaluates));
    if (recipe.has_tensor_scales()) out.emplace_back("convolutions", flag(recipe.convolutions));
    if (recipe.fixed_scale != 0)
        out.emplace_back("fixed_scale",
                         short_figure_text(static_cast<double>(recipe.fixed_scale), 6));
    if (recipe.sum_bits != 0) out.emplace_back("accumulator_bits", std::to_string(recipe.sum_bits));
    return out;
}

Message alarm_text(const ScaleAlarm& alarm, const Recipe& recipe) {
    const std::string where = alarm.module + '.' + alarm.role;
    const std::string percent = short_figure_text(100 * alarm.value, 3);
    switch (alarm.kind) {
        using enum ScaleAlarm::Kind;
        case saturated:
            return recipe.rule == ScaleBasis::delayed
                       ? msg("{}: {} % of the values saturate at step {}. The scale follows "
                             "earlier steps; fp8-current measures each step.",
                             where, percent, alarm.step)
                       : msg("{}: {} % of the values saturate at step {}. Keep this layer in bf16 "
                             "with precision.force.",
                             where, percent, alarm.step);
        case zeroed:
            return recipe.block > 0
                       ? msg("{}: {} % of the non-zero values became 0 at step {}. Keep this layer "
                             "in bf16 with precision.force.",
                             where, percent, alarm.step)
                       : msg("{}: {} % of the non-zero values became 0 at step {}. A recipe with a "
                             "scale for each block keeps more of them.",
                             where, percent, alarm.step);
        case stuck:
            return msg(
                "{}: its scale has been off by more than a factor of 4 for {} steps, now {}. "
                "An old outlier holds it; fp8-current measures each step.",
                where, stuck_steps, short_figure_text(alarm.value, 3));
        case nonfinite:
            return msg(
                "{}: {} values were NaN or infinite at step {}. halftone skips finds where "
                "they began.",
                where, static_cast<std::int64_t>(alarm.value), alarm.step);
        case noise:
            break;
    }
    return msg(
        "{}: at step {} the gradient is only {} times its rounding noise; below 1.7 such "
        "gradients stop helping. Keep this layer in bf16 with precision.force.",
        where, alarm.step, short_figure_text(alarm.value, 3));
}

}  // namespace

/// The scales of nvfp4's blocks are rounded to nearest, so in about half the blocks the largest
/// gradients lie just above 6, where rounding at random stops; after a rotation that can be all of
/// a block. None is cut by more than a rounding of its scale.
double ScaleWatchdog::most_saturated(const QuantizationSlot& slot) const {
    const bool usual = recipe_.rule == ScaleBasis::nvfp4 && recipe_.random_gradients;
    return usual && slot.role == "g" ? 1 : 0.001;
}

double ScaleWatchdog::most_zeroed(const QuantizationSlot& slot) const {
    if (slot.role == "g") return 0.25;
    return recipe_.forward.exponent_bits == 2 ? 0.15 : 0.05;
}

std::optional<ScaleAlarm> ScaleWatchdog::judge(const QuantizationSlot& slot,
                                               const QuantizationRow& row) {
    const auto alarm = [&](ScaleAlarm::Kind kind, double value) {
        return ScaleAlarm{{}, row.step, slot.module, slot.role, kind, value, {}};
    };
    if (row.nonfinite > 0)
        return alarm(ScaleAlarm::Kind::nonfinite, static_cast<double>(row.nonfinite));
    if (row.saturated_share() > most_saturated(slot))
        return alarm(ScaleAlarm::Kind::saturated, row.saturated_share());
    if (row.zeroed_share() > most_zeroed(slot))
        return alarm(ScaleAlarm::Kind::zeroed, row.zeroed_share());
    const double ratio = std::sqrt(row.signal2 / row.noise2);
    if (slot.role == "g" && row.noise2 > 0 && ratio < std::sqrt(3.0))
        return alarm(ScaleAlarm::Kind::noise, ratio);
    std::int64_t& since = off_since_.try_emplace(slot.name(), 0).first->second;
    const double off = static_cast<double>(row.current_scale) / static_cast<double>(row.scale);
    const bool is_off = is_delayed() && row.amax > 0 && (off > 4 || off < 0.25);
    if (!is_off)
        since = 0;
    else if (since == 0)
        since = row.step;
    if (is_off && row.step - since >= stuck_steps) return alarm(ScaleAlarm::Kind::stuck, off);
    return std::nullopt;
}

std::optional<ScaleAlarm> ScaleWatchdog::see(const QuantizationSlot& slot,
                                             const QuantizationRow& row) {
    std::optional<ScaleAlarm> out = judge(slot, row);
    if (!out) return out;
    const auto [last, first_time] = reported_.try_emplace(slot.name(), row.step);
    if (!first_time && row.step - last->second < alarm_pause) return std::nullopt;
    last->second = row.step;
    out->hint = alarm_text(*out, recipe_);
    return out;
}

QuantizationRecorder::QuantizationRecorder(const RunConfig& config, Trainer& trainer,
                                           std::int64_t steps_planned,
                                           const RunStore::NewRun& place, PostEvent post)
    : config_(config),
      trainer_(trainer),
      every_(config.instruments.quantization_every),
      place_(place),
      post_(std::move(post)) {
    const std::int64_t least = (steps_planned + max_samples - 1) / max_samples;
    if (every_ == 0) return;
    every_ = std::max(every_, least);
    samples_planned_ = 1 + steps_planned / every_;
}

RunRequest QuantizationRecorder::before_step(std::int64_t steps, std::int64_t) {
    const std::int64_t next = steps + 1;
    trainer_.quantized()->examine_next(!failed_ && every_ > 0 && (next == 1 || next % every_ == 0));
    return {};
}

void QuantizationRecorder::after_step() {
    if (!std::exchange(reported_, true)) report_products();
    const std::vector<OperandSample>& samples = trainer_.quantized()->samples();
    if (samples.empty()) return;
    try {
        keep(samples);
    } catch (const Error& error) {
        failed_ = true;
        post_(RunWarning{
            {},
            msg("The run keeps no further figures of its casts: {}", error.message().str()),
            trainer_.steps()});
    }
}

ScaleWatchdog& QuantizationRecorder::watchdog(const std::string& module) {
    const QuantizedLayers& layers = *trainer_.quantized();
    const auto found = watchdogs_.find(module);
    if (found != watchdogs_.end()) return found->second;
    const std::optional<Recipe> own = layers.plan().find(module);
    return watchdogs_.emplace(module, ScaleWatchdog(own ? *own : layers.recipe())).first->second;
}

void QuantizationRecorder::thin_scales(std::size_t counts) {
    const auto bytes = static_cast<std::int64_t>(counts * sizeof(ScaleCodeCount));
    next_scales_ = samples_ + 1 + bytes * samples_planned_ / max_scale_bytes;
}

void QuantizationRecorder::keep(const std::vector<OperandSample>& samples) {
    if (!writer_) writer_.emplace(place_.folder);
    const bool counts_scales = samples_ >= next_scales_;
    std::vector<QuantizationRow> rows;
    std::vector<ScaleCodeCount> scales;
    for (const OperandSample& sample : samples) {
        const QuantizationSlot slot = slot_of(sample);
        QuantizationRow& row = rows.emplace_back(row_of(sample.casts));
        row.step = trainer_.steps();
        row.slot = writer_->place_of(slot);
        for (std::size_t code = 0; counts_scales && code < sample.casts.scale_codes.size(); ++code)
            if (sample.casts.scale_codes[code] > 0)
                scales.push_back({row.step, row.slot, static_cast<std::int32_t>(code),
                                  sample.casts.scale_codes[code]});
        if (const auto alarm = watchdog(sample.module).see(slot, row)) post_(*alarm);
    }
    if (counts_scales) thin_scales(scales.size());
    ++samples_;
    writer_->append(rows, scales);
}

namespace {

/// Why a module's products stay in autocast's type.
std::string why_kept(const std::string& module, const Model& model, const RecipePlan& plan) {
    const auto holds = [&](const std::string& outer) {
        return module.starts_with(outer) &&
               (module.size() == outer.size() || module[outer.size()] == '.');
    };
    if (std::ranges::any_of(plan.forced, [&](const auto& each) { return holds(each.first); }))
        return "precision.force";
    if (module.empty() || std::ranges::any_of(model.heads, holds)) return "output layer";
    if (std::ranges::any_of(model.blocks, holds)) return "block that the settings keep";
    return "structure";
}

QuantizedProduct product_of(const MetLayer& met, const std::string& low) {
    using enum LayerProduct;
    QuantizedProduct out{.module = met.module};
    const auto type = [&](LayerProduct product) {
        if (met.layer == nullptr || !met.layer->quantizes(product)) return low;
        const Recipe& recipe = met.layer->recipe();
        const std::string own = format_word(recipe.forward),
                          gradient = format_word(recipe.gradient);
        return (product == forward ? own : gradient) + " x " + own;
    };
    out.fprop = type(forward);
    out.dgrad = type(input_gradient);
    out.wgrad = type(weight_gradient);
    return out;
}

}  // namespace

void QuantizationRecorder::report_products() {
    const QuantizedLayers& layers = *trainer_.quantized();
    const ResolvedPrecision precision = resolve(config_.precision);
    const std::string low =
        precision.autocast == AutocastFormat::off ? "fp32" : word_of(precision.autocast);
    RecipeStarted out{};
    out.step = trainer_.steps();
    out.recipe = word_of(precision.recipes().front());
    out.settings = settings_of(layers.recipe());
    for (const MetLayer& met : layers.met()) {
        QuantizedProduct& product = out.products.emplace_back(product_of(met, low));
        const bool whole = product.fprop != low && product.dgrad != low && product.wgrad != low;
        ++(met.layer != nullptr ? out.quantised : out.kept);
        if (met.layer == nullptr) {
            product.engine = "native";
            product.reason = why_kept(met.module, trainer_.model(), layers.plan());
        } else if (!whole) {
            product.reason = "quantize.skip, or the recipe";
        }
    }
    post_(std::move(out));
}

}  // namespace engine
