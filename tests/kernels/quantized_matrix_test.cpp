#include "kernels/quantized_matrix.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <vector>

#include "gtest/gtest.h"
#include "kernels/parallel.h"
#include "kernels/philox.h"

namespace kernels {
namespace {

constexpr FloatLayout layouts[] = {fp8_e4m3_layout, fp8_e5m2_layout, fp4_e2m1_layout};

/// Values of all exponents from 2^-20 to 2^19, and at places some that are special.
std::vector<float> drawn(std::int64_t count) {
    constexpr PhiloxStream stream{{56, 0}, 7, 0};
    std::vector<float> out;
    for (std::int64_t i = 0; i < count; ++i) {
        const std::uint32_t word = stream.at(static_cast<std::uint64_t>(i));
        const std::uint32_t exponent = 107u + word % 40u;
        out.push_back(std::bit_cast<float>((word & 0x80000000u) | exponent << 23 |
                                           ((word >> 6) & 0x7fffffu)));
    }
    for (std::size_t i = 0; i < out.size(); i += 97) out[i] = 0;
    return out;
}

ConstMatrix matrix(const std::vector<float>& x, std::int64_t rows, std::int64_t cols) {
    return {x.data(), DType::f32, rows, cols, cols};
}

struct Cut {
    std::int64_t rows, cols;
};
/// Tensor, rows along both dimensions, blocks of both, and square ones.
std::vector<Blocks> cuts(std::int64_t rows, std::int64_t cols) {
    std::vector<Blocks> out;
    for (const Cut cut : {Cut{rows, cols}, Cut{1, cols}, Cut{rows, 1}, Cut{1, 32}, Cut{32, 1},
                          Cut{128, 128}, Cut{16, 16}})
        out.push_back({rows, cols, cut.rows, cut.cols});
    return out;
}

TEST(QuantizedMatrix, HasTheCodesOfTheScalarCasts) {
    for (const auto& [rows, cols] : {Cut{1, 1}, Cut{3, 5}, Cut{150, 67}, Cut{257, 300}}) {
        std::vector<float> x = drawn(rows * cols);
        x.back() = std::numeric_limits<float>::infinity();
        x.front() = std::numeric_limits<float>::quiet_NaN();
        x[x.size() / 2] = -x.front();
        for (const Blocks& blocks : cuts(rows, cols)) {
            std::vector<float> factors;
            for (std::int64_t i = 0; i < blocks.count(); ++i)
                factors.push_back(std::ldexp(1.25f, static_cast<int>(i % 9) - 4));
            for (const FloatLayout layout : layouts) {
                std::vector<std::uint8_t> codes(x.size());
                const CastCounts counts = cpu::quantize_blocks(codes.data(), matrix(x, rows, cols),
                                                               blocks, factors.data(), layout);
                CastCounts expected;
                for (std::int64_t i = 0; i < std::ssize(x); ++i) {
                    const float value = x[static_cast<std::size_t>(i)];
                    const std::int64_t block = i / cols / blocks.block_rows * blocks.across() +
                                               i % cols / blocks.block_cols;
                    const float scaled = value * factors[static_cast<std::size_t>(block)];
                    const std::uint32_t code = to_small_float(scaled, layout, Saturate::finite);
                    ASSERT_EQ(codes[static_cast<std::size_t>(i)], code) << scaled;
                    const std::uint32_t plain = to_small_float(scaled, layout, Saturate::no);
                    expected.nonzero += value != 0;
                    expected.zeroed += value != 0 && (code & layout.mask()) == 0;
                    expected.nonfinite += !std::isfinite(value);
                    if (layout.special != Special::none)
                        expected.saturated += std::isfinite(value) && plain != code;
                    else
                        expected.saturated += std::isfinite(value) && std::abs(scaled) >= 7;
                }
                EXPECT_EQ(counts.nonzero, expected.nonzero);
                EXPECT_EQ(counts.zeroed, expected.zeroed);
                EXPECT_EQ(counts.saturated, expected.saturated);
                EXPECT_EQ(counts.nonfinite, expected.nonfinite);
            }
        }
    }
}

TEST(QuantizedMatrix, RoundsAtRandomByTheWordOfEachElement) {
    constexpr std::int64_t rows = 5, cols = 13;
    const std::vector<float> x = drawn(rows * cols);
    const Blocks whole{rows, cols, rows, cols};
    const float factor = 0x1p-3f;
    const RandomRoundingWords words{{{1, 2}, 3, 4}, std::uint64_t{5} << 34};
    std::vector<std::uint8_t> codes(x.size());
    const CastCounts counts = cpu::quantize_blocks(codes.data(), matrix(x, rows, cols), whole,
                                                   &factor, fp4_e2m1_layout, &words);
    std::int64_t zeroed = 0;
    for (std::size_t i = 0; i < x.size(); ++i) {
        const std::uint32_t word = words.stream.at(words.first + i / 2);
        const auto random = static_cast<std::uint16_t>(i % 2 == 0 ? word : word >> 16);
        EXPECT_EQ(codes[i], to_small_float_at_random(x[i] * factor, fp4_e2m1_layout, random)) << i;
        zeroed += x[i] != 0 && (codes[i] & 7u) == 0;
    }
    EXPECT_EQ(counts.zeroed, zeroed);
}

TEST(QuantizedMatrix, RoundingAtRandomCountsNoZeroOfABlockThatIsNotFinite) {
    const std::vector<float> x{0, 0, 0, 1, 0.25f, 0, 0x1p-40f, 1};
    const float factors[] = {std::numeric_limits<float>::quiet_NaN(), 1};
    const RandomRoundingWords words{{{1, 2}, 3, 4}, 0};
    std::vector<std::uint8_t> codes(x.size());
    const CastCounts counts = cpu::quantize_blocks(codes.data(), matrix(x, 1, 8), {1, 8, 1, 4},
                                                   factors, fp4_e2m1_layout, &words);
    EXPECT_EQ(counts.nonzero, 4);
    EXPECT_EQ(counts.nonfinite, 4);
    EXPECT_EQ(counts.zeroed, 1 + (codes[4] == 0));
}

TEST(QuantizedMatrix, RotatesSixteenRowsByAnOrthogonalMatrix) {
    constexpr std::int64_t rows = 20, cols = 3;
    std::vector<float> x(static_cast<std::size_t>(rows * cols), 0.0f);
    x[3 * cols + 1] = 4;  // row 3, whose sign is negative
    x[17 * cols + 2] = 8;
    std::vector<BFloat16> y(32 * cols);
    cpu::rotate_rows({y.data(), DType::bf16, 32, cols, cols}, matrix(x, rows, cols));
    for (std::int64_t row = 0; row < 32; ++row)
        for (std::int64_t col = 0; col < cols; ++col) {
            const float value = to_float(y[static_cast<std::size_t>(row * cols + col)]);
            // Entry (3, row) of H is negative for an odd number of common bits, and so on.
            const auto sign = [&](unsigned of) {
                return std::popcount(of & static_cast<unsigned>(row % 16)) % 2 == 0 ? 1.0f : -1.0f;
            };
            const float expected = row < 16 && col == 1    ? -sign(3)
                                   : row >= 16 && col == 2 ? 2 * sign(1)
                                                           : 0;
            EXPECT_EQ(value, expected) << row << ' ' << col;
        }
}

TEST(QuantizedMatrix, SaturatesBeyondTheMiddleToTheNextValue) {
    const std::vector<float> x{464, std::nextafter(464.0f, 500.0f), 448, 57344, 61439, 61440, 6,
                               7,   std::nextafter(7.0f, 0.0f)};
    const Blocks whole{1, std::ssize(x), 1, std::ssize(x)};
    const float one = 1;
    std::vector<std::uint8_t> codes(x.size());
    const auto saturated = [&](FloatLayout layout) {
        return cpu::quantize_blocks(codes.data(), matrix(x, 1, std::ssize(x)), whole, &one, layout)
            .saturated;
    };
    EXPECT_EQ(saturated(fp8_e4m3_layout), 4);
    EXPECT_EQ(saturated(fp8_e5m2_layout), 1);
    EXPECT_EQ(saturated(fp4_e2m1_layout), 7);
}

TEST(QuantizedMatrix, MeasuresBlocksWithWhateverNumberOfThreads) {
    constexpr std::int64_t rows = 301, cols = 515;
    std::vector<float> x = drawn(rows * cols);
    x[7 * cols + 40] = std::numeric_limits<float>::infinity();
    x[300 * cols + 514] = std::numeric_limits<float>::quiet_NaN();
    const int before = cpu::threads();
    for (const int threads : {1, 3}) {
        cpu::set_threads(threads);
        for (const Blocks& blocks : cuts(rows, cols)) {
            std::vector<BlockRange> found(static_cast<std::size_t>(blocks.count())),
                expected(found.size());
            cpu::block_ranges(found.data(), matrix(x, rows, cols), blocks);
            for (std::int64_t i = 0; i < std::ssize(x); ++i) {
                BlockRange& own = expected[static_cast<std::size_t>(
                    i / cols / blocks.block_rows * blocks.across() + i % cols / blocks.block_cols)];
                const float size = std::abs(x[static_cast<std::size_t>(i)]);
                if (std::isfinite(size))
                    own.amax = std::max(own.amax, size);
                else
                    own.nonfinite = true;
            }
            for (std::size_t i = 0; i < found.size(); ++i) {
                ASSERT_EQ(found[i].amax, expected[i].amax) << i;
                ASSERT_EQ(found[i].nonfinite, expected[i].nonfinite) << i;
            }
        }
    }
    cpu::set_threads(before);
}

TEST(QuantizedMatrix, DecodesEveryCodeExactlyTo16Bits) {
    std::vector<std::uint8_t> codes(256);
    for (std::size_t i = 0; i < codes.size(); ++i) codes[i] = static_cast<std::uint8_t>(i);
    for (const FloatLayout layout : layouts) {
        const std::int64_t count = layout.mask() == 7 ? 16 : 256;
        const Blocks blocks{1, count, 1, 32};
        const std::vector<float> factors(8, 0.25f);
        std::vector<float> wide(256);
        std::vector<BFloat16> low(256);
        cpu::decode_blocks({wide.data(), DType::f32, 1, count, count}, codes.data(), blocks,
                           factors.data(), layout);
        cpu::decode_blocks({low.data(), DType::bf16, 1, count, count}, codes.data(), blocks,
                           factors.data(), layout);
        for (std::uint32_t code = 0; code < count; ++code) {
            const float value = from_small_float(code, layout) * 0.25f;
            for (const float found : {wide[code], to_float(low[code])}) {
                if (std::isnan(value))
                    EXPECT_TRUE(std::isnan(found)) << code;
                else
                    EXPECT_EQ(std::bit_cast<std::uint32_t>(found),
                              std::bit_cast<std::uint32_t>(value))
                        << code;
            }
        }
    }
}

TEST(QuantizedMatrix, ScalesSumsAddsTheBiasAndRoundsOnce) {
    const std::vector<float> sums{3, -5, 0x1.000002p0f, 7, 9, -1};
    const std::vector<float> bias{1, 2, 0x1p-24f};
    std::vector<float> y(6);
    const Matrix out{y.data(), DType::f32, 2, 3, 3};
    cpu::scale_sums(out, sums.data(), 0.5f, bias.data(), false);
    EXPECT_EQ(y, (std::vector<float>{2.5f, -0.5f, 0.5f * 0x1.000002p0f + 0x1p-24f, 4.5f, 6.5f,
                                     -0.5f + 0x1p-24f}));
    cpu::scale_sums(out, sums.data(), 2, nullptr, true);
    EXPECT_EQ(y, (std::vector<float>{6, 0, 0x1.000002p1f, 14, 18, 0}));
}

TEST(QuantizedMatrix, PacksTwoCodesAByteTheEvenOneLow) {
    for (const std::int64_t count : {1, 2, 7}) {
        std::vector<std::uint8_t> codes, packed(4, 0xff), found(8, 0xff);
        for (int i = 0; i < count; ++i) codes.push_back(static_cast<std::uint8_t>(15 - 2 * i));
        kernels::cpu::pack_codes(packed.data(), codes.data(), count);
        EXPECT_EQ(packed[0], count == 1 ? 0x0f : 0xdf);
        kernels::cpu::unpack_codes(found.data(), packed.data(), count);
        found.resize(codes.size());
        EXPECT_EQ(found, codes);
    }
}

TEST(QuantizedMatrix, TilesScalesOf128RowsAndFourBlocks) {
    constexpr PhiloxStream stream{{56, 0}, 9, 0};
    for (std::uint64_t i = 0; i < 40; ++i) {
        const auto rows = static_cast<std::int64_t>(1 + stream.bounded(3 * i, 400));
        const auto cols = static_cast<std::int64_t>(1 + stream.bounded(3 * i + 1, 40));
        std::vector<std::uint8_t> scales(static_cast<std::size_t>(rows * cols));
        for (std::size_t k = 0; k < scales.size(); ++k)
            scales[k] = static_cast<std::uint8_t>(1 + stream.at(1000 * i + k) % 255);
        std::vector<std::uint8_t> tiled(static_cast<std::size_t>(tiled_scales_size(rows, cols)), 9),
            found(scales.size());
        cpu::tile_scales(tiled.data(), scales.data(), rows, cols);
        EXPECT_EQ(std::ranges::count(tiled, 0), std::ssize(tiled) - std::ssize(scales));
        for (std::int64_t row = 0; row < rows; ++row)
            for (std::int64_t col = 0; col < cols; ++col) {
                const std::int64_t place = ((row / 128) * ((cols + 3) / 4) + col / 4) * 512 +
                                           (row % 32) * 16 + ((row % 128) / 32) * 4 + col % 4;
                ASSERT_EQ(tiled.at(static_cast<std::size_t>(place)),
                          scales[static_cast<std::size_t>(row * cols + col)])
                    << rows << ' ' << cols;
            }
        cpu::untile_scales(found.data(), tiled.data(), rows, cols);
        EXPECT_EQ(found, scales);
    }
}

}  // namespace
}  // namespace kernels
