#pragma once

#include <set>

#include "network/network_strip.h"

namespace ui {

struct NetworkLineRow;

/// Shape, parameters and FLOPs of each line, and its type: predicted, and measured in the traced
/// step. A click on a type, or Enter, lists the types that it can be forced to; a click on the head,
/// or the menu key, the columns and the precision.
class NetworkColumns final : public NetworkStrip {
    Q_OBJECT
public:
    NetworkColumns(const Theme* theme, NetworkModel* model, NetworkEditor* editor, QWidget* parent);

    enum Column { shape, parameters, flops, predicted, measured };
    static constexpr int columnCount = measured + 1;

    /// In a narrow page the FLOPs are hidden.
    void setNarrow(bool narrow);
    /// The user shows or hides a column, now and in later starts.
    void setHidden(Column column, bool hidden);
    QString spoken() const override;

protected:
    void paintHead(QPainter& painter, const QRect& head) override;
    void paintRows(QPainter& painter) override;
    void clicked(int line, const QPoint& at) override;
    void clickedHead(const QPoint& at) override;
    void keyPressEvent(QKeyEvent* event) override;
    void contextMenuEvent(QContextMenuEvent* event) override;
    void changeEvent(QEvent* event) override;

private:
    static QString title(Column column);
    void measure();
    bool isShown(Column column) const;
    /// Null if it is hidden.
    QRect cell(Column column, const QRect& row) const;
    QString measuredType(const NetworkLineRow& values) const;
    void paintMeasured(QPainter& painter, const QRect& cell, const NetworkLineRow& values) const;
    /// Chips of "f16, f32"; returns where they end.
    int paintTypes(QPainter& painter, const QRect& cell, const QString& types) const;
    void openTypes(int line, const QPoint& at);
    void openColumns(const QPoint& at);

    int widths_[columnCount] = {};
    std::set<Column> hidden_;
    bool narrow_ = false;
    bool traced_ = false;
};

/// "37.7 MFLOP"
QString flopsText(double flops);

}  // namespace ui
