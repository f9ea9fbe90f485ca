#include "engine/network/network.h"

#include <gtest/gtest.h>

#include "checked.h"
#include "engine/base/error.h"
#include "network/grammar.h"

namespace engine {
namespace {

struct Template {
    const char* name;
    NetworkData data;
    std::int64_t parameters;
    const char* shape;
};

TEST(Network, TemplatesHaveTheSizesOfPyTorchsModels) {
    const Template templates[] = {
        {"mlp", {{{"features", {8}, {}}}, 3, {}}, 4931, "N x 3"},
        {"lenet", {{{"image", {1, 28, 28}, {}}}, 10, {}}, 44'426, "N x 10"},
        {"vgg11", {{{"image", {3, 224, 224}, {}}}, 1000, {}}, 132'863'336, "N x 1000"},
        {"resnet18", {{{"image", {3, 224, 224}, {}}}, 1000, {}}, 11'689'512, "N x 1000"},
        {"resnet18", {{{"image", {3, 224, 224}, {}}}, 1000, {{"depth", std::vector<std::int64_t>{3, 4, 6, 3}}}}, 21'797'672, "N x 1000"},
        {"unet", {{{"image", {3, 64, 64}, {}}}, 0, {}}, 117'395, "N x 3 x 64 x 64"},
        {"lstm", {{{"image", {1, 28, 28}, {}}}, 10, {}}, 214'538, "N x 10"},
        {"vit", {{{"image", {3, 32, 32}, {}}}, 10, {}}, 5'362'762, "N x 10"},
    };
    for (const Template& each : templates) {
        const CheckedNetwork network = check_network(network_template(each.name), each.data);
        EXPECT_TRUE(network.usable()) << each.name << ": " << (network.faults.empty() ? "" : network.faults[0].text.str());
        EXPECT_EQ(network.parameter_count(), each.parameters) << each.name;
        EXPECT_EQ(network.shape, each.shape) << each.name;
    }
}

TEST(Network, EachTemplateIsUsableWithUsualData) {
    EXPECT_GE(network_templates().size(), 9u);
    for (const std::string& name : network_templates()) {
        const std::string text = network_template(name);
        NetworkData data = usual_network_data(text);
        if (name == "clicks") data.outputs = 1;
        if (name == "lstm" || name == "lenet") data.inputs[0].sizes = {1, 28, 28};
        const CheckedNetwork network = check_network(text, data);
        EXPECT_TRUE(network.usable()) << name << ": " << (network.faults.empty() ? "" : network.faults[0].text.str());
    }
    EXPECT_THROW(network_template("alexnet"), Error);
}

TEST(Network, InitialValuesComeFromTheLayerTheLineAndPyTorch) {
    NetworkData data{{{"image", {3, 32, 32}, {}}}, 10, {{"zero_init_last_norm", true}}};
    const CheckedNetwork network = check_network(network_template("resnet18"), data);
    std::map<std::string, std::string> initial;
    for (const NetworkParameter& parameter : network.parameters) initial[parameter.name] = parameter.initial;
    EXPECT_EQ(initial["conv1.weight"], "kaiming_normal(fan_out, relu)");
    EXPECT_EQ(initial["layer1.0.bn1.weight"], "ones");
    EXPECT_EQ(initial["layer1.0.bn2.weight"], "zeros");
    EXPECT_EQ(initial["fc.bias"].substr(0, 8), "uniform(");
    EXPECT_EQ(network.parameters.front().name, "conv1.weight");
    EXPECT_EQ(network.parameters.back().name, "fc.bias");
}

TEST(Network, AtMostAHundredFaultsAreShown) {
    std::string text = "network(image):\n";
    for (int i = 0; i < 150; ++i) text += "  Linear(\n";
    EXPECT_EQ(check_network(text, network::small_data()).faults.size(), 100u);
}

TEST(Network, NotesHideNoFault) {
    std::string body = "let relu = \"tanh\"\n";
    for (int i = 0; i < 150; ++i) body += "Activation(relu)\n";
    const CheckedNetwork network = network::check_body(body + "Linear(widht)");
    EXPECT_EQ(network.faults.size(), 100u);
    EXPECT_FALSE(network.usable());
    EXPECT_FALSE(network.faults.back().note);
}

TEST(Network, AWindowThatIsTooLargeNamesTheSmallestImages) {
    const auto checked = [](int size) {
        NetworkData data{{{"image", {3, size, size}, {}}}, 10, {}};
        return check_network("network(image):\n  repeat 5: MaxPool2d(2)\n  Conv2d(8, 3)\n  Flatten\n  Linear(outputs)\n", data);
    };
    const CheckedNetwork small = checked(70);
    ASSERT_EQ(small.faults.size(), 1u);
    EXPECT_EQ(small.faults[0].text.str(), "Conv2d: the input is N x 3 x 2 x 2, smaller than the window. Remove this layer, or use images of at least 96 x 96.");
    EXPECT_TRUE(checked(96).usable());
    EXPECT_FALSE(checked(95).usable());
}

/// No text may stop the checker. A fault of the grammar stands at the line or the next; one of a name that is not set any more
/// stands where the name is used.
TEST(Network, ATextWithoutOneOfItsTokensIsCheckedOrRefused) {
    const std::string text = network_template("resnet18");
    const NetworkData data{{{"image", {3, 32, 32}, {}}}, 10, {}};
    const auto lines = 1 + std::ranges::count(text, '\n');
    const auto is_word = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; };
    int refused = 0;
    for (std::size_t from = text.find("option"); from < text.size();) {
        std::size_t to = from + 1;
        if (is_word(text[from]))
            while (to < text.size() && is_word(text[to])) ++to;
        if (text[from] == ' ' || text[from] == '\n') {
            from = to;
            continue;
        }
        std::string shorter = text;
        shorter.erase(from, to - from);
        const auto line = 1 + std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(from), '\n');
        std::vector<NetworkFault> faults;
        network::parse_network(shorter, faults);
        for (const NetworkFault& fault : faults) {
            EXPECT_GE(fault.place.line, line) << text.substr(from, to - from) << ": " << fault.text.str();
            EXPECT_LE(fault.place.line, line + 1) << text.substr(from, to - from) << ": " << fault.text.str();
        }
        refused += faults.empty() ? 0 : 1;
        for (const NetworkFault& fault : check_network(shorter, data).faults) EXPECT_LE(fault.place.line, lines);
        from = to;
    }
    EXPECT_GT(refused, 100);
}

}  // namespace
}  // namespace engine
