#pragma once

#include "engine/train/trained_model.h"
#include "widgets/painted_widget.h"

namespace ui {

/// Samples by class (row) and predicted class (column), coloured by their share of the row: correct
/// ones in the run's colour, wrong ones in the error colour. Numbers and names are shown where they
/// fit; the line below describes the cell under the mouse, or the one chosen by the arrow keys.
class ConfusionMatrix final : public PaintedWidget {
    Q_OBJECT
public:
    ConfusionMatrix(Theme* theme, const std::string& precision, QWidget* parent = nullptr);

    void show(const std::vector<std::vector<std::int64_t>>& confusion,
              const std::vector<std::string>& classes);
    std::int64_t at(std::size_t row, std::size_t column) const { return cells_[row][column]; }
    std::size_t classes() const { return cells_.size(); }
    /// "17 of Shirt were called T-shirt/top (1.7 %)".
    QString sentence(std::size_t row, std::size_t column) const;
    /// Rectangle of a cell, on the widget.
    QRectF cell(std::size_t row, std::size_t column) const;

protected:
    bool event(QEvent* event) override;
    void paintEvent(QPaintEvent* event) override;
    void mouseMoveEvent(QMouseEvent* event) override;
    void leaveEvent(QEvent* event) override;
    void keyPressEvent(QKeyEvent* event) override;
    void focusOutEvent(QFocusEvent* event) override;

private:
    struct Place {
        double left, top, side;
        bool named;  ///< names of the classes fit beside the cells
    };
    struct Cell {
        std::size_t row, column;
    };
    Place place() const;
    int nameWidth() const;
    std::optional<Cell> cellAt(const QPointF& at) const;
    void choose(std::optional<Cell> cell);
    QColor colorOf(std::size_t row, std::size_t column) const;
    void paintCells(QPainter& painter, const Place& place) const;
    void paintNames(QPainter& painter, const Place& place) const;

    std::string precision_;
    std::vector<std::vector<std::int64_t>> cells_;
    std::vector<std::int64_t> totals_;  ///< of the rows
    std::vector<QString> names_;
    std::optional<Cell> chosen_;
};

}  // namespace ui
