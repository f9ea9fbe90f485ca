#include "window/dock_layout.h"

#include <QDataStream>
#include <QEvent>
#include <QScopedValueRollback>
#include <QSettings>
#include <algorithm>
#include <utility>

#include "theme/tokens.h"

namespace ui {

using namespace Qt::StringLiterals;

namespace {

constexpr int layoutVersion = 1;
constexpr int plenty = 1000;  // more than there is: those that ask for it share alike
constexpr int foldedHeight = 190;
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
    plots_->installEventFilter(this);
    for (auto* panel : panels_.plots) {
        connect(panel, &Panel::expandRequested, this, [this, panel] { expand(panel); });
    }
    for (const auto* panel : panels_.left) follow(panel);
    for (const auto* panel : panels_.right) follow(panel);
    placeSides();
    placePlots();
}

void DockLayout::follow(const Panel* panel) {
    connect(panel, &QDockWidget::visibilityChanged, this, &DockLayout::remember);
    connect(panel, &QDockWidget::dockLocationChanged, this, &DockLayout::remember);
    connect(panel, &QDockWidget::topLevelChanged, this, &DockLayout::remember);
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
    const QList<QDockWidget*> all = docks(panels_.plots);
    const auto rowAt = [&](qsizetype first) { return all.mid(first, 2); };
    const auto share = [this](const QList<QDockWidget*>& among, Qt::Orientation way) {
        plots_->resizeDocks(among, QList<int>(among.size(), plenty), way);
    };
    QList<QDockWidget*> rows;
    for (const qsizetype first : {0, 2}) {
        const auto row = rowAt(first);
        if (row.isEmpty()) continue;
        plots_->addDockWidget(Qt::TopDockWidgetArea, row.front(), Qt::Vertical);
        if (row.size() > 1) plots_->splitDockWidget(row.front(), row.back(), Qt::Horizontal);
        rows << row.front();
    }
    QList<QDockWidget*> columns = rowAt(0);
    for (qsizetype first = 4; first < all.size(); first += 2) {
        addPlotColumn(panels_.plots, static_cast<std::size_t>(first));
        columns << all[first];
    }
    for (auto* panel : all) panel->show();
    share(rows, Qt::Vertical);
    share(rowAt(2), Qt::Horizontal);
    share(columns, Qt::Horizontal);
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
    plots_->resizeDocks({panels[first], panels[first + 1]}, {plenty, plenty}, Qt::Vertical);
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
    {
        // addDockWidget() calls remember() by a signal, which would store half-placed docks.
        const QScopedValueRollback placing(placing_, true);
        for (auto* panel : panels_.all()) panel->setFloating(false);
        placeSides();
        placePlotsAnew();
    }
    fold(window_->width() < size::foldBelow);
    remember();
    showColumns(columns, railed);
}

void DockLayout::save() const {
    QSettings settings;
    // Always the wide layout with all plots: folded, expanded and away are not saved.
    const QByteArray now = away_.isEmpty() ? window_->saveState(layoutVersion) : away_;
    settings.setValue(u"window/docks"_s, folded_ ? wide_ : now);
    const QByteArray plots = expanded_ ? spread_ : plots_->saveState(layoutVersion);
    settings.setValue(u"window/plots"_s, folded_ && !widePlots_.isEmpty() ? widePlots_ : plots);
}

void DockLayout::restore() {
    const QSettings settings;
    const QByteArray sides = settings.value(u"window/docks"_s).toByteArray();
    if (!sides.isEmpty()) restoreSides(sides);
    const QByteArray plots = settings.value(u"window/plots"_s).toByteArray();
    if (plots.isEmpty()) return;
    const auto added = missing(plots, panels_.plots);
    for (auto* panel : added) plots_->removeDockWidget(panel);
    plots_->restoreState(plots, layoutVersion);
    // A window that starts narrow squeezes the plots before it folds.
    if (added.empty()) widePlots_ = plots;
    for (std::size_t i = 0; i < added.size(); i += 2) {
        addPlotColumn(added, i);
        plots_->resizeDocks({added[i]}, {columnWidth}, Qt::Horizontal);
    }
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
    if (!expanded_) (folded_ ? narrowPlots_ : widePlots_) = plots_->saveState(layoutVersion);
}

void DockLayout::rememberFirst() {
    if (wide_.isEmpty()) remember();
}

void DockLayout::unfold() {
    const QScopedValueRollback placing(placing_, true);
    folded_ = false;
    window_->restoreState(wide_, layoutVersion);
    placeLeft();
    restorePlots(widePlots_);
}

void DockLayout::restorePlots(const QByteArray& state) {
    // Later: once the window is laid out again, the plots get the room that they had.
    const auto restore = [this, state, folded = folded_] {
        if (folded != folded_) return;
        if (expanded_) {
            if (!state.isEmpty()) spread_ = state;  // collapse() restores it
            return;
        }
        const QScopedValueRollback placing(placing_, true);
        if (state.isEmpty())
            placePlotsAnew();
        else
            plots_->restoreState(state, layoutVersion);
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
        if (!narrowPlots_.isEmpty()) restorePlots(narrowPlots_);
        return;
    }
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
    window_->resizeDocks({first}, {foldedHeight}, Qt::Vertical);
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
            away_ = window_->saveState(layoutVersion);
        else if (columns == Columns::both)
            window_->restoreState(away_, layoutVersion);
        if (columns != Columns::both) hideRight();
    }
    placeLeft();
    if (!others || columns != Columns::both) return;
    away_.clear();
    fold(window_->width() < size::foldBelow);
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
    for (auto* panel : panels_.right) {
        if (!panel->isFloating()) panel->hide();
    }
}

void DockLayout::expand(Panel* panel) {
    if (collapse() || panel->isFloating()) return;
    spread_ = plots_->saveState(layoutVersion);
    for (auto* other : panels_.plots) {
        if (other != panel && !other->isFloating()) other->hide();
    }
    expanded_ = true;
}

bool DockLayout::collapse() {
    if (!std::exchange(expanded_, false)) return false;
    plots_->restoreState(spread_, layoutVersion);
    return true;
}

bool DockLayout::eventFilter(QObject* watched, QEvent* event) {
    if (watched == plots_ && event->type() == QEvent::MouseButtonRelease) {
        QMetaObject::invokeMethod(this, &DockLayout::remember, Qt::QueuedConnection);
    }
    return QObject::eventFilter(watched, event);
}

}  // namespace ui
