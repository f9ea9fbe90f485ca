#include "text/language.h"

#include <gtest/gtest.h>

#include <QCoreApplication>
#include <QFile>
#include <QLibraryInfo>
#include <QTemporaryDir>
#include <stdexcept>

#include "engine/base/error.h"

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

TEST(EngineText, NamesSettingsByTheirTitlesWhereTheyAreNotTyped) {
    using engine::msg;
    EXPECT_EQ(engineText(msg("Lower optimizer.lr or scaler.init_scale.")),
              u"Lower \"Learning rate\" or \"Initial scale\"."_s);
    for (const char* typed : {"use path=value, such as optimizer.lr=0.01",
                              "Use the path of a setting (optimizer.lr).", "--set optimizer.lr=1",
                              "See handbook.md and of.no.setting."})
        EXPECT_EQ(engineText(msg(typed)), QString::fromUtf8(typed));
    EXPECT_EQ(engineText(msg("{}: cannot be opened.", "optimizer.lr")),
              u"optimizer.lr: cannot be opened."_s)
        << "a name that a person gave";
}

TEST(EngineText, WhatIsCountedIsSingularBehindAOne) {
    EXPECT_EQ(engineText(engine::msg("{}: {} files are left out", "a", 1)),
              u"a: 1 file is left out"_s);
    EXPECT_EQ(engineText(engine::msg("{}: {} files are left out", "a", 2)),
              u"a: 2 files are left out"_s);
}

TEST(Languages, AreThoseOfTheTranslationsInAFolder) {
    const auto known = Language::known();
    ASSERT_EQ(known.size(), 2U);
    EXPECT_EQ(known[0].code, u"en"_s);
    EXPECT_EQ(known[1].code, u"zh_CN"_s);
    EXPECT_EQ(known[1].name, u"简体中文"_s);
    const QTemporaryDir folder;
    for (const auto& name : {u"ui_de.qm"_s, u"ui_zh_CN.qm"_s, u"engine_de.qm"_s})
        EXPECT_TRUE(QFile(folder.filePath(name)).open(QIODevice::WriteOnly));
    const auto more = Language::known(folder.path());
    ASSERT_EQ(more.size(), 3U) << "a third language needs no code";
    EXPECT_EQ(more[1].code, u"de"_s);
    EXPECT_EQ(more[1].name, u"Deutsch"_s);
}

TEST(Languages, TranslateQtsOwnTextsWhereQtHasThem) {
    if (!QFile::exists(QLibraryInfo::path(QLibraryInfo::TranslationsPath) + u"/qtbase_zh_CN.qm"_s))
        GTEST_SKIP() << "Qt's own translations are not installed";
    Language language;
    language.setChoice(u"zh_CN"_s);
    EXPECT_NE(QCoreApplication::translate("QFileDialog", "Look in:"), u"Look in:"_s);
    language.setChoice(u"en"_s);
    EXPECT_EQ(QCoreApplication::translate("QFileDialog", "Look in:"), u"Look in:"_s);
}

TEST(Languages, ATextHasOneTranslationAndExceptionsInSingleClasses) {
    Language language;
    language.setChoice(u"zh_CN"_s);
    EXPECT_EQ(QCoreApplication::translate("ui::LayerMap", "none"), u"无"_s);
    EXPECT_EQ(QCoreApplication::translate("ui::BenchmarkChoice", "none"), u"清空"_s);
    EXPECT_EQ(QCoreApplication::translate("ui::CommandBar", "Updates"), u"更新"_s);
    EXPECT_EQ(QCoreApplication::translate("engine", "Updates"), u"更新次数"_s)
        << "the engine's texts are another file";
    language.setChoice(u"en"_s);
}

TEST(Failure, HasASentenceAndWhatToDo) {
    EXPECT_TRUE(Failure().isEmpty());
    EXPECT_EQ(Failure().text(), QString());
    const engine::Error error(engine::ErrorCode::io, engine::msg("{}: the disk is full", "a.csv"),
                              engine::msg("Free some space, or give another folder."));
    EXPECT_EQ(Failure(error).text(),
              u"a.csv: the disk is full Free some space, or give another folder."_s);
    EXPECT_EQ(Failure(std::runtime_error("bad")).text(), u"bad"_s);
    EXPECT_EQ(Failure(engine::msg("Cancelled.")).text(), u"Cancelled."_s);
}

}  // namespace
}  // namespace ui
