#include <gtest/gtest.h>

#include "core/autograd.h"
#include "kernels/attention_problem.h"
#include "op_names.h"
#include "ops/attention.h"
#include "simt/libraries.h"

// Attention where the library has no kernel, or none for the gradient: the simulated one can be
// told so.
namespace engine {
namespace {

using kernels::simt::LibrarySettings;
using kernels::test::attention::expect_within;
using kernels::test::attention::Problem;

constexpr Device cuda{Device::Kind::cuda, 0};

class AttentionFallback : public ::testing::Test {
protected:
    ~AttentionFallback() override { kernels::simt::configure(LibrarySettings{}); }

    static Tensor leaf(const std::vector<double>& values, const Shape& shape) {
        return Tensor::of(values, shape, DType::f16, cuda).set_requires_grad(true);
    }
    Tensor attend() const {
        return scaled_dot_product_attention(
            q, k, v, {}, {.is_causal = true, .scale = problem.s.scale, .enable_gqa = true});
    }
    bool is_fused() const {
        const Names names;
        attend();
        return names.saw("scaled_dot_product_attention");
    }

    const Problem problem{DType::f16, {2, 4, 2, 9, 9, 16, 8, true, 0.3}};
    const Tensor q = leaf(problem.q, {2, 4, 9, 16}), k = leaf(problem.k, {2, 2, 9, 16}),
                 v = leaf(problem.v, {2, 2, 9, 8});
};

TEST_F(AttentionFallback, IsComposedWithoutAKernel) {
    EXPECT_TRUE(is_fused());
    kernels::simt::configure(LibrarySettings{.attention = false});
    EXPECT_FALSE(is_fused());
}

TEST_F(AttentionFallback, IsComposedWhereAGradientIsWantedThatHasNoKernel) {
    kernels::simt::configure(LibrarySettings{.attention_backward = false});
    EXPECT_FALSE(is_fused());
    const GradMode off(false);
    EXPECT_TRUE(is_fused());
}

// The plan for the gradient was asked for as the result lies; this one comes otherwise.
TEST_F(AttentionFallback, ComposesTheGradientOfAFusedResultWhereItHasNoKernel) {
    const Tensor y = attend();
    expect_within(y.values(), problem.y, "y");
    kernels::simt::configure(LibrarySettings{.attention_backward = false});
    const Tensor dy = Tensor::of(problem.dy, y.shape(), DType::f16, cuda);
    const Names names;
    backward({&y, 1}, {&dy, 1});
    EXPECT_TRUE(names.saw("attention_values"));
    EXPECT_FALSE(names.saw("attention_backward"));
    expect_within(q.grad().values(), problem.dq, "dq");
    expect_within(k.grad().values(), problem.dk, "dk");
    expect_within(v.grad().values(), problem.dv, "dv");
}

}  // namespace
}  // namespace engine
