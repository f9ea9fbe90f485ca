#include "engine/base/near_name.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace engine {
namespace {

using testing::ElementsAre;

TEST(NearestName, FindsAMisspeltOneAndNothingForAnother) {
    const std::vector<std::string> known = {"momentum", "nesterov", "lr"};
    EXPECT_EQ(nearest_name("momentun", known), "momentum");
    EXPECT_EQ(nearest_name("colour", known), "");
    EXPECT_EQ(nearest_name("", known), "");
    EXPECT_EQ(nearest_name("foo", {"off", "static", "dynamic"}), "");
    EXPECT_EQ(nearest_name("fp64", {"fp32", "bf16"}), "fp32");
}

TEST(NearestName, TakesExchangedLettersForOneEdit) {
    EXPECT_EQ(nearest_name("trian", {"trace", "train"}), "train");
    EXPECT_EQ(nearest_name("traun", {"tasks", "train", "twin"}), "train");
}

TEST(NearestName, TakesTheFirstOfTwoThatAreEquallyNear) {
    EXPECT_EQ(nearest_name("rums", {"runs", "rims"}), "runs");
}

TEST(ByLikeness, SortsByTheEditsAndKeepsTheOrderOfEquals) {
    EXPECT_THAT(by_likeness("price", {"width", "prices", "pride", "price"}),
                ElementsAre("price", "prices", "pride", "width"));
}

}  // namespace
}  // namespace engine
