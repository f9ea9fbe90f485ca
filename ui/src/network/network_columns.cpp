#include "network/network_columns.h"

#include <QPainter>
#include <algorithm>
#include <utility>

#include "network/network_editor.h"
#include "network/network_model.h"
#include "text/format.h"
#include "xray/op_delegate.h"

namespace ui {
namespace {

using State = NetworkLineRow::State;

}  // namespace

QString flopsText(double flops) {
    constexpr double thousand = 1e3, million = 1e6, billion = 1e9, trillion = 1e12;
    if (flops >= trillion) return significant(flops / trillion) + u" TFLOP"_s;
    if (flops >= billion) return significant(flops / billion) + u" GFLOP"_s;
    if (flops >= million) return significant(flops / million) + u" MFLOP"_s;
    if (flops >= thousand) return significant(flops / thousand) + u" kFLOP"_s;
    return significant(flops) + u" FLOP"_s;
}

NetworkColumns::NetworkColumns(const Theme* theme, NetworkModel* model, NetworkEditor* editor, QWidget* parent)
    : NetworkStrip(theme, model, editor, parent) {
    setAccessibleName(tr("Shape, parameters and cost of each line"));
    measure();
    connect(model, &NetworkModel::checked, this, [this] {
        const bool typed = model_->measured() != nullptr;
        if (std::exchange(typed_, typed) != typed) measure();
    });
}

void NetworkColumns::measure() {
    QFont bold = Theme::caption();
    bold.setBold(true);
    const QFontMetrics metrics(bold);
    const auto wide = [&metrics](const QString& head, const QString& widest) {
        return std::max(metrics.horizontalAdvance(head), metrics.horizontalAdvance(widest)) + 2 * size::gap;
    };
    shape_ = wide(tr("shape"), u"N × 512 × 112 × 112"_s);
    parameters_ = wide(tr("parameters"), u"132,863,336"_s);
    flops_ = wide(tr("forward pass"), u"37.7 MFLOP"_s);
    type_ = wide(tr("measured"), tr("new line"));
    setFixedWidth(shape_ + parameters_ + (narrow_ ? 0 : flops_) + (typed_ ? type_ : 0));
}

void NetworkColumns::setNarrow(bool narrow) {
    if (narrow == narrow_) return;
    narrow_ = narrow;
    measure();
}

void NetworkColumns::changeEvent(QEvent* event) {
    NetworkStrip::changeEvent(event);
    if (event->type() == QEvent::FontChange) measure();
}

std::array<QRect, 4> NetworkColumns::cells(const QRect& row) const {
    const auto cell = [&row](int left, int width) { return QRect(left + size::gap, row.top(), width - 2 * size::gap, row.height()); };
    return {cell(0, shape_), cell(shape_, parameters_), cell(shape_ + parameters_, flops_),
            cell(shape_ + parameters_ + (narrow_ ? 0 : flops_), type_)};
}

void NetworkColumns::paintHead(QPainter& painter, const QRect& head) {
    const auto [shape, parameters, flops, type] = cells(head);
    painter.drawText(shape, Qt::AlignLeft | Qt::AlignVCenter, tr("shape"));
    painter.drawText(parameters, Qt::AlignRight | Qt::AlignVCenter, tr("parameters"));
    if (!narrow_) painter.drawText(flops, Qt::AlignRight | Qt::AlignVCenter, tr("forward pass"));
    if (typed_) painter.drawText(type, Qt::AlignLeft | Qt::AlignVCenter, tr("measured"));
}

QString NetworkColumns::measured(const NetworkLineRow& values) const {
    const auto* types = model_->measured();
    if (types == nullptr || values.row < 0) return {};
    const auto found = types->find(model_->now().network.rows[static_cast<std::size_t>(values.row)].module);
    return found == types->end() ? QString() : QString::fromStdString(found->second);
}

void NetworkColumns::paintType(QPainter& painter, const QRect& cell, const NetworkLineRow& values) const {
    const Tokens& tokens = theme_->tokens();
    const QString type = measured(values);
    if (type.isEmpty()) {
        // Merges and values have no module of their own.
        const bool module = values.row >= 0 && !model_->now().network.rows[static_cast<std::size_t>(values.row)].module.empty();
        painter.setPen(tokens.dim);
        if (module && !model_->comparedRun().isEmpty()) painter.drawText(cell, Qt::AlignLeft | Qt::AlignVCenter, tr("new line"));
        return;
    }
    const QColor color = typeColor(*theme_, type);
    const QRectF chip(cell.left() + 0.5, cell.top() + 1.5, painter.fontMetrics().horizontalAdvance(type) + 8, cell.height() - 3);
    painter.setBrush(blend(tokens.panel, color, 0.12));
    painter.setPen(QPen(color, 1));
    painter.drawRoundedRect(chip, 3, 3);
    painter.drawText(chip, Qt::AlignCenter, type);
}

void NetworkColumns::paintRows(QPainter& painter) {
    const Tokens& tokens = theme_->tokens();
    const auto& view = model_->now();
    const QFont usual = Theme::caption();
    QFont bold = usual;
    bold.setBold(true);
    visitRows([&](int line, const QRect& row) {
        const auto index = static_cast<std::size_t>(line - 1);
        if (index >= view.rows.lines.size()) return;
        const NetworkLineRow& values = view.rows.lines[index];
        const auto [shape, parameters, flops, type] = cells(row);
        if (values.state == State::nothing) return;
        if (values.state == State::leftOut) {
            painter.setFont(usual);
            painter.setPen(tokens.dim);
            painter.drawText(shape, Qt::AlignLeft | Qt::AlignVCenter, tr("left out"));
            return;
        }
        const bool known = values.state != State::unknown;
        painter.setFont(values.state == State::head ? bold : usual);
        painter.setPen(known ? tokens.text : tokens.dim);
        const auto put = [&](const QRect& cell, const QString& text, Qt::Alignment side) {
            painter.drawText(cell, side | Qt::AlignVCenter, known ? painter.fontMetrics().elidedText(text, Qt::ElideRight, cell.width()) : u"?"_s);
        };
        put(shape, values.shape, Qt::AlignLeft);
        if (values.parameters > 0 || !known) put(parameters, count(values.parameters), Qt::AlignRight);
        if (!narrow_ && (values.flops > 0 || !known)) put(flops, flopsText(values.flops), Qt::AlignRight);
        if (typed_) paintType(painter, type, values);
    });
}

QString NetworkColumns::spoken() const {
    const auto index = static_cast<std::size_t>(editor_->currentLine() - 1);
    const auto& lines = model_->now().rows.lines;
    const QString place = tr("Line %1").arg(count(editor_->currentLine()));
    if (index >= lines.size() || lines[index].state == State::nothing) return place;
    const NetworkLineRow& values = lines[index];
    if (values.state == State::leftOut) return place + u": "_s + tr("left out");
    if (values.state == State::unknown) return place + u": "_s + tr("shape unknown");
    const QString figures = tr("%1, %2 parameters, %3").arg(values.shape, count(values.parameters), flopsText(values.flops));
    const QString type = measured(values);
    return place + u": "_s + (type.isEmpty() ? figures : figures + u", "_s + tr("measured %1").arg(type));
}

}  // namespace ui
