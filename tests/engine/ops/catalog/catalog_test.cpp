#include <gtest/gtest.h>

#include <set>

#include "engine/settings/catalog.h"
#include "op_samples.h"
#include "ops/catalog/catalog.h"
#include "ops/pointwise/binary.h"
#include "tensor/cast.h"

namespace engine {
namespace {

class EveryOp : public testing::TestWithParam<OpSample> {};

/// The square, so that the second derivative of a linear op is not zero. The gradient of a flat op
/// depends on nothing, so its argument is added.
Function squared(const OpSample& sample) {
    static const std::set<std::string> flat{"ceil", "floor", "round", "sign", "trunc"};
    return [&sample](const TensorList& leaves) {
        const Tensor y = sample.call(leaves);
        const Tensor z = flat.contains(sample.op) ? add(y, leaves[0]) : y;
        return mul(z, z);
    };
}

TEST_P(EveryOp, HasTheGradientOfFiniteDifferences) {
    const OpSample& sample = GetParam();
    if (sample.op == "zero_") GTEST_SKIP() << "its result depends on nothing";
    expect_gradients([&](const TensorList& leaves) { return sample.call(leaves); },
                     arguments(sample, DType::f64));
}

TEST_P(EveryOp, HasTheSecondGradientOfFiniteDifferences) {
    if (GetParam().op == "zero_") GTEST_SKIP() << "its result depends on nothing";
    expect_second_gradients(squared(GetParam()), arguments(GetParam(), DType::f64));
}

/// Compares 16-bit and f32 results with those of the same op in f64, on the same, already rounded
/// arguments.
TEST_P(EveryOp, AgreesWithItsF64FormInEveryType) {
    const OpSample& sample = GetParam();
    const GradMode off(false);
    for (const DType dtype : {DType::f32, DType::f16, DType::bf16}) {
        if (sample.op == "ctc_loss" && dtype != DType::f32) continue;  // does not take them
        const TensorList args = arguments(sample, dtype, false);
        TensorList wide;
        for (const auto& x : args) wide.push_back(to(x, DType::f64));
        // One rounding of the result, up to three between the ops of a composite, and the f32 sums.
        const double unit = dtype == DType::f32 ? 0x1p-24 : dtype == DType::f16 ? 0x1p-11 : 0x1p-8;
        const double bound = 16 * unit + 4 * sample.sum_length * 0x1p-23;
        SCOPED_TRACE(name(dtype));
        const Tensor y = sample.call(args);
        EXPECT_EQ(y.dtype(), sample.op == "to" ? DType::f64 : dtype);
        expect_close(to(y, DType::f64), sample.call(wide), bound);
    }
}

std::string label(const testing::TestParamInfo<OpSample>& info) { return test_label(info.param); }
INSTANTIATE_TEST_SUITE_P(Catalog, EveryOp, testing::ValuesIn(op_samples()), label);

TEST(Catalog, EveryOpWithAGradientHasASample) {
    std::set<std::string> sampled;
    for (const auto& sample : op_samples()) sampled.insert(sample.op);
    for (const auto* info : all_ops()) {
        if (info->derivatives > 0) {
            EXPECT_TRUE(sampled.count(std::string(info->name))) << info->name;
        }
    }
}

TEST(Catalog, ListsEachOpOnceWithAReasonAndARunner) {
    std::set<std::string> names;
    for (const auto* info : all_ops()) {
        EXPECT_TRUE(names.emplace(info->name).second) << info->name;
        EXPECT_GT(std::string(info->why).size(), 10u) << info->name;
        EXPECT_TRUE(info->is_callable()) << info->name;
        EXPECT_EQ(find_op(std::string(info->name)), info);
    }
    EXPECT_EQ(ops().size(), names.size());
    EXPECT_EQ(find_op("no_such_op"), nullptr);
}

TEST(Catalog, OpsThatFlushSubnormalsAreTheProducts) {
    std::set<std::string> flushing;
    for (const OpSummary& op : ops())
        if (op.flushes_subnormals) flushing.insert(op.name);
    for (const char* product : {"mm", "bmm", "matmul", "addmm", "addmm_", "linear", "conv1d", "conv2d",
                                "conv3d", "conv_transpose2d", "baddbmm", "einsum", "tensordot", "lstm",
                                "scaled_dot_product_attention"})
        EXPECT_TRUE(flushing.contains(product)) << product;
    for (const char* other : {"add", "mul", "sum", "prelu", "dot", "vdot", "relu", "layer_norm",
                              "batch_norm", "softmax", "bilinear"})
        EXPECT_FALSE(flushing.contains(other)) << other;
}

}  // namespace
}  // namespace engine
