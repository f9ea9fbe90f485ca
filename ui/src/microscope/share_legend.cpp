#include "microscope/share_legend.h"

#include <QPainter>

#include "feed/run_track.h"
#include "microscope/microscope_model.h"
#include "theme/heat_color.h"
#include "theme/theme.h"

namespace ui {

namespace {

constexpr int legendStrip = 64, legendHeight = 8;  // pixels

}  // namespace

ShareLegend::ShareLegend(const Theme* theme, const MicroscopeModel* model, QWidget* parent)
    : QWidget(parent), theme_(theme), model_(model) {
    setFont(Theme::caption());
    setSizePolicy(QSizePolicy::Fixed, QSizePolicy::Preferred);
    setAccessibleName(tr("Shades: from few values to most of the layer's values"));
    setToolTip(accessibleName());
    connect(theme_, &Theme::changed, this, qOverload<>(&QWidget::update));
    connect(model_, &MicroscopeModel::contentChanged, this, qOverload<>(&QWidget::update));
}

QSize ShareLegend::sizeHint() const {
    const QFontMetrics metrics(font());
    return {metrics.horizontalAdvance(tr("few")) + metrics.horizontalAdvance(tr("most")) +
                legendStrip + 2 * size::gap,
            metrics.height()};
}

void ShareLegend::paintEvent(QPaintEvent*) {
    if (!model_->sample()) return;
    QPainter painter(this);
    const Tokens& t = theme_->tokens();
    const QColor run = model_->track()
                           ? theme_->run(model_->track()->precision(), model_->track()->hue.own)
                           : t.accent;
    const int words = fontMetrics().horizontalAdvance(tr("few"));
    const int left = words + size::gap, top = (height() - legendHeight) / 2;
    for (int x = 0; x < legendStrip; ++x) {
        const double share = static_cast<double>(x) / (legendStrip - 1);
        painter.fillRect(left + x, top, 1, legendHeight, heatColor(t, run, share));
    }
    painter.setPen(t.line);
    painter.drawRect(left, top, legendStrip - 1, legendHeight);
    painter.setPen(t.dim);
    painter.drawText(rect(), Qt::AlignLeft | Qt::AlignVCenter, tr("few"));
    painter.drawText(rect(), Qt::AlignRight | Qt::AlignVCenter, tr("most"));
}

}  // namespace ui
