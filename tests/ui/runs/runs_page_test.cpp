// The Runs page in a window: filter, stars, selection and actions.
#include "runs/runs_page.h"

#include <QAbstractItemView>
#include <QCompleter>
#include <QElapsedTimer>
#include <QHeaderView>
#include <QLineEdit>
#include <QMouseEvent>
#include <QPlainTextEdit>
#include <QPushButton>
#include <QTabBar>
#include <QTableView>
#include <fstream>

#include "engine/runs/checkpoint.h"
#include "engine/runs/disk_use.h"
#include "engine/runs/export.h"
#include "models/run_table_model.h"
#include "pages/page_stack.h"
#include "panels/settings/settings_field.h"
#include "runs/run_table.h"
#include "runs/run_table_columns.h"
#include "runs/run_table_delegate.h"
#include "text/format.h"
#include "widgets/choices.h"
#include "window_fixture.h"

namespace ui {
namespace {

using namespace Qt::StringLiterals;

struct RunsPageTest : WindowFixture {
    RunsPageTest() { qputenv("XDG_DATA_HOME", folder.filePath(u"home"_s).toUtf8()); }
    ~RunsPageTest() override { QSettings().clear(); }

    /// A finished run of three steps with this learning rate.
    std::string keepRun(double rate = 0.05, const std::string& group = {}, double accuracy = 0.5) {
        engine::RunConfig config;
        config.optimizer.options["lr"] = rate;
        const auto made = feed.store()->create(engine::completed(config), {}, group);
        feed.store()->append(engine::RunDone{.run = made.run,
                                             .reason = engine::DoneReason::epochs,
                                             .steps = 3,
                                             .updates = 3,
                                             .skipped = 0,
                                             .test = {1, {{"accuracy", accuracy}}},
                                             .wall_s = 1,
                                             .samples_per_s = 1,
                                             .peak_bytes = 1});
        return made.run;
    }
    /// A run that was actually trained and has a record to draw.
    void trainRun(const char* more = "") {
        engine::Session session(
            engine::parse_run_config(
                R"({"dataset": {"kind": "spirals", "train_limit": 256}, "model": {"kind": "mlp"},
                    "batch_size": 32, "max_steps": 4)" +
                std::string(more) + "}")
                .config,
            std::make_shared<engine::ComputeThread>(), feed.store());
        session.post(engine::Command::start);
        ASSERT_TRUE(session.wait(300));
    }
    void open(int count) {
        commands.showPage(u"runs"_s);
        page = window->findChild<RunsPage*>();
        ASSERT_NE(page, nullptr);
        table = page->findChild<RunTable*>();
        filter = page->findChild<QLineEdit*>(u"runFilter"_s);
        ASSERT_TRUE(QTest::qWaitFor(
            [&] { return table->runs()->runCount() == static_cast<std::size_t>(count); }, 300'000));
        standsStill();
    }
    void choose(const std::set<std::string>& runs) { table->select(runs); }
    QPushButton* button(const char* name) const {
        return page->findChild<QPushButton*>(QString::fromLatin1(name));
    }
    QStringList names() const {
        QStringList out;
        for (int row = 0; row < table->model()->rowCount(); ++row)
            out << table->model()->index(row, 0).data().toString();
        return out;
    }
    void type(const QString& text) {
        filter->setText(text);
        QTest::keyClick(filter, Qt::Key_Return);  // applied at once
    }
    template <typename Widget>
    Widget* shown(const char* name) const {
        auto* found = page->findChild<Widget*>(QString::fromLatin1(name));
        return found != nullptr && found->isVisible() ? found : nullptr;
    }
    int tab() const { return window->findChild<PageStack*>()->row()->currentIndex(); }

    RunsPage* page = nullptr;
    RunTable* table = nullptr;
    QLineEdit* filter = nullptr;
};

TEST_F(RunsPageTest, FreesCheckpointsAfterAQuestionAndShowsTheSizeOnDisk) {
    trainRun(R"(, "checkpoint": {"every_steps": 1, "keep": 10, "best": false})");
    open(1);
    const auto folderOfRun = feed.store()->find("1")->folder;
    const auto steps = [&] { return engine::list_checkpoints(folderOfRun).size(); };
    ASSERT_EQ(steps(), 4U);
    const auto size = [&] {
        return table->model()->index(0, table->runs()->columnOf("disk_bytes")).data().toString();
    };
    EXPECT_FALSE(size().isEmpty());
    EXPECT_NE(size(), unmeasured());
    EXPECT_EQ(table->runs()->run(table->model()->index(0, 0))->loss_sketch.size(), 4U);
    choose({"1"});
    button("freeCheckpoints")->click();
    auto* agree = shown<QPushButton>("deleteAgreed");
    ASSERT_NE(agree, nullptr);
    EXPECT_EQ(agree->text(), u"Free"_s);
    EXPECT_EQ(steps(), 4U) << "asks first";
    agree->click();
    EXPECT_TRUE(QTest::qWaitFor(
        [&] { return engine::spare_checkpoints(folderOfRun).count == 0; }, 300'000));
    EXPECT_LE(steps(), 2U);
    button("freeCheckpoints")->click();
    EXPECT_EQ(shown<QPushButton>("deleteAgreed"), nullptr) << "there is nothing left to free";
    button("deleteRuns")->click();
    EXPECT_EQ(shown<QPushButton>("deleteAgreed")->text(), u"Delete"_s);
}

TEST_F(RunsPageTest, AFilterThatIsWrongSaysWhyAndLeavesTheTableAsItIs) {
    keepRun(0.05);
    keepRun(0.1);
    open(2);
    type(u"lr>0.07"_s);
    EXPECT_EQ(names(), QStringList({u"2"_s}));
    type(u"\"Learning rate\"<0.07"_s);
    EXPECT_EQ(names(), QStringList({u"1"_s}));
    type(u"lr>0.07"_s);
    type(u"lr>fast"_s);
    EXPECT_EQ(names(), QStringList({u"2"_s}));
    auto* problem = shown<QLabel>("filterProblem");
    ASSERT_NE(problem, nullptr);
    EXPECT_EQ(problem->text(),
              u"lr>fast: \"Learning rate\" is a number. Write a number right behind "
              "the operator."_s);
    type(u""_s);
    EXPECT_EQ(names().size(), 2);
    EXPECT_EQ(shown<QLabel>("filterProblem"), nullptr);
}

TEST_F(RunsPageTest, TheColumnOfTheStateHoldsWhereARunDiverged) {
    const auto made = feed.store()->create(engine::completed(engine::RunConfig{}));
    feed.store()->append(engine::RunDone{.run = made.run,
                                         .reason = engine::DoneReason::max_steps,
                                         .steps = 20,
                                         .updates = 20,
                                         .skipped = 0,
                                         .test = {},
                                         .wall_s = 1,
                                         .samples_per_s = 1,
                                         .peak_bytes = 1,
                                         .diverged_at = 11});
    open(1);
    const int column = table->runs()->columnOf("state");
    const QString text = table->model()->index(0, column).data().toString();
    EXPECT_EQ(text, u"diverged at step 11"_s);
    constexpr int margins = 12;
    EXPECT_GE(table->columnWidth(column), table->fontMetrics().horizontalAdvance(text) + margins);
}

TEST_F(RunsPageTest, TheFilterCompletesTheFieldOfTheTermAtTheCursor) {
    keepRun();
    open(1);
    filter->setFocus();
    QTest::keyClicks(filter, u"state:done -growth_i"_s);
    auto* completer = filter->findChild<QCompleter*>();
    ASSERT_NE(completer, nullptr);
    ASSERT_EQ(completer->completionCount(), 1);
    EXPECT_EQ(completer->popup()->model()->index(0, 0).data().toString(), u"Growth interval"_s)
        << "by its title";
    emit completer->activated(completer->popup()->model()->index(0, 0));
    EXPECT_EQ(filter->text(), u"state:done -\"Growth interval\""_s);
}

TEST_F(RunsPageTest, AStarIsSetByAClickAndByTheKeyS) {
    keepRun();
    keepRun();
    open(2);
    const QModelIndex first = table->model()->index(0, 0);
    const auto star = RunTableDelegate::star(table->visualRect(first)).center();
    QTest::mouseClick(table->viewport(), Qt::LeftButton, {}, star);
    EXPECT_TRUE(feed.store()->find("2")->starred);
    EXPECT_TRUE(table->model()->index(0, 0).data(RunTableModel::StarRole).toBool());
    choose({"1", "2"});
    table->setFocus();
    QTest::keyClick(table, Qt::Key_S);
    EXPECT_TRUE(feed.store()->find("1")->starred) << "one had none: all get one";
    EXPECT_EQ(table->chosen().size(), 2u) << "they stay selected";
    QTest::keyClick(table, Qt::Key_S);
    EXPECT_FALSE(feed.store()->find("1")->starred);
    EXPECT_FALSE(feed.store()->find("2")->starred);
    EXPECT_FALSE(feed.live()) << "S makes a step elsewhere";
}

TEST_F(RunsPageTest, NameTagsAndNotesOfTheSelectedRunAreEdited) {
    keepRun();
    keepRun();
    open(2);
    choose({"1"});
    auto* title = shown<QLineEdit>("runTitle");
    ASSERT_NE(title, nullptr);
    title->setFocus();
    QTest::keyClicks(title, u"first try"_s);
    QTest::keyClick(title, Qt::Key_Return);
    EXPECT_EQ(feed.store()->find("1")->title, "first try");
    EXPECT_EQ(names().last(), u"1  first try"_s);
    shown<QLineEdit>("runTags")->setText(u"a, b"_s);
    shown<QPlainTextEdit>("runNotes")->setPlainText(u"two\nlines"_s);
    choose({"2"});
    EXPECT_EQ(feed.store()->find("1")->tags, "a, b") << "what was typed goes to its run";
    EXPECT_EQ(feed.store()->find("1")->notes, "two\nlines");
    EXPECT_EQ(feed.store()->find("2")->tags, "");
    EXPECT_EQ(shown<QLineEdit>("runTitle")->text(), QString());
    choose({"1"});
    EXPECT_EQ(shown<QPlainTextEdit>("runNotes")->toPlainText(), u"two\nlines"_s);
}

TEST_F(RunsPageTest, SeveralRunsShowWhatDiffersBetweenThem) {
    keepRun(0.05);
    keepRun(0.1);
    open(2);
    choose({"1", "2"});
    EXPECT_EQ(shown<QLineEdit>("runTitle"), nullptr);
    auto* differences = shown<QTableView>("differences");
    ASSERT_NE(differences, nullptr);
    QStringList first;
    for (int row = 0; row < differences->model()->rowCount(); ++row)
        first << differences->model()->index(row, 0).data().toString();
    EXPECT_TRUE(first.contains(u"Learning rate"_s));
    EXPECT_FALSE(first.contains(u"batch_size"_s));
    EXPECT_FALSE(button("openRun")->isEnabled());
    EXPECT_FALSE(button("openRun")->toolTip().isEmpty());
    EXPECT_TRUE(button("overlayRuns")->isEnabled());
}

TEST_F(RunsPageTest, OpenAndOverlayShowTheRunsOnThePlots) {
    for (int i = 0; i < 3; ++i) trainRun();
    open(3);
    choose({"2"});
    table->setFocus();
    QTest::keyClick(table, Qt::Key_Return);
    ASSERT_EQ(feed.tracks().size(), 1u);
    EXPECT_EQ(feed.tracks().front()->run(), "2");
    EXPECT_EQ(tab(), 0);
    commands.showPage(u"runs"_s);
    choose({"1", "3"});
    button("overlayRuns")->click();
    ASSERT_EQ(feed.tracks().size(), 2u);
    EXPECT_EQ(feed.tracks().front()->run(), "1") << "the oldest is the baseline";
    EXPECT_EQ(tab(), 0);
}

TEST_F(RunsPageTest, RunAgainPutsTheSettingsIntoThePanelAndTheFocusThere) {
    keepRun(0.125);
    open(1);
    choose({"1"});
    button("repeatRun")->click();
    EXPECT_EQ(engine::setting_text(settings.config(), "optimizer.lr"), "0.125");
    bool inside = false;
    for (QWidget* widget = window->focusWidget(); widget != nullptr;
         widget = widget->parentWidget()) {
        const auto* field = qobject_cast<const SettingsField*>(widget);
        inside = inside || (field != nullptr && field->path() == u"optimizer.lr"_s);
    }
    EXPECT_TRUE(inside);
}

TEST_F(RunsPageTest, DeletesIntoTheTrashOnceTheUserAgreed) {
    keepRun();
    keepRun();
    const auto gone = feed.store()->find("1")->folder;
    open(2);
    choose({"1"});
    table->setFocus();
    QTest::keyClick(table, Qt::Key_Delete);
    ASSERT_NE(shown<QLabel>("deleteQuestion"), nullptr);
    EXPECT_TRUE(std::filesystem::exists(gone));
    QTest::keyClick(window->focusWidget(), Qt::Key_Escape);
    EXPECT_EQ(shown<QLabel>("deleteQuestion"), nullptr);
    EXPECT_TRUE(feed.store()->find("1").has_value());
    QTest::keyClick(table, Qt::Key_Delete);
    button("deleteAgreed")->click();
    ASSERT_TRUE(QTest::qWaitFor([&] { return table->model()->rowCount() == 1; }, 300'000));
    EXPECT_FALSE(std::filesystem::exists(gone));
    EXPECT_TRUE(QFileInfo::exists(folder.filePath(u"home/Trash/files/1/config.json"_s)));
}

TEST_F(RunsPageTest, ARunThatTrainsShowsItsStepsAndCannotBeDeleted) {
    settings.load(engine::parse_run_config(
                      R"({"dataset": {"kind": "spirals", "train_limit": 256}, "model":
                          {"kind": "mlp"}, "batch_size": 32, "epochs": 100000})")
                      .config,
                  {u"fp32"_s, u"amp-fp16"_s});
    commands.compare();
    ASSERT_TRUE(QTest::qWaitFor(
        [&] { return feed.tracks().size() == 2 && feed.tracks()[1]->rows() > 3; }, 300'000));
    open(2);
    auto* grouped = page->findChild<CheckBox*>();
    EXPECT_TRUE(grouped->isChecked()) << "a comparison is one object";
    grouped->setChecked(false);
    const int steps = table->runs()->columnOf("steps");
    ASSERT_GT(steps, 0);
    const auto cell = [&] { return table->model()->index(0, steps).data().toString(); };
    const QString before = cell();
    EXPECT_TRUE(QTest::qWaitFor([&] { return cell() != before; }, 300'000))
        << "its figures are live";
    choose({"2"});
    table->setFocus();
    QTest::keyClick(table, Qt::Key_Delete);
    ASSERT_NE(shown<QLabel>("deleteQuestion"), nullptr);
    EXPECT_EQ(shown<QLabel>("deleteQuestion")->text(),
              u"Run 2 is being trained. Stop it before you delete it."_s);
    EXPECT_FALSE(button("deleteAgreed")->isVisible());
    EXPECT_FALSE(button("resumeRun")->isEnabled());
    grouped->setChecked(true);
    ASSERT_EQ(table->model()->rowCount(), 1) << "the runs of a comparison are one group";
    EXPECT_TRUE(table->isExpanded(table->model()->index(0, 0)));
    choose({"1"});
    EXPECT_EQ(table->chosen().size(), 1u);
    commands.stop();
    ASSERT_TRUE(QTest::qWaitFor([&] { return feed.state() == engine::RunState::done; }, 300'000));
}

TEST_F(RunsPageTest, ARunOfAnotherProgramAppears) {
    keepRun();
    open(1);
    engine::RunStore other(folder.path().toStdString());
    other.create({});
    EXPECT_TRUE(QTest::qWaitFor([&] { return table->runs()->runCount() == 2; }, 300'000));
}

TEST_F(RunsPageTest, SortsByAClickOnAHeadAndRemembersColumnsAndOrder) {
    keepRun(0.05, {}, 0.9);
    keepRun(0.1, {}, 0.4);
    open(2);
    QMenu menu;
    table->columns()->fillMenu(&menu);
    QAction* rate = nullptr;
    for (auto* each : menu.findChildren<QAction*>()) {
        if (each->data().toString() == u"optimizer.lr"_s) rate = each;
    }
    ASSERT_NE(rate, nullptr);
    EXPECT_FALSE(rate->isChecked());
    rate->setChecked(true);
    const int column = table->runs()->columnOf("optimizer.lr");
    ASSERT_GT(column, 0);
    const int metric = table->runs()->columnOf("test_metric");
    emit table->header()->sectionClicked(metric);
    EXPECT_EQ(names(), QStringList({u"1"_s, u"2"_s})) << "the best first";
    emit table->header()->sectionClicked(metric);
    EXPECT_EQ(names(), QStringList({u"2"_s, u"1"_s}));
    RunTable again(context);
    EXPECT_EQ(again.runs()->columnOf("optimizer.lr"), column);
    EXPECT_EQ(again.runs()->sortField(), "test_metric");
    EXPECT_EQ(again.runs()->sortOrder(), Qt::AscendingOrder);
}

TEST_F(RunsPageTest, ADroppedRunIsImported) {
    keepRun(0.05, "a-group");
    const QString file = folder.filePath(u"mine.halftone"_s);
    engine::export_run_file(feed.store()->find("1")->folder, file.toStdString());
    open(1);
    commands.openPath(file);
    EXPECT_TRUE(QTest::qWaitFor([&] { return table->runs()->runCount() == 2; }, 300'000));
    EXPECT_TRUE(feed.store()->find("2").has_value());
    EXPECT_TRUE(window->findChild<QFrame*>(u"message"_s)->isVisible()) << "it says so";
}

TEST_F(RunsPageTest, SlashGoesToTheFilterAndDownBackToTheTable) {
    keepRun();
    open(1);
    table->setFocus();
    QTest::keyClick(table, Qt::Key_Slash);
    EXPECT_TRUE(filter->hasFocus());
    QTest::keyClick(filter, Qt::Key_Down);
    EXPECT_TRUE(table->hasFocus());
}

/// C18: the list of completions lies over the buttons below the filter.
TEST_F(RunsPageTest, AClickBesideTheCompletionsReachesWhatLiesThere) {
    keepRun();
    open(1);
    filter->setFocus();
    QTest::keyClicks(filter, u"growth"_s);
    auto* popup = filter->findChild<QCompleter*>()->popup();
    ASSERT_TRUE(popup->isVisible());
    auto* box = page->findChild<QCheckBox*>();
    ASSERT_NE(box, nullptr);
    const bool was = box->isChecked();
    const QPointF global = box->mapToGlobal(QPointF(8, box->height() / 2));
    QMouseEvent press(QEvent::MouseButtonPress, popup->mapFromGlobal(global), global,
                      Qt::LeftButton, Qt::LeftButton, Qt::NoModifier);
    QCoreApplication::sendEvent(popup, &press);
    EXPECT_FALSE(popup->isVisible());
    EXPECT_NE(box->isChecked(), was);
}

}  // namespace
}  // namespace ui
