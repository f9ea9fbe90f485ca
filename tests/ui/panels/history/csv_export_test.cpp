// The file that File > Export steps as CSV writes.
#include "plots/plot_fixture.h"

namespace ui {
namespace {

using namespace Qt::StringLiterals;

QAction* menuAction(const QMainWindow& window, const QString& text) {
    for (auto* action : window.menuBar()->findChildren<QAction*>()) {
        if (action->text() == text) return action;
    }
    return nullptr;
}

using CsvExportTest = PlotWindowTest;

TEST_F(CsvExportTest, WritesAllRunsOnScreenWithAColumnForTheRun) {
    show({"fp32", "amp-fp16"});
    auto* action = menuAction(*window, u"Export steps as CSV…"_s);
    ASSERT_NE(action, nullptr);
    const QString name = folder.path() + u"/steps.csv"_s;
    ASSERT_TRUE(answerFileDialog(name, [&] { action->trigger(); }));
    ASSERT_TRUE(QTest::qWaitFor([this] { return !commands.works()->busy(); }, 20'000));
    QFile file(name);
    ASSERT_TRUE(file.open(QIODevice::ReadOnly));
    const QStringList lines = QString::fromUtf8(file.readAll()).trimmed().split(u'\n');
    ASSERT_EQ(lines.size(), 61);
    EXPECT_TRUE(lines[0].startsWith(u"run,step,epoch"_s));
    EXPECT_TRUE(lines[1].startsWith(u"1 fp32,1,"_s)) << lines[1].toStdString();
    EXPECT_TRUE(lines[60].startsWith(u"2 amp-fp16,30,"_s)) << lines[60].toStdString();
}

}  // namespace
}  // namespace ui
