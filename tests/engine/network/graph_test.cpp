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

TEST(NetworkGraphTest, BuffersStandBehindTheParametersOfTheirModule) {
    const CheckedNetwork network = check_body("a: BatchNorm2d(affine=false) from image\nb:\n  BatchNorm2d\n  c: Conv2d(4, 1)\np: Parameter([2])\nq: Linear(outputs) from in");
    for (const auto& fault : fault_texts(network)) ADD_FAILURE() << fault;
    std::string names;
    for (const std::size_t place : network.state)
        names += (place < network.parameters.size() ? network.parameters[place].name : network.buffers[place - network.parameters.size()].name) + ' ';
    EXPECT_EQ(names,
              "p a.running_mean a.running_var a.num_batches_tracked b.0.weight b.0.bias b.0.running_mean b.0.running_var b.0.num_batches_tracked "
              "b.c.weight b.c.bias q.weight q.bias ");
    ASSERT_EQ(network.buffers.size(), 6u);
    EXPECT_EQ(network.buffers[0].sizes, (std::vector<std::int64_t>{3}));
    EXPECT_TRUE(network.buffers[2].sizes.empty());
    EXPECT_EQ(network.parameters[1].name, "b.0.weight");
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
