#include "widgets/key_rule.h"

#include <gtest/gtest.h>

#include <QAction>
#include <QCheckBox>
#include <QComboBox>
#include <QLineEdit>
#include <QPlainTextEdit>
#include <QPushButton>
#include <QScrollArea>
#include <QScrollBar>
#include <QSignalSpy>
#include <QSpinBox>
#include <QTest>
#include <QVBoxLayout>
#include <QWheelEvent>

namespace ui {
namespace {

using namespace Qt::StringLiterals;

/// A window that counts the keys that come to it.
struct Claiming : QWidget {
    void keyPressEvent(QKeyEvent* event) override { keys << event->key(); }
    QList<int> keys;
};

struct KeyRuleTest : testing::Test {
    KeyRuleTest() : column(&window) {
        for (QWidget* each : std::initializer_list<QWidget*>{&text, &number, &spin, &button, &box,
                                                             &list, &notes, &plain})
            column.addWidget(each);
        number.setInputMethodHints(Qt::ImhFormattedNumbersOnly);
        list.addItems({u"a"_s, u"b"_s});
        plain.setFocusPolicy(Qt::StrongFocus);
        pause = command(Qt::Key_Space);
        step = command(Qt::Key_S);
        run = command(Qt::CTRL | Qt::Key_Return);
        window.show();
        EXPECT_TRUE(QTest::qWaitForWindowActive(&window));
    }
    QAction* command(const QKeySequence& key) {
        auto* made = new QAction(&window);
        made->setShortcut(key);
        window.addAction(made);
        return made;
    }
    /// How often the command was given by a key into the widget.
    int given(QAction* command, QWidget* to, Qt::Key key, Qt::KeyboardModifiers with = {}) {
        const QSignalSpy spy(command, &QAction::triggered);
        to->setFocus();
        QTest::keyClick(to, key, with);
        return static_cast<int>(spy.size());
    }

    KeyRule rule;
    QWidget window;
    QVBoxLayout column;
    QLineEdit text, number;
    QSpinBox spin;
    QPushButton button{u"press"_s};
    QCheckBox box{u"on"_s};
    QComboBox list;
    QPlainTextEdit notes;
    QWidget plain;
    QAction* pause;
    QAction* step;
    QAction* run;
};

TEST_F(KeyRuleTest, SpaceTypesPressesOrIsTheWindows) {
    EXPECT_EQ(given(pause, &text, Qt::Key_Space), 0);
    EXPECT_EQ(text.text(), u" "_s);
    EXPECT_EQ(given(pause, &notes, Qt::Key_Space), 0);
    EXPECT_EQ(notes.toPlainText(), u" "_s);
    const QSignalSpy pressed(&button, &QPushButton::clicked);
    EXPECT_EQ(given(pause, &button, Qt::Key_Space), 0);
    EXPECT_EQ(pressed.size(), 1);
    EXPECT_EQ(given(pause, &box, Qt::Key_Space), 0);
    EXPECT_TRUE(box.isChecked());
    for (QWidget* each : {static_cast<QWidget*>(&number), static_cast<QWidget*>(&spin), &plain})
        EXPECT_EQ(given(pause, each, Qt::Key_Space), 1);
    EXPECT_TRUE(number.text().isEmpty());
    text.setReadOnly(true);
    EXPECT_EQ(given(pause, &text, Qt::Key_Space), 1) << "nothing is typed there";
    setPressedBySpace(&plain);
    EXPECT_EQ(given(pause, &plain, Qt::Key_Space), 0);
}

TEST_F(KeyRuleTest, ANumberTakesNoLettersAndNoCommandFromThem) {
    EXPECT_EQ(given(step, &number, Qt::Key_S), 0);
    EXPECT_EQ(given(step, &spin, Qt::Key_S), 0);
    QTest::keyClicks(&number, u"a-1.5e-3b"_s);
    EXPECT_EQ(number.text(), u"-1.5e-3"_s);
    EXPECT_EQ(given(step, &plain, Qt::Key_S), 1);
    EXPECT_EQ(given(step, &text, Qt::Key_S), 0);
    EXPECT_EQ(text.text(), u"s"_s);
}

TEST_F(KeyRuleTest, ReturnPressesTheButtonAndCtrlReturnOnlyRuns) {
    const QSignalSpy pressed(&button, &QPushButton::clicked);
    button.setFocus();
    QTest::keyClick(&button, Qt::Key_Return);
    QTest::keyClick(&button, Qt::Key_Enter, Qt::KeypadModifier);
    EXPECT_EQ(pressed.size(), 2);
    for (QWidget* each : {static_cast<QWidget*>(&button), static_cast<QWidget*>(&text),
                          static_cast<QWidget*>(&notes), &plain})
        EXPECT_EQ(given(run, each, Qt::Key_Return, Qt::ControlModifier), 1);
    run->setEnabled(false);
    button.setAutoDefault(true);
    EXPECT_EQ(given(run, &button, Qt::Key_Return, Qt::ControlModifier), 0);
    EXPECT_EQ(pressed.size(), 2) << "what may not run presses nothing in its place";
}

TEST_F(KeyRuleTest, AWindowGetsItsKeysWhereverTheFocusIs) {
    Claiming projector;
    auto* inside = new QVBoxLayout(&projector);
    auto* field = new QPlainTextEdit;
    auto* hands = new QSpinBox;
    inside->addWidget(field);
    inside->addWidget(hands);
    claimKeys(&projector, {Qt::Key_PageDown, Qt::CTRL | Qt::Key_Return});
    projector.show();
    for (QWidget* each : std::initializer_list<QWidget*>{field, hands, &projector})
        QTest::keyClick(each, Qt::Key_PageDown);
    EXPECT_EQ(projector.keys, QList<int>({Qt::Key_PageDown, Qt::Key_PageDown, Qt::Key_PageDown}));
    EXPECT_EQ(hands->value(), 0);
    QTest::keyClick(field, Qt::Key_Return, Qt::ControlModifier);
    EXPECT_TRUE(projector.keys.contains(int(Qt::Key_Return)));
    projector.keys.clear();
    QTest::keyClick(field, Qt::Key_PageUp);
    EXPECT_TRUE(projector.keys.isEmpty());
}

TEST_F(KeyRuleTest, UndoIsTheWindowsOnceALineHasNothingToTakeBack) {
    auto* undo = command(QKeySequence::Undo);
    EXPECT_EQ(given(undo, &text, Qt::Key_Z, Qt::ControlModifier), 1);
    QTest::keyClicks(&text, u"ab"_s);
    EXPECT_EQ(given(undo, &text, Qt::Key_Z, Qt::ControlModifier), 0);
    EXPECT_TRUE(text.text().isEmpty());
}

TEST_F(KeyRuleTest, TheWheelScrollsPastWhatNobodyIsSetting) {
    QScrollArea area;
    auto* inside = new QWidget;
    auto* rows = new QVBoxLayout(inside);
    auto* choice = new QComboBox;
    choice->addItems({u"a"_s, u"b"_s, u"c"_s});
    auto* plot = new QWidget;
    setWheelScrolls(plot);
    rows->addWidget(choice);
    rows->addWidget(plot);
    inside->setMinimumHeight(2000);
    area.setWidget(inside);
    area.resize(200, 200);
    area.show();
    const auto turn = [&](QWidget* over) {
        QWheelEvent event(QPointF(5, 5), over->mapToGlobal(QPointF(5, 5)), {}, {0, -120},
                          Qt::NoButton, Qt::NoModifier, Qt::NoScrollPhase, false);
        QSpontaneKeyEvent::setSpontaneous(&event);  // others do not go to what is around
        qApp->notify(over, &event);
        return area.verticalScrollBar()->value();
    };
    const int first = turn(choice);
    EXPECT_GT(first, 0);
    EXPECT_EQ(choice->currentIndex(), 0);
    EXPECT_GT(turn(plot), first);
}

}  // namespace
}  // namespace ui
