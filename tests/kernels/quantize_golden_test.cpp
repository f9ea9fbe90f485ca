#include <algorithm>
#include <cmath>
#include <span>

#include "gtest/gtest.h"
#include "kernels/philox.h"
#include "kernels/quantize.h"
#include "low_bit_golden.h"

// Scales of torchao and of the formulas of Transformer Engine (tests/peer/low_bit_golden.py).

namespace kernels {
namespace {

using low_bits::cases;
using low_bits::layouts;
using low_bits::numbers;

constexpr PhiloxKey key{56, 0};
constexpr PhiloxStream scale_stream{key, 1101, 0}, block_stream{key, 1102, 0},
    operand_stream{key, 1103, 0};
const std::map<std::string, MxRule> rules{{"rceil", MxRule::rceil},
                                          {"floor", MxRule::floor},
                                          {"ceil", MxRule::ceil},
                                          {"even", MxRule::even}};

/// Powers of two and largest values times them, with three f32 on either side, and drawn ones.
std::vector<float> amaxes() {
    constexpr std::uint32_t infinite = 0x7f800000u;
    std::vector<float> out;
    for (const FloatLayout layout : {fp8_e4m3_layout, fp8_e5m2_layout, fp4_e2m1_layout}) {
        const auto largest = std::bit_cast<std::uint32_t>(largest_value(layout)) & 0x7fffffu;
        for (const std::int64_t start : {std::int64_t{0}, std::int64_t{largest}})
            for (std::int64_t exponent = 0; exponent < 255; ++exponent)
                for (std::int64_t near = -3; near <= 3; ++near) {
                    const std::int64_t bits = (exponent << 23 | start) + near;
                    if (bits >= 0 && bits < infinite)
                        out.push_back(std::bit_cast<float>(static_cast<std::uint32_t>(bits)));
                }
    }
    for (std::uint64_t i = 0; i < 2000; ++i)
        out.push_back(std::bit_cast<float>(scale_stream.at(i) % infinite));
    return out;
}

float amax(std::span<const float> values) {
    float most = 0;
    for (const float value : values) most = std::max(most, std::fabs(value));
    return most;
}

/// Signed numbers whose f32 exponent field is one of `exponents` from `low` on.
std::vector<float> drawn_values(const PhiloxStream& stream, std::size_t count,
                                std::uint32_t exponents, std::uint32_t low) {
    std::vector<float> out;
    for (std::uint64_t i = 0; i < count; ++i) {
        const std::uint32_t exponent = stream.bounded(2 * i, exponents) + low;
        const std::uint32_t word = stream.at(2 * i + 1);
        out.push_back(std::bit_cast<float>((word & 0x807fffffu) | exponent << 23));
    }
    return out;
}

TEST(QuantizeGolden, ScalesOfTensorsAreTheFormulasBitForBit) {
    const auto values = amaxes();
    const auto all = cases("tensor_scale");
    ASSERT_EQ(all.size(), 6u);
    for (const auto& words : all) {
        std::vector<std::uint64_t> sums((values.size() + 499) / 500);  // of the words of 500
        for (std::size_t i = 0; i < values.size(); ++i)
            sums[i / 500] += std::bit_cast<std::uint32_t>(
                tensor_scale(values[i], layouts.at(words[0]), words[1] == "power"));
        EXPECT_EQ(sums, numbers(words, 2)) << words[0] << ' ' << words[1];
    }
}

TEST(QuantizeGolden, ScalesOfMxBlocksAreThePeers) {
    const auto values = amaxes();
    const auto all = cases("mx_scale");
    ASSERT_EQ(all.size(), 12u);
    for (const auto& words : all) {
        std::vector<std::uint64_t> sums((values.size() + 63) / 64);  // of 64, by their place
        for (std::size_t i = 0; i < values.size(); ++i)
            sums[i / 64] += (i % 64 + 1) * mx_scale_code(values[i], layouts.at(words[0]),
                                                         rules.at(words[1]));
        EXPECT_EQ(sums, numbers(words, 2)) << words[0] << ' ' << words[1];
    }
}

TEST(QuantizeGolden, CodesOfMxBlocksAreThePeers) {
    constexpr std::size_t size = 32, count = 16;
    auto values = drawn_values(block_stream, count * size, 12, 117);
    for (std::size_t i = 0; i < count; ++i) {
        const std::span block(values.data() + i * size, size);
        if (i % 4 == 1) block[i] *= 4096;
        if (i % 4 == 2) std::ranges::fill(block, float{block[0]});
        if (i % 4 == 3) std::ranges::fill(block, 0.0f);
    }
    const auto all = cases("mx_block");
    ASSERT_EQ(all.size(), 12u);
    for (const auto& words : all) {
        const FloatLayout layout = layouts.at(words[0]);
        std::vector<std::uint64_t> found;
        for (std::size_t i = 0; i < count; ++i) {
            const std::span<const float> block(values.data() + i * size, size);
            const auto code = mx_scale_code(amax(block), layout, rules.at(words[1]));
            found.push_back(code);
            for (const float value : block)
                found.push_back(to_small_float(value * mx_scale(code), layout, Saturate::finite));
        }
        EXPECT_EQ(found, numbers(words, 2)) << words[0] << ' ' << words[1];
    }
}

class Nvfp4Golden : public testing::Test {
protected:
    static constexpr std::size_t rows = 32, columns = 64, size = 16;

    Nvfp4Golden() : values(drawn_values(operand_stream, rows * columns, 8, 120)) {
        for (std::size_t row = 0; row < size; ++row)
            for (std::size_t column = 0; column < 2 * size; ++column)
                values[row * columns + column] *= column < size ? 0.0f : 0x1p-26f;
        for (float& value : values) value += 0.0f;  // no negative zeros
        values[20 * columns + 40] = 1000;
    }
    static std::uint32_t element(float value, float factor) {
        return to_small_float(value * factor, fp4_e2m1_layout, Saturate::all);
    }

    std::vector<float> values;
};

TEST_F(Nvfp4Golden, CodesOfRowsAndOfSquaresArePeers) {
    const Nvfp4Scale scale(amax(values));
    std::vector<std::uint64_t> in_rows;
    for (std::size_t at = 0; at < values.size(); at += size) {
        const std::span<const float> block(values.data() + at, size);
        const auto code = scale.block_code(amax(block));
        in_rows.push_back(code);
        for (const float value : block) in_rows.push_back(element(value, scale.encode(code)));
    }
    std::vector<std::uint64_t> codes;
    for (std::size_t tile = 0; tile < rows / size * columns / size; ++tile) {
        float most = 0;
        for (std::size_t i = 0; i < size * size; ++i)
            most = std::max(
                most,
                std::fabs(
                    values[(tile / 4 * size + i / size) * columns + tile % 4 * size + i % size]));
        codes.push_back(scale.block_code(most));
    }
    std::vector<std::uint64_t> in_squares;
    for (std::size_t i = 0; i < values.size(); ++i)
        in_squares.push_back(element(
            values[i], scale.encode(static_cast<std::uint32_t>(
                           codes[i / columns / size * (columns / size) + i % columns / size]))));
    for (const auto& words : cases("nvfp4")) {
        if (words[0] == "1d")
            EXPECT_EQ(in_rows, numbers(words, 1));
        else
            EXPECT_EQ(words[1] == "scales" ? codes : in_squares, numbers(words, 2)) << words[1];
    }
    EXPECT_EQ(codes[0], 0u);  // zeros
    EXPECT_EQ(codes[1], 0u);  // too small
    EXPECT_NE(codes[2], 0u);
}

}  // namespace
}  // namespace kernels
