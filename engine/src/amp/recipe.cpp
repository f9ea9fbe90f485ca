#include "amp/recipe.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <optional>
#include <utility>

#include "engine/base/error.h"
#include "tensor/layout.h"
#include "tensor/philox.h"
#include "tensor/tape.h"

namespace engine {
namespace {

using kernels::BlockRange;
using kernels::Blocks;

constexpr std::uint8_t nan_scale = 0xff;

/// The code of the inverse of a scale that is a power of two.
std::uint32_t inverse_code(float scale) {
    return 254u - (std::bit_cast<std::uint32_t>(scale) >> 23);
}

std::uint32_t scale_code(const Recipe& recipe, float amax, kernels::FloatLayout layout) {
    switch (recipe.rule) {
        case ScaleBasis::row:
            return inverse_code(kernels::row_scale(amax, layout));
        case ScaleBasis::mx:
            return kernels::mx_scale_code(amax, layout, recipe.mx_rule);
        default:
            return inverse_code(kernels::tensor_scale(amax, layout, true));
    }
}

/// The range of the finite values of a tensor whose scale is not its blocks'.
BlockRange range_of_all(std::span<const BlockRange> ranges) {
    BlockRange all;
    for (const BlockRange& each : ranges) {
        all.amax = std::max(all.amax, each.amax);
        all.nonfinite |= each.nonfinite;
    }
    return all;
}

/// Scales of blocks: their codes, the factors before the cast, and the exponents.
void set_scales(QuantizedMatrix& out, const Recipe& recipe, std::span<const BlockRange> ranges,
                std::vector<float>& factors) {
    out.scales = Tensor::empty({out.blocks.count()}, DType::u8, Device{});
    auto* const scales = out.scales.data_as<std::uint8_t>();
    int top = -128, bottom = 128;
    for (std::size_t i = 0; i < ranges.size(); ++i) {
        const std::uint32_t code =
            ranges[i].nonfinite ? nan_scale : scale_code(recipe, ranges[i].amax, out.layout);
        scales[i] = static_cast<std::uint8_t>(code);
        factors[i] = kernels::mx_scale(code);
        if (ranges[i].nonfinite || ranges[i].amax == 0) continue;
        top = std::max(top, static_cast<int>(code) - 127);
        bottom = std::min(bottom, static_cast<int>(code) - 127);
    }
    if (bottom > top) top = bottom = 0;  // all zeros
    out.top = top;
    out.span = top - bottom;
}

}  // namespace

Blocks Recipe::blocks(std::int64_t rows, std::int64_t cols, ProductOperand operand,
                      Contraction along) const {
    Blocks out{rows, cols, rows, cols};
    if (rule == ScaleBasis::tensor || rule == ScaleBasis::delayed) return out;
    const std::int64_t length = rule == ScaleBasis::row ? std::max(rows, cols) : block;
    const std::int64_t width = operand == ProductOperand::weight && square_weights ? length : 1;
    out.block_rows = std::min(rows, along == Contraction::rows ? length : width);
    out.block_cols = std::min(cols, along == Contraction::cols ? length : width);
    return out;
}

namespace {

/// NVFP4: the scale of the whole from its amax, and an E4M3 code of each block.
void set_two_levels(QuantizedMatrix& out, std::span<const BlockRange> ranges, float amax,
                    std::vector<float>& factors) {
    constexpr std::uint32_t nan_code = 0x7f;
    const kernels::Nvfp4Scale scale(amax);
    out.scales = Tensor::empty({out.blocks.count()}, DType::u8, Device{});
    out.two_levels = true;
    out.inverse = amax == 0 ? 2688.0f : amax;
    auto* const scales = out.scales.data_as<std::uint8_t>();
    for (std::size_t i = 0; i < ranges.size(); ++i) {
        const std::uint32_t code = ranges[i].nonfinite ? nan_code : scale.block_code(ranges[i].amax);
        scales[i] = static_cast<std::uint8_t>(code);
        // The values of such a block are 0 with any code; the code 0 counts them as zeroed.
        factors[i] = code == 0 ? 0 : scale.encode(code);
    }
}

}  // namespace

Tensor QuantizedMatrix::values(DType type, int shift) const {
    const Tensor y = Tensor::empty(codes.shape(), type, codes.device());
    std::vector<float> factors(static_cast<std::size_t>(blocks.count()), 1.0f);
    if (scales.defined()) {
        const auto* const own = scales.data_as<std::uint8_t>();
        for (std::size_t i = 0; i < factors.size(); ++i)
            factors[i] = two_levels ? kernels::from_small_float(own[i], kernels::fp8_e4m3_layout)
                         : own[i] == nan_scale ? kernels::from_e8m0(nan_scale)
                                               : std::ldexp(1.0f, int{own[i]} - 127 - shift);
    }
    kernels::cpu::decode_blocks({y.data(), type, blocks.rows, blocks.cols, blocks.cols},
                                codes.data_as<std::uint8_t>(), blocks, factors.data(), layout);
    return y;
}

void DelayedScale::measured(const BlockRange& range) {
    step_.amax = std::max(step_.amax, range.amax);
    step_.nonfinite |= range.nonfinite;
}

void DelayedScale::update() {
    const BlockRange step = std::exchange(step_, {});
    if (step.amax == 0 || step.nonfinite) return;
    history_[next_] = step.amax;
    next_ = (next_ + 1) % history_.size();
    scale_ = kernels::tensor_scale(std::ranges::max(history_), layout_, false);
}

std::vector<float> DelayedScale::history() const {
    std::vector<float> out = history_;
    std::ranges::rotate(out, out.begin() + static_cast<std::ptrdiff_t>(next_));
    return out;
}

void DelayedScale::restore(float scale, const std::vector<float>& history) {
    const auto possible = [](float size) { return size >= 0 && std::isfinite(size); };
    if (history.size() != history_.size() || scale == 0 || !possible(scale) ||
        !std::ranges::all_of(history, possible))
        return;
    scale_ = scale;
    history_ = history;
    next_ = 0;
}

QuantizedLayer::QuantizedLayer(const Recipe& recipe, const RoundingDraws& draws,
                               std::uint64_t place)
    : recipe_(recipe), draws_(draws), place_(place) {
    if (recipe.rule != ScaleBasis::delayed) return;
    for (const auto operand :
         {ProductOperand::input, ProductOperand::weight, ProductOperand::gradient})
        delayed_.emplace_back(recipe.layout(operand), recipe.history);
}

float QuantizedLayer::delayed_scale(ProductOperand operand) const {
    return delayed_.empty() ? 0 : delayed_[static_cast<std::size_t>(operand)].scale();
}

void CastFigures::add(const CastFigures& other) {
    counts.nonzero += other.counts.nonzero;
    counts.zeroed += other.counts.zeroed;
    counts.saturated += other.counts.saturated;
    counts.nonfinite += other.counts.nonfinite;
    elements += other.elements;
    headroom = std::min(headroom, other.headroom);
}

void QuantizedLayer::note(ProductOperand operand, Contraction along, const Cast& made) {
    if (inference_mode() || recomputing()) return;
    const auto index = static_cast<std::size_t>(operand);
    step_[index].add(made.figures);
    if (made.sample) samples_[2 * index + static_cast<std::size_t>(along)].add(*made.sample);
    if (!delayed_.empty()) delayed_[index].measured(made.range);
}

/// The scales of `out`, and the factors of its blocks before the cast.
void QuantizedLayer::set_factors(QuantizedMatrix& out, ProductOperand operand,
                                 std::span<const BlockRange> ranges, float amax,
                                 std::vector<float>& factors) const {
    if (recipe_.rule == ScaleBasis::nvfp4) return set_two_levels(out, ranges, amax, factors);
    if (recipe_.rule != ScaleBasis::tensor && recipe_.rule != ScaleBasis::delayed)
        return set_scales(out, recipe_, ranges, factors);
    factors.front() = delayed_.empty() ? kernels::tensor_scale(amax, out.layout, false)
                                       : delayed_scale(operand);
    out.inverse = 1.0f / factors.front();
}

/// Also sets the scales.
QuantizedLayer::Cast QuantizedLayer::measure(QuantizedMatrix& out, const Tensor& x,
                                             ProductOperand operand,
                                             std::vector<float>& factors) const {
    std::vector<BlockRange> ranges(factors.size());
    kernels::cpu::block_ranges(
        ranges.data(),
        {x.data(), x.dtype(), out.blocks.rows, out.blocks.cols, out.blocks.cols}, out.blocks);
    Cast made{.range = range_of_all(ranges), .figures = {}};
    set_factors(out, operand, ranges, made.range.amax, factors);
    float most = 0;
    for (std::size_t i = 0; i < ranges.size(); ++i)
        if (!std::isnan(factors[i])) most = std::max(most, factors[i] * ranges[i].amax);
    made.figures.elements = x.numel();
    made.figures.headroom = std::log2(kernels::largest_value(out.layout) / most);
    return made;
}

/// The words of the next cast of a gradient in this step.
kernels::RandomRoundingWords QuantizedLayer::draw(ProductOperand operand, Contraction along) {
    const auto direction = static_cast<std::uint64_t>(along);
    const std::uint64_t micro_batch = casts_[direction]++;
    const std::uint64_t slot = 3 * place_ + static_cast<std::uint64_t>(operand);
    return {RandomStream(draws_.seed, StreamId::rounding, static_cast<std::uint32_t>(draws_.step)),
            ((micro_batch * draws_.operands + slot) * 2 + direction) << 34};
}

namespace {

/// x rotated, in bf16.
Tensor rotated(const Tensor& x) {
    const std::int64_t rows = (x.size(0) + 15) / 16 * 16, cols = x.size(1);
    const Tensor y = Tensor::empty({rows, cols}, DType::bf16, x.device());
    kernels::cpu::rotate_rows({y.data(), y.dtype(), rows, cols, cols},
                              {x.data(), x.dtype(), x.size(0), cols, cols});
    return y;
}

}  // namespace

QuantizedMatrix QuantizedLayer::cast(const Tensor& x0, ProductOperand operand, Contraction along,
                                     Cast& made) {
    Tensor x = in_layout(x0, Layout::contiguous);
    const bool weight = operand == ProductOperand::weight;
    if (recipe_.rotates_rows && !weight && along == Contraction::rows) x = rotated(x);
    const std::int64_t rows = x.size(0), cols = x.size(1);
    QuantizedMatrix out{.layout = recipe_.layout(operand),
                        .blocks = recipe_.blocks(rows, cols, operand, along)};
    std::vector<float> factors(static_cast<std::size_t>(out.blocks.count()));
    made = measure(out, x, operand, factors);
    out.codes = Tensor::empty({rows, cols}, DType::u8, x.device());
    std::optional<kernels::RandomRoundingWords> words;
    if (recipe_.random_gradients && operand == ProductOperand::gradient)
        words = draw(operand, along);
    made.figures.counts = kernels::cpu::quantize_blocks(
        out.codes.data_as<std::uint8_t>(), {x.data(), x.dtype(), rows, cols, cols}, out.blocks,
        factors.data(), out.layout, words ? &*words : nullptr);
    made.sample.reset();
    if (draws_.examines && !inference_mode() && !recomputing())
        made.sample = examined(x, out, operand, factors, made.figures);
    return out;
}

CastSample QuantizedLayer::examined(const Tensor& x, const QuantizedMatrix& codes,
                                    ProductOperand operand, std::span<const float> factors,
                                    const CastFigures& figures) const {
    const bool at_random = recipe_.random_gradients && operand == ProductOperand::gradient;
    CastSample out = examine_cast(x, codes, factors, at_random);
    out.one_set = recipe_.has_one_set(operand);
    out.nonzero = figures.counts.nonzero;
    out.zeroed = figures.counts.zeroed;
    out.saturated = figures.counts.saturated;
    if (!delayed_.empty())
        out.history_max =
            std::ranges::max(delayed_[static_cast<std::size_t>(operand)].history());
    return out;
}

std::vector<OperandSample> QuantizedLayer::take_samples() {
    std::vector<OperandSample> out;
    for (std::size_t i = 0; i < samples_.size(); ++i) {
        CastSample casts = std::exchange(samples_[i], {});
        if (casts.elements == 0) continue;
        const auto operand = static_cast<ProductOperand>(i / 2);
        out.push_back({{}, operand, static_cast<Contraction>(i % 2), recipe_.layout(operand),
                       std::move(casts)});
    }
    return out;
}

StepCasts QuantizedLayer::end_step() {
    std::ranges::fill(casts_, 0);
    for (DelayedScale& each : delayed_) each.update();
    return std::exchange(step_, {});
}

QuantizedMatrix QuantizedLayer::quantize(const Tensor& x, ProductOperand operand,
                                         Contraction along) {
    Cast made;
    QuantizedMatrix out = cast(x, operand, along, made);
    note(operand, along, made);
    return out;
}

QuantizedMatrix QuantizedLayer::weight(const Tensor& weight, Contraction along) {
    constexpr auto operand = ProductOperand::weight;
    if (recipe_.has_one_set(operand)) along = Contraction::cols;
    CachedWeight& cached = weights_[static_cast<std::size_t>(along)];
    const float scale = delayed_scale(operand);
    const TensorImpl& source = *weight.impl();
    const bool valid = cached.source.lock() == source.storage && cached.offset == source.offset &&
                       cached.version == weight.version() && cached.scale == scale &&
                       cached.codes.blocks.rows == weight.size(0) &&
                       (!draws_.examines || cached.examined_in == draws_.step);
    if (!valid) {
        const UseScope use(MemoryUse::cast_cache);
        cached.codes = cast(weight, operand, along, cached.cast);
        cached.source = source.storage;
        cached.offset = source.offset;
        cached.version = weight.version();
        cached.scale = scale;
        if (cached.cast.sample) cached.examined_in = draws_.step;
    }
    note(operand, along, cached.cast);
    cached.cast.sample.reset();
    return cached.codes;
}

std::shared_ptr<QuantizedLayer> QuantizedLayers::find(std::string_view module) {
    if (const auto found = layers_.find(module); found != layers_.end()) return found->second;
    const auto holds = [module](const std::string& outer) {
        return module.starts_with(outer) &&
               (module.size() == outer.size() || module[outer.size()] == '.');
    };
    const bool kept = module.empty() || std::ranges::any_of(kept_, holds);
    const auto place = std::ranges::find(modules_, module) - modules_.begin();
    auto layer = kept ? nullptr
                      : std::make_shared<QuantizedLayer>(recipe_, draws_,
                                                         static_cast<std::uint64_t>(place));
    if (layer != nullptr) restore(std::string(module), *layer);
    return layers_.emplace(module, std::move(layer)).first->second;
}

namespace {

constexpr const char* operand_names[] = {"x", "w", "g"};

Tensor as_tensor(const std::vector<float>& values) {
    const Tensor out = Tensor::empty({std::ssize(values)}, DType::f32, Device{});
    std::ranges::copy(values, out.data_as<float>());
    return out;
}

std::vector<float> as_numbers(const TensorMap& from, const std::string& name) {
    const auto found = from.find(name);
    if (found == from.end() || found->second.dtype() != DType::f32) return {};
    const auto* const first = found->second.data_as<float>();
    return {first, first + found->second.numel()};
}

/// f(name, scale) for the delayed scales of a layer.
template <class F>
void for_each_scale(const std::string& module, QuantizedLayer& layer, const F& f) {
    for (std::size_t i = 0; i < layer.delayed().size(); ++i)
        f(module + '.' + operand_names[i], layer.delayed()[i]);
}

}  // namespace

TensorMap QuantizedLayers::saved_state() const {
    TensorMap out = loaded_;
    for (const auto& [module, layer] : layers_) {
        if (layer == nullptr) continue;
        for_each_scale(module, *layer, [&](const std::string& name, const DelayedScale& scale) {
            out[name + ".scale"] = as_tensor({scale.scale()});
            out[name + ".history"] = as_tensor(scale.history());
        });
    }
    return out;
}

void QuantizedLayers::load_state(const TensorMap& saved, std::int64_t steps) {
    loaded_ = recipe_.rule == ScaleBasis::delayed ? saved : TensorMap();
    draws_.step = steps;
    layers_.clear();  // find() makes them again
    casts_ = {};
}

void QuantizedLayers::restore(const std::string& module, QuantizedLayer& layer) const {
    for_each_scale(module, layer, [&](const std::string& name, DelayedScale& scale) {
        const std::vector<float> value = as_numbers(loaded_, name + ".scale");
        if (value.size() == 1) scale.restore(value.front(), as_numbers(loaded_, name + ".history"));
    });
}

void QuantizedLayers::end_step() {
    if (std::ranges::all_of(layers_, [](const auto& each) { return each.second == nullptr; }))
        throw Error(ErrorCode::settings,
                    msg("This model has no product that a recipe covers: a linear layer beside its "
                        "output layer."),
                    msg("Use a precision without a recipe."));
    casts_ = {};
    samples_.clear();
    for (const auto& [module, layer] : layers_) {
        if (layer == nullptr) continue;
        for (OperandSample& each : layer->take_samples()) {
            each.module = module;
            samples_.push_back(std::move(each));
        }
        const StepCasts step = layer->end_step();
        for (std::size_t i = 0; i < step.size(); ++i) casts_[i].add(step[i]);
    }
    ++draws_.step;
    draws_.examines = false;
}

float QuantizedLayers::kept_share() const {
    const auto kept = std::ranges::count_if(layers_, [](const auto& each) { return !each.second; });
    return static_cast<float>(kept) / static_cast<float>(layers_.size());
}

std::vector<MetLayer> QuantizedLayers::met() const {
    std::vector<MetLayer> out;
    for (const auto& [module, layer] : layers_) out.push_back({module, layer != nullptr});
    return out;
}

}  // namespace engine
