#include "data/csv/csv_statistics.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

namespace engine {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(CsvSplit, PartsAreDisjointCompleteAndAscending) {
    const CsvSplit split = split_csv_rows(1003, 0.2, 0.1, 7);
    EXPECT_EQ(split.test.size(), 201U);       // round(200.6)
    EXPECT_EQ(split.validation.size(), 80U);  // round(80.2)
    EXPECT_EQ(split.train.size(), 722U);
    std::vector<std::int64_t> all;
    for (const auto* part : {&split.train, &split.validation, &split.test}) {
        EXPECT_TRUE(std::is_sorted(part->begin(), part->end()));
        all.insert(all.end(), part->begin(), part->end());
    }
    std::sort(all.begin(), all.end());
    std::vector<std::int64_t> expected(1003);
    std::iota(expected.begin(), expected.end(), 0);
    EXPECT_EQ(all, expected);
}

TEST(CsvSplit, TheSeedAloneDecides) {
    EXPECT_EQ(split_csv_rows(100, 0.3, 0, 5).test, split_csv_rows(100, 0.3, 0, 5).test);
    EXPECT_NE(split_csv_rows(100, 0.3, 0, 5).test, split_csv_rows(100, 0.3, 0, 6).test);
    // Stored runs identify their rows by the seed, so these must not change.
    EXPECT_THAT(split_csv_rows(20, 0.25, 0, 1).test, ElementsAre(2, 7, 8, 9, 17));
}

TEST(CsvSplit, TheTestRowsDoNotDependOnTheValidationShare) {
    EXPECT_EQ(split_csv_rows(100, 0.3, 0, 5).test, split_csv_rows(100, 0.3, 0.5, 5).test);
}

TEST(CsvSplit, SharesMayBeZeroOrTakeEverything) {
    const CsvSplit none = split_csv_rows(10, 0, 0, 1);
    EXPECT_EQ(none.train.size(), 10U);
    EXPECT_THAT(none.test, IsEmpty());
    EXPECT_THAT(none.validation, IsEmpty());
    EXPECT_THAT(split_csv_rows(2, 0.8, 0, 1).train, IsEmpty());
    EXPECT_EQ(split_csv_rows(1, 0.2, 0, 1).train.size(), 1U);
}

}  // namespace
}  // namespace engine
