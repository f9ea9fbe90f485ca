// Files that the Lab opens, and files that it writes.
#include <QDesktopServices>
#include <QDropEvent>
#include <QMimeData>

#include "lesson_view_fixture.h"
#include "window/message_bar.h"

namespace ui {
namespace {

using namespace Qt::StringLiterals;
using test_support::number_lesson;
using test_support::small_lesson;

/// Replaces the system's editor.
class Editor final : public QObject {
    Q_OBJECT
public:
    Editor() { QDesktopServices::setUrlHandler(u"file"_s, this, "open"); }
    ~Editor() override { QDesktopServices::unsetUrlHandler(u"file"_s); }
    QUrl opened;
public slots:
    void open(const QUrl& url) { opened = url; }
};

struct LessonViewFilesTest : LessonViewTest {
    QPushButton* button(const QString& text) const {
        for (auto* each : window->findChildren<QPushButton*>())
            if (each->text() == text) return each;
        return nullptr;
    }
    bool holds(const QString& name) const {
        const auto entries = view->model()->entries();
        return std::ranges::find(entries, name, &LessonEntry::name) != entries.end();
    }
};

TEST_F(LessonViewFilesTest, ADroppedLessonIsShown) {
    commands.showPage(u"training"_s);
    QMimeData mime;
    mime.setUrls({QUrl::fromLocalFile(writeLesson(data, u"dropped"_s, number_lesson()))});
    QDragEnterEvent enter({200, 200}, Qt::CopyAction, &mime, Qt::LeftButton, Qt::NoModifier);
    QCoreApplication::sendEvent(window.get(), &enter);
    EXPECT_TRUE(enter.isAccepted());
    QDropEvent drop({200, 200}, Qt::CopyAction, &mime, Qt::LeftButton, Qt::NoModifier);
    QCoreApplication::sendEvent(window.get(), &drop);
    EXPECT_TRUE(view->isVisible());
    EXPECT_EQ(view->model()->name(), u"dropped"_s);
}

TEST_F(LessonViewFilesTest, AFolderOfLessonsShowsItsFirstOneAndListsAll) {
    const QTemporaryDir course;
    writeLesson(course, u"a"_s, number_lesson());
    writeLesson(course, u"b"_s, small_lesson());
    commands.openPath(course.path());
    EXPECT_EQ(view->model()->name(), u"a"_s);
    EXPECT_TRUE(holds(u"b"_s));
    EXPECT_TRUE(holds(u"underflow"_s)) << "the built-in ones stay";
}

TEST_F(LessonViewFilesTest, KeepPutsTheRunsIntoTheHistory) {
    auto* keep = button(u"Keep"_s);
    ASSERT_NE(keep, nullptr);
    EXPECT_FALSE(keep->isEnabled());
    ASSERT_TRUE(run());
    EXPECT_TRUE(feed.store()->list().empty());
    keep->click();
    EXPECT_FALSE(keep->isEnabled()) << "once is enough";
    ASSERT_TRUE(QTest::qWaitFor([&] { return feed.store()->list().size() == 2; }, patience));
    for (const auto& kept : feed.store()->list()) EXPECT_EQ(kept.steps, 40);
    view->model()->reset();
    EXPECT_EQ(feed.store()->list().size(), 2u) << "they outlive the lesson's runs";
}

TEST_F(LessonViewFilesTest, OpenInTrainingTakesTheSettingsOfTheRun) {
    ASSERT_TRUE(run());
    view->model()->runs()->setKnob(u"optimizer.lr"_s, u"0.07"_s);
    ASSERT_TRUE(QTest::qWaitFor([&] { return view->model()->ended(); }, patience));
    button(u"Open in Training"_s)->click();
    EXPECT_FALSE(view->isVisible());
    EXPECT_EQ(settings.text(u"optimizer.lr"_s), u"0.07"_s);
    EXPECT_EQ(settings.text(u"scaler.init_scale"_s).toDouble(), 16777216);
    EXPECT_EQ(settings.text(u"dataset.kind"_s).remove(u'"'), u"spirals"_s);
}

TEST_F(LessonViewFilesTest, EditOpensTheFileInTheSystemsEditor) {
    Editor editor;
    for (auto* each : window->findChildren<QToolButton*>())
        if (each->text() == u"Edit"_s) each->click();
    EXPECT_EQ(editor.opened, QUrl::fromLocalFile(data.filePath(u"small.lesson.md"_s)));
}

TEST_F(LessonViewFilesTest, EditSaysWhereTheFileIsIfNothingOpensIt) {
    for (auto* each : window->findChildren<QToolButton*>())
        if (each->text() == u"Edit"_s) each->click();
    const auto* bar = window->findChild<MessageBar*>();
    ASSERT_TRUE(bar->isVisible()) << "this platform has no editor";
    const auto labels = bar->findChildren<QLabel*>();
    EXPECT_TRUE(std::ranges::any_of(
        labels, [](const QLabel* label) { return label->text().contains(u"small.lesson.md"_s); }));
}

TEST_F(LessonViewFilesTest, AChangedFileIsReloadedAndTheAnswersStay) {
    view->column()->questions()[0]->choose(2);
    auto* reload = button(u"Reload"_s);
    ASSERT_NE(reload, nullptr);
    EXPECT_FALSE(reload->isVisible());
    writeLesson(data, u"small"_s, small_lesson("Another title"));
    ASSERT_TRUE(QTest::qWaitFor([&] { return reload->isVisible(); }, 300'000));
    reload->click();
    EXPECT_FALSE(reload->isVisible());
    EXPECT_EQ(view->model()->lesson()->title, "Another title");
    EXPECT_EQ(view->column()->questions()[0]->guess().key, u"worse"_s);
}

}  // namespace
}  // namespace ui

#include "lesson_view_files_test.moc"
