#include "twin/twin_legend.h"

#include <QPainter>

#include "theme/theme.h"
#include "twin/twin_map.h"
#include "twin/twin_table.h"

namespace ui {

using namespace Qt::StringLiterals;

namespace {

constexpr int leastStrip = 150, stripHeight = 8;

/// The values whose shades have a number.
std::vector<double> legendValues(bool angle) {
    return angle ? std::vector{0.1, 1.0, 10.0, 90.0} : std::vector{0.001, 0.01, 0.1, 1.0};
}

QString legendText(double value, bool angle) {
    return angle ? QString::number(value) + u'°' : gradientErrorText(value, 1);
}

}  // namespace

TwinLegend::TwinLegend(const Theme* theme, const TwinMap* map, QWidget* parent)
    : QWidget(parent), theme_(theme), map_(map) {
    setFont(Theme::caption());
    setSizePolicy(QSizePolicy::Fixed, QSizePolicy::Preferred);
    connect(theme_, &Theme::changed, this, qOverload<>(&QWidget::update));
    showAngle(false);
}

void TwinLegend::showAngle(bool angle) {
    angle_ = angle;
    const auto values = legendValues(angle);
    setAccessibleName(
        tr("Shades from %1 to %2")
            .arg(legendText(values.front(), angle), legendText(values.back(), angle)));
    update();
}

/// So that the numbers of four shades stand apart.
int TwinLegend::stripWidth() const {
    return std::max(leastStrip, 4 * fontMetrics().horizontalAdvance(u"100 %"_s));
}

QSize TwinLegend::sizeHint() const {
    const int half = fontMetrics().horizontalAdvance(u"100 %"_s) / 2;
    return {stripWidth() + 2 * half, stripHeight + fontMetrics().height() + 2};
}

void TwinLegend::paintEvent(QPaintEvent*) {
    QPainter painter(this);
    const Tokens& t = theme_->tokens();
    const int left = (width() - stripWidth()) / 2, top = (height() - sizeHint().height()) / 2;
    for (int x = 0; x < stripWidth(); ++x) {
        const double shade = static_cast<double>(x) / (stripWidth() - 1);
        painter.fillRect(left + x, top, 1, stripHeight, twinColor(t, map_->runColor(), shade));
    }
    painter.setPen(t.line);
    painter.drawRect(left, top, stripWidth() - 1, stripHeight);
    painter.setPen(t.dim);
    for (const double value : legendValues(angle_)) {
        const double x = left + twinShade(value, angle_) * (stripWidth() - 1);
        painter.drawLine(QPointF(x, top + stripHeight), QPointF(x, top + stripHeight + 2));
        painter.drawText(QRectF(x - 30, top + stripHeight + 2, 60, fontMetrics().height()),
                         Qt::AlignCenter, legendText(value, angle_));
    }
}

}  // namespace ui
