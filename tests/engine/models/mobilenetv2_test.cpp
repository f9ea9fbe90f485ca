#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "convnet_support.h"
#include "support/module_log.h"

// model_test.cpp compares names, shapes and steps with PyTorch's.
namespace engine::test {
namespace {

using testing::Contains;
using testing::Each;
using testing::ElementsAre;
using testing::Not;

const Shape large_picture{3, 224, 224}, small_picture{3, 32, 32};

Options options(const char* stem, double dropout) {
    return {{"stem", std::string(stem)}, {"dropout", dropout}};
}

/// The modules of a forward pass in training, with random numbers for dropout.
std::vector<std::string> modules_of(Model& model) {
    StepRandom random(1, Tensor::zeros({}, DType::i64, Device{}));
    random.begin(0);
    model.random = &random;
    ModuleLog log;
    const ObserverScope attached(log);
    model.forward({made_pictures({2, 3, 32, 32})});
    model.random = nullptr;
    std::erase(log.forward, "");
    return log.forward;
}

TEST(MobileNetV2, HasThePublishedCountOfParameters) {
    EXPECT_EQ(convnet("mobilenetv2", {}, large_picture, 1000)->parameter_count(), 3'504'872);
}

TEST(MobileNetV2, StemsDifferInStridesAlone) {
    const auto of_large = convnet("mobilenetv2", {}, large_picture, 10),
               of_small = convnet("mobilenetv2", {}, small_picture, 10);
    const auto strides = [](Model& model, const char* conv) {
        return sizes_of_node(model, conv, "strides");
    };
    EXPECT_THAT(strides(*of_large, "features.0.0"), ElementsAre(2, 2));
    EXPECT_THAT(strides(*of_large, "features.2.conv.1.0"), ElementsAre(2, 2));
    EXPECT_THAT(strides(*of_small, "features.0.0"), ElementsAre(1, 1));
    EXPECT_THAT(strides(*of_small, "features.2.conv.1.0"), ElementsAre(1, 1));
    for (const char* conv :
         {"features.4.conv.1.0", "features.7.conv.1.0", "features.14.conv.1.0"}) {
        EXPECT_THAT(strides(*of_large, conv), ElementsAre(2, 2)) << conv;
        EXPECT_THAT(strides(*of_small, conv), ElementsAre(2, 2)) << conv;
    }
    EXPECT_EQ(parameter(*of_large, "features.0.0.weight").shape(),
              parameter(*of_small, "features.0.0.weight").shape());
}

TEST(MobileNetV2, DepthwiseConvolutionsHaveOneChannelAGroup) {
    const auto model = convnet("mobilenetv2", {}, large_picture, 10);
    EXPECT_EQ(parameter(*model, "features.1.conv.0.0.weight").shape(), (Shape{32, 1, 3, 3}));
    EXPECT_EQ(parameter(*model, "features.17.conv.1.0.weight").shape(), (Shape{960, 1, 3, 3}));
}

TEST(MobileNetV2, TheLastLayerStartsNarrowAndWithoutABias) {
    const auto model = convnet("mobilenetv2", {}, large_picture, 1000, 1);
    EXPECT_THAT(parameter(*model, "classifier.1.bias").values(), Each(0.0));
    double squares = 0;
    const std::vector<double> weights = parameter(*model, "classifier.1.weight").values();
    for (const double w : weights) squares += w * w;
    // The standard deviation of 1.28 million numbers is known to 0.06 %.
    EXPECT_NEAR(std::sqrt(squares / static_cast<double>(weights.size())), 0.01, 5e-5);
}

TEST(MobileNetV2, OpensTorchvisionsModules) {
    const auto model = convnet("mobilenetv2", options("imagenet", 0.2), small_picture, 4, 1);
    std::vector<std::string> modules = modules_of(*model);
    EXPECT_THAT(modules, Contains("features.18.2"));
    EXPECT_EQ(modules.at(modules.size() - 2), "classifier.0");
    EXPECT_EQ(modules.back(), "classifier.1");
    modules.resize(13);
    EXPECT_THAT(modules,
                ElementsAre("features.0.0", "features.0.1", "features.0.2", "features.1.conv.0.0",
                            "features.1.conv.0.1", "features.1.conv.0.2", "features.1.conv.1",
                            "features.1.conv.2", "features.2.conv.0.0", "features.2.conv.0.1",
                            "features.2.conv.0.2", "features.2.conv.1.0", "features.2.conv.1.1"));
}

TEST(MobileNetV2, WithoutDropoutDrawsNothing) {
    const auto model = convnet("mobilenetv2", options("imagenet", 0), small_picture, 4, 1);
    EXPECT_THAT(modules_of(*model), Not(Contains("classifier.0")));
}

TEST(MobileNetV2, DropoutIsForTrainingAlone) {
    const auto model = convnet("mobilenetv2", options("imagenet", 0.9), small_picture, 4, 1),
               whole = convnet("mobilenetv2", options("imagenet", 0), small_picture, 4, 1);
    model->training = whole->training = false;
    const Tensor images = made_pictures({2, 3, 32, 32});
    EXPECT_EQ(model->forward({images}).front().values(), whole->forward({images}).front().values());
}

TEST(MobileNetV2, RecomputedBlocksGiveTheSameBits) {
    const auto plain = convnet("mobilenetv2", options("imagenet", 0), small_picture, 4, 1),
               again = convnet("mobilenetv2", options("imagenet", 0), small_picture, 4, 1);
    again->recompute_blocks = true;
    EXPECT_EQ(step_of_two(*plain, small_picture), step_of_two(*again, small_picture));
}

TEST(MobileNetV2, ActivationsOfTheGraphAreClipped) {
    const auto model = convnet("mobilenetv2", {}, large_picture, 10, 1);
    const OnnxGraph graph =
        onnx_graph(*model, {{{.name = "image", .shape = small_picture}}, 10}, DType::f32);
    int clips = 0;
    for (const OnnxGraph::Node& node : graph.nodes()) {
        if (node.type != "Clip") continue;
        ++clips;
        EXPECT_THAT(node.inputs, ElementsAre(testing::_, "number.0", "number.6"));
    }
    EXPECT_EQ(clips, 35);
}

}  // namespace
}  // namespace engine::test
