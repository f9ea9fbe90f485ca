#pragma once

#include <QByteArray>
#include <QMainWindow>
#include <vector>

#include "panels/registry.h"

namespace ui {

/// The layout of a window's panels: places them as docks, remembers where the user put them, folds
/// the right column under the plots of a narrow window, and lets one plot fill the centre. The
/// plots are a grid of equal shares at every size of the window until the user moves a plot or a
/// divider. Plots that are hidden at first stand below the others once they are shown.
class DockLayout final : public QObject {
    Q_OBJECT
public:
    /// The columns are docks of `window`; the plots are docks of `plots`, which lies in its centre.
    DockLayout(QMainWindow* window, QMainWindow* plots, PanelSet panels);

    /// Takes the layout of the last start. Panels that are newer than it get their default places.
    void restore();
    void save() const;
    void reset();
    /// Stores the current layout as the wide or the narrow one. Does nothing while the window or
    /// a column is hidden. Not called for a mere resize: docks squeezed by a small window
    /// would not get their sizes back.
    void remember();
    /// remember(), if no wide layout is stored yet.
    void rememberFirst();
    /// The right column as tabs under the plots, or back at its side.
    void fold(bool folded);
    /// One plot in place of all, or back.
    void expand(Panel* panel);
    /// A plot fills the centre.
    bool isExpanded() const { return expanded_; }
    /// False if no plot fills the centre.
    bool collapse();
    /// From the most to the fewest.
    enum class Columns { both, left, none };
    /// Hides columns, or restores them. Only the page with the plots shows the right one; a page
    /// that takes the whole width shows none. `railed`: a rail replaces the left one.
    void showColumns(Columns columns, bool railed);
    Columns columns() const { return columns_; }
    bool railed() const { return railed_; }
    /// Whether a rail stands for panels that would be in the left column.
    bool showsRail() const;

protected:
    bool eventFilter(QObject* watched, QEvent* event) override;

private:
    void follow(const Panel* panel);
    void followPlot(Panel* panel);
    void plotMoved();
    void placeSide(Panel* panel, Qt::DockWidgetArea area);
    void placeSides();
    void placePlots();
    void placePlotsAnew();
    void shareGrid();
    void rememberPlots();
    QByteArray plotsByHand() const;
    bool isGrid() const;
    std::vector<Panel*> hiddenAtFirst() const;
    std::vector<Panel*> shownAtFirst() const;
    void placeHidden(Panel* panel);
    void fillPlots();
    std::vector<QRect> plotPlaces() const;
    void addPlotColumn(const std::vector<Panel*>& panels, std::size_t first);
    void restoreSides(const QByteArray& state);
    void leave();
    void keepLeftWidth();
    void placeLeft();
    void hideRight();
    void unfold();
    void restorePlots(const QByteArray& state);

    QMainWindow* window_;
    QMainWindow* plots_;
    PanelSet panels_;
    QByteArray spread_;       ///< plots' layout that collapse() restores
    QByteArray wide_;         ///< docks' layout with the right column at its side
    QByteArray widePlots_;    ///< plots' layout in the wide window, made by hand; empty: the grid
    QByteArray narrow_;       ///< docks' layout with the right column folded; empty: none stored
    QByteArray narrowPlots_;  ///< the same in the narrow window; empty: as in the wide one
    QByteArray away_;         ///< docks' layout before another page hid columns
    QByteArray awayPlots_;    ///< plots' layout before that, made by hand; empty: the grid
    std::vector<QRect> pressed_;  ///< places of the plots when the mouse was pressed between them
    Columns columns_ = Columns::both;
    bool railed_ = false;
    int leftWidth_ = 0;       ///< of the left column when it was last seen
    bool placing_ = true;     ///< this class moves docks, not the user
    bool settled_ = false;    ///< the window has had its size
    bool scattered_ = false;  ///< the docks of the plots are not in the places of the grid
    bool expanded_ = false;
    bool folded_ = false;
};

}  // namespace ui
