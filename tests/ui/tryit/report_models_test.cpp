#include "tryit/report_models.h"

#include <gtest/gtest.h>

#include <QAbstractItemModelTester>
#include <QSortFilterProxyModel>

namespace ui {
namespace {

using namespace Qt::StringLiterals;

SharedReport report() {
    auto out = std::make_shared<engine::PartReport>();
    out->confusion = {{8, 2, 0}, {1, 3, 0}, {0, 0, 0}};
    for (const std::int64_t index : {7, 3}) {
        engine::HardSample sample;
        sample.index = index;
        sample.loss = static_cast<double>(index);
        sample.label = 0;
        sample.predicted = 1;
        sample.probability = 0.75;
        out->hardest.push_back(sample);
    }
    return out;
}

TEST(ClassModel, HasTheReportsFiguresOfEachClass) {
    ClassModel model(report(), {"a", "b"}, nullptr);
    QAbstractItemModelTester tester(&model);
    ASSERT_EQ(model.rowCount(), 3);
    const auto text = [&](int row, int column) {
        return model.index(row, column).data().toString();
    };
    EXPECT_EQ(text(0, ClassModel::Name), u"a"_s);
    EXPECT_EQ(text(0, ClassModel::Precision), u"88.9\u202f%"_s);
    EXPECT_EQ(text(0, ClassModel::Recall), u"80.0\u202f%"_s);
    EXPECT_EQ(text(0, ClassModel::F1), u"84.2\u202f%"_s);
    EXPECT_EQ(text(1, ClassModel::Samples), u"4"_s);
    EXPECT_EQ(text(2, ClassModel::Name), u"2"_s) << "a class without a name has its number";
    EXPECT_EQ(text(2, ClassModel::Recall), u"\u2013"_s) << "undefined";
}

TEST(ClassModel, SortsByNumbersAndUndefinedOnesComeFirst) {
    ClassModel model(report(), {"a", "b"}, nullptr);
    QSortFilterProxyModel sorted;
    sorted.setSourceModel(&model);
    sorted.setSortRole(Qt::UserRole);
    sorted.sort(ClassModel::Samples, Qt::DescendingOrder);
    EXPECT_EQ(sorted.index(0, 0).data().toString(), u"a"_s) << "10 before 4";
    sorted.sort(ClassModel::Recall, Qt::AscendingOrder);
    EXPECT_EQ(sorted.index(0, 0).data().toString(), u"2"_s);
    EXPECT_EQ(sorted.index(1, 0).data().toString(), u"b"_s);
}

TEST(HardestModel, NamesClassesAndCountsSamplesFromOne) {
    HardestModel model(report(), {"a", "b"}, nullptr);
    QAbstractItemModelTester tester(&model);
    ASSERT_EQ(model.rowCount(), 2);
    EXPECT_TRUE(model.ofClasses());
    EXPECT_EQ(model.index(0, HardestModel::Sample).data().toString(), u"8"_s);
    EXPECT_EQ(model.index(0, HardestModel::Actual).data().toString(), u"a"_s);
    EXPECT_EQ(model.index(0, HardestModel::Predicted).data().toString(), u"b"_s);
    EXPECT_EQ(model.index(0, HardestModel::Probability).data().toString(), u"75.0\u202f%"_s);
    EXPECT_EQ(model.index(0, HardestModel::Loss).data(Qt::UserRole).toDouble(), 7);
}

TEST(HardestModel, HasPredictedNumbersWithoutClasses) {
    auto numbers = std::make_shared<engine::PartReport>();
    engine::HardSample sample;
    sample.wanted = 1204;
    sample.value = 980.5;
    numbers->hardest.push_back(sample);
    HardestModel model(numbers, {}, nullptr);
    EXPECT_FALSE(model.ofClasses());
    EXPECT_EQ(model.index(0, HardestModel::Actual).data().toString(), u"1,204"_s);
    EXPECT_EQ(model.index(0, HardestModel::Predicted).data().toString(), u"980.5"_s);
}

}  // namespace
}  // namespace ui
