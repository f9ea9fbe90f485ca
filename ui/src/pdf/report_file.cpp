#include "pdf/report_file.h"

#include <QAbstractTextDocumentLayout>
#include <QApplication>
#include <QBuffer>
#include <QFontMetricsF>
#include <QGuiApplication>
#include <QImage>
#include <QLocale>
#include <QPagedPaintDevice>
#include <QPainter>
#include <QPdfWriter>
#include <QScreen>
#include <QSvgRenderer>
#include <QTextBlock>
#include <QTextCursor>
#include <QTextFrame>
#include <QTextLayout>
#include <QTextTable>
#include <QUrl>

#include "engine/base/error.h"
#include "engine/io/named_file.h"
#include "text/language.h"

namespace ui {

using engine::msg;

namespace {

constexpr double margin = 2 / 2.54;     // inches
constexpr double numberGap = 5.0 / 72;  // inches, between the text and the page's number

bool isCode(const QTextBlock& block) { return block.blockFormat().nonBreakableLines(); }

QTextTable* tableOf(const QTextBlock& block) { return QTextCursor(block).currentTable(); }

/// The layout takes margins for pixels of the screen and scales them to the device.
double screenDots() {
    const QScreen* screen = QGuiApplication::primaryScreen();
    return screen != nullptr ? qRound(screen->logicalDotsPerInchY()) : 96;
}

}  // namespace

PrintedPages::PrintedPages(QTextDocument& text, QPagedPaintDevice& device)
    : text_(text), device_(device) {
    layOut();
    while (moveLonelyHeading()) {
    }
}

void PrintedPages::layOut() {
    text_.documentLayout()->setPaintDevice(&device_);
    QTextFrameFormat frame = text_.rootFrame()->frameFormat();
    frame.setMargin(margin * screenDots());
    text_.rootFrame()->setFrameFormat(frame);
    text_.setPageSize(QSizeF(device_.width(), device_.height()));
}

int PrintedPages::pageOf(const QTextBlock& block) const {
    const QTextLayout* lines = block.layout();
    double top = text_.documentLayout()->blockBoundingRect(block).top();
    // A line that did not fit stands on the next page, and its block begins on this one.
    if (lines->lineCount() > 0) top += lines->lineAt(0).rect().top();
    return static_cast<int>(top / text_.pageSize().height());
}

bool PrintedPages::isHeading(const QTextBlock& block) {
    if (block.blockFormat().headingLevel() > 0) return true;
    const QTextBlock next = block.next();
    return next.isValid() && isCode(next) && !isCode(block) && block.length() > 1;
}

QTextBlock PrintedPages::firstBelow(const QTextBlock& heading) {
    QTextBlock below = heading.next();
    while (below.isValid() && below.length() <= 1 && tableOf(below) == nullptr)
        below = below.next();  // empty
    const QTextTable* table = below.isValid() ? tableOf(below) : nullptr;
    if (table == nullptr || table == tableOf(heading)) return below;
    const int row = std::min(1, table->rows() - 1);
    return table->cellAt(row, 0).firstCursorPosition().block();
}

/// False if there is none.
bool PrintedPages::moveLonelyHeading() {
    for (QTextBlock block = text_.begin(); block.isValid(); block = block.next()) {
        if (!isHeading(block) || tableOf(block) != nullptr) continue;
        QTextBlockFormat format = block.blockFormat();
        // A block larger than a page does not fit below its heading on the next page either.
        if ((format.pageBreakPolicy() & QTextFormat::PageBreak_AlwaysBefore) != 0) continue;
        const QTextBlock below = firstBelow(block);
        if (!below.isValid() || pageOf(below) == pageOf(block)) continue;
        format.setPageBreakPolicy(format.pageBreakPolicy() | QTextFormat::PageBreak_AlwaysBefore);
        QTextCursor(block).setBlockFormat(format);
        // The layout would move what follows only in part, and leave pages out.
        text_.markContentsDirty(0, text_.characterCount());
        return true;
    }
    return false;
}

void PrintedPages::print() {
    QPainter painter(&device_);
    const double width = device_.width(), height = device_.height();
    for (int page = 0; page < count(); ++page) {
        if (page > 0) device_.newPage();
        painter.save();
        painter.translate(0, -page * height);
        QAbstractTextDocumentLayout::PaintContext context;
        context.clip = QRectF(0, page * height, width, height);
        context.palette.setColor(QPalette::Text, Qt::black);
        painter.setClipRect(context.clip);
        text_.documentLayout()->draw(&painter, context);
        painter.restore();
        printNumber(painter, page);
    }
}

void PrintedPages::printNumber(QPainter& painter, int page) const {
    const double dots = device_.logicalDpiY();
    painter.setFont(QFont(text_.defaultFont(), &device_));
    const QString number = QString::number(page + 1);
    const QFontMetricsF metrics(painter.font(), &device_);
    painter.drawText(
        QPointF(device_.width() - margin * dots - metrics.horizontalAdvance(number),
                device_.height() - margin * dots + metrics.ascent() + numberGap * dots),
        number);
}

namespace {

constexpr int dotsPerInch = 300;
constexpr QSize plotPixels{2000, 640};  // of 1000 x 320
/// The part of CSS that QTextDocument supports, in points.
constexpr char pageStyle[] =
    "body{color:#222222}h1{font-size:16pt;margin-bottom:0}h2{font-size:11pt;margin-top:10px;"
    "margin-bottom:2px}p{margin-top:3px;margin-bottom:3px}p.note{color:#666666}"
    "td,th{padding:2px 7px;border:0.5px solid #d9d9d6}table{border-collapse:collapse;"
    "margin-top:4px}pre{font-size:7pt}figure{margin:0}";
constexpr int plotWidth = 640;  // of 96 to the inch: the text's width on A4

engine::ReportHtmlOptions translated() {
    engine::ReportHtmlOptions options;
    options.language = QLocale().bcp47Name().toStdString();
    options.translate = [](const engine::Message& message) {
        return engineText(message).toStdString();
    };
    return options;
}

QImage drawn(const std::string& svg) {
    QSvgRenderer renderer(QByteArray::fromStdString(svg));
    QImage image(plotPixels, QImage::Format_RGB32);
    image.fill(Qt::white);
    QPainter painter(&image);
    renderer.render(&painter);
    return image;
}

void writePdf(const engine::Report& report, const std::filesystem::path& file) {
    engine::ReportHtmlOptions options = translated();
    options.plot = [](std::size_t plot) {
        return "<img src=\"plot-" + std::to_string(plot) + "\" width=\"" +
               std::to_string(plotWidth) + "\">";
    };
    options.style = pageStyle;
    QTextDocument page;
    for (std::size_t i = 0; i < report.plots.size(); ++i) {
        page.addResource(QTextDocument::ImageResource, QUrl(u"plot-%1"_s.arg(i)),
                         drawn(report.plots[i].svg));
    }
    QFont font = QApplication::font();
    font.setPointSizeF(8.5);
    page.setDefaultFont(font);
    page.setHtml(QString::fromStdString(engine::report_html(report, options)));
    QBuffer out;
    out.open(QIODevice::WriteOnly);
    {
        QPdfWriter writer(&out);
        writer.setResolution(dotsPerInch);
        writer.setPageSize(QPageSize(QPageSize::A4));
        writer.setPageMargins(QMarginsF());
        writer.setTitle(engineText(report.title));
        PrintedPages(page, writer).print();
    }
    engine::write_named_file(file, out.data().toStdString());
}

void writeHtml(const engine::Report& report, const std::filesystem::path& file) {
    engine::write_named_file(file, engine::report_html(report, translated()));
}

}  // namespace

void writeReportFile(const engine::Report& report, const std::filesystem::path& file) {
    if (file.extension() == ".pdf") return writePdf(report, file);
    if (file.extension() == ".html") return writeHtml(report, file);
    throw engine::Error(engine::ErrorCode::settings,
                        msg("{}: a report is a file that ends in .html or .pdf", file.string()));
}

}  // namespace ui
