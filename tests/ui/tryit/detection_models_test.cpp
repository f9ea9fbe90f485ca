#include "tryit/detection_models.h"

#include <gtest/gtest.h>

#include <QAbstractItemModelTester>
#include <QSortFilterProxyModel>
#include <cmath>

#include "tryit/confusion_matrix.h"
#include "tryit/precision_curves.h"
#include "tryit/report_view.h"

namespace ui {
namespace {

/// A report of so many classes: class i has AP i/100 for masks and 1 less for boxes; every class is
/// taken for the next one, i + 1 times, and the last one for background.
SharedReport detectorReport(std::int32_t classes) {
    auto out = std::make_shared<engine::PartReport>();
    auto& found = out->detections.emplace();
    auto& masks = found.masks.emplace();
    for (std::size_t i = 0; i < masks.values.size(); ++i) {
        masks.values[i] = 0.1 + static_cast<double>(i) / 100;
        found.boxes.values[i] = 0.2 + static_cast<double>(i) / 100;
    }
    masks.values[5] = std::nan("");
    for (std::int32_t i = 0; i < classes; ++i) {
        found.classes.push_back("c" + std::to_string(i));
        engine::ClassPrecision each{.truths = 100 - i, .ap = (i + 1) / 100.0, .ap50 = 0.5};
        each.curve50.fill(0.5);
        masks.classes.push_back(each);
        each.ap -= 0.01;
        found.boxes.classes.push_back(each);
        found.confusions[{i + 1, i + 1}] = 1000;
        found.confusions[{i + 1, (i + 2) % (classes + 1)}] = i + 1;
    }
    found.errors = {{7, 2, 1.5}, {3, 1, 0.5}};
    return out;
}

template <typename Model>
QString text(const Model& model, int row, int column) {
    return model.index(row, column).data().toString();
}

TEST(FigureModel, HasTwelveFiguresInPointsAndNoneForSizesThatDoNotOccur) {
    FigureModel model(detectorReport(1), nullptr);
    QAbstractItemModelTester tester(&model);
    ASSERT_EQ(model.rowCount(), 12);
    EXPECT_EQ(text(model, 0, 0), u"AP"_s);
    EXPECT_EQ(text(model, 0, 1), u"10.0"_s);
    EXPECT_EQ(text(model, 0, 2), u"20.0"_s);
    EXPECT_EQ(text(model, 5, 0), u"AP large"_s);
    EXPECT_EQ(text(model, 5, 1), u"none"_s) << "not 0";
    EXPECT_EQ(text(model, 11, 2), u"31.0"_s);
}

TEST(ClassPrecisionModel, SortsEightyClassesByTheirFigures) {
    const auto report = detectorReport(80);
    ClassPrecisionModel model(report, nullptr);
    QAbstractItemModelTester tester(&model);
    ASSERT_EQ(model.rowCount(), 80);
    QSortFilterProxyModel sorted;
    sorted.setSourceModel(&model);
    sorted.setSortRole(Qt::UserRole);
    sorted.sort(ClassPrecisionModel::Ap, Qt::DescendingOrder);
    EXPECT_EQ(sorted.index(0, 0).data().toString(), u"c79"_s);
    EXPECT_EQ(sorted.index(0, 1).data().toString(), u"80.0"_s) << "by masks";
    sorted.sort(ClassPrecisionModel::Instances, Qt::AscendingOrder);
    EXPECT_EQ(sorted.index(0, 4).data().toString(), u"21"_s);
}

TEST(DetectorConfusions, AreAMatrixWithBackgroundLastOrTheFifteenLargest) {
    const auto few = confusionCells(*detectorReport(2)->detections);
    EXPECT_EQ(few, (std::vector<std::vector<std::int64_t>>{{1000, 1, 0}, {0, 1000, 2}, {0, 0, 0}}));
    ConfusionModel model(detectorReport(80), nullptr);
    ASSERT_EQ(model.rowCount(), 15);
    EXPECT_EQ(text(model, 0, 0), u"c79"_s);
    EXPECT_EQ(text(model, 0, 1), u"background"_s);
    EXPECT_EQ(text(model, 0, 2), u"80"_s);
    EXPECT_EQ(text(model, 14, 2), u"66"_s);
}

TEST(PrecisionCurves, ShowTheSixWorstClassesAndNoneWithoutATruth) {
    auto report = std::make_shared<engine::PartReport>(*detectorReport(80));
    report->detections->masks->classes[0].ap = std::nan("");
    const Theme theme(Theme::Choice::light);
    PrecisionCurves many(&theme, report);
    EXPECT_EQ(many.shown(), (std::vector<std::size_t>{1, 2, 3, 4, 5, 6}));
    many.resize(320, 300);
    EXPECT_FALSE(many.grab().isNull());
    EXPECT_TRUE(many.spoken().startsWith(u"c1: AP50 50.0, AP75 0.0; "_s));
    EXPECT_EQ(PrecisionCurves(&theme, detectorReport(1)).shown(), std::vector<std::size_t>{0});
}

TEST(ErrorModel, CountsPicturesFromOne) {
    ErrorModel model(detectorReport(1), nullptr);
    ASSERT_EQ(model.rowCount(), 2);
    EXPECT_EQ(text(model, 0, 0), u"8"_s);
    EXPECT_EQ(text(model, 0, 1), u"2"_s);
    EXPECT_EQ(text(model, 0, 3), u"3.5"_s) << "missed, and the scores of the false ones";
}

TEST(FigureTable, HasTheFiguresOfTheReportForAFile) {
    const auto report = detectorReport(2);
    const engine::Table table = figureTable(*report->detections);
    ASSERT_EQ(table.rows.size(), 12u + 2 * 3);
    const std::string csv = engine::to_csv(table);
    EXPECT_NE(csv.find("AP,,0.1,0.2\n"), std::string::npos) << csv;
    EXPECT_NE(csv.find("APl,,,0.25\n"), std::string::npos) << "no value is an empty cell";
    EXPECT_NE(csv.find("AP,c1,0.02,0.01\n"), std::string::npos);
}

TEST(ReportView, ADetectorsReportHasAllItsParts) {
    Theme theme(Theme::Choice::light);
    for (const int classes : {1, 80}) {
        ReportView view(&theme, "fp32");
        const auto report = detectorReport(classes);
        ModelFacts facts;
        facts.classes = report->detections->classes;
        view.show(report, facts);
        for (int part = 0; part < ReportView::parts; ++part)
            EXPECT_TRUE(ReportView::has(*report, static_cast<ReportView::Part>(part))) << part;
        EXPECT_EQ(view.findChild<ConfusionMatrix*>() != nullptr, classes == 1);
        EXPECT_NE(view.findChild<PrecisionCurves*>(), nullptr);
    }
}

}  // namespace
}  // namespace ui
