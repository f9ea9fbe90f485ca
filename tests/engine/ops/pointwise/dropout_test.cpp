#include "ops/pointwise/dropout.h"

#include <gtest/gtest.h>

#include "engine/base/error.h"
#include "gradcheck.h"
#include "ops/shape/sum.h"

namespace engine {
namespace {

const RandomStream stream(7, StreamId::dropout, 3);

TEST(Dropout, KeepsAndScalesWhatTheMaskKeeps) {
    const Tensor x = Tensor::of({1, 2, 3}, {3}), mask = Tensor::of({1, 0, 1}, {3}, DType::boolean);
    EXPECT_EQ(dropout(x, mask, 0.75).values(), (std::vector<double>{4, 0, 12}));
    EXPECT_EQ(dropout(x, mask, 1).values(), (std::vector<double>{0, 0, 0}));
}

TEST(Dropout, DropsAShareOfAboutPAndTheSameElementsEachTime) {
    const Tensor x = Tensor::full({100, 100}, 1, DType::f32);
    const Tensor y = dropout(x, 0.3, stream, 0);
    // The share of 10,000 draws has a standard deviation of 0.0046. Allows five of them.
    EXPECT_NEAR(sum(y).item() * 0.7 / 10000, 0.7, 0.023);
    EXPECT_EQ(dropout(x, 0.3, stream, 0).values(), y.values());
    EXPECT_NE(dropout(x, 0.3, stream, 10000).values(), y.values());
}

TEST(Dropout, TheMaskGoesByPositionHoweverTheWorkIsSplit) {
    const auto whole = dropout(Tensor::full({64}, 1, DType::f32), 0.5, stream, 0).values();
    const auto tail = dropout(Tensor::full({32}, 1, DType::f32), 0.5, stream, 32).values();
    EXPECT_EQ(std::vector<double>(whole.begin() + 32, whole.end()), tail);
}

TEST(Dropout, DropsWholeChannelsAndWholeSamples) {
    const Tensor x = Tensor::full({20, 30, 2, 3}, 1, DType::f32);
    const std::vector<double> channels = dropout_parts(x, 2, 0.25, stream, 5).values();
    const std::vector<double> samples = dropout_parts(x, 1, 0.25, stream, 5).values();
    int dropped = 0;
    for (std::size_t i = 0; i < channels.size(); ++i) {
        EXPECT_EQ(channels[i], channels[i / 6 * 6]);
        EXPECT_EQ(samples[i], samples[i / 180 * 180]);
        EXPECT_TRUE(channels[i] == 0 || channels[i] == static_cast<double>(1 / 0.75f));
        dropped += i % 6 == 0 && channels[i] == 0 ? 1 : 0;
    }
    // A quarter of 600 channels, with a standard deviation of 10.6. Allows five of them.
    EXPECT_NEAR(dropped, 150, 53);
    // The draws are those of elements of a tensor with one for each channel.
    const Tensor places = dropout(Tensor::full({20, 30}, 1, DType::f32), 0.25, stream, 5);
    for (std::size_t i = 0; i < 600; ++i) EXPECT_EQ(places.values()[i] == 0, channels[i * 6] == 0);
    EXPECT_EQ(dropout_parts(x, 1, 1, stream, 0).values(), std::vector<double>(3600, 0.0));
    EXPECT_THROW(dropout_parts(x, 1, 1.5, stream, 0), Error);
}

TEST(Dropout, OfPartsHasTheGradientOfItsFactors) {
    for (const int dims : {1, 2}) {
        Tensor x = random_tensor({3, 4, 2}, DType::f64, 1);
        x.set_requires_grad(true);
        const Function drop = [dims](const TensorList& in) { return dropout_parts(in[0], dims, 0.4, stream, 0); };
        expect_gradients(drop, {x});
        expect_second_gradients(drop, {x});
    }
}

TEST(Dropout, RefusesAProbabilityOutsideZeroToOne) {
    const Tensor x = Tensor::full({2}, 1, DType::f32);
    EXPECT_THROW(dropout(x, -0.1, stream, 0), Error);
    EXPECT_THROW(dropout(x, 1.1, stream, 0), Error);
    EXPECT_THROW(dropout(x, Tensor::full({3}, 1, DType::boolean), 0.5), Error);
}

}  // namespace
}  // namespace engine
