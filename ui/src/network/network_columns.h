#pragma once

#include <set>

#include "network/network_strip.h"

namespace ui {

struct NetworkLineRow;

/// Shape, parameters, bytes kept for the backward pass and FLOPs of each line, and its type:
/// predicted, and measured in the traced step. A click on a predicted type lists the types that it
/// can be forced to, one on a measured type leads to X-ray, one on the head lists the columns and the
/// precision. Arrow keys move by cell, the head above the first line, and Enter is a click.
class NetworkColumns final : public NetworkStrip {
    Q_OBJECT
public:
    NetworkColumns(const Theme* theme, NetworkModel* model, NetworkEditor* editor, QWidget* parent);

    enum Column { shape, parameters, saved, flops, predicted, measured };
    static constexpr int columnCount = measured + 1;

    /// In a narrow page saved bytes and FLOPs are hidden.
    void setNarrow(bool narrow);
    /// The user shows or hides a column, now and in later starts.
    void setHidden(Column column, bool hidden);
    QString spoken() const override;
    /// The cell that the keyboard is at, and whether it is that of the head.
    Column currentColumn() const { return current_; }
    bool isAtHead() const { return atHead_; }

signals:
    /// The operations of this module in the traced step are asked for.
    void xrayWanted(const QString& module);

protected:
    void paintHead(QPainter& painter, const QRect& head) override;
    void paintRows(QPainter& painter) override;
    void clicked(int line, const QPoint& at) override;
    void clickedHead(const QPoint& at) override;
    void keyPressEvent(QKeyEvent* event) override;
    void contextMenuEvent(QContextMenuEvent* event) override;
    void changeEvent(QEvent* event) override;

private:
    QString title(Column column) const;
    void measure();
    bool isShown(Column column) const;
    /// Null if it is hidden.
    QRect cell(Column column, const QRect& row) const;
    QString measuredType(const NetworkLineRow& values) const;
    void paintMeasured(QPainter& painter, const QRect& cell, const NetworkLineRow& values) const;
    /// Chips of "f16, f32"; returns where they end.
    int paintTypes(QPainter& painter, const QRect& cell, const QString& types) const;
    void paintSaved(QPainter& painter, const QRect& cell, const NetworkLineRow& values, double most) const;
    void paintCurrent(QPainter& painter, const QRect& row) const;
    QString about(int line) const override;
    void moveBy(int columns);
    void act(int line, Column column, const QPoint& at);
    void openTypes(int line, const QPoint& at);
    void openColumns(const QPoint& at);

    int widths_[columnCount] = {};
    std::set<Column> hidden_;
    Column current_ = predicted;
    bool atHead_ = false;
    std::int64_t batch_ = 0;  ///< whose saved bytes are on show
    bool narrow_ = false;
    bool traced_ = false;
};

/// "8.39 MB"
QString savedText(double bytes);
/// "37.7 MFLOP"
QString flopsText(double flops);

}  // namespace ui
