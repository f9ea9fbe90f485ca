#include "widgets/page_export.h"

#include <QBuffer>
#include <QImage>
#include <QPainter>
#include <QSvgGenerator>
#include <QWidget>

#include "widgets/save_dialog.h"

namespace ui {

using namespace Qt::StringLiterals;

namespace {

constexpr double sharpness = 2;  // pixels of a bitmap for each point

struct PageExportDialog {
    Q_DECLARE_TR_FUNCTIONS(PageExport)
public:
    static QString askForFile(QWidget* parent, const PageExport& page) {
        std::vector<FileForm> forms{{tr("Figures (*.csv)"), u"csv"_s}};
        if (page.markdown) forms.push_back({tr("Table (*.md)"), u"md"_s});
        if (page.plots != nullptr) {
            forms.push_back({tr("Picture (*.png)"), u"png"_s});
            forms.push_back({tr("Picture (*.svg)"), u"svg"_s});
        }
        const auto named = ui::askForFile(parent, tr("Export this page"), page.name, forms);
        return named ? named->file : QString();
    }
};

FileWriter pngWriter(QWidget* plots, const QString& file) {
    QImage picture(plots->size() * sharpness, QImage::Format_ARGB32_Premultiplied);
    picture.setDevicePixelRatio(sharpness);
    picture.fill(plots->palette().color(QPalette::Window));
    plots->render(&picture);
    return [picture, file] {
        QByteArray bytes;
        QBuffer out(&bytes);
        out.open(QIODevice::WriteOnly);
        picture.save(&out, "PNG");
        writerOf(file, bytes)();
    };
}

FileWriter svgWriter(QWidget* plots, const QString& file) {
    QSvgGenerator svg;
    QBuffer page;
    svg.setOutputDevice(&page);
    svg.setSize(plots->size());
    svg.setViewBox(plots->rect());
    QPainter painter;
    if (!painter.begin(&svg)) return {};
    plots->render(&painter);
    return painter.end() ? writerOf(file, page.data()) : FileWriter();
}

}  // namespace

FileWriter pageWriter(const PageExport& page, const QString& file) {
    const auto ends = [&file](const char* ending) {
        return file.endsWith(QLatin1StringView(ending), Qt::CaseInsensitive);
    };
    if (ends(".csv")) return writerOf(file, QByteArray::fromStdString(to_csv(page.table())));
    if (ends(".md")) return page.markdown ? writerOf(file, page.markdown().toUtf8()) : FileWriter();
    if (page.plots != nullptr && ends(".png")) return pngWriter(page.plots, file);
    if (page.plots != nullptr && ends(".svg")) return svgWriter(page.plots, file);
    return {};
}

void exportPage(QWidget* parent, const PageExport& page) {
    const QString file = PageExportDialog::askForFile(parent, page);
    if (file.isEmpty()) return;
    if (FileWriter writer = pageWriter(page, file)) page.write(file, std::move(writer));
}

}  // namespace ui
