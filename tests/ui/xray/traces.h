#pragma once

#include "engine/instruments/xray.h"

namespace ui::test {

inline engine::XrayOp op(const char* module, const char* name, const char* type, double us) {
    engine::XrayOp out;
    out.module = module;
    out.op = name;
    out.compute_dtype = type;
    out.inputs = {{"f32", {2, 3}}, {"f32", {3}}};
    out.outputs = {{type, {2, 3}}};
    out.rule = "low";
    out.us = us;
    out.bytes_written = 12;
    return out;
}

/// A step in AMP and in FP32. The first has casts, and its product takes half the time.
inline engine::Xray ampTrace() {
    engine::Xray out;
    out.step = 7;
    out.precision = "amp-fp16";
    out.ops = {op("", "to", "f16", 2), op("fc", "linear", "f16", 50), op("", "loss", "f32", 4)};
    out.ops[1].casts = {{"f32", "f16", 6, 36, 1}};
    return out;
}
inline engine::Xray fp32Trace() {
    engine::Xray out;
    out.step = 7;
    out.precision = "fp32";
    out.ops = {op("fc", "linear", "f32", 100), op("", "loss", "f32", 4)};
    out.ops[0].bytes_written = 24;
    for (auto& each : out.ops) each.rule = "off";
    return out;
}

}  // namespace ui::test
