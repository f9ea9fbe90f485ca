#include "pages/registry.h"

#include <QKeySequenceEdit>
#include <map>
#include <set>

#include "pages/page_stack.h"
#include "widgets/key_bindings.h"
#include "window/keys_dialog.h"
#include "window_fixture.h"

namespace ui {
namespace {

using namespace Qt::StringLiterals;

struct PageKeysTest : WindowFixture {
    ~PageKeysTest() override { KeyBindings::instance()->reset(); }
    static bool isOfPage(const KeyBindings::Command& command) {
        const auto pages = pageEntries();
        return std::ranges::find(pages, command.id.section(u'/', 0, 0), &PageEntry::name) !=
               pages.end();
    }
};

TEST_F(PageKeysTest, CanBeChosenBeforeThePageIsOpened) {
    KeysDialog dialog;
    auto* edit = dialog.findChild<QKeySequenceEdit*>(u"twin/resync"_s);
    ASSERT_NE(edit, nullptr);
    EXPECT_EQ(edit->keySequence(), QKeySequence(Qt::Key_Y));
    edit->setKeySequence(Qt::Key_U);
    window->findChild<PageStack*>()->make({u"twin"_s});
    for (const auto& command : KeyBindings::instance()->commands()) {
        if (command.id != u"twin/resync"_s) continue;
        ASSERT_TRUE(command.action);
        EXPECT_EQ(command.action->shortcut(), QKeySequence(Qt::Key_U));
    }
}

/// The list and what the pages bind are the same, so that neither can be forgotten.
TEST_F(PageKeysTest, AreThoseThatThePagesBind) {
    std::map<QString, KeyBindings::Command> declared;
    for (const auto& command : KeyBindings::instance()->commands())
        if (isOfPage(command)) declared[command.id] = command;
    EXPECT_GT(declared.size(), 15u);
    QStringList names;
    for (const PageEntry& page : pageEntries()) names << page.name;
    window->findChild<PageStack*>()->make(names);
    std::set<QString> bound;
    for (const auto& command : KeyBindings::instance()->commands()) {
        if (!isOfPage(command) || !command.action) continue;
        bound.insert(command.id);
        ASSERT_TRUE(declared.contains(command.id)) << command.id.toStdString();
        EXPECT_EQ(command.usual, declared[command.id].usual) << command.id.toStdString();
    }
    for (const auto& [id, command] : declared) {
        // Lessons bind theirs when the Lab shows them.
        if (id.startsWith(u"lab/"_s)) continue;
        EXPECT_TRUE(bound.contains(id)) << id.toStdString();
    }
}

}  // namespace
}  // namespace ui
