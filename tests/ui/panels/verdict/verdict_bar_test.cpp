#include "panels/verdict/verdict_bar.h"

#include <gtest/gtest.h>

#include <QLabel>
#include <QSettings>
#include <QTest>
#include <QToolButton>
#include <QVBoxLayout>

#include "benchmarks/made_results.h"
#include "pages/page_stack.h"
#include "panels/verdict/run_card.h"
#include "support/stillness.h"
#include "window_fixture.h"

namespace ui {
namespace {

using namespace Qt::StringLiterals;

/// A network so small that its step mostly consists of the fixed cost of short operations, in every
/// precision.
engine::RunConfig tiny() {
    const auto parsed = engine::parse_run_config(
        R"({"dataset": {"kind": "spirals", "train_limit": 512}, "model": {"kind": "mlp"},
            "batch_size": 16, "epochs": 10, "device": "cpu", "threads": 1})");
    EXPECT_TRUE(parsed.errors.empty());
    return parsed.config;
}

struct VerdictBarTest : WindowFixture {
    ~VerdictBarTest() override { QSettings().clear(); }  // forgets the page that was shown last

    void compare() {
        trainToEnd(tiny(), {u"fp32"_s, u"amp-fp16"_s});
        ASSERT_TRUE(QTest::qWaitFor(
            [&] { return line()->accessibleName().contains(u"AMP FP16 does not pay"_s); }, 300'000))
            << line()->accessibleName().toStdString();
    }
    VerdictLine* line() const { return window->findChild<VerdictLine*>(); }
    QToolButton* measure() const { return line()->findChild<QToolButton*>(u"measure"_s); }
};

TEST_F(VerdictBarTest, OffersToMeasureWhyAPrecisionDoesNotPay) {
    compare();
    ASSERT_TRUE(measure()->isVisible());
    measure()->click();
    standsStill();
    EXPECT_EQ(window->findChild<PageStack*>()->shown().name, u"benchmarks"_s);
    const BenchmarkBook& book = benchmarks.book();
    for (const BenchmarkEntry& entry : book.entries)
        EXPECT_EQ(entry.chosen, entry.settings == engine::speed_settings(tiny()));
    EXPECT_TRUE(book.entries.back().ofRun);
}

TEST_F(VerdictBarTest, SaysTheMeasuredReasonWhereThereIsOne) {
    BenchmarkBook book = newBenchmarkBook();
    BenchmarkResult result = madeResult(0, "amp-fp16", 5);
    result.settings = engine::speed_settings(tiny());
    book.entries.push_back({result.settings, true, true});
    book.results.push_back(result);
    ASSERT_TRUE(writeBenchmarkBook(book, folder.filePath(u"benchmarks.json"_s)));
    compare();
    EXPECT_TRUE(line()->accessibleName().contains(u"casts are 45 % of its step"_s))
        << line()->accessibleName().toStdString();
    EXPECT_FALSE(measure()->isVisible());
}

/// The sentence that the program exists for.
TEST_F(VerdictBarTest, ShowsTheWholeVerdictInWideAndNarrowWindows) {
    compare();
    for (const QSize& each : {QSize(1440, 900), QSize(1024, 700), QSize(1300, 800)}) {
        window->resize(each);
        standsStill();
        for (const auto* label : line()->findChildren<QLabel*>()) {
            if (!label->wordWrap()) continue;
            EXPECT_TRUE(label->isVisible()) << "the cost has its own line";
            EXPECT_GE(label->height(), label->heightForWidth(label->width())) << each.width();
        }
        const auto* bar = window->findChild<VerdictBar*>();
        EXPECT_TRUE(bar->rect().contains(line()->geometry())) << each.width();
    }
}

TEST_F(VerdictBarTest, OffersNothingBeforeAVerdict) { EXPECT_FALSE(measure()->isVisible()); }

const QString headline = u"No measurable difference."_s;
const QString cost =
    u"At least 16 % slower, 38 % less memory. AMP FP16 does not pay off (0.86×): casts are 45 % of "
    u"its step, and this processor computes 16-bit products no faster than those of 32 bits."_s;

TEST(VerdictLineTest, ShowsItsWholeTextAtEveryWidth) {
    for (const bool two : {true, false}) {
        for (const int width : {1200, 700, 400}) {
            VerdictLine line;
            line.setTwoLines(two);
            line.show({u"check"_s, Qt::black, headline, cost, u"<p>evidence</p>"_s, true});
            line.resize(width, line.heightFor(width));
            line.QWidget::show();
            standsStill();
            for (const auto* text : line.findChildren<QLabel*>()) {
                if (!text->isVisible() || !text->wordWrap()) continue;
                EXPECT_GE(text->height(), text->heightForWidth(text->width())) << width;
                EXPECT_LE(text->geometry().bottom(), line.height()) << width;
                for (const auto* link : line.findChildren<QToolButton*>()) {
                    EXPECT_LE(link->geometry().right(), width);
                    EXPECT_FALSE(link->geometry().intersects(text->geometry())) << width;
                }
            }
        }
    }
}

TEST(VerdictLineTest, KeepsTwoLinesForAShortText) {
    VerdictLine line;
    line.setTwoLines(true);
    line.show({u"dot"_s, Qt::black, u"Short."_s, {}, {}});
    EXPECT_GE(line.heightFor(900), 2 * line.fontMetrics().lineSpacing());
    EXPECT_EQ(line.accessibleName().trimmed(), u"Short."_s);
}

struct EvidenceTableTest : WindowFixture {
    ~EvidenceTableTest() override { QSettings().clear(); }

    void compareShortly() {
        trainShortly({"dataset.train_limit=256", "batch_size=16", "max_steps=32", "epochs=2"},
                     {u"fp32"_s, u"amp-fp16"_s});
    }
    /// The page that the link opens.
    QString opened() {
        window->findChild<VerdictLine*>()->findChildren<QToolButton*>().front()->click();
        const auto* card = window->findChild<QFrame*>(u"help"_s);
        return card == nullptr ? QString() : card->findChild<QLabel*>()->text();
    }
};

TEST_F(EvidenceTableTest, HasARowForEachFigureOfTheCardsAndForEachSentence) {
    compareShortly();
    const RunTrack &first = *feed.tracks()[0], &second = *feed.tracks()[1];
    const QString html = evidenceTable(first, second, {u"One < two."_s});
    EXPECT_EQ(html.count(u"<th"_s), 3) << html.toStdString();
    const CardFigures figures = figuresOf(&first), others = figuresOf(&second);
    for (const QString& figure : {figures.loss, figures.metric, figures.speed, figures.peak,
                                  others.loss, others.metric, others.speed, others.peak})
        EXPECT_TRUE(html.contains(u'>' + figure + u"</td>"_s)) << figure.toStdString();
    EXPECT_TRUE(html.contains(u"<td colspan='3'>One &lt; two.</td>"_s));
    EXPECT_EQ(html.count(u"<tr>"_s), 1 + 4 + 2 + 1);

    const QString shown = opened();
    EXPECT_TRUE(shown.contains(u"<table"_s)) << shown.toStdString();
    EXPECT_TRUE(shown.contains(u"step-to-step noise"_s)) << shown.toStdString();
}

}  // namespace
}  // namespace ui
