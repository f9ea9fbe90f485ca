#include "text/setting_title.h"

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
    EXPECT_EQ(pathOfSetting(u" learning RATE "_s), "optimizer.lr");
    EXPECT_EQ(pathOfSetting(u"optimizer.lr"_s), "optimizer.lr");
    EXPECT_EQ(pathOfSetting(u"batch_sise"_s), "batch_sise") << "for the one who reports it";
}

}  // namespace
}  // namespace ui
