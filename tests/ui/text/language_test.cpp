#include "text/language.h"

#include <gtest/gtest.h>

namespace ui {
namespace {

using namespace Qt::StringLiterals;

TEST(Spacing, StandsBetweenChineseAndLatinAlone) {
    EXPECT_EQ(spaced(u"测试RMSE"_s), u"测试 RMSE"_s);
    EXPECT_EQ(spaced(u"，测试R² 0.683"_s), u"，测试 R² 0.683"_s);
    EXPECT_EQ(spaced(u"此处将显示R²曲线"_s), u"此处将显示 R² 曲线"_s);
    EXPECT_EQ(spaced(u"测试困惑度"_s), u"测试困惑度"_s);
    EXPECT_EQ(spaced(u"test RMSE"_s), u"test RMSE"_s);
}

TEST(Sentences, HaveNoSpaceAfterAFullWidthStop) {
    EXPECT_EQ(joined({u"第 2 轮完成。"_s, u"测试 RMSE 64,500。"_s}),
              u"第 2 轮完成。测试 RMSE 64,500。"_s);
    EXPECT_EQ(joined({u"Epoch 2 done."_s, {}, u"Test RMSE 64,500."_s}),
              u"Epoch 2 done. Test RMSE 64,500."_s);
    EXPECT_EQ(joined({}), QString());
}

}  // namespace
}  // namespace ui
