#include "text/setting_text.h"

#include <gtest/gtest.h>

namespace ui {
namespace {

using namespace Qt::StringLiterals;

TEST(SettingTitle, StandsWhereTheCommandLineHasAKey) {
    EXPECT_EQ(settingTitle("optimizer.lr"), u"Learning rate"_s);
    EXPECT_EQ(settingTitle("batch_size"), u"Batch size"_s);
    EXPECT_EQ(settingTitle("of.no.setting"), u"setting"_s);
    EXPECT_EQ(settingValue("dataset.kind", "spirals"), u"Spirals"_s);
    EXPECT_EQ(settingValue("optimizer.lr", "0.0001"), u"0.0001"_s) << "as it was set";
    EXPECT_EQ(settingValue("scaler.init_scale", "65536"), u"65,536"_s);
    EXPECT_EQ(settingsLabel("optimizer.lr=0.1 batch_size=64"),
              u"Learning rate 0.1 · Batch size 64"_s);
    EXPECT_EQ(settingsLabel("default settings"), u"default settings"_s);
    EXPECT_EQ(settingsLabel(""), QString());
    EXPECT_EQ(settingValue("scaler.growth_interval", "2000"), u"2,000 steps"_s);
}

TEST(SettingTitle, ASettingIsFoundByItsNameAndEveryNameIsOfOne) {
    for (const SettingName& each : settingNames())
        EXPECT_EQ(pathOfSetting(each.text), each.path) << each.text.toStdString();
    for (const SettingName& each : settingNames())
        EXPECT_FALSE(each.text.contains(QString::fromStdString(each.path))) << each.path;
    EXPECT_EQ(sectionTitle("scaler.growth_interval"), u"Loss scaler"_s);
    EXPECT_EQ(sectionTitle("seed"), QString());
    EXPECT_EQ(valueOfSetting("precision.preset", u" amp fp16"_s), "amp-fp16");
    EXPECT_EQ(valueOfSetting("precision.preset", u"amp-fp16"_s), "amp-fp16");
    EXPECT_EQ(valueOfSetting("optimizer.lr", u"0.1"_s), "0.1");
    EXPECT_EQ(pathOfSetting(u" learning RATE "_s), "optimizer.lr");
    EXPECT_EQ(pathOfSetting(u"optimizer.lr"_s), "optimizer.lr");
    EXPECT_EQ(pathOfSetting(u"batch_sise"_s), "batch_sise") << "for the one who reports it";
}

}  // namespace
}  // namespace ui
