#include "network/kinds.h"

#include <gtest/gtest.h>

#include <set>

#include "checked.h"

namespace engine::network {
namespace {

TEST(NetworkKinds, EachHasItsShapeHelpAndArguments) {
    std::set<std::string> names;
    for (const LayerKind& kind : layer_kinds()) {
        EXPECT_TRUE(names.insert(kind.name).second) << kind.name;
        EXPECT_EQ(find_layer_kind(kind.name), &kind);
        EXPECT_NE(kind.shape, nullptr) << kind.name;
        EXPECT_TRUE(kind.help.ends_with('.')) << kind.name;
        for (const LayerArgument& argument : kind.arguments) EXPECT_TRUE(argument.option.help.ends_with('.')) << kind.name;
    }
    EXPECT_GE(names.size(), 90u);
}

TEST(NetworkKinds, NamesOfOtherLibrariesAreKnown) {
    EXPECT_EQ(nearest_layer_kind("Dense"), "Linear");
    EXPECT_EQ(nearest_layer_kind("InnerProduct"), "Linear");
    EXPECT_EQ(nearest_layer_kind("BatchNormalization"), "BatchNorm2d");
    EXPECT_EQ(nearest_layer_kind("Conv2D"), "Conv2d");
    EXPECT_EQ(nearest_layer_kind("maxpool2d"), "MaxPool2d");
    EXPECT_EQ(nearest_layer_kind("MaxPol2d"), "MaxPool2d");
    EXPECT_EQ(nearest_layer_kind("Transformer"), "");
}

struct Shaped {
    const char* line;
    const char* shape;
    std::int64_t parameters;
};

/// Shapes that PyTorch gives; tests/peer/network_kinds.py compares many more with it.
TEST(NetworkKinds, ShapesAreThoseOfPyTorch) {
    const Shaped cases[] = {
        {"Conv2d(8, 3, stride=2, padding=1) from image", "N x 8 x 16 x 16", 224},
        {"Conv2d(6, [3, 5], padding=same, dilation=2, groups=3, bias=false) from image", "N x 6 x 32 x 32", 90},
        {"ConvTranspose2d(4, 3, stride=2, padding=1, output_padding=1) from image", "N x 4 x 64 x 64", 112},
        {"MaxPool2d(3, stride=2, padding=1, ceil_mode=true) from image", "N x 3 x 17 x 17", 0},
        {"MaxPool2d(34, stride=4, ceil_mode=true) from image", "N x 3 x 1 x 1", 0},
        {"AvgPool2d(5) from image", "N x 3 x 6 x 6", 0},
        {"AdaptiveAvgPool2d([2, 3]) from image", "N x 3 x 2 x 3", 0},
        {"BatchNorm2d from image", "N x 3 x 32 x 32", 6},
        {"LayerNorm(dims=3) from image", "N x 3 x 32 x 32", 6144},
        {"GroupNorm(3) from image", "N x 3 x 32 x 32", 6},
        {"Flatten(2) from image", "N x 3 x 1024", 0},
        {"Unflatten(1, [-1, 3]) from image", "N x 1 x 3 x 32 x 32", 0},
        {"Reshape(-1, 32) from image", "N x 96 x 32", 0},
        {"Permute(0, 2, 3, 1) from image", "N x 32 x 32 x 3", 0},
        {"Select(1, -1) from image", "N x 32 x 32", 0},
        {"Slice(2, 1, -1, step=2) from image", "N x 3 x 15 x 32", 0},
        {"Split(3, 1, 4) from image", "N x 3 x 32 x 8", 0},
        {"Upsample(1.5, mode=bilinear) from image", "N x 3 x 48 x 48", 0},
        {"PixelUnshuffle(2) from image", "N x 12 x 16 x 16", 0},
        {"Pad([1, 2, 3, 4]) from image", "N x 3 x 39 x 35", 0},
        {"Mean([-2, -1]) from image", "N x 3", 0},
        {"x = Stack(1) from features, features", "N x 2 x 20", 0},
        {"x = Concat from features, features", "N x 40", 0},
        {"Rotary from image", "N x 3 x 32 x 32", 0},
        {"x = Where from features, features, features", "N x 20", 0},
        {"e: Embedding(8) from tokens", "N x T x 8", 8000},
        {"e: EmbeddingTables(4) from indices", "N x 26 x 4", 104000},
        {"e: EmbeddingBag(4, mode=sum) from indices", "N x 4", 4000},
    };
    for (const Shaped& each : cases) {
        const CheckedNetwork network = check_body(each.line);
        ASSERT_EQ(network.rows.size(), 1u) << each.line << ": " << fault_text(each.line);
        EXPECT_EQ(network.rows[0].shape, each.shape) << each.line;
        EXPECT_EQ(network.rows[0].parameters, each.parameters) << each.line;
    }
}

TEST(NetworkKinds, RecurrentLayersHaveSecondOutputs) {
    const CheckedNetwork network = check_body("x = Flatten(2) from image\nlstm: LSTM(8, num_layers=2, bidirectional=true)\nAdd from lstm.hidden, lstm.cell\nLinear(outputs)");
    EXPECT_TRUE(network.usable());
    EXPECT_EQ(network.rows[1].shape, "N x 3 x 16");
    EXPECT_EQ(network.rows[2].shape, "N x 16");
    EXPECT_EQ(network.parameters[4].name, "lstm.weight_ih_l0_reverse");
}

TEST(NetworkKinds, FaultsNameShapesAndAChange) {
    EXPECT_EQ(fault_text("a: Conv2d(8, 3, padding=1) from image\nb: Conv2d(4, 3, padding=1) from image\nx = Conv2d(8, 3) from a"),
              "3:5: Conv2d has parameters, so it needs a module's name: write \"x: Conv2d\".");
    EXPECT_EQ(fault_text("a: Conv2d(8, 3, stride=2, padding=1) from image\nb: Conv2d(4, 3, padding=1) from image\nx = Add from a, b"),
              "3:5: Add: a is N x 8 x 16 x 16, b is N x 4 x 32 x 32. They differ in channels, height and width. Give b 8 channels and stride=2.");
    EXPECT_EQ(fault_text("MaxPool2d(33) from image"),
              "1:1: MaxPool2d: the input is N x 3 x 32 x 32, smaller than the window. Remove this layer, or use images of at least 33 x 33.");
    EXPECT_EQ(fault_text("x = Flatten(2) from image\nMultiheadAttention(7)"),
              "2:1: num_heads = 7 does not divide the width 1024. Use 1, 2, 4, 8, 16, 32 or 64.");
    EXPECT_EQ(fault_text("a: Linear(8)\nb: Linear(4) from in\nx = Add from a, b"),
              "3:5: Add: a is N x 8, b is N x 4. They differ in the dimensions -1: each size has to be equal, or 1.");
    EXPECT_EQ(fault_text("x = Flatten(2) from image\nl: LSTM(2^25)"), "2:9: hidden_size = 33554432: use 1 to 16777216.");
    EXPECT_THAT(fault_text("Linear(8) from tokens"), testing::HasSubstr("Put Embedding or EmbeddingTables in between."));
    EXPECT_THAT(fault_text("Flatten(0) from image"), testing::HasSubstr("N cannot be joined with another size"));
    EXPECT_THAT(fault_text("x = Concat(dim=0) from in, in"), testing::HasSubstr("dimension 0 is the batch"));
    EXPECT_THAT(fault_text("x = Softmax(0) from in"), testing::HasSubstr("dimension 0 is the batch"));
    EXPECT_THAT(fault_text("x = Normalize(-2) from in"), testing::HasSubstr("dimension 0 is the batch"));
    EXPECT_TRUE(check_body("p: Parameter([20])\nx = Softmax(0) from p\ny = Mul from features, x\nLinear(outputs)").usable());
    EXPECT_EQ(fault_text("x = Flip([2, 2]) from image"), "1:5: Flip: dimension 2 comes twice.");
    EXPECT_EQ(fault_text("x = Roll([1, 1], [3, -1]) from image"), "1:5: Roll: dimension -1 comes twice.");
    EXPECT_EQ(fault_text("x = Mean([2, -2]) from image"), "1:5: Mean: dimension -2 comes twice.");
    EXPECT_EQ(fault_text("Linear(5000) from features\nLinear(4100, init=orthogonal)"),
              "2:1: orthogonal: a weight of 4100 x 5000 would take minutes. Use at most 4096 x 4096, or another rule.");
    EXPECT_TRUE(check_body("Linear(5000, init=orthogonal) from features\nLinear(outputs)").usable());
    EXPECT_THAT(fault_text("Linear(2^61)"), testing::HasSubstr("2^62 elements or more"));
}

TEST(NetworkKinds, AMaskIsAValueThatFitsTheScores) {
    const std::string begin = "x = Flatten(2) from image\nm: Parameter([4, 1, 3])\n", end = "\nFlatten\nLinear(outputs)";
    const CheckedNetwork network = check_body(begin + "a: MultiheadAttention(4, mask=m) from x\nAttention(4, mask=m) from a, x, x\ny = a from x" + end);
    ASSERT_TRUE(network.usable());
    EXPECT_EQ(network.rows[2].layer, "MultiheadAttention(4, mask=m)");
    EXPECT_EQ(network.rows[2].inputs, (std::vector<int>{0, 1}));
    EXPECT_EQ(network.rows[3].inputs, (std::vector<int>{2, 0, 0, 1}));
    EXPECT_EQ(network.rows[4].inputs, (std::vector<int>{0, 1})) << "a module that runs again has its mask";
    EXPECT_TRUE(check_body("x = Flatten(2) from image\ny = Mean([1, 2]) from x\nReshape(1, 1, 1)\nAttention(4, mask=above) from x, x, x" + end).usable());
    EXPECT_EQ(fault_text(begin + "Attention(2, mask=m) from x"),
              "3:1: Attention: the mask m is 4 x 1 x 3, the scores of the heads are N x 2 x 3 x 3. Each size has to be equal, or 1.");
    EXPECT_EQ(fault_text(begin + "Attention(4, mask=m, causal=true) from x"), "3:1: Attention: use mask or causal=true, not both.");
    EXPECT_EQ(fault_text(begin + "Attention(4, mask=quantity) from x"), "3:19: quantity: there is no such layer or value here.");
    EXPECT_EQ(fault_text(begin + "Attention(4, mask=3) from x"), "3:19: mask names a value: mask=x.");
    EXPECT_EQ(fault_text(begin + "Attention(4, mask=m) from x, x"), "3:1: Attention takes one value, or queries, keys and values.");
}

TEST(NetworkKinds, WhereTakesWholeNumbersFirst) {
    EXPECT_TRUE(check_body("e: Embedding(8) from tokens\nc = Unsqueeze(-1) from tokens\nz = Constant(0)\nWhere from c, e, z\nMean(1)\nLinear(outputs)").usable());
    EXPECT_THAT(fault_text("e: Embedding(8) from tokens\nc = Unsqueeze(-1) from tokens\nx = Where from e, c, e"), testing::HasSubstr("takes numbers with fractions"));
    EXPECT_EQ(fault_text("x = Where from in, in"), "1:5: Where takes 3 values, not 2.");
    EXPECT_EQ(fault_text("e: Embedding(9) from tokens\nRotary"), "2:1: Rotary turns pairs of features: N x T x 9 has 9 of them. Use an even number.");
    EXPECT_EQ(fault_text("Rotary"), "1:1: Rotary takes N x T x features; the input is N x 20.");
}

TEST(NetworkKinds, SizesDoNotOverflow) {
    EXPECT_THAT(fault_text("ConvTranspose2d(1, 3, stride=4611686018427387000, bias=false) from image"), testing::HasSubstr("is out of range."));
    EXPECT_THAT(fault_text("ConvTranspose2d(1, 3, dilation=4611686018427387000, bias=false) from image"), testing::HasSubstr("is out of range."));
    EXPECT_EQ(fault_text("a: Parameter([1, 4000000000000000000])\nx = Concat from a, a, a"), "2:5: Concat: a size of 2^62 or more.");
}

TEST(NetworkKinds, FlopsCountTwoForAMultiplyAdd) {
    EXPECT_EQ(check_body("Linear(10)").rows[0].flops, 2.0 * 20 * 10);
    EXPECT_EQ(check_body("Conv2d(8, 3, padding=1) from image").rows[0].flops, 2.0 * 8 * 32 * 32 * 27);
    EXPECT_EQ(check_body("ReLU from image").rows[0].flops, 3.0 * 32 * 32);
    EXPECT_EQ(check_body("Flatten from image").rows[0].flops, 0);
}

}  // namespace
}  // namespace engine::network
