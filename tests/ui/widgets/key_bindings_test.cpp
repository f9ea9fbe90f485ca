#include "widgets/key_bindings.h"

#include <gtest/gtest.h>

#include <QSignalSpy>

namespace ui {
namespace {

using namespace Qt::StringLiterals;

struct KeyBindingsTest : testing::Test {
    KeyBindingsTest() {
        keys->bind(&pause, u"test/pause"_s, {Qt::Key_Space});
        keys->bind(&bare, u"test/bare"_s, {QKeySequence()});
    }
    ~KeyBindingsTest() override { keys->reset(); }

    KeyBindings* keys = KeyBindings::instance();
    QAction pause{u"&Pause…"_s};
    QAction bare{u"Bare"_s};
};

TEST_F(KeyBindingsTest, AChosenKeyStaysAndCanBeTakenBack) {
    EXPECT_EQ(pause.shortcut(), QKeySequence(Qt::Key_Space));
    EXPECT_TRUE(bare.shortcuts().isEmpty());
    const QSignalSpy changed(keys, &KeyBindings::changed);
    keys->choose(u"test/pause"_s, {Qt::CTRL | Qt::Key_P});
    EXPECT_EQ(pause.shortcut(), QKeySequence(Qt::CTRL | Qt::Key_P));
    EXPECT_EQ(changed.size(), 1);
    QAction later(u"Pause"_s);  // of the next window
    keys->bind(&later, u"test/pause"_s, {Qt::Key_Space});
    EXPECT_EQ(later.shortcut(), QKeySequence(Qt::CTRL | Qt::Key_P));
    keys->choose(u"test/pause"_s, {});
    EXPECT_TRUE(pause.shortcuts().isEmpty());
    keys->reset(u"test/pause"_s);
    EXPECT_EQ(pause.shortcut(), QKeySequence(Qt::Key_Space));
}

TEST_F(KeyBindingsTest, TwoPagesMayShareAKeyAPageAndAMenuMayNot) {
    QAction one(u"One"_s), menu(u"Menu"_s);
    keys->bind(&one, u"xray/a"_s, {Qt::Key_F9});
    EXPECT_EQ(keys->userOf(Qt::Key_F9, u"twin/b"_s), nullptr);
    EXPECT_NE(keys->userOf(Qt::Key_F9, u"xray/b"_s), nullptr);
    EXPECT_NE(keys->userOf(Qt::Key_F9, u"run/b"_s), nullptr);
    keys->bind(&menu, u"run/c"_s, {Qt::Key_F10});
    EXPECT_NE(keys->userOf(Qt::Key_F10, u"twin/b"_s), nullptr);
}

TEST_F(KeyBindingsTest, KnowsWhoseKeyItIs) {
    const auto* user = keys->userOf(Qt::Key_Space, u"test/bare"_s);
    ASSERT_NE(user, nullptr);
    EXPECT_EQ(user->title, u"Pause"_s);
    EXPECT_EQ(keys->userOf(Qt::Key_Space, u"test/pause"_s), nullptr);
    EXPECT_EQ(keys->userOf(Qt::Key_F12, {}), nullptr);
}

}  // namespace
}  // namespace ui
