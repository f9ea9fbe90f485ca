#pragma once

#include <random>

#include "models/model.h"
#include "ops/pointwise/activation.h"
#include "ops/shape/view.h"
#include "support/opt_level.h"

namespace engine {

/// A convolution between two batch norms, the second without weights, and a classifier.
class SmallNet final : public SimpleModel {
public:
    explicit SmallNet(std::int64_t seed = 1)
        : SimpleModel(seed, default_device()),
          conv_(registry_, "conv", 3, 8, 3, 1, 1, true, Conv2d::Init::uniform_fan_in),
          norm_(registry_, "norm", 8),
          plain_(registry_, "plain", 8, /*affine=*/false),
          fc_(registry_, "fc", 8 * 6 * 6, 4) {}
    using SimpleModel::forward;
    Tensor forward(const Tensor& x) override {
        const Tensor normed = norm_(conv_(x), training);
        return fc_(flatten(plain_(engine::relu(normed), training), 1));
    }

private:
    Conv2d conv_;
    BatchNorm2d norm_, plain_;
    Linear fc_;
};

/// Converts the model by the properties of the level.
inline void convert(Model& model, const OptProperties& level) {
    if (level.cast_model_type == DType::f16)
        convert_weights(model, DType::f16, level.keep_batchnorm_fp32.value_or(true));
}

struct ImageBatch {
    Tensor images, labels;
};

inline ImageBatch batch_of(std::mt19937& random) {
    std::normal_distribution<double> noise(0, 0.5);
    std::vector<double> images, labels;
    for (int i = 0; i < 16; ++i) {
        labels.push_back(i % 4);
        for (int k = 0; k < 3 * 36; ++k) images.push_back(noise(random) + (k % 4 == i % 4 ? 1 : 0));
    }
    return {Tensor::of(images, {16, 3, 6, 6}), Tensor::of(labels, {16}, DType::i64)};
}

}  // namespace engine
