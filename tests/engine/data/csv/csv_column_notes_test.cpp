#include "data/csv/csv_column_notes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace engine {
namespace {

using testing::HasSubstr;

TEST(CsvColumnNotes, WarnOnceForEachReasonAndNameAFewColumns) {
    CsvColumnNotes notes;
    EXPECT_TRUE(notes.warnings().empty());
    notes.empty = {"column 4"};
    for (int i = 1; i <= 9; ++i) notes.written.push_back("price" + std::to_string(i));
    const auto warnings = notes.warnings();
    ASSERT_EQ(warnings.size(), 2u);
    EXPECT_EQ(warnings[0].str(), "columns without a name and a value are left out: column 4");
    EXPECT_THAT(warnings[1].str(), HasSubstr("price5"));
    EXPECT_THAT(warnings[1].str(), testing::Not(HasSubstr("price6")));
}

}  // namespace
}  // namespace engine
