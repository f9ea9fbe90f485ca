#include "plots/plot_export.h"

#include <QCoreApplication>
#include <QSvgGenerator>
#include <cmath>

#include "engine/base/error.h"
#include "plots/line_plot.h"
#include "plots/plot_options.h"
#include "text/format.h"

namespace ui {
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

namespace {

constexpr std::int64_t maxLines = 20'000;

struct PlotData {
    Q_DECLARE_TR_FUNCTIONS(PlotData)
public:
    static QString column(const QString& name, std::int64_t width) {
        return width == 1 ? name : tr("%1 (mean of %2 steps)").arg(name, count(width));
    }
};

/// A number that other programs read: no thousands separators.
QString cell(double value) {
    if (std::isnan(value)) return u"NaN"_s;
    if (std::isinf(value)) return value > 0 ? u"inf"_s : u"-inf"_s;
    return QString::number(value, 'g', 9);
}

QString cell(const Bucket& rows) {
    if (rows.finite > 0) return cell(static_cast<double>(rows.mean));
    const double inf = std::numeric_limits<double>::infinity();
    if (rows.up != 0) return cell(inf);
    return cell(rows.down != 0 ? -inf : std::numeric_limits<double>::quiet_NaN());
}

/// Rows of a curve in view, as far as they are there.
std::pair<std::int64_t, std::int64_t> rowsOf(const LinePlot& plot, const Curve& curve) {
    const auto [first, last] = plot.axes().rowsInView(curve.x);
    return {std::min(first, curve.data->size()), std::min(last, curve.data->size())};
}

}  // namespace

QString visibleData(const LinePlot& plot) {
    std::int64_t first = std::numeric_limits<std::int64_t>::max();
    std::int64_t last = 0;
    for (const Curve& curve : plot.content().curves) {
        const auto [from, to] = rowsOf(plot, curve);
        first = std::min(first, from);
        last = std::max(last, to);
    }
    if (last <= first) return {};
    std::int64_t width = 1;
    while ((last - first) / width > maxLines) width *= 2;
    const bool ownX = plot.axes().xKind() != XKind::step;
    QStringList head{xName(XKind::step)};
    for (const Curve& curve : plot.content().curves) {
        if (ownX) head << curve.name + u' ' + xName(plot.axes().xKind());
        head << PlotData::column(curve.name, width);
    }
    QString out = head.join(u'\t') + u'\n';
    for (std::int64_t row = first; row < last; row += width) {
        QStringList cells{QString::number(row + 1)};
        for (const Curve& curve : plot.content().curves) {
            const auto [from, to] = rowsOf(plot, curve);
            const bool there = row >= from && row < to;
            if (ownX) {
                const auto step = static_cast<double>(row + 1);
                cells << (there ? cell(curve.x ? curve.x->at(plot.axes().xKind(), step) : step)
                                : QString());
            }
            cells << (there ? cell(curve.data->total(row, std::min(row + width, to))) : QString());
        }
        out += cells.join(u'\t') + u'\n';
    }
    return out;
}

}  // namespace ui
