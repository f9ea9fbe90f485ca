#include "window/problem_dialog.h"

#include <QFile>
#include <QListWidget>
#include <QPlainTextEdit>
#include <QPushButton>

#include "plots/plot_fixture.h"

namespace ui {
namespace {

using namespace Qt::StringLiterals;

class ProblemDialogTest : public PlotWindowTest {};

TEST_F(ProblemDialogTest, ShowsEachTextBeforeItIsSaved) {
    show({"fp32"});
    auto* dialog = new ProblemDialog({.run_folder = store->find("1")->folder,
                                      .settings = {},
                                      .log = {"Something went wrong."},
                                      .toolkit = "Qt"},
                                     &commands, window.get());
    dialog->show();
    auto* list = dialog->findChild<QListWidget*>();
    auto* save = dialog->findChild<QPushButton*>(u"primary"_s);
    EXPECT_FALSE(save->isEnabled()) << "not before it can be read";
    ASSERT_TRUE(QTest::qWaitFor([&] { return list->count() > 0; }, 300'000));
    EXPECT_TRUE(save->isEnabled());
    const auto* text = dialog->findChild<QPlainTextEdit*>();
    QStringList names;
    for (int row = 0; row < list->count(); ++row) {
        list->setCurrentRow(row);
        names << list->item(row)->text().section(u' ', 0, 0);
        EXPECT_FALSE(text->toPlainText().isEmpty()) << names.last().toStdString();
        EXPECT_FALSE(text->toPlainText().contains(folder.path())) << names.last().toStdString();
    }
    EXPECT_EQ(names, QStringList({u"versions.txt"_s, u"machine.txt"_s, u"settings.json"_s,
                                  u"events.jsonl"_s, u"steps.jsonl"_s, u"log.txt"_s}));
    const QString file = folder.path() + u"/report.zip"_s;
    ASSERT_TRUE(answerFileDialog(file, [&] { save->click(); }));
    EXPECT_TRUE(QTest::qWaitFor([&] { return QFile::exists(file); }, 300'000));
}

}  // namespace
}  // namespace ui
