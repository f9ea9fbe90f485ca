#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "engine/base/error.h"
#include "made_models.h"
#include "parameter_lines.h"

namespace engine {
namespace {

using testing::ElementsAre;

std::unique_ptr<Model> small_dcgan(const Shape& image) { return test::made_dcgan(image, 5, 4); }

TEST(Dcgan, HasTheNamesAndShapesOfPyTorchsExampleFor64Pixels) {
    EXPECT_THAT(
        test::parameter_lines(*small_dcgan({3, 64, 64})),
        ElementsAre("generator.main.0.weight 5 32 4 4", "generator.main.1.weight 32",
                    "generator.main.1.bias 32", "generator.main.3.weight 32 16 4 4",
                    "generator.main.4.weight 16", "generator.main.4.bias 16",
                    "generator.main.6.weight 16 8 4 4", "generator.main.7.weight 8",
                    "generator.main.7.bias 8", "generator.main.9.weight 8 4 4 4",
                    "generator.main.10.weight 4", "generator.main.10.bias 4",
                    "generator.main.12.weight 4 3 4 4", "discriminator.main.0.weight 4 3 4 4",
                    "discriminator.main.2.weight 8 4 4 4", "discriminator.main.3.weight 8",
                    "discriminator.main.3.bias 8", "discriminator.main.5.weight 16 8 4 4",
                    "discriminator.main.6.weight 16", "discriminator.main.6.bias 16",
                    "discriminator.main.8.weight 32 16 4 4", "discriminator.main.9.weight 32",
                    "discriminator.main.9.bias 32", "discriminator.main.11.weight 1 32 4 4"));
}

class DcganOfSide : public testing::TestWithParam<std::int64_t> {};

TEST_P(DcganOfSide, DrawsAndJudgesImagesOfThatSide) {
    const auto made = small_dcgan({1, GetParam(), GetParam()});
    auto& model = dynamic_cast<AdversarialModel&>(*made);
    const Tensor drawn = model.generate(Tensor::full({3, 5}, 0.5, DType::f32, Device{}));
    ASSERT_EQ(drawn.shape(), (Shape{3, 1, GetParam(), GetParam()}));
    for (const double value : drawn.values()) EXPECT_LT(std::abs(value), 1);
    EXPECT_EQ(model.discriminate(drawn).shape(), (Shape{3}));
}

INSTANTIATE_TEST_SUITE_P(Sides, DcganOfSide, testing::Values(16, 20, 24, 28, 32, 64, 96),
                         [](const auto& of) { return std::to_string(of.param); });

TEST(Dcgan, RefusesImagesThatItsLayersCannotReach) {
    for (const Shape& image : {Shape{1, 28, 32}, Shape{1, 30, 30}, Shape{1, 8, 8}, Shape{1, 14, 14},
                               Shape{1, 4, 4}, Shape{1, 2, 2}})
        EXPECT_THROW(small_dcgan(image), Error) << image[1];
}

TEST(Dcgan, DrawsInitialWeightsWithTheDeviationOfThePaper) {
    const auto model = test::made_dcgan({1, 64, 64});
    for (const Parameter& parameter : model->parameters()) {
        if (parameter.tensor.shape().rank() != 4) continue;
        double squares = 0;
        for (const double value : parameter.tensor.values()) squares += value * value;
        const auto count = static_cast<double>(parameter.tensor.numel());
        // Six standard errors of a standard deviation.
        EXPECT_NEAR(std::sqrt(squares / count), 0.02, 6 * 0.02 / std::sqrt(2 * count))
            << parameter.name;
    }
}

}  // namespace
}  // namespace engine
