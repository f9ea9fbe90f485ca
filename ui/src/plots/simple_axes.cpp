#include "plots/simple_axes.h"

#include "plots/custom_plot.h"
#include "theme/theme.h"

namespace ui {

void styleAxes(QCustomPlot* plot, const Tokens& tokens) {
    plot->setBackground(tokens.panel);
    for (QCPAxis* axis : {plot->xAxis, plot->yAxis}) {
        axis->setBasePen(QPen(tokens.line));
        axis->setTickPen(QPen(tokens.line));
        axis->setSubTickPen(Qt::NoPen);
        axis->setTickLabelColor(tokens.dim);
        axis->setLabelColor(tokens.dim);
        axis->setTickLabelFont(Theme::caption());
        axis->setLabelFont(Theme::caption());
        axis->grid()->setPen(QPen(tokens.grid));
        axis->grid()->setZeroLinePen(Qt::NoPen);
    }
}

}  // namespace ui
