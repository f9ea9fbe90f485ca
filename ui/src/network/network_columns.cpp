#include "network/network_columns.h"

#include <QActionGroup>
#include <QContextMenuEvent>
#include <QMenu>
#include <QPainter>
#include <QSettings>
#include <algorithm>
#include <utility>

#include "engine/number/figure_text.h"
#include "engine/settings/catalog.h"
#include "network/network_editor.h"
#include "network/network_model.h"
#include "text/format.h"
#include "text/precision_title.h"
#include "xray/op_delegate.h"

namespace ui {
namespace {

using State = NetworkLineRow::State;

constexpr int savedBar = 40;

constexpr const char* columnNames[] = {"shape", "parameters", "saved", "flops", "predicted", "measured"};

}  // namespace

QString savedText(double bytes) { return QString::fromStdString(engine::estimated_bytes_text(bytes)); }

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
    setAccessibleName(tr("Shape, parameters, cost and types of each line"));
    const QStringList hidden = QSettings().value(u"network/hidden"_s, QStringList{u"flops"_s}).toStringList();
    for (int i = 0; i < columnCount; ++i)
        if (hidden.contains(QLatin1String(columnNames[i]))) hidden_.insert(Column(i));
    measure();
    connect(model, &NetworkModel::checked, this, [this] {
        const bool traced = !model_->measured().empty();
        const auto batch = model_->now().memory.batch_size;
        if (std::exchange(traced_, traced) != traced || std::exchange(batch_, batch) != batch) measure();
    });
}

QString NetworkColumns::title(Column column) const {
    switch (column) {
        case shape: return tr("shape");
        case parameters: return tr("parameters");
        case saved: return batch_ > 0 ? tr("saved at batch %1").arg(count(batch_)) : tr("saved");
        case flops: return tr("forward pass");
        case predicted: return tr("predicted");
        case measured: return tr("measured");
    }
    return {};
}

void NetworkColumns::measure() {
    QFont bold = Theme::caption();
    bold.setBold(true);
    const QFontMetrics metrics(bold);
    const QString widest[] = {u"N × 512 × 112 × 112"_s, u"132,863,336"_s, u"%1 MB"_s.arg(u"8.39"_s), u"37.7 MFLOP"_s, u"bf16  f32  ●"_s, u"bf16  ✓"_s};
    int all = 0;
    for (int i = 0; i < columnCount; ++i) {
        const QString head = Column(i) == predicted ? title(predicted) + u" ▾"_s : title(Column(i));
        int width = std::max(metrics.horizontalAdvance(head), metrics.horizontalAdvance(widest[i]));
        if (Column(i) == measured) width = std::max(width, metrics.horizontalAdvance(tr("new line")));
        if (Column(i) == predicted) width = std::max(width, metrics.horizontalAdvance(tr("in the norm")));
        if (Column(i) == saved) width = std::max(width, metrics.horizontalAdvance(widest[i]) + savedBar + size::grid);
        widths_[i] = width + 2 * size::gap;
        if (isShown(Column(i))) all += widths_[i];
    }
    setFixedWidth(std::max(all, metrics.horizontalAdvance(u"▾"_s) + 2 * size::gap));
    update();
}

bool NetworkColumns::isShown(Column column) const {
    if (hidden_.contains(column)) return false;
    return column == flops || column == saved ? !narrow_ : column != measured || traced_;
}

void NetworkColumns::setNarrow(bool narrow) {
    if (narrow == narrow_) return;
    narrow_ = narrow;
    measure();
}

void NetworkColumns::setHidden(Column column, bool hidden) {
    if (hidden)
        hidden_.insert(column);
    else
        hidden_.erase(column);
    QStringList kept;
    for (const Column each : hidden_) kept << QLatin1String(columnNames[each]);
    QSettings().setValue(u"network/hidden"_s, kept);
    measure();
}

void NetworkColumns::changeEvent(QEvent* event) {
    NetworkStrip::changeEvent(event);
    if (event->type() == QEvent::FontChange) measure();
}

QRect NetworkColumns::cell(Column column, const QRect& row) const {
    if (!isShown(column)) return {};
    int left = 0;
    for (int i = 0; i < column; ++i)
        if (isShown(Column(i))) left += widths_[i];
    return {left + size::gap, row.top(), widths_[column] - 2 * size::gap, row.height()};
}

void NetworkColumns::paintHead(QPainter& painter, const QRect& head) {
    bool any = false;
    for (int i = 0; i < columnCount; ++i) {
        const Column column = Column(i);
        const QRect area = cell(column, head);
        if (area.isNull()) continue;
        any = true;
        const bool number = column == parameters || column == saved || column == flops;
        painter.drawText(area, (number ? Qt::AlignRight : Qt::AlignLeft) | Qt::AlignVCenter, column == predicted ? title(column) + u" ▾"_s : title(column));
    }
    if (!any) painter.drawText(head, Qt::AlignCenter, u"▾"_s);
    if (atHead_) paintCurrent(painter, head);
}

QString NetworkColumns::measuredType(const NetworkLineRow& values) const {
    const auto index = static_cast<std::size_t>(values.row);
    return values.row >= 0 && index < model_->measured().size() ? QString::fromStdString(model_->measured()[index]) : QString();
}

int NetworkColumns::paintTypes(QPainter& painter, const QRect& cell, const QString& types) const {
    int x = cell.left();
    for (const QString& type : types.split(u", "_s, Qt::SkipEmptyParts)) {
        const QColor color = typeColor(*theme_, type);
        const QRectF chip(x + 0.5, cell.top() + 1.5, painter.fontMetrics().horizontalAdvance(type) + 8, cell.height() - 3);
        painter.setBrush(blend(theme_->tokens().panel, color, 0.12));
        painter.setPen(QPen(color, 1));
        painter.drawRoundedRect(chip, 3, 3);
        painter.drawText(chip, Qt::AlignCenter, type);
        x = static_cast<int>(chip.right()) + size::grid;
    }
    return x;
}

void NetworkColumns::paintMeasured(QPainter& painter, const QRect& cell, const NetworkLineRow& values) const {
    if (values.row < 0) return;
    const Tokens& tokens = theme_->tokens();
    const QString predictedType = QString::fromStdString(model_->now().types.rows[static_cast<std::size_t>(values.row)]);
    const QString type = measuredType(values);
    if (type.isEmpty()) {
        painter.setPen(tokens.dim);
        if (!predictedType.isEmpty() && model_->isNewerThanTrace(model_->now().network.rows[static_cast<std::size_t>(values.row)].place.line)) painter.drawText(cell, Qt::AlignLeft | Qt::AlignVCenter, tr("new line"));
        return;
    }
    const bool equal = type == predictedType;
    const int end = paintTypes(painter, cell, type);
    painter.setPen(equal ? tokens.good : tokens.caution);
    painter.drawText(cell.adjusted(end - cell.left(), 0, 0, 0), Qt::AlignLeft | Qt::AlignVCenter, equal ? u"✓"_s : u"▲"_s);
}

void NetworkColumns::paintSaved(QPainter& painter, const QRect& cell, const NetworkLineRow& values, double most) const {
    if (values.saved <= 0) return;
    if (values.state == State::layer && most > 0) {
        const double width = std::max(1.0, savedBar * values.saved / most);
        painter.fillRect(QRectF(cell.left(), cell.top() + 4, width, cell.height() - 8), theme_->precision(model_->now().types.preset));
    }
    painter.drawText(cell, Qt::AlignRight | Qt::AlignVCenter, savedText(values.saved));
}

void NetworkColumns::paintCurrent(QPainter& painter, const QRect& row) const {
    const QRect area = cell(current_, row);
    if (area.isNull() || !hasFocus()) return;
    painter.setPen(QPen(theme_->tokens().accent, 1));
    painter.setBrush(Qt::NoBrush);
    painter.drawRect(area.adjusted(-size::grid, 1, size::grid - 1, -2));
}

void NetworkColumns::paintRows(QPainter& painter) {
    const Tokens& tokens = theme_->tokens();
    const auto& view = model_->now();
    const QFont usual = Theme::caption();
    QFont bold = usual;
    bold.setBold(true);
    double most = 0;
    for (const NetworkLineRow& each : view.rows.lines)
        if (each.state == State::layer) most = std::max(most, each.saved);
    visitRows([&](int line, const QRect& row) {
        if (!atHead_ && line == editor_->currentLine()) paintCurrent(painter, row);
        const auto index = static_cast<std::size_t>(line - 1);
        if (index >= view.rows.lines.size()) return;
        const NetworkLineRow& values = view.rows.lines[index];
        if (values.state == State::nothing) return;
        if (values.state == State::leftOut) {
            painter.setFont(usual);
            painter.setPen(tokens.dim);
            painter.drawText(row.adjusted(size::gap, 0, 0, 0), Qt::AlignLeft | Qt::AlignVCenter, tr("left out"));
            return;
        }
        const bool known = values.state != State::unknown;
        painter.setFont(values.state == State::head ? bold : usual);
        painter.setPen(known ? tokens.text : tokens.dim);
        const auto put = [&](Column column, const QString& text, Qt::Alignment side) {
            const QRect area = cell(column, row);
            if (!area.isNull()) painter.drawText(area, side | Qt::AlignVCenter, known ? painter.fontMetrics().elidedText(text, Qt::ElideRight, area.width()) : u"?"_s);
        };
        put(shape, values.shape, Qt::AlignLeft);
        if (values.parameters > 0 || !known) put(parameters, count(values.parameters), Qt::AlignRight);
        if (values.flops > 0 || !known) put(flops, flopsText(values.flops), Qt::AlignRight);
        if (known && !view.memory.saved.empty()) {
            if (const QRect area = cell(saved, row); !area.isNull()) paintSaved(painter, area, values, most);
        } else {
            put(saved, u"?"_s, Qt::AlignRight);
        }
        if (!known) put(predicted, {}, Qt::AlignLeft);
        const auto place = static_cast<std::size_t>(values.row);
        if (!known || values.row < 0 || place >= view.types.rows.size()) return;
        if (const QRect area = cell(predicted, row); !area.isNull()) {
            const int end = paintTypes(painter, area, QString::fromStdString(view.types.rows[place]));
            painter.setPen(tokens.dim);
            if (view.types.fused[place]) painter.drawText(area, Qt::AlignLeft | Qt::AlignVCenter, tr("in the norm"));
            const auto* op = view.types.find(values.row);
            painter.setPen(tokens.accent);
            if (op != nullptr && op->rule == "forced") painter.drawText(area.adjusted(end - area.left(), 0, 0, 0), Qt::AlignLeft | Qt::AlignVCenter, u"●"_s);
        }
        if (const QRect area = cell(measured, row); !area.isNull()) paintMeasured(painter, area, values);
    });
}

void NetworkColumns::clicked(int line, const QPoint& at) {
    editor_->goTo(line);
    atHead_ = false;
    for (int i = 0; i < columnCount; ++i) {
        if (!cell(Column(i), rect()).contains(at)) continue;
        current_ = Column(i);
        act(line, current_, mapToGlobal(at));
    }
    update();
}

void NetworkColumns::clickedHead(const QPoint& at) { openColumns(mapToGlobal(at)); }

void NetworkColumns::act(int line, Column column, const QPoint& at) {
    if (column == predicted) openTypes(line, at);
    if (column != measured) return;
    const auto index = static_cast<std::size_t>(line - 1);
    const auto& view = model_->now();
    if (index >= view.rows.lines.size() || measuredType(view.rows.lines[index]).isEmpty()) return;
    if (const auto* op = view.types.find(view.rows.lines[index].row)) emit xrayWanted(QString::fromStdString(op->module));
}

void NetworkColumns::openTypes(int line, const QPoint& at) {
    const auto index = static_cast<std::size_t>(line - 1);
    const auto& lines = model_->now().rows.lines;
    if (index >= lines.size() || lines[index].row < 0) return;
    auto* menu = new QMenu(this);
    menu->setAttribute(Qt::WA_DeleteOnClose);
    addTypeChoices(menu, model_, lines[index].row);
    menu->popup(at);
}

/// The columns, and the precision whose types are predicted.
void NetworkColumns::openColumns(const QPoint& at) {
    auto* menu = new QMenu(this);
    menu->setAttribute(Qt::WA_DeleteOnClose);
    for (int i = 0; i < columnCount; ++i) {
        QAction* action = menu->addAction(title(Column(i)));
        action->setCheckable(true);
        action->setChecked(!hidden_.contains(Column(i)));
        connect(action, &QAction::toggled, this, [this, i](bool shown) { setHidden(Column(i), !shown); });
    }
    QMenu* precisions = menu->addMenu(tr("Types of"));
    auto* group = new QActionGroup(precisions);
    QAction* given = precisions->addAction(tr("As in the traced step or the settings"));
    given->setCheckable(true);
    given->setChecked(!model_->isPresetSet());
    group->addAction(given);
    connect(given, &QAction::triggered, this, [this] { model_->setPreset({}); });
    precisions->addSeparator();
    for (const auto& precision : engine::precisions()) {
        QAction* action = precisions->addAction(precisionTitle(precision.kind));
        action->setCheckable(true);
        action->setChecked(model_->isPresetSet() && precision.kind == model_->preset());
        group->addAction(action);
        connect(action, &QAction::triggered, this, [this, name = precision.kind] { model_->setPreset(name); });
    }
    menu->popup(at);
}

/// To the next column that is shown.
void NetworkColumns::moveBy(int columns) {
    for (int i = current_ + columns; i >= 0 && i < columnCount; i += columns) {
        if (!isShown(Column(i))) continue;
        current_ = Column(i);
        break;
    }
    update();
    speak();
}

void NetworkColumns::keyPressEvent(QKeyEvent* event) {
    const int key = event->key();
    const bool enter = key == Qt::Key_Return || key == Qt::Key_Enter || key == Qt::Key_Space;
    if (event->modifiers() != Qt::NoModifier && event->modifiers() != Qt::KeypadModifier) return NetworkStrip::keyPressEvent(event);
    const int line = editor_->currentLine();
    if (key == Qt::Key_Left || key == Qt::Key_Right) return moveBy(key == Qt::Key_Left ? -1 : 1);
    const bool leaves = atHead_ && key == Qt::Key_Down, enters = !atHead_ && key == Qt::Key_Up && line == 1;
    if (leaves || enters) {
        atHead_ = enters;
        update();
        return speak();
    }
    if (!enter) return atHead_ && key == Qt::Key_Up ? void() : NetworkStrip::keyPressEvent(event);
    const QRect head(0, 0, width(), headHeight());
    if (atHead_) return openColumns(mapToGlobal(cell(current_, head).isNull() ? head.bottomLeft() : cell(current_, head).bottomLeft()));
    if (!isShown(current_)) return;
    editor_->ensureCursorVisible();
    const QRect place = cell(current_, QRect(0, rowTop(line), width(), 0));
    act(line, current_, mapToGlobal(place.bottomLeft()));
}

void NetworkColumns::contextMenuEvent(QContextMenuEvent* event) { openColumns(event->globalPos()); }

QString NetworkColumns::spoken() const {
    return atHead_ ? tr("Head of the column %1").arg(title(current_)) : about(editor_->currentLine());
}

QString NetworkColumns::about(int number) const {
    const auto index = static_cast<std::size_t>(number - 1);
    const auto& lines = model_->now().rows.lines;
    const QString place = tr("Line %1").arg(count(number));
    if (index >= lines.size() || lines[index].state == State::nothing) return place;
    const NetworkLineRow& values = lines[index];
    if (values.state == State::leftOut) return place + u": "_s + tr("left out");
    if (values.state == State::unknown) return place + u": "_s + tr("shape unknown");
    const QString figures = tr("%1, %2 parameters, %3").arg(values.shape, count(values.parameters), flopsText(values.flops));
    QStringList said{place + u": "_s + figures};
    if (values.saved > 0) said << tr("saves %1 for the backward pass").arg(savedText(values.saved));
    const auto row = static_cast<std::size_t>(values.row);
    const auto& types = model_->now().types.rows;
    if (values.row >= 0 && row < types.size() && !types[row].empty()) said << tr("predicted %1").arg(QString::fromStdString(types[row]));
    if (const QString type = measuredType(values); !type.isEmpty()) said << tr("measured %1").arg(type);
    return said.join(u", "_s);
}

}  // namespace ui
