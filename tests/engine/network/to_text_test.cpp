#include "network/to_text.h"

#include <gmock/gmock.h>

#include "accepted_texts.h"
#include "checked.h"
#include "engine/base/error.h"
#include "engine/network/network_exports.h"

namespace engine::network {
namespace {

using testing::HasSubstr;

/// A text that makes the same network, and from which the same text is made again.
std::string written(const std::string& text, const NetworkData& data, const std::string& subject = {}) {
    std::string first;
    try {
        first = network_to_text(text, data);
        NetworkData plain = data;
        plain.options.clear();
        EXPECT_EQ(network_to_text(first, plain), first) << subject;
        EXPECT_EQ(parameter_names(check_network(first, plain)), parameter_names(check_network(text, data))) << subject;
    } catch (const Error& error) {
        ADD_FAILURE() << subject << ": " << error.what() << '\n' << first;
    }
    return first;
}

std::string written_body(const std::string& body) {
    const std::string text = written(with_body(body), small_data(), body);
    return text.substr(text.find("network("));
}

TEST(ToText, EachTemplateBecomesATextThatMakesItAgain) {
    for (const std::string& name : network_templates()) {
        const std::string text = network_template(name);
        NetworkData data = usual_network_data(text);
        if (name == "clicks") data.outputs = 1;
        written(text, data, name);
    }
}

TEST(ToText, EachAcceptedTextDoes) {
    NetworkData data = small_data();
    data.inputs[2].counts = {10};  // as many words as outputs, so that their weights can be shared
    for (const AcceptedText& accepted : accepted_texts) written(accepted.text, data, accepted.subject);
}

TEST(ToText, NumbersKeepTheirDigits) {
    EXPECT_THAT(written_body("a: Conv2d(8, 3) from image\nLeakyReLU(0.0100123456)\nUpsample(0.45454547)\n"
                             "AdaptiveAvgPool2d(1)\nFlatten\nLinear(outputs)"),
                testing::AllOf(HasSubstr("LeakyReLU(0.0100123456)"), HasSubstr("Upsample(0.45454547)")));
}

TEST(ToText, RepeatsAndBlocksAreFound) {
    EXPECT_EQ(written(network_template("resnet18"), usual_network_data("network(image):\n")),
              R"(init Conv2d.weight = kaiming_normal(fan_out, relu)
block BasicBlock(out_channels):
  conv1: Conv2d(out_channels, 3, padding=1, bias=false)
  bn1: BatchNorm2d
  ReLU
  conv2: Conv2d(out_channels, 3, padding=1, bias=false)
  bn2: BatchNorm2d(init=ones)
  Add from bn2, in
  ReLU
block BasicBlock_2(out_channels):
  conv1: Conv2d(out_channels, 3, stride=2, padding=1, bias=false)
  bn1: BatchNorm2d
  ReLU
  conv2: Conv2d(out_channels, 3, padding=1, bias=false)
  bn2: BatchNorm2d(init=ones)
  downsample: from in
    Conv2d(out_channels, 1, stride=2, bias=false)
    BatchNorm2d
  Add from bn2, downsample
  ReLU
network(image):
  conv1: Conv2d(64, 7, stride=2, padding=3, bias=false)
  bn1: BatchNorm2d
  ReLU
  maxpool: MaxPool2d(3, stride=2, padding=1)
  layer1:
    BasicBlock(64)
    BasicBlock(64)
  layer2:
    BasicBlock_2(128)
    BasicBlock(128)
  layer3:
    BasicBlock_2(256)
    BasicBlock(256)
  layer4:
    BasicBlock_2(512)
    BasicBlock(512)
  avgpool: AdaptiveAvgPool2d(1)
  Flatten
  fc: Linear(outputs)
)");
    EXPECT_THAT(written_body("Flatten\nrepeat h in [12, 12, 12] as i:\n  fc{i + 3}: Linear(12)\n  ReLU\nLinear(outputs)"),
                HasSubstr("  Flatten\n  repeat 3 as i:\n    fc{i + 3}: Linear(12)\n    ReLU\n  Linear(outputs)\n"));
}

/// Parts of a block that are used between others stand where they are used first, so that a text written again keeps them there.
TEST(ToText, BlocksStandInTheOrderOfTheirFirstUse) {
    const std::string text = written("block Inner(n, act = true):\n  Linear(n)\n  ReLU if act\n"
                                     "block Part(n, act, wide = false):\n  Inner(n, act)\n  Tanh if not act\n  Inner(n) if wide\n"
                                     "block Other():\n  Inner(9, false)\n  Part(9, true, true)\n"
                                     "network(features):\n  Part(8, true)\n  Other()\n  Part(8, false)\n  Linear(outputs)\n",
                                     small_data());
    std::string order;
    for (std::size_t at = text.find("block "); at != text.npos; at = text.find("block ", at + 1)) order += text.substr(at + 6, text.find('(', at) - at - 6) + ' ';
    EXPECT_EQ(order, "Inner Part Inner_2 Part_2 Other Part_3 ");
}

TEST(ToText, TheNumbersOfOptionsAreWritten) {
    NetworkData data = usual_network_data(network_template("mlp"));
    data.options = {{"hidden", std::vector<std::int64_t>{5, 7, 7}}};
    const std::string text = written(network_template("mlp"), data);
    EXPECT_THAT(text, HasSubstr("fc1: Linear(5)"));
    EXPECT_EQ(text.find("option"), text.npos);
}

TEST(ToText, ValuesWithoutANameGetOne) {
    EXPECT_THAT(written_body("Linear(20)\nx = ReLU\nLinear(20)\nx = Add from above, x\nLinear(20)\nAdd from above, x\nLinear(outputs)"),
                HasSubstr("  Linear(20)\n  x = ReLU\n  Linear(20)\n  x_2 = Add from above, x\n  Linear(20)\n  Add from above, x_2\n"));
    EXPECT_THAT(written_body("a:\n  Linear(20)\n  y = from above\n  ReLU\nAdd from a.y, features\nLinear(outputs)"), HasSubstr("  a:\n    Linear(20)\n    y = from above\n    ReLU\n  Add from a.y, features\n"));
    EXPECT_THAT(written_body("r = Unflatten(1, [4, 5])\nl: LSTM(6) from r\nAdd from l.hidden, l.cell\nLinear(outputs)"), HasSubstr("Add from l.hidden, l.cell"));
}

TEST(ToText, AMaskHasTheNameOfItsValue) {
    EXPECT_THAT(written_body("x = Flatten(2) from image\nbias: Parameter([4, 1, 3])\na: MultiheadAttention(4, mask=bias) from x\nAttention(4, mask=bias) from a, x, x\ny = a from x\nFlatten\nLinear(outputs)"),
                testing::AllOf(HasSubstr("  a: MultiheadAttention(4, mask=bias) from x\n"), HasSubstr("  Attention(4, mask=bias) from a, x, x\n")));
    EXPECT_THAT(written_body("x = Flatten(2) from image\nMean([1, 2])\nReshape(1, 1, 1)\nAttention(4, mask=above) from x\nFlatten\nLinear(outputs)"), HasSubstr("  Attention(4, mask=above) from x\n"));
}

TEST(ToText, ModulesRunAgainUnderTheirNames) {
    EXPECT_THAT(written_body("e: from features\n  Linear(20)\n  ReLU\ny = e from above\nAdd from y, e\nLinear(outputs)"), HasSubstr("  e\n  Add from above, e\n"));
    EXPECT_THAT(written_body("\"a-b\": Linear(20)\n\"a-b\" from features\nLinear(outputs)"), HasSubstr("  \"a-b\" from features\n"));
}

TEST(ToText, InitialWeightsAreWritten) {
    const std::string lines = "init LSTM.weight_hh = orthogonal\ninit Linear.bias = zeros\n";
    const std::string text = written(lines + "network(features):\n  Unflatten(1, [4, 5])\n  LSTM(6)\n  Select(1, -1)\n  Linear(7)\n  Linear(outputs, init=normal(0.1))\n", small_data());
    EXPECT_THAT(text, HasSubstr(lines));
    EXPECT_THAT(text, HasSubstr("Linear(outputs, init=normal(0.1))"));
}

TEST(ToText, AContainerThatHasOtherLayersWhenItRunsAgainIsRefused) {
    const std::string text = with_body("c: from features\n  Linear(8) if in.width > 8\n  Abs\nd = Slice(1, 0, 8) from features\ne = c from d\nConcat from e, c\nLinear(outputs)");
    try {
        network_to_text(text, small_data());
        ADD_FAILURE() << "the container has two forms";
    } catch (const Error& error) {
        EXPECT_STREQ(error.what(), "No text without options makes this network.");
    }
}

}  // namespace
}  // namespace engine::network
