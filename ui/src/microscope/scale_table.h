#pragma once

#include <QGridLayout>
#include <QLabel>
#include <QWidget>
#include <array>

#include "microscope/microscope_model.h"

namespace ui {

class Theme;

/// The outcome for the selected layer's values in the chosen format: before scaling, at the step's
/// scale, and at the scale of the handle; for gradients also for the whole step. GUI thread.
class ScaleTable final : public QWidget {
    Q_OBJECT
public:
    ScaleTable(const Theme* theme, MicroscopeModel* model, QWidget* parent = nullptr);
    QSize minimumSizeHint() const override;

protected:
    /// A narrow table goes without the two columns that follow from the others.
    void resizeEvent(QResizeEvent* event) override;

private:
    enum Column { name, zero, subnormal, normal, overflow, up, down, outcome, columns };
    static constexpr int rows = 3;
    struct Outcome {
        QString text;
        QColor color;
    };

    void refresh();
    void fill(int row, const QString& title, double scale);
    Outcome outcomeAt(double scale) const;
    QLabel* cell(int row, Column column) const {
        return cells_[static_cast<std::size_t>(row)][static_cast<std::size_t>(column)];
    }
    void set(int row, Column column, const QString& text, const QColor& color = {});

    const Theme* theme_;
    MicroscopeModel* model_;
    std::array<std::array<QLabel*, columns>, rows> cells_{};
    std::array<QLabel*, columns> titles_{};
    bool narrow_ = false;
};

}  // namespace ui
