#include "network/graph.h"

#include <gtest/gtest.h>

#include "checked.h"

namespace engine::network {
namespace {

TEST(NetworkGraphTest, ParametersStandBeforeThoseOfInnerModules) {
    NetworkGraph graph;
    for (const char* name : {"a.b.weight", "c", "a.weight", "d.e.f", "a.b.bias", "d.g"}) graph.parameters.push_back({.name = name});
    graph.nodes.push_back({.parameters = {0, 2, 5}});
    order_parameters(graph);
    std::string names;
    for (const auto& parameter : graph.parameters) names += parameter.name + ' ';
    EXPECT_EQ(names, "c a.weight a.b.weight a.b.bias d.g d.e.f ");
    EXPECT_EQ(graph.nodes[0].parameters, (std::vector<int>{2, 1, 4}));
}

std::string ending(const std::string& head, const std::string& body) {
    const CheckedNetwork network = check_network(head + "\n  " + body + "\n", small_data());
    return network.faults.empty() ? std::string() : network.faults.front().text.str();
}

TEST(NetworkGraphTest, TheEndFitsWhatTheTextGives) {
    EXPECT_EQ(ending("network(image):", "ReLU"), "The network ends with N x 3 x 32 x 32; scores need N x 10. Add Flatten and fc: Linear(outputs).");
    EXPECT_EQ(ending("network(features):", "Linear(3)"), "The network ends with N x 3; scores need N x 10. End with fc: Linear(outputs).");
    EXPECT_EQ(ending("network(image) gives image:", "Conv2d(3, 1)"), "");
    EXPECT_NE(ending("network(image) gives image:", "Conv2d(4, 1)"), "");
    EXPECT_EQ(ending("network(features) gives click score:", "Linear(1)"), "");
    EXPECT_NE(ending("network(features) gives click score:", "Linear(2)"), "");
    EXPECT_EQ(ending("network(tokens) gives token scores:", "Embedding(10)"), "");
    EXPECT_NE(ending("network(tokens) gives masked token scores:", "Embedding(11)"), "");
    EXPECT_NE(ending("network(image) gives stages:", "ReLU"), "");
    EXPECT_THAT(ending("network(features) gives answers:", "ReLU"), testing::HasSubstr("gives answers: use scores"));
}

}  // namespace
}  // namespace engine::network
