#include "ops/detection/balanced_sample.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <utility>

#include "engine/base/error.h"
#include "kernels/parallel.h"
#include "kernels/philox.h"
#include "support/expectations.h"

namespace engine {
namespace {

using Values = std::vector<double>;

Tensor whole(const Values& values, const Shape& shape) {
    return Tensor::of(values, shape, DType::i64);
}

std::vector<Values> sampled(const Tensor& matches, const Tensor& draws,
                            const SampleOptions& options) {
    std::vector<Values> out;
    for (const Tensor& each : balanced_sample(matches, draws, options))
        out.push_back(each.values());
    return out;
}

TEST(BalancedSample, FillsUpWithNegativesAndPacksThePictures) {
    const Tensor matches = whole({-1, 3, -2, -1, 0, -2, -2, -2, -2, 5}, {2, 5});
    const auto out = sampled(matches, whole({7, 8}, {2}), {4, 2});
    EXPECT_EQ(out[0], (Values{0, 1, 3, 4, 9, -1, -1, -1}));
    EXPECT_EQ(out[1], (Values{1, 3, 4, -1}));
    EXPECT_EQ(out[2], (Values{5, 3}));
}

TEST(BalancedSample, TakesNoMoreThanThereAre) {
    const auto all = sampled(whole({-1, -1, 0, 0, 0, -2}, {1, 6}), whole({1}, {1}), {4, 1});
    EXPECT_EQ(all[2], (Values{3, 1}));
    const auto none = sampled(whole({-2, -2}, {1, 2}), whole({1}, {1}), {4, 2});
    EXPECT_EQ(none[0], (Values{-1, -1, -1, -1}));
    EXPECT_EQ(none[2], (Values{0, 0}));
    EXPECT_EQ(sampled(whole({}, {1, 0}), whole({1}, {1}), {2, 1})[2], (Values{0, 0}));
    EXPECT_EQ(sampled(whole({1, 1, 1}, {1, 3}), whole({1}, {1}), {2, 5})[2], (Values{2, 2}));
}

TEST(BalancedSample, TakesTheSmallestWordsOfThePicturesDraw) {
    constexpr std::int64_t n = 300, draw = -987654321012345;
    Values matches;
    for (std::int64_t i = 0; i < n; ++i) matches.push_back(static_cast<double>(i % 5) - 2);
    const auto bits = static_cast<std::uint64_t>(draw);
    const kernels::PhiloxStream random{
        {static_cast<std::uint32_t>(bits), static_cast<std::uint32_t>(bits >> 32)}, 0, 1};
    std::vector<std::pair<std::uint32_t, double>> kinds[2];
    for (std::int64_t i = 0; i < n; ++i)
        if (i % 5 > 0)
            kinds[i % 5 > 1 ? 0 : 1].emplace_back(random.at(static_cast<std::uint64_t>(i)),
                                                  static_cast<double>(i));
    Values wanted;
    for (std::size_t kind = 0; kind < 2; ++kind) {
        std::ranges::sort(kinds[kind]);
        for (std::size_t i = 0; i < (kind == 0 ? 16u : 48u); ++i)
            wanted.push_back(kinds[kind][i].second);
    }
    std::ranges::sort(wanted);
    EXPECT_EQ(sampled(whole(matches, {1, n}), Tensor::full({1}, static_cast<double>(draw), DType::i64),
                      {64, 16, 1})[0],
              wanted);
}

TEST(BalancedSample, IsUniform) {
    constexpr std::int64_t draws = 100000, candidates = 20, taken = 5;
    Values numbers;
    for (std::int64_t i = 0; i < draws; ++i) numbers.push_back(static_cast<double>(i));
    // On the host: a GPU takes the same ones (tests/kernels/match_boxes_test.cpp).
    const auto out = sampled(Tensor::full({draws, candidates}, -1, DType::i64, Device{}),
                             whole(numbers, {draws}).copy_to(Device{}), {taken, 2});
    double times[candidates] = {};
    for (const double row : out[0]) times[static_cast<std::int64_t>(row) % candidates] += 1;
    const double share = static_cast<double>(taken) / candidates, mean = draws * share;
    double squares = 0;
    for (const double each : times)
        squares += (each - mean) * (each - mean) / (mean * (1 - share)) * (candidates - 1) / candidates;
    EXPECT_LT(squares, 52.4);  // chi-squared of 19 degrees of freedom, p = 1e-4
}

TEST(BalancedSample, OfAPictureDoesNotDependOnTheBatchOrTheThreads) {
    Values matches;
    for (int i = 0; i < 3 * 40; ++i) matches.push_back(i % 7 - 2);
    const Tensor draws = whole({11, 12, 13}, {3});
    const auto together = sampled(whole(matches, {3, 40}), draws, {8, 4});
    const int before = kernels::cpu::threads();
    kernels::cpu::set_threads(4);
    EXPECT_EQ(sampled(whole(matches, {3, 40}), draws, {8, 4}), together);
    kernels::cpu::set_threads(before);
    for (int picture = 0; picture < 3; ++picture) {
        const auto alone =
            sampled(whole(Values(matches.begin() + picture * 40, matches.begin() + picture * 40 + 40),
                          {1, 40}),
                    whole({11.0 + picture}, {1}), {8, 4})[0];
        for (std::size_t i = 0; i < alone.size(); ++i)
            EXPECT_EQ(alone[i] + picture * 40, together[0][static_cast<std::size_t>(picture) * 8 + i]);
    }
}

TEST(BalancedSample, RefusesNumbersOfOtherTypes) {
    const Tensor draws = whole({1}, {1});
    message_of(ErrorCode::dtype, [&] { balanced_sample(Tensor::zeros({1, 3}, DType::f32), draws); });
    message_of(ErrorCode::shape, [&] { balanced_sample(whole({1, 1}, {2, 1}), draws); });
    message_of(ErrorCode::value, [&] { balanced_sample(whole({1, 1}, {1, 2}), draws, {-1, 0}); });
}

}  // namespace
}  // namespace engine
