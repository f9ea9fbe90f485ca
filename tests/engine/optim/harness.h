#pragma once

#include <algorithm>
#include <cmath>
#include <memory>
#include <random>

#include "amp/autocast.h"
#include "ops/linalg/linear.h"
#include "ops/pointwise/binary.h"
#include "scaler_support.h"
#include "support/element.h"
#include "tensor/cast.h"

namespace engine {

constexpr std::int64_t net_width = 8;

/// Two linear layers of 8 x 8. The same seed gives the same numbers.
struct Net {
    explicit Net(unsigned seed = 1) {
        std::mt19937 random(seed);
        for (int layer = 0; layer < 2; ++layer) {
            parameters.push_back(draw(random, {net_width, net_width}));
            parameters.push_back(draw(random, {net_width}));
        }
    }
    Tensor operator()(const Tensor& x) const {
        return linear(linear(x, parameters[0], parameters[1]), parameters[2], parameters[3]);
    }
    static Tensor draw(std::mt19937& random, const Shape& shape) {
        std::uniform_real_distribution<double> uniform(-0.35, 0.35);  // 1 / sqrt(8)
        std::vector<double> values(static_cast<std::size_t>(shape.numel()));
        for (auto& value : values) value = uniform(random);
        return leaf(values, shape);
    }
    const Tensor& second_weight() const { return parameters[2]; }

    TensorList parameters;
};

struct HarnessBatch {
    Tensor input, target;
};

/// Four batches of 8 x 8.
inline std::vector<HarnessBatch> harness_batches() {
    std::mt19937 random(7);
    std::normal_distribution<double> normal;
    const auto draw = [&] {
        std::vector<double> values(net_width * net_width);
        for (auto& value : values) value = normal(random);
        return Tensor::of(values, {net_width, net_width});
    };
    std::vector<HarnessBatch> batches;
    for (int i = 0; i < 4; ++i) batches.push_back({draw(), draw()});
    return batches;
}

constexpr int bad_batch = 2;

/// Sets an element of the gradient of the second layer's weight to inf.
inline void spoil(const Net& net) {
    const Tensor grad = net.second_weight().grad();
    set_element(grad, 5, std::numeric_limits<double>::infinity());
}

/// Largest absolute difference of two tensors.
inline double distance(const Tensor& a, const Tensor& b) {
    const auto x = a.values(), y = b.values();
    double largest = 0;
    for (std::size_t i = 0; i < x.size(); ++i) {
        const double apart = std::abs(x[i] - y[i]);
        if (!(apart <= largest)) largest = apart;
    }
    return largest;
}

/// Expects equal parameters, gradients and optimizer states, within `tolerance`; 0: equal bits.
inline void expect_match(const Net& a, const Optimizer& optimizer_a, const Net& b,
                         const Optimizer& optimizer_b, double tolerance) {
    for (std::size_t i = 0; i < a.parameters.size(); ++i) {
        EXPECT_LE(distance(a.parameters[i], b.parameters[i]), tolerance) << "parameter " << i;
        ASSERT_EQ(a.parameters[i].grad().defined(), b.parameters[i].grad().defined());
        if (a.parameters[i].grad().defined()) {
            EXPECT_LE(distance(a.parameters[i].grad(), b.parameters[i].grad()), tolerance)
                << "gradient " << i;
        }
        const auto state_a = optimizer_a.state(i), state_b = optimizer_b.state(i);
        ASSERT_EQ(state_a.size(), state_b.size());
        for (std::size_t k = 0; k < state_a.size(); ++k) {
            EXPECT_EQ(state_a[k].first, state_b[k].first);
            EXPECT_LE(distance(state_a[k].second, state_b[k].second), tolerance)
                << state_a[k].first << " " << i;
        }
    }
    EXPECT_EQ(optimizer_a.steps(), optimizer_b.steps());
}

/// Clips to a norm by training-loops.md#clipping (3.2): factor min(1, max / (norm + 1e-6)). Returns
/// the norm.
inline double clip_to_norm(const TensorList& parameters, double max_norm) {
    double squares = 0;
    for (const auto& parameter : parameters) {
        for (const double value : parameter.grad().values()) squares += value * value;
    }
    const double norm = std::sqrt(squares);
    const double factor = std::min(1.0, max_norm / (norm + 1e-6));
    const GradMode off(false);
    for (const auto& parameter : parameters) parameter.set_grad(mul(parameter.grad(), factor));
    return norm;
}

}  // namespace engine
