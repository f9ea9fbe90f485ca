#pragma once

#include <QCheckBox>

namespace ui {

/// A check box that is visible in both themes: a dim border, filled with the accent when checked.
/// The style would derive the border from the window's colour, which is invisible in the dark
/// theme.
class CheckBox final : public QCheckBox {
    Q_OBJECT
public:
    using QCheckBox::QCheckBox;

protected:
    void paintEvent(QPaintEvent* event) override;
};

}  // namespace ui
