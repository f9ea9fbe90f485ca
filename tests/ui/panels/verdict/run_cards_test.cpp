#include "panels/verdict/run_cards.h"

#include <QDockWidget>
#include <QFile>
#include <QTabBar>
#include <QTableWidget>
#include <algorithm>

#include "panels/frame/status_line.h"
#include "panels/verdict/run_card.h"
#include "text/event_text.h"
#include "text/run_text.h"
#include "window_fixture.h"

namespace ui {
namespace {

using namespace Qt::StringLiterals;

struct RunCardsTest : WindowFixture {
    RunCards* cards = window->findChild<RunCards*>();
    void compare(const QStringList& precisions) {
        settings.load(engine::default_comparison(), precisions);
        standsStill();
    }
};

TEST_F(RunCardsTest, ShowAllFiguresAndTheirNamesAtEveryWidth) {
    for (const int width : {1024, 1280, 1440, 3840}) {
        for (const QStringList& precisions :
             {QStringList{u"fp32"_s, u"amp-fp16"_s},
              QStringList{u"fp32"_s, u"amp-fp16"_s, u"amp-bf16"_s, u"pure-fp16"_s}}) {
            window->resize(width, 800);
            compare(precisions);
            const auto all = cards->findChildren<RunCard*>();
            ASSERT_EQ(all.size(), precisions.size());
            for (const auto* card : all) {
                EXPECT_TRUE(
                    cards->rect().contains(QRect(card->mapTo(cards, QPoint()), card->size())))
                    << width;
                for (const auto* label : card->findChildren<QLabel*>()) {
                    EXPECT_FALSE(label->visibleRegion().isEmpty() && !label->text().isEmpty())
                        << label->text().toStdString() << " at " << width;
                    EXPECT_LE(label->fontMetrics().horizontalAdvance(label->text()), label->width())
                        << label->text().toStdString() << " at " << width;
                }
            }
        }
    }
}

TEST_F(RunCardsTest, ThreeLeaveNoHole) {
    for (const int width : {1024, 1280, 1440}) {
        window->resize(width, 900);
        compare({u"fp32"_s, u"amp-fp16"_s, u"amp-bf16"_s});
        standsStill();
        int lowest = 0, right = 0;
        for (const auto* card : cards->findChildren<RunCard*>()) {
            if (card->y() < lowest) continue;
            lowest = card->y();
            right = card->geometry().right();
        }
        EXPECT_GE(right, cards->width() - 2) << width;
    }
}

/// The text of the first card and of the fourth plot's tab, before any run.
QStringList words(const RunCards& cards, const MainWindow& window) {
    QStringList found;
    for (const auto* label : cards.findChild<RunCard*>()->findChildren<QLabel*>())
        found << label->text();
    const auto* plot = window.findChild<QDockWidget*>(u"fourth"_s);
    return found << plot->findChild<QTabBar*>()->tabToolTip(1);
}

TEST_F(RunCardsTest, NameWhatTheSettingsMeasureBeforeARun) {
    EXPECT_TRUE(words(*cards, *window).contains(u"test acc."_s));
    EXPECT_TRUE(words(*cards, *window).contains(u"samples/s"_s));
    engine::RunConfig table = engine::default_comparison();
    table.dataset.kind = "csv";
    settings.load(table, {u"fp32"_s, u"amp-fp16"_s});
    standsStill();
    for (const auto& word : {u"test RMSE"_s, u"rows/s"_s, u"Rows/s"_s})
        EXPECT_TRUE(words(*cards, *window).contains(word)) << word.toStdString();
    engine::RunConfig text = engine::default_comparison();
    text.dataset.kind = "text-chars";
    settings.load(text, {u"fp32"_s, u"amp-fp16"_s});
    standsStill();
    for (const auto& word : {u"test perplexity"_s, u"tokens/s"_s, u"Tokens/s"_s})
        EXPECT_TRUE(words(*cards, *window).contains(word)) << word.toStdString();
}

TEST_F(RunCardsTest, NameTheMetricOfTheFileOnceItIsRead) {
    QFile file(folder.filePath(u"table.csv"_s));
    ASSERT_TRUE(file.open(QIODevice::WriteOnly));
    file.write("a,y\n1,yes\n2,no\n3,yes\n4,no\n5,yes\n");
    file.close();
    settings.set(u"dataset.kind"_s, u"csv"_s);
    settings.set(u"dataset.path"_s, file.fileName());
    EXPECT_TRUE(
        QTest::qWaitFor([&] { return words(*cards, *window).contains(u"test acc."_s); }, 300'000));
    EXPECT_TRUE(words(*cards, *window).contains(u"rows/s"_s));
}

TEST_F(RunCardsTest, ATableShowsFiveRunsWithoutScrolling) {
    feed.experiment().open(std::vector<engine::RunConfig>(5));
    standsStill();
    const auto* table = cards->findChild<QTableWidget*>();
    ASSERT_TRUE(table->isVisible());
    ASSERT_EQ(table->rowCount(), 5);
    EXPECT_TRUE(table->viewport()->rect().contains(table->visualItemRect(table->item(4, 0))));
}

/// W8: a perplexity does not stand under "test RMSE".
TEST_F(RunCardsTest, ATableOfDifferentTasksHasMetricAndUnitInEachRow) {
    std::vector<engine::RunConfig> runs(5);
    feed.experiment().open(runs);
    standsStill();
    const auto* table = cards->findChild<QTableWidget*>();
    const auto head = [&](int column) { return table->horizontalHeaderItem(column)->text(); };
    EXPECT_EQ(head(3), u"test acc."_s);
    EXPECT_EQ(head(4), u"samples/s"_s);
    const auto text = engine::parse_run_config(
        "{}", {"dataset.kind=text-generated", "model.kind=rnn-lm", "batch_size=8", "bptt=16"});
    ASSERT_TRUE(text.errors.empty());
    runs[4] = text.config;
    feed.experiment().open(runs);
    standsStill();
    EXPECT_EQ(head(3), u"test metric"_s);
    EXPECT_EQ(head(4), u"mean speed"_s);
    EXPECT_TRUE(table->item(0, 3)->text().startsWith(u"test acc. "_s));
    EXPECT_TRUE(table->item(4, 3)->text().startsWith(u"test perplexity "_s))
        << table->item(4, 3)->text().toStdString();
    EXPECT_TRUE(table->item(0, 4)->text().endsWith(u" samples/s"_s));
    EXPECT_TRUE(table->item(4, 4)->text().endsWith(u" tokens/s"_s));
}

constexpr const char* endsInNaN[] = {"optimizer.lr=1e30", "stop_on_nan=0", "max_steps=6",
                                     "epochs=6"};

TEST_F(RunCardsTest, ARunThatEndsInNaNByItsPlanHasDivergedEverywhere) {
    trainShortly({std::begin(endsInNaN), std::end(endsInNaN)});
    const RunTrack& track = *feed.tracks()[0];
    ASSERT_TRUE(track.done());
    EXPECT_EQ(track.done()->reason, engine::DoneReason::max_steps);
    const std::int64_t step = track.done()->diverged_at;
    ASSERT_GT(step, 0);
    const QString text = u"diverged at step %1"_s.arg(step);
    EXPECT_EQ(stateOf(track), text);
    EXPECT_EQ(stateText(*feed.store()->find(track.run())), text);
    EXPECT_TRUE(words(*cards, *window).contains(text));
    const QString sentence = doneText(*track.done(), track.config());
    EXPECT_TRUE(QTest::qWaitFor(
        [&] {
            const auto labels = window->findChild<StatusLine*>()->findChildren<QLabel*>();
            return std::ranges::any_of(
                labels, [&](const QLabel* label) { return label->text() == sentence; });
        },
        300'000))
        << "and not Done";
}

TEST_F(RunCardsTest, ATableHoldsWhereARunDiverged) {
    std::vector<std::string> values = {"dataset.kind=spirals", "dataset.train_limit=64",
                                       "model.kind=mlp", "batch_size=32", "threads=1",
                                       "precision.preset=fp32"};
    values.insert(values.end(), std::begin(endsInNaN), std::end(endsInNaN));
    feed.experiment().open(
        std::vector<engine::RunConfig>(5, engine::parse_run_config("{}", values).config));
    feed.experiment().post(engine::Command::start);
    ASSERT_TRUE(ends(5));
    window->resize(1024, 700);
    settle();
    const auto* table = cards->findChild<QTableWidget*>();
    EXPECT_TRUE(table->item(0, 1)->text().startsWith(u"diverged at step "_s));
    EXPECT_GE(table->columnWidth(1),
              table->fontMetrics().horizontalAdvance(table->item(0, 1)->text()));
}

TEST_F(RunCardsTest, NameDataAndModelOfTheirRun) {
    feed.experiment().open(std::vector<engine::RunConfig>(2));
    standsStill();
    for (const auto* card : cards->findChildren<RunCard*>())
        EXPECT_EQ(card->findChild<QLabel*>(u"cardTask"_s)->text(), u"Glyphs · LeNet"_s);
}

}  // namespace
}  // namespace ui
