#include "network/network_editor.h"

#include "network/network_line_edits.h"

#include <gtest/gtest.h>

#include <QDragEnterEvent>
#include <QMimeData>
#include <QTest>
#include <QUrl>
#include <algorithm>
#include <cstdio>
#include <ctime>

#include "network/network_model.h"
#include "theme/theme.h"

namespace ui {
namespace {

struct NetworkEditorTest : testing::Test {
    Theme theme{Theme::Choice::light};
    NetworkModel model{{}, nullptr};
    NetworkEditor editor{&theme, &model, nullptr};

    void begin(const QString& text) {
        model.setText(text);
        editor.resize(600, 400);
        editor.show();
        ASSERT_TRUE(settles());
    }
    bool settles() {
        return QTest::qWaitFor([this] { return !model.isChecking() && model.now().text == model.text(); }, 30'000);
    }
};

TEST_F(NetworkEditorTest, ANewLineBeginsBelowTheOneAboveItAndDeeperBehindAHead) {
    begin(u"network(image):"_s);
    editor.moveCursor(QTextCursor::End);
    QTest::keyClick(&editor, Qt::Key_Return);
    QTest::keyClicks(&editor, u"Flatten"_s);
    QTest::keyClick(&editor, Qt::Key_Return);
    QTest::keyClicks(&editor, u"fc: Linear(outputs)"_s);
    EXPECT_EQ(model.text(), u"network(image):\n  Flatten\n  fc: Linear(outputs)"_s);
}

TEST_F(NetworkEditorTest, TabIndentsAndASlashComments) {
    begin(u"network(image):\n  Flatten\n  fc: Linear(outputs)"_s);
    editor.goTo(2);
    editor.moveCursor(QTextCursor::End, QTextCursor::KeepAnchor);
    const QString before = model.text();
    QTest::keyClick(&editor, Qt::Key_Tab);
    EXPECT_EQ(model.text(), u"network(image):\n    Flatten\n    fc: Linear(outputs)"_s);
    QTest::keyClick(&editor, Qt::Key_Backtab);
    EXPECT_EQ(model.text(), before);
    QTest::keyClick(&editor, Qt::Key_Slash, Qt::ControlModifier);
    EXPECT_EQ(model.text(), u"network(image):\n  # Flatten\n  # fc: Linear(outputs)"_s);
    QTest::keyClick(&editor, Qt::Key_Slash, Qt::ControlModifier);
    EXPECT_EQ(model.text(), before);
    QTest::keyClick(&editor, Qt::Key_Z, Qt::ControlModifier);
    EXPECT_EQ(model.text(), u"network(image):\n  # Flatten\n  # fc: Linear(outputs)"_s);
}

TEST_F(NetworkEditorTest, KeysGoThroughTheFaultsAndRepairThem) {
    begin(u"network(image):\n  Flaten\n  fc: Liner(outputs)"_s);
    ASSERT_EQ(model.faults().size(), 2u);
    editor.goTo(1);
    editor.goToFault(true);
    EXPECT_EQ(editor.currentLine(), 2);
    editor.goToFault(true);
    EXPECT_EQ(editor.currentLine(), 3);
    editor.goToFault(true);
    EXPECT_EQ(editor.currentLine(), 2);
    editor.goToFault(false);
    EXPECT_EQ(editor.currentLine(), 3);
    editor.replaceAtCursor();
    ASSERT_TRUE(settles());
    EXPECT_TRUE(model.text().endsWith(u"fc: Linear(outputs)"_s));
    EXPECT_EQ(model.faults().size(), 1u);
}

TEST_F(NetworkEditorTest, AFoldedBodyIsOneRow) {
    begin(u"network(image):\n  side:\n    ReLU\n    ReLU\n  Flatten\n  fc: Linear(outputs)"_s);
    const auto lines = [this] {
        std::vector<int> out;
        editor.visitLines([&](int line, const QRect&) { out.push_back(line); });
        return out;
    };
    EXPECT_EQ(lines(), (std::vector<int>{1, 2, 3, 4, 5, 6}));
    editor.goTo(3);
    editor.fold(2, true);
    EXPECT_TRUE(editor.isFolded(2));
    EXPECT_EQ(lines(), (std::vector<int>{1, 2, 5, 6}));
    EXPECT_EQ(editor.currentLine(), 2);
    editor.goTo(4);
    EXPECT_FALSE(editor.isFolded(2));
    EXPECT_EQ(editor.currentLine(), 4);
}

TEST_F(NetworkEditorTest, ABodyWhoseHeadBecomesACommentIsInViewAgain) {
    begin(u"network(image):\n  side:\n    ReLU\n    ReLU\n  Flatten\n  fc: Linear(outputs)"_s);
    editor.fold(2, true);
    editor.goTo(2);
    QTest::keyClick(&editor, Qt::Key_Slash, Qt::ControlModifier);
    ASSERT_TRUE(settles());
    std::vector<int> lines;
    editor.visitLines([&](int line, const QRect&) { lines.push_back(line); });
    EXPECT_EQ(lines, (std::vector<int>{1, 2, 3, 4, 5, 6}));
}

TEST_F(NetworkEditorTest, EnterEndsALineAndTakesNoWordThatWasNotAskedFor) {
    begin(u"network(image):\n  "_s);
    editor.setFocus();
    editor.moveCursor(QTextCursor::End);
    QTest::keyClicks(&editor, u"ReLU"_s);
    QTest::keyClick(&editor, Qt::Key_Return);
    EXPECT_EQ(model.text(), u"network(image):\n  ReLU\n  "_s);
    QTest::keyClicks(&editor, u"ReLU"_s);
    QTest::keyClick(&editor, Qt::Key_Tab);
    EXPECT_EQ(model.text(), u"network(image):\n  ReLU\n  ReLU6"_s);
}

TEST_F(NetworkEditorTest, LeavesADroppedFileToTheWindow) {
    begin(u"network(image):\n  Flatten"_s);
    const auto isTaken = [this](const QMimeData& data) {
        QDragEnterEvent enter(QPoint(60, 10), Qt::CopyAction, &data, Qt::LeftButton, Qt::NoModifier);
        enter.setAccepted(false);
        QCoreApplication::sendEvent(editor.viewport(), &enter);
        return enter.isAccepted();
    };
    QMimeData words, file;
    words.setText(u"  ReLU"_s);
    file.setUrls({QUrl::fromLocalFile(u"/a/b.network"_s)});
    EXPECT_TRUE(isTaken(words));
    EXPECT_FALSE(isTaken(file));
}

TEST_F(NetworkEditorTest, ATemplateCannotBeChanged) {
    begin(u"network(image):\n  Flatten"_s);
    model.setReadOnly(true);
    QTest::keyClicks(&editor, u"x"_s);
    QTest::keyClick(&editor, Qt::Key_Slash, Qt::ControlModifier);
    indentLines(editor, true);
    EXPECT_EQ(model.text(), u"network(image):\n  Flatten"_s);
}

/// Keys arrive at once however long the text is, and its check waits for a pause. Each key is
/// painted.
TEST_F(NetworkEditorTest, TypingIntoALongTextIsImmediateAndIsTakenBack) {
    QString text = u"network(image):\n"_s;
    for (int i = 0; i < 996; ++i) text += u"  c%1: Conv2d(8, 3, padding=1)\n"_s.arg(i);
    text += u"  AdaptiveAvgPool2d(1)\n  Flatten\n  fc: Linear(outputs)\n"_s;
    begin(text);
    editor.goTo(500);
    editor.moveCursor(QTextCursor::EndOfLine);
    const QString typed = QString(u"  # a comment of two hundred characters"_s).repeated(6).left(200);
    // Time of this thread: others may use the processor.
    const auto now = [] {
        timespec time{};
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
        return static_cast<long long>(time.tv_sec) * 1'000'000 + time.tv_nsec / 1000;
    };
    std::vector<long long> times;
    for (const QChar each : typed) {
        const long long before = now();
        QTest::keyClicks(&editor, each);
        QCoreApplication::processEvents();
        times.push_back(now() - before);
    }
    std::ranges::sort(times);
    RecordProperty("median_us", std::to_string(times[times.size() / 2]));
    RecordProperty("slowest_us", std::to_string(times.back()));
    std::printf("a key: median %lld us, slowest %lld us\n", times[times.size() / 2], times.back());
    EXPECT_LT(times[times.size() / 2], 50'000);
    EXPECT_TRUE(model.text().contains(typed));
    ASSERT_TRUE(settles());
    EXPECT_FALSE(model.isStale());
    for (int i = 0; i < 200 && model.document()->isUndoAvailable(); ++i) model.document()->undo();
    EXPECT_EQ(model.text(), text);
    for (int i = 0; i < 200 && model.document()->isRedoAvailable(); ++i) model.document()->redo();
    EXPECT_TRUE(model.text().contains(typed));
}

}  // namespace
}  // namespace ui
