#include "microscope/exponent_axis.h"

#include <QPainter>
#include <algorithm>
#include <cmath>

#include "text/format.h"
#include "theme/tokens.h"

namespace ui {

FormatLimits limitsOf(const engine::NumberFormat& format) {
    return {std::log2(format.smallest), std::log2(format.smallest_normal),
            std::log2(format.overflow)};
}

namespace {

/// "E4M3" of "FP8 E4M3".
QString shortTitle(const engine::NumberFormat& format) {
    const auto title =
        QString::fromUtf8(format.title.data(), static_cast<qsizetype>(format.title.size()));
    return title.section(u' ', -1);
}

}  // namespace

QRectF FormatRulers::row(std::size_t index) const {
    return place.translated(0, static_cast<double>(index) * place.height());
}

const engine::NumberFormat* FormatRulers::formatAt(const QPointF& at) const {
    const auto formats = engine::histogram_formats();
    for (std::size_t i = 0; i < formats.size(); ++i) {
        if (row(i).contains(at)) return formats[i];
    }
    return nullptr;
}

void FormatRulers::paint(QPainter& painter, const Tokens& tokens,
                         const engine::NumberFormat& chosen, const QColor& color) const {
    const auto formats = engine::histogram_formats();
    const auto x = [this](double e) { return std::clamp(axis.x(e), axis.left, axis.right); };
    const auto widthOf = [&painter](const QString& text) {
        return painter.fontMetrics().horizontalAdvance(text);
    };
    for (std::size_t i = 0; i < formats.size(); ++i) {
        const engine::NumberFormat& format = *formats[i];
        const QColor own = &format == &chosen ? color : blend(tokens.panel, tokens.dim, 0.55);
        const FormatLimits limits = limitsOf(format);
        const QRectF line = row(i);
        const double top = line.top() + 4, height = line.height() - 6;
        const double zero = x(limits.zero), normal = x(limits.subnormal),
                     over = x(limits.overflow);
        painter.setBrush(Qt::NoBrush);
        painter.setPen(QPen(own, 1, Qt::DotLine));
        if (normal - zero > 1) painter.drawRect(QRectF(zero, top, normal - zero, height));
        painter.fillRect(QRectF(normal, top, over - normal, height), own);
        painter.setPen(&format == &chosen ? color : tokens.dim);
        painter.drawText(QRectF(0, line.top(), nameWidth, line.height()),
                         Qt::AlignRight | Qt::AlignVCenter, shortTitle(format));
        painter.setPen(tokens.dim);
        const QString low = exponentText(static_cast<int>(std::lround(limits.zero)));
        const double left = zero - 4 - axis.left;  // right of the names
        if (left > widthOf(low)) {
            painter.drawText(QRectF(axis.left, line.top(), left, line.height()),
                             Qt::AlignRight | Qt::AlignVCenter, low);
        }
        const QString high = count(std::llround(format.largest));
        const double right = place.right() - over - 4;
        if (axis.x(limits.overflow) < axis.right && right > widthOf(high)) {
            painter.drawText(QRectF(over + 4, line.top(), right, line.height()),
                             Qt::AlignLeft | Qt::AlignVCenter, high);
        }
    }
}

}  // namespace ui
