#include "plots/plot_picture.h"

#include <QSvgGenerator>

#include "engine/base/error.h"
#include "plots/line_plot.h"
#include "plots/plot_options.h"

namespace ui {

using namespace Qt::StringLiterals;

namespace {

constexpr double sharpness = 2;  // pixels of a bitmap for each point

/// Calls draw(plot) with a separate, invisible plot.
template <typename F>
auto withPlot(const PlotPicture& picture, F&& draw) {
    PlotLink link;
    link.setEnd(picture.view->end());
    if (!picture.view->fitted()) link.zoom(picture.view->low(), picture.view->high());
    const PlotOptions* options = picture.view->options();
    link.options()->setX(options->x());
    link.options()->setSmoothing(options->smoothing());
    link.options()->setRuns(options->runs());
    PaintScheduler scheduler;
    LinePlot plot(picture.theme, &link, &scheduler);
    plot.setLook(picture.look);
    plot.setContent(picture.content);
    const QString note = picture.note.isEmpty() ? QString() : u" \u00b7 "_s + picture.note;
    plot.layOutForPicture(picture.look.title + note, picture.size);
    return draw(plot);
}

bool writeSvg(LinePlot& plot, const PlotPicture& picture, const QString& file) {
    QSvgGenerator svg;
    svg.setFileName(file);
    svg.setSize(picture.size);
    svg.setViewBox(QRect({0, 0}, picture.size));
    svg.setTitle(picture.look.title);
    QCPPainter painter;
    if (!painter.begin(&svg)) return false;
    painter.setMode(QCPPainter::pmVectorized);
    plot.toPainter(&painter, picture.size.width(), picture.size.height());
    return painter.end();
}

}  // namespace

QPixmap drawPicture(const PlotPicture& picture) {
    return withPlot(picture, [&](LinePlot& plot) {
        return plot.toPixmap(picture.size.width(), picture.size.height(), sharpness);
    });
}

FileWriter pictureWriter(const PlotPicture& picture, const QString& file) {
    const int width = picture.size.width();
    const int height = picture.size.height();
    return withPlot(picture, [&](LinePlot& plot) {
        return writerOf(file, madeByName(file, [&](const QString& to) {
            if (to.endsWith(u".pdf"_s, Qt::CaseInsensitive)) return plot.savePdf(to, width, height);
            if (to.endsWith(u".svg"_s, Qt::CaseInsensitive)) return writeSvg(plot, picture, to);
            return to.endsWith(u".png"_s, Qt::CaseInsensitive) &&
                   plot.savePng(to, width, height, sharpness);
        }));
    });
}

bool writePicture(const PlotPicture& picture, const QString& file) {
    try {
        pictureWriter(picture, file)();
        return true;
    } catch (const engine::Error&) {
        return false;
    }
}

}  // namespace ui
