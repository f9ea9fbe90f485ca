// Plots of runs whose rows a test lists, and their reactions to mouse and keys.
#include "plots/line_plot.h"

#include "plots/line_plot_fixture.h"
#include "plots/plot_export.h"

namespace ui {
namespace {

using namespace Qt::StringLiterals;

struct LinePlotTest : LinePlotFixture {};

TEST_F(LinePlotTest, ArrowsMoveTheStepByWhatAPixelShows) {
    addRun(u"FP32"_s, trackOf(100'000, 0.01));
    const auto plot = show();
    link.select(50'000);
    const auto pixel = std::llround(100'000.0 / plot->axisRect()->width());
    ASSERT_GT(pixel, 100);
    QTest::keyClick(plot.get(), Qt::Key_Right);
    EXPECT_EQ(link.selected(), 50'000 + pixel);
    QTest::keyClick(plot.get(), Qt::Key_Left);
    EXPECT_EQ(link.selected(), 50'000);
    QTest::keyClick(plot.get(), Qt::Key_Right, Qt::ShiftModifier);
    EXPECT_NEAR(static_cast<double>(link.selected()), 50'000.0 + 10 * static_cast<double>(pixel),
                10);
    link.select(50'000);
    QTest::keyClick(plot.get(), Qt::Key_Left, Qt::ControlModifier);
    EXPECT_EQ(link.selected(), 49'999);
    QTest::keyClick(plot.get(), Qt::Key_End);
    EXPECT_EQ(link.selected(), 100'000);
    QTest::keyClick(plot.get(), Qt::Key_Home);
    EXPECT_EQ(link.selected(), 1);
}

TEST_F(LinePlotTest, DoubleClickFitsAndLeavesTheSelectionAsItWas) {
    addRun(u"FP32"_s, trackOf(1000, 0.01));
    const auto plot = show();
    link.select(7);
    link.zoom(100, 500);
    plot->paintNow();
    const QPoint at = pixel(*plot, 300);
    QTest::mouseClick(plot.get(), Qt::LeftButton, {}, at);
    EXPECT_EQ(link.selected(), 300);
    link.select(7);
    // As the system sends it: press, release, double click, release.
    QTest::mousePress(plot.get(), Qt::LeftButton, {}, at);
    QTest::mouseRelease(plot.get(), Qt::LeftButton, {}, at);
    QTest::mouseDClick(plot.get(), Qt::LeftButton, {}, at);
    EXPECT_TRUE(link.fitted());
    EXPECT_EQ(link.selected(), 7);
}

TEST_F(LinePlotTest, ZoomsTheTimeAxisToWhatWasDragged) {
    addRun(u"fast"_s, trackOf(1000, 0.01));
    addRun(u"slow"_s, trackOf(1000, 0.04));
    link.options()->setX(XKind::time);
    const auto plot = show();
    QTest::mousePress(plot.get(), Qt::LeftButton, {}, pixel(*plot, 20));
    QMouseEvent move(QEvent::MouseMove, pixel(*plot, 30), plot->mapToGlobal(pixel(*plot, 30)),
                     Qt::NoButton, Qt::LeftButton, {});
    QCoreApplication::sendEvent(plot.get(), &move);
    QTest::mouseRelease(plot.get(), Qt::LeftButton, {}, pixel(*plot, 30));
    plot->paintNow();
    EXPECT_NEAR(plot->xAxis->range().lower, 20, 0.2);
    EXPECT_NEAR(plot->xAxis->range().upper, 30, 0.2);
}

TEST_F(LinePlotTest, CopiesWhatIsVisibleAsColumns) {
    addRun(u"FP32"_s, trackOf(1000, 0.01));
    addRun(u"AMP FP16"_s, trackOf(500, 0.02));
    link.zoom(100, 109);
    const auto plot = show();
    const QStringList lines = visibleData(*plot).trimmed().split(u'\n');
    EXPECT_EQ(lines[0], u"step\tFP32\tAMP FP16"_s);
    EXPECT_TRUE(lines.contains(u"105\t0.00952380989\t0.00952380989"_s));
    EXPECT_LE(lines.size(), 14);
    EXPECT_GE(lines.size(), 11);
    link.options()->setX(XKind::time);
    plot->paintNow();
    EXPECT_TRUE(visibleData(*plot).startsWith(
        u"step\tFP32 training time (s)\tFP32\tAMP FP16 training time (s)\tAMP FP16\n"_s));
}

TEST_F(LinePlotTest, APictureHasItsOwnSizeWithTitleAndNamesOfTheAxes) {
    addRun(u"FP32"_s, trackOf(100, 0.01));
    Theme light(Theme::Choice::light);
    PlotLook look;
    look.title = u"Loss"_s;
    look.axisName = u"loss, unscaled"_s;
    PlotPicture picture{&light, &link, look, content, {}};
    QTemporaryDir folder;
    const QString png = folder.path() + u"/loss.png"_s;
    ASSERT_TRUE(writePicture(picture, png));
    const QImage image(png);
    EXPECT_EQ(image.size(), QSize(2000, 1200));
    EXPECT_EQ(image.pixelColor(3, 3), light.tokens().panel);
    const QString svg = folder.path() + u"/loss.svg"_s;
    ASSERT_TRUE(writePicture(picture, svg));
    QFile file(svg);
    ASSERT_TRUE(file.open(QIODevice::ReadOnly));
    const QString text = QString::fromUtf8(file.readAll());
    for (const QString& words : {u">Loss<"_s, u">loss, unscaled<"_s, u">step<"_s}) {
        EXPECT_TRUE(text.contains(words)) << words.toStdString();
    }
    ASSERT_TRUE(writePicture(picture, folder.path() + u"/loss.pdf"_s));
    EXPECT_GT(QFileInfo(folder.path() + u"/loss.pdf"_s).size(), 1000);
    EXPECT_FALSE(writePicture(picture, folder.path() + u"/absent/loss.png"_s));
    EXPECT_FALSE(writePicture(picture, folder.path() + u"/loss.txt"_s));
}

TEST_F(LinePlotTest, ZoomsTheValuesOfOnePlotAndCountsThePointsThatItLeavesOut) {
    addRun(u"FP32"_s, trackOf(100, 0.01));  // losses 1, 1/2, 1/3 ... 1/100
    const auto plot = show();
    EXPECT_TRUE(plot->scene().above.isEmpty()) << plot->scene().above.toStdString();
    link.zoomValues(plot.get(), {0, 0.3});
    plot->paintNow();
    EXPECT_NEAR(plot->yAxis->range().upper, 0.3, 1e-9);
    EXPECT_EQ(plot->scene().above, u"3 points above"_s);
    EXPECT_TRUE(plot->scene().below.isEmpty());
    // A drag with Ctrl, from the axis' middle down.
    const QRect area = plot->axisRect()->rect();
    const QPoint from = area.center(), to(from.x() + 20, area.bottom() - 10);
    QTest::mousePress(plot.get(), Qt::LeftButton, Qt::ControlModifier, from);
    QMouseEvent move(QEvent::MouseMove, to, plot->mapToGlobal(to), Qt::NoButton, Qt::LeftButton,
                     Qt::ControlModifier);
    QCoreApplication::sendEvent(plot.get(), &move);
    QTest::mouseRelease(plot.get(), Qt::LeftButton, Qt::ControlModifier, to);
    ASSERT_TRUE(link.values(plot.get()));
    EXPECT_NEAR(link.values(plot.get())->second, 0.15, 0.01);
    EXPECT_TRUE(link.fitted()) << "the steps stay";
    QTest::mouseDClick(plot.get(), Qt::LeftButton, {}, from);
    EXPECT_FALSE(link.values(plot.get()));
}

TEST_F(LinePlotTest, PansAndGoesBackByMouseWheelAndKeys) {
    addRun(u"FP32"_s, trackOf(1000, 0.01));
    const auto plot = show();
    link.zoom(400, 600);
    plot->paintNow();
    const QPoint from = pixel(*plot, 500), to = pixel(*plot, 550);
    QTest::mousePress(plot.get(), Qt::MiddleButton, {}, from);
    QMouseEvent move(QEvent::MouseMove, to, plot->mapToGlobal(to), Qt::NoButton, Qt::MiddleButton,
                     Qt::NoModifier);
    QCoreApplication::sendEvent(plot.get(), &move);
    QTest::mouseRelease(plot.get(), Qt::MiddleButton, {}, to);
    EXPECT_NEAR(link.low(), 350, 2);
    EXPECT_NEAR(link.high(), 550, 2);
    EXPECT_EQ(link.selected(), 0) << "a pan selects no step";
    plot->paintNow();
    const double before = link.low();
    QTest::keyClick(plot.get(), Qt::Key_PageDown);
    EXPECT_NEAR(link.low(), before + 100, 2);
    while (link.canGoBack() && !link.fitted()) QTest::keyClick(plot.get(), Qt::Key_Backspace);
    EXPECT_TRUE(link.fitted());
}

TEST_F(LinePlotTest, TheReadOutListsTheRunsAsTheirCurvesLie) {
    addRun(u"low"_s, trackOf(100, 0.01));
    const auto high = trackOf(100, 0.01);
    content.curves.push_back(curve(u"high"_s, high, &engine::StepRecord::loss_scale));
    const auto plot = show();
    link.hover(50);
    plot->paintNow();
    const auto lines = plot->scene().readout;
    ASSERT_EQ(lines.size(), 3);
    EXPECT_TRUE(lines[1].first.startsWith(u"high"_s));
    EXPECT_TRUE(lines[2].first.startsWith(u"low"_s));
}

}  // namespace
}  // namespace ui
