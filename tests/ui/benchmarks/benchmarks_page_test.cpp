#include "benchmarks/benchmarks_page.h"

#include <QImage>
#include <QLabel>
#include <QPushButton>
#include <QScrollArea>
#include <QSet>
#include <QToolButton>
#include <algorithm>

#include "benchmarks/made_results.h"
#include "benchmarks/pair_bars.h"
#include "pages/page_stack.h"
#include "widgets/choices.h"
#include "widgets/elided_label.h"
#include "widgets/key_bindings.h"
#include "window_fixture.h"
#include "widgets/write_page.h"

namespace ui {
namespace {

using namespace Qt::StringLiterals;

struct BenchmarksPageTest : WindowFixture {
    BenchmarksPageTest() { QSettings().clear(); }
    ~BenchmarksPageTest() override { QSettings().clear(); }

    /// Opens the page on a file with these results.
    void open(const std::vector<BenchmarkResult>& results = {}) {
        BenchmarkBook book = newBenchmarkBook();
        for (auto& entry : book.entries) entry.chosen = entry.settings.model.kind == "mlp";
        book.findsBatches = false;
        book.results = results;
        ASSERT_TRUE(writeBenchmarkBook(book, folder.filePath(u"benchmarks.json"_s)));
        window->findChild<PageStack*>()->showPage(u"benchmarks"_s);
        standsStill();
        page = qobject_cast<BenchmarksPage*>(shownPage());
        ASSERT_NE(page, nullptr);
        ASSERT_TRUE(page->isVisible());
    }
    QPushButton* run() const { return page->findChild<QPushButton*>(u"primary"_s); }
    QPushButton* stop() const { return page->findChild<QPushButton*>(u"stopBenchmarks"_s); }
    QString state() const { return page->findChild<ElidedLabel*>(u"benchmarkState"_s)->text(); }
    QStringList sentences() const {
        QStringList out;
        for (const auto* label : page->findChildren<QLabel*>(u"sentence"_s)) out << label->text();
        return out;
    }
    CheckBox* box(const QString& text) const {
        for (auto* each : page->findChildren<CheckBox*>()) {
            if (each->text() == text) return each;
        }
        return nullptr;
    }
    bool shows(const QString& words) const {
        for (const auto* label : page->findChildren<QLabel*>()) {
            if (label->isVisible() && label->text().contains(words)) return true;
        }
        return false;
    }

    BenchmarksPage* page = nullptr;
};

TEST_F(BenchmarksPageTest, SaysWhatToDoWhileThereIsNothingToShow) {
    open();
    EXPECT_TRUE(shows(u"Choose models and precisions on the left, then press Run"_s));
    EXPECT_TRUE(run()->isEnabled());
    EXPECT_FALSE(stop()->isEnabled());
    box(u"MLP, batch 32"_s)->click();
    EXPECT_FALSE(run()->isEnabled());
    EXPECT_EQ(state(), u"Choose a model on the left."_s);
    EXPECT_EQ(run()->toolTip(), state());
}

TEST_F(BenchmarksPageTest, MeasuresWhatIsChosenAndSaysWhy) {
    open();
    run()->setFocus();
    QTest::keyClick(run(), Qt::Key_B);
    EXPECT_TRUE(benchmarks.job().running());
    EXPECT_FALSE(run()->isEnabled());
    EXPECT_TRUE(stop()->hasFocus()) << "the keyboard stays here";
    ASSERT_TRUE(QTest::qWaitFor([&] { return !benchmarks.job().running(); }, 300'000));
    EXPECT_TRUE(run()->hasFocus());
    ASSERT_EQ(sentences().size(), 2);
    EXPECT_TRUE(sentences()[0].startsWith(u"AMP FP16 "_s)) << sentences()[0].toStdString();
    EXPECT_TRUE(sentences()[1].startsWith(u"AMP BF16 "_s)) << sentences()[1].toStdString();
    EXPECT_TRUE(state().startsWith(u"1 of 1 models measured"_s)) << state().toStdString();
}

TEST_F(BenchmarksPageTest, CtrlReturnRunsHereAndComparesOnOtherPages) {
    open();
    const auto keys = [] {
        for (const auto& command : KeyBindings::instance()->commands())
            if (command.id == u"run/compare"_s && command.action) return command.action->shortcuts();
        return QList<QKeySequence>();
    };
    EXPECT_TRUE(keys().isEmpty());
    run()->setFocus();
    QTest::keyClick(run(), Qt::Key_Return, Qt::ControlModifier);
    EXPECT_TRUE(benchmarks.job().running());
    EXPECT_FALSE(feed.live());
    stop()->click();
    ASSERT_TRUE(QTest::qWaitFor([&] { return !benchmarks.job().running(); }, 300'000));
    window->findChild<PageStack*>()->showPage(u"training"_s);
    EXPECT_TRUE(keys().contains(QKeySequence(Qt::CTRL | Qt::Key_Return)));
}

TEST_F(BenchmarksPageTest, StopKeepsWhatIsMeasured) {
    open({madeResult(2, "amp-bf16")});
    EXPECT_EQ(sentences().size(), 1);
    run()->click();
    stop()->click();
    EXPECT_FALSE(stop()->isEnabled());
    EXPECT_TRUE(state().startsWith(u"Stopping"_s)) << state().toStdString();
    ASSERT_TRUE(QTest::qWaitFor([&] { return !benchmarks.job().running(); }, 300'000));
    EXPECT_TRUE(state().startsWith(u"Stopped."_s)) << state().toStdString();
    EXPECT_GE(sentences().size(), 1);
}

TEST_F(BenchmarksPageTest, TheFiguresOfEachSentenceAreAClickAway) {
    open({madeResult(0, "amp-fp16"), madeResult(0, "amp-bf16", 5)});
    QList<QToolButton*> links;
    for (auto* each : page->findChildren<QToolButton*>()) {
        if (each->text() == u"figures"_s) links << each;
    }
    ASSERT_EQ(links.size(), 2);
    EXPECT_EQ(links[1]->accessibleName(), u"Figures of AMP BF16"_s);
    links[1]->click();
    standsStill();
    QString shown;
    for (auto* widget : QApplication::topLevelWidgets()) {
        if (widget->objectName() == u"help"_s) shown = widget->findChild<QLabel*>()->text();
        if (widget->objectName() == u"help"_s) widget->close();
    }
    EXPECT_TRUE(shown.contains(u"AMP BF16 does not pay"_s)) << shown.toStdString();
    EXPECT_TRUE(shown.contains(u"Moved by casts"_s));
}

TEST_F(BenchmarksPageTest, TheLinkToTheFiguresIsBesideItsSentenceHoweverWideTheWindow) {
    open({madeResult(0, "amp-fp16"), madeResult(2, "amp-bf16", 5)});
    for (const int width : {1100, 1440, 3840}) {
        window->resize(width, 900);
        standsStill();
        ASSERT_EQ(window->width(), width);
        const auto labels = page->findChildren<QLabel*>(u"sentence"_s);
        ASSERT_EQ(labels.size(), 2);
        for (const auto* label : labels) {
            const QToolButton* figures = nullptr;
            for (auto* each : page->findChildren<QToolButton*>()) {
                if (each->text() == u"figures"_s && each->y() == label->y()) figures = each;
            }
            ASSERT_NE(figures, nullptr);
            // The longest of several lines may end a word before the label does.
            const int text = label->fontMetrics().horizontalAdvance(label->text());
            const int written = std::min(text, label->width());
            EXPECT_LT(figures->x() - label->x() - written, 2 * size::gap) << width;
            EXPECT_GE(figures->x(), label->x() + label->width()) << width;
            if (text < label->width()) {
                EXPECT_LE(label->height(), 2 * label->fontMetrics().height()) << "one line";
            }
        }
    }
}

TEST_F(BenchmarksPageTest, ExportsTheTableAndThePictureWithoutItsLinks) {
    open({madeResult(0, "amp-fp16"), madeResult(2, "amp-bf16", 5)});
    const PageExport what = page->whatToExport();
    EXPECT_EQ(what.table().columns.front(), "model");
    EXPECT_TRUE(what.markdown().contains(u"AMP BF16 does not pay"_s));
    const QString file = folder.filePath(u"bars.png"_s);
    ASSERT_TRUE(test::writePage(what, file));
    const QImage picture(file);
    EXPECT_EQ(picture.width(), 2 * what.plots->width());
    EXPECT_GT(picture.height(), 300);
    QSet<QRgb> colors;
    for (int x = 0; x < picture.width(); x += 3) {
        for (int y = 0; y < picture.height(); y += 3) colors << picture.pixel(x, y);
    }
    for (const char* preset : {"fp32", "amp-fp16", "amp-bf16"})
        EXPECT_TRUE(colors.contains(theme.precision(preset).rgb())) << preset;
    for (const auto* each : what.plots->findChildren<QToolButton*>())
        EXPECT_NE(each->text(), u"figures"_s);
}

TEST_F(BenchmarksPageTest, FitsANarrowWindow) {
    open({madeResult(0, "amp-fp16"), madeResult(2, "amp-bf16", 5)});
    window->resize(1100, 760);
    standsStill();
    EXPECT_LE(window->width(), 1100);
    for (const auto* each : page->findChildren<QScrollArea*>())
        EXPECT_LE(each->widget()->width(), each->viewport()->width());
}

TEST_F(BenchmarksPageTest, TabReachesEveryControl) {
    open({madeResult(0, "amp-fp16")});
    run()->setFocus();
    QStringList reached;
    for (int i = 0; i < 60; ++i) {
        QTest::keyClick(window->focusWidget(), Qt::Key_Tab);
        if (auto* button = qobject_cast<QAbstractButton*>(window->focusWidget()))
            reached << button->text();
    }
    for (const auto& text : {u"Export…"_s, u"all"_s, u"none"_s, u"MLP, batch 32"_s, u"AMP FP16"_s,
                             u"Largest batch within"_s, u"figures"_s})
        EXPECT_TRUE(reached.contains(text)) << text.toStdString();
}

TEST_F(BenchmarksPageTest, ShowsFp32OnceForEachModel) {
    open({madeResult(0, "amp-bf16"), madeResult(0, "amp-fp16"), madeResult(2, "amp-fp16")});
    QList<bool> with;
    for (const auto* bars : page->findChildren<PairBars*>()) with << bars->withFp32();
    EXPECT_EQ(with.count(true), 2);
    EXPECT_EQ(with.count(false), 1);
}

/// The ratio of a lower bound is one, too; that of two is not known.
TEST_F(BenchmarksPageTest, DoesNotTakeTheLimitOfTheSearchForAResult) {
    BenchmarkResult result = madeResult(0, "amp-fp16");
    result.row.largest_batch = 1'048'576;
    BarScale scale;
    const PairBars bars(&theme, result.row, scale, true);
    EXPECT_TRUE(bars.accessibleName().contains(u"the largest batch ≥ 1,048,576 instead of 100"_s));
    scale.include(result.row);
    EXPECT_GT(scale.batch, 10'000);
    result.row.fp32_largest_batch = 1'048'576;
    BarScale unknown;
    unknown.include(result.row);
    EXPECT_EQ(unknown.batch, 1);
}

}  // namespace
}  // namespace ui
