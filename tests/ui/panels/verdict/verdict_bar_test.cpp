#include "panels/verdict/verdict_bar.h"

#include <QSettings>
#include <QToolButton>

#include "benchmarks/benchmarks_page.h"
#include "benchmarks/made_results.h"
#include "pages/page_stack.h"
#include "panels/verdict/verdict_line.h"
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
            [&] { return line()->accessibleName().contains(u"AMP FP16 does not pay"_s); }))
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
    auto* page = window->findChild<BenchmarksPage*>();
    ASSERT_NE(page, nullptr);
    EXPECT_TRUE(page->isVisible());
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

}  // namespace
}  // namespace ui
