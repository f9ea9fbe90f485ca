#include "network/network_overview.h"

#include <QAccessible>
#include <QHelpEvent>
#include <QMouseEvent>
#include <QPainter>
#include <QToolTip>
#include <algorithm>
#include <cmath>
#include <span>
#include <utility>
#include <vector>

#include "network/network_columns.h"
#include "network/network_editor.h"
#include "network/network_model.h"
#include "network/network_strip.h"
#include "text/format.h"
#include "xray/op_delegate.h"

namespace ui {
namespace {

constexpr double highestRow = 9, paleLayers = 0.36;

/// The module around all of a layer: "layer1" of "layer1.0.conv1".
QString topModule(const engine::NetworkRow& row) { return QString::fromStdString(row.module).section(u'.', 0, 0); }

}  // namespace

NetworkOverview::NetworkOverview(const Theme* theme, NetworkModel* model, NetworkEditor* editor, QWidget* parent)
    : PaintedWidget(theme, parent), model_(model), editor_(editor) {
    setAccessibleName(tr("All layers"));
    setFocusPolicy(Qt::StrongFocus);
    setMouseTracking(true);
    measure();
    connect(model, &NetworkModel::checked, this, &NetworkOverview::paintAnew);
    connect(theme, &Theme::changed, this, &NetworkOverview::paintAnew);
    connect(editor, &NetworkEditor::moved, this, qOverload<>(&QWidget::update));
}

void NetworkOverview::measure() { setFixedWidth(std::max(98, QFontMetrics(Theme::caption()).horizontalAdvance(tr("all %1 layers").arg(u"0,000"_s)) + 2 * size::gap)); }

void NetworkOverview::changeEvent(QEvent* event) {
    PaintedWidget::changeEvent(event);
    if (event->type() == QEvent::FontChange) measure();
    if (event->type() == QEvent::FontChange || event->type() == QEvent::LanguageChange) paintAnew();
}

void NetworkOverview::resizeEvent(QResizeEvent* event) {
    PaintedWidget::resizeEvent(event);
    paintAnew();
}

void NetworkOverview::paintAnew() {
    layers_ = {};
    update();
}

QRectF NetworkOverview::rowArea(int row) const {
    const auto rows = std::max<std::size_t>(model_->good().network.rows.size(), 1);
    const double top = NetworkStrip::headHeight() + size::grid, room = height() - top - size::grid;
    const double step = std::min(highestRow, room / static_cast<double>(rows));
    return {0, top + step * row, static_cast<double>(width()), step};
}

int NetworkOverview::rowAt(double y) const {
    const QRectF first = rowArea(0);
    const int row = y < first.top() ? -1 : static_cast<int>((y - first.top()) / first.height());
    return row < static_cast<int>(model_->good().network.rows.size()) ? row : -1;
}

void NetworkOverview::hover(int row) {
    if (std::exchange(hovered_, row) != row) update();
}

void NetworkOverview::mouseMoveEvent(QMouseEvent* event) { hover(rowAt(event->position().y())); }
void NetworkOverview::leaveEvent(QEvent*) { hover(-1); }

bool NetworkOverview::event(QEvent* event) {
    if (event->type() != QEvent::ToolTip) return PaintedWidget::event(event);
    const auto* help = static_cast<QHelpEvent*>(event);
    QToolTip::showText(help->globalPos(), about(rowAt(help->pos().y())), this);
    return true;
}

std::pair<int, int> NetworkOverview::shownUse() const {
    const auto& rows = model_->good().network.rows;
    const int current = currentRow();
    if (current < 0 || static_cast<std::size_t>(current) >= rows.size()) return {0, -1};
    const auto& heads = rows[static_cast<std::size_t>(current)].heads;
    if (heads.empty()) return {0, -1};
    const auto isIn = [&](int row) {
        const auto& own = rows[static_cast<std::size_t>(row)].heads;
        return own.size() >= heads.size() && std::ranges::equal(heads, std::span(own).first(heads.size()));
    };
    int first = current, last = current;
    while (first > 0 && isIn(first - 1)) --first;
    while (last + 1 < static_cast<int>(rows.size()) && isIn(last + 1)) ++last;
    return {first, last};
}

int NetworkOverview::currentRow() const {
    const auto& lines = model_->good().rows.lines;
    const auto index = static_cast<std::size_t>(editor_->currentLine() - 1);
    return index < lines.size() ? lines[index].row : -1;
}

void NetworkOverview::choose(int row) {
    if (model_->isStale()) return;  // its lines are those of an earlier text
    const auto& rows = model_->good().network.rows;
    if (row < 0 || static_cast<std::size_t>(row) >= rows.size()) return;
    const engine::NetworkRow chosen = rows[static_cast<std::size_t>(row)];
    for (const auto& head : chosen.heads) model_->choose(head.line, head.run);
    editor_->goTo(chosen.place.line);
    QAccessibleEvent said(this, QAccessible::DescriptionChanged);
    QAccessible::updateAccessibility(&said);
}

void NetworkOverview::paintEvent(QPaintEvent*) {
    QPainter painter(this);
    painter.setFont(Theme::caption());
    const Tokens& tokens = theme_->tokens();
    painter.fillRect(rect(), tokens.panel);
    const int head = NetworkStrip::headHeight();
    painter.setPen(tokens.dim);
    painter.drawText(QRect(size::gap, 0, width() - 2 * size::gap, head), Qt::AlignLeft | Qt::AlignVCenter,
                     tr("all %1 layers").arg(count(std::ssize(model_->good().network.rows))));
    painter.setPen(tokens.line);
    painter.drawLine(0, head - 1, width(), head - 1);
    painter.drawLine(0, 0, 0, height());
    if (model_->isStale()) painter.setOpacity(paleLayers);
    if (layers_.isNull() || layers_.devicePixelRatio() != devicePixelRatioF()) {
        layers_ = QPixmap(size() * devicePixelRatioF());
        layers_.setDevicePixelRatio(devicePixelRatioF());
        layers_.fill(Qt::transparent);
        QPainter layers(&layers_);
        layers.setFont(painter.font());
        paintLayers(layers);
    }
    if (const int current = currentRow(); current >= 0) painter.fillRect(rowArea(current), blend(tokens.panel, tokens.accent, 0.3));
    if (hovered_ >= 0 && hovered_ < static_cast<int>(model_->good().network.rows.size()))
        painter.fillRect(rowArea(hovered_), blend(tokens.panel, tokens.accent, 0.3));
    painter.drawPixmap(0, 0, layers_);
    if (const auto [first, last] = shownUse(); last >= first) {
        painter.setPen(QPen(tokens.accent, 1.5));
        painter.setBrush(Qt::NoBrush);
        painter.drawRoundedRect(QRectF(1, rowArea(first).top() - 1, width() - 2, rowArea(last).bottom() - rowArea(first).top() + 2), 2, 2);
    }
    painter.setOpacity(1);
    if (!hasFocus()) return;
    painter.setPen(QPen(tokens.accent, 2));
    painter.drawRect(rect().adjusted(1, 1, -1, -1));
}

/// Bars grow with the square root, so that small layers are seen beside large ones.
void NetworkOverview::paintLayers(QPainter& painter) const {
    const auto& view = model_->good();
    const Tokens& tokens = theme_->tokens();
    double most = 1, largest = 1;
    for (const auto& row : view.network.rows) most = std::max(most, static_cast<double>(row.parameters));
    for (const double each : view.memory.saved) largest = std::max(largest, each);
    const double middle = width() / 2.0, room = middle - size::grid;
    QString group;
    std::vector<std::pair<double, QString>> names;  // and where they stand: in front of the bars
    double written = 0;  // where the last name ends
    for (int i = 0; i < static_cast<int>(view.network.rows.size()); ++i) {
        const auto& row = view.network.rows[static_cast<std::size_t>(i)];
        const QRectF area = rowArea(i);
        const double bar = std::max(1.0, area.height() - 1);
        const auto index = static_cast<std::size_t>(i);
        const double saved = index < view.memory.saved.size() ? view.memory.saved[index] : 0;
        const double left = room * std::sqrt(static_cast<double>(row.parameters) / most), right = room * std::sqrt(saved / largest);
        painter.fillRect(QRectF(middle - left, area.top(), left, bar), tokens.dim);
        const QString type = index < view.types.rows.size() ? QString::fromStdString(view.types.rows[index]).section(u", "_s, -1) : QString();
        painter.fillRect(QRectF(middle, area.top(), right, bar), typeColor(*theme_, type));
        const QString module = topModule(row);
        if (module.isEmpty() || module == group || row.module.find('.') == row.module.npos) continue;
        group = module;
        if (area.top() < written) continue;
        written = area.top() + painter.fontMetrics().height();
        names.emplace_back(area.top(), painter.fontMetrics().elidedText(module, Qt::ElideRight, static_cast<int>(room)));
    }
    for (const auto& [top, name] : names) {
        painter.setPen(tokens.line);
        painter.drawLine(QPointF(0, top), QPointF(width(), top));
        const QRectF place(size::grid, top + 1, painter.fontMetrics().horizontalAdvance(name), painter.fontMetrics().height());
        painter.fillRect(place, tokens.panel);
        painter.setPen(tokens.dim);
        painter.drawText(place, Qt::AlignLeft | Qt::AlignTop, name);
    }
}

void NetworkOverview::mousePressEvent(QMouseEvent* event) {
    choose(rowAt(event->position().y()));
}

void NetworkOverview::keyPressEvent(QKeyEvent* event) {
    const int by = event->key() == Qt::Key_Up ? -1 : event->key() == Qt::Key_Down ? 1 : 0;
    if (by == 0) return PaintedWidget::keyPressEvent(event);
    choose(std::clamp(currentRow() + by, 0, std::max(0, static_cast<int>(model_->good().network.rows.size()) - 1)));
}

QString NetworkOverview::spoken() const {
    const QString all = tr("all %1 layers").arg(count(std::ssize(model_->good().network.rows)));
    const int current = currentRow();
    return current < 0 ? all : all + u": "_s + about(current);
}

QString NetworkOverview::about(int index) const {
    const auto& view = model_->good();
    const auto at = static_cast<std::size_t>(index);
    if (index < 0 || at >= view.network.rows.size()) return {};
    const auto& row = view.network.rows[at];
    const QString text = tr("layer %1, %2, %3 parameters").arg(count(index + 1), QString::fromStdString(row.module.empty() ? row.layer : row.module), count(row.parameters));
    return at < view.memory.saved.size() ? tr("%1, saves %2").arg(text, savedText(view.memory.saved[at])) : text;
}

}  // namespace ui
