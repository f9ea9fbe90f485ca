// The menu of a plot in the main window, and the state that all plots share.
#include <QClipboard>
#include <algorithm>

#include "panels/plots/plot_panels.h"
#include "plots/plot_fixture.h"
#include "plots/plot_options.h"
#include "widgets/panel.h"

namespace ui {
namespace {

using namespace Qt::StringLiterals;

struct PlotMenuTest : PlotWindowTest {
    Panel* panel(const QString& name) const {
        return qobject_cast<Panel*>(window->findChild<QDockWidget*>(name));
    }
    static QAction* entry(QMenu* menu, const QString& text) {
        for (auto* action : menu->actions()) {
            if (action->text() == text) return action;
        }
        return nullptr;
    }
};

TEST_F(PlotMenuTest, OpensFromTheContextMenuOfThePlot) {
    show({});
    QContextMenuEvent event(QContextMenuEvent::Keyboard, {50, 50},
                            plot(u"loss"_s)->mapToGlobal(QPoint(50, 50)));
    QCoreApplication::sendEvent(plot(u"loss"_s), &event);
    EXPECT_EQ(QApplication::activePopupWidget(), panel(u"loss"_s)->menu());
    panel(u"loss"_s)->menu()->close();
}

TEST_F(PlotMenuTest, FloatsAndHidesThePlot) {
    show({});
    auto* loss = panel(u"loss"_s);
    for (const bool floats : {true, false}) {
        entry(loss->menu(), u"Float"_s)->trigger();
        EXPECT_EQ(loss->isFloating(), floats);
    }
    entry(loss->menu(), u"Hide"_s)->trigger();
    EXPECT_FALSE(loss->isVisible());
    loss->toggleViewAction()->trigger();
    EXPECT_TRUE(loss->isVisible());
}

TEST_F(PlotMenuTest, ChoosesTheXAxisOfAllPlots) {
    show({"fp32"});
    QMenu* axes = entry(panel(u"accuracy"_s)->menu(), u"X axis"_s)->menu();
    entry(axes, u"Sample"_s)->trigger();
    EXPECT_EQ(link.options()->x(), XKind::sample);
    auto plots = window->findChildren<LinePlot*>();
    plots.removeIf([](const LinePlot* plot) { return !plot->isVisible(); });
    const auto reach = [](const LinePlot* plot) {
        return plot->xAxis->range().upper > 30 * 128 - 1;
    };
    EXPECT_TRUE(QTest::qWaitFor([&] { return std::ranges::all_of(plots, reach); }, 300'000));
    for (const auto* each : plots) {
        EXPECT_NEAR(each->xAxis->range().upper, 30 * 128, 1) << each->look().title.toStdString();
    }
}

TEST_F(PlotMenuTest, OffersTheClockWhereAllRunsHaveIt) {
    show({"fp32"});
    QMenu* axes = entry(panel(u"loss"_s)->menu(), u"X axis"_s)->menu();
    auto* clock = entry(axes, u"Clock, with pauses"_s);
    ASSERT_NE(clock, nullptr);
    emit axes->aboutToShow();
    EXPECT_TRUE(clock->isEnabled());
    clock->trigger();
    EXPECT_EQ(link.options()->x(), XKind::clock);
    auto earlier = std::make_shared<RowAxis>(
        [](XKind, std::int64_t, std::span<double> out) { std::ranges::fill(out, 0.0); });
    earlier->grow(1);
    link.options()->setRuns({earlier});
    emit axes->aboutToShow();
    EXPECT_FALSE(clock->isEnabled());
    EXPECT_TRUE(clock->toolTip().contains(u"earlier version"_s));
}

TEST_F(PlotMenuTest, SmoothsAllPlotsWithTheSliderAndTheKeys) {
    show({});
    auto* slider = panel(u"loss"_s)->menu()->findChild<QSlider*>();
    ASSERT_NE(slider, nullptr);
    slider->setValue(0);
    EXPECT_EQ(link.options()->smoothing(), 0);
    QTest::keyClick(window.get(), Qt::Key_BracketRight);
    EXPECT_EQ(link.options()->smoothing(), 5);
    EXPECT_EQ(slider->value(), 1);
    EXPECT_EQ(panel(u"accuracy"_s)->menu()->findChild<QSlider*>()->value(), 1);
}

TEST_F(PlotMenuTest, RemembersXAxisAndSmoothing) {
    PlotLink first;
    first.options()->remember();
    first.options()->setX(XKind::epoch);
    first.options()->setSmoothing(100);
    PlotLink second;
    EXPECT_EQ(second.options()->x(), XKind::step);
    second.options()->remember();
    EXPECT_EQ(second.options()->x(), XKind::epoch);
    EXPECT_EQ(second.options()->smoothing(), 100);
    QSettings().remove(u"plots"_s);
}

TEST_F(PlotMenuTest, PutsAStepAtOneColumnOfAllPlotsInAColumn) {
    show({"fp32", "amp-fp16"});
    for (int i = 0; i < 3; ++i) {
        for (auto* each : window->findChildren<LinePlot*>()) each->paintNow();
    }
    for (const auto& [upper, lower] :
         {std::pair{u"loss"_s, u"scale"_s}, {u"accuracy"_s, u"fourth"_s}}) {
        EXPECT_NEAR(plot(upper)->xAxis->coordToPixel(20), plot(lower)->xAxis->coordToPixel(20), 1);
    }
}

TEST_F(PlotMenuTest, ShowsTheLearningRateInTheFourthPlace) {
    show({"fp32"});
    auto* tabs = panel(u"fourth"_s)->findChild<QTabBar*>();
    ASSERT_EQ(tabs->count(), 4);
    tabs->setCurrentIndex(3);
    EXPECT_EQ(tabs->tabToolTip(3), u"Learning rate"_s);
    const auto& curve = plot(u"fourth"_s)->content().curves.front();
    EXPECT_FLOAT_EQ(curve.data->total(0, 1).last, static_cast<float>(feed.tracks()[0]->at(1).lr));
}

TEST_F(PlotMenuTest, CopiesTheImageInTheLightThemeAndTheData) {
    theme.setChoice(Theme::Choice::dark);
    show({"fp32"});
    QMenu* menu = panel(u"loss"_s)->menu();
    entry(menu, u"Copy as image"_s)->trigger();
    const QImage image = QGuiApplication::clipboard()->image();
    EXPECT_EQ(image.size(), QSize(2000, 1200));
    EXPECT_EQ(image.pixelColor(3, 3), lightTokens().panel);
    entry(menu, u"Copy as data"_s)->trigger();
    EXPECT_TRUE(QGuiApplication::clipboard()->text().startsWith(u"step\tFP32\n1\t"_s));
    theme.setChoice(Theme::Choice::system);
}

TEST_F(PlotMenuTest, ExportsAPictureWithTheEndingOfTheChosenKind) {
    show({"fp32"});
    auto* action = entry(panel(u"loss"_s)->menu(), u"Export picture…"_s);
    const QString name = folder.path() + u"/mine"_s;
    ASSERT_TRUE(answerFileDialog(name, [&] { action->trigger(); }));
    ASSERT_TRUE(QTest::qWaitFor([this] { return !commands.works()->busy(); }, 300'000));
    EXPECT_TRUE(QFile::exists(name + u".png"_s));
}

}  // namespace
}  // namespace ui
