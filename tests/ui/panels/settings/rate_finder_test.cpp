#include "panels/settings/rate_finder.h"

#include <QPushButton>

#include "plots/custom_plot.h"
#include "window_fixture.h"

namespace ui {
namespace {

using namespace Qt::StringLiterals;

struct RateFinderTest : WindowFixture {
    RateFinderTest() {
        settings.load(
            engine::parse_run_config("{}", {"precision.preset=fp32", "dataset.train_limit=640",
                                            "batch_size=32", "device=cpu"})
                .config);
        window->findChild<QAction*>(u"findRate"_s)->trigger();
        finder = window->findChild<RateFinder*>();
    }

    QPushButton* offered() const {
        for (auto* button : finder->findChildren<QPushButton*>()) {
            if (button->text().startsWith(u"Use "_s)) return button;
        }
        return nullptr;
    }

    RateFinder* finder;
};

TEST_F(RateFinderTest, DrawsTheCurveAndTakesASuggestedRateOver) {
    ASSERT_NE(finder, nullptr);
    ASSERT_TRUE(QTest::qWaitFor([&] { return offered() != nullptr; }, 300'000));
    const auto* plot = finder->findChild<QCustomPlot*>();
    EXPECT_GT(plot->graph(1)->dataCount(), 50);
    EXPECT_EQ(plot->itemCount(), 2);
    const QString rate = offered()->text().section(u' ', 1, 1);
    offered()->click();
    EXPECT_EQ(settings.text(u"optimizer.lr"_s).toDouble(), rate.toDouble());
    EXPECT_GT(rate.toDouble(), 1e-3);
    EXPECT_TRUE(feed.store()->list().empty()) << "it is no run";
}

TEST_F(RateFinderTest, OpensFromBesideTheLearningRateToo) {
    delete finder;
    auto* beside = window->findChild<QToolButton*>(u"findRateHere"_s);
    ASSERT_NE(beside, nullptr);
    EXPECT_TRUE(beside->isVisible());
    beside->click();
    finder = window->findChild<RateFinder*>();
    ASSERT_NE(finder, nullptr);
    finder->close();
    settings.set(u"optimizer.lr"_s, u"fast"_s);
    EXPECT_FALSE(beside->isEnabled()) << "with settings that cannot be trained";
}

TEST_F(RateFinderTest, ClosingEndsTheTest) {
    ASSERT_NE(finder, nullptr);
    finder->close();
    EXPECT_TRUE(QThreadPool::globalInstance()->waitForDone(30'000));
}

}  // namespace
}  // namespace ui
