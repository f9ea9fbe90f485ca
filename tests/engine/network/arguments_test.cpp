#include "network/arguments.h"

#include <gtest/gtest.h>

#include "checked.h"

namespace engine::network {
namespace {

TEST(NetworkArguments, SizesOfTheInputAreNotWritten) {
    EXPECT_EQ(fault_text("Conv2d(3, 64, 7) from image"),
              "1:1: Conv2d(3, 64, 7): out_channels and kernel_size come without names; sizes of the input follow from it. Write Conv2d(64, 7).");
    EXPECT_EQ(fault_text("BatchNorm2d(64) from image"),
              "1:1: BatchNorm2d(64): nothing comes without a name; sizes of the input follow from it. Write BatchNorm2d.");
    EXPECT_THAT(fault_text("LayerNorm(20)"), testing::HasSubstr("nothing comes without a name"));
}

TEST(NetworkArguments, EachFitsItsForm) {
    EXPECT_THAT(fault_text("Conv2d(8, 3, stirde=2) from image"), testing::EndsWith("Conv2d has no argument stirde. Did you mean stride?"));
    EXPECT_THAT(fault_text("Conv2d(8, 3, stride=0) from image"), testing::HasSubstr("stride = 0: use 1 "));
    EXPECT_THAT(fault_text("Conv2d(8, [3, 3, 3]) from image"), testing::HasSubstr("or a list of 2"));
    EXPECT_THAT(fault_text("Linear(8, bias=1)"), testing::HasSubstr("bias takes true or false, not 1."));
    EXPECT_THAT(fault_text("Linear"), testing::HasSubstr("Linear: out_features is missing."));
    EXPECT_THAT(fault_text("Linear(8, out_features=9)"), testing::HasSubstr("out_features is given twice."));
    EXPECT_THAT(fault_text("Activation(relo)"), testing::HasSubstr("Did you mean relu?"));
    EXPECT_THAT(fault_text("Activation(\"relo\")"), testing::HasSubstr("word takes one of these words: relu, gelu"));
    EXPECT_THAT(fault_text("a: Linear(8, init=normal)"), testing::HasSubstr("normal takes one number: normal(0.02)."));
    EXPECT_THAT(fault_text("a: Linear(8, init=kaiming_normal(fan_on, relu))"), testing::HasSubstr("fan_in"));
    EXPECT_THAT(fault_text("Dropout(1.5)"), testing::HasSubstr("p = 1.5: use 0 to 1."));
}

TEST(NetworkArguments, RowsShowTheCallWithoutDefaults) {
    const auto layer = [](const std::string& line) {
        const CheckedNetwork network = check_body(line + " from image");
        return network.rows.empty() ? fault_text(line + " from image") : network.rows[0].layer;
    };
    EXPECT_EQ(layer("Conv2d(8, [3, 1], padding=same)"), "Conv2d(8, [3, 1], padding=same)");
    EXPECT_EQ(layer("Conv2d(out_channels=8, kernel_size=3, bias=false)"), "Conv2d(8, 3, bias=false)");
    EXPECT_EQ(layer("Permute(0, 2, 3, 1)"), "Permute(0, 2, 3, 1)");
    EXPECT_EQ(layer("ReLU"), "ReLU");
}

}  // namespace
}  // namespace engine::network
