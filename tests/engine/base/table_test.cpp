#include "engine/base/table.h"

#include <gtest/gtest.h>

#include <limits>

#include "engine/base/json.h"

namespace engine {
namespace {

constexpr double not_known = std::numeric_limits<double>::quiet_NaN();

Table table_of_sizes() {
    return {{"layer", "values", "share"},
            {{"fc,1", 12, Cell(0.125, "%.1f %%")}, {"=µ|", Cell(), not_known}}};
}

TEST(Table, AlignsTextLeftAndNumbersRight) {
    EXPECT_EQ(to_text(table_of_sizes(), 1),
              "layer  values  share\n"
              "fc,1       12  0.1 %\n"
              "=µ|         -      -\n");
}

TEST(Table, QuotesTextForCsvAndLeavesNothingEmpty) {
    EXPECT_EQ(to_csv(table_of_sizes()), "layer,values,share\n\"fc,1\",12,0.1 %\n'=µ|,,nan\n");
    EXPECT_EQ(to_csv({{"x"}, {{"=1"}, {-0.5}, {finite_cell(not_known)}}}, /*raw=*/true),
              "x\n=1\n-0.5\n\n");
}

TEST(Table, IsAMarkdownTable) {
    EXPECT_EQ(to_markdown(table_of_sizes(), 1),
              "| layer | values | share |\n| --- | ---: | --- |\n| fc,1 | 12 | 0.1 % |\n"
              "| =µ\\| | - | - |\n");
}

TEST(Table, IsAListOfObjectsInJson) {
    EXPECT_EQ(dumped(nlohmann::ordered_json(table_of_sizes())),
              R"([{"layer":"fc,1","values":12,"share":0.125},{"layer":"=µ|","values":null,"share":"nan"}])");
}

TEST(Table, RowsBreakNoLine) {
    EXPECT_EQ(to_text({{"a", "b"}, {{"x\ny", std::optional<float>()}}}, 2), "a    b\nx y  -\n");
}

}  // namespace
}  // namespace engine
