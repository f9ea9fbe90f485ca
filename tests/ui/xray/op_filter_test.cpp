#include "xray/op_filter.h"

#include <QStringList>

#include "xray/traces.h"

namespace ui {
namespace {

using namespace Qt::StringLiterals;

TEST(OpFilter, WantsEveryWordInModuleOperationTypesOrRule) {
    const engine::XrayOp op = test::op("layer1.0", "conv2d", "f16", 1);
    EXPECT_TRUE((OpFilter{}).passes(op));
    EXPECT_TRUE((OpFilter{u"LAYER1 conv f32"_s, {}}).passes(op)) << "an input is f32";
    EXPECT_FALSE((OpFilter{u"layer1 relu"_s, {}}).passes(op));
}

TEST(OpFilter, OfARuleWantsItAndOfCastsAnyCast) {
    engine::XrayOp op = test::op("fc", "linear", "f16", 1);
    EXPECT_TRUE((OpFilter{{}, u"low"_s}).passes(op));
    EXPECT_FALSE((OpFilter{{}, u"f32"_s}).passes(op));
    EXPECT_FALSE((OpFilter{{}, u"casts"_s}).passes(op));
    op.casts = {{"f32", "f16", 6, 36, 1}};
    EXPECT_TRUE((OpFilter{{}, u"casts"_s}).passes(op));
}

TEST(OpFilter, NamesARuleAsItsChipDoes) {
    for (const auto& [rule, title] : ruleChips()) EXPECT_EQ(ruleTitle(rule.toStdString()), title);
    EXPECT_EQ(ruleTitle("low"), u"16 bits"_s);
    EXPECT_EQ(ruleTitle("f32_dtype"), ruleTitle("f32"));
    engine::XrayOp op = test::op("", "softmax", "f32", 1);
    op.rule = "f32_dtype";
    EXPECT_TRUE((OpFilter{{}, u"f32"_s}).passes(op)) << "the chip FP32 has all of that list";
}

TEST(OpFilter, CountsAsKeptInFp32WhatRanInIt) {
    engine::XrayOp op = test::op("", "cross_entropy", "f32", 1);
    op.rule = "inside";
    EXPECT_TRUE(isKeptInFp32(op));
    op.rule = "off";
    EXPECT_FALSE(isKeptInFp32(op)) << "nothing kept it there";
    op.rule = "inside";
    op.compute_dtype = "f16";
    EXPECT_FALSE(isKeptInFp32(op));
}

TEST(OpFilter, NamesEachTypeOnce) {
    EXPECT_EQ(typesOf(test::op("fc", "linear", "f16", 1)), (QStringList{u"f32"_s, {}, u"f16"_s}));
}

TEST(ForceKeys, NameAModuleAnOperationOrBoth) {
    const engine::XrayOp conv = test::op("layer1.0.conv1", "conv2d", "f16", 1);
    for (const char* key : {"layer1", "layer1.0", "layer1.0.conv1", "conv2d", "layer1:conv2d"})
        EXPECT_TRUE(isNamedBy(key, conv)) << key;
    for (const char* key : {"layer", "layer1.0.conv", "linear", "layer1:linear", "layer2:conv2d"})
        EXPECT_FALSE(isNamedBy(key, conv)) << key;
    engine::XrayOp backward = conv;
    backward.pass = engine::XrayPass::backward;
    EXPECT_FALSE(isNamedBy("layer1", backward)) << "gradients follow the forward pass";
}

}  // namespace
}  // namespace ui
