#include "lab/lesson_page/hand_in_dialog.h"

#include <QLabel>
#include <QLineEdit>
#include <QTableWidget>
#include <fstream>

#include "lab/lesson_page/class_dialog.h"
#include "lesson_view_fixture.h"

namespace ui {
namespace {

using namespace Qt::StringLiterals;

struct HandInTest : LessonViewTest {
    /// Answers the small lesson and hands in under this name.
    QString handIn(const QString& name, int choice, bool folder = true) {
        view->model()->reset();
        view->column()->questions()[0]->choose(choice);
        HandInDialog dialog(view->model());
        dialog.setAttribute(Qt::WA_DeleteOnClose, false);
        dialog.findChild<QLineEdit*>()->setText(name);
        const auto labels = dialog.findChildren<QLabel*>();
        EXPECT_TRUE(std::ranges::any_of(labels, [](const QLabel* label) {
            return label->text().startsWith(u"Answers: 1, lessons: 1."_s);
        }));
        dialog.handIn(folder ? shared.path() : shared.filePath(u"mine.json"_s), folder);
        const auto* said = dialog.findChild<QLabel*>(u"handedIn"_s);
        EXPECT_EQ(said->text(), u"Handing in…"_s) << "off the window's thread";
        EXPECT_TRUE(
            QTest::qWaitFor([said] { return !said->text().startsWith(u"Handing"_s); }, 300'000));
        return said->text();
    }
    QStringList files() const { return QDir(shared.path()).entryList(QDir::Files, QDir::Name); }
    QTemporaryDir shared;
};

TEST_F(HandInTest, AnswersGoIntoTheFolderOfTheClassAndAreCollectedThere) {
    ASSERT_NE(view, nullptr);
    EXPECT_TRUE(handIn(u"Ada"_s, 1).contains(u"Ada.json"_s));
    EXPECT_TRUE(handIn(u"Bo/b"_s, 2).contains(u"Bo-b.json"_s));
    handIn(u"Ada"_s, 2);  // once more: it replaces the first
    EXPECT_EQ(files(), QStringList({u"Ada.json"_s, u"Bo-b.json"_s}));
    std::ofstream(shared.filePath(u"broken.json"_s).toStdString()) << "{";
    ClassDialog all(shared.path(), *view->model()->shelf());
    all.setAttribute(Qt::WA_DeleteOnClose, false);
    const auto* table = all.findChild<QTableWidget*>();
    ASSERT_EQ(table->rowCount(), 1);
    EXPECT_EQ(table->item(0, 1)->text(), view->model()->questions()[0].text);
    EXPECT_EQ(table->item(0, 2)->text(), u"2"_s);
    EXPECT_TRUE(all.findChild<QLabel*>(u"unreadAnswers"_s)->text().contains(u"broken.json"_s));
}

TEST_F(HandInTest, TheTableOfAClassIsSavedAndSaysSo) {
    ASSERT_NE(view, nullptr);
    handIn(u"Ada"_s, 1);
    ClassDialog all(shared.path(), *view->model()->shelf());
    all.setAttribute(Qt::WA_DeleteOnClose, false);
    const auto* said = all.findChild<QLabel*>(u"savedAnswers"_s);
    const QString file = shared.filePath(u"all.csv"_s);
    all.saveCsv(file);
    EXPECT_TRUE(QTest::qWaitFor([&] { return said->text().contains(file); }, 300'000));
    EXPECT_TRUE(QFile::exists(file));
    all.saveCsv(u"/no/such/folder/all.csv"_s);
    EXPECT_TRUE(
        QTest::qWaitFor([&] { return said->text().contains(u"/no/such/folder"_s); }, 300'000));
}

TEST_F(HandInTest, AFileOfAnotherLearnerStays) {
    ASSERT_NE(view, nullptr);
    std::ofstream(shared.filePath(u"Ada.json"_s).toStdString()) << "something else";
    EXPECT_TRUE(handIn(u"Ada"_s, 1).contains(u"Ada-2.json"_s));
    handIn(u"Ada"_s, 1, false);
    EXPECT_EQ(files(), QStringList({u"Ada-2.json"_s, u"Ada.json"_s, u"mine.json"_s}));
}

TEST_F(HandInTest, ItNeedsANameAndAFolder) {
    ASSERT_NE(view, nullptr);
    EXPECT_FALSE(handIn({}, 1).isEmpty());
    EXPECT_TRUE(files().isEmpty());
    EXPECT_THROW(ClassDialog(u"/no/such/folder"_s, *view->model()->shelf()), engine::Error);
}

}  // namespace
}  // namespace ui
