#include "panels/frame/command_bar.h"

#include <QLabel>
#include <QSettings>
#include <set>

#include "screens/screen_check.h"
#include "window_fixture.h"

namespace ui {
namespace {

struct CommandBarTest : WindowFixture {
    ~CommandBarTest() override {
        language.setChoice(u"en"_s);
        QApplication::setFont(usual);
        QSettings().clear();
    }
    const QFont usual = QApplication::font();
};

/// Fonts for Chinese are higher than the window's own.
TEST_F(CommandBarTest, ChipsHoldTheirTextInLargeTypeAndInChinese) {
    for (const char* name : {"en", "zh_CN"}) {
        language.setChoice(QString::fromLatin1(name));
        QFont large = usual;
        large.setPointSizeF(13.5);
        QApplication::setFont(large);
        openWindow({1440, 900});
        standsStill();
        auto* bar = window->findChild<CommandBar*>();
        const QStringList faults = ScreenCheck(*bar).faults({1440, 900});
        EXPECT_TRUE(faults.isEmpty()) << name << ": " << faults.join(u'\n').toStdString();
        std::set<int> heights;
        for (const auto* chip : bar->findChildren<QLabel*>(u"chip"_s)) {
            EXPECT_GE(chip->height(), chip->sizeHint().height()) << chip->text().toStdString();
            heights.insert(chip->height());
        }
        EXPECT_EQ(heights.size(), 1U) << "one height for all";
    }
}

}  // namespace
}  // namespace ui
