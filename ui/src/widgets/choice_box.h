#pragma once

#include <QComboBox>

namespace ui {

/// A combo box whose arrow has the theme's colour, which a picture in a style sheet cannot have,
/// and whose text ends in "…" if it does not fit.
class ChoiceBox final : public QComboBox {
    Q_OBJECT
public:
    explicit ChoiceBox(QWidget* parent = nullptr);

    /// The current choice does not fit.
    bool isCut() const;

protected:
    void initStyleOption(QStyleOptionComboBox* option) const override;
    void paintEvent(QPaintEvent* event) override;
    /// Turning the wheel scrolls the panel and never changes a setting on the way.
    void wheelEvent(QWheelEvent* event) override;
};

}  // namespace ui
