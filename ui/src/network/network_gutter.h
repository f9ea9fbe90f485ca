#pragma once

#include "widgets/painted_widget.h"

namespace ui {

class NetworkEditor;
class NetworkModel;

/// Beside the text: line numbers, marks of faults and of lines that differ from the run on screen,
/// and arrows that fold. GUI thread.
class NetworkGutter final : public PaintedWidget {
public:
    NetworkGutter(const Theme* theme, NetworkModel* model, NetworkEditor* editor);

    /// The width that the numbers of the text need.
    int lineWidth() const;

protected:
    void paintEvent(QPaintEvent* event) override;
    void mousePressEvent(QMouseEvent* event) override;
    void wheelEvent(QWheelEvent* event) override;

private:
    /// From the editor's viewport to here.
    int offset() const;

    NetworkModel* model_;
    NetworkEditor* editor_;
};

}  // namespace ui
