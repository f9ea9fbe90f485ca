#include "amp/cast_sample.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <mutex>

#include "amp/recipe.h"
#include "kernels/parallel.h"
#include "tensor/cast.h"

namespace engine {
namespace {

constexpr std::uint32_t f32_infinity = 0x7f800000;

/// Values by their exponent as f32 has it, biased.
using Exponents = std::array<std::int64_t, 256>;

struct Counts {
    std::int64_t subnormal = 0, nonfinite = 0;
    Exponents exponents{};

    void add(const Counts& other) {
        subnormal += other.subnormal;
        nonfinite += other.nonfinite;
        for (std::size_t i = 0; i < exponents.size(); ++i) exponents[i] += other.exponents[i];
    }
};

struct Squares {
    double error = 0, signal = 0, noise = 0;
};

/// How one block is read.
struct BlockCast {
    float factor, inverse;
};

struct Examination {
    const float* x;
    const QuantizedMatrix& matrix;
    std::vector<BlockCast> blocks;
    std::array<float, 256> values{};  // of the codes
    bool at_random;

    void add_noise(Squares& sums, float scaled, float inverse) const {
        const float largest = kernels::largest_value(matrix.layout);
        const float size = std::min(std::abs(scaled), largest);
        const int smallest = 1 - matrix.layout.bias();
        const int exponent = std::max(size == 0 ? smallest : std::ilogb(size), smallest);
        const double step = std::ldexp(1.0, exponent - matrix.layout.fraction_bits);
        const double units = static_cast<double>(size) / step;
        const double part = units - std::floor(units);
        const double unit = step * static_cast<double>(inverse);
        sums.noise += unit * unit * part * (1 - part);
    }

    void row(std::int64_t row, Squares& sums, Counts& counts) const {
        const kernels::Blocks& grid = matrix.blocks;
        const auto* const codes = matrix.codes.data_as<std::uint8_t>() + row * grid.cols;
        const float* const from = x + row * grid.cols;
        const std::uint32_t fraction = (1u << matrix.layout.fraction_bits) - 1;
        const std::uint32_t magnitude = matrix.layout.mask();
        for (std::int64_t col = 0; col < grid.cols; ++col) {
            const float value = from[col];
            const std::uint32_t bits = std::bit_cast<std::uint32_t>(value) & 0x7fffffffu;
            if (bits >= f32_infinity) {
                ++counts.nonfinite;
                continue;
            }
            if (bits != 0) ++counts.exponents[bits >> 23];
            const BlockCast& block = blocks[static_cast<std::size_t>(
                row / grid.block_rows * grid.across() + col / grid.block_cols)];
            const std::uint32_t code = codes[col] & magnitude;
            counts.subnormal += code != 0 && code <= fraction ? 1 : 0;
            if (std::isnan(block.factor)) continue;
            const double exact = static_cast<double>(value);
            const double decoded = static_cast<double>(values[codes[col]]) *
                                   static_cast<double>(block.inverse);
            sums.error += (decoded - exact) * (decoded - exact);
            sums.signal += exact * exact;
            if (at_random) add_noise(sums, value * block.factor, block.inverse);
        }
    }
};

float block_inverse(const QuantizedMatrix& matrix, std::size_t block) {
    if (!matrix.scales.defined()) return matrix.inverse;
    if (matrix.has_f32_scales()) return matrix.scales.data_as<float>()[block];
    const std::uint32_t code = matrix.scales.data_as<std::uint8_t>()[block];
    if (!matrix.two_levels) return kernels::from_e8m0(code);
    return kernels::from_small_float(code, kernels::fp8_e4m3_layout) * (matrix.inverse / 2688.0f);
}

/// Just above the scale with which values of this exponent and less become 0 where 99.9 % are
/// above.
float floor_of(const Exponents& exponents, kernels::FloatLayout layout) {
    std::int64_t all = 0;
    for (const std::int64_t each : exponents) all += each;
    if (all == 0) return CastSample::unknown;
    std::int64_t kept = 0;
    std::size_t exponent = exponents.size();
    while (kept * 1000 < all * 999) kept += exponents[--exponent];
    const int power = exponent == 0 ? -149 : static_cast<int>(exponent) - 127;
    const int half = -(layout.bias() - 1 + layout.fraction_bits) - 1;
    constexpr float most = std::numeric_limits<float>::max();
    const float tie = half - power > 127 ? most : std::ldexp(1.0f, half - power);
    return std::min(std::nextafter(tie, std::numeric_limits<float>::infinity()), most);
}

/// The scales of the blocks that hold more than zeros.
void add_scales(CastSample& out, const QuantizedMatrix& matrix, std::span<const float> factors,
                std::span<const bool> filled) {
    if (!matrix.scales.defined()) {
        out.scale = out.block_scale_min = out.block_scale_max = factors.front();
        return;
    }
    const bool coded = !matrix.has_f32_scales();
    if (coded) out.scale_codes.resize(256);
    const auto* const codes = coded ? matrix.scales.data_as<std::uint8_t>() : nullptr;
    for (std::size_t i = 0; i < factors.size(); ++i) {
        if (coded) ++out.scale_codes[codes[i]];
        if (!filled[i] || std::isnan(factors[i])) continue;
        if (coded && codes[i] == 0) ++out.zero_blocks;
        if (factors[i] == 0) continue;  // two levels, code 0: it has no scale
        out.block_scale_min = std::fmin(out.block_scale_min, factors[i]);
        out.block_scale_max = std::fmax(out.block_scale_max, factors[i]);
    }
    out.scale =
        matrix.two_levels ? kernels::Nvfp4Scale(matrix.inverse).operand : out.block_scale_min;
}

/// Which blocks hold a finite value other than 0; the largest magnitude of these values.
struct Filled {
    std::unique_ptr<bool[]> blocks;
    float amax = 0;
};

Filled filled_blocks(const float* x, const kernels::Blocks& grid) {
    std::vector<kernels::BlockRange> ranges(static_cast<std::size_t>(grid.count()));
    kernels::cpu::block_ranges(ranges.data(), {x, DType::f32, grid.rows, grid.cols, grid.cols}, grid);
    Filled out{std::make_unique<bool[]>(ranges.size())};
    for (std::size_t i = 0; i < ranges.size(); ++i) {
        out.blocks[i] = ranges[i].amax > 0;
        out.amax = std::max(out.amax, ranges[i].amax);
    }
    return out;
}

}  // namespace

CastSample examine_cast(const Tensor& x, const QuantizedMatrix& codes,
                        std::span<const float> factors, bool at_random) {
    const Tensor wide = to(x, DType::f32);
    const kernels::Blocks& grid = codes.blocks;
    Examination examination{.x = wide.data_as<float>(), .matrix = codes, .blocks = {},
                            .at_random = at_random};
    for (std::size_t i = 0; i < factors.size(); ++i)
        examination.blocks.push_back({factors[i], block_inverse(codes, i)});
    for (std::uint32_t code = 0; code <= (codes.layout.mask() << 1 | 1); ++code)
        examination.values[code] = kernels::from_small_float(code, codes.layout);
    // Sums of rows, which no number of threads changes.
    std::vector<Squares> rows(static_cast<std::size_t>(grid.rows));
    Counts counts;
    std::mutex adding;
    kernels::cpu::parallel_for(grid.rows, 16, [&](std::int64_t begin, std::int64_t end) {
        Counts here;
        for (std::int64_t row = begin; row < end; ++row)
            examination.row(row, rows[static_cast<std::size_t>(row)], here);
        const std::lock_guard lock(adding);
        counts.add(here);
    });
    const Filled filled = filled_blocks(examination.x, grid);
    CastSample out{.rows = grid.rows, .cols = grid.cols, .amax = filled.amax};
    out.elements = grid.rows * grid.cols;
    out.subnormal = counts.subnormal;
    out.nonfinite = counts.nonfinite;
    for (const Squares& row : rows) {
        out.error2 += row.error;
        out.signal2 += row.signal;
        out.noise2 += row.noise;
    }
    out.current_scale = kernels::tensor_scale(out.amax, codes.layout, false);
    out.scale_floor = floor_of(counts.exponents, codes.layout);
    add_scales(out, codes, factors, {filled.blocks.get(), factors.size()});
    return out;
}

void CastSample::add(const CastSample& other) {
    if (elements == 0) {
        *this = other;
        return;
    }
    amax = std::max(amax, other.amax);
    scale = std::fmin(scale, other.scale);
    block_scale_min = std::fmin(block_scale_min, other.block_scale_min);
    block_scale_max = std::fmax(block_scale_max, other.block_scale_max);
    history_max = std::fmax(history_max, other.history_max);
    current_scale = std::fmin(current_scale, other.current_scale);
    scale_floor = std::fmax(scale_floor, other.scale_floor);
    for (auto member : {&CastSample::zero_blocks, &CastSample::elements, &CastSample::nonzero,
                        &CastSample::zeroed, &CastSample::saturated, &CastSample::subnormal,
                        &CastSample::nonfinite})
        this->*member += other.*member;
    for (auto member : {&CastSample::error2, &CastSample::signal2, &CastSample::noise2})
        this->*member += other.*member;
    scale_codes.resize(std::max(scale_codes.size(), other.scale_codes.size()));
    for (std::size_t i = 0; i < other.scale_codes.size(); ++i) scale_codes[i] += other.scale_codes[i];
}

}  // namespace engine
