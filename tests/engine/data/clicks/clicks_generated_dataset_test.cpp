#include "data/clicks/clicks_generated_dataset.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "read_sample.h"

namespace engine {
namespace {

struct Click {
    std::vector<float> x;
    std::vector<std::int64_t> ids;
    std::int64_t label = -1;

    bool operator==(const Click&) const = default;
};

Click read_click(const Dataset& data, std::int64_t index) {
    const auto& fields = data.schema().fields;
    Click click{std::vector<float>(static_cast<std::size_t>(fields[1].shape.numel())),
                std::vector<std::int64_t>(static_cast<std::size_t>(fields[0].shape.numel()))};
    std::array places{test::place_of(click.ids.data(), click.ids.size()),
                      test::place_of(click.x.data(), click.x.size()),
                      test::place_of(&click.label, 1)};
    data.read(index, SampleFields(places));
    return click;
}

ClicksGeneratedDataset clicks(std::int64_t size, StreamId stream = StreamId::clicks_train,
                              std::int64_t seed = 7) {
    return {seed, stream, size, 8, 1000};
}

/// The AUC by ranks; ties count half.
double auc(std::vector<std::pair<double, std::int64_t>> scored) {
    std::sort(scored.begin(), scored.end());
    double pairs = 0, zeros = 0, ones = 0;
    for (std::size_t i = 0; i < scored.size();) {
        double zero = 0, one = 0;
        std::size_t end = i;
        for (; end < scored.size() && scored[end].first == scored[i].first; ++end)
            (scored[end].second == 1 ? one : zero) += 1;
        pairs += one * (zeros + zero / 2);
        zeros += zero;
        ones += one;
        i = end;
    }
    return pairs / (zeros * ones);
}

TEST(ClicksGeneratedDataset, IsAPureFunctionOfSeedStreamAndIndex) {
    const auto few = clicks(10), many = clicks(1000), test = clicks(10, StreamId::clicks_test),
               other = clicks(10, StreamId::clicks_train, 8);
    for (std::int64_t i = 0; i < 10; ++i) {
        EXPECT_EQ(read_click(few, i), read_click(many, i));
        EXPECT_FALSE(read_click(few, i) == read_click(test, i));
        EXPECT_FALSE(read_click(few, i) == read_click(other, i));
    }
}

TEST(ClicksGeneratedDataset, HasStandardNormalNumbersAndFrequentLowIds) {
    const std::int64_t size = 20000;
    const auto data = clicks(size);
    double sum = 0, squares = 0, low = 0;
    std::int64_t highest = 0;
    for (std::int64_t i = 0; i < size; ++i) {
        const Click click = read_click(data, i);
        for (const float x : click.x) {
            sum += static_cast<double>(x);
            squares += static_cast<double>(x * x);
        }
        for (const std::int64_t id : click.ids) {
            ASSERT_TRUE(id >= 0 && id < 1000);
            low += id < 125 ? 1 : 0;
            highest = std::max(highest, id);
        }
    }
    // Five standard deviations.
    const auto count = static_cast<double>(size * ClicksGeneratedDataset::numbers);
    EXPECT_NEAR(sum / count, 0, 5 / std::sqrt(count));
    EXPECT_NEAR(squares / count, 1, 5 * std::sqrt(2 / count));
    const auto ids = static_cast<double>(size * 8);
    EXPECT_NEAR(low / ids, 0.5, 5 * std::sqrt(0.25 / ids)) << "u^3 is below 1/8 for half of u";
    EXPECT_GT(highest, 990);
}

// The AUC of a perfect model.
TEST(ClicksGeneratedDataset, ItsRuleHasTheAucThatTheReadmeStates) {
    const auto data = clicks(50000, StreamId::clicks_test, 1);
    std::vector<std::pair<double, std::int64_t>> scored;
    double clicked = 0, expected = 0;
    for (std::int64_t i = 0; i < data.size(); ++i) {
        const double logit = data.logit(i);
        scored.emplace_back(logit, read_click(data, i).label);
        clicked += static_cast<double>(scored.back().second);
        expected += 1 / (1 + std::exp(-logit));
    }
    // Five standard deviations of a mean of 50,000 clicks.
    EXPECT_NEAR(clicked / 50000, expected / 50000, 5 * std::sqrt(0.25 / 50000));
    // Five standard deviations of the AUC of this many samples, a quarter of which are clicked.
    EXPECT_NEAR(auc(scored), 0.884, 0.008);
}

}  // namespace
}  // namespace engine
