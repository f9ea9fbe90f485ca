#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "network_twin.h"

// Templates of built-in models draw their weights and have their losses, bit for bit.
namespace engine::test {
namespace {

struct Twin {
    const char* kind;
    ModelShape shape;
    Options options;
    int steps;  ///< in fp32; in the low types a quarter; 0: initial weights and an evaluation alone
};

/// Small pictures: the widths are those of the built-in models.
const Shape tiny{3, 8, 8};

std::vector<Twin> twins() {
    const Options cifar{{"stem", std::string("cifar")}};
    return {{"mlp", features(5, 4), {}, 20},
            {"mlp", pictures({1, 4, 4}, 4), {{"hidden", std::vector<std::int64_t>{7, 6, 5}}}, 20},
            {"lenet", pictures({1, 16, 16}, 4), {}, 20},
            {"resnet18", pictures(tiny, 4), cifar, 1},
            {"resnet18", pictures({3, 32, 32}, 4), {{"stem", std::string("imagenet")}, {"zero_init_last_norm", true}}, 0},
            {"resnet34", pictures(tiny, 4), cifar, 0},
            {"resnet50", pictures(tiny, 4), cifar, 0},
            {"resnext50", pictures(tiny, 4), cifar, 0},
            {"mobilenetv2", pictures(tiny, 4), cifar, 1},
            {"autoencoder", {.inputs = pictures({1, 8, 8}, 0).inputs, .output = {1, 8, 8}}, {}, 20}};
}

Tensor batch_for(const Twin& twin) {
    Shape shape{4};
    for (const std::int64_t size : twin.shape.inputs.front().shape) shape.push_back(size);
    return made_pictures(shape);
}

class NetworkTwin : public testing::TestWithParam<std::size_t> {
protected:
    Twin twin_ = twins()[GetParam()];
    std::unique_ptr<Model> built_in() const { return made_model(twin_.kind, twin_.options, twin_.shape); }
    std::unique_ptr<Model> written() const { return written_model(network_template(twin_.kind), twin_.shape, twin_.options); }
};

TEST_P(NetworkTwin, HasTheBitsOfTheBuiltInModel) {
    EXPECT_TRUE(tensors_of(*written()) == tensors_of(*built_in()));
    const auto a = written(), b = built_in();
    EXPECT_EQ(a->casts_inputs_first() || twin_.shape.output.rank() > 0, b->casts_inputs_first() || twin_.shape.output.rank() > 0);
    if (twin_.steps == 0) return;
    const Tensor inputs = batch_for(twin_);
    for (const std::optional<DType> low : {std::optional<DType>(), std::optional(DType::f16), std::optional(DType::bf16)}) {
        const int steps = low ? (twin_.steps + 3) / 4 : twin_.steps;
        EXPECT_TRUE(trained(*written(), inputs, steps, low) == trained(*built_in(), inputs, steps, low)) << (low ? name(*low) : "f32");
    }
}

TEST_P(NetworkTwin, ComputesTheBitsOfTheBuiltInModelInEvaluation) {
    const auto a = written(), b = built_in();
    a->training = b->training = false;
    const GradMode off(false);
    EXPECT_EQ(bits_of(a->forward({batch_for(twin_)}).front()), bits_of(b->forward({batch_for(twin_)}).front()));
}

INSTANTIATE_TEST_SUITE_P(Templates, NetworkTwin, testing::Range<std::size_t>(0, twins().size()),
                         [](const auto& twin) { return std::string(twins()[twin.param].kind) + "_" + std::to_string(twin.param); });

}  // namespace
}  // namespace engine::test
