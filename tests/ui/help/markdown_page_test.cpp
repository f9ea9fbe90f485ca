#include "help/markdown_page.h"

#include <gtest/gtest.h>

#include <QAbstractTextDocumentLayout>
#include <QTextBlock>
#include <QTextDocument>
#include <QTextTable>
#include <QUrl>

namespace ui {
namespace {

using namespace Qt::StringLiterals;

/// The first table of a page.
QTextTable* tableOf(QTextDocument& document) {
    for (QTextFrame* frame : document.rootFrame()->childFrames()) {
        if (auto* table = qobject_cast<QTextTable*>(frame)) return table;
    }
    return nullptr;
}

double widthOf(const QTextDocument& document, const QTextTable& table, int column) {
    const auto* layout = document.documentLayout();
    const auto left = [&](int at) {
        return layout->blockBoundingRect(table.cellAt(0, at).firstCursorPosition().block()).left();
    };
    return left(column + 1) - left(column);
}

QStringList linksOf(const QTextDocument& document) {
    QStringList links;
    for (QTextBlock block = document.begin(); block.isValid(); block = block.next()) {
        for (auto at = block.begin(); !at.atEnd(); ++at) {
            const QString link = at.fragment().charFormat().anchorHref();
            if (!link.isEmpty()) links << link;
        }
    }
    return links;
}

TEST(MarkdownPage, ASmallTableIsAsWideAsItsText) {
    QTextDocument document;
    document.setTextWidth(620);
    showMarkdown(document, u"| a | b |\n| --- | --- |\n| one | two |\n"_s);
    auto* table = tableOf(document);
    ASSERT_NE(table, nullptr);
    EXPECT_TRUE(table->format().columnWidthConstraints().isEmpty());
    EXPECT_TRUE(table->format().borderCollapse());
    EXPECT_LT(document.documentLayout()->frameBoundingRect(table).width(), 200);
}

TEST(MarkdownPage, AWideTableBreaksNoWordAndGivesTheRestToItsLongTexts) {
    QTextDocument document;
    document.setTextWidth(620);
    const QString name = u"dataset.validation_share"_s, text = u"some words "_s.repeated(40);
    showMarkdown(
        document,
        u"| setting | default | meaning |\n| --- | --- | --- |\n| `%1` | `0` | %2 |\n"_s.arg(name,
                                                                                             text));
    const auto* table = tableOf(document);
    ASSERT_NE(table, nullptr);
    EXPECT_LE(document.size().width(), 621) << "nothing is cut off";
    const QTextBlock first = table->cellAt(1, 0).firstCursorPosition().block();
    EXPECT_EQ(first.layout()->lineCount(), 1) << "a setting's name is not broken";
    const QTextBlock last = table->cellAt(1, 2).firstCursorPosition().block();
    EXPECT_GT(last.layout()->lineCount(), 1);
    EXPECT_LT(widthOf(document, *table, 1), 100);
    EXPECT_GT(last.layout()->lineAt(0).width(), 300);
}

TEST(MarkdownPage, TablesAndCodeHaveTheColoursOfThePage) {
    QTextDocument document;
    showMarkdown(document, u"| a |\n| --- |\n| one |\n\n```\ncode\n```\n\ntext\n"_s,
                 {.rule = Qt::red, .code = Qt::yellow});
    EXPECT_EQ(tableOf(document)->format().borderBrush().color(), QColor(Qt::red));
    for (QTextBlock block = document.begin(); block.isValid(); block = block.next()) {
        const bool yellow = block.blockFormat().background().color() == QColor(Qt::yellow);
        EXPECT_EQ(yellow, block.text() == u"code"_s) << block.text().toStdString();
    }
}

TEST(MarkdownPage, ALinkThatLeadsNowhereIsPlainText) {
    QTextDocument document;
    showMarkdown(document, u"See [a page](page.md) and [a source](source.cpp) here.\n"_s);
    EXPECT_EQ(linksOf(document), (QStringList{u"page.md"_s, u"source.cpp"_s}));
    dropLinks(document, [](const QUrl& link) { return link.path() == u"page.md"_s; });
    EXPECT_EQ(linksOf(document), QStringList{u"page.md"_s});
    EXPECT_EQ(document.toPlainText(), u"See a page and a source here."_s);
}

}  // namespace
}  // namespace ui
