#include "pdf/report_file.h"

#include <QApplication>
#include <QBuffer>
#include <QImage>
#include <QLocale>
#include <QPainter>
#include <QPdfWriter>
#include <QSvgRenderer>
#include <QTextDocument>
#include <QUrl>

#include "engine/base/error.h"
#include "engine/io/named_file.h"
#include "pdf/printed_pages.h"
#include "text/language.h"

namespace ui {

using namespace Qt::StringLiterals;
using engine::msg;

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
