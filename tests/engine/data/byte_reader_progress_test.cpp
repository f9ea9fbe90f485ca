#include "data/byte_reader.h"

#include <gtest/gtest.h>

#include <thread>
#include <utility>
#include <vector>

namespace engine {
namespace {

using Reports = std::vector<std::pair<std::int64_t, std::int64_t>>;

TEST(ReadingProgress, GoesToTheInnermostScopeOfTheThread) {
    Reports outer, inner;
    report_reading({1, 9});  // without a listener
    const ReadingProgressScope first(
        [&](const ReadingShare& share) { outer.emplace_back(share.done, share.total); });
    report_reading({2, 9});
    {
        const ReadingProgressScope second(
            [&](const ReadingShare& share) { inner.emplace_back(share.done, share.total); });
        report_reading({3, 9});
    }
    {
        const ReadingProgressScope silent({});
        report_reading({4, 9});
    }
    std::thread([] { report_reading({5, 9}); }).join();
    report_reading({6, 9});
    EXPECT_EQ(outer, (Reports{{2, 9}, {6, 9}}));
    EXPECT_EQ(inner, (Reports{{3, 9}}));
}

}  // namespace
}  // namespace engine
