#include "nn/attention.h"

#include <gtest/gtest.h>

#include <cmath>
#include <set>
#include <string>

#include "amp/autocast.h"
#include "autograd/backward.h"
#include "engine/base/error.h"
#include "kernels/cuda_device.h"
#include "ops/pointwise/binary.h"
#include "ops/shape/sum.h"
#include "ops/shape/view.h"
#include "support/here.h"
#include "support/module_log.h"
#include "tensor/cast.h"

namespace engine {
namespace {

Tensor ramp(const Shape& shape) {
    std::vector<double> values;
    for (std::int64_t i = 0; i < shape.numel(); ++i)
        values.push_back(0.1 * static_cast<double>(i % 17) - 0.8);
    return Tensor::of(values, shape);
}

TEST(MultiheadAttention, HasPyTorchsNamesInItsOrder) {
    TensorRegistry registry(1, default_device());
    const MultiheadAttention layer(registry, "attn", 8, 2);
    std::vector<std::string> names;
    for (const auto& p : registry.parameters) names.push_back(p.name);
    EXPECT_EQ(names, (std::vector<std::string>{"attn.in_proj_weight", "attn.in_proj_bias",
                                               "attn.out_proj.weight", "attn.out_proj.bias"}));
    EXPECT_EQ(layer.in_proj_weight.shape(), (Shape{24, 8}));
    EXPECT_THROW(MultiheadAttention(registry, "other", 8, 3), Error);
}

TEST(MultiheadAttention, OfOneTensorToItselfIsThatOfThreeEqualOnes) {
    TensorRegistry registry(1, default_device());
    const MultiheadAttention layer(registry, "attn", 8, 2);
    const Tensor x = ramp({3, 5, 8});
    const auto one = layer(x, {.is_causal = true}).values();
    const auto three = layer(x, x, x, {.is_causal = true}).values();
    ASSERT_EQ(one.size(), three.size());
    for (std::size_t i = 0; i < one.size(); ++i) EXPECT_NEAR(one[i], three[i], 1e-6);
    EXPECT_EQ(layer(x, {}).shape(), (Shape{3, 5, 8}));
    EXPECT_EQ(layer(ramp({5, 8}), {}).shape(), (Shape{5, 8}));
}

TEST(MultiheadAttention, RunsInItsModuleAndItsOutputProjectionInAnother) {
    TensorRegistry registry(1, default_device());
    const MultiheadAttention layer(registry, "layers.0.self_attn", 8, 2);
    const Tensor x = ramp({3, 5, 8});
    ModuleLog log;
    const ObserverScope attached(log);
    (void)layer(x, {});
    (void)layer(x, x, x, {});
    const std::vector<std::string> once{"layers.0.self_attn", "layers.0.self_attn.out_proj"};
    std::vector<std::string> twice = once;
    twice.insert(twice.end(), once.begin(), once.end());
    EXPECT_EQ(log.forward, twice);
}

TEST(MultiheadAttention, ACausalOneDoesNotSeeWhatComesLater) {
    TensorRegistry registry(1, default_device());
    const MultiheadAttention layer(registry, "attn", 8, 4);
    const Tensor x = ramp({1, 5, 8});
    const Tensor other = cat({narrow(x, 1, 0, 3), mul(narrow(x, 1, 3, 2), -2.0)}, 1);
    const Tensor a = layer(x, {.is_causal = true}), b = layer(other, {.is_causal = true});
    EXPECT_EQ(narrow(a, 1, 0, 3).values(), narrow(b, 1, 0, 3).values());
    EXPECT_NE(narrow(a, 1, 3, 2).values(), narrow(b, 1, 3, 2).values());
}

TEST(MultiheadAttention, IsF16InARegionAndTrainsItsFp32Weights) {
    TensorRegistry registry(1, default_device());
    const MultiheadAttention layer(registry, "attn", 8, 2, 0.25);
    Tensor y;
    {
        const AutocastRegion region(here, true, DType::f16);
        const auto inside = region.enter();
        y = layer(ramp({2, 4, 8}),
                  {.training = true, .random = RandomStream(1, StreamId::dropout)});
    }
    EXPECT_EQ(y.dtype(), DType::f16);
    backward(sum(y));
    for (const auto& p : registry.parameters) EXPECT_EQ(p.tensor.grad().dtype(), DType::f32);
}

// The usual case on a GPU: no scores in memory, and no copies of the kernel's inputs or outputs.
TEST(MultiheadAttention, GoesByTheFusedKernelInARegion) {
    if (default_device().kind == Device::Kind::cpu) GTEST_SKIP() << "not on a CUDA device";
    struct Names final : OpObserver {
        void on_op(const OpEvent& event) override { seen.emplace(event.info->name); }
        std::set<std::string> seen;
    } names;
    TensorRegistry registry(1, default_device());
    const MultiheadAttention layer(registry, "attn", 32, 4);
    const Tensor x = to(ramp({2, 6, 32}), DType::f16);
    const AutocastRegion region(here, true, DType::f16);
    const auto inside = region.enter();
    layer(x, {.is_causal = true});  // casts the weights
    const std::int64_t before = kernels::cuda::call_counts().launches;
    Tensor y;
    {
        const ObserverScope watching(names);
        y = layer(x, {.is_causal = true});
    }
    if (!names.seen.count("scaled_dot_product_attention"))
        GTEST_SKIP() << "no fused kernel on this device";
    EXPECT_EQ(names.seen.count("attention_values"), 0u);
    // Two linear layers with bias, and attention between them.
    EXPECT_EQ(kernels::cuda::call_counts().launches, before + 3);
    backward(sum(y));
    for (const auto& p : registry.parameters) EXPECT_TRUE(p.tensor.grad().defined());
}

}  // namespace
}  // namespace engine
