#include "models/sweep_model.h"

#include <gtest/gtest.h>

#include <QAbstractItemModelTester>

namespace ui {
namespace {

using namespace Qt::StringLiterals;

engine::SweepRow row(const std::string& label, double best, double spread, std::int64_t finished) {
    engine::SweepRow out;
    out.label = label;
    out.finished = finished;
    out.metric = engine::classification_metrics().front();
    out.part = "test";
    out.best = {best, spread};
    out.last = {best, spread};
    out.wall_s = {75, 0};
    out.runs = {"3", "4"};
    return out;
}

QString sweepText(const SweepModel& model, int at, int column) {
    return model.index(at, column).data().toString();
}

TEST(SweepModel, ShowsMeanAndSpreadOverTheSeeds) {
    SweepModel model;
    const QAbstractItemModelTester tester(&model);
    auto failed = row("batch_size=8", std::nan(""), 0, 2);
    failed.failed = 1;
    model.setRows(2, {row("optimizer.lr=0.1 model.options.hidden=[8]", 0.875, 0.0125, 2),
                      row("optimizer.lr=0.2", 0.5, 0, 1), failed});
    EXPECT_EQ(sweepText(model, 0, SweepModel::Settings),
              u"Learning rate 0.1 · Hidden layers [8]"_s);
    EXPECT_EQ(sweepText(model, 0, SweepModel::Best).count(u'%'), 1) << "one unit for both";
    EXPECT_TRUE(sweepText(model, 0, SweepModel::Best).startsWith(u"87.5 ± 1."_s));
    EXPECT_FALSE(sweepText(model, 1, SweepModel::Best).contains(u"±"_s)) << "of one run";
    EXPECT_EQ(sweepText(model, 0, SweepModel::Time), u"1:15"_s);
    EXPECT_EQ(sweepText(model, 1, SweepModel::Seeds), u"1/2"_s);
    EXPECT_EQ(sweepText(model, 2, SweepModel::Seeds), u"2/2, 1 failed"_s);
    EXPECT_EQ(model.headerData(SweepModel::Best, Qt::Horizontal, Qt::DisplayRole).toString(),
              u"Best"_s);
    EXPECT_EQ(model.figure(), u"test accuracy"_s);
    EXPECT_EQ(model.headerData(SweepModel::Settings, Qt::Horizontal, Qt::DisplayRole).toString(),
              u"Settings"_s)
        << "the points set different ones";
    const QString tip = model.index(0, 0).data(Qt::ToolTipRole).toString();
    EXPECT_TRUE(tip.contains(u"Learning rate 0.1"_s) && tip.contains(u"3, 4"_s));
}

TEST(SweepModel, SettingsThatAllPointsHaveStandInTheHead) {
    SweepModel model;
    model.setRows(1, {row("optimizer.lr=0.1 batch_size=32", 0.5, 0, 1),
                      row("optimizer.lr=0.02 batch_size=1024", 0.5, 0, 1)});
    EXPECT_EQ(model.headerData(SweepModel::Settings, Qt::Horizontal, Qt::DisplayRole).toString(),
              u"Learning rate · Batch size"_s);
    EXPECT_EQ(sweepText(model, 0, SweepModel::Settings), u"0.1 · 32"_s);
    EXPECT_EQ(sweepText(model, 1, SweepModel::Settings), u"0.02 · 1,024"_s);
}

}  // namespace
}  // namespace ui
