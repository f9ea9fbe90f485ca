#include "cuda/autotuner.h"

#include <gtest/gtest.h>

#include <map>
#include <vector>

namespace kernels::test {
namespace {

using cuda::race;

/// Algorithms of given times, and a clock that they move.
class Race : public ::testing::Test, public cuda::RaceClock {
protected:
    double time(const std::function<void()>& work) override {
        last = 0;
        work();
        return last;
    }
    double elapsed() override { return now; }

    /// Milliseconds of each; negative: it cannot.
    std::optional<cuda::RaceResult> hold(const std::vector<double>& times) {
        return race(
            times.size(),
            [&](std::size_t i) {
                ++runs[i];
                last = times[i];
                now += times[i] > 0 ? times[i] : 0;
                return times[i] >= 0;
            },
            *this);
    }

    std::map<std::size_t, int> runs;
    double last = 0, now = 0;
};

TEST_F(Race, IsWonByTheFastest) {
    const auto won = hold({3, 2.9, 1, 2});
    ASSERT_TRUE(won);
    EXPECT_EQ(won->winner, 2u);
    EXPECT_EQ(won->ms, 1);
    EXPECT_EQ(runs[0], 4) << "one to warm up, and three";
}

TEST_F(Race, GivesOneThatIsFarBehindNoSecondChance) {
    hold({1, 2, 1.2});
    EXPECT_EQ(runs[1], 2);
    EXPECT_EQ(runs[2], 4);
}

TEST_F(Race, IsNotWonByAHair) {
    EXPECT_EQ(hold({1, 0.98})->winner, 0u);
    EXPECT_EQ(hold({1, 0.96})->winner, 1u);
}

TEST_F(Race, LeavesOutWhatCannotRun) {
    const auto won = hold({-1, 2, -1, 1.5});
    ASSERT_TRUE(won);
    EXPECT_EQ(won->winner, 3u);
    EXPECT_EQ(runs[0], 1);
    EXPECT_FALSE(hold({-1, -1}));
    EXPECT_FALSE(hold({}));
}

TEST_F(Race, LeavesOutWhatFailsAfterItsFirstRun) {
    int calls = 0;
    const auto won = race(
        2,
        [&](std::size_t i) {
            last = i == 0 ? 1 : 0.1;
            return i == 0 || ++calls < 3;
        },
        *this);
    ASSERT_TRUE(won);
    EXPECT_EQ(won->winner, 0u);
    EXPECT_EQ(calls, 3);
}

TEST_F(Race, CountsTheBestOfThreeTimes) {
    const std::vector<double> first{9, 9, 2, 9},
        second{9, 1.9, 9, 9};  // the warm-up does not count
    std::map<std::size_t, std::size_t> at;
    const auto won = race(
        2,
        [&](std::size_t i) {
            last = (i == 0 ? first : second)[at[i]++];
            return true;
        },
        *this);
    ASSERT_TRUE(won);
    EXPECT_EQ(won->winner, 1u);
    EXPECT_EQ(won->ms, 1.9);
}

TEST_F(Race, EndsWhenItsTimeIsUp) {
    const auto won = hold({cuda::max_race_ms(), cuda::max_race_ms() / 2, 1});
    ASSERT_TRUE(won);
    EXPECT_EQ(won->winner, 0u) << "four runs of the first have taken all of it";
    EXPECT_EQ(runs.size(), 1u);
}

TEST_F(Race, LooksForOneThatCanRunHoweverLongThatTakes) {
    const auto won = race(
        3,
        [&](std::size_t i) {
            now += 10 * cuda::max_race_ms();
            last = 1;
            return i == 2;
        },
        *this);
    ASSERT_TRUE(won);
    EXPECT_EQ(won->winner, 2u);
}

TEST_F(Race, HasSoManyRacersAtMost) {
    std::vector<double> times(2 * cuda::max_candidates, 1);
    times[0] = times[1] = -1;
    times.back() = 0.1;
    EXPECT_EQ(hold(times)->winner, 2u);
    EXPECT_EQ(runs.size(), cuda::max_candidates + 2);
}

}  // namespace
}  // namespace kernels::test
