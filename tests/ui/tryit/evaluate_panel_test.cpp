#include "tryit/evaluate_panel.h"

#include "tryit/confusion_matrix.h"
#include "tryit/tryit_fixture.h"

namespace ui {
namespace {

using namespace Qt::StringLiterals;

struct EvaluatePanelTest : TryItFixture {
    EvaluatePanel* openPanel(const std::vector<engine::RunSummary>& runs) {
        page = open(runs);
        page->findChild<QTabBar*>()->setCurrentIndex(1);
        return page->findChild<EvaluatePanel*>();
    }
    TryItPage* page = nullptr;
};

TEST_F(EvaluatePanelTest, EachRunsReportIsThatOfItsModel) {
    auto* panel = openPanel({train(glyphs(), "fp32"), train(glyphs(), "amp-fp16")});
    ASSERT_NE(panel, nullptr);
    named(panel, u"evaluate"_s)->click();
    EXPECT_TRUE(panel->isEvaluating());
    EXPECT_TRUE(panel->findChildren<ConfusionMatrix*>().isEmpty())
        << "no model ran on the GUI thread";
    ASSERT_TRUE(QTest::qWaitFor([&] { return !panel->isEvaluating(); }, 60'000));
    const auto matrices = panel->findChildren<ConfusionMatrix*>();
    const auto views = panel->findChildren<ReportView*>();
    ASSERT_EQ(matrices.size(), 2);
    for (int i = 0; i < 2; ++i) {
        engine::TrainedModel model(feed.store()->find(page->models()[i]->run())->folder, "last",
                                   "cpu");
        const auto report = model.evaluate();
        ASSERT_EQ(matrices[i]->classes(), report.confusion.size());
        for (std::size_t row = 0; row < report.confusion.size(); ++row) {
            for (std::size_t column = 0; column < report.confusion.size(); ++column)
                EXPECT_EQ(matrices[i]->at(row, column), report.confusion[row][column]);
        }
        EXPECT_EQ(views[i]->report()->figures.loss, report.figures.loss);
        EXPECT_EQ(views[i]->report()->hardest.front().index, report.hardest.front().index);
    }
}

TEST_F(EvaluatePanelTest, CancellingLeavesNoReportAndItCanBeginAgain) {
    auto config = glyphs();
    config.dataset.test_limit = 2000;
    auto* panel = openPanel({train(config, "fp32")});
    named(panel, u"evaluate"_s)->click();
    named(panel, u"cancel"_s)->click();
    EXPECT_FALSE(panel->isEvaluating());
    standsStill(100);
    EXPECT_EQ(panel->findChild<ReportView*>()->report(), nullptr);
    named(panel, u"evaluate"_s)->click();
    ASSERT_TRUE(QTest::qWaitFor([&] { return !panel->isEvaluating(); }, 60'000));
    EXPECT_EQ(panel->findChild<ReportView*>()->report()->samples, 2000);
}

TEST_F(EvaluatePanelTest, ALanguageModelHasFiguresAndNoClasses) {
    auto* panel = openPanel({train(text(), "fp32")});
    named(panel, u"evaluate"_s)->click();
    ASSERT_TRUE(QTest::qWaitFor([&] { return !panel->isEvaluating(); }, 60'000));
    const auto& report = panel->findChild<ReportView*>()->report();
    ASSERT_NE(report, nullptr);
    EXPECT_GT(report->figures.of("perplexity"), 1);
    EXPECT_FALSE(ReportView::has(*report, ReportView::Matrix));
    EXPECT_EQ(panel->findChild<ConfusionMatrix*>(), nullptr);
}

}  // namespace
}  // namespace ui
