#include "twin/twin_map.h"

#include <QHelpEvent>
#include <QKeyEvent>
#include <QMouseEvent>
#include <QScrollBar>
#include <QToolTip>
#include <cmath>

#include "feed/run_track.h"
#include "plots/plot_link.h"
#include "text/format.h"
#include "theme/heat_color.h"
#include "theme/theme.h"
#include "widgets/panel.h"

namespace ui {

using namespace Qt::StringLiterals;

namespace {

constexpr int leastRow = 12, mostRow = 40;
constexpr int footHeight = 22;

}  // namespace

double twinShade(double value, bool angle) {
    if (!(value > 0)) return 0;
    const double low = angle ? 0.1 : 0.001, high = angle ? 90 : 1;
    return std::clamp(std::log(value / low) / std::log(high / low), 0.0, 1.0);
}

TwinMap::TwinMap(const Theme* theme, PlotLink* link, TwinModel* model, QWidget* parent)
    : QAbstractScrollArea(parent), theme_(theme), link_(link), model_(model) {
    setFrameShape(QFrame::NoFrame);
    setFocusPolicy(Qt::StrongFocus);
    setFont(Theme::caption());
    setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    setAccessibleName(tr("Gradient error by layer and step"));
    connect(model_, &TwinModel::contentChanged, this, &TwinMap::refresh);
    connect(model_, &TwinModel::grew, this, &TwinMap::refresh);
    connect(model_, &TwinModel::selectionChanged, viewport(), qOverload<>(&QWidget::update));
    connect(theme_, &Theme::changed, this, &TwinMap::refresh);
}

QSize TwinMap::sizeHint() const { return {900, 400}; }
QSize TwinMap::minimumSizeHint() const { return {360, 120}; }

QColor TwinMap::runColor() const {
    return model_->other() ? theme_->precision(model_->other()->precision())
                           : theme_->tokens().accent;
}

void TwinMap::showAngle(bool angle) {
    angle_ = angle;
    refresh();
}

void TwinMap::refresh() {
    stale_ = true;
    layOut();
    viewport()->update();
}

void TwinMap::layOut() {
    const int rows = model_->any() ? static_cast<int>(model_->layers()) : 0;
    const int room = viewport()->height() - footHeight;
    verticalScrollBar()->setPageStep(std::max(1, room));
    verticalScrollBar()->setSingleStep(leastRow);
    verticalScrollBar()->setRange(0, std::max(0, rows * leastRow - room));
}

void TwinMap::resizeEvent(QResizeEvent*) { refresh(); }

int TwinMap::nameWidth() const {
    int widest = 0;
    for (std::size_t i = 0; i < model_->layers(); ++i)
        widest = std::max(widest, fontMetrics().horizontalAdvance(model_->name(i)));
    return std::clamp(widest + size::inside, 48, std::max(48, viewport()->width() / 4));
}

/// Of all rows, scrolled or not.
QRectF TwinMap::plot() const {
    const double room = viewport()->height() - footHeight;
    const auto rows = static_cast<double>(std::max<std::size_t>(1, model_->layers()));
    const double row =
        std::clamp(room / rows, static_cast<double>(leastRow), static_cast<double>(mostRow));
    const double left = nameWidth() + size::gap;
    return {left, -static_cast<double>(verticalScrollBar()->value()),
            std::max(40.0, viewport()->width() - left - size::inside), row * rows};
}

double TwinMap::end() const {
    const auto& track = model_->other();
    const std::int64_t planned = track ? track->plannedSteps() : 0;
    return static_cast<double>(std::max({std::int64_t{1}, planned, model_->steps()}));
}

double TwinMap::xOf(double step) const { return plot().left() + plot().width() * step / end(); }

std::int64_t TwinMap::stepAt(double x) const {
    const double step = std::round((x - plot().left()) / plot().width() * end());
    return std::clamp<std::int64_t>(static_cast<std::int64_t>(step), 1,
                                    std::max<std::int64_t>(1, model_->steps()));
}

int TwinMap::rowAt(double y) const {
    const auto rows = static_cast<int>(model_->layers());
    if (y >= viewport()->height() - footHeight) return -1;
    const int row = static_cast<int>((y - plot().top()) / (plot().height() / rows));
    return row >= 0 && row < rows ? row : -1;
}

/// The largest value of the steps that share a pixel, so that no step is hidden.
void TwinMap::makeImage() {
    stale_ = false;
    const auto columns = static_cast<std::int64_t>(plot().width());
    const auto rows = static_cast<int>(model_->layers());
    image_ = QImage(static_cast<int>(columns), rows, QImage::Format_RGB32);
    image_.fill(theme_->tokens().panel);
    std::array<QRgb, 256> shades{};
    for (std::size_t i = 0; i < shades.size(); ++i)
        shades[i] = heatColor(theme_->tokens(), runColor(), static_cast<double>(i) / 255).rgb();
    const QRgb lost = blend(theme_->tokens().panel, theme_->tokens().bad, 0.35).rgb();
    const double per = end() / static_cast<double>(columns);
    for (std::int64_t column = 0; column < columns; ++column) {
        const auto first = static_cast<std::int64_t>(static_cast<double>(column) * per);
        const auto last =
            std::max(first + 1, static_cast<std::int64_t>(static_cast<double>(column + 1) * per));
        if (first >= model_->steps()) break;
        for (int row = 0; row < rows; ++row) {
            float most = -1;
            for (std::int64_t i = first; i < std::min(last, model_->steps()); ++i) {
                const auto layer = static_cast<std::size_t>(row);
                const float value = angle_ ? model_->angle(layer, i) : model_->error(layer, i);
                if (!std::isnan(value)) most = std::max(most, value);
            }
            const double shade = twinShade(static_cast<double>(most), angle_);
            reinterpret_cast<QRgb*>(image_.scanLine(row))[column] =
                most < 0 ? lost : shades[static_cast<std::size_t>(shade * 255)];
        }
    }
}

void TwinMap::paintMarks(QPainter& painter, double bottom) const {
    const Tokens& t = theme_->tokens();
    const double row = plot().height() / static_cast<double>(model_->layers());
    const auto first = model_->digest().first_to_diverge();
    for (std::size_t i = 0; i < model_->layers(); ++i) {
        const std::int64_t at = model_->digest().layers()[i].diverged;
        if (at == 0) continue;
        const double x = xOf(static_cast<double>(at)),
                     y = plot().top() + static_cast<double>(i) * row;
        painter.setPen(QPen(t.text, 2));
        painter.drawLine(QPointF(x, y + 1), QPointF(x, y + row - 1));
        if (first != i) continue;
        painter.setBrush(t.panel);
        painter.drawEllipse(QPointF(x, y + row / 2), 5, 5);
    }
    painter.setPen(QPen(t.accent, 1.4, Qt::DashLine));
    for (const std::int64_t step : model_->resyncs()) {
        const double x = xOf(static_cast<double>(step));
        painter.drawLine(QPointF(x, 0), QPointF(x, bottom));
    }
    painter.setPen(QPen(t.accent, 1.4));
    const double x = xOf(static_cast<double>(model_->current() + 1));
    painter.drawLine(QPointF(x, 0), QPointF(x, bottom));
}

void TwinMap::paintAxis(QPainter& painter) const {
    const Tokens& t = theme_->tokens();
    const double top = viewport()->height() - footHeight;
    painter.fillRect(QRectF(0, top, viewport()->width(), footHeight), t.panel);
    painter.setPen(QPen(t.bad, 1.4));
    for (std::int64_t i = 0; i < model_->steps(); ++i) {
        if (!model_->skipped(i)) continue;
        const double x = xOf(static_cast<double>(i + 1));
        painter.drawLine(QPointF(x, top), QPointF(x, top + 4));
    }
    painter.setPen(t.dim);
    for (int part = 0; part <= 4; ++part) {
        const double step = std::round(end() * part / 4);
        painter.drawText(QRectF(xOf(step) - 40, top + 4, 80, footHeight - 4), Qt::AlignCenter,
                         count(static_cast<std::int64_t>(step)));
    }
}

void TwinMap::paintEvent(QPaintEvent*) {
    if (!model_->any()) {
        paintEmpty(viewport(), *theme_, model_->emptiness());
        return;
    }
    if (stale_) makeImage();
    const Tokens& t = theme_->tokens();
    QPainter painter(viewport());
    painter.setFont(Theme::caption());
    const double bottom =
        std::min(plot().bottom(), static_cast<double>(viewport()->height() - footHeight));
    painter.drawImage(plot(), image_);
    const double row = plot().height() / static_cast<double>(model_->layers());
    painter.setPen(t.panel);
    for (std::size_t i = 1; row >= 8 && i < model_->layers(); ++i) {
        const double y = std::round(plot().top() + static_cast<double>(i) * row);
        painter.drawLine(QPointF(plot().left(), y), QPointF(plot().right(), y));
    }
    painter.setRenderHint(QPainter::Antialiasing);
    const std::size_t selected = model_->selected();
    const int line = fontMetrics().height();
    double drawn = -line;
    for (std::size_t i = 0; i < model_->layers(); ++i) {
        const double y = plot().top() + static_cast<double>(i) * row;
        const bool chosen = i == selected;
        if (chosen) painter.fillRect(QRectF(0, y, 3, row), t.accent);
        if (!chosen && y - drawn < line) continue;  // names that would overlap are left out
        drawn = y;
        QFont font = Theme::caption();
        font.setBold(chosen);
        painter.setFont(font);
        painter.setPen(chosen ? t.text : t.dim);
        painter.drawText(
            QRectF(4, y, nameWidth() - 4, row), Qt::AlignRight | Qt::AlignVCenter,
            QFontMetrics(font).elidedText(model_->name(i), Qt::ElideLeft, nameWidth() - 6));
    }
    paintMarks(painter, bottom);
    painter.setFont(Theme::caption());
    paintAxis(painter);
}

void TwinMap::mousePressEvent(QMouseEvent* event) {
    if (event->button() != Qt::LeftButton || !model_->any()) return;
    if (const int row = rowAt(event->position().y()); row >= 0)
        model_->select(static_cast<std::size_t>(row));
    if (event->position().x() >= plot().left())
        link_->select(stepAt(event->position().x()), model_->other());
}

void TwinMap::mouseMoveEvent(QMouseEvent* event) {
    if ((event->buttons() & Qt::LeftButton) != 0 && model_->any() &&
        event->position().x() >= plot().left())
        link_->select(stepAt(event->position().x()), model_->other());
}

void TwinMap::keyPressEvent(QKeyEvent* event) {
    if (!model_->any()) return QAbstractScrollArea::keyPressEvent(event);
    const auto rows = static_cast<int>(model_->layers());
    const int at = static_cast<int>(model_->selected());
    const std::int64_t step = model_->current() + 1;
    switch (event->key()) {
        case Qt::Key_Up:
        case Qt::Key_Down: {
            const int to = at + (event->key() == Qt::Key_Up ? -1 : 1);
            if (to >= 0 && to < rows) model_->select(static_cast<std::size_t>(to));
            return;
        }
        case Qt::Key_Left:
            if (step > 1) link_->select(step - 1, model_->other());
            return;
        case Qt::Key_Right:
            if (step < model_->steps()) link_->select(step + 1, model_->other());
            return;
        default:
            QAbstractScrollArea::keyPressEvent(event);
    }
}

bool TwinMap::viewportEvent(QEvent* event) {
    if (event->type() != QEvent::ToolTip || !model_->any())
        return QAbstractScrollArea::viewportEvent(event);
    auto* help = static_cast<QHelpEvent*>(event);
    const int row = rowAt(help->pos().y());
    if (row < 0 || help->pos().x() < plot().left()) return true;
    const std::int64_t step = stepAt(help->pos().x());
    const auto layer = static_cast<std::size_t>(row);
    QToolTip::showText(
        help->globalPos(),
        model_->skipped(step - 1)
            ? tr("Step %1 was skipped").arg(count(step))
            : tr("%1, step %2: error %3, angle %4°")
                  .arg(model_->name(layer), count(step),
                       percent(static_cast<double>(model_->error(layer, step - 1))),
                       significant(static_cast<double>(model_->angle(layer, step - 1)))),
        viewport());
    return true;
}

}  // namespace ui
