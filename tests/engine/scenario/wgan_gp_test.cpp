#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "amp/autocast.h"
#include "autograd/backward.h"
#include "ops/conv/convolution.h"
#include "ops/linalg/linear.h"
#include "ops/linalg/norm.h"
#include "ops/pointwise/activation.h"
#include "ops/pointwise/binary.h"
#include "ops/pointwise/unary.h"
#include "ops/reduce/reduce.h"
#include "ops/shape/sum.h"
#include "ops/shape/view.h"
#include "support/golden_file.h"
#include "support/grad_scaler.h"
#include "tensor/cast.h"

// Compares a WGAN-GP critic step with PyTorch's, from the file that tests/peer/wgan_gp_golden.py
// writes.
namespace engine {
namespace {

constexpr double loss_scale = 1024, penalty_weight = 10;
const char* const weight_names[] = {"conv1.weight", "conv1.bias", "conv2.weight",
                                    "conv2.bias",   "fc.weight",  "fc.bias"};

using Weights = std::map<std::string, Tensor>;
using Results = std::map<std::string, std::vector<double>>;

Tensor critic(const Weights& w, const Tensor& x) {
    const Conv2dOptions options{.stride = {2, 2}, .padding = {1, 1}};
    const Tensor first = tanh(conv2d(x, w.at("conv1.weight"), w.at("conv1.bias"), options));
    const Tensor second = tanh(conv2d(first, w.at("conv2.weight"), w.at("conv2.bias"), options));
    return linear(flatten(second, 1), w.at("fc.weight"), w.at("fc.bias"));
}

/// The step as a user of the engine would write it. Gradients are unscaled at the end.
Results step(const test::GoldenFile& golden, DType dtype, bool amp) {
    Weights w;
    TensorList leaves;
    for (const auto* name : weight_names) {
        w[name] = to(golden.tensor(name), dtype);
        w[name].set_requires_grad(true);
        leaves.push_back(w[name]);
    }
    const Tensor real = to(golden.tensor("real"), dtype), fake = to(golden.tensor("fake"), dtype),
                 mix = to(golden.tensor("mix"), dtype);
    Tensor between = add(mul(mix, real), mul(add(neg(mix), 1.0), fake));
    between.set_requires_grad(true);
    GradScaler scaler({.init_scale = loss_scale, .enabled = amp});
    const AutocastRegion region(default_device().kind, amp, DType::f16);
    const auto score = [&](const Tensor& x) { return mean(to(critic(w, x), dtype)); };
    Tensor wasserstein, judged;
    {
        const auto inside = region.enter();
        wasserstein = sub(score(fake), score(real));
        judged = critic(w, between);
    }
    const Tensor aim = scaler.scale(sum(to(judged, dtype)));
    Tensor g = grad({&aim, 1}, {&between, 1}, {}, {.create_graph = true})[0];
    g = mul(g, 1 / scaler.loss_scale());
    Tensor penalty, total;
    {
        const auto inside = region.enter();
        const Tensor excess = add(norm(flatten(g, 1), {1}), -1.0);
        penalty = mul(mean(mul(excess, excess)), penalty_weight);
        total = add(wasserstein, penalty);
    }
    backward(scaler.scale(total));
    Results out{{"wasserstein", wasserstein.values()}, {"penalty", penalty.values()}};
    for (std::size_t i = 0; i < leaves.size(); ++i) {
        auto& values = out[std::string("grad.") + weight_names[i]];
        values = leaves[i].grad().values();
        for (auto& v : values) v /= scaler.loss_scale();
    }
    return out;
}

double norm_of(const std::vector<double>& x) {
    double sum = 0;
    for (const double v : x) sum += v * v;
    return std::sqrt(sum);
}

/// |x - exact| / |exact|, or |x| if exact is 0. (The last bias moves both means alike.)
double error_of(const std::vector<double>& x, const std::vector<double>& exact) {
    EXPECT_EQ(x.size(), exact.size());
    std::vector<double> difference(x);
    for (std::size_t i = 0; i < x.size(); ++i) difference[i] -= exact[i];
    const double size = norm_of(exact);
    return norm_of(difference) / (size > 1e-12 ? size : 1);
}

/// Our error may be twice that of PyTorch's least accurate result in that mode: both round at the
/// same places, but sum in different orders.
void expect_as_near_as_pytorch(const std::string& mode, DType dtype, bool amp) {
    const test::GoldenFile golden("wgan_gp");
    const Results found = step(golden, dtype, amp);
    double farthest = 0;
    for (const auto& [name, values] : found) {
        farthest = std::max(
            farthest, error_of(golden.values(mode + "/" + name), golden.values("exact/" + name)));
    }
    ASSERT_GT(farthest, 0);
    for (const auto& [name, values] : found)
        EXPECT_LE(error_of(values, golden.values("exact/" + name)), 2 * farthest) << name;
}

TEST(WganGp, InF64IsPyTorchsToTheLastDigits) {
    const test::GoldenFile golden("wgan_gp");
    // Sums of a few hundred products, five layers deep.
    for (const auto& [name, values] : step(golden, DType::f64, false))
        EXPECT_LE(error_of(values, golden.values("exact/" + name)), 4096 * 0x1p-53) << name;
}
TEST(WganGp, InF32IsAsNearToExactAsPyTorch) {
    expect_as_near_as_pytorch("fp32", DType::f32, false);
}
TEST(WganGp, InAmpFp16IsAsNearToExactAsPyTorchsAutocastAndScaler) {
    expect_as_near_as_pytorch("amp-fp16", DType::f32, true);
}

}  // namespace
}  // namespace engine
