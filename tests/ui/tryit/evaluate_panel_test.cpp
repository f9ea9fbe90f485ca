#include "tryit/evaluate_panel.h"

#include <fstream>

#include "tryit/confusion_matrix.h"
#include "tryit/tryit_fixture.h"
#include "widgets/changed_data_dialog.h"

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
    ASSERT_TRUE(QTest::qWaitFor([&] { return !panel->isEvaluating(); }, 300'000));
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
    ASSERT_TRUE(QTest::qWaitFor([&] { return !panel->isEvaluating(); }, 300'000));
    EXPECT_EQ(panel->findChild<ReportView*>()->report()->samples, 2000);
}

TEST_F(EvaluatePanelTest, DataWithAnotherNumberOfSamplesAreAskedAbout) {
    const std::string table = folder.path().toStdString() + "/t.csv";
    const auto write = [&](int rows) {
        std::ofstream file(table);
        file << "a,b,y\n";
        for (int i = 0; i < rows; ++i)
            file << i % 7 << ".5," << i % 5 << ".25," << (i % 2 == 0 ? "rose" : "lily") << '\n';
    };
    write(60);
    auto config = engine::parse_run_config("{}", {"dataset.kind=csv", "dataset.path=" + table,
                                                  "model.kind=mlp", "batch_size=8", "epochs=1"})
                      .config;
    auto* panel = openPanel({train(config, "fp32")});
    write(40);
    const auto evaluated = [&] {
        named(panel, u"evaluate"_s)->click();
        return waitFor([&] { return !panel->isEvaluating(); }, 300'000);
    };
    for (const bool accepts : {false, true}) {
        ASSERT_TRUE(evaluated());
        auto* dialog = panel->findChild<ChangedDataDialog*>();
        ASSERT_NE(dialog, nullptr);
        EXPECT_TRUE(dialog->accessibleDescription().contains(u"8 test samples"_s))
            << dialog->accessibleDescription().toStdString();
        accepts ? dialog->accept() : dialog->reject();
        EXPECT_EQ(panel->isEvaluating(), accepts);
        ASSERT_TRUE(waitFor([&] { return !panel->isEvaluating(); }, 300'000));
        const auto& report = panel->findChild<ReportView*>()->report();
        ASSERT_EQ(report != nullptr, accepts);
        if (accepts) {
            EXPECT_EQ(report->samples, 8);
            EXPECT_FALSE(report->notes.empty());
        }
        QCoreApplication::sendPostedEvents(nullptr, QEvent::DeferredDelete);
    }
}

TEST_F(EvaluatePanelTest, ALanguageModelHasFiguresAndNoClasses) {
    auto* panel = openPanel({train(text(), "fp32")});
    named(panel, u"evaluate"_s)->click();
    ASSERT_TRUE(QTest::qWaitFor([&] { return !panel->isEvaluating(); }, 300'000));
    const auto& report = panel->findChild<ReportView*>()->report();
    ASSERT_NE(report, nullptr);
    EXPECT_GT(report->figures.of("perplexity"), 1);
    EXPECT_FALSE(ReportView::has(*report, ReportView::Matrix));
    EXPECT_EQ(panel->findChild<ConfusionMatrix*>(), nullptr);
}

}  // namespace
}  // namespace ui
