#include "help/markdown_page.h"

#include <QFontMetricsF>
#include <QRegularExpression>
#include <QTextBlock>
#include <QTextCursor>
#include <QTextDocument>
#include <QTextTable>
#include <QUrl>
#include <algorithm>
#include <cmath>
#include <vector>

namespace ui {

using namespace Qt::StringLiterals;

namespace {

constexpr double margin = 8;   // pixels, around headings and paragraphs
constexpr double padding = 4;  // of a cell
// A little less than the help window has as it opens. A wider table has columns for this width.
constexpr double usualWidth = 590;
constexpr double longestWord = 220;  // a longer one may be broken

bool isCode(const QTextBlock& block) {
    return block.isValid() && block.blockFormat().hasProperty(QTextFormat::BlockCodeFence);
}

QString anchorOf(const QString& heading) {
    static const QRegularExpression punctuation(u"[^\\w\\- ]"_s,
                                                QRegularExpression::UseUnicodePropertiesOption);
    return heading.toLower().remove(punctuation).replace(u' ', u'-');
}

/// Calls f(fragment) for each fragment of a block, which f must not change.
template <typename F>
void forEachFragment(const QTextBlock& block, F&& f) {
    for (auto at = block.begin(); !at.atEnd(); ++at) f(at.fragment());
}

/// Widths of a column, or of what is in it.
struct Width {
    double word = 0;   ///< the longest word
    double whole = 0;  ///< the longest line, not wrapped
    double all = 0;    ///< all lines behind each other

    void include(const Width& other) {
        word = std::max(word, other.word);
        whole = std::max(whole, other.whole);
        all += other.whole;
    }
    /// Its share of the width that the longest words leave, beside other columns. The root keeps a
    /// column of long texts from starving the others.
    double weight() const { return whole > word ? std::sqrt(all) : 0; }
};

Width widthOf(const QTextBlock& block, const QFont& font) {
    Width out;
    forEachFragment(block, [&](const QTextFragment& fragment) {
        const QFontMetricsF metrics(fragment.charFormat().font().resolve(font));
        out.whole += metrics.horizontalAdvance(fragment.text());
        for (const QString& word : fragment.text().split(u' '))
            out.word = std::max(out.word, metrics.horizontalAdvance(word));
    });
    out.word = std::min(out.word, longestWord);
    return out;
}

Width widthOfColumn(const QTextTable& table, int column, const QFont& font) {
    Width out;
    for (int row = 0; row < table.rows(); ++row) {
        const QTextTableCell cell = table.cellAt(row, column);
        for (auto at = cell.begin(); !at.atEnd(); ++at)
            out.include(widthOf(at.currentBlock(), font));
    }
    out.word += 2 * padding + 1;
    out.whole += 2 * padding + 1;
    return out;
}

/// Shares of the page's width: a column gets its longest word, and what is left goes to those with
/// more text. Empty for a table that needs no wrapping.
QList<QTextLength> columnWidths(const QTextTable& table, const QFont& font) {
    std::vector<Width> columns;
    double words = 0, wholes = 0, weights = 0;
    for (int column = 0; column < table.columns(); ++column) {
        columns.push_back(widthOfColumn(table, column, font));
        words += columns.back().word;
        wholes += columns.back().whole;
        weights += columns.back().weight();
    }
    if (wholes <= usualWidth) return {};
    const double left = weights > 0 ? std::max(0.0, usualWidth - words) : 0;
    QList<QTextLength> out;
    for (const Width& column : columns) {
        const double more = weights > 0 ? left * column.weight() / weights : 0;
        out << QTextLength(QTextLength::PercentageLength,
                           100 * (column.word + more) / (words + left));
    }
    return out;
}

void styleTable(QTextTable& table, const QFont& font, const PageColors& colors) {
    QTextTableFormat format = table.format();
    format.setBorderCollapse(true);
    format.setBorderStyle(QTextFrameFormat::BorderStyle_Solid);
    format.setBorder(1);
    if (colors.rule.isValid()) format.setBorderBrush(colors.rule);
    format.setCellSpacing(0);
    format.setCellPadding(padding);
    format.setBottomMargin(margin);
    const QList<QTextLength> widths = columnWidths(table, font);
    if (!widths.isEmpty()) {
        format.setWidth(QTextLength(QTextLength::PercentageLength, 100));
        format.setColumnWidthConstraints(widths);
    }
    table.setFormat(format);
}

void styleBlock(QTextCursor& cursor, const QTextBlock& block, const PageColors& colors) {
    const bool heading = block.blockFormat().headingLevel() > 0;
    cursor.setPosition(block.position());
    QTextBlockFormat format;
    format.setTopMargin(heading ? margin : 0);
    format.setNonBreakableLines(false);  // code too is wrapped
    const bool inside = (block.textList() && block.next().textList()) ||
                        cursor.currentTable() != nullptr || (isCode(block) && isCode(block.next()));
    format.setBottomMargin(inside ? 0 : margin);
    if (isCode(block) && colors.code.isValid()) format.setBackground(colors.code);
    cursor.mergeBlockFormat(format);
    if (!heading) return;
    cursor.setPosition(block.position() + block.length() - 1, QTextCursor::KeepAnchor);
    QTextCharFormat anchor;
    anchor.setAnchor(true);
    anchor.setAnchorNames({anchorOf(block.text())});
    cursor.mergeCharFormat(anchor);
}

}  // namespace

void showMarkdown(QTextDocument& document, const QString& markdown, const PageColors& colors) {
    document.setMarkdown(markdown,
                         QTextDocument::MarkdownFeatures(QTextDocument::MarkdownDialectGitHub) |
                             QTextDocument::MarkdownNoHTML);
    QTextCursor cursor(&document);
    cursor.beginEditBlock();  // or each change would lay out a long page anew
    for (QTextBlock block = document.begin(); block.isValid(); block = block.next())
        styleBlock(cursor, block, colors);
    for (QTextFrame* frame : document.rootFrame()->childFrames()) {
        if (auto* table = qobject_cast<QTextTable*>(frame))
            styleTable(*table, document.defaultFont(), colors);
    }
    cursor.endEditBlock();
}

void dropLinks(QTextDocument& document, const std::function<bool(const QUrl&)>& leads) {
    struct Range {
        int first, last;
    };
    std::vector<Range> dead;
    for (QTextBlock block = document.begin(); block.isValid(); block = block.next()) {
        forEachFragment(block, [&](const QTextFragment& fragment) {
            const QString link = fragment.charFormat().anchorHref();
            if (!link.isEmpty() && !leads(QUrl(link)))
                dead.push_back({fragment.position(), fragment.position() + fragment.length()});
        });
    }
    QTextCursor cursor(&document);
    cursor.beginEditBlock();
    for (const Range& range : dead) {
        cursor.setPosition(range.first);
        cursor.setPosition(range.last, QTextCursor::KeepAnchor);
        QTextCharFormat format = cursor.charFormat();
        for (const int property :
             {QTextFormat::IsAnchor, QTextFormat::AnchorHref, QTextFormat::ForegroundBrush,
              QTextFormat::TextUnderlineStyle, QTextFormat::FontUnderline})
            format.clearProperty(property);
        cursor.setCharFormat(format);
    }
    cursor.endEditBlock();
}

}  // namespace ui
