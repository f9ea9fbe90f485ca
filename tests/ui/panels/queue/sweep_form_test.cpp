// The form of a sweep, and the other panels on its page.
#include "panels/queue/sweep_form.h"

#include <QLineEdit>
#include <QPushButton>
#include <QSpinBox>
#include <QTabBar>
#include <QTableView>
#include <QToolButton>
#include <fstream>

#include "pages/page_stack.h"
#include "window_fixture.h"

namespace ui {
namespace {

using namespace Qt::StringLiterals;

struct SweepFormTest : WindowFixture {
    SweepFormTest() {
        window->findChild<PageStack*>()->showPage(u"queue"_s);
        form = window->findChild<SweepForm*>();
        edits = form->findChildren<QLineEdit*>(Qt::FindDirectChildrenOnly);
        answer = form->findChild<QLabel*>(u"sweepAnswer"_s);
        settings.load(engine::parse_run_config("{}", {"dataset.kind=spirals", "model.kind=mlp",
                                                      "dataset.train_limit=256", "batch_size=32"})
                          .config);
    }
    ~SweepFormTest() override { QSettings().clear(); }

    QPushButton* button(const QString& text) const {
        for (auto* each : window->findChildren<QPushButton*>()) {
            if (each->text() == text) return each;
        }
        return nullptr;
    }

    SweepForm* form;
    QList<QLineEdit*> edits;  ///< fields and their values, alternately
    QLabel* answer;
};

TEST_F(SweepFormTest, CountsTheRunsOfTheGridAndTheSeeds) {
    EXPECT_EQ(edits[0]->text(), u"Learning rate"_s) << "settings are named by their titles";
    edits[1]->setText(u"0.1, 0.01"_s);
    edits[2]->setText(u"batch_size"_s);  // a path is understood, too
    edits[3]->setText(u"8, 16, 32"_s);
    form->findChild<QSpinBox*>()->setValue(2);
    EXPECT_TRUE(QTest::qWaitFor([&] { return answer->text() == u"12 runs"_s; }, 300'000));
    EXPECT_TRUE(button(u"Add to the queue"_s)->isEnabled());
}

TEST_F(SweepFormTest, TakesValuesByTheirTitles) {
    edits[0]->setText(u"Precision"_s);
    edits[1]->setText(u"FP32, AMP FP16, amp-bf16"_s);
    EXPECT_TRUE(QTest::qWaitFor([&] { return answer->text() == u"3 runs"_s; }, 300'000))
        << answer->text().toStdString();
}

TEST_F(SweepFormTest, ShowsAllErrorsOfAllPointsAndAddsNothing) {
    edits[1]->setText(u"0.1, -1"_s);
    edits[2]->setText(u"batch_sise"_s);
    edits[3]->setText(u"8"_s);
    EXPECT_TRUE(QTest::qWaitFor(
        [&] {
            return answer->text().contains(u"Learning rate"_s) &&
                   answer->text().contains(u"batch_sise"_s);
        },
        300'000));
    EXPECT_FALSE(button(u"Add to the queue"_s)->isEnabled());
}

TEST_F(SweepFormTest, TheSweepIsAddedToTheQueueTrainedAndShownAsATable) {
    edits[1]->setText(u"0.1, 0.01"_s);
    ASSERT_TRUE(QTest::qWaitFor([&] { return answer->text() == u"2 runs"_s; }, 300'000));
    button(u"Add to the queue"_s)->click();
    const auto* list = window->findChild<QTableView*>(u"queue"_s);
    ASSERT_EQ(list->model()->rowCount(), 2);
    button(u"Start queue"_s)->click();
    const auto* table = window->findChild<QTableView*>(u"sweep"_s);
    ASSERT_TRUE(QTest::qWaitFor(
        [&] {
            return table->model()->rowCount() == 2 &&
                   table->model()->index(1, 4).data().toString() == u"1/1"_s;
        },
        300'000));
    EXPECT_TRUE(QTest::qWaitFor([&] { return !queue.isOn(); }, 300'000));
}

TEST_F(SweepFormTest, TakesPointsFromAListFile) {
    const std::string file = folder.filePath(u"points.jsonl"_s).toStdString();
    std::ofstream(file) << R"({"optimizer.lr": 0.1}
{"model": {"options": {"hidden": [8]}}, "batch_size": 16}
{"optimizer.lr": 0.3})";
    form->openList(QString::fromStdString(file));
    EXPECT_EQ(answer->text(), u"3 runs"_s);
    EXPECT_EQ(form->findChild<QToolButton*>(u"sweepList"_s)->text(), u"points.jsonl"_s);
    edits[2]->setText(u"seed"_s);
    edits[3]->setText(u"1, 2"_s);
    EXPECT_TRUE(QTest::qWaitFor([&] { return answer->text() == u"6 runs"_s; }, 300'000));
    std::ofstream(file) << R"({"optimizer.lr": -1})";
    form->openList(QString::fromStdString(file));
    EXPECT_TRUE(answer->text().contains(u"Learning rate"_s));
    EXPECT_FALSE(button(u"Add to the queue"_s)->isEnabled());
}

TEST_F(SweepFormTest, AListThatCannotBeReadIsRefusedInASentence) {
    form->openList(folder.filePath(u"absent.jsonl"_s));
    EXPECT_TRUE(window->findChild<QFrame*>(u"message"_s)->isVisible());
    form->openList(u"/dev/zero"_s);
    EXPECT_TRUE(form->request().list.empty());
}

TEST_F(SweepFormTest, TheSettingsOnTheLeftAreAddedAsOneRun) {
    settings.set(u"optimizer.lr"_s, u"0.5"_s);
    button(u"Add these settings"_s)->click();
    const auto runs = queue.runs();
    ASSERT_EQ(runs.size(), 1u);
    EXPECT_EQ(runs[0].entry.config, settings.config());
    settings.set(u"epochs"_s, u"none"_s);
    EXPECT_FALSE(button(u"Add these settings"_s)->isEnabled());
}

}  // namespace
}  // namespace ui
