#pragma once

#include <QTreeView>
#include <string>

#include "engine/instruments/xray.h"
#include "view/context.h"

class QMenu;

namespace ui {

class OpTree;
class XrayModel;

/// The operations of a step as a tree. Its menu, and F on a row, force another type and compute the
/// step again; the menu also shows a layer in Microscope. GUI thread.
class OpView final : public QTreeView {
    Q_OBJECT
public:
    OpView(const Context& context, XrayModel* model, OpTree* tree, QWidget* parent = nullptr);

    /// The menu of the row at a place of the viewport.
    void openMenu(const QPoint& at);
    void openMenuOfCurrent() { openMenu(visualRect(currentIndex()).center()); }
    /// Selects an operation and scrolls to it.
    void reveal(const engine::XrayOp* op);

protected:
    /// F means something else in the rest of the window.
    bool event(QEvent* event) override;
    void keyPressEvent(QKeyEvent* event) override;
    bool viewportEvent(QEvent* event) override;

private:
    void addForces(QMenu* menu, const engine::XrayOp* op, const std::string& module);
    /// Tries the current row's operation in the other type.
    void forceOther();
    void shareWidth();
    void showInMicroscope(const engine::XrayOp& op);
    /// Whether the run's own step is shown, which alone can be changed.
    bool canForce() const;

    Context context_;
    XrayModel* model_;
    OpTree* tree_;
};

}  // namespace ui
