#include "plots/plot_data.h"

#include <QCoreApplication>
#include <cmath>

#include "plots/line_plot.h"
#include "text/format.h"

namespace ui {

using namespace Qt::StringLiterals;

namespace {

constexpr std::int64_t mostLines = 20'000;

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
    const auto [first, last] = plot.rowsInView(curve.x);
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
    while ((last - first) / width > mostLines) width *= 2;
    const bool ownX = plot.xKind() != XKind::step;
    QStringList head{xName(XKind::step)};
    for (const Curve& curve : plot.content().curves) {
        if (ownX) head << curve.name + u' ' + xName(plot.xKind());
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
                cells << (there ? cell(curve.x ? curve.x->at(plot.xKind(), step) : step)
                                : QString());
            }
            cells << (there ? cell(curve.data->total(row, std::min(row + width, to))) : QString());
        }
        out += cells.join(u'\t') + u'\n';
    }
    return out;
}

}  // namespace ui
