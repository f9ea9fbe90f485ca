#include "screens/screen_check.h"

#include <gtest/gtest.h>

#include <QMainWindow>
#include <QTableWidget>
#include <functional>

#include "support/stillness.h"

namespace ui {
namespace {

/// Paints what a test wants.
class Painted : public QWidget {
public:
    using Paint = std::function<void(QPainter&)>;
    Painted(Paint paint, QWidget* parent) : QWidget(parent), paint_(std::move(paint)) {
        setGeometry(0, 0, 200, 60);
    }

protected:
    void paintEvent(QPaintEvent*) override {
        QPainter painter(this);
        paint_(painter);
    }

private:
    Paint paint_;
};

struct ScreenCheckTest : testing::Test {
    /// The faults of a window in which one widget paints this.
    QStringList faultsOf(Painted::Paint paint, const QString& toolTip = {}) {
        QWidget window;
        window.resize(400, 200);
        auto* widget = new Painted(std::move(paint), &window);
        widget->setToolTip(toolTip);
        return shown(window);
    }
    static QStringList shown(QWidget& window) {
        window.show();
        standsStill();
        return ScreenCheck(window).faults({400, 200});
    }
    static bool isOne(const QStringList& faults, const QString& words) {
        return faults.size() == 1 && faults[0].contains(words);
    }
};

TEST_F(ScreenCheckTest, FindsNothingInTextThatHasItsRoom) {
    const auto faults = faultsOf([](QPainter& painter) {
        painter.drawText(QPoint(10, 20), u"one"_s);
        painter.drawText(QPoint(10, 50), u"another"_s);
    });
    EXPECT_TRUE(faults.isEmpty()) << faults.join(u'\n').toStdString();
}

TEST_F(ScreenCheckTest, FindsPaintedTextOverOther) {
    const auto faults = faultsOf([](QPainter& painter) {
        painter.drawText(QPoint(10, 20), u"one"_s);
        painter.drawText(QPoint(16, 24), u"another"_s);
    });
    EXPECT_TRUE(isOne(faults, u"over one another: one | another"_s)) << faults.join(u'\n').toStdString();
}

TEST_F(ScreenCheckTest, FindsPaintedTextThatIsCut) {
    EXPECT_TRUE(isOne(faultsOf([](QPainter& painter) {
                          painter.drawText(QPoint(180, 20), u"too far to the right"_s);
                      }),
                      u"out of view"_s));
    EXPECT_TRUE(isOne(faultsOf([](QPainter& painter) {
                          painter.setClipRect(0, 0, 20, 20);
                          painter.drawText(QPoint(5, 15), u"clipped"_s);
                      }),
                      u"out of view"_s));
    // Turned, as the name of an axis is.
    EXPECT_TRUE(isOne(faultsOf([](QPainter& painter) {
                          painter.translate(20, 30);
                          painter.rotate(-90);
                          painter.drawText(QPoint(0, 0), u"longer than the height"_s);
                      }),
                      u"out of view"_s));
}

TEST_F(ScreenCheckTest, WantsAToolTipForTextThatEndsInDots) {
    const auto paint = [](QPainter& painter) { painter.drawText(QPoint(10, 20), u"a long na…"_s); };
    EXPECT_TRUE(isOne(faultsOf(paint), u"no tooltip"_s));
    EXPECT_TRUE(faultsOf(paint, u"a long name"_s).isEmpty());
}

TEST_F(ScreenCheckTest, FindsTheHeadOfAColumnThatIsTooNarrow) {
    QWidget window;
    window.resize(400, 200);
    auto* table = new QTableWidget(0, 2, &window);
    table->setGeometry(0, 0, 400, 200);
    table->setHorizontalHeaderLabels({u"of peak"_s, u"output"_s});
    table->horizontalHeader()->setTextElideMode(Qt::ElideNone);
    EXPECT_TRUE(shown(window).isEmpty());
    table->setColumnWidth(0, 30);
    EXPECT_TRUE(isOne(shown(window), u"out of view: of peak"_s));
}

TEST_F(ScreenCheckTest, FindsPaintedTextBelowAChild) {
    QWidget window;
    window.resize(400, 200);
    auto* widget = new Painted(
        [](QPainter& painter) { painter.drawText(QPoint(10, 20), u"hidden"_s); }, &window);
    auto* above = new QWidget(widget);
    above->setGeometry(15, 5, 50, 30);
    EXPECT_TRUE(isOne(shown(window), u"painted text below"_s));
}

TEST_F(ScreenCheckTest, ReadsTheTextOfAPlot) {
    QWidget window;
    window.resize(400, 200);
    auto* plot = new QCustomPlot(&window);
    plot->setGeometry(0, 0, 300, 200);
    const auto nameAt = [plot](double x) {
        auto* name = new QCPItemText(plot);
        name->position->setType(QCPItemPosition::ptAbsolute);
        name->position->setCoords(x, 100);
        name->setText(u"curve"_s);
    };
    nameAt(150);
    EXPECT_TRUE(shown(window).isEmpty());
    nameAt(160);
    EXPECT_TRUE(isOne(shown(window), u"over one another: curve | curve"_s));
}

TEST_F(ScreenCheckTest, WantsPlotsInAGrid) {
    QMainWindow window;
    window.resize(400, 200);
    const auto dock = [&](const QString& name) {
        auto* made = new QDockWidget(&window);
        made->setObjectName(name);
        made->setTitleBarWidget(new QWidget(made));
        made->setWidget(new QWidget(made));
        window.addDockWidget(Qt::TopDockWidgetArea, made, Qt::Horizontal);
        return made;
    };
    auto *loss = dock(u"loss"_s), *accuracy = dock(u"accuracy"_s);
    window.show();
    window.resizeDocks({loss, accuracy}, {100, 100}, Qt::Horizontal);
    EXPECT_TRUE(shown(window).isEmpty());
    window.resizeDocks({loss, accuracy}, {100, 250}, Qt::Horizontal);
    EXPECT_TRUE(isOne(shown(window), u"no grid"_s));
}

}  // namespace
}  // namespace ui
