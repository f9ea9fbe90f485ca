// The list of runs in a window: selecting, showing, hiding, renaming and deleting runs.
#include <QMenu>
#include <QMessageBox>
#include <QDropEvent>
#include <QMimeData>
#include <QScrollBar>
#include <fstream>

#include "models/run_list_model.h"
#include "panels/history/history_panel.h"
#include "panels/history/run_delegate.h"
#include "widgets/panel.h"
#include "window_fixture.h"

namespace ui {
namespace {

using namespace Qt::StringLiterals;

struct HistoryTest : WindowFixture {
    HistoryTest() {
        qputenv("XDG_DATA_HOME", folder.filePath(u"home"_s).toUtf8());  // for the trash of the test
        list = window->findChild<HistoryPanel*>();
    }

    /// Stores finished runs of three steps.
    void keepRuns(int count) {
        for (int i = 0; i < count; ++i) {
            const auto made = feed.store()->create({});
            feed.store()->append(engine::RunDone{.run = made.run,
                                                 .reason = engine::DoneReason::epochs,
                                                 .steps = 3,
                                                 .updates = 3,
                                                 .skipped = 0,
                                                 .test = {1, {{"accuracy", 0.5}}},
                                                 .wall_s = 1,
                                                 .samples_per_s = 1,
                                                 .peak_bytes = 1});
        }
        list->reload();
        ASSERT_TRUE(QTest::qWaitFor([&] { return list->model()->rowCount() >= count; }, 300'000));
    }

    /// A comparison in progress, with rows of both runs.
    void train() {
        settings.load(
            engine::parse_run_config(
                R"({"dataset": {"kind": "spirals", "train_limit": 256}, "model": {"kind": "mlp"},
                    "batch_size": 32, "epochs": 100000, "scaler": {"preset": "classroom"}})")
                .config,
            {u"fp32"_s, u"amp-fp16"_s});
        commands.compare();
        ASSERT_TRUE(QTest::qWaitFor(
            [&] {
                return feed.tracks().size() == 2 && feed.tracks()[0]->rows() >= 3 &&
                       feed.tracks()[1]->rows() >= 3;
            },
            300'000));
    }
    void stop() {
        commands.stop();
        ASSERT_TRUE(
            QTest::qWaitFor([&] { return feed.state() == engine::RunState::done; }, 300'000));
        ASSERT_TRUE(QTest::qWaitFor([&] { return stateAt(0) == u"stopped"_s; }, 300'000));
    }

    QModelIndex row(int at) const { return list->model()->index(at, 0); }
    QString stateAt(int at) const { return row(at).data(RunListModel::StateRole).toString(); }
    bool isShown(int at) const { return row(at).data(RunListModel::ShownRole).toBool(); }
    std::vector<int> chosen() const {
        std::vector<int> rows;
        for (const auto& index : list->selectionModel()->selectedRows())
            rows.push_back(index.row());
        std::sort(rows.begin(), rows.end());
        return rows;
    }
    void clickEye(int at) {
        QTest::mouseClick(list->viewport(), Qt::LeftButton, {},
                          RunDelegate::eye(list->visualRect(row(at))).center());
    }

    HistoryPanel* list;
};

TEST_F(HistoryTest, SelectsTheRunsOfANewExperimentAndBringsThemIntoView) {
    keepRuns(30);
    list->verticalScrollBar()->setValue(list->verticalScrollBar()->maximum());
    list->selectionModel()->select(row(20), QItemSelectionModel::ClearAndSelect);
    train();
    ASSERT_TRUE(QTest::qWaitFor([&] { return chosen() == std::vector{0, 1}; }, 300'000));
    EXPECT_EQ(feed.tracks().size(), 2u) << "a run is not laid over itself";
    EXPECT_EQ(stateAt(0), u"running"_s);
    EXPECT_EQ(list->verticalScrollBar()->value(), 0);
    stop();
    EXPECT_EQ(chosen(), (std::vector{0, 1})) << "they stay selected";
}

TEST_F(HistoryTest, TheEyeHidesARunAndShowsItAgain) {
    train();
    ASSERT_TRUE(QTest::qWaitFor([&] { return chosen().size() == 2; }, 300'000));
    EXPECT_TRUE(isShown(0) && isShown(1));
    const auto hidden = feed.tracks()[1];
    clickEye(list->model()->rowCount() - 2);  // the newest run, amp-fp16
    ASSERT_EQ(feed.tracks().size(), 1u);
    EXPECT_NE(feed.tracks()[0], hidden);
    EXPECT_FALSE(isShown(0));
    const auto rows = hidden->rows();
    EXPECT_TRUE(QTest::qWaitFor([&] { return hidden->rows() > rows; }, 300'000)) << "it trains on";
    clickEye(0);
    EXPECT_EQ(feed.tracks().size(), 2u);
    EXPECT_EQ(chosen().size(), 2u) << "the selection is another thing";
    stop();
}

TEST_F(HistoryTest, AnOldRunIsLaidOverTheExperimentByItsEye) {
    train();
    stop();
    commands.compare();  // the runs so far become old ones
    ASSERT_TRUE(QTest::qWaitFor([&] { return list->model()->rowCount() == 4; }, 300'000));
    ASSERT_TRUE(QTest::qWaitFor([&] { return chosen() == std::vector{0, 1}; }, 300'000));
    EXPECT_FALSE(isShown(2));
    clickEye(2);
    EXPECT_TRUE(isShown(0) && isShown(1) && isShown(2));
    EXPECT_EQ(feed.tracks().size(), 3u);
    clickEye(2);
    EXPECT_EQ(feed.tracks().size(), 2u);
    commands.stop();
    ASSERT_TRUE(QTest::qWaitFor([&] { return feed.state() == engine::RunState::done; }, 300'000));
}

TEST_F(HistoryTest, RenamesARunInPlace) {
    keepRuns(2);
    list->setCurrentIndex(row(1));
    list->model()->setData(row(1), u"  first   try "_s, Qt::EditRole);
    ASSERT_TRUE(QTest::qWaitFor(
        [&] { return row(1).data().toString().startsWith(u"first try "_s); }, 300'000));
    EXPECT_EQ(feed.store()->find("1")->title, "first try");
}

TEST_F(HistoryTest, DeletesTheSelectedRunOnceTheUserAgreed) {
    keepRuns(2);
    const auto gone = feed.store()->find("1")->folder;
    list->selectionModel()->select(row(1), QItemSelectionModel::ClearAndSelect);
    QTest::keyClick(list, Qt::Key_Delete);
    auto* box = list->findChild<QMessageBox*>();
    ASSERT_NE(box, nullptr);
    EXPECT_TRUE(std::filesystem::exists(gone));
    box->findChild<QAbstractButton*>(u"deleteRuns"_s)->click();
    ASSERT_TRUE(QTest::qWaitFor([&] { return list->model()->rowCount() == 1; }, 300'000));
    EXPECT_FALSE(std::filesystem::exists(gone));
    EXPECT_TRUE(QFileInfo::exists(folder.filePath(u"home/Trash/files/1/config.json"_s)));
    EXPECT_FALSE(feed.store()->find("1").has_value());
}

TEST_F(HistoryTest, ARunThatIsTrainedCannotBeDeleted) {
    train();
    ASSERT_TRUE(QTest::qWaitFor([&] { return chosen().size() == 2; }, 300'000));
    list->selectionModel()->select(row(0), QItemSelectionModel::ClearAndSelect);
    QTest::keyClick(list, Qt::Key_Delete);
    list->findChild<QMessageBox*>()->findChild<QAbstractButton*>(u"deleteRuns"_s)->click();
    EXPECT_TRUE(QTest::qWaitFor(
        [&] { return window->findChild<QFrame*>(u"message"_s)->isVisible(); }, 300'000));
    EXPECT_TRUE(feed.store()->find("2").has_value());
    stop();
}

TEST_F(HistoryTest, TellsOfDamageThatWasMendedToListTheRuns) {
    keepRuns(2);
    feed.setStore(nullptr);
    std::ofstream(folder.filePath(u"runs.db"_s).toStdString()) << std::string(8192, 'x');
    feed.setStore(std::make_shared<engine::RunStore>(folder.path().toStdString()));
    const auto* bar = window->findChild<QFrame*>(u"message"_s);
    EXPECT_TRUE(QTest::qWaitFor([&] { return bar->isVisible(); }, 300'000));
    EXPECT_EQ(list->model()->rowCount(), 2);
}

engine::SessionOptions inFolder(const std::filesystem::path& folder) {
    engine::SessionOptions options;
    options.folder = folder;
    return options;
}

TEST_F(HistoryTest, ARunFromElsewhereIsEnteredAndShown) {
    const QTemporaryDir other;
    const std::filesystem::path there = other.path().toStdString();
    commands.watchFolder(QString::fromStdString((there / "torch").string()));
    const auto* bar = window->findChild<QFrame*>(u"message"_s);
    EXPECT_TRUE(bar->isVisible()) << "there is no run yet";
    engine::Session session(
        engine::parse_run_config(
            R"({"dataset": {"kind": "spirals", "train_limit": 256}, "model": {"kind": "mlp"},
                "batch_size": 32, "max_steps": 4})")
            .config,
        std::make_shared<engine::ComputeThread>(),
        std::make_shared<engine::RunStore>(there / "runs"), inFolder(there / "torch"));
    session.post(engine::Command::start);
    ASSERT_TRUE(session.wait(300));
    ASSERT_TRUE(QTest::qWaitFor(
        [&] { return feed.tracks().size() == 1 && feed.tracks().front()->rows() == 4; }, 300'000));
    EXPECT_EQ(list->model()->rowCount(), 1);
    EXPECT_TRUE(isShown(0));
}

TEST_F(HistoryTest, TwoDroppedRunsAreOverlaid) {
    keepRuns(3);
    const auto runs = feed.store()->list();
    QMimeData data;
    QList<QUrl> urls;
    for (const auto& run : {runs[0], runs[2]}) {
        std::ofstream(run.folder / "steps.rec");
        urls << QUrl::fromLocalFile(QString::fromStdString(run.folder.string()));
    }
    data.setUrls(urls);
    QDragEnterEvent enter({200, 200}, Qt::CopyAction, &data, Qt::LeftButton, Qt::NoModifier);
    QCoreApplication::sendEvent(window.get(), &enter);
    QDropEvent drop({200, 200}, Qt::CopyAction, &data, Qt::LeftButton, Qt::NoModifier);
    QCoreApplication::sendEvent(window.get(), &drop);
    ASSERT_TRUE(QTest::qWaitFor([&] { return chosen().size() == 2; }, 300'000));
    EXPECT_EQ(chosen(), (std::vector<int>{0, 2}));
}

}  // namespace
}  // namespace ui
