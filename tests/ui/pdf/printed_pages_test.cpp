#include "pdf/printed_pages.h"

#include <gtest/gtest.h>

#include <QBuffer>
#include <QImage>
#include <QPdfWriter>
#include <QTextBlock>
#include <QUrl>
#include <set>

namespace ui {
namespace {

using namespace Qt::StringLiterals;

struct PrintedPagesTest : testing::Test {
    PrintedPagesTest() {
        buffer.open(QIODevice::WriteOnly);
        writer.setResolution(300);
        writer.setPageSize(QPageSize(QPageSize::A4));
        writer.setPageMargins(QMarginsF());
        text.addResource(QTextDocument::ImageResource, QUrl(u"plot"_s),
                         QImage(640, 200, QImage::Format_RGB32));
    }
    static QString lines(int count) {
        QString out;
        for (int i = 0; i < count; ++i) out += u"<p>Line %1</p>"_s.arg(i);
        return out;
    }
    /// Headings that stand on another page than what they head.
    int lonely(const PrintedPages& pages) const {
        int found = 0;
        for (QTextBlock block = text.begin(); block.isValid(); block = block.next()) {
            if (!PrintedPages::isHeading(block)) continue;
            const QTextBlock below = PrintedPages::firstBelow(block);
            found += below.isValid() && pages.pageOf(below) != pages.pageOf(block) ? 1 : 0;
        }
        return found;
    }
    static int breaks(const QTextDocument& text) {
        int found = 0;
        for (QTextBlock block = text.begin(); block.isValid(); block = block.next())
            found += block.blockFormat().pageBreakPolicy() != QTextFormat::PageBreak_Auto ? 1 : 0;
        return found;
    }

    QBuffer buffer;
    QPdfWriter writer{&buffer};
    QTextDocument text;
};

/// Whatever the number of lines above it, so one of them brings the heading to the foot.
TEST_F(PrintedPagesTest, AHeadingStandsOnThePageOfWhatItHeads) {
    const QString table =
        u"<table><tr><th>a</th></tr><tr><td>1</td></tr><tr><td>2</td></tr></table>"_s;
    for (const QString& below :
         {u"<p>Text</p>"_s, table, u"<div><img src=\"plot\" width=\"640\"></div>"_s}) {
        std::set<int> moved;
        for (int above = 20; above < 70; ++above) {
            text.setHtml(lines(above) + u"<h2>Heading</h2>"_s + below + lines(3));
            const PrintedPages pages(text, writer);
            EXPECT_EQ(lonely(pages), 0) << above << " lines above " << below.toStdString();
            moved.insert(breaks(text));
        }
        EXPECT_EQ(moved, (std::set{0, 1}))
            << "some were at the foot, others not, above " << below.toStdString();
    }
}

TEST_F(PrintedPagesTest, TheLineAboveCodeCountsAsAHeading) {
    std::set<int> moved;
    for (int above = 20; above < 70; ++above) {
        text.setHtml(lines(above) + u"<p>Settings: a run</p><pre>{\n  \"a\": 1\n}</pre>"_s);
        const PrintedPages pages(text, writer);
        EXPECT_EQ(lonely(pages), 0) << above;
        moved.insert(breaks(text));
    }
    EXPECT_EQ(moved, (std::set{0, 1}));
}

TEST_F(PrintedPagesTest, APictureThatFitsNoPageEndsTheSearch) {
    text.addResource(QTextDocument::ImageResource, QUrl(u"tall"_s),
                     QImage(100, 9000, QImage::Format_RGB32));
    text.setHtml(lines(5) + u"<h2>Heading</h2><div><img src=\"tall\"></div>"_s);
    const PrintedPages pages(text, writer);
    EXPECT_GE(pages.count(), 2);
}

TEST_F(PrintedPagesTest, PrintsEveryPage) {
    text.setHtml(lines(300));
    PrintedPages pages(text, writer);
    pages.print();
    buffer.close();
    EXPECT_GE(pages.count(), 4);
    EXPECT_EQ(buffer.data().count("/Type /Page\n"), pages.count());
}

}  // namespace
}  // namespace ui
