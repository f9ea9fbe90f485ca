#include "help/help_topics.h"

#include <gtest/gtest.h>

#include <QDir>
#include <QRegularExpression>
#include <QTextBlock>
#include <QTextDocument>
#include <QTextFragment>
#include <algorithm>

#include "engine/base/version.h"
#include "help/markdown_page.h"

namespace ui {
namespace {

using namespace Qt::StringLiterals;

QStringList anchorsOf(const QString& markdown) {
    QTextDocument document;
    showMarkdown(document, markdown);
    QStringList anchors;
    for (QTextBlock block = document.begin(); block.isValid(); block = block.next()) {
        for (auto it = block.begin(); !it.atEnd(); ++it)
            if (it.fragment().charFormat().isAnchor())
                anchors += it.fragment().charFormat().anchorNames();
    }
    return anchors;
}

const HelpTopic* find(const std::vector<HelpTopic>& topics, const QString& id) {
    const auto at = std::ranges::find(topics, id, &HelpTopic::id);
    return at == topics.end() ? nullptr : &*at;
}

TEST(Handbook, HasAPageAboutWritingLessonsInBothLanguages) {
    const auto english = handbookTopics(u"en"_s), chinese = handbookTopics(u"zh"_s);
    const auto* page = find(english, lessonWritingTopic());
    ASSERT_NE(page, nullptr);
    EXPECT_EQ(page->title, u"Write a lesson"_s);
    const auto* other = find(chinese, lessonWritingTopic());
    ASSERT_NE(other, nullptr);
    EXPECT_EQ(other->title, u"编写课程"_s);
    for (const auto& topic : english) {
        EXPECT_FALSE(topic.markdown.isEmpty()) << topic.id.toStdString();
        EXPECT_NE(find(chinese, topic.id), nullptr) << topic.id.toStdString();
    }
}

TEST(Handbook, HasAPageOfChangesThatBeginsWithThisVersion) {
    const auto topics = handbookTopics(u"en"_s);
    const auto* page = find(topics, changesTopic());
    ASSERT_NE(page, nullptr);
    const QString first = page->markdown.section(u"\n## "_s, 1, 1).section(u' ', 0, 0);
    EXPECT_EQ(first, QString::fromLatin1(engine::program_version()));
}

TEST(Handbook, HeadingsHaveTheAnchorsOfGitHub) {
    EXPECT_EQ(
        anchorsOf(
            u"# A page\n\n## BF16 and FP32 need no loss scaling\n\nText.\n\n### What's new?\n"_s),
        (QStringList{u"a-page"_s, u"bf16-and-fp32-need-no-loss-scaling"_s, u"whats-new"_s}));
    EXPECT_EQ(anchorsOf(u"## 先问后跑\n"_s), QStringList{u"先问后跑"_s});
}

TEST(Handbook, EveryLinkLeadsToAPageAndAHeadingThatExist) {
    static const QRegularExpression link(u"\\]\\(([^)\\s]+)\\)"_s);  // no lambdas
    int found = 0;
    for (const QString& language : {u"en"_s, u"zh"_s}) {
        const auto topics = handbookTopics(language);
        for (const auto& topic : topics) {
            for (auto it = link.globalMatch(topic.markdown); it.hasNext();) {
                const QUrl url(it.next().captured(1));
                if (!url.isRelative() || url.path().endsWith(u".png"_s)) continue;
                // Source files are not pages; tests/handbook/check_links.sh checks that they exist.
                const QString folder = topic.id.left(topic.id.lastIndexOf(u'/') + 1);
                const QString path = QDir::cleanPath(folder + url.path());
                if (!path.startsWith(u"handbook/"_s) && !path.startsWith(u"lessons/"_s)) continue;
                ++found;
                const auto* target = find(topics, handbookTarget(topic.id, url));
                ASSERT_NE(target, nullptr) << url.toString().toStdString();
                if (url.hasFragment()) {
                    EXPECT_TRUE(anchorsOf(target->markdown).contains(url.fragment()))
                        << url.toString().toStdString();
                }
            }
        }
    }
    EXPECT_GE(found, 4);
}

TEST(Handbook, AnotherLinkLeadsToNoPage) {
    EXPECT_EQ(handbookTarget(u"handbook/hazards.md"_s, QUrl(u"https://example.org/page"_s)),
              QString());
    EXPECT_EQ(handbookTarget(u"handbook/hazards.md"_s, QUrl(u"absent.md"_s)), QString());
    EXPECT_EQ(handbookTarget(u"handbook/hazards.md"_s, QUrl(u"#one-scale"_s)),
              u"handbook/hazards.md"_s);
}

}  // namespace
}  // namespace ui
