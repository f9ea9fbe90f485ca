#include "network/to_pytorch.h"

#include <gtest/gtest.h>

#include "checked.h"
#include "engine/base/error.h"
#include "engine/network/network_exports.h"
#include "network/pytorch_helpers.h"

namespace engine::network {
namespace {

/// The classes of a body, without docstring, imports and load().
std::string classes(const std::string& text) {
    const std::string python = network_to_pytorch(text, small_data());
    const std::size_t from = python.find("\n\n\n") + 3;
    return python.substr(from, python.find("\n\n\nDTYPES") - from + 1);
}

TEST(ToPytorch, AChainIsOneLineALayer) {
    EXPECT_EQ(classes("network(features):\n  fc1: Linear(8)\n  ReLU\n  Linear(outputs, bias=false)\n"),
              "class Network(nn.Module):\n"
              "    def __init__(self):\n"
              "        super().__init__()\n"
              "        self.fc1 = nn.Linear(20, 8)\n"
              "        self.add_module(\"2\", nn.Linear(8, 10, bias=False))\n"
              "\n"
              "    def forward(self, features):\n"
              "        x = self.fc1(features)\n"
              "        x = F.relu(x)\n"
              "        x = self._modules[\"2\"](x)\n"
              "        return x\n");
}

/// Its uses differ in their numbers, and one lacks the module that fits the skip.
TEST(ToPytorch, ABlockIsOneClassWithArgumentsForWhatDiffers) {
    const std::string python = classes("block Residual(n):\n"
                                       "  fc: Linear(n)\n"
                                       "  fit: Linear(n, bias=false) from in if in.width != n\n"
                                       "  Add from fc, fit\n"
                                       "network(features):\n"
                                       "  a: Residual(8)\n"
                                       "  b: Residual(8)\n"
                                       "  c: Residual(outputs)\n");
    EXPECT_EQ(python.substr(0, python.find("class Network")),
              "class Residual(nn.Module):\n"
              "    def __init__(self, in_features, out_features, fit=False):\n"
              "        super().__init__()\n"
              "        self.fc = nn.Linear(in_features, out_features)\n"
              "        if fit:\n"
              "            self.fit = nn.Linear(in_features, out_features, bias=False)\n"
              "        else:\n"
              "            self.fit = nn.Identity()\n"
              "\n"
              "    def forward(self, inputs):\n"
              "        fc = self.fc(inputs)\n"
              "        x = self.fit(inputs)\n"
              "        x = fc + x\n"
              "        return x\n\n\n");
    EXPECT_THAT(python, testing::HasSubstr("        self.a = Residual(20, 8, fit=True)\n        self.b = Residual(8, 8)\n        self.c = Residual(8, 10, fit=True)\n"));
}

TEST(ToPytorch, AMergeThatSomeUsesLackIsGuarded) {
    const std::string python = classes("block Part(n):\n"
                                       "  fc: Linear(n)\n"
                                       "  Add from above, in if in.width == n\n"
                                       "network(features):\n"
                                       "  Part(8)\n"
                                       "  Part(8)\n"
                                       "  Part(outputs)\n");
    EXPECT_THAT(python, testing::HasSubstr("        self.add = add\n"));
    EXPECT_THAT(python, testing::HasSubstr("        x = self.fc(inputs)\n        if self.add:\n            x = x + inputs\n        return x\n"));
    EXPECT_THAT(python, testing::HasSubstr("self.add_module(\"1\", Part(8, 8, add=True))\n"));
}

TEST(ToPytorch, ManyArgumentsOfABlockHaveTheirNames) {
    const std::string python = classes("block Deep(a, b, c):\n  Linear(a)\n  Linear(b)\n  Linear(c)\n"
                                       "network(features):\n  Deep(8, 9, 11)\n  Deep(12, 13, outputs)\n");
    EXPECT_THAT(python, testing::HasSubstr("(in_features=20, out_features=8, out_features_2=9, out_features_3=11)"));
}

TEST(ToPytorch, UsesWithOtherLayersAreClassesOfTheirOwn) {
    const std::string python = classes("block Deep(n, count):\n"
                                       "  repeat count as i:\n"
                                       "    fc{i}: Linear(n)\n"
                                       "    ReLU\n"
                                       "network(features):\n"
                                       "  Deep(8, 1)\n"
                                       "  Deep(outputs, 4)\n");
    EXPECT_THAT(python, testing::HasSubstr("class Deep(nn.Sequential):\n"));
    EXPECT_THAT(python, testing::HasSubstr("class Deep_2(nn.Sequential):\n"));
    EXPECT_THAT(python, testing::HasSubstr("                    (\"fc0\", nn.Linear(20, 8)),\n"));
}

TEST(ToPytorch, SharedModulesAndWeightsArePassed) {
    const std::string python = classes("network(features):\n"
                                       "  left: Linear(20)\n"
                                       "  inner:\n"
                                       "    a = left from in\n"
                                       "    Linear(20, weight=left.weight)\n"
                                       "    Add from above, a\n"
                                       "  again = inner from left\n"
                                       "  Linear(outputs)\n");
    EXPECT_THAT(python, testing::HasSubstr("    def forward(self, x, left):\n        a = left(x)\n        x = self._modules[\"0\"](a)\n"));
    EXPECT_THAT(python, testing::HasSubstr("        self.inner._modules[\"0\"].weight = self.left.weight\n\n"));
    EXPECT_THAT(python, testing::HasSubstr("        x = self.inner(x, self.left)\n"));
}

TEST(ToPytorch, ParametersNamesAndSecondOutputs) {
    const std::string python = classes("network(image):\n"
                                       "  half: Flatten(2)\n"
                                       "  Type: LSTM(4, bidirectional=true)\n"
                                       "  a.b: Parameter([8], init=ones)\n"
                                       "  \"1x1\": Linear(8) from Type.hidden\n"
                                       "  Mul from above, a.b\n"
                                       "  Linear(outputs)\n");
    EXPECT_THAT(python, testing::HasSubstr("        self._modules[\"half\"] = nn.Flatten(start_dim=2)\n"));
    EXPECT_THAT(python, testing::HasSubstr("        self.add_module(\"Type\", nn.LSTM(1024, 4, batch_first=True, bidirectional=True))\n"));
    EXPECT_THAT(python, testing::HasSubstr("        self.a = nn.Module()\n        self.a.b = nn.Parameter(torch.ones(8))\n        self.add_module(\"1x1\", nn.Linear(8, 8))\n"));
    EXPECT_THAT(python, testing::HasSubstr("        _, state = self.Type(x)\n        x = torch.cat((state[0][-2], state[0][-1]), 1)\n        x = self._modules[\"1x1\"](x)\n        x = x * self.a.b\n"));
    EXPECT_THROW(classes("network(features):\n  training: Linear(outputs)\n"), Error);
}

/// With zeros in place of its values a layer scale lets no gradient through.
TEST(ToPytorch, AParameterHasTheInitialValuesOfItsLine) {
    const auto parameter = [](const std::string& sizes, const std::string& rule) {
        const std::string python = classes("network(image):\n  p: Parameter(" + sizes + (rule.empty() ? "" : ", init=" + rule) + ")\n  Mul from image, p\n  Flatten\n  head: Linear(outputs)\n");
        const std::size_t from = python.find("self.p = ") + 9;
        std::string line = python.substr(from, python.find("\n        self.head", from) - from);
        for (std::size_t at = line.find('\n'); at != line.npos; at = line.find('\n')) line.erase(at, line.find_first_not_of(' ', at + 1) - at);
        return line;
    };
    EXPECT_EQ(parameter("[3, 1, 1]", ""), "nn.Parameter(torch.zeros(3, 1, 1))");
    EXPECT_EQ(parameter("[3, 1, 1]", "ones"), "nn.Parameter(torch.ones(3, 1, 1))");
    EXPECT_EQ(parameter("[3, 1, 1]", "constant(0.1)"), "nn.Parameter(torch.full([3, 1, 1], 0.1))");
    EXPECT_EQ(parameter("[]", "constant(0.1)"), "nn.Parameter(torch.full([], 0.1))");
    EXPECT_EQ(parameter("[3, 1, 1]", "uniform(0.5)"), "nn.Parameter(nn.init.uniform_(torch.empty(3, 1, 1), -0.5, 0.5))");
    EXPECT_EQ(parameter("[32]", "normal(0.02)"), "nn.Parameter(nn.init.normal_(torch.empty(32), std=0.02))");
    EXPECT_EQ(parameter("[32]", "trunc_normal(0.02)"), "nn.Parameter(nn.init.trunc_normal_(torch.empty(32), std=0.02))");
    EXPECT_EQ(parameter("[32, 32]", "xavier_uniform"), "nn.Parameter(nn.init.xavier_uniform_(torch.empty(32, 32)))");
    EXPECT_EQ(parameter("[32, 32]", "orthogonal"), "nn.Parameter(nn.init.orthogonal_(torch.empty(32, 32)))");
    EXPECT_EQ(parameter("[32]", "xavier_normal"), "nn.Parameter(nn.init.normal_(torch.empty(32), std=0.1767766952966369))");
    EXPECT_EQ(parameter("[32]", "kaiming_uniform(fan_in, relu)"), "nn.Parameter(nn.init.uniform_(torch.empty(32), -0.4330127018922193, 0.4330127018922193))");
    EXPECT_EQ(parameter("[32]", "orthogonal"), "nn.Parameter(F.normalize(torch.randn(32), dim=0))");
    EXPECT_THAT(classes("init Parameter.weight = constant(0.1)\nnetwork(image):\n  p: Parameter([32])\n  Mul from image, p\n  Flatten\n  Linear(outputs)\n"),
                testing::HasSubstr("self.p = nn.Parameter(torch.full([32], 0.1))\n"));
}

TEST(ToPytorch, ALayerScaleOfABlockIsAnArgument) {
    const std::string python = classes("block Scaled(n):\n"
                                       "  gamma: Parameter([32], init=constant(n))\n"
                                       "  Mul from in, gamma\n"
                                       "network(image):\n"
                                       "  Scaled(0.1)\n"
                                       "  Scaled(0.01)\n"
                                       "  Flatten\n"
                                       "  Linear(outputs)\n");
    EXPECT_THAT(python, testing::HasSubstr("    def __init__(self, value):\n        super().__init__()\n        self.gamma = nn.Parameter(torch.full([32], value))\n"));
    EXPECT_THAT(python, testing::HasSubstr("Scaled(0.01)"));
}

TEST(ToPytorch, ValuesAreNotCalledAsTheFunctionsOfTheFile) {
    const std::string python = classes("network(image):\n"
                                       "  Flatten(2)\n"
                                       "  Unflatten(2, [4, 256])\n"
                                       "  rotary: Rotary\n"
                                       "  mask_of_heads = Flatten(2)\n"
                                       "  m: Parameter([4, 1, 3], init=ones)\n"
                                       "  attention: MultiheadAttention(4, mask=m) from mask_of_heads\n"
                                       "  sum = Add from attention, mask_of_heads\n"
                                       "  again = Flatten(2) from rotary\n"
                                       "  Add from sum, again\n"
                                       "  Flatten\n"
                                       "  Linear(outputs)\n");
    for (const std::string& name : pytorch_helper_names()) EXPECT_EQ(python.find(" " + name + " = "), python.npos) << name;
    EXPECT_THAT(python, testing::HasSubstr(" = rotary("));
    EXPECT_THAT(python, testing::HasSubstr("mask_of_heads("));
}

TEST(ToPytorch, TheTextIsTheDocstring) {
    const std::string python = network_to_pytorch("# a \\ b  \noption n = 3 \"\"\nnetwork(features):\n  Linear(outputs) # \"\"\"\"\n", small_data());
    EXPECT_EQ(python.substr(0, python.find("\nimport")), "\"\"\"# a \\\\ b\noption n = 3 \"\"\nnetwork(features):\n  Linear(outputs) # \\\"\\\"\"\"\n\"\"\"\n");
}

}  // namespace
}  // namespace engine::network
