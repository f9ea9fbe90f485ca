#include "amp/recipe.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <optional>
#include <utility>

#include "tensor/cast.h"
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

/// The scale of a row or a block of FP8.
float f32_scale(const Recipe& recipe, float amax, kernels::FloatLayout layout) {
    if (std::isinf(amax)) return 1;
    constexpr float least_of_rows = 1e-12f;  // torchao's
    if (recipe.rule == ScaleBasis::row) amax = std::max(amax, least_of_rows);
    return kernels::tensor_scale(amax, layout, recipe.powers_of_two);
}

std::uint32_t scale_code(const Recipe& recipe, float amax, kernels::FloatLayout layout) {
    if (recipe.rule != ScaleBasis::mx) return inverse_code(f32_scale(recipe, amax, layout));
    return std::isinf(amax) ? inverse_code(1) : kernels::mx_scale_code(amax, layout, recipe.mx_rule);
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

/// Whether the scale of a block is NaN. In rows, as in a tensor, the values alone are not finite.
bool is_nan_block(const Recipe& recipe, const BlockRange& range) {
    return range.nonfinite && !recipe.saturates && recipe.rule != ScaleBasis::row;
}

/// Scales of blocks: their codes, the factors before the cast, and the exponents.
void set_scales(QuantizedMatrix& out, const Recipe& recipe, std::span<const BlockRange> ranges,
                std::vector<float>& factors) {
    out.scales = Tensor::empty({out.blocks.count()}, DType::u8, Device{});
    auto* const scales = out.scales.data_as<std::uint8_t>();
    int top = -128, bottom = 128;
    for (std::size_t i = 0; i < ranges.size(); ++i) {
        const bool is_nan = is_nan_block(recipe, ranges[i]);
        const std::uint32_t code =
            is_nan ? nan_scale : scale_code(recipe, ranges[i].amax, out.layout);
        scales[i] = static_cast<std::uint8_t>(code);
        factors[i] = kernels::mx_scale(code);
        if (is_nan || ranges[i].amax == 0) continue;
        top = std::max(top, static_cast<int>(code) - 127);
        bottom = std::min(bottom, static_cast<int>(code) - 127);
    }
    if (bottom > top) top = bottom = 0;  // all zeros
    out.top = top;
    out.span = top - bottom;
}

/// Scales of rows and blocks that are no powers of two.
void set_f32_scales(QuantizedMatrix& out, const Recipe& recipe, std::span<const BlockRange> ranges,
                    std::vector<float>& factors) {
    out.scales = Tensor::empty({out.blocks.count()}, DType::f32, Device{});
    auto* const inverses = out.scales.data_as<float>();
    for (std::size_t i = 0; i < ranges.size(); ++i) {
        factors[i] = is_nan_block(recipe, ranges[i])
                         ? std::numeric_limits<float>::quiet_NaN()
                         : f32_scale(recipe, ranges[i].amax, out.layout);
        inverses[i] = 1.0f / factors[i];
    }
}

/// Counts infinity among the magnitudes of its block.
void widen_to_infinities(std::vector<BlockRange>& ranges, const Tensor& x, const Blocks& blocks) {
    const Tensor wide = to(x, DType::f32);
    const auto* const values = wide.data_as<float>();
    for (std::int64_t i = 0; i < x.numel(); ++i) {
        if (!std::isinf(values[i])) continue;
        const std::int64_t block = i / blocks.cols / blocks.block_rows * blocks.across() +
                                   i % blocks.cols / blocks.block_cols;
        ranges[static_cast<std::size_t>(block)].amax = std::numeric_limits<float>::infinity();
    }
}

/// Codes of infinities are the largest; in a format without NaN so are those of NaN. Source: CUDA's
/// saturating casts.
void saturate_codes(std::uint8_t* codes, const Tensor& x, kernels::FloatLayout layout) {
    const Tensor wide = to(x, DType::f32);
    const auto* const values = wide.data_as<float>();
    const auto largest = static_cast<std::uint8_t>(layout.largest());
    const auto sign = static_cast<std::uint8_t>(layout.mask() + 1);
    const bool has_nan = layout.special != kernels::Special::none;
    for (std::int64_t i = 0; i < x.numel(); ++i) {
        if (std::isinf(values[i]))
            codes[i] = static_cast<std::uint8_t>(largest | (values[i] < 0 ? sign : 0));
        if (std::isnan(values[i]) && !has_nan) codes[i] = largest;
    }
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
void set_two_levels(QuantizedMatrix& out, const Recipe& recipe, std::span<const BlockRange> ranges,
                    float amax, std::vector<float>& factors) {
    constexpr std::uint32_t nan_code = 0x7f;
    const kernels::Nvfp4Scale scale(amax);
    out.scales = Tensor::empty({out.blocks.count()}, DType::u8, Device{});
    out.two_levels = true;
    out.inverse = amax == 0 || std::isinf(amax) ? 2688.0f : amax;
    auto* const scales = out.scales.data_as<std::uint8_t>();
    for (std::size_t i = 0; i < ranges.size(); ++i) {
        const std::uint32_t code =
            is_nan_block(recipe, ranges[i]) ? nan_code : scale.block_code(ranges[i].amax);
        scales[i] = static_cast<std::uint8_t>(code);
        // The values of such a block are 0 with any code; the code 0 counts them as zeroed.
        factors[i] = code == 0 ? 0 : scale.encode(code);
    }
}

}  // namespace

Tensor QuantizedMatrix::values(DType type, int shift) const {
    const Tensor y = Tensor::empty(codes.shape(), type, codes.device());
    std::vector<float> factors(static_cast<std::size_t>(blocks.count()), 1.0f);
    if (has_f32_scales()) {
        std::copy_n(scales.data_as<float>(), factors.size(), factors.begin());
    } else if (scales.defined()) {
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

Tensor QuantizedMatrix::code_values(DType type) const {
    QuantizedMatrix bare = *this;
    bare.scales = {};
    bare.blocks = {blocks.rows, blocks.cols, blocks.rows, blocks.cols};
    return bare.values(type, 0);
}

QuantizedLayer::QuantizedLayer(const Recipe& recipe, const QuantizedStep& now, std::uint64_t place)
    : recipe_(recipe), now_(now), place_(place) {
    if (recipe.rule != ScaleBasis::delayed) return;
    for (const auto operand :
         {ProductOperand::input, ProductOperand::weight, ProductOperand::gradient})
        delayed_.emplace_back(recipe.layout(operand), recipe.history, recipe.newest, recipe.margin);
}

bool QuantizedLayer::quantizes(LayerProduct product) const {
    if (product == LayerProduct::forward && now_.step >= now_.forward_kept_from) return false;
    return !recipe_.kept[static_cast<std::size_t>(product)];
}

/// Scale from the steps before; 0: none.
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
    if (inference_mode() || recomputing() || now_.share.idle()) return;
    const auto index = static_cast<std::size_t>(operand);
    step_[index].add(made.figures);
    if (made.sample) samples_[2 * index + static_cast<std::size_t>(along)].add(*made.sample);
    if (delayed_.empty()) return;
    kernels::BlockRange range = made.range;
    if (operand == ProductOperand::gradient) range.amax /= now_.loss_scale;
    delayed_[index].measured(range);
}

/// The magnitude of an operand of which this rank has a part.
float QuantizedLayer::of_all_ranks(float amax, ProductOperand operand) const {
    const bool alone = !recipe_.reduces_amax || !now_.largest_of_ranks || inference_mode();
    if (alone || operand == ProductOperand::weight) return amax;
    float largest = now_.share.idle() ? 0 : amax;
    now_.largest_of_ranks({&largest, 1});
    return largest;
}

float QuantizedLayer::tensor_scale(ProductOperand operand, float amax,
                                   kernels::FloatLayout layout) const {
    if (recipe_.fixed_scale != 0) return recipe_.fixed_scale;
    if (delayed_.empty() && std::isinf(amax)) return 1;
    if (delayed_.empty()) return kernels::tensor_scale(amax, layout, recipe_.powers_of_two);
    const DelayedScale& scale = delayed_[static_cast<std::size_t>(operand)];
    const bool measures = recipe_.measures_first && scale.is_new();
    if (measures && amax != 0 && std::isfinite(amax)) return scale.scale_of(amax);
    // Gradients arrive multiplied by the loss scale.
    return operand == ProductOperand::gradient ? scale.scale() / now_.loss_scale : scale.scale();
}

/// The scales of `out`, and the factors of its blocks before the cast.
void QuantizedLayer::set_factors(QuantizedMatrix& out, ProductOperand operand,
                                 std::span<const BlockRange> ranges, float amax,
                                 std::vector<float>& factors) const {
    if (recipe_.rule == ScaleBasis::nvfp4)
        return set_two_levels(out, recipe_, ranges, of_all_ranks(amax, operand), factors);
    if (!recipe_.has_tensor_scales()) {
        const bool codes = recipe_.rule == ScaleBasis::mx || recipe_.powers_of_two;
        return codes ? set_scales(out, recipe_, ranges, factors)
                     : set_f32_scales(out, recipe_, ranges, factors);
    }
    if (delayed_.empty()) amax = of_all_ranks(amax, operand);
    factors.front() = tensor_scale(operand, amax, out.layout);
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
    if (recipe_.saturates && made.range.nonfinite) {
        widen_to_infinities(ranges, x, out.blocks);
        made.range = range_of_all(ranges);
    }
    set_factors(out, operand, ranges, made.range.amax, factors);
    double most = 0;  // beyond f32's range if a delayed scale meets far larger values
    for (std::size_t i = 0; i < ranges.size(); ++i)
        if (std::isfinite(factors[i]) && std::isfinite(ranges[i].amax))
            most = std::max(most, static_cast<double>(factors[i]) *
                                      static_cast<double>(ranges[i].amax));
    made.figures.elements = x.numel();
    const auto largest = static_cast<double>(kernels::largest_value(out.layout));
    made.figures.headroom = static_cast<float>(std::log2(largest / most));
    return made;
}

/// The words of the next cast of a gradient in this step.
kernels::RandomRoundingWords QuantizedLayer::draw(ProductOperand operand, Contraction along) {
    const auto direction = static_cast<std::uint64_t>(along);
    const std::uint64_t micro_batch = casts_[direction]++;
    const std::uint64_t slot = 3 * place_ + static_cast<std::uint64_t>(operand);
    return {RandomStream(now_.seed, StreamId::rounding, static_cast<std::uint32_t>(now_.step)),
            ((micro_batch * now_.operands + slot) * 2 + direction) << 34};
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
                                     Cast& made, bool whole) {
    Tensor x = in_layout(x0, Layout::contiguous);
    const bool weight = operand == ProductOperand::weight;
    if (recipe_.rotates_rows && !weight && along == Contraction::rows) x = rotated(x);
    const std::int64_t rows = x.size(0), cols = x.size(1);
    const UseScope use(MemoryUse::codes);
    QuantizedMatrix out{.layout = recipe_.layout(operand),
                        .blocks = whole ? Blocks{rows, cols, rows, cols}
                                        : recipe_.blocks(rows, cols, operand, along)};
    std::vector<float> factors(static_cast<std::size_t>(out.blocks.count()));
    made = measure(out, x, operand, factors);
    out.codes = Tensor::empty({rows, cols}, DType::u8, x.device());
    std::optional<kernels::RandomRoundingWords> words;
    if (recipe_.random_gradients && operand == ProductOperand::gradient) {
        words = draw(operand, along);
        words->element = static_cast<std::uint64_t>(now_.share.before(x.numel()));
    }
    made.figures.counts = kernels::cpu::quantize_blocks(
        out.codes.data_as<std::uint8_t>(), {x.data(), x.dtype(), rows, cols, cols}, out.blocks,
        factors.data(), out.layout, words ? &*words : nullptr);
    if (recipe_.saturates && made.range.nonfinite)
        saturate_codes(out.codes.data_as<std::uint8_t>(), x, out.layout);
    made.sample.reset();
    if (now_.examines && !inference_mode() && !recomputing())
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

QuantizedMatrix QuantizedLayer::weight(const Tensor& weight, Contraction along, bool backward) {
    constexpr auto operand = ProductOperand::weight;
    if (recipe_.has_one_set(operand)) {
        along = Contraction::cols;
        backward = false;
    }
    CachedWeight& cached = weights_[backward ? 1 : 0];
    const float scale = delayed_scale(operand);
    const TensorImpl& source = *weight.impl();
    const bool valid = cached.source.lock() == source.storage && cached.offset == source.offset &&
                       cached.version == weight.version() && cached.scale == scale &&
                       cached.codes.blocks.rows == weight.size(0) &&
                       (!now_.examines || cached.examined_in == now_.step);
    if (!valid) {
        ++weight_casts_;
        cached.codes =
            cast(weight, operand, along, cached.cast, backward && recipe_.whole_weights);
        cached.source = source.storage;
        cached.offset = source.offset;
        cached.version = weight.version();
        cached.scale = scale;
        if (cached.cast.sample) cached.examined_in = now_.step;
    }
    note(operand, along, cached.cast);
    cached.cast.sample.reset();
    return cached.codes;
}

}  // namespace engine
