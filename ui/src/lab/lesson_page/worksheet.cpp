#include "lab/lesson_page/worksheet.h"

#include <QAbstractTextDocumentLayout>
#include <QCoreApplication>
#include <QFileInfo>
#include <QPageSize>
#include <QPrinter>
#include <QTextBlock>
#include <QTextCursor>
#include <QTextDocument>
#include <QTextDocumentFragment>
#include <QTextTable>
#include <algorithm>
#include <cmath>
#include <utility>

#include "lab/lesson_page/lesson_plots.h"
#include "lab/lessons/lesson_notes.h"
#include "lab/numbers/number_words.h"
#include "text/format.h"
#include "text/named_output.h"

namespace ui {
namespace {

constexpr int titleSize = 20;
constexpr int headSize = 13;
constexpr int textSize = 11;
constexpr double margin = 20;  // mm
constexpr int sketchRows = 7;

class Worksheet {
    Q_DECLARE_TR_FUNCTIONS(Worksheet)
public:
    explicit Worksheet(QTextDocument& document) : cursor_(&document) {}

    void line(const QString& text, int size = textSize, bool bold = false, double above = 4) {
        QTextBlockFormat block;
        block.setTopMargin(above);
        block.setBottomMargin(3);
        if (begun_) cursor_.insertBlock();
        begun_ = true;
        cursor_.setBlockFormat(block);
        QTextCharFormat format;
        format.setFontPointSize(size);
        format.setFontWeight(bold ? QFont::Bold : QFont::Normal);
        cursor_.insertText(text, format);
    }

    void markdown(const QString& text) {
        QTextDocument part;
        part.setDefaultFont(QFont(cursor_.document()->defaultFont()));
        part.setMarkdown(text,
                         QTextDocument::MarkdownFeatures(QTextDocument::MarkdownDialectGitHub) |
                             QTextDocument::MarkdownNoHTML);
        cursor_.insertBlock(QTextBlockFormat(), QTextCharFormat());
        cursor_.insertFragment(QTextDocumentFragment(&part));
    }

    void question(const engine::Prediction& prediction) {
        line(QString::fromStdString(prediction.question), textSize, true, 10);
        const int first = cursor_.blockNumber();
        using enum engine::Prediction::Kind;
        const QString blank = u"______________"_s;
        switch (prediction.kind) {
            case choice:
                for (const auto& each : prediction.choices)
                    line(u"☐  "_s + QString::fromStdString(each.text));
                break;
            case number:
                line(blank + u' ' + QString::fromStdString(prediction.unit));
                break;
            case range:
                line(blank + u"   ("_s + tr("%1 to %2").arg(prediction.low).arg(prediction.high) +
                     u')');
                break;
            case curve:
                sketch(prediction);
                break;
        }
        if (!prediction.note.empty()) line(QString::fromStdString(prediction.note), textSize - 2);
        together(first);
    }

    /// The blocks from this one to the last stay on one page.
    void together(int first) { together_.emplace_back(first, cursor_.blockNumber()); }
    int lastBlock() const { return cursor_.blockNumber(); }
    const KeptTogether& keptTogether() const { return together_; }

    void checks(const engine::Lesson& lesson) {
        QTextTableFormat format;
        format.setCellPadding(6);
        format.setCellSpacing(0);
        format.setBorder(1);
        format.setBorderBrush(Qt::black);
        using Length = QTextLength;
        format.setColumnWidthConstraints({Length(Length::PercentageLength, 50),
                                          Length(Length::PercentageLength, 25),
                                          Length(Length::PercentageLength, 25)});
        format.setBorderStyle(QTextFrameFormat::BorderStyle_Solid);
        format.setBorderCollapse(true);
        format.setTopMargin(8);
        format.setWidth(QTextLength(QTextLength::PercentageLength, 100));
        const auto rows = static_cast<int>(lesson.checks.size()) + 1;
        auto* table = cursor_.insertTable(rows, 3, format);
        const QString heads[] = {QString(), tr("I said"), tr("measured")};
        for (int column = 0; column < 3; ++column)
            table->cellAt(0, column).firstCursorPosition().insertText(heads[column]);
        for (int row = 1; row < rows; ++row) {
            const auto& check = lesson.checks[static_cast<std::size_t>(row - 1)];
            const auto* prediction = engine::find_prediction(lesson, check.id);
            table->cellAt(row, 0).firstCursorPosition().insertText(
                QString::fromStdString(prediction != nullptr ? prediction->question
                                       : check.label.empty() ? check.id
                                                             : check.label));
        }
        cursor_.movePosition(QTextCursor::End);
    }

private:
    void sketch(const engine::Prediction& prediction) {
        QTextTableFormat format;
        format.setBorder(1);
        format.setBorderBrush(Qt::black);
        format.setBorderStyle(QTextFrameFormat::BorderStyle_Solid);
        format.setBorderCollapse(true);
        format.setCellSpacing(0);
        format.setWidth(QTextLength(QTextLength::PercentageLength, 100));
        auto* table = cursor_.insertTable(1, 1, format);
        auto inside = table->cellAt(0, 0).firstCursorPosition();
        for (int i = 0; i < sketchRows; ++i) inside.insertBlock();
        cursor_.movePosition(QTextCursor::End);
        const Question question = questionOf(prediction);
        const auto height = [&](double y) { return question.yLog ? powerOfTwo(y) : plainText(y); };
        line(tr("%1 over the steps %2 to %3, from %4 to %5")
                 .arg(columnTitle(prediction.column), plainText(prediction.low),
                      plainText(prediction.high), height(question.yLow), height(question.yHigh)),
             textSize - 2);
    }

    QTextCursor cursor_;
    KeptTogether together_;
    bool begun_ = false;
};

/// Top and bottom of a block in the document; of one in a table, of the whole table.
std::pair<double, double> extent(const QTextDocument& document, const QTextBlock& block) {
    const auto* layout = document.documentLayout();
    QTextCursor at(block);
    const QRectF rect = at.currentTable() != nullptr ? layout->frameBoundingRect(at.currentTable())
                                                     : layout->blockBoundingRect(block);
    return {rect.top(), rect.bottom()};
}

}  // namespace

void breakPages(QTextDocument& document, const KeptTogether& parts) {
    const double page = document.pageSize().height();
    // A part that holds another comes first: the break before it is then enough for both.
    KeptTogether outerFirst = parts;
    std::ranges::sort(outerFirst, {}, [](const auto& part) {
        return std::pair(part.first, -part.second);
    });
    for (const auto& [first, last] : outerFirst) {
        const QTextBlock begin = document.findBlockByNumber(first);
        const double top = extent(document, begin).first;
        double bottom = top;
        for (int i = first; i <= last; ++i)
            bottom = std::max(bottom, extent(document, document.findBlockByNumber(i)).second);
        if (std::floor(top / page) == std::floor((bottom - 1) / page) || bottom - top > page)
            continue;
        QTextCursor cursor(begin);
        QTextBlockFormat format = begin.blockFormat();
        format.setPageBreakPolicy(QTextFormat::PageBreak_AlwaysBefore);
        cursor.setBlockFormat(format);
    }
}

KeptTogether fillWorksheet(QTextDocument& document, const engine::Lesson& lesson) {
    QFont font = document.defaultFont();
    font.setPointSize(textSize);
    document.setDefaultFont(font);
    Worksheet sheet(document);
    sheet.line(QString::fromStdString(lesson.title), titleSize, true);
    sheet.line(Worksheet::tr("Name: ____________________     Date: ______________"), textSize,
               false, 12);
    for (const auto& step : lesson.steps) {
        sheet.line(QString::fromStdString(step.title), headSize, true, 16);
        const int head = sheet.lastBlock();
        bool checked = false;
        for (const auto& part : step.parts) {
            if (const auto* text = std::get_if<engine::LessonMarkdown>(&part)) {
                sheet.markdown(QString::fromStdString(text->text));
            } else if (const auto* prediction = std::get_if<engine::Prediction>(&part)) {
                sheet.question(*prediction);
                if (&part == &step.parts.front()) sheet.together(head);
            } else if (std::holds_alternative<engine::LessonRuns>(part)) {
                for (const auto& run : lesson.runs)
                    sheet.line(u"•  "_s + QString::fromStdString(run.label));
            } else if (std::holds_alternative<std::vector<engine::LessonCheck>>(part)) {
                sheet.checks(lesson);
                sheet.together(head);
                checked = true;
            }
        }
        if (checked) break;  // the explanation would give the answers away
    }
    const QString blank = u"______________________________________________________________"_s;
    sheet.line(Worksheet::tr("Why?") + u' ' + blank, textSize, false, 16);
    const int why = sheet.lastBlock();
    for (int i = 0; i < 2; ++i) sheet.line(blank + u"______"_s, textSize, false, 8);
    sheet.together(why);
    return sheet.keptTogether();
}

namespace {

bool printWorksheet(const engine::Lesson& lesson, const QString& file) {
    QPrinter printer(QPrinter::ScreenResolution);
    printer.setOutputFormat(QPrinter::PdfFormat);
    printer.setOutputFileName(file);
    printer.setPageSize(QPageSize(QPageSize::A4));
    printer.setPageMargins(QMarginsF(margin, margin, margin, margin), QPageLayout::Millimeter);
    QTextDocument document;
    document.documentLayout()->setPaintDevice(&printer);
    // Its pages are the printer's: print() would add margins of its own.
    document.setPageSize(printer.pageRect(QPrinter::DevicePixel).size());
    breakPages(document, fillWorksheet(document, lesson));
    document.print(&printer);
    return QFileInfo(file).size() > 0;
}

}  // namespace

QByteArray worksheetPdf(const engine::Lesson& lesson) {
    return madeByName(u"worksheet.pdf"_s,
                      [&](const QString& scratch) { return printWorksheet(lesson, scratch); });
}

}  // namespace ui
