#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <limits>
#include <string>
#include <vector>

#include "engine/base/error.h"
#include "optim/loss_scaler.h"
#include "optim/optimizers.h"
#include "support/grad_scaler.h"

namespace engine {

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();

inline Tensor leaf(const std::vector<double>& values, const Shape& shape,
                   DType dtype = DType::f32) {
    Tensor t = Tensor::of(values, shape, dtype);
    t.set_requires_grad(true);
    return t;
}

/// A one-dimensional parameter with a gradient.
inline Tensor with_grad(const std::vector<double>& values, const std::vector<double>& grads,
                        DType dtype = DType::f32) {
    const Shape shape{static_cast<std::int64_t>(values.size())};
    Tensor t = leaf(values, shape, dtype);
    t.set_grad(Tensor::of(grads, shape, dtype));
    return t;
}

inline void give_grad(const Tensor& parameter, const std::vector<double>& grads) {
    parameter.set_grad(Tensor::of(grads, parameter.shape(), parameter.dtype()));
}

inline std::vector<Parameter> named(const TensorList& tensors) {
    std::vector<Parameter> out;
    for (const auto& tensor : tensors) out.push_back({"p" + std::to_string(out.size()), tensor});
    return out;
}

/// One f32 parameter of 1 with a gradient of 1, and plain SGD with lr 1.
struct OneWeight {
    explicit OneWeight(bool scaling_aware = false, const SgdOptions& settings = {.lr = 1})
        : weight(with_grad({1}, {1})),
          optimizer(named({weight}), settings, {.scaling_aware = scaling_aware}) {}
    Tensor weight;
    Sgd optimizer;
};

/// A scaler whose device state has been created.
inline GradScaler ready_scaler(const ScalerOptions& options) {
    GradScaler scaler(options);
    scaler.scale(Tensor::scalar(1, DType::f32));
    return scaler;
}

inline void expect_error(ErrorCode code, const std::string& part,
                         const std::function<void()>& act) {
    try {
        act();
        ADD_FAILURE() << "no error naming: " << part;
    } catch (const Error& error) {
        EXPECT_EQ(error.code(), code) << error.what();
        EXPECT_THAT(error.what(), testing::HasSubstr(part));
    }
}

/// The gradient check of an optimizer's gradients.
inline DeviceRecord<kernels::GradientStatistics> checked(const Optimizer& optimizer) {
    const DeviceRecord<kernels::GradientStatistics> out(optimizer.device());
    TensorList gradients;
    for (const auto& parameter : optimizer.parameters())
        gradients.push_back(parameter.tensor.grad());
    check_gradients(out, gradients);
    return out;
}

/// Sets the clip coefficient of the next step from the gradient statistics, as code that clips on
/// the device would.
inline void set_clip(Optimizer& optimizer,
                     const DeviceRecord<kernels::GradientStatistics>& gradient_statistics,
                     const GradScaler& scaler, double max_norm) {
    const Device& device = gradient_statistics.device();
    optimizer.clip = Tensor::empty({}, DType::f32, device);
    on(device, kernels::cpu::clip_coefficient, kernels::cuda::clip_coefficient)(
        optimizer.clip.data_as<float>(), &gradient_statistics.data()->sum_squares,
        scaler.scale_tensor().data_as<float>(), max_norm, current_stream());
}

}  // namespace engine
