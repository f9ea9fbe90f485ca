#pragma once

#include <optional>
#include <span>

#include "engine/number/number_text.h"
#include "widgets/painted_widget.h"

namespace ui {

class NumberModel;

/// The bits that each format stores for the number, with aligned fractions: rounding shows as one
/// number cut off at different columns. A click or Space flips a bit; arrow keys move between bits.
class BitTable final : public PaintedWidget {
    Q_OBJECT
public:
    using Formats = std::span<const engine::NumberFormat* const>;
    BitTable(const Theme* theme, NumberModel* model, QWidget* parent = nullptr,
             Formats formats = engine::common_number_formats());

    QSize sizeHint() const override;
    QSize minimumSizeHint() const override;

    /// Where a bit of a format (0: the lowest) is drawn.
    QRect bitRect(const engine::NumberFormat& format, int bit) const;
    /// The bit that Space flips, of the selected format.
    int currentBit() const;

protected:
    bool event(QEvent* event) override;
    void paintEvent(QPaintEvent* event) override;
    void mousePressEvent(QMouseEvent* event) override;
    void mouseMoveEvent(QMouseEvent* event) override;
    void keyPressEvent(QKeyEvent* event) override;

private:
    /// Columns in pixels: names, then bits, then figures.
    struct Columns {
        int cell, sign, fraction, stored, error, below, above, gap, right;
        bool neighbours;  ///< there is room for them
    };
    struct Place {
        const engine::NumberFormat* format;
        int bit;
    };

    Columns columns() const;
    int headHeight() const;
    int rowHeight() const;
    QRect rowRect(int row) const;
    std::optional<Place> bitAt(const QPoint& at) const;
    int cursorBit(const engine::NumberFormat& format) const;
    void moveCursor(int bit);
    void describe();
    void paintHead(QPainter& painter, const Columns& at) const;
    void paintRow(QPainter& painter, const Columns& at, int row) const;
    void paintBits(QPainter& painter, const Columns& at, const engine::StoredNumber& stored) const;
    void paintDropped(QPainter& painter, const Columns& at,
                      const engine::NumberFormat& format) const;
    void paintFigures(QPainter& painter, const Columns& at, const QRect& row,
                      const engine::StoredNumber& stored) const;

    int rowOf(const engine::NumberFormat& format) const;
    int rows() const { return static_cast<int>(formats_.size()); }

    NumberModel* model_;
    Formats formats_;
    /// Column of the cursor, the same in every format: columns of the fraction from 0 on, those of
    /// the exponent from −1 to the left; signColumn.
    int cursor_ = 0;
};

}  // namespace ui
