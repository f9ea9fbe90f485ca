#include "panels/frame/work_strip.h"

#include <QLabel>
#include <QPushButton>
#include <QStatusBar>
#include <QTemporaryDir>

#include "engine/io/named_file.h"
#include "window_fixture.h"

namespace ui {
namespace {

using namespace Qt::StringLiterals;

using WorkStripTest = WindowFixture;

TEST_F(WorkStripTest, ShowsLongWorkAndCancelsIt) {
    auto* strip = window->findChild<WorkStrip*>();
    ASSERT_NE(strip, nullptr);
    EXPECT_FALSE(strip->isVisible());
    QString said;
    QObject::connect(&commands, &Commands::failed, window.get(),
                     [&said](const Problem& problem) { said = problem.sentence; });
    const QTemporaryDir folder;
    commands.works()->start({u"Exporting a.csv"_s, {}, [file = folder.path().toStdString() + "/a"] {
                                 for (;;) engine::write_named_file(file, "a");
                                 return QString();
                             }});
    EXPECT_FALSE(strip->isVisible()) << "it may end at once";
    ASSERT_TRUE(QTest::qWaitFor([&] { return strip->isVisible(); }, 300'000));
    EXPECT_EQ(strip->findChild<QLabel*>()->text(), u"Exporting a.csv"_s);
    auto* cancel = strip->findChild<QToolButton*>();
    EXPECT_EQ(cancel->accessibleName(), u"Cancel: Exporting a.csv"_s);
    const int height = window->statusBar()->height();
    cancel->click();
    ASSERT_TRUE(QTest::qWaitFor([&] { return !strip->isVisible(); }, 300'000));
    EXPECT_EQ(said, u"Exporting a.csv: cancelled. Nothing was kept."_s);
    EXPECT_EQ(window->statusBar()->height(), height) << "the window does not move";
}

TEST_F(WorkStripTest, QuittingAsksWhileAFileIsWritten) {
    const QTemporaryDir folder;
    commands.works()->start({u"Exporting a.csv"_s, {}, [file = folder.path().toStdString() + "/a"] {
                                 for (;;) engine::write_named_file(file, "a");
                                 return QString();
                             }});
    EXPECT_FALSE(window->close());
    EXPECT_TRUE(window->isVisible());
    QPushButton* quit = nullptr;
    for (auto* button : window->findChildren<QPushButton*>())
        if (button->text() == u"Quit now"_s && button->isVisible()) quit = button;
    ASSERT_NE(quit, nullptr);
    quit->click();
    EXPECT_FALSE(window->isVisible());
    commands.works()->cancel();
    EXPECT_TRUE(QTest::qWaitFor([this] { return !commands.works()->busy(); }, 300'000));
}

}  // namespace
}  // namespace ui
