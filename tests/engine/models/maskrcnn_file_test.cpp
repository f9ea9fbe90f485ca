#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "models/detection_model.h"
#include "models/network_model.h"
#include "network_twin.h"
#include "ops/shape/sum.h"
#include "support/expectations.h"
#include "support/module_log.h"

// A detector whose body its user wrote. Through a run: detection_run_test.cpp.
namespace engine::test::maskrcnn_file {
namespace {

using testing::HasSubstr;

NetworkLines lines_of(const std::string& text) {
    NetworkLines out;
    for (std::size_t from = 0; from < text.size();) {
        const std::size_t to = std::min(text.find('\n', from), text.size());
        out.all.push_back(text.substr(from, to - from));
        from = to + 1;
    }
    return out;
}

Options small(Options options) {
    options.insert({{"pyramid_channels", std::int64_t{8}},
                    {"hidden", std::int64_t{8}},
                    {"mask_layers", std::vector<std::int64_t>{8}}});
    return options;
}

std::unique_ptr<Model> on_text(const std::string& text, Options options = {}) {
    ModelConfig config;
    config.kind = "maskrcnn-file";
    config.network = lines_of(text);
    config.options = small(std::move(options));
    return make_model(config, pictures({3, 64, 64}, 4), 1, Device{});
}

std::unique_ptr<Model> on_resnet(Options options) {
    options["stem"] = std::string("imagenet");
    return on_text(network_template("resnet18"), std::move(options));
}

/// Bits of the maps, of all gradients and of the buffers after a step.
std::vector<std::string> stepped(Model& model) {
    const TensorList maps = model.forward({made_pictures({1, 3, 64, 64})});
    Tensor loss = sum(mul(maps[0], maps[0]));
    for (std::size_t i = 1; i < maps.size(); ++i) loss = add(loss, sum(mul(maps[i], maps[i])));
    std::vector<std::string> out;
    for (const Tensor& each : maps) out.push_back(bits_of(each));
    backward(loss);
    for (const Parameter& each : model.parameters())
        out.push_back(each.tensor.grad().defined() ? bits_of(each.tensor.grad()) : std::string());
    for (const Parameter& each : model.buffers()) out.push_back(bits_of(each.tensor));
    return out;
}

TEST(MaskRcnnFile, WithResNet18sTextIsMaskRcnnResNet18BitForBit) {
    for (const std::string norm : {"batch", "frozen"}) {
        SCOPED_TRACE(norm);
        const bool frozen = norm == "frozen";
        const Options options{{"norm", norm}, {"train_layers", std::int64_t{frozen ? 3 : 5}}};
        const auto own = on_resnet(options),
                   built_in = made_model("maskrcnn-resnet18", small(options),
                                         pictures({3, 64, 64}, 4), 1);
        ASSERT_TRUE(tensors_of(*own) == tensors_of(*built_in));
        own->recompute_blocks = frozen;
        EXPECT_TRUE(stepped(*own) == stepped(*built_in));
    }
}

TEST(MaskRcnnFile, OpensTheModulesOfMaskRcnnResNet18) {
    std::vector<std::string> opened[2];
    for (const bool own : {true, false}) {
        const auto model = own ? on_resnet({})
                               : made_model("maskrcnn-resnet18", small({}),
                                            pictures({3, 64, 64}, 4), 1);
        ModuleLog log;
        const ObserverScope attached(log);
        model->forward({Tensor::full({1, 3, 64, 64}, 0.5, DType::f32)});
        // A block's text has its shortcut last.
        opened[own ? 0 : 1] = log.forward;
        std::ranges::sort(opened[own ? 0 : 1]);
    }
    EXPECT_EQ(opened[0], opened[1]);
}

const std::string stages = R"(option wide = 4 in 1..64
network(image) gives stages:
  entry: Conv2d(wide, 3, stride=2, padding=1)
  BatchNorm2d
  ReLU
  c2: Conv2d(wide, 3, stride=2, padding=1)
  c3: Conv2d(wide * 2, 3, stride=2, padding=1)
  c4: Conv2d(wide * 2, 3, stride=2, padding=1)
  c5: Conv2d(wide * 3, 3, stride=2, padding=1)
  output c2, c3, c4, c5
)";

/// Parameters of the body that have a gradient after a step.
std::set<std::string> trained_in(Model& model) {
    const std::string prefix = "backbone.body.";
    stepped(model);
    std::set<std::string> out;
    for (const Parameter& each : model.parameters())
        if (each.name.starts_with(prefix) && each.tensor.grad().defined())
            out.insert(each.name.substr(prefix.size()));
    return out;
}

TEST(MaskRcnnFile, TakesTheStagesThatATextGives) {
    using Names = std::set<std::string>;
    const auto with = [](std::int64_t layers) {
        return on_text(stages, {{"wide", std::int64_t{6}}, {"train_layers", layers}});
    };
    EXPECT_EQ(trained_in(*with(0)), Names());
    EXPECT_EQ(trained_in(*with(2)),
              Names({"c4.weight", "c4.bias", "c5.weight", "c5.bias"}));
    EXPECT_EQ(trained_in(*with(4)),
              Names({"c2.weight", "c2.bias", "c3.weight", "c3.bias", "c4.weight", "c4.bias",
                     "c5.weight", "c5.bias"}));
    EXPECT_EQ(trained_in(*with(5)).size(), 12u) << "with the first layer and its norm";
    EXPECT_EQ(parameter(*with(5), "backbone.fpn.inner_blocks.3.0.weight").shape(),
              (Shape{8, 18, 1, 1}));
}

/// The body's lines up to layer4, and one behind it.
std::string labelled(const std::string& third, const std::string& behind) {
    return "network(image):\n"
           "  layer1: Conv2d(4, 3, stride=4, padding=1)\n"
           "  layer2: Conv2d(4, 3, stride=2, padding=1)\n" +
           third + "  layer4: Conv2d(4, 3, stride=2, padding=1)\n" + behind;
}
const std::string third = "  layer3: Conv2d(4, 3, stride=2, padding=1)\n";

TEST(MaskRcnnFile, DoesNotRunWhatFollowsTheLastStage) {
    const auto model = on_text(labelled(third, "  Conv2d(7, 99)\n  Linear(1000)\n"));
    for (const Parameter& each : model->parameters())
        EXPECT_TRUE(!each.name.starts_with("backbone.body.") ||
                    each.name.starts_with("backbone.body.layer"))
            << each.name;
    EXPECT_EQ(model->forward({Tensor::zeros({1, 3, 64, 64}, DType::f32)}).size(), 10u);
}

TEST(MaskRcnnFile, NamesAMissingStageAndOneOfAnotherStride) {
    const auto refused = [](const std::string& text, const Options& options = {}) {
        return message_of(ErrorCode::settings, [&] { on_text(text, options); });
    };
    EXPECT_THAT(refused(labelled("", "")), HasSubstr("layer3: no line of the network has this label"));
    EXPECT_THAT(refused(labelled("  layer3: Conv2d(4, 1)\n", "")),
                HasSubstr("layer3 is N x 4 x 8 x 8. Stages are"));
    EXPECT_THAT(refused(network_template("resnet18")), HasSubstr("layer1 is N x 64 x 64 x 64"))
        << "pictures of 64 pixels have the stem for small ones unless told otherwise";
    EXPECT_THAT(refused("network(image) gives stages:\n  a: MaxPool2d(4)\n  b: MaxPool2d(2)\n"
                        "  c: MaxPool2d(4)\n  d: MaxPool2d(1)\n  output a, b, c, d\n"),
                HasSubstr("output 3 is N x 3 x 2 x 2"));
    EXPECT_THAT(refused("init BatchNorm2d.weight = normal(1)\n" + stages,
                        {{"norm", std::string("frozen")}}),
                HasSubstr("drawn numbers"));
}

TEST(MaskRcnnFile, NamesThePictureThatItsLayersDoNotTake) {
    const auto refused = [](const std::string& third_stage) {
        const auto model = on_text(labelled(third_stage, ""));
        EXPECT_EQ(model->forward({Tensor::zeros({1, 3, 64, 64}, DType::f32)}).size(), 10u);
        return message_of(ErrorCode::settings, [&] {
            model->forward({Tensor::zeros({1, 3, 64, 32}, DType::f32)});
        });
    };
    EXPECT_THAT(refused("  AdaptiveAvgPool2d(8)\n" + third),
                HasSubstr("pictures of 64 x 32 pixels: stage 3 is 4 x 4"));
    EXPECT_THAT(refused("  LayerNorm\n" + third), HasSubstr("pictures of 64 x 32 pixels: "));
}

TEST(MaskRcnnFile, HasTheOptionsOfBothAndRefusesANameTwice) {
    const auto own = read_network(lines_of(stages), "maskrcnn-file");
    EXPECT_TRUE(own->faults.empty());
    EXPECT_EQ(own->model.output, ModelOutput::detections);
    EXPECT_NE(find_option(own->model.options, "wide"), nullptr);
    EXPECT_NE(find_option(own->model.options, "anchor_sizes"), nullptr);
    const NetworkLines twice = lines_of("option masks = 3\n" + stages);
    ASSERT_EQ(read_network(twice, "maskrcnn-file")->faults.size(), 1u);
    EXPECT_THAT(read_network(twice, "maskrcnn-file")->faults.front().text.str(),
                HasSubstr("masks: the detector has an option of this name"));
    const auto alone = read_network(lines_of(stages));
    ASSERT_EQ(alone->faults.size(), 1u);
    EXPECT_THAT(alone->faults.front().text.str(), HasSubstr("model.kind=maskrcnn-file"));
}

}  // namespace
}  // namespace engine::test::maskrcnn_file
