#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <string>
#include <vector>

#include "ops/index/sparse.h"
#include "support/ranks.h"

// Steps of one process and of several ranks, to be compared.
namespace engine::test {

using Numbers = std::vector<std::vector<double>>;

/// The gradients of a step, scaled, by parameter.
class Gradients final : public StepObserver {
public:
    void before_update(const StepView& step) override {
        if (step.phase == 0) found.clear();
        for (const Parameter& parameter : step.model.parameters()) {
            const Tensor gradient = parameter.tensor.grad();
            if (gradient.defined()) found.push_back(to_dense(gradient).values());
        }
    }
    Numbers found;
};

/// Results of one step.
struct Step {
    StepRecord row;
    Numbers gradients, weights, buffers;
};

inline Step step_of(RankRun& run) {
    const auto gradients = std::make_shared<Gradients>();
    run.trainer.attach(gradients);
    const CompletedStep done = run.step();
    run.trainer.detach(*gradients);
    return {done.row, gradients->found, run.weights(), run.buffers()};
}

/// The last of `count` steps of one process.
inline Step alone(const RunConfig& config, int count = 1) {
    RankRun run(config);
    for (int i = 1; i < count; ++i) run.step();
    return step_of(run);
}

/// Results of each rank.
inline std::vector<Step> together(RunConfig config, int ranks, int count = 1) {
    config.workers = ranks;
    std::vector<Step> out(static_cast<std::size_t>(ranks));
    on_ranks(ranks, [&](const auto& line) {
        RankRun run(config, line);
        for (int i = 1; i < count; ++i) run.step();
        out[static_cast<std::size_t>(line->rank())] = step_of(run);
    });
    return out;
}

inline double largest_of(const std::vector<double>& values) {
    double out = 0;
    for (const double value : values) out = std::max(out, std::abs(value));
    return out;
}

/// Largest difference of a tensor, in units of its largest magnitude; of all tensors the largest.
/// A tensor that is 0 but for rounding, as attention's key biases are, has the unit of the largest
/// of all.
inline double gap(const Numbers& a, const Numbers& b) {
    EXPECT_EQ(a.size(), b.size());
    double most = 0, largest = 0;
    for (const auto& tensor : b) largest = std::max(largest, largest_of(tensor));
    for (std::size_t t = 0; t < std::min(a.size(), b.size()); ++t) {
        EXPECT_EQ(a[t].size(), b[t].size());
        std::vector<double> difference = a[t];
        for (std::size_t i = 0; i < a[t].size(); ++i) difference[i] -= b[t][i];
        const double own = largest_of(b[t]);
        most = std::max(most, largest_of(difference) / (own < largest * 0x1p-16 ? largest : own));
    }
    return most;
}

/// A gradient is a sum over the rows and places of a batch. In another order each of its additions
/// rounds elsewhere, by half a unit of f32 of what is added up so far; so do the sums that it is
/// made of, one a layer. Where layers round to 16 bits, a sum that lies between two of their values
/// may fall to the other one.
inline double order_bound(const RunConfig& config, double terms, double layers) {
    const std::string& precision = config.precision.preset;
    const double low = precision == "amp-fp16" ? 0x1p-11 : precision == "amp-bf16" ? 0x1p-8 : 0;
    return layers * (terms * 0x1p-24 + low);
}

/// A batch norm divides by the deviation of few values, which enlarges the rounding of its input
/// by its mean over its deviation: bounds of a deep net with batch norm are wider by that.
constexpr double norm_amplification = 16;

}  // namespace engine::test
