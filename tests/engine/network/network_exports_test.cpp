#include "engine/network/network_exports.h"

#include <gtest/gtest.h>

#include "checked.h"
#include <set>

#include "engine/base/error.h"

namespace engine {
namespace {

TEST(NetworkExports, ATextWithAFaultIsRefusedWithItsLine) {
    const NetworkData data = network::small_data();
    EXPECT_NO_THROW(network_to_pytorch("network(features):\n  Linear(outputs)\n", data));
    try {
        network_to_pytorch("network(features):\n  Liner(outputs)\n", data);
        FAIL();
    } catch (const Error& error) {
        EXPECT_EQ(error.code(), ErrorCode::settings);
        EXPECT_STREQ(error.what(), "Line 2: Liner: there is no such layer. Did you mean Linear?");
    }
}

TEST(NetworkExports, OptionsBecomeTheDefaultsOfTheirLines) {
    const std::string text = "option a = [1, 2] in 1..9 \"Sizes\"  # kept\noption b = none of none, tanh\noption c = 2\nnetwork(features):\n  Linear(outputs)\n";
    EXPECT_EQ(network_with_options(text, {{"a", std::vector<std::int64_t>{3}}, {"b", std::string("tanh")}, {"c", std::int64_t{4}}, {"d", true}}),
              "option a = [3] in 1..9 \"Sizes\"  # kept\noption b = tanh of none, tanh\noption c = 4\nnetwork(features):\n  Linear(outputs)\n");
    EXPECT_EQ(network_with_options(text, {{"c", std::int64_t{2}}}), text);
}

TEST(NetworkExports, ADefaultBesideACommentOrAHelpIsReplacedAlone) {
    const std::string end = "network(features):\n  Linear(outputs)\n";
    EXPECT_EQ(network_with_options("option a = 1# one\n" + end, {{"a", std::int64_t{2}}}), "option a = 2# one\n" + end);
    EXPECT_EQ(network_with_options("option a = 4\"Width\"\n" + end, {{"a", std::int64_t{8}}}), "option a = 8\"Width\"\n" + end);
    EXPECT_EQ(network_with_options("option p = 0.5 in 0..0.95\n" + end, {{"p", 0.0}}), "option p = 0.0 in 0..0.95\n" + end);
}

TEST(NetworkExports, ADefaultOverTwoLinesIsKeptOrRefused) {
    const std::string text = "option a = [1,\n  2]\nnetwork(features):\n  Linear(outputs)\n";
    const Options same{{"a", std::vector<std::int64_t>{1, 2}}}, other{{"a", std::vector<std::int64_t>{3}}};
    EXPECT_EQ(network_with_options(text, same), text);
    EXPECT_THROW(network_with_options(text, other), Error);
}

TEST(NetworkExports, EachTemplateBecomesPyTorch) {
    for (const std::string& name : network_templates()) {
        const std::string text = network_template(name);
        NetworkData data = usual_network_data(text);
        if (name == "clicks") data.outputs = 1;
        const std::string python = network_to_pytorch(text, data);
        EXPECT_NE(python.find("class Network(nn.Module):\n"), python.npos) << name;
        EXPECT_TRUE(python.ends_with("    return network\n")) << name;
    }
}

TEST(NetworkExports, EachFormOfTheListIsWritten) {
    std::set<std::string> names;
    for (const NetworkForm& form : network_forms()) {
        EXPECT_TRUE(names.insert(form.name).second) << form.name;
        EXPECT_FALSE(form.title.empty() || form.ending.empty()) << form.name;
        EXPECT_FALSE(form.write("network(features):\n  Linear(outputs)\n", network::small_data(), {"f16"}).empty()) << form.name;
    }
}

TEST(NetworkExports, APictureHasTypesOnRequest) {
    const std::string text = "network(features):\n  Linear(4)\n  ReLU\n  Linear(outputs)\n";
    EXPECT_EQ(network_to_svg(text, network::small_data()).find("class=\"type\""), std::string::npos);
    const std::string typed = network_to_svg(text, network::small_data(), {.types = {"f16", "f16", "f16, f32"}});
    EXPECT_NE(typed.find("#bf5600"), std::string::npos);
    EXPECT_NE(typed.find("#2b6cb0"), std::string::npos);
    EXPECT_NE(typed.find(" f32<"), std::string::npos);
}

}  // namespace
}  // namespace engine
