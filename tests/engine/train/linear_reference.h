#pragma once

#include <algorithm>
#include <cmath>
#include <vector>

#include "data/loader/batch.h"
#include "engine/settings/run_config.h"
#include "nn/layers.h"

// Linear layers trained by SGD in double, with plain loops. Uses none of the engine's ops, scaler,
// clipping or optimizers.
namespace engine::test {

using Rows = std::vector<std::vector<double>>;

/// A field of f32 numbers: one row for each sample.
inline Rows rows_of(const Batch& batch, std::size_t field) {
    const auto values = batch.fields[field].values<float>();
    const auto width = static_cast<std::size_t>(batch.fields[field].shape[1]);
    Rows rows;
    for (std::size_t i = 0; i < values.size(); i += width)
        rows.emplace_back(values.begin() + static_cast<std::ptrdiff_t>(i),
                          values.begin() + static_cast<std::ptrdiff_t>(i + width));
    return rows;
}

/// factor_a * a + factor_b * b
inline Rows mixed(const Rows& a, double factor_a, const Rows& b, double factor_b) {
    Rows out = a;
    for (std::size_t i = 0; i < a.size(); ++i) {
        for (std::size_t j = 0; j < a[i].size(); ++j)
            out[i][j] = factor_a * a[i][j] + factor_b * b[i][j];
    }
    return out;
}

/// The derivative of the mean squared error with respect to the outputs.
inline Rows mse_slope(const Rows& outputs, const Rows& target) {
    const double factor = 2.0 / static_cast<double>(outputs.size() * outputs.front().size());
    return mixed(outputs, factor, target, -factor);
}

/// y = x weight^T + bias, with its own optimizer.
class LinearReference {
public:
    explicit LinearReference(const Linear& layer)
        : weight_(layer.weight.values()), bias_(layer.bias.values()) {}

    Rows outputs(const Rows& x) const {
        Rows out(x.size(), bias_.values);
        for (std::size_t i = 0; i < x.size(); ++i) {
            for (std::size_t j = 0; j < out[i].size(); ++j) {
                for (std::size_t k = 0; k < x[i].size(); ++k)
                    out[i][j] += x[i][k] * weight_.values[j * x[i].size() + k];
            }
        }
        return out;
    }
    /// Adds the gradient of `share` times a loss with this derivative with respect to the outputs.
    void add_gradient(const Rows& x, const Rows& slope, double share) {
        for (std::size_t i = 0; i < x.size(); ++i) {
            for (std::size_t j = 0; j < slope[i].size(); ++j) {
                bias_.gradient[j] += share * slope[i][j];
                for (std::size_t k = 0; k < x[i].size(); ++k)
                    weight_.gradient[j * x[i].size() + k] += share * slope[i][j] * x[i][k];
            }
        }
    }
    double gradient_norm() const {
        double squares = 0;
        for (const Variable* variable : {&weight_, &bias_}) {
            for (const double g : variable->gradient) squares += g * g;
        }
        return std::sqrt(squares);
    }
    /// The number of gradient elements that exceed the bound.
    std::int64_t count_beyond(double bound) const {
        std::int64_t count = 0;
        for (const Variable* variable : {&weight_, &bias_})
            count += std::ranges::count_if(variable->gradient,
                                           [&](double g) { return std::abs(g) > bound; });
        return count;
    }
    /// Clips like torch.nn.utils, and makes one step of PyTorch's SGD.
    void update(const ClipConfig& clip, const OptimizerConfig& sgd) {
        const double factor = clip.kind == ClipKind::norm
                                  ? std::min(1.0, clip.value / (gradient_norm() + 1e-6))
                                  : 1.0;
        const double bound = clip.kind == ClipKind::value ? clip.value : INFINITY;
        for (Variable* variable : {&weight_, &bias_}) variable->update(factor, bound, sgd);
    }
    void zero_grad() {
        for (Variable* variable : {&weight_, &bias_}) std::ranges::fill(variable->gradient, 0);
    }
    const std::vector<double>& weight() const { return weight_.values; }
    const std::vector<double>& bias() const { return bias_.values; }

private:
    struct Variable {
        explicit Variable(std::vector<double> start)
            : values(std::move(start)), gradient(values.size()), momentum(values.size()) {}
        void update(double factor, double bound, const OptimizerConfig& sgd) {
            const auto given = [&sgd](const char* name) {
                return std::get<double>(sgd.options.at(name));
            };
            const double lr = given("lr"), keep = given("momentum"), decay = given("weight_decay");
            for (std::size_t i = 0; i < values.size(); ++i) {
                const double clipped = std::clamp(gradient[i] * factor, -bound, bound);
                // PyTorch initialises the buffer with the first gradient, which equals starting
                // from 0.
                momentum[i] = keep * momentum[i] + clipped + decay * values[i];
                values[i] -= lr * momentum[i];
            }
        }
        std::vector<double> values, gradient, momentum;
    };

    Variable weight_, bias_;
};

/// For a layer of numbers of magnitude 1, after at most five steps of batches of 8: each step
/// rounds a weight once, and adds lr = 0.05 times a gradient whose sums of about 30 terms were
/// computed in f32. 5 * (1 + 0.05 * 30) * 2^-24 < 8e-7.
inline constexpr double linear_tolerance = 1e-6;

inline void expect_near(const Linear& layer, const LinearReference& reference) {
    const auto compare = [](const std::vector<double>& found, const std::vector<double>& expected) {
        ASSERT_EQ(found.size(), expected.size());
        for (std::size_t i = 0; i < found.size(); ++i)
            EXPECT_NEAR(found[i], expected[i], linear_tolerance) << i;
    };
    compare(layer.weight.values(), reference.weight());
    compare(layer.bias.values(), reference.bias());
}

}  // namespace engine::test
