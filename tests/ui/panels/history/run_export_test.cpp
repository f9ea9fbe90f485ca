// The commands Export run… and Import run….
#include "panels/history/run_export.h"

#include <QInputDialog>
#include <QMenuBar>
#include <QSignalSpy>

#include "engine/runs/checkpoint.h"
#include "engine/runs/export.h"
#include "plots/plot_fixture.h"

namespace ui {
namespace {

using namespace Qt::StringLiterals;

class RunExportTest : public PlotWindowTest {
protected:
    /// The sentence that is reported next.
    QString report(const std::function<void()>& act) {
        QString said;
        const auto listening =
            QObject::connect(&commands, &Commands::failed, window.get(),
                             [&said](const Problem& problem) { said = problem.sentence; });
        act();
        EXPECT_TRUE(QTest::qWaitFor([&said] { return !said.isEmpty(); }, 300'000));
        QObject::disconnect(listening);
        return said;
    }
    /// Takes this choice of the question that `act` asks. Returns all choices.
    QStringList choose(const QString& choice, const std::function<void()>& act) {
        QStringList offered;
        QTimer answer;
        QObject::connect(&answer, &QTimer::timeout, window.get(), [&] {
            auto* dialog = window->findChild<QInputDialog*>();
            if (dialog == nullptr || !dialog->isVisible()) return;
            offered = dialog->comboBoxItems();
            const QStringList found = offered.filter(choice);
            dialog->setTextValue(found.value(0));
            answer.stop();
            dialog->accept();
        });
        answer.start(10);
        act();
        return offered;
    }
};

TEST_F(RunExportTest, WritesTheChosenFileAndImportsItAgain) {
    show({"fp32"});
    const engine::RunSummary run = *store->find("1");
    const QString name = folder.path() + u"/mine.safetensors"_s;
    const QString file = folder.path() + u"/mine.halftone"_s;
    engine::export_run_file(run.folder, file.toStdString());
    const QString said = report([&] {
        ASSERT_TRUE(answerFileDialog(name, [&] { exportRun(window.get(), &commands, run); }));
    });
    EXPECT_TRUE(said.contains(u"mine.safetensors"_s)) << said.toStdString();
    EXPECT_TRUE(QFile::exists(name));
    bool done = false;
    const QString came = report([&] {
        ASSERT_TRUE(answerFileDialog(
            file, [&] { importRun(window.get(), &commands, store, [&done] { done = true; }); }));
    });
    EXPECT_EQ(came, u"Imported as run 2."_s);
    EXPECT_TRUE(done);
    EXPECT_TRUE(store->find("2").has_value());
}

TEST_F(RunExportTest, SeveralRunsAreOneTableOrOneArchive) {
    show({"fp32", "amp-fp16"});
    const std::vector<engine::RunSummary> runs = {*store->find("1"), *store->find("2")};
    const QString table = folder.path() + u"/both.csv"_s, whole = folder.path() + u"/both.halftone"_s;
    report([&] {
        ASSERT_TRUE(answerFileDialog(table, [&] { exportRuns(window.get(), &commands, runs); }));
    });
    QStringList offered;
    report([&] {
        offered = choose(u"None"_s, [&] {
            ASSERT_TRUE(
                answerFileDialog(whole, [&] { exportRuns(window.get(), &commands, runs); }));
        });
    });
    EXPECT_TRUE(offered.last().startsWith(u"All"_s));
    QFile text(table);
    ASSERT_TRUE(text.open(QIODevice::ReadOnly));
    EXPECT_EQ(text.readAll().count('\n'), 1 + 2 * 30);
    const QString came = report([&] {
        ASSERT_TRUE(
            answerFileDialog(whole, [&] { importRun(window.get(), &commands, store, [] {}); }));
    });
    EXPECT_EQ(came, store->find("1")->group.empty()
                        ? u"Imported as runs 3 to 4."_s
                        : u"Imported as comparison 2, runs 3 to 4."_s);
    EXPECT_TRUE(engine::list_checkpoints(store->find("3")->folder).empty());
}

/// The verdict of a report is that of the plots, whichever run a list has first.
TEST_F(RunExportTest, TheOldestRunIsTheBaselineOfAReport) {
    show({"fp32", "amp-fp16"});
    const QString page = folder.path() + u"/both.html"_s;
    report([&] {
        ASSERT_TRUE(answerFileDialog(page, [&] {
            exportReport(window.get(), &commands, store, {*store->find("2"), *store->find("1")});
        }));
    });
    QFile file(page);
    ASSERT_TRUE(file.open(QIODevice::ReadOnly));
    const QString text = QString::fromUtf8(file.readAll());
    const auto fp32 = text.indexOf(u"FP32 · 1"_s), amp = text.indexOf(u"AMP FP16 · 2"_s);
    EXPECT_GE(fp32, 0);
    EXPECT_GT(amp, fp32);
}

/// W1: the first filter of the dialog is safetensors.
TEST_F(RunExportTest, TheTypedEndingDecidesWhatIsWritten) {
    show({"fp32"});
    const engine::RunSummary run = *store->find("1");
    const QString name = folder.path() + u"/net.onnx"_s;
    report([&] {
        ASSERT_TRUE(answerFileDialog(name, [&] { exportRun(window.get(), &commands, run); }));
    });
    QFile file(name);
    ASSERT_TRUE(file.open(QIODevice::ReadOnly));
    EXPECT_TRUE(file.read(4096).contains("pytorch") || !file.readAll().contains("__metadata__"));
    file.seek(0);
    EXPECT_EQ(file.read(1), QByteArray(1, 8)) << "field 1 of an ONNX model, its version";
}

TEST_F(RunExportTest, WritesTheWeightsOfTheCheckpointThatIsChosen) {
    checkpointEvery = 10;
    show({"fp32"});
    const engine::RunSummary run = *store->find("1");
    const QString first = folder.path() + u"/first.safetensors"_s;
    const QString last = folder.path() + u"/last.safetensors"_s;
    const auto exportAt = [&](const QString& file, const QString& checkpoint) {
        QStringList offered;
        report([&] {
            offered = choose(checkpoint, [&] {
                EXPECT_TRUE(
                    answerFileDialog(file, [&] { exportRun(window.get(), &commands, run); }));
            });
        });
        EXPECT_TRUE(offered.contains(checkpoint)) << offered.join(u"; "_s).toStdString();
    };
    exportAt(first, u"Step 10"_s);
    exportAt(last, u"Last (step 30)"_s);
    const auto bytes = [](const QString& name) {
        QFile file(name);
        EXPECT_TRUE(file.open(QIODevice::ReadOnly));
        return file.readAll();
    };
    QFile saved(
        QString::fromStdString((run.folder / "checkpoint-10/weights.safetensors").string()));
    EXPECT_TRUE(saved.exists());
    EXPECT_NE(bytes(first), bytes(last));
}

// The file that File > Export steps as CSV writes.
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
    ASSERT_TRUE(QTest::qWaitFor([this] { return !commands.works()->busy(); }, 300'000));
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
