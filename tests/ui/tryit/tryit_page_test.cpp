#include "tryit/tryit_page.h"

#include <QComboBox>
#include <QPlainTextEdit>
#include <filesystem>

#include "engine/runs/checkpoint.h"
#include "text/format.h"
#include "tryit/answer_view.h"
#include "tryit/evaluate_panel.h"
#include "tryit/picture_ask.h"
#include "tryit/report_view.h"
#include "tryit/row_ask.h"
#include "tryit/run_columns.h"
#include "tryit/text_ask.h"
#include "tryit/tryit_fixture.h"

namespace ui {
namespace {

using namespace Qt::StringLiterals;

struct TryItPageTest : TryItFixture {
    static bool says(const QWidget* in, const QString& words) {
        const auto labels = in->findChildren<QLabel*>();
        return std::ranges::any_of(labels, [&](const QLabel* label) {
            return label->isVisible() && label->text().contains(words);
        });
    }
};

TEST_F(TryItPageTest, CanBeChosenOnceARunIsOnScreen) {
    const auto* stack = window->findChild<PageStack*>();
    const QTabBar* row = stack->row();
    ASSERT_NE(row, nullptr);
    const int tab = tabOf(*stack);
    ASSERT_EQ(row->tabText(tab), u"Try it"_s);
    EXPECT_FALSE(row->isTabEnabled(tab));
    auto* page = open({train(glyphs(), "fp32")});
    EXPECT_TRUE(row->isTabEnabled(tab));
    ASSERT_EQ(page->models().size(), 1u);
    EXPECT_EQ(page->models()[0]->facts()->step, 40);  // 640 pictures by 16
}

TEST_F(TryItPageTest, FreesItsModelsWhenItIsLeft) {
    auto* page = open({train(glyphs(), "fp32")});
    ASSERT_EQ(page->models().size(), 1u);
    page->hide();
    const auto free = [page] {
        const auto workers = page->findChildren<ModelWorker*>();
        return std::ranges::none_of(workers, &ModelWorker::holdsModel);
    };
    EXPECT_TRUE(QTest::qWaitFor(free, 300'000));
    EXPECT_TRUE(page->models()[0]->facts());  // what was shown stays
}

TEST_F(TryItPageTest, ARunWithoutACheckpointSaysSoInItsColumn) {
    const auto whole = train(glyphs(), "fp32");
    const auto lacking = train(glyphs(), "amp-fp16");
    for (const auto& entry : std::filesystem::directory_iterator(lacking.folder)) {
        if (entry.path().filename().string().starts_with("checkpoint-"))
            std::filesystem::remove_all(entry.path());
    }
    auto* page = open({whole, lacking});
    ASSERT_EQ(page->models().size(), 2u);
    EXPECT_TRUE(page->models()[0]->facts());
    EXPECT_FALSE(page->models()[1]->facts());
    EXPECT_FALSE(page->models()[1]->problem().isEmpty());
    EXPECT_TRUE(says(page->findChild<PictureAsk*>(), page->models()[1]->problem()));
}

TEST_F(TryItPageTest, RunsWithOtherInputsAreNotAskedTogether) {
    auto* page = open({train(glyphs(), "fp32"), train(text(), "fp32")});
    const auto* ask = page->findChild<PictureAsk*>();
    ASSERT_NE(ask, nullptr);
    EXPECT_EQ(page->findChild<TextAsk*>(), nullptr);
    EXPECT_EQ(ask->findChildren<RunColumn*>().size(), 1);
    EXPECT_EQ(page->findChild<EvaluatePanel*>()->findChildren<RunColumn*>().size(), 2);
}

TEST_F(TryItPageTest, FollowsTheRunsOnScreen) {
    const auto first = train(glyphs(), "fp32"), second = train(text(), "fp32");
    auto* page = open({first});
    EXPECT_NE(page->findChild<PictureAsk*>(), nullptr);
    page = open({second});
    EXPECT_EQ(page->findChild<PictureAsk*>(), nullptr);
    EXPECT_NE(page->findChild<TextAsk*>(), nullptr);
}

TEST_F(TryItPageTest, APausedRunIsTriedWithItsWeightsOfNow) {
    settings.load(config(R"({"dataset": {"kind": "spirals", "train_limit": 256}, "threads": 1,
                             "device": "cpu", "model": {"kind": "mlp"}, "batch_size": 32,
                             "epochs": 100000, "checkpoint": {"best": false}})"),
                  {u"fp32"_s});
    commands.step();
    ASSERT_TRUE(QTest::qWaitFor([&] { return feed.state() == engine::RunState::paused; }, 300'000));
    auto* stack = window->findChild<PageStack*>();
    stack->row()->setCurrentIndex(tabOf(*stack));
    auto* page = qobject_cast<TryItPage*>(stack->currentWidget());
    ASSERT_NE(page, nullptr);
    auto* checkpoint = named<QComboBox>(page, u"Checkpoint"_s);
    const int now = checkpoint->findData(u"now"_s);
    ASSERT_GE(now, 0);
    ASSERT_TRUE(QTest::qWaitFor([&] { return page->isSettled(); }, 300'000));
    EXPECT_EQ(checkpoint->currentIndex(), now) << "there is no checkpoint";
    ASSERT_TRUE(page->models()[0]->facts());
    EXPECT_EQ(page->models()[0]->facts()->step, 1);
    EXPECT_NE(page->findChild<RowAsk*>(), nullptr);
    EXPECT_TRUE(engine::list_checkpoints(feed.store()->find("1")->folder).empty())
        << "nothing was saved for it";
    commands.stop();
    ASSERT_TRUE(QTest::qWaitFor([&] { return feed.state() == engine::RunState::done; }, 300'000));
    EXPECT_LT(checkpoint->findData(u"now"_s), 0);
}

TEST_F(TryItPageTest, ARunUnderWayIsAskedOnceItHasSavedACheckpoint) {
    settings.load(config(R"({"dataset": {"kind": "spirals", "train_limit": 256}, "threads": 1,
                             "device": "cpu", "model": {"kind": "mlp"}, "batch_size": 32,
                             "epochs": 100000, "checkpoint": {"best": false}})"),
                  {u"fp32"_s});
    commands.start();
    ASSERT_TRUE(QTest::qWaitFor(
        [&] { return !feed.tracks().empty() && feed.tracks()[0]->rows() >= 3; }, 300'000));
    auto* stack = window->findChild<PageStack*>();
    stack->row()->setCurrentIndex(tabOf(*stack));
    auto* page = qobject_cast<TryItPage*>(stack->currentWidget());
    ASSERT_NE(page, nullptr);
    EXPECT_TRUE(QTest::qWaitFor([&] { return says(page, u"No checkpoint yet."_s); }, 300'000));
    EXPECT_FALSE(page->isSettled());
    feed.experiment().post(engine::Command::checkpoint);
    ASSERT_TRUE(QTest::qWaitFor([&] { return page->isSettled(); }, 300'000));
    ASSERT_NE(page->findChild<RowAsk*>(), nullptr);
    const auto* answer = page->findChild<AnswerView*>();
    EXPECT_TRUE(QTest::qWaitFor([&] { return !answer->summary().isEmpty(); }, 300'000))
        << "the model answers beside the training";
    page->findChild<QTabBar*>()->setCurrentIndex(1);
    EXPECT_TRUE(says(page, u"evaluating shares the machine"_s));
    const std::int64_t first = page->models()[0]->facts()->step;
    feed.experiment().post(engine::Command::checkpoint);
    EXPECT_TRUE(QTest::qWaitFor([&] { return page->models()[0]->facts()->step > first; }, 300'000))
        << "it follows the last checkpoint";
    commands.stop();
    ASSERT_TRUE(QTest::qWaitFor([&] { return feed.state() == engine::RunState::done; }, 300'000));
}

/// W19: a model that was opened while its run trained is the last one once the run has ended, whether
/// the page was left meanwhile or not.
TEST_F(TryItPageTest, ModelsOfRunsThatHaveEndedSinceAreTheirLastOnes) {
    for (const bool leaves : {true, false}) {
        SCOPED_TRACE(leaves ? "the page is left" : "the page stays");
        settings.load(config(R"({"dataset": {"kind": "spirals", "train_limit": 256}, "threads": 1,
                                 "device": "cpu", "model": {"kind": "mlp"}, "batch_size": 32,
                                 "epochs": 100000, "checkpoint": {"best": false}})"),
                      {u"fp32"_s, u"amp-fp16"_s});
        commands.compare();
        ASSERT_TRUE(QTest::qWaitFor(
            [&] {
                return feed.state() == engine::RunState::training && feed.tracks().size() == 2 &&
                       feed.tracks()[1]->rows() >= 3;
            },
            300'000));
        feed.experiment().post(engine::Command::checkpoint);
        auto* stack = window->findChild<PageStack*>();
        stack->showPage(u"tryit"_s);
        auto* page = qobject_cast<TryItPage*>(stack->currentWidget());
        ASSERT_NE(page, nullptr);
        const auto known = [&] {
            return page->models().size() == 2 &&
                   std::ranges::all_of(page->models(),
                                       [](auto* model) { return model->facts().has_value(); });
        };
        ASSERT_TRUE(QTest::qWaitFor(known, 300'000));
        if (leaves) stack->showPage(u"training"_s);
        commands.stop();
        ASSERT_TRUE(ends());
        stack->showPage(u"tryit"_s);
        const auto last = [&] {
            for (std::size_t i = 0; i < page->models().size(); ++i) {
                const auto& facts = page->models()[i]->facts();
                if (!facts || facts->step != feed.tracks()[i]->done()->steps) return false;
            }
            return true;
        };
        EXPECT_TRUE(QTest::qWaitFor(last, 300'000));
        for (const auto& track : feed.tracks())
            EXPECT_TRUE(says(page, u"step %1"_s.arg(count(track->done()->steps))));
        stack->showPage(u"training"_s);
    }
}

TEST_F(TryItPageTest, ClosingTheWindowWhileModelsWorkIsHarmless) {
    auto config = glyphs();
    config.dataset.test_limit = 2000;
    auto* page = open({train(config, "fp32")});
    named(page, u"evaluate"_s)->click();
    page->findChild<PictureAsk*>()->board()->show({28, 28, std::vector<std::uint8_t>(28 * 28 * 3)});
    ASSERT_TRUE(page->findChild<EvaluatePanel*>()->isEvaluating());
    QCoreApplication::processEvents();
    window.reset();
    standsStill();
}

TEST_F(TryItPageTest, SpeaksTheWindowsLanguage) {
    const auto run = train(glyphs(), "fp32");
    language.setChoice(u"zh_CN"_s);
    window = std::make_unique<MainWindow>(context);
    window->QWidget::show();
    auto* page = open({run});
    const auto* stack = window->findChild<PageStack*>();
    EXPECT_EQ(stack->row()->tabText(tabOf(*stack)), u"试用"_s);
    EXPECT_EQ(page->findChild<QTabBar*>()->tabText(0), u"提问"_s);
    EXPECT_EQ(named(page, u"evaluate"_s)->text(), u"在测试集上评估"_s);
    language.setChoice(u"en"_s);
}

/// The text that a model has written, and a report, are no words of the window.
TEST_F(TryItPageTest, AnotherLanguageKeepsWhatTheModelsHaveAnswered) {
    language.setChoice(u"en"_s);
    auto kept = std::make_unique<QObject>();
    context.kept = kept.get();
    openWindow({1440, 900});
    auto* page = open({train(text(), "fp32")});
    const auto texts = [&] {
        QStringList out;
        for (const auto* each : page->findChild<TextAsk*>()->findChildren<QPlainTextEdit*>())
            out << each->toPlainText();
        return out;
    };
    page->findChild<TextAsk*>()->findChild<QPlainTextEdit*>()->setPlainText(u"the "_s);
    named(page, u"generate"_s)->click();
    ASSERT_TRUE(waitFor([&] { return !page->findChild<TextAsk*>()->isGenerating(); }));
    named(page, u"evaluate"_s)->click();
    ASSERT_TRUE(waitFor([&] { return !page->findChild<EvaluatePanel*>()->isEvaluating(); }));
    page->findChild<QTabBar*>()->setCurrentIndex(1);
    const QStringList before = texts();
    ASSERT_GT(before.last().size(), 100);
    const auto report = page->findChild<ReportView*>()->report();
    ASSERT_TRUE(report);
    language.setChoice(u"zh_CN"_s);
    const auto* stack = window->findChild<PageStack*>();
    ASSERT_TRUE(waitFor([&] {
        stack = window->findChild<PageStack*>();
        return stack->row()->tabText(tabOf(*stack)) == u"试用"_s;
    }));
    page = qobject_cast<TryItPage*>(stack->currentWidget());
    ASSERT_NE(page, nullptr) << "the page stays";
    ASSERT_TRUE(waitFor([&] { return page->isSettled(); }));
    standsStill();
    EXPECT_EQ(texts(), before);
    EXPECT_EQ(page->findChild<QTabBar*>()->currentIndex(), 1);
    EXPECT_EQ(page->findChild<ReportView*>()->report(), report);
    EXPECT_TRUE(says(page->findChild<ReportView*>(), u"个"_s) ||
                says(page->findChild<ReportView*>(), u"样本"_s));
    language.setChoice(u"en"_s);
    window.reset();
}

TEST_F(TryItPageTest, EveryControlHasAName) {
    auto* page = open({train(text(), "fp32")});
    for (const auto* widget : page->findChildren<QWidget*>()) {
        const bool stop = (widget->focusPolicy() & Qt::TabFocus) != 0 && widget->isVisible();
        if (!stop || qobject_cast<const QPushButton*>(widget) != nullptr) continue;
        EXPECT_FALSE(widget->accessibleName().isEmpty()) << widget->metaObject()->className();
    }
}

}  // namespace
}  // namespace ui
