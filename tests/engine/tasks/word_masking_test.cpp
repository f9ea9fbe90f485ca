#include "tasks/word_masking.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <vector>

namespace engine {
namespace {

constexpr std::int64_t vocabulary = 1000;

/// A window before and after masking.
struct Window {
    std::vector<std::int64_t> tokens, original, places;
};

Window masked(std::int64_t length, const SamplePlace& place, bool training = true) {
    Window out;
    for (std::int64_t i = 0; i < length; ++i) out.tokens.push_back((7 * i + 3) % vocabulary);
    out.original.assign(out.tokens.size(), -1);
    out.places.assign(out.tokens.size(), -1);
    const auto bytes = out.tokens.size() * sizeof(std::int64_t);
    const auto place_of = [&](std::vector<std::int64_t>& field) {
        return SampleFields::Place{reinterpret_cast<std::byte*>(field.data()), bytes, 0, 0};
    };
    SampleFields::Place fields[] = {place_of(out.tokens), place_of(out.original),
                                    place_of(out.places)};
    WordMasking({1, 2}, vocabulary, vocabulary, training).apply(SampleFields(fields), 0, place);
    return out;
}

TEST(WordMasking, CountFollowsFromTheLength) {
    EXPECT_EQ(masked_count(1), 1);
    EXPECT_EQ(masked_count(3), 1);
    EXPECT_EQ(masked_count(10), 2) << "1.5 rounds up";
    EXPECT_EQ(masked_count(100), 15);
    EXPECT_EQ(masked_count(128), 19);
}

TEST(WordMasking, KeepsTheTextAndChangesChosenTokensAlone) {
    const Window window = masked(100, {1, 0, 0});
    const std::vector<std::int64_t> chosen(window.places.begin(), window.places.begin() + 15);
    EXPECT_TRUE(std::ranges::is_sorted(chosen));
    EXPECT_EQ(std::ranges::adjacent_find(chosen), chosen.end()) << "without replacement";
    EXPECT_THAT(std::vector<std::int64_t>(window.places.begin() + 15, window.places.end()),
                testing::Each(0));
    for (std::int64_t i = 0; i < 100; ++i) {
        const auto at = static_cast<std::size_t>(i);
        EXPECT_EQ(window.original[at], (7 * i + 3) % vocabulary);
        if (!std::ranges::binary_search(chosen, i)) {
            EXPECT_EQ(window.tokens[at], window.original[at]);
        }
    }
}

// Each count is binomial. Allows five standard deviations, so a correct generator fails once in a
// million.
TEST(WordMasking, EightOfTenBecomeTheMaskAndOneOfTenAnotherWord) {
    double all = 0, mask = 0, other = 0;
    std::vector<double> at(100);
    for (std::uint64_t window = 0; window < 2000; ++window) {
        const Window found = masked(100, {1, 3, window * 100});
        for (std::size_t i = 0; i < 15; ++i) {
            const auto place = static_cast<std::size_t>(found.places[i]);
            const std::int64_t token = found.tokens[place];
            ++all, ++at[place];
            EXPECT_LE(token, vocabulary);
            mask += token == vocabulary ? 1 : 0;
            other += token != vocabulary && token != found.original[place] ? 1 : 0;
        }
    }
    EXPECT_NEAR(mask / all, 0.8, 5 * std::sqrt(0.8 * 0.2 / all));
    EXPECT_NEAR(other / all, 0.1, 5 * std::sqrt(0.1 * 0.9 / all) + 0.1 / vocabulary);
    for (const double count : at)
        EXPECT_NEAR(count / 2000, 0.15, 5 * std::sqrt(0.15 * 0.85 / 2000));
}

TEST(WordMasking, FollowsFromSeedEpochAndPlace) {
    const SamplePlace place{1, 2, 300};
    const auto tokens = masked(100, place).tokens;
    EXPECT_EQ(masked(100, place).tokens, tokens);
    EXPECT_NE(masked(100, {2, 2, 300}).tokens, tokens);
    EXPECT_NE(masked(100, {1, 3, 300}).tokens, tokens);
    EXPECT_NE(masked(100, {1, 2, 400}).tokens, tokens);
}

TEST(WordMasking, AnEvaluationHasMasksOfItsOwnInEveryPass) {
    const auto tokens = masked(100, {1, 0, 300}, false).tokens;
    EXPECT_EQ(masked(100, {1, 5, 300}, false).tokens, tokens) << "whatever the epoch";
    EXPECT_NE(masked(100, {1, 0, 300}, true).tokens, tokens);
}

}  // namespace
}  // namespace engine
