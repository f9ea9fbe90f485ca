#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "engine/base/error.h"
#include "models/model_descriptor.h"
#include "models/network_model.h"

namespace engine {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

NetworkLines lines(std::initializer_list<const char*> all) {
    NetworkLines out;
    out.all.assign(all.begin(), all.end());
    return out;
}

TEST(File, ATextSaysWhatTheModelTakesAndGives) {
    const auto text = read_network(lines({"option width = 4 in 1..9", "network(tokens) gives token scores:",
                                          "  wte: Embedding(width)", "  head: Linear(outputs)"}));
    EXPECT_THAT(text->faults, IsEmpty());
    EXPECT_THAT(text->model.inputs, ElementsAre(FieldKind::tokens));
    EXPECT_EQ(text->model.output, ModelOutput::token_scores);
    ASSERT_EQ(text->model.options.size(), 1u);
    EXPECT_EQ(text->model.options.front().highest, 9);
    EXPECT_FALSE(text->model.has_blocks);
    EXPECT_TRUE(text->model.second_derivative);
    EXPECT_EQ(read_network(lines({"network(image) gives image:", "  Sigmoid"}))->model.output, ModelOutput::image);
    EXPECT_THAT(read_network(lines({"network(features or image):", "  Flatten"}))->model.inputs,
                ElementsAre(FieldKind::image, FieldKind::features));
    EXPECT_THAT(read_network(lines({"network(features, indices) gives click score:", "  Linear(1)"}))->model.inputs,
                ElementsAre(FieldKind::indices));
}

TEST(File, AFaultyTextStillHasItsOptions) {
    const auto text = read_network(lines({"option width = 4", "network(image):", "  Conv2d(width"}));
    ASSERT_EQ(text->faults.size(), 1u);
    EXPECT_EQ(text->faults.front().line, 3);
    EXPECT_EQ(text->model.options.size(), 1u);
}

TEST(File, StagesAreForNoTask) {
    EXPECT_EQ(read_network(lines({"network(image) gives stages:", "  Identity"}))->faults.size(), 1u);
}

TEST(File, ATextStaysReadWhileItIsHeld) {
    const NetworkLines kept = lines({"network(image):", "  Flatten"});
    const auto held = read_network(kept);
    for (int i = 0; i < 600; ++i) read_network(lines({"network(image):", std::to_string(i).c_str()}));
    EXPECT_EQ(read_network(kept), held);
}

TEST(File, TheModelOfATextHasItsWeightsByName) {
    ModelConfig config;
    config.kind = "file";
    config.network = lines({"option width = 4", "network(features):", "  fc1: Linear(width)", "  fc2: Linear(outputs)"});
    config.options = {{"width", std::int64_t{8}}};
    const FieldSpec input{.name = "features", .kind = FieldKind::features, .shape = {3}};
    const auto model = make_model(config, {{input}, 2}, 1, Device{});
    ASSERT_EQ(model->parameters().size(), 4u);
    EXPECT_EQ(model->parameters().front().name, "fc1.weight");
    EXPECT_EQ(model->parameter_count(), 8 * 3 + 8 + 2 * 8 + 2);
    EXPECT_EQ(count_parameters(config, {{input}, 2}), model->parameter_count());
    config.network = lines({"network(features):", "  fc1: Linear(3)"});
    EXPECT_THROW(make_model(config, {{input}, 2}, 1, Device{}), Error) << "2 classes need 2 scores";
    EXPECT_THROW(count_parameters(config, {{input}, 2}), Error);
}

TEST(File, AWindowHasNoMoreTokensThanPositions) {
    ModelConfig config;
    config.kind = "file";
    config.network = lines({"network(tokens) gives token scores:", "  wte: Embedding(4)", "  wpe: Positions(5)", "  Add from wte, wpe",
                            "  head: Linear(outputs)"});
    FieldSpec input{.name = "tokens", .kind = FieldKind::tokens, .shape = {5}};
    input.cardinality = 9;
    input.windowed = true;
    EXPECT_EQ(make_model(config, {{input}, 9}, 1, Device{})->context(), 5);
    input.shape = {6};
    EXPECT_THROW(make_model(config, {{input}, 9}, 1, Device{}), Error);
}

TEST(File, ParametersAreCountedWithoutMemoryForThem) {
    ModelConfig config;
    config.kind = "file";
    config.network = lines({"network(features):", "  fc1: Linear(1000000000)", "  fc2: Linear(1000000000)", "  fc3: Linear(outputs)"});
    const FieldSpec input{.name = "features", .kind = FieldKind::features, .shape = {3}};
    EXPECT_GT(count_parameters(config, {{input}, 2}), std::int64_t{1'000'000'000} * 1'000'000'000);
    EXPECT_EQ(count_fixed_numbers(config, {{input}, 2}), 0);
    config.network = lines({"network(features):", "  m: Buffer([1000000, 3])", "  bn: BatchNorm1d from features", "  fc: Linear(outputs)"});
    EXPECT_EQ(count_fixed_numbers(config, {{input}, 2}), 3'000'000 + 3 + 3 + 1) << "a Buffer and running statistics";
}

}  // namespace
}  // namespace engine
