#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "engine/base/error.h"
#include "made_models.h"
#include "parameter_lines.h"

namespace engine {
namespace {

using testing::ElementsAre;

std::unique_ptr<Model> small_autoencoder(const Shape& image) {
    const Options options{{"code", std::int64_t{6}}, {"channels", std::int64_t{4}}};
    return test::made_model("autoencoder", options, test::pictures(image, 0));
}

// encoder = Sequential(Conv2d(3, 4, 3, 2, 1), ReLU, Conv2d(4, 8, 3, 2, 1), ReLU, Flatten,
// Linear(96, 6)), decoder = Sequential(Linear(6, 96), ReLU, Unflatten(1, (8, 3, 4)),
// ConvTranspose2d(8, 4, 4, 2, 1), ReLU, ConvTranspose2d(4, 3, 4, 2, 1), Sigmoid).
TEST(Autoencoder, HasTheNamesAndShapesOfPyTorchsModules) {
    EXPECT_THAT(
        test::parameter_lines(*small_autoencoder({3, 12, 16})),
        ElementsAre("encoder.0.weight 4 3 3 3", "encoder.0.bias 4", "encoder.2.weight 8 4 3 3",
                    "encoder.2.bias 8", "encoder.5.weight 6 96", "encoder.5.bias 6",
                    "decoder.0.weight 96 6", "decoder.0.bias 96", "decoder.3.weight 8 4 4 4",
                    "decoder.3.bias 4", "decoder.5.weight 4 3 4 4", "decoder.5.bias 3"));
}

TEST(Autoencoder, DrawsImagesOfItsInputsSizeBetweenBlackAndWhite) {
    const auto model = small_autoencoder({3, 12, 16});
    const Tensor drawn = model->forward({Tensor::full({2, 3, 12, 16}, 0.5, DType::f32, {})}).front();
    EXPECT_EQ(drawn.shape(), (Shape{2, 3, 12, 16}));
    const auto values = drawn.values();
    EXPECT_GT(*std::ranges::min_element(values), 0);
    EXPECT_LT(*std::ranges::max_element(values), 1);
}

TEST(Autoencoder, RefusesSidesThatCannotBeHalvedTwice) {
    EXPECT_THROW(small_autoencoder({1, 30, 28}), Error);
    EXPECT_THROW(small_autoencoder({1, 28, 27}), Error);
}

}  // namespace
}  // namespace engine
