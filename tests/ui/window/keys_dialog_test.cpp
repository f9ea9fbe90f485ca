#include "window/keys_dialog.h"

#include <QAction>
#include <QKeySequenceEdit>
#include <QLabel>

#include "panels/frame/command_bar.h"
#include "widgets/key_bindings.h"
#include "window_fixture.h"

namespace ui {
namespace {

using namespace Qt::StringLiterals;

struct KeysDialogTest : WindowFixture {
    ~KeysDialogTest() override { KeyBindings::instance()->reset(); }
    QKeySequenceEdit* edit(const QString& id) {
        return dialog.findChild<QKeySequenceEdit*>(id);
    }
    KeysDialog dialog;
};

TEST_F(KeysDialogTest, ChangesAKeyInMenuAndButton) {
    ASSERT_NE(edit(u"run/step"_s), nullptr);
    ASSERT_NE(edit(u"page/runs"_s), nullptr);
    edit(u"run/step"_s)->setKeySequence(Qt::CTRL | Qt::Key_J);
    const auto commands = KeyBindings::instance()->commands();
    const auto step = std::ranges::find(commands, u"run/step"_s, &KeyBindings::Command::id);
    ASSERT_NE(step, commands.end());
    EXPECT_EQ(step->action->shortcut(), QKeySequence(Qt::CTRL | Qt::Key_J));
    bool shown = false;
    for (const auto* button : window->findChildren<KeyButton*>())
        shown = shown || button->keys() == u"Ctrl J"_s;
    EXPECT_TRUE(shown);
}

TEST_F(KeysDialogTest, RefusesTheKeyOfAnotherCommand) {
    edit(u"run/step"_s)->setKeySequence(Qt::Key_Space);
    EXPECT_EQ(edit(u"run/step"_s)->keySequence(), QKeySequence(Qt::Key_S));
    EXPECT_TRUE(dialog.findChild<QLabel*>(u"keyProblem"_s)->text().contains(u"Pause"_s));
}

}  // namespace
}  // namespace ui
