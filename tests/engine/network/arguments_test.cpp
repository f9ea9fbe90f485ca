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

/// A call as PyTorch has it, and the one of the same meaning that is suggested.
TEST(NetworkArguments, TheSuggestionMeansWhatPytorchMeans) {
    const std::pair<std::string, std::string> calls[] = {
        {"Flatten(1, 2) from image", "start_dim alone comes without a name. Write Flatten(1, end_dim=2)."},
        {"Flatten(2, 3) from image", "Write Flatten(2, end_dim=3)."},
        {"Conv2d(3, 64, 7, 2, 3, bias=false) from image", "Write Conv2d(64, 7, stride=2, padding=3, bias=false)."},
        {"Conv2d(3, 64, 3, 1, \"same\", 2) from image", "Write Conv2d(64, 3, stride=1, padding=same, dilation=2)."},
        {"ConvTranspose2d(3, 8, 2, 2, 0, 1, 1, true, 2) from image", "Write ConvTranspose2d(8, 2, stride=2, padding=0, output_padding=1, dilation=2, groups=1, bias=true)."},
        {"Conv2d(64, 7, 2) from image", "Write Conv2d(7, 2); or Conv2d(64, 7, stride=2), if 64 is no size of the input."},
        {"Conv2d(64, 7, 2)", "Write Conv2d(7, 2); or Conv2d(64, 7, stride=2), if 64 is no size of the input."},
        {"Linear(20, 10, false)", "Write Linear(10, bias=false)."},
        {"BatchNorm2d(3, 0.001, 0.2) from image", "Write BatchNorm2d(eps=0.001, momentum=0.2)."},
        {"LayerNorm([32, 32], 1e-6) from image", "Write LayerNorm(dims=2, eps=1e-06)."},
        {"GroupNorm(3, 3) from image", "num_groups alone comes without a name; sizes of the input follow from it. Write GroupNorm(3)."},
        {"PReLU(3) from image", "nothing comes without a name. Write PReLU(num_parameters=3)."},
        {"MaxPool2d(3, 2) from image", "kernel_size alone comes without a name. Write MaxPool2d(3, stride=2)."},
        {"MaxPool2d(3, 2, 1, 1, false) from image", "MaxPool2d(3, 2, 1, 1, false): too many arguments without a name. The arguments of MaxPool2d are kernel_size, stride, padding, dilation, ceil_mode."},
        {"AvgPool2d(3, 2, 1, true) from image", "Write AvgPool2d(3, stride=2, padding=1, ceil_mode=true)."},
        {"LPPool2d(2, 3, 2) from image", "norm_type and kernel_size come without names. Write LPPool2d(2, 3, stride=2)."},
        {"Upsample(2, bilinear) from image", "Write Upsample(2, mode=bilinear)."},
        {"Pad(1, reflect) from image", "Write Pad(1, mode=reflect)."},
        {"Mean([2, 3], true) from image", "Write Mean([2, 3], keepdim=true)."},
        {"ReLU(true) from image", "nothing comes without a name. Write ReLU."},
        {"Dropout(0.5, true) from image", "Write Dropout(0.5)."},
        {"Embedding(1000, 64) from tokens", "Write Embedding(64)."},
        {"Flatten(2) from image\nLSTM(1024, 20, 2, true, true, 0.1)", "Write LSTM(20, num_layers=2, bias=true, dropout=0.1)."},
        {"Flatten(2) from image\nGRU(1024, 20, 2, true, false)", "too many arguments without a name"},
        {"Flatten(2) from image\nMultiheadAttention(1024, 8)", "Write MultiheadAttention(8)."},
        {"Concat(1) from image, image", "Write Concat(dim=1)."},
    };
    for (const auto& [call, suggestion] : calls) EXPECT_THAT(fault_text(call), testing::HasSubstr(suggestion)) << call;
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
