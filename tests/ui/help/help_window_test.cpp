#include "help/help_window.h"

#include <gtest/gtest.h>

#include <QScrollBar>
#include <QTest>
#include <QTextBlock>
#include <QTextBrowser>

#include "help/help_topics.h"
#include "models/settings_model.h"
#include "support/stillness.h"
#include "theme/theme.h"

namespace ui {
namespace {

using namespace Qt::StringLiterals;

struct HelpWindowTest : testing::Test {
    QString shown() const { return help.findChild<QTextBrowser*>()->toPlainText(); }
    void follow(const QString& link) {
        emit help.findChild<QTextBrowser*>()->anchorClicked(QUrl(link));
    }
    SettingsModel settings;
    Theme theme;
    HelpWindow help{&theme, settings, u"en"_s, nullptr};
};

TEST_F(HelpWindowTest, ShowsAPageOfTheHandbook) {
    help.open(lessonWritingTopic());
    EXPECT_TRUE(shown().startsWith(u"Write a lesson"_s));
    EXPECT_FALSE(shown().contains(u"](../"_s)) << "Markdown is rendered";
    standsStill();
    const auto* page = help.findChild<QTextBrowser*>();
    EXPECT_GT(page->verticalScrollBar()->maximum(), 0);
    EXPECT_EQ(page->verticalScrollBar()->value(), 0) << "at its beginning";
    EXPECT_EQ(page->horizontalScrollBar()->maximum(), 0) << "the lesson in it is wrapped";
}

TEST_F(HelpWindowTest, ALinkTurnsToItsPageAndHeading) {
    help.open(lessonWritingTopic());
    follow(u"../lessons/README.md#expressions"_s);
    EXPECT_TRUE(shown().startsWith(u"The lesson format"_s));
    auto* page = help.findChild<QTextBrowser*>();
    EXPECT_GT(page->verticalScrollBar()->value(), 0);
    follow(u"../handbook/write-a-lesson.md"_s);
    EXPECT_TRUE(shown().startsWith(u"Write a lesson"_s));
    EXPECT_EQ(page->verticalScrollBar()->value(), 0);
    follow(u"absent.md"_s);
    EXPECT_TRUE(shown().startsWith(u"Write a lesson"_s));
}

TEST_F(HelpWindowTest, NoPageIsWiderThanItsWindow) {
    help.open(lessonWritingTopic());
    const auto* page = help.findChild<QTextBrowser*>();
    for (const QString& language : {u"en"_s, u"zh"_s}) {
        for (const HelpTopic& topic : handbookTopics(language)) {
            help.open(topic.id);
            const auto* bar = page->horizontalScrollBar();
            EXPECT_TRUE(QTest::qWaitFor([&] { return bar->maximum() == 0; }, 300'000))
                << topic.id.toStdString() << ' ' << bar->maximum();
        }
    }
}

TEST_F(HelpWindowTest, ALinkToASourceIsPlainText) {
    help.open(u"handbook/add-an-op.md"_s);
    const auto* document = help.findChild<QTextBrowser*>()->document();
    for (QTextBlock block = document->begin(); block.isValid(); block = block.next()) {
        for (auto at = block.begin(); !at.atEnd(); ++at) {
            const QString link = at.fragment().charFormat().anchorHref();
            if (link.isEmpty() || !QUrl(link).isRelative()) continue;
            EXPECT_NE(handbookTarget(u"handbook/add-an-op.md"_s, QUrl(link)), QString())
                << link.toStdString();
        }
    }
}

TEST_F(HelpWindowTest, SettingsHaveTheirPages) {
    help.open(u"scaler.growth_interval"_s);
    EXPECT_TRUE(shown().contains(u"--set scaler.growth_interval"_s));
}

}  // namespace
}  // namespace ui
