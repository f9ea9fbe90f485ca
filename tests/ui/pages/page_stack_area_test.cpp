#include "pages/page_stack.h"

#include <QLineEdit>
#include <QScrollBar>
#include <QSettings>
#include <QVBoxLayout>

#include "screens/screen_check.h"
#include "window_fixture.h"

namespace ui {
namespace {

using namespace Qt::StringLiterals;

struct PageAreaTest : WindowFixture {
    PageAreaTest() { QSettings().clear(); }
    ~PageAreaTest() override { QSettings().clear(); }
};

/// A page with two fields far from each other.
QWidget* tallPage(QLineEdit*& first, QLineEdit*& last) {
    auto* page = new QWidget;
    auto* column = new QVBoxLayout(page);
    first = new QLineEdit(page);
    last = new QLineEdit(page);
    column->addWidget(first);
    column->addSpacing(900);
    column->addWidget(last);
    return page;
}

TEST_F(PageAreaTest, ScrollsWhatDoesNotFitToTheFocus) {
    QLineEdit *first = nullptr, *last = nullptr;
    PageArea area(tallPage(first, last), nullptr);
    area.resize(500, 300);
    area.show();
    area.activateWindow();
    ASSERT_TRUE(QTest::qWaitForWindowActive(&area));
    EXPECT_LE(area.minimumSizeHint().height(), 300);
    last->setFocus();
    standsStill();
    EXPECT_GT(area.verticalScrollBar()->value(), 600);
    EXPECT_FALSE(last->visibleRegion().isEmpty());
    first->setFocus();
    standsStill();
    EXPECT_LT(area.verticalScrollBar()->value(), 20);
}

/// On the smallest screen, and with large text on a usual one. screens/draw.sh does it in more
/// states.
TEST_F(PageAreaTest, EveryPageFitsItsScreen) {
    auto* pages = window->findChild<PageStack*>();
    for (const auto& [points, screen] :
         {std::pair{9.0, QSize(1024, 700)}, std::pair{13.5, QSize(1440, 900)}}) {
        QFont font = QApplication::font();
        font.setPointSizeF(points);
        QApplication::setFont(font);
        window = std::make_unique<MainWindow>(context);
        pages = window->findChild<PageStack*>();
        window->resize(screen);
        window->QWidget::show();
        standsStill();
        for (const PageEntry& page : pageEntries()) {
            pages->showPage(page.name);
            standsStill();
            EXPECT_EQ(window->size(), screen) << page.name.toStdString();
            const QStringList faults = ScreenCheck(*window).faults(screen);
            EXPECT_TRUE(faults.isEmpty())
                << page.name.toStdString() << ": " << faults.join(u'\n').toStdString();
        }
    }
    QFont font = QApplication::font();
    font.setPointSizeF(9);
    QApplication::setFont(font);
}

}  // namespace
}  // namespace ui
