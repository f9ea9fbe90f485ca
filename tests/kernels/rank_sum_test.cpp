#include "kernels/rank_group.h"

#include <gtest/gtest.h>

#include <cstring>
#include <limits>
#include <vector>

namespace kernels {
namespace {

template <typename T>
std::vector<T> summed(DType dtype, std::vector<std::vector<T>> parts) {
    std::vector<void*> outs;
    for (auto& part : parts) outs.push_back(part.data());
    const std::vector<const void*> from(outs.begin(), outs.end());
    const auto size = static_cast<std::int64_t>(parts.front().size());
    cpu::rank_sum(outs, from, dtype, 0, size / 2);
    cpu::rank_sum(outs, from, dtype, size / 2, size);
    for (const auto& part : parts) {
        for (std::size_t i = 0; i < part.size(); ++i)
            EXPECT_EQ(0, std::memcmp(&part[i], &parts[0][i], sizeof(T))) << "every part has it";
    }
    return parts.front();
}

TEST(RankSum, AddsInTheOrderOfThePartsInF32) {
    // (1e8 + 1) - 1e8 is 0 in f32; another order gives 1.
    EXPECT_EQ(summed<float>(DType::f32, {{1e8f, 1}, {1, 2}, {-1e8f, 4}}),
              (std::vector<float>{0, 7}));
    EXPECT_EQ(summed<double>(DType::f64, {{1e8}, {1}, {-1e8}}), std::vector<double>{1});
    EXPECT_EQ(
        summed<std::int64_t>(DType::i64, {{std::numeric_limits<std::int64_t>::max(), 2}, {1, -5}}),
        (std::vector<std::int64_t>{std::numeric_limits<std::int64_t>::min(), -3}));
}

TEST(RankSum, RoundsSixteenBitSumsOnce) {
    // 2048 + 1 is a tie in f16 that goes to the even 2048. If each addition were rounded, the sum
    // would stay there.
    const std::vector<Half> f16 =
        summed<Half>(DType::f16, {{to_half(2048)}, {to_half(1)}, {to_half(1)}});
    EXPECT_EQ(to_float(f16[0]), 2050);
    const std::vector<BFloat16> bf16 =
        summed<BFloat16>(DType::bf16, {{to_bfloat16(256)}, {to_bfloat16(1)}, {to_bfloat16(1)}});
    EXPECT_EQ(to_float(bf16[0]), 258);
    EXPECT_EQ(to_float(summed<Half>(DType::f16, {{to_half(60000)}, {to_half(60000)}})[0]),
              std::numeric_limits<float>::infinity());
}

TEST(RankSum, GoesBeyondABlock) {
    std::vector<std::vector<float>> parts(2, std::vector<float>(5000));
    for (std::size_t i = 0; i < 5000; ++i) {
        parts[0][i] = static_cast<float>(i);
        parts[1][i] = static_cast<float>(2 * i);
    }
    const auto sums = summed<float>(DType::f32, parts);
    for (std::size_t i = 0; i < 5000; ++i) EXPECT_EQ(sums[i], static_cast<float>(3 * i));
}

}  // namespace
}  // namespace kernels
