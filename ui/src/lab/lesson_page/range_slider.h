#pragma once

#include <optional>

#include "widgets/painted_widget.h"

namespace ui {

/// A number between two ends, chosen with the mouse or the arrow keys (Shift: ten times as far;
/// Home and End: the ends). Empty until it is first moved, so there is no default answer. The value
/// is shown above the handle. GUI thread.
class RangeSlider final : public PaintedWidget {
    Q_OBJECT
public:
    RangeSlider(const Theme* theme, double low, double high, QWidget* parent = nullptr);

    std::optional<double> value() const { return value_; }
    void setValue(std::optional<double> value);
    /// Under the slider, between its ends.
    void setNote(const QString& note);
    /// The step of one arrow key: a power of ten, between a hundredth and a thousandth of the
    /// range.
    double step() const { return step_; }
    /// How the slider writes a value.
    QString written(double value) const;

    QSize sizeHint() const override;
    QSize minimumSizeHint() const override;

signals:
    void moved(double value);

protected:
    void paintEvent(QPaintEvent* event) override;
    void mousePressEvent(QMouseEvent* event) override;
    void mouseMoveEvent(QMouseEvent* event) override;
    void keyPressEvent(QKeyEvent* event) override;
    void focusInEvent(QFocusEvent* event) override;
    void focusOutEvent(QFocusEvent* event) override;
    void changeEvent(QEvent* event) override;

private:
    double left() const;
    double right() const;
    double lineY() const;
    double place(double value) const;
    void dragTo(double x);
    void moveTo(double value, bool fine = false);
    double fineStep() const;

    double low_;
    double high_;
    double step_;
    std::optional<double> value_;
    QString note_;
};

}  // namespace ui
