#include <gtest/gtest.h>

#include "engine/instruments/xray.h"

namespace engine {
namespace {

XrayOp traced_op(const char* module, const char* name, const char* type, double us,
              std::int64_t written) {
    XrayOp out;
    out.module = module;
    out.op = name;
    out.compute_dtype = type;
    out.inputs = {{"f32", {2, 3}}, {"f32", {3}}};
    out.outputs = {{type, {2, 3}}};
    out.rule = "low";
    out.us = us;
    out.bytes_written = written;
    return out;
}

Xray amp_trace() {
    Xray out;
    out.step = 7;
    out.precision = "amp-fp16";
    out.ops = {traced_op("", "to", "f16", 2, 12), traced_op("fc", "linear", "f16", 50, 12)};
    out.ops[1].casts = {{"f32", "f16", 6, 36, 1}};
    return out;
}

bool any_op(const XrayOp&) { return true; }

TEST(XrayCsv, HasALineForEachOperationThatPasses) {
    const auto linear = [](const XrayOp& op) { return op.op == "linear"; };
    EXPECT_EQ(to_csv(to_table(amp_trace(), linear)),
              "step,precision,pass,module,op,inputs,outputs,compute_dtype,rule,casts,cast_bytes,"
              "cached_casts,start_us,us,flops,peak_share,bytes_read,bytes_written,memory_bytes\n"
              "7,amp-fp16,forward,fc,linear,f32[2x3] f32[3],f16[2x3],f16,low,1,36,0,0,50,0,,0,12,0\n");
    EXPECT_EQ(to_table(amp_trace(), any_op).rows.size(), 2U);
}

TEST(XrayCsv, OfADifferenceHasBothPrecisions) {
    Xray fp32;
    fp32.step = 7;
    fp32.precision = "fp32";
    fp32.ops = {traced_op("fc", "linear", "f32", 100, 24)};
    EXPECT_EQ(to_csv(to_table(amp_trace(), fp32, any_op)),
              "step,pass,module,op,outputs amp-fp16,outputs fp32,us amp-fp16,us fp32,"
              "bytes_written amp-fp16,bytes_written fp32\n"
              "7,forward,,to,f16[2x3],,2,,12,\n"
              "7,forward,fc,linear,f16[2x3],f32[2x3],50,100,12,24\n");
}

}  // namespace
}  // namespace engine
