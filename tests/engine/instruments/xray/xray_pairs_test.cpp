#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "engine/instruments/xray.h"

namespace engine {
namespace {

using testing::ElementsAre;

XrayOp op(const char* module, const char* name, XrayPass pass = XrayPass::forward) {
    XrayOp out;
    out.module = module;
    out.op = name;
    out.pass = pass;
    return out;
}

Xray trace(std::vector<XrayOp> ops) {
    Xray out;
    out.ops = std::move(ops);
    return out;
}

/// "first|second" for each pair.
std::vector<std::string> shown(const Xray& first, const Xray& second) {
    const auto name = [](const Xray& of, const XrayOp* op) {
        return op == nullptr ? std::string("-") : op->op + std::to_string(op - of.ops.data());
    };
    std::vector<std::string> out;
    for (const XrayPair& pair : pair_ops(first, second))
        out.push_back(name(first, pair.first) + "|" + name(second, pair.second));
    return out;
}

TEST(XrayPairs, TheNthTimeOfAnOperationInAModuleAndPass) {
    const Xray first = trace(
        {op("a", "relu"), op("b", "relu"), op("a", "relu"), op("a", "relu", XrayPass::backward)});
    EXPECT_THAT(shown(first, first),
                ElementsAre("relu0|relu0", "relu1|relu1", "relu2|relu2", "relu3|relu3"));
    const Xray second = trace({op("b", "relu"), op("a", "relu"), op("a", "relu")});
    EXPECT_THAT(shown(first, second),
                ElementsAre("relu0|relu1", "relu1|relu0", "relu2|relu2", "relu3|-"));
}

TEST(XrayPairs, WhatOneTraceAloneHasKeepsItsPlace) {
    const Xray amp = trace({op("a", "to"), op("a", "conv"), op("a", "to"), op("", "loss")});
    const Xray fp32 = trace({op("a", "conv"), op("a", "add"), op("", "loss"), op("", "end")});
    EXPECT_THAT(shown(amp, fp32),
                ElementsAre("to0|-", "conv1|conv0", "to2|-", "-|add1", "loss3|loss2", "-|end3"));
    EXPECT_THAT(shown(fp32, amp),
                ElementsAre("-|to0", "conv0|conv1", "add1|-", "-|to2", "loss2|loss3", "end3|-"));
}

TEST(XrayPairs, OfAnEmptyTraceAreAllSingle) {
    const Xray one = trace({op("a", "conv")});
    EXPECT_THAT(shown(one, trace({})), ElementsAre("conv0|-"));
    EXPECT_THAT(shown(trace({}), one), ElementsAre("-|conv0"));
}

}  // namespace
}  // namespace engine
