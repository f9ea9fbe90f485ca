#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <set>

#include "autograd/backward.h"
#include "io/onnx/onnx_graph.h"
#include "io/safetensors/tensor_file.h"
#include "made_models.h"
#include "models/detection_model.h"
#include "models/onnx_export.h"
#include "ops/pointwise/binary.h"
#include "ops/shape/sum.h"
#include "parameter_lines.h"
#include "support/expectations.h"
#include "support/golden_file.h"
#include "support/module_log.h"
#include "temp_folder.h"

// tests/peer/detection_model.py writes torchvision's names; detection_pass_test compares steps.
namespace engine::test::maskrcnn {
namespace {

using testing::Contains;
using Sizes = std::vector<std::int64_t>;

const ModelShape scenes = pictures({3, 64, 64}, 91);

std::unique_ptr<Model> detector(const std::string& kind, const Options& options,
                                std::optional<std::int64_t> seed = std::nullopt) {
    return made_model(kind, options, scenes, seed);
}

/// A detector that takes a moment.
std::unique_ptr<Model> small_detector(Options options, std::optional<std::int64_t> seed = 1) {
    options.insert({{"pyramid_channels", std::int64_t{8}},
                    {"hidden", std::int64_t{8}},
                    {"mask_layers", Sizes{8}}});
    return detector("maskrcnn-resnet18", options, seed);
}

std::string text_of(const std::vector<std::string>& lines) {
    std::string out;
    for (const std::string& line : lines) out += (out.empty() ? "" : "\n") + line;
    return out;
}

std::string buffer_names(const Model& model) {
    std::vector<std::string> out;
    for (const Parameter& each : model.buffers()) {
        std::string line = each.name;
        for (const auto size : each.tensor.shape()) line += " " + std::to_string(size);
        out.push_back(line);
    }
    return text_of(out);
}

TEST(MaskRcnn, HasTorchvisionsNamesShapesAndCounts) {
    const GoldenFile golden("detection_model");
    for (const std::string kind : {"resnet18", "resnet50"}) {
        for (const std::string norm : {"batch", "frozen"}) {
            const std::string key = kind + "." + norm;
            SCOPED_TRACE(key);
            const auto model = detector("maskrcnn-" + kind, {{"norm", norm}});
            EXPECT_EQ(text_of(parameter_lines(*model)), golden.text(key + ".parameters"));
            EXPECT_EQ(buffer_names(*model), golden.text(key + ".buffers"));
            EXPECT_EQ(std::to_string(model->parameter_count()), golden.text(key + ".count"));
        }
    }
    EXPECT_EQ(detector("maskrcnn-resnet50", {{"norm", std::string("batch")}})->parameter_count(),
              44'454'513);
    EXPECT_EQ(detector("maskrcnn-resnet50", {})->parameter_count(), 44'401'393);
}

TEST(MaskRcnn, WithoutMasksHasNoMaskHead) {
    const auto model = small_detector({{"masks", false}});
    for (const Parameter& each : model->parameters())
        EXPECT_EQ(each.name.find("mask"), std::string::npos) << each.name;
    auto& detecting = dynamic_cast<DetectionModel&>(*model);
    EXPECT_THROW(detecting.mask_head({}, {}), Error);
}

/// Largest magnitude and deviation of a tensor's values.
std::pair<double, double> spread(const Model& model, const std::string& name) {
    for (const Parameter& each : model.parameters()) {
        if (each.name != name) continue;
        double most = 0, squares = 0;
        for (const double value : each.tensor.values()) {
            most = std::max(most, std::abs(value));
            squares += value * value;
        }
        return {most, std::sqrt(squares / static_cast<double>(each.tensor.numel()))};
    }
    ADD_FAILURE() << name;
    return {};
}

TEST(MaskRcnn, StartsFromTorchvisionsInitialWeights) {
    const auto model = detector("maskrcnn-resnet18", {}, 1);
    const auto uniform = [&](const std::string& name, double bound) {
        const auto [most, deviation] = spread(*model, name);
        EXPECT_LE(most, bound) << name;
        EXPECT_NEAR(deviation, bound / std::sqrt(3.0), 0.1 * bound) << name;
    };
    const auto normal = [&](const std::string& name, double expected) {
        const auto [most, deviation] = spread(*model, name);
        EXPECT_NEAR(deviation, expected, 0.1 * expected) << name;
        EXPECT_GT(most, 2 * expected) << name;
    };
    const std::string fpn = "backbone.fpn.", heads = "roi_heads.";
    uniform(fpn + "inner_blocks.3.0.weight", std::sqrt(3.0 / 512));
    uniform(fpn + "layer_blocks.0.0.weight", std::sqrt(3.0 / (64 * 9)));
    normal("rpn.head.conv.0.0.weight", 0.01);
    normal("rpn.head.bbox_pred.weight", 0.01);
    uniform(heads + "box_head.fc6.weight", 1 / std::sqrt(64.0 * 49));
    uniform(heads + "box_predictor.cls_score.bias", 1 / std::sqrt(256.0));
    normal(heads + "mask_head.0.0.weight", std::sqrt(2.0 / (64 * 9)));
    normal(heads + "mask_predictor.conv5_mask.weight", std::sqrt(2.0 / (64 * 4)));
    normal(heads + "mask_predictor.mask_fcn_logits.weight", std::sqrt(2.0 / 91));
    uniform(heads + "mask_predictor.mask_fcn_logits.bias", 1 / std::sqrt(64.0));
    for (const std::string& zero :
         {fpn + "inner_blocks.0.0.bias", fpn + "layer_blocks.3.0.bias", heads + "mask_head.1.0.bias",
          std::string("rpn.head.cls_logits.bias")})
        EXPECT_EQ(spread(*model, zero).first, 0) << zero;
}

/// Parts of the body with a gradient after a step.
std::set<std::string> trained_parts(std::int64_t layers, const std::string& norm) {
    const auto model = small_detector({{"train_layers", layers}, {"norm", norm}}, std::nullopt);
    for (const Parameter& each : model->parameters()) {
        const std::vector<float> zeros(static_cast<std::size_t>(each.tensor.numel()), 0.f);
        each.tensor.copy_from_host(zeros.data());
    }
    TensorList maps = model->forward({Tensor::full({1, 3, 64, 64}, 0.5, DType::f32)});
    Tensor loss = sum(maps[0]);
    for (std::size_t i = 1; i < maps.size(); ++i) loss = add(loss, sum(maps[i]));
    backward(loss);
    std::set<std::string> out;
    for (const Parameter& each : model->parameters()) {
        if (!each.name.starts_with("backbone.body.") || !each.tensor.grad().defined()) continue;
        const std::string rest = each.name.substr(std::string("backbone.body.").size());
        out.insert(rest.substr(0, rest.find('.')));
    }
    return out;
}

TEST(MaskRcnn, TrainsStagesOfTheBodyFromTheLastOn) {
    using Parts = std::set<std::string>;
    EXPECT_EQ(trained_parts(0, "batch"), Parts());
    EXPECT_EQ(trained_parts(1, "frozen"), Parts({"layer4"}));
    EXPECT_EQ(trained_parts(3, "batch"), Parts({"layer2", "layer3", "layer4"}));
    EXPECT_EQ(trained_parts(4, "frozen"), Parts({"layer1", "layer2", "layer3", "layer4"}));
    EXPECT_EQ(trained_parts(5, "frozen"), Parts({"conv1", "layer1", "layer2", "layer3", "layer4"}));
    EXPECT_EQ(trained_parts(5, "batch"),
              Parts({"bn1", "conv1", "layer1", "layer2", "layer3", "layer4"}));
}

double moved(const Model& model, const std::string& name) {
    for (const Parameter& each : model.buffers())
        if (each.name == name) return each.tensor.values().front();
    ADD_FAILURE() << name;
    return 0;
}

TEST(MaskRcnn, StatisticsOfFrozenStagesMoveUnlessTheNormsAreFrozen) {
    const std::string mean = "backbone.body.layer1.0.bn1.running_mean";
    for (const bool frozen : {false, true}) {
        const auto model = small_detector({{"train_layers", std::int64_t{0}},
                                  {"norm", std::string(frozen ? "frozen" : "batch")}});
        model->forward({Tensor::full({1, 3, 64, 64}, 0.5, DType::f32)});
        EXPECT_EQ(moved(*model, mean) == 0, frozen);
    }
}

TEST(MaskRcnn, OpensTorchvisionsModules) {
    const auto model = small_detector({});
    auto& detecting = dynamic_cast<DetectionModel&>(*model);
    ModuleLog log;
    const ObserverScope attached(log);
    model->forward({Tensor::full({1, 3, 64, 64}, 0.5, DType::f32)});
    detecting.box_head(Tensor::zeros({1, 8, 7, 7}, DType::f32));
    detecting.mask_head(Tensor::zeros({1, 8, 14, 14}, DType::f32),
                        Tensor::zeros({1}, DType::i64));
    for (const char* module :
         {"backbone.body.maxpool", "backbone.body.layer2.0.downsample.0", "backbone.fpn",
          "backbone.fpn.inner_blocks.3.0", "backbone.fpn.extra_blocks", "rpn.head.conv.0.0",
          "rpn.head.conv.0.1", "rpn.head.cls_logits", "rpn.head.bbox_pred",
          "roi_heads.box_head.fc6", "roi_heads.box_head.fc7", "roi_heads.box_predictor.cls_score",
          "roi_heads.mask_head.0.0", "roi_heads.mask_predictor.conv5_mask",
          "roi_heads.mask_predictor.relu", "roi_heads.mask_predictor.mask_fcn_logits"}) {
        EXPECT_THAT(log.forward, Contains(module));
        EXPECT_THAT(model->modules, Contains(module));
    }
}

class MaskRcnnWeights : public testing::Test {
protected:
    /// The small detector reads these tensors.
    std::vector<Message> load(Model& model, const TensorMap& tensors, Head head = Head::read) {
        const std::string path = (folder_ / "weights.safetensors").string();
        save_tensors(path, tensors);
        return load_weights(model, path, head);
    }
    static std::vector<double> values(const Model& model, const std::string& name) {
        return saved_state(model).at(name).values();
    }

    test_support::TempFolder folder_;
    const std::string stem_ = "backbone.body.conv1.weight",
                      fpn_ = "backbone.fpn.inner_blocks.0.0.weight",
                      mask_ = "roi_heads.mask_head.0.0.weight",
                      scores_ = "roi_heads.box_predictor.cls_score.weight";
};

TEST_F(MaskRcnnWeights, HaveTheNamesOfBothGenerationsOfTorchvision) {
    const auto from = small_detector({}, 7), to = small_detector({});
    TensorMap older;
    for (const auto& [name, tensor] : saved_state(*from)) {
        std::string old = name;
        const auto replace = [&](const std::string& now, const std::string& before) {
            if (const std::size_t at = old.find(now); at != old.npos)
                old.replace(at, now.size(), before);
        };
        replace("rpn.head.conv.0.0.", "rpn.head.conv.");
        replace("mask_head.0.0.", "mask_head.mask_fcn1.");
        for (const std::string block : {"inner_blocks.", "layer_blocks."})
            for (const char* number : {"0", "1", "2", "3"})
                replace(block + number + ".0.", block + number + ".");
        older[old] = tensor;
    }
    EXPECT_TRUE(older.contains("backbone.fpn.layer_blocks.3.bias"));
    EXPECT_TRUE(older.contains("roi_heads.mask_head.mask_fcn1.weight"));
    load(*to, older);
    for (const auto& [name, tensor] : saved_state(*from))
        ASSERT_EQ(values(*to, name), tensor.values()) << name;
}

TEST_F(MaskRcnnWeights, OfAClassificationNetworkAreTheBody) {
    for (const std::string norm : {"batch", "frozen"}) {
        SCOPED_TRACE(norm);
        const auto from = made_model("resnet18", {{"stem", std::string("imagenet")}},
                                     pictures({3, 64, 64}, 10), 7);
        const auto to = small_detector({{"norm", norm}});
        const auto drawn = values(*to, fpn_);
        const auto notes = load(*to, saved_state(*from));
        EXPECT_EQ(values(*to, stem_), values(*from, "conv1.weight"));
        EXPECT_EQ(values(*to, fpn_), drawn);
        ASSERT_FALSE(notes.empty());
        EXPECT_THAT(notes.back().str(), testing::HasSubstr("the body of the detector alone"));
    }
}

TEST_F(MaskRcnnWeights, OfOtherClassesKeepAllButTheLastLayers) {
    const auto from = made_model("maskrcnn-resnet18",
                                 {{"pyramid_channels", std::int64_t{8}},
                                  {"hidden", std::int64_t{8}},
                                  {"mask_layers", Sizes{8}}},
                                 pictures({3, 64, 64}, 4), 7);
    const auto to = small_detector({});
    const auto drawn = values(*to, scores_);
    try {
        load(*to, saved_state(*from));
        ADD_FAILURE() << "read with other classes";
    } catch (const Error& error) {
        EXPECT_THAT(error.message().str(), testing::HasSubstr("cls_score.weight has shape"));
        EXPECT_THAT(error.hint().str(), testing::HasSubstr("model.new_head"));
    }
    load(*to, saved_state(*from), Head::drawn_if_other);
    EXPECT_EQ(values(*to, scores_), drawn);
    EXPECT_EQ(values(*to, mask_), values(*from, mask_));
}

TEST_F(MaskRcnnWeights, ThatLackOrAddATensorAreRefused) {
    const auto model = small_detector({});
    TensorMap state = saved_state(*model);
    state["roi_heads.keypoint_head.0.weight"] = Tensor::zeros({2, 2}, DType::f32);
    EXPECT_THROW(load(*model, state), Error);
    state.erase("roi_heads.keypoint_head.0.weight");
    state.erase(fpn_);
    EXPECT_THROW(load(*model, state), Error);
}

TEST(MaskRcnn, RefusesListsOfAnotherLengthAndONNX) {
    const auto refused = [](const Options& options) {
        return message_of(ErrorCode::settings, [&] { small_detector(options); });
    };
    EXPECT_THAT(refused({{"anchor_sizes", Sizes{8, 16}}}), testing::HasSubstr("use 5 numbers"));
    EXPECT_THAT(refused({{"proposals_after", Sizes{8}}}), testing::HasSubstr("use 2 numbers"));
    EXPECT_THAT(refused({{"mask_layers", Sizes{}}}), testing::HasSubstr("at least one"));
    const auto model = small_detector({});
    EXPECT_THAT(message_of(ErrorCode::settings,
                           [&] { onnx_graph(*model, scenes, DType::f32); }),
                testing::HasSubstr("ONNX"));
}

}  // namespace
}  // namespace engine::test::maskrcnn
