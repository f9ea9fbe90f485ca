#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "step_support.h"
#include "tasks/task_descriptor.h"

// The task of an autoencoder.
namespace engine {
namespace {

RunConfig autoencoder_config(bool normalize) {
    RunConfig config = test::small_run("autoencoder", "fp32");
    config.dataset.normalize = normalize;
    return config;
}

Schema images() {
    return classified_images({1, 4, 4}, {.mean = {0.3F}, .deviation = {0.2F}}, {"a", "b"});
}

/// A model that draws black images.
class Black final : public SimpleModel {
public:
    Black() : SimpleModel(std::nullopt, default_device()) {}
    using SimpleModel::forward;
    Tensor forward(const Tensor& x) override {
        return Tensor::zeros(x.shape(), x.dtype(), x.device());
    }
};

TEST(Reconstruction, IsWhatAnAutoencoderLearnsFromImages) {
    EXPECT_EQ(task_of(autoencoder_config(true), images()).kind, "autoencoder");
}

TEST(Reconstruction, KeepsPixelsFromBlackToWhiteWhateverTheSettingsSay) {
    for (const bool normalize : {false, true}) {
        const auto task = make_task(autoencoder_config(normalize), images());
        for (const bool training : {false, true})
            EXPECT_THAT(task->schema(training).fields[0].transforms, testing::IsEmpty());
    }
}

TEST(Reconstruction, MeasuresTheErrorOfAPixelAndShowsBothImages) {
    const auto task = make_task(autoencoder_config(true), images());
    Black model;
    model.training = false;
    const DeviceRecord<MetricSums> sums(default_device());
    sums.clear();
    const Tensor white = Tensor::full({3, 1, 4, 4}, 1, DType::f32, default_device());
    const Tensor grey = Tensor::full({1, 1, 4, 4}, 0.5, DType::f32, default_device());
    PictureBands pictures;
    for (const Tensor& image : {white, grey}) {
        const Tensor labels = Tensor::zeros({image.size(0)}, DType::i64, default_device());
        const DeviceBatch batch{{image, labels}, image.size(0), image.size(0)};
        TaskStep step(model, batch, {}, sums.data());
        task->evaluate(step);
        pictures = task->pictures(step);
    }
    const MetricSums host = sums.host();
    std::array<double, 1> values{};
    task->derive(host, values);
    EXPECT_EQ(host.loss / host.weight, (3 * 1 + 0.25) / 4);
    EXPECT_EQ(values[0], std::sqrt((3 * 1 + 0.25) / 4));
    ASSERT_EQ(pictures.bands.size(), 2U);
    EXPECT_THAT(pictures.bands[0].values(), testing::Each(0.5));
    EXPECT_THAT(pictures.bands[1].values(), testing::Each(0));
}

}  // namespace
}  // namespace engine
