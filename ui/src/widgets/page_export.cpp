#include "widgets/page_export.h"

#include <QBuffer>
#include <QPainter>
#include <QSvgGenerator>
#include <QWidget>

#include "engine/csv_cell.h"
#include "text/named_output.h"
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
    static QString problem(const QString& file) { return tr("%1 cannot be written.").arg(file); }
};

bool writeText(const QString& text, const QString& file) { return writeNamed(file, text.toUtf8()); }

bool writePng(QWidget* plots, const QString& file) {
    QPixmap picture(plots->size() * sharpness);
    picture.setDevicePixelRatio(sharpness);
    picture.fill(plots->palette().color(QPalette::Window));
    plots->render(&picture);
    return writeNamed(file, [&](const QString& scratch) { return picture.save(scratch); });
}

bool writeSvg(QWidget* plots, const QString& file) {
    QSvgGenerator svg;
    QBuffer page;
    svg.setOutputDevice(&page);
    svg.setSize(plots->size());
    svg.setViewBox(plots->rect());
    QPainter painter;
    if (!painter.begin(&svg)) return false;
    plots->render(&painter);
    return painter.end() && writeNamed(file, page.data());
}

}  // namespace

bool writePage(const PageExport& page, const QString& file) {
    if (file.endsWith(u".csv"_s, Qt::CaseInsensitive)) return writeText(page.csv(), file);
    if (file.endsWith(u".md"_s, Qt::CaseInsensitive))
        return page.markdown && writeText(page.markdown(), file);
    if (page.plots == nullptr) return false;
    if (file.endsWith(u".png"_s, Qt::CaseInsensitive)) return writePng(page.plots, file);
    return file.endsWith(u".svg"_s, Qt::CaseInsensitive) && writeSvg(page.plots, file);
}

void exportPage(QWidget* parent, const PageExport& page) {
    const QString file = PageExportDialog::askForFile(parent, page);
    if (file.isEmpty()) return;
    if (!writePage(page, file)) page.failed(PageExportDialog::problem(file));
}

QString csvField(const QString& text) {
    return QString::fromStdString(engine::csv_cell(text.toStdString()));
}

}  // namespace ui
