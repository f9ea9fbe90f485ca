#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <map>

#include "gtest/gtest.h"
#include "kernels/dtype.h"
#include "kernels/small_float.h"
#include "low_bit_golden.h"

// Values and codes of ml_dtypes, gfloat and PyTorch (tests/peer/low_bit_golden.py).

namespace kernels {
namespace {

TEST(SmallFloatGolden, EveryCodeHasThePeersValue) {
    const auto cases = low_bits::cases("decode");
    ASSERT_EQ(cases.size(), low_bits::layouts.size() + 1);
    for (const auto& words : cases) {
        const bool scale = words[0] == "e8m0";
        ASSERT_EQ(words.size(), 1u + (words[0] == "fp4-e2m1" ? 16u : 256u));
        for (std::uint32_t code = 0; code + 1 < words.size(); ++code) {
            const float expected = std::strtof(words[code + 1].c_str(), nullptr);
            const float found =
                scale ? from_e8m0(code) : from_small_float(code, low_bits::layouts.at(words[0]));
            if (std::isnan(expected))
                ASSERT_TRUE(std::isnan(found)) << words[0] << ' ' << code;
            else
                ASSERT_EQ(std::bit_cast<std::uint32_t>(found),
                          std::bit_cast<std::uint32_t>(expected))
                    << words[0] << ' ' << code;
        }
    }
}

/// All 65,536 patterns of a 16-bit type.
template <class T>
std::vector<float> every_pattern() {
    std::vector<float> out;
    for (std::uint32_t bits = 0; bits < 0x10000u; ++bits)
        out.push_back(to_float(T{static_cast<std::uint16_t>(bits)}));
    return out;
}

/// Two f32 below to two above the middle of each pair of neighbours, and that of the largest value
/// and the next beyond it, in both signs.
std::vector<float> ties(FloatLayout layout) {
    std::vector<float> out;
    for (std::uint32_t code = 0; code <= layout.largest(); ++code) {
        const float low = from_small_float(code, layout);
        const float high = code < layout.largest() ? from_small_float(code + 1, layout)
                                                   : 2 * low - from_small_float(code - 1, layout);
        const auto middle = std::bit_cast<std::uint32_t>((low + high) / 2);
        for (std::uint32_t bits = middle - 2; bits <= middle + 2; ++bits)
            out.push_back(std::bit_cast<float>(bits));
    }
    const std::size_t count = out.size();
    for (std::size_t i = 0; i < count; ++i) out.push_back(-out[i]);
    return out;
}

TEST(SmallFloatGolden, CastsGiveThePeersCodes) {
    const std::map<std::string, std::vector<float>> patterns{{"bf16", every_pattern<BFloat16>()},
                                                             {"fp16", every_pattern<Half>()}};
    const auto cases = low_bits::cases("cast");
    ASSERT_EQ(cases.size(), low_bits::layouts.size() * 6 + 2);
    for (const auto& words : cases) {
        const std::string title = words[0] + ' ' + words[1] + ' ' + words[2];
        const bool scale = words[0] == "e8m0";
        const auto inputs =
            words[1] == "ties" ? ties(low_bits::layouts.at(words[0])) : patterns.at(words[1]);
        const auto expected = low_bits::numbers(words, 3);
        ASSERT_EQ(expected.size(), inputs.size()) << title;
        const auto cast = [&](float f) {
            if (scale) return to_e8m0(f, PowerRounding::nearest, false);
            return to_small_float(f, low_bits::layouts.at(words[0]),
                                  words[2] == "saturate" ? Saturate::finite : Saturate::no);
        };
        for (std::size_t i = 0; i < inputs.size(); ++i)
            ASSERT_EQ(cast(inputs[i]), expected[i]) << title << ' ' << inputs[i];
    }
}

}  // namespace
}  // namespace kernels
