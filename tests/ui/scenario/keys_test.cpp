// The rule for keys on every page of the window: what Space, Return and Ctrl+Return do wherever the
// focus is.
#include <QAbstractButton>
#include <QComboBox>
#include <QKeyEvent>
#include <QLineEdit>
#include <QPlainTextEdit>
#include <QPointer>
#include <QPushButton>
#include <QSignalSpy>
#include <QSpinBox>
#include <QTextEdit>
#include <QToolButton>

#include "pages/page_stack.h"
#include "panels/settings/settings_field.h"
#include "widgets/key_rule.h"
#include "window_fixture.h"

namespace ui {
namespace {

using namespace Qt::StringLiterals;

struct KeysTest : WindowFixture {
    /// A finished run on screen, without which some pages do not open.
    void train() {
        settings.load(engine::parse_run_config(
                          R"({"dataset": {"kind": "spirals", "train_limit": 64},
                              "model": {"kind": "mlp"}, "batch_size": 32, "max_steps": 2})")
                          .config);
        commands.start();
        ASSERT_TRUE(
            QTest::qWaitFor([&] { return feed.state() == engine::RunState::done; }, 300'000));
    }
    /// The widgets that Tab reaches in `of`.
    static std::vector<QPointer<QWidget>> focusable(const QWidget* of) {
        std::vector<QPointer<QWidget>> out;
        for (auto* widget : of->findChildren<QWidget*>()) {
            if (widget->isVisible() && (widget->focusPolicy() & Qt::TabFocus) != 0)
                out.emplace_back(widget);
        }
        return out;
    }
    /// Whether the widget keeps the key from the window's commands.
    static bool keeps(QWidget* widget, int key, Qt::KeyboardModifiers with, const QString& text) {
        QKeyEvent event(QEvent::ShortcutOverride, key, with, text);
        event.ignore();
        QApplication::sendEvent(widget, &event);
        return event.isAccepted();
    }
    static bool typesText(const QWidget* widget) {
        const auto* line = qobject_cast<const QLineEdit*>(widget);
        const auto* notes = qobject_cast<const QPlainTextEdit*>(widget);
        const auto* rich = qobject_cast<const QTextEdit*>(widget);
        return (line != nullptr && !line->isReadOnly() && keyUse(line) == KeyUse::text) ||
               (notes != nullptr && !notes->isReadOnly()) ||
               (rich != nullptr && !rich->isReadOnly());
    }
    static bool isPressed(const QWidget* widget) {
        return qobject_cast<const QAbstractButton*>(widget) != nullptr ||
               qobject_cast<const QComboBox*>(widget) != nullptr ||
               widget->property("pressedBySpace").toBool();
    }
};

TEST_F(KeysTest, OneRuleHoldsForEveryWidgetOfEveryPage) {
    train();
    auto* stack = window->findChild<PageStack*>();
    int widgets = 0, buttons = 0;
    for (const auto& page : pageEntries()) {
        stack->showPage(page.name);
        ASSERT_EQ(stack->shown().name, page.name);
        QCoreApplication::processEvents();
        // Widgets beside the page are the same on all of them.
        const bool first = widgets == 0;
        const QWidget* part = first ? static_cast<QWidget*>(window.get()) : stack->currentWidget();
        for (const auto& widget : focusable(part)) {
            if (widget == nullptr || !widget->isEnabled()) continue;  // the page may have moved on
            ++widgets;
            const std::string where = page.name.toStdString() + ", " +
                                      widget->metaObject()->className() + " " +
                                      widget->accessibleName().toStdString();
            EXPECT_EQ(keeps(widget, Qt::Key_Space, Qt::NoModifier, u" "_s),
                      typesText(widget) || isPressed(widget))
                << where;
            EXPECT_FALSE(keeps(widget, Qt::Key_Return, Qt::ControlModifier, u"\r"_s)) << where;
            const QPointer button = qobject_cast<QAbstractButton*>(widget.data());
            if (button == nullptr) continue;
            ++buttons;
            // Ctrl+Return is the Run of a page that has one, which may be enabled by now.
            if (button->objectName() == u"primary"_s) continue;
            QKeyEvent run(QEvent::KeyPress, Qt::Key_Return, Qt::ControlModifier, u"\r"_s);
            const QSignalSpy clicked(button.data(), &QAbstractButton::clicked);
            QApplication::sendEvent(button, &run);
            EXPECT_EQ(clicked.size(), 0) << where;
            if (button == nullptr) continue;  // Try it makes other ones for another answer
            // Quietly: what the buttons do is tested elsewhere.
            const QSignalBlocker quiet(button.data());
            const bool presses = qobject_cast<QPushButton*>(button.data()) != nullptr ||
                                 qobject_cast<QToolButton*>(button.data()) != nullptr;
            if (!presses || button->isCheckable()) continue;
            QKeyEvent press(QEvent::KeyPress, Qt::Key_Return, Qt::NoModifier, u"\r"_s);
            press.ignore();
            QApplication::sendEvent(button, &press);
            EXPECT_TRUE(press.isAccepted()) << where;
        }
    }
    EXPECT_GT(widgets, 60);
    EXPECT_GT(buttons, 30);
}

TEST_F(KeysTest, SpacePausesFromAFieldForNumbersWhileARunTrains) {
    settings.load(engine::parse_run_config(
                      R"({"dataset": {"kind": "spirals", "train_limit": 256},
                          "model": {"kind": "mlp"}, "batch_size": 32, "epochs": 100000})")
                      .config);
    commands.start();
    ASSERT_TRUE(
        QTest::qWaitFor([&] { return feed.state() == engine::RunState::training; }, 300'000));
    window->activateWindow();
    SettingsField* seed = nullptr;
    for (auto* each : window->findChildren<SettingsField*>()) {
        if (each->path() == u"seed"_s) seed = each;
    }
    ASSERT_NE(seed, nullptr);
    auto* edit = qobject_cast<QLineEdit*>(seed->editor());
    const QString before = edit->text();
    edit->setFocus();
    edit->selectAll();
    QTest::keyClick(edit, Qt::Key_Space);
    EXPECT_EQ(edit->text(), before);
    EXPECT_TRUE(QTest::qWaitFor([&] { return feed.state() == engine::RunState::paused; }, 300'000));
    QTest::keyClicks(edit, u"123"_s);
    EXPECT_EQ(edit->text(), before) << "locked";
    auto* kind = window->findChild<QComboBox*>();
    ASSERT_NE(kind, nullptr);
    EXPECT_TRUE(kind->property("locked").toBool());
    const int chosen = kind->currentIndex();
    QTest::keyClick(kind, Qt::Key_Down);
    EXPECT_EQ(kind->currentIndex(), chosen);
    commands.stop();
    ASSERT_TRUE(QTest::qWaitFor([&] { return feed.state() == engine::RunState::done; }, 300'000));
    EXPECT_FALSE(edit->isReadOnly());
}

}  // namespace
}  // namespace ui
