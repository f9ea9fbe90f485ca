#pragma once

#include <QByteArray>
#include <QMainWindow>
#include <vector>

#include "panels/registry.h"

namespace ui {

/// Where a window's panels stand: places them as docks, remembers where the user put them, folds
/// the right column under the plots of a narrow window, and lets one plot fill the centre.
class DockLayout final : public QObject {
    Q_OBJECT
public:
    /// The columns are docks of `window`; the plots are docks of `plots`, which lies in its centre.
    DockLayout(QMainWindow* window, QMainWindow* plots, PanelSet panels);

    /// Takes the layout of the last start. Panels that are newer than it get their default places.
    void restore();
    void save() const;
    void reset();
    /// Keeps what the user made of the wide or the narrow layout. Not after a resize: docks that
    /// gave way to a small window would not get their sizes back.
    void remember();
    /// The same before the user had made anything of it.
    void rememberFirst();
    /// The right column as tabs under the plots, or back at its side.
    void fold(bool folded);
    /// One plot in place of all, or back.
    void expand(Panel* panel);
    /// False if no plot fills the centre.
    bool collapse();
    /// Without the right column while another page than that of the plots is shown.
    void showRight(bool shown);

protected:
    bool eventFilter(QObject* watched, QEvent* event) override;

private:
    void follow(const Panel* panel);
    void placeSide(Panel* panel, Qt::DockWidgetArea area);
    void placeSides();
    void placePlots();
    void addPlotColumn(const std::vector<Panel*>& panels, std::size_t first);
    void restoreSides(const QByteArray& state);
    void unfold();
    void restorePlots(const QByteArray& state);

    QMainWindow* window_;
    QMainWindow* plots_;
    PanelSet panels_;
    QByteArray spread_;  ///< the plots' layout while one of them fills the centre
    QByteArray wide_;  ///< the docks' layout as the user left it, with the right column at its side
    QByteArray widePlots_;  ///< and the plots' inside the centre
    QByteArray narrowPlots_;
    QByteArray narrow_;     ///< and as it was when that was last folded
    QByteArray away_;       ///< the docks' layout while the right column is not shown
    bool placing_ = false;  ///< this class moves docks, not the user
    bool expanded_ = false;
    bool folded_ = false;
};

}  // namespace ui
