#include <gtest/gtest.h>

#include "engine/instruments/speedup.h"

namespace engine {
namespace {

XrayOp measured_op(const char* name, double us, double flops, std::int64_t bytes,
                   XrayPass pass = XrayPass::forward) {
    XrayOp out;
    out.op = name;
    out.pass = pass;
    out.compute_dtype = "f32";
    out.us = us;
    out.flops = flops;
    out.bytes_read = bytes / 2;
    out.bytes_written = bytes - bytes / 2;
    return out;
}

Xray measured_trace(std::vector<XrayOp> ops) {
    Xray out;
    out.ops = std::move(ops);
    out.peaks = {{"f32", 1e11}, {"f16", 1e11}, {"bf16", 2e11}};
    return out;
}

TEST(StepParts, TellsProductsFromOperationsThatMoveData) {
    const StepParts parts = sum_parts(measured_trace(
        {measured_op("linear", 1000, 1e8, 1 << 20), measured_op("relu", 500, 1 << 17, 1 << 20),
         measured_op("optimizer", 250, 0, 1 << 20, XrayPass::update)}));
    EXPECT_DOUBLE_EQ(parts.products, 1);
    EXPECT_DOUBLE_EQ(parts.memory, 0.5);
    EXPECT_DOUBLE_EQ(parts.update, 0.25);
    EXPECT_DOUBLE_EQ(parts.product_flops, 1e8);
    EXPECT_DOUBLE_EQ(parts.total(), 1.75);
}

TEST(StepParts, AnOperationIsBriefWhereWorkExplainsLessThanHalfOfItsTime) {
    // The large operation reaches 2 GB/s, so 1 KB takes half a microsecond.
    const XrayOp large = measured_op("relu", 1000, 0, 2'000'000);
    const StepParts brief = sum_parts(measured_trace({large, measured_op("add", 5, 256, 1000)}));
    EXPECT_EQ(brief.brief_ops, 1);
    EXPECT_DOUBLE_EQ(brief.brief, 0.005);
    const StepParts busy = sum_parts(measured_trace({large, measured_op("add", 5, 256, 8000)}));
    EXPECT_EQ(busy.brief_ops, 0);
    EXPECT_EQ(sum_parts(measured_trace({large, measured_op("add", 25, 256, 1000)})).brief_ops, 0);
}

TEST(StepParts, CastsCountForThemselvesAndNotForTheirOperation) {
    XrayOp linear = measured_op("linear", 1000, 1e8, 1 << 20);
    linear.casts.push_back({"f32", "f16", 1000, 6000, 200});
    const StepParts parts =
        sum_parts(measured_trace({linear, measured_op("to", 100, 0, 3000, XrayPass::backward)}));
    EXPECT_DOUBLE_EQ(parts.casts, 0.3);
    EXPECT_DOUBLE_EQ(parts.products, 0.8);
    EXPECT_EQ(parts.cast_bytes, 9000);
}

}  // namespace
}  // namespace engine
