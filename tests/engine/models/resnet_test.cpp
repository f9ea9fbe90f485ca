#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "convnet_support.h"
#include "support/module_log.h"
#include "tensor/philox.h"

// model_test.cpp compares names, shapes and steps of these networks with PyTorch's.
namespace engine::test {
namespace {

using testing::Contains;
using testing::Each;
using testing::ElementsAre;
using Sizes = std::vector<std::int64_t>;

const Options imagenet{{"stem", std::string("imagenet")}}, cifar{{"stem", std::string("cifar")}};
const Shape large{3, 224, 224}, small{3, 32, 32};

std::int64_t published_count(const std::string& kind) {
    return convnet(kind, {}, large, 1000)->parameter_count();
}

TEST(ResNet, HasThePublishedCountsOfParameters) {
    EXPECT_EQ(published_count("resnet18"), 11'689'512);
    EXPECT_EQ(published_count("resnet34"), 21'797'672);
    EXPECT_EQ(published_count("resnet50"), 25'557'032);
    EXPECT_EQ(published_count("resnet101"), 44'549'160);
    EXPECT_EQ(published_count("resnet152"), 60'192'808);
    EXPECT_EQ(published_count("resnext50"), 25'028'904);
    EXPECT_EQ(published_count("resnext101"), 44'177'704);
}

TEST(ResNet, StemsDifferInTheFirstConvolutionAndTheMaxPool) {
    const auto of_large = convnet("resnet18", imagenet, small, 10),
               of_small = convnet("resnet18", cifar, large, 10);
    EXPECT_EQ(parameter(*of_large, "conv1.weight").shape(), (Shape{64, 3, 7, 7}));
    EXPECT_EQ(parameter(*of_small, "conv1.weight").shape(), (Shape{64, 3, 3, 3}));
    EXPECT_THAT(sizes_of_node(*of_large, "conv1", "strides"), ElementsAre(2, 2));
    EXPECT_THAT(sizes_of_node(*of_large, "maxpool", "pads"), Each(1));
    EXPECT_THAT(sizes_of_node(*of_small, "conv1", "strides"), ElementsAre(1, 1));
    EXPECT_THAT(sizes_of_node(*of_small, "maxpool", "pads"), ElementsAre());
}

TEST(ResNet, PicturesOfOtherSidesNeedNoOtherNetwork) {
    const auto model = convnet("resnet18", imagenet, {1, 40, 57}, 5, 1);
    EXPECT_EQ(model->forward({made_pictures({2, 1, 40, 57})}).front().shape(), (Shape{2, 5}));
}

TEST(ResNet, ABottlenecksStrideIsInIts3x3Convolution) {
    const auto model = convnet("resnet50", imagenet, large, 10);
    EXPECT_THAT(sizes_of_node(*model, "layer2.0.conv1", "strides"), ElementsAre(1, 1));
    EXPECT_THAT(sizes_of_node(*model, "layer2.0.conv2", "strides"), ElementsAre(2, 2));
    EXPECT_THAT(sizes_of_node(*model, "layer2.0.conv3", "strides"), ElementsAre(1, 1));
    EXPECT_THAT(sizes_of_node(*model, "layer2.1.conv2", "strides"), ElementsAre(1, 1));
}

TEST(ResNet, GroupsOfResNeXtHaveFourChannelsEach) {
    const auto model = convnet("resnext101", imagenet, large, 10);
    EXPECT_EQ(parameter(*model, "layer1.0.conv2.weight").shape(), (Shape{128, 4, 3, 3}));
    EXPECT_EQ(parameter(*model, "layer4.2.conv2.weight").shape(), (Shape{1024, 32, 3, 3}));
    EXPECT_TRUE(parameter(*model, "layer3.22.conv3.weight").defined());
}

TEST(ResNet, LastNormsOfBlocksStartAtZeroIfAsked) {
    for (const auto& [kind, last] :
         {std::pair("resnet18", "bn2.weight"), {"resnet50", "bn3.weight"}}) {
        SCOPED_TRACE(kind);
        Options options = imagenet;
        options["zero_init_last_norm"] = true;
        const auto zeroed = convnet(kind, options, small, 10, 1),
                   plain = convnet(kind, imagenet, small, 10, 1);
        int blocks = 0;
        for (std::size_t i = 0; i < plain->parameters().size(); ++i) {
            const Parameter& each = zeroed->parameters()[i];
            if (each.name.starts_with("layer") && each.name.ends_with(last)) {
                EXPECT_THAT(each.tensor.values(), Each(0.0)) << each.name;
                ++blocks;
            } else {
                EXPECT_EQ(each.tensor.values(), plain->parameters()[i].tensor.values())
                    << each.name;
            }
        }
        EXPECT_EQ(blocks, std::string(kind) == "resnet18" ? 8 : 16);
    }
}

/// Tensor i is drawn from substream i of the seed, from He's normal distribution with the fan-out.
TEST(ResNet, WeightsAreDrawnInTheOrderOfTheirNames) {
    const auto model = convnet("resnet18", cifar, small, 10, 7);
    const auto& parameters = model->parameters();
    for (const std::uint32_t i : {0u, 6u, 21u, 57u}) {
        const Tensor weight = parameters.at(i).tensor;
        ASSERT_EQ(weight.rank(), 4) << parameters[i].name;
        const auto fan_out = static_cast<double>(weight.size(0) * weight.size(2) * weight.size(3));
        const RandomStream stream(7, StreamId::init, i);
        EXPECT_EQ(
            weight.data_as<float>()[5],
            static_cast<float>(static_cast<double>(stream.normal(5)) * std::sqrt(2 / fan_out)))
            << parameters[i].name;
    }
}

TEST(ResNet, OpensTorchvisionsModulesInABottleneck) {
    const auto model = convnet("resnet50", imagenet, small, 4, 1);
    ModuleLog log;
    const ObserverScope attached(log);
    model->forward({made_pictures({2, 3, 32, 32})});
    const std::vector<std::string> first{"conv1",
                                         "bn1",
                                         "maxpool",
                                         "layer1.0.conv1",
                                         "layer1.0.bn1",
                                         "layer1.0.conv2",
                                         "layer1.0.bn2",
                                         "layer1.0.downsample.0",
                                         "layer1.0.downsample.1",
                                         "layer1.0.conv3",
                                         "layer1.0.bn3",
                                         "layer1.1.conv1"};
    std::erase(log.forward, "");
    ASSERT_GE(log.forward.size(), first.size());
    log.forward.resize(first.size());
    EXPECT_EQ(log.forward, first);
}

class RecomputedConvnet : public testing::TestWithParam<const char*> {};

TEST_P(RecomputedConvnet, BlocksGiveTheSameBits) {
    const auto plain = convnet(GetParam(), imagenet, small, 4, 1),
               again = convnet(GetParam(), imagenet, small, 4, 1);
    again->recompute_blocks = true;
    EXPECT_EQ(step_of_two(*plain, small), step_of_two(*again, small));
}

INSTANTIATE_TEST_SUITE_P(Kinds, RecomputedConvnet,
                         testing::Values("resnet34", "resnet50", "resnext50"),
                         [](const auto& kind) { return std::string(kind.param); });

}  // namespace
}  // namespace engine::test
