#include "pdf/report_file.h"

#include <gtest/gtest.h>

#include <QAbstractTextDocumentLayout>
#include <QBuffer>
#include <QImage>
#include <QPainter>
#include <QPdfWriter>
#include <QTextBlock>
#include <QTextCursor>
#include <QUrl>
#include <memory>
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
        QImage plot(640, 200, QImage::Format_RGB32);
        plot.fill(Qt::blue);
        text.addResource(QTextDocument::ImageResource, QUrl(u"plot"_s), plot);
    }
    static QString lines(int count) {
        QString out;
        for (int i = 0; i < count; ++i) out += u"<p>Line %1</p>"_s.arg(i);
        return out;
    }
    /// A printed page, in small size.
    QImage picture(const QTextDocument& printed, int page) const {
        constexpr double shrink = 8;
        const double width = writer.width(), height = writer.height();
        QImage out(static_cast<int>(width / shrink), static_cast<int>(height / shrink),
                   QImage::Format_RGB32);
        out.fill(Qt::white);
        QPainter painter(&out);
        painter.scale(1 / shrink, 1 / shrink);
        painter.translate(0, -page * height);
        QAbstractTextDocumentLayout::PaintContext context;
        context.clip = QRectF(0, page * height, width, height);
        painter.setClipRect(context.clip);
        printed.documentLayout()->draw(&painter, context);
        return out;
    }
    /// Whether the lowest text on a page is red, the colour of the headings here.
    bool endsInAHeading(int page) const {
        const QImage image = picture(text, page);
        for (int y = image.height() - 1; y >= 0; --y) {
            QColor strongest = Qt::white;
            for (int x = 0; x < image.width(); ++x) {
                const QColor color = image.pixelColor(x, y);
                if (color.green() < strongest.green()) strongest = color;
            }
            if (strongest.green() < 200) return strongest.red() > strongest.green() + 80;
        }
        return false;
    }
    int lonely(const PrintedPages& pages) const {
        int found = 0;
        for (int page = 0; page < pages.count(); ++page) found += endsInAHeading(page) ? 1 : 0;
        return found;
    }
    static int breaks(const QTextDocument& printed) {
        int found = 0;
        for (QTextBlock block = printed.begin(); block.isValid(); block = block.next())
            found += block.blockFormat().pageBreakPolicy() != QTextFormat::PageBreak_Auto ? 1 : 0;
        return found;
    }

    QBuffer buffer;
    QPdfWriter writer{&buffer};
    QTextDocument text;
};

/// Tries every number of lines above the heading, so that for one of them it is at the bottom of a
/// page.
TEST_F(PrintedPagesTest, AHeadingStandsOnThePageOfWhatItHeads) {
    const QString table =
        u"<table><tr><th>a</th></tr><tr><td>1</td></tr><tr><td>2</td></tr></table>"_s;
    for (const QString& below :
         {u"<p>Text</p>"_s, table, u"<div><img src=\"plot\" width=\"640\"></div>"_s}) {
        std::set<int> moved;
        for (int above = 20; above < 70; ++above) {
            text.setHtml(lines(above) + u"<h2 style=\"color:#ff0000\">Heading</h2>"_s + below +
                         lines(3));
            const PrintedPages pages(text, writer);
            EXPECT_EQ(lonely(pages), 0) << above << " lines above " << below.toStdString();
            moved.insert(breaks(text));
        }
        EXPECT_EQ(moved, (std::set{0, 1}))
            << "some were at the foot, others not, above " << below.toStdString();
    }
}

/// Proves that the tests above detect a heading that is alone.
TEST_F(PrintedPagesTest, WithoutMovingSomeHeadingsStandAlone) {
    int found = 0;
    for (int above = 20; above < 70; ++above) {
        text.setHtml(lines(above) + u"<h2 style=\"color:#ff0000\">Heading</h2>"_s +
                     u"<div><img src=\"plot\" width=\"640\"></div>"_s);
        const PrintedPages pages(text, writer);
        for (QTextBlock block = text.begin(); block.isValid(); block = block.next()) {
            QTextBlockFormat format = block.blockFormat();
            format.setPageBreakPolicy(QTextFormat::PageBreak_Auto);
            QTextCursor(block).setBlockFormat(format);
        }
        found += lonely(pages);
    }
    EXPECT_GE(found, 1);
}

/// Moving a heading loses no text.
TEST_F(PrintedPagesTest, PagesAreThoseOfATextThatIsLaidOutAnew) {
    QString rows;
    for (int i = 0; i < 60; ++i) rows += u"<tr><td>%1</td><td>row</td></tr>"_s.arg(i);
    for (int above = 30; above < 60; above += 5) {
        QString code;
        for (int i = 0; i < 90; ++i) code += u"line %1\n"_s.arg(i);
        const QString plot = u"<h2>Plot</h2><div><img src=\"plot\" width=\"640\"></div>"_s;
        text.setHtml(lines(above) + plot + plot + plot + u"<h2>Table</h2><table>"_s + rows +
                     u"</table><h2>Machine</h2>"_s + lines(4) + u"<p>Settings</p><pre>"_s + code +
                     u"</pre>"_s);
        const PrintedPages pages(text, writer);
        const std::unique_ptr<QTextDocument> fresh(text.clone());
        const PrintedPages anew(*fresh, writer);
        ASSERT_EQ(pages.count(), anew.count()) << above;
        for (int page = 0; page < pages.count(); ++page)
            EXPECT_EQ(picture(text, page), picture(*fresh, page)) << above << ", page " << page;
    }
}

TEST_F(PrintedPagesTest, TheLineAboveCodeCountsAsAHeading) {
    std::set<int> moved;
    for (int above = 20; above < 70; ++above) {
        text.setHtml(
            lines(above) +
            u"<p style=\"color:#ff0000\">Settings: a run</p><pre>{\n  \"a\": 1\n}</pre>"_s);
        const PrintedPages pages(text, writer);
        EXPECT_EQ(lonely(pages), 0) << above;
        moved.insert(breaks(text));
    }
    EXPECT_EQ(moved, (std::set{0, 1}));
}

TEST_F(PrintedPagesTest, APictureThatFitsNoPageEndsTheSearch) {
    text.addResource(QTextDocument::ImageResource, QUrl(u"tall"_s),
                     QImage(100, 9000, QImage::Format_RGB32));
    text.setHtml(lines(5) +
                 u"<h2 style=\"color:#ff0000\">Heading</h2><div><img src=\"tall\"></div>"_s);
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
