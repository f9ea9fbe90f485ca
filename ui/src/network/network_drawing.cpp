#include "network/network_drawing.h"

#include <QMouseEvent>
#include <QPainter>
#include <QPainterPath>
#include <algorithm>
#include <map>

#include "network/network_editor.h"
#include "network/network_model.h"
#include "text/format.h"
#include "xray/op_delegate.h"

namespace ui {
namespace {

constexpr double paleOpacity = 0.36;
constexpr int inset = 10;     // of a body within its frame
constexpr int laneStep = 11;  // between rails

using Kind = NetworkLine::Kind;

bool isFrame(const NetworkLine& line) { return line.kind == Kind::repeat || line.kind == Kind::container; }
/// The type of the last operation of a row that has one; empty: none has.
QString outputType(const NetworkView& view, int row) {
    const auto index = static_cast<std::size_t>(row);
    if (row < 0 || index >= view.types.rows.size()) return {};
    return QString::fromStdString(view.types.rows[index]).section(u", "_s, -1);
}

bool isEntry(const NetworkLine& line) { return line.kind == Kind::block || line.kind == Kind::network; }

}  // namespace

/// Where boxes and lanes are.
struct NetworkDrawing::Layout {
    const NetworkView& view;
    std::map<int, QRect> rows;  ///< of the lines in view, by their number
    int left = 0, boxWidth = 0, lanes = 0;

    const NetworkLine& line(int number) const { return view.lines[static_cast<std::size_t>(number - 1)]; }
    const NetworkLineRow& row(int number) const { return view.rows.lines[static_cast<std::size_t>(number - 1)]; }
    bool has(int number) const { return number > 0 && static_cast<std::size_t>(number) <= view.rows.lines.size(); }
    int depth(int number) const {
        int depth = 0;
        for (int head = line(number).head; head >= 0; head = view.lines[static_cast<std::size_t>(head)].head)
            depth += isFrame(view.lines[static_cast<std::size_t>(head)]) ? 1 : 0;
        return std::min(depth, 4);
    }
    /// The middle of a line, of one out of view beyond its end, of a folded one that of the line
    /// above it.
    double middle(int number) const {
        if (rows.empty()) return 0;
        const auto next = rows.upper_bound(number);
        if (next == rows.begin()) return -1000;
        const auto& [found, area] = *std::prev(next);
        return found < number && next == rows.end() ? area.bottom() + 1000.0 : area.center().y() + 0.5;
    }
    QRectF box(int number) const {
        const double height = rows.empty() ? 0 : rows.begin()->second.height();
        return {left + inset * depth(number) + 0.5, middle(number) - height / 2 + 1.5, static_cast<double>(boxWidth), height - 3};
    }
    double centre(int number) const { return isEntry(line(number)) ? left + boxWidth / 2.0 : box(number).center().x(); }
    double lane(int number) const { return lanes + laneStep * number; }
};

NetworkDrawing::NetworkDrawing(const Theme* theme, NetworkModel* model, NetworkEditor* editor, QWidget* parent)
    : NetworkStrip(theme, model, editor, parent) {
    setAccessibleName(tr("Drawing"));
    setMouseTracking(true);
}

QSize NetworkDrawing::sizeHint() const { return {fontMetrics().averageCharWidth() * 36, 240}; }
QSize NetworkDrawing::minimumSizeHint() const { return {fontMetrics().averageCharWidth() * 24, 120}; }

NetworkDrawing::Layout NetworkDrawing::layOut() const {
    Layout layout{model_->good(), {}};
    int deepest = 0;
    visitRows([&](int line, const QRect& row) {
        if (layout.has(line)) layout.rows.emplace(line, row);
    });
    for (int line = 1; layout.has(line); ++line)
        if (!layout.row(line).box.isEmpty()) deepest = std::max(deepest, layout.depth(line));
    layout.left = size::gap + size::grid;
    const int lanes = laneStep * (layout.view.rows.lanes + 1);
    const int free = width() - 2 * layout.left - inset * deepest - lanes;
    layout.boxWidth = std::clamp(free, 6 * fontMetrics().averageCharWidth(), 16 * fontMetrics().averageCharWidth());
    layout.lanes = layout.left + inset * deepest + layout.boxWidth + size::grid;
    return layout;
}

bool NetworkDrawing::isLit(int line) const { return line == hovered_ || line == editor_->currentLine(); }

void NetworkDrawing::paintHead(QPainter& painter, const QRect& head) {
    const QRect inside = head.adjusted(size::gap, 0, -size::gap, 0);
    const QString title = tr("drawing");
    painter.drawText(inside, Qt::AlignLeft | Qt::AlignVCenter, title);
    if (!model_->isStale()) return;
    painter.setPen(theme_->tokens().caution);
    const QString note = model_->good().lines.empty() ? tr("none yet") : tr("of the last good text");
    const int used = painter.fontMetrics().horizontalAdvance(title) + size::gap;
    painter.drawText(inside.adjusted(used, 0, 0, 0), Qt::AlignLeft | Qt::AlignVCenter,
                     painter.fontMetrics().elidedText(note, Qt::ElideRight, inside.width() - used));
}

void NetworkDrawing::paintRows(QPainter& painter) {
    const Layout layout = layOut();
    if (layout.rows.empty()) return;
    if (model_->isStale()) painter.setOpacity(paleOpacity);
    paintFrames(painter, layout);
    paintRails(painter, layout);
    paintBoxes(painter, layout);
    paintFused(painter, layout);
}

void NetworkDrawing::paintFused(QPainter& painter, const Layout& layout) const {
    painter.setPen(theme_->tokens().dim);
    for (const auto& op : layout.view.types.operations) {
        if (op.further.empty()) continue;
        const auto lineOf = [&layout](int row) { return layout.view.network.rows[static_cast<std::size_t>(row)].place.line; };
        const int first = lineOf(op.row), last = lineOf(std::ranges::max(op.further));
        if (!layout.has(last) || layout.row(first).row != op.row || first >= last) continue;  // another run is on show
        const double left = layout.box(first).left() - size::grid - 1, top = layout.middle(first), bottom = layout.middle(last);
        if (bottom < 0 || top > height()) continue;
        const QPointF corners[] = {{left + 3, top}, {left, top}, {left, bottom}, {left + 3, bottom}};
        painter.drawPolyline(corners, 4);
    }
}

void NetworkDrawing::paintFrames(QPainter& painter, const Layout& layout) const {
    const Tokens& tokens = theme_->tokens();
    for (int number = 1; layout.has(number); ++number) {
        const NetworkLine& line = layout.line(number);
        const NetworkLineRow& row = layout.row(number);
        if (!isFrame(line) || row.state != NetworkLineRow::State::head || line.end < number) continue;
        const double rowHeight = layout.rows.begin()->second.height();
        const double top = layout.middle(number) - rowHeight / 2 + 1, bottom = layout.middle(line.end + 1) + rowHeight / 2;
        if (bottom < 0 || top > height()) continue;
        const int in = inset * layout.depth(number);
        const QRectF frame(layout.left - size::grid + in + 0.5, top + 0.5, layout.lanes - layout.left - in + size::grid - 2, bottom - top - 1);
        painter.setPen(tokens.line);
        painter.setBrush(tokens.field);
        painter.drawRoundedRect(frame, size::fieldRadius, size::fieldRadius);
        if (!layout.rows.contains(number)) continue;
        painter.setPen(tokens.dim);
        const QRectF title(frame.left() + size::grid, top, frame.width() - 2 * size::grid, rowHeight);
        const QString runs = line.kind == Kind::repeat ? u"× "_s + count(row.runs) : QString();
        painter.drawText(title, Qt::AlignRight | Qt::AlignVCenter, runs);
        const int room = static_cast<int>(title.width()) - painter.fontMetrics().horizontalAdvance(runs + u"  "_s);
        const QString name = line.label.isEmpty() ? u"repeat"_s : line.label;
        painter.drawText(title, Qt::AlignLeft | Qt::AlignVCenter, painter.fontMetrics().elidedText(name, Qt::ElideRight, room));
    }
}

void NetworkDrawing::paintRails(QPainter& painter, const Layout& layout) const {
    const Tokens& tokens = theme_->tokens();
    painter.setBrush(Qt::NoBrush);
    const auto below = [&layout](int line) { return isEntry(layout.line(line)) ? layout.middle(line) : layout.box(line).bottom(); };
    for (const NetworkRail& rail : layout.view.rows.rails) {
        if (!layout.has(rail.from)) continue;
        const bool lit = isLit(rail.from) || std::ranges::any_of(rail.to, [this](int to) { return isLit(to); });
        painter.setPen(QPen(lit && rail.lane > 0 ? tokens.accent : tokens.dim, lit && rail.lane > 0 ? 1.8 : 1));
        if (rail.lane == 0) {
            const double x = std::max(layout.centre(rail.from), layout.centre(rail.to.front()));
            const double from = below(rail.from), to = layout.box(rail.to.front()).top();
            if (to > from) painter.drawLine(QPointF(x, from), QPointF(x, to));
            continue;
        }
        const double x = layout.lane(rail.lane), y = layout.middle(rail.from);
        const double right = isEntry(layout.line(rail.from)) ? layout.centre(rail.from) : layout.box(rail.from).right();
        QPainterPath path({right, y});
        path.lineTo(x - size::grid, y);
        path.quadTo(x, y, x, y + size::grid);
        path.lineTo(x, layout.middle(rail.to.back()) - size::grid);
        painter.drawPath(path);
        for (const int to : rail.to) {
            const double end = layout.middle(to), tip = layout.box(to).right() + 1;
            QPainterPath turn({x, end - size::grid});
            turn.quadTo(x, end, x - size::grid, end);
            turn.lineTo(tip, end);
            turn.moveTo(tip + 4, end - 3);
            turn.lineTo(tip, end);
            turn.lineTo(tip + 4, end + 3);
            painter.drawPath(turn);
        }
        if (rail.lane != mostLanes || layout.view.rows.bundled == 0) continue;
        painter.drawText(QPointF(x + 3, y - 2), u"+"_s + count(layout.view.rows.bundled));
    }
}

void NetworkDrawing::paintBoxes(QPainter& painter, const Layout& layout) const {
    const Tokens& tokens = theme_->tokens();
    int last = 0;
    for (int number = 1; layout.has(number); ++number)
        if (!layout.row(number).box.isEmpty()) last = number;
    for (const auto& [number, area] : layout.rows) {
        const NetworkLine& line = layout.line(number);
        const NetworkLineRow& row = layout.row(number);
        if (isEntry(line) && (row.state != NetworkLineRow::State::nothing || line.kind == Kind::network)) {
            const QPointF centre(layout.centre(number), layout.middle(number));
            painter.setPen(QPen(tokens.text, 1.6));
            painter.setBrush(tokens.panel);
            painter.drawEllipse(centre, 3.5, 3.5);
            painter.setPen(tokens.dim);
            const QString name = line.kind == Kind::block || layout.view.data.inputs.empty() ? u"in"_s : QString::fromStdString(layout.view.data.inputs.front().field);
            painter.drawText(QRectF(0, area.top(), centre.x() - size::gap, area.height()), Qt::AlignRight | Qt::AlignVCenter, name);
        }
        if (row.box.isEmpty()) continue;
        const QRectF box = layout.box(number);
        const bool current = number == editor_->currentLine();
        painter.setPen(QPen(current ? tokens.accent : blend(tokens.line, tokens.dim, 0.6), current ? 1.8 : 1));
        painter.setBrush(row.state == NetworkLineRow::State::head ? tokens.field : tokens.panel);
        painter.drawRoundedRect(box, 3, 3);
        if (const QString type = outputType(layout.view, row.row); !type.isEmpty())
            painter.fillRect(QRectF(box.left() + 1, box.top() + 2, 3, box.height() - 4), typeColor(*theme_, type));
        painter.setPen(tokens.text);
        QFont font = Theme::caption();
        font.setBold(row.usedBlock > 0);
        painter.setFont(font);
        painter.drawText(box, Qt::AlignCenter, painter.fontMetrics().elidedText(row.box, Qt::ElideRight, static_cast<int>(box.width()) - 4));
        painter.setFont(Theme::caption());
        const QRectF beside(box.right() + size::grid, area.top(), width() - box.right() - size::grid, area.height());
        painter.setPen(row.usedBlock > 0 ? tokens.accent : tokens.dim);
        if (row.usedBlock > 0)
            painter.drawText(beside, Qt::AlignLeft | Qt::AlignVCenter, tr("line %1").arg(count(row.usedBlock)));
        else if (number == last)
            painter.drawText(beside, Qt::AlignLeft | Qt::AlignVCenter, u"→ "_s + QString::fromStdString(layout.view.network.gives));
    }
}

void NetworkDrawing::clicked(int line, const QPoint& at) {
    const Layout layout = layOut();
    const bool link = layout.has(line) && layout.row(line).usedBlock > 0 && at.x() > layout.box(line).right();
    editor_->goTo(link ? layout.row(line).usedBlock : line);
}

void NetworkDrawing::mouseMoveEvent(QMouseEvent* event) {
    const int line = rowAt(event->position().toPoint().y());
    if (line == hovered_) return;
    hovered_ = line;
    update();
}

void NetworkDrawing::leaveEvent(QEvent*) {
    hovered_ = 0;
    update();
}

QString NetworkDrawing::spoken() const { return about(editor_->currentLine()); }

QString NetworkDrawing::about(int line) const {
    const auto& view = model_->good();
    const auto index = static_cast<std::size_t>(line - 1);
    if (index >= view.rows.lines.size() || view.rows.lines[index].box.isEmpty()) return tr("Line %1").arg(count(line));
    QStringList taken;
    for (const NetworkRail& rail : view.rows.rails)
        if (std::ranges::find(rail.to, line) != rail.to.end()) taken << count(rail.from);
    return tr("Line %1: %2, takes the values of lines %3").arg(count(line), view.rows.lines[index].box, taken.join(u", "_s));
}

}  // namespace ui
