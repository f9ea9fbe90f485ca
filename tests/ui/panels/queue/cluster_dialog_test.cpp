#include "panels/queue/cluster_dialog.h"

#include <QComboBox>
#include <QLabel>
#include <QLineEdit>
#include <QPlainTextEdit>
#include <QPushButton>
#include <QToolButton>

#include "engine/runs/cluster.h"
#include "support/slurm_stand_in.h"
#include "window_fixture.h"

namespace ui {
namespace {

using namespace Qt::StringLiterals;

struct ClusterDialogTest : WindowFixture {
    /// As a person opens it.
    QDialog* open() {
        commands.showPage(u"queue"_s);
        window->findChild<QComboBox*>(u"queueWhere"_s)->setCurrentIndex(1);
        window->findChild<QToolButton*>(u"queueScript"_s)->click();
        return window->findChild<QDialog*>(u"cluster"_s);
    }
    test_support::SlurmStandIn slurm;  // has a folder for settings
};

TEST_F(ClusterDialogTest, IsOpenedBesideWhereForSlurmAlone) {
    commands.showPage(u"queue"_s);
    auto* script = window->findChild<QToolButton*>(u"queueScript"_s);
    EXPECT_FALSE(script->isVisible());
    ASSERT_NE(open(), nullptr);
    EXPECT_TRUE(script->isVisible());
    EXPECT_EQ(queue.where(), engine::QueuePlace::slurm);
    window->findChild<QComboBox*>(u"queueWhere"_s)->setCurrentIndex(0);
    EXPECT_FALSE(script->isVisible());
    EXPECT_EQ(queue.where(), engine::QueuePlace::here);
}

TEST_F(ClusterDialogTest, IsOpenOnce) {
    auto* dialog = open();
    ASSERT_NE(dialog, nullptr);
    EXPECT_EQ(open(), dialog);
    EXPECT_EQ(window->findChildren<QDialog*>(u"cluster"_s).size(), 1);
    dialog->reject();
    open();
    // The closed one goes.
    ASSERT_TRUE(QTest::qWaitFor(
        [&] { return window->findChildren<QDialog*>(u"cluster"_s).size() == 1; }, 300'000));
    EXPECT_TRUE(window->findChild<QDialog*>(u"cluster"_s)->isVisible());
}

TEST_F(ClusterDialogTest, AMachineWithoutSlurmIsNamedOnALineOfItsOwn) {
    slurm.remove("sbatch");
    commands.showPage(u"queue"_s);
    auto* where = window->findChild<QComboBox*>(u"queueWhere"_s);
    auto* problem = window->findChild<QLabel*>(u"queueNoSlurm"_s);
    EXPECT_FALSE(problem->isVisible());
    where->setCurrentIndex(1);
    EXPECT_TRUE(problem->isVisible());
    EXPECT_TRUE(problem->wordWrap());
    where->setCurrentIndex(0);
    EXPECT_FALSE(problem->isVisible());
}

TEST_F(ClusterDialogTest, ShowsTheScriptAndTheFolderAndKeepsThem) {
    auto* dialog = open();
    ASSERT_NE(dialog, nullptr);
    auto* script = dialog->findChild<QPlainTextEdit*>(u"jobScript"_s);
    auto* folder = dialog->findChild<QLineEdit*>(u"jobFolder"_s);
    EXPECT_EQ(script->toPlainText().toStdString(), engine::default_job_script());
    EXPECT_EQ(folder->text().toStdString(), engine::read_cluster_settings().folder.string());
    script->setPlainText(u"#!/bin/sh\n{{program}} {{arguments}}"_s);
    folder->setText(u"/shared/jobs"_s);
    dialog->findChild<QPushButton*>(u"primary"_s)->click();
    EXPECT_EQ(engine::read_cluster_settings().folder, "/shared/jobs");
    EXPECT_EQ(engine::read_cluster_settings().script, "#!/bin/sh\n{{program}} {{arguments}}\n");
}

TEST_F(ClusterDialogTest, SaysWhatIsWrongAsItIsTyped) {
    auto* dialog = open();
    ASSERT_NE(dialog, nullptr);
    auto* problem = dialog->findChild<QLabel*>(u"jobProblem"_s);
    auto* save = dialog->findChild<QPushButton*>(u"primary"_s);
    EXPECT_TRUE(save->isEnabled());
    dialog->findChild<QPlainTextEdit*>(u"jobScript"_s)->setPlainText(u"#!/bin/sh\n{{data}}"_s);
    EXPECT_TRUE(problem->text().contains(u"{{data}}"_s));
    EXPECT_FALSE(save->isEnabled());
    dialog->findChild<QPlainTextEdit*>(u"jobScript"_s)
        ->setPlainText(QString::fromStdString(engine::default_job_script()));
    EXPECT_TRUE(save->isEnabled());
    dialog->findChild<QLineEdit*>(u"jobFolder"_s)->setText(u"jobs"_s);
    EXPECT_FALSE(save->isEnabled());
}

}  // namespace
}  // namespace ui
