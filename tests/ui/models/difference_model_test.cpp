#include "models/difference_model.h"

#include <gtest/gtest.h>

#include <QAbstractItemModelTester>

#include "text/setting_text.h"

namespace ui {
namespace {

using namespace Qt::StringLiterals;

engine::RunSummary run(const std::string& id, double rate, double accuracy) {
    engine::RunSummary out{};
    out.run = id;
    out.state = "done";
    out.config = engine::completed(engine::RunConfig{});
    out.config.optimizer.options["lr"] = rate;
    out.test = {0.5, {{"accuracy", accuracy}}};
    return out;
}

/// Texts of the line whose first cell is `name`.
QStringList line(const DifferenceModel& model, const QString& name) {
    for (int row = 0; row < model.rowCount(); ++row) {
        if (model.index(row, 0).data().toString() != name) continue;
        QStringList out;
        for (int column = 1; column < model.columnCount(); ++column)
            out << model.index(row, column).data().toString();
        return out;
    }
    return {u"absent"_s};
}

TEST(DifferenceModel, ShowsWhatDiffersBetweenRunsAndTheirResults) {
    DifferenceModel model;
    QAbstractItemModelTester tester(&model, QAbstractItemModelTester::FailureReportingMode::Fatal);
    model.setRuns({run("1", 0.05, 0.5), run("2", 0.1, 0.75)});
    EXPECT_EQ(model.headerData(2, Qt::Horizontal, Qt::DisplayRole).toString(), u"2"_s);
    EXPECT_EQ(line(model, u"Learning rate"_s), QStringList({u"0.05"_s, u"0.1"_s}));
    EXPECT_EQ(line(model, u"Test accuracy"_s), QStringList({u"50.0\u202f%"_s, u"75.0\u202f%"_s}));
    EXPECT_EQ(line(model, u"Batch size"_s), QStringList({u"absent"_s}));
    EXPECT_EQ(line(model, u"Settings that differ"_s), QStringList({QString(), QString()}));
}

TEST(DifferenceModel, SaysWhichSettingsFollowThePreset) {
    engine::RunSummary own = run("1", 0.1, 0.5), usual = run("2", 0.1, 0.5);
    own.config.precision.master_weights = false;
    own.config.precision.force["relu"] = engine::ForcedType::fp16;
    DifferenceModel model;
    model.setRuns({own, usual});
    const QString path = u"precision.master_weights"_s;
    const QString word = settingValue(path.toStdString(), "false");
    EXPECT_EQ(line(model, settingTitle(path.toStdString())),
              QStringList({word, u"from the preset"_s}));
    EXPECT_EQ(line(model, u"relu"_s), QStringList({u"fp16"_s, u"–"_s}));
}

TEST(DifferenceModel, ShowsOfOneRunWhatDiffersFromTheDefaults) {
    DifferenceModel model;
    model.setRuns({run("1", 0.1, 0.5)});
    EXPECT_EQ(line(model, u"Learning rate"_s), QStringList({u"0.1"_s}));
    EXPECT_EQ(line(model, u"Settings that differ from the defaults"_s), QStringList({QString()}));
    model.setRuns({run("1", 0.05, 0.5)});
    EXPECT_EQ(line(model, u"none"_s), QStringList({QString()}));
    model.setRuns({});
    EXPECT_EQ(model.rowCount(), 0);
}

}  // namespace
}  // namespace ui
