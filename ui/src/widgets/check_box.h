#pragma once

#include <QCheckBox>

namespace ui {

/// A check box whose box stands out in both themes: a dim border, filled with the accent where it
/// is ticked. The style would derive the border from the window's colour, and lose it in the dark.
class CheckBox final : public QCheckBox {
    Q_OBJECT
public:
    using QCheckBox::QCheckBox;

protected:
    void paintEvent(QPaintEvent* event) override;
};

}  // namespace ui
