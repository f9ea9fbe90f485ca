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

TEST(OpFilter, NamesEachTypeOnce) {
    EXPECT_EQ(typesOf(test::op("fc", "linear", "f16", 1)), (QStringList{u"f32"_s, {}, u"f16"_s}));
}

}  // namespace
}  // namespace ui
