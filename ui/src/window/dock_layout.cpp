#include "window/dock_layout.h"

#include <QAction>
#include <QDataStream>
#include <QEvent>
#include <QLayout>
#include <QScopedValueRollback>
#include <QSettings>
#include <algorithm>
#include <utility>

#include "theme/theme.h"

namespace ui {
namespace {

constexpr int layoutVersion = 1;
constexpr int plenty = 1000;  // more than there is: those that ask for it share alike
constexpr int foldedHeight = 190, foldedInLow = 110;
constexpr int columnWidth = 540;  // of plots that are newer than the layout: it gives way by half

/// Panels that a stored layout lacks, because it is older.
std::vector<Panel*> missing(const QByteArray& state, const std::vector<Panel*>& panels) {
    std::vector<Panel*> out;
    for (auto* panel : panels) {
        QByteArray name;  // as saveState() writes it
        QDataStream stream(&name, QIODevice::WriteOnly);
        stream << panel->objectName();
        if (!state.contains(name)) out.push_back(panel);
    }
    return out;
}

QList<QDockWidget*> docks(const std::vector<Panel*>& panels) {
    return {panels.begin(), panels.end()};
}

}  // namespace

DockLayout::DockLayout(QMainWindow* window, QMainWindow* plots, PanelSet panels)
    : window_(window), plots_(plots), panels_(std::move(panels)) {
    for (auto* panel : panels_.plots) {
        connect(panel, &Panel::expandRequested, this, [this, panel] { expand(panel); });
        followPlot(panel);
    }
    for (const auto* panel : hiddenAtFirst())
        connect(panel->toggleViewAction(), &QAction::triggered, this, [this] {
            if (isGrid()) shareGrid();  // before plotMoved() has its turn
        });
    for (const auto* panel : panels_.left) follow(panel);
    for (const auto* panel : panels_.right) follow(panel);
    placeSides();
    placePlots();
    // The window may be visible: it is filled anew in another language, and the side columns resize
    // the plots before these have places.
    plots_->installEventFilter(this);
    placing_ = false;
}

void DockLayout::follow(const Panel* panel) {
    connect(panel, &QDockWidget::visibilityChanged, this, &DockLayout::remember);
    connect(panel, &QDockWidget::dockLocationChanged, this, &DockLayout::remember);
    connect(panel, &QDockWidget::topLevelChanged, this, &DockLayout::remember);
}

void DockLayout::followPlot(Panel* panel) {
    connect(panel, &QDockWidget::dockLocationChanged, this, &DockLayout::plotMoved);
    connect(panel, &QDockWidget::topLevelChanged, this, &DockLayout::plotMoved);
    connect(panel->toggleViewAction(), &QAction::triggered, this, &DockLayout::plotMoved);
    panel->installEventFilter(this);  // its close button triggers no action
}

/// The user moved, showed or closed a plot. The place of a dropped dock is not yet taken.
void DockLayout::plotMoved() {
    if (placing_ || !window_->isVisible()) return;
    QMetaObject::invokeMethod(this, &DockLayout::rememberPlots, Qt::QueuedConnection);
}

void DockLayout::placeSide(Panel* panel, Qt::DockWidgetArea area) {
    window_->addDockWidget(area, panel);
    panel->show();
}

void DockLayout::placeSides() {
    for (auto* panel : panels_.left) placeSide(panel, Qt::LeftDockWidgetArea);
    for (auto* panel : panels_.right) placeSide(panel, Qt::RightDockWidgetArea);
    const QList<QDockWidget*> columns =
        docks(panels_.left).mid(0, 1) + docks(panels_.right).mid(0, 1);
    window_->resizeDocks(columns, QList<int>(columns.size(), size::sideColumn), Qt::Horizontal);
    window_->resizeDocks(docks(panels_.right), panels_.rightHeights, Qt::Vertical);
}

/// Two rows of two, then columns of two to their right: a low window has no room for a third row,
/// and a step keeps its column in plots above each other.
void DockLayout::placePlots() {
    for (auto* panel : hiddenAtFirst()) panel->hide();
    const std::vector<Panel*> shown = shownAtFirst();
    const QList<QDockWidget*> all = docks(shown);
    for (qsizetype first = 0; first < std::min<qsizetype>(all.size(), 4); first += 2) {
        plots_->addDockWidget(Qt::TopDockWidgetArea, all[first], Qt::Vertical);
        if (first + 1 < all.size())
            plots_->splitDockWidget(all[first], all[first + 1], Qt::Horizontal);
    }
    for (qsizetype first = 4; first < all.size(); first += 2)
        addPlotColumn(shown, static_cast<std::size_t>(first));
    for (auto* panel : all) panel->show();
    for (auto* panel : hiddenAtFirst()) placeHidden(panel);
    scattered_ = false;
    shareGrid();
}

std::vector<Panel*> DockLayout::hiddenAtFirst() const {
    return {panels_.plots.end() - static_cast<std::ptrdiff_t>(panels_.hiddenPlots),
            panels_.plots.end()};
}

std::vector<Panel*> DockLayout::shownAtFirst() const {
    return {panels_.plots.begin(),
            panels_.plots.end() - static_cast<std::ptrdiff_t>(panels_.hiddenPlots)};
}

/// In a row of its own: a further column would be too narrow for all. A dock without a place would
/// float when it is shown.
void DockLayout::placeHidden(Panel* panel) {
    plots_->addDockWidget(Qt::TopDockWidgetArea, panel, Qt::Vertical);
    panel->hide();
}

/// Equal heights of the rows and equal widths of the columns.
void DockLayout::shareGrid() {
    const QList<QDockWidget*> all = docks(shownAtFirst());
    const auto share = [this](const QList<QDockWidget*>& among, Qt::Orientation way) {
        plots_->resizeDocks(among, QList<int>(among.size(), plenty), way);
    };
    QList<QDockWidget*> rows, columns = all.mid(0, 2);
    for (qsizetype first = 0; first < all.size(); first += 2)
        (first < 4 ? rows : columns) << all[first];
    for (auto* panel : hiddenAtFirst())
        if (!panel->isHidden()) rows << panel;
    share(rows, Qt::Vertical);
    for (qsizetype first = 4; first < all.size(); first += 2)
        share(all.mid(first, 2), Qt::Vertical);
    share(all.mid(2, 2), Qt::Horizontal);
    share(columns, Qt::Horizontal);
}

bool DockLayout::isGrid() const {
    return !scattered_ && !expanded_ && plotsByHand().isEmpty() && awayPlots_.isEmpty();
}

/// The layout of the plots that the user made for the window as it is, wide or narrow.
QByteArray DockLayout::plotsByHand() const {
    return folded_ && !narrowPlots_.isEmpty() ? narrowPlots_ : widePlots_;
}

void DockLayout::rememberPlots() {
    if (placing_ || expanded_ || !away_.isEmpty() || !window_->isVisible()) return;
    scattered_ = true;
    (folded_ ? narrowPlots_ : widePlots_) = plots_->saveState(layoutVersion);
}

std::vector<QRect> DockLayout::plotPlaces() const {
    std::vector<QRect> out;
    for (const auto* panel : panels_.plots) out.push_back(panel->geometry());
    return out;
}

void DockLayout::placePlotsAnew() {
    for (auto* panel : panels_.plots) plots_->removeDockWidget(panel);
    placePlots();
}

/// A plot, and below it the next one, at the right of those that are there.
void DockLayout::addPlotColumn(const std::vector<Panel*>& panels, std::size_t first) {
    plots_->addDockWidget(Qt::TopDockWidgetArea, panels[first], Qt::Horizontal);
    panels[first]->show();
    if (first + 1 >= panels.size()) return;
    plots_->splitDockWidget(panels[first], panels[first + 1], Qt::Vertical);
    panels[first + 1]->show();
}

void DockLayout::reset() {
    const Columns columns = columns_;
    const bool railed = std::exchange(railed_, false);
    showColumns(Columns::both, false);
    collapse();
    folded_ = false;
    narrow_.clear();
    wide_.clear();
    widePlots_.clear();
    narrowPlots_.clear();
    awayPlots_.clear();
    {
        // addDockWidget() calls remember() by a signal, which would store half-placed docks.
        const QScopedValueRollback placing(placing_, true);
        for (auto* panel : panels_.all()) panel->setFloating(false);
        placeSides();
        placePlotsAnew();
        // fold() stores the wide layout: it must fit the window by then.
        window_->layout()->activate();
    }
    fold(window_->width() < Theme::foldWidth());
    remember();
    showColumns(columns, railed);
}

void DockLayout::save() const {
    QSettings settings;
    // Always the wide layout with all plots: folded, expanded and away are not saved.
    const QByteArray now = away_.isEmpty() ? window_->saveState(layoutVersion) : away_;
    settings.setValue(u"window/docks"_s, folded_ ? wide_ : now);
    settings.remove(u"window/plots"_s);  // of older versions, whose columns drifted
    settings.setValue(u"window/plotsByHand"_s, widePlots_);
}

void DockLayout::restore() {
    const QScopedValueRollback placing(placing_, true);
    const QSettings settings;
    const QByteArray sides = settings.value(u"window/docks"_s).toByteArray();
    if (!sides.isEmpty()) restoreSides(sides);
    widePlots_ = settings.value(u"window/plotsByHand"_s).toByteArray();
    if (widePlots_.isEmpty()) return;
    auto added = missing(widePlots_, panels_.plots);
    for (auto* panel : added) plots_->removeDockWidget(panel);
    plots_->restoreState(widePlots_, layoutVersion);
    scattered_ = true;
    const bool older = !added.empty();
    const auto hidden = hiddenAtFirst();
    std::erase_if(added, [&](Panel* panel) {
        const bool late = std::ranges::find(hidden, panel) != hidden.end();
        if (late) placeHidden(panel);
        return late;
    });
    for (std::size_t i = 0; i < added.size(); i += 2) {
        addPlotColumn(added, i);
        plots_->resizeDocks({added[i]}, {columnWidth}, Qt::Horizontal);
    }
    if (older) widePlots_ = plots_->saveState(layoutVersion);
}

void DockLayout::restoreSides(const QByteArray& state) {
    const auto left = missing(state, panels_.left);
    const auto right = missing(state, panels_.right);
    for (auto* panel : left) window_->removeDockWidget(panel);
    for (auto* panel : right) window_->removeDockWidget(panel);
    window_->restoreState(state, layoutVersion);
    for (auto* panel : left) placeSide(panel, Qt::LeftDockWidgetArea);
    for (auto* panel : right) placeSide(panel, Qt::RightDockWidgetArea);
}

void DockLayout::remember() {
    if (placing_ || !away_.isEmpty() || !window_->isVisible()) return;
    (folded_ ? narrow_ : wide_) = window_->saveState(layoutVersion);
}

void DockLayout::rememberFirst() {
    if (std::exchange(settled_, true)) return;
    if (wide_.isEmpty()) remember();
    // Restored before the window had its size, they are a pixel off.
    if (!plotsByHand().isEmpty() && away_.isEmpty()) restorePlots(plotsByHand());
}

void DockLayout::unfold() {
    const QScopedValueRollback placing(placing_, true);
    folded_ = false;
    window_->restoreState(wide_, layoutVersion);
    placeLeft();
    restorePlots(widePlots_);
}

/// Restored or resized while the columns still move, plots made by hand leave a hole below them.
void DockLayout::fillPlots() {
    plots_->layout()->invalidate();
    plots_->layout()->activate();
}

/// An empty state: the grid.
void DockLayout::restorePlots(const QByteArray& state) {
    // Later: once the window is laid out again, the plots get the room that they had.
    const auto restore = [this, state, folded = folded_] {
        if (folded != folded_ || !away_.isEmpty()) return;
        if (expanded_) {
            if (!state.isEmpty()) spread_ = state;  // collapse() restores it
            return;
        }
        const QScopedValueRollback placing(placing_, true);
        if (!state.isEmpty()) {
            scattered_ = true;
            plots_->restoreState(state, layoutVersion);
            QMetaObject::invokeMethod(this, &DockLayout::fillPlots, Qt::QueuedConnection);
        } else if (scattered_) {
            placePlotsAnew();
        } else {
            shareGrid();
        }
    };
    QMetaObject::invokeMethod(this, restore, Qt::QueuedConnection);
}

void DockLayout::fold(bool folded) {
    if (folded == folded_ || !away_.isEmpty()) return;
    if (!folded) return unfold();
    const QScopedValueRollback placing(placing_, true);
    if (wide_.isEmpty()) wide_ = window_->saveState(layoutVersion);
    folded_ = true;
    if (!narrow_.isEmpty()) {
        window_->restoreState(narrow_, layoutVersion);
        placeLeft();
        restorePlots(plotsByHand());
        return;
    }
    restorePlots(plotsByHand());
    QDockWidget* first = nullptr;
    for (auto* panel : panels_.right) {
        if (panel->isFloating() || window_->dockWidgetArea(panel) != Qt::RightDockWidgetArea)
            continue;
        const bool shown = !panel->isHidden();
        window_->addDockWidget(Qt::BottomDockWidgetArea, panel);
        if (first != nullptr) window_->tabifyDockWidget(first, panel);
        panel->setVisible(shown);
        if (first == nullptr) first = panel;
    }
    window_->setCorner(Qt::BottomLeftCorner, Qt::LeftDockWidgetArea);
    if (first == nullptr) return;
    first->raise();
    const bool low = window_->height() < Theme::tableHeight();
    window_->resizeDocks({first}, {low ? foldedInLow : foldedHeight}, Qt::Vertical);
    QMetaObject::invokeMethod(this, &DockLayout::remember, Qt::QueuedConnection);
}

void DockLayout::showColumns(Columns columns, bool railed) {
    const QScopedValueRollback placing(placing_, true);
    keepLeftWidth();
    railed_ = railed;
    const bool others = columns != columns_;
    if (others) {
        // Only for its own page: the restored columns widen a window too narrow for them and a
        // page.
        if (std::exchange(columns_, columns) == Columns::both)
            leave();
        else if (columns == Columns::both)
            window_->restoreState(away_, layoutVersion);
        if (columns != Columns::both) hideRight();
    }
    placeLeft();
    if (!others || columns != Columns::both) return;
    away_.clear();
    const bool folded = folded_;
    const QByteArray plots = std::exchange(awayPlots_, {});
    fold(window_->width() < Theme::foldWidth());
    if (folded == folded_) restorePlots(plots);
}

/// Before another page hides columns: without them the plots would have other sizes.
void DockLayout::leave() {
    away_ = window_->saveState(layoutVersion);
    awayPlots_ = plotsByHand();
    const bool shown = window_->isVisible() && !expanded_;
    if (!awayPlots_.isEmpty() && shown) awayPlots_ = plots_->saveState(layoutVersion);
}

bool DockLayout::showsRail() const {
    return railed_ && columns_ != Columns::none &&
           std::ranges::any_of(panels_.left,
                               [](const Panel* panel) { return !panel->isFloating(); });
}

void DockLayout::keepLeftWidth() {
    if (panels_.left.empty()) return;
    const Panel* first = panels_.left.front();
    if (first->isVisible() && !first->isFloating()) leftWidth_ = first->width();
}

/// Shows or hides the left column. Call it after restoring a layout, which may have been stored
/// with or without a rail.
void DockLayout::placeLeft() {
    const bool hidden = railed_ || columns_ == Columns::none;
    bool shown = false;
    for (auto* panel : panels_.left) {
        if (panel->isFloating() || panel->isHidden() == hidden) continue;
        panel->setVisible(!hidden);
        shown = shown || !hidden;
    }
    if (shown && leftWidth_ > 0)
        window_->resizeDocks({panels_.left.front()}, {leftWidth_}, Qt::Horizontal);
}

void DockLayout::hideRight() {
    for (auto* panel : panels_.right)
        if (!panel->isFloating()) panel->hide();
}

void DockLayout::expand(Panel* panel) {
    if (collapse() || panel->isFloating()) return;
    const QScopedValueRollback placing(placing_, true);
    spread_ = plots_->saveState(layoutVersion);
    for (auto* other : panels_.plots)
        if (other != panel && !other->isFloating()) other->hide();
    expanded_ = true;
}

bool DockLayout::collapse() {
    if (!std::exchange(expanded_, false)) return false;
    const QScopedValueRollback placing(placing_, true);
    plots_->restoreState(spread_, layoutVersion);
    if (isGrid())
        shareGrid();  // the window may have another size by now
    else
        restorePlots(spread_);  // plots that were hidden do not get their sizes the first time
    return true;
}

bool DockLayout::eventFilter(QObject* watched, QEvent* event) {
    if (watched != plots_) {
        if (event->type() == QEvent::Close) plotMoved();
        return QObject::eventFilter(watched, event);
    }
    if (event->type() == QEvent::MouseButtonPress) pressed_ = plotPlaces();
    if (event->type() == QEvent::MouseButtonRelease) {
        const auto dragged = [this] {
            if (plotPlaces() != pressed_) rememberPlots();
        };
        QMetaObject::invokeMethod(this, dragged, Qt::QueuedConnection);
    }
    // A main window shares out a new size by what its docks had, and rounds: columns would drift.
    if (event->type() == QEvent::Resize && isGrid()) shareGrid();
    if (event->type() == QEvent::Resize && !isGrid() && settled_)
        QMetaObject::invokeMethod(this, &DockLayout::fillPlots, Qt::QueuedConnection);
    return QObject::eventFilter(watched, event);
}

}  // namespace ui
